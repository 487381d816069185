"""Runs every program of the corpus repeatedly, and reports differences between the runs: verdicts, types, counts and
fingerprints. Ends with 1 if runs differ. After an interrupt, it reports the rounds so far."""

import argparse
import collections
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile
import time

from . import corpus_servers
from .corpus import VARIANTS, Case, build, build_package, cases
from .flips import flips, unsteady
from .leaktrace import Leaktrace
from .load import Load
from .processes import FailedCommand

# Programs with threads, tasks, timers and stale words. Their verdicts depend on addresses more than others.
SHORT = (
    "lost-checked-continuation",
    "own-stream-task",
    "presence-timer",
    "stream-termination",
    "task-groups",
    "actors",
    "unowned-zombies",
    "watcher-source",
    "endless-task",
    "pending-sleep",
    "thread-handoff",
    "dispatch-queue-work",
    "server-loop",
    "bounded-queue",
)
# Programs with findings of every kind, and with findings in packages.
FINGERPRINTS = (
    "settings-screen",
    "listener-set",
    "two-sites",
    "gallery",
    "cart-observation",
    "stream-termination",
    "pass-retained",
    "raw-pixels",
    "callback-contexts",
    "lost-checked-continuation",
    "own-stream-task",
    "request-deadlines",
    "unowned-zombies",
    "dangling-delegate",
    "used-callbacks",
    "presence-timer",
    "endless-task",
    "dispatch-timer",
    "async-stream-subscribers",
    "notification-observer",
    "connection-registry",
    "growing-cache",
    "task-group",
    "nio-stored-context",
    "nio-unfinished-channel",
)
RUN_SECONDS = 600


def say(text):
    print(f"stability: {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/stability", description=__doc__)
    parser.add_argument("runs", type=int, metavar="N", help="number of runs of each program")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these programs")
    parser.add_argument(
        "--loaded",
        action="store_const",
        const=os.cpu_count() or 1,
        default=0,
        dest="loops",
        help="with a busy loop for every processor",
    )
    parser.add_argument(
        "--short", action="store_true", help="a few programs whose verdicts depend most on chance, optimised"
    )
    parser.add_argument(
        "--fingerprints",
        action="store_true",
        help="programs with findings of every kind, at -Onone and -O; reports each fingerprint that some runs lack",
    )
    parser.add_argument("--servers", action="store_true", help="the servers of the corpus, with their load generator")
    parser.add_argument("--loops", type=int, metavar="LOOPS", help="with this number of busy loops")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="only these variants (default: all four)")
    parser.add_argument(
        "--rotate",
        action="store_true",
        help="runs each program in only one variant per round, in turn; this takes a quarter of the time",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of programs that run in parallel (default: one for each processor)",
    )
    parser.add_argument(
        "--keep",
        metavar="DIR",
        help="keeps the traces of each program's first run and of the first run that differs",
    )
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("N must be at least 2, to compare runs")
    if options.rotate and options.runs < 2 * len(options.variant or VARIANTS):
        parser.error("with --rotate, N must be at least twice the number of variants, to compare runs of a variant")
    return options


def chosen(options):
    usual = (
        ["dynamic-O"] if options.short else ["dynamic-Onone", "dynamic-O"] if options.fingerprints else list(VARIANTS)
    )
    found = corpus_servers.cases() if options.servers else cases(options.variant or usual)
    names = set(options.names) or set(SHORT if options.short else FINGERPRINTS if options.fingerprints else ())
    unknown = names - {case.name for case in found}
    if unknown:
        sys.exit(f"stability: no such program: {', '.join(sorted(unknown))}")
    return [
        case
        for case in found
        if (not names or case.name in names) and (case.mode == "leak" or not options.fingerprints)
    ]


