import unittest

from measuring.budget import judge


class BudgetTests(unittest.TestCase):
    def test_a_path_may_exceed_its_budget_by_a_tenth_or_by_half_an_instruction(self) -> None:
        self.assertEqual(judge({"long": 100, "short": 2}, {"long": 110, "short": 2.5}), ([], []))
        failures, _ = judge({"long": 100, "short": 2}, {"long": 110.1, "short": 2.6})
        self.assertEqual([failure.split(":")[0] for failure in failures], ["long", "short"])

    def test_a_path_far_below_its_budget_gives_a_hint(self) -> None:
        failures, hints = judge({"long": 100}, {"long": 80})
        self.assertEqual(failures, [])
        self.assertEqual(hints, ["long: 80 instructions per call, the budget is 100 (-20%): lower the budget"])

    def test_a_path_without_a_budget_and_a_budget_without_a_path_fail(self) -> None:
        failures, _ = judge({"gone": 1}, {"new": 2})
        self.assertEqual(
            failures, ["gone: has a budget, but was not measured", "new: 2 instructions per call, but no budget"]
        )
