"""Stores the results of the comparison of the corpus on two processors, and writes them as a table."""

import dataclasses
import hashlib
import json
import os

from . import corpus
from .documents import write_table

TABLE = "arm64-corpus"


@dataclasses.dataclass
class Result:
    """The comparison of one program."""

    findings: list[str]  # on this machine
    differences: list[str]  # on arm64
    reasons: list[str | None]  # one for each known difference
    # A program that differs runs again. These are the differences of its first run.
    first_differences: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_expected(self) -> bool:
        return all(self.reasons)


def digest(paths: list[str]) -> str:
    """Identifies the contents of files."""
    sums = []
    for path in paths:
        with open(path, "rb") as file:
            sums.append(hashlib.sha256(file.read()).hexdigest())
    return hashlib.sha256(" ".join(sums).encode()).hexdigest()


class Kept:
    """A file with the results of each variant, so that a run can continue an earlier one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._variants: dict[str, dict] = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self._variants = json.load(file)

    def begin(self, variant: str, identity: str, dropped: list[str]) -> None:
        """Removes the results of `dropped` programs, or of all programs if the results come from other files."""
        earlier = self._variants.get(variant, {})
        if earlier.get("identity") != identity:
            self._variants[variant] = {"identity": identity, "results": {}}
        for name in dropped:
            self._variants[variant]["results"].pop(name, None)

    def results(self, variant: str) -> dict[str, Result]:
        """The results by program."""
        kept = self._variants.get(variant, {"results": {}})["results"]
        return {name: Result(**values) for name, values in kept.items()}

    def add(self, variant: str, results: dict[str, Result]) -> None:
        kept = self._variants[variant]["results"]
        kept.update({name: dataclasses.asdict(result) for name, result in results.items()})
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        unfinished = f"{self._path}.new"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(self._variants, file, indent=1)
        os.replace(unfinished, self._path)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def table_lines(results: dict[corpus.Case, Result], variants: tuple[str, ...]) -> list[str]:
    """Returns the lines of the page: numbers of each variant, a row for each program, and the differences."""
    notes: list[str] = []

    def number(text: str) -> int:
        if text not in notes:
            notes.append(text)
        return notes.index(text) + 1

    def cell(result: Result | None) -> str:
        if result is None:
            return "not built"
        pairs = zip(result.differences, result.reasons, strict=True)
        texts = [f"{text}: {reason}" if reason else text for text, reason in pairs]
        if not texts and result.first_differences:
            texts = [f"in the first of two runs: {text}" for text in result.first_differences]
        label = "equal" if not result.differences else "known" if result.is_expected else "**differs**"
        return f"{label} ({', '.join(str(number(text)) for text in texts)})" if texts else label

    counts = [["", "programs", "equal", "known differences", "other differences"]]
    for variant in variants:
        own = [result for case, result in results.items() if case.variant == variant]
        equal, expected = sum(not each.differences for each in own), sum(each.is_expected for each in own)
        counts.append([variant, *map(str, (len(own), equal, expected - equal, len(own) - expected))])
    rows = [["program", "findings on x86-64", *variants]]
    by_program: dict[tuple[str, str, str], dict[str, Result]] = {}
    for case, result in results.items():
        by_program.setdefault((case.executable, case.name, case.mode), {})[case.variant] = result
    for (_, name, mode), found in by_program.items():
        shown = next(found[variant] for variant in variants if variant in found)
        findings = _plain("; ".join(shown.findings)) or "none"
        rows.append([f"`{name}` {mode}", findings, *(cell(found.get(variant)) for variant in variants)])
    lines = [*_table(counts), "", *_table(rows)]
    if notes:
        lines += ["", *(f"{place}. {_plain(text)}" for place, text in enumerate(notes, 1))]
    return lines


def _table(rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "| " + " | ".join("--" for _ in rows[0]) + " |", *lines[1:]]


def write(results: dict[corpus.Case, Result], variants: tuple[str, ...]) -> str:
    """Writes the table. Returns its path."""
    about = (
        "Written by `scripts/test-arm64 --corpus`. [arm64](../arm64.md) explains the comparison. A row has the "
        "findings of the first variant, with the program's own types."
    )
    return write_table(TABLE, "The corpus on arm64 and on x86-64", about, table_lines(results, variants))
