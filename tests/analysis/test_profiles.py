"""Profiles and growth exponents of made-up regret with known answers."""

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis.stats.growth import fitted, growth_exponent
from regatta_analysis.stats.measures import TooShort, hitting_times, regret_at_time, trial_values, value_curves
from regatta_analysis.stats.profiles import data_profile, hits, performance_profile, spent
from regatta_analysis.stats.regret import curves


class HittingTimes(common.Case):
    def test_first_column_at_most_the_target(self):
        """The first t with the value; a trial that never has it gets one more than the last t."""
        curves_of = pd.DataFrame([[3.0, 2.0, 1.0], [3.0, 3.0, 3.0], [2.0, 4.0, 4.0]], columns=[0, 5, 6])
        self.assertEqual(list(hitting_times(curves_of, 2.0)), [5.0, 7.0, 0.0])


def exponent(values, t):
    return growth_exponent(values[:, fitted(t)], t[fitted(t)])


class Growth(common.Case):
    def test_power_law(self):
        t = np.arange(1, 401)
        random = np.random.default_rng(0)
        values = random.uniform(1, 3, (20, 1)) * t**0.7
        found, low, high = exponent(values, t)
        self.assertAlmostEqual(found, 0.7, places=6)
        self.assertAlmostEqual(low, high, places=6)

    def test_interval_has_the_slope_of_noisy_trials(self):
        t = np.arange(1, 201)
        random = np.random.default_rng(1)
        values = np.exp(random.normal(0, 0.3, (30, 1))) * t**random.normal(0.5, 0.05, (30, 1))
        found, low, high = exponent(values, t)
        self.assertTrue(low < found < high and high - low < 0.1)
        self.assertTrue(low < 0.52 and high > 0.48)

    def test_first_quarter_does_not_count(self):
        t = np.arange(1, 101)
        values = np.tile(np.where(t < 25, 5.0, np.sqrt(t)), (3, 1))
        self.assertAlmostEqual(exponent(values, t)[0], 0.5, places=9)

    def test_no_regret_has_no_exponent(self):
        self.assertTrue(np.isnan(exponent(np.zeros((5, 40)), np.arange(1, 41))).all())


class Profiles(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.directory / "study.h5"
        cls.results = synthetic.loaded(path, [synthetic.problem("Plane", ["EI", "Random"], seeds=6, queries=40)])

    def test_hits_by_hand(self):
        table = hits(self.results, (0.5,))
        regret = curves(self.results, "Plane", "simple_regret")
        target = 0.5 * np.median(regret[0])
        for row in table.itertuples():
            mine = regret.loc[(row.algorithm, row.instance, row.seed)]
            reached = mine.index[mine <= target]
            self.assertEqual(row.cost, reached[0] if len(reached) else np.inf)

    def test_cpu_cost(self):
        paid = spent(self.results, "Plane")
        table = hits(self.results, (0.5,), "cpu")
        by_count = hits(self.results, (0.5,))
        for row, count in zip(table.itertuples(), by_count["cost"]):
            expected = np.inf if np.isinf(count) else paid.loc[
                (row.algorithm, row.instance, row.seed)][int(count)]
            self.assertEqual(row.cost, expected)

    def test_data_profile_ends_at_the_share_reached(self):
        table = hits(self.results)
        for algorithm, (costs, share) in data_profile(table).items():
            mine = table[table["algorithm"] == algorithm]["cost"]
            self.assertTrue(np.all(np.diff(costs) >= 0))
            self.assertAlmostEqual(share[-1] if len(share) else 0.0, np.isfinite(mine).mean())

    def test_performance_profile(self):
        table = hits(self.results, (0.5,)).iloc[:4].assign(
            algorithm=["A", "B", "A", "B"], seed=[0, 0, 1, 1], cost=[2.0, 6.0, np.inf, 5.0])
        found = performance_profile(table)
        np.testing.assert_array_equal(found["A"], ([1.0], [0.5]))
        np.testing.assert_array_equal(found["B"], ([1.0, 3.0], [0.5, 1.0]))

    def test_values_of_trials(self):
        regret = curves(self.results, "Plane", "simple_regret")
        for value, expected in (
                ({}, regret[40]), ({"at": 7}, regret[7]), ({"over": [3, 9]},
                 regret.loc[:, 3:9].mean(axis=1)),
                ({"over": [1, "last"], "log": True}, np.log10(regret.loc[:, 1:]).mean(axis=1)),
                ({"metric": "simple", "sense": "max"}, -regret[40])):
            np.testing.assert_allclose(trial_values(self.results, "Plane", value), expected)
        with self.assertRaises(TooShort):
            trial_values(self.results, "Plane", {"at": 41})

    def test_best_value_so_far(self):
        group = self.results.group("Plane")
        trials, values = group.trials, group.values("objective")
        best = value_curves(self.results, "Plane", "best")
        for k, trial in enumerate(trials.itertuples()):
            mine, n = best.loc[(trial.algorithm, trial.instance, trial.seed)], trial.n_initial
            self.assertEqual(mine[0], max(values[k, :n]))  # the initial design counts
            self.assertEqual(mine[7], max(values[k, :n + 7]))
        np.testing.assert_allclose(trial_values(self.results, "Plane", {"metric": "best",
                                                                        "sense": "max"}), -best[40])

    def test_regret_at_equal_time(self):
        found = regret_at_time(self.results, "Plane", [0.5, 1.0])
        paid, regret = spent(self.results, "Plane"), curves(self.results, "Plane", "simple_regret")
        time = paid.iloc[:, -1].groupby(level="algorithm").mean().min()
        self.assertAlmostEqual(found.columns[1], time)
        for trial in regret.index:
            done = int((paid.loc[trial] <= time).sum()) - 1
            self.assertEqual(found.loc[trial].iloc[1], regret.loc[trial].iloc[done])
