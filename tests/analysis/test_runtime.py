"""Runtimes on BBOB functions: answers by hand, and a study that the program runs."""
import os
import unittest

import common
import numpy as np
import pandas as pd
from regatta_analysis import load
from regatta_analysis.figures import runtime_profiles
from regatta_analysis.stats import runtime

NAN = np.nan
STUDY = """study: made
instances: 3
common: {iterations: 40, initial_points: 2}
problems: [{name: bbob, label: Two, dim: 2, first_instance: 5}, {name: bbob, label: Three, dim: 3},
           {name: bbob, label: Noisy, noise_variance: 1}, branin]
algorithms: [random, latin_hypercube]
sweep: [{problems.Two.function: [1..3]}]
"""


class ByHand(common.Case):
    def test_first_hits(self):
        gap = np.array([[50.0, 5.0, 5.0, 0.0], [200.0, 200.0, 99.0, 1.0]])
        np.testing.assert_array_equal(runtime.first_hits(gap, [100.0, 5.0, 1.0, 1e-8]),
                                      [[1, 2, 4, 4], [3, 4, 4, NAN]])

    def test_targets(self):
        self.assertEqual(len(runtime.TARGETS), 51)
        np.testing.assert_allclose(runtime.TARGETS[[0, 10, 50]], [1e2, 1.0, 1e-8])

    def test_ert(self):
        lengths = np.array([100.0, 100.0, 60.0])
        self.assertEqual(runtime.ert(np.array([10.0, NAN, 20.0]), lengths), 65.0)
        self.assertEqual(runtime.ert(np.full(3, NAN), lengths), np.inf)

    def test_targets_below_the_regret_of_stop(self):
        self.assertTrue(np.isnan(runtime.ert(np.array([10.0, np.inf]), np.array([100.0, 20.0]))))
        table = pd.DataFrame({"algorithm": ["A", "B"], "dim": 2, "function": 1, "length": [9, 8],
                              "hits": [np.array([2.0, 4.0, NAN]), np.array([6.0, NAN, np.inf])]})
        found = runtime.simulated_runtimes(table, 1)
        np.testing.assert_array_equal(found["A", 2, 1], [[1], [2]])
        np.testing.assert_array_equal(found["B", 2, 1], [[3], [np.inf]])

    def test_simulated_restarts(self):
        hits, lengths = [10.0, NAN, NAN, 30.0], [50.0, 50.0, 80.0, 50.0]
        found = runtime.simulated(hits, lengths, np.random.default_rng(0), 4000)
        self.assertEqual(len(found), 4000)
        self.assertEqual((found == 10.0).sum(), 1000)  # every run begins equally many
        # after an unsuccessful run, half of the draws fail again: 65 each, then 20 on average
        self.assertAlmostEqual(found.mean(), runtime.ert(np.array(hits), np.array(lengths)), delta=4)
        self.assertTrue((np.sort(np.unique(found))[:4] == [10.0, 30.0, 60.0, 80.0]).all())
        self.assertTrue(np.isinf(runtime.simulated([NAN], [5.0], np.random.default_rng(0))).all())

    def test_distribution(self):
        runtimes = {("A", 2, 1): np.array([[1.0, 3.0], [np.inf, np.inf]]),
                    ("A", 2, 2): np.array([[2.0, 2.0], [8.0, 4.0]])}
        x, share = runtime.distribution(runtimes, "A", 2, [1, 2, 9])
        np.testing.assert_array_equal(x, [1, 2, 2, 3, 4, 8])
        np.testing.assert_allclose(share, np.arange(1, 7) / 8)
        self.assertIsNone(runtime.distribution(runtimes, "A", 3, [1]))

    def test_budget(self):
        table = pd.DataFrame({"algorithm": "A", "dim": 2, "function": [1, 1, 2, 2],
                              "length": [100, 100, 40, 60],
                              "hits": [np.array([NAN])] * 2 + [np.array([3.0]), np.array([NAN])]})
        self.assertEqual(runtime.budget(table, "A", 2, [1, 2]), (100 + 60) / 2 / 2)
        self.assertTrue(np.isnan(runtime.budget(table[2:3], "A", 2, [2])))

    def test_hardest(self):
        table = pd.DataFrame({"function": [1, 2, 3, 4]})
        for t in runtime.TABLE_TARGETS:
            table[f"{t:g}"] = np.where(table["function"] <= (4 if t > 1e-4 else 1), 5.0, np.inf)
        self.assertEqual(runtime_profiles.hardest(table), "0.001")


@unittest.skipUnless("REGATTA" in os.environ, "no program")
class Study(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = common.scratch_directory(cls)
        (place / "made.yaml").write_text(STUDY)
        common.regatta("run", place / "made.yaml", "-o", place / "made.h5", "-quiet")
        cls.results = load(place / "made.h5")

    def test_only_bbob_without_noise(self):
        self.assertEqual(runtime.bbob_problems(self.results),
                         ["Two (function=1)", "Two (function=2)", "Two (function=3)", "Three"])

    def test_runs(self):
        table = runtime.runs(self.results)
        self.assertEqual(len(table), 4 * 2 * 3)
        two = table[(table["dim"] == 2) & (table["function"] == 1)]
        self.assertEqual(sorted(set(two["instance"])), [5, 6, 7])
        self.assertTrue((table["length"] == 42).all())
        group = self.results.group("Two (function=1)")
        best = np.minimum.accumulate(group.values("instantaneous_regret"), axis=1)
        for hits, gap in zip(two["hits"], best):
            first = [np.append(np.flatnonzero(gap <= t) + 1.0, NAN)[0] for t in runtime.TARGETS]
            np.testing.assert_array_equal(hits, first)

    def test_figures(self):
        made = runtime_profiles.figures_of(self.results)
        self.assertEqual([stem for _, stem, _ in made],
                         ["runtime_profiles_2d", "runtime_profiles_3d", "runtime_ert"])
        self.assertEqual(len(made[0][2].axes), 1)  # one group was run: no panel for all
        table = runtime.ert_table(runtime.runs(self.results))
        self.assertEqual(len(table), 4 * 2)
        self.assertTrue((table["runs"] == 3).all())
