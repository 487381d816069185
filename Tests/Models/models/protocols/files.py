"""The trace's files: who may write to them, and who makes them shorter."""

from ..language import Load, MakeThread, Note, Order, Store, Thread, add
from ..model import Model, Variant

FULL, SHORT = 8, 1


def _trim(v: Variant) -> list[MakeThread]:
    def writer() -> Thread:
        yield add("users", 1, v.order("lt_mapped_file_enter: users"))
        size = yield Load("size", v.order("reach: size"))
        if size == FULL:
            yield Note("writes", 1)  # up to FULL, without another look at the size

    def trimmer() -> Thread:
        yield Store("size", SHORT, v.order("lt_mapped_file_trim_unused: size"))
        users = yield Load("users", v.order("lt_mapped_file_trim_unused: users"))
        if users == 0:
            yield Note("trims", 1)

    return [writer, trimmer]


TRIM = Model(
    name="truncation while a thread may write",
    code="lt_mapped_file_enter, reach; lt_mapped_file_trim_unused",
    initial={"users": 0, "size": FULL},
    threads=_trim,
    limits={"users": range(3)},
    orders={
        "lt_mapped_file_enter: users": Order.SC,
        "reach: size": Order.SC,
        "lt_mapped_file_trim_unused: size": Order.SC,
        "lt_mapped_file_trim_unused: users": Order.SC,
    },
    is_wrong=lambda o: o.notes == {"writes": 1, "trims": 1},
    is_useful=lambda o: o.notes == {"trims": 1},
)


def _anchors(v: Variant) -> list[MakeThread]:
    def advancer() -> Thread:
        yield add("users", 1, v.order("lt_mapped_file_enter: users"))
        yield Store("page", 1)  # advance_anchor fills in the new anchor
        yield Store("current", 1, v.order("advance_anchor: current"))
        users = yield Load("users", v.order("advance_anchor: users"))
        if users == 1:
            yield Store("old page", 0)  # munmap
            yield Note("unmaps", 1)

    def writer() -> Thread:
        yield add("users", 1, v.order("lt_mapped_file_enter: users"))
        current = yield Load("current", v.order("map_part: current"))
        page = yield Load("page" if current else "old page")  # map_from
        yield Note("page", page)
        yield add("users", -1, v.order("lt_mapped_file_leave: users"))

    return [advancer, writer]


ANCHORS = Model(
    name="anchors of a file",
    code="lt_mapped_file_enter, lt_mapped_file_leave, map_part; advance_anchor",
    initial={"users": 0, "current": 0, "page": 0, "old page": 1},
    threads=_anchors,
    limits={"users": range(3)},
    orders={
        "lt_mapped_file_enter: users": Order.SC,
        "advance_anchor: current": Order.SC,
        "advance_anchor: users": Order.SC,
        "map_part: current": Order.SC,
        "lt_mapped_file_leave: users": Order.SC,
    },
    # Every thread finds the page of its anchor mapped.
    is_wrong=lambda o: o.notes.get("page") == 0,
    is_useful=lambda o: o.notes.get("unmaps") == 1 and o.notes.get("page") == 1,
)


def _closing(v: Variant) -> list[MakeThread]:
    def writer() -> Thread:
        yield add("users", 1, v.order("lt_mapped_file_enter: users"))
        is_open = yield Load("isOpen", v.order("lt_trace_is_writable: isOpen"))
        if is_open:
            yield Store("end", 2)  # append
            yield Note("writes", 1)
        before = yield add("users", -1, v.order("lt_mapped_file_leave: users"))
        after = yield Load("isOpen", v.order("lt_trace_is_writable: isOpen"))
        if before == 1 and not after:
            yield Note("writer trims", 1)

    def closer() -> Thread:
        yield add("users", 1, v.order("lt_mapped_file_enter: users"))
        yield Store("isOpen", 0, v.order("lt_trace_close: isOpen"))
        before = yield add("users", -1, v.order("lt_mapped_file_leave: users"))
        after = yield Load("isOpen", v.order("lt_trace_is_writable: isOpen"))
        if before == 1 and not after:
            end = yield Load("end")
            yield Note("closer trims at", end)

    return [writer, closer]


CLOSING = Model(
    name="truncation after the last writer",
    code="enter_and_append, leave_file; lt_trace_close, stop",
    initial={"users": 0, "isOpen": 1, "end": 1},
    threads=_closing,
    limits={"users": range(3)},
    orders={
        "lt_mapped_file_enter: users": Order.SC,
        "lt_mapped_file_leave: users": Order.SC,
        "lt_trace_is_writable: isOpen": Order.ACQUIRE,
        "lt_trace_close: isOpen": Order.SC,
    },
    # The last of the two truncates the file behind all that was written.
    is_wrong=lambda o: (
        ("writer trims" not in o.notes and "closer trims at" not in o.notes)
        or (o.notes.get("writes") == 1 and o.notes.get("closer trims at", 2) != 2)
    ),
    is_useful=lambda o: o.notes.get("writes") == 1 and o.notes.get("closer trims at") == 2,
    spare={
        "lt_trace_close: isOpen": "the subtraction after it has the order that is needed",
        "lt_trace_is_writable: isOpen": "the addition or subtraction before it has the order that is needed",
    },
)

MODELS = (TRIM, ANCHORS, CLOSING)
