"""Hooks: the switch, the entry, and the pointers that lead to hooks."""

from ..execution import Processor
from ..language import (
    Branch,
    Fence,
    Load,
    LoadFence,
    MakeThread,
    Note,
    Order,
    Require,
    Store,
    Thread,
    ThreadBarrier,
    exchange,
)
from ..model import Model, Variant

ON, OFF, RECORD, FREED = 1, 0, 1, 9


def _entry(v: Variant) -> list[MakeThread]:
    def hook() -> Thread:
        yield Store("hookDepth", 1, v.order("entry: hookDepth"))  # lt_enter
        ready = yield Load("isReady", v.order("entry: isReady"))
        if not ready:
            return
        switch = yield Load("switch")  # the word at lt_pause_switch
        if switch == RECORD:
            yield Store("state", 1)  # the hook uses its state and its slot
            yield Note("has recorded", 1)
        yield Store("hookDepth", 0, v.order("lt_leave: hookDepth"))

    def waiter() -> Thread:
        yield Store("switch", OFF)  # lt_hooks_set
        if v.has("await: barrier"):
            # lt_order_threads: membarrier(2) on x86-64. On arm64 its full fence is enough.
            yield ThreadBarrier() if v.processor is Processor.X86_64 else Fence()
        depth = yield Load("hookDepth")  # the kernel reads it for is_inside
        yield Require(depth == 0)
        if v.has("await: fence"):
            yield LoadFence()
        else:
            yield Branch((depth,))
        state = yield Load("state")  # end_recording seals the records
        yield Note("seals", state)
        yield Store("state", FREED)  # lt_thread_forget_all
        yield Note("has freed", 1)

    return [hook, waiter]


# lt_enter stores hookDepth with release on both processors. A sequentially consistent load on arm64 does not pass it.
ENTRY = Model(
    name="entry of a hook, and the wait for hooks",
    code="lt_enter, lt_leave; lt_hooks_set, lt_thread_await_others, lt_thread_forget_all",
    initial={"hookDepth": 0, "isReady": 1, "switch": RECORD, "state": 0},
    threads=_entry,
    orders={
        "entry: hookDepth": Order.RELEASE,
        "entry: isReady": Order.SC,
        "lt_leave: hookDepth": Order.RELEASE,
    },
    steps=("await: barrier", "await: fence"),
    # The hook does not use freed memory, and the waiter sees the record of the hook.
    is_wrong=lambda o: (
        (o.notes.get("has freed") == 1 and o.memory["state"] != FREED)
        or o.notes.get("has recorded", 0) > o.notes.get("seals", 1)
    ),
    is_useful=lambda o: o.notes.get("has recorded") == 1 and o.notes.get("seals") == 1,
)

# The same on x86-64, where only membarrier(2) keeps the order.
ENTRY_TSO = Model(
    name="entry of a hook, by membarrier(2) alone",
    code=ENTRY.code,
    initial=ENTRY.initial,
    threads=_entry,
    orders={label: Order.RELAXED for label in ENTRY.orders},
    steps=ENTRY.steps,
    is_wrong=ENTRY.is_wrong,
    is_useful=ENTRY.is_useful,
    processors=(Processor.X86_64,),
    mutants=Processor.X86_64,
    spare={"await: fence": "the processor keeps the order of loads"},
)


def _switch_on(v: Variant) -> list[MakeThread]:
    def opener() -> Thread:
        yield Store("trace", 1)  # lt_trace_open fills in the trace's pointers and the page with the pause switch
        yield Store("page", RECORD)
        yield Store("isOpen", 1, v.order("lt_trace_open: isOpen"))
        yield Store("settings", 1)  # lt_begin_recording
        yield Store("mode", ON, v.order("lt_hooks_set: mode"))
        yield Store("pointer", 1, v.order("connect_switch: pointer"))

    def thread() -> Thread:
        mode = yield Load("mode", v.order("lt_thread_prepare: mode"))
        yield Require(mode == ON)
        settings = yield Load("settings")
        yield Note("settings", settings)

    def early() -> Thread:
        # lt_enter reads the pointer without the mode.
        pointer = yield Load("pointer")
        yield Require(pointer == 1)
        switch = yield Load("page", after=(pointer,))
        yield Note("switch", switch)
        is_open = yield Load("isOpen", v.order("lt_trace_is_writable: isOpen"))
        if is_open:
            trace = yield Load("trace")
            yield Note("trace", trace)

    return [opener, thread, early]


