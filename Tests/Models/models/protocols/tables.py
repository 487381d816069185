"""Tables without locks: sampled blocks, sites, live blocks, types, images, expectations, answers."""

from ..language import Change, Load, MakeThread, Note, Order, Require, Store, Thread, add, exchange
from ..model import Model, Variant

RESERVED, KEY, OTHER_KEY = 1, 7, 8


def _taken(v: Variant) -> list[MakeThread]:
    def user(number: int) -> MakeThread:
        def thread() -> Thread:
            taken = yield exchange("isTaken", 0, 1, v.order("take: isTaken"))
            yield Require(taken == 0)
            inside = yield Load("user")
            yield Note(f"{number} finds", inside)
            yield Store("user", number)
            yield Store("user", 0)
            yield Store("isTaken", 0, v.order("give back: isTaken"))

        return thread

    return [user(1), user(2)]


TAKEN = Model(
    name="an object that one thread at a time uses",
    code="lt_on_own_stack, lt_compressor_take, lt_compressor_return, lt_call_isolated, refresh, grow, "
    "advance_anchor, lt_on_loader_event, profiling.isTaken, snapshots.owner, attachment.isAtWork",
    initial={"isTaken": 0, "user": 0},
    threads=_taken,
    orders={"take: isTaken": Order.ACQUIRE, "give back: isTaken": Order.RELEASE},
    is_wrong=lambda o: any(o.notes.values()) or o.memory["user"] != 0,
    is_useful=lambda o: len(o.notes) == 2,
)


def _blocks(v: Variant) -> list[MakeThread]:
    def adder() -> Thread:
        # lt_sampled_blocks_add, for another block of the same group
        taken = yield exchange("key", 0, RESERVED, v.order("add: place"))
        yield Require(taken == 0)
        yield Store("block", OTHER_KEY)
        yield Store("key", OTHER_KEY, v.order("add: key"))

    def remover() -> Thread:
        key = yield Load("key", v.order("place_of: key"))  # lt_sampled_blocks_remove
        yield Require(key == KEY)
        block = yield Load("block")
        taken = yield exchange("key", KEY, 0, v.order("remove: key"))
        if taken == KEY:
            yield Note("removed", block)

    def finder() -> Thread:
        key = yield Load("key", v.order("place_of: key"))  # the free of the other block, in any thread
        yield Require(key == OTHER_KEY)
        block = yield Load("block")
        yield Note("found", block)

    return [adder, remover, finder]


BLOCKS = Model(
    name="the table of sampled blocks",
    code="lt_sampled_blocks_add, lt_sampled_blocks_remove, lt_sampled_blocks_find",
    initial={"key": KEY, "block": KEY},
    threads=_blocks,
    orders={
        "add: place": Order.SC,
        "add: key": Order.RELEASE,
        "place_of: key": Order.ACQUIRE,
        "remove: key": Order.SC,
    },
    is_wrong=lambda o: o.notes.get("removed", KEY) != KEY or o.notes.get("found", OTHER_KEY) != OTHER_KEY,
    is_useful=lambda o: o.notes == {"removed": KEY, "found": OTHER_KEY},
)


def _marks_count(v: Variant) -> list[MakeThread]:
    def allocating() -> Thread:
        yield add("mark", 1, v.order("lt_sampled_marks_add: mark"))
        yield Store("key", KEY, v.order("add: key"))
        yield Store("shared", 1, v.order("program: shared"))  # the program passes the block on

    def freeing() -> Thread:
        block = yield Load("shared")
        yield Require(block == 1)
        mark = yield Load("mark", after=(block,))  # lt_is_marked: the mark's address depends on the block's
        yield Note("mark", mark)
        key = yield Load("key", v.order("place_of: key"), after=(block,))
        yield Note("key", key)

    return [allocating, freeing]


