"""Outputs of pages, with and without their sources."""

import unittest

from documents.outputs import unclear

MARK = "<!-- shown by: corpus\nleaktrace analyze app.trace\n-->\n\n"
OUTPUT = "```\nLeaks: none found\n```\n"


class OutputTests(unittest.TestCase):
    def find(self, text, path="docs/page.md"):
        return [str(place) for place in unclear({path: text})]

    def test_output_with_a_source_is_accepted(self):
        self.assertEqual(self.find(MARK + OUTPUT), [])
        self.assertEqual(self.find("<!-- shown by: TutorialTests -->\n" + OUTPUT), [])
        self.assertEqual(self.find("```text corpus strong-delegate\nLOST  A\n```\n"), [])

    def test_output_without_a_source_is_reported(self):
        reason = "this output needs a comment before it: <!-- shown by: SOURCE … -->"
        self.assertEqual(self.find("# A\n\n" + OUTPUT), [f"docs/page.md:3: {reason}"])
        self.assertEqual(self.find(MARK + OUTPUT + "\n" + OUTPUT), [f"docs/page.md:9: {reason}"])
        self.assertEqual(self.find("```text\nLeaks: none found\n```\n"), [f"docs/page.md:1: {reason}"])
        self.assertEqual(self.find("```sh\n$ leaktrace ps\nnone\n```\n"), [f"docs/page.md:1: {reason}"])

    def test_commands_and_code_need_no_source(self):
        self.assertEqual(self.find("```sh\nleaktrace ps\n```\n\n```swift\nlet a = 1\n```\n"), [])

    def test_source_without_an_output_is_reported(self):
        reason = "this comment has no output after it"
        self.assertEqual(self.find(MARK + "Text.\n" + "```sh\nls\n```\n"), [f"docs/page.md:1: {reason}"])
        self.assertEqual(self.find(MARK + "```sh\nls\n```\n"), [f"docs/page.md:1: {reason}"])
        self.assertEqual(self.find(MARK), [f"docs/page.md:1: {reason}"])

    def test_pages_for_engineers_need_no_source(self):
        self.assertEqual(self.find(OUTPUT, "docs/engineering/page.md"), [])
        self.assertEqual(self.find(OUTPUT, "Tests/README.md"), [])


if __name__ == "__main__":
    unittest.main()
