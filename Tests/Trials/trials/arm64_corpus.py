"""Records the corpus in emulated arm64 machines and on this machine, and compares the findings.

Both use the same version of Swift, since versions differ in blocks and line numbers. Ends with 1 if verdicts, types,
numbers or lines differ. A run of the whole corpus writes a table of all programs.
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

from . import arm64, arm64_corpus_results, corpus, emulation
from .arm64_corpus_results import Kept, Result
from .leaktrace import Analysis, Leaktrace
from .platform_corpus import shape
from .processes import FailedCommand

WORK = os.path.join(emulation.WORK, "corpus")
VARIANTS = ("dynamic-O", "dynamic-Onone")
# Number of programs in one boot. All their traces must fit into the machine's memory.
PROGRAMS_AT_ONCE = 50
# `--quick` runs every tenth program.
STRIDE_OF_QUICK = 10
RUN_SECONDS, STARTING_SECONDS = 120, 60
# A program of the corpus starts this one.
CHILD = "usr/bin/true"
# Number of programs that run in parallel. The emulated machine has two processors.
JOBS = 2
# Maximum number of runs. A busy machine may be too slow to stop all threads for an image, and a program that uses freed
# memory may crash. Such programs run again. A boot takes longer than many runs on this machine.
ATTEMPTS = {"here": 20, "there": 3}
# Lowest exit status of a program that was killed or did not end.
KILLED = 124
# Differences that do not depend on leaktrace, with their reasons.
KNOWN = os.path.join(corpus.TRIALS, "arm64-corpus.json")


@dataclasses.dataclass
class Findings:
    """The findings about one run."""

    shapes: list[str]
    # The places in the corpus's sources on the paths of the findings.
    lines: list[str]
    # All other threads were stopped for the heap image. Otherwise the findings depend on chance.
    is_frozen: bool = True
    has_ended: bool = True

    @property
    def is_judged(self) -> bool:
        return self.is_frozen and self.has_ended

    @staticmethod
    def of(analysis: Analysis, program: str, status: int) -> "Findings":
        lines = set()
        for finding in analysis.findings if not analysis.reason else []:
            for step in finding.path:
                name = os.path.basename(step.get("file") or "")
                if name in own_files(program):
                    lines.add(f"{finding.verdict} {name}:{step.get('line')}")
        image = (analysis.report or {}).get("snapshot") or {}
        return Findings(shape(analysis, program), sorted(lines), image.get("isFrozen", True), status < KILLED)


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


def run_lines(library: str, programs: dict[corpus.Case, str], answers: str, jobs: int) -> list[str]:
    """Lines of bash that record the programs, some at the same time. `answers` is the directory of their traces."""
    commands = []
    for number, (case, program) in enumerate(programs.items()):
        variables = {"LD_PRELOAD": library, "LEAKTRACE_OUTPUT": f"{answers}/{stem(case)}.trace"}
        words = ["env", *(f"{key}={value}" for key, value in variables.items()), "LEAKTRACE_QUIET=1"]
        if number >= jobs:
            commands.append("wait -n")
        commands.append(f"run {stem(case)} {RUN_SECONDS} {shlex.join([*words, program, case.name, case.mode])} &")
    return [*commands, "wait"]


def run_there(root: str, library: str, programs: dict[corpus.Case, str], answers: str, jobs: int) -> None:
    """Runs the programs in an emulated machine, and leaves their traces in the directory `answers`."""
    kernel = emulation.fetch_kernel(root)
    machine = emulation.Machine(root, os.path.join(WORK, "machine"))
    for path in {library, *programs.values()}:
        machine.add(path)
    machine.add_from_root(CHILD)
    emulation.say(f"booting {os.path.basename(kernel)} for {len(programs)} programs")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    limit = emulation.BOOTING_SECONDS + len(programs) * RUN_SECONDS
    machine.run(kernel, run_lines(library, programs, emulation.ANSWERS, jobs), answers, limit=limit)


def run_here(library: str, programs: dict[corpus.Case, str], answers: str, jobs: int) -> None:
    """Runs the programs on this machine, with the libraries of the compiler's root."""
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    lines = [emulation.RUN.format(answers=answers), *run_lines(library, programs, answers, jobs)]
    emulation.run_beside(emulation.WORK, lines, STARTING_SECONDS + len(programs) * RUN_SECONDS)


