"""How often the tests of bootstrap.py are wrong: simulated studies in which a statement is true, false, or a tie (true at the
border of what it says), 500 of each for every kind and three laws of the trials' values: normal, heavy-tailed
(lognormal), and clustered by instance. REGATTA_LONG=1: 20,000 studies of each, and experiments of 10 to 50 trials.
test_guarantees.py has those of evidence.py."""
import os
import time

import common
import numpy as np
from regatta_analysis.claims import bootstrap
from regatta_analysis.claims.grades import AGAINST, SHOWN
from regatta_analysis.claims.items import share_item
from regatta_analysis.claims.outcome import Item
from regatta_analysis.stats.growth import exponents

LONG = os.environ.get("REGATTA_LONG") == "1"
STUDIES = 20000 if LONG else 500
UNITS, SEEDS, DRAWS, GAP = 20, 4, 400, 1.5  # the gap of true and false claims, in deviations of a unit
LAWS = ("normal", "heavy-tailed", "clustered")
TRUTHS = {"true": -1.0, "tie": 0.0, "false": 1.0}


def noise(law, random, *shape):
    """Deviations of mean 0 and variance about 1 of each unit; the last axis but the columns is units."""
    if law == "normal":
        return random.normal(size=shape)
    if law == "heavy-tailed":  # skewness 2.9
        return (random.lognormal(0.0, 0.7, size=shape) - np.exp(0.245)) / 1.015
    trials = random.normal(size=(*shape, SEEDS)) * 0.6  # several trials share an instance
    return (0.95 * random.normal(size=shape)[..., None] + trials).mean(axis=-1)


def decided(interval, least, most):
    """(whether each interval lies between the borders, whether it lies outside)."""
    low, high = map(np.asarray, interval)
    return (least <= low) & (high <= most), (high < least) | (low > most)


def means(random, law, shift, n):
    """Pseudo-values of a smooth statistic: their mean is tested."""
    return decided(bootstrap.mean_interval(shift * GAP + noise(law, random, STUDIES, n), bootstrap.LEVEL), -np.inf, 0.0)


def growth(random, law, shift, n):
    """Exponents of curves with mean t^(0.7 + shift) against 0.7."""
    t = np.arange(5.0, 41.0, 3.0)
    wander = 1.0 + 0.2 * noise(law, random, STUDIES, n)[..., None] \
        + 0.2 * noise(law, random, STUDIES, n)[..., None] * np.log(t / 15.0)
    values = t**(0.7 + 0.1 * GAP * shift) * wander
    means = (bootstrap.weights(n, DRAWS) @ values).reshape(-1, len(t))
    drawn = bootstrap.drawn_interval(exponents(means, t).reshape(STUDIES, DRAWS), n, bootstrap.LEVEL)
    without = exponents(bootstrap.leave_one_out(values).reshape(-1, len(t)), t).reshape(STUDIES, n)
    pseudo = n * exponents(values.mean(axis=1), t)[:, None] - (n - 1) * without
    again = bootstrap.mean_interval(pseudo, bootstrap.LEVEL)
    return decided((np.minimum(drawn[0], again[0]), np.maximum(drawn[1], again[1])), -np.inf, 0.7)


def lead(random, law, shift, n):
    """The least mean of three methods over ten queries, the others equal."""
    found = np.empty((STUDIES, 2))
    t = np.arange(10)
    for k in range(STUDIES):
        curves = 5.0 + 0.5 * noise(law, random, n * 3, 10).reshape(n, 3, 10)
        curves += noise(law, random, 3, n).T[..., None] * np.exp(-0.05 * t)
        curves[:, 0] += shift * GAP
        found[k] = bootstrap.lead_interval(curves, 1, bootstrap.LEVEL, DRAWS)
    return decided(found.T, 0.5, 1.0)


def reach(random, law, shift, n):
    """Share of trials that reach a target by a query: 2^(-1/10) is the border for ten trials."""
    n, border = 5 * n, 0.5**0.1
    share = {-1.0: 0.997, 0.0: border, 1.0: 0.75}[shift]
    reached = random.binomial(n, share, size=STUDIES)
    found = np.full((n + 1, 2), np.nan)
    for k in np.unique(reached):  # all that counts
        item = Item("")
        share_item(item, np.arange(n) < k, border)
        found[k] = item.state == SHOWN, item.state == AGAINST
    return found[reached].T


def smooth(law, random, n, methods, queries, kept=0.97):
    """Curves (n, methods, queries) that wander slowly, as regret does, of mean 0 and variance about 1 at every query."""
    steps = noise(law, random, methods, queries, n)
    for t in range(1, queries):
        steps[:, t] = kept * steps[:, t - 1] + np.sqrt(1.0 - kept**2) * steps[:, t]
    return np.moveaxis(steps, -1, 0)


