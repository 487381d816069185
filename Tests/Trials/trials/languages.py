"""Runs a program in each of several languages: recorded, recorded with --light, inspected and attached to. Compares
output, status and files with those of the untraced program. Ends with 1 if something differs, and with 2 if a language
is not installed. Writes docs/engineering/tables/languages.md."""

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .documents import ROOT, write_table
from .processes import must
from .situations import PROGRAMS, Situation
from .survival import Runner, judge, known, remark, say, status_text, verdict
from .visits import ATTACHED, INSPECTED

SOURCES = os.path.join(PROGRAMS, "languages")
MODES = ("alone", "light", INSPECTED, ATTACHED)
GROUP = "Languages"


@dataclasses.dataclass(frozen=True)
class Language:
    title: str
    source: str
    needs: tuple[str, ...]
    build: tuple[str, ...] = ()  # {source} and {product} are paths
    command: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()  # of the build


LANGUAGES = {
    "python": Language("Python", "tour.py", ("python3",), command=(sys.executable, "{source}")),
    "node": Language("Node.js", "tour.js", ("node",), command=("node", "{source}")),
    "ruby": Language("Ruby", "tour.rb", ("ruby",), command=("ruby", "{source}")),
    "perl": Language("Perl", "tour.pl", ("perl",), command=("perl", "{source}")),
    "php": Language("PHP", "tour.php", ("php",), command=("php", "{source}")),
    "lua": Language("Lua", "tour.lua", ("lua",), command=("lua", "{source}")),
    "java": Language(
        "Java",
        "Tour.java",
        ("java", "javac"),
        ("javac", "-d", "{product}", "{source}"),
        ("java", "-Xmx128m", "-cp", "{product}", "Tour"),
    ),
    "rust": Language("Rust", "tour.rs", ("rustc",), ("rustc", "-O", "{source}", "-o", "{product}"), ("{product}",)),
    "cgo": Language(
        "Go that calls C",
        "tour.go",
        ("go", "gcc"),
        ("go", "build", "-o", "{product}", "{source}", "{folder}/touch-c.go"),
        ("{product}",),
        (("CGO_ENABLED", "1"),),
    ),
    "go": Language(
        "Go without C",
        "tour.go",
        ("go",),
        ("go", "build", "-o", "{product}", "{source}", "{folder}/touch-go.go"),
        ("{product}",),
        (("CGO_ENABLED", "0"),),
    ),
}


def version(language):
    """Returns the version of the language's program; empty if it prints none."""
    options = {"go": "version", "java": "-version", "lua": "-v"}
    done = subprocess.run(
        [language.needs[0], options.get(language.needs[0], "--version")], capture_output=True, text=True, check=False
    )
    found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
    return found[0] if found else ""


def command_of(language, cache, name):
    """Builds the program. Returns its command line."""
    paths = {
        "source": os.path.join(SOURCES, language.source),
        "product": os.path.join(cache, f"tour-{name}"),
        "folder": SOURCES,
    }
    if language.build:
        must([each.format(**paths) for each in language.build], extra_environment=dict(language.variables))
    return tuple(each.format(**paths) for each in language.command)


def cell(row):
    text = verdict(row)
    if text == "as untraced":
        text = "yes"
    said = remark(row)
    return f"{text}; {said}" if said else text


def main():
    parser = argparse.ArgumentParser(prog="scripts/survival --programs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LANGUAGE", help=f"only these: {', '.join(LANGUAGES)}")
    parser.add_argument("--programs", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cache", metavar="DIR", default=os.path.join(ROOT, ".build", "survival"))
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if set(options.names) - set(LANGUAGES):
        sys.exit(f"survival: no such language: {', '.join(sorted(set(options.names) - set(LANGUAGES)))}")
    os.makedirs(options.cache, exist_ok=True)
    lines, differing, missing = [], 0, 0
    reasons = known()
    with tempfile.TemporaryDirectory(prefix="survival-") as scratch:
        os.chmod(scratch, 0o755)
        runner = Runner(os.path.abspath(options.products), scratch, False)
        for name in options.names or LANGUAGES:
            language = LANGUAGES[name]
            absent = [each for each in language.needs if not shutil.which(each)]
            if absent:
                missing += 1
                lines.append(f"| {language.title} | not run: {', '.join(absent)} is not installed | | | | |")
            else:
                situation = Situation(GROUP, name, language.title, command_of(language, options.cache, name))
                rows = [runner.row(situation, mode) for mode in MODES]
                for row in rows:
                    judge(row, reasons)
                differing += sum(bool(row.differences) and not row.reason for row in rows)
                cells = " | ".join(cell(row) for row in rows)
                lines.append(
                    f"| {language.title} {version(language)} | {status_text(rows[0].untraced.status)} | {cells} |"
                )
            say(lines[-1])
    if not options.names:
        head = "| Program | Status | Recorded | Light | Inspected | Attached |"
        write_table(
            "languages",
            "Survival: programs of other languages",
            "Written by `scripts/survival --programs`."
            " [Survival](../survival.md#does-it-work-with-) explains the comparison.",
            [head, "|---|---|---|---|---|---|", *lines],
        )
    say(f"{len(lines) - missing} programs, {differing} differ, {missing} not run")
    sys.exit(1 if differing else 2 if missing else 0)


if __name__ == "__main__":
    main()
