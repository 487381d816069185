"""Links that lead nowhere, and those that do not."""

import unittest

from documents.links import anchor, anchors, broken

PAGE = """# A page

See [the guide](guide.md), [its end](guide.md#the-end), [here](#a-page), and [the web](https://example.com/x#y).

```
[no link](missing.md)
```

`[no link](missing.md)`
"""


class LinksTests(unittest.TestCase):
    def find(self, page, guide="# Guide\n\n## The end\n"):
        documents = {"docs/page.md": page, "docs/guide.md": guide}
        return [str(link) for link in broken(documents, lambda path: path in documents)]

    def test_valid_links_are_accepted(self):
        self.assertEqual(self.find(PAGE), [])

    def test_missing_file_is_reported(self):
        self.assertEqual(self.find("[x](../guide.md)\n"), ["docs/page.md:1: ../guide.md: no such file"])

    def test_missing_heading_is_reported(self):
        self.assertEqual(self.find("\n[x](guide.md#end)\n"), ["docs/page.md:2: guide.md#end: no such heading"])
        self.assertEqual(self.find("[x](#top)\n"), ["docs/page.md:1: #top: no such heading"])

    def test_missing_picture_is_reported(self):
        self.assertEqual(self.find("![a picture](a.png)\n"), ["docs/page.md:1: a.png: no such file"])

    def test_headings_have_anchors(self):
        self.assertEqual(anchor("What `analyze` prints: 3 parts"), "what-analyze-prints-3-parts")
        self.assertEqual(anchors("# A\n## A\n```\n# code\n```\n"), {"a", "a-1"})


if __name__ == "__main__":
    unittest.main()
