"""The corpus with another distribution's Swift: compiled and run in its root, and set beside this machine's."""

import collections
import concurrent.futures
import json
import os

from . import corpus
from .processes import FailedCommand, must, run

JOBS = 2
SECONDS = 300
# Runs of a program that crashes in one of two.
ATTEMPTS = 20
# Programs of packages would have to fetch them in the root.
LEFT_OUT = (corpus.PACKAGE,)
# Swift 6.0's libswiftObservation.so refers to a function that no library has (swift::threading::fatal).
LINK = ("-Xlinker", "--allow-shlib-undefined")


def build_there(site, executable, variant):
    product = os.path.join(site.directory, "corpus", variant, executable)
    if os.path.exists(product):
        return product
    os.makedirs(os.path.dirname(product), exist_ok=True)
    command = ["swiftc", "-g", "-j", str(JOBS), "-module-name", executable, *corpus.VARIANTS[variant], *LINK]
    command += [*corpus.sources(executable), "-o", product]
    must(site.root.command(command, os.path.dirname(product)), limit=1800)
    return product


def shape(analysis, program):
    """The findings of a run as verdicts, the program's own types on their paths, and counts.

    Types and closures of libraries are left out: each version of Foundation has others, and a stripped library has no
    names for its closures.
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
    """What differs between the two versions, or None."""
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
    """A program that uses a freed object on purpose may crash by chance, with leaktrace and without. It is recorded
    until it does not, if it crashes without, too."""
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


def differences(site, variants=("dynamic-O",)):
    """A sentence for each program whose findings differ from those with this machine's Swift."""
    directory = os.path.join(site.directory, "corpus-traces")
    os.makedirs(directory)
    cases = [each for each in corpus.cases(variants) if each.executable not in LEFT_OUT]
    there, here = {}, {}
    for key in sorted({(each.executable, each.variant) for each in cases}):
        here[key] = corpus.build(*key, JOBS)
        there[key] = build_there(site, *key)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        found = pool.map(
            lambda case: _compared(
                site, case, there[case.executable, case.variant], here[case.executable, case.variant], directory
            ),
            cases,
        )
    return [each for each in found if each]


def _compared(site, case, there, here, directory):
    try:
        return compare(site, case, there, here, directory)
    except FailedCommand as failure:
        return f"{case}: {failure}"