class Runner:
    """Records programs, and analyses the traces."""

    def __init__(self, leaktrace, executables, directory, compare=None):
        """`compare` returns the differences between the findings of runs. If it is given, two traces of each program
        stay in the directory: of the first run, and of the first run that differs."""
        self._leaktrace, self._executables, self._directory, self._compare = leaktrace, executables, directory, compare
        self._first, self._differing = {}, set()

    def run(self, case, number):
        """Returns the findings, or a sentence about why there are none."""
        trace = os.path.join(
            self._directory, f"{case.executable}-{case.name}-{case.mode}-{case.variant}-{number}.trace"
        )
        stays = False
        try:
            reason = self._record(case, trace)
            if reason is not None:
                return reason
            analysis = self._leaktrace.analyze(trace, limit=RUN_SECONDS)
            outcome = analysis.reason or analysis.findings
            stays = self._stays(case, outcome)
            return outcome
        finally:
            for path in (trace, trace + ".json", trace + ".live", trace + ".run"):
                if os.path.exists(path) and not stays:
                    os.remove(path)

    def _record(self, case, trace):
        """Records a case. Returns the reason if that failed, or None."""
        program = self._executables[case.executable, case.variant]
        if case.executable == corpus_servers.EXECUTABLE:
            server = corpus_servers.servers()[case.name]
            try:
                corpus_servers.record(self._leaktrace.command, program, server, case.mode, trace, RUN_SECONDS)
            except (FailedCommand, subprocess.TimeoutExpired) as failure:
                return str(failure)
            return None
        recording = self._leaktrace.record([program, case.name, case.mode], trace, limit=RUN_SECONDS)
        if recording.status == 0:
            return None
        state = "did not end in time" if recording.timed_out else f"status {recording.status}"
        return f"{state}: {recording.output.strip()[-200:]}"

    def _stays(self, case, outcome):
        if self._compare is None or case in self._differing:
            return False
        if case not in self._first:
            self._first[case] = outcome
            return True
        first = self._first[case]
        if isinstance(first, str) or isinstance(outcome, str):
            differs = first != outcome
        else:
            differs = bool(self._compare([first, outcome]))
        if differs:
            self._differing.add(case)
        return differs


def in_turn(case_list, number):
    """Returns one variant of each program, in each round the next one."""
    variants = collections.defaultdict(list)
    for case in case_list:
        variants[case.executable, case.name, case.mode].append(case)
    return [each[number % len(each)] for each in variants.values()]


def repeat(runner, case_list, count, jobs, rotates=False):
    """Runs all cases in `count` rounds. Returns findings and failures by case, and the number of completed rounds.

    Each round runs all programs, so that a busy minute affects more than one of them.
    """
    found: collections.defaultdict[Case, list] = collections.defaultdict(list)
    failed: collections.defaultdict[Case, list[str]] = collections.defaultdict(list)
    begin, rounds = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for number in range(count):
                chosen_cases = in_turn(case_list, number) if rotates else case_list
                outcomes = pool.map(lambda case, number=number: runner.run(case, number), chosen_cases)
                for case, outcome in zip(chosen_cases, outcomes, strict=True):
                    (failed if isinstance(outcome, str) else found)[case].append(outcome)
                rounds += 1
                say(f"round {rounds} of {count}, {time.monotonic() - begin:.0f} s")
        except KeyboardInterrupt:
            say(f"interrupted in round {rounds + 1}")
            pool.shutdown(cancel_futures=True)
    return found, failed, rounds


def main():
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    leaktrace = Leaktrace(options.products)
    case_list = chosen(options)
    try:
        executables = {(case.executable, case.variant): None for case in case_list}
        for executable, variant in executables:
            say(f"{executable}, {variant}")
            executables[executable, variant] = (
                build_package(variant, options.jobs)
                if executable == corpus_servers.EXECUTABLE
                else build(executable, variant, options.jobs)
            )
    except FailedCommand as failure:
        sys.exit(f"stability: {failure}")
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="leaktrace-stability-") as directory, Load(options.loops):
        runner = Runner(
            leaktrace, executables, options.keep or directory, comparison(options) if options.keep else None
        )
        found, failed, rounds = repeat(runner, case_list, options.runs, options.jobs, options.rotate)
    return report(case_list, found, failed, rounds, options)


def comparison(options):
    return unsteady if options.fingerprints else flips


def report(case_list, found, failed, rounds, options):
    flipping = 0
    compare = comparison(options)
    for case in case_list:
        lines = compare(found[case]) if len(found[case]) > 1 else []
        reasons = collections.Counter(failed[case])
        lines += [
            f"no findings to compare in {count} of {len(found[case]) + len(failed[case])} runs: {reason}"
            for reason, count in reasons.items()
        ]
        if lines:
            flipping += 1
            print(case)
            print("".join(f"  {line}\n" for line in lines), end="")
    machine = "loaded" if options.loops else "idle"
    if options.rotate:
        programs = (
            f"{len(in_turn(case_list, 0))} programs in {len(case_list)} forms, {rounds} runs each, a form in turn"
        )
    else:
        programs = f"{len(case_list)} programs, {rounds} runs each"
    print(f"{programs}, {machine} machine: {flipping or 'none'} flipped")
    if rounds < 2:
        print("fewer than two runs show nothing")
    return 1 if flipping or rounds < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
