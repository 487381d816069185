"""Diagrams of what was measured. gnuplot draws them."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]


@dataclass
class Plot:
    """Lines over two logarithmic axes."""

    name: str  # of the file, without its ending
    title: str
    across: str  # the quantity and unit of the horizontal axis
    up: str
    lines: Mapping[str, Points]

    @property
    def file(self) -> str:
        return self.name + ".svg"

    def script(self, path: str) -> str:
        """What gnuplot has to do to write the diagram to a file."""
        styles = [f'"-" using 1:2 with linespoints linewidth 2 title "{name}"' for name in self.lines]
        data = ["\n".join([*(f"{x} {y}" for x, y in points), "e"]) for points in self.lines.values()]
        return "\n".join(
            [
                'set terminal svg size 640,400 font "sans-serif,13" background "white"',
                f'set output "{path}"',
                f'set title "{self.title}"',
                f'set xlabel "{self.across}"',
                f'set ylabel "{self.up}"',
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
    """Writes the diagrams to files in a directory. Raises CalledProcessError if gnuplot fails."""
    for plot in plots:
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, plot.file)
        subprocess.run(["gnuplot"], input=plot.script(path), text=True, check=True, capture_output=True)
