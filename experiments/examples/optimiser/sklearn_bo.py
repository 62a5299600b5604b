#!/usr/bin/env python3
"""Bayesian optimisation in fifty lines: scikit-learn's Gaussian process and expected improvement, the
largest of it at 2000 points over the box and 500 around the best one. With several workers it
believes the mean at points in flight."""
import pathlib
import sys
import warnings

import numpy as np
import sklearn
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import regatta


class Search(regatta.Parallel):
    def __init__(self, start):
        if start.space.points is not None:
            raise ValueError("this adapter needs a box, the problem has a finite set of designs")
        if start.context is not None and start.context.control == "learner":
            raise ValueError("this adapter chooses no contexts, the problem wants them chosen")
        self.random = np.random.default_rng(start.seed)
        self.lower, self.upper = np.array(start.space.lower), np.array(start.space.upper)
        self.x = [self.to_unit(e.x) for e in start.initial]
        self.y = [e.y for e in start.initial]
        kernel = Matern(np.full(len(self.lower), 0.5), (0.01, 10), nu=2.5)
        alpha = max((start.noise_variance or 0) / (np.var(self.y or [0]) or 1), 1e-8)
        self.model = GaussianProcessRegressor(kernel, alpha=alpha, normalize_y=True, random_state=0)

    def to_unit(self, x):
        return (np.array(x) - self.lower) / (self.upper - self.lower)

    def ask(self, request):
        if not self.y:
            return self.random.uniform(self.lower, self.upper)
        model = self.model
        with regatta.fitting():
            model.fit(self.x, self.y)
        if request.pending:
            x = [self.to_unit(p.x) for p in request.pending]
            y = [*self.y, *model.predict(x)]
            model = GaussianProcessRegressor(model.kernel_, alpha=model.alpha, normalize_y=True, optimizer=None)
            model.fit([*self.x, *x], y)
        best = self.x[int(np.argmax(self.y))]
        near = np.clip(best + 0.05 * self.random.standard_normal((500, len(best))), 0, 1)
        points = np.vstack([self.random.random((2000, len(best))), near])
        mean, sd = model.predict(points, return_std=True)
        z = (mean - max(self.y)) / np.maximum(sd, 1e-12)
        improvement = sd * (z * norm.cdf(z) + norm.pdf(z))
        return self.lower + points[np.argmax(improvement)] * (self.upper - self.lower)

    def tell(self, e):
        self.x.append(self.to_unit(e.x))
        self.y.append(e.y)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of length scales at a bound
    regatta.serve(Search, versions={"scikit-learn": sklearn.__version__})
