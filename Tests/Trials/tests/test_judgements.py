import json
import os
import unittest

from trials import accuracy_report, judgements
from trials.finding import PROOF, SUSPICION
from trials.judgements import FALSE, LIBRARY, OPEN, TRUE, Judgement, judge
from trials.trial import SUITE, Result

from .findings import finding


def judgement(judged=TRUE, verdicts=("retainCycle",), mentions=("Screen",), known=""):
    return Judgement(verdicts, mentions, judged, "because", known)


def result(findings, entries):
    made = Result("package", SUITE, "1.0")
    made.causes = judge(findings, entries)
    return made.plain()


class JudgementTests(unittest.TestCase):
    def test_a_finding_goes_to_the_first_judgement_that_is_about_it(self):
        causes = judge(
            [finding()],
            [judgement(verdicts=("lost",)), judgement(mentions=("Screen", "*makeModel*")), judgement(FALSE)],
        )
        self.assertEqual([(cause.judgement, len(cause.findings)) for cause in causes], [(TRUE, 1)])

    def test_every_pattern_has_to_be_mentioned(self):
        self.assertEqual(judge([finding()], [judgement(mentions=("Screen", "Other"))])[0].judgement, OPEN)

    def test_patterns_are_of_whole_texts_unless_they_have_stars(self):
        self.assertTrue(judgement(mentions=("*.swift",)).is_about(finding()))
        self.assertFalse(judgement(mentions=("Scree",)).is_about(finding()))

    def test_a_known_leak_that_is_not_found_is_missed(self):
        missed = result([], [judgement(known="its issues")])
        self.assertEqual(accuracy_report.complaints({"package": missed}), ["package: missed: because (its issues)"])

    def test_a_judgement_of_which_there_is_no_finding_any_more_says_nothing(self):
        self.assertEqual(judge([], [judgement(FALSE)]), [])

    def test_what_is_false_or_unjudged_or_blamed_on_the_program_is_complained_of(self):
        for judged, word in ((FALSE, "false"), (LIBRARY, accuracy_report.BLAMED)):
            said = accuracy_report.complaints({"package": result([finding()], [judgement(judged)])})
            self.assertEqual(len(said), 1)
            self.assertIn(f"{word}, {PROOF}", said[0])
        self.assertIn("unjudged", accuracy_report.complaints({"package": result([finding()], [])})[0])
        self.assertEqual(accuracy_report.complaints({"package": result([finding()], [judgement()])}), [])

    def test_what_is_told_as_a_librarys_accuses_nobody(self):
        self.assertEqual(accuracy_report.complaints({"package": result([finding(library=True)], [])}), [])

    def test_suspicions_and_proofs_are_counted_apart(self):
        text = accuracy_report.markdown(
            {
                "package": {
                    **result(
                        [finding(), finding("outlived", ("Screen",))], [judgement(verdicts=("retainCycle", "outlived"))]
                    ),
                    "leaktrace": "",
                }
            }
        )
        self.assertIn("| proofs | 1 | 0 | 0 | 0 |", text)
        self.assertIn("| suspicions | 1 | 0 | 0 | 0 |", text)

    def test_certainty_is_what_the_report_says_and_else_what_the_verdict_is(self):
        self.assertEqual(finding("outlived").certainty, SUSPICION)
        self.assertEqual(finding("outlived", certainty="proven").certainty, PROOF)
        self.assertEqual(finding("outlived", outliving={"statement": {"kind": "scope"}}).certainty, PROOF)
        self.assertEqual(finding("lost").certainty, PROOF)

    def test_every_file_of_judgements_can_be_read_and_is_about_a_subject(self):
        for name in os.listdir(judgements.DIRECTORY):
            self.assertTrue(judgements.read(name.removesuffix(".json")), name)

    def test_every_known_leak_is_of_a_program_that_is_tried(self):
        trials = os.path.dirname(judgements.DIRECTORY)
        with open(os.path.join(trials, "subjects.json")) as file:
            subjects = json.load(file)
        names = {f"{each['product']}-{form}" for each in subjects["programs"] for form in each["what"]}
        names |= {each["url"].rsplit("/", 1)[-1] for each in subjects["suites"]}
        for name in os.listdir(judgements.DIRECTORY):
            self.assertIn(name.removesuffix(".json"), names | {judgements.COMMON, "toolchain", "quiet"})
