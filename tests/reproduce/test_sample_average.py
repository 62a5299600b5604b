"""The maximiser of the sample average (Proposition 1 of arXiv:2312.10423): shares and rates of numbers made here, and
the program's queries against a program of its own (NumPy), written from the definitions."""
from papers import PROGRAM, regatta  # first: it sets the path
import common
import numpy as np
import pandas as pd
import synthetic
import yaml
from regatta_analysis import load
from regatta_analysis.claims import checks, claims, forms
from regatta_analysis.claims.grades import CONTRADICTED, NOTHING, SHOWN
from regatta_analysis.figures import overviews, style
from regatta_analysis.load.errors import InputError
from reproduce import EXPERIMENTS, fall, sample_average
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


class Fall(common.Case):
    """Made-up trials: in a share p(M) of them the query is 1 off that of the expectation."""

    M, TRIALS = (4, 8, 16, 32, 64, 128), 300

    def outcome(self, share, methods=None, **more):
        names = ["Expectation", *(f"M = {m}" for m in self.M)]
        made = synthetic.problem("Hump", names, seeds=self.TRIALS, queries=1, initial=2, dim=1)
        random = np.random.default_rng(3)
        for k, (name, _, _) in enumerate(made["cells"]):
            size = sample_average.size_of(name)
            made["arrays"]["x"][k, 2] = float(size is not None and random.uniform() < share(size))
        synthetic.write(self.scratch / "s.h5", [made])
        check = {"kind": "exponential_fall", "who": methods or names[1:], "against": "Expectation", "on": "s",
                 "distances": [0.5], **more}
        forms.require(check)
        return checks.run(check, claims.Studies({"s": self.scratch / "s.h5"}))

    def test_laws(self):
        """An exponential fall is shown, also with a power before it; a power law is not, and a share that stays at a
        level is against it."""
        for share, grade in ((lambda m: 0.9 * np.exp(-0.03 * m), SHOWN), (lambda m: 1.8 * m**-0.5 * np.exp(-0.03 * m), SHOWN),
                             (lambda m: 2.4 / m, NOTHING), (lambda m: 0.2 + 2.4 / m, CONTRADICTED)):
            self.assertEqual(self.outcome(share).grade, grade)

    def test_by_hand(self):
        """The fit finds the rate of exact shares, and the check counts the trials."""
        m = np.array(self.M, float)
        shares = np.array([0.7 * m**-0.2 * np.exp(-0.01 * m), 0.7 * m**-0.4])
        np.testing.assert_allclose(fall.factor_rates(shares, m, 10**9), [0.01, 0.0], atol=1e-8)
        found = self.outcome(lambda m: 0.9 * np.exp(-0.03 * m))
        self.assertEqual([(i.a, i.n, i.units) for i in found.items], [("farther than 0.5", self.TRIALS, self.TRIALS)])
        self.assertAlmostEqual(found.items[0].value, 0.03, delta=0.01)

    def test_power_laws_are_rarely_shown(self):
        """Of 200 studies of a power law at most 5 % show a rate above 0."""
        random, m, n = np.random.default_rng(7), np.array(self.M, float), 300
        shown = 0
        for _ in range(200):
            far = (random.uniform(size=(n, 1)) < 2.4 / m).astype(float)  # the same trials are far at each M
            rates = fall.factor_rates(random.multinomial(n, np.full(n, 1 / n), size=400) @ far / n, m, n)
            shown += np.quantile(rates, 0.025) > 0.0
        self.assertLessEqual(shown, 10)

    def test_mistakes(self):
        for more, words in (({"methods": ["M = 4", "M = 8"]}, "four or more"), ({"distances": [0]}, "distances is"),
                            ({"methods": ["Expectation", "M = 4", "M = 8", "M = 16"]}, "such as M = 16")):
            with self.assertRaisesRegex(InputError, words):
                self.outcome(lambda m: 0.5, **more)
        self.assertEqual(self.outcome(lambda m: 0.5, on="s/Hump").items[0].where, "s, Hump")


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
