"""The checks of one platform. Each returns its complaints; an empty list means success."""

import contextlib
import csv
import dataclasses
import glob
import io
import os
import shutil
import subprocess
from collections.abc import Callable

from . import machine
from .corpus import ROOT
from .leaktrace import DONE, Leaktrace
from .platform_corpus import differences
from .platform_images import complaints_on_image
from .platform_servers import servers
from .processes import FailedCommand, environment, kill_session, must, run
from .roots import Root
from .situations import PROGRAMS, Builder, situations
from .survival import SHORT, Runner, judge, known

PATIENCE = 60
TOOLCHAIN = os.path.dirname(os.path.realpath(shutil.which("swift") or "/usr/bin/swift"))
# Declarations that older versions of glibc lack, by the first version that has them.
LATER_LIBC = {(2, 32): "char __libc_single_threaded;", (2, 36): "unsigned arc4random(void) { return 4; }"}
# The live blocks of Tests/Programs/platform.c while it waits: number by requested bytes.
BLOCKS = {3001: 100, 5003: 200, 1733: 20, 3000017: 4}
# glibc gives up to 24 bytes more.
ROUNDING = 1.02
# The leaks of Tests/Programs/platform.swift: instances by verdict and type.
FINDINGS = {("retainCycle", "Visit"): 20, ("lost", "Order"): 20, ("suspended", "Task"): 3}
# Features of the kernel that Tests/Programs/hides-calls.c can hide.
FEATURES = ("restartable-sequences", "guard-pages", "page-scan", "clone3", "close-range")
ALLOCATORS = {"jemalloc": "libjemalloc.so.*", "tcmalloc": "libtcmalloc_minimal.so.*", "mimalloc": "libmimalloc.so.*"}
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class NotHere(Exception):
    """The platform lacks something that a check needs. The text names it."""


@dataclasses.dataclass
class Site:
    """The root, directories and commands for the checks of one platform."""

    root: Root
    directory: str  # has the same path inside and outside of the root
    products: str  # has the same path inside and outside of the root
    leaktrace: Leaktrace
    # Tables for the page, by title. The first row is the header.
    tables: dict[str, list[list[str]]] = dataclasses.field(default_factory=dict)
    kernel: Callable[[], str] = str  # returns the path of the distribution's kernel
    kernel_version: str = ""  # version of the booted kernel
    cache: str = ""  # directory with results of this machine's programs, which all platforms share

    @property
    def library(self):
        return os.path.join(self.products, "libleaktrace.so")

    def recorded(self, program, trace, variables=None, preload=()):
        """Returns the command line that runs a program in the root with the preloaded recorder."""
        settings = {
            "LD_PRELOAD": ":".join([self.library, *preload]),
            "LEAKTRACE_OUTPUT": trace,
            "LEAKTRACE_QUIET": "1",
            **(variables or {}),
        }
        return self.root.command(program, self.directory, settings)

    def analysis(self, trace, in_root=True):
        """Analyses a trace. `in_root`: searches for binaries in the root, not at the trace's paths."""
        analysis = self.leaktrace.analyze(trace, options=["--sysroot", self.root.path] if in_root else [])
        if analysis.report is None:
            raise FailedCommand(analysis.reason)
        return analysis

    def command(self, *arguments, limit=PATIENCE):
        """Runs leaktrace. Returns its output. Raises FailedCommand if it fails."""
        outcome = run([self.leaktrace.command, *arguments], limit=limit)
        if outcome.status not in DONE:
            ended = "did not end in time" if outcome.timed_out else f"ended with {outcome.status}"
            raise FailedCommand(f"{arguments[0]} {ended}: {outcome.output.strip()[-300:]}")
        return outcome.output


