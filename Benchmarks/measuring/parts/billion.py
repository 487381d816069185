"""Time and memory to record and analyse a trace of a billion events."""

import os
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from ..figures import Series, grouped, megabytes, table
from ..part import About, Bench, Figure, SummarisedPart
from ..processes import FailedRun, run
from ..recorders import Leaktrace, Workload
from ..records import Named
from ..rounds import say

FULL, QUICK = ["18", "400"], ["12", "40"]
EVENTS = 1_000_000_000


@dataclass
class BillionResult:
    title: str
    untraced: float  # seconds of the run
    recorded: float  # seconds of the run
    bytes: int  # of the trace
    events: int
    cut_stacks: Annotated[int, Named("cut stacks")]
    # Values of each analysis.
    wall: Series
    processor: Series
    peak: Series
    others: Series


class Billion(SummarisedPart[BillionResult]):
    name = "billion"
    heading = "# A billion events"
    result = BillionResult

    def measure(self, bench: Bench) -> BillionResult:
        """Records the trace once, and analyses it in each round."""
        tracer, directory, rounds = Leaktrace(bench.tool, "stacks"), bench.directory, min(bench.rounds, 3)
        workload = Workload("churn", bench.programs.path("churn"), QUICK if bench.is_quick else FULL)
        say("running " + workload.title)
        untraced = run(workload.command, directory)
        workload.output = untraced.output
        say("recording it")
        recorded = run(tracer.command(workload, directory), directory)
        facts = tracer.check(workload, recorded.output, directory)
        tracer.add_names(directory)
        events = facts.events or 0
        if not bench.is_quick and events < EVENTS:
            raise FailedRun(f"{workload.name}: only {events} events, less than a billion")
        found = BillionResult(
            title=workload.title,
            untraced=untraced.wall,
            recorded=recorded.wall,
            bytes=facts.bytes or 0,
            events=events,
            cut_stacks=facts.cut_stacks or 0,
            wall=Series(),
            processor=Series(),
            peak=Series(),
            others=Series(),
        )
        for number in range(rounds):
            say(f"analysing {grouped(events)} events, round {number + 1} of {rounds}")
            result = run([tracer.tool, "analyze", tracer.trace(directory)], directory)
            found.wall.add(result.wall)
            found.processor.add(result.processor)
            found.peak.add(result.peak)
            found.others.add(result.others)
        os.unlink(tracer.trace(directory))
        return found

    def markdown(self, result: BillionResult, about: About) -> str:
        rate = result.events / statistics.median(result.wall.values) / 1e6
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                f"`{result.title}` is recorded with all retains and releases, and `leaktrace analyze` reads the trace. "
                "Times are in seconds.",
                table(
                    ["", ""],
                    [
                        ["events", grouped(result.events)],
                        ["run, untraced", f"{result.untraced:.1f}"],
                        ["run, recorded", f"{result.recorded:.1f}"],
                        ["trace, MB", megabytes(result.bytes)],
                        ["bytes per event", f"{result.bytes / result.events:.3f}"],
                        ["analysis, wall", result.wall.text()],
                        ["analysis, processor", result.processor.text()],
                        ["analysis, million events/s", f"{rate:.1f}"],
                        ["analysis, peak MB", megabytes(max(result.peak.values))],
                    ],
                ),
            ]
        )

    def figures(self, result: BillionResult) -> Iterable[Figure]:
        events = f"{result.events / 1e6:,.0f} million events"
        yield Figure(f"{events}: analysis time", result.wall.median, None, " s", 0)
        yield Figure(f"{events}: peak memory of the analysis", max(result.peak.values) / 1e6, None, " MB", 0)
