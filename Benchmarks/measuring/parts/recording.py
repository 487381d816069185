"""Cost of recording the workloads and of reading their traces, and instructions per event."""

import os
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from ..budget import compile_program
from ..figures import count, grouped, megabytes, table
from ..instructions import InstructionCounter, PathCost, WorkloadCost
from ..part import About, Bench, Figure, SummarisedPart
from ..recorders import Heaptrack, Leaktrace, Workload, recorders, shown_command
from ..records import Mark, Named
from ..rounds import Measurement, measure_readers, measure_recorders, say

FULL = {"churn": ["18", "10"], "json": ["5000", "10"]}
QUICK = {"churn": ["12", "20"], "json": ["200", "5"]}
# A shorter and a longer run. The counts are the difference between both.
COUNTED = {"churn": (["10", "4"], ["10", "12"]), "json": (["20", "2"], ["20", "6"])}
SETTINGS = ("off", "counts", "stacks")  # values of --arc


@dataclass
class RecordedWorkload:
    name: str
    arguments: list[str]
    recorders: dict[str, Measurement]
    readers: dict[str, Measurement]
    reader_events: Annotated[dict[str, int], Named("readerEvents")]

    @property
    def title(self) -> str:
        return " ".join([self.name, *self.arguments])

    def ratio(self, way: str) -> float | None:
        """Wall time relative to the untraced run. None if `way` was not measured."""
        if way not in self.recorders:
            return None
        return self.recorders[way].wall.ratio(self.recorders["untraced"].wall)

    def rate(self, reader: str) -> float | None:
        """Million events per second. None if `reader` was not measured."""
        if reader not in self.readers or reader not in self.reader_events:
            return None
        return self.reader_events[reader] / statistics.median(self.readers[reader].wall.values) / 1e6

    def bytes_per_event(self, way: str, *, events_of: str) -> float | None:
        """File size per event, with the number of events that `events_of` recorded.

        heaptrack does not report how many events its file has. It records the same calls as `--arc off`.
        """
        events = self.recorders[events_of].facts.events
        if way not in self.recorders or not events:
            return None
        return (self.recorders[way].facts.bytes or 0) / events


@dataclass
class Instructions:
    paths: dict[str, dict[str, PathCost]]  # by setting of --arc, then by path
    workloads: dict[str, WorkloadCost]


@dataclass
class RecordingResult:
    rounds: int
    workloads: list[RecordedWorkload]
    instructions: Annotated[Instructions | None, Mark.KEPT] = None


