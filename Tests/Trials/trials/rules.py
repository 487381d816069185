"""Changes each constant of the rules about suspicions, and shows which programs of the corpus get other suspicions.
Writes a table of all constants to docs/engineering/suspicion-constants.md."""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

from .corpus import ROOT, Case, build, cases
from .leaktrace import Leaktrace
from .processes import FailedCommand

VARIANTS = ["dynamic-Onone", "dynamic-O"]
DOCUMENT = os.path.join(ROOT, "docs", "engineering", "suspicion-constants.md")
RECORD_SECONDS = 600
# Number of programs that the table names in each direction. It only counts the others.
SHOWN = 3


def say(text):
    print(f"rules: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Change:
    """A suspicion that changes if a constant changes."""

    constant: str
    usual: str
    moved: str
    program: str  # name and form
    variant: str
    what: str  # gains, loses, strengthens, weakens
    title: str


def parsed(text):
    """Parses the tool's output. Returns the constants with their values, in order, and the changes."""
    constants, changes = {}, []
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "constant":
            constants[fields[1]] = fields[2]
            continue
        if fields[0] == "listed":
            continue
        name = re.fullmatch(
            r"(?:corpus|nio-corpus|scopes)-(.*)-(leak|clean)-(dynamic-O|dynamic-Onone)-0\.trace", fields[3]
        )
        if name is None:
            raise ValueError(f"{fields[3]} is no trace of a program of the corpus")
        program = f"{name[1]} ({name[2]})"
        changes.append(Change(fields[0], fields[1], fields[2], program, name[3], fields[4], fields[5]))
    return constants, changes


def number(value):
    """Returns a constant's value as a number, to compare values. For a range, this is its start."""
    return float(value.split(" ")[0])


def directions(changes):
    """Returns the changes at the nearest lower and at the nearest higher value that change something."""
    found = []
    for sign in (-1, 1):
        side = [each for each in changes if (number(each.moved) - number(each.usual)) * sign > 0]
        distance = min((abs(number(each.moved) - number(each.usual)) for each in side), default=None)
        found.append([each for each in side if abs(number(each.moved) - number(each.usual)) == distance])
    return found


def cell(changes):
    """Returns a cell of the table: the new value, and the programs that change."""
    if not changes:
        return ""
    programs = collections.defaultdict(set)
    for each in changes:
        programs[each.program].add(each.what)
    words = [f"{program} {' and '.join(sorted(what))}" for program, what in sorted(programs.items())]
    more = f", {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return f"{changes[0].moved}: {', '.join(words[:SHOWN])}{more}"


def table(constants, changes, program_count):
    by_constant = collections.defaultdict(list)
    for each in changes:
        by_constant[each.constant].append(each)
    lines = [
        "# The constants of suspicions",
        "",
        "`scripts/rules` writes this page. It shows which programs of [the corpus](corpus.md) need which constant.",
        "`SurvivorRules.swift` has each constant's meaning, unit and reason. The tool judges"
        f" {program_count} recorded programs, at -Onone and -O, with the leak and without. It judges them by the rules"
        " as they are. Then it changes one constant at a time: a little, by a factor of about two, and so far that its"
        " rule hardly ever or always applies.",
        "",
        "The table shows the nearest lower and the nearest higher value that change a verdict, with the affected"
        " programs. A program *gains* or *loses* a suspicion, or a suspicion becomes listed (*strengthens*) or unlisted"
        " (*weakens*). If a clean program gains a suspicion, it is false. If a leaky program loses one, the leak is"
        " missed. A cell is empty if no tried value on that side changes anything. The rule may still be necessary,"
        " since another rule may have the same effect on these programs.",
        "",
        "| constant | value | lower | higher |",
        "| -- | --: | -- | -- |",
    ]
    free = []
    for name, value in constants.items():
        lower, higher = directions(by_constant[name])
        if not lower and not higher:
            free.append(name)
        lines.append(f"| `{name}` | {value} | {cell(lower)} | {cell(higher)} |")
    held = len(constants) - len(free)
    lines += ["", f"Programs of the corpus need {held} of {len(constants)} constants."]
    if free:
        lines += [
            "",
            "No program of the corpus needs the following constants. They are limits for other programs, and may be"
            f" wrong: {', '.join(f'`{name}`' for name in free)}.",
        ]
    return "\n".join(lines) + "\n"


def record(leaktrace, executables, case, directory):
    """Returns the path of a program's trace. Records it unless it exists."""
    trace = os.path.join(directory, f"{case.executable}-{case.name}-{case.mode}-{case.variant}-0.trace")
    if not os.path.exists(trace):
        program = executables[case.executable, case.variant]
        outcome = leaktrace.record([program, case.name, case.mode], trace, limit=RECORD_SECONDS)
        if outcome.status != 0:
            raise FailedCommand(f"{case}: status {outcome.status}: {outcome.output.strip()[-200:]}")
    return trace


def judge(tool, traces):
    outcome = subprocess.run([tool, *traces], capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise FailedCommand(f"{tool}: {outcome.stderr.strip()[-400:]}")
    return outcome.stdout


def parse():
    parser = argparse.ArgumentParser(prog="scripts/rules", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these programs; prints the table to standard output"
    )
    parser.add_argument("--keep", metavar="DIR", help="keeps the traces here, and uses existing ones")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of programs that run in parallel")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(names) -> list[Case]:
    found = [case for case in cases(VARIANTS) if not names or case.name in names]
    unknown = set(names) - {case.name for case in found}
    if unknown:
        sys.exit(f"rules: no such program: {', '.join(sorted(unknown))}")
    return found


def main():
    options = parse()
    case_list = chosen(options.names)
    leaktrace = Leaktrace(options.products)
    try:
        executables = {(case.executable, case.variant): "" for case in case_list}
        for executable, variant in executables:
            say(f"{executable}, {variant}")
            executables[executable, variant] = build(executable, variant, options.jobs)
        with (
            tempfile.TemporaryDirectory(prefix="leaktrace-rules-") as temporary,
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
        ):
            directory = options.keep or temporary
            os.makedirs(directory, exist_ok=True)
            say(f"recording {len(case_list)} programs")
            traces = list(pool.map(lambda case: record(leaktrace, executables, case, directory), case_list))
            say("judging them")
            # Distribute the programs, so that slow ones are not all in one part.
            parts = [traces[start :: options.jobs * 8] for start in range(options.jobs * 8)]
            outputs = list(pool.map(lambda part: judge(options.tool, part), filter(None, parts)))
    except FailedCommand as failure:
        sys.exit(f"rules: {failure}")
    constants, _ = parsed(outputs[0])
    changes = [change for output in outputs for change in parsed(output)[1]]
    text = table(constants, changes, len(case_list))
    if options.names:
        print(text, end="")
    else:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
