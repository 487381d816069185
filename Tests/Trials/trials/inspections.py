"""Compares `leaktrace inspect` with the recorder, on every program of the corpus. Each program waits when main has
returned. In a recorded process, the blocks in the allocator's metadata must be those that the recorder counted. The
findings in a process without a recorder must be those of a recorded run. Ends with 1 if they differ."""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import signal
import sys
import tempfile

from .allocator_metadata import Comparison, blocks
from .busy import BUSY
from .corpus import PACKAGE, VARIANTS, build, cases
from .finding import Finding
from .held import HeldProgram, build_holder
from .leaktrace import DONE, Leaktrace
from .processes import FailedCommand, run

# One program for each kind of proof, and programs whose threads still run at the end.
SHORT = ("settings-screen", "pass-retained", "own-stream-task", "unowned-zombies", "actors", "computing-threads")
# Number of printed differences of a busy program.
SHOWN = 20
# Verdicts that a single image can prove; the others need a history.
IMAGE_VERDICTS = ("retainCycle", "lost", "deinitialised", "suspended", "dangling")
# Prefixes of findings about libraries and of findings with an unknown owner.
LIBRARY, UNKNOWN = "library's ", "unknown "


def say(text):
    print(f"compare-inspections: {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/compare-inspections", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these programs")
    parser.add_argument("--short", action="store_true", help="a few programs, optimised")
    parser.add_argument("--cores", action="store_true", help="also compares a core file of each with the live process")
    parser.add_argument(
        "--light", action="store_true", help="instead, compares the findings of a light and of a full recording"
    )
    parser.add_argument(
        "--busy",
        metavar="ROUNDS",
        type=int,
        help="instead, compares the blocks of programs that allocate all the time, ROUNDS times each",
    )
    parser.add_argument(
        "--variant", choices=VARIANTS, action="append", help="only these variants (default: dynamic-Onone, dynamic-O)"
    )
    parser.add_argument("--without-packages", action="store_true", help="without the program that needs packages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of programs that run in parallel")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(options):
    found = cases(options.variant or (["dynamic-O"] if options.short else ["dynamic-Onone", "dynamic-O"]))
    names = set(options.names) or set(SHORT if options.short else ())
    unknown = names - {case.name for case in found}
    if unknown:
        sys.exit(f"compare-inspections: no such program: {', '.join(sorted(unknown))}")
    return [
        case
        for case in found
        if (not names or case.name in names) and not (options.without_packages and case.executable == PACKAGE)
    ]


@dataclasses.dataclass
class Trial:
    """The outcome for one program."""

    failure: str = ""
    comparison: Comparison | None = None
    missing: list = dataclasses.field(default_factory=list)
    false: list = dataclasses.field(default_factory=list)
    same: int = 0
    without_owner: int = 0  # the findings in `same` whose owner is unknown
    core: list = dataclasses.field(default_factory=list)  # differences between core and process
    way: str = "inspect"  # `inspect` or `--light`, which is compared with the full recording

    def compare(self, full, found):
        self.missing, self.false, self.same = matched(full, found)
        self.missing, self.false, self.without_owner = matched_without_owner(self.missing, self.false)
        self.same += self.without_owner

    @property
    def lines(self):
        if self.failure:
            return [self.failure]
        lines = list(self.comparison.lines if self.comparison else ())
        lines += [f"not found by {self.way}: {each}" for each in self.missing]
        lines += [f"found by {self.way} alone: {each}" for each in self.false]
        return lines + [f"core: {each}" for each in self.core]


class Inspector:
    """Compares the findings about one program at a time."""

    def __init__(self, leaktrace, executables, holder, with_cores):
        self._leaktrace, self._executables, self._holder = leaktrace, executables, holder
        self._with_cores = with_cores

    def trial(self, case):
        trial = Trial()
        program = [self._executables[case.executable, case.variant], case.name, case.mode]
        try:
            with tempfile.TemporaryDirectory(prefix="leaktrace-inspections-") as directory:
                recorded = self._recorded(program, directory, trial)
                inspected = self._inspected(program, directory, trial)
                trial.compare(recorded, inspected)
        except FailedCommand as failure:
            trial.failure = str(failure)
        return trial

    def light_trial(self, case):
        """Compares a light recording with a full one, both until the program's end."""
        trial = Trial(way="--light")
        program = [self._executables[case.executable, case.variant], case.name, case.mode]
        try:
            with tempfile.TemporaryDirectory(prefix="leaktrace-inspections-") as directory:
                full, light = (
                    self._image_findings(program, os.path.join(directory, f"{name}.trace"), options)
                    for name, options in (("full", ()), ("light", ("--light",)))
                )
                trial.compare(full, light)
        except FailedCommand as failure:
            trial.failure = str(failure)
        return trial

    def _image_findings(self, program, trace, options):
        recording = self._leaktrace.record(program, trace, options=options)
        if recording.timed_out:
            raise FailedCommand(f"record {' '.join(options)} did not end in time")
        analysis = self._leaktrace.analyze(trace)
        if analysis.reason:
            raise FailedCommand(analysis.reason)
        return counted(filter(is_of_an_image, analysis.findings))

    def _recorded(self, program, directory, trial):
        trace, inspection = os.path.join(directory, "recorded.trace"), os.path.join(directory, "inspection.trace")
        recorder = [self._leaktrace.command, "record", "--quiet", "-o", trace, "--"]
        held = HeldProgram(self._holder, directory, program, recorder)
        with held as process:
            self._command(["snapshot", str(process)])
            self._command(["inspect", str(process), "-o", inspection])
            self._command(["snapshot", str(process)])
        metadata = blocks(self._leaktrace.command, inspection)
        before = blocks(self._leaktrace.command, trace, 1)
        trial.comparison = Comparison(metadata, before, before)
        if trial.comparison.lines:
            trial.comparison = Comparison(metadata, before, blocks(self._leaktrace.command, trace, 2))
        analysis = self._leaktrace.analyze(trace)
        if analysis.reason:
            raise FailedCommand(analysis.reason)
        return counted(filter(is_of_an_image, analysis.findings))

    def _inspected(self, program, directory, trial):
        with HeldProgram(self._holder, directory, program) as process:
            found = self._findings(str(process), directory)
            if self._with_cores:
                core = os.path.join(directory, "core")
                made = run(["gdb", "-nx", "-batch", "-p", str(process), "-ex", f"gcore {core}"])
                if not os.path.exists(core):
                    raise FailedCommand(f"gdb made no core: {made.output[-200:]}")
        if self._with_cores:
            missing, added, _ = matched(found, self._findings(core, directory))
            trial.core = [f"lacks {each}" for each in missing] + [f"alone has {each}" for each in added]
        return found

    def _findings(self, target, directory):
        report = os.path.join(directory, "report.json")
        asked = [self._leaktrace.command, "inspect", target, "--format", "json", "--limit", "1"]
        outcome = run(["/bin/sh", "-c", 'exec "$@" >"$0"', report, *asked])
        if outcome.status not in DONE:
            raise FailedCommand(f"inspect ended with status {outcome.status}: {outcome.output[-300:]}")
        with open(report) as file:
            found = json.load(file)["reports"][0].get("findings")
        if found is None:
            raise FailedCommand("inspect reports no findings")
        return counted(each for each in map(Finding, found) if not each.is_hidden and not each.is_weak)

    def _command(self, arguments):
        outcome = run([self._leaktrace.command, *arguments])
        if outcome.status not in DONE:
            raise FailedCommand(f"{arguments[0]} ended with status {outcome.status}: {outcome.output[-300:]}")


def is_of_an_image(finding):
    """Returns whether one image can prove the finding. It cannot prove a use after the end, since that is an event."""
    return finding.verdict in IMAGE_VERDICTS and not finding.values.get("usedAt")


def shape(finding):
    """Returns a finding as text: owner, verdict, types and fields.

    A cycle begins with the step that comes first in order. Closures have no names of captures, since only the place of
    their allocation shows these.
    """
    steps = []
    for step in finding.path:
        edge = step.get("edge") or {}
        name = step.get("type") if step["kind"] == "object" else step["kind"]
        reference = edge.get("name", "") + (f" case {edge['case']}" if edge.get("case") else "")
        steps.append(name if step["kind"] == "closure" or not reference else f"{name}.{reference}")
    if finding.values.get("isCycle") and steps:
        steps = min(steps[index:] + steps[:index] for index in range(len(steps)))
    owner = UNKNOWN if finding.values.get("unknownOwner") else LIBRARY if finding.is_library else ""
    return f"{owner}{finding.verdict} {' → '.join(steps)}"


def counted(findings):
    """Returns the shapes with their numbers of instances. Only a recorder knows allocation sites, and two of them make
    two findings of one shape."""
    counts: collections.Counter[str] = collections.Counter()
    for each in findings:
        counts[shape(each)] += each.instances
    return [f"{count} × {name}" for name, count in counts.items()]


def matched(expected, found):
    """Returns the texts that only `expected` has, those that only `found` has, and the number of common ones."""
    missing, added = list(expected), []
    for each in found:
        if each in missing:
            missing.remove(each)
        else:
            added.append(each)
    return missing, added, len(expected) - len(missing)


def matched_without_owner(missing, added):
    """Matches findings of unknown owner with findings of the program and of libraries that have the same shape and the
    same total number. Returns the unmatched rest of both, and the number of matched findings in `missing`."""
    missing, left, count = list(missing), [], 0
    for each in added:
        number, name = each.split(" × ", 1)
        finding = name.removeprefix(UNKNOWN)
        parts = [one for one in missing if one.split(" × ", 1)[1].removeprefix(LIBRARY) == finding]
        if finding == name or sum(int(one.split(" × ", 1)[0]) for one in parts) != int(number):
            left.append(each)
            continue
        missing = [one for one in missing if one not in parts]
        count += len(parts)
    return missing, left, count


def main():
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    leaktrace = Leaktrace(options.products)
    if options.busy:
        return busy(leaktrace, options)
    case_list = chosen(options)
    with tempfile.TemporaryDirectory(prefix="leaktrace-inspections-") as directory:
        try:
            holder = None if options.light else build_holder(directory)
            executables = {(case.executable, case.variant): None for case in case_list}
            for executable, variant in executables:
                say(f"{executable}, {variant}")
                executables[executable, variant] = build(executable, variant, options.jobs)
        except FailedCommand as failure:
            sys.exit(f"compare-inspections: {failure}")
        inspector = Inspector(leaktrace, executables, holder, options.cores)
        attempt = inspector.light_trial if options.light else inspector.trial
        trials = {}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case, trial in zip(case_list, pool.map(attempt, case_list), strict=True):
                trials[case] = trial
                if trial.lines:
                    print(case, *(f"\n  {line}" for line in trial.lines), sep="", flush=True)
                if len(trials) % 20 == 0:
                    say(f"{len(trials)} of {len(case_list)}")
    return summary(trials.values(), options)


def busy(leaktrace, options):
    differing = 0
    for program in BUSY:
        if options.names and program.name not in options.names:
            continue
        try:
            for found in program.compare(leaktrace, program.build(options.jobs), options.busy):
                differing += len(found.lines)
                print(
                    f"{program.name}: {found.count} blocks in the metadata, {found.steady} steady, {found.unsettled} "
                    f"allocated or freed in between, {len(found.lines)} differ",
                    *(f"\n  {line}" for line in found.lines[:SHOWN]),
                    sep="",
                    flush=True,
                )
        except FailedCommand as failure:
            differing += 1
            print(f"{program.name}: {failure}")
    return 1 if differing else 0


def summary(trials, options):
    done = [trial for trial in trials if trial.comparison]
    way = "--light" if options.light else "inspect"
    print(
        f"{len(trials)} programs, {sum(bool(trial.failure) for trial in trials)} failed\n"
        + (
            f"blocks: {sum(trial.comparison.count for trial in done)} in the metadata, "
            f"{sum(len(trial.comparison.lines) for trial in done)} differ; "
            f"{sum(trial.comparison.unsettled for trial in done)} allocated or freed in between\n"
            if done
            else ""
        )
        + f"findings: {sum(trial.same for trial in trials)} equal "
        f"({sum(trial.without_owner for trial in trials)} without an owner), "
        f"{sum(len(trial.missing) for trial in trials)} not found by {way}, "
        f"{sum(len(trial.false) for trial in trials)} only by {way}"
        + (f"\ncores: {sum(bool(trial.core) for trial in trials)} differ from the process" if options.cores else "")
    )
    return 1 if any(trial.lines for trial in trials) else 0


if __name__ == "__main__":
    sys.exit(main())
