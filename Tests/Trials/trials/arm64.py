"""Tests the recorder on arm64, in emulators. Ends with 1 if a case fails. scripts/test-arm64 has the options."""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import glob
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request

from . import arm64_calls
from .leaktrace import Analysis, Leaktrace
from .processes import FailedCommand, must, run
from .roots import mirror

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WORK = os.path.join(ROOT, ".build", "arm64")
SOURCE = os.path.join(ROOT, "Tests", "Arm64", "cases.swift")
PRODUCTS = (".build/release", ".build/quick/x86_64-unknown-linux-gnu/release")
TOOLCHAIN = os.path.dirname(os.path.realpath(shutil.which("swift") or "/usr/bin/swift"))
USER_EMULATOR = "qemu-aarch64-static"
OPTIMISATIONS = ("-O", "-Onone")
COMPILING_SECONDS, RUNNING_SECONDS, TESTS_SECONDS, BOOTING_SECONDS = 900, 120, 300, 900

# Paths inside of a root.
SWIFT = "usr/libexec/swift"
RUNTIME = f"{SWIFT}/lib/swift/linux"
LIBRARY_FOLDERS = ("usr/lib/aarch64-linux-gnu", "usr/lib", RUNTIME)
# What swiftc itself hands to the linker for the cases.
LIBRARIES: tuple[str, ...] = (
    "swiftCore",
    "swift_Concurrency",
    "swift_StringProcessing",
    "swiftSwiftOnoneSupport",
    "swiftGlibc",
)
LIBRARIES += ("swiftDispatch", "dispatch", "BlocksRuntime", "m")

# As trace_status.h and trace_header.h define them.
DROPS = {0: "calls of signal handlers", 1: "calls after the end", 2: "calls without memory", 3: "cut stacks"}
INCOMPLETE, DIFFERENT = 4, 7
VERIFIES_STACKS = 1 << 2

# The parts of the recorder that its tests in C need, and the sources of those tests.
TEST_FOLDERS = ("Sources/CTraceShim", "Sources/CHeapScan", "Sources/CTraceFormat", "Tests/Recorder")
TEST_FLAGS: tuple[str, ...] = (
    "-std=gnu17",
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-Wall",
    "-Wextra",
    "-DLT_UNIT_TESTS",
    "-DLT_CHECKS",
)
TEST_FLAGS += ("-ISources/CTraceShim", "-ISources/CHeapScan", "-ISources/CTraceFormat/include")
TEST_FLAGS += ("-ISources/CProcessCalls/include",)
# Tests that fail in the emulator of one process, with the reasons.
NOT_OF_USER = {
    "A broken invariant is named on standard error, and aborts the process": "the emulator prints a line at an abort"
}
TEST_CORPUS = os.path.join(ROOT, "Tests", "Recorder", "FuzzCorpus")


@dataclasses.dataclass(frozen=True)
class Case:
    """A case of Tests/Arm64/cases.swift: functions of one stack, innermost first, and the findings that are right."""

    functions: tuple[str, ...]
    findings: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    depth: int = 0  # the fewest frames of the deepest stack
    # Functions of one more stack. It crosses a signal frame of the kernel, which the emulator of one process lacks.
    across_signal: tuple[str, ...] = ()


