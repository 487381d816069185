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
    def test_first_matching_judgement_applies(self):
        causes = judge(
            [finding()],
            [judgement(verdicts=("lost",)), judgement(mentions=("Screen", "*makeModel*")), judgement(FALSE)],
        )
        self.assertEqual([(cause.judgement, len(cause.findings)) for cause in causes], [(TRUE, 1)])

    def test_every_pattern_must_match(self):
        self.assertEqual(judge([finding()], [judgement(mentions=("Screen", "Other"))])[0].judgement, OPEN)

    def test_patterns_match_whole_texts_unless_they_have_stars(self):
        self.assertTrue(judgement(mentions=("*.swift",)).is_about(finding()))
        self.assertFalse(judgement(mentions=("Scree",)).is_about(finding()))

    def test_unreported_known_leak_is_missed(self):
        missed = result([], [judgement(known="its issues")])
        self.assertEqual(accuracy_report.complaints({"package": missed}), ["package: missed: because (its issues)"])

    def test_judgement_without_a_finding_is_ignored(self):
        self.assertEqual(judge([], [judgement(FALSE)]), [])

    def test_false_unjudged_or_wrongly_attributed_findings_are_reported(self):
        for judged, word in ((FALSE, "false"), (LIBRARY, accuracy_report.BLAMED)):
            said = accuracy_report.complaints({"package": result([finding()], [judgement(judged)])})
            self.assertEqual(len(said), 1)
            self.assertIn(f"{word}, {PROOF}", said[0])
        self.assertIn("unjudged", accuracy_report.complaints({"package": result([finding()], [])})[0])
        self.assertEqual(accuracy_report.complaints({"package": result([finding()], [judgement()])}), [])

    def test_library_finding_accuses_no_program(self):
        self.assertEqual(accuracy_report.complaints({"package": result([finding(library=True)], [])}), [])

    def test_suspicions_and_proofs_are_counted_separately(self):
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
        self.assertIn("**2 findings accuse a program: 2 are true, 0 false, and 0 not judged yet.**", text)
        self.assertIn("| proofs | 1 | 0 | 0 | 0 |", text)
        self.assertIn("| suspicions | 1 | 0 | 0 | 0 |", text)

    def test_certainty_comes_from_the_report_or_the_verdict(self):
        self.assertEqual(finding("outlived").certainty, SUSPICION)
        self.assertEqual(finding("outlived", certainty="proven").certainty, PROOF)
        self.assertEqual(finding("outlived", outliving={"statement": {"kind": "scope"}}).certainty, PROOF)
        self.assertEqual(finding("lost").certainty, PROOF)

    def test_every_judgement_file_is_readable(self):
        for name in os.listdir(judgements.DIRECTORY):
            self.assertTrue(judgements.read(name.removesuffix(".json")), name)

    def test_every_known_leak_belongs_to_a_tried_program(self):
        trials = os.path.dirname(judgements.DIRECTORY)
        with open(os.path.join(trials, "subjects.json")) as file:
            subjects = json.load(file)
        names = {f"{each['product']}-{form}" for each in subjects["programs"] for form in each["what"]}
        names |= {each["url"].rsplit("/", 1)[-1] for each in subjects["suites"]}
        for name in os.listdir(judgements.DIRECTORY):
            self.assertIn(name.removesuffix(".json"), names | {judgements.COMMON, "toolchain", "quiet"})
