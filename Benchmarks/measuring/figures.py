"""Figures of repeated measurements, and how they are written."""

import statistics
from collections.abc import Iterable, Sequence


class Series:
    """One quantity, measured again and again."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.values = list(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Series) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def add(self, value: float) -> None:
        self.values.append(value)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def text(self, scale: float = 1.0, digits: int = 2) -> str:
        """The median, the smallest and the largest."""
        smallest, largest = min(self.values) * scale, max(self.values) * scale
        return f"{self.median * scale:.{digits}f} ({smallest:.{digits}f}…{largest:.{digits}f})"

    def ratio(self, base: "Series") -> float:
        """Median of the ratios round by round: what disturbs a round disturbs both sides of it."""
        return statistics.median(a / b for a, b in zip(self.values, base.values, strict=False))


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f}"


def grouped(count: float) -> str:
    return f"{count:,}"


def count(value: float) -> str:
    """A number of instructions, without decimals."""
    return str(round(value))


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = True) -> str:
    """A Markdown table whose first column is text, and the others too unless they are `numbers`."""
    rule = "| --- |" + (" ---: |" if numbers else " --- |") * (len(header) - 1)
    lines = ["| " + " | ".join(header) + " |", rule]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
