"""Instructions of recording, counted by callgrind. The counts do not depend on the load of the machine.

The instructions of a path through the hooks are counted between two marks in a program. A whole workload has a short
and a long run. Their difference does not include the start of the program, which costs the same in both.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from .processes import FailedRun, run
from .recorders import remove_trace

# Functions of the compressor, which is linked into the recorder. Their code path depends on the processor.
COMPRESSION = re.compile(r"(?:ZSTD|HUF|FSE|HIST|XXH|BIT|ERR|POOL)_|XXH\d")


# Bytes from one sample to the next of a light recording: too many for a sample in the counted calls.
NO_SAMPLE = 1 << 36

# The recorder sometimes switches stacks, and callgrind then assumes that a function has returned. So the marks are the
# entries of two small functions instead of the start and end of one.
COUNTING = ("--zero-before=counting_begins", "--dump-before=counting_ends")


@dataclass
class PathCost:
    """Instructions per call."""

    all: float
    recorder: float  # of libleaktrace.so, without compression


@dataclass
class WorkloadCost:
    """Instructions per event of a whole workload."""

    events: int
    instructions: float  # added by recording
    untraced: float
    functions: list[tuple[str, float]]  # of the recorder, with their own instructions, in descending order


def _tool() -> str:
    """Returns the path of callgrind itself. The launcher is a dynamic executable, and would be traced instead."""
    for directory in ("/usr/libexec/valgrind", "/usr/lib/valgrind", "/usr/lib/x86_64-linux-gnu/valgrind"):
        for machine in ("amd64", "arm64"):
            path = f"{directory}/callgrind-{machine}-linux"
            if os.access(path, os.X_OK):
                return path
    raise FailedRun("callgrind was not found beside valgrind")


def _instructions(profile: str) -> tuple[int, int]:
    """Returns the counts in a callgrind file: all instructions, and the recorder's without compression."""
    names: dict[str, str] = {}
    objects: dict[str, str] = {}
    total = own = 0
    function = library = ""

    def resolve(known: dict[str, str], text: str) -> str:
        number, _, name = text.partition(" ")
        if name:
            known[number] = name
        return known[number]

    with open(profile) as file:
        is_callees = False
        for line in file:
            kind, separator, value = line.rstrip("\n").partition("=")
            if separator and kind in ("ob", "cob"):
                found = resolve(objects, value)
                library = found if kind == "ob" else library
            elif separator and kind in ("fn", "cfn"):
                found = resolve(names, value)
                function = found if kind == "fn" else function
            elif kind == "calls":
                is_callees = True  # the next line has the cost of the callee
            elif re.match(r"[-+*\d]", line):
                if not is_callees:
                    cost = int(line.split()[1])
                    total += cost
                    if library.endswith("/libleaktrace.so") and not COMPRESSION.match(function):
                        own += cost
                is_callees = False
    return total, own


def settings(retains: str) -> dict[str, str]:
    """Returns the recorder's environment variables for a value of `--arc`, or for `light`."""
    # Images would add instructions that belong to no event.
    values = {"LEAKTRACE_ARC": retains, "LEAKTRACE_SNAPSHOTS": "off"}
    if retains == "light":
        values |= {"LEAKTRACE_MODE": "light", "LEAKTRACE_SAMPLE": str(NO_SAMPLE), "LEAKTRACE_SAMPLE_FIRST": "0"}
    return values


def profiles_in(directory: str) -> list[str]:
    """Returns the callgrind files of a run of `hook-paths`, in order. Each has the counts of one path."""
    found = [name for name in os.listdir(directory) if re.fullmatch(r"callgrind\.out\.\d+", name)]
    found.sort(key=lambda name: int(name.rsplit(".", 1)[1]))
    return [os.path.join(directory, name) for name in found]


def costs_of_paths(
    output: str, profiles: Sequence[str], count: int, retains: str | None, events: int
) -> dict[str, PathCost]:
    """Returns the costs by path.

    `output`: of `hook-paths`. `profiles`: callgrind's files. `count`: requested calls per path. `events`: number of
    recorded events. Raises FailedRun if the numbers do not fit together.
    """
    calls = {name: int(number) for name, number in (line.split(": ") for line in output.splitlines())}
    if len(profiles) != len(calls):
        raise FailedRun(f"hook-paths: {len(profiles)} counts for {len(calls)} paths")
    unrecorded = () if retains == "stacks" else ("retain", "release")
    recorded = sum(number for name, number in calls.items() if name not in unrecorded)
    lacks_events = retains in ("counts", "stacks") and events < recorded
    if lacks_events or any(number < count * 0.9 for number in calls.values()):
        raise FailedRun(f"hook-paths, --arc {retains}: {events} events for {calls}")
    costs = {}
    for (name, number), path in zip(calls.items(), profiles, strict=True):
        total, own = _instructions(path)
        costs[name] = PathCost(total / number, own / number)
    return costs


