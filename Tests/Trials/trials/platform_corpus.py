"""Runs the corpus in a root with another distribution's Swift, and compares the findings with this machine's."""

import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil

from . import corpus
from .processes import FailedCommand, must, run

JOBS = 2
SECONDS = 300
# Maximum number of runs of a program that crashes by chance.
ATTEMPTS = 20
# The packages that the corpus's package needs, directly and indirectly.
PACKAGES = ("swift-nio", "swift-async-algorithms", "swift-atomics", "swift-collections", "swift-system")
RUNTIME = "/usr/libexec/swift/lib/swift"
STATIC_RUNTIME = "/usr/libexec/swift/lib/swift_static"
TABLE = "Corpus with the distribution's own Swift"
# Swift 6.0's libswiftObservation.so refers to swift::threading::fatal, which no library has.
LINK = ("-Xlinker", "--allow-shlib-undefined")


class NotAccepted(Exception):
    """The root's Swift cannot compile a program. The text has the reason."""


def build_there(site, executable, variant):
    """Compiles an executable with the root's Swift. Returns its path. Raises NotAccepted."""
    if "static" in variant and not site.root.has(STATIC_RUNTIME):
        raise NotAccepted("the distribution has no static libraries of Swift")
    if executable == corpus.PACKAGE:
        return _build_package_there(site, variant)
    product = os.path.join(site.directory, "corpus", variant, executable)
    if os.path.exists(product):
        return product
    os.makedirs(os.path.dirname(product), exist_ok=True)
    command = ["swiftc", "-g", "-j", str(JOBS), "-module-name", executable, *corpus.VARIANTS[variant], *LINK]
    command += [*corpus.sources(executable), "-o", product]
    try:
        must(site.root.command(command, os.path.dirname(product)), limit=1800)
    except FailedCommand as failure:
        # Swift's static libraries need other libraries, such as libxml2, which the root may lack.
        missing = missing_library(str(failure))
        if "static" in variant and missing:
            raise NotAccepted(f"the static libraries need {missing}, which the root lacks") from failure
        raise
    return product


def missing_library(text):
    """Returns the missing library that a linker's message names, or None."""
    found = re.search(r"(?:cannot find|unable to find library) -l([\w+-]+)", text)
    return f"lib{found[1]}" if found else None


def _build_package_there(site, variant):
    """Compiles the corpus's package with this machine's checkouts of packages, since the root has no git."""
    directory = os.path.join(site.directory, "package")
    sources = os.path.join(directory, "Sources", corpus.PACKAGE)
    checkouts = os.path.join(directory, "Packages")
    if not os.path.exists(sources):
        original = os.path.join(corpus.CORPUS, "Packages", "Sources", corpus.PACKAGE)
        shutil.copytree(original, sources)
        for name in PACKAGES:
            checkout = os.path.join(corpus.PROGRAMS, "packages", "checkouts", name)
            shutil.copytree(checkout, os.path.join(checkouts, name), ignore=shutil.ignore_patterns(".git"))
        with open(os.path.join(directory, "Package.swift"), "w") as file:
            file.write(_manifest())
    needed = max(_tools_version(path) for path in glob.glob(os.path.join(checkouts, "*", "Package.swift")))
    if (version := _numbers(site.root.swift_version())) < needed:
        raise NotAccepted(f"its packages need Swift {needed[0]}.{needed[1]}")
    configuration = "release" if variant.endswith("-O") else "debug"
    command = ["swift", "build", "--package-path", directory, "--disable-sandbox", "--jobs", str(JOBS)]
    command += ["--configuration", configuration, *(["-Xlinker", LINK[-1]] if version < (6, 1) else [])]
    libraries = {"LD_LIBRARY_PATH": f"{RUNTIME}/linux:{RUNTIME}/host", "HOME": directory}
    must(site.root.command(command, directory, libraries), limit=3600)
    return os.path.join(directory, ".build", configuration, corpus.PACKAGE)


def _manifest():
    dependencies = "".join(f'    .package(path: "Packages/{name}"),\n' for name in PACKAGES)
    products = {"NIOCore": "swift-nio", "NIOEmbedded": "swift-nio", "AsyncAlgorithms": "swift-async-algorithms"}
    needs = "".join(f'.product(name: "{name}", package: "{package}"), ' for name, package in products.items())
    return f"""// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "packages",
  dependencies: [
{dependencies}  ],
  targets: [
    .executableTarget(
      name: "{corpus.PACKAGE}", dependencies: [{needs}], swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
"""


def _tools_version(manifest):
    with open(manifest, encoding="utf-8") as file:
        return _numbers(file.readline())


