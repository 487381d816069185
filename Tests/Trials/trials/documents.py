"""The tables in docs/engineering/tables that scripts write."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TABLES = os.path.join(ROOT, "docs", "engineering", "tables")


def write_table(name, title, about, lines):
    """Writes NAME.md whole: the title, one paragraph about the table, and the lines. Returns the file's path."""
    path = os.path.join(TABLES, f"{name}.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([f"# {title}", "", about, "", *lines]).rstrip("\n") + "\n")
    return path
