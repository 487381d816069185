"""Tests the verdicts about programs whose authors did not know leaktrace, and the fit of points."""

import os
import unittest

from trials import blind, blind_packages, points
from trials.finding import Finding


def finding(verdict="accumulating", types=("App.Room", "App.Message"), **more):
    return Finding({"verdict": verdict, "instances": 3, "path": [{"type": each} for each in types], **more})


def program(leaks, *types):
    return blind.Program("a", "caches", False, leaks, types, (), "")


class Verdicts(unittest.TestCase):
    def test_finding_of_the_leaked_type_names_the_leak(self):
        self.assertEqual(blind.verdict_of(program(True, "Message"), [finding()])[0], blind.NAMED)
        self.assertEqual(blind.verdict_of(program(True, "Parcel"), [finding()])[0], blind.MISSED)
        self.assertEqual(blind.verdict_of(program(True, "Message"), [])[0], blind.MISSED)

    def test_any_finding_accuses_a_correct_program(self):
        self.assertEqual(blind.verdict_of(program(False), [finding()])[0], blind.ACCUSED)
        self.assertEqual(blind.verdict_of(program(False), [])[0], blind.SILENT)

    def test_library_leak_does_not_accuse_the_program(self):
        of_library = finding(library="of Foundation")
        self.assertEqual(blind.verdict_of(program(False), [of_library])[0], blind.SILENT)
        self.assertEqual(blind.verdict_of(program(True, "Message"), [of_library])[0], blind.MISSED)

    def test_all_programs_with_packages_have_a_source_and_an_expectation(self):
        programs = blind.Program.all(blind_packages.PACKAGES)
        sources = os.listdir(os.path.join(blind_packages.PACKAGES, "Sources"))
        self.assertEqual(sorted(each.name for each in programs), sorted(sources))
        for each in programs:
            self.assertEqual(each.leaks, bool(each.types), each.name)
        self.assertEqual(2 * sum(each.leaks for each in programs), len(programs))
        self.assertTrue(0.25 < sum(each.is_held_back for each in programs) / len(programs) < 0.6)

    def test_page_about_packages_keeps_programs_that_are_held_back_to_itself(self):
        def result(name, is_held_back):
            each = blind.Program(name, "caches", is_held_back, True, ("Jar",), (), "")
            return blind.Result(each, "-O", blind.MISSED, "")

        page = blind_packages.document([result("seen", False), result("unseen", True)])
        self.assertIn("| seen `-O` | missed |", page)
        self.assertNotIn("unseen", page)

    def test_all_programs_have_a_source_and_an_expectation(self):
        programs = blind.Program.all()
        self.assertGreaterEqual(len(programs), 300)
        for each in programs:
            self.assertEqual(each.leaks, bool(each.types), each.name)
        held_back = sum(each.is_held_back for each in programs)
        self.assertTrue(0.2 < held_back / len(programs) < 0.6)


class Costs(unittest.TestCase):
    def cost(self, titles, leaks=True, wanted=None, is_settled=False):
        return points.cost(points.Recording("a", False, leaks, ("Message",), is_settled), titles, wanted)

    def test_each_kind_of_error_has_its_cost(self):
        self.assertEqual(self.cost(("accumulating Message: Room, Message",)), 0)
        self.assertEqual(self.cost(()), points.COSTS["missed"])
        self.assertEqual(self.cost((), leaks=False), 0)
        self.assertEqual(self.cost(("outlived Room: Room",), leaks=False), points.COSTS["accused"])
        self.assertEqual(self.cost(("a",), wanted=("a",), is_settled=True), 0)
        self.assertEqual(self.cost(("a", "b"), wanted=("a",), is_settled=True), points.COSTS["corpus"])

    def test_fit_takes_the_best_step_until_no_step_improves(self):
        # The suspicions that the tool lists, by the points of one rule.
        lists: dict[str, dict[str, tuple[str, ...]]] = {
            "0": {"leaky": ("Message",), "clean": ("Row",)},
            "-4": {"leaky": ("Message",)},
            "-9": {},
        }

        def judge(_tool, settings, traces, _jobs, mode="--points"):
            now = settings.get("points.many.weakens", "0")
            listed = {trace: lists[now].get(trace, ()) for trace in traces}
            moves = {
                ("points.many.weakens", value): {trace: found.get(trace, ()) for trace in traces}
                for value, found in lists.items()
                if value != now and mode == "--points"
            }
            return points.Judgement(listed, moves)

        original, points.judge = points.judge, judge
        try:
            recordings = [
                points.Recording("leaky", False, True, ("Message",)),
                points.Recording("clean", False, False, ()),
                points.Recording("other", True, True, ("Message",)),
            ]
            settings, history = points.fit("", recordings, 4, 1, lambda text: None)
        finally:
            points.judge = original
        self.assertEqual(settings, {"points.many.weakens": "-4"})
        self.assertEqual([(cost, held) for _, cost, held in history], [(3, 1), (0, 1)])


if __name__ == "__main__":
    unittest.main()
