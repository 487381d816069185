"""One text of the sources, and which strings count as texts."""

from __future__ import annotations

import re
from typing import NamedTuple

# Stands for a value that the program fills in.
PLACEHOLDER = "X"
# A shorter string is a name, a key or a part of a table.
MINIMUM_WORDS = 4

_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*[.,:;?!)\"'”]*")
_SPACE = re.compile(r"\s+")


class Text(NamedTuple):
    """Its line is where the string begins."""

    path: str
    line: int
    text: str


def is_text(string: str) -> bool:
    """Whether enough of the string's words are words of a language."""
    words = [word for word in string.split() if _WORD.fullmatch(word.lstrip("(\"'“")) and word != PLACEHOLDER]
    return len(words) >= MINIMUM_WORDS


def paragraphs(string: str) -> list[str]:
    """The paragraphs of a string, each on one line; empty lines and list items begin a new one."""
    found: list[list[str]] = [[]]
    for line in string.split("\n"):
        if not line.strip() or line.lstrip().startswith("- "):
            found.append([])
        found[-1].append(line)
    joined = (_SPACE.sub(" ", " ".join(lines)).strip() for lines in found)
    return [paragraph for paragraph in joined if paragraph]


def document(texts: list[Text]) -> str:
    """One Markdown document: the place of each text, as code, and then the text as one paragraph."""
    parts = ["# Texts that users see"]
    for text in texts:
        parts += [f"    {text.path}:{text.line}", text.text]
    return "\n\n".join(parts) + "\n"
