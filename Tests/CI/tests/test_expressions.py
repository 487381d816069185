import unittest
from typing import Any

from ci.expressions import ExpressionError, condition, evaluate, interpolate

CONTEXTS: dict[str, Any] = {
    "inputs": {"name": "leaks", "empty": "", "fail-on": "peak:10%"},
    "steps": {"check": {"outputs": {"status": "1"}, "outcome": "success"}},
}


class ExpressionTests(unittest.TestCase):
    def test_contexts_have_values(self) -> None:
        self.assertEqual(interpolate("a ${{ inputs.name }}, ${{inputs.fail-on}}!", CONTEXTS), "a leaks, peak:10%!")
        self.assertEqual(interpolate("${{ steps.missing.outputs.status }}", CONTEXTS), "")
        self.assertEqual(interpolate("${{ inputs.empty != '' }}", CONTEXTS), "false")

    def test_operators_are_evaluated(self) -> None:
        for text, value in [
            ("inputs.name == 'LEAKS'", True),
            ("inputs.name != 'leaks' || steps.check.outputs.status == '1'", True),
            ("!inputs.empty && 'it''s'", "it's"),
            ("inputs.empty || 'other'", "other"),
            ("(inputs.name == 'a' || true) && false", False),
            ("steps.check.outputs.status == 1", True),
            ("inputs.missing == ''", True),
        ]:
            self.assertEqual(evaluate(text, CONTEXTS), value, text)

    def test_step_without_a_status_function_requires_success(self) -> None:
        self.assertTrue(condition(None, CONTEXTS, failed=False))
        self.assertFalse(condition(None, CONTEXTS, failed=True))
        self.assertFalse(condition("inputs.name == 'leaks'", CONTEXTS, failed=True))
        self.assertTrue(condition("always() && inputs.name == 'leaks'", CONTEXTS, failed=True))
        self.assertTrue(condition("${{ failure() }}", CONTEXTS, failed=True))

    def test_unsupported_expression_is_an_error(self) -> None:
        for text in ["hashFiles('a')", "secrets.x", "inputs.name ==", "inputs.name 'a'", "(true", "a % b"]:
            with self.assertRaises(ExpressionError, msg=text):
                evaluate(text, CONTEXTS)
