"""Distances of Table 2 against numbers computed independently for its reproduction, and the claim on them."""
import unittest
import unittest.mock

import papers  # first: the path
import common
import numpy as np
from regatta_analysis.claims.grades import PARTLY, SHOWN, SUPPORTED
from reproduce import densities, density_error as de, pictures
from scipy import integrate, stats


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

    def test_against_a_plain_sum_on_a_finer_grid(self):
        outside = np.geomspace(1e-3, 1e5, 9000) - 1e-3
        x = np.concatenate([-1.0 - outside[::-1], np.linspace(-1.0, 2.0, 30001)[1:-1], 2.0 + outside])
        for law in de.LAWS:
            for n in (10, 120):
                samples = de.draw(law, n, np.random.default_rng(n))
                plain = np.mean([stats.norm.pdf(x, s, de.bandwidth(samples)) for s in samples], axis=0)
                exact = integrate.trapezoid(np.abs(plain - de.density(law, x)), x)
                self.assertAlmostEqual(de.distance(law, samples), exact, delta=1e-4)

    def test_absolute_integral(self):
        """The integral of a sine over three half waves is 6; on this grid the trapezoidal rule is off by 1.5e-4, that of
        the absolute value of the linear interpolation by 4e-3."""
        x = np.linspace(0.0, 3.0 * np.pi, 101)
        self.assertAlmostEqual(de.absolute_integral(np.sin(x + 0.01), x + 0.01), 6.0, delta=1e-5)
        self.assertEqual(de.absolute_integral(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 3.0])), 1.0)

    def test_the_same_every_time_and_the_first_of_more(self):
        with unittest.mock.patch.dict(de._known, clear=True):
            first = de.distances("normal", 10, 5)
            more = de.distances("normal", 10, 8)
        with unittest.mock.patch.dict(de._known, clear=True):
            again = de.distances("normal", 10, 8)
        np.testing.assert_array_equal(first, more[:5])
        np.testing.assert_array_equal(more, again)


class Claim(common.Case):
    """With made-up distances: normal around the means `normal` and `complicated` at sizes 1, 2."""

    def decide(self, normal, complicated, factor=1.5, statistic="mean"):
        means = {("normal", 1): normal[0], ("normal", 2): normal[1],
                 ("complicated", 1): complicated[0], ("complicated", 2): complicated[1]}

        def distances(law, n, runs=20):
            return means[law, n] + 0.1 * np.random.default_rng([7, n, len(law)]).normal(size=runs)
        with unittest.mock.patch.object(densities.density_error, "distances", distances), \
                unittest.mock.patch.object(densities, "RUNS", 1280):
            return densities.density_distance({"sizes": [1, 2], "factor": factor, "statistic": statistic}, None)

    def test_clear_ones(self):
        for statistic in ("mean", "median"):
            outcome = self.decide((1.0, 0.5), (2.0, 1.5), statistic=statistic)
            self.assertEqual((outcome.grade, {i.n for i in outcome.items}), (SHOWN, {1280}))
            self.assertEqual(pictures.shown(outcome).mean(), 1.0)
        for normal, complicated in (((1.0, 0.5), (1.4, 0.9)), ((1.0, 0.5), (2.0, 2.2))):
            found = self.decide(normal, complicated)
            self.assertEqual((found.grade, found.tally.against), (PARTLY, 1))

    def test_a_tie_stays_open(self):
        outcome = self.decide((1.0, 0.5), (2.0, 2.0))
        self.assertEqual((outcome.grade, outcome.tally.open), (SUPPORTED, 1))
        self.assertAlmostEqual(pictures.shown(outcome).mean(), 0.5, delta=0.1)
