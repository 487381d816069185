"""Compiles programs for arm64, and runs them under qemu-user or in an emulated machine. Fetches kernels, packages."""

import contextlib
import glob
import hashlib
import lzma
import os
import re
import shlex
import shutil
import sys
import tarfile
import urllib.error
import urllib.request

from .processes import FailedCommand, must, run
from .roots import mirror

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WORK = os.path.join(ROOT, ".build", "arm64")
TOOLCHAIN = os.path.dirname(os.path.realpath(shutil.which("swift") or "/usr/bin/swift"))
USER_EMULATOR = "qemu-aarch64-static"
# Paths in a root.
SWIFT = "usr/libexec/swift"
RUNTIME = f"{SWIFT}/lib/swift/linux"
LIBRARY_FOLDERS = ("usr/lib/aarch64-linux-gnu", "usr/lib", RUNTIME)
COMPILING_SECONDS, BOOTING_SECONDS = 3600, 900
MEGABYTES = 2048  # the memory of a machine, which also has its files


class NotReady(Exception):
    """The tests lack something. The text names it, and says how to get it."""


def root_directory() -> str:
    """Returns the path of Debian's root directory for arm64."""
    return os.path.realpath(os.environ.get("LEAKTRACE_ARM64_ROOT") or os.path.join(WORK, "root"))


def say(text: str) -> None:
    # In one call, since several threads print.
    sys.stderr.write(f"test-arm64: {text}\n")


def report(complaints: list[str]) -> int:
    """Prints the complaints and their number. Returns the exit status: 1 if there are any."""
    for text in complaints:
        say(text)
    say(f"complaints: {len(complaints)}")
    return 1 if complaints else 0


# --- compiling


def compiler(root: str) -> list[str]:
    """Returns the command line of the toolchain's C compiler for arm64."""
    return [os.path.join(TOOLCHAIN, "clang"), "--target=aarch64-linux-gnu", f"--sysroot={root}"]


# Swift 6.0's libswiftObservation.so refers to a function that no library has.
LINK_WORDS = ("--allow-shlib-undefined", "--build-id", "-rpath", f"/{RUNTIME}")


def compile_swift(root: str, sources: list[str], product: str, options: list[str], is_static: bool = False) -> None:
    """Compiles a program for arm64, unless the sources and options are unchanged.

    `product`: a path in a folder without other files. `is_static`: the program contains Swift's libraries.
    """
    resources = f"{root}/{SWIFT}/lib/{'swift_static' if is_static else 'swift'}"
    target = ["-target", "aarch64-unknown-linux-gnu", "-sdk", root, "-resource-dir", resources]
    _compile(sources, product, [*options, *target], os.path.getmtime(resources))


def compile_swift_here(sources: list[str], product: str, options: list[str]) -> None:
    """Compiles a program for this machine's processor, with the same version of Swift as `compile_swift`."""
    _compile(sources, product, options, os.path.getmtime(os.path.join(compiler_root(), SWIFT)))


def _compile(sources: list[str], product: str, options: list[str], compiler_time: float) -> None:
    directory, module = os.path.dirname(product), os.path.basename(product).replace("-", "_")
    command = ["swiftc", "-g", "-j", str(os.cpu_count()), "-module-name", module, *options, *sources, "-use-ld=lld"]
    command += [word for each in LINK_WORDS for word in ("-Xlinker", each)]
    command += ["-o", product]
    origin = hashlib.sha256(repr([command, compiler_time]).encode())
    for path in sources:
        with open(path, "rb") as file:
            origin.update(file.read())
    mark = os.path.join(directory, "origin")
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == origin.hexdigest():
                return
    say(f"compiling {product.removeprefix(WORK + os.sep)}")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    run_beside(WORK, [shlex.join(command)], COMPILING_SECONDS)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(origin.hexdigest())


def compiler_root() -> str:
    """Returns the path of Debian's root directory with the compiler, for this machine's processor."""
    return os.path.realpath(os.environ.get("LEAKTRACE_ARM64_COMPILER") or os.path.join(WORK, "compiler"))


def run_beside(scratch: str, lines: list[str], limit: int) -> None:
    """Runs lines of bash in the compiler's root, on this machine's processor. Raises FailedCommand if they fail."""
    tool = os.path.join(ROOT, "scripts", "arm64-swift")
    roots = {name: value for name, value in os.environ.items() if name.startswith("LEAKTRACE_ARM64_")}
    must([tool, scratch, "/bin/bash", "-euc", "\n".join(lines)], limit=limit, extra_environment=roots)


# --- running


def emulated(root: str, command: list[str], variables: dict[str, str] | None = None) -> list[str]:
    """Returns the command line that runs a program under qemu-user, with the root's libraries."""
    values = [word for name, value in (variables or {}).items() for word in ("-E", f"{name}={value}")]
    return [USER_EMULATOR, "-L", root, *values, *command]