class Standing:
    """A program in the root that waits when it is ready, such as platform.c and platform.swift."""

    def __init__(self, command):
        self._command = command

    def __enter__(self):
        self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        assert self._child.stdin and self._child.stdout
        self._input, self._output = self._child.stdin, self._child.stdout
        self._expect("ready")
        # `chroot` and `env` exec the program, so it has the child's process ID.
        self.process = self._child.pid
        return self

    def _expect(self, word):
        """Reads lines until one begins with the word. Raises FailedCommand at the end of the output."""
        said = []
        while line := self._output.readline().decode(errors="replace"):
            if line.startswith(word):
                return
            said.append(line)
        raise FailedCommand(f"the program ended before it was {word}: {''.join(said)[-300:]}")

    def leak_again(self):
        self._step()
        self._expect("done")

    def _step(self):
        self._input.write(b"x")
        self._input.flush()

    def end(self):
        """Lets the program end. Returns its status."""
        self._step()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._child.wait(PATIENCE)
        raise FailedCommand("the program did not end in time")

    def __exit__(self, *_):
        if self._child.poll() is None:
            kill_session(self._child.pid)
        self._input.close()
        self._output.close()
        self._child.wait()


# Building


def build_c(site, source="platform.c"):
    """Compiles a C program in the root, with the root's compiler. Returns its path."""
    product = os.path.join(site.directory, "c", os.path.splitext(source)[0])
    if not os.path.exists(product):
        os.makedirs(os.path.dirname(product), exist_ok=True)
        # Without libdl, since most C programs do not load it. Before 2.34, it is not part of glibc's libc.so.
        command = ["gcc", "-O1", "-g", "-fno-builtin", os.path.join(PROGRAMS, source), "-lpthread"]
        must(site.root.command([*command, "-o", product]))
    return product


def build_swift(site):
    """Compiles platform.swift with this machine's toolchain. Links it with Swift's static runtime and the root's C
    library. Returns its path."""
    product = os.path.join(site.directory, "swift", "platform")
    if os.path.exists(product):
        return product
    os.makedirs(os.path.dirname(product), exist_ok=True)
    source = os.path.join(PROGRAMS, "platform.swift")
    object_file = product + ".o"
    flags = ["-O", "-g", "-static-stdlib", "-parse-as-library"]
    must([os.path.join(TOOLCHAIN, "swiftc"), *flags, source, "-c", "-o", object_file], limit=600)
    runtime = os.path.join(os.path.dirname(TOOLCHAIN), "lib", "swift_static", "linux")
    # The libraries that swiftc passes to the linker for this program.
    libraries = [f"-l{name}" for name in ("swiftCore", "swift_Concurrency", "swift_StringProcessing")]
    libraries += [f"-l{name}" for name in ("swift_RegexParser", "swiftGlibc", "dispatch", "BlocksRuntime")]
    libraries += ["-lm", "-lpthread", "-lutil", "-ldl"]
    link = ["gcc", "-pie", "-o", product]
    # The runtime needs a newer C++ library than old distributions have.
    link += [os.path.join(runtime, "x86_64", "swiftrt.o"), object_file, f"-L{runtime}"]
    newer = must([os.path.join(TOOLCHAIN, "clang"), "-print-file-name=libstdc++.a"]).strip()
    library = shutil.copy(newer, os.path.dirname(product))
    link.append(_older_libc(site, os.path.dirname(product)))
    libraries = ["-Wl,--start-group", *libraries, library, "-Wl,--end-group", "-Wl,--export-dynamic", "-Wl,--build-id"]
    must(site.root.command([*link, *libraries]), limit=600)
    return product


def _older_libc(site, directory):
    """Writes a source file with the declarations that the C++ library needs and the root's glibc lacks."""
    path = os.path.join(directory, "older-libc.c")
    version = tuple(map(int, site.root.libc_version().split(".")))
    lines = [text for since, text in LATER_LIBC.items() if version < since]
    with open(path, "w") as file:
        file.write("\n".join(lines))
    return path


def build_swift_there(site):
    """Compiles platform.swift with the root's own Swift. Returns its path."""
    if not site.root.has("/usr/bin/swiftc"):
        raise NotHere("the distribution has no Swift")
    product = os.path.join(site.directory, "own-swift", "platform")
    if not os.path.exists(product):
        os.makedirs(os.path.dirname(product), exist_ok=True)
        source = os.path.join(PROGRAMS, "platform.swift")
        command = ["swiftc", "-O", "-g", "-parse-as-library", source, "-o", product]
        must(site.root.command(command, os.path.dirname(product)), limit=600)
    return product


