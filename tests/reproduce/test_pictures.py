"""P(picture): experiments of another size, drawn from trials."""

import papers  # first: it sets the path
import common
import numpy as np
import pandas as pd
from regatta_analysis.claims import verdicts
from regatta_analysis.claims.comparisons import better_item
from regatta_analysis.claims.outcome import Outcome
from regatta_analysis.claims.panels import Panel
from reproduce import pictures


class Experiments(common.Case):
    def test_the_probability_of_a_known_experiment(self):
        """Six of ten trials show it: the mean of five does as often as a binomial says, within the interval."""
        for n, covered in ((1000, True), (30, True)):
            d = np.where(np.arange(n) < 0.6 * n, -1.0, 1.0)
            drawn = pictures.experiments(np.zeros(n, int), {"seeds": 5})
            self.assertEqual((drawn.shape, set(drawn.sum(axis=1))), ((pictures.EXPERIMENTS, n), {5.0}))
            share, low, high = pictures.share(drawn @ d < 0.0)
            self.assertAlmostEqual(share, 0.6826, delta=0.05)
            self.assertLess(low, share)
            self.assertGreater(high, share)
        self.assertGreater(high - low, 0.2)  # thirty trials say little about it

    def test_instances_are_drawn_before_their_trials(self):
        drawn = pictures.experiments(np.repeat(np.arange(4), 3), {"instances": 2, "seeds": 3})
        per_instance = drawn.reshape(len(drawn), 4, 3).sum(axis=2)
        self.assertEqual(set(per_instance.ravel()) - {0.0, 3.0, 6.0}, set())
        self.assertEqual(set(drawn.sum(axis=1)), {6.0})

    def test_panels_without_results(self):
        """No picture is made of the others."""
        index = pd.MultiIndex.from_product([[0], range(30)], names=["instance", "seed"])
        item = better_item(Panel("x", {"seeds": 5}), pd.DataFrame({"a": 1.0, "b": 2.0}, index), "a", "b")
        self.assertTrue(pictures.shown(Outcome("", "", [item])).all())
        self.assertIsNone(pictures.shown(Outcome("", "", [item], partial=True)))

    def test_only_where_it_says_something(self):
        """Not without the paper's size, not from fewer than 20 trials."""
        index = pd.MultiIndex.from_product([[0], range(30)], names=["instance", "seed"])
        table = pd.DataFrame({"a": np.where(np.arange(30) < 18, 1.0, 3.0), "b": 2.0}, index)
        for size, rows, known in (({"seeds": 5}, 30, True), ({}, 30, False), ({"seeds": 5}, 19, False)):
            item = better_item(Panel("x", size), table[:rows], "a", "b")
            self.assertEqual(pictures.of_item(item) is not None, known, (size, rows))
            picture = pictures.picture(verdicts.Case({}, "r", [Outcome("", "", [item])]))
            self.assertEqual(np.isfinite(picture).all(), known)

    def test_comparisons_of_a_panel_share_their_experiments(self):
        """a < b in half the trials and b < a in the others: never both, in any experiment."""
        a, b = np.resize([0.0, 1.0], 20), np.resize([1.0, 0.0], 20)
        index = pd.MultiIndex.from_product([[0], range(20)], names=["instance", "seed"])
        table = pd.DataFrame({"a": a, "b": b}, index)
        items = [better_item(Panel("x", {"seeds": 3}), table, *pair)
                 for pair in (("a", "b"), ("b", "a"))]
        self.assertFalse(np.any(pictures.of_item(items[0]) & pictures.of_item(items[1])))