def findings(leaktrace: Leaktrace, root: str, case: corpus.Case, program: str, answers: str) -> Findings:
    """The findings of a trace in the directory `answers`. `root` has the libraries of the program."""
    files = ["--sysroot", root, "--debug-path", os.path.dirname(program)]
    path = os.path.join(answers, stem(case))
    analysis = leaktrace.analyze(f"{path}.trace", options=files)
    with open(f"{path}.status", encoding="utf-8") as file:
        status = int(file.read())
    if analysis.report is None:
        with open(f"{path}.err", encoding="utf-8", errors="replace") as errors:
            said = f"status {status}: {errors.read()[-200:]} {analysis.reason}"
        return Findings([said], [], has_ended=status < KILLED)
    return Findings.of(analysis, case.executable, status)


def compare(case: corpus.Case, here: Findings, there: Findings) -> list[str]:
    """The differences of the findings, as sentences without the program's name."""
    complaints = []
    if not (here.is_frozen and there.is_frozen):
        complaints.append("the threads could not be stopped for the heap image")
    if not (here.has_ended and there.has_ended):
        complaints.append("the program was killed")
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
        if re.match(entry["program"], str(case)) and re.search(entry["difference"], difference):
            return str(entry["reason"])
    return None


@dataclasses.dataclass(frozen=True)
class Trial:
    """The commands of a comparison, and the root with the libraries of the programs for arm64."""

    leaktrace: Leaktrace
    root: str
    library: str

    @property
    def library_here(self) -> str:
        return os.path.join(os.path.dirname(self.leaktrace.command), "libleaktrace.so")

    def recorded(
        self, place: str, programs: dict[corpus.Case, str], answers: str, jobs: int
    ) -> dict[corpus.Case, Findings]:
        """The findings of the programs on this machine (`here`), or in the emulated one (`there`)."""
        found: dict[corpus.Case, Findings] = {}
        pending = dict(programs)
        files = emulation.compiler_root() if place == "here" else self.root
        for _ in range(ATTEMPTS[place]):
            if place == "here":
                run_here(self.library_here, pending, answers, jobs)
            else:
                run_there(self.root, self.library, pending, answers, jobs)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                read = pool.map(lambda case: findings(self.leaktrace, files, case, programs[case], answers), pending)
                found |= dict(zip(pending, read, strict=True))
            pending = {case: program for case, program in pending.items() if not found[case].is_judged}
            if not pending:
                break
        return found

    def compared(
        self, cases: list[corpus.Case], programs: dict[str, dict[str, str]], directory: str, jobs: int
    ) -> dict[corpus.Case, Result]:
        """Records and compares some cases of one variant. `programs`: executables by place and name."""
        found = {}
        for place, executables in programs.items():
            built = {case: executables[case.executable] for case in cases}
            found[place] = self.recorded(place, built, os.path.join(directory, place), jobs)
        results = {}
        for case in cases:
            differences = compare(case, found["here"][case], found["there"][case])
            reasons = [known_reason(case, text) for text in differences]
            results[case] = Result(found["here"][case].shapes, differences, reasons)
        return results

    def digest(self, programs: dict[str, dict[str, str]]) -> str:
        """Identifies the recorders and the programs of one variant. The command is not included: after a fix of the
        command, only the programs that differed run again.
        """
        files = [self.library_here, self.library]
        return arm64_corpus_results.digest(files + [path for place in programs.values() for path in place.values()])

    def check(self, variant: str, cases: list[corpus.Case], kept: Kept, is_resumed: bool) -> None:
        """Compares all cases of one variant, in parts. Adds the results of each part to `kept`."""
        executables = sorted({case.executable for case in cases})
        programs = {
            "here": {name: build_here(name, variant) for name in executables},
            "there": {name: build(self.root, name, variant) for name in executables},
        }
        kept.begin(variant, self.digest(programs), [] if is_resumed else [stem(case) for case in cases])
        done = {name for name, result in kept.results(variant).items() if result.is_expected}
        wanted = [case for case in cases if stem(case) not in done]
        for first in range(0, len(wanted), PROGRAMS_AT_ONCE):
            part = wanted[first : first + PROGRAMS_AT_ONCE]
            directory = os.path.join(WORK, "answers", variant, str(first))
            results = self.compared(part, programs, directory, JOBS)
            # Programs that run at the same time may disturb each other.
            again = [case for case in part if not results[case].is_expected]
            if again:
                for case, second in self.compared(again, programs, f"{directory}-again", 1).items():
                    results[case] = dataclasses.replace(second, first_differences=results[case].differences)
            kept.add(variant, {stem(case): result for case, result in results.items()})
            emulation.say(f"{variant}: {first + len(part)} of {len(wanted)} programs compared")


