"""Measures other than the expectation, widths and radii of the theorems, and functions of known norm: queries and
columns of a study against a program of its own (NumPy, SciPy), written from the definitions."""
import numpy as np
from scipy.stats import kstest, norm

from context_test import LENGTH, N0, NOISE, STUDY, ContextTest, Model, T

MEASURES = STUDY + """\
  - {name: three_humps_camel, label: camel, law: "normal(0.5, 0.2)", measure: "%s"}
algorithms:
  - {name: erbo, label: average, measure: "%s"}
  - {name: wdrbo, label: ball, measure: "%s", lipschitz: dense, radius: 0.1}
"""
DRAWS = STUDY + """\
  - {name: three_humps_camel, label: camel, law: "normal(0.5, 0.2)", measure: "worst"}
algorithms:
  - {name: sbo_kde, label: kde, measure: "worst", samples: 400}
"""
THEORY = STUDY + """\
  - {name: gp_norm, label: path, law: "normal(0.4, 0.2)", norm: 3, length_scale: 0.4, points: 60}
algorithms:
  - {name: sbo_kde, label: kde, beta: theory, b: 4, samples: 64}
  - {name: wdrbo, label: ball, beta: theory, norm: 3, noise_deviation: 0.02, delta: 0.05, schedule: theory, covering: 1.0e-3}
  - {name: wdrbo, label: global, beta: theory, norm: 3, noise_deviation: 0.02, delta: 0.05, lipschitz: kernel, radius: 0.1}
  - {name: random, label: random}
"""
CORRELATED = STUDY + """\
  - {name: ackley_context, label: two, dim: 1, context_dim: 2, law: ["normal(0.5, 0.1)", "uniform(0.3, 0.9)"],
     correlation: 0.8, expectation_points: 65536}
algorithms:
  - {name: random, label: random}
"""


def ackley(x, c):
    z = 65.536 * (np.column_stack([np.full(len(c), x), np.clip(c, 0, 1)]) - 0.5)
    return (20 * np.exp(-0.2 * np.sqrt((z**2).mean(axis=1))) + np.exp(np.cos(2 * np.pi * z).mean(axis=1))
            - 20 - np.e)


def cvar(values, alpha):
    """Mean of the lowest share alpha of equally likely values."""
    values = np.sort(values)
    shares = np.clip(alpha - np.arange(len(values)) / len(values), 0, 1 / len(values))
    return values @ shares / alpha