def _numbers(text):
    """Returns the first two numbers of the first version in a text."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def shape(analysis, program):
    """Returns the findings of a run as texts: counts, verdicts, and the program's own types on the paths.

    It leaves out types and closures of libraries. Versions of Foundation differ in types, and stripped libraries have
    no names of closures.
    """
    if analysis.reason:
        return [f"no findings: {analysis.reason}"]
    found: collections.Counter[str] = collections.Counter()
    for finding in analysis.findings:
        library = " of a library" if finding.is_library else ""
        types = [step.get("qualifiedType") or "" for step in finding.path]
        own = [each for each in types if each.startswith(f"{program}.")] or types[-1:]
        found[f"{finding.verdict}{library} {', '.join(own)}"] += finding.instances
    return sorted(f"{count} × {text}" for text, count in found.items())


def compare(site, case, there, here, directory):
    """Returns a sentence about the differences between the two versions, or None."""
    name = f"{case.executable}-{case.variant}-{case.name}-{case.mode}".replace("/", "-")
    results = []
    for which, command in (
        ("here", [here, case.name, case.mode]),
        ("there", [there, case.name, case.mode]),
    ):
        trace = os.path.join(directory, f"{name}-{which}.trace")
        if which == "here":
            kept = os.path.join(site.cache, f"{name}.json") if site.cache else None
            if kept and os.path.exists(kept):
                with open(kept) as file:
                    results.append(json.load(file))
                continue
            site.leaktrace.record(command, trace, limit=SECONDS)
            results.append(shape(site.leaktrace.analyze(trace), case.executable))
            if kept:
                with open(kept, "w") as file:
                    json.dump(results[-1], file)
        else:
            outcome = run(site.recorded(command, trace), limit=SECONDS)
            if outcome.status < 0 and not outcome.timed_out:
                outcome = _again(site, command, trace, outcome)
            if outcome.status < 0 or outcome.timed_out:
                return f"{case}: ended with {outcome.status}: {outcome.output.strip()[-200:]}"
            results.append(shape(site.analysis(trace), case.executable))
        for each in (trace, f"{trace}.live"):
            if os.path.exists(each):
                os.remove(each)
    if results[0] == results[1]:
        return None
    lacks = [each for each in results[0] if each not in results[1]]
    more = [each for each in results[1] if each not in results[0]]
    return f"{case}: not {'; '.join(lacks) or 'nothing'}, but {'; '.join(more) or 'nothing'}"


def _again(site, command, trace, outcome):
    """Repeats a recording that crashed, if the program also crashes without leaktrace. Programs that use a freed object
    on purpose crash by chance. Returns the last outcome."""
    untraced = (run(site.root.command(command, site.directory), limit=SECONDS) for _ in range(ATTEMPTS))
    if all(each.status != outcome.status for each in untraced):
        return outcome
    for _ in range(ATTEMPTS):
        for each in (trace, f"{trace}.live"):
            if os.path.exists(each):
                os.remove(each)
        outcome = run(site.recorded(command, trace), limit=SECONDS)
        if outcome.status >= 0:
            break
    return outcome


def differences(site, variants=tuple(corpus.VARIANTS)):
    """Returns a sentence for each program whose findings differ from those with this machine's Swift. Adds a table with
    the numbers of programs to the site."""
    directory = os.path.join(site.directory, "corpus-traces")
    os.makedirs(directory)
    complaints = []
    site.tables[TABLE] = [["variant", "programs", "equal findings", "left out"]]
    for variant in variants:
        cases = corpus.cases([variant])
        there, here, left_out = {}, {}, {}
        for executable in sorted({each.executable for each in cases}):
            here[executable] = corpus.build(executable, variant, JOBS)
            try:
                there[executable] = build_there(site, executable, variant)
            except NotAccepted as reason:
                left_out[executable] = str(reason)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            compared = [each for each in cases if each.executable in there]
            found = pool.map(
                lambda case, there=there, here=here: _compared(
                    site, case, there[case.executable], here[case.executable], directory
                ),
                compared,
            )
            different = [each for each in found if each]
        shutil.rmtree(os.path.join(site.directory, "corpus", variant), ignore_errors=True)
        complaints += different
        reasons = [
            f"{sum(each.executable == name for each in cases)}: {reason}" for name, reason in sorted(left_out.items())
        ]
        row = [variant, str(len(compared)), str(len(compared) - len(different)), "; ".join(reasons)]
        site.tables[TABLE].append(row)
    return complaints


def _compared(site, case, there, here, directory):
    try:
        return compare(site, case, there, here, directory)
    except FailedCommand as failure:
        return f"{case}: {failure}"
