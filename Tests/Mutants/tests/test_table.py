import unittest

from mutation.mutants import Mutant
from mutation.runs import Tier
from mutation.table import Row, line, text

MUTANT = Mutant(
    name="slip", breaks="It breaks a | b.", file="Sources/a.c", function="sum", original="a + b", mutated="a - b"
)


class TableTests(unittest.TestCase):
    def test_a_row_has_the_place_and_the_test(self):
        self.assertEqual(
            line(Row(MUTANT, Tier.FIRST, "sums(of:)", 12.4)),
            "| `slip` | `Sources/a.c:sum` | It breaks a \\| b. | first | sums(of:) | 12 |",
        )

    def test_uncaught_mutant_is_shown(self):
        self.assertIn("| none | **not caught** | 3 |", line(Row(MUTANT, None, "", 3)))

    def test_the_summary_counts_by_tier(self):
        rows = [Row(MUTANT, Tier.FIRST, "a()", 1), Row(MUTANT, Tier.SECOND, "b()", 1), Row(MUTANT, None, "", 1)]
        whole = text(rows, 61.2, "2026-01-02")
        self.assertIn("2026-01-02: the tests caught 2 of 3 mutants in 61 minutes.", whole)
        self.assertIn("The first tier caught 1, the second 1, and 1 were not caught.", whole)
