"""P(picture): the share of experiments of the paper's own size that would show a statement. They are drawn from our
trials; resampled trials give an interval of the share."""
import functools
import re
import zlib

import numpy as np
from regatta_analysis.claims import grades

LEAST = 20  # trials from which an experiment of another size can be drawn
PLAIN, GROUPS, EACH = 1000, 40, 50  # experiments drawn from the trials; from resampled trials, in groups
EXPERIMENTS = PLAIN + GROUPS * EACH


def experiments(instances, size, seed=0):
    """Weights of experiments of the size {instances, seeds}, drawn from trials with these instances: EXPERIMENTS x
    trials, how often each trial stands in the experiment. Where trials share instances, instances are drawn and then
    trials of each. The first PLAIN are drawn from the trials; the others in GROUPS, each from a resample of them."""
    instances = np.asarray(instances)
    random = np.random.default_rng([seed, len(instances)])
    rows = [np.flatnonzero(instances == one) for one in dict.fromkeys(instances.tolist())]
    if not 1 < len(rows) < len(instances):
        rows = [np.array([k]) for k in range(len(instances))]
        many, each = int(size.get("seeds", 1)) * int(size.get("instances", 1)), 1
    else:
        many, each = int(size.get("instances", len(rows))), int(size.get("seeds", len(rows[0])))
    found = [_drawn(random, rows, many, each, PLAIN, len(instances))]
    for _ in range(GROUPS):
        some = [rows[k] for k in random.integers(len(rows), size=len(rows))]
        found.append(_drawn(random, some, many, each, EACH, len(instances)))
    return np.concatenate(found)


def _drawn(random, rows, many, each, draws, n):
    """Weights of `draws` experiments of `many` of the rows, and `each` trials of them."""
    if len(rows[0]) == 1 and each == 1:
        found = np.bincount(np.concatenate(rows), minlength=n) / len(rows)
        return random.multinomial(many, found, size=draws) * 1.0
    counts = np.zeros((draws, n))
    chosen = random.integers(len(rows), size=(draws, many))
    for k, one in enumerate(rows):
        times = (chosen == k).sum(axis=1) * each
        counts[:, one] += random.multinomial(times, np.full(len(one), 1.0 / len(one)))
    return counts


def share(shown):
    """(share of the PLAIN experiments that show it, a 90 % interval of this share by the groups)."""
    groups = shown[PLAIN:].reshape(GROUPS, EACH).mean(axis=1)
    return (float(shown[:PLAIN].mean()), *map(float, np.quantile(groups, [0.05, 0.95])))


def centres(values, counts, statistic="mean"):
    """Means or medians of the columns of `values` (trials x columns) over each experiment."""
    if statistic == "mean":
        return counts @ values / counts.sum(axis=1, keepdims=True)
    found = np.empty((len(counts), values.shape[1]))
    half = counts.sum(axis=1) / 2.0
    of_trial = np.ascontiguousarray(counts.T)
    for j in range(values.shape[1]):
        order = np.argsort(values[:, j], kind="stable")
        reached, low, high = np.zeros(len(counts)), np.zeros(len(counts), int), np.zeros(len(counts), int)
        for weights in of_trial[order]:  # twice as fast as a table of sums, which leaves the cache
            reached += weights
            low += reached < half - 1e-9
            high += reached < half + 1e-9
        column, last = values[order, j], len(order) - 1
        found[:, j] = (column[np.minimum(low, last)] + column[np.minimum(high, last)]) / 2.0
    return found


# ---- claims --------------------------------------------------------------------------------------


def picture(case):
    """(P(picture), and a 90 % interval of it) of a case of a claim; NaN if it is not known."""
    found = [shown(outcome) for outcome in case.outcomes]
    if not found or any(s is None for s in found) or all(i.units == 0 for i in case.items):
        return np.nan, np.nan, np.nan
    return share(np.all(found, axis=0))


def shown(outcome):
    """The drawn experiments in which the check is true; None if they are not known."""
    found = [_pooled(outcome)] if outcome.pooled else [of_item(item) for item in outcome.items]
    if not found or outcome.partial or any(one is None for one in found):
        return None
    return np.sum(found, axis=0) >= grades.wanted(len(found), outcome.rule)


def of_item(item):
    """The drawn experiments in which a comparison is true; None if its size is not known, or if there are too few
    trials."""
    if item.true is not None and item.sample is None:
        return np.broadcast_to(item.true(None), EXPERIMENTS)
    drawn = _centres(item)
    return None if drawn is None else item.true(drawn)


def _pooled(outcome):
    """The experiments in which the mean ratio of all comparisons is below 1."""
    drawn = [_centres(item) for item in outcome.items]
    if not outcome.pooled.evidence or outcome.pooled.evidence.scale != "ratio" or any(d is None for d in drawn):
        return None
    logs = np.log(np.maximum(drawn, 1e-300))
    return (logs[..., 0] - logs[..., 1]).mean(axis=0) < 0.0


def _centres(item):
    """Centres of the columns of the sample of a comparison over each experiment."""
    if item.true is None or not item.size or len(item.sample) < LEAST:
        return None
    place = re.split(", (?:t = |CPU|time |target )", item.where)[0]  # without a query, a time or a target
    counts = _counts(tuple(item.sample.index.get_level_values("instance")), tuple(sorted(item.size.items())),
                     zlib.crc32(place.encode()))
    return centres(item.sample.to_numpy(float), counts, item.statistic)


@functools.lru_cache(maxsize=64)
def _counts(instances, size, code):
    """`experiments`, equal for equal trials of one place, so that its comparisons use the same experiments."""
    return experiments(instances, dict(size), code)
