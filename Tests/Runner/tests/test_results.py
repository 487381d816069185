import pathlib
import tempfile
import unittest

from runner import results

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="TestResults" errors="0" tests="4" failures="1" skipped="1" time="3.5">
  <testcase classname="A.First" name="quick()" time="0.5" />
  <testcase classname="A.First" name="broken()" time="1.25"><failure message="Expectation failed" /></testcase>
  <testcase classname="A.Second" name="slow()" time="2" />
  <testcase classname="A.Second" name="later()" time="9"><skipped>left out</skipped></testcase>
</testsuite></testsuites>
"""


class ResultTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "report.xml"

    def test_outcomes_are_read(self):
        self.path.write_text(REPORT)
        outcomes = [(result.name, result.outcome) for result in results.read(self.path)]
        expected = [("quick()", "passed"), ("broken()", "failed"), ("slow()", "passed"), ("later()", "skipped")]
        self.assertEqual(outcomes, expected)

    def test_suites_add_up_without_skipped_tests(self):
        self.path.write_text(REPORT)
        self.assertEqual(results.suites(results.read(self.path)), [("A.Second", 2.0, 1), ("A.First", 1.75, 2)])

    def test_a_process_that_crashed_has_no_results(self):
        self.assertEqual(results.read(self.path), [])
        self.path.write_text(REPORT[:200])
        self.assertEqual(results.read(self.path), [])


if __name__ == "__main__":
    unittest.main()