SWITCH_ON = Model(
    name="hooks are switched on",
    code="lt_trace_open, lt_hooks_set, connect_switch; lt_thread_prepare, is_on, lt_trace_is_writable",
    initial={"trace": 0, "page": 0, "pointer": 0, "isOpen": 0, "settings": 0, "mode": OFF},
    threads=_switch_on,
    orders={
        "connect_switch: pointer": Order.RELEASE,
        "lt_trace_open: isOpen": Order.SC,
        "lt_hooks_set: mode": Order.SC,
        "lt_thread_prepare: mode": Order.SC,
        "lt_trace_is_writable: isOpen": Order.ACQUIRE,
    },
    is_wrong=lambda o: 0 in (o.notes.get("settings", 1), o.notes.get("switch", 1), o.notes.get("trace", 1)),
    is_useful=lambda o: len(o.notes) == 3,
)


def _publication(v: Variant) -> list[MakeThread]:
    def installer() -> Thread:
        yield Store("original", 1)  # lt_swift_hooks_install: the functions that the hooks call
        if v.has("install: barrier"):
            yield ThreadBarrier()  # lt_order_threads
        yield Store("pointer", 1)

    def program() -> Thread:
        pointer = yield Load("pointer")  # the runtime, or a call through an offset table
        yield Require(pointer == 1)
        yield Branch((pointer,))
        original = yield Load("original")  # the hook
        yield Note("original", original)

    return [installer, program, program]


PUBLICATION = Model(
    name="pointers that lead to hooks",
    code="lt_swift_hooks_install, lt_loader_watch_begin, lt_loaded_image_replace; the hooks of runtimes and tables",
    initial={"original": 0, "pointer": 0},
    threads=_publication,
    steps=("install: barrier",),
    is_wrong=lambda o: o.notes.get("original") == 0,
    is_useful=lambda o: o.notes.get("original") == 1,
)


def _requested_image(v: Variant) -> list[MakeThread]:
    def requester() -> Thread:
        yield Store("reason", 2)  # SnapshotRequest, in another process
        yield Store("switch", 2, v.order("request: switch"))

    def thread() -> Thread:
        switch = yield Load("switch")  # lt_thread_prepare
        yield Require(switch == 2)
        taken = yield exchange("switch", 2, RECORD, v.order("lt_snapshot_at_switch: switch"))
        if taken == 2:
            reason = yield Load("reason")
            yield Note("reason", reason)
            yield Note("images", 1)

    return [requester, thread]


REQUESTED_IMAGE = Model(
    name="an image that another process requests",
    code="SnapshotRequest; lt_thread_prepare, lt_snapshot_at_switch, requested_reason",
    initial={"reason": 0, "switch": RECORD},
    threads=_requested_image,
    orders={"request: switch": Order.SC, "lt_snapshot_at_switch: switch": Order.SC},
    is_wrong=lambda o: o.notes.get("reason") == 0,
    is_useful=lambda o: o.notes.get("reason") == 2,
)


def _marks(v: Variant) -> list[MakeThread]:
    def opener() -> Thread:
        yield Store("marks", 1)  # lt_sampled_marks_hold, lt_sampled_marks_add: the table's contents
        yield Store("counts", 1)  # lt_sampled_marks_use
        if v.has("lt_sampled_marks_use: fence"):
            yield Fence()
        yield Store("mask", 1)

    def free() -> Thread:
        mask = yield Load("mask", v.order("lt_is_marked: mask"))  # lt_load_first
        counts = yield Load("counts")
        if mask:
            yield Note("table", counts)  # an index up to the mask needs the large table
            if counts:
                mark = yield Load("marks", after=(counts,))
                yield Note("mark", mark)

    return [opener, free]


MARKS = Model(
    name="the marks of sampled blocks are put to use",
    code="lt_sampled_marks_use; lt_is_marked",
    initial={"marks": 0, "counts": 0, "mask": 0},
    threads=_marks,
    orders={"lt_is_marked: mask": Order.ACQUIRE},
    steps=("lt_sampled_marks_use: fence",),
    is_wrong=lambda o: o.notes.get("table") == 0 or o.notes.get("mark") == 0,
    is_useful=lambda o: o.notes.get("mark") == 1,
)

MODELS = (ENTRY, ENTRY_TSO, SWITCH_ON, PUBLICATION, REQUESTED_IMAGE, MARKS)
