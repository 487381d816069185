"""Enumerates the executions of a program that a processor's memory model allows.

An execution chooses a path for each thread, the write that each read returns, and the order of the writes to each
place. Two models decide whether the processor can produce it:

- arm64: "other-multi-copy atomic" Arm, as in the Arm Architecture Reference Manual, B2.3, without mixed sizes.
- x86-64: total store order.

Both also have the coherence of single places. Sets of events are integers: bit i stands for event i.
"""

import collections.abc
import dataclasses
import enum
import itertools

from .language import Event, Kind, Limits, MakeThread, Order, Path, paths


class Processor(enum.Enum):
    """A memory model."""

    ARM64 = "arm64"
    X86_64 = "x86-64"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The visible end of an execution: the last value of each place, and the threads' notes."""

    memory: dict[str, int]
    notes: dict[str, int]


def _is_acquire(e: Event) -> bool:
    return e.kind is Kind.READ and e.order in (Order.ACQUIRE, Order.SC)


def _is_strong_acquire(e: Event) -> bool:
    # LDAR or LDAXR, which stays behind an earlier STLR. A plain acquire load may be LDAPR, which does not.
    return e.kind is Kind.READ and (e.order is Order.SC or (e.exclusive and e.order is Order.ACQUIRE))


def _is_release(e: Event) -> bool:
    return e.kind is Kind.WRITE and e.order in (Order.RELEASE, Order.SC)


def _is_kept_by_arm(first: Event, second: Event, number: int) -> bool:
    """True if Arm keeps the order of two accesses of one thread by themselves. `number` is that of the first."""
    if second.kind is Kind.WRITE and second.place == first.place:
        return True  # also the two halves of a change
    if _is_acquire(first) or _is_release(second) or (_is_release(first) and _is_strong_acquire(second)):
        return True
    if first.kind is not Kind.READ:
        return False
    if number in second.dependencies:
        return True
    return second.kind is Kind.WRITE and number in second.branches


def _is_kept_by_x86(first: Event, second: Event) -> bool:
    if not (first.kind is Kind.WRITE and second.kind is Kind.READ):
        return True
    # A store with sequential consistency is an exchange. The two halves of a change are locked.
    return first.order is Order.SC or first.partner is not None or second.partner is not None


def _is_fenced(first: Event, second: Event, processor: Processor) -> bool:
    """True for an edge from or to a fence."""
    if Kind.THREAD_BARRIER in (first.kind, second.kind) or Kind.FENCE in (first.kind, second.kind):
        return True
    return processor is Processor.ARM64 and (
        (first.kind is Kind.READ and second.kind is Kind.LOAD_FENCE) or first.kind is Kind.LOAD_FENCE
    )


@dataclasses.dataclass
class _Piece:
    """The events of one thread, with a node for each barrier that other threads cause in it."""

    events: list[Event]
    kept: list[int]  # for each event: the later events whose order is kept
    notes: dict[str, int]


def _piece(path: Path, processor: Processor) -> _Piece:
    events = path.events
    kept = [0] * len(events)
    changes = {e.partner for e in events if e.partner is not None}
    for i, first in enumerate(events):
        for k in range(i + 1, len(events)):
            second = events[k]
            if first.kind in (Kind.READ, Kind.WRITE) and second.kind in (Kind.READ, Kind.WRITE):
                if processor is Processor.ARM64:
                    is_kept = _is_kept_by_arm(first, second, i)
                else:
                    is_kept = _is_kept_by_x86(first, second) or k in changes
            else:
                is_kept = _is_fenced(first, second, processor)
            if is_kept:
                kept[i] |= 1 << k
    return _Piece(events, kept, path.notes)


def _has_cycle(successors: list[int]) -> bool:
    """True if the relation has a cycle: nodes without predecessors are removed until none is left."""
    left = (1 << len(successors)) - 1
    while left:
        reached = 0
        rest = left
        while rest:
            low = rest & -rest
            reached |= successors[low.bit_length() - 1]
            rest ^= low
        if not left & ~reached:
            return True
        left &= reached
    return False


