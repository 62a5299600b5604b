"""Error rates and coverage in simulated studies: the tables of docs/statistics.md. Prints them as Markdown;
test_guarantees.py checks a small version. Deterministic.

    PYTHONPATH=analysis python3 tests/analysis/calibration_table.py
"""
import functools
import sys
import zlib

import numpy as np
from regatta_analysis.claims import bootstrap
from regatta_analysis.claims.grades import OPEN
from regatta_analysis.claims.outcome import Item, Outcome, decide_together
from regatta_analysis.stats import evidence, statistics

STUDIES, SIZES, LOOKS = 1000, (10, 20, 40), 6
FIRST = SIZES[0]  # Units at the first look; each look has twice as many as the one before.


def lognormal(sigma):
    return lambda random, shape: random.lognormal(0.0, sigma, shape)


def stuck(share):
    """Trials end near 0.01, but for a share of them that end near 1."""
    def draw(random, shape):
        good, bad = 0.01 * random.lognormal(0.0, 0.7, shape), random.lognormal(0.0, 0.3, shape)
        return np.where(random.random(shape) < share, bad, good)
    return draw


def exhausted(random, shape):
    """Half of the trials find the best design of a pool, so that regret is exactly 0."""
    return np.where(random.random(shape) < 0.5, 0.0, random.lognormal(0.0, 1.0, shape))


def infeasible(random, shape):
    """A tenth of the trials find no feasible design."""
    return np.where(random.random(shape) < 0.1, np.inf, random.lognormal(0.0, 1.0, shape))


LAWS = {
    "normal": lambda random, shape: np.maximum(5.0 + random.normal(size=shape), 0.01),
    "lognormal, sigma 1": lognormal(1.0),
    "lognormal, sigma 1.5": lognormal(1.5),
    "5% stuck": stuck(0.05),
    "10% stuck": stuck(0.10),
    "20% stuck": stuck(0.20),
    "half at 0 (ties)": exhausted,
    "10% infinite": infeasible,
}
ONE_SIDED = "20% stuck, only one method"
CLUSTERS = "lognormal, 4 trials an instance"
PAIRS = (*LAWS, ONE_SIDED, CLUSTERS)
MEANS = tuple(LAWS)[:6]  # the laws that have a mean
PAGE_PAIRS = ("normal", "lognormal, sigma 1", "20% stuck", "half at 0 (ties)", ONE_SIDED, CLUSTERS)  # rows of the page
PAGE_MEANS, PAGE_SIZES = ("normal", "lognormal, sigma 1", "5% stuck", "10% stuck"), (SIZES[0], SIZES[-1])
FAMILY, FAMILY_STUDIES = 24, 400  # comparisons of a claim
RIVALS = ", one method and its rivals"  # ends a law of a family whose comparisons have the first method in common
FAMILIES = ("lognormal, sigma 1", f"lognormal, sigma 1{RIVALS}", "20% stuck", "half at 0 (ties)")


def seeded(*key):
    return np.random.default_rng([zlib.crc32(str(k).encode()) for k in key])


def pairs(law, random, n):
    """(a, b, groups) of a study of n units."""
    if law == CLUSTERS:
        share = [np.repeat(random.normal(size=n), 4) for _ in range(2)]
        a, b = (np.exp(s + 0.5 * random.normal(size=4 * n)) for s in share)
        return a, b, np.repeat(np.arange(n), 4)
    if law == ONE_SIDED:
        return stuck(0.20)(random, n), stuck(0.0)(random, n), None
    return LAWS[law](random, n), LAWS[law](random, n), None


@functools.lru_cache(maxsize=None)
def typical(law):
    """The median log ratio that the interval should contain: 0 for two methods with the same law."""
    if law != ONE_SIDED:
        return 0.0
    a, b, _ = pairs(law, seeded("truth"), 400_001)
    return float(np.median(evidence.contrasts(a, b, "ratio")))


