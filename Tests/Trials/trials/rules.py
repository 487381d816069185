"""Shows which programs of the corpus change their suspicions when a constant of the rules is another. Writes a table of
all constants to docs/engineering/suspicion-constants.md."""

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
# Programs of each direction that the table names; the others are counted.
SHOWN = 3


def say(text):
    print(f"rules: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Change:
    """A suspicion that is another when a constant is."""

    constant: str
    usual: str
    moved: str
    program: str  # name and form
    variant: str
    what: str  # gains, loses, strengthens, weakens
    title: str


def parsed(text):
    """The constants with their values, in order, and the changes, of the tool's output."""
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
    """For comparing values of one constant: a span's is where it begins."""
    return float(value.split(" ")[0])


def directions(changes):
    """The changes below the usual value and above it, each at the nearest value that makes one."""
    found = []
    for sign in (-1, 1):
        side = [each for each in changes if (number(each.moved) - number(each.usual)) * sign > 0]
        distance = min((abs(number(each.moved) - number(each.usual)) for each in side), default=None)
        found.append([each for each in side if abs(number(each.moved) - number(each.usual)) == distance])
    return found


def cell(changes):
    """What a move changes, in words."""
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
        "Written by `scripts/rules`: which programs of [the corpus](corpus.md) hold each constant in its place.",
        "`SurvivorRules.swift` says what each constant means, its unit and its reason. The tool judges"
        f" {program_count} recorded programs (at -Onone and -O, with the leak and without) by the rules as they are, and"
        " with each constant moved by itself: by a little, by a factor of about two, and so far that its rule hardly"
        " matters or always does.",
        "",
        "The table shows the nearest value, on either side, that changes a verdict, and the programs whose verdict it"
        " changes: a program *gains* a suspicion, *loses* one, or one becomes listed (*strengthens*) or unlisted"
        " (*weakens*). A suspicion that a clean program gains is false; one that a leaky program loses is a leak missed."
        " An empty cell: no value tried on that side changes anything. Rules overlap: what one no longer excuses, another"
        " may, so that an empty cell does not mean that the rule is idle.",
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
    lines += ["", f"{held} of {len(constants)} constants are held by a program of the corpus."]
    if free:
        lines += [
            "",
            "No program of the corpus holds these, however far they are moved. They are bounds for programs that the"
            f" corpus does not have, and may be wrong: {', '.join(f'`{name}`' for name in free)}.",
        ]
    return "\n".join(lines) + "\n"


def record(leaktrace, executables, case, directory):
    """The path of a program's trace, recorded unless it is there."""
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
        "names", nargs="*", metavar="NAME", help="these programs alone, and the table to standard output"
    )
    parser.add_argument("--keep", metavar="DIR", help="keeps the traces, and uses those that are there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run at a time")
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
            # In turn, so that programs that take long are not all in one part.
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
