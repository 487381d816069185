"""Measures in rounds: A B C A B C. Slow changes of the machine then affect all commands equally."""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from .figures import Series
from .processes import FailedRun, Run, memory_of, run
from .recorders import TraceFacts, Way, Workload
from .records import Named


@dataclass
class Measurement:
    wall: Series = field(default_factory=Series)
    processor: Series = field(default_factory=Series)
    others: Series = field(default_factory=Series)
    peak: Series = field(default_factory=Series)  # of any single process
    # Bytes: largest resident size of the program itself, and of all processes of the command together.
    program_memory: Annotated[int, Named("programMemory")] = 0
    all_memory: Annotated[int, Named("allMemory")] = 0
    facts: TraceFacts = field(default_factory=TraceFacts)

    def add(self, result: Run) -> None:
        self.wall.add(result.wall)
        self.processor.add(result.processor)
        self.others.add(result.others)
        self.peak.add(result.peak)


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def measure_recorders(ways: Iterable[Way], workload: Workload, rounds: int, directory: str) -> dict[str, Measurement]:
    """Measures each way once per round, after a warm-up round. Returns measurements by the way's name.

    Raises FailedRun at the first failure.
    """
    ways = list(ways)
    found = {way.name: Measurement() for way in ways}
    for number in range(rounds + 1):
        for way in ways:
            result = run(way.command(workload, directory), directory)
            facts = way.check(workload, result.output, directory)
            if number == 0:
                found[way.name].facts = facts
                continue
            found[way.name].add(result)
            _expect_same_events(way, workload, found[way.name].facts, facts)
        say(f"{workload.name}: " + (f"round {number} of {rounds}" if number else "warm-up round"))
    for way in ways:
        memory = memory_of(way.command(workload, directory), directory, workload.program)
        found[way.name].program_memory, found[way.name].all_memory = memory.program, memory.all
    return found


def _expect_same_events(way: Way, workload: Workload, first: TraceFacts, now: TraceFacts) -> None:
    """Raises FailedRun unless both runs have nearly the same number of events. A few calls depend on hashing."""
    if first.events is None or now.events is None:
        return
    if abs(now.events - first.events) > first.events / 100:
        raise FailedRun(f"{way.name}, {workload.name}: {now.events} events after {first.events} in an earlier round")


def measure_readers(readers: Mapping[str, list[str]], rounds: int, directory: str) -> dict[str, Measurement]:
    """Measures commands by name. They read the files of the last round of recording."""
    found = {name: Measurement() for name in readers}
    for number in range(rounds + 1):
        for name, command in readers.items():
            result = run(command, directory)
            if not result.output.strip():
                raise FailedRun(f"{' '.join(command)}: no output")
            if number > 0:
                found[name].add(result)
    say(f"readers: {rounds} rounds in {os.path.basename(directory)}")
    return found
