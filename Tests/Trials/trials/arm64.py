"""Tests the recorder on arm64, in emulators. Ends with 1 if a case fails. scripts/test-arm64 explains the options."""

import argparse
import collections
import concurrent.futures
import dataclasses
import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import time

from . import arm64_blocks, arm64_calls, emulation
from .leaktrace import Analysis, Leaktrace
from .processes import FailedCommand, must, run

SOURCE = os.path.join(emulation.ROOT, "Tests", "Arm64", "cases.swift")
PRODUCTS = (".build/release", ".build/quick/x86_64-unknown-linux-gnu/release")
ARM64_PRODUCTS = tuple(f".build/arm64/{name}/aarch64-unknown-linux-gnu/release" for name in ("command", "quick"))
OPTIMISATIONS = ("-O", "-Onone")
RUNNING_SECONDS, TESTS_SECONDS = 120, 300

# Values from trace_status.h and trace_header.h.
DROPS = {0: "calls of signal handlers", 1: "calls after the end", 2: "calls without memory", 3: "cut stacks"}
INCOMPLETE, DIFFERENT = 4, 7
VERIFIES_STACKS = 1 << 2
HEADER_SIZE, PAGE_SIZE_OFFSET = 128, 20

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
TEST_CORPUS = os.path.join(emulation.ROOT, "Tests", "Recorder", "FuzzCorpus")


@dataclasses.dataclass(frozen=True)
class Case:
    """A case of Tests/Arm64/cases.swift: the functions of one stack, innermost first, and the expected findings."""

    functions: tuple[str, ...]
    findings: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    depth: int = 0  # minimum number of frames of the deepest stack
    # Functions of a stack that crosses a signal frame of the kernel. qemu-user has no such frames.
    across_signal: tuple[str, ...] = ()


