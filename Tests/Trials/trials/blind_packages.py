"""Judges servers, clients and other programs with packages, whose authors did not know leaktrace."""

import argparse
import os
import sys

from . import accuracy
from .blind import BROKEN, PROGRAMS, Program, examine, say, table, unexpected
from .corpus import ROOT
from .leaktrace import Leaktrace
from .processes import must

PACKAGES = os.path.join(PROGRAMS, "Packages")
DOCUMENT = os.path.join(ROOT, "docs", "engineering", "blind-packages.md")
# Configurations of the package manager by optimisation.
CONFIGURATIONS = {"-O": "release", "-Onone": "debug"}
JOBS = 2


def build(directory):
    """Compiles all programs. Returns the folder of the executables by optimisation."""
    folders = {}
    for optimisation, configuration in CONFIGURATIONS.items():
        command = ["swift", "build", "--package-path", PACKAGES, "--configuration", configuration]
        command += ["--scratch-path", os.path.join(directory, configuration), "--jobs", str(JOBS)]
        must(command, limit=3600)
        folders[optimisation] = must([*command, "--show-bin-path"], limit=600).output.strip().splitlines()[-1]
    return folders


def document(results):
    """Returns the text of the page. It has no details about programs that are held back."""
    lines = [
        "# Programs with packages, written without sight of the tool",
        "",
        f"Two authors wrote these {len({each.program.name for each in results})} programs: servers, clients, pipelines and",
        "caches on SwiftNIO, hummingbird, FlyingFox, AsyncHTTPClient, OpenCombine, GRDB and other packages. They knew",
        "neither leaktrace nor its corpus, and wrote the expectations first. Half of the programs work as intended. Many of",
        "them end while connections are open or work is under way.",
        "",
        "```",
        "scripts/blind --packages             # builds and judges all programs, and writes this page",
        "scripts/blind --packages NAME…       # judges some, and prints what their reports list",
        "```",
        "",
        "The programs and expectations are in `Tests/Blind/Packages`. *Held back* has the same meaning as for",
        "[single programs](blind-programs.md). `-O` is a release build, and `-Onone` is a debug build.",
        "",
        f"The results are of leaktrace {accuracy.version()}.",
        "",
        "## Results",
        "",
        *table(results),
        "",
        *unexpected(results),
    ]
    return "\n".join(lines).rstrip() + "\n"


def parse():
    parser = argparse.ArgumentParser(prog="scripts/blind --packages", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="judge only these, and write no page")
    parser.add_argument("--packages", action="store_true", required=True, help="judge programs with packages")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tool", help=argparse.SUPPRESS)
    parser.add_argument("--directory", default=os.path.join(ROOT, ".build", "blind-packages"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    programs = [each for each in Program.all(PACKAGES) if not options.names or each.name in options.names]
    if not programs:
        sys.exit("blind: no program has such a name; Tests/Blind/Packages has them all")
    folders = build(options.directory)
    leaktrace = Leaktrace(options.products)
    results = []
    # One at a time, because the programs have time-outs.
    for program in programs:
        for optimisation, folder in folders.items():
            trace = os.path.join(options.directory, f"{program.name}{optimisation}.trace")
            result = examine(program, optimisation, os.path.join(folder, program.name), leaktrace, trace)
            results.append(result)
            if options.names or result.verdict == BROKEN:
                say(str(result))
    for row in table(results):
        print(row)
    if not options.names:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document(results))
        say(f"{os.path.relpath(DOCUMENT, ROOT)} is written")
    sys.exit(1 if any(each.verdict == BROKEN for each in results) else 0)


if __name__ == "__main__":
    main()
