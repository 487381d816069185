"""Tests the table of constants."""

import unittest

from trials.rules import parsed, table

OUTPUT = "\n".join(
    [
        "constant\tminOutlived\t3",
        "constant\tshare\t0.5",
        "constant\tearly\t0.2 to 0.4",
        "minOutlived\t3\t1\tcorpus-feed-screen-clean-dynamic-O-0.trace\tgains\toutlived A",
        "minOutlived\t3\t2\tcorpus-feed-screen-clean-dynamic-O-0.trace\tgains\toutlived A",
        "minOutlived\t3\t2\tcorpus-feed-screen-clean-dynamic-Onone-0.trace\tgains\toutlived A",
        "minOutlived\t3\t6\tscopes-timer-leak-dynamic-O-0.trace\tloses\toutlived B",
        "early\t0.2 to 0.4\t0.25 to 0.45\tnio-corpus-nio-x-leak-dynamic-O-0.trace\tweakens\toutlived C",
    ]
)


def table_of(output):
    constants, changes = parsed(output)
    return table(constants, changes, 7)


class Table(unittest.TestCase):
    def test_table_names_the_nearest_value_that_changes_a_verdict(self):
        lines = table_of(OUTPUT).splitlines()
        self.assertIn("| `minOutlived` | 3 | 2: feed-screen (clean) gains | 6: timer (leak) loses |", lines)
        self.assertIn("| `early` | 0.2 to 0.4 |  | 0.25 to 0.45: nio-x (leak) weakens |", lines)

    def test_table_lists_unheld_constants(self):
        text = table_of(OUTPUT)
        self.assertIn("Programs of the corpus need 2 of 3 constants.", text)
        self.assertTrue(text.rstrip().endswith("wrong: `share`."))

    def test_table_counts_unnamed_programs(self):
        rows = [f"share\t0.5\t0.4\tcorpus-p{n}-leak-dynamic-O-0.trace\tloses\toutlived B" for n in range(5)]
        text = table_of("\n".join([OUTPUT, *rows]))
        self.assertIn("0.4: p0 (leak) loses, p1 (leak) loses, p2 (leak) loses, 2 more", text)


if __name__ == "__main__":
    unittest.main()
