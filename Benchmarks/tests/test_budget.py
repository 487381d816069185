import unittest

from measuring.budget import judge


class BudgetTests(unittest.TestCase):
    def test_a_path_may_grow_by_a_tenth_or_by_half_an_instruction(self) -> None:
        self.assertEqual(judge({"long": 100, "short": 2}, {"long": 110, "short": 2.5}), ([], []))
        failures, _ = judge({"long": 100, "short": 2}, {"long": 110.1, "short": 2.6})
        self.assertEqual([failure.split(":")[0] for failure in failures], ["long", "short"])

    def test_a_path_that_takes_much_less_is_a_hint(self) -> None:
        failures, hints = judge({"long": 100}, {"long": 80})
        self.assertEqual(failures, [])
        self.assertEqual(hints, ["long: 80 instructions a call, the budget is 100 (-20%): lower the budget"])

    def test_budgets_and_paths_belong_together(self) -> None:
        failures, _ = judge({"gone": 1}, {"new": 2})
        self.assertEqual(
            failures, ["gone: has a budget and was not measured", "new: 2 instructions a call, and no budget"]
        )
