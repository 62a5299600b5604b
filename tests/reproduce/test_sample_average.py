"""The maximiser of the sample average (Proposition 1 of arXiv:2312.10423): shares and rates of numbers made here, and
the program's queries against a program of its own (NumPy), written from the definitions."""
from papers import PROGRAM, regatta  # first: it sets the path
import common
import numpy as np
import pandas as pd
import yaml
from regatta_analysis import load
from regatta_analysis.figures import overviews, style
from reproduce import EXPERIMENTS, sample_average
from scipy import stats

SEEDS, SIZES, REPEATS, KNOWN = 40, (8, 16, 32, 64), 200, 60
X, C = np.linspace(0.35, 0.65, 301), np.linspace(0.0, 1.0, 201)
NODES = (np.arange(100) + 0.5) / 100


def bound(x, c, y):
    """mu + 1.5 sd on the grid of designs and contexts: Gaussian kernel of length scale 0.3, noise 1e-4, mean 0."""
    def kernel(a, b):
        return np.exp(-(a[:, None] - b)**2 / (2 * 0.3**2))
    inverse = np.linalg.inv(kernel(x, x) * kernel(c, c) + 1e-4 * np.eye(len(x)))
    left, right = kernel(X, x), kernel(C, c)
    variance = [1.0 - (right @ (inverse * np.outer(row, row)) * right).sum(axis=1) for row in left]
    return (left * (inverse @ y)) @ right.T + 1.5 * np.sqrt(np.maximum(variance, 1e-10))


def average(bounds, contexts):
    """The mean bound over contexts, by interpolation in them: a row per design, a column per set of contexts."""
    place = np.clip(contexts, 0.0, 1.0) * (len(C) - 1)
    low = np.minimum(place.astype(int), len(C) - 2)
    share = place - low
    return (bounds[:, low] * (1.0 - share) + bounds[:, low + 1] * share).mean(axis=-1)


class Measures(common.Case):
    def test_shares_and_rates(self):
        m = np.array([4, 8, 16, 32])
        found = pd.DataFrame({k: np.arange(1000) / 1000 * 2.0**-j for j, k in enumerate(m)})
        table = sample_average.shares(found, (0.25,))
        np.testing.assert_allclose(table[0.25], [0.749, 0.499, 0.0, 0.0], atol=2e-3)
        eta, q = sample_average.rate(pd.Series(0.7 * np.exp(-0.05 * m), index=m))
        self.assertAlmostEqual(eta, 0.05)
        self.assertAlmostEqual(q, 0.7)


@PROGRAM
class Queries(common.Case):
    def setUp(self):
        super().setUp()
        study = yaml.safe_load((EXPERIMENTS / "sbo_kde" / "saa.yaml").read_text())
        study["seeds"] = SEEDS
        study["algorithms"] = [a for a in study["algorithms"] if a["label"] in ("Expectation", *(f"M = {m}" for m in SIZES))]
        (self.scratch / "saa.yaml").write_text(yaml.safe_dump(study))
        regatta("run", self.scratch / "saa.yaml", "-o", self.scratch / "saa.h5")
        self.results = load(self.scratch / "saa.h5")
        self.found = sample_average.distances(self.results, "Three-Humps Camel")

    def test_distances_are_those_of_the_definitions(self):
        """The expectation's query maximises it; where the distances of samples lie among those of our own draws is
        uniform."""
        group, random, ranks = self.results.group("Three-Humps Camel"), np.random.default_rng(5), []
        rows = {seed: k for k, (name, seed) in enumerate(zip(group.column("algorithm"), group.column("seed")))
                if name == "Expectation"}
        self.assertEqual(self.found.shape, (SEEDS, len(SIZES)))
        for (_, seed), distances in self.found.iterrows():
            x, c, y = (group.values(name)[rows[seed]].reshape(KNOWN + 1, -1)[:KNOWN, 0] for name in ("x", "c", "y"))
            bounds, bandwidth = bound(x, c, y), (4 / 3 / KNOWN)**0.2 * c.std()
            exact = average(bounds, (c[:, None] + bandwidth * stats.norm.ppf(NODES)).ravel())
            best = group.values("x")[rows[seed], KNOWN, 0]
            self.assertGreater(np.interp(best, X, exact), exact.max() - 2e-4)
            for size in SIZES:
                drawn = c[random.integers(KNOWN, size=(REPEATS, size))] + bandwidth * random.normal(size=(REPEATS, size))
                own = np.abs(X[np.argmax(average(bounds, drawn), axis=0)] - best)
                jitter = random.uniform(-0.5, 0.5, REPEATS) * (X[1] - X[0])  # the grid is coarser than the search
                ranks.append((own + jitter < distances[size]).mean())
        self.assertGreater(stats.kstest(ranks, "uniform").pvalue, 1e-3)

    def test_the_figure(self):
        with style.context():
            figure = sample_average.figure_of(self.results, "Three-Humps Camel", overviews.panel_rows)
        lines = {line.get_ydata()[0] for line in figure.axes[0].lines}
        for distance in sample_average.DISTANCES:
            self.assertIn((self.found[SIZES[0]] > distance).mean(), lines)
