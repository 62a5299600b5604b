"""Bounds of kernel regression against the numbers of the program's own tests."""
import unittest

import common
import numpy as np
from regatta_analysis.figures import kernel_theory
from regatta_analysis.figures.illustrations import damped_cosine, kernel_regression


class Theory(common.Case):
    def test_covering(self):
        for dim, value in ((1, 0.005), (2, 0.0564189583548), (3, 0.133650461757), (6, 0.353007234102)):
            self.assertAlmostEqual(kernel_theory.covering_bound(100, dim), value, places=11)

    def test_modulus(self):
        values = np.sin(0.7 * np.arange(60)) + 0.1 * np.arange(60)
        for window in (0, 3, 20, 70):
            pairs = [abs(values[i] - values[j]) for i in range(60) for j in range(i + 1)
                     if i - j <= window]
            self.assertAlmostEqual(kernel_theory.modulus(values, 0.5, 0.5 * window + 0.1), max(pairs))

    def test_finite(self):
        gaps = np.array([0.5, 0.0, 0.9])
        root, sharp = kernel_theory.finite_bounds(gaps, np.e)
        rest = 1.0 + 2.0 * np.pi**2 / 3.0
        self.assertAlmostEqual(root, 2.0 * np.sqrt(0.64 * 3 * np.e) + rest * 2.7)
        self.assertAlmostEqual(sharp, 0.64 / 0.5 + 0.64 / 0.9 + rest * 1.4)

    def test_interval(self):
        x = np.array([0.25, 0.75, 0.5, 0.3, 0.27])
        h = 0.1 * np.arange(1, 5) ** -0.2
        log_weight = np.array([[kernel_regression(x[t:t + 1], x[:t], x[:t], h[t - 1])[1][0]
                                for t in range(1, 5)]])
        np.testing.assert_allclose(np.exp(-log_weight[0]),
                                   [268337.286521, 30.8863716783, 1.1513346775, 0.526200017809])
        grid = damped_cosine(np.linspace(0.0, 1.0, 20001))
        omega = [kernel_theory.modulus(grid, 1 / 20000, each) for each in h]
        np.testing.assert_allclose(omega, [0.882907432879, 0.778327189169, 0.721775859737,
                                           0.683784383393], atol=1e-6)
        bound = kernel_theory.interval_bound(log_weight, np.full((1, 4), 0.25), np.array(omega))
        self.assertAlmostEqual(bound[0, -1], np.sum(np.exp(-0.5 * log_weight)) + 2 * sum(omega))


if __name__ == "__main__":
    unittest.main()
