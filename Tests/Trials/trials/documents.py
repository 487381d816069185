"""Parts of docs/engineering/survival.md that scripts write, each between two marks."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DOCUMENT = os.path.join(ROOT, "docs", "engineering", "survival.md")


def write_part(name, lines):
    """Replaces what is between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    with open(DOCUMENT, encoding="utf-8") as file:
        head, _, rest = file.read().partition(begin)
    tail = rest.partition(end)[2]
    if not tail:
        raise SystemExit(f"survival: {DOCUMENT} has no place for {name}")
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write("\n".join([head + begin, "", *lines, "", end + tail]))
