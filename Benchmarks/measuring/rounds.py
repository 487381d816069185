"""Rounds of measurements: every way in turn, A B C A B C, so that slow changes of the machine meet all alike."""

import os
import sys
from dataclasses import dataclass, field

from .figures import Series
from .processes import FailedRun, memory_of, run


@dataclass
class Measurement:
    wall: Series = field(default_factory=Series)
    processor: Series = field(default_factory=Series)
    others: Series = field(default_factory=Series)
    peak: Series = field(default_factory=Series)  # of any one process
    program_memory: int = 0  # resident at most: the program itself
    all_memory: int = 0  # resident at most: with everything the tool runs beside it
    facts: dict = field(default_factory=dict)

    def add(self, result):
        self.wall.add(result.wall)
        self.processor.add(result.processor)
        self.others.add(result.others)
        self.peak.add(result.peak)


def plain_measurement(each):
    """As JSON values, every round kept."""
    return {"wall": each.wall.values, "processor": each.processor.values, "others": each.others.values, "peak": each.peak.values,
            "programMemory": each.program_memory, "allMemory": each.all_memory, "facts": each.facts}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def measure_recorders(ways, workload, rounds, directory):
    """By name of the way. A warm-up round comes first and does not count; a failure ends everything."""
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


def _expect_same_events(way, workload, first, now):
    """The workloads do the same every time; a few calls depend on hashing."""
    if "events" in first and abs(now["events"] - first["events"]) > first["events"] / 100:
        raise FailedRun(f"{way.name}, {workload.name}: {now['events']} events after {first['events']} in an earlier round")


def measure_readers(readers, rounds, directory):
    """`readers`: name → command. All read what the last round of recording left."""
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
