"""Kernel regression of the illustrations against limits and numbers worked out by hand."""
import unittest
import unittest.mock

import papers  # first: the path
import common
import numpy as np
from regatta_analysis.claims import judge
from regatta_analysis.claims.outcome import OPEN, YES
from reproduce import computed, demonstrations, illustrations
from scipy import stats


class Regression(common.Case):
    def test_by_hand(self):
        m, log_weight = illustrations.kernel_regression([0.0], np.array([0.0, 1.0]),
                                                        np.array([2.0, 4.0]), 1.0)
        w = np.exp(-0.5)
        self.assertAlmostEqual(m[0], (2.0 + 4.0 * w) / (1.0 + w))
        self.assertAlmostEqual(log_weight[0], np.log(1.0 + w))

    def test_small_bandwidth_is_the_nearest_neighbour(self):
        points, values = np.array([0.2, 0.6, 0.7]), np.array([1.0, -1.0, 3.0])
        x = np.array([0.0, 0.39, 0.41, 0.66, 1.0])
        m, _ = illustrations.kernel_regression(x, points, values, 1e-4)
        np.testing.assert_allclose(m, [1.0, 1.0, -1.0, 3.0, 3.0])

    def test_confidence_parameter(self):
        for t, root in ((1, 0.289), (10, 0.419), (100, 0.518)):
            self.assertAlmostEqual(np.sqrt(illustrations.beta(t)), root, places=3)

    def test_optimum_of_the_damped_cosine(self):
        x = illustrations.GRID[np.argmax(illustrations.damped_cosine(illustrations.GRID))]
        self.assertAlmostEqual(x, 0.274196693793, delta=1e-3)

    def test_mixture(self):
        np.testing.assert_allclose(illustrations.mixture(np.array([0.2, 0.5, 0.9])),
                                   [2.1139427328, 0.5244140625, 1.2785080257], rtol=1e-10)

    def test_runs_start_from_the_same_samples(self):
        first, second = (illustrations.run(exploit, 3, seed=2) for exploit in (False, True))
        np.testing.assert_array_equal(first[0][:5], second[0][:5])
        self.assertEqual(len(first[0]), 8)

    def test_what_the_figures_show(self):
        """The statements tell a smoother apart from what they are about."""
        for what, asked in demonstrations.KINDS.items():
            self.assertGreaterEqual(np.mean([asked(seed) for seed in range(40)]), 0.8, what)
        with unittest.mock.patch.object(demonstrations, "SMALL", 0.3):  # no steps, no spikes
            self.assertFalse(demonstrations.regression(0) or demonstrations.density(0))
        with unittest.mock.patch.object(demonstrations, "LARGE", 0.05):  # follows f
            self.assertFalse(demonstrations.regression(0))

    def test_twice_as_many_samples_until_it_is_decided(self):
        def asked(share):
            """Shown by this share of the samples."""
            return lambda seed: seed % 100 < 100 * share
        for share, verdict, looks, n in ((1.0, YES, 1, 100), (0.95, YES, 4, 800), (0.9, OPEN, 4, 800)):
            with unittest.mock.patch.dict(demonstrations.KINDS, {"made up": asked(share)}):
                demonstrations.KINDS["made up"].__doc__ = "Made up."
                demonstrations.holds.cache_clear()
                found = computed.demonstration({"what": "made up", "runs": 100}, None)
            self.assertEqual((found.verdict, found.look, found.items[0].n), (verdict, looks, n))
        # 760 of 800, not 380 of 400: the binomial tail, as the looks spend it
        self.assertLessEqual(stats.binom.sf(759, 800, 0.9) * judge.SPEND**3, judge.LEVEL)
        self.assertGreater(stats.binom.sf(379, 400, 0.9) * judge.SPEND**2, judge.LEVEL)

    def test_shift_example(self):
        self.assertAlmostEqual(illustrations.mean_distance(0.5, 0.1), 0.079788456080287)
        self.assertAlmostEqual(illustrations.mean_distance(0.6, 0.2), 0.17911862296052)
        self.assertAlmostEqual(illustrations.shifted(0.23874794321522, 0.17911862296052),
                               0.05439779480125)


if __name__ == "__main__":
    unittest.main()
