"""How often verdicts are wrong: simulated studies in which a claim is true, false, or a tie (true at the border
of what it says), 2,000 of each for every kind of check and three laws of the trials' values: normal, heavy-tailed
(lognormal), and clustered by instance. A verdict promises 5%, also one that was looked for after every doubling
of the trials. REGATTA_LONG=1: 20,000 studies of each, and experiments of 10 to 50 trials."""
import os
import time
import unittest

import common
import numpy as np
from regatta_analysis.claims import judge
from regatta_analysis.claims.items import share_item
from regatta_analysis.claims.outcome import Item
from regatta_analysis.stats.growth import exponents

LONG = os.environ.get("REGATTA_LONG") == "1"
STUDIES = 20000 if LONG else 2000
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


def linear(random, law, shift, n, *, level=5.0, factor=1.0):
    """p of mean(a) < factor mean(b), where mean(a) is the border moved by the shift."""
    a = factor * level + shift * GAP + noise(law, random, STUDIES, n)
    b = level + noise(law, random, STUDIES, n)
    return judge.mean_below(a - factor * b)


def better(random, law, shift, n):
    return linear(random, law, shift, n)


def not_above(random, law, shift, n):
    """`comparable`, one-sided, a `group` of one against one, and `drop`: a factor between two means."""
    return linear(random, law, shift, n, factor=1.5)


def comparable(random, law, shift, n):
    """Two-sided: true at equal means, a tie at the border, false beyond it."""
    factor, level = 1.5, 5.0
    ratio = {-1.0: 1.0, 0.0: factor, 1.0: factor + 0.4}[shift]
    a = ratio * level + noise(law, random, STUDIES, n)
    b = level + noise(law, random, STUDIES, n)
    upper, lower = judge.mean_below(a - factor * b), judge.mean_below(b - factor * a)
    return np.maximum(upper[0], lower[0]), np.minimum(2.0 * np.minimum(upper[1], lower[1]), 1.0)


def within(random, law, shift, n):
    return judge.mean_below(shift * GAP + noise(law, random, STUDIES, n))


def all_of_six(random, law, shift, n):
    """All of six comparisons: true ones, but for one that is at the border, or beyond it."""
    shifts = np.array([-1.0] * 5 + [shift])
    d = (noise(law, random, STUDIES, 6, n) - noise(law, random, STUDIES, 6, n)) + GAP * shifts[:, None]
    return judge.quantified(*judge.mean_below(d, DRAWS), "all")


def most_of_six(random, law, shift, n):
    """Most of six: four of them hold; three do and the others are at the border; two do."""
    shifts = np.array([-1.0, -1.0, -1.0, shift, 0.0, 0.0] if shift <= 0 else [-1.0, -1.0] + [1.0] * 4)
    shifts = np.array([-1.0] * 6) if shift < 0 else shifts
    d = (noise(law, random, STUDIES, 6, n) - noise(law, random, STUDIES, 6, n)) + GAP * shifts[:, None]
    return judge.quantified(*judge.mean_below(d, DRAWS), "most")


def group(random, law, shift, n):
    """The least of two means against the least of three, all of each at their level."""
    found = []
    who = [5.0 + shift * GAP + noise(law, random, STUDIES, n) for _ in range(2)]
    against = [5.0 + noise(law, random, STUDIES, n) for _ in range(3)]
    for a in who:
        found.append([judge.mean_below(a - b, DRAWS) for b in against])
    below = np.array([[p[0] for p in row] for row in found])
    above = np.array([[p[1] for p in row] for row in found])
    return (np.minimum(1.0, 2 * below.max(axis=1).min(axis=0)),
            np.minimum(1.0, 3 * above.max(axis=0).min(axis=0)))


def median(random, law, shift, n):
    d = shift * GAP + noise(law, random, STUDIES, n) - noise(law, random, STUDIES, n)
    counts = np.round(judge.weights(n, DRAWS) * n)
    drawn = np.stack([judge.centres(row[:, None], counts, "median")[:, 0] for row in d])
    return judge.inside(drawn, -np.inf, 0.0, n)


def growth(random, law, shift, n):
    """Exponents of curves with mean t^(0.7 + shift) against 0.7."""
    t = np.arange(5.0, 41.0, 3.0)
    wander = 1.0 + 0.2 * noise(law, random, STUDIES, n)[..., None] \
        + 0.2 * noise(law, random, STUDIES, n)[..., None] * np.log(t / 15.0)
    values = t**(0.7 + 0.1 * GAP * shift) * wander
    means = (judge.weights(n, DRAWS) @ values).reshape(-1, len(t))
    drawn = judge.inside(exponents(means, t).reshape(STUDIES, DRAWS), -np.inf, 0.7, n)
    without = exponents(judge.leave_one_out(values).reshape(-1, len(t)), t).reshape(STUDIES, n)
    pseudo = n * exponents(values.mean(axis=1), t)[:, None] - (n - 1) * without
    return np.maximum(drawn, judge.pseudo_inside(pseudo, -np.inf, 0.7))


def lead(random, law, shift, n):
    """The least mean of three methods over ten queries, the others equal."""
    holds, fails = np.empty((2, STUDIES))
    t = np.arange(10)
    for k in range(STUDIES):
        curves = 5.0 + 0.5 * noise(law, random, n * 3, 10).reshape(n, 3, 10)
        curves += noise(law, random, 3, n).T[..., None] * np.exp(-0.05 * t)
        curves[:, 0] += shift * GAP
        holds[k], fails[k] = judge.leads(curves, 1, 0.5, DRAWS)
    return holds, fails


