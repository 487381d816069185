"""The cases of scripts/test-arm64 that act on other processes: calls in a running program, and a core file."""

import glob
import os
import re
import shlex

from .emulation import ROOT
from .leaktrace import Leaktrace
from .processes import must, run

SOURCES = os.path.join(ROOT, "Tests", "Arm64")
CALLS, CORE = "calls", "core"
CASES = (CALLS, CORE)
CALLS_SECONDS, CORE_SECONDS = 800, 120
# The case of cases.swift that leaves a core file, and its leak.
DUMPED, VERDICT, SUBJECT, INSTANCES = "cycles", "retainCycle", "Room", 20
FOLDERS = ("Sources/CProcessCalls", "Sources/CUnwinder", "Sources/CSandboxedChild")
INCLUDES = ("Sources/CProcessCalls", *(f"{folder}/include" for folder in FOLDERS))
FLAGS = ("-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-fno-omit-frame-pointer")
# Paths in the machine. leaktrace searches for a library whose name begins like the recorder's.
PLACE = "/opt/calls"
VISITED, ABORTING = "libleaktrace.so.visited", "libaborting.so"


def build(compiler: list[str], directory: str) -> None:
    """Compiles the code that acts on processes, with its driver, and the programs that it acts on."""
    os.makedirs(directory, exist_ok=True)
    flags = [*FLAGS, *(f"-I{os.path.join(ROOT, folder)}" for folder in INCLUDES)]
    sources = [path for folder in FOLDERS for path in glob.glob(f"{ROOT}/{folder}/**/*.c", recursive=True)]
    link = [*compiler, "-fuse-ld=lld", *flags]
    must([*link, f"{SOURCES}/calls.c", *sorted(sources), "-lunwind-generic", "-o", f"{directory}/calls"])
    must([*link, "-rdynamic", f"{SOURCES}/waits.c", "-o", f"{directory}/waits"])
    for source, name in (("visited", VISITED), ("aborting", ABORTING)):
        must([*link, "-fPIC", "-shared", f"{SOURCES}/{source}.c", "-o", f"{directory}/{name}"])


def files(directory: str, library: str, dumped: str) -> dict[str, str]:
    """The files that the machine needs, by their paths in the machine."""
    names = {f"{PLACE}/{name}": f"{directory}/{name}" for name in ("calls", "waits", VISITED, ABORTING)}
    return {**names, f"{PLACE}/libleaktrace.so": library, f"{PLACE}/cases": dumped}


def commands(answers: str, cases: list[str]) -> list[str]:
    """The lines of bash that run the cases."""
    lines = []
    if CORE in cases:
        dump = ["env", f"LD_PRELOAD={PLACE}/{ABORTING}", f"{PLACE}/cases", DUMPED]
        lines += [f"echo {answers}/dumped.core >/proc/sys/kernel/core_pattern", "ulimit -c unlimited"]
        # The core must contain mapped files, too, since the machine that reads it does not have them.
        lines += ["echo 0x3f >/proc/$$/coredump_filter"]
        lines += [f"run {CORE} {CORE_SECONDS} {shlex.join(dump)}", "ulimit -c 0"]
    if CALLS in cases:
        words = ["calls", "waits", VISITED, "libleaktrace.so"]
        driver = shlex.join([*(f"{PLACE}/{name}" for name in words), f"{answers}/attached.trace"])
        lines.append(f"run {CALLS} {CALLS_SECONDS} {driver}")
    return lines


def judge_calls(directory: str, leaktrace: Leaktrace) -> list[str]:
    """Returns complaints about the calls in a running program."""
    with open(os.path.join(directory, f"{CALLS}.out"), encoding="utf-8", errors="replace") as file:
        said = file.read()
    with open(os.path.join(directory, f"{CALLS}.err"), encoding="utf-8", errors="replace") as file:
        errors = file.read()
    complaints = [f"calls: {text}" for text in re.findall(r"^WRONG: (.*)$", said, re.MULTILINE)]
    complaints += [f"calls: {line}" for line in errors.splitlines()]
    if not re.search(r"^0 failures$", said, re.MULTILINE) and not complaints:
        complaints.append(f"calls: the driver did not end: {said[-300:]}")
    if complaints:
        return [*complaints, f"calls: {said[-2000:]}"]
    text = must([leaktrace.command, "dump", "--chunks", os.path.join(directory, "attached.trace")])
    closing = re.search(r"^\d+ closing reason=(\S+) .*\bevents=(\d+) ", text, re.MULTILINE)
    if not closing or closing[1] != "detached" or int(closing[2]) == 0:
        complaints.append(f"calls: the trace of the attached recorder ends with {closing[0] if closing else 'nothing'}")
    return complaints


def judge_core(directory: str, leaktrace: Leaktrace, root: str, program: str) -> list[str]:
    """Returns complaints about a core file from the emulated machine, which this machine reads."""
    core = os.path.join(directory, "dumped.core")
    if not os.path.exists(core):
        return ["core: the program left no core file; the kernel needs CONFIG_COREDUMP"]
    trace = os.path.join(directory, "inspected.trace")
    if os.path.exists(trace):
        os.remove(trace)
    places = ["--sysroot", root, "--debug-path", os.path.dirname(program)]
    inspected = run([leaktrace.command, "inspect", core, "-o", trace, *places])
    analysis = leaktrace.analyze(trace, options=places)
    if analysis.reason or analysis.report is None:
        return [f"core: {analysis.reason} {inspected.output[-300:]}"]
    found = [
        (finding.verdict, step["type"], finding.instances)
        for finding in analysis.findings
        for step in finding.path[:1]
        if step.get("type")
    ]
    expected = [(VERDICT, SUBJECT, INSTANCES)]
    return [] if found == expected else [f"core: {found}, not {expected}"]
