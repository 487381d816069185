"""States of threads: the list, the claims, and settings that reach every thread."""

from ..language import Change, Fence, Load, MakeThread, Note, Order, Require, Store, Thread, exchange
from ..model import Model, Variant


def _setting(v: Variant) -> list[MakeThread]:
    def setter() -> Thread:
        # lt_exact_time_require, then lt_thread_send_to_prepare
        yield Change("isRequired", lambda _: 1, v.order("lt_exact_time_require: isRequired"))
        first = yield Load("first", v.order("lt_thread_first"))
        if first:
            yield Store("isReady", 0, v.order("lt_thread_send_to_prepare: isReady"), after=(first,))

    def thread() -> Thread:
        yield Change("first", lambda _: 1, v.order("lt_thread_list: first"))
        yield Store("isReady", 1, v.order("make_ready: isReady"))
        is_required = yield Load("isRequired", v.order("lt_buffer_keep_exact_time: isRequired"))
        yield Note("isExact", is_required)

    return [setter, thread]


SETTING = Model(
    name="a setting that every thread must see",
    code="lt_exact_time_require, lt_thread_send_to_prepare; lt_thread_list, make_ready, lt_buffer_keep_exact_time",
    initial={"isRequired": 0, "first": 0, "isReady": 0},
    threads=_setting,
    orders={
        "lt_exact_time_require: isRequired": Order.SC,
        "lt_thread_first": Order.SC,
        "lt_thread_send_to_prepare: isReady": Order.SC,
        "lt_thread_list: first": Order.SC,
        "make_ready: isReady": Order.SC,
        "lt_buffer_keep_exact_time: isRequired": Order.SC,
    },
    # A thread that has not seen the setting must be sent to lt_thread_prepare.
    is_wrong=lambda o: o.notes["isExact"] == 0 and o.memory["isReady"] == 1,
    is_useful=lambda o: o.notes["isExact"] == 1 and o.memory["isReady"] == 1,
    spare={
        "lt_thread_list: first": "the store of isReady after it has the order that is needed",
        "lt_thread_send_to_prepare: isReady": "the load of the list's head before it has the order that is needed",
    },
)


def _listed(v: Variant) -> list[MakeThread]:
    def first() -> Thread:
        yield Store("a.number", 1)  # make_thread
        yield Change("first", lambda _: 1, v.order("lt_thread_list: first"))

    def second() -> Thread:
        yield Store("b.number", 1)
        before = yield Load("first", v.order("lt_thread_first"))
        yield Store("b.next", before)
        taken = yield exchange("first", before, 2, v.order("lt_thread_list: first"))
        yield Require(taken == before)

    def reader() -> Thread:
        state = yield Load("first", v.order("lt_thread_first"))
        if state == 2:
            number = yield Load("b.number", after=(state,))
            yield Note("b", number)
            state = yield Load("b.next", after=(state,))
        if state == 1:
            number = yield Load("a.number", after=(state,))
            yield Note("a", number)

    return [first, second, reader]


LISTED = Model(
    name="the list of threads",
    code="lt_thread_list; lt_thread_first",
    initial={"first": 0, "a.number": 0, "b.number": 0, "b.next": 0},
    threads=_listed,
    orders={"lt_thread_list: first": Order.SC, "lt_thread_first": Order.ACQUIRE},
    is_wrong=lambda o: 0 in o.notes.values(),
    is_useful=lambda o: o.notes == {"a": 1, "b": 1},
    spare={"lt_thread_first": "the address of each access depends on the pointer"},
)

FREE, USED, REAPING, SETTING_UP = 0, 11, 2, 3
USED_AGAIN = 21


def _reap(v: Variant, name: str, must_succeed: bool) -> Thread:
    claim = yield Load("claim", v.order("reap: claim"))
    yield Require(claim in (USED, USED_AGAIN))
    os_thread = yield Load("osThread", v.order("reap: osThread"))
    yield Require(os_thread == 1)  # the kernel reports that this thread has ended
    taken = yield exchange("claim", claim, REAPING, v.order("reap: claim taken"))
    yield Require(taken == claim or not must_succeed)
    if taken == claim:
        yield Note(f"{name} reaps", claim)
        slot = yield Load("slot")  # lt_buffer_end: the records that the thread has left
        yield Note(f"{name} finds", slot)
        yield Store("slot", 5)
        yield Store("claim", FREE, v.order("reap: claim given back"))


