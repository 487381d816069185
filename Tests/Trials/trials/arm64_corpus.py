"""Records the corpus on arm64, in emulated machines, and on this machine, and compares the findings.

Both have the same version of Swift, since another version allocates other blocks and has other lines. Ends with 1 if a
program has other verdicts, types, numbers or lines on arm64.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import arm64, corpus, emulation
from .leaktrace import Analysis, Leaktrace
from .platform_corpus import shape
from .processes import FailedCommand

WORK = os.path.join(emulation.WORK, "corpus")
VARIANTS = ("dynamic-O", "dynamic-Onone")
# Programs of one boot. All their traces must fit into the machine's memory.
PROGRAMS_AT_ONCE = 50
# `--quick` takes one program of so many.
STRIDE_OF_QUICK = 10
RUN_SECONDS = 120
# A busy machine may be too slow to stop all threads for an image. Such a program runs again.
ATTEMPTS = 3
# Differences that do not depend on leaktrace, with their reasons.
KNOWN = os.path.join(corpus.TRIALS, "arm64-corpus.json")


@dataclasses.dataclass
class Findings:
    """What a report says about one run."""

    shapes: list[str]
    # The places in the corpus's sources on the paths of the findings.
    lines: list[str]
    # All other threads were stopped for the heap image. Otherwise the findings depend on the moment.
    is_frozen: bool = True

    @staticmethod
    def of(analysis: Analysis, program: str) -> "Findings":
        lines = set()
        for finding in analysis.findings if not analysis.reason else []:
            for step in finding.path:
                name = os.path.basename(step.get("file") or "")
                if name in own_files(program):
                    lines.add(f"{finding.verdict} {name}:{step.get('line')}")
        image = (analysis.report or {}).get("snapshot") or {}
        return Findings(shape(analysis, program), sorted(lines), image.get("isFrozen", True))


def own_files(program: str) -> set[str]:
    return {os.path.basename(path) for path in corpus.sources(program)}


def build(root: str, executable: str, variant: str) -> str:
    """The path of an executable for arm64."""
    product = os.path.join(WORK, variant, executable, executable)
    emulation.compile_swift(root, corpus.sources(executable), product, corpus.VARIANTS[variant])
    return product


def build_here(executable: str, variant: str) -> str:
    """The path of an executable for this machine's processor, compiled by the same Swift."""
    product = os.path.join(WORK, "here", variant, executable, executable)
    emulation.compile_swift_here(corpus.sources(executable), product, corpus.VARIANTS[variant])
    return product


def stem(case: corpus.Case) -> str:
    return f"{case.executable}-{case.variant}-{case.name}-{case.mode}".replace("/", "-")


def run_lines(library: str, programs: dict[corpus.Case, str], answers: str) -> list[str]:
    """Lines of bash that record the programs. `answers` is the directory of their traces."""
    commands = []
    for case, program in programs.items():
        variables = {"LD_PRELOAD": library, "LEAKTRACE_OUTPUT": f"{answers}/{stem(case)}.trace"}
        words = ["env", *(f"{key}={value}" for key, value in variables.items()), "LEAKTRACE_QUIET=1"]
        commands.append(f"run {stem(case)} {RUN_SECONDS} {shlex.join([*words, program, case.name, case.mode])}")
    return commands


def run_there(root: str, library: str, programs: dict[corpus.Case, str], answers: str) -> None:
    """Runs the programs in an emulated machine, and leaves their traces in the directory `answers`."""
    kernel = emulation.fetch_kernel(root)
    machine = emulation.Machine(root, os.path.join(WORK, "machine"))
    for path in {library, *programs.values()}:
        machine.add(path)
    emulation.say(f"booting {os.path.basename(kernel)} for {len(programs)} programs")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    limit = emulation.BOOTING_SECONDS + len(programs) * RUN_SECONDS
    machine.run(kernel, run_lines(library, programs, emulation.ANSWERS), answers, limit=limit)


def run_here(library: str, programs: dict[corpus.Case, str], answers: str) -> None:
    """Runs the programs on this machine, with the libraries of the compiler's root."""
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    lines = [emulation.RUN.format(answers=answers), *run_lines(library, programs, answers)]
    emulation.run_beside(emulation.WORK, lines, len(programs) * RUN_SECONDS)