# Judging


def live_blocks(site, trace):
    """Returns sizes and numbers of the live blocks in the last image."""
    asked = ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", site.leaktrace.command, "query", trace, "--format", "csv"]
    outcome = run([*asked, "SELECT size, count(*) FROM blocks GROUP BY size"], limit=PATIENCE)
    if outcome.status not in DONE:
        raise FailedCommand(f"query ended with {outcome.status}: {outcome.output[-300:]}")
    return [(int(size), int(count)) for size, count in list(csv.reader(io.StringIO(outcome.output)))[1:]]


def complaints_on_blocks(site, trace, expected=None, rounding=1.0):
    found = live_blocks(site, trace)
    complaints = []
    for size, count in (expected or BLOCKS).items():
        seen = sum(number for each, number in found if size <= each <= size * rounding)
        if seen != count:
            complaints.append(f"{seen} live blocks of {size} bytes, not {count}")
    return complaints


def complaints_on_findings(analysis, factor=1, with_places=False, with_names=True):
    if analysis.reason:
        return []  # complaints_on_image reports the reason
    counts: dict[tuple[str, str], int] = {}
    complaints: list[str] = []
    for finding in analysis.findings:
        step = finding.path[0] if finding.path else {}
        key = (finding.verdict, step.get("type") or "")
        counts[key] = counts.get(key, 0) + finding.instances
        if with_places and key[0] != "suspended" and not finding.place:
            complaints.append(f"no place for {finding.verdict} {key[1]}")
        if with_names and finding.verdict == "retainCycle":
            names = {(each.get("edge") or {}).get("name") for each in finding.path}
            if names != {"next"}:
                complaints.append(f"fields are named {names}")
    expected = {key: number * (factor if key[0] != "suspended" else 1) for key, number in FINDINGS.items()}
    for key in sorted(expected.keys() | counts.keys()):
        if counts.get(key, 0) != expected.get(key, 0):
            complaints.append(f"{counts.get(key, 0)} of {' '.join(key)}, not {expected.get(key, 0)}")
    return complaints


def _ran(command, limit=PATIENCE):
    outcome = run(command, limit=limit)
    if outcome.status != 0:
        ended = "did not end in time" if outcome.timed_out else f"ended with {outcome.status}"
        raise FailedCommand(f"the program {ended}: {outcome.output.strip()[-300:]}")
    return [line for line in outcome.output.splitlines() if line.startswith(("leaktrace:", "ERROR: ld.so"))]


# Checks


def c_recorded(site):
    """Checks all live blocks and the lost blocks of a C program with threads."""
    trace = os.path.join(site.directory, "c.trace")
    complaints = _ran(site.recorded([build_c(site), "end"], trace))
    analysis = site.analysis(trace)
    complaints += complaints_on_image(analysis.report) + complaints_on_blocks(site, trace)
    lost = [(each.instances, each.place) for each in analysis.findings if each.verdict == "lost"]
    if [number for number, _ in lost] != [20] or not lost[0][1].startswith("lose_blocks (platform.c:"):
        complaints.append(f"lost: {lost}")
    return complaints


def swift_recorded(site, program=build_swift, name="swift"):
    trace = os.path.join(site.directory, f"{name}.trace")
    complaints = _ran(site.recorded([program(site), "end"], trace))
    analysis = site.analysis(trace)
    return complaints + complaints_on_image(analysis.report) + complaints_on_findings(analysis, with_places=True)


def light(site, program=build_swift, name="light"):
    trace = os.path.join(site.directory, f"{name}.trace")
    complaints = _ran(site.recorded([program(site), "end"], trace, {"LEAKTRACE_MODE": "light"}))
    analysis = site.analysis(trace)
    return complaints + complaints_on_image(analysis.report) + complaints_on_findings(analysis)


