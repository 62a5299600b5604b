"""Tests of the kinds of checks that compare no pairs of trials: exponents, trends, who leads.

Each side is tested at 1 %. Few trials of a skewed law show little of its tail; therefore a p value is the larger one
of Student's and of the studentised bootstrap (Efron and Tibshirani 1993, 12.5), and n units never show less than
2^-n. tests/analysis/test_calibration.py measures the errors. These tests are for a fixed number of trials.

Everything takes many samples at once (the leading axes). A unit is a trial, or an instance where several trials share
one.
"""
import functools

import numpy as np
from scipy import special

LEVEL, STATED, MIN_UNITS, DRAWS = 0.01, 0.05, 5, 2000


@functools.lru_cache(maxsize=32)
def weights(n, draws=DRAWS, seed=0):
    """The share of each of n units in each of the resamples: draws x n."""
    return np.random.default_rng([seed, n]).multinomial(n, np.full(n, 1.0 / n), size=draws) / n


def mean_below(d, draws=DRAWS):
    """(p that the mean of d (..., n) is below 0, p that it is above). If a few values are far from the others (stuck
    trials), p is too small: docs/statistics.md has the errors."""
    d = np.asarray(d, float)
    n = d.shape[-1]
    least = 0.5**n
    if n < 2:
        return np.ones(d.shape[:-1]), np.ones(d.shape[:-1])
    mean, spread = d.mean(axis=-1), d.std(axis=-1, ddof=1) / np.sqrt(n)
    constant = spread <= 1e-14 * np.maximum(np.abs(mean), 1e-300)
    t = np.divide(mean, spread, out=np.zeros_like(mean), where=~constant)
    below, above = _tails(_studentised(d, draws), t, n)
    below = np.where(constant, np.where(mean < 0, least, 1.0), below)
    above = np.where(constant, np.where(mean > 0, least, 1.0), above)
    return np.maximum(below, least), np.maximum(above, least)


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


def _tails(drawn, t, n, few=5):
    """(p of a t as small as this one, p of one as large); `drawn` is reordered."""
    below = np.count_nonzero(drawn <= t[..., None], axis=-1)
    above = np.count_nonzero(drawn >= t[..., None], axis=-1)
    draws = drawn.shape[-1]
    drawn.partition((few, draws - 1 - few), axis=-1)
    return (_tail(t, below, drawn[..., few], draws, n, few),
            _tail(-t, above, -drawn[..., draws - 1 - few], draws, n, few))


def _tail(t, count, last, draws, n, few):
    """p of a t as small as this one: the larger one of Student's and of the bootstrap's, `count` of whose draws are
    as small; where it is no more than a few, carried on with Student's tail from the `last`, the one after a few."""
    student = special.stdtr(n - 1, t)
    with np.errstate(divide="ignore", over="ignore"):
        heavier = (few + 1) / (draws + 1) / np.maximum(special.stdtr(n - 1, last), 1e-300)
    far = np.minimum(student * np.maximum(heavier, 1.0), (few + 1) / (draws + 1))
    return np.maximum(student, np.where(count > few, (count + 1) / (draws + 1), far))


def expanded(share, n):
    """A share of bootstrap draws as a p value for n units: the percentile bootstrap's intervals are too
    short by sqrt((n - 1)/n) and by Student's against the normal quantile (Hesterberg 2015, 4.3)."""
    return special.stdtr(max(n - 1, 1), special.ndtri(share) * np.sqrt((n - 1.0) / n))


def inside(drawn, least, most, n):
    """(p that the statistic lies in [least, most], p that it lies outside) by its bootstrap draws (...,
    draws) from n units; draws that are NaN speak against both."""
    drawn = np.asarray(drawn, float)
    limits = [(sign, limit) for sign, limit in ((1.0, least), (-1.0, most)) if np.isfinite(limit)]
    if not limits:
        return np.ones(drawn.shape[:-1]), np.ones(drawn.shape[:-1])
    sides = [_beyond(sign * drawn, sign * limit) for sign, limit in limits]
    against = [_beyond(-sign * drawn, -sign * limit) for sign, limit in limits]
    holds = expanded(np.clip(np.max(sides, axis=0), 0.0, 1.0), n)
    fails = expanded(np.clip(np.min(against, axis=0) * len(against), 0.0, 1.0), n)
    return np.maximum(holds, 0.5**n), np.maximum(fails, 0.5**n)


