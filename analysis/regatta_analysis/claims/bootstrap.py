"""Intervals of the kinds of checks that compare no pairs of trials: exponents, trends, who leads.

An interval misses what it estimates with probability `level` at most on each side, and a check is decided by the
interval that is printed. Few trials of a skewed law show little of its tail; therefore an end is the farther one of
Student's and of the studentised bootstrap's (Efron and Tibshirani 1993, 12.5), and n units show nothing at a level
below 2^-n. tests/analysis/test_calibration.py measures the errors. These intervals are for a fixed number of trials.

Everything takes many samples at once (the leading axes). A unit is a trial, or an instance where several trials share
one.
"""
import functools

import numpy as np
from scipy import special

LEVEL, STATED, MIN_UNITS, DRAWS = 0.01, 0.05, 5, 2000
SPARE = 0.25  # the share of the queries that a method does not lead which the lower end of `lead_interval` may miss


@functools.lru_cache(maxsize=32)
def weights(n, draws=DRAWS, seed=0):
    """The share of each of n units in each of the resamples: draws x n."""
    return np.random.default_rng([seed, n]).multinomial(n, np.full(n, 1.0 / n), size=draws) / n


def mean_interval(d, level, draws=DRAWS):
    """(low, high) of the mean of d (..., n). If a few values are far from the others (stuck trials), it is too short:
    docs/statistics.md has the errors."""
    d = np.asarray(d, float)
    n = d.shape[-1]
    if 0.5**n > level:
        return np.full(d.shape[:-1], -np.inf), np.full(d.shape[:-1], np.inf)
    mean, spread = d.mean(axis=-1), d.std(axis=-1, ddof=1) / np.sqrt(n)
    spread = np.where(spread <= 1e-14 * np.maximum(np.abs(mean), 1e-300), 0.0, spread)
    drawn = np.sort(_studentised(d, draws), axis=-1)
    below, above = (np.multiply(_critical(t, n, level), spread, out=np.zeros_like(mean), where=spread > 0.0)
                    for t in (-drawn[..., ::-1], drawn))
    return mean + below, mean - above


