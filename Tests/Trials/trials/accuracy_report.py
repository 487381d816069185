"""Writes the results of all trials as docs/engineering/accuracy.md."""

import textwrap

from .finding import PROOF, SUSPICION
from .judgements import ALL, FALSE, LIBRARY, OPEN, TRUE, UNJUDGED_LIBRARY
from .trial import QUIET, SUITE, TOOLCHAIN, TWINS

TITLES = {
    SUITE: (
        "Test suites",
        "All tests of a package run in debug builds, in one process for each testing library, as `swift test` runs "
        "them. If tests were left out, the section about the package says which.",
    ),
    TWINS: (
        "Programs with a known leak, and their twins without it",
        "These servers and clients talk to themselves over loopback, and then end. They are release builds. Each "
        "program runs several times with its leak and several times without. A finding must report the known leak. "
        "`Tests/Trials/Programs` has the sources.",
    ),
    TOOLCHAIN: ("The toolchain's programs", "These programs process a small package."),
    QUIET: (
        "Nothing to find",
        "Each row is a run of `leaktrace check -- swift test` that must pass. The tests are an empty suite, a suite "
        "with one passing test, or a few tests of a package.",
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

BLAMED = "a library's, reported as the program's"


def _reported(result, certainty, judgement):
    """Findings of this certainty and judgement that accuse the program."""
    return [
        finding
        for cause in result["causes"]
        if cause["judgement"] == judgement
        for finding in cause["findings"]
        if finding["certainty"] == certainty and not finding["library"]
    ]


def _attributed_to_libraries(result):
    return [finding for cause in result["causes"] for finding in cause["findings"] if finding["library"]]


def _missed(result):
    """Known leaks without a finding."""
    return [cause for cause in result["causes"] if cause["known"] and not cause["findings"]]


def complaints(results):
    """Lines about everything that makes scripts/accuracy fail: false findings, unjudged findings, library leaks that
    accuse the program, missed leaks, and failed runs."""
    found = []
    for name, result in results.items():
        for judgement in (FALSE, LIBRARY, OPEN):
            for certainty in (PROOF, SUSPICION):
                for finding in _reported(result, certainty, judgement):
                    found.append(
                        f"{name}: {BLAMED if judgement == LIBRARY else judgement}, {certainty}: "
                        f"{NAMES.get(finding['verdict'], finding['verdict'])} {finding['subject']} "
                        f"×{finding['instances']}, {finding['place']}"
                    )
        found += [f"{name}: missed: {cause['why']} ({cause['known']})" for cause in _missed(result)]
        if result["has_failed"]:
            found.append(f"{name}: failed: {'; '.join(result['remarks'])}")
    return found


def _counts(result, certainty):
    return [str(len(_reported(result, certainty, judgement)) or "") for judgement in ALL]


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
                len(_attributed_to_libraries(result)) or "",
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
    "weak suspicions",
    "attributed to a library",
    "missed",
    "record, s",
    "analyze, s",
]


def _without_empty_columns(header, rows):
    """Drops the judgements that no row of a section has."""
    kept = [index for index in range(len(header)) if any(row[index] != "" for row in rows)]
    return [header[index] for index in kept], [[row[index] for index in kept] for row in rows]


def _numbers(results):
    """The number of findings that accuse the program, by certainty and judgement."""
    return {
        (certainty, judgement): sum(len(_reported(result, certainty, judgement)) for result in results.values())
        for certainty in (PROOF, SUSPICION)
        for judgement in ALL
    }


def _answer(results):
    """The answer to "how often is it wrong?", in a few sentences."""
    values = _numbers(results)
    known = [cause for result in results.values() for cause in result["causes"] if cause["known"]]
    missed = [cause for result in results.values() for cause in _missed(result)]

    def count(judgement):
        return sum(values[certainty, judgement] for certainty in (PROOF, SUSPICION))

    return (
        f"**{sum(values.values())} findings accuse a program: {count(TRUE)} are true, {count(FALSE)} false, and "
        f"{count(OPEN)} not judged yet.** {count(LIBRARY)} accuse a program of a library's leak. {len(known)} leaks "
        f"were known beforehand, and {len(missed)} of them were missed."
    )


def _total(results):
    values = _numbers(results)
    rows = [
        ["proofs", *(values[PROOF, judgement] for judgement in ALL)],
        ["suspicions", *(values[SUSPICION, judgement] for judgement in ALL)],
    ]
    return _table(["findings that accuse the program", *ALL], rows, 1)


def _causes(name, result):
    """The section about one program: a line for each cause, and the remarks. No lines if there is neither."""
    lines = []
    for cause in result["causes"]:
        shown = [
            finding
            for finding in cause["findings"]
            if not finding["library"] or cause["judgement"] != LIBRARY or cause["why"] != UNJUDGED_LIBRARY
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
        owner = ", attributed to a library" if all(finding["library"] for finding in shown) else ""
        line = f"- **{cause['judgement']}**, {certainty}{owner}: {title}, {numbers}"
        if first["place"]:
            line += f", allocated by {first['place']}"
        if first["evidence"]:
            line += f"; {first['evidence']}"
        lines.append(
            line + f". {cause['why']}".rstrip(". ") + "." + (f" Known from {cause['known']}." if cause["known"] else "")
        )
    lines += [f"- {remark}" for remark in result["remarks"]]
    return [f"### {name}", "\n".join(lines)] if lines else []


def _paragraph(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _item(text):
    return textwrap.fill(
        text, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _explanation():
    """The words of the tables."""
    items = [
        f"*{TRUE}*: the finding is right.",
        f"*{LIBRARY}*: the leak is real, but a system library or another package causes it, not the program.",
        f"*{FALSE}*: the finding is wrong, or the program is meant to work this way.",
        f"*{OPEN}*: there is no judgement yet.",
        "*Missed*: no finding reports a leak that was known beforehand.",
        "*Proofs* are cycles, lost objects, tasks that nothing can resume, and dangling references.",
        "*Suspicions* are objects that outlived their siblings, or that accumulate. Reports do not list *weak "
        "suspicions*, only their number.",
        "*Attributed to a library*: the report itself says that the leak belongs to a library. Such findings do not "
        "accuse the program, so no other column counts them.",
    ]
    return "\n".join(map(_item, items))


def markdown(results):
    dates = sorted({result["date"] for result in results.values()})
    versions = sorted({result["leaktrace"] for result in results.values() if result["leaktrace"]})
    parts = [
        "# Accuracy",
        _paragraph(
            "This page shows how often the findings of leaktrace are wrong about programs that were not written to "
            "test it. `scripts/accuracy` writes it."
            + (
                f" The figures are from {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, by leaktrace"
                f" {', '.join(versions)}."
                if dates
                else ""
            )
        ),
        _paragraph(_answer(results)),
        _total(results),
        _paragraph(
            "People judged the findings by reading the programs' source code. `Tests/Trials/judgements` has the "
            "reasons. The script fails if a finding is false, unjudged, or accuses the program of a library's leak. It "
            "also fails if a known leak is missed, or if a run fails."
        ),
        _explanation(),
        _paragraph("An empty cell means 0. So does a missing column."),
    ]
    for kind, (title, text) in TITLES.items():
        chosen = {name: result for name, result in results.items() if result["kind"] == kind}
        if chosen:
            header, rows = _without_empty_columns(HEADER, _rows(chosen))
            parts += [f"## {title}", _paragraph(text), _table(header, rows, 1)]
            for name, result in chosen.items():
                parts += _causes(name, result)
    failed = {name: result for name, result in results.items() if result["kind"] not in TITLES}
    if failed:
        parts += [
            "## Not run",
            "\n".join(f"- {name}: {'; '.join(result['remarks'])}" for name, result in failed.items()),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"
