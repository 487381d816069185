"""Tries leaktrace on programs that were not written to test it, and writes docs/engineering/accuracy.md. People's
judgements decide which findings are right.

Packages are cloned to the cache and built there with their tests, one at a time, at the lowest priority. The first run
takes hours.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from . import accuracy_report, judgements
from .leaktrace import Leaktrace
from .packages import Package
from .processes import FailedCommand
from .programs import Twin
from .quiet import EMPTY, PASSING, OwnSuite, PassingTest
from .suites import LIBRARIES, Suite
from .toolchain import all_tools
from .trial import Result

TRIALS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(TRIALS))
CACHE = os.path.join(ROOT, ".build-accuracy")
# Sources of all products, and of the recorder.
PRODUCT_SOURCES = ("Package.swift", "Sources")
RECORDER_SOURCES = ("Sources/CTraceShim", "Sources/CTraceFormat")
KINDS = ("suites", "programs", "toolchain", "quiet")


def say(text):
    print(f"accuracy: {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(
        prog="scripts/accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these subjects; the others keep their results")
    parser.add_argument(
        "--kind", choices=KINDS, action="append", help="only subjects of this kind; may be given several times"
    )
    parser.add_argument(
        "--cache", default=CACHE, metavar="DIR", help="clones and builds packages here (default: .build-accuracy)"
    )
    parser.add_argument("--keep", metavar="DIR", help="keeps the traces here; without it they are removed")
    parser.add_argument(
        "--analyze-kept",
        action="store_true",
        help="analyses the traces from --keep, and records only the missing ones",
    )
    parser.add_argument("--jobs", type=int, default=1, help="parallel jobs of a build (default: 1)")
    parser.add_argument(
        "--output",
        default=os.path.join(ROOT, "docs", "engineering", "accuracy.md"),
        metavar="FILE",
        help="the page; - for standard output",
    )
    parser.add_argument(
        "--results",
        default=os.path.join(TRIALS, "results.json"),
        metavar="FILE",
        help="the figures of all subjects; a run replaces those that it measures",
    )
    parser.add_argument("--list", action="store_true", help="only lists the subjects")
    parser.add_argument("--report-only", action="store_true", help="writes the page from the stored figures")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def subjects(cache):
    """Returns all subjects by kind, in the order of the page."""
    with open(os.path.join(TRIALS, "subjects.json")) as file:
        values = json.load(file)
    suites = [Suite(each, cache) for each in values["suites"]]
    quiet: list[OwnSuite | PassingTest] = [
        OwnSuite(name, text, library, cache)
        for name, text in (("Empty", EMPTY), ("Passing", PASSING))
        for library in LIBRARIES
    ]
    quiet += [
        PassingTest(Package(each["url"], each["version"], cache, tuple(each.get("flags", ()))), *each["passing"])
        for each in values["suites"]
        if "passing" in each
    ]
    return {
        "suites": suites,
        "programs": [Twin(each, form, cache) for each in values["programs"] for form in each["what"]],
        "toolchain": all_tools(),
        "quiet": quiet,
    }


def read_results(path):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def write_results(path, results, order):
    kept = {name: results[name] for name in order if name in results}
    with open(path, "w") as file:
        json.dump(kept, file, indent=1, ensure_ascii=False)
        file.write("\n")
    return kept


def version(sources=PRODUCT_SOURCES):
    """Returns the last commit that changed the sources. Changes of tests and documents do not affect the figures."""
    commit = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%H", "--", *sources, ":(exclude)*.md"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return commit.stdout.strip()[:12]


def chosen(options):
    """Returns the subjects to try, and the names of all subjects in the order of the page."""
    found = subjects(os.path.abspath(options.cache))
    everything = [each for kind in KINDS for each in found[kind]]
    unknown = set(options.names) - {each.name for each in everything}
    if unknown:
        sys.exit(f"accuracy: no such subject: {', '.join(sorted(unknown))}; --list names them")
    wanted = [
        each
        for kind in KINDS
        if not options.kind or kind in options.kind
        for each in found[kind]
        if not options.names or each.name in options.names
    ]
    return wanted, [each.name for each in everything]


def summary(result):
    counts = {judgement: 0 for judgement in judgements.ALL}
    for cause in result["causes"]:
        counts[cause["judgement"]] += len([each for each in cause["findings"] if not each["library"]])
    missed = sum(bool(cause["known"]) and not cause["findings"] for cause in result["causes"])
    text = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no findings"
    return text + (f", {missed} missed" if missed else "") + (", FAILED" if result["has_failed"] else "")


def main():
    options = parse()
    wanted, order = chosen(options)
    if options.list:
        print("\n".join(each.name for each in wanted))
        return 0
    leaktrace = Leaktrace(options.products, version(RECORDER_SOURCES), options.analyze_kept)
    results = read_results(options.results)
    traces = options.keep or tempfile.mkdtemp(prefix="leaktrace-accuracy-")
    os.makedirs(traces, exist_ok=True)
    try:
        for subject in [] if options.report_only else wanted:
            say(subject.name)
            try:
                result = subject.trial(leaktrace, os.path.abspath(traces), options.jobs)
            except (FailedCommand, subprocess.CalledProcessError) as failure:
                say(f"{subject.name}: {failure}")
                result = Result(subject.name, "failed", "")
                result.fail(str(failure).splitlines()[0])
            # Write each result at once, so that a failure or a parallel run of the script loses none.
            results = {**read_results(options.results), subject.name: {**result.plain(), "leaktrace": version()}}
            say(f"{subject.name}: {summary(results[subject.name])}")
            write_results(options.results, results, order)
            if not options.keep:
                _empty(traces)
    finally:
        if not options.keep:
            shutil.rmtree(traces, ignore_errors=True)
    results = {name: results[name] for name in order if name in results}
    text = accuracy_report.markdown(results)
    if options.output == "-":
        sys.stdout.write(text)
    else:
        with open(options.output, "w") as file:
            file.write(text)
        say(f"written to {options.output}")
    complaints = accuracy_report.complaints({each.name: results[each.name] for each in wanted if each.name in results})
    for complaint in complaints:
        say(complaint)
    return 1 if complaints else 0


def _empty(directory):
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.remove(entry.path)


if __name__ == "__main__":
    sys.exit(main())
