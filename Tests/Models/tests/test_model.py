"""A check finds faults of protocols, of mutants, and of models."""

import dataclasses
import unittest

from models.execution import Processor
from models.language import Load, MakeThread, Note, Order, Store, Thread
from models.model import Model, Variant, check


def _threads(v: Variant) -> list[MakeThread]:
    def writer() -> Thread:
        yield Store("x", 1)
        yield Store("y", 1, v.order("store"))

    def reader() -> Thread:
        y = yield Load("y", v.order("load"))
        x = yield Load("x")
        yield Note("x", x if y else 2)

    return [writer, reader]


PASSING = Model(
    name="message passing",
    code="writer; reader",
    initial={"x": 0, "y": 0},
    threads=_threads,
    orders={"store": Order.RELEASE, "load": Order.ACQUIRE},
    is_wrong=lambda o: o.notes["x"] == 0,
    is_useful=lambda o: o.notes["x"] == 1,
)


class CheckTests(unittest.TestCase):
    def test_a_right_model(self) -> None:
        result = check(PASSING)
        self.assertTrue(result.is_right())
        self.assertEqual(result.caught, ["store relaxed", "load relaxed"])

    def test_a_wrong_order(self) -> None:
        result = check(dataclasses.replace(PASSING, orders={"store": Order.RELEASE, "load": Order.RELAXED}))
        self.assertEqual(list(result.wrong), [Processor.ARM64])

    def test_an_order_that_is_not_needed(self) -> None:
        result = check(dataclasses.replace(PASSING, is_wrong=lambda o: False))
        self.assertEqual(result.missed, ["store", "load"])
        self.assertFalse(result.is_right())

    def test_a_needed_order_that_is_called_spare(self) -> None:
        result = check(dataclasses.replace(PASSING, spare={"load": "no reason"}))
        self.assertEqual(result.needless, ["load relaxed"])

    def test_a_model_without_its_aim(self) -> None:
        result = check(dataclasses.replace(PASSING, is_useful=lambda o: o.notes["x"] == 3))
        self.assertEqual(result.useless, [Processor.ARM64, Processor.X86_64])


if __name__ == "__main__":
    unittest.main()