CASES = {
    "cycles": Case(("connectRooms()", "cycles()"), {("retainCycle", "Room"): 20}),
    "closures": Case(("openScreen(_:)", "closures()"), {("retainCycle", "Screen"): 10}),
    "structures": Case(("makeLeaf(_:)", "makeOrder(_:)", "structures()"), {("lost", "Parcel"): 20}),
    "tasks": Case((*["climb(_:_:)"] * 10, "closure #1 in closure #1 in climbInTasks")),
    "suspended": Case(("runTask(_:)", "suspended()"), {("suspended", "Task"): 3}),
    "threads": Case(("makeLeaf(_:)", "addLeaves(_:)", "closure #1 in closure #1 in threads()")),
    "recursion": Case(("makeLeaf(_:)", *["descend(_:_:)"] * 2_500, "recursion()"), depth=10_000),
    "callbacks": Case(("makeLeaf(_:)", "closure #2 in callbacks()", "callbacks()")),
    "errors": Case(("makeLeaf(_:)", "accept(_:)", "pass(_:)", "errors()")),
    "generics": Case(("Text.scaled(_:)", "Pair.scaled(_:)", "grow<A>(_:_:)", "generics()")),
    "references": Case(("Tree.__allocating_init(_:)", "plant(_:)", "references()")),
    "arrays": Case(("makeLeaf(_:)", "arrays()")),
    "strings": Case(("closure #1 in strings()", "strings()")),
    "signals": Case(
        ("makeLeaf(_:)", "handleSignal()"),
        across_signal=("makeLeaf(_:)", "handleSignal()", *["raiseBelow(_:)"] * 20, "signals()"),
    ),
    "processes": Case(("makeLeaf(_:)", "processes()")),
}


class NotReady(Exception):
    """Something that the tests need is missing. The text says what, and how to get it."""


def say(text: str) -> None:
    # In one piece, since several threads report.
    sys.stderr.write(f"test-arm64: {text}\n")


# --- building


def compiler(root: str) -> list[str]:
    """The command line of the toolchain's C compiler for arm64."""
    return [os.path.join(TOOLCHAIN, "clang"), "--target=aarch64-linux-gnu", f"--sysroot={root}"]


def program(optimisation: str) -> str:
    return os.path.join(WORK, f"cases{optimisation}", "cases")


def build_program(root: str, optimisation: str) -> None:
    """Compiles the cases with the root's own compiler, unless that has been done with the same source and commands."""
    product, frontend = program(optimisation), os.path.join(root, SWIFT, "bin", "swift-frontend")
    # The compiler loads its libraries from the root: the emulator looks there first for each absolute path.
    libraries = f"/usr/lib/aarch64-linux-gnu:/{SWIFT}/lib/swift/host/compiler:/{RUNTIME}"
    compile_it = emulated(root, [frontend, "-c", "-primary-file", SOURCE], {"LD_LIBRARY_PATH": libraries})
    compile_it += ["-target", "aarch64-unknown-linux-gnu", "-sdk", root, "-resource-dir", f"{root}/{SWIFT}/lib/swift"]
    compile_it += ["-module-name", "cases", "-parse-as-library", optimisation, "-g", "-o", f"{product}.o"]
    link_it = [*compiler(root), "-fuse-ld=lld", f"{root}/{RUNTIME}/aarch64/swiftrt.o", f"{product}.o"]
    link_it += [f"-L{root}/{RUNTIME}", *(f"-l{name}" for name in LIBRARIES), "-Wl,--build-id"]
    link_it += [f"-Wl,-rpath,/{RUNTIME}", "-o", product]
    with open(SOURCE, "rb") as file:
        origin = hashlib.sha256(file.read() + repr([compile_it, link_it, os.path.getmtime(frontend)]).encode())
    directory = os.path.dirname(product)
    mark = os.path.join(directory, "origin")
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == origin.hexdigest():
                return
    say(f"compiling the cases with {optimisation}")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    must(compile_it, limit=COMPILING_SECONDS)
    must(link_it)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(origin.hexdigest())


def build_programs(root: str, optimisations: tuple[str, ...]) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda each: build_program(root, each), optimisations))


def test_program() -> str:
    return os.path.join(WORK, "tests", "recorder-tests")


def test_libraries() -> list[str]:
    """The libraries that the tests in C load."""
    return [os.path.join(WORK, "tests", "libraries", f"lib{name}.so") for name in ("first", "second")]


