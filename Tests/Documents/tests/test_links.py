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

    def test_links_that_lead_somewhere(self):
        self.assertEqual(self.find(PAGE), [])

    def test_a_file_that_is_not_there(self):
        self.assertEqual(self.find("[x](../guide.md)\n"), ["docs/page.md:1: ../guide.md: no such file"])

    def test_a_heading_that_no_page_has(self):
        self.assertEqual(self.find("\n[x](guide.md#end)\n"), ["docs/page.md:2: guide.md#end: no such heading"])
        self.assertEqual(self.find("[x](#top)\n"), ["docs/page.md:1: #top: no such heading"])

    def test_a_picture_that_is_not_there(self):
        self.assertEqual(self.find("![a picture](a.png)\n"), ["docs/page.md:1: a.png: no such file"])

    def test_names_of_headings(self):
        self.assertEqual(anchor("What `analyze` prints: 3 parts"), "what-analyze-prints-3-parts")
        self.assertEqual(anchors("# A\n## A\n```\n# code\n```\n"), {"a", "a-1"})


if __name__ == "__main__":
    unittest.main()
