import unittest

from trials.flips import flips, unsteady
from trials.leaktrace import Analysis
from trials.processes import Outcome

from .findings import finding


class FlipTests(unittest.TestCase):
    def test_equal_runs_have_no_flip(self):
        run = [finding(), finding("lost", ("Image",), "b2", 4)]
        self.assertEqual(flips([run, list(reversed(run)), run]), [])

    def test_finding_missing_from_a_run_is_a_flip(self):
        lines = flips([[finding()], [], [finding()]])
        self.assertEqual(lines, ["verdict retainCycle (proven): 1 findings in 2, 0 findings in 1 runs, Screen ⇄ Model"])

    def test_change_from_proof_to_suspicion_is_a_flip(self):
        lines = flips(
            [
                [finding("outlived", ("Request",), certainty="proven")],
                [finding("outlived", ("Request",), certainty="suspected")],
            ]
        )
        self.assertEqual(len(lines), 2)

    def test_weak_suspicion_counts_as_absent(self):
        def findings(strength):
            found = finding("outlived", ("Request",), strength=strength)
            return Analysis(Outcome(0, "", 0.0, 0, False), 0, {"findings": [found.values]}).findings

        self.assertEqual(len(flips([findings("strong"), findings("weak")])), 1)

    def test_different_type_is_a_flip(self):
        lines = flips([[finding(types=("A",))], [finding(types=("B",))]])
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("type of retainCycle"), lines)

    def test_different_counts_and_fingerprints_are_flips(self):
        lines = flips([[finding(instances=5)], [finding(instances=4)], [finding(instances=5, fingerprint="c3")]])
        self.assertEqual([line.split(" of ")[0] for line in lines], ["count", "fingerprint"])
        self.assertIn("in 2", lines[0])

    def test_only_the_flipping_finding_of_a_verdict_is_shown(self):
        lines = flips(
            [
                [finding(types=("A",)), finding(types=("B",), instances=2)],
                [finding(types=("A",)), finding(types=("B",), instances=3)],
            ]
        )
        self.assertEqual(lines, ["count of retainCycle (proven): B 2 in 1, B 3 in 1 runs"])


class FingerprintTests(unittest.TestCase):
    def test_unsteady_fingerprint_is_reported_with_its_title_and_path(self):
        lines = unsteady([[finding()], [finding(fingerprint="b2")], [finding()]])
        self.assertEqual(
            [line.split(":")[0] for line in lines], ["fingerprint a1 in 2 of 3 runs", "fingerprint b2 in 1 of 3 runs"]
        )
        self.assertIn("retainCycle Screen ⇄ Model", lines[0])
        self.assertIn("makeModel()", lines[0])

    def test_different_title_or_count_of_one_cause_is_steady(self):
        self.assertEqual(unsteady([[finding(instances=5)], [finding(types=("Model", "Screen"), instances=6)]]), [])