def judge(cases: list[corpus.Case], kept: Kept) -> list[str]:
    """Prints the numbers of each variant, and the known differences. Returns complaints about unknown ones."""
    complaints: list[str] = []
    for variant in VARIANTS:
        known_results = kept.results(variant)
        results = {case: known_results[stem(case)] for case in cases if case.variant == variant}
        for case, result in results.items():
            for text, reason in zip(result.differences, result.reasons, strict=True):
                if reason:
                    emulation.say(f"known: {case}: {text}: {reason}")
                else:
                    complaints.append(f"{case}: {text}")
            if result.first_differences:
                emulation.say(f"in the first of two runs: {case}: {'; '.join(result.first_differences)}")
        equal = sum(not result.differences for result in results.values())
        known = sum(bool(result.differences) and result.is_expected for result in results.values())
        second = sum(bool(result.first_differences) for result in results.values())
        print(
            f"{variant}: {len(results)} programs, {equal} with equal findings, {known} with known differences; "
            f"{second} ran twice",
            flush=True,
        )
    return complaints


def write_table(cases: list[corpus.Case], kept: Kept) -> None:
    """Writes the table if all programs have results."""
    by_variant = {variant: kept.results(variant) for variant in VARIANTS}
    results = {case: by_variant[case.variant].get(stem(case)) for case in cases}
    found = {case: result for case, result in results.items() if result}
    if len(found) == len(results):
        emulation.say(f"the table is in {arm64_corpus_results.write(found, VARIANTS)}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --corpus", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="takes a tenth of the programs")
    parser.add_argument(
        "--products", metavar="DIR", help="the directory of the leaktrace command that reads the traces"
    )
    parser.add_argument(
        "--continue",
        action="store_true",
        dest="is_resumed",
        help="skips programs that an earlier run with the same recorders found equal, or different in a known way",
    )
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    parser.add_argument("name", nargs="*", metavar="NAME", help="only these programs")
    options = parser.parse_args()
    cases = everything = [case for case in corpus.cases(VARIANTS) if case.executable != corpus.PACKAGE]
    if options.name:
        cases = [case for case in cases if case.name in options.name]
    if options.quick:
        cases = cases[::STRIDE_OF_QUICK]
    try:
        leaktrace = Leaktrace(arm64.find_products(options.products))
        trial = Trial(leaktrace, emulation.root_directory(), options.library)
        kept = Kept(os.path.join(WORK, "results.json"))
        for variant in VARIANTS:
            trial.check(variant, [case for case in cases if case.variant == variant], kept, options.is_resumed)
        complaints = judge(cases, kept)
        write_table(everything, kept)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        complaints = [str(failure)]
    return emulation.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
