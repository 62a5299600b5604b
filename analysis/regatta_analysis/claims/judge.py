"""How a statement about means is decided: p values of the statement and of its opposite, what several of
them say together, and how likely an experiment of the paper's size shows it.

A statement is first brought into the form "the mean of d is below 0", d one number per independent unit: a
trial, or an instance where several trials share one. A ratio of means of at most F is mean(a - F b) <= 0,
whatever zeros there are. Everything takes many samples at once (the leading axes).

Each side is tested at 1%. Few trials of a skewed law show little of its tail, so that a nominal 2.5% is up
to 10% in truth; at 1% the error stays below the 5% that verdicts promise (tests/analysis/test_calibration.py
measures it). For the same reason a p value is the larger one of Student's and of the studentised bootstrap
(Efron and Tibshirani 1993, 12.5), and n units never show less than 2^-n.

Who looks again after more trials tests again. Each look has a tenth of the level of the one before: 1%, 0.1%, ...,
10/9 of 1% in all, however often one looks and whatever the looks have in common (the union bound over a fixed
spending of the level, Lan and DeMets 1983; stages.py says when a look is a new one).
"""
import functools

import numpy as np
from scipy import special

LEVEL, STATED, MIN_UNITS, DRAWS = 0.01, 0.05, 5, 2000
SPEND = 10.0  # how many times smaller the level of a look is than that of the one before
TIE = 0.1  # means that differ by less, as a share of the second, are called equal


def level(look):
    """The level of a look, counted from 1."""
    return LEVEL / SPEND**(look - 1)


def spent(p, look, before=1.0):
    """p of a look as one that is held against LEVEL; the least of it and of those `before` stays."""
    return np.minimum(before, np.asarray(p) * SPEND**(look - 1))


@functools.lru_cache(maxsize=32)
def weights(n, draws=DRAWS, seed=0):
    """How often each of n units stands in each of the resamples, divided by n: draws x n."""
    return np.random.default_rng([seed, n]).multinomial(n, np.full(n, 1.0 / n), size=draws) / n


def mean_below(d, draws=DRAWS):
    """(p that the mean of d (..., n) is below 0, p that it is above)."""
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


def tied(a, b):
    """p that the means of a and b (..., n) differ by less than TIE times that of b."""
    margin = TIE * np.sign(b.mean(axis=-1, keepdims=True)) * b
    return np.maximum(mean_below(a - b - margin)[0], mean_below(b - a - margin)[0])


def _studentised(d, draws):
    """The bootstrap's t of means of d. In place: what is large here takes longer to allocate than to compute."""
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


def mean_interval(d, at=LEVEL):
    """The interval that decides `at` a level: Student's at twice of it, (low, high) over the last axis."""
    d = np.asarray(d, float)
    n = d.shape[-1]
    if n < 2:
        return np.full(d.shape[:-1], np.nan), np.full(d.shape[:-1], np.nan)
    reach = special.stdtrit(n - 1, 1.0 - at) * d.std(axis=-1, ddof=1) / np.sqrt(n)
    return d.mean(axis=-1) - reach, d.mean(axis=-1) + reach


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
    """As `inside`, by the jackknife's pseudo-values (..., n) of a smooth statistic: their mean is tested, which
    minds their skewness."""
    limits = [(sign, limit) for sign, limit in ((-1.0, least), (1.0, most)) if np.isfinite(limit)]
    found = [mean_below(sign * (np.nan_to_num(pseudo) - limit)) for sign, limit in limits]
    unknown = np.isnan(pseudo).any(axis=-1)
    holds = np.max([f[0] for f in found], axis=0)
    fails = np.minimum(1.0, len(found) * np.min([f[1] for f in found], axis=0))
    return np.where(unknown, 1.0, holds), np.where(unknown, 1.0, fails)


def leave_one_out(units):
    """Means of the rows of `units` (..., n, columns) without each of them."""
    n = units.shape[-2]
    return (units.sum(axis=-2, keepdims=True) - units) / (n - 1.0)


def _beyond(drawn, limit, few=5):
    """Share of the draws at or below the limit, NaN among them; carried on with the normal tail of their mean
    and deviation where there are only a few."""
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


