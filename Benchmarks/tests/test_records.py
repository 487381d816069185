import unittest
from dataclasses import dataclass, field
from typing import Annotated

from measuring.figures import Series
from measuring.records import Mark, Named, plain, record


@dataclass
class Facts:
    events: int | None = None
    cut_stacks: Annotated[int | None, Named("cut stacks")] = None


@dataclass
class Round:
    wall: Series
    facts: Annotated[Facts, Mark.INLINED]
    note: Annotated[str | None, Mark.KEPT] = None


@dataclass
class Rounds:
    ways: dict[str, list[Round]]
    functions: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class Phases:
    count: int
    series: Annotated[dict[str, Series], Mark.INLINED]


class RecordTests(unittest.TestCase):
    def test_an_inlined_record_has_its_entries_in_the_enclosing_record(self) -> None:
        value = plain(Round(Series([1.5, 2.0]), Facts(7, 3)))
        self.assertEqual(value, {"wall": [1.5, 2.0], "events": 7, "cut stacks": 3, "note": None})
        self.assertEqual(record(Round, value), Round(Series([1.5, 2.0]), Facts(7, 3)))

    def test_an_inlined_dictionary_has_all_entries_that_belong_to_no_field(self) -> None:
        value = {"count": 2, "replay: wall": [1.0], "replay: peak": [3.0]}
        found = record(Phases, value)
        self.assertEqual(found.series["replay: peak"].values, [3.0])
        self.assertEqual(plain(found), value)

    def test_none_is_left_out(self) -> None:
        self.assertEqual(plain(Facts(events=4)), {"events": 4})
        self.assertEqual(record(Facts, {}), Facts())

    def test_lists_dictionaries_and_pairs_are_read_as_they_were_written(self) -> None:
        rounds = Rounds({"untraced": [Round(Series([1.0]), Facts())]}, [("malloc", 0.5)])
        self.assertEqual(record(Rounds, plain(rounds)), rounds)

    def test_values_that_do_not_fit_the_record_are_refused(self) -> None:
        with self.assertRaises(KeyError):
            record(Rounds, {})
        with self.assertRaises(TypeError):
            record(Facts, {"events": "many"})
