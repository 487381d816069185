"""Checks the protocols of the recorder's lock-free code, and writes their table. See scripts/check-models."""

import argparse
import collections.abc
import os
import sys
import time

from . import litmus
from .execution import Processor
from .model import Model, Result, check
from .protocols import MODELS

PAGE = "docs/engineering/memory-order.md"
BEGIN, END = "<!-- scripts/check-models writes from here -->", "<!-- to here -->"


def rows(results: list[tuple[Model, Result]]) -> collections.abc.Iterator[str]:
    """The table of all models, in Markdown."""
    yield "| protocol | functions | tried | possible on arm64 | on x86-64 | wrong | mutants caught |"
    yield "| -- | -- | -- | -- | -- | -- | -- |"
    for model, r in results:
        counts = [str(r.executions.get(p, "")) for p in Processor]
        mutants = f"{len(r.caught)} of {len(r.caught) + len(r.missed)}"
        wrong = ", ".join(p.value for p in r.wrong) or "none"
        code = "; ".join(", ".join(map(_marked, part.split(", "))) for part in model.code.split("; "))
        yield f"| {model.name} | {code} | {r.tried:,} | {counts[0]} | {counts[1]} | {wrong} | {mutants} |"


def _marked(text: str) -> str:
    is_name = text.replace("_", "").replace(".", "").isalnum()
    return f"`{text}`" if is_name else text


def problems(model: Model, r: Result) -> collections.abc.Iterator[str]:
    """What is wrong with a model, in words."""
    for processor, outcome in r.wrong.items():
        yield f"{model.name}: wrong on {processor.value}: notes {outcome.notes}, memory {outcome.memory}"
    for processor in r.useless:
        yield f"{model.name}: on {processor.value}, no execution reaches its aim"
    for label in r.missed:
        yield f"{model.name}: no execution needs the order of: {label}"
    for label in r.needless:
        yield f"{model.name}: the model calls this order spare, but needs it: {label}"


def compare(folder: str, seen: str) -> int:
    """Compares verdicts about litmus tests with those of herd7. `seen`: its output for all tests of the folder."""
    expected: dict[str, bool] = {}
    name = ""
    with open(seen, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words[:1] == ["Test"]:
                name = words[1]
            if words[:1] == ["Observation"]:
                expected[name] = words[2] != "Never"
    equal, different, unknown = 0, 0, 0
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".litmus"):
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            try:
                test = litmus.read(text.read())
                result = test.is_seen()
            except litmus.UnsupportedTest:
                unknown += 1
                continue
        if result == expected.get(test.name):
            equal += 1
        else:
            different += 1
            print(f"check-models: {test.name}: herd7 {expected.get(test.name)}, here {result}", file=sys.stderr)
    print(f"{equal} litmus tests have the same verdict, {different} another, {unknown} could not be read")
    return 1 if different or not equal else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="check-models")
    parser.add_argument("--write", action="store_true", help=f"writes the table to {PAGE}")
    parser.add_argument("--only", default="", help="checks only models whose name contains this text")
    parser.add_argument("--compare", nargs=2, metavar=("FOLDER", "OUTPUT"), help="litmus tests, and herd7's output")
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    results: list[tuple[Model, Result]] = []
    status = 0
    for model in MODELS:
        if options.only not in model.name:
            continue
        begin = time.monotonic()
        result = check(model)
        results.append((model, result))
        verdict = "right" if result.is_right() else "WRONG"
        print(f"{verdict}: {model.name} ({time.monotonic() - begin:.1f} s)", file=sys.stderr)
        for problem in problems(model, result):
            print(f"check-models: {problem}", file=sys.stderr)
            status = 1
    table = "\n".join(rows(results))
    print(table)
    if options.write and not status and not options.only:
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(f"{text[:start]}\n\n{table}\n\n{text[end:]}")
    return status if results else 64


sys.exit(main())