# Defines a bash function: run STEM SECONDS COMMAND…
RUN = """run() {{
  local stem={answers}/$1 began=$EPOCHREALTIME status=0
  timeout "$2" "${{@:3}}" >"$stem.out" 2>"$stem.err" </dev/null || status=$?
  echo $status >"$stem.status"
  echo $(((${{EPOCHREALTIME/./}} - ${{began/./}}) / 1000))e-3 >"$stem.seconds"
  echo "$1: status $status"
}}
"""
TOOLS = ("bash", "mount", "tar", "timeout", "sleep", "mkdir", "env")
# The file `complete` shows that the machine has run all commands.
INIT = """#!/usr/bin/bash
export PATH=/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mkdir -p {answers}
mount -t tmpfs answers {answers}
loopback
cd {answers}
{run}{commands}
echo yes >{answers}/complete
port=/dev/vport0p1
until [ -e $port ]; do sleep 0.1; done
tar -C {answers} -cf $port .
"""
# Not in /tmp, since a checkout may be there.
ANSWERS = "/answers"


def fetch(path: str, reason: str) -> bytes:
    """Returns the contents of a file on Debian's mirror. `reason`: why the mirror may lack the file."""
    source = mirror()
    if not source:
        raise NotReady(f"apt's sources name no mirror of Debian, so there is no {os.path.basename(path)}")
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


def packages_in(text: str) -> dict[str, dict[str, str]]:
    """Parses a list of packages. Returns some fields of each package, by name."""
    found: dict[str, dict[str, str]] = {}
    for paragraph in text.split("\n\n"):
        entry = dict(re.findall(r"^(Package|Depends|Filename|SHA256): (.*)$", paragraph, re.MULTILINE))
        found[entry.get("Package", "")] = entry
    return found


def known_packages(root: str) -> dict[str, dict[str, str]]:
    """Returns the packages in the root's lists."""
    found: dict[str, dict[str, str]] = {}
    for path in glob.glob(f"{root}/var/lib/apt/lists/*_binary-arm64_Packages"):
        with open(path, encoding="utf-8") as file:
            found |= packages_in(file.read())
    return found


def fetch_package(name: str, packages: dict[str, dict[str, str]]) -> str:
    """Fetches a package for arm64. Returns the directory of its files."""
    entry = packages.get(name)
    if not entry:
        raise NotReady(f"the list of packages has no {name}; remove the root, then run scripts/setup --arm64")
    directory = os.path.join(WORK, "packages", os.path.basename(entry["Filename"]).removesuffix(".deb"))
    if os.path.exists(directory):
        return directory
    content = fetch(
        entry["Filename"], "the root may be older than the mirror: remove it, then run scripts/setup --arm64"
    )
    if hashlib.sha256(content).hexdigest() != entry["SHA256"]:
        raise NotReady(f"{entry['Filename']} is damaged; try again")
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    package, files = f"{directory}.deb", f"{directory}.files"
    with open(package, "wb") as file:
        file.write(content)
    shutil.rmtree(files, ignore_errors=True)
    must(["dpkg-deb", "-x", package, files])
    os.remove(package)
    os.rename(files, directory)
    return directory


def fetch_kernel(root: str, pages: int = 4) -> str:
    """Returns the path of Debian's newest known kernel for arm64, which is fetched if necessary. `pages`: the size of
    its pages in KiB."""
    kept = os.path.join(WORK, "kernel", f"pages-{pages}")
    if pages != 4 and os.path.exists(kept):
        # Do not ask the mirror again for its newest kernel.
        return kept
    # Debian 13 has only kernels with pages of 4 KiB. Its backports also have 16 KiB.
    if pages == 4:
        packages, package = known_packages(root), "linux-image-cloud-arm64"
    else:
        listed = fetch("dists/trixie-backports/main/binary-arm64/Packages.xz", "the suite may have been archived")
        packages, package = packages_in(lzma.decompress(listed).decode()), f"linux-image-arm64-{pages}k"
    if package not in packages:
        raise NotReady(
            f"the list of packages has no {package}; "
            + ("remove the root, then run scripts/setup --arm64" if pages == 4 else "name a kernel by --kernel")
        )
    # This package depends on the package with the kernel, perhaps through another one.
    needed = re.findall(r"linux-image-\d[^ ,]*", packages[package]["Depends"])
    if not needed:
        raise NotReady(f"{package} needs no package with a kernel")
    binary = needed[0].replace("linux-image", "linux-binary")
    files = fetch_package(binary if binary in packages else needed[0], packages)
    found = glob.glob(f"{files}/boot/vmlinuz-*") + glob.glob(f"{files}/usr/lib/modules/*/vmlinuz")
    if not found:
        raise NotReady(f"{needed[0]} has no kernel")
    if pages == 4:
        return found[0]
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    shutil.copy(found[0], kept)
    return kept


def build_loopback(root: str) -> str:
    """Compiles the program that starts the loopback device. Returns its path."""
    source, product = os.path.join(ROOT, "Tests", "Arm64", "loopback.c"), os.path.join(WORK, "loopback")
    must([*compiler(root), "-fuse-ld=lld", "-O1", source, "-o", product])
    return product