def pseudo_inside(pseudo, least, most):
    """As `inside`, by the jackknife's pseudo-values (..., n) of a smooth statistic. The test is of their mean, and
    accounts for their skewness."""
    limits = [(sign, limit) for sign, limit in ((-1.0, least), (1.0, most)) if np.isfinite(limit)]
    found = [mean_below(sign * (np.nan_to_num(pseudo) - limit)) for sign, limit in limits]
    unknown = np.isnan(pseudo).any(axis=-1)
    holds = np.max([f[0] for f in found], axis=0)
    fails = np.minimum(1.0, len(found) * np.min([f[1] for f in found], axis=0))
    return np.where(unknown, 1.0, holds), np.where(unknown, 1.0, fails)


def leave_one_out(units):
    """Means of the n rows of `units` (..., n, columns), each time with one row left out."""
    n = units.shape[-2]
    return (units.sum(axis=-2, keepdims=True) - units) / (n - 1.0)


def _beyond(drawn, limit, few=5):
    """Share of the draws at or below the limit, NaN included. If there are only a few, the normal tail of their mean
    and deviation extends it."""
    draws = drawn.shape[-1]
    share = (np.sum(drawn <= limit, axis=-1) + np.isnan(drawn).sum(axis=-1) + 1) / (draws + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = special.ndtr((limit - drawn.mean(axis=-1)) / drawn.std(axis=-1))
    rare = (share <= (few + 1) / (draws + 1)) & np.isfinite(far)
    return np.where(rare, np.minimum(far, (few + 1) / (draws + 1)), share)


def drawn_interval(drawn, n, at=LEVEL):
    """(low, high) of `inside`: quantiles of the draws at the level that `expanded` undoes."""
    share = special.ndtr(special.stdtrit(max(n - 1, 1), at) * np.sqrt(n / max(n - 1.0, 1.0)))
    return np.nanquantile(drawn, [share, 1.0 - share], axis=-1, method="nearest")


# ---- who leads ---------------------------------------------------------------------------------


def lead_share(means, rank):
    """Share of the queries in which fewer than `rank` others are below the first: means (..., methods,
    queries), the first method's first."""
    mine, others = means[..., :1, :], means[..., 1:, :]
    tolerance = 1e-12 * np.maximum(np.abs(mine), 1e-300)
    return (np.sum(others < mine - tolerance, axis=-2) < rank).mean(axis=-1)


def leads(curves, rank, share, draws=DRAWS):
    """(p that the first method is among the `rank` best by mean in at least `share` of the queries, p that
    it is not) from curves (units, methods, queries). The first is the bootstrap's share of leads. The second
    asks that enough others are below at enough queries by bands that hold for all of them at once (the
    largest studentised deviation of the bootstrap), since the best of many tied ones always looks better."""
    curves = np.asarray(curves, float)
    n, w = len(curves), weights(len(curves), draws)
    flat = curves.reshape(n, -1)
    drawn = (w @ flat).reshape((draws,) + curves.shape[1:])
    holds, _ = inside(lead_share(drawn, rank), share, np.inf, n)
    difference = (curves[:, 1:] - curves[:, :1]).reshape(n, -1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(n)
    moved = w @ difference - mean
    some = spread > 0
    deviation = np.max(np.abs(moved[:, some] / spread[some]), axis=1) if some.any() else np.zeros(draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(some, mean / spread, np.where(mean == 0, 0.0, np.sign(mean) * np.inf))
    z = z.reshape(curves.shape[1] - 1, curves.shape[2])
    least = np.sort(-z, axis=0)[-rank] if rank <= len(z) else np.full(z.shape[1], -np.inf)
    need = int(np.floor(z.shape[1] * (1.0 - share))) + 1  # queries without the lead that contradict the claim
    reached = np.sort(least)[-need] if need <= z.shape[1] else -np.inf
    fails = _beyond_bands(deviation, reached, z.size, n) if reached > 0 else 1.0
    return float(holds), float(max(fails, 0.5**n))


def _beyond_bands(deviation, reached, k, n, few=5):
    """p that the largest of k studentised deviations is at least this large, by its draws. If only a few draws are,
    Bonferroni's bound by Student's tail extends it."""
    count, draws = np.sum(deviation >= reached), len(deviation)
    if count > few:
        return expanded((count + 1) / (draws + 1), n)
    return min(expanded((few + 1) / (draws + 1), n), k * special.stdtr(n - 1, -reached))
