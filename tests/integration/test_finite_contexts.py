"""Methods for contexts from nature where designs and contexts are finite: each query maximises the criterion of its
method among all designs, by a program of its own (NumPy, SciPy), written from the definitions."""
import numpy as np
from scipy.optimize import linprog, minimize
from scipy.stats import norm

from context_test import LENGTH, N0, STUDY, ContextTest

DESIGNS, CONTEXTS = np.linspace(0, 1, 15), np.linspace(0, 1, 5)
SHAPE = "setting: uncontrollable, levels: 15, context_levels: 5, length_scale: 0.3"
FINITE = STUDY + f"""\
  - {{name: gp_path_box, label: finite, {SHAPE}}}
algorithms:
  - {{name: erbo, label: erbo}}
  - {{name: erbo, label: cvar, measure: cvar(0.4), any_measure: true}}
  - {{name: wdrbo_exact, label: transport, radius: 0.4}}
  - {{name: drbo_mmd, label: discrepancy, jitter: 0}}
  - {{name: stable_opt, label: worst}}
  - {{name: sbo_kde, label: density, expectation: quadrature, nodes: 40}}
  - {{name: drbo_mmd, label: widest, gamma: 1e-300}}
  - {{name: wdrbo, label: no_ball, radius: 0}}
  - {{name: wdrbo_exact, label: no_transport, radius: 0}}
"""
QUANTILES = STUDY + f"""\
  - {{name: gp_path_box, label: nature, measure: var(0.6), {SHAPE}}}
  - {{name: gp_path_box, label: learner, measure: var(0.6), {SHAPE.replace("uncontrollable", "simulator")}}}
algorithms: [v_ucb]
"""
TAILS = QUANTILES.replace("measure: var", "measure: cvar").replace("v_ucb", "cv_ucb")
NODES = np.linspace(-6, 6, 601)  # of the standard normal law
GAUSS = norm.pdf(NODES) / norm.pdf(NODES).sum()


