"""Writes RESULTS.md and results.json. Parts that are not measured again keep their results."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import summary
from .part import About, Part, SummarisedPart
from .plots import draw
from .records import plain, record

Values = dict[str, Any]  # the entry of a part in results.json


def values_of(result: Any, about: About) -> Values:
    """Returns the entry of a part for results.json. Sets `about.others` to the highest value in `result`."""
    found = plain(result)
    about.others = max(_others(found), default=None)
    return {"part": plain(about), **found}


def result_of(part: Part[Any], values: Values) -> Any:
    """Returns the result of a part from its entry in results.json."""
    return record(part.result, {name: each for name, each in values.items() if name != "part"})


def about_of(values: Values) -> About:
    return record(About, values["part"])


def _others(values: Any) -> Iterator[float]:
    """Returns all values that the result has for processors kept busy by other processes."""
    if isinstance(values, dict):
        for name, value in values.items():
            if name == "others" and isinstance(value, list):
                yield from value
            else:
                yield from _others(value)
    elif isinstance(values, list):
        for value in values:
            yield from _others(value)


def sections(text: str) -> dict[str, str]:
    """Splits a Markdown text at headings of the first level. Returns the sections by heading, including the heading."""
    found: dict[str, str] = {}
    heading = ""
    for line in text.splitlines(keepends=True):
        if line.startswith("# "):
            heading = line.strip()
            found[heading] = ""
        if heading:
            found[heading] += line
    return found


class ResultFiles:
    """The result files in a directory, with earlier results."""

    def __init__(self, directory: str, parts: Sequence[Part[Any]]) -> None:
        self._json, self._text = (os.path.join(directory, name) for name in ("results.json", "RESULTS.md"))
        self._plots = os.path.join(directory, "plots")
        self._parts = parts
        names = {part.name for part in parts}
        known = json.loads(_read(self._json) or "{}")
        self._values: dict[str, Values] = {name: each for name, each in known.items() if name in names}
        self._sections = sections(_read(self._text))

    def add(self, part: Part[Any], result: Any, about: About) -> None:
        """Replaces the results of a part, and draws its diagrams."""
        self._values[part.name] = values_of(result, about)
        self._sections[part.heading] = part.markdown(result, about)
        draw(part.plots(result), self._plots)

    def write(self, aims: Sequence[Mapping[str, Any]]) -> str:
        """Writes both files. Returns the path of RESULTS.md."""
        os.makedirs(os.path.dirname(self._json) or ".", exist_ok=True)
        with open(self._json, "w") as file:
            json.dump(self._values, file, indent=1)
            file.write("\n")
        with open(self._text, "w") as file:
            file.write(self._markdown(aims))
        return self._text

    def _markdown(self, aims: Sequence[Mapping[str, Any]]) -> str:
        summarised = [part for part in self._parts if isinstance(part, SummarisedPart)]
        texts = [summary.markdown([self._measured(part) for part in summarised], aims)]
        texts += [self._sections[part.heading] for part in self._parts if part.heading in self._sections]
        return "\n\n".join(text.strip() for text in texts) + "\n"

    def _measured(self, part: SummarisedPart[Any]) -> summary.MeasuredPart:
        values = self._values.get(part.name)
        if values is None:
            return summary.MeasuredPart(part.name, None, [])
        return summary.MeasuredPart(part.name, about_of(values), list(part.figures(result_of(part, values))))


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""
