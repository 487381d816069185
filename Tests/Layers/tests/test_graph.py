import unittest

from layers.graph import Use, back_edges, circles, diagram, unknown_layers


def first(part):
    return part.split("/")[0]


def use(user, used):
    return Use(user, used, f"{user} uses {used}")


class GraphTests(unittest.TestCase):
    order = ("top", "middle", "base")

    def test_downward_uses_are_not_back_edges(self):
        self.assertEqual(
            back_edges(self.order, [use("top/a", "base/b"), use("middle/c", "base/b"), use("top/a", "top/d")], first),
            [],
        )

    def test_upward_use_is_a_back_edge(self):
        self.assertEqual(
            back_edges(self.order, [use("top/a", "middle/b"), use("base/c", "middle/b")], first),
            [use("base/c", "middle/b")],
        )

    def test_layer_missing_from_the_order_is_reported(self):
        self.assertEqual(unknown_layers(self.order, [use("top/a", "cellar/b")], first), ["cellar"])

    def test_mutually_reachable_parts_are_one_circle(self):
        uses = [use("a", "b"), use("b", "c"), use("c", "a"), use("c", "d"), use("e", "a")]
        self.assertEqual(circles(uses), [["a", "b", "c"]])

    def test_two_ways_to_the_same_part_are_not_a_circle(self):
        self.assertEqual(circles([use("a", "b"), use("a", "c"), use("b", "d"), use("c", "d")]), [])

    def test_two_circles_are_separate(self):
        self.assertEqual(
            circles([use("a", "b"), use("b", "a"), use("b", "c"), use("c", "d"), use("d", "c")]),
            [["a", "b"], ["c", "d"]],
        )

    def test_diagram_has_a_line_for_each_layer_in_order(self):
        self.assertEqual(
            diagram(self.order, [use("top/a", "base/b"), use("top/a", "middle/c")], first),
            "top     → middle base\nmiddle\nbase",
        )
