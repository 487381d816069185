"""The language of the models: threads as generators of accesses, and the executions of one thread by itself.

A thread is a generator. It yields an access, and receives the value that the access has read. `after` names the values
that the access's address is computed from. `data` names the values in a stored value. Processors keep the order of such
dependent accesses. A dependency that the compiled code might lose must not be named.
"""

import collections.abc
import dataclasses
import enum
import typing


class Order(enum.IntEnum):
    """The memory orders of C11 that the recorder uses."""

    RELAXED = 0
    ACQUIRE = 1
    RELEASE = 2
    SC = 3


class Value(int):
    """A value that a thread has read. `read` is the number of the read in its thread, or None for a constant."""

    read: int | None

    def __new__(cls, value: int, read: int | None = None) -> "Value":
        made = super().__new__(cls, value)
        made.read = read
        return made


Values = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Load:
    """Reads a place."""

    place: str
    order: Order = Order.RELAXED
    after: Values = ()


@dataclasses.dataclass(frozen=True)
class Store:
    """Writes a place."""

    place: str
    value: int
    order: Order = Order.RELAXED
    after: Values = ()
    data: Values = ()


@dataclasses.dataclass(frozen=True)
class Change:
    """Reads and writes a place in one step. If `change` returns None, the place keeps its value, as in a failed compare
    and exchange."""

    place: str
    change: collections.abc.Callable[[int], int | None]
    order: Order = Order.SC


def exchange(place: str, expected: int, value: int, order: Order = Order.SC) -> Change:
    """A compare and exchange."""
    return Change(place, lambda old: value if old == expected else None, order)


def add(place: str, amount: int, order: Order = Order.SC) -> Change:
    """An atomic addition."""
    return Change(place, lambda old: old + amount, order)


@dataclasses.dataclass(frozen=True)
class Branch:
    """The thread's later accesses happen only because of these values. Processors delay later stores, but not loads."""

    on: Values


@dataclasses.dataclass(frozen=True)
class Fence:
    """A full fence of the processor."""


@dataclasses.dataclass(frozen=True)
class LoadFence:
    """A fence between earlier loads and all later accesses: an acquire fence."""


@dataclasses.dataclass(frozen=True)
class ThreadBarrier:
    """membarrier(2): while this call runs, every other thread executes a full fence, somewhere in its code."""


@dataclasses.dataclass(frozen=True)
class Require:
    """Drops the execution unless the condition holds. Stands for a loop that waits for the condition."""

    condition: bool


@dataclasses.dataclass(frozen=True)
class Note:
    """Reports a value to the model's condition."""

    name: str
    value: int


Step = Load | Store | Change | Branch | Fence | LoadFence | ThreadBarrier | Require | Note
Thread = collections.abc.Generator[Step, Value, None]
MakeThread = collections.abc.Callable[[], Thread]


class Kind(enum.Enum):
    """What an event does."""

    READ = "R"
    WRITE = "W"
    FENCE = "F"
    LOAD_FENCE = "FL"
    THREAD_BARRIER = "FT"


@dataclasses.dataclass
class Event:
    """A read, a write or a fence of a thread. The sets have numbers of earlier reads of the same thread."""

    kind: Kind
    place: str = ""
    value: int = 0
    order: Order = Order.RELAXED
    dependencies: frozenset[int] = frozenset()  # of the address or of the stored value
    branches: frozenset[int] = frozenset()
    partner: int | None = None  # in the write of a change: the number of its read
    exclusive: bool = False  # the read of a change


@dataclasses.dataclass
class Path:
    """One way through a thread: its events, if its reads return the given values."""

    events: list[Event]
    notes: dict[str, int]

    def writes(self) -> collections.abc.Iterator[tuple[str, int]]:
        """The places and values that the thread writes."""
        return ((e.place, e.value) for e in self.events if e.kind is Kind.WRITE)


Domain = dict[str, set[int]]


@dataclasses.dataclass
class _Run:
    """A replay of a thread, up to the first read without a chosen value."""

    path: Path
    missing: str | None = None  # the place of that read
    is_dropped: bool = False


def _reads(values: Values) -> frozenset[int]:
    return frozenset(v.read for v in values if isinstance(v, Value) and v.read is not None)


def _run(make: MakeThread, choices: list[int]) -> _Run:
    thread = make()
    events: list[Event] = []
    notes: dict[str, int] = {}
    path = Path(events, notes)
    branches: frozenset[int] = frozenset()
    left = list(reversed(choices))
    answer: Value | None = None
    while True:
        try:
            step = thread.send(typing.cast(Value, answer))
        except StopIteration:
            return _Run(path)
        answer = None
        match step:
            case Load(place, order, after):
                if not left:
                    return _Run(path, missing=place)
                answer = Value(left.pop(), len(events))
                events.append(Event(Kind.READ, place, int(answer), order, _reads(after), branches))
                branches |= _reads(after)  # later stores wait for the address, since it may be invalid
            case Store(place, value, order, after, data):
                events.append(Event(Kind.WRITE, place, int(value), order, _reads((value, *after, *data)), branches))
                branches |= _reads(after)
            case Change(place, change, order):
                if not left:
                    return _Run(path, missing=place)
                number = len(events)
                answer = Value(left.pop(), number)
                events.append(Event(Kind.READ, place, int(answer), order, frozenset(), branches, exclusive=True))
                made = change(int(answer))
                if made is not None:
                    events.append(Event(Kind.WRITE, place, made, order, frozenset(), branches, partner=number))
            case Branch(on):
                branches |= _reads(on)
            case Fence():
                events.append(Event(Kind.FENCE))
            case LoadFence():
                events.append(Event(Kind.LOAD_FENCE))
            case ThreadBarrier():
                events.append(Event(Kind.THREAD_BARRIER))
            case Require(condition):
                if not condition:
                    return _Run(path, is_dropped=True)
            case Note(name, value):
                notes[name] = int(value)


def _paths_in(make: MakeThread, domain: Domain) -> collections.abc.Iterator[_Run]:
    pending: list[list[int]] = [[]]
    while pending:
        choices = pending.pop()
        run = _run(make, choices)
        if run.missing is not None:
            pending += [[*choices, value] for value in sorted(domain[run.missing], reverse=True)]
        yield run


Limits = collections.abc.Mapping[str, collections.abc.Container[int]]


def paths(threads: list[MakeThread], initial: dict[str, int], limits: Limits) -> list[list[Path]]:
    """Returns, for each thread, its paths for all values that any thread may write to the places that it reads.

    `limits` gives the only values that a place can have. The caller must check that no execution writes another one.
    """
    domain: Domain = {place: {value} for place, value in initial.items()}
    # A value depends on at most as many writes as there are. So additions need no further rounds.
    rounds, longest = 0, 1
    while True:
        rounds += 1
        before = sum(len(values) for values in domain.values())
        found: list[list[Path]] = []
        writes = 0
        for make in threads:
            runs = list(_paths_in(make, domain))
            for run in runs:
                for place, value in run.path.writes():
                    if place not in limits or value in limits[place]:
                        domain[place].add(value)
            writes += max(sum(1 for _ in run.path.writes()) for run in runs)
            found.append([run.path for run in runs if run.missing is None and not run.is_dropped])
        longest = max(longest, writes)
        if sum(len(values) for values in domain.values()) == before or rounds > longest:
            return found