class ContextMeasures(ContextTest):

    def slope(self, model, x):
        """max |dU/dc| over 1025 equispaced contexts, by differences."""
        c, step = np.linspace(0, 1, 1025), 1e-5
        bound = model.bound(x, np.concatenate([c - step, c + step]))
        return (np.abs(bound[:, 1025:] - bound[:, :1025]) / (2 * step)).max(axis=1)

    def check_measure(self, text, rho, transport):
        ours = self.results(MEASURES % (text, text, text))["camel"]
        self.assertTrue(all((trial["instantaneous_regret"] >= 0).all() for trial in ours))
        for trial in ours:
            for t, model, c in self.models(trial):
                x = self.designs(trial, t)[:: 1 if trial["algorithm"] == "average" else 8]
                values = np.array([rho(row) for row in model.bound(x, c)])
                if trial["algorithm"] == "ball":
                    self.assertAlmostEqual(trial["radius"][t - 1], 0.1 / np.sqrt(t - 1), places=12)
                    values -= transport * 0.1 / np.sqrt(t - 1) * self.slope(model, x)
                with self.subTest(measure=text, algorithm=trial["algorithm"], t=t):
                    self.check_query(trial, t, values)

    def test_conditional_value_at_risk(self):
        self.check_measure("cvar(0.3)", lambda u: cvar(u, 0.3), 1 / 0.3)

    def test_mean_and_deviation(self):
        self.check_measure("expectation - 0.5*mad", lambda u: u.mean() - 0.5 * np.abs(u - u.mean()).mean(), 2)

    def test_worst_case_over_draws(self):
        for trial in self.results(DRAWS)["camel"]:
            for t, model, c in self.models(trial):
                bandwidth = (4 / 3 / len(c)) ** 0.2 * c.std()
                low, high = min(c.min(), 0), max(c.max(), 1)
                inside = np.linspace(max(c.min() - 4 * bandwidth, low), min(c.max() + 4 * bandwidth, high), 2001)
                near = np.linspace(c.min(), c.max(), 400)
                x = self.designs(trial, t)[:1]
                # the least of 400 draws lies between the least over their range and over the contexts seen
                self.assertGreater(trial["acquisition"][t - 1], model.bound(x, inside).min() - 1e-5)
                self.assertLess(trial["acquisition"][t - 1], model.bound(x, near).min() + 0.05)

    def test_widths_and_radius_of_the_theorems(self):
        trials = self.results(THEORY)["path"]
        for trial in trials:
            x, c = trial["x"][:, 0], trial["c"][:, 0]
            for t in range(N0 + 1, T + 1) if trial["algorithm"] != "random" else []:
                k = t - N0
                if trial["algorithm"] == "kde":
                    beta = 2 * np.log(k**2 / np.sqrt(2 * np.pi)) + 2 * np.log(k**2 * 4 * np.sqrt(np.pi) / 2)
                    model = Model(x[:t - 1], c[:t - 1], trial["y"][:t - 1])
                    if t % 6 == 0:
                        self.check_width(trial, t, model, np.sqrt(max(beta, 0)))
                    continue
                z = np.column_stack([x, c])[:t - 1]
                log_det = np.linalg.slogdet(np.eye(t - 1) + Model.kernel(z, z) / NOISE)[1]
                width = 0.02 / np.sqrt(NOISE) * np.sqrt(log_det + 2 * np.log(1 / 0.05)) + 3
                self.assertAlmostEqual(trial["confidence"][t - 1], width**2, delta=1e-9 * width**2)
                n = t - 1
                if trial["algorithm"] == "global":
                    self.check_global_penalty(trial, t, width)
                    continue
                cover = 1e-3 * ((1 + np.log(n * width)) ** 3 + (1 + np.log(n)) ** 5)
                radius = np.sqrt(2 / n * (np.log(1 / 0.05) + np.log(1 + 2 * n) + cover))
                self.assertAlmostEqual(trial["radius"][t - 1], min(radius, 1), places=10)

    def check_global_penalty(self, trial, t, width):
        """The average over the contexts less eps 2 Bbar_t L_k (Lemma 3), L_k that of the kernel in c."""
        if t % 6:
            return
        c = trial["c"][:t - 1, 0]
        model = Model(trial["x"][:t - 1, 0], c, trial["y"][:t - 1])
        values = model.bound(self.designs(trial, t), c, width).mean(axis=1) - 0.1 / np.sqrt(t - 1) * 2 * width / LENGTH
        self.check_query(trial, t, values)

    def check_width(self, trial, t, model, width):
        """The average over 64 draws is between the smallest and the largest bound of this width, and the posterior
        mean alone is not near it."""
        c = trial["c"][:t - 1, 0]
        inside = np.linspace(0, 1, 201)
        pairs = np.column_stack([np.full(201, trial["x"][t - 1, 0]), inside])
        cross = Model.kernel(pairs, model.data)
        sd = np.sqrt(np.maximum(1 - (cross @ model.inverse * cross).sum(axis=1), 1e-10))
        bandwidth = (4 / 3 / len(c)) ** 0.2 * c.std()
        density = norm.pdf((inside[:, None] - c) / bandwidth).mean(axis=1)
        average = (cross @ model.alpha + width * sd) @ density / density.sum()
        spread = (cross @ model.alpha + width * sd).std() / 8
        self.assertLess(abs(trial["acquisition"][t - 1] - average), 5 * spread + 0.05)

    def test_correlated_contexts(self):
        trials = self.results(CORRELATED)["two"]
        c = np.concatenate([trial["c"] for trial in trials])
        scores = np.column_stack([(c[:, 0] - 0.5) / 0.1, norm.ppf((c[:, 1] - 0.3) / 0.6)])
        self.assertGreater(kstest(scores.ravel(), "norm").pvalue, 1e-3)
        self.assertLess(abs(np.corrcoef(scores.T)[0, 1] - 0.8), 0.2)
        normal = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 100000)
        drawn = np.column_stack([0.5 + 0.1 * normal[:, 0], 0.3 + 0.6 * norm.cdf(normal[:, 1])])
        shuffled = np.column_stack([drawn[:, 0], np.roll(drawn[:, 1], 1)])
        gaps, independent = [], []
        for x, F in zip(trials[0]["x"][:8, 0], trials[0]["objective"]):
            values = ackley(x, drawn)
            self.assertLess(abs(values.mean() - F), 5 * values.std() / np.sqrt(len(values)))
            gaps.append(values.mean() - F)
            independent.append(ackley(x, shuffled).mean() - F)
        self.assertGreater(np.abs(independent).mean(), 4 * np.abs(gaps).mean())  # the copula matters

    def test_the_norm_is_known(self):
        for trial in self.results(THEORY)["path"]:
            if trial["algorithm"] != "random":
                continue
            z = np.column_stack([trial["x"][:, 0], np.clip(trial["c"][:, 0], 0, 1)])
            K = np.exp(-((z[:, None] - z[None]) ** 2).sum(axis=2) / (2 * 0.4**2))
            known = trial["f"] @ np.linalg.solve(K + 1e-11 * np.eye(T), trial["f"])
            self.assertLess(known, 9.001)  # no function through these values has a smaller norm than this
            self.assertGreater(known, 4)
            self.assertTrue((trial["instantaneous_regret"] >= 0).all())
