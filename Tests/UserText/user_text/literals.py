"""String literals of Swift, C and JavaScript, joined where the source only splits them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .texts import PLACEHOLDER

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})")
_FORMAT = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[diouxXscpefgG%]")


class UnknownForm(Exception):
    """The source is not of the form that this module reads."""


@dataclass(frozen=True)
class Language:
    opening: re.Pattern[str]
    """The beginning of a literal. Its group `quote` also ends the literal; `hashes` belong to a raw literal."""
    joint: re.Pattern[str]
    """The code between two literals that are one string, without comments. Its group `value` is a value."""
    interpolation: str | None = None
    interpolation_end: str = ""
    has_nested_comments: bool = False
    formats: bool = False
    """Whether literals can be formats of printf."""
    hidden: re.Pattern[str] | None = None
    """The start of code in brackets whose literals no user sees: assembly, assertions of the compiler."""


_SUM = re.compile(r"\s*\+\s*(?P<value>[\w.?]+(?:\([^()]*\))?\s*\+\s*)?")
SWIFT = Language(
    opening=re.compile(r'(?P<hashes>#*)(?P<quote>"""|")'),
    joint=_SUM,
    interpolation="(",
    interpolation_end=")",
    has_nested_comments=True,
)
C = Language(
    opening=re.compile(r"""(?P<hashes>)(?P<quote>["'])"""),
    joint=re.compile(r"\s*(?P<value>[A-Z]\w*\s*)?"),
    formats=True,
    hidden=re.compile(r"\b(?:_Static_assert|__asm__(?: volatile)?(?: goto)?)\s*\("),
)
JAVASCRIPT = Language(
    opening=re.compile(r"""(?P<hashes>)(?P<quote>["'`])"""),
    joint=_SUM,
    interpolation="${",
    interpolation_end="}",
)


class _Scanner:
    """Reads a source as far as it takes to distinguish literals from comments and code."""

    def __init__(self, source: str, language: Language) -> None:
        self._source = source
        self._language = language
        self.found: list[list[tuple[int, str]]] = []
        """The pieces of each string, with the index where each begins."""

    def read_code(self, index: int, closing: str = "") -> int:
        """Reads code to its end, or to a closing bracket. Returns the index after it."""
        source = self._source
        opening_bracket = {")": "(", "}": "{"}.get(closing)
        depth = 0
        # The string that a literal right after `gap` continues.
        current: list[tuple[int, str]] | None = None
        gap = ""
        while index < len(source):
            if source.startswith("//", index):
                index = self._line_end(index)
            elif source.startswith("/*", index):
                index = self._comment_end(index)
            elif self._language.hidden and (hidden := self._language.hidden.match(source, index)):
                count = len(self.found)
                index = self.read_code(hidden.end(), ")")
                del self.found[count:]
                current = None
            elif opening := self._language.opening.match(source, index):
                pieces: list[tuple[int, str]] = []
                joint = self._language.joint.fullmatch(gap) if current is not None else None
                if current is None or joint is None:
                    self.found.append(pieces)
                    current = pieces
                elif joint["value"]:
                    current.append((index, PLACEHOLDER))
                text, end = self._literal(opening)
                current.append((index, text))
                index, gap = end, ""
            else:
                character = source[index]
                if closing and character == closing:
                    if depth == 0:
                        return index + 1
                    depth -= 1
                elif character == opening_bracket:
                    depth += 1
                gap += character
                index += 1
        if closing:
            raise UnknownForm(f"no {closing} before the end")
        return index

    def _line_end(self, index: int) -> int:
        end = self._source.find("\n", index)
        return len(self._source) if end < 0 else end

    def _comment_end(self, index: int) -> int:
        depth = 0
        for mark in re.compile(r"/\*|\*/").finditer(self._source, index):
            if mark[0] == "*/":
                depth -= 1
            elif depth == 0 or self._language.has_nested_comments:
                depth += 1
            if depth == 0:
                return mark.end()
        raise UnknownForm("a comment without an end")

    def _literal(self, opening: re.Match[str]) -> tuple[str, int]:
        """The text of a literal, and the index after it. Literals in interpolations are strings of their own."""
        source, hashes, quote = self._source, opening["hashes"], opening["quote"]
        escape = "\\" + hashes
        interpolation = self._language.interpolation
        if interpolation == "(":
            interpolation = escape + "("
        elif quote != "`":
            interpolation = None
        parts: list[str] = []
        index = opening.end()
        while not source.startswith(quote + hashes, index):
            if index >= len(source) or (source[index] == "\n" and quote not in ('"""', "`")):
                line = source.count("\n", 0, opening.start()) + 1
                raise UnknownForm(f"a literal without an end in line {line}")
            if interpolation and source.startswith(interpolation, index):
                index = self.read_code(index + len(interpolation), self._language.interpolation_end)
                parts.append(PLACEHOLDER)
            elif source.startswith(escape, index):
                text, index = self._escaped(index + len(escape))
                parts.append(text)
            else:
                parts.append(source[index])
                index += 1
        text = "".join(parts)
        if self._language.formats:
            text = _FORMAT.sub(lambda format: "%" if format[0] == "%%" else PLACEHOLDER, text)
        return text, index + len(quote + hashes)

    def _escaped(self, index: int) -> tuple[str, int]:
        source = self._source
        if source[index] == "\n":
            return "", index + 1
        if code := _CODE_POINT.match(source, index):
            return chr(int(code[1] or code[2] or code[3], 16)), code.end()
        return _ESCAPES.get(source[index], source[index]), index + 1


def strings(source: str, language: Language) -> list[tuple[int, str]]:
    """The line and the text of each string, by lines."""
    scanner = _Scanner(source, language)
    scanner.read_code(0)
    found = sorted((pieces[0][0], "".join(text for _, text in pieces)) for pieces in scanner.found if pieces)
    return [(source.count("\n", 0, start) + 1, text) for start, text in found]
