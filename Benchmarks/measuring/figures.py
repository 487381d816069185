"""Values of repeated measurements, and their text in tables."""

import math
import statistics
from collections.abc import Iterable, Sequence


class Series:
    """Values of one quantity in all rounds."""

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
        """Returns the median, with the minimum and maximum in parentheses."""
        smallest, largest = min(self.values) * scale, max(self.values) * scale
        return f"{self.median * scale:.{digits}f} ({smallest:.{digits}f}…{largest:.{digits}f})"

    def ratio(self, base: "Series") -> float:
        """Returns the median of each round's ratio to `base`. A disturbance of a round affects both values."""
        return statistics.median(self._ratios(base))

    def ratio_interval(self, base: "Series") -> tuple[float, float]:
        """Returns a 95 % confidence interval for the median ratio, for any distribution (sign test).

        With less than six rounds, returns the minimum and maximum, whose confidence is lower.
        """
        ratios = sorted(self._ratios(base))
        count, left_out, tail = len(ratios), 0, 0.5 ** len(ratios)
        while tail <= 0.025:
            left_out += 1
            tail += math.comb(count, left_out) * 0.5**count
        outer = max(left_out - 1, 0)
        return ratios[outer], ratios[count - 1 - outer]

    def _ratios(self, base: "Series") -> list[float]:
        return [a / b for a, b in zip(self.values, base.values, strict=False)]


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f}"


def grouped(count: float) -> str:
    return f"{count:,}"


def count(value: float) -> str:
    """Returns a number of instructions without decimals."""
    return str(round(value))


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = True) -> str:
    """Returns a Markdown table. `numbers`: whether to align all columns but the first to the right."""
    rule = "| --- |" + (" ---: |" if numbers else " --- |") * (len(header) - 1)
    lines = ["| " + " | ".join(header) + " |", rule]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
