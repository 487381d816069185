import unittest

from user_text.literals import JAVASCRIPT, SWIFT, C, UnknownForm, strings


class SwiftTests(unittest.TestCase):
    def test_concatenated_literals_are_one_string(self):
        source = 'let text =\n  "cannot read "  // why\n  + path.name(of: file)\n  + ": it is a pipe"\n'
        self.assertEqual(strings(source, SWIFT), [(2, "cannot read X: it is a pipe")])

    def test_literals_of_separate_arguments_are_separate_strings(self):
        self.assertEqual(strings('f("one", "two")', SWIFT), [(1, "one"), (1, "two")])

    def test_value_is_a_placeholder_and_its_literals_are_separate_strings(self):
        source = '"\\(count) \\(count == 1 ? "block (\\(size))" : "blocks") leaked"'
        self.assertEqual(strings(source, SWIFT), [(1, "X X leaked"), (1, "block (X)"), (1, "blocks")])

    def test_comments_hold_no_literals(self):
        self.assertEqual(strings('// "a"\n/* "b" /* "c" */ "d" */ "e"', SWIFT), [(2, "e")])

    def test_block_keeps_its_line_breaks_except_escaped_ones(self):
        self.assertEqual(
            strings('"""\n  one \\\n  two\n\n  three "3"\n  """', SWIFT), [(1, '\n  one   two\n\n  three "3"\n  ')]
        )

    def test_raw_literals_have_other_escapes(self):
        self.assertEqual(strings('#"a \\n "b" \\#(c)"#', SWIFT), [(1, 'a \\n "b" X')])

    def test_unterminated_literal_is_refused(self):
        with self.assertRaisesRegex(UnknownForm, "line 2"):
            strings('\n"text\n"', SWIFT)


class CTests(unittest.TestCase):
    def test_adjacent_literals_are_one_string_with_placeholders_for_values(self):
        source = 'print("%zu of " PRIu64\n  " blocks, 5 %%, of %-5s", n);'
        self.assertEqual(strings(source, C), [(1, "X of X blocks, 5 %, of X")])

    def test_static_assertions_and_assembly_are_skipped(self):
        source = '_Static_assert(f(1), "a"); __asm__ volatile("b" : "=r"(c)); g("d", \'"\');'
        self.assertEqual(strings(source, C), [(1, "d"), (1, '"')])


class JavaScriptTests(unittest.TestCase):
    def test_template_values_are_placeholders(self):
        self.assertEqual(strings("f(`${n} of ${ {a: 'b'}.a } rows`)", JAVASCRIPT), [(1, "X of X rows"), (1, "b")])


if __name__ == "__main__":
    unittest.main()