class Recording(SummarisedPart[RecordingResult]):
    name = "recording"
    heading = "# Recording and reading"
    result = RecordingResult

    def measure(self, bench: Bench) -> RecordingResult:
        workloads = [
            self._workload(bench, Workload(name, bench.programs.path(name), arguments))
            for name, arguments in (QUICK if bench.is_quick else FULL).items()
        ]
        instructions = self._instructions(bench) if bench.counts_instructions else None
        return RecordingResult(bench.rounds, workloads, instructions)

    @staticmethod
    def _workload(bench: Bench, workload: Workload) -> RecordedWorkload:
        ways = recorders(bench.tool)
        found = measure_recorders(ways, workload, bench.rounds, bench.directory)
        readers: dict[str, list[str]] = {}
        events: dict[str, int] = {}
        # Other processes of the machine tend to use the first processor.
        pinned = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
        for way in ways:
            if isinstance(way, Leaktrace):
                way.add_names(bench.directory)
                reader, recorded = f"leaktrace analyze ({way.retains})", way.name
                command = [bench.tool, "analyze", way.trace(bench.directory)]
            elif isinstance(way, Heaptrack):
                reader, recorded = "heaptrack_print", "leaktrace --arc off"
                command = ["heaptrack_print", way.trace(bench.directory)]
            else:
                continue
            for shown, each in ((reader, command), (reader + ", one core", pinned + command)):
                readers[shown], events[shown] = each, found[recorded].facts.events or 0
        return RecordedWorkload(
            name=workload.name,
            arguments=workload.arguments,
            recorders=found,
            readers=measure_readers(readers, bench.rounds, bench.directory),
            reader_events=events,
        )

    @staticmethod
    def _instructions(bench: Bench) -> Instructions:
        counter = InstructionCounter(bench.tool, bench.library, bench.directory)
        say("counting instructions, one path at a time")
        program, calls = counter.program(compile_program(bench.directory)), 5_000 if bench.is_quick else 50_000
        found = Instructions({"untraced": counter.path_costs(program, calls)}, {})
        for retains in SETTINGS:
            found.paths[retains] = counter.path_costs(program, calls, retains)
        for name, (few, many) in COUNTED.items():
            stripped = counter.program(bench.programs.path(name))
            for retains in SETTINGS:
                say(f"counting instructions of {name}, --arc {retains}")
                cost = counter.workload_cost(stripped, few, many, retains)
                found.workloads[f"{name} {' '.join(many)}, --arc {retains}"] = cost
        return found

    def markdown(self, result: RecordingResult, about: About) -> str:
        command = f"{about.date}, `scripts/bench {about.arguments}`"
        parts = [
            self.heading,
            f"Measured {command}.",
            table(["machine", ""], list(about.machine.items()), numbers=False),
            _busy_note(result.workloads),
            f"After a warm-up round, {result.rounds} rounds are measured. Each round runs all commands in turn. Times "
            "are in seconds: the median, with the minimum and maximum in parentheses. A ratio is relative to the "
            "untraced run of the same round; the table has the median. The benchmark stops if a run fails, prints "
            "unexpected output, or loses an event.",
            "heaptrack records only allocations and frees, like `--arc off`. `--arc counts` also records retains and "
            "releases without their stacks, and `--arc stacks` records them with their stacks.",
            "leaktrace's runs do not resolve the names of functions, lines and types. `leaktrace names` adds them "
            "later, and the times and sizes below exclude this step. heaptrack resolves names during the run.",
            "*Processor* is the user and system time of the command and all its child processes. heaptrack processes "
            "its data in a separate process during the run, and waits for it at the end. *Peak* is the largest "
            "resident size of the program itself. *Added* is how much of it is due to tracing. *With helpers* is the "
            "sum over all processes of the command. *Cut stacks* is the number of events whose stack is incomplete.",
        ]
        for workload in result.workloads:
            parts += _workload_section(workload)
        if result.instructions:
            parts += _instruction_section(result.instructions)
        return "\n\n".join(parts)

    def figures(self, result: RecordingResult) -> Iterable[Figure]:
        for workload in result.workloads:
            for retains in ("off", "stacks"):
                yield Figure(
                    f"{workload.title}: run time, `--arc {retains}`, relative to untraced",
                    workload.ratio(f"leaktrace --arc {retains}"),
                    workload.ratio("heaptrack"),
                    " ×",
                )
            for retains in ("off", "stacks"):
                way = f"leaktrace --arc {retains}"
                yield Figure(
                    f"{workload.title}: bytes per event, `--arc {retains}`",
                    workload.bytes_per_event(way, events_of=way),
                    workload.bytes_per_event("heaptrack", events_of="leaktrace --arc off"),
                    digits=3,
                )
            for way, where in (("", ""), (", one core", " on one core")):
                for retains in ("off", "stacks"):
                    yield Figure(
                        f"{workload.title}: analysis{where}, `--arc {retains}`, million events/s",
                        workload.rate(f"leaktrace analyze ({retains}){way}"),
                        workload.rate(f"heaptrack_print{way}"),
                        digits=1,
                    )
            peer, own = (workload.readers.get(name) for name in ("heaptrack_print", "leaktrace analyze (off)"))
            if peer and own:
                yield Figure(
                    f"{workload.title}: analysis time, `--arc off`, relative to heaptrack_print",
                    own.wall.ratio(peer.wall),
                    1,
                    " ×",
                )
                yield Figure(
                    f"{workload.title}: peak memory of the analysis, `--arc off`",
                    max(own.peak.values) / 1e6,
                    max(peer.peak.values) / 1e6,
                    " MB",
                    0,
                )


def _busy_note(workloads: list[RecordedWorkload]) -> str:
    """States how many processors other processes kept busy, with a warning if that disturbs the times."""
    worst = max(value for each in workloads for way in each.recorders.values() for value in way.others.values)
    if worst > 0.25:
        return (
            f"**Other processes kept up to {worst:.1f} processors busy during a run: the times below are not reliable. "
            "Instruction counts, sizes and memory are.**"
        )
    return f"Other processes kept at most {worst:.2f} processors busy during any run."