def build_tests(root: str) -> list[str]:
    """Compiles the recorder's tests in C. A source is compiled again if the source or a header is newer than its object.

    Returns the complaints about tests that do not compile. The program has the others.
    """
    directory = os.path.join(WORK, "tests")
    os.makedirs(os.path.join(directory, "libraries"), exist_ok=True)
    linker = [*compiler(root), "-fuse-ld=lld"]
    for path in test_libraries():
        name = os.path.basename(path)[3:-3]
        text = f"int recorder_test_{name}; int recorder_test_call_{name}(void) {{ return ++recorder_test_{name}; }}"
        must([*linker, "-x", "c", "-fPIC", "-shared", "-o", path, "-"], standard_input=text.encode())
    files = [name for folder in TEST_FOLDERS for name in glob.glob(f"{folder}/**", root_dir=ROOT, recursive=True)]
    sources = sorted(name for name in files if name.endswith(".c") and "/Fuzzing/" not in name)
    headers = [os.path.getmtime(os.path.join(ROOT, name)) for name in files if name.endswith(".h")]
    # The root has no library for DWARF. All processors share its header.
    shutil.copy("/usr/include/dwarf.h", directory)
    flags = [
        *TEST_FLAGS,
        f"-I{directory}",
        f'-DRECORDER_TEST_LIBRARIES="{directory}/libraries"',
        f'-DRECORDER_TEST_CORPUS="{TEST_CORPUS}"',
    ]

    complaints: list[str] = []

    def compiled(source: str) -> str:
        target = os.path.join(directory, source.replace("/", ".") + ".o")
        newest = max(*headers, os.path.getmtime(os.path.join(ROOT, source)), os.path.getmtime(__file__))
        if not os.path.exists(target) or os.path.getmtime(target) <= newest:
            outcome = run([*compiler(root), *flags, "-c", source, "-o", target], directory=ROOT)
            if outcome.status != 0:
                error = re.search(r"error: .*", outcome.output)
                complaints.append(f"{source} does not compile: {error[0] if error else outcome.output[-200:]}")
                return ""
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    libraries = ["-l:libzstd.a", "-l:libz.a", "-lpthread", "-ldl", "-rdynamic", "-Wl,--wrap=lt_thread_exists"]
    must([*linker, *filter(None, objects), *libraries, "-o", test_program()])
    return complaints


# --- running
#
# Each run of a program leaves files with the same stem: `.out`, `.err`, `.status`, `.seconds` and `.trace`.

# Without the recorder; with its usual settings; with the comparison of stacks, and without heap images.
PLAIN, USUAL, COMPARING = "plain", "usual", "comparing"
KINDS_OF_USER, KINDS_OF_MACHINE = (PLAIN, COMPARING), (PLAIN, USUAL, COMPARING)


@dataclasses.dataclass(frozen=True)
class Place:
    """A program with one case. All its files are in `directory`."""

    directory: str
    optimisation: str
    case: str

    def stem(self, kind: str) -> str:
        return os.path.join(self.directory, f"{self.case}{self.optimisation}.{kind}")

    def read(self, kind: str, ending: str) -> bytes:
        with open(f"{self.stem(kind)}.{ending}", "rb") as file:
            return file.read()

    def text(self, kind: str, ending: str) -> str:
        return self.read(kind, ending).decode(errors="replace").strip()


def settings(library: str, stem: str, kind: str) -> dict[str, str]:
    """The environment variables of a run."""
    if kind == PLAIN:
        return {}
    # The messages on standard error would differ from the program's own output.
    values = {"LD_PRELOAD": library, "LEAKTRACE_OUTPUT": f"{stem}.trace", "LEAKTRACE_QUIET": "1"}
    return values if kind == USUAL else {**values, "LEAKTRACE_SNAPSHOTS": "off", "LEAKTRACE_VERIFY_STACKS": "1"}


def emulated(root: str, command: list[str], variables: dict[str, str] | None = None) -> list[str]:
    """The command line that runs a program of arm64 with the root's libraries."""
    values = [word for name, value in (variables or {}).items() for word in ("-E", f"{name}={value}")]
    return [USER_EMULATOR, "-L", root, *values, *command]


