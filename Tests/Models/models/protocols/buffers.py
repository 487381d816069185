"""Records of a thread that another thread reads: the thread that seals them, or copies them before an exec."""

from ..language import Load, MakeThread, Note, Order, Require, Store, Thread, exchange
from ..model import Model, Variant


def _published(v: Variant) -> list[MakeThread]:
    def owner() -> Thread:
        yield Store("bytes", 1)  # lt_define, or an event
        yield Store("time", 1)
        yield Store("used", 1, v.order("lt_buffer_publish, lt_define: used"))
        yield Store("bytes", 2)
        yield Store("used", 2, v.order("lt_buffer_publish, lt_define: used"))

    def sealer() -> Thread:
        used = yield Load("used", v.order("published, seal_definitions: used"))
        if used:
            got = yield Load("bytes")
            yield Note("isOld", int(got < used))
            time = yield Load("time")
            yield Note("time", time)

    return [owner, sealer]


PUBLISHED = Model(
    name="records that another thread seals",
    code="lt_buffer_publish, lt_define; published, seal_definitions, copy_payloads",
    initial={"bytes": 0, "time": 0, "used": 0},
    threads=_published,
    orders={
        "lt_buffer_publish, lt_define: used": Order.RELEASE,
        "published, seal_definitions: used": Order.ACQUIRE,
    },
    is_wrong=lambda o: o.notes.get("isOld") == 1 or o.notes.get("time") == 0,
    is_useful=lambda o: o.notes.get("isOld") == 0,
)


def _sealed(v: Variant) -> list[MakeThread]:
    def owner() -> Thread:
        taken = yield exchange("sealer", 0, 1, v.order("begin_sealing: sealer"))  # seal
        yield Require(taken == 0)
        yield Store("used", 0)  # seal_payloads has appended the chunk
        yield Store("sequence", 1)  # lt_buffer_begin
        yield Store("sealer", 0, v.order("end_sealing: sealer"))
        yield Store("bytes", 1)
        yield Store("used", 7, v.order("lt_buffer_publish: used"))

    def copier() -> Thread:
        taken = yield exchange("sealer", 0, 2, v.order("begin_sealing: sealer"))  # lt_buffer_copy_payloads
        yield Require(taken == 0)
        used = yield Load("used", v.order("published: used"))
        if used:
            sequence = yield Load("sequence")
            got = yield Load("bytes")
            yield Note("chunk", 100 * int(used) + 10 * sequence + got)
        yield Store("sealer", 0, v.order("end_sealing: sealer"))

    return [owner, copier]


# The slot first holds the payload with sequence 0, whose size is 3. The next one has sequence 1 and size 7.
SEALED = Model(
    name="one thread at a time seals",
    code="begin_sealing, end_sealing; seal, lt_buffer_begin, lt_buffer_copy_payloads",
    initial={"sealer": 0, "used": 3, "sequence": 0, "bytes": 0},
    threads=_sealed,
    orders={
        "begin_sealing: sealer": Order.SC,
        "end_sealing: sealer": Order.SC,
        "lt_buffer_publish: used": Order.RELEASE,
        "published: used": Order.ACQUIRE,
    },
    # A later event may be in memory behind the published ones, so the bytes of the first payload may be new.
    is_wrong=lambda o: o.notes.get("chunk", 300) not in (300, 301, 711),
    is_useful=lambda o: o.notes.get("chunk") == 711,
)

MODELS = (PUBLISHED, SEALED)
