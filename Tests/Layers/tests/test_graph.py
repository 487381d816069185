import unittest

from layers.graph import Use, back_edges, circles, diagram, unknown_layers


def first(part):
    return part.split("/")[0]


def use(user, used):
    return Use(user, used, f"{user} uses {used}")


class GraphTests(unittest.TestCase):
    order = ("top", "middle", "base")

    def test_uses_that_lead_down_are_no_back_edges(self):
        self.assertEqual(
            back_edges(self.order, [use("top/a", "base/b"), use("middle/c", "base/b"), use("top/a", "top/d")], first),
            [],
        )

    def test_a_use_that_leads_up_is_a_back_edge(self):
        self.assertEqual(
            back_edges(self.order, [use("top/a", "middle/b"), use("base/c", "middle/b")], first),
            [use("base/c", "middle/b")],
        )

    def test_a_layer_that_the_order_lacks_is_told(self):
        self.assertEqual(unknown_layers(self.order, [use("top/a", "cellar/b")], first), ["cellar"])

    def test_parts_that_all_lead_to_each_other_are_one_circle(self):
        uses = [use("a", "b"), use("b", "c"), use("c", "a"), use("c", "d"), use("e", "a")]
        self.assertEqual(circles(uses), [["a", "b", "c"]])

    def test_two_ways_to_the_same_part_are_no_circle(self):
        self.assertEqual(circles([use("a", "b"), use("a", "c"), use("b", "d"), use("c", "d")]), [])

    def test_two_circles_are_told_apart(self):
        self.assertEqual(
            circles([use("a", "b"), use("b", "a"), use("b", "c"), use("c", "d"), use("d", "c")]),
            [["a", "b"], ["c", "d"]],
        )

    def test_a_diagram_has_a_line_for_each_layer_in_order(self):
        self.assertEqual(
            diagram(self.order, [use("top/a", "base/b"), use("top/a", "middle/c")], first),
            "top     → middle base\nmiddle\nbase",
        )