def run_user(root: str, library: str, place: Place) -> None:
    """Runs a case in the emulator of one process. This has no ptrace, so the recorder takes no heap images."""
    for kind in KINDS_OF_USER:
        stem = place.stem(kind)
        command = emulated(root, [program(place.optimisation), place.case], settings(library, stem, kind))
        outcome = run(["/bin/sh", "-c", 'exec "$@" >"$0.out" 2>"$0.err"', stem, *command], limit=RUNNING_SECONDS)
        for ending, value in (("status", outcome.status), ("seconds", outcome.seconds)):
            with open(f"{stem}.{ending}", "w") as file:
                file.write(str(value))


# --- the emulated machine


TOOLS = ("bash", "mount", "tar", "timeout", "sleep", "mkdir", "env")
# The last file of the archive says that the machine has run everything.
INIT = """#!/usr/bin/bash
export PATH=/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mkdir -p {answers}
cd {answers}
# Usage: run STEM SECONDS COMMAND…
run() {{
  local stem={answers}/$1 began=$EPOCHREALTIME
  timeout "$2" "${{@:3}}" >"$stem.out" 2>"$stem.err" </dev/null
  echo $? >"$stem.status"
  echo $(((${{EPOCHREALTIME/./}} - ${{began/./}}) / 1000))e-3 >"$stem.seconds"
}}
{commands}
echo yes >{answers}/complete
port=/dev/vport0p1
until [ -e $port ]; do sleep 0.1; done
tar -C {answers} -cf $port .
"""
ANSWERS = "/tmp/answers"


def fetch_kernel(root: str) -> str:
    """The path of Debian's kernel for arm64, in the version that the root's list of packages has."""
    package, entry = "linux-image-cloud-arm64", {}
    packages: dict[str, dict[str, str]] = {}
    for path in glob.glob(f"{root}/var/lib/apt/lists/*_binary-arm64_Packages"):
        with open(path, encoding="utf-8") as file:
            for text in file.read().split("\n\n"):
                entry = dict(re.findall(r"^(Package|Depends|Filename|SHA256): (.*)$", text, re.MULTILINE))
                if entry.get("Package", "").startswith("linux-image-"):
                    packages[entry["Package"]] = entry
    if package not in packages:
        raise NotReady(f"the root's list of packages has no {package}; remove the root, then run scripts/setup --arm64")
    # This package only names the package with the kernel.
    name = packages[package]["Depends"].split()[0]
    entry = packages[name]
    kernel = os.path.join(WORK, "kernel", name.replace("linux-image", "vmlinuz"))
    if os.path.exists(kernel):
        return kernel
    source = mirror()
    if not source:
        raise NotReady("apt's sources name no mirror of Debian, so there is no kernel to boot")
    address = f"{source.rstrip('/')}/{entry['Filename']}"
    say(f"fetching {address}")
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content = answer.read()
    except urllib.error.HTTPError as error:
        raise NotReady(
            f"{address}: {error}; the root may be older than the mirror: remove it, then run scripts/setup --arm64"
        ) from error
    except OSError as error:
        raise NotReady(f"{address}: {error}; see whether the mirror can be reached, then try again") from error
    if hashlib.sha256(content).hexdigest() != entry["SHA256"]:
        raise NotReady(f"{address} is damaged; try again")
    os.makedirs(os.path.dirname(kernel), exist_ok=True)
    with open(f"{kernel}.deb", "wb") as file:
        file.write(content)
    files = f"{kernel}.files"
    must(["dpkg-deb", "-x", f"{kernel}.deb", files])
    os.rename(os.path.join(files, "boot", os.path.basename(kernel)), kernel)
    shutil.rmtree(files)
    os.remove(f"{kernel}.deb")
    return kernel


