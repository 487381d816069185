import tempfile
import unittest
from pathlib import Path

from user_text.sources import texts
from user_text.texts import Text, document, is_text, paragraphs


class TextTests(unittest.TestCase):
    def test_four_words_are_a_text(self):
        self.assertTrue(is_text("there is no trace"))
        self.assertFalse(is_text("no such file"))
        self.assertFalse(is_text("X X X X"))
        self.assertFalse(is_text("a.b c_d e=f 0x1"))

    def test_empty_lines_and_items_begin_paragraphs(self):
        self.assertEqual(paragraphs("one\n  two\n\n- three\n- four\n"), ["one two", "- three", "- four"])

    def test_each_text_is_a_paragraph_after_its_place(self):
        self.assertEqual(
            document([Text("a.swift", 3, "there is no trace")]),
            "# Texts that users see\n\n    a.swift:3\n\nthere is no trace\n",
        )


class SourceTests(unittest.TestCase):
    def test_texts_come_from_sources_rules_and_the_widest_golden_report(self):
        files = {
            "Sources/tool/A.swift": '@Option(help: "Number of sites to show.")\nvar limit = "50"\n',
            "Sources/shim/b.c": 'say("no room for a trace");\n',
            "Sources/tool/Rules/c.rules": "# A file of words.\nkind\n  symbol  a\n  reason  A queue runs each block.\n",
            "Sources/tool/module.modulemap": '"this is not a source"',
            "Tests/ReportsTests/Golden/findings-200.txt": "LOST  Session\n  No reference  to it is left.\n",
            "Tests/ReportsTests/Golden/findings-60.txt": "No reference to it is left.\n",
        }
        with tempfile.TemporaryDirectory(prefix="leaktrace-user-text-test-") as directory:
            for name, text in files.items():
                path = Path(directory, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(
                texts(Path(directory)),
                [
                    Text("Sources/shim/b.c", 1, "no room for a trace"),
                    Text("Sources/tool/A.swift", 1, "Number of sites to show."),
                    Text("Sources/tool/Rules/c.rules", 4, "A queue runs each block."),
                    Text("Tests/ReportsTests/Golden/findings-200.txt", 2, "No reference to it is left."),
                ],
            )


if __name__ == "__main__":
    unittest.main()