class Machine:
    """An emulated arm64 machine with files of the root. Programs have the same paths as on this machine."""

    def __init__(
        self, root: str, directory: str, *others: str, tree: str | None = None, megabytes: int = MEGABYTES
    ) -> None:
        """`others`: directories with the layout of a root, which are searched before `root`.

        `tree`: a root directory whose files the machine gets. Without it, the machine starts with few files.
        """
        self._roots, self._directory, self._files = (*others, root), directory, os.path.join(directory, "files")
        self._megabytes = megabytes
        shutil.rmtree(self._files, ignore_errors=True)
        if tree:
            os.makedirs(directory, exist_ok=True)
            must(["cp", "-a", tree, self._files])
        else:
            for name in ("usr/bin", "usr/lib", "proc", "sys", "dev", "tmp"):
                os.makedirs(os.path.join(self._files, name))
            for name in ("bin", "lib"):
                os.symlink(f"usr/{name}", os.path.join(self._files, name))
        self.add_from_root("usr/lib/ld-linux-aarch64.so.1")
        for name in TOOLS:
            self.add_from_root(f"usr/bin/{name}")
        self.add(build_loopback(root), "usr/bin/loopback")

    def add_from_root(self, name: str) -> None:
        """Adds a file of the root and the libraries that it needs."""
        root = self._root_with(name) or self._roots[-1]
        original = os.path.join(root, name)
        while os.path.islink(original):
            # Absolute links lead to files of the root.
            target = os.readlink(original)
            original = (
                os.path.join(root, target[1:])
                if target.startswith("/")
                else os.path.join(os.path.dirname(original), target)
            )
        self.add(original, name)

    def _root_with(self, name: str) -> str | None:
        return next((root for root in self._roots if os.path.lexists(os.path.join(root, name))), None)

    def add(self, original: str, name: str = "", is_old: bool = False) -> None:
        """Adds a file and the libraries that it needs. `name`: its path in the machine; the same path if empty.

        `is_old`: gives the file an earlier date than all others.
        """
        copy = os.path.join(self._files, (name or original).lstrip("/"))
        if os.path.exists(copy):
            return
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(original, copy)
        if is_old:
            os.utime(copy, (1, 1))
        with open(copy, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return
        needed = run(["readelf", "--dynamic", original]).output
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", needed):
            paths = [f"{folder}/{library}" for folder in LIBRARY_FOLDERS]
            found = next(filter(self._root_with, paths), None)
            # A program may bring its own library beside its other files.
            if not found and not glob.glob(f"{self._files}/**/{library}", recursive=True):
                raise NotReady(
                    f"the root has no {library}, which {original} needs; remove the root, then run scripts/setup --arm64"
                )
            if found:
                self.add_from_root(found)

    def add_command(self, products: str) -> None:
        """Adds leaktrace, the recorder and libswiftRemoteMirror. `products`: a directory that scripts/build printed."""
        for file in ("leaktrace", "libleaktrace.so"):
            self.add(os.path.join(products, file))
        self.add_from_root(f"{RUNTIME}/libswiftRemoteMirror.so")
        # The command searches for libraries in the root's path, so this path must lead to / in the machine.
        link = os.path.join(self._files, self._roots[-1].lstrip("/"))
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink("/", link)

    def add_all(self, directory: str, name: str) -> None:
        """Adds a directory with all its files, but without libraries that they need."""
        copy = os.path.join(self._files, name.lstrip("/"))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        must(["cp", "-a", directory, copy])

    def run(self, kernel: str, commands: list[str], answers: str, limit: int = BOOTING_SECONDS) -> None:
        """Boots the machine, runs the lines of bash, and unpacks their files into the directory `answers`.

        `limit`: time limit in seconds.
        """
        init = os.path.join(self._files, "init")
        with open(init, "w", encoding="utf-8") as file:
            file.write(INIT.format(answers=ANSWERS, run=RUN.format(answers=ANSWERS), commands="\n".join(commands)))
        os.chmod(init, 0o755)
        disk, archive, console = (os.path.join(self._directory, name) for name in ("initrd", "answers.tar", "console"))
        names = must(["find", "."], directory=self._files)
        must(["cpio", "-o", "-H", "newc", "--quiet", "-O", disk], directory=self._files, standard_input=names.encode())
        for path in (archive, console):
            with open(path, "wb"):
                pass
        command = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2"]
        command += ["-m", str(self._megabytes)]
        command += ["-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel, "-initrd", disk]
        command += ["-serial", f"file:{console}", "-append", "console=ttyAMA0 rdinit=/init quiet panic=-1"]
        command += ["-device", "virtio-serial-pci", "-chardev", f"file,id=answers,path={archive}"]
        command += ["-device", "virtserialport,nr=1,chardev=answers"]
        # The kernel ends with the first process, and the emulator with the kernel.
        outcome = run(command, limit=limit)
        with contextlib.suppress(tarfile.TarError), tarfile.open(archive) as tar:
            tar.extractall(answers, filter="data")
        if not os.path.exists(os.path.join(answers, "complete")):
            with open(console, encoding="utf-8", errors="replace") as file:
                said = file.read()[-1000:]
            raise FailedCommand(f"the machine ended early: {outcome.output}{said}")
