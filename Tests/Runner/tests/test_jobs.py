import re
import unittest

from runner import jobs

LISTED = [
    "DiffTests.CountTests/equal()",
    "DiffTests.topLevel()",
    "ProgramTests.CorpusTests/verdicts(variant:)",
    "ProgramTests.CorpusTests/verdicts(variant:mode:)",
    "ProgramTests.CorpusTestsOfOthers/verdicts(variant:)",
    "ProgramTests.RetainBalanceTests/balances(variant:)",
    "ProgramTests.Outer/Inner/nested()",
    "ProgramTests.alone()",
    "ProgramTests.QuotedTests/`a name with (parentheses) | and more`()",
]


class JobTests(unittest.TestCase):
    def test_every_test_runs_in_one_job(self):
        found = jobs.jobs(LISTED)
        for identifier in LISTED:
            # The test program matches patterns against identifiers with the source location behind them.
            for written in (identifier, f"{identifier}/File.swift:12:4"):
                matching = [job.name for job in found if re.search(job.pattern, written)]
                self.assertEqual(len(matching), 1, f"{written} is in {matching}")
        self.assertEqual(sum(job.count for job in found), len(LISTED))

    def test_suites_that_share_recordings_are_one_job(self):
        by_name = {job.name: job for job in jobs.jobs(LISTED)}
        self.assertEqual(by_name["CorpusTests"].count, 3)
        self.assertNotIn("RetainBalanceTests", by_name)
        self.assertEqual(by_name["CorpusTestsOfOthers"].count, 1)

    def test_each_other_target_is_one_job(self):
        by_name = {job.name: job for job in jobs.jobs(LISTED)}
        self.assertEqual(by_name["DiffTests"].count, 2)
        self.assertEqual(by_name["ProgramTests"].count, 1)

    def test_long_jobs_begin_first(self):
        self.assertEqual(jobs.jobs(LISTED)[0].name, "CorpusTests")


if __name__ == "__main__":
    unittest.main()
