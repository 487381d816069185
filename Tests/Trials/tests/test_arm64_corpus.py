import os
import subprocess
import tempfile
import unittest

from trials import arm64_corpus, emulation
from trials.arm64_corpus_results import Kept, Result, table_lines
from trials.corpus import Case

VARIANTS = ("dynamic-O", "dynamic-Onone")


def case(name, variant=VARIANTS[0], mode="leak"):
    return Case("corpus", name, mode, variant)


class RunTests(unittest.TestCase):
    def recorded(self, jobs):
        """Records five programs that print their names. Returns their files, and the maximum number that ran in
        parallel."""
        with tempfile.TemporaryDirectory() as answers:
            script = os.path.join(answers, "program")
            with open(script, "w", encoding="utf-8") as file:
                file.write(
                    '#!/bin/sh\ntouch "$0.$1.runs"\nls "$0".*.runs | wc -l\nsleep 0.2\nrm "$0.$1.runs"\necho "$1 $2"\n'
                )
            os.chmod(script, 0o755)
            programs = {case(f"p{number}"): script for number in range(5)}
            lines = arm64_corpus.run_lines("", programs, answers, jobs)
            text = "\n".join([emulation.RUN.format(answers=answers), *lines])
            subprocess.run(["/bin/bash", "-euc", text], check=True, capture_output=True, timeout=60)
            outputs = {}
            for each in programs:
                with open(os.path.join(answers, f"{arm64_corpus.stem(each)}.out"), encoding="utf-8") as file:
                    outputs[each.name] = file.read().split("\n")
            return {name: lines[1] for name, lines in outputs.items()}, max(int(out[0]) for out in outputs.values())

    def test_all_programs_run_and_no_more_than_the_jobs_at_the_same_time(self):
        for jobs in (1, 2):
            outputs, together = self.recorded(jobs)
            self.assertEqual(outputs, {f"p{number}": f"p{number} leak" for number in range(5)})
            self.assertLessEqual(together, jobs)


class KeptTests(unittest.TestCase):
    def test_results_of_the_same_files_are_kept_unless_dropped(self):
        result = Result(["1 × lost A"], ["not a, but b"], [None])
        for identity, dropped, expected in (("one", [], ["p", "q"]), ("one", ["p", "r"], ["q"]), ("two", [], [])):
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "corpus", "results.json")
                first = Kept(path)
                first.begin("dynamic-O", "one", [])
                first.add("dynamic-O", {"p": result, "q": result})
                second = Kept(path)
                second.begin("dynamic-O", identity, dropped)
                self.assertEqual(second.results("dynamic-O"), dict.fromkeys(expected, result))
                self.assertEqual(second.results("dynamic-Onone"), {})


class JudgementTests(unittest.TestCase):
    def test_killed_program_and_running_threads_are_no_judgement(self):
        findings = arm64_corpus.Findings
        self.assertTrue(findings([], []).is_judged)
        self.assertFalse(findings([], [], is_frozen=False).is_judged)
        self.assertFalse(findings([], [], has_ended=False).is_judged)
        complaints = arm64_corpus.compare(case("a"), findings(["1 × lost A"], []), findings([], [], has_ended=False))
        self.assertEqual(complaints, ["the program was killed", "not 1 × lost A, but nothing"])

    def test_only_a_missing_line_of_an_optimised_program_is_known(self):
        text = "not lost main.swift:3; lost A.swift:4, but lost main.swift:None; lost A.swift:None"
        self.assertIn("line 0", arm64_corpus.known_reason(case("a"), text) or "")
        self.assertIsNone(arm64_corpus.known_reason(case("a", VARIANTS[1]), text))
        self.assertIsNone(arm64_corpus.known_reason(case("a"), "not lost main.swift:3, but lost main.swift:4"))
        self.assertIsNone(arm64_corpus.known_reason(case("a"), "not lost main.swift:3, but nothing"))


class TableTests(unittest.TestCase):
    def test_table_has_a_row_for_each_program_and_a_note_for_each_difference(self):
        results = {
            case("a"): Result(["1 × lost A"], [], []),
            case("a", VARIANTS[1]): Result(["1 × lost A"], ["not x, but y"], ["A stale register."]),
            case("b", mode="clean"): Result([], [], [], ["not nothing, but 1 × lost B|C"]),
            case("b", VARIANTS[1], "clean"): Result([], ["not nothing, but z"], [None]),
        }
        self.assertEqual(
            table_lines(results, VARIANTS),
            [
                "|  | programs | equal | known differences | other differences |",
                "| -- | -- | -- | -- | -- |",
                "| dynamic-O | 2 | 2 | 0 | 0 |",
                "| dynamic-Onone | 2 | 0 | 1 | 1 |",
                "",
                "| program | findings on x86-64 | dynamic-O | dynamic-Onone |",
                "| -- | -- | -- | -- |",
                "| `a` leak | 1 × lost A | equal | known (1) |",
                "| `b` clean | none | equal (2) | **differs** (3) |",
                "",
                "1. not x, but y: A stale register.",
                "2. in the first of two runs: not nothing, but 1 × lost B\\|C",
                "3. not nothing, but z",
            ],
        )

    def test_missing_variant_of_a_program_is_named(self):
        lines = table_lines({case("a"): Result([], [], [])}, VARIANTS)
        self.assertIn("| `a` leak | none | equal | not built |", lines)
