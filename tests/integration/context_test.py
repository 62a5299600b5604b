"""Shared by the tests of methods with contexts from nature: a study with fixed hyperparameters, its results, and
the posterior by dense algebra."""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # matrices are small

import h5py
import numpy as np

from regatta_test import RegattaTest

N0, T, SEEDS, LENGTH, NOISE, WIDTH = 5, 30, 2, 0.3, 1e-3, 1.5
STUDY = f"""study: moving_law
seed: 3
seeds: {SEEDS}
common:
  iterations: {T - N0}
  initial_points: {N0}
  initial_design: uniform
  count_initial: true
  surrogate: {{kernel: gaussian, ard: false, length_scale: {LENGTH}, variance: 1, noise_variance: {NOISE},
              noise_units: model, fit: fixed, mean: zero, deviation: sample}}
  maximiser: {{raw_samples: 256, restarts: 10, incumbents: 0, perturbations: 0}}
problems:
"""
GRID = np.linspace(0, 1, 4001)


class Model:
    """The posterior of the evaluations so far, outputs standardised."""

    def __init__(self, x, c, y):
        self.data = np.column_stack([x, c])
        self.inverse = np.linalg.inv(self.kernel(self.data, self.data) + NOISE * np.eye(len(x)))
        self.alpha = self.inverse @ ((y - y.mean()) / y.std(ddof=1))

    @staticmethod
    def kernel(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * LENGTH**2))

    def bound(self, x, c, width=WIDTH):
        """U at all (x, c)."""
        pairs = np.column_stack([np.repeat(x, len(c)), np.tile(c, len(x))])
        cross = self.kernel(pairs, self.data)
        variance = 1 - (cross @ self.inverse * cross).sum(axis=1)
        return (cross @ self.alpha + width * np.sqrt(np.maximum(variance, 1e-10))).reshape(len(x), len(c))


class ContextTest(RegattaTest):

    def results(self, text):
        """label of the problem -> list of trials, each a map from names to arrays over t."""
        found = {}
        with h5py.File(self.results_of(text)) as file:
            for problem in (name for name in file if "x" in file[name]):
                group = file[problem]
                labels = [label.decode() for label in group["algorithm"][:]]
                columns = [name for name in group if isinstance(group[name], h5py.Dataset) and group[name].ndim > 1]
                found[problem] = [{"algorithm": label, **{name: group[name][i] for name in columns}}
                                  for i, label in enumerate(labels)]
        return found

    def check_query(self, trial, t, values):
        """Check that the query of evaluation t maximises. values: at the query, then on the grid. A search may miss
        a maximum at the border that is a little better."""
        self.assertGreater(values[0], values[1:].max() - 0.05)
        self.assertAlmostEqual(trial["acquisition"][t - 1], values[0], delta=1e-5)

    def models(self, trial):
        """(t, model, contexts) before each query."""
        x, c, y = trial["x"][:, 0], trial["c"][:, 0], trial["y"]
        for t in range(N0 + 1, T + 1, 6):
            yield t, Model(x[:t - 1], c[:t - 1], y[:t - 1]), c[:t - 1]

    def designs(self, trial, t):
        return np.append(trial["x"][t - 1, 0], GRID[::50])
