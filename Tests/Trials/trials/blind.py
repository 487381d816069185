"""Judges programs whose authors did not know leaktrace. Counts the leaks that reports name, and the working programs
that reports accuse. --fit tries other points for the rules on the programs in view."""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import sys

from . import accuracy, corpus, rules
from .corpus import ROOT
from .finding import PROOF, Finding
from .leaktrace import Leaktrace
from .points import Recording, fit
from .processes import FailedCommand, must

PROGRAMS = os.path.join(ROOT, "Tests", "Blind")
DOCUMENT = os.path.join(ROOT, "docs", "engineering", "blind-programs.md")
FIT = os.path.join(PROGRAMS, "fit.json")
OPTIMISATIONS = ("-O", "-Onone")
JOBS = 2
SECONDS = 300
NAMED, MISSED, SILENT, ACCUSED, BROKEN = "named", "missed", "silent", "accused", "broken"


def say(text):
    print(f"blind: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Program:
    """One program, as its author described it beforehand."""

    name: str
    kind: str
    is_held_back: bool  # no rule was changed with the program in view, and no points are fitted on it
    leaks: bool
    types: tuple[str, ...]  # types of the leaked objects; a report must name one of them
    flags: tuple[str, ...]
    why: str
    report: str = ""  # a public bug report with the same shape: owner/name#number, or an address
    shape: str = ""  # a sentence about the leak in that bug report

    @staticmethod
    def all(folder=PROGRAMS):
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            return [
                Program(
                    each["name"],
                    each["kind"],
                    each["isHeldBack"],
                    each["leaks"],
                    tuple(_short(name) for name in each["type"].split(",") if name.strip()),
                    tuple(each["flags"].split()),
                    each["why"],
                    each.get("report", ""),
                    each.get("shape", ""),
                )
                for each in json.load(file)
            ]


def _short(name):
    """Returns a type's name without module and generic arguments."""
    return name.strip().split("<")[0].split(".")[-1]


@dataclasses.dataclass
class Result:
    program: Program
    optimisation: str
    verdict: str
    words: str  # the findings that the report lists, or the failure
    is_fact: bool = False  # a fact about growth names the leak
    is_proven: bool = False  # a proof names the leak
    trace: str = ""

    def __str__(self):
        return f"{self.program.name} ({self.optimisation}): {self.verdict}. {self.words}"


def judge(program, optimisation, leaktrace, directory, keeps_trace=False):
    """Compiles, records and analyses a program. Compiles only if the source is newer than the executable."""
    executable = os.path.join(directory, program.name + optimisation)
    source = os.path.join(PROGRAMS, program.name + ".swift")
    if not os.path.exists(executable) or os.path.getmtime(executable) < os.path.getmtime(source):
        try:
            must(["swiftc", "-g", optimisation, *program.flags, source, "-o", executable], limit=1800)
        except FailedCommand as failure:
            return Result(program, optimisation, BROKEN, str(failure))
    return examine(program, optimisation, executable, leaktrace, executable + ".trace", keeps_trace)


def examine(program, optimisation, executable, leaktrace, trace, keeps_trace=False):
    """Records and analyses a compiled program."""
    outcome = leaktrace.record([executable], trace, limit=SECONDS)
    if outcome.status != 0:
        return Result(program, optimisation, BROKEN, f"ended with {outcome.status}: {outcome.output.strip()[-200:]}")
    analysis = leaktrace.analyze(trace)
    for each in (f"{trace}.json", f"{trace}.run", f"{trace}.live", *([] if keeps_trace else [trace])):
        if os.path.exists(each):
            os.remove(each)
    if analysis.reason:
        return Result(program, optimisation, BROKEN, analysis.reason)
    verdict, words = verdict_of(program, analysis.findings)
    proofs = [each for each in analysis.findings if each.certainty == PROOF]
    return Result(
        program,
        optimisation,
        verdict,
        words,
        is_fact=names_leak(program, [(analysis.report or {}).get("grown") or []]),
        is_proven=verdict_of(program, proofs)[0] == NAMED,
        trace=trace,
    )


def verdict_of(program, findings):
    """Returns the verdict about a report, and its findings as words. Findings about libraries do not count."""
    listed = [each for each in findings if not each.is_library]
    words = "; ".join(_words(each) for each in listed)
    if not program.leaks:
        return (ACCUSED if listed else SILENT), words
    return (NAMED if names_leak(program, [each.values for each in listed]) else MISSED), words


def names_leak(program, values):
    texts = [json.dumps(each) for each in values]
    return any(name in text for name in program.types for text in texts)


def _words(finding: Finding):
    return f"{finding.instances} × {finding.verdict} {finding.values.get('title') or finding.values.get('type') or ''}"


def shares(results):
    """Returns the number of results by verdict."""
    return collections.Counter(each.verdict for each in results)


def _percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def _row(title, results):
    found = shares(results)
    leaky, healthy = found[NAMED] + found[MISSED], found[SILENT] + found[ACCUSED]
    missed = f"{found[MISSED]} ({_percent(found[MISSED], leaky)})" if leaky else ""
    facts = sum(each.verdict == MISSED and each.is_fact for each in results) if leaky else ""
    accused = f"{found[ACCUSED]} ({_percent(found[ACCUSED], healthy)})" if healthy else ""
    named = found[NAMED] if leaky else ""
    return f"| {title} | {leaky or ''} | {named} | {missed} | {facts} | {healthy or ''} | {accused} |"


HEADER = [
    "|  | leaky runs | named | missed | of these in the facts | clean runs | accused |",
    "| -- | -- | -- | -- | -- | -- | -- |",
]


def table(results):
    """Returns the lines of the table: rows for held back or in view, for optimisations and for kinds."""
    rows = [_row("all", results)]
    for title, is_held_back in (("held back", True), ("in view", False)):
        rows.append(_row(title, [each for each in results if each.program.is_held_back == is_held_back]))
    for optimisation in OPTIMISATIONS:
        rows.append(_row(f"`{optimisation}`", [each for each in results if each.optimisation == optimisation]))
    for kind in sorted({each.program.kind for each in results}):
        rows.append(_row(kind, [each for each in results if each.program.kind == kind]))
    return [*HEADER, *rows]


def document(results, fitted):
    """Returns the text of the page. `fitted`: lines about the last fit of points."""
    programs = len({each.program.name for each in results})
    lines = [
        "# Programs written without sight of the tool",
        "",
        f"Several authors wrote these {programs} programs. They knew neither leaktrace nor its corpus, and wrote the",
        "expectation first, then the program. About half of the programs work as intended, and resemble a leaky design. Each is",
        "recorded at `-O` and at `-Onone`. A leak counts as named if a finding that is listed names its type. Any listed",
        "finding about a program that works counts against the tool. In the newest kind, *subtle leaks and their lookalikes*,",
        "the clean programs resemble leaks on purpose: most objects end, and some rightly stay for the whole run.",
        "",
        "```",
        "scripts/blind                # judges all programs, and writes this page; about half an hour",
        "scripts/blind NAME…          # judges some, and prints what their reports list",
        "```",
        "",
        "The programs and expectations are in `Tests/Blind`. Some are *held back*: no rule was changed with these programs in",
        "view, and no points are fitted on them. When new programs are held back, some of the older ones come into view.",
        "",
        f"The results are of leaktrace {accuracy.version()}.",
        "",
        "## Results",
        "",
        *table(results),
        "",
        "*In the facts*: no finding names the leak. A fact about what grew names it, and the first line of the report says so.",
        "",
        *unexpected(results),
        "",
        *bug_reports(results),
        *fitted,
    ]
    return "\n".join(lines).rstrip() + "\n"


def unexpected(results):
    """Returns the section about unexpected results. It leaves out programs that are held back, since they would come
    into view of the page's readers."""
    wrong = [each for each in results if each.verdict not in (NAMED, SILENT) and not each.program.is_held_back]
    return [
        "## Runs with another result than expected",
        "",
        "These are programs in view.",
        "",
        "| program | result | listed | expectation |",
        "| -- | -- | -- | -- |",
        *(
            f"| {each.program.name} `{each.optimisation}` | {each.verdict} | {cell(each.words)} | {cell(each.program.why)} |"
            for each in wrong
        ),
    ]


def bug_reports(results):
    """Returns the section about programs with the shape of a public bug report; no lines if there are none."""
    runs = collections.defaultdict(list)
    for each in results:
        if each.program.report:
            runs[each.program].append(each)
    if not runs:
        return []
    rows = []
    for program, found in sorted(runs.items(), key=lambda item: (item[0].report, item[0].name)):
        expectation = ", ".join(program.types) if program.leaks else "no finding"
        verdicts = sorted({each.verdict for each in found})
        outcome = (
            verdicts[0]
            if len(verdicts) == 1
            else "; ".join(f"{each.verdict} at `{each.optimisation}`" for each in found)
        )
        rows.append(f"| {program.report} | {cell(program.shape)} | {program.name} | {expectation} | {outcome} |")
    return [
        "## Public bug reports",
        "",
        "These programs have the shape of a public bug report, or of its fix. They share no code with it.",
        "",
        "| report | shape | program | expected | result |",
        "| -- | -- | -- | -- | -- |",
        *rows,
        "",
    ]


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")[:300]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/blind", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="judge only these, and write no page")
    parser.add_argument(
        "--fit",
        metavar="STEPS",
        type=int,
        help="keep the recordings, and change one of the rules' points at a time as long as the programs in view get"
        " better results",
    )
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tool", help=argparse.SUPPRESS)
    parser.add_argument("--directory", default=os.path.join(ROOT, ".build", "blind"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    if options.fit is not None and options.names:
        sys.exit("blind: --fit takes all programs, and no names")
    programs = [each for each in Program.all() if not options.names or each.name in options.names]
    if not programs:
        sys.exit("blind: no program has such a name; Tests/Blind has them all")
    os.makedirs(options.directory, exist_ok=True)
    leaktrace = Leaktrace(options.products)
    runs = [(program, optimisation) for program in programs for optimisation in OPTIMISATIONS]
    results = []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for result in pool.map(
            lambda run: judge(run[0], run[1], leaktrace, options.directory, options.fit is not None), runs
        ):
            results.append(result)
            if options.names or result.verdict == BROKEN:
                say(str(result))
            elif len(results) % 100 == 0:
                say(f"{len(results)} of {len(runs)} runs")
    for row in table(results):
        print(row)
    broken = [each for each in results if each.verdict == BROKEN]
    if options.fit is not None:
        corpus_traces = record_corpus(leaktrace, os.path.join(options.directory, "corpus"))
        write_fit(len(programs), fit(options.tool, recordings(results, corpus_traces), options.fit, JOBS, say)[1])
    if not options.names:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document(results, read_fit()))
        say(f"{os.path.relpath(DOCUMENT, ROOT)} is written")
    sys.exit(1 if broken else 0)


def record_corpus(leaktrace, directory):
    """Records the corpus. Returns the paths of the traces."""
    os.makedirs(directory, exist_ok=True)
    found = corpus.cases(rules.VARIANTS)
    executables = {
        pair: corpus.build(*pair, JOBS) for pair in sorted({(each.executable, each.variant) for each in found})
    }
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(lambda case: rules.record(leaktrace, executables, case, directory), found))


