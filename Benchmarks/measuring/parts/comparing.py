"""Time and memory to compare two long traces, and to analyse one of them."""

import json
import os
from dataclasses import dataclass
from typing import Annotated

from ..figures import Series, grouped, megabytes, table
from ..part import About, Bench, Part
from ..processes import run
from ..records import Mark
from ..rounds import measure_readers, say

LONG = {"churn": ["18", "40"], "json": ["5000", "36"]}
SHORT = {"churn": ["12", "20"], "json": ["200", "5"]}


@dataclass
class CommandUse:
    wall: Series
    peak: Series


@dataclass
class Comparison:
    events: int
    bytes: int  # of the new trace
    digest: int  # bytes
    commands: Annotated[dict[str, CommandUse], Mark.INLINED]


@dataclass
class ComparingResult:
    programs: Annotated[dict[str, Comparison], Mark.INLINED]  # by title


class Comparing(Part[ComparingResult]):
    name = "comparing"
    heading = "# Comparing builds"
    result = ComparingResult

    def measure(self, bench: Bench) -> ComparingResult:
        found = {}
        for name, arguments in (SHORT if bench.is_quick else LONG).items():
            found[" ".join([name, *arguments])] = self._compare(bench, name, arguments)
        return ComparingResult(found)

    @staticmethod
    def _compare(bench: Bench, name: str, arguments: list[str]) -> Comparison:
        tool, directory = bench.tool, bench.directory
        old, new = (bench.file(f"{name}-{side}.trace") for side in ("old", "new"))
        for trace in (old, new):
            say(f"recording {' '.join([name, *arguments])}")
            run([tool, "record", "--quiet", "-o", trace, "--", bench.programs.path(name), *arguments], directory)
        digest = bench.file(f"{name}-old.digest")
        run([tool, "digest", old, "-o", digest], directory)
        report = json.loads(run([tool, "diff", "--format", "json", digest, new], directory).output)
        commands = {
            "analyze OLD": [tool, "analyze", "--limit", "1", old],
            "diff OLD NEW": [tool, "diff", old, new],
            "diff OLD.digest NEW": [tool, "diff", digest, new],
        }
        measured = measure_readers(commands, min(bench.rounds, 3), directory)
        return Comparison(
            events=sum(each["events"] for each in report["new"]["runs"]),
            bytes=os.path.getsize(new),
            digest=os.path.getsize(digest),
            commands={name: CommandUse(each.wall, each.peak) for name, each in measured.items()},
        )

    def markdown(self, result: ComparingResult, about: About) -> str:
        text = [
            self.heading,
            f"Measured {about.date}, `scripts/bench {about.arguments}`. Both traces are recordings of the same program "
            "with the same work, and `diff` reports no change. Times are in seconds: the median, with the minimum and "
            "maximum in parentheses. *Peak* is the largest resident size of any round.",
        ]
        for title, found in result.programs.items():
            rows = [
                [f"`{name}`", use.wall.text(), f"{max(use.peak.values) / 1e6:.0f}"]
                for name, use in found.commands.items()
            ]
            text += [
                f"## {title}",
                f"A trace has {grouped(found.events)} events in {megabytes(found.bytes)} MB. The digest has "
                f"{megabytes(found.digest)} MB.",
                table(["", "wall", "peak MB"], rows),
            ]
        return "\n\n".join(text)