@dataclasses.dataclass
class Tally:
    """The number of executions, and of their beginnings, that were searched for a cycle."""

    tried: int = 0


@dataclasses.dataclass
class _Choice:
    """The sources of a place's reads, and the order of its writes, as edges between accesses."""

    edges: list[tuple[int, int]]
    last: int  # the place's last value


class _Program:
    """The events of all threads, with the initial writes first."""

    def __init__(self, pieces: tuple[_Piece, ...], initial: dict[str, int], processor: Processor, tally: Tally) -> None:
        self.processor, self.tally = processor, tally
        self.events: list[Event] = [Event(Kind.WRITE, place, value) for place, value in initial.items()]
        self.thread = [-1] * len(self.events)
        self.starts: list[int] = []
        for number, piece in enumerate(pieces):
            self.starts.append(len(self.events))
            self.events += piece.events
            self.thread += [number] * len(piece.events)
        size = len(self.events)
        self.kept = [0] * size
        self.changed: dict[int, int] = {}  # the read of each change's write
        for start, piece in zip(self.starts, pieces, strict=True):
            for i, later in enumerate(piece.kept):
                self.kept[start + i] = later << start
                event = piece.events[i]
                if event.partner is not None:
                    self.changed[start + i] = start + event.partner
        # For each write, the reads that its value or address depends on.
        self.dependencies = {
            start + i: [start + number for number in e.dependencies]
            for start, piece in zip(self.starts, pieces, strict=True)
            for i, e in enumerate(piece.events)
            if e.kind is Kind.WRITE and e.dependencies
        }

    def writes_to(self, place: str) -> list[int]:
        return [i for i, e in enumerate(self.events) if e.kind is Kind.WRITE and e.place == place]

    def choices(self, place: str) -> list[_Choice]:
        """Every coherent choice of a write for each read of a place, and of the order of its writes."""
        writes = self.writes_to(place)
        reads = [i for i, e in enumerate(self.events) if e.kind is Kind.READ and e.place == place]
        first, others = writes[:1], writes[1:]
        orders = [(*first, *order) for order in itertools.permutations(others) if self._is_in_program_order(order)]
        possible = [[w for w in writes if self.events[w].value == self.events[r].value] for r in reads]
        found: list[_Choice] = []
        for sources in itertools.product(*possible):
            source = dict(zip(reads, sources, strict=True))
            found += [self._choice(source, order) for order in orders if self._is_coherent(source, order)]
        return found

    def _is_in_program_order(self, order: tuple[int, ...]) -> bool:
        return all(self.thread[a] != self.thread[b] or a < b for n, a in enumerate(order) for b in order[n + 1 :])

    def _is_coherent(self, source: dict[int, int], order: tuple[int, ...]) -> bool:
        at = {w: n for n, w in enumerate(order)}
        for r, w in source.items():
            for k in itertools.chain(source, order):
                if k == r or self.thread[k] != self.thread[r]:
                    continue
                # A read returns no older write than the thread has seen before, and none of its later writes.
                position = at[source[k]] if k in source else at[k]
                if (k < r and position > at[w]) or (k > r and k in at and position <= at[w]):
                    return False
        # Nothing comes between the two halves of a change.
        return all(at[w] == at[source[r]] + 1 for w, r in self.changed.items() if r in source)

    def _choice(self, source: dict[int, int], order: tuple[int, ...]) -> _Choice:
        """The order between accesses that a choice causes."""
        edges: list[tuple[int, int]] = []
        is_total = self.processor is Processor.X86_64
        for n, w in enumerate(order):
            edges += [(w, later) for later in order[n + 1 :] if is_total or self.thread[w] != self.thread[later]]
        for r, w in source.items():
            if self.thread[w] != self.thread[r]:
                edges.append((w, r))
            elif not is_total:
                # What the write depends on comes before a read of this write. So does the exclusive write of a change
                # before an acquiring read of it.
                edges += [(d, r) for d in self.dependencies.get(w, ())]
                if w in self.changed and _is_acquire(self.events[r]):
                    edges.append((w, r))
            for later in order[order.index(w) + 1 :]:
                is_own = self.changed.get(later) == r
                if not is_own and (is_total or self.thread[later] != self.thread[r]):
                    edges.append((r, later))
        return _Choice(edges, self.events[order[-1]].value)

    def barriers(self) -> collections.abc.Iterator[list[int]]:
        """Every way to place the fences that thread barriers cause in other threads. There is one node for each."""
        size = len(self.events)
        callers = [i for i, e in enumerate(self.events) if e.kind is Kind.THREAD_BARRIER]
        ends = [*self.starts[1:], size]
        targets = [
            (caller, start, end)
            for caller in callers
            for number, (start, end) in enumerate(zip(self.starts, ends, strict=True))
            if number != self.thread[caller]
        ]
        for positions in itertools.product(*(range(start, end + 1) for _, start, end in targets)):
            edges = [0] * (size + len(targets) + len(callers))
            # A second node for each call: its end. What follows the call comes after the end.
            finish = {caller: size + len(targets) + n for n, caller in enumerate(callers)}
            for caller, end in finish.items():
                edges[caller] |= 1 << end
                edges[end] |= self.kept[caller]
            for n, ((caller, start, end), position) in enumerate(zip(targets, positions, strict=True)):
                node = size + n
                edges[caller] |= 1 << node
                edges[node] |= 1 << finish[caller]
                for i in range(start, position):
                    edges[i] |= 1 << node
                for i in range(position, end):
                    edges[node] |= 1 << i
            yield edges

    def memories(self, places: list[str]) -> collections.abc.Iterator[dict[str, int]]:
        """The last values of the places, in each possible execution."""
        choices = {place: self.choices(place) for place in places}
        if not all(choices.values()):
            return
        # Places with few choices first: they rule out most of the others.
        order = sorted(places, key=lambda place: len(choices[place]))
        for start in self.barriers():
            for i, later in enumerate(self.kept):
                start[i] |= later
            yield from self._extended(order, choices, start, {})

    def _extended(
        self, places: list[str], choices: dict[str, list[_Choice]], edges: list[int], memory: dict[str, int]
    ) -> collections.abc.Iterator[dict[str, int]]:
        if not places:
            yield memory
            return
        for choice in choices[places[0]]:
            extended = edges.copy()
            for a, b in choice.edges:
                extended[a] |= 1 << b
            self.tally.tried += 1
            if not _has_cycle(extended):
                yield from self._extended(places[1:], choices, extended, memory | {places[0]: choice.last})


