import tempfile
import types
import unittest
from unittest import mock

from trials import documents, survival
from trials.situations import Situation
from trials.survival import Row, Seen


def seen(status=0, output="", visits=None):
    return Seen(status, output, "", (), (), (), (), (), 0, (), visits)


def row(mode, untraced, traced, differences=()):
    return Row(Situation("Group", "name", "what it does", ("program",)), mode, untraced, traced, list(differences))


class Tables(unittest.TestCase):
    def test_forms_are_columns(self):
        visits = types.SimpleNamespace(visits=3, remark=lambda: "3 times, 2 images")
        refused = types.SimpleNamespace(visits=0, remark=lambda: "refused: it is stopped")
        rows = [
            row("alone", seen(), seen()),
            row("light", seen(), seen(1), ["ends with 1, not 0"]),
            row("inspected", seen(), seen(visits=refused)),
            row("attached", seen(), seen(visits=visits)),
        ]
        self.assertEqual(
            survival.table_of_forms(rows)[-2],
            "| `name`: what it does | 0 | yes | **differs**: ends with 1, not 0 | yes, refused "
            "| yes, 3 times, 2 images | refused: it is stopped |",
        )

    def test_impossible_form_is_not_green(self):
        line = survival.table_of_forms([row("alone", seen(77), seen(77))])[-2]
        self.assertIn("| not run |", line)
        self.assertNotIn("yes", line)


class Documents(unittest.TestCase):
    def test_table_file_is_replaced(self):
        with tempfile.TemporaryDirectory() as directory:
            with mock.patch.object(documents, "TABLES", directory):
                documents.write_table("part", "Old", "About it.", ["old"])
                path = documents.write_table("part", "Title", "About it.", ["new", ""])
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.assertEqual(text, "# Title\n\nAbout it.\n\nnew\n")


class SelectionTests(unittest.TestCase):
    def test_names_and_groups_choose_situations(self):
        first, second = (Situation(group, name, "", ()) for group, name in (("A", "x"), ("B", "y")))
        found = [first, second]
        self.assertEqual(survival.select(found, None, set()), found)
        self.assertEqual(survival.select(found, {"y"}, set()), [second])
        self.assertEqual(survival.select(found, None, {"A"}), [first])
        self.assertEqual(survival.select(found, {"y"}, {"A"}), [])
        for names, groups in (({"z"}, set()), (None, {"C"})):
            with self.assertRaises(SystemExit):
                survival.select(found, names, groups)