def shown_by_bands(curves, rank, level):
    """Share of the queries that a method leads for certain by bands for all methods and queries at once."""
    n, others = len(curves), curves.shape[1] - 1
    difference = (curves[:, 1:] - curves[:, :1]).reshape(n, -1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(n)
    deviation = np.sort(np.abs((bootstrap.weights(n) @ difference - mean) / spread).max(axis=1))
    reach = bootstrap._band(deviation, len(mean), n, 2.0 * level) * spread
    return (others - (mean >= reach).reshape(others, -1).sum(axis=0) < rank).mean()


KINDS = {f.__name__: f for f in (means, growth, lead, reach)}


class Calibration(common.Case):
    def rates(self, kind, law, n=UNITS):
        """{truth: (share of reproduced, share of not reproduced)}."""
        found = {}
        for number, (truth, shift) in enumerate(TRUTHS.items()):
            random = np.random.default_rng([sorted(KINDS).index(kind), LAWS.index(law), number, n])
            holds, fails = KINDS[kind](random, law, shift, n)
            found[truth] = np.mean(holds), np.mean(fails)
        return found

    def test_errors_and_power(self):
        table = [f"{'kind':<12} {'law':<13} {'n':>3}  true: yes/no   tie: yes/no   false: yes/no"]
        for kind in KINDS:
            for law in LAWS:
                for n in (10, UNITS, 50) if LONG else (UNITS,):
                    with self.subTest(kind=kind, law=law, n=n):
                        started = time.process_time()
                        found = self.rates(kind, law, n)
                        table.append(f"{kind:<12} {law:<13} {n:>3}  " + "   ".join(
                            f"{yes:.3f}/{no:.3f}" for yes, no in found.values()) + f"   {time.process_time() - started:.1f} s")
                        self.assertLessEqual(found["true"][1], bootstrap.STATED)
                        self.assertLessEqual(found["false"][0], bootstrap.STATED)
                        self.assertLessEqual(max(found["tie"]), bootstrap.STATED)
                        if n >= UNITS:
                            self.assertGreaterEqual(found["true"][0], 0.5, "power")
                            self.assertGreaterEqual(found["false"][1], 0.5, "power")
        if os.environ.get("REGATTA_CALIBRATION"):
            print("\n".join(table))

    def test_a_lead_over_part_of_the_queries_is_not_overstated(self):
        """A method leads at 24 of 40 queries. At the others as many rivals as it takes are better by next to nothing, all
        of them at once or in turns."""
        for law in LAWS:
            for rank, turns in ((1, False), (1, True), (2, False)):
                random, missed = np.random.default_rng([LAWS.index(law), rank, turns]), 0
                studies = STUDIES // 5
                for _ in range(studies):
                    curves = smooth(law, random, UNITS, 5, 40)
                    curves[:, 1:] += 2.0
                    late = np.arange(24, 40)
                    for j in range(rank):
                        curves[:, 1 + j + (late % 2 if turns else 0), late] -= 2.0 + 1e-9
                    low, high = bootstrap.lead_interval(curves, rank, bootstrap.LEVEL, DRAWS)
                    missed += low > 0.6 or high < 0.6
                self.assertLessEqual(missed / studies, 2.0 * bootstrap.LEVEL, (law, rank, turns))

    def test_a_lead_is_shown_where_bands_leave_it_open(self):
        """60 trials of five methods, the first of which leads by nearly a deviation of a trial: bands for all methods and
        queries show it in less than three quarters of the studies in which it is shown."""
        random, level, found = np.random.default_rng(3), bootstrap.LEVEL, []
        for _ in range(400 if LONG else 30):
            curves = smooth("normal", random, 60, 5, 40)
            curves[:, 0] -= 0.9
            low, high = bootstrap.lead_interval(curves, 1, level)
            found.append((low >= 0.9, shown_by_bands(curves, 1, level) >= 0.9))
            self.assertLessEqual(low, high)
        ours, bands = np.mean(found, axis=0)
        self.assertGreaterEqual(ours, 0.6)
        self.assertLess(bands, 0.75 * ours, f"{ours}, {bands}")

    def test_trials_that_share_instances_are_no_independent_ones(self):
        """The same studies decided trial by trial: wrong far more often than 5%."""
        random = np.random.default_rng(5)
        instance = random.normal(size=(STUDIES, 5, 1))
        trials = (instance + 0.3 * random.normal(size=(STUDIES, 5, SEEDS))).reshape(STUDIES, -1)
        self.assertGreater(np.mean(bootstrap.mean_interval(trials, bootstrap.STATED)[1] < 0.0), 0.15)
        means = trials.reshape(STUDIES, 5, SEEDS).mean(axis=-1)
        self.assertLessEqual(np.mean(bootstrap.mean_interval(means, bootstrap.STATED)[1] < 0.0), bootstrap.STATED)