MARK_COUNT = Model(
    name="the mark of a sampled block",
    code="lt_sampled_marks_add, lt_sampled_blocks_add; lt_is_marked, place_of",
    initial={"mark": 0, "key": 0, "shared": 0},
    threads=_marks_count,
    orders={
        "lt_sampled_marks_add: mark": Order.SC,
        "add: key": Order.RELEASE,
        "place_of: key": Order.ACQUIRE,
        "program: shared": Order.RELEASE,
    },
    is_wrong=lambda o: 0 in o.notes.values(),
    is_useful=lambda o: o.notes == {"mark": 1, "key": KEY},
    spare={
        "lt_sampled_marks_add: mark": "the program's release comes after it",
        "add: key": "the program's release comes after it",
        "place_of: key": "the key's address depends on the block's",
    },
)


def _once(v: Variant) -> list[MakeThread]:
    def maker() -> Thread:
        known = yield exchange("hash", 0, 5, v.order("take: hash"))
        if known == 0:
            yield Store("keys", 1)
            yield Store("isReady", 1, v.order("set: isReady"))

    def reader() -> Thread:
        is_ready = yield Load("isReady", v.order("use: isReady"))
        if is_ready:
            keys = yield Load("keys")
            yield Note("keys", keys)

    return [maker, maker, reader]


ONCE = Model(
    name="an entry that is written once",
    code="lt_sampled_site_for, place_of, number_of, function_for, table_of; lt_sampled_site_at, put_label, "
    "lt_type_for",
    initial={"hash": 0, "keys": 0, "isReady": 0},
    threads=_once,
    orders={"take: hash": Order.SC, "set: isReady": Order.RELEASE, "use: isReady": Order.ACQUIRE},
    is_wrong=lambda o: o.notes.get("keys") == 0,
    is_useful=lambda o: o.notes.get("keys") == 1,
    spare={"take: hash": "each place is written by the one thread that takes it"},
)


def _types(v: Variant) -> list[MakeThread]:
    gone, storage = 1, 3

    def forget_and_define() -> Thread:
        yield Store("type", 0, v.order("lt_type_table_forget: type"))
        yield Store("metadata", gone, v.order("lt_type_table_forget: metadata"))
        yield exchange("metadata", gone, 9, v.order("number_of: metadata"))
        yield Store("storage", storage)
        yield Store("type", 2, v.order("number_of: type"))

    def lister() -> Thread:
        metadata = yield Load("metadata", v.order("lt_types: metadata"))
        yield Require(metadata == 9)
        known = yield Load("type", v.order("lt_types: type"))
        if known:
            found = yield Load("storage")
            yield Note("storage", found)

    return [forget_and_define, lister]


TYPES = Model(
    name="the entry of a type after another type",
    code="lt_type_table_forget, number_of; lt_types",
    initial={"metadata": 8, "type": 1, "storage": 2},
    threads=_types,
    orders={
        "lt_type_table_forget: type": Order.SC,
        "lt_type_table_forget: metadata": Order.SC,
        "number_of: metadata": Order.SC,
        "number_of: type": Order.RELEASE,
        "lt_types: metadata": Order.ACQUIRE,
        "lt_types: type": Order.ACQUIRE,
    },
    is_wrong=lambda o: o.notes.get("storage", 3) != 3,
    is_useful=lambda o: o.notes.get("storage") == 3,
    spare={
        "lt_type_table_forget: type": "the store after it has the order that is needed",
        "lt_type_table_forget: metadata": "the exchange after it has the order that is needed",
        "number_of: metadata": "the store of the same word before it has the order that is needed",
    },
)


def _ranges(v: Variant) -> list[MakeThread]:
    # Ranges [10, 20) and [30, 40).
    def refresher() -> Thread:
        yield Store("end", 0, v.order("take_range: end"))
        yield Store("start", 30, v.order("give_range: start"))
        yield Store("end", 40, v.order("give_range: end"))

    def searcher() -> Thread:
        start = yield Load("start", v.order("has_address: start"))
        end = yield Load("end", v.order("has_address: end"))
        again = yield Load("start")
        yield Note("range", 100 * start + end if again == start else 0)

    return [refresher, searcher]