CASES = {
    "cycles": Case(("connectRooms()", "cycles()"), {("retainCycle", "Room"): 20}),
    "closures": Case(("openScreen(_:)", "closures()"), {("retainCycle", "Screen"): 10}),
    "enumerations": Case(("connectPosts(_:)", "enumerations()"), {("retainCycle", "Post"): 20}),
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


# --- building


def program(optimisation: str) -> str:
    return os.path.join(emulation.WORK, f"cases{optimisation}", "cases")


def build_programs(root: str, optimisations: tuple[str, ...]) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        options = [["-parse-as-library", each] for each in optimisations]
        products = [program(each) for each in optimisations]
        list(pool.map(lambda product, each: emulation.compile_swift(root, [SOURCE], product, each), products, options))


def test_program() -> str:
    return os.path.join(emulation.WORK, "tests", "recorder-tests")


def test_libraries() -> list[str]:
    """Returns the paths of the libraries that the tests in C load."""
    return [os.path.join(emulation.WORK, "tests", "libraries", f"lib{name}.so") for name in ("first", "second")]


def build_tests(root: str) -> list[str]:
    """Compiles the recorder's tests in C. A source is compiled again if the source or a header is newer than its object.

    Returns the complaints about tests that do not compile. The program has the others.
    """
    directory = os.path.join(emulation.WORK, "tests")
    os.makedirs(os.path.join(directory, "libraries"), exist_ok=True)
    linker = [*emulation.compiler(root), "-fuse-ld=lld"]
    for path in test_libraries():
        name = os.path.basename(path)[3:-3]
        text = f"int recorder_test_{name}; int recorder_test_call_{name}(void) {{ return ++recorder_test_{name}; }}"
        must([*linker, "-x", "c", "-fPIC", "-shared", "-o", path, "-"], standard_input=text.encode())
    files = [
        name for folder in TEST_FOLDERS for name in glob.glob(f"{folder}/**", root_dir=emulation.ROOT, recursive=True)
    ]
    sources = sorted(name for name in files if name.endswith(".c") and "/Fuzzing/" not in name)
    headers = [os.path.getmtime(os.path.join(emulation.ROOT, name)) for name in files if name.endswith(".h")]
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
        newest = max(*headers, os.path.getmtime(os.path.join(emulation.ROOT, source)), os.path.getmtime(__file__))
        if not os.path.exists(target) or os.path.getmtime(target) <= newest:
            outcome = run([*emulation.compiler(root), *flags, "-c", source, "-o", target], directory=emulation.ROOT)
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

# PLAIN: without the recorder. USUAL: with the recorder's default settings. COMPARING: compares each stack with a fresh
# unwind, and takes no heap images. LIGHT: a light recording.
PLAIN, USUAL, COMPARING, LIGHT = "plain", "usual", "comparing", "light"
KINDS_OF_USER, KINDS_OF_MACHINE = (PLAIN, COMPARING), (PLAIN, USUAL, COMPARING)


@dataclasses.dataclass(frozen=True)
class Place:
    """A program with one case. All its files are in `directory`."""

    directory: str
    optimisation: str
    case: str
    pages: int  # KiB of the kernel's pages

    def stem(self, kind: str) -> str:
        return os.path.join(self.directory, f"{self.case}{self.optimisation}.{kind}")

    def read(self, kind: str, ending: str) -> bytes:
        with open(f"{self.stem(kind)}.{ending}", "rb") as file:
            return file.read()

    def text(self, kind: str, ending: str) -> str:
        return self.read(kind, ending).decode(errors="replace").strip()


def settings(library: str, stem: str, kind: str) -> dict[str, str]:
    """Returns the environment variables of a run."""
    if kind == PLAIN:
        return {}
    # LEAKTRACE_QUIET, since messages would change the program's standard error.
    values = {"LD_PRELOAD": library, "LEAKTRACE_OUTPUT": f"{stem}.trace", "LEAKTRACE_QUIET": "1"}
    if kind == LIGHT:
        return {**values, "LEAKTRACE_MODE": "light"}
    return values if kind == USUAL else {**values, "LEAKTRACE_SNAPSHOTS": "off", "LEAKTRACE_VERIFY_STACKS": "1"}


def run_user(root: str, library: str, place: Place) -> None:
    """Runs a case in qemu-user. It has no ptrace, so the recorder takes no heap images."""
    for kind in KINDS_OF_USER:
        stem = place.stem(kind)
        command = emulation.emulated(root, [program(place.optimisation), place.case], settings(library, stem, kind))
        outcome = run(["/bin/sh", "-c", 'exec "$@" >"$0.out" 2>"$0.err"', stem, *command], limit=RUNNING_SECONDS)
        for ending, value in (("status", outcome.status), ("seconds", outcome.seconds)):
            with open(f"{stem}.{ending}", "w") as file:
                file.write(str(value))


def run_line(stem: str, variables: dict[str, str], command: list[str]) -> str:
    """Returns a line of the machine's script that runs a command."""
    words = ["env", *(f"{name}={value}" for name, value in variables.items()), *command]
    return f"run {stem} {RUNNING_SECONDS} {shlex.join(words)}"


def add_places(
    machine: emulation.Machine, library: str, places: list[Place], kinds: tuple[str, ...] = KINDS_OF_MACHINE
) -> list[str]:
    """Adds the programs of the cases to a machine. Returns the lines that run the cases."""
    commands = []
    for path in (library, *{program(each.optimisation) for each in places}):
        machine.add(path)
    for place in places:
        for kind in kinds:
            stem = os.path.basename(place.stem(kind))
            variables = settings(library, os.path.join(emulation.ANSWERS, stem), kind)
            commands.append(run_line(stem, variables, [program(place.optimisation), place.case]))
    return commands


def add_calls(machine: emulation.Machine, root: str, library: str, cases: list[str]) -> list[str]:
    """Adds the programs of the cases that act on other processes. Returns the lines that run the cases."""
    if cases:
        built = os.path.join(emulation.WORK, "calls")
        arm64_calls.build(emulation.compiler(root), built)
        for name, path in arm64_calls.files(built, library, program(OPTIMISATIONS[0])).items():
            machine.add(path, name)
    return arm64_calls.commands(emulation.ANSWERS, cases)


def add_tests(machine: emulation.Machine, root: str, library: str) -> list[str]:
    """Adds the tests in C and those of allocators. Returns the lines that run them."""
    blocks, jemalloc = arm64_blocks.build(root)
    for path in (test_program(), *test_libraries(), *glob.glob(f"{TEST_CORPUS}/*"), blocks, jemalloc):
        machine.add(path)
    commands = [f"run tests {TESTS_SECONDS} {shlex.quote(test_program())}"]
    for allocator in arm64_blocks.ALLOCATORS:
        variables = arm64_blocks.variables(library, jemalloc, allocator, emulation.ANSWERS)
        commands.append(run_line(os.path.basename(arm64_blocks.stem("", allocator)), variables, [blocks]))
    return commands


# --- judging


@dataclasses.dataclass
class Result:
    """The outcome of one case."""

    complaints: list[str] = dataclasses.field(default_factory=list)
    events: int = 0
    # Events with a stack. The recorder compares each stack, unless a fresh unwind captured it.
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
    """Checks that a recorded program has the same output and status as an unrecorded one."""
    result.seconds = float(place.read(kind, "seconds"))
    for ending, name in (("out", "output"), ("err", "error output"), ("status", "status")):
        if place.read(PLAIN, ending) != place.read(kind, ending):
            expected, found = place.text(PLAIN, ending), place.text(kind, ending)
            result.complaints.append(f"{kind}: {name}: {found[-200:]!r}, unrecorded: {expected[-200:]!r}")


def read_trace(place: Place, kind: str, leaktrace: Leaktrace, result: Result) -> None:
    """Checks that the trace is complete, and that no stack differs from a fresh unwind."""
    trace = f"{place.stem(kind)}.trace"
    with open(trace, "rb") as file:
        (size,) = struct.unpack_from("<I", file.read(HEADER_SIZE), PAGE_SIZE_OFFSET)
    if size != place.pages << 10:
        result.complaints.append(f"{kind}: the header has pages of {size} bytes, not {place.pages} KiB")
    if not judge_recording(must([leaktrace.command, "dump", "--chunks", trace]), kind, result) or kind != COMPARING:
        return
    events = must([leaktrace.command, "dump", "--events", trace])
    result.stacks = len(re.findall(r" stack=[1-9]", events))
    if result.stacks == 0:
        result.complaints.append("no event has a stack")
    depth, expected = deepest_stack(events), CASES[place.case].depth
    if depth < expected:
        result.complaints.append(f"the deepest stack has {depth} frames, not {expected}")


def judge_recording(chunks: str, kind: str, result: Result) -> bool:
    """Checks that a recording is complete. Returns False if its end is missing. `chunks`: the dumped chunks of the
    trace."""
    closing = re.search(r"^\d+ closing reason=(\S+) .*\bevents=(\d+) .*\bdrops=([\d,]+)$", chunks, re.MULTILINE)
    options = re.search(r"^header .*\boptions=(0x[0-9a-f]+)", chunks)
    if not closing or not options:
        result.complaints.append(f"{kind}: the trace has no closing record")
        return False
    drops = [int(count) for count in closing[3].split(",")]
    result.events, result.incomplete = int(closing[2]), drops[INCOMPLETE]
    if closing[1] != "exit":
        result.complaints.append(f"{kind}: the recording ended for the reason {closing[1]}")
    result.complaints += [f"{kind}: {drops[index]} {what}" for index, what in DROPS.items() if drops[index]]
    if kind == COMPARING:
        if not int(options[1], 16) & VERIFIES_STACKS:
            result.complaints.append("the recorder compared no stacks")
        result.different = drops[DIFFERENT]
        if result.different:
            result.complaints.append(f"{result.different} stacks differ from a fresh unwind")
    return True


def deepest_stack(events: str) -> int:
    """The number of frames of the deepest stack. A stack is defined by its innermost frame and by its caller's stack."""
    depths = {"0": 0}
    for stack, caller in re.findall(r"\bstack id=(\d+) caller=(\d+) ", events):
        depths[stack] = depths[caller] + 1
    return max(depths.values())


def judge_analysis(place: Place, leaktrace: Leaktrace, root: str, result: Result, has_images: bool) -> None:
    """Checks the names of functions in a stack, and the findings."""
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
    """Returns whether the stack has all functions in this order. Others may be between them."""
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
    """Returns complaints about the tests in C. `ignored`: names of tests that may fail, with reasons."""
    failed = re.findall(r"^FAILED: (.*)$", output, re.MULTILINE)
    ended = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    if not ended:
        return [f"the tests in C did not end: {output[-300:]}"]
    emulation.say(f"tests in C: {ended[0]}")
    for fact in set(failed) & ignored.keys():
        emulation.say(f"tests in C: not judged here, since {ignored[fact]}: {fact}")
    return [f"tests in C: failed: {fact}" for fact in failed if fact not in ignored]


# --- the whole


def table(results: dict[Place, Result], has_images: bool) -> str:
    """Returns a table with one line for each case, and both optimisations side by side."""
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


def find_products(given: str | None, usual: tuple[str, ...] = PRODUCTS) -> str:
    for directory in [given] if given else [os.path.join(emulation.ROOT, each) for each in usual]:
        if os.access(os.path.join(directory, "leaktrace"), os.X_OK):
            return os.path.abspath(directory)
    raise emulation.NotReady(f"no leaktrace command in {given or ' or '.join(usual)}; scripts/build makes it")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64", description=__doc__)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--quick", action="store_true", help="omits the programs that are compiled without optimisation")
    modes.add_argument(
        "--emulated-machine", action="store_true", help="boots Debian's kernel instead, and checks the findings"
    )
    parser.add_argument(
        "--pages", type=int, choices=(4, 16, 64), default=4, help="KiB of the kernel's pages (default: %(default)s)"
    )
    parser.add_argument(
        "--kernel", metavar="FILE", help="boots this kernel, such as one with pages of 64 KiB; Debian has none"
    )
    parser.add_argument(
        "--case", action="append", choices=[*CASES, *arm64_calls.CASES], help="this case alone, without the tests in C"
    )
    parser.add_argument(
        "--products", metavar="DIR", help="the directory of the leaktrace command that reads the traces"
    )
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.emulated_machine:
        if set(options.case or ()) & set(arm64_calls.CASES):
            parser.error("calls and core files need --emulated-machine")
        if options.kernel or options.pages != 4:
            parser.error("--pages and --kernel need --emulated-machine: the other emulator has this machine's pages")
    return options


