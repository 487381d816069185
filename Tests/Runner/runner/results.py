"""What a test process says of its tests."""

import dataclasses
import pathlib
import xml.etree.ElementTree


@dataclasses.dataclass(frozen=True)
class Result:
    """One test function with all of its arguments."""

    suite: str
    name: str
    seconds: float
    # passed, failed or skipped
    outcome: str


def read(path: pathlib.Path) -> list[Result]:
    """Reads the file that a test process writes about its tests. Empty if there is none, as after a crash."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    results = []
    for case in root.iter("testcase"):
        outcome = "passed"
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        elif case.find("skipped") is not None:
            outcome = "skipped"
        suite = case.get("classname", "")
        results.append(Result(suite, case.get("name", ""), float(case.get("time", "0")), outcome))
    return results


def slowest(results: list[Result], limit: int) -> list[Result]:
    """The tests that took longest, slowest first."""
    return sorted(results, key=lambda result: -result.seconds)[:limit]


def suites(results: list[Result]) -> list[tuple[str, float, int]]:
    """Each suite with its seconds and its number of tests that ran, slowest first."""
    totals: dict[str, tuple[float, int]] = {}
    for result in results:
        if result.outcome == "skipped":
            continue
        seconds, count = totals.get(result.suite, (0.0, 0))
        totals[result.suite] = (seconds + result.seconds, count + 1)
    return sorted(((name, *total) for name, total in totals.items()), key=lambda row: -row[1])
