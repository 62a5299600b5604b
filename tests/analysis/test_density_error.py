"""Distances of Table 2 against numbers computed independently for its reproduction."""
import unittest

import common
import numpy as np
from regatta_analysis.stats import density_error as de
from scipy import integrate


class Distances(common.Case):
    def test_densities_integrate_to_one(self):
        x = de.grid()
        self.assertTrue(np.all(np.diff(x) > 0))
        for law in de.LAWS:
            self.assertAlmostEqual(integrate.trapezoid(de.density(law, x), x), 1.0, places=4)

    def test_bandwidth(self):
        samples = np.array([0.0, 1.0])
        self.assertAlmostEqual(de.bandwidth(samples), 1.0592238410 * 0.5 * 2**-0.2)

    def test_extremes(self):
        """An estimate far from everything has distance 2, the law's own samples get close."""
        self.assertAlmostEqual(de.distance("normal", np.array([500.0, 550.0, 620.0])), 2.0, places=2)
        many = de.draw("normal", 20000, np.random.default_rng(0))
        self.assertLess(de.distance("normal", many), 0.04)

    def test_means_in_the_known_ranges(self):
        """5% to 95% ranges of the mean of 20 runs, widened by a tenth."""
        for law, n, low, high in (("normal", 10, 0.296, 0.390), ("normal", 100, 0.125, 0.166),
                                  ("complicated", 10, 0.575, 0.680),
                                  ("complicated", 100, 0.491, 0.579)):
            mean = de.distances(law, n).mean()
            self.assertTrue(0.9 * low < mean < 1.1 * high, (law, n, mean))

    def test_kept_once(self):
        self.assertFalse(hasattr(de.distances.__wrapped__, "cache_info"))

    def test_the_same_every_time(self):
        first = de.distances.__wrapped__("normal", 10)
        np.testing.assert_array_equal(first, de.distances.__wrapped__("normal", 10))


if __name__ == "__main__":
    unittest.main()
