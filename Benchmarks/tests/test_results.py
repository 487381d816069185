import os
import tempfile
import unittest
from dataclasses import dataclass
from typing import Any

from measuring.part import About, Bench, Part
from measuring.results import ResultFiles, sections, values_of


@dataclass
class Lap:
    seconds: list[float]
    others: list[float]


class Laps(Part[Lap]):
    result = Lap

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]
        self.heading = f"# {name}"  # type: ignore[misc]

    def measure(self, bench: Bench) -> Lap:
        raise NotImplementedError

    def markdown(self, result: Lap, about: About) -> str:
        return f"{self.heading}\n\n{result.seconds[0]} on {about.date}"


def about(date: str) -> About:
    return About(date, "", {"leaktrace": "abc"})


class ResultFileTests(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.parts: tuple[Part[Any], ...] = (Laps("first"), Laps("second"))

    def write(self, part: int, seconds: float, date: str) -> str:
        files = ResultFiles(self.directory, self.parts)
        files.add(self.parts[part], Lap([seconds], [0.1, 0.3, 0.2]), about(date))
        with open(files.write([])) as file:
            return file.read()

    def test_other_parts_keep_their_results_and_all_stay_in_order(self) -> None:
        self.write(1, 2.0, "Monday")
        text = self.write(0, 1.0, "Tuesday")
        self.assertIn("# first\n\n1.0 on Tuesday\n\n# second\n\n2.0 on Monday\n", text)
        text = self.write(1, 3.0, "Wednesday")
        self.assertIn("# first\n\n1.0 on Tuesday\n\n# second\n\n3.0 on Wednesday\n", text)
        self.assertEqual(sorted(os.listdir(self.directory)), ["RESULTS.md", "results.json"])

    def test_results_of_a_removed_part_are_dropped(self) -> None:
        self.write(1, 2.0, "Monday")
        self.parts = self.parts[:1]
        self.assertNotIn("second", self.write(0, 1.0, "Tuesday"))

    def test_the_highest_use_by_other_processes_is_stored(self) -> None:
        values = values_of(Lap([1.0], [0.1, 0.3, 0.2]), about("Monday"))
        self.assertEqual(values["part"]["others"], 0.3)
        self.assertEqual(values["seconds"], [1.0])

    def test_sections_start_at_headings_of_the_first_level(self) -> None:
        found = sections("lost\n# a\n\n## b\nc\n# d\n")
        self.assertEqual(found, {"# a": "# a\n\n## b\nc\n", "# d": "# d\n"})