def recordings(results, corpus_traces):
    """Returns the recordings for a fit: runs without a proof of the leak, and the corpus."""
    found = [
        Recording(each.trace, each.program.is_held_back, each.program.leaks, each.program.types)
        for each in results
        if each.verdict != BROKEN and not each.is_proven
    ]
    return found + [Recording(trace, False, False, (), is_settled=True) for trace in corpus_traces]


def write_fit(program_count, history):
    """Stores the outcome of a fit for the page."""
    rows = [{"points": points, "cost": cost, "heldBack": held} for points, cost, held in history]
    with open(FIT, "w", encoding="utf-8") as file:
        json.dump({"programs": program_count, "steps": rows}, file, indent=1)
        file.write("\n")


def read_fit():
    """Returns the lines of the page about the last fit; no lines if there was none."""
    if not os.path.exists(FIT):
        return []
    with open(FIT, encoding="utf-8") as file:
        last = json.load(file)
    steps = last["steps"]
    rows = [
        f"| {', '.join(f'`{name}` {value}' for name, value in each['points'].items()) or 'as they are'} "
        f"| {each['cost']} | {each['heldBack']} |"
        for each in steps
    ]
    return [
        "## Points of the rules",
        "",
        "`scripts/blind --fit STEPS` tries other points for each rule. It takes the one that lowers the cost of the",
        "programs in view most, and goes on from there. A run of a program that works costs 3 if it is accused. A run of",
        "a leaky program costs 1 if no finding names the leak. A recording of the corpus costs 5 if its listed",
        f"suspicions change. The last fit was on {last['programs']} programs and the corpus.",
        "",
        "| points | cost | cost of the programs that are held back |",
        "| -- | -- | -- |",
        *rows,
        "",
        "The result of those that are held back gets better, too."
        if steps[-1]["heldBack"] < steps[0]["heldBack"]
        else "The result of those that are held back gets no better, so the rules keep their points.",
        "",
    ]


if __name__ == "__main__":
    main()
