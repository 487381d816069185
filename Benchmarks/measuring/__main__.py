"""Measures leaktrace, and compares it with the untraced run and heaptrack. Started by scripts/bench."""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

from . import machine
from .part import BENCHMARKS, About, Bench, Programs
from .parts import PARTS
from .processes import FailedRun
from .results import ResultFiles
from .rounds import say

AIMS = os.path.join(BENCHMARKS, "aims.json")


def parse() -> argparse.Namespace:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="number of rounds after the warm-up (default 7)")
    parser.add_argument(
        "--quick", action="store_true", help="use small workloads and two rounds, only to see that everything works"
    )
    parser.add_argument("--no-instructions", action="store_true", help="do not count instructions with callgrind")
    parser.add_argument(
        "--only",
        choices=names,
        metavar="PART",
        action="append",
        help="measure only this part, and keep the results of others; can be repeated: " + ", ".join(names),
    )
    parser.add_argument(
        "--output", default=BENCHMARKS, metavar="DIRECTORY", help="directory of RESULTS.md and results.json"
    )
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.quick:
        options.rounds = min(options.rounds, 2)
    return options


def shown_arguments(options: argparse.Namespace) -> str:
    only = [f"--only {part}" for part in options.only or ()]
    return " ".join([*only, *(["--quick"] if options.quick else []), f"--rounds {options.rounds}"])


def main() -> None:
    options = parse()
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    arguments, description = shown_arguments(options), machine.description()
    with open(AIMS) as file:
        aims = json.load(file)
    with tempfile.TemporaryDirectory(prefix="leaktrace-bench-") as directory:
        programs = Programs(directory)
        chosen = {part.name: part for part in PARTS}
        for part in [chosen[name] for name in options.only] if options.only else PARTS:
            about = About(date, arguments, description)
            bench = Bench(
                products=options.products,
                rounds=options.rounds,
                is_quick=options.quick,
                counts_instructions=not options.no_instructions,
                directory=directory,
                about=about,
                programs=programs,
            )
            result = part.measure(bench)
            # Written after each part, so that a later failure does not lose it.
            files = ResultFiles(options.output, PARTS)
            files.add(part, result, about)
            say(f"written to {files.write(aims)}")


if __name__ == "__main__":
    try:
        main()
    except (FailedRun, subprocess.CalledProcessError) as failure:
        print(f"bench: stopped; the results of this part were not written: {failure}", file=sys.stderr)
        sys.exit(1)