def recorded_events(leaktrace: str, trace: str, directory: str) -> int | None:
    """Returns the number of events in a trace. None if the trace was not closed at exit, or lacks events."""
    chunks = run([leaktrace, "dump", "--chunks", trace], directory).output
    closing = re.search(r"closing reason=exit .*?\bevents=(\d+) .*\bdrops=([\d,]+)$", chunks, re.MULTILINE)
    if not closing or any(int(number) for number in closing[2].split(",")[:3]):
        return None
    return int(closing[1])


class InstructionCounter:
    def __init__(self, leaktrace: str, library: str, directory: str) -> None:
        self._leaktrace = leaktrace
        self._directory = directory
        self._library = os.path.join(directory, "libleaktrace.so")
        self._tool = _tool()
        self._strip(library, self._library)

    @staticmethod
    def _strip(source: str, target: str) -> None:
        # valgrind fails on debug information that is too new for it. Symbols suffice.
        subprocess.run(["objcopy", "--strip-debug", source, target], check=True)

    def program(self, path: str) -> str:
        target = os.path.join(self._directory, os.path.basename(path) + "-stripped")
        self._strip(path, target)
        return target

    def count(self, program: str, arguments: Sequence[str], retains: str | None = None) -> tuple[int, int]:
        """Returns instructions and events of one run. It is untraced if `retains` is None."""
        profile = os.path.join(self._directory, "callgrind.out")
        if os.path.exists(profile):
            os.unlink(profile)
        _, events = self._run(program, arguments, retains, [])
        with open(profile) as file:
            totals = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.MULTILINE)
        if not totals:
            raise FailedRun(f"{program}: callgrind counted nothing")
        return int(totals[1]), events

    def _run(
        self, program: str, arguments: Sequence[str], retains: str | None, options: Sequence[str]
    ) -> tuple[str, int]:
        """Runs a program under callgrind. Returns its output and the number of recorded events.

        Raises FailedRun if the trace lacks events.
        """
        trace = os.path.join(self._directory, "callgrind.trace")
        remove_trace(trace)
        ours = ("LEAKTRACE_", "LD_PRELOAD")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        environment["VALGRIND_LAUNCHER"] = shutil.which("valgrind") or ""
        environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
        if retains:
            environment |= {"LD_PRELOAD": self._library, "LEAKTRACE_OUTPUT": trace, **settings(retains)}
        profile = os.path.join(self._directory, "callgrind.out")
        callgrind = [self._tool, "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command = [*callgrind, *options, program, *arguments]
        output = run(command, self._directory, environment).output
        if not retains:
            return output, 0
        events = recorded_events(self._leaktrace, trace, self._directory)
        if events is None:
            raise FailedRun(f"{' '.join(command)}: the trace was not closed at exit, or lacks events")
        return output, events

    def split(self) -> list[tuple[str, int]]:
        """Returns the instructions of the last run by function of the recorder, in descending order."""
        profile = os.path.join(self._directory, "callgrind.out")
        text = subprocess.run(
            ["callgrind_annotate", "--threshold=100", profile],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout
        found = re.findall(r"^\s*([\d,]+) .*?[^ ]*:(\S+) \[.*libleaktrace\.so\]$", text, re.MULTILINE)
        totals: dict[str, int] = {}
        for count, name in found:
            # callgrind has an entry for each depth of a recursion.
            name = re.sub(r"'\d+$", "", name)
            totals[name] = totals.get(name, 0) + int(count.replace(",", ""))
        return list(totals.items())

    def path_costs(self, program: str, count: int, retains: str | None = None) -> dict[str, PathCost]:
        """Returns the costs by path of `hook-paths`. The run is untraced if `retains` is None."""
        for path in profiles_in(self._directory):
            os.unlink(path)
        output, events = self._run(program, [str(count)], retains, COUNTING)
        return costs_of_paths(output, profiles_in(self._directory), count, retains, events)

    def workload_cost(self, program: str, few: Sequence[str], many: Sequence[str], retains: str) -> WorkloadCost:
        plain = [self.count(program, each)[0] for each in (few, many)]
        first, first_events = self.count(program, few, retains)
        first_split = dict(self.split())
        second, second_events = self.count(program, many, retains)
        events = second_events - first_events
        split = [(name, (count - first_split.get(name, 0)) / events) for name, count in self.split()]
        split.sort(key=lambda each: -each[1])
        return WorkloadCost(
            events=events,
            instructions=(second - first - plain[1] + plain[0]) / events,
            untraced=(plain[1] - plain[0]) / events,
            functions=[each for each in split if each[1] >= 0.5],
        )