def findings(leaktrace: Leaktrace, root: str, case: corpus.Case, program: str, answers: str) -> Findings:
    """The findings of a trace in the directory `answers`. `root` has the libraries of the program."""
    files = ["--sysroot", root, "--debug-path", os.path.dirname(program)]
    path = os.path.join(answers, stem(case))
    analysis = leaktrace.analyze(f"{path}.trace", options=files)
    if analysis.report is None:
        with open(f"{path}.status", encoding="utf-8") as status, open(f"{path}.err", encoding="utf-8") as errors:
            return Findings([f"status {status.read().strip()}: {errors.read()[-200:]} {analysis.reason}"], [])
    return Findings.of(analysis, case.executable)


def compare(case: corpus.Case, here: Findings, there: Findings) -> list[str]:
    """The differences of the findings, as sentences without the program's name."""
    complaints = [] if here.is_frozen and there.is_frozen else ["the threads could not be stopped for the heap image"]
    for expected, found in ((here.shapes, there.shapes), (here.lines, there.lines)):
        lacks, more = [each for each in expected if each not in found], [each for each in found if each not in expected]
        if lacks or more:
            complaints.append(f"not {'; '.join(lacks) or 'nothing'}, but {'; '.join(more) or 'nothing'}")
    return complaints


def known_reason(case: corpus.Case, difference: str) -> str | None:
    """The reason of a known difference. None for any other one."""
    with open(KNOWN, encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        if str(case).startswith(entry["program"]) and re.search(entry["difference"], difference):
            return str(entry["reason"])
    return None


def recorded(
    leaktrace: Leaktrace, root: str, library: str, place: str, programs: dict[corpus.Case, str], answers: str
) -> dict[corpus.Case, Findings]:
    """The findings of the programs on this machine (`here`), or in the emulated one (`there`)."""
    found: dict[corpus.Case, Findings] = {}
    pending = dict(programs)
    files = emulation.compiler_root() if place == "here" else root
    for _ in range(ATTEMPTS):
        if place == "here":
            run_here(os.path.join(os.path.dirname(leaktrace.command), "libleaktrace.so"), pending, answers)
        else:
            run_there(root, library, pending, answers)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            read = pool.map(lambda case: findings(leaktrace, files, case, programs[case], answers), pending)
            found |= dict(zip(pending, read, strict=True))
        pending = {case: program for case, program in pending.items() if not found[case].is_frozen}
        if not pending:
            break
    return found


def check(root: str, library: str, leaktrace: Leaktrace, cases: list[corpus.Case]) -> list[str]:
    complaints: list[str] = []
    for variant in VARIANTS:
        wanted = [case for case in cases if case.variant == variant]
        executables = sorted({case.executable for case in wanted})
        here = {name: build_here(name, variant) for name in executables}
        there = {name: build(root, name, variant) for name in executables}
        different = known = 0
        for first in range(0, len(wanted), PROGRAMS_AT_ONCE):
            part = wanted[first : first + PROGRAMS_AT_ONCE]
            directory = os.path.join(WORK, "answers", variant, str(first))
            results = []
            for place, programs in (("here", here), ("there", there)):
                built = {case: programs[case.executable] for case in part}
                results.append(recorded(leaktrace, root, library, place, built, os.path.join(directory, place)))
            for case in part:
                found = compare(case, results[0][case], results[1][case])
                reasons = [known_reason(case, text) for text in found]
                for text, reason in zip(found, reasons, strict=True):
                    if reason:
                        emulation.say(f"known: {case}: {text}: {reason}")
                    else:
                        complaints.append(f"{case}: {text}")
                different += not all(reasons)
                known += bool(found) and all(reasons)
        equal = len(wanted) - different - known
        print(
            f"{variant}: {len(wanted)} programs, {equal} with equal findings, {known} with known differences",
            flush=True,
        )
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --corpus", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="takes a tenth of the programs")
    parser.add_argument(
        "--products", metavar="DIR", help="the directory of the leaktrace command that reads the traces"
    )
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    parser.add_argument("name", nargs="*", metavar="NAME", help="only these programs")
    options = parser.parse_args()
    cases = [case for case in corpus.cases(VARIANTS) if case.executable != corpus.PACKAGE]
    if options.name:
        cases = [case for case in cases if case.name in options.name]
    if options.quick:
        cases = cases[::STRIDE_OF_QUICK]
    try:
        leaktrace = Leaktrace(arm64.find_products(options.products))
        complaints = check(emulation.root_directory(), options.library, leaktrace, cases)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        complaints = [str(failure)]
    return emulation.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
