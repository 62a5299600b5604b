"""Tests between algorithms against SciPy, published tables and numbers worked out by hand."""
from unittest import mock

import common
import numpy as np
import pandas as pd
from regatta_analysis.stats import comparison, statistics
from regatta_analysis.stats.statistics import bootstrap_means, resamples
from scipy import stats


class Tests(common.Case):
    def test_holm_by_hand(self):
        np.testing.assert_allclose(comparison.holm([0.01, 0.04, 0.03, 0.005]),
                                   [0.03, 0.06, 0.06, 0.02])
        np.testing.assert_allclose(comparison.holm([0.6, np.nan, 0.5]), [1.0, np.nan, 1.0])

    def test_shares_of_wins_by_hand(self):
        self.assertAlmostEqual(comparison.superiority([-1.0, -2.0, 3.0, 0.0, -4.0])[0], 3.5 / 5)
        share, low, high = comparison.superiority([-1.0] * 8 + [1.0] * 2)
        np.testing.assert_allclose([share, low, high], [0.8, 0.4901625, 0.9433178], rtol=1e-6)


class Ranks(common.Case):
    def test_demsar(self):
        """Table 6 of Demsar (2006): C4.5 with and without pruning and parameter search."""
        c45 = [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1.0, .940, .619, .972, .957]
        c45_m = [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1.0, .962, .666, .981, .978]
        c45_cf = [.771, .590, .968, .654, .886, .916, .609, .563, .866, 1.0, .965, .614, .9751,
                  .946]
        c45_both = [.798, .569, .967, .657, .898, .931, .685, .625, .875, 1.0, .962, .669, .975,
                    .970]
        table = -pd.DataFrame({"C4.5": c45, "m": c45_m, "cf": c45_cf, "m+cf": c45_both})
        found = comparison.friedman(table)
        self.assertAlmostEqual(found["ranks"]["C4.5"], 3.143, delta=0.04)
        self.assertAlmostEqual(found["ranks"]["m"], 2.0, delta=0.04)
        self.assertAlmostEqual(found["critical_difference"], 1.25, delta=0.01)
        self.assertAlmostEqual(found["p"], stats.friedmanchisquare(*table.to_numpy().T)[1])

    def test_critical_values(self):
        """q of Demsar's Table 5, which are rounded."""
        for k, q in ((2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)):
            n = 17
            self.assertAlmostEqual(comparison.critical_difference(k, n),
                                   q * np.sqrt(k * (k + 1) / (6 * n)), delta=2e-3)

    def test_cliques(self):
        self.assertEqual(comparison.cliques([1.0, 1.5, 2.8, 3.0, 6.0], 1.4), [(0, 1), (1, 2), (2, 3)])
        self.assertEqual(comparison.cliques([1.0, 1.5, 2.0], 3.0), [(0, 2)])
        self.assertEqual(comparison.cliques([1.0, 5.0], 3.0), [])

    def test_all_equal(self):
        found = comparison.friedman(pd.DataFrame(np.ones((4, 3)), columns=list("abc")))
        self.assertEqual((found["p"], list(found["ranks"])), (1.0, [2.0, 2.0, 2.0]))
        self.assertIsNone(comparison.friedman(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]})))


def interval(values, *arguments, **options):
    """95% bootstrap interval of the mean."""
    return np.quantile(bootstrap_means(np.asarray(values, float)[:, None], *arguments, **options), [0.025, 0.975])


class Bootstrap(common.Case):
    def test_covers(self):
        """The 95% interval of a mean covers it in about 95% of the samples."""
        random = np.random.default_rng(2)
        inside = 0
        for k in range(200):
            low, high = interval(random.normal(1.0, 1.0, 40), draws=300, seed=k)
            inside += low <= 1.0 <= high
        self.assertTrue(180 <= inside <= 198, inside)

    def test_close_to_student(self):
        values = np.random.default_rng(3).normal(size=200)
        low, high = interval(values, draws=4000)
        expected = stats.t.interval(0.95, 199, values.mean(), stats.sem(values))
        np.testing.assert_allclose([low, high], expected, atol=0.015)

    def test_seeded(self):
        values = np.random.default_rng(4).normal(size=(20, 3))
        first, again = (bootstrap_means(values, draws=50, seed=7) for _ in range(2))
        np.testing.assert_array_equal(first, again)
        self.assertFalse(np.array_equal(first, bootstrap_means(values, draws=50, seed=8)))

    def test_many_trials_are_drawn_less_often(self):
        found = [resamples(n, draws) for n, draws in ((0, 1000), (20_000, 1000), (40_000, 1000), (10**6, 2000), (10**6, 50))]
        self.assertEqual(found, [1000, 1000, 500, 200, 50])
        with mock.patch.object(statistics, "DRAWN", 6000):
            self.assertEqual(len(bootstrap_means(np.zeros((20, 1)))), 300)

    def test_groups_are_drawn_together(self):
        """Trials that only repeat their instance tell nothing: as wide as instances alone."""
        instances = np.random.default_rng(6).normal(size=12)
        alone = interval(instances, draws=4000)
        repeated = interval(np.repeat(instances, 10), draws=4000,
                            groups=np.repeat(np.arange(12), 10))
        np.testing.assert_allclose(alone, repeated, atol=0.03)

    def test_means_are_paired(self):
        values = np.random.default_rng(8).normal(size=(15, 2))
        first, second = (bootstrap_means(values[:, [k]], 100, 1) for k in (0, 1))
        np.testing.assert_allclose(np.hstack([first, second]), bootstrap_means(values, 100, 1))