RANGES = Model(
    name="the range of an image",
    code="take_range, give_range; has_address",
    initial={"start": 10, "end": 20},
    threads=_ranges,
    orders={
        "take_range: end": Order.RELEASE,
        "give_range: start": Order.RELEASE,
        "give_range: end": Order.RELEASE,
        "has_address: start": Order.ACQUIRE,
        "has_address: end": Order.ACQUIRE,
    },
    is_wrong=lambda o: o.notes["range"] in (1040, 3020),
    is_useful=lambda o: o.notes["range"] == 3040,
    spare={"take_range: end": "nothing has to come before the removal"},
)

FAR = 99


def _deadlines(v: Variant) -> list[MakeThread]:
    def adder() -> Thread:
        # lt_expectations_add, for the deadline 5
        yield add("group", 1, v.order("add: group"))
        yield Store("slot", KEY, v.order("add: slot"))
        before = yield Load("deadline", v.order("add: deadline"))
        if before > 5:
            yield exchange("deadline", before, 5, v.order("lower: deadline"))

    def thread_pass() -> Thread:
        yield Store("deadline", FAR, v.order("pass: deadline"))  # lt_expectations_take_due
        group = yield Load("group", v.order("pass: group"))
        if group:
            slot = yield Load("slot", v.order("pass: slot"))
            if slot == KEY:
                yield Note("seen", 1)

    return [adder, thread_pass]


# Before the pass, an earlier entry has the deadline 3.
DEADLINES = Model(
    name="the next deadline of expectations",
    code="lt_expectations_add, lower_next_deadline; lt_expectations_take_due",
    initial={"group": 0, "slot": RESERVED, "deadline": 3},
    threads=_deadlines,
    orders={
        "add: group": Order.SC,
        "add: slot": Order.SC,
        "add: deadline": Order.SC,
        "lower: deadline": Order.SC,
        "pass: deadline": Order.SC,
        "pass: group": Order.SC,
        "pass: slot": Order.SC,
    },
    is_wrong=lambda o: "seen" not in o.notes and o.memory["deadline"] == FAR,
    is_useful=lambda o: "seen" in o.notes,
    spare={
        "add: group": "the store of the slot after it has the order that is needed",
        "lower: deadline": "the load before it has the order that is needed",
        "pass: slot": "the load of the group before it has the order that is needed",
    },
)


def _live(v: Variant) -> list[MakeThread]:
    def adder() -> Thread:
        yield Change("ends", lambda old: old | 1)  # lt_live_set_add
        yield Change("starts", lambda old: old | 1, v.order("lt_live_set_add: starts"))

    def walker() -> Thread:
        starts = yield Load("starts", v.order("lt_live_set_size: starts"))
        if starts:
            ends = yield Load("ends")
            yield Note("ends", ends)

    return [adder, walker]


LIVE = Model(
    name="the set of live blocks",
    code="lt_live_set_add; lt_live_set_size, lt_live_set_walk",
    initial={"starts": 0, "ends": 0},
    threads=_live,
    orders={"lt_live_set_add: starts": Order.SC, "lt_live_set_size: starts": Order.SC},
    is_wrong=lambda o: o.notes.get("ends") == 0,
    is_useful=lambda o: o.notes.get("ends") == 1,
)


def _rules(v: Variant) -> list[MakeThread]:
    # The tags of two keys are 16 and 32. A rule fits a tag if `check` is the tag plus the rule.
    def writer(tag: int, rule: int) -> MakeThread:
        def thread() -> Thread:
            yield Store("rule", rule)  # lt_rule_make
            yield Store("check", tag ^ rule)

        return thread

    def reader() -> Thread:
        rule = yield Load("rule")  # lt_rule_for
        check = yield Load("check")
        if check ^ rule == 16 or not v.has("lt_rule_for: comparison"):
            yield Note("rule", rule)

    return [writer(16, 1), writer(32, 2), reader]


RULES = Model(
    name="the cache of unwind rules",
    code="lt_rule_for, lt_rule_make",
    initial={"rule": 0, "check": 0},
    threads=_rules,
    steps=("lt_rule_for: comparison",),
    is_wrong=lambda o: o.notes.get("rule", 1) != 1,
    is_useful=lambda o: o.notes.get("rule") == 1,
)

MODELS = (TAKEN, BLOCKS, MARK_COUNT, ONCE, TYPES, RANGES, DEADLINES, LIVE, RULES)
