"""Checks leaktrace on several distributions, each in its own root directory, and writes
docs/engineering/tables/platforms.md. Tests/Trials/platforms.json has the known failures. Ends with 1 if another check
fails, and with 2 if a root could not be made."""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from . import platform_report
from .leaktrace import Leaktrace
from .platform_checks import CHECKS, TOOLCHAIN, NotHere, Site
from .processes import FailedCommand, environment
from .roots import PRIVATE, SUITES, NoRoot, Root, kernel, make, mirror, reason_against

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KNOWN = os.path.join(ROOT, "Tests", "Trials", "platforms.json")
QUICK = ("bookworm", "trixie")
# Checks that --quick leaves out.
LONG = ("own kernel", "corpus", "servers")
# The exit status if all checks passed, and a root could not be made.
NOT_MADE = 2
NOT_RUN, GREEN, KNOWN_GAP, FAILED = "not run", "yes", "known", "failed"


def say(text):
    print(f"matrix: {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/matrix", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"only these, of {', '.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help=f"only {' and '.join(QUICK)}; writes no document")
    parser.add_argument("--check", action="append", choices=CHECKS, help="only this check; writes no document")
    parser.add_argument(
        "--resume", action="store_true", help="skip suites that an earlier run checked with the same build"
    )
    parser.add_argument(
        "--roots",
        default=os.path.join(ROOT, ".build", "roots"),
        metavar="DIR",
        help="the directory of the roots, which are made if necessary (default: .build/roots)",
    )
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--directory", help=argparse.SUPPRESS)
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    parser.add_argument("--inside", metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args()


def check_inside(options):
    """Runs the checks of one suite. The caller has made a mount namespace for this process. Writes the outcomes to the
    file `options.inside`."""
    suite = options.suites[0]
    products = os.path.abspath(options.products)
    # Programs and traces have the same paths inside and outside of the root.
    shared, scratch = os.path.join(options.directory, "shared"), os.path.join(options.directory, "scratch")
    os.makedirs(shared)
    os.makedirs(scratch)
    root = Root(os.path.realpath(os.path.join(options.roots, suite)), scratch, shared_directories(products, shared))
    site = Site(root, shared, products, Leaktrace(products), cache=options.cache or "")
    site.kernel = lambda: kernel(suite, options.roots)
    result = {"glibc": root.libc_version(), "swift": root.swift_version(), "checks": {}}
    for name in options.check or [each for each in CHECKS if not (options.quick and each in LONG)]:
        began = time.monotonic()
        outcome: dict
        try:
            complaints = CHECKS[name](site)
            outcome = {"state": FAILED if complaints else GREEN, "complaints": complaints, "tables": site.tables}
            site.tables = {}
        except NotHere as reason:
            outcome = {"state": NOT_RUN, "complaints": [str(reason)]}
        except FailedCommand as failure:
            outcome = {"state": FAILED, "complaints": [str(failure)]}
        except Exception:
            outcome = {"state": FAILED, "complaints": [traceback.format_exc()]}
        outcome["seconds"] = time.monotonic() - began
        result["checks"][name] = outcome
        result["kernel"] = site.kernel_version
        with open(options.inside, "w") as file:
            json.dump(result, file)


def shared_directories(products, shared):
    """Returns the directories of this machine that programs in a root need."""
    swift = os.path.dirname(os.path.dirname(TOOLCHAIN))
    programs = os.path.join(ROOT, "Tests", "Programs")
    corpus = os.path.join(ROOT, "Tests", "Corpus")
    return [products, shared, programs, corpus, *([swift] if swift not in ("/", "/usr") else [])]


def check(suite, options):
    """Runs the checks in one root. Returns their outcomes. Raises NoRoot if the root cannot be made or entered."""
    make(suite, options.roots, mirror())
    with tempfile.TemporaryDirectory(prefix=f"{suite}-", dir=options.cache) as directory:
        os.chmod(directory, 0o755)
        result = os.path.join(directory, "result.json")
        command = [*PRIVATE, sys.executable, "-B", "-m", "trials.matrix"]
        command += [
            "--products",
            options.products,
            "--roots",
            options.roots,
            "--directory",
            directory,
            "--inside",
            result,
        ]
        command += ["--cache", options.cache, *(["--quick"] if options.quick else [])]
        command += [part for name in options.check or () for part in ("--check", name)]
        outcome = subprocess.run([*command, suite], env=environment({"LANG": "C.UTF-8"}))
        if not os.path.exists(result):
            raise NoRoot(f"the root could not be entered (status {outcome.returncode})")
        with open(result) as file:
            return json.load(file)


def judge(suite, name, outcome, reasons):
    """Marks a failed check as known if all its complaints are known."""
    if outcome["state"] != FAILED:
        return
    found = []
    for complaint in outcome["complaints"]:
        fitting = [
            each["reason"]
            for each in reasons
            if suite in each.get("suites", SUITES)
            and name in each["checks"]
            and re.search(each["complaint"], complaint)
        ]
        if not fitting:
            return
        found += [reason for reason in fitting[:1] if reason not in found]
    outcome["state"], outcome["reasons"] = KNOWN_GAP, found


def main():
    options = parse()
    if options.inside:
        check_inside(options)
        return 0
    reason = reason_against()
    unknown = set(options.suites) - SUITES.keys()
    if unknown:
        sys.exit(f"matrix: no such suite: {', '.join(sorted(unknown))}")
    suites = options.suites or (QUICK if options.quick else list(SUITES))
    options.roots, options.products = os.path.abspath(options.roots), os.path.abspath(options.products)
    with open(KNOWN, encoding="utf-8") as file:
        reasons = json.load(file)
    results: dict[str, dict] = {}
    options.cache = tempfile.mkdtemp(prefix="leaktrace-matrix-")
    try:
        failed = check_all(suites, options, reason, reasons, results)
    finally:
        shutil.rmtree(options.cache, ignore_errors=True)
    if not (options.suites or options.quick or options.check):
        say(f"{platform_report.write(results, list(CHECKS))} is written")
    missing = [f"{suite} ({each['not_run']})" for suite, each in results.items() if "not_run" in each]
    if missing:
        say(f"not run: {', '.join(missing)}")
    return 1 if failed else NOT_MADE if missing else 0


class KeptResults:
    """Stores the outcomes of suites with all checks in a file beside the roots, for later runs with the same build."""

    def __init__(self, options):
        self._path = os.path.join(options.roots, "results.json")
        self._is_whole = not (options.quick or options.check)
        digest = hashlib.sha256()
        for name in ("leaktrace", "libleaktrace.so"):
            with open(os.path.join(options.products, name), "rb") as file:
                digest.update(file.read())
        self._build = digest.hexdigest()
        self._results: dict[str, dict] = {}
        with contextlib.suppress(OSError, ValueError):
            with open(self._path, encoding="utf-8") as file:
                kept = json.load(file)
            self._results = kept["results"] if kept["build"] == self._build else {}

    def get(self, suite):
        return self._results.get(suite) if self._is_whole else None

    def add(self, suite, result):
        if not self._is_whole:
            return
        self._results[suite] = result
        with open(self._path, "w", encoding="utf-8") as file:
            json.dump({"build": self._build, "results": self._results}, file)


def check_all(suites, options, reason, reasons, results):
    """Fills in the results of each root. Returns whether a check failed that is not known to fail."""
    failed = False
    kept = KeptResults(options)
    for suite in suites:
        began = time.monotonic()
        try:
            if reason:
                raise NoRoot(reason)
            results[suite] = (kept.get(suite) if options.resume else None) or check(suite, options)
            kept.add(suite, results[suite])
        except NoRoot as why:
            say(f"{suite}: not run: {why}")
            results[suite] = {"glibc": "?", "not_run": str(why), "checks": {}}
            continue
        for name, outcome in results[suite]["checks"].items():
            judge(suite, name, outcome, reasons)
            failed = failed or outcome["state"] == FAILED
            text = "; ".join(outcome["complaints"]).replace("\n", " ⏎ ")
            say(f"{suite}: {name}: {outcome['state']} ({outcome['seconds']:.0f} s){': ' + text if text else ''}")
        say(f"{suite}: {time.monotonic() - began:.0f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
