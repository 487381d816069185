import os
import shutil
import subprocess
import tempfile
import unittest

from mutation.mutants import MUTANTS, Kind, Mutant
from mutation.sources import Misplaced, complaints, mutated_text, numbered, place

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
COMPILER = os.environ.get("CC") or "cc"

PROGRAM = """\
#include <stdio.h>
static int sum(int a, int b) { return a + b; }
int main(void) {
  puts("kept");
  printf("%d\\n", sum(2, 3));
  return 0;
}
"""


def mutant(original, mutated, context="", kind=Kind.EXPRESSION, file="a.c", name="slip"):
    return Mutant(
        name=name,
        breaks="It breaks.",
        file=file,
        function="sum",
        original=original,
        mutated=mutated,
        context=context,
        kind=kind,
    )


class PlaceTests(unittest.TestCase):
    def test_the_original_is_found_in_its_context(self):
        self.assertEqual(place(mutant("b", "a", context="a + b"), PROGRAM), PROGRAM.index("a + b") + 4)

    def test_duplicate_text_is_refused(self):
        with self.assertRaisesRegex(Misplaced, "slip: a.c has the original text 2 times"):
            place(mutant("sum", "total"), PROGRAM)

    def test_missing_context_is_refused(self):
        with self.assertRaisesRegex(Misplaced, "slip: a.c has the context 0 times"):
            place(mutant("b", "a", context="a - b"), PROGRAM)

    def test_later_function_is_refused(self):
        with self.assertRaisesRegex(Misplaced, "does not have sum before"):
            place(mutant("<stdio.h>", "<stdlib.h>"), PROGRAM)

    def test_duplicate_mutant_names_are_reported(self):
        both = numbered([mutant("a", "b", file="none.c"), mutant("a", "b", file="none.c")])
        self.assertIn("slip: there are two mutants of this name", complaints("/", both))


class SourcesTests(unittest.TestCase):
    def test_each_mutant_fits_the_sources(self):
        self.assertEqual(complaints(ROOT, numbered(MUTANTS)), [])

    def test_other_files_are_unchanged(self):
        self.assertEqual(mutated_text(PROGRAM, numbered([mutant("a + b", "a - b")]), "b.c"), PROGRAM)

    def test_swift_chooses_an_expression_and_statements(self):
        mutants = numbered(
            [
                mutant("a + b", "a - b", file="a.swift"),
                mutant("stop()", "go()", file="a.swift", kind=Kind.STATEMENTS, name="other"),
            ]
        )
        text = mutated_text("func sum() { stop(); return a + b }\n", mutants, "a.swift")
        self.assertIn("return (mutantIsActive(1) ? (a - b) : (a + b)) }", text)
        self.assertIn("{ if mutantIsActive(2) {\ngo()\n} else {\nstop()\n}; return", text)


@unittest.skipUnless(shutil.which(COMPILER), "needs a C compiler")
class ChosenMutantTests(unittest.TestCase):
    """What a compiled program with mutants does."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        mutants = numbered(
            [
                mutant("a + b", "a - b"),
                mutant('puts("kept");', "", kind=Kind.STATEMENTS, name="other"),
            ]
        )
        source = os.path.join(self.directory.name, "a.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(mutated_text(PROGRAM, mutants, "a.c"))
        self.program = os.path.join(self.directory.name, "a")
        subprocess.run([COMPILER, "-w", source, "-o", self.program], check=True)

    def output(self, **environment):
        return subprocess.run([self.program], env=environment, capture_output=True, text=True, check=True).stdout

    def test_the_variable_chooses_one_mutant(self):
        self.assertEqual(self.output(MUTANT="1"), "kept\n-1\n")
        self.assertEqual(self.output(MUTANT="2"), "5\n")

    def test_no_mutant_is_active_without_the_variable(self):
        self.assertEqual(self.output(), "kept\n5\n")
        self.assertEqual(self.output(MUTANT="", MUTANTS="1"), "kept\n5\n")
        self.assertEqual(self.output(MUTANT="12"), "kept\n5\n")