def _have_sources(pieces: tuple[_Piece, ...], initial: dict[str, int]) -> bool:
    """False if a read returns a value that nobody writes: then the paths do not fit together."""
    written = set(initial.items())
    for piece in pieces:
        written |= {(e.place, e.value) for e in piece.events if e.kind is Kind.WRITE}
    return all((e.place, e.value) in written for piece in pieces for e in piece.events if e.kind is Kind.READ)


def outcomes(
    threads: list[MakeThread],
    initial: dict[str, int],
    processor: Processor,
    limits: Limits | None = None,
    tally: Tally | None = None,
) -> collections.abc.Iterator[Outcome]:
    """The outcomes of all executions that the processor can produce. Equal outcomes may be repeated. Raises ValueError
    if an execution writes a value that is outside of the place's limits."""
    limits, tally = limits or {}, tally or Tally()
    pieces = [[_piece(path, processor) for path in found] for found in paths(threads, initial, limits)]
    for chosen in itertools.product(*pieces):
        if not _have_sources(chosen, initial):
            continue
        program = _Program(chosen, initial, processor, tally)
        notes: dict[str, int] = {}
        for piece in chosen:
            notes |= piece.notes
        for memory in program.memories(list(initial)):
            for piece in chosen:
                for e in piece.events:
                    if e.kind is Kind.WRITE and e.place in limits and e.value not in limits[e.place]:
                        raise ValueError(f"{e.place} = {e.value}")
            yield Outcome(memory, notes)