def item(a, b, kind=evidence.Evidence):
    """The comparison of a claim: a is smaller than b."""
    found = Item("", "a", "b", n=len(a), units=len(a), most=1.0)
    found.decide_by(kind(**vars(evidence.compare(a, b))), lambda one: one.verdict)
    return found


def refuted(units, truth):
    """Whether the interval of these contrasts misses the truth."""
    found = evidence.Evidence(len(units), "ratio", "median", 1.0, units, tuple(range(len(units))), 0.1, evidence.LEVEL, 0, 0,
                              False)
    return found.against(float(np.exp(truth))) != evidence.OPEN


class Bare(evidence.Evidence):
    """An Evidence without intervals, which take most of the time, and agree with its verdict."""
    low = high = better_low = better_high = np.nan

    @property
    def verdict(self):
        """The same verdict, by fewer tests where nothing is shown."""
        if self.p_above(self.rope[0]) <= self.level / 2.0:
            return super().verdict
        return {"below": evidence.BETTER, "above": evidence.WORSE}.get(self.against(self.neutral), OPEN)

    def _p(self, contrasts, border):
        return _remembered_p(super()._p, contrasts[0].tobytes(), border)


def _remembered_p(compute, units, border):
    """p, which is the same for every level."""
    if (units, border) not in _KNOWN:
        _KNOWN[units, border] = compute([np.frombuffer(units)], border)
    return _KNOWN[units, border]


_KNOWN = {}


def family(law, size=FAMILY, studies=FAMILY_STUDIES, sizes=SIZES, looks=4):
    """Shares of studies without any difference in which a claim on `size` comparisons says anything (a comparison is not
    open, or the grade is not undecided): at each of the sizes, and at any of the looks; last, the share in which
    one of its comparisons, each decided at 5 % by itself, is not open at any of the looks."""
    random, found = seeded("family", law, size), np.zeros((studies, len(sizes) + 2), bool)
    at = [FIRST * 2**k for k in range(looks)]
    plain = law.removesuffix(RIVALS)
    for study in range(studies):
        _KNOWN.clear()
        drawn = [pairs(plain, random, max(*sizes, at[-1]))[:2] for _ in range(size)]
        drawn = [(drawn[0][0], b) for _, b in drawn] if law != plain else drawn
        for n in sorted({*sizes, *at}):
            items = [item(a[:n], b[:n], kind=Bare) for a, b in drawn]
            alone = any(one.state != OPEN for one in items)
            outcome = Outcome("", "", items, "every", True)
            decide_together(items)
            said = any(one.state != OPEN for one in items) or outcome.grade != "undecided"
            found[study] |= [*(said and n == one for one in sizes), said and n in at, alone and n in at]
    return found.mean(axis=0)


def grouped(a, b, groups):
    units = evidence.contrasts(a, b, "ratio")
    return units if groups is None else evidence._by_group(units, groups, None)[0]


def misses(law, studies=STUDIES, sizes=SIZES, looks=LOOKS):
    """Share of studies whose interval misses the typical ratio: at each of the sizes, and at any of the looks."""
    random, truth = seeded("misses", law), typical(law)
    found = np.zeros((studies, len(sizes) + 1), bool)
    at = [FIRST * 2**k for k in range(looks)]
    for study in range(studies):
        units = grouped(*pairs(law, random, max(*sizes, at[-1])))
        missed = {n: refuted(units[:n], truth) for n in {*sizes, *at}}
        found[study] = [*(missed[n] for n in sizes), any(missed[n] for n in at)]
    return found.mean(axis=0)


def power(law, factor=0.25, studies=STUDIES, sizes=SIZES):
    """Share of studies that find the better method, which is better by the factor."""
    random = seeded("power", law)
    found = np.zeros((studies, len(sizes)), bool)
    for study in range(studies):
        a, b, groups = pairs(law, random, max(sizes))
        units = grouped(factor * a, b, groups)
        found[study] = [refuted(units[:n], 0.0) and np.median(units[:n]) < 0.0 for n in sizes]
    return found.mean(axis=0)


