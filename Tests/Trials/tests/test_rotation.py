import unittest

from trials.corpus import Case
from trials.stability import in_turn


class RotationTests(unittest.TestCase):
    def test_each_program_runs_once_per_round_in_its_next_variant(self):
        cart = [Case("corpus", "cart", "leak", variant) for variant in ("a", "b", "c")]
        clean = [Case("corpus", "cart", "clean", "a")]
        rounds = [in_turn(cart + clean, number) for number in range(4)]
        self.assertEqual(rounds, [[each, clean[0]] for each in (*cart, cart[0])])
