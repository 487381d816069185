"""Memory that tracing adds to the program, for runs of different lengths."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..figures import megabytes, table
from ..part import About, Bench, Figure, SummarisedPart
from ..processes import memory_of
from ..recorders import Workload
from ..rounds import say

FULL = {
    "churn": [["18", "10"], ["18", "40"], ["18", "160"]],
    "json": [["5000", "10"], ["5000", "40"], ["5000", "160"]],
}
QUICK = {"churn": [["12", "20"], ["12", "40"]], "json": [["200", "5"], ["200", "10"]]}


@dataclass
class ResidentMemory:
    program: int  # bytes: peak of the program itself
    all: int  # bytes: peak of all processes together


@dataclass
class LengthsResult:
    runs: dict[str, dict[str, ResidentMemory]]  # by title of the run, by way

    def added(self, title: str, way: str) -> int:
        """Bytes that tracing adds to the program."""
        return self.runs[title][way].program - self.runs[title]["untraced"].program


class Lengths(SummarisedPart[LengthsResult]):
    name = "lengths"
    heading = "# Memory and the length of a run"
    result = LengthsResult

    def measure(self, bench: Bench) -> LengthsResult:
        found = {}
        for name, runs in (QUICK if bench.is_quick else FULL).items():
            for arguments in runs:
                workload = Workload(name, bench.programs.path(name), arguments)
                say(f"memory of {workload.title}")
                measured = {}
                for way in bench.ways():
                    command = way.command(workload, bench.directory)
                    memory = memory_of(command, bench.directory, workload.program)
                    measured[way.name] = ResidentMemory(memory.program, memory.all)
                found[workload.title] = measured
        return LengthsResult(found)

    def markdown(self, result: LengthsResult, about: About) -> str:
        ways = [way for way in next(iter(result.runs.values())) if way != "untraced"]
        rows = [
            [title, megabytes(measured["untraced"].program), *(megabytes(result.added(title, way)) for way in ways)]
            for title, measured in result.runs.items()
        ]
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                "*Untraced* is the largest resident size of the untraced program. The other columns show how much each "
                "tool adds to it. All values are in MB, from one run.",
                table(["", "untraced", *ways], rows),
            ]
        )

    def figures(self, result: LengthsResult) -> Iterable[Figure]:
        runs: dict[str, list[str]] = {}
        for title in result.runs:
            runs.setdefault(title.split()[0], []).append(title)
        for name, titles in runs.items():
            shown = ", ".join(title.split()[-1] for title in titles)
            for retains in ("off", "stacks"):
                yield Figure(
                    f"{name}, {shown} iterations: most memory added to the program, `--arc {retains}`",
                    self._most_added(result, titles, f"leaktrace --arc {retains}"),
                    self._most_added(result, titles, "heaptrack"),
                    " MB",
                    1,
                )

    @staticmethod
    def _most_added(result: LengthsResult, titles: list[str], way: str) -> float | None:
        if way not in result.runs[titles[0]]:
            return None
        return max(result.added(title, way) for title in titles) / 1e6