def _inspected(site, target, name, in_root=True):
    trace = os.path.join(site.directory, f"{name}.trace")
    site.command("inspect", str(target), "-o", trace)
    analysis = site.analysis(trace, in_root)
    complaints = complaints_on_image(analysis.report) + complaints_on_findings(analysis)
    standing = [
        each
        for each in analysis.report["threadStacks"]
        if any("standInThread" in (frame.get("function") or "") for frame in each["frames"])
    ]
    if len(standing) != 3:
        complaints.append(f"{len(standing)} threads are in standInThread, not 3")
    return complaints


def inspected(site, program=build_swift, name="inspected"):
    with Standing(site.root.command([program(site), "wait"], site.directory)) as standing:
        complaints = _inspected(site, standing.process, name)
        standing.leak_again()
        if status := standing.end():
            complaints.append(f"the program ended with {status}")
    return complaints


def joined(site, program, name):
    """Attaches to a program while it leaks. Returns the trace, and complaints about the program's end."""
    trace = os.path.join(site.directory, f"{name}.trace")
    with Standing(site.root.command([program, "wait"], site.directory)) as standing:
        process = str(standing.process)
        site.command("attach", process, "-o", trace)
        standing.leak_again()
        site.command("snapshot", process)
        site.command("detach", process)
        return trace, [f"the program ended with {status}"] if (status := standing.end()) else []


def attached(site, program=build_swift, name="attached"):
    """Checks that `attach` finds earlier leaks and those during the recording."""
    trace, complaints = joined(site, program(site), name)
    analysis = site.analysis(trace)
    return complaints + complaints_on_image(analysis.report) + complaints_on_findings(analysis, factor=2)


def c_attached(site):
    trace, complaints = joined(site, build_c(site), "c-attached")
    analysis = site.analysis(trace)
    expected = {**BLOCKS, 1733: 40}
    return complaints + complaints_on_image(analysis.report) + complaints_on_blocks(site, trace, expected, ROUNDING)


def core_file(site, program=build_swift, name="core"):
    """Inspects core files by this machine's gdb and by the root's gdb. Both see the paths outside of the root."""
    libraries = site.root.path + LIBRARIES
    loader = [os.path.join(libraries, "ld-linux-x86-64.so.2"), "--library-path", libraries]
    debuggers = {name: ["gdb"], f"{name}-of-root": [*loader, os.path.join(site.root.path, "usr/bin/gdb")]}
    debuggers = {core: command for core, command in debuggers.items() if _runs([*command, "--version"])}
    if not debuggers:
        raise NotHere("neither this machine nor the root has gdb")
    complaints = []
    with Standing(site.root.command([program(site), "wait"], site.directory)) as standing:
        for core, command in debuggers.items():
            path = os.path.join(site.directory, core)
            must([*command, "-nx", "-batch", "-p", str(standing.process), "-ex", f"gcore {path}"])
            complaints += [f"{core}: {each}" for each in _inspected(site, path, f"{core}-inspected", in_root=False)]
    return complaints


def _runs(command):
    try:
        return run(command).status == 0
    except OSError:
        return False


def allocator_blocks(site, library=None):
    """Checks that the allocator's metadata lists a program's live blocks, and no freed ones."""
    command = [os.path.join(ROOT, "scripts", "check-allocators"), "--root", site.root.path, "--work", site.directory]
    outcome = run([*command, *(["--library", os.path.basename(library)] if library else []), "1", "2"], limit=PATIENCE)
    return [] if outcome.status == 0 else [outcome.output.strip()[-300:]]


