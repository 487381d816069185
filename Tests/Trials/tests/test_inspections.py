import unittest

from trials.allocator_metadata import Block, Comparison
from trials.finding import Finding
from trials.inspections import counted, is_of_an_image, matched, matched_without_owner


def cycle(instances, *types):
    return Finding(
        {
            "verdict": "retainCycle",
            "instances": instances,
            "isCycle": True,
            "path": [{"kind": "object", "type": each, "edge": {"name": "next"}} for each in types],
        }
    )


class AllocatorMetadataTests(unittest.TestCase):
    def compare(self, metadata, before, after=None):
        return Comparison(metadata, before, before if after is None else after)

    def test_block_size_may_only_be_rounded_up(self):
        asked = {"0x10": Block(100, "", "1")}
        self.assertEqual(self.compare({"0x10": Block(104, "", "")}, asked).lines, [])
        self.assertEqual(len(self.compare({"0x10": Block(144, "", "")}, asked).lines), 1)
        self.assertEqual(len(self.compare({"0x10": Block(96, "", "")}, asked).lines), 1)

    def test_missing_blocks_and_different_types_are_reported(self):
        asked = {"0x10": Block(24, "object A", "1")}
        self.assertEqual(len(self.compare({}, asked).lines), 1)
        self.assertEqual(len(self.compare({"0x10": Block(24, "object B", "")}, asked).lines), 1)
        self.assertEqual(
            len(self.compare({"0x10": Block(24, "object A", ""), "0x40": Block(24, "", "")}, asked).lines), 1
        )

    def test_blocks_that_change_during_the_inspection_may_differ(self):
        before, after = {"0x10": Block(24, "", "1")}, {"0x10": Block(24, "", "2"), "0x40": Block(24, "", "3")}
        found = self.compare({"0x10": Block(24, "", ""), "0x80": Block(24, "", "")}, before, after)
        self.assertEqual((found.unsettled, found.alone), (1, ["0x80"]))
        found.excuse({"0x80"})
        self.assertEqual((found.unsettled, found.lines), (2, []))


class FindingTests(unittest.TestCase):
    def test_cycles_match_from_any_start_and_in_any_place(self):
        recorded = counted([cycle(3, "A", "B"), cycle(5, "B", "A")])
        self.assertEqual(matched(recorded, counted([cycle(8, "B", "A")])), ([], [], 1))
        missing, added, same = matched(recorded, counted([cycle(7, "A", "B")]))
        self.assertEqual((len(missing), len(added), same), (1, 1, 0))

    def test_findings_match_with_or_without_an_owner(self):
        def lost(instances, **more):
            return Finding({"verdict": "lost", "instances": instances, "path": [{"kind": "malloc"}], **more})

        full = counted([lost(3), lost(2, library=True), cycle(1, "A")])
        unknown = counted([lost(5, library=True, unknownOwner=True)])
        missing, added, same = matched(full, unknown)
        self.assertEqual((len(missing), len(added), same), (3, 1, 0))
        missing, added, without_owner = matched_without_owner(missing, added)
        self.assertEqual((len(missing), added, without_owner), (1, [], 2))
        # Findings with different numbers do not match.
        fewer = counted([lost(4, library=True, unknownOwner=True)])
        self.assertEqual(matched_without_owner(full, fewer), (full, fewer, 0))

    def test_image_cannot_show_a_use_after_free(self):
        dangling = Finding({"verdict": "dangling", "instances": 1, "path": []})
        used = Finding({"verdict": "dangling", "instances": 1, "path": [], "usedAt": {"frames": []}})
        self.assertTrue(is_of_an_image(dangling))
        self.assertFalse(is_of_an_image(used))


if __name__ == "__main__":
    unittest.main()
