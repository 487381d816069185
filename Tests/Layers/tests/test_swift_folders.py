import os
import tempfile
import unittest

from layers import swift_folders

ORDER = ("upper", "lower")


class SwiftFolderTests(unittest.TestCase):
    """Small folders of Swift, with and without a name from above."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="leaktrace-layers-test-")
        self.addCleanup(self.folder.cleanup)

    def complaints(self, **files):
        for name, text in files.items():
            path = os.path.join(self.folder.name, *name.split("__")) + ".swift"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return swift_folders.complaints(swift_folders.uses(self.folder.name), ORDER)

    def test_downward_uses_are_accepted(self):
        self.assertEqual(self.complaints(upper__A="struct A { var b: B }", lower__B="public final class B {}"), [])

    def test_upward_use_is_reported_with_the_type(self):
        found = self.complaints(upper__A="@frozen public struct A {}", lower__B="struct B { var a: A? }")
        self.assertEqual(found, ["lower uses upper, which is above it: lower/B.swift names A"])

    def test_a_name_in_an_interpolation_is_a_use(self):
        self.assertEqual(
            len(self.complaints(upper__A="enum A { static let a = 1 }", lower__B='let b = "one \\(A.a) two"')), 1
        )

    def test_names_in_comments_and_text_are_not_uses(self):
        found = self.complaints(upper__A="struct A {}", lower__B='// As A does.\n/* Or A. */\nlet b = "A"\n')
        self.assertEqual(found, [])

    def test_folder_missing_from_the_order_is_reported(self):
        found = self.complaints(upper__A="struct A { var c: C }", other__C="struct C {}")
        self.assertEqual(found, ["the folder other has no place in the order of layers"])


if __name__ == "__main__":
    unittest.main()
