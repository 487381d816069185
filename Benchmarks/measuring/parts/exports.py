"""Size, time and memory of each output of `leaktrace report` and `leaktrace export`, compared with `analyze`."""

import glob
import json
import os
import subprocess
from dataclasses import dataclass, field

from ..figures import Series, grouped, megabytes, table
from ..part import REPOSITORY, About, Bench, Part
from ..processes import run
from ..rounds import say

FEED = "feed-client"
# An account with 12 readings has 2.9 kB, so the large heap has 1 GiB.
LONG = {FEED: ["20"], "json": ["5000", "10"], "churn": ["18", "10"], "heap": ["366000", "12", "100"]}
SHORT = {FEED: ["5"], "json": ["200", "5"], "churn": ["10", "5"], "heap": ["2000", "12", "100"]}
FORMATS = ("pprof", "collapsed", "speedscope", "dot", "heapsnapshot", "perfetto", "sqlite", "ndjson")


@dataclass
class OutputUse:
    bytes: int
    wall: Series = field(default_factory=Series)
    peak: Series = field(default_factory=Series)
    others: Series = field(default_factory=Series)


@dataclass
class TraceOutputs:
    events: int
    bytes: int  # of the trace
    live: int  # blocks at the end of the recording
    outputs: dict[str, OutputUse]  # by command


@dataclass
class ExportsResult:
    traces: dict[str, TraceOutputs]  # by title of the workload


class Exports(Part[ExportsResult]):
    name = "exports"
    heading = "# Outputs"
    result = ExportsResult

    def measure(self, bench: Bench) -> ExportsResult:
        found = {}
        for name, arguments in (SHORT if bench.is_quick else LONG).items():
            program = _feed(bench.directory) if name == FEED else bench.programs.path(name)
            title = " ".join([name, *arguments])
            say(f"recording {title}")
            trace = bench.file(f"{name}.trace")
            run([bench.tool, "record", "--quiet", "-o", trace, "--", program, *arguments], bench.directory)
            found[title] = _outputs(bench, trace, title)
            os.unlink(trace)
        return ExportsResult(found)

    def markdown(self, result: ExportsResult, about: About) -> str:
        text = [
            self.heading,
            about.line(),
            "Times are in seconds. `analyze` prints a text report; all other commands write a file. *Peak* is the "
            "largest resident size of any round. Other processes kept at most "
            f"{about.others or 0:.1f} processors busy.",
        ]
        for title, trace in result.traces.items():
            rows = [
                [f"`{name}`", f"{use.bytes / 1e6:.3f}", use.wall.text(), megabytes(max(use.peak.values))]
                for name, use in trace.outputs.items()
            ]
            text += [
                f"## {title}",
                f"The trace has {grouped(trace.events)} events in {megabytes(trace.bytes)} MB. "
                f"{grouped(trace.live)} blocks are live at the end.",
                table(["", "MB", "wall", "peak MB"], rows),
            ]
        return "\n\n".join(text)


def _feed(directory: str) -> str:
    """Compiles the leaky program of scripts/demo. Returns its path."""
    program = os.path.join(directory, FEED)
    say(f"compiling {FEED}")
    folder = os.path.join(REPOSITORY, "Tests", "Programs", FEED)
    sources = [path for part in ("shared", "leaky") for path in sorted(glob.glob(f"{folder}/{part}/*.swift"))]
    subprocess.run(["swiftc", "-O", "-g", "-swift-version", "5", "-o", program, *sources], check=True)
    return program


def _outputs(bench: Bench, trace: str, title: str) -> TraceOutputs:
    tool, directory = bench.tool, bench.directory
    document = run([tool, "analyze", "--format", "json", "--limit", "1", trace], directory).output
    (report,) = json.loads(document)["reports"]
    file = bench.file("output")
    commands = {"analyze": [tool, "analyze", trace], "report": [tool, "report", trace, "-o", file]}
    commands |= {f"export --format {each}": [tool, "export", trace, "--format", each, "-o", file] for each in FORMATS}
    outputs: dict[str, OutputUse] = {}
    for number in range(1, min(bench.rounds, 3) + 1):
        for name, command in commands.items():
            say(f"{title}: {name}, round {number}")
            done = run(command, directory)
            if name not in outputs:
                outputs[name] = OutputUse(len(done.output.encode()) if name == "analyze" else os.path.getsize(file))
            outputs[name].wall.add(done.wall)
            outputs[name].peak.add(done.peak)
            outputs[name].others.add(done.others)
    os.unlink(file)
    events = sum(each["eventCount"] for each in report["traces"])
    return TraceOutputs(events, os.path.getsize(trace), report["total"]["liveBlocks"], outputs)
