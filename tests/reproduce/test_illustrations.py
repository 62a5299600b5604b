"""Kernel regression of the illustrations against limits and numbers worked out by hand."""
import unittest
import unittest.mock

import papers  # first: the path
import common
import numpy as np
from regatta_analysis.claims.grades import AGAINST, OPEN, SHOWN
from reproduce import computed, demonstrations, illustrations


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

    def test_the_share_of_samples(self):
        for share, state in ((1.0, SHOWN), (0.92, OPEN), (0.8, AGAINST)):
            asked = lambda seed, share=share: seed % 100 < 100 * share
            asked.__doc__ = "Made up."
            with unittest.mock.patch.dict(demonstrations.KINDS, {"made up": asked}):
                demonstrations.holds.cache_clear()
                found = computed.demonstration({"what": "made up", "runs": 400}, None)
            self.assertEqual((found.items[0].state, found.items[0].n), (state, 400))
            self.assertAlmostEqual(found.items[0].value, share)

    def test_shift_example(self):
        self.assertAlmostEqual(illustrations.mean_distance(0.5, 0.1), 0.079788456080287)
        self.assertAlmostEqual(illustrations.mean_distance(0.6, 0.2), 0.17911862296052)
        self.assertAlmostEqual(illustrations.shifted(0.23874794321522, 0.17911862296052),
                               0.05439779480125)