def reach(random, law, shift, n):
    """Share of trials that reach a target by a query: 2^(-1/10) is the border for ten trials."""
    n, border = 5 * n, 0.5**0.1
    share = {-1.0: 0.997, 0.0: border, 1.0: 0.75}[shift]
    reached = random.binomial(n, share, size=STUDIES)
    found = np.full((n + 1, 2), np.nan)
    for k in np.unique(reached):  # all that counts
        item = Item("")
        share_item(item, np.arange(n) < k, border)
        found[k] = item.holds, item.fails
    return found[reached].T


KINDS = {f.__name__: f for f in (better, not_above, comparable, within, all_of_six, most_of_six, group, median,
                                 growth, lead, reach)}


class Looks(common.Case):
    """Trials are doubled until a check is decided."""
    studies = STUDIES if LONG else 1000
    looks = 6 if LONG else 4

    def decided(self, law, shift, items, n=10):
        """(share of reproduced, of not reproduced, mean trials) of studies: are all means below 0? The last of the
        items is at the shift, the others well below."""
        random = np.random.default_rng([LAWS.index(law), round(10 * shift) + 100, items])
        d = noise(law, random, self.studies, items, n * 2**(self.looks - 1))
        d += shift - np.arange(items)[::-1, None]
        trials, answer = np.full(self.studies, d.shape[-1]), np.zeros(self.studies)
        holds = fails = np.ones(d.shape[:2])
        for look in range(1, self.looks + 1):
            some = d[..., :n * 2**(look - 1)]
            below, above = judge.mean_below(some, DRAWS)
            holds, fails = judge.spent(below, look, holds), judge.spent(above, look, fails)
            yes, no = judge.quantified(holds, fails, "all")
            now = np.where(yes <= judge.LEVEL, 1, np.where(no <= judge.LEVEL, -1, 0)) * (answer == 0)
            answer, trials = answer + now, np.where(now != 0, some.shape[-1], trials)
        return (answer == 1).mean(), (answer == -1).mean(), trials.mean()

    def test_looking_again_keeps_what_is_promised(self):
        table = ["law, items: reproduced, not reproduced, trials of a true claim; a tie; a false claim"]
        for law, items in ((LAWS[0], 1), (LAWS[1], 1), (LAWS[1], 2), (LAWS[2], 1)):
            with self.subTest(law=law, items=items):
                true, tie, false = (self.decided(law, shift, items) for shift in (-0.7, 0.0, 0.7))
                table.append(f"{law:<13} {items}: {true} {tie} {false}")
                self.assertLessEqual(max(true[1], *tie[:2], false[0]), judge.STATED)
                self.assertGreaterEqual(min(true[0], false[1]), 0.8, "power")
                self.assertLessEqual(max(true[2], false[2]), 60, "what is clear takes few trials")
        if os.environ.get("REGATTA_CALIBRATION"):
            print("\n".join(table))

    def test_what_was_shown_stays_shown(self):
        self.assertEqual(judge.spent(0.02, 2, 0.004), 0.004)
        self.assertAlmostEqual(float(judge.spent(0.0002, 3)), 0.02)
        self.assertLess(sum(judge.level(look) for look in range(1, 50)), 1.12 * judge.LEVEL)


class Calibration(common.Case):
    def rates(self, kind, law, n=UNITS):
        """{truth: (share of reproduced, share of not reproduced)}."""
        found = {}
        for number, (truth, shift) in enumerate(TRUTHS.items()):
            random = np.random.default_rng([sorted(KINDS).index(kind), LAWS.index(law), number, n])
            holds, fails = KINDS[kind](random, law, shift, n)
            yes = np.asarray(holds) <= judge.LEVEL
            found[truth] = (yes.mean(), (~yes & (np.asarray(fails) <= judge.LEVEL)).mean())
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
                        self.assertLessEqual(found["true"][1], judge.STATED)
                        self.assertLessEqual(found["false"][0], judge.STATED)
                        self.assertLessEqual(max(found["tie"]), judge.STATED)
                        if n >= UNITS:
                            self.assertGreaterEqual(found["true"][0], 0.5, "power")
                            self.assertGreaterEqual(found["false"][1], 0.5, "power")
        if os.environ.get("REGATTA_CALIBRATION"):
            print("\n".join(table))

    def test_trials_that_share_instances_are_no_independent_ones(self):
        """The same studies judged trial by trial: wrong far more often than 5%."""
        random = np.random.default_rng(5)
        instance = random.normal(size=(STUDIES, 5, 1))
        trials = (instance + 0.3 * random.normal(size=(STUDIES, 5, SEEDS))).reshape(STUDIES, -1)
        self.assertGreater(np.mean(judge.mean_below(trials)[0] <= judge.STATED), 0.15)
        means = trials.reshape(STUDIES, 5, SEEDS).mean(axis=-1)
        self.assertLessEqual(np.mean(judge.mean_below(means)[0] <= judge.LEVEL), judge.STATED)

    def test_ties_are_found_and_only_ties(self):
        """Equal means are a tie; means that differ by the margin are none, also where the second, of which it is a
        share, varies much more than the difference."""
        random = np.random.default_rng(6)
        for gap, low, high in ((0.0, 0.9, 1.0), (judge.TIE, 0.0, judge.STATED)):
            for level, common_, own in ((1.0, 0.0, 0.07), (1.0, 0.3, 0.02), (-1.0, 0.3, 0.02)):
                b = level + common_ * random.normal(size=(STUDIES, 30)) + own * random.normal(size=(STUDIES, 30))
                a = b + gap + own * random.normal(size=(STUDIES, 30))
                self.assertTrue(low <= np.mean(judge.tied(a, b) <= judge.LEVEL) <= high)


if __name__ == "__main__":
    unittest.main()