def _claims(v: Variant) -> list[MakeThread]:
    def register() -> Thread:
        taken = yield exchange("claim", FREE, SETTING_UP, v.order("claim_free: claim"))
        yield Require(taken == FREE)
        slot = yield Load("slot")
        yield Note("user finds", slot)
        yield Store("osThread", 2, v.order("register_thread: osThread"))
        yield Store("slot", 6)
        yield Store("claim", USED_AGAIN, v.order("register_thread: claim"))

    # Thread 1 has ended, and its slot holds 4. Thread 2 registers. One thread reaps thread 1, and another one tries.
    return [lambda: _reap(v, "first", True), register, lambda: _reap(v, "other", False)]


CLAIMS = Model(
    name="the claim of a thread's state",
    code="reap; claim_free, register_thread",
    initial={"claim": USED, "osThread": 1, "slot": 4},
    threads=_claims,
    orders={
        "reap: claim": Order.SC,
        "reap: osThread": Order.SC,
        "reap: claim taken": Order.SC,
        "reap: claim given back": Order.SC,
        "claim_free: claim": Order.SC,
        "register_thread: osThread": Order.SC,
        "register_thread: claim": Order.SC,
    },
    # One thread reaps the state of thread 1. No thread reaps the state of thread 2. The next user finds it cleaned up.
    is_wrong=lambda o: (
        "other reaps" in o.notes
        or o.notes["first reaps"] != USED
        or o.notes["first finds"] != 4
        or o.notes["user finds"] != 5
        or o.memory["slot"] != 6
    ),
    is_useful=lambda o: o.memory["claim"] == USED_AGAIN,
    spare={
        "reap: claim taken": "the claim, a store and the thread's ID are in one chain of dependencies and branches",
        "reap: osThread": "the exchange of the claim fails if the thread's ID is newer",
        "register_thread: osThread": "the claim after it has the order that is needed",
    },
)


def _description(v: Variant) -> list[MakeThread]:
    def changing() -> Thread:
        yield Store("news", 1)  # lt_description_add_swift, lt_description_add_warning
        if v.has("lt_description_has_changed: fence"):
            yield Fence()
        is_written = yield Load("isWritten", v.order("lt_description_has_changed: isWritten"))
        if is_written:
            yield Store("isOld", 1, v.order("lt_description_has_changed: isOld"))

    def describing() -> Thread:
        taken = yield exchange("isWritten", 0, 1, v.order("lt_description_begin: isWritten"))
        yield Require(taken == 0)
        if v.has("lt_description_begin: fence"):
            yield Fence()
        news = yield Load("news")
        yield Note("news", news)

    return [changing, describing]


DESCRIPTION = Model(
    name="the description of the process",
    code="lt_description_add_swift, lt_description_has_changed; lt_description_begin",
    initial={"news": 0, "isWritten": 0, "isOld": 0},
    threads=_description,
    orders={
        "lt_description_has_changed: isWritten": Order.SC,
        "lt_description_has_changed: isOld": Order.SC,
        "lt_description_begin: isWritten": Order.SC,
    },
    steps=("lt_description_has_changed: fence", "lt_description_begin: fence"),
    is_wrong=lambda o: o.notes["news"] == 0 and o.memory["isOld"] == 0,
    is_useful=lambda o: o.notes["news"] == 0 and o.memory["isOld"] == 1,
    spare={
        "lt_description_has_changed: isWritten": "the fence before it has the order that is needed",
        "lt_description_has_changed: isOld": "the fence before it has the order that is needed",
        "lt_description_begin: isWritten": "the fence after it has the order that is needed",
    },
)

MODELS = (SETTING, LISTED, CLAIMS, DESCRIPTION)