def check(options: argparse.Namespace) -> int:
    root = emulation.root_directory()
    leaktrace = Leaktrace(find_products(options.products))
    optimisations = OPTIMISATIONS[:1] if options.quick else OPTIMISATIONS
    has_images, with_tests = options.emulated_machine, not options.case
    # Only the first program leaves a core file.
    build_programs(root, optimisations if {*(options.case or CASES)} & {*CASES} else OPTIMISATIONS[:1])
    complaints = build_tests(root) if with_tests else []
    began = time.monotonic()
    directory = os.path.join(emulation.WORK, "machine" if has_images else "user", "answers")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    cases = [case for case in options.case or CASES if case in CASES]
    others = [case for case in options.case or arm64_calls.CASES if case in arm64_calls.CASES]
    places = [Place(directory, each, case, options.pages) for case in cases for each in optimisations]
    if has_images:
        kernel = options.kernel or emulation.fetch_kernel(root, options.pages)
        machine = emulation.Machine(root, os.path.join(emulation.WORK, "machine"))
        commands = add_calls(machine, root, options.library, others)
        commands += add_tests(machine, root, options.library) if with_tests else []
        commands += add_places(machine, options.library, places)
        emulation.say(f"booting {os.path.basename(kernel)}")
        machine.run(os.path.abspath(kernel), commands, directory)
        if arm64_calls.CALLS in others:
            complaints += arm64_calls.judge_calls(directory, leaktrace)
        if arm64_calls.CORE in others:
            complaints += arm64_calls.judge_core(directory, leaktrace, root, program(OPTIMISATIONS[0]))
    if with_tests and has_images:
        with open(os.path.join(directory, "tests.out"), encoding="utf-8", errors="replace") as file:
            complaints += judge_tests(file.read(), {})
        for allocator in arm64_blocks.ALLOCATORS:
            complaints += arm64_blocks.complaints(leaktrace.command, directory, allocator)
    elif with_tests:
        complaints += judge_tests(
            run(emulation.emulated(root, [test_program()]), limit=TESTS_SECONDS).output,
            NOT_OF_USER,
        )

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
        emulation.say(text)
    emulation.say(f"complaints: {len(complaints)}; {time.monotonic() - began:.0f} s without the building")
    return 1 if complaints else 0


def main() -> int:
    options = parse()
    try:
        return check(options)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        emulation.say(str(failure))
        return 1


if __name__ == "__main__":
    sys.exit(main())
