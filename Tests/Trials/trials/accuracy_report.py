"""The results of all trials as docs/engineering/accuracy.md."""

from .finding import PROOF, SUSPICION
from .judgements import ALL, FALSE, LIBRARY, OPEN, TRUE
from .trial import QUIET, SUITE, TOOLCHAIN, TWINS

TITLES = {
    SUITE: (
        "Test suites",
        "Every test of a package in one process for each testing library, debug, as `swift test` runs them.",
    ),
    TWINS: (
        "Programs with a known leak, and their twins without it",
        "Servers and clients on loopback that end by themselves, compiled for release. Each form runs several times; a leak that is known has to be found. "
        "`Tests/Trials/Programs` has the sources.",
    ),
    TOOLCHAIN: ("The toolchain's programs", "At work on a package of three files."),
    QUIET: (
        "Nothing to find",
        "`leaktrace check -- swift test` on an empty suite, on one test that passes, and on single tests of packages: it has to pass.",
    ),
}
NAMES = {
    "retainCycle": "RETAIN CYCLE",
    "lost": "LOST",
    "deinitialised": "DEINITIALISED",
    "suspended": "SUSPENDED",
    "dangling": "DANGLING",
    "outlived": "OUTLIVED ITS SCOPE",
    "accumulating": "ACCUMULATING",
    "growing": "GROWING",
}

BLAMED = "a library's told as the program's"


def _told(result, certainty, judgement):
    """Findings of that kind that are told as the program's."""
    return [
        finding
        for cause in result["causes"]
        if cause["judgement"] == judgement
        for finding in cause["findings"]
        if finding["certainty"] == certainty and not finding["library"]
    ]


def _librarys(result):
    return [finding for cause in result["causes"] for finding in cause["findings"] if finding["library"]]


def _missed(result):
    return [cause for cause in result["causes"] if cause["known"] and not cause["findings"]]


def complaints(results):
    """What has to be looked at: false findings, a library's told as the program's, ones that nobody has judged, known
    leaks that were missed, failed runs."""
    found = []
    for name, result in results.items():
        for judgement in (FALSE, LIBRARY, OPEN):
            for certainty in (PROOF, SUSPICION):
                for finding in _told(result, certainty, judgement):
                    found.append(
                        f"{name}: {BLAMED if judgement == LIBRARY else judgement}, {certainty}: {NAMES.get(finding['verdict'], finding['verdict'])} {finding['subject']} "
                        f"×{finding['instances']}, {finding['place']}"
                    )
        found += [f"{name}: missed: {cause['why']} ({cause['known']})" for cause in _missed(result)]
        if result["has_failed"]:
            found.append(f"{name}: failed: {'; '.join(result['remarks'])}")
    return found


def _counts(result, certainty):
    return [str(len(_told(result, certainty, judgement)) or "") for judgement in ALL]


def _cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def _table(header, rows, text_columns):
    lines = [
        "| " + " | ".join(header) + " |",
        "| " + " | ".join("---" if index < text_columns else "---:" for index in range(len(header))) + " |",
    ]
    return "\n".join(lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows])


def _rows(results):
    rows = []
    for name, result in results.items():
        failed = " (failed)" if result["has_failed"] else ""
        shown = name + (f" {result['detail']}" if result["kind"] == SUITE else "") + failed
        rows.append(
            [
                shown,
                result["tests"] or "",
                f"{result['blocks']:,}",
                *_counts(result, PROOF),
                *_counts(result, SUSPICION),
                result.get("weak_suspicions") or "",
                len(_librarys(result)) or "",
                len(_missed(result)) or "",
                f"{result['record_seconds']:.0f}",
                f"{result['analyze_seconds']:.0f}",
            ]
        )
    return rows


HEADER = [
    "",
    "tests",
    "blocks allocated",
    *(f"proofs: {name}" for name in ALL),
    *(f"suspicions: {name}" for name in ALL),
    "weak, not listed",
    "told as a library's",
    "missed",
    "record, s",
    "analyze, s",
]


