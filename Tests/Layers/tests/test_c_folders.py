import os
import subprocess
import tempfile
import unittest

from layers import c_folders
from layers.graph import Use

ORDER = ("upper", "lower")


class CFolderTests(unittest.TestCase):
    """Small folders of C, with and without an edge that leads up."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="leaktrace-layers-test-")
        self.addCleanup(self.folder.cleanup)

    def write(self, **files):
        for name, text in files.items():
            path = os.path.join(self.folder.name, *name.split("__"))
            path = path[:-2] + "." + path[-1]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)

    def uses(self):
        with tempfile.TemporaryDirectory(prefix="leaktrace-layers-test-") as objects:
            made = c_folders.compile_objects(
                self.folder.name, [self.folder.name], objects, os.environ.get("CC", "clang")
            )
            return c_folders.include_uses(self.folder.name) + c_folders.symbol_uses(made)

    def complaints(self):
        return c_folders.complaints(self.uses(), ORDER)

    def test_downward_uses_are_accepted(self):
        self.write(
            upper__a_c='#include "lower/b.h"\nint a(void) { return b(); }\n',
            lower__b_h="int b(void);\n",
            lower__b_c='#include "lower/b.h"\nint b(void) { return 1; }\n',
        )
        self.assertIn(Use("upper/a", "lower/b", 'upper/a.c:1 includes "lower/b.h"'), self.uses())
        self.assertEqual(self.complaints(), [])

    def test_upward_include_is_a_back_edge(self):
        self.write(upper__a_h="enum { A = 1 };\n", lower__b_c='#include "upper/a.h"\nint b(void) { return A; }\n')
        self.assertEqual(self.complaints(), ['lower/b.c:1 includes "upper/a.h": upper is above lower'])

    def test_upward_call_without_an_include_is_a_back_edge(self):
        self.write(upper__a_c="int a(void) { return 1; }\n", lower__b_c="int a(void);\nint b(void) { return a(); }\n")
        self.assertEqual(self.complaints(), ["lower/b.c needs a of upper/a.c: upper is above lower"])

    def test_upward_variable_is_a_back_edge(self):
        self.write(upper__a_c="int value;\n", lower__b_c="extern int value;\nint *b(void) { return &value; }\n")
        self.assertEqual(self.complaints(), ["lower/b.c needs value of upper/a.c: upper is above lower"])

    def test_mutual_uses_in_one_folder_are_a_circle(self):
        self.write(
            upper__a_c="int b(void);\nint a(void) { return b(); }\n",
            upper__b_c="int a(void);\nint b(void) { return a(); }\n",
        )
        self.assertEqual(self.complaints()[0], "a circle of files: upper/a upper/b")

    def test_source_file_and_its_header_count_as_one(self):
        self.write(upper__a_h="int a(void);\n", upper__a_c='#include "upper/a.h"\nint a(void) { return 1; }\n')
        self.assertEqual(self.complaints(), [])

    def test_folder_missing_from_the_order_is_reported(self):
        self.write(cellar__a_h="\n", upper__b_c='#include "cellar/a.h"\n')
        self.assertEqual(self.complaints(), ["the folder cellar is not in the order of folders"])

    def test_source_that_does_not_compile_is_an_error(self):
        self.write(upper__a_c="no C\n")
        with self.assertRaises(subprocess.CalledProcessError):
            self.uses()
