"""Where texts for users are: sources of the command, the library and the recorder, rules, and golden reports."""

from __future__ import annotations

import re
from pathlib import Path

from .literals import JAVASCRIPT, SWIFT, C, UnknownForm, strings
from .texts import Text, is_text, paragraphs

LANGUAGES = {".swift": SWIFT, ".c": C, ".h": C, ".js": JAVASCRIPT}
# The others have the same reports, wrapped at fewer columns.
GOLDEN = "Tests/ReportsTests/Golden/*-200.txt"

_RULE_TEXT = re.compile(r"\s+(?:reason|says)\s+(.+)")


def texts(root: Path) -> list[Text]:
    """All texts of a source tree, by path and line. Raises UnknownForm, with the path."""
    found: list[Text] = []
    for path in sorted((root / "Sources").rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix in LANGUAGES:
            try:
                found += _of_strings(name, strings(path.read_text(encoding="utf-8"), LANGUAGES[path.suffix]))
            except UnknownForm as failure:
                raise UnknownForm(f"{name}: {failure}") from failure
        elif path.suffix == ".rules":
            found += of_rules(name, path.read_text(encoding="utf-8"))
    for path in sorted(root.glob(GOLDEN)):
        found += of_report(str(path.relative_to(root)), path.read_text(encoding="utf-8"))
    return found


def _of_strings(path: str, literals: list[tuple[int, str]]) -> list[Text]:
    return [
        Text(path, line, paragraph) for line, string in literals if is_text(string) for paragraph in paragraphs(string)
    ]


def of_rules(path: str, source: str) -> list[Text]:
    """The reasons of rules, and what reports say by them."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        match = _RULE_TEXT.fullmatch(line)
        if match and is_text(match[1]):
            found.append(Text(path, number, match[1].strip()))
    return found


def of_report(path: str, report: str) -> list[Text]:
    """The lines of a report that are sentences or parts of them."""
    lines = enumerate(report.split("\n"), 1)
    return [Text(path, number, " ".join(line.split())) for number, line in lines if is_text(line)]
