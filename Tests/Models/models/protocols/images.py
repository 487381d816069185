"""Heap images: the copy's report, the claim of the copy, and the threads that wait."""

from ..language import Fence, Load, MakeThread, Note, Order, Require, Store, Thread, add, exchange
from ..model import Model, Variant

WRITING, DONE = 1, 2
UNCLAIMED, CLAIMED, GIVEN_UP = 0, 1, 2


def _progress(v: Variant) -> list[MakeThread]:
    def copy() -> Thread:
        yield Store("error", 5)  # lt_write_snapshot
        yield Store("state", DONE, v.order("report: state"))

    def collector() -> Thread:
        state = yield Load("state", v.order("collect: state"))
        yield Require(state == DONE)
        error = yield Load("error")
        yield Note("error", error)

    return [copy, collector]


PROGRESS = Model(
    name="the copy's report",
    code="lt_snapshot_write; collect_undisturbed",
    initial={"error": 0, "state": WRITING},
    threads=_progress,
    orders={"report: state": Order.SC, "collect: state": Order.SC},
    is_wrong=lambda o: o.notes["error"] == 0,
    is_useful=lambda o: o.notes["error"] == 5,
)


def _claim(v: Variant) -> list[MakeThread]:
    def copy() -> Thread:
        yield Store("copy", 7, v.order("copy: copy"))
        taken = yield exchange("state", UNCLAIMED, CLAIMED, v.order("copy: state"))
        if taken == UNCLAIMED:
            yield Note("writes", 1)

    def waiter() -> Thread:
        taken = yield exchange("state", UNCLAIMED, GIVEN_UP, v.order("give_up: state"))
        if taken != UNCLAIMED:
            copy = yield Load("copy", v.order("copy_by_tracer: copy"))
            yield Note("copy", copy)
        else:
            yield Note("gives up", 1)

    return [copy, waiter]


CLAIM = Model(
    name="a copy that may have been given up",
    code="copy, give_up, copy_by_tracer",
    initial={"state": UNCLAIMED, "copy": 0},
    threads=_claim,
    orders={
        "copy: copy": Order.SC,
        "copy: state": Order.SC,
        "give_up: state": Order.SC,
        "copy_by_tracer: copy": Order.SC,
    },
    is_wrong=lambda o: o.notes.get("copy") == 0 or {"writes", "gives up"} <= o.notes.keys(),
    is_useful=lambda o: o.notes.get("copy") == 7,
    spare={
        "copy: copy": "the exchange after it has the order that is needed",
        "copy_by_tracer: copy": "the exchange before it has the order that is needed",
    },
)


def _wake(v: Variant) -> list[MakeThread]:
    def expecting() -> Thread:
        yield Store("deadline", 1, v.order("lower_next_deadline: deadline"))
        yield add("wakes", 1, v.order("wake: wakes"))
        yield Fence()  # the kernel's futex wakes the threads that are in its queue
        is_queued = yield Load("queue")
        yield Note("wakes", is_queued)

    def watcher() -> Thread:
        seen = yield Load("wakes", v.order("watch: wakes"))
        deadline = yield Load("deadline", v.order("watch: deadline"))
        if deadline:
            yield Note("sees the deadline", 1)
            return
        yield Store("queue", 1)  # the kernel puts the thread into the queue, and then compares
        yield Fence()
        now = yield Load("wakes")
        yield Note("sleeps", int(now == seen))

    return [expecting, watcher]


WAKE = Model(
    name="the watcher's sleep",
    code="lt_watcher_expect, wake; watch, sleep_nanoseconds; the kernel's futex",
    initial={"deadline": 0, "wakes": 0, "queue": 0},
    threads=_wake,
    orders={
        "lower_next_deadline: deadline": Order.SC,
        "wake: wakes": Order.SC,
        "watch: wakes": Order.SC,
        "watch: deadline": Order.SC,
    },
    is_wrong=lambda o: o.notes.get("sleeps") == 1 and o.notes["wakes"] == 0,
    is_useful=lambda o: o.notes.get("sleeps") == 1,
    spare={
        "lower_next_deadline: deadline": "the addition after it has the order that is needed",
        "watch: deadline": "the load before it has the order that is needed",
    },
)

MODELS = (PROGRESS, CLAIM, WAKE)
