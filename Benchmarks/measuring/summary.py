"""The first table: what was aimed at, what was measured, and what heaptrack does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figures import table
from .part import About, Figure

HEADING = "# Summary"
DISTURBANCE = 0.25  # processors that others may keep busy before a figure is doubted


@dataclass
class MeasuredPart:
    name: str
    about: About | None  # None: it was not measured
    figures: list[Figure]


@dataclass
class Aim:
    limit: float
    is_least: bool  # the figure is to be that much at least, not at most

    def text(self, figure: Figure) -> str:
        return f"{'≥' if self.is_least else '≤'} {figure.text(self.limit)}"

    def is_reached(self, value: float) -> bool:
        return value >= self.limit if self.is_least else value <= self.limit


def aim_of(figure: Figure, aims: Sequence[Mapping[str, Any]]) -> Aim | None:
    """The first of aims.json whose words all are in the figure's name."""
    for aim in aims:
        if all(word in figure.name for word in aim["row"]):
            return Aim(aim["at most"], False) if "at most" in aim else Aim(aim["at least"], True)
    return None


def markdown(parts: Sequence[MeasuredPart], aims: Sequence[Mapping[str, Any]]) -> str:
    """The table of all that was measured at any time; the date and version of each part stand with it."""
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
    sources = [f"{part.name}: {_source(part.about)}" for part in parts if part.about]
    missing = [part.name for part in parts if not part.about]
    return "\n\n".join(
        [
            HEADING,
            "Written by `scripts/bench`, from `results.json`, which has every round, and `aims.json`. Medians; a "
            "peer's figure is heaptrack's for allocations and frees, which are all it records. "
            f"Of {reached + missed} aims {reached} are reached.",
            table(["", "aim", "measured", "heaptrack", "reached"], lines),
            "Measured: " + "; ".join(sources) + "." + (f" Not measured: {', '.join(missing)}." if missing else ""),
        ]
    )


def _source(about: About) -> str:
    return f"{about.date}, `scripts/bench {about.arguments}`, leaktrace {about.machine['leaktrace']}" + _doubts(about)


def _doubts(about: About) -> str:
    """What a reader has to know of a part before believing it."""
    doubts = []
    if "--quick" in about.arguments:
        doubts.append("**quick: small workloads, these figures say nothing**")
    if about.others is not None and about.others > DISTURBANCE:
        doubts.append(f"**disturbed: others kept up to {about.others:.1f} processors busy**")
    if "dirty" in about.machine["leaktrace"]:
        doubts.append("changed since that commit")
    return f" ({'; '.join(doubts)})" if doubts else ""
