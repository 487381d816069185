import unittest

from measuring.part import About, Figure
from measuring.summary import MeasuredPart, aim_of, markdown

AIMS = [
    {"row": ["times", "--arc off"], "at most": 2.5},
    {"row": ["times"], "at most": 4},
    {"row": ["events/s"], "at least": 20},
]


def about(arguments: str = "--rounds 7", others: float | None = None, version: str = "abc") -> About:
    return About("2030-01-01", arguments, {"leaktrace": version}, others)


class SummaryTests(unittest.TestCase):
    def test_the_first_aim_whose_words_all_occur_applies(self) -> None:
        found = aim_of(Figure("churn: times the untraced run, --arc off", 2.0), AIMS)
        self.assertTrue(found and found.limit == 2.5 and not found.is_minimum)
        self.assertIsNone(aim_of(Figure("bytes", 1.0), AIMS))

    def test_an_aim_is_reached_or_missed(self) -> None:
        figures = [
            Figure("times a", 4.0, 9.0, " ×"),
            Figure("times b", 4.01, None, " ×"),
            Figure("events/s", 19.9),
            Figure("times c", None),
            Figure("bytes", 1.0),
        ]
        lines = markdown([MeasuredPart("recording", about(), figures)], AIMS).splitlines()
        self.assertIn("| times a | ≤ 4.00 × | 4.00 × | 9.00 × | yes |", lines)
        self.assertIn("| times b | ≤ 4.00 × | 4.01 × |  | **no** |", lines)
        self.assertIn("| events/s | ≥ 20.00 | 19.90 |  | **no** |", lines)
        self.assertIn("| times c | ≤ 4.00 | not measured |  |  |", lines)
        self.assertIn("| bytes |  | 1.00 |  |  |", lines)
        self.assertTrue(any(line.startswith("1 of 3 aims are reached.") for line in lines))

    def test_reasons_to_doubt_a_part_are_listed(self) -> None:
        doubtful = [
            MeasuredPart("a", about("--quick --rounds 2"), []),
            MeasuredPart("b", about(others=0.4), []),
            MeasuredPart("c", about(version="abc-dirty"), []),
            MeasuredPart("d", about(others=0.2), []),
            MeasuredPart("e", None, []),
        ]
        text = markdown(doubtful, AIMS)
        self.assertIn("- a: 2030-01-01, `scripts/bench --quick --rounds 2`, leaktrace abc (**quick", text)
        self.assertIn("(**disturbed: other processes kept up to 0.4 processors busy**)", text)
        self.assertIn("leaktrace abc-dirty (with uncommitted changes)", text)
        self.assertIn("- d: 2030-01-01, `scripts/bench --rounds 7`, leaktrace abc\n- e: not measured", text)
