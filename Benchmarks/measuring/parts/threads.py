"""Many threads: what recording adds when threads share the work, beside what it adds to one thread that does all of
it."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ..figures import Series, grouped, table
from ..part import About, Bench, Figure, SummarisedPart
from ..recorders import Workload
from ..rounds import Measurement, measure_recorders

THREADS = (1, 8, 64)
FULL, QUICK = ["15", "64"], ["13", "64"]  # depth of the trees, and how many the threads make together


@dataclass
class ThreadsResult:
    arguments: list[str]
    threads: dict[str, dict[str, Measurement]]  # by their number, by way

    def ratio(self, threads: str, way: str) -> float:
        """Processor time, times that of the untraced run: the median of the rounds' ratios."""
        measured = self.threads[threads]
        return _ratio(measured[way].processor, measured["untraced"].processor)

    def wall_ratio(self, threads: str, way: str) -> float:
        measured = self.threads[threads]
        return _ratio(measured[way].wall, measured["untraced"].wall)

    def against_one(self, threads: str, way: str) -> float:
        """The ratio with so many threads against that with one."""
        return self.ratio(threads, way) / self.ratio("1", way)


def _ratio(series: Series, base: Series) -> float:
    return statistics.median(a / b for a, b in zip(series.values, base.values, strict=False))


class Threads(SummarisedPart[ThreadsResult]):
    name = "threads"
    heading = "# Many threads"
    result = ThreadsResult

    def measure(self, bench: Bench) -> ThreadsResult:
        arguments = QUICK if bench.is_quick else FULL
        found = {}
        for threads in THREADS:
            workload = Workload(f"threads {threads}", bench.programs.path("threads"), [str(threads), *arguments])
            found[str(threads)] = measure_recorders(bench.ways(), workload, bench.rounds, bench.directory)
        return ThreadsResult(arguments, found)

    def markdown(self, result: ThreadsResult, about: About) -> str:
        rows = []
        for threads, measured in result.threads.items():
            for way, each in measured.items():
                wall, processor = each.wall.text(), each.processor.text()
                if way == "untraced":
                    rows.append([f"{threads}, untraced", wall, "", processor, "", "", ""])
                    continue
                rows.append(
                    [
                        f"{threads}, {way}",
                        wall,
                        f"{result.wall_ratio(threads, way):.2f}",
                        processor,
                        f"{result.ratio(threads, way):.2f}",
                        f"{result.against_one(threads, way):.2f}",
                        grouped(each.facts.events) if each.facts.events else "",
                    ]
                )
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                f"`threads N {' '.join(result.arguments)}`: N threads share the work of making and dropping binary "
                "trees, so that it is the same for any N. *Processor* is user and system time of the command and all "
                "it starts; its ratio is to the untraced run with as many threads, and *against one* is that ratio "
                "against the ratio with one thread: 1 if a thread costs as much among others as alone.",
                table(["threads", "wall", "ratio", "processor", "ratio", "against one", "events"], rows),
            ]
        )

    def figures(self, result: ThreadsResult) -> Iterable[Figure]:
        for threads in map(str, THREADS[1:]):
            measured = result.threads[threads]
            peer = result.against_one(threads, "heaptrack") if "heaptrack" in measured else None
            for retains in ("off", "stacks"):
                yield Figure(
                    f"{threads} threads: overhead a thread, times the overhead of one thread alone, `--arc {retains}`",
                    result.against_one(threads, f"leaktrace --arc {retains}"),
                    peer,
                    " ×",
                )
