"""Checks that the committed RESULTS.md is the text that the parts write for the committed results.json."""

import json
import os
import shutil
import tempfile
import unittest
from typing import Any

from measuring.part import BENCHMARKS, Part
from measuring.parts import PARTS
from measuring.records import plain
from measuring.results import ResultFiles, about_of, result_of, sections, values_of


class CommittedResultsTests(unittest.TestCase):
    def setUp(self) -> None:
        with open(os.path.join(BENCHMARKS, "results.json")) as file:
            known: dict[str, Any] = json.load(file)
        with open(os.path.join(BENCHMARKS, "RESULTS.md")) as file:
            self.sections = sections(file.read())
        self.measured: list[tuple[Part[Any], dict[str, Any]]] = [
            (part, known[part.name]) for part in PARTS if "part" in known.get(part.name, {})
        ]

    def test_at_least_five_parts_have_results(self) -> None:
        self.assertGreaterEqual(len(self.measured), 5)

    def test_a_record_that_is_read_and_written_is_unchanged(self) -> None:
        for part, values in self.measured:
            with self.subTest(part=part.name):
                written = json.loads(json.dumps(plain(result_of(part, values))))
                self.assertEqual(written, {name: each for name, each in values.items() if name != "part"})

    def test_use_by_other_processes_is_recomputed_from_the_values(self) -> None:
        for part, values in self.measured:
            with self.subTest(part=part.name):
                again = values_of(result_of(part, values), about_of(values))
                self.assertEqual(again["part"], values["part"])

    def test_the_text_matches_the_values(self) -> None:
        for part, values in self.measured:
            with self.subTest(part=part.name):
                text = part.markdown(result_of(part, values), about_of(values))
                self.assertEqual(text.strip(), self.sections[part.heading].strip())

    def test_writing_the_files_again_changes_nothing(self) -> None:
        with open(os.path.join(BENCHMARKS, "aims.json")) as file:
            aims = json.load(file)
        with tempfile.TemporaryDirectory() as directory:
            for name in ("results.json", "RESULTS.md"):
                shutil.copy(os.path.join(BENCHMARKS, name), directory)
            ResultFiles(directory, PARTS).write(aims)
            for name in ("results.json", "RESULTS.md"):
                with open(os.path.join(BENCHMARKS, name)) as old, open(os.path.join(directory, name)) as new:
                    self.assertEqual(new.read(), old.read())
