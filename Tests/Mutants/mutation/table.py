"""The table of mutants, docs/engineering/tables/mutants.md."""

from dataclasses import dataclass

from .mutants import Mutant
from .runs import Tier

HEAD = "# Mutants: all results\n\nWritten by `scripts/mutation`. [Mutants](../mutation.md) explains the run.\n\n"


@dataclass(frozen=True)
class Row:
    mutant: Mutant
    tier: Tier | None
    """The tier that caught the mutant; nil if none did."""
    test: str
    seconds: float


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def line(row: Row) -> str:
    tier, test = (row.tier.value, row.test) if row.tier else ("none", "**not caught**")
    cells = [
        f"`{row.mutant.name}`",
        f"`{row.mutant.file}:{row.mutant.function}`",
        _cell(row.mutant.breaks),
        tier,
        _cell(test) if row.tier else test,
        f"{row.seconds:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def summary(rows: list[Row], minutes: float, date: str) -> str:
    by_tier = {tier: sum(row.tier is tier for row in rows) for tier in Tier}
    missed = len(rows) - sum(by_tier.values())
    return (
        f"{date}: the tests caught {sum(by_tier.values())} of {len(rows)} mutants in {minutes:.0f} minutes. "
        f"The first tier caught {by_tier[Tier.FIRST]}, the second {by_tier[Tier.SECOND]}, and {missed} were not caught."
    )


def text(rows: list[Row], minutes: float, date: str) -> str:
    lines = [
        summary(rows, minutes, date),
        "",
        "| mutant | place | change | tier | test that caught it | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
        *(line(row) for row in rows),
    ]
    return "\n".join(lines) + "\n"
