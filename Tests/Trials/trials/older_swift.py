"""Builds the command and the recorder in a root of Debian 13, with its own Swift 6.0. Checks that they find the leaks
of a program. Ends with 1 if that fails, and with 2 if the root cannot be made."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from .platform_checks import TOOLCHAIN
from .processes import FailedCommand, must
from .releases import WORDS, entered
from .roots import PRIVATE, NoRoot, make, mirror, reason_against
from .situations import PROGRAMS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SUITE = "trixie"
# The packages of scripts/setup for a build, and a C++ compiler and git for the package manager.
PACKAGES = ("libdw-dev", "libelf-dev", "libzstd-dev", "zlib1g-dev", "libsqlite3-dev", "libunwind-dev", "g++", "git")
# Debian's swift finds its own libraries only with LD_LIBRARY_PATH.
LIBRARIES = "/usr/libexec/swift/lib/swift"
VARIABLES = {
    "LD_LIBRARY_PATH": f"{LIBRARIES}/linux:{LIBRARIES}/host",
    "HOME": "/root",
    "DEBIAN_FRONTEND": "noninteractive",
}
BUILDING_SECONDS = 3600
SOURCE = "/tmp/leaktrace"


def say(text):
    print(f"older-swift: {text}", file=sys.stderr, flush=True)


def copy_sources(root):
    """Copies this commit and the packages that it depends on. The root's package manager uses these copies."""
    os.makedirs(root.path + SOURCE)
    archive = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], capture_output=True, check=True)
    must(["tar", "-x", "-C", root.path + SOURCE], standard_input=archive.stdout)
    with tempfile.TemporaryDirectory() as scratch:
        must([f"{TOOLCHAIN}/swift", "package", "--package-path", ROOT, "--scratch-path", scratch, "resolve"], limit=600)
        copies = {}
        for checkout in glob.glob(f"{scratch}/checkouts/*"):
            name = os.path.basename(checkout)
            # A local clone would refer to objects that are outside the root.
            must(["git", "clone", "-q", "--bare", "--no-local", checkout, f"{root.path}/tmp/packages/{name}"])
            copies[name] = f"/tmp/packages/{name}"
    with open(f"{ROOT}/Package.swift") as file:
        addresses = [line.split('url: "')[1].split('"')[0] for line in file if '.package(url: "' in line]
    for address in addresses:
        words = ["swift", "package", "config", "set-mirror", "--original", address]
        inside(root, [*words, "--mirror", copies[os.path.basename(address)]])


def inside(root, words, limit=600):
    return must(root.command(words, SOURCE, VARIABLES), limit=limit)


def check(root):
    """Builds and records in a root. Raises FailedCommand if a step fails."""
    shutil.copy("/etc/resolv.conf", f"{root.path}/etc/resolv.conf")
    say("installing packages")
    must(root.command(["apt-get", "-q", "update"], "/", VARIABLES), limit=600)
    must(root.command(["apt-get", "-qy", "install", "--no-install-recommends", *PACKAGES], "/", VARIABLES), limit=1200)
    copy_sources(root)
    # The copies belong to another user in a container.
    inside(root, ["git", "config", "--global", "safe.directory", "*"])
    say(f"building by Swift {root.swift_version()}")
    inside(root, ["swift", "build", "--product", "leaktrace", "--jobs", str(os.cpu_count() or 1)], BUILDING_SECONDS)
    recorder = inside(root, ["scripts/build", "recorder"], BUILDING_SECONDS).strip().splitlines()[-1]
    products = inside(root, ["swift", "build", "--show-bin-path"]).strip().splitlines()[-1]
    shutil.copy(f"{root.path}{recorder}/libleaktrace.so", f"{root.path}{products}/")
    say("recording")
    shutil.copy(os.path.join(PROGRAMS, "platform.swift"), f"{root.path}{SOURCE}/platform.swift")
    inside(root, ["swiftc", "-O", "-g", "-parse-as-library", "platform.swift", "-o", "platform"])
    command = f"{products}/leaktrace"
    inside(root, [command, "record", "--quiet", "-o", "a.trace", "--", "./platform", "end"])
    report = inside(root, [command, "analyze", "a.trace"])
    missing = [word for word in (*WORDS, "RETAIN CYCLE", "LOST") if word not in report]
    if missing:
        raise FailedCommand(f"the report lacks {', '.join(missing)}: {report[:2000]}")


def main():
    """Checks the current commit. Uncommitted changes are not part of it."""
    parser = argparse.ArgumentParser(prog="scripts/check-older-swift", description=__doc__)
    parser.add_argument(
        "--roots", default=os.path.join(ROOT, ".build", "roots"), metavar="DIR", help="the directory of the roots"
    )
    options = parser.parse_args()
    if "LEAKTRACE_INSIDE" not in os.environ:
        if reason := reason_against():
            sys.exit(f"older-swift: {reason}")
        os.environ["LEAKTRACE_INSIDE"] = "1"
        os.execvp(PRIVATE[0], [*PRIVATE, sys.executable, "-B", "-m", "trials.older_swift", *sys.argv[1:]])
    try:
        original = make(SUITE, options.roots, mirror())
        with tempfile.TemporaryDirectory() as scratch, entered(original, scratch) as root:
            version = root.swift_version()
            check(root)
    except NoRoot as reason:
        say(str(reason))
        sys.exit(2)
    except FailedCommand as failure:
        say(str(failure)[-4000:])
        sys.exit(1)
    print(f"Swift {version}: built, and found all leaks")


if __name__ == "__main__":
    main()
