"""Time and memory of the analysis as a trace has more events, sites or threads."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..figures import Series, grouped, megabytes, table
from ..part import About, Bench, Figure, SummarisedPart
from ..plots import Plot
from ..processes import run
from ..recorders import Leaktrace, Workload
from ..rounds import say

EVENTS, SITES, THREADS = "events", "sites", "threads"
# By axis: the workload, its value of --arc, and the arguments of each run. Only the axis' property grows.
FULL = {
    EVENTS: ("churn", "stacks", [["14", str(count)] for count in (6, 61, 610, 6104)]),
    SITES: ("churn", "off", [[str(depth), str(5 << (19 - depth))] for depth in (9, 11, 13, 15, 17, 19)]),
    THREADS: ("threads", "off", [[str(count), "12", "1000"] for count in (1, 5, 25, 100, 500)]),
}
QUICK = {
    EVENTS: ("churn", "stacks", [["8", "10"], ["8", "100"]]),
    SITES: ("churn", "off", [["6", "40"], ["8", "10"]]),
    THREADS: ("threads", "off", [["1", "8", "10"], ["10", "8", "10"]]),
}


@dataclass
class Point:
    title: str  # of the workload
    events: int
    sites: int
    threads: int
    wall: Series = field(default_factory=Series)
    processor: Series = field(default_factory=Series)
    peak: Series = field(default_factory=Series)
    others: Series = field(default_factory=Series)

    def at(self, axis: str) -> int:
        return {EVENTS: self.events, SITES: self.sites, THREADS: self.threads}[axis]


@dataclass
class ScalingResult:
    axes: dict[str, list[Point]]


class Scaling(SummarisedPart[ScalingResult]):
    name = "scaling"
    heading = "# Scaling of the analysis"
    result = ScalingResult

    def measure(self, bench: Bench) -> ScalingResult:
        """Records each trace once, and analyses it in each round."""
        axes = QUICK if bench.is_quick else FULL
        return ScalingResult(
            {
                axis: [_point(bench, program, setting, arguments) for arguments in runs]
                for axis, (program, setting, runs) in axes.items()
            }
        )

    def markdown(self, result: ScalingResult, about: About) -> str:
        text = [
            self.heading,
            about.line(),
            "`leaktrace analyze` reads traces of different sizes. Only one property grows in each table. Times are in "
            "seconds.",
        ]
        for axis, points in result.axes.items():
            rows = [
                [
                    f"`{point.title}`",
                    grouped(point.events),
                    grouped(point.sites),
                    grouped(point.threads),
                    point.wall.text(),
                    f"{point.processor.median / point.events * 1e9:.0f}",
                    megabytes(max(point.peak.values)),
                ]
                for point in points
            ]
            header = ["", "events", "sites", "threads", "wall", "processor, ns per event", "peak MB"]
            text += [f"## More {axis}", table(header, rows)]
            text += [f"![{plot.title}](plots/{plot.file})" for plot in _plots(axis, points)]
        return "\n\n".join(text)

    def plots(self, result: ScalingResult) -> Sequence[Plot]:
        return [plot for axis, points in result.axes.items() for plot in _plots(axis, points)]

    def figures(self, result: ScalingResult) -> Iterable[Figure]:
        # The shortest traces are left out, because start and end dominate their times.
        few, many = result.axes[EVENTS][-2:]
        events = f"{many.events / 1e6:,.0f} million events relative to {few.events / 1e6:,.0f} million"
        ratio = many.events / few.events
        yield Figure(f"analysis: time per event, {events}", many.wall.median / few.wall.median / ratio, None, " ×")
        yield Figure(f"analysis: peak memory, {events}", max(many.peak.values) / max(few.peak.values), None, " ×")


def _point(bench: Bench, program: str, setting: str, arguments: list[str]) -> Point:
    tracer, directory = Leaktrace(bench.tool, setting), bench.directory
    workload = Workload(program, bench.programs.path(program), arguments)
    say(f"recording {workload.title}")
    workload.output = run(workload.command, directory).output
    facts = tracer.check(workload, run(tracer.command(workload, directory), directory).output, directory)
    trace = tracer.trace(directory)
    tracer.add_names(directory)
    document = run([tracer.tool, "analyze", "--format", "json", "--limit", "1", trace], directory).output
    (report,) = json.loads(document)["reports"]
    point = Point(
        title=workload.title,
        events=facts.events or 0,
        sites=report["siteCount"],
        threads=len(report["traces"][0]["threads"]),
    )
    for number in range(1, min(bench.rounds, 3) + 1):
        say(f"analysing {workload.title}, round {number}")
        done = run([tracer.tool, "analyze", trace], directory)
        point.wall.add(done.wall)
        point.processor.add(done.processor)
        point.peak.add(done.peak)
        point.others.add(done.others)
    os.unlink(trace)
    return point


def _plots(axis: str, points: Sequence[Point]) -> list[Plot]:
    time = [(float(point.at(axis)), point.wall.median) for point in points]
    memory = [(float(point.at(axis)), max(point.peak.values) / 1e6) for point in points]
    return [
        Plot(f"time-by-{axis}", f"Time of the analysis by {axis}", axis, "seconds", {"leaktrace analyze": time}),
        Plot(f"memory-by-{axis}", f"Memory of the analysis by {axis}", axis, "MB", {"leaktrace analyze": memory}),
    ]
