"""Diagrams of measurements, drawn by gnuplot."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]


@dataclass
class Plot:
    """Lines over two logarithmic axes."""

    name: str  # of the file, without extension
    title: str
    x_label: str  # quantity and unit
    y_label: str  # quantity and unit
    lines: Mapping[str, Points]

    @property
    def file(self) -> str:
        return self.name + ".svg"

    def script(self, path: str) -> str:
        """Returns the gnuplot script that writes the diagram to `path`."""
        styles = [f'"-" using 1:2 with linespoints linewidth 2 title "{name}"' for name in self.lines]
        data = ["\n".join([*(f"{x} {y}" for x, y in points), "e"]) for points in self.lines.values()]
        return "\n".join(
            [
                'set terminal svg size 640,400 font "sans-serif,13" background "white"',
                f'set output "{path}"',
                f'set title "{self.title}"',
                f'set xlabel "{self.x_label}"',
                f'set ylabel "{self.y_label}"',
                "set logscale xy",
                'set format x "%.0s%c"',
                'set format y "%g"',
                "set grid",
                "set key top left",
                "plot " + ", ".join(styles),
                *data,
                "",
            ]
        )


def draw(plots: Sequence[Plot], directory: str) -> None:
    """Writes the diagrams to a directory. Raises CalledProcessError if gnuplot fails."""
    for plot in plots:
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, plot.file)
        subprocess.run(["gnuplot"], input=plot.script(path), text=True, check=True, capture_output=True)