class FiniteContexts(ContextTest):

    def check_best(self, trial, t, values, delta=1e-6):
        """The recorded query maximises the acquisition function, whose values are given by design."""
        at = np.argmin(abs(DESIGNS - trial["x"][t - 1, 0]))
        self.assertAlmostEqual(trial["acquisition"][t - 1], values[at], delta=delta)
        self.assertGreaterEqual(values[at], values.max() - 2 * delta)

    def shares(self, seen):
        return np.array([(abs(seen - c) < 1e-9).mean() for c in CONTEXTS])

    def test_averages_and_worst_cases(self):
        trials = self.results(FINITE)["finite"]
        for trial in trials:
            with self.subTest(algorithm=trial["algorithm"]):
                for t, model, seen in self.models(trial):
                    getattr(self, "check_" + trial["algorithm"])(trial, t, model, seen)
        self.assertEqual(len({trial["algorithm"] for trial in trials}), 9)

    def check_erbo(self, trial, t, model, seen):
        self.check_best(trial, t, model.bound(DESIGNS, CONTEXTS) @ self.shares(seen))

    check_no_ball = check_no_transport = check_erbo  # only the contexts observed count

    def check_widest(self, trial, t, model, seen):
        """A ball that holds every distribution on the contexts: the worst context decides."""
        self.check_best(trial, t, model.bound(DESIGNS, CONTEXTS).min(axis=1))

    def check_cvar(self, trial, t, model, seen):
        bound, share = model.bound(DESIGNS, CONTEXTS), self.shares(seen)
        order = np.argsort(bound, axis=1)
        weight = np.diff(np.minimum(np.cumsum(share[order], axis=1), 0.4), prepend=0, axis=1)
        self.check_best(trial, t, (np.take_along_axis(bound, order, axis=1) * weight).sum(axis=1) / 0.4)

    def check_transport(self, trial, t, model, seen):
        """A linear program over transport plans from the observed contexts to the set."""
        radius = 0.4 / np.sqrt(t - 1)
        self.assertAlmostEqual(trial["radius"][t - 1], radius, places=12)
        share, n = self.shares(seen), len(CONTEXTS)
        distance = abs(CONTEXTS[:, None] - CONTEXTS)
        rows = np.kron(np.eye(n), np.ones(n))
        values = [linprog(np.tile(u, n), A_ub=distance.reshape(1, -1), b_ub=[radius], A_eq=rows, b_eq=share).fun
                  for u in model.bound(DESIGNS, CONTEXTS)]
        self.check_best(trial, t, np.array(values), 1e-5)

    def check_discrepancy(self, trial, t, model, seen):
        """The least expectation over weights q with (q - p)' K (q - p) <= r^2; no search finds less, and ours as much."""
        radius, share = trial["radius"][t - 1], self.shares(seen)
        self.assertAlmostEqual(radius, (2 + np.sqrt(2 * np.log(10))) / np.sqrt(t - 1), places=12)
        K = np.exp(-(CONTEXTS[:, None] - CONTEXTS)**2 / (2 * LENGTH**2))
        values = []
        for u in model.bound(DESIGNS, CONTEXTS):
            found = minimize(lambda q: q @ u, share, jac=lambda q: u, bounds=[(0, 1)] * len(u), method="SLSQP",
                             constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(len(q))},
                                          {"type": "ineq", "fun": lambda q: radius**2 - (q - share) @ K @ (q - share),
                                           "jac": lambda q: -2 * K @ (q - share)}], options={"ftol": 1e-12, "maxiter": 500})
            values.append(found.fun)
        self.check_best(trial, t, np.array(values), 1e-4)

    def check_worst(self, trial, t, model, seen):
        """Over the interval of one deviation around the mean, of which the method takes 1024 points."""
        inside = np.linspace(seen.mean() - seen.std(ddof=1), seen.mean() + seen.std(ddof=1), 2001)
        self.check_best(trial, t, model.bound(DESIGNS, inside).min(axis=1), 1e-2)

    def check_density(self, trial, t, model, seen):
        bandwidth = (4 / 3 / len(seen))**0.2 * seen.std()
        self.assertAlmostEqual(trial["bandwidth"][t - 1], bandwidth, places=12)
        near = np.clip(CONTEXTS[:, None] + bandwidth * NODES, 0, 1).ravel()
        self.check_best(trial, t, model.bound(DESIGNS, near) @ np.outer(self.shares(seen), GAUSS).ravel(), 2e-3)

    def check_quantiles(self, text, value, levels):
        """value(u): the measure of sorted bounds (a row per design), whose shares are equal; levels: the orders of the
        contexts that it reads."""
        found = self.results(text)
        for problem, trial in [(name, trial) for name in ("nature", "learner") for trial in found[name]]:
            for t, model, _ in self.models(trial):
                beta = 2 * np.log(len(DESIGNS) * len(CONTEXTS) * (t - N0)**2 * np.pi**2 / (6 * 0.05))
                self.assertAlmostEqual(trial["confidence"][t - 1], beta, places=10)
                upper = np.sort(model.bound(DESIGNS, CONTEXTS, np.sqrt(beta)), axis=1)
                y = trial["y"][:t - 1]
                self.check_best(trial, t, y.mean() + y.std(ddof=1) * value(upper))
                if problem == "learner":
                    self.check_lacing(trial, t, model, np.sqrt(beta), levels)

    def check_lacing(self, trial, t, model, width, levels):
        """The context chosen holds the interval of its order, at the level where that interval is widest, and is the
        least known of those that do."""
        x, c = trial["x"][t - 1, :1], trial["c"][t - 1, 0]
        lower, upper = (model.bound(x, CONTEXTS, sign * width)[0] for sign in (-1, 1))
        low, high = np.sort(lower)[list(levels)], np.sort(upper)[list(levels)]
        k = np.argmax(high - low)
        holds = (lower <= low[k] + 1e-9) & (upper >= high[k] - 1e-9)
        chosen = np.argmin(abs(CONTEXTS - c))
        self.assertTrue(holds[chosen])
        self.assertGreaterEqual((upper - lower)[chosen], (upper - lower)[holds].max() - 1e-9)

    def test_quantiles(self):
        """At the middle order, and at the ends, where one context alone holds the interval."""
        for share, level in ((0.6, 2), (0.9, 4), (0.1, 0)):
            with self.subTest(share=share):
                self.check_quantiles(QUANTILES.replace("var(0.6)", f"var({share})"), lambda upper: upper[:, level], [level])

    def test_tails(self):
        self.check_quantiles(TAILS, lambda upper: upper[:, :3].mean(axis=1), [0, 1, 2])