def _without_empty_columns(header, rows):
    """Most judgements come up nowhere in a section. The figures of all sections stand in the first table."""
    kept = [index for index in range(len(header)) if any(row[index] != "" for row in rows)]
    return [header[index] for index in kept], [[row[index] for index in kept] for row in rows]


def _total(results):
    values = {
        (certainty, judgement): sum(len(_told(result, certainty, judgement)) for result in results.values())
        for certainty in (PROOF, SUSPICION)
        for judgement in ALL
    }
    rows = [
        ["proofs", *(values[PROOF, judgement] for judgement in ALL)],
        ["suspicions", *(values[SUSPICION, judgement] for judgement in ALL)],
    ]
    return _table(["findings told as the program's", *ALL], rows, 1)


def _causes(name, result):
    lines = []
    for cause in result["causes"]:
        shown = [
            finding
            for finding in cause["findings"]
            if not finding["library"] or cause["judgement"] != LIBRARY or cause["why"] != "Told as a library's."
        ]
        if not shown and not (cause["known"] and not cause["findings"]):
            continue
        if not shown:
            lines.append(f"- **missed**: {cause['why']} Known from {cause['known']}.")
            continue
        first = shown[0]
        certainty = "proof" if first["certainty"] == PROOF else "suspicion"
        title = f"{NAMES.get(first['verdict'], first['verdict'])} `{first['subject']}`"
        instances = sum(finding["instances"] for finding in shown)
        numbers = (
            f"{len(shown)} findings, {instances} instances"
            if len(shown) > 1
            else f"{instances} instance{'s' if instances != 1 else ''}"
        )
        told = ", told as a library's" if all(finding["library"] for finding in shown) else ""
        line = f"- **{cause['judgement']}**, {certainty}{told}: {title}, {numbers}"
        if first["place"]:
            line += f", from {first['place']}"
        if first["evidence"]:
            line += f"; {first['evidence']}"
        lines.append(
            line + f". {cause['why']}".rstrip(". ") + "." + (f" Known from {cause['known']}." if cause["known"] else "")
        )
    lines += [f"- {remark}" for remark in result["remarks"]]
    return [f"### {name}", "\n".join(lines)] if lines else []


def markdown(results):
    dates = sorted({result["date"] for result in results.values()})
    versions = sorted({result["leaktrace"] for result in results.values() if result["leaktrace"]})
    parts = [
        "# Accuracy",
        "Written by `scripts/accuracy`: what leaktrace says of programs that were not written to test it. An empty cell is 0; a column that a table lacks is 0 in all of its rows. "
        f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, leaktrace {', '.join(versions)}."
        if dates
        else "",
        f"Somebody judged each finding by reading the sources of the program. It is *{TRUE}*: what it says is so; a *{LIBRARY}*'s: it is so, but a system library or "
        f"a package below does it; *{FALSE}*: it is not so, or it is how the program is meant to be. Of what is *{OPEN}* nobody knows yet. *Missed* are leaks that are known. "
        "`Tests/Trials/judgements` has the reasons; a finding that none of them is about makes the script fail, and so does a false one.",
        "Proofs are cycles, lost objects, tasks that nothing can resume, dangling references; suspicions are what outlived its siblings or accumulates. What is told as a library's "
        "is counted apart: it does not accuse the program. Nor do weak suspicions, which a report counts and does not list.",
        _total(results),
    ]
    for kind, (title, text) in TITLES.items():
        chosen = {name: result for name, result in results.items() if result["kind"] == kind}
        if chosen:
            header, rows = _without_empty_columns(HEADER, _rows(chosen))
            parts += [f"## {title}", text, _table(header, rows, 1)]
            for name, result in chosen.items():
                parts += _causes(name, result)
    failed = {name: result for name, result in results.items() if result["kind"] not in TITLES}
    if failed:
        parts += [
            "## Not run",
            "\n".join(f"- {name}: {'; '.join(result['remarks'])}" for name, result in failed.items()),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"
