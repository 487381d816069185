"""The workloads untraced and traced in each way, what reads their traces, and the instructions an event takes."""

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
# A shorter and a longer run, whose difference is counted.
COUNTED = {"churn": (["10", "4"], ["10", "12"]), "json": (["20", "2"], ["20", "6"])}
SETTINGS = ("off", "counts", "stacks")  # for retains and releases


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
        """Wall time, times that of the untraced run."""
        if way not in self.recorders:
            return None
        return self.recorders[way].wall.ratio(self.recorders["untraced"].wall)

    def rate(self, reader: str) -> float | None:
        """Million events a second."""
        if reader not in self.readers or reader not in self.reader_events:
            return None
        return self.reader_events[reader] / statistics.median(self.readers[reader].wall.values) / 1e6

    def bytes_an_event(self, way: str, *, events_of: str) -> float | None:
        """`events_of`: the way whose events count, since heaptrack's file has the same ones."""
        events = self.recorders[events_of].facts.events
        if way not in self.recorders or not events:
            return None
        return (self.recorders[way].facts.bytes or 0) / events


@dataclass
class Instructions:
    paths: dict[str, dict[str, PathCost]]  # by setting, by path
    workloads: dict[str, WorkloadCost]


@dataclass
class RecordingResult:
    rounds: int
    workloads: list[RecordedWorkload]
    instructions: Annotated[Instructions | None, Mark.KEPT] = None


class Recording(SummarisedPart[RecordingResult]):
    name = "recording"
    heading = "# Benchmark results"
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
        # The last one: what else there is on a machine prefers the first.
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
            f"Written by `scripts/bench`; `results.json` has the same figures with every round. {command}.",
            table(["machine", ""], list(about.machine.items()), numbers=False),
            _busy_note(result.workloads),
            f"Every way of running takes its turn in each of {result.rounds} rounds, after a warm-up round that does "
            "not count. Times are medians in seconds, with the smallest and largest; ratios are medians of the ratios "
            "round by round. A run that fails, prints something else, or loses an event ends the benchmark.",
            "heaptrack sees allocations and frees alone, and no retains or releases: of leaktrace's settings, "
            "`--arc off` sees as much.",
            "leaktrace's runs end without the names of functions, lines and types. `leaktrace names` reads them "
            "afterwards, and no time or size here includes that. heaptrack reads its names during the run.",
            "*Processor* is user and system time of the command and everything it starts: heaptrack interprets its "
            "data in a process of its own meanwhile, and waits for it. *Peak* is the program's own largest resident "
            "size; *added* is what tracing adds to it; *with helpers* counts every process of the command together.",
        ]
        for workload in result.workloads:
            parts += _workload_section(workload)
        if result.instructions:
            parts += _instruction_section(result.instructions)
        return "\n\n".join(parts)

    def figures(self, result: RecordingResult) -> Iterable[Figure]:
        for workload in result.workloads:
            for retains, what in (("off", "allocations and frees"), ("stacks", "every retain and release too")):
                yield Figure(
                    f"{workload.title}: {what} (`--arc {retains}`), times the untraced run",
                    workload.ratio(f"leaktrace --arc {retains}"),
                    workload.ratio("heaptrack"),
                    " ×",
                )
            for retains in ("off", "stacks"):
                way = f"leaktrace --arc {retains}"
                yield Figure(
                    f"{workload.title}: bytes an event, `--arc {retains}`",
                    workload.bytes_an_event(way, events_of=way),
                    workload.bytes_an_event("heaptrack", events_of="leaktrace --arc off"),
                    digits=3,
                )
            for way, where in (("", ""), (", one core", ", pinned to one core")):
                for retains in ("off", "stacks"):
                    yield Figure(
                        f"{workload.title}: replay and report{where}, `--arc {retains}`, million events/s",
                        workload.rate(f"leaktrace analyze ({retains}){way}"),
                        workload.rate(f"heaptrack_print{way}"),
                        digits=1,
                    )
            peer, own = (workload.readers.get(name) for name in ("heaptrack_print", "leaktrace analyze (off)"))
            if peer and own:
                yield Figure(
                    f"{workload.title}: replay and report, `--arc off`, times heaptrack_print",
                    own.wall.ratio(peer.wall),
                    1,
                    " ×",
                )
                yield Figure(
                    f"{workload.title}: replay and report, `--arc off`, peak memory",
                    max(own.peak.values) / 1e6,
                    max(peer.peak.values) / 1e6,
                    " MB",
                    0,
                )


def _busy_note(workloads: list[RecordedWorkload]) -> str:
    """Whether other processes took part of the machine meanwhile: then times mean little."""
    worst = max(value for each in workloads for way in each.recorders.values() for value in way.others.values)
    if worst > 0.25:
        return (
            f"**Other processes kept up to {worst:.1f} processors busy during a run: the times below are disturbed. "
            "Instruction counts, sizes and memory are not.**"
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
        table(["", "events", "file MB", "bytes an event", "added ns an event", "cut stacks"], sizes),
        "Readers take the traces of the last round, after `leaktrace names FILE`; *one core*: pinned to one. "
        "heaptrack's file counts as many events as the one of `--arc off`:",
        table(["", "wall", "processor", "million events/s", "peak MB"], readers),
    ]


def _instruction_section(found: Instructions) -> list[str]:
    header = ["", "the call untraced"]
    header += [f"{word} --arc {retains}" for retains in SETTINGS for word in ("added,", "own,")]
    rows = []
    for path, untraced in found.paths["untraced"].items():
        row = [path, count(untraced.all)]
        for retains in SETTINGS:
            cost = found.paths[retains][path]
            row += [count(cost.all - untraced.all), count(cost.recorder)]
        rows.append(row)
    parts = [
        "## Where the time goes",
        "Instructions an event, counted by `valgrind --tool=callgrind`: what the traced run executes more than the "
        "untraced one, divided by events. Starting up is left out, compressing the trace is included. The counts "
        "hardly depend on the machine and not on its load. The first column is what the call itself takes untraced.",
        "One path at a time (`Tests/Programs/hook-paths.swift`): *added* is what a call takes more than untraced, all "
        "libraries and compression counted in; *own* is what `libleaktrace.so` itself executes without compression, "
        "which `scripts/budget` and the tests hold to `Benchmarks/budget.json`.",
        table(header, rows),
        "Whole workloads, the mean over all events:",
        table(
            ["", "events", "untraced, an event", "added, an event"],
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
        rows.append(["everything else, the runtime's longer ways among it", f"{rest:.1f}"])
        parts += [
            f"{name}, by function of libleaktrace.so (its own instructions, without those of functions it calls):",
            table(["function", "instructions an event"], rows),
        ]
    return parts