def _studentised(d, draws):
    """The bootstrap's t of means of d. Works in place, because allocating the large arrays takes longer than
    computing."""
    n = d.shape[-1]
    w = weights(n, draws)
    centred = d - d.mean(axis=-1, keepdims=True)
    mean = centred @ w.T
    variance = (centred**2) @ w.T
    variance -= mean**2
    np.maximum(variance, 0.0, out=variance)
    variance /= n - 1
    np.sqrt(variance, out=variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(mean, variance, out=mean, where=mean != 0.0)


def _critical(drawn, n, level, few=5):
    """The t (below 0) that is rarely smaller than by Student's law and by the bootstrap's `drawn` (..., draws), sorted.
    Where no more than a few draws are that small, Student's tail is carried on from the one after them."""
    student, draws = special.stdtrit(n - 1, level), drawn.shape[-1]
    k = int(np.floor(level * (draws + 1) - 1.0 + 1e-9))
    if k > few:
        return np.minimum(student, drawn[..., k])
    with np.errstate(divide="ignore", over="ignore"):
        heavier = (few + 1) / (draws + 1) / np.maximum(special.stdtr(n - 1, drawn[..., few]), 1e-300)
    return np.minimum(special.stdtrit(n - 1, level / np.maximum(heavier, 1.0)), drawn[..., few])


def leave_one_out(units):
    """Means of the n rows of `units` (..., n, columns), each time with one row left out."""
    n = units.shape[-2]
    return (units.sum(axis=-2, keepdims=True) - units) / (n - 1.0)


def _share(level, n):
    """The share of bootstrap draws beyond an end of an interval at a level, for n units: intervals of the percentile
    bootstrap are too short by sqrt((n - 1)/n) and by Student's against the normal quantile (Hesterberg 2015, 4.3)."""
    return special.ndtr(special.stdtrit(max(n - 1, 1), level) * np.sqrt(n / max(n - 1.0, 1.0)))


def drawn_interval(drawn, n, level, few=5):
    """(low, high) of a statistic by its bootstrap draws (..., draws) from n units: quantiles, and where only a few draws
    are beyond also the normal law of their mean and deviation. Draws that are NaN lie beyond both ends."""
    drawn = np.asarray(drawn, float)
    if 0.5**n > level:
        return np.full(drawn.shape[:-1], -np.inf), np.full(drawn.shape[:-1], np.inf)
    share, found = _share(level, n), []
    for sign in (1.0, -1.0):
        own = np.where(np.isnan(drawn), -np.inf, sign * drawn)
        end = np.quantile(own, share, axis=-1, method="nearest")
        if share * (drawn.shape[-1] + 1) <= few + 1:
            end = np.minimum(end, own.mean(axis=-1) + special.ndtri(share) * own.std(axis=-1))
        found.append(sign * end)
    return tuple(found)


# ---- who leads ---------------------------------------------------------------------------------


def lead_share(means, rank):
    """Share of the queries in which fewer than `rank` others are below the first: means (..., methods,
    queries), the first method's first."""
    mine, others = means[..., :1, :], means[..., 1:, :]
    tolerance = 1e-12 * np.maximum(np.abs(mine), 1e-300)
    return (np.sum(others < mine - tolerance, axis=-2) < rank).mean(axis=-1)


def lead_interval(curves, rank, level, draws=DRAWS):
    """(low, high) of the share of the queries in which the first method is among the `rank` best by mean, from curves
    (units, methods, queries). Each end errs with probability `level` at most."""
    curves = np.asarray(curves, float)
    if 0.5**len(curves) > level:
        return 0.0, 1.0
    high = _most_led(curves, rank, level, draws)
    return min(_least_led(curves, rank, level, draws), high), high


def _least_led(curves, rank, level, draws):
    """The lower end: the queries in which all others but rank - 1 are above, each by the interval of its own difference.
    Since all of them have to be, none is chosen, and the intervals need no correction for their number but `rank`
    (Berger 1982). At a query that the method does not lead this errs with probability SPARE level at most. So with
    probability 1 - level it is wrong in less than the share SPARE of these queries (Markov, whatever their dependence),
    and the end allows for these."""
    n_others = curves.shape[1] - 1
    above = [mean_interval((curves[:, j] - curves[:, 0]).T, SPARE * level / rank, draws)[0] >= 0.0
             for j in range(1, n_others + 1)]
    counted = (n_others - np.sum(above, axis=0) < rank).mean()
    return float(max((counted - SPARE) / (1.0 - SPARE), 0.0))


def _most_led(curves, rank, level, draws):
    """The upper end: the queries in which not as many as `rank` others are below. Any of the others may be, and the best
    of many tied ones always looks better; so this takes bands for the differences of all methods at all queries at once
    (the largest studentised deviation of the bootstrap)."""
    n = len(curves)
    difference = (curves[:, 1:] - curves[:, :1]).reshape(n, -1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(n)
    moved = weights(n, draws) @ difference - mean
    some = spread > 1e-14 * np.maximum(np.abs(mean), 1e-300)
    deviation = np.max(np.abs(moved[:, some] / spread[some]), axis=1) if some.any() else np.zeros(draws)
    reach = _band(np.sort(deviation), len(mean), n, 2.0 * level) * np.where(some, spread, 0.0)
    below = (mean + reach < 0).reshape(curves.shape[1] - 1, curves.shape[2])
    return float((below.sum(axis=0) < rank).mean())


def _band(deviation, k, n, level, few=5):
    """The half width, in standard errors, of bands for k differences at once, by the draws of their largest studentised
    deviation, sorted. If only a few draws are larger, Bonferroni's bound by Student's tail may take it farther."""
    larger = int(np.floor(_share(level, n) * (len(deviation) + 1) - 1.0))  # draws that may be larger
    if larger > few:
        return deviation[-1 - larger]
    return max(deviation[-1 - few], -special.stdtrit(n - 1, level / max(k, 1)))
