"""RESULTS.md and results.json: what was measured is written, part by part, and what was not is kept."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import summary
from .part import About, Part, SummarisedPart
from .plots import draw
from .records import plain, record

Values = dict[str, Any]  # what results.json has of a part


def values_of(result: Any, about: About) -> Values:
    """What results.json gets of a part's result. Notes in `about` how busy others kept the machine."""
    found = plain(result)
    about.others = max(_others(found), default=None)
    return {"part": plain(about), **found}


def result_of(part: Part[Any], values: Values) -> Any:
    """The result of which these are the values."""
    return record(part.result, {name: each for name, each in values.items() if name != "part"})


def about_of(values: Values) -> About:
    return record(About, values["part"])


def _others(values: Any) -> Iterator[float]:
    """How many processors others kept busy, wherever it is noted."""
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
    """By heading of the first level, the text below it with it."""
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
    """The files in a directory, with what they have from earlier times."""

    def __init__(self, directory: str, parts: Sequence[Part[Any]]) -> None:
        self._json, self._text = (os.path.join(directory, name) for name in ("results.json", "RESULTS.md"))
        self._plots = os.path.join(directory, "plots")
        self._parts = parts
        names = {part.name for part in parts}
        known = json.loads(_read(self._json) or "{}")
        self._values: dict[str, Values] = {name: each for name, each in known.items() if name in names}
        self._sections = sections(_read(self._text))

    def add(self, part: Part[Any], result: Any, about: About) -> None:
        """Takes the place of what the files have of the part."""
        self._values[part.name] = values_of(result, about)
        self._sections[part.heading] = part.markdown(result, about)
        draw(part.plots(result), self._plots)

    def write(self, aims: Sequence[Mapping[str, Any]]) -> str:
        """Returns the path of the text."""
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