def mean_errors(law, studies=STUDIES, sizes=SIZES, looks=4):
    """Share of studies in which the test of means calls "the mean is below the border" true, the border being the
    mean itself: at each of the sizes, and at any of the looks, of which each has a tenth of the level of the last."""
    random, truth = seeded("means", law), mean_of(law)
    at = [FIRST * 2**k for k in range(looks)]
    d = LAWS[law](random, (studies, max(*sizes, at[-1]))) - truth

    def below(n, level):
        return bootstrap.mean_interval(d[:, :n], level, 400)[1] <= 0.0
    looked = np.any([below(n, bootstrap.LEVEL / 10.0**k) for k, n in enumerate(at)], axis=0)
    return [np.mean(x) for x in (*(below(n, bootstrap.LEVEL) for n in sizes), looked)]


@functools.lru_cache(maxsize=None)
def mean_of(law):
    return float(LAWS[law](seeded("truth"), 4_000_000).mean())


@functools.lru_cache(maxsize=None)
def median_of(law):
    return float(np.median(LAWS[law](seeded("truth"), 4_000_001)))


def coverage(law, n, studies=STUDIES):
    """Shares of studies of n trials in which the 95% interval contains what it is for: of the mean by the standard
    error times 1.96, by the percentile bootstrap, by the studentised bootstrap; of the median by order statistics,
    and by the sequence that holds at any number of trials."""
    values = LAWS[law](seeded("coverage", law, n), (studies, n))
    with np.errstate(invalid="ignore"):
        mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)
    w = bootstrap.weights(n, 1000)
    drawn = values @ w.T
    ends = [(mean - 1.96 * spread, mean + 1.96 * spread), np.quantile(drawn, [0.025, 0.975], axis=1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (drawn - mean[:, None]) / np.sqrt(np.maximum((values**2) @ w.T - drawn**2, 0.0) / (n - 1))
    least, most = np.quantile(np.nan_to_num(t, posinf=1e9, neginf=-1e9), [0.025, 0.975], axis=1)
    ends.append((mean - most * spread, mean - least * spread))
    low, high = statistics.median_interval(values.T)
    return [*(np.mean((a <= mean_of(law)) & (mean_of(law) <= b)) for a, b in ends),
            np.mean((low <= median_of(law)) & (median_of(law) <= high))]


def table(header, rows):
    return "\n".join([f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(
        f"| {' | '.join([name, *(f'{v:.3f}' for v in values)])} |" for name, values in rows)])


def main():
    sizes = [f"n = {n}" for n in SIZES]
    print("Comparisons: the interval misses the typical ratio\n")
    print(table(["values of a trial", *sizes, f"any of {LOOKS} looks"], [(law, misses(law)) for law in PAGE_PAIRS]), flush=True)
    print("\nComparisons: a method that is better by a factor of 4 is shown to be better\n")
    print(table(["values of a trial", *sizes], [(law, power(law)) for law in PAGE_PAIRS if law != ONE_SIDED]))
    print(f"\nClaims of {FAMILY} comparisons without a difference: anything is said\n")
    print(table(["values of a trial", *sizes, "any of 4 looks", "each at 5%, any of 4 looks"],
                [(law, family(law)) for law in FAMILIES]), flush=True)
    print("\nTest of means at 1%: a statement that is not true is called true\n")
    print(table(["values of a trial", *sizes, "any of 4 looks"], [(law, mean_errors(law)) for law in PAGE_MEANS]))
    print("\nCoverage of 95% intervals\n")
    print(table(["values of a trial", "n", "mean ± 1.96 standard errors", "mean, percentile bootstrap",
                 "mean, studentised bootstrap", "median, order statistics"],
                [(f"{law} | {n}", coverage(law, n)) for law in PAGE_MEANS for n in PAGE_SIZES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
