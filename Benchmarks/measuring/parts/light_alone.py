"""Light recordings compared only with the untraced run. A difference of a few percent needs many rounds."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..figures import table
from ..part import About, Bench, Figure, SummarisedPart
from ..recorders import Untraced, Workload
from ..rounds import measure_recorders
from .light import LIGHT, QUICK, LightLeaktrace, LightWorkload

# Each takes five to nine seconds. The start of the command and the final profile take 30 ms of them. With more threads,
# the untraced runs vary too much.
LONG = {
    "churn": ("churn", ["18", "180"]),
    "json": ("json", ["5000", "140"]),
    "8 threads": ("threads", ["8", "15", "1024"]),
}
ROUNDS = 12


@dataclass
class LightAloneResult:
    rounds: int
    workloads: list[LightWorkload]


class LightAlone(SummarisedPart[LightAloneResult]):
    name = "light-alone"
    heading = "# Light recordings and untraced runs"
    result = LightAloneResult

    def measure(self, bench: Bench) -> LightAloneResult:
        rounds = bench.rounds if bench.is_quick else ROUNDS
        ways = [Untraced(), LightLeaktrace(bench.tool, LIGHT, ["--no-snapshots"])]
        found = []
        for name, (program, arguments) in (QUICK if bench.is_quick else LONG).items():
            workload = Workload(program, bench.programs.path(program), arguments)
            measured = measure_recorders(ways, workload, rounds, bench.directory)
            found.append(LightWorkload(name, workload.title, measured))
        return LightAloneResult(rounds, found)

    def markdown(self, result: LightAloneResult, about: About) -> str:
        rows = []
        for workload in result.workloads:
            untraced, light = workload.ways["untraced"].processor, workload.ways[LIGHT].processor
            low, high = light.ratio_interval(untraced)
            rows.append(
                [
                    f"{workload.name}: {workload.title}",
                    untraced.text(),
                    light.text(),
                    f"{light.ratio(untraced):.3f}",
                    f"{low:.3f} to {high:.3f}",
                ]
            )
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                f"After a warm-up round, the untraced run and `--light` alternate for {result.rounds} rounds. "
                "Times are seconds of processor time, including the command and the final profile. *Ratio* is the "
                "median of the rounds' ratios, and *interval* is its 95 % confidence interval.",
                table(["", "untraced", "`--light`", "ratio", "interval"], rows),
            ]
        )

    def figures(self, result: LightAloneResult) -> Iterable[Figure]:
        for workload in result.workloads:
            yield Figure(
                f"{workload.name}: processor time, `--light`, relative to untraced",
                workload.ways[LIGHT].processor.ratio(workload.ways["untraced"].processor),
                None,
                " ×",
                digits=3,
            )
