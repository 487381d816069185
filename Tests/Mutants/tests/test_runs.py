import os
import subprocess
import sys
import tempfile
import time
import unittest

from mutation.runs import Reading, Tier, failed_name


class LineTests(unittest.TestCase):
    def test_failure_lines_name_their_test(self):
        for line, name in [
            ('✘ Test "A program ends" recorded an issue at ATests.swift:3:4: Expectation failed', "A program ends"),
            ("✘ Test sums(of:) recorded an issue with 1 argument of → 3 at A.swift:1:1: no", "sums(of:)"),
            ('✘ Test "Says "yes" twice" failed after 0.1 seconds with 1 issue.', 'Says "yes" twice'),
            ("✘ Test sums(of:) with 2 test cases failed after 0.1 seconds with 1 issue.", "sums(of:)"),
            ("test: failed: scripts/survival", "scripts/survival"),
            ("✘ Test process CountTests ended by signal 11. It said last:", "CountTests ended by signal 11"),
            ("✘ Test process CountTests ran 3 of 4 tests", "CountTests ran 3 of 4 tests"),
        ]:
            self.assertEqual(failed_name(line), name)

    def test_other_lines_are_not_failures(self):
        for line in [
            "✘ Test run with 1490 tests in 90 suites failed after 3 seconds with 1 issue.",
            "✘ Suite ATests failed after 0.1 seconds with 1 issue.",
            "✔ Test sums(of:) passed after 0.1 seconds.",
            "✘ Test sums(of:) recorded a known issue at A.swift:1:1: yes",
            "test: building",
        ]:
            self.assertIsNone(failed_name(line))

    def test_run_begins_after_the_build(self):
        reading = Reading()
        reading.take("test: setting up")
        self.assertFalse(reading.has_begun)
        reading.take("test: tests")
        self.assertTrue(reading.has_begun)

    def test_exit_without_a_failed_test_is_a_crash(self):
        reading = Reading()
        for line in ["◇ Test run started.", "◇ Test sums(of:) started."]:
            reading.take(line)
        reading.end(1)
        self.assertEqual(reading.failure, "crash (status 1) after the start of sums(of:)")

    def test_failed_build_does_not_begin_the_run(self):
        reading = Reading()
        reading.take("error: no such module")
        reading.end(1)
        self.assertFalse(reading.has_begun)


class RunTests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.tree = self.directory.name
        os.mkdir(os.path.join(self.tree, "scripts"))

    def outcome(self, script, seconds=60.0, number=7):
        path = os.path.join(self.tree, "scripts", "test")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, 0o755)
        # A run ends all processes below its own. So it runs in a separate process.
        code = (
            "import sys; from mutation import processes; from mutation.runs import Tier, run\n"
            "processes.adopt_orphans()\n"
            f"o = run({self.tree!r}, Tier.SECOND, {number!r}, {seconds!r}, {os.path.join(self.tree, 'log')!r})\n"
            "print(o.failure); print(o.has_begun)"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path) or "."}
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        failure, has_begun = done.stdout.splitlines()
        return failure, has_begun == "True"

    def test_run_gets_the_mutant_and_the_tier(self):
        script = 'echo "◇ Test run started."; echo "test: failed: $MUTANT $*"; sleep 600'
        self.assertEqual(self.outcome(script), ("7 --whole --tests-only", True))

    def test_end_of_a_run_kills_its_processes(self):
        mark = os.path.join(self.tree, "mark")
        script = f'setsid sh -c "sleep 1; touch {mark}" >/dev/null 2>&1 &\n'
        script += 'echo "✘ Test sums() failed after 1 s"\nsleep 600'
        self.assertEqual(self.outcome(script), ("sums()", True))
        time.sleep(1.5)
        self.assertFalse(os.path.exists(mark))

    def test_run_that_does_not_end_counts_as_a_failure(self):
        failure, _ = self.outcome("echo '◇ Test a() started.'; sleep 600", seconds=0.3)
        self.assertEqual(failure, "no end within 0 minutes")

    def test_passing_run_has_no_failure(self):
        self.assertEqual(self.outcome("echo '◇ Test run started.'"), ("", True))

    def test_tiers_are_arguments_of_the_script(self):
        self.assertEqual([tier.arguments for tier in Tier], [["--tests-only"], ["--whole", "--tests-only"]])
