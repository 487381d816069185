"""Breaks the sources on purpose, one mutant at a time, and shows which test notices. Started by scripts/mutation."""

import argparse
import datetime
import fcntl
import os
import sys
import time

from . import processes, sources, table, tree
from .mutants import MUTANTS, Mutant
from .runs import Outcome, Tier, run
from .table import Row

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WORK = os.path.join(ROOT, ".build", "mutation")
TREE = os.path.join(WORK, "tree")
DOCUMENT = os.path.join(ROOT, "docs", "engineering", "tables", "mutants.md")

# No mutant starts later.
LIMIT_SECONDS = 90 * 60
# A mutant that keeps the tests from ending is caught.
RUN_SECONDS = {Tier.FIRST: 20 * 60, Tier.SECOND: 40 * 60}
# The first run builds everything.
BUILD_SECONDS = 60 * 60
# The first tier must catch this share of the mutants.
FIRST_TIER_SHARE = 27 / 32


class Refused(Exception):
    """No result can be had."""


def say(text: str) -> None:
    print(f"mutation: {text}", file=sys.stderr, flush=True)


def chosen(names: list[str]) -> dict[int, Mutant]:
    all_mutants = sources.numbered(MUTANTS)
    unknown = set(names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        raise Refused(f"no such mutant: {', '.join(sorted(unknown))}; --list shows them")
    return {number: mutant for number, mutant in all_mutants.items() if not names or mutant.name in names}


def log_of(name: str, tier: Tier) -> str:
    return os.path.join(WORK, "logs", f"{name}.{tier.value}.log")


def prepare(has_baseline: bool) -> None:
    """Copies and builds the mutated tree, and runs the first tier without a mutant."""
    say(f"copying the sources to {os.path.relpath(TREE, ROOT)}")
    tree.copy(ROOT, TREE, MUTANTS)
    say("building all mutants" + (", and running the first tier without a mutant" if has_baseline else ""))
    log = log_of("none", Tier.FIRST)
    outcome = run(TREE, Tier.FIRST, None, BUILD_SECONDS, log, begin_only=not has_baseline)
    if not outcome.has_begun:
        raise Refused(f"the tests did not begin: {log}")
    if outcome.failure:
        raise Refused(f"a test fails without a mutant: {outcome.failure}; {log}")
    say(f"done in {outcome.seconds:.0f} s")


class Session:
    """Runs mutants until the time is up."""

    def __init__(self, begin: float) -> None:
        self._deadline = begin + LIMIT_SECONDS
        self.rows: dict[int, Row] = {}
        self.left: dict[int, Mutant] = {}
        """Mutants that were not run to a result."""

    def run(self, mutants: dict[int, Mutant], tier: Tier) -> dict[int, Mutant]:
        """Returns the mutants that survive."""
        survivors = {}
        for number, mutant in mutants.items():
            if time.monotonic() > self._deadline:
                self.left[number] = mutant
                continue
            outcome = self._run(number, mutant, tier)
            if not outcome.failure:
                survivors[number] = mutant
            self.rows[number] = Row(mutant, tier if outcome.failure else None, outcome.failure, outcome.seconds)
            result = f"caught by {outcome.failure}" if outcome.failure else "survives"
            say(f"{mutant.name}: {result} ({tier.value} tier, {outcome.seconds:.0f} s)")
        return survivors

    @staticmethod
    def _run(number: int, mutant: Mutant, tier: Tier) -> Outcome:
        log = log_of(mutant.name, tier)
        outcome = run(TREE, tier, number, RUN_SECONDS[tier], log)
        if not outcome.has_begun:
            raise Refused(f"{mutant.name}: the tests did not begin: {log}")
        return outcome


def measure(mutants: dict[int, Mutant], has_baseline: bool, writes: bool) -> int:
    begin = time.monotonic()
    prepare(has_baseline)
    session = Session(begin)
    survivors = session.run(mutants, Tier.FIRST)
    survivors = session.run(survivors, Tier.SECOND)
    rows = [session.rows[number] for number in sorted(session.rows)]
    minutes = (time.monotonic() - begin) / 60
    text = table.text(rows, minutes, datetime.date.today().isoformat())
    print(text, end="")
    if session.left:
        say(f"{LIMIT_SECONDS // 60} minutes are over. Not run: {', '.join(m.name for m in session.left.values())}")
    elif writes:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(table.HEAD + text)
    in_first = sum(row.tier is Tier.FIRST for row in rows)
    enough = in_first >= FIRST_TIER_SHARE * len(mutants)
    if not enough:
        say(f"the first tier caught {in_first} of {len(mutants)}: too few")
    for mutant in survivors.values():
        say(f"no test notices {mutant.name}: {mutant.breaks}")
    return 0 if enough and not survivors and not session.left else 1


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutation", description=__doc__.rpartition(" Started")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="runs these, and writes no document")
    parser.add_argument("--no-baseline", action="store_true", help="skips the first run without a mutant")
    parser.add_argument("--list", action="store_true", help="lists the mutants")
    parser.add_argument("--check", action="store_true", help="checks that each mutant fits the sources; runs nothing")
    parser.add_argument("--copy", action="store_true", help="makes the mutated copy, and runs nothing")
    return parser.parse_args()


def main() -> int:
    choice = options()
    mutants = chosen(choice.only)
    if choice.list:
        for number, mutant in mutants.items():
            print(f"{number:3} {mutant.name:20} {mutant.file}:{mutant.function}: {mutant.breaks}")
        return 0
    misplaced = sources.complaints(ROOT, sources.numbered(MUTANTS))
    if misplaced:
        raise Refused("\nmutation: ".join([*misplaced, "move these mutants in Tests/Mutants/mutation/mutants.py"]))
    if choice.check:
        return 0
    os.makedirs(WORK, exist_ok=True)
    with open(os.path.join(WORK, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("another scripts/mutation runs in this tree") from None
        if choice.copy:
            tree.copy(ROOT, TREE, MUTANTS)
            print(TREE)
            return 0
        processes.adopt_orphans()
        return measure(mutants, not choice.no_baseline, writes=not choice.only)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        say(str(refusal))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
