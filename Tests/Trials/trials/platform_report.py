"""Writes the results of all platforms to docs/engineering/tables/platforms.md."""

import datetime

from .documents import write_table

NAMES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid"}


def _cell(outcome, notes):
    """Returns the text of a cell. Adds explanations to `notes`; the cell has their numbers."""
    if outcome is None:
        return "not run"
    state = outcome["state"]
    if state == "yes":
        return "yes"
    texts = outcome.get("reasons") or outcome["complaints"]
    numbers = []
    for text in texts:
        if text not in notes:
            notes.append(text)
        numbers.append(str(notes.index(text) + 1))
    label = {"known": "in part", "failed": "**fails**", "not run": "not run"}[state]
    return f"{label} ({', '.join(numbers)})"


def _table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("--" for _ in header) + " |"]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def _plain(text):
    return text.replace("\n", " ").replace("|", "\\|").strip()


def tables(results, checks, today=None):
    """Returns the lines of the page: the date, the table, the explanations, and the tables of single checks."""
    notes: list[str] = []
    rows: list[list[str]] = []
    rows.append(["glibc", *(each["glibc"] for each in results.values())])
    rows.append(["its own kernel, emulated", *(each.get("kernel") or "not run" for each in results.values())])
    rows.append(["its own Swift", *(each.get("swift") or "none" for each in results.values())])
    for name in checks:
        row = [name]
        for each in results.values():
            outcome = each["checks"].get(name)
            if outcome is None and each.get("not_run"):
                outcome = {"state": "not run", "complaints": [each["not_run"]]}
            row.append(_cell(outcome, notes))
        rows.append(row)
    lines = [f"Checked on {today or datetime.date.today().isoformat()}.", ""]
    lines += _table(["", *(NAMES.get(suite, suite) for suite in results)], rows)
    if notes:
        lines += ["", *(f"{number}. {_plain(text)}" for number, text in enumerate(notes, 1))]
    for suite, each in results.items():
        for outcome in each["checks"].values():
            for title, table in outcome.get("tables", {}).items():
                lines += ["", f"## {title}, {NAMES.get(suite, suite)}", "", *_table(table[0], table[1:])]
    return lines


def write(results, checks):
    """Writes the page. Returns its path."""
    about = "Written by `scripts/matrix`. [Platforms](../platforms.md) explains the checks."
    return write_table("platforms", "Platforms: all checks", about, tables(results, checks))