def allocator(site, name):
    """Checks programs with another allocator: the C program recorded, and the Swift program light and inspected."""
    found = glob.glob(site.root.path + os.path.join(LIBRARIES, ALLOCATORS[name]))
    if not found:
        raise NotHere(f"the root has no {name}")
    library = min(found, key=len).removeprefix(site.root.path)
    complaints: list[str] = []

    def run_part(part, check):
        try:
            complaints.extend(f"{part}: {text}" for text in check())
        except FailedCommand as failure:
            complaints.append(f"{part}: {failure}")

    def recorded():
        trace = os.path.join(site.directory, f"{name}.trace")
        said = _ran(site.recorded([build_c(site), "end"], trace, preload=[library]))
        report = site.analysis(trace).report
        return said + complaints_on_image(report) + complaints_on_blocks(site, trace)

    def sampled():
        trace = os.path.join(site.directory, f"{name}-light.trace")
        said = _ran(site.recorded([build_swift(site), "end"], trace, {"LEAKTRACE_MODE": "light"}, [library]))
        analysis = site.analysis(trace)
        return said + complaints_on_image(analysis.report) + complaints_on_findings(analysis)

    def looked_at():
        command = site.root.command([build_swift(site), "wait"], site.directory, {"LD_PRELOAD": library})
        with Standing(command) as standing:
            return _inspected(site, standing.process, f"{name}-inspected")

    run_part("recorded", recorded)
    run_part("light", sampled)
    run_part("inspected", looked_at)
    run_part("blocks", lambda: allocator_blocks(site, library))
    return complaints


def command_inside(site):
    """Runs the command in the root, with this machine's Swift runtime."""
    variables = {"LD_LIBRARY_PATH": os.path.join(os.path.dirname(TOOLCHAIN), "lib", "swift", "linux")}
    trace = os.path.join(site.directory, "inside.trace")
    leaktrace = site.leaktrace.command
    recorded = [leaktrace, "record", "--quiet", "-o", trace, "--", build_c(site), "end"]
    complaints = _ran(site.root.command(recorded, site.directory, variables))
    outcome = run(site.root.command([leaktrace, "analyze", trace], site.directory, variables), limit=PATIENCE)
    if outcome.status != 0 or "lose_blocks" not in outcome.output:
        complaints.append(f"analyze ended with {outcome.status}: {outcome.output.strip()[-300:]}")
    return complaints


class RootBuilder(Builder):
    """Builds situations in the root, with the root's compiler."""

    def _c_compiler(self):
        return "gcc"


class RootRunner(Runner):
    """Runs situations in a root, with the preloaded recorder."""

    # `chroot` changes the working directory, so `env -C` restores it. Situations search for their files there.
    ENTER = 'root=$0; exec chroot "$root" /usr/bin/env -C "$PWD" "$@"'

    def __init__(self, site, scratch):
        super().__init__(site.products, scratch, light=False)
        self._site = site

    def _untraced(self):
        return ["/bin/sh", "-c", self.ENTER, self._site.root.path]

    def _traced(self, pattern, mode):
        settings = {"LD_PRELOAD": self._site.library, "LEAKTRACE_OUTPUT": pattern, "LEAKTRACE_QUIET": "1"}
        return [*self._untraced(), *(f"{name}={value}" for name, value in settings.items())]


def survival(site):
    """Runs the short form of scripts/survival."""

    def inside(command, **options):
        return must(site.root.command(command), **options)

    directory = os.path.join(site.directory, "situations")
    os.makedirs(directory)
    chosen = [each for each in situations(RootBuilder(directory, ""), inside, short=True) if each.name in SHORT]
    runner = RootRunner(site, os.path.join(site.directory, "survival"))
    complaints = []
    for situation in chosen:
        row = runner.row(situation, "alone")
        judge(row, known())
        if row.differences and not row.reason:
            complaints.append(f"{situation.name}: {'; '.join(row.differences)} {' '.join(row.traced.remarks)}")
    return complaints


def own_swift(site):
    """Checks a program of the distribution's own Swift: recorded, light, inspected and attached to."""
    parts = {"recorded": swift_recorded, "light": light, "inspected": inspected, "attached": attached}
    complaints = []
    for name, part in parts.items():
        complaints += [f"{name}: {text}" for text in part(site, build_swift_there, f"own-{name}")]
    return complaints