def at_least(p, m):
    """p that at least m of the k statements of the last axis are true, whatever their dependence:
    Bonferroni's partial conjunction (Benjamini and Heller 2008)."""
    p = np.sort(np.asarray(p, float), axis=-1)
    k = p.shape[-1]
    return np.minimum((k - m + 1) * p[..., m - 1], 1.0) if 1 <= m <= k else np.ones(p.shape[:-1])


def wanted(k, quantifier):
    """How many of k the quantifier asks for."""
    return {"all": k, "most": k // 2 + 1, "any": 1}[quantifier]


def quantified(holds, fails, quantifier):
    """(p that as many as the quantifier asks for hold, p that fewer do)."""
    k = np.shape(holds)[-1]
    m = wanted(k, quantifier)
    return at_least(holds, m), at_least(fails, k - m + 1)


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
    need = int(np.floor(z.shape[1] * (1.0 - share))) + 1  # queries without the lead that contradict
    reached = np.sort(least)[-need] if need <= z.shape[1] else -np.inf
    fails = _beyond_bands(deviation, reached, z.size, n) if reached > 0 else 1.0
    return float(holds), float(max(fails, 0.5**n))


def _beyond_bands(deviation, reached, k, n, few=5):
    """p that the largest of k studentised deviations gets so far, by its draws; carried on with Bonferroni's bound
    by Student's tail where only a few draws do."""
    count, draws = np.sum(deviation >= reached), len(deviation)
    if count > few:
        return expanded((count + 1) / (draws + 1), n)
    return min(expanded((few + 1) / (draws + 1), n), k * special.stdtr(n - 1, -reached))


# ---- an experiment of the paper's size ---------------------------------------------------------


def experiments(instances, size, draws=1000, seed=0):
    """Weights of experiments of the size {instances, seeds} drawn from trials with these instances: draws x
    trials, how often each stands in it. Where trials share instances, instances are drawn and then trials
    of each; without a size, as many as there are."""
    instances = np.asarray(instances)
    random = np.random.default_rng([seed, len(instances)])
    rows = [np.flatnonzero(instances == one) for one in dict.fromkeys(instances.tolist())]
    size = dict(size or {})
    counts = np.zeros((draws, len(instances)))
    if not 1 < len(rows) < len(instances):
        total = int(size.get("seeds", 1)) * int(size.get("instances", 1)) if size else len(instances)
        return random.multinomial(total, np.full(len(instances), 1.0 / len(instances)), size=draws) * 1.0
    many, each = int(size.get("instances", len(rows))), int(size.get("seeds", len(rows[0])))
    for k in range(draws):
        for one in random.integers(len(rows), size=many):
            np.add.at(counts[k], random.choice(rows[one], size=each), 1.0)
    return counts


def centres(values, counts, statistic="mean"):
    """Means or medians of the columns of `values` (trials x columns) over each experiment."""
    if statistic == "mean":
        return counts @ values / counts.sum(axis=1, keepdims=True)
    found = np.empty((len(counts), values.shape[1]))
    half = counts.sum(axis=1) / 2.0
    for j in range(values.shape[1]):
        order = np.argsort(values[:, j], kind="stable")
        reached, column = np.cumsum(counts[:, order], axis=1), values[order, j]
        last = len(order) - 1
        low = np.minimum((reached < half[:, None] - 1e-9).sum(axis=1), last)
        high = np.minimum((reached < half[:, None] + 1e-9).sum(axis=1), last)
        found[:, j] = (column[low] + column[high]) / 2.0
    return found


def needed(d, at=LEVEL, power=0.8):
    """Units after which a mean like that of d is told from 0 `at` a level with the power; infinite for none."""
    d = np.asarray(d, float)
    n = len(d)
    mean, sd = (d.mean(), d.std(ddof=1)) if n > 1 else (0.0, 1.0)
    if n < 3 or mean == 0.0:
        return np.nan if n < 3 else np.inf
    z = special.ndtri(1.0 - at) + special.ndtri(power)
    return float(max(np.ceil((z * sd / mean)**2) + 2, 8))


def more_units(at, than, power=0.8):
    """How many times the units of the second level the first one takes."""
    at, than = (special.ndtri(1.0 - level) + special.ndtri(power) for level in (at, than))
    return float((at / than)**2)
