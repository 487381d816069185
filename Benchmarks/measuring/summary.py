"""The summary at the top of RESULTS.md: each figure with its aim and heaptrack's figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figures import table
from .part import About, Figure

HEADING = "# Summary"
DISTURBANCE = 0.25  # processors; a part is marked as disturbed if other processes kept more busy


@dataclass
class MeasuredPart:
    name: str
    about: About | None  # None if the part was not measured
    figures: list[Figure]


@dataclass
class Aim:
    limit: float
    is_minimum: bool  # whether the figure must be at least the limit; otherwise at most

    def text(self, figure: Figure) -> str:
        return f"{'≥' if self.is_minimum else '≤'} {figure.text(self.limit)}"

    def is_reached(self, value: float) -> bool:
        return value >= self.limit if self.is_minimum else value <= self.limit


def aim_of(figure: Figure, aims: Sequence[Mapping[str, Any]]) -> Aim | None:
    """Returns the first aim in aims.json whose words all occur in the figure's name."""
    for aim in aims:
        if all(word in figure.name for word in aim["row"]):
            return Aim(aim["at most"], False) if "at most" in aim else Aim(aim["at least"], True)
    return None


def markdown(parts: Sequence[MeasuredPart], aims: Sequence[Mapping[str, Any]]) -> str:
    """Returns the summary of all results in the files. It lists date, command and version of each part."""
    lines, reached, missed = [], 0, 0
    for figure in (figure for part in parts for figure in part.figures):
        aim = aim_of(figure, aims)
        verdict = ""
        if aim and figure.value is not None:
            verdict = "yes" if aim.is_reached(figure.value) else "**no**"
            reached += aim.is_reached(figure.value)
            missed += not aim.is_reached(figure.value)
        measured = figure.text(figure.value) or "not measured"
        lines.append([figure.name, aim.text(figure) if aim else "", measured, figure.text(figure.peer), verdict])
    sources = [f"- {part.name}: {_source(part.about)}" for part in parts if part.about]
    sources += [f"- {part.name}: not measured" for part in parts if not part.about]
    return "\n\n".join(
        [
            HEADING,
            f"{reached} of {reached + missed} aims are reached. Times and ratios are medians over several rounds. Peak "
            "memory is the highest of all rounds. The column *heaptrack* has its figures for the same programs.",
            "leaktrace records allocations and frees with `--arc off`, and also every retain and release with "
            "`--arc stacks`. heaptrack records only allocations and frees, so its figures compare with `--arc off`. "
            "`--light` samples allocations.",
            table(["", "aim", "measured", "heaptrack", "reached"], lines),
            "`scripts/bench` writes this document from `results.json`, which has every round, and `aims.json`. "
            "`README.md` describes the programs. The parts were measured as follows:",
            "\n".join(sources),
        ]
    )


def _source(about: About) -> str:
    return f"{about.date}, `scripts/bench {about.arguments}`, leaktrace {about.machine['leaktrace']}" + _doubts(about)


def _doubts(about: About) -> str:
    """Returns remarks about anything that makes a part's figures less reliable."""
    doubts = []
    if "--quick" in about.arguments:
        doubts.append("**quick: small workloads, not meaningful**")
    if about.others is not None and about.others > DISTURBANCE:
        doubts.append(f"**disturbed: other processes kept up to {about.others:.1f} processors busy**")
    if "dirty" in about.machine["leaktrace"]:
        doubts.append("with uncommitted changes")
    return f" ({'; '.join(doubts)})" if doubts else ""
