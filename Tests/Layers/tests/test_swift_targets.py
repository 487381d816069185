import os
import tempfile
import unittest

from layers import swift_targets
from layers.graph import diagram

MANIFEST = """
    .target(name: "CFormat"),
    .target(name: "Lower", dependencies: ["CFormat"], path: "Sources/All/Lower"),
    .target(
      name: "Upper",
      dependencies: [
        "Lower", "CFormat",
      ],
      path: "Sources/All/Upper"),
    .target(name: "Other", dependencies: ["Upper"], path: "Tests/Other"),
"""


class SwiftTargetTests(unittest.TestCase):
    """Compares the imports of a small package with its manifest."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="leaktrace-layers-test-")
        self.addCleanup(self.folder.cleanup)

    def complaints(self, manifest=MANIFEST, **files):
        for name, text in files.items():
            path = os.path.join(self.folder.name, "Sources", "All", name, "File.swift")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return swift_targets.complaints(swift_targets.targets(manifest, "Sources/All"), "Sources/All", self.folder.name)

    def test_diagram_lists_the_folders_targets_from_the_top(self):
        targets = swift_targets.targets(MANIFEST, "Sources/All")
        shown = diagram(swift_targets.order(targets), swift_targets.uses(targets), str)
        self.assertEqual(shown, "Upper  → Lower\nLower")

    def test_declared_imports_are_accepted(self):
        self.assertEqual(self.complaints(Upper="import CFormat\n@_exported import Lower\n", Lower="import Glibc\n"), [])

    def test_undeclared_import_is_reported(self):
        found = self.complaints(Upper="import Lower\n", Lower="import Upper\n")
        self.assertEqual(found, ["Lower imports Upper and does not depend on it"])

    def test_unused_dependency_is_reported(self):
        found = self.complaints(Upper="// import Lower\n", Lower="")
        self.assertEqual(found, ["Upper depends on Lower and does not import it"])

    def test_lists_with_names_count_as_their_contents(self):
        lists = 'let base: [Target.Dependency] = ["CFormat"]\nlet lower =\n  base + [\n    "Lower"\n  ]\n'
        manifest = lists + MANIFEST.replace('[\n        "Lower", "CFormat",\n      ]', 'lower + ["CElf"]')
        self.assertNotEqual(manifest, lists + MANIFEST)
        self.assertEqual(self.complaints(manifest, Upper="import Lower\n", Lower=""), [])
        self.assertEqual(
            self.complaints(manifest, Upper="", Lower=""), ["Upper depends on Lower and does not import it"]
        )

    def test_folder_without_a_target_is_reported(self):
        found = self.complaints(Upper="import Lower\n", Lower="", Extra="")
        self.assertEqual(found, ["Sources/All/Extra is not a target"])

    def test_target_before_its_dependency_is_reported(self):
        parts = MANIFEST.split("    .target(\n")
        lower = parts[0].splitlines(keepends=True)
        manifest = "    .target(\n" + parts[1] + "".join(lower)
        found = self.complaints(manifest, Upper="import Lower\n", Lower="")
        self.assertEqual(found, ["Package.swift lists Upper before Lower, which it depends on"])


if __name__ == "__main__":
    unittest.main()
