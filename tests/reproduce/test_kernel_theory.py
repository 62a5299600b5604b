"""Formulas of kernel regression, asked of the program, against their definitions."""

import papers  # first: the path
import common
import numpy as np
from reproduce.illustrations import damped_cosine, kernel_regression
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.program import formula


class Theory(common.Case):
    def test_covering(self):
        for dim, value in ((1, 0.005), (2, 0.0564189583548), (3, 0.133650461757), (6, 0.353007234102)):
            found = formula("covering", {"n": [100]}, dim=dim)["covering"]
            self.assertAlmostEqual(found[0], value, places=11)

    def test_finite(self):
        found = formula("regression_finite", {"t": [np.e]}, gaps=[0.5, 0.0, 0.9]).iloc[0]
        rest = 1.0 + 2.0 * np.pi**2 / 3.0
        self.assertAlmostEqual(found["root"], 2.0 * np.sqrt(0.64 * 3 * np.e) + rest * 2.7)
        self.assertAlmostEqual(found["gaps"], 0.64 / 0.5 + 0.64 / 0.9 + rest * 1.4)

    def test_interval(self):
        """Two runs of equal rows; sup |f(x) - f(x')| within a bandwidth by brute force."""
        x = np.array([0.25, 0.75, 0.5, 0.3, 0.27])
        h = 0.1 * np.arange(1, 5) ** -0.2
        log_weight = np.array([kernel_regression(x[t:t + 1], x[:t], x[:t], h[t - 1])[1][0]
                               for t in range(1, 5)])
        grid = damped_cosine(np.linspace(0.0, 1.0, 1001))
        steps = np.abs(np.subtract.outer(np.arange(1001), np.arange(1001)))
        spread = np.abs(np.subtract.outer(grid, grid))
        omega = np.array([spread[steps <= np.floor(each * 1000)].max() for each in h])
        columns = {"run": [0] * 4 + [1] * 4, "log_weight": np.tile(log_weight, 2),
                   "confidence": [0.25] * 8, "bandwidth": np.tile(h, 2)}
        found = formula("regression_interval", columns, values=grid)["bound"]
        expected = np.cumsum(np.exp(-0.5 * log_weight) + 2 * omega)
        np.testing.assert_allclose(found, np.tile(expected, 2), rtol=1e-12)
        capped = formula("regression_interval", columns, values=grid, largest=0.5)["bound"]
        np.testing.assert_allclose(capped, np.tile(np.cumsum(np.full(4, 0.5)), 2))

    def test_mistakes(self):
        with self.assertRaisesRegex(InputError, "'dim' is missing"):
            formula("covering", {"n": [1]})
        with self.assertRaisesRegex(InputError, "no CSV table"):
            formula("covering", {"t": [1]}, dim=2)
        with self.assertRaisesRegex(InputError, "nothing is called 'covers'"):
            formula("covers", {"t": [1]})