def _workload_section(workload: RecordedWorkload) -> list[str]:
    untraced = workload.recorders["untraced"]
    rows, sizes = [], []
    for name, each in workload.recorders.items():
        added = each.program_memory - untraced.program_memory
        rows.append(
            [
                name,
                each.wall.text(),
                f"{each.wall.ratio(untraced.wall):.2f}",
                each.processor.text(),
                f"{each.processor.ratio(untraced.processor):.2f}",
                megabytes(each.program_memory),
                megabytes(added) if name != "untraced" else "",
                megabytes(each.all_memory),
            ]
        )
        facts = each.facts
        if facts.bytes is not None and facts.events is not None:
            sizes.append(
                [
                    name,
                    grouped(facts.events),
                    megabytes(facts.bytes),
                    f"{facts.bytes / facts.events:.3f}",
                    f"{(each.wall.median - untraced.wall.median) / facts.events * 1e9:.0f}",
                    grouped(facts.cut_stacks or 0),
                ]
            )
        elif facts.bytes is not None:
            sizes.append([name, "", megabytes(facts.bytes), "", "", ""])
    readers = []
    for name, each in workload.readers.items():
        events = workload.reader_events.get(name)
        rate = f"{events / each.wall.median / 1e6:.1f}" if events else ""
        readers.append([name, each.wall.text(), each.processor.text(), rate, megabytes(max(each.peak.values))])
    commands = [shown_command(name, workload.title) for name in workload.recorders]
    return [
        f"## {workload.title}",
        "Commands: " + ", ".join(f"`{command}`" for command in commands) + ".",
        table(["", "wall", "ratio", "processor", "ratio", "peak MB", "added MB", "with helpers MB"], rows),
        table(["", "events", "file MB", "bytes per event", "added ns per event", "cut stacks"], sizes),
        "The next table has time and memory to read the files of the last round, after `leaktrace names FILE`. With "
        "*one core*, the reader is pinned to one core. heaptrack's file is assumed to have as many events as the trace "
        "of `--arc off`.",
        table(["", "wall", "processor", "million events/s", "peak MB"], readers),
    ]


def _instruction_section(found: Instructions) -> list[str]:
    header = ["", "untraced call"]
    header += [f"{word} --arc {retains}" for retains in SETTINGS for word in ("added,", "own,")]
    rows = []
    for path, untraced in found.paths["untraced"].items():
        row = [path, count(untraced.all)]
        for retains in SETTINGS:
            cost = found.paths[retains][path]
            row += [count(cost.all - untraced.all), count(cost.recorder)]
        rows.append(row)
    parts = [
        "## Instructions",
        "`valgrind --tool=callgrind` counts the instructions of the traced and the untraced run. The counts hardly "
        "depend on the machine, and do not depend on its load. They include compression of the trace, but not the "
        "start of the program.",
        "The first table has instructions per call, for one path through the recorder at a time "
        "(`Tests/Programs/hook-paths.swift`). *Untraced call* is the call itself. *Added* is the difference between "
        "traced and untraced, in all libraries. *Own* counts only `libleaktrace.so` without compression. "
        "`scripts/budget` and the tests check *own* against `Benchmarks/budget.json`.",
        table(header, rows),
        "The second table has instructions per event of whole workloads, as means over all events.",
        table(
            ["", "events", "untraced, per event", "added, per event"],
            [
                [name, grouped(each.events), count(each.untraced), count(each.instructions)]
                for name, each in found.workloads.items()
            ],
        ),
    ]
    for name, each in found.workloads.items():
        if "stacks" not in name:
            continue
        shown = each.functions[:12]
        rest = each.instructions - sum(mean for _, mean in shown)
        rows = [[f"`{function}`", f"{mean:.1f}"] for function, mean in shown]
        rows.append(["everything else, such as slower paths of the Swift runtime", f"{rest:.1f}"])
        parts += [
            f"Functions of libleaktrace.so in {name}, without their callees:",
            table(["function", "instructions per event"], rows),
        ]
    return parts
