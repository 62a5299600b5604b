"""Formulas of kernel regression, asked of the program, against their definitions."""

import papers  # first: the path
import common
import numpy as np
from reproduce.illustrations import damped_cosine, kernel_regression
from regatta_analysis.load.program import formula


class Theory(common.Case):
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
