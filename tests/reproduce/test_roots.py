"""Square roots of confidence parameters against their formulas."""

import papers  # first: it sets the path
import common
import numpy as np
from regatta_analysis.load.errors import InputError
from reproduce.roots import law_curve


class Roots(common.Case):
    def test_roots(self):
        """Figure 1 of arXiv:2504.03172 at N = 1000, delta = 0.05."""
        t = np.array([1.0, 50.0])
        union = 1000 * np.pi**2 * t**2 / (6 * 0.05)
        for name, expected in (("RKHS", 1 + np.sqrt(2 * (np.log(t) + 1 + np.log(20)))),
                               ("Bayesian", np.sqrt(2 * np.log(union))), ("BPT-UCB", union**0.1)):
            np.testing.assert_allclose(law_curve(name, t, 1000), expected, rtol=1e-12)
        nodes, weights = np.polynomial.laguerre.laggauss(64)
        mean = weights @ np.sqrt(2 * np.log(1000) + 2 * nodes)
        np.testing.assert_allclose(law_curve("Proposed", t, 1000), mean, rtol=1e-9)
        with self.assertRaisesRegex(InputError, "no law 'Nobody'"):
            law_curve("Nobody", t, 1000)
