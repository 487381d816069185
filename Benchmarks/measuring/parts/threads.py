"""Overhead of recording when threads share the work, compared with the overhead when one thread does all of it."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ..figures import Series, grouped, table
from ..part import About, Bench, Figure, SummarisedPart
from ..recorders import Workload
from ..rounds import Measurement, measure_recorders

THREADS = (1, 8, 64)
FULL, QUICK = ["15", "64"], ["13", "64"]  # depth of the trees, and number of trees of all threads together


@dataclass
class ThreadsResult:
    arguments: list[str]
    threads: dict[str, dict[str, Measurement]]  # by number of threads, then by way

    def ratio(self, threads: str, way: str) -> float:
        """Processor time relative to the untraced run of the same round: the median over all rounds."""
        measured = self.threads[threads]
        return _ratio(measured[way].processor, measured["untraced"].processor)

    def wall_ratio(self, threads: str, way: str) -> float:
        measured = self.threads[threads]
        return _ratio(measured[way].wall, measured["untraced"].wall)

    def ratio_to_one_thread(self, threads: str, way: str) -> float:
        """The ratio with this number of threads, divided by the ratio with one thread."""
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
                        f"{result.ratio_to_one_thread(threads, way):.2f}",
                        grouped(each.facts.events) if each.facts.events else "",
                    ]
                )
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                f"In `threads N {' '.join(result.arguments)}`, N threads divide a fixed amount of work: they build and "
                "drop binary trees. Times are in seconds. *Processor* is the user and system time of the command and "
                "all its child processes. A ratio is relative to the untraced run with the same number of threads. "
                "*Relative to one thread* is the ratio of the processor times divided by the same ratio with one "
                "thread. It is 1 if recording costs each thread as much as it costs a single thread.",
                table(["threads", "wall", "ratio", "processor", "ratio", "relative to one thread", "events"], rows),
            ]
        )

    def figures(self, result: ThreadsResult) -> Iterable[Figure]:
        for threads in map(str, THREADS[1:]):
            measured = result.threads[threads]
            peer = result.ratio_to_one_thread(threads, "heaptrack") if "heaptrack" in measured else None
            for retains in ("off", "stacks"):
                yield Figure(
                    f"{threads} threads: overhead relative to one thread, `--arc {retains}`",
                    result.ratio_to_one_thread(threads, f"leaktrace --arc {retains}"),
                    peer,
                    " ×",
                )
