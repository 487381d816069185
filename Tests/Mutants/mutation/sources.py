"""Makes the mutated sources: every mutant is in them, and the environment variable MUTANT chooses one at run time."""

import os
from collections.abc import Iterable

from .mutants import Kind, Mutant

VARIABLE = "MUTANT"

# The loader passes the environment to constructors. So this calls nothing, and reads the variable once. Hooks that run
# before it find no mutant. The recorder's own constructor has the priority 101.
_C_HELPER = """\
static int chosenMutant;
__attribute__((constructor(100), used)) static void choose_mutant(int count, char **arguments, char **environment) {
  (void)count, (void)arguments;
  for (char **e = environment; e && *e; e++) {
    const char *name = "MUTANT=", *text = *e;
    while (*name && *name == *text) name++, text++;
    if (*name) continue;
    chosenMutant = 0;
    for (; *text >= '0' && *text <= '9'; text++) chosenMutant = chosenMutant * 10 + (*text - '0');
  }
}
__attribute__((always_inline)) static inline _Bool mutantIsActive(int number) { return chosenMutant == number; }
#line 1
"""

_SWIFT_HELPER = """
import func Glibc.getenv

private let chosenMutant = getenv("MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
private func mutantIsActive(_ number: Int) -> Bool { chosenMutant == number }
"""


class Misplaced(Exception):
    """A mutant whose original text is not where the list says."""


def numbered(mutants: Iterable[Mutant]) -> dict[int, Mutant]:
    return dict(enumerate(mutants, 1))


def _only(text: str, part: str, mutant: Mutant, of: str) -> int:
    count = text.count(part) if part else 0
    if count != 1:
        raise Misplaced(f"{mutant.name}: {mutant.file} has the {of} {count} times instead of once: {part.strip()}")
    return text.index(part)


def place(mutant: Mutant, text: str) -> int:
    """The offset of the original text in its file."""
    context = mutant.context or mutant.original
    start = _only(text, context, mutant, "context" if mutant.context else "original text")
    if not mutant.function or mutant.function not in text[:start] + context:
        raise Misplaced(f"{mutant.name}: {mutant.file} does not have {mutant.function or 'a function'} before its text")
    return start + _only(context, mutant.original, mutant, "original text in its context")


def choice(number: int, mutant: Mutant) -> str:
    """The text that replaces the original."""
    if mutant.kind is Kind.EXPRESSION:
        return f"(mutantIsActive({number}) ? ({mutant.mutated}) : ({mutant.original}))"
    if mutant.file.endswith(".swift"):
        return f"if mutantIsActive({number}) {{\n{mutant.mutated}\n}} else {{\n{mutant.original}\n}}"
    return f"if (mutantIsActive({number})) {{ {mutant.mutated} }} else {{ {mutant.original} }}"


def mutated_text(text: str, mutants: dict[int, Mutant], file: str) -> str:
    """The text of a file with all of its mutants."""
    own = [(place(mutant, text), number) for number, mutant in mutants.items() if mutant.file == file]
    # From the end, so that places before it stay.
    for start, number in sorted(own, reverse=True):
        mutant = mutants[number]
        text = text[:start] + choice(number, mutant) + text[start + len(mutant.original) :]
    if not own:
        return text
    return text + _SWIFT_HELPER if file.endswith(".swift") else _C_HELPER + text


def read(root: str, file: str) -> str:
    with open(os.path.join(root, file), encoding="utf-8") as source:
        return source.read()


def complaints(root: str, mutants: dict[int, Mutant]) -> list[str]:
    """One line for each mutant that does not fit the sources."""
    found = []
    names = [mutant.name for mutant in mutants.values()]
    found += [f"{name}: there are two mutants of this name" for name in sorted(set(names)) if names.count(name) > 1]
    for mutant in mutants.values():
        try:
            place(mutant, read(root, mutant.file))
        except OSError as failure:
            found.append(f"{mutant.name}: {mutant.file}: {failure.strerror}")
        except Misplaced as failure:
            found.append(str(failure))
    return found
