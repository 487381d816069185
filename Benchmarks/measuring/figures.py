"""Figures of repeated measurements, and how they are written."""

import statistics


class Series:
    """One quantity, measured again and again."""

    def __init__(self, values=()):
        self.values = list(values)

    def add(self, value):
        self.values.append(value)

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def spread(self):
        """Largest less smallest, in proportion to the median."""
        return (max(self.values) - min(self.values)) / self.median if self.median else 0.0

    def seconds(self):
        return f"{self.median:.2f} ({min(self.values):.2f}…{max(self.values):.2f})"

    def ratio(self, base):
        """Median of the ratios round by round: what disturbs a round disturbs both sides of it."""
        return statistics.median(a / b for a, b in zip(self.values, base.values))


def megabytes(count):
    return f"{count / 1e6:.1f}"


def grouped(count):
    return f"{count:,}"


def count(value):
    """A number of instructions, without decimals."""
    return str(round(value))


def table(header, rows, numbers=True):
    """A Markdown table whose first column is text, and the others too unless they are `numbers`."""
    lines = ["| " + " | ".join(header) + " |", "| --- |" + (" ---: |" if numbers else " --- |") * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
