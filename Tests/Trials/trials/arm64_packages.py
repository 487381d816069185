"""Parts of Debian for arm64 that the tests fetch from its mirror."""

import glob
import hashlib
import lzma
import os
import re
import shutil
import sys
import urllib.error
import urllib.request

from .processes import must
from .roots import mirror


class NotReady(Exception):
    """Something that the tests need is missing. The text says what, and how to get it."""


def say(text: str) -> None:
    # In one piece, since several threads report.
    sys.stderr.write(f"test-arm64: {text}\n")


def fetch(path: str, reason: str) -> bytes:
    """The contents of a file of Debian's mirror. `reason` says why the mirror may lack the file."""
    source = mirror()
    if not source:
        raise NotReady("apt's sources name no mirror of Debian")
    address = f"{source.rstrip('/')}/{path}"
    say(f"fetching {address}")
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content: bytes = answer.read()
    except urllib.error.HTTPError as error:
        raise NotReady(f"{address}: {error}; {reason}") from error
    except OSError as error:
        raise NotReady(f"{address}: {error}; see whether the mirror can be reached, then try again") from error
    return content


Packages = dict[str, dict[str, str]]


def packages_in(text: str, names: str) -> Packages:
    """The packages of a list whose names begin with a match of the pattern `names`."""
    packages: Packages = {}
    for paragraph in text.split("\n\n"):
        entry = dict(re.findall(r"^(Package|Depends|Filename|SHA256): (.*)$", paragraph, re.MULTILINE))
        if re.match(names, entry.get("Package", "")):
            packages[entry["Package"]] = entry
    return packages


def packages_of_root(root: str, names: str) -> Packages:
    packages: Packages = {}
    for path in glob.glob(f"{root}/var/lib/apt/lists/*_binary-arm64_Packages"):
        with open(path, encoding="utf-8") as file:
            packages |= packages_in(file.read(), names)
    return packages


def kernel_packages(root: str, pages: int) -> Packages:
    """The packages of kernels. Debian 13 itself has pages of 4 KiB only. Its backports have 16 KiB as well."""
    names = "linux-(image|binary)-"
    if pages == 4:
        return packages_of_root(root, names)
    listed = fetch("dists/trixie-backports/main/binary-arm64/Packages.xz", "the suite may have been archived")
    return packages_in(lzma.decompress(listed).decode(), names)


def extract(entry: dict[str, str], patterns: tuple[str, ...], target: str) -> None:
    """Fetches a package, and stores its first file that matches a pattern as `target`."""
    content = fetch(
        entry["Filename"], "the root may be older than the mirror: remove it, then run scripts/setup --arm64"
    )
    if hashlib.sha256(content).hexdigest() != entry["SHA256"]:
        raise NotReady(f"{entry['Filename']} is damaged; try again")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    package, files = f"{target}.deb", f"{target}.files"
    with open(package, "wb") as file:
        file.write(content)
    must(["dpkg-deb", "-x", package, files])
    found = [path for pattern in patterns for path in glob.glob(f"{files}/{pattern}")]
    if not found:
        raise NotReady(f"{entry['Filename']} has no file {' or '.join(patterns)}")
    os.rename(os.path.realpath(found[0]), target)
    shutil.rmtree(files)
    os.remove(package)


def fetch_library(root: str, package: str, name: str, directory: str) -> str:
    """The path in `directory` of a shared library of Debian 13."""
    library = os.path.join(directory, name)
    if not os.path.exists(library):
        packages = packages_of_root(root, package)
        if package not in packages:
            raise NotReady(
                f"the root's list of packages has no {package}; remove the root, then run scripts/setup --arm64"
            )
        extract(packages[package], (f"usr/lib/aarch64-linux-gnu/{name}",), library)
    return library


def fetch_kernel(root: str, pages: int, directory: str) -> str:
    """The path in `directory` of Debian's newest known kernel for arm64 with pages of so many KiB."""
    kept = os.path.join(directory, f"pages-{pages}")
    if pages != 4 and os.path.exists(kept):
        # Only the list of packages on the mirror names the newest one.
        return kept
    package = "linux-image-cloud-arm64" if pages == 4 else f"linux-image-arm64-{pages}k"
    packages = kernel_packages(root, pages)
    if package not in packages:
        raise NotReady(
            f"the list of packages has no {package}; "
            + ("remove the root, then run scripts/setup --arm64" if pages == 4 else "name a kernel by --kernel")
        )
    # This package only names the package with the kernel. That one may name another package again.
    needed = re.findall(r"linux-image-\d[^ ,]*", packages[package]["Depends"])
    if not needed:
        raise NotReady(f"{package} needs no package with a kernel")
    name = needed[0]
    entry = packages.get(name.replace("linux-image", "linux-binary"), packages[name])
    kernel = kept if pages != 4 else os.path.join(directory, name.replace("linux-image", "vmlinuz"))
    if os.path.exists(kernel):
        return kernel
    extract(entry, ("boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz"), kernel)
    return kernel