def older_kernel(site):
    """Checks complete and light recordings while the kernel seems to lack a feature."""
    hider, complaints = build_c(site, "hides-calls.c"), []
    for feature in FEATURES:

        def hide(command, feature=feature):
            # After `chroot ROOT`, so that the filter is active before the program and its recorder start.
            return [*command[:2], hider, feature, *command[2:]]

        try:
            trace = os.path.join(site.directory, f"without-{feature}.trace")
            found = _ran(hide(site.recorded([build_c(site), "end"], trace)))
            found += complaints_on_image(site.analysis(trace).report) + complaints_on_blocks(site, trace)
            trace = os.path.join(site.directory, f"without-{feature}-light.trace")
            found += _ran(hide(site.recorded([build_swift(site), "end"], trace, {"LEAKTRACE_MODE": "light"})))
            analysis = site.analysis(trace)
            found += complaints_on_image(analysis.report) + complaints_on_findings(analysis)
        except FailedCommand as failure:
            found = [str(failure)]
        complaints += [f"without {feature}: {text}" for text in found]
    return complaints


def own_kernel(site):
    """Records programs under the distribution's own kernel, on a processor with protection keys."""
    if not machine.is_here():
        raise NotHere("this machine has no qemu-system-x86")
    counted, unreadable = build_c(site), build_c(site, "unreadable-pages.c")
    runs: dict[str, tuple[str, str]] = {
        "counted": (f"{counted} end", ""),
        "key": (f"{unreadable} key", ""),
        "key, light": (f"{unreadable} key", "LEAKTRACE_MODE=light"),
        "guard": (f"{unreadable} guard", ""),
    }
    traces = [os.path.join(site.directory, f"machine-{number}.trace") for number in range(len(runs))]
    lines = [
        f"LD_PRELOAD={site.library} LEAKTRACE_OUTPUT={trace} LEAKTRACE_QUIET=1 {setting} {command}"
        for trace, (command, setting) in zip(traces, runs.values(), strict=True)
    ]
    emulated = machine.Machine(site.root, site.kernel(), site.directory, [counted, unreadable, site.library])
    outputs, files = emulated.run(['read version </proc/sys/kernel/osrelease; echo "$version"', *lines], traces)
    site.kernel_version = outputs[0].strip()
    complaints = [] if site.kernel_version else ["the kernel does not say its version"]
    for name, trace, output in zip(runs, traces, outputs[1:], strict=True):
        if not files[trace]:
            complaints.append(f"{name}: no trace: {output.strip()[-300:]}")
            continue
        with open(trace, "wb") as file:
            file.write(files[trace])
        analysis = site.analysis(trace)
        found = complaints_on_image(analysis.report)
        if name == "counted":
            found += complaints_on_blocks(site, trace)
        elif "unknown to this processor" in output:
            found.append("the emulated processor has no protection keys")
        elif name != "guard":
            # The protected pages have the only pointer to the block.
            found += [f"lost: {each.place}" for each in analysis.findings if each.verdict == "lost"]
        complaints += [f"{name}: {text}" for text in found]
    return complaints


def with_servers(site):
    """Checks servers and tools of the distribution, if the root has enough of them."""
    complaints = servers(site)
    rows = next(iter(site.tables.values()))[1:]
    if 2 * sum(row[1] == "not installed" for row in rows) > len(rows):
        site.tables.clear()
        raise NotHere("the root has few of the servers")
    return complaints


def own_corpus(site):
    """Compares all programs of the corpus, compiled by the distribution's own Swift and by this machine's."""
    if not site.root.has("/usr/bin/swiftc"):
        raise NotHere("the distribution has no Swift")
    return differences(site)


CHECKS: dict[str, Callable[[Site], list[str]]] = {
    "C recorded": c_recorded,
    "C attached": c_attached,
    "Swift recorded": swift_recorded,
    "light": light,
    "inspected": inspected,
    "attached": attached,
    "core file": core_file,
    "survival": survival,
    "older kernel": older_kernel,
    "own kernel": own_kernel,
    "own Swift": own_swift,
    "corpus": own_corpus,
    "servers": with_servers,
    "blocks of glibc": allocator_blocks,
    "jemalloc": lambda site: allocator(site, "jemalloc"),
    "tcmalloc": lambda site: allocator(site, "tcmalloc"),
    "mimalloc": lambda site: allocator(site, "mimalloc"),
    "command": command_inside,
}
