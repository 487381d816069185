"""Makes root directories of Debian's suites with debootstrap, and runs commands in them."""

import contextlib
import glob
import os
import re
import shutil
import subprocess

from .processes import FailedCommand, must

# Suites, oldest first, with their packages in addition to COMMON.
SUITES: dict[str, tuple[str, ...]] = {
    "bullseye": ("libdw1", "libelf1"),
    "bookworm": ("libdw1", "libelf1", "libmimalloc-dev"),
    # Debian 13 renamed these libraries.
    "trixie": ("libdw1t64", "libelf1t64", "libmimalloc-dev", "swiftlang"),
    # Debuggers before 18 cannot read stacks of glibc 2.42.
    "sid": ("libdw1t64", "libelf1t64", "libmimalloc-dev", "swiftlang", "gdb"),
}
# A compiler, the allocators, and the libraries that the command needs.
COMMON: tuple[str, ...] = ("gcc", "libc6-dev", "libstdc++6", "libjemalloc-dev", "libgoogle-perftools-dev")
COMMON += ("libsqlite3-0", "libunwind8", "libzstd1", "zlib1g", "python3-minimal")
# Servers and tools with threads. A suite is still useful if it lacks some of them.
PROGRAMS: tuple[str, ...] = (
    "nginx",
    "redis-server",
    "memcached",
    "python3",
    "mariadb-server",
    "apache2",
    "haproxy",
    "unbound",
    "bind9",
)
PROGRAMS += ("rsyslog", "xz-utils", "zstd", "pigz")
WITH_PROGRAMS = ("sid",)
MAKING_SECONDS = 2400
# Runs a command in its own mount namespace. Its mounts end with it, even if it is killed. Otherwise, removing a root
# could delete files through its mounts.
PRIVATE = ("unshare", "--mount", "--propagation", "private")
# Installs the packages "$@" in the root "$0", and starts no server there.
INSTALL = """set -e
mount -t proc proc "$0/proc"
cp /etc/resolv.conf "$0/etc/resolv.conf"
printf '#!/bin/sh\\nexit 101\\n' >"$0/usr/sbin/policy-rc.d"
chmod +x "$0/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive
in_root() { chroot "$root" apt-get -q -o Acquire::Check-Valid-Until=false "$@"; }
root=$0
in_root update
in_root install -y --no-install-recommends "$@"
"""

# Copies the suite's kernel to the file "$1", with the package manager of the root "$0". Does not install it.
KERNEL = """set -e
mount -t proc proc "$0/proc"
mount -t tmpfs tmp "$0/tmp"
cp /etc/resolv.conf "$0/etc/resolv.conf"
chroot "$0" /bin/sh -ec '
mkdir -p /tmp/packages/partial
apt-get -q -o Acquire::Check-Valid-Until=false update
apt-get -y -q --no-install-recommends --download-only -o Dir::Cache::archives=/tmp/packages install linux-image-cloud-amd64
for package in /tmp/packages/linux-*.deb; do dpkg-deb -x "$package" /tmp/kernel; done'
cp "$(find "$0/tmp/kernel" -name 'vmlinuz*' -type f)" "$1"
"""


class NoRoot(Exception):
    """A root cannot be made or entered. The text has the reason."""


def mirror(sources="/etc/apt"):
    """Returns the address of Debian's mirror from apt's sources, or None."""
    files = [os.path.join(sources, "sources.list"), *sorted(glob.glob(os.path.join(sources, "sources.list.d", "*")))]
    for path in files:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for address in re.findall(r"^(?:deb\s+(?:\[[^]]*\]\s*)?|URIs:\s*)(\S+)", text, re.MULTILINE):
                if address.rstrip("/").endswith("/debian"):
                    return address
    return None


def reason_against():
    """Returns the reason why this machine cannot make or enter roots, or None."""
    if os.geteuid() != 0:
        return "only root enters a root directory"
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed; scripts/setup --tests installs it"
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return "this system allows no mount namespace"
    return None


def make(suite, directory, address):
    """Makes the root of a suite, unless it exists. Returns its path.

    The file SUITE.done beside it marks a complete root.
    """
    path, mark = os.path.join(directory, suite), os.path.join(directory, f"{suite}.done")
    if os.path.exists(mark):
        return path
    if not address:
        raise NoRoot("apt's sources name no mirror of Debian")
    os.makedirs(directory, exist_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    packages = ",".join(COMMON + SUITES[suite])
    bootstrap = ["debootstrap", "--variant=minbase", "--components=main", f"--include={packages}", suite, path, address]
    try:
        must([*PRIVATE, *bootstrap], limit=MAKING_SECONDS)
    except FailedCommand as failure:
        raise NoRoot(f"debootstrap failed: {str(failure).splitlines()[-1]}") from failure
    if suite in WITH_PROGRAMS:
        install(path, PROGRAMS)
    with open(mark, "w"):
        pass
    return path


def install(path, packages):
    """Installs packages in a root. Ignores failures, since the checks report missing packages."""
    command = [*PRIVATE, "/bin/sh", "-c", INSTALL, path, *packages]
    with contextlib.suppress(FailedCommand):
        must(command, limit=MAKING_SECONDS)


def kernel(suite, directory):
    """Returns the path of the suite's own kernel, beside its root. The first call fetches it."""
    path = os.path.join(directory, f"{suite}.kernel")
    if not os.path.exists(path):
        root = os.path.realpath(os.path.join(directory, suite))
        command = [*PRIVATE, "/bin/sh", "-c", KERNEL, root, f"{path}.new"]
        must(command, limit=MAKING_SECONDS)
        os.rename(f"{path}.new", path)
    return path


class Root:
    """A root that is mounted in this process's mount namespace, with `shared` directories at the same paths.

    Its commands write to an overlay in `scratch`, so that the original root does not change.
    """

    def __init__(self, original, scratch, shared):
        self.path = os.path.join(scratch, "root")
        for name in ("root", "upper", "work"):
            os.makedirs(os.path.join(scratch, name))
        layers = f"lowerdir={original},upperdir={scratch}/upper,workdir={scratch}/work"
        self._mount("-t", "overlay", "overlay", "-o", layers, self.path)
        self._mount("-t", "proc", "proc", os.path.join(self.path, "proc"))
        for directory in ("/dev", "/sys", *shared):
            place = self.path + directory
            os.makedirs(place, exist_ok=True)
            self._mount("--rbind", directory, place)

    def _mount(self, *arguments):
        outcome = subprocess.run(["mount", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if outcome.returncode != 0:
            raise NoRoot(outcome.stdout.strip())

    def command(self, command, directory="/", variables=None):
        """Returns the command line that runs `command` in the root. The variables are set only for that program."""
        # The root lacks the caller's directory for temporary files.
        settings = [f"{name}={value}" for name, value in {"TMPDIR": "/tmp", **(variables or {})}.items()]
        return ["chroot", self.path, "/usr/bin/env", "-C", directory, *settings, *command]

    def has(self, path):
        return os.path.exists(self.path + path)

    def swift_version(self):
        """Returns the version of the distribution's own Swift; empty if it has none."""
        if not self.has("/usr/bin/swiftc"):
            return ""
        found = re.search(r"Swift version ([\d.]+)", must(self.command(["swiftc", "--version"])))
        return found[1] if found else "?"

    def libc_version(self):
        text = must(self.command(["ldd", "--version"]))
        found = re.search(r"(\d+\.\d+)\s*$", text.splitlines()[0])
        return found[1] if found else "?"
