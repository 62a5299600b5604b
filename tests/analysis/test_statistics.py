"""Summaries against numbers worked out by hand and against SciPy."""

import common
import numpy as np
import pandas as pd
from regatta_analysis.stats import extended
from regatta_analysis.stats.extended import mean_and_error
from regatta_analysis.stats.statistics import median_interval, summarise
from scipy import stats


def frame(rows):
    """Curves from {(algorithm, instance, seed): values}."""
    index = pd.MultiIndex.from_tuples(rows, names=["algorithm", "instance", "seed"])
    return pd.DataFrame(list(rows.values()), index)


class Statistics(common.Case):
    def test_known_mean_and_error(self):
        n, mean, sd, se = mean_and_error(np.array([0.4, 0.0, 1.3, 0.25, 0.0])[:, None])
        self.assertEqual(n[0], 5)
        self.assertAlmostEqual(mean[0], 0.39)
        self.assertAlmostEqual(se[0], 0.24, places=3)
        self.assertAlmostEqual(sd[0], np.std([0.4, 0.0, 1.3, 0.25, 0.0], ddof=1))

    def test_missing_values_are_skipped(self):
        values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
        n, mean, sd, se = mean_and_error(values)
        self.assertEqual(list(n), [2, 0])
        self.assertEqual((mean[0], sd[0], se[0]), (2.0, np.sqrt(2.0), 1.0))
        self.assertTrue(np.isnan([mean[1], sd[1], se[1]]).all())

    def test_no_trial_has_no_quantile(self):
        for shape in ((0,), (0, 3)):
            self.assertEqual(extended.quantiles(np.empty(shape), [0.5, 0.9]).shape, (2, *shape[1:]))
            self.assertTrue(np.isnan(extended.quantiles(np.empty(shape), [0.5])).all())

    def test_one_trial_has_no_error(self):
        _, mean, sd, se = mean_and_error([[2.5]])
        self.assertEqual(mean[0], 2.5)
        self.assertTrue(np.isnan(sd[0]) and np.isnan(se[0]))

    def test_summary(self):
        random = np.random.default_rng(3)
        values = random.lognormal(size=(12, 4))
        curves = frame({("EI", 0, k): row for k, row in enumerate(values)})
        found = summarise(curves, (0.1, 0.9))
        self.assertEqual(list(found["t"]), [0, 1, 2, 3])
        np.testing.assert_allclose(found["se"], stats.sem(values, axis=0))
        np.testing.assert_allclose(found["median"], np.median(values, axis=0))
        np.testing.assert_allclose(found["low"], np.quantile(values, 0.1, axis=0))
        np.testing.assert_allclose(found["high"], np.quantile(values, 0.9, axis=0))
        self.assertTrue(found["se_instances"].isna().all())

    def test_crossed_design(self):
        """Two instances with two seeds: the error over the instance means is the honest one."""
        curves = frame({("EI", 0, 0): [1.0], ("EI", 0, 1): [3.0], ("EI", 1, 0): [6.0],
                        ("EI", 1, 1): [10.0]})
        found = summarise(curves).iloc[0]
        self.assertEqual(found["mean"], 5.0)
        self.assertEqual(found["n_instances"], 2)
        self.assertAlmostEqual(found["se_instances"], stats.sem([2.0, 8.0]))
        self.assertAlmostEqual(found["se"], stats.sem([1.0, 3.0, 6.0, 10.0]))

    def test_interval_of_the_median(self):
        """It ends at the order statistics outside of which the median lies with at most 5%, by the binomial law; five
        values have no such interval."""
        values = np.full((20, 3), np.nan)
        for column, n in enumerate((12, 20, 5)):
            values[:n, column] = np.arange(n, 0, -1)
        low, high = median_interval(values)
        np.testing.assert_array_equal(low, [3, 6, np.nan])
        np.testing.assert_array_equal(high, [10, 15, np.nan])

    def test_bootstrap_of_a_cell(self):
        """As SciPy's percentile bootstrap; ragged ends and crossed instances as they are."""
        values = np.random.default_rng(5).normal(size=(40, 2))
        values[:, 1] = np.where(np.arange(40) < 39, np.nan, 1.0)  # one trial goes on alone
        found = summarise(frame({("EI", 0, k): row for k, row in enumerate(values)}),
                          bootstrap=True)
        expected = stats.bootstrap((values[:, 0],), np.mean, method="percentile", n_resamples=4000,
                                   random_state=1).confidence_interval
        np.testing.assert_allclose(found.loc[0, ["boot_low", "boot_high"]].astype(float), expected,
                                   atol=0.04)
        self.assertTrue(found.loc[1, ["boot_low", "boot_high"]].isna().all())
        repeated = summarise(frame({("EI", i, s): [float(i % 2)] for i in range(10)
                                    for s in range(8)}), bootstrap=True).iloc[0]
        single = summarise(frame({("EI", i, 0): [float(i % 2)] for i in range(10)}),
                           bootstrap=True).iloc[0]
        self.assertAlmostEqual(repeated["boot_low"], single["boot_low"])
        self.assertAlmostEqual(repeated["boot_high"], single["boot_high"])

    def test_one_seed_per_instance_is_not_crossed(self):
        found = summarise(frame({("EI", k, 0): [float(k)] for k in range(4)}))
        self.assertTrue(found["se_instances"].isna().all())

    def test_order_and_gaps(self):
        curves = frame({("B", 0, 0): [1.0, np.nan], ("A", 0, 0): [2.0, 5.0]})
        found = summarise(curves, order=["A", "B", "C"])
        self.assertEqual(list(zip(found["algorithm"], found["t"])),
                         [("A", 0), ("A", 1), ("B", 0)])
        self.assertEqual(len(summarise(curves.iloc[:0])), 0)
