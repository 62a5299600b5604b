"""Limits of kernel regression and Gaussian processes by hand, and what the claims on them and on spreads tell apart."""
import unittest.mock

import papers  # first: the path
import common
import numpy as np
import pandas as pd
from regatta_analysis.claims.grades import AGAINST, OPEN, SHOWN
from regatta_analysis.claims.panels import Panel
from regatta_analysis.load.errors import InputError
from reproduce import computed, limits, spreads

ASKED = {"runs": 8, "within": 1e-6}


def state(what):
    item, = computed.limit({"what": what, **ASKED}, None).items
    return item.state


class Limits(common.Case):
    def test_by_hand(self):
        """Two values at 0.25, one at 0.75; places: there, and in the middle, which is equally far from all."""
        points, values = np.array([[0.25], [0.75], [0.25]]), np.array([1.0, 3.0, 2.0])
        places = np.array([[0.25], [0.75], [0.5]])
        for what, expected in (("regression", [1.5, 3.0, 2.0]), ("weight", [2, 1, 0]),
                               ("gp mean", [3 / 2.04, 3 / 1.04, 0]),
                               ("gp variance", [1 - 2 / 2.04, 1 - 1 / 1.04, 1])):
            for found in limits.KINDS[what](points, values, places, 1e-3):
                np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=what)

    def test_posterior_with_a_repeated_point(self):
        """The numbers of an independent program, which tests/oracle has too."""
        points = np.array([[0.2, 0.3], [0.7, 0.8], [0.5, 0.1], [0.2, 0.3]])
        weights, variance = limits._posterior(points, np.array([[0.4, 0.5]]), 0.3)
        self.assertAlmostEqual(float((weights @ [1.0, 2.0, -1.0, 1.4])[0]), 1.2133606078, places=9)
        self.assertAlmostEqual(float(variance[0]), 0.485419003551, places=9)

    def test_data(self):
        """In one to four coordinates, with repetitions and with places that are equally far from several points."""
        sizes, ties = set(), 0
        for seed in range(8):
            points, _, places = limits.data(seed)
            sizes.add(points.shape[1])
            self.assertLess(len(np.unique(points, axis=0)), len(points))
            squares = limits._squares(places, np.unique(points, axis=0))
            ties += ((squares == squares.min(axis=1, keepdims=True)).sum(axis=1) > 1).sum()
        self.assertEqual(sizes, {1, 2, 3, 4})
        self.assertGreater(ties, 20)

    def test_a_mistake_is_found(self):
        for what in limits.KINDS:
            self.assertEqual(state(what), SHOWN, what)
        nearest, variance, squares = limits.regression, limits.gp_variance, limits._squares
        first = lambda p, y, x, h: (nearest(p, y, x, h)[0], y[np.argmin(squares(x, p), axis=1)])  # no ties
        wide = lambda p, y, x, h: nearest(p, y, x, np.sqrt(h))
        noiseless = lambda p, y, x, h: (variance(p, y, x, h)[0], 1.0 * (squares(x, p) > 0).all(axis=1))
        at_once = lambda p, y, x, h: (nearest(p, y, x, h)[1],) * 2  # says nothing about h
        for what, mistake in (("regression", first), ("regression", wide), ("gp variance", noiseless),
                              ("weight", at_once)):
            with unittest.mock.patch.dict(limits.KINDS, {what: mistake}):
                self.assertEqual(state(what), AGAINST)
        with self.assertRaisesRegex(InputError, "unknown limit 'slope'"):
            state("slope")


class Spreads(common.Case):
    def found(self, table, **value):
        """The states of A against B and of B against A with these values of trials."""
        rows = [(Panel("s", {}), np.log10(table) if value else table, [("A", "B"), ("B", "A")])]
        check = {"who": ["A", "B"], "against": ["A", "B"], "on": "s", "value": {"metric": "simple", **value}}
        with unittest.mock.patch.object(spreads, "tables", lambda *_: rows):
            outcome = spreads.spread(check, None)
        outcome.decide()
        return [item.state for item in outcome.items]

    def test_which_trials_lie_closer_together(self):
        """A lies higher, with deviation 0.1 against 0.3; as ratios both are the same."""
        random = np.random.default_rng(0)
        index = pd.MultiIndex.from_product([[0], range(60)], names=["instance", "seed"])
        noise = random.normal(size=(60, 2))
        table = pd.DataFrame({"A": 5.0 + 0.1 * noise[:, 0], "B": 2.0 + 0.3 * noise[:, 1]}, index)
        self.assertEqual(self.found(table), [SHOWN, AGAINST])
        table = pd.DataFrame({"A": np.exp(0.3 * noise[:, 0]), "B": 10 * np.exp(0.3 * noise[:, 1])}, index)
        self.assertEqual(self.found(table), [SHOWN, AGAINST])
        self.assertEqual(self.found(table, log=True), [OPEN, OPEN])
        table["A"], table["B"] = 1.0 + 0.3 * noise[:, 0], 9.0 + 0.3 * noise[:, 1]  # equally far apart, at another place
        self.assertEqual(self.found(table), [OPEN, OPEN])
