"""Bounds of single queries against a plain Gaussian process, made again before each query; claims on them."""
from unittest import mock

from papers import PROGRAM, regatta  # first: it sets the path
import common
import numpy as np
from regatta_analysis.claims import checks, claims
from regatta_analysis.claims.grades import CONTRADICTED, NOT_COMPARABLE, SHOWN
from reproduce import query_bounds
from scipy import integrate, stats

STUDY = """
study: small
seed: 5
instances: 8
common:
  iterations: 40
  initial_points: 5
  initial_design: sobol
  noise_variance: 0.01
  noise_known: true
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.5, variance: 1, noise_variance: 1, noise_units: model,
              fit: fixed, mean: zero, standardise: false}
  maximiser: {raw_samples: 32, restarts: 2}
problems: [{name: gp_norm, label: P, law: "normal(0.5, 0.15)", length_scale: 0.5, norm: 3, points: 4}]
algorithms:
  - {name: wdrbo, label: given, beta: theory, schedule: constant, radius: 0.02, norm: 3, noise_deviation: 0.1,
     centre: "clip(normal(0.52, 0.15), 0, 1)"}
  - {name: wdrbo, label: wide, beta: theory, schedule: theory, norm: 3, noise_deviation: 0.1}
  - random
"""
LENGTH, LAW = 0.5, (0.5, 0.15)


def kernel(a, b):
    return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(-1) / (2 * LENGTH**2))


def posterior(z, y, at):
    gain = np.linalg.solve(kernel(z, z) + np.eye(len(z)), kernel(z, at)).T
    return gain @ y, np.sqrt(1.0 - (gain * kernel(at, z)).sum(1))


class Bounds(common.Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(2)
        self.x, self.c, self.y = random.uniform(size=(3, 9))
        self.y = 4 * self.y - 2
        self.width, self.radius = np.linspace(3.0, 3.5, 6), np.linspace(0.4, 0.2, 6)

    def plain(self, t, observed):
        """The bound of query t = 0..5, after 3 + t evaluations."""
        n = 3 + t
        z, y, width = np.column_stack([self.x, self.c])[:n], self.y[:n], self.width[t]
        law = stats.norm(*LAW)
        c = np.linspace(0, 1, 2001)
        sd = posterior(z, y, np.column_stack([np.full_like(c, self.x[n]), c]))[1]
        mean = integrate.simpson(sd * law.pdf(c), x=c) + law.cdf(0) * sd[0] + law.sf(1) * sd[-1]
        line, step, slope = np.linspace(0, 1, 41), 1e-5, 0.0
        for x in line:
            at = [np.column_stack([np.full(41, x), line + h]) for h in (step, -step)]
            u = [m + width * s for m, s in (posterior(z, y, one) for one in at)]
            slope = max(slope, np.abs(u[0] - u[1]).max() / (2 * step))
        remainder = 2 * (1 + 2 * width / LENGTH) / n if observed else 0.0
        return 2 * width * mean + 2 * self.radius[t] * slope + remainder

    def test_against_a_plain_process(self):
        for observed in (False, True):
            found = query_bounds.bounds(self.x, self.c, self.y, self.width, self.radius, LENGTH, LAW, observed)
            np.testing.assert_allclose(found, [self.plain(t, observed) for t in range(6)], rtol=1e-6)

    def test_the_law(self):
        node, weight = query_bounds.clipped_normal(*LAW)
        draws = np.clip(np.random.default_rng(1).normal(*LAW, 10**6), 0, 1)
        self.assertAlmostEqual(weight.sum(), 1.0, places=12)
        self.assertAlmostEqual(weight @ np.cos(9 * node), np.cos(9 * draws).mean(), delta=0.003)


@PROGRAM
class Claims(common.Case):
    def test_grades(self):
        """A given centre with a small radius has a bound that says something; a ball with all laws has none."""
        (self.scratch / "small.yaml").write_text(STUDY)
        regatta("run", self.scratch / "small.yaml", "-o", self.scratch / "small.h5")
        studies = claims.Studies({"small": self.scratch / "small.h5"})

        def outcome(who, theorem):
            return checks.run({"kind": "query_bound", "who": who, "on": "small", "theorem": theorem, "law": [*LAW]},
                              studies)
        self.assertEqual([outcome("given", 4).grade, outcome("wide", 8).grade], [SHOWN, NOT_COMPARABLE])
        whole = query_bounds.bounds
        with mock.patch.object(query_bounds, "bounds", lambda *a: whole(*a) / 10):  # below the regret of some queries
            self.assertEqual(outcome("given", 4).grade, CONTRADICTED)
        self.assertIn("needs one design, one context and a fixed Gaussian kernel", outcome("random", 4).text)
