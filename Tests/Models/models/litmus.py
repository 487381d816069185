"""Reads litmus tests of herd7 in arm64 assembly, to compare this checker with that one.

Supports the instructions that diy7 generates for accesses of one size: loads, stores, exclusive pairs, fences, and
dependencies by EOR and branches.
"""

import collections.abc
import dataclasses
import re

from .execution import Outcome, Processor, outcomes
from .language import Branch, Change, Fence, Load, LoadFence, MakeThread, Note, Order, Step, Store, Thread, Value


class UnsupportedTest(Exception):
    """The test has an instruction or a condition that this module does not know."""


Register = tuple[int, tuple[Value, ...]]  # a value, and the reads that it is computed from
Pointers = dict[str, tuple[str, tuple[Value, ...]]]  # for each register: a place, and such reads


@dataclasses.dataclass
class Litmus:
    """A litmus test."""

    name: str
    initial: dict[str, int]
    registers: list[dict[str, str | int]]  # for each thread
    programs: list[list[str]]
    condition: str

    def is_seen(self) -> bool:
        """True if an allowed execution satisfies the condition of `exists`."""
        return any(self._holds(o) for o in outcomes(self._threads(), self.initial, Processor.ARM64))

    def _holds(self, outcome: Outcome) -> bool:
        for term in re.split(r"/\\", self.condition):
            name, value = (part.strip(" ()") for part in term.split("="))
            known = outcome.notes.get(name.replace("X", "W")) if ":" in name else outcome.memory[name.strip("[]")]
            if known is None or known != int(value):
                return False
        return True

    def _threads(self) -> list[MakeThread]:
        def bind(number: int) -> MakeThread:
            return lambda: _execute(number, self.registers[number], self.programs[number])

        return [bind(number) for number in range(len(self.programs))]


def read(text: str) -> Litmus:
    """Reads a test. Raises UnsupportedTest."""
    lines = [line.strip() for line in text.splitlines()]
    if not lines[0].startswith("AArch64 "):
        raise UnsupportedTest(lines[0])
    name = lines[0].split()[1]
    setup = text[text.index("{") + 1 : text.index("}")]
    initial: dict[str, int] = {}
    registers: dict[int, dict[str, str | int]] = {}
    for term in (t.strip() for t in setup.replace("\n", " ").split(";")):
        if not term:
            continue
        left, right = (part.strip() for part in term.split("="))
        if ":" in left:
            thread, register = left.split(":")
            registers.setdefault(int(thread), {})[register] = int(right) if right.isdigit() else right
            if not right.isdigit():
                initial.setdefault(right, 0)
        elif re.fullmatch(r"[a-z]+", left):
            initial[left] = int(right)
        else:
            raise UnsupportedTest(term)
    body = text[text.index("}") + 1 :]
    at = re.search(r"^\s*(exists|~exists|forall|locations)\b", body, re.MULTILINE)
    if not at or at[1] != "exists":
        raise UnsupportedTest("condition")
    condition = " ".join(body[at.end() :].split())
    if "\\/" in condition or "not" in condition:
        raise UnsupportedTest(condition)
    rows = [row.strip().rstrip(";").split("|") for row in body[: at.start()].splitlines() if row.strip()]
    programs = [[row[n].strip() for row in rows[1:] if row[n].strip()] for n in range(len(rows[0]))]
    return Litmus(name, initial, [registers.get(n, {}) for n in range(len(programs))], programs, condition.strip("() "))


_LOADS = {"LDR": Order.RELAXED, "LDAR": Order.SC, "LDAPR": Order.ACQUIRE}
_STORES = {"STR": Order.RELAXED, "STLR": Order.RELEASE}


def _execute(number: int, setup: dict[str, str | int], program: list[str]) -> Thread:
    registers: dict[str, Register] = {}
    pointers: Pointers = {name: (value, ()) for name, value in setup.items() if isinstance(value, str)}
    for name, value in setup.items():
        if isinstance(value, int):
            registers[_word(name)] = (value, ())
    at = 0
    while at < len(program):
        line = program[at]
        at += 1
        if line.endswith(":"):
            continue
        operation, *operands = line.replace(",", " ").replace("[", " ").replace("]", " ").split()
        match operation:
            case "MOV":
                known = operands[1]
                registers[_word(operands[0])] = (int(known[1:]), ()) if known[0] == "#" else registers[_word(known)]
            case "EOR":
                a, b = registers[_word(operands[1])], registers[_word(operands[2])]
                registers[_word(operands[0])] = (a[0] ^ b[0], a[1] + b[1])
            case "ADD" if operands[1] in pointers:
                place, before = pointers[operands[1]]
                pointers[operands[0]] = (place, before + registers[_word(operands[2])][1])
            case "ADD":
                a = registers[_word(operands[1])]
                second = operands[2]
                b = (int(second[1:]), ()) if second[0] == "#" else registers[_word(second)]
                registers[_word(operands[0])] = (a[0] + b[0], a[1] + b[1])
            case "LDR" | "LDAR" | "LDAPR":
                place, after = _address(pointers, registers, operands)
                value = yield Load(place, _LOADS[operation], after)
                registers[_word(operands[0])] = (int(value), (value,))
            case "STR" | "STLR":
                place, after = _address(pointers, registers, operands)
                content = registers[_word(operands[0])]
                yield Store(place, content[0], _STORES[operation], after, content[1])
            case "LDXR" | "LDAXR":
                value, at = yield from _exclusive(operation, operands, pointers, registers, program, at)
            case "CBNZ" | "CBZ":
                content = registers[_word(operands[0])]
                yield Branch(content[1])
                if (content[0] != 0) == (operation == "CBNZ"):
                    at = program.index(operands[1] + ":")
            case "DMB" if operands == ["SY"]:
                yield Fence()
            case "DMB" if operands == ["LD"]:
                yield LoadFence()
            case _:
                raise UnsupportedTest(line)
    for name, content in registers.items():
        yield Note(f"{number}:{name}", content[0])


def _exclusive(
    operation: str,
    operands: list[str],
    pointers: Pointers,
    registers: dict[str, Register],
    program: list[str],
    at: int,
) -> collections.abc.Generator[Step, Value, tuple[Value, int]]:
    """An exclusive load and the exclusive store after it, as one change that succeeds."""
    store, *parts = program[at].replace(",", " ").replace("[", " ").replace("]", " ").split()
    if store not in ("STXR", "STLXR") or parts[2] != operands[1] or not program[at + 1].startswith("CBNZ " + parts[0]):
        raise UnsupportedTest(program[at])
    orders = {("LDXR", "STXR"): Order.RELAXED, ("LDAXR", "STXR"): Order.ACQUIRE, ("LDXR", "STLXR"): Order.RELEASE}
    order = orders.get((operation, store), Order.SC)
    made = registers[_word(parts[1])][0]
    value = yield Change(pointers[operands[1]][0], lambda _: made, order)
    registers[_word(operands[0])] = (int(value), (value,))
    return value, at + 2


def _word(name: str) -> str:
    return name.replace("X", "W")


def _address(pointers: Pointers, registers: dict[str, Register], operands: list[str]) -> tuple[str, tuple[Value, ...]]:
    """The place of an access, and the reads that its address is computed from."""
    place, after = pointers[operands[1]]
    return place, after + (registers[_word(operands[2])][1] if len(operands) > 2 else ())