class Machine:
    """An emulated machine of arm64 with files of the root. Programs have the paths that they have on this machine."""

    def __init__(self, root: str, directory: str) -> None:
        self._root, self._directory, self._files = root, directory, os.path.join(directory, "files")
        shutil.rmtree(self._files, ignore_errors=True)
        for name in ("usr/bin", "usr/lib", "proc", "sys", "dev", "tmp"):
            os.makedirs(os.path.join(self._files, name))
        for name in ("bin", "lib"):
            os.symlink(f"usr/{name}", os.path.join(self._files, name))
        self.add_from_root("usr/lib/ld-linux-aarch64.so.1")
        for name in TOOLS:
            self.add_from_root(f"usr/bin/{name}")

    def add_from_root(self, name: str) -> None:
        """Adds a file of the root, and its libraries."""
        original = os.path.join(self._root, name)
        while os.path.islink(original):
            # An absolute link means a file of the root.
            target = os.readlink(original)
            original = (
                os.path.join(self._root, target[1:])
                if target.startswith("/")
                else os.path.join(os.path.dirname(original), target)
            )
        self.add(original, name)

    def add(self, original: str, name: str = "") -> None:
        """Adds a file, and its libraries. The usual name is the path on this machine."""
        copy = os.path.join(self._files, (name or original).lstrip("/"))
        if os.path.exists(copy):
            return
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(original, copy)
        needed = run(["readelf", "--dynamic", original]).output
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", needed):
            paths = [f"{folder}/{library}" for folder in LIBRARY_FOLDERS]
            found = next((path for path in paths if os.path.lexists(os.path.join(self._root, path))), None)
            if not found:
                raise NotReady(
                    f"the root has no {library}, which {original} needs; remove the root, then run scripts/setup --arm64"
                )
            self.add_from_root(found)

    def run(self, kernel: str, commands: list[str], answers: str) -> None:
        """Boots, runs the lines of bash, and unpacks what they leave into the directory `answers`."""
        init = os.path.join(self._files, "init")
        with open(init, "w", encoding="utf-8") as file:
            file.write(INIT.format(answers=ANSWERS, commands="\n".join(commands)))
        os.chmod(init, 0o755)
        disk, archive, console = (os.path.join(self._directory, name) for name in ("initrd", "answers.tar", "console"))
        names = must(["find", "."], directory=self._files)
        must(["cpio", "-o", "-H", "newc", "--quiet", "-O", disk], directory=self._files, standard_input=names.encode())
        for path in (archive, console):
            with open(path, "wb"):
                pass
        command = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "2048"]
        command += ["-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel, "-initrd", disk]
        command += ["-serial", f"file:{console}", "-append", "console=ttyAMA0 rdinit=/init quiet panic=-1"]
        command += ["-device", "virtio-serial-pci", "-chardev", f"file,id=answers,path={archive}"]
        command += ["-device", "virtserialport,nr=1,chardev=answers"]
        # The kernel ends with the first process, and the emulator with the kernel.
        outcome = run(command, limit=BOOTING_SECONDS)
        with contextlib.suppress(tarfile.TarError), tarfile.open(archive) as tar:
            tar.extractall(answers, filter="data")
        if not os.path.exists(os.path.join(answers, "complete")):
            with open(console, encoding="utf-8", errors="replace") as file:
                said = file.read()[-1000:]
            raise FailedCommand(f"the machine ended early: {outcome.output}{said}")


def run_machine(
    root: str, library: str, places: list[Place], with_tests: bool, others: list[str], directory: str
) -> None:
    """Runs the cases, and perhaps the tests in C, in an emulated machine."""
    kernel = fetch_kernel(root)
    machine = Machine(root, os.path.join(WORK, "machine"))
    for path in (library, *{program(each.optimisation) for each in places}):
        machine.add(path)
    commands = arm64_calls.commands(ANSWERS, others)
    if others:
        if not glob.glob(f"{root}/usr/include/*/libunwind.h"):
            raise NotReady("the root lacks libunwind-dev; remove the root, then run scripts/setup --arm64")
        built = os.path.join(WORK, "calls")
        arm64_calls.build(compiler(root), built)
        for name, path in arm64_calls.files(built, library, program(OPTIMISATIONS[0])).items():
            machine.add(path, name)
    if with_tests:
        for path in (test_program(), *test_libraries(), *glob.glob(f"{TEST_CORPUS}/*")):
            machine.add(path)
        commands.append(f"run tests {TESTS_SECONDS} {shlex.quote(test_program())}")
    for place in places:
        for kind in KINDS_OF_MACHINE:
            stem = os.path.basename(place.stem(kind))
            variables = settings(library, os.path.join(ANSWERS, stem), kind)
            words = ["env", *(f"{name}={value}" for name, value in variables.items())]
            words += [program(place.optimisation), place.case]
            commands.append(f"run {stem} {RUNNING_SECONDS} {shlex.join(words)}")
    say(f"booting {os.path.basename(kernel)}")
    machine.run(kernel, commands, directory)


# --- judging


@dataclasses.dataclass
class Result:
    """What the check of one place found."""

    complaints: list[str] = dataclasses.field(default_factory=list)
    events: int = 0
    # Events with a stack. The recorder compares all but those stacks that it captured by a fresh unwind.
    stacks: int = 0
    different: int = 0
    incomplete: int = 0  # stacks that end at a frame without unwind information
    seconds: float = 0.0  # of the run that compares stacks
    findings: int = 0


def judge(place: Place, leaktrace: Leaktrace, root: str, has_images: bool) -> Result:
    result = Result()
    try:
        status, text = place.text(PLAIN, "status"), place.text(PLAIN, "out")
        if status != "0" or not re.search(rf"^{place.case}\b", text, re.MULTILINE):
            result.complaints.append(f"unrecorded: status {status}: {text[-100:]} {place.text(PLAIN, 'err')[-200:]}")
            return result
        for kind in (KINDS_OF_MACHINE if has_images else KINDS_OF_USER)[1:]:
            compare_runs(place, kind, result)
            read_trace(place, kind, leaktrace, result)
        judge_analysis(place, leaktrace, root, result, has_images)
    except (FailedCommand, OSError) as failure:
        result.complaints.append(str(failure))
    return result


def compare_runs(place: Place, kind: str, result: Result) -> None:
    """A recorded program prints the same as an unrecorded one, and ends the same."""
    result.seconds = float(place.read(kind, "seconds"))
    for ending, name in (("out", "output"), ("err", "error output"), ("status", "status")):
        if place.read(PLAIN, ending) != place.read(kind, ending):
            expected, found = place.text(PLAIN, ending), place.text(kind, ending)
            result.complaints.append(f"{kind}: {name}: {found[-200:]!r}, unrecorded: {expected[-200:]!r}")


def read_trace(place: Place, kind: str, leaktrace: Leaktrace, result: Result) -> None:
    """The trace is whole, and no stack differs from a fresh unwind."""
    trace = f"{place.stem(kind)}.trace"
    text = must([leaktrace.command, "dump", "--chunks", trace])
    closing = re.search(r"^\d+ closing reason=(\S+) .*\bevents=(\d+) .*\bdrops=([\d,]+)$", text, re.MULTILINE)
    options = re.search(r"^header .*\boptions=(0x[0-9a-f]+)", text)
    if not closing or not options:
        result.complaints.append(f"{kind}: the trace has no closing record")
        return
    drops = [int(count) for count in closing[3].split(",")]
    result.events, result.incomplete = int(closing[2]), drops[INCOMPLETE]
    if closing[1] != "exit":
        result.complaints.append(f"{kind}: the recording ended for the reason {closing[1]}")
    result.complaints += [f"{kind}: {drops[index]} {what}" for index, what in DROPS.items() if drops[index]]
    if kind != COMPARING:
        return
    if not int(options[1], 16) & VERIFIES_STACKS:
        result.complaints.append("the recorder compared no stacks")
    result.different = drops[DIFFERENT]
    if result.different:
        result.complaints.append(f"{result.different} stacks differ from a fresh unwind")
    events = must([leaktrace.command, "dump", "--events", trace])
    result.stacks = len(re.findall(r" stack=[1-9]", events))
    if result.stacks == 0:
        result.complaints.append("no event has a stack")
    depth, expected = deepest_stack(events), CASES[place.case].depth
    if depth < expected:
        result.complaints.append(f"the deepest stack has {depth} frames, not {expected}")


def deepest_stack(events: str) -> int:
    """The number of frames of the deepest stack. A stack is defined by its innermost frame and by its caller's stack."""
    depths = {"0": 0}
    for stack, caller in re.findall(r"\bstack id=(\d+) caller=(\d+) ", events):
        depths[stack] = depths[caller] + 1
    return max(depths.values())


def judge_analysis(place: Place, leaktrace: Leaktrace, root: str, result: Result, has_images: bool) -> None:
    """The functions of a stack have names, and the findings are right."""
    case = CASES[place.case]
    # The program is not in the root.
    places = ["--sysroot", root, "--debug-path", os.path.dirname(program(place.optimisation))]
    analysis = leaktrace.analyze(
        f"{place.stem(USUAL if has_images else COMPARING)}.trace", options=[*places, "--sort", "total", "--limit", "0"]
    )
    if analysis.report is None:
        result.complaints.append(analysis.reason)
        return
    stacks = [[frame.get("function") or "" for frame in site["frames"]] for site in analysis.report["sites"]]
    for functions in (case.functions, case.across_signal if has_images else ()):
        if not any(has_in_order(stack, functions) for stack in stacks):
            result.complaints.append(f"no stack has {' ← '.join(dict.fromkeys(functions))}")
    if has_images:
        if analysis.reason:
            result.complaints.append(analysis.reason)
            return
        result.findings = len(analysis.findings)
        result.complaints += complaints_on_findings(analysis, case.findings)


def has_in_order(stack: list[str], functions: tuple[str, ...]) -> bool:
    """True if the stack has all functions in this order, perhaps with others between."""
    frames = iter(stack)
    return all(any(frame == function for frame in frames) for function in functions)


def complaints_on_findings(analysis: Analysis, expected: dict[tuple[str, str], int]) -> list[str]:
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for finding in analysis.findings:
        names = [step["type"] for step in finding.path if step.get("type")]
        counts[finding.verdict, names[0] if names else finding.subject] += finding.instances
    return [
        f"{counts[key]} of {' '.join(key)}, not {expected.get(key, 0)}"
        for key in sorted(counts.keys() | expected.keys())
        if counts[key] != expected.get(key, 0)
    ]


def judge_tests(output: str, ignored: dict[str, str]) -> list[str]:
    """The complaints of the tests in C. `ignored` has the facts that may fail, with the reasons."""
    failed = re.findall(r"^FAILED: (.*)$", output, re.MULTILINE)
    ended = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    if not ended:
        return [f"the tests in C did not end: {output[-300:]}"]
    say(f"tests in C: {ended[0]}")
    for fact in set(failed) & ignored.keys():
        say(f"tests in C: not judged here, since {ignored[fact]}: {fact}")
    return [f"tests in C: failed: {fact}" for fact in failed if fact not in ignored]


# --- the whole


def table(results: dict[Place, Result], has_images: bool) -> str:
    """One line a case, with both optimisations side by side."""
    titles = ("events", "stacks", "differ", "incomplete", *(["findings"] if has_images else []), "s")
    optimisations = list(dict.fromkeys(place.optimisation for place in results))
    rows = [["", *(each for name in optimisations for each in (name, *[""] * (len(titles) - 1))), ""]]
    rows.append(["case", *titles * len(optimisations), ""])
    for case in dict.fromkeys(place.case for place in results):
        row, is_right = [case], True
        for place, result in results.items():
            if place.case == case:
                share = f"{100 * result.incomplete / max(result.events, 1):.1f} %"
                row += [f"{count:,}" for count in (result.events, result.stacks, result.different)]
                row += [share, *([str(result.findings)] if has_images else []), f"{result.seconds:.1f}"]
                is_right = is_right and not result.complaints
        rows.append([*row, "" if is_right else "FAILED"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def find_products(given: str | None) -> str:
    for directory in [given] if given else [os.path.join(ROOT, each) for each in PRODUCTS]:
        if os.access(os.path.join(directory, "leaktrace"), os.X_OK):
            return os.path.abspath(directory)
    raise NotReady(f"no leaktrace command in {given or ' or '.join(PRODUCTS)}; scripts/build makes it")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64", description=__doc__)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--quick", action="store_true", help="omits the programs that are compiled without optimisation")
    modes.add_argument(
        "--emulated-machine", action="store_true", help="boots Debian's kernel instead, and checks the findings"
    )
    parser.add_argument(
        "--case", action="append", choices=[*CASES, *arm64_calls.CASES], help="this case alone, without the tests in C"
    )
    parser.add_argument(
        "--products", metavar="DIR", help="the directory of the leaktrace command that reads the traces"
    )
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.emulated_machine and set(options.case or ()) & set(arm64_calls.CASES):
        parser.error("calls and core files need --emulated-machine")
    return options


def check(options: argparse.Namespace) -> int:
    root = os.path.realpath(os.environ.get("LEAKTRACE_ARM64_ROOT") or os.path.join(WORK, "root"))
    leaktrace = Leaktrace(find_products(options.products))
    optimisations = OPTIMISATIONS[:1] if options.quick else OPTIMISATIONS
    has_images, with_tests = options.emulated_machine, not options.case
    # Only the first program leaves a core file.
    build_programs(root, optimisations if {*(options.case or CASES)} & {*CASES} else OPTIMISATIONS[:1])
    complaints = build_tests(root) if with_tests else []
    began = time.monotonic()
    directory = os.path.join(WORK, "machine" if has_images else "user", "answers")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    places = [Place(directory, each, case) for case in options.case or CASES if case in CASES for each in optimisations]
    others = [case for case in options.case or arm64_calls.CASES if case in arm64_calls.CASES]
    if has_images:
        run_machine(root, options.library, places, with_tests, others, directory)
        if arm64_calls.CALLS in others:
            complaints += arm64_calls.judge_calls(directory, leaktrace)
        if arm64_calls.CORE in others:
            complaints += arm64_calls.judge_core(directory, leaktrace, root, program(OPTIMISATIONS[0]))
    if with_tests and has_images:
        with open(os.path.join(directory, "tests.out"), encoding="utf-8", errors="replace") as file:
            complaints += judge_tests(file.read(), {})
    elif with_tests:
        complaints += judge_tests(run(emulated(root, [test_program()]), limit=TESTS_SECONDS).output, NOT_OF_USER)

    def checked(place: Place) -> Result:
        if not has_images:
            run_user(root, options.library, place)
        return judge(place, leaktrace, root, has_images)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(places, pool.map(checked, places), strict=True))
    if results:
        print(table(results, has_images))
    for place, result in results.items():
        complaints += [f"{place.case} {place.optimisation}: {text}" for text in result.complaints]
    for text in complaints:
        say(text)
    say(f"complaints: {len(complaints)}; {time.monotonic() - began:.0f} s without the building")
    return 1 if complaints else 0


def main() -> int:
    options = parse()
    try:
        return check(options)
    except (NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        say(str(failure))
        return 1


if __name__ == "__main__":
    sys.exit(main())
