"""Known litmus tests have the verdicts of the Arm and x86-64 memory models."""

import unittest

from models.execution import Processor, outcomes
from models.language import (
    Branch,
    Fence,
    Load,
    LoadFence,
    MakeThread,
    Note,
    Order,
    Step,
    Store,
    Thread,
    ThreadBarrier,
    Value,
    add,
)

ARM, X86 = Processor.ARM64, Processor.X86_64
RELAXED, ACQUIRE, RELEASE, SC = Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.SC
PLACES = {"x": 0, "y": 0, "z": 0}


def thread(*steps: Step | str) -> MakeThread:
    """A thread of these steps. A text names the value of the load before it."""

    def run() -> Thread:
        value = Value(0)
        for step in steps:
            if isinstance(step, str):
                yield Note(step, value)
            else:
                read = yield step
                value = read if isinstance(step, Load) else value

    return run


def can(processor: Processor, threads: list[MakeThread], **expected: int) -> bool:
    """True if an execution ends with these notes and values of places."""
    return any(
        all((o.notes | o.memory).get(name) == value for name, value in expected.items())
        for o in outcomes(threads, PLACES, processor)
    )


class LitmusTests(unittest.TestCase):
    def test_message_passing(self) -> None:
        def passing(store: Order, load: Order) -> list[MakeThread]:
            return [thread(Store("x", 1), Store("y", 1, store)), thread(Load("y", load), "a", Load("x"), "b")]

        self.assertTrue(can(ARM, passing(RELAXED, ACQUIRE), a=1, b=0))
        self.assertTrue(can(ARM, passing(RELEASE, RELAXED), a=1, b=0))
        self.assertFalse(can(ARM, passing(RELEASE, ACQUIRE), a=1, b=0))
        self.assertFalse(can(X86, passing(RELAXED, RELAXED), a=1, b=0))

    def test_message_passing_by_dependency(self) -> None:
        writer = thread(Store("x", 1), Store("y", 1, RELEASE))

        def addressed() -> Thread:
            a = yield Load("y")
            yield Note("a", a)
            b = yield Load("x", after=(a,))
            yield Note("b", b)

        def branched() -> Thread:
            a = yield Load("y")
            yield Note("a", a)
            yield Branch((a,))
            b = yield Load("x")
            yield Note("b", b)

        self.assertFalse(can(ARM, [writer, addressed], a=1, b=0))
        self.assertTrue(can(ARM, [writer, branched], a=1, b=0))

    def test_store_buffering(self) -> None:
        def buffering(store: Order, load: Order, *between: Step) -> list[MakeThread]:
            return [
                thread(Store("x", 1, store), *between, Load("y", load), "a"),
                thread(Store("y", 1, store), *between, Load("x", load), "b"),
            ]

        for processor in Processor:
            self.assertTrue(can(processor, buffering(RELEASE, ACQUIRE), a=0, b=0))
            self.assertFalse(can(processor, buffering(SC, SC), a=0, b=0))
            self.assertFalse(can(processor, buffering(RELAXED, RELAXED, Fence()), a=0, b=0))
        self.assertTrue(can(ARM, buffering(RELAXED, RELAXED, LoadFence()), a=0, b=0))

    def test_store_buffering_with_a_barrier_in_all_threads(self) -> None:
        rare = thread(Store("x", 1), ThreadBarrier(), Load("y"), "a")
        often = thread(Store("y", 1), Load("x"), "b")
        for processor in Processor:
            self.assertFalse(can(processor, [rare, often], a=0, b=0))
            self.assertTrue(can(processor, [rare, often], a=1, b=0))
            self.assertTrue(can(processor, [rare, often], a=0, b=1))

    def test_load_buffering(self) -> None:
        def buffering(order: Order) -> list[MakeThread]:
            return [
                thread(Load("x"), "a", Store("y", 1, order)),
                thread(Load("y"), "b", Store("x", 1, order)),
            ]

        self.assertTrue(can(ARM, buffering(RELAXED), a=1, b=1))
        self.assertFalse(can(ARM, buffering(RELEASE), a=1, b=1))
        self.assertFalse(can(X86, buffering(RELAXED), a=1, b=1))

    def test_independent_reads_of_independent_writes(self) -> None:
        def reads(order: Order) -> list[MakeThread]:
            return [
                thread(Store("x", 1)),
                thread(Store("y", 1)),
                thread(Load("x", order), "a", Load("y"), "b"),
                thread(Load("y", order), "c", Load("x"), "d"),
            ]

        self.assertTrue(can(ARM, reads(RELAXED), a=1, b=0, c=1, d=0))
        self.assertFalse(can(ARM, reads(ACQUIRE), a=1, b=0, c=1, d=0))
        self.assertFalse(can(X86, reads(RELAXED), a=1, b=0, c=1, d=0))

    def test_two_writes_each(self) -> None:
        def writes(order: Order) -> list[MakeThread]:
            return [
                thread(Store("x", 1), Store("y", 2, order)),
                thread(Store("y", 1), Store("x", 2, order)),
            ]

        self.assertTrue(can(ARM, writes(RELAXED), x=1, y=1))
        self.assertFalse(can(ARM, writes(RELEASE), x=1, y=1))
        self.assertFalse(can(X86, writes(RELAXED), x=1, y=1))

    def test_coherence(self) -> None:
        threads = [thread(Store("x", 1), Store("x", 2)), thread(Load("x"), "a", Load("x"), "b")]
        for processor in Processor:
            self.assertFalse(can(processor, threads, a=2, b=1))
            self.assertFalse(can(processor, threads, x=1))
            self.assertTrue(can(processor, threads, a=1, b=2))

    def test_changes_are_indivisible(self) -> None:
        threads = [thread(add("x", 1, RELAXED)), thread(add("x", 1, RELAXED)), thread(add("x", 1, RELAXED))]
        for processor in Processor:
            self.assertTrue(can(processor, threads, x=3))
            self.assertFalse(can(processor, threads, x=2))

    def test_changes_are_no_fence_for_later_loads(self) -> None:
        def buffering(order: Order) -> list[MakeThread]:
            return [
                thread(add("x", 1, SC), Load("y", order), "a"),
                thread(add("y", 1, SC), Load("x", order), "b"),
            ]

        self.assertTrue(can(ARM, buffering(RELAXED), a=0, b=0))
        self.assertFalse(can(ARM, buffering(SC), a=0, b=0))
        self.assertFalse(can(X86, buffering(RELAXED), a=0, b=0))


if __name__ == "__main__":
    unittest.main()
