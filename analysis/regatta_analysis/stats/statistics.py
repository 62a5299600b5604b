"""Summaries over the trials of a cell, iteration by iteration."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from ..load.variables import places_of
from . import extended

COLUMNS = ["n", "n_finite", "mean", "sd", "se", "n_instances", "se_instances", "median", "low", "high",
           "median_instances", "median_low", "median_high"]
INTERVAL = ["boot_low", "boot_high"]


def summarise(curves: pd.DataFrame, quantiles: tuple[float, float] = (0.25, 0.75),
              order: Iterable[str] | None = None, bootstrap: bool = False) -> pd.DataFrame:
    """Summary of curves (rows: algorithm, instance, seed; columns: t), long format.

    Per algorithm and t over the trials with a value: n; n_finite, the number of finite values; mean; sd with
    divisor n - 1; se, sd/sqrt(n); median; low and high, the quantiles asked for (linear between order
    statistics). For infinite values see `extended`.
    se_instances is the standard error over instance means, for designs where several seeds share
    an instance and trials are therefore not independent; NaN elsewhere. median_instances is the median over the
    medians of the instances, in the same designs. median_low and median_high are the 95% interval of it, elsewhere
    of the median (`median_interval`). `order`: algorithms first.
    `bootstrap`: also boot_low and boot_high, the 95% percentile bootstrap interval of the mean.
    """
    present = list(dict.fromkeys(curves.index.get_level_values("algorithm")))
    blocks = []
    for algorithm in [a for a in order or present if a in present]:
        blocks.append(summary(algorithm, curves.xs(algorithm, level="algorithm", drop_level=False), quantiles, bootstrap))
    return joined(blocks, bootstrap)


def joined(blocks: list[pd.DataFrame], bootstrap: bool = False) -> pd.DataFrame:
    """One summary of several."""
    if not blocks:
        return pd.DataFrame(columns=["algorithm", "t"] + COLUMNS + (INTERVAL if bootstrap else []))
    return pd.concat(blocks, ignore_index=True)


BLOCK = 1 << 22  # values that are sorted at once, 32 MB
DRAWN, FEWEST = 20_000_000, 200  # trials in all resamples of many, and resamples of them


def summary(algorithm: str, cell: pd.DataFrame, quantiles: tuple[float, float] = (0.25, 0.75),
            bootstrap: bool = False) -> pd.DataFrame:
    """`summarise` of the curves of one algorithm, some queries after the others."""
    step = max(1, BLOCK // max(1, len(cell)))
    parts = [_summary(cell.iloc[:, k:k + step], quantiles) for k in range(0, max(1, cell.shape[1]), step)]
    made = pd.DataFrame({"algorithm": algorithm, "t": cell.columns.to_numpy(),
                         **{name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}})
    if bootstrap:
        made = made.assign(**dict(zip(INTERVAL, _mean_interval(cell))))
    return made[made["n"] > 0]


def _summary(cell, quantiles):
    values = cell.to_numpy(float)
    n, mean, sd, se = extended.mean_and_error(values)
    ordered = np.sort(values, axis=0)
    units = median_of_units(cell) if extended.shares_instances(cell) else _no_units(ordered)
    return dict(zip(COLUMNS, [n, np.isfinite(values).sum(axis=0), mean, sd, se, *_over_instances(cell),
                              *extended.sorted_quantiles(ordered, [0.5, *quantiles]), *units]))


def _no_units(ordered):
    interval = sorted_interval(ordered)
    return np.stack([np.full(interval.shape[1:], np.nan), *interval])


def _over_instances(cell):
    """(number of instances with a value, standard error over the means of instances that several trials share)."""
    if not extended.shares_instances(cell):
        known, instances = cell.notna().to_numpy(), cell.index.get_level_values("instance").nunique()
        n = known.sum(axis=0) if instances == len(cell) else known.any(axis=0).astype(int)
        return n, np.full(cell.shape[1], np.nan)
    n, _, _, se = extended.mean_and_error(extended.instance_means(cell).to_numpy(float))
    return n, se


def unit_medians(cell: pd.DataFrame | pd.Series) -> np.ndarray:
    """(units, ...): the medians of the instances if several trials share one, else the trials."""
    if not extended.shares_instances(cell):
        return cell.to_numpy(float)
    return np.stack([extended.quantiles(mine.to_numpy(float), [0.5])[0] for _, mine in cell.groupby(level="instance")])


def median_of_units(cell: pd.DataFrame | pd.Series) -> np.ndarray:
    """(3, ...) of trials by instance: the median over the medians of the instances if several trials share one, else
    NaN, and the two ends of `median_interval` over these units, which are independent."""
    if not extended.shares_instances(cell):
        return _no_units(np.sort(cell.to_numpy(float), axis=0))
    units = unit_medians(cell)
    return np.stack([extended.quantiles(units, [0.5])[0], *median_interval(units)])


def _mean_interval(cell, level=0.95, draws=1000):
    """Percentile bootstrap interval of the mean at every t; the trials of an instance are drawn
    together where instances and seeds are crossed. NaN with fewer than two values, or an infinite one."""
    values = cell.to_numpy(float)
    draws = resamples(len(values), draws)
    known, infinite = np.isfinite(values), np.isinf(values).any(axis=0)
    instances = cell.index.get_level_values("instance") if extended.shares_instances(cell) else None
    filled, known = (values, np.ones((len(values), 1))) if known.all() else (np.where(known, values, 0.0), known.astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.concatenate([(weights @ filled) / (weights @ known)
                                for weights in resample_counts(len(values), instances, draws)])
    means[:, infinite | (known.sum(axis=0) < 2)] = np.nan
    some = np.isfinite(means).any(axis=0)
    found = np.full((2, values.shape[1]), np.nan)
    tail = (1.0 - level) / 2.0
    found[:, some] = np.nanquantile(means[:, some], [tail, 1.0 - tail], axis=0)
    return found


def median_interval(values: ArrayLike, level: float = 0.95) -> np.ndarray:
    """The interval of the median along axis 0, NaN skipped: (2, ...), low and high.

    It ends at order statistics that the binomial law of the values below the median gives, so it has its level for
    every law of independent values, also with infinite ones. Fewer than six values have no such interval at 95%: it
    is NaN there.
    """
    return sorted_interval(np.sort(np.asarray(values, float), axis=0), level)


def sorted_interval(values: np.ndarray, level: float = 0.95) -> np.ndarray:
    """`median_interval` of values that are sorted along axis 0, NaN last."""
    n = np.sum(~np.isnan(values), axis=0)
    first = stats.binom.ppf((1.0 - level) / 2.0, n, 0.5).astype(int)  # values outside the interval, on either side
    known = first > 0
    ends = np.stack([np.where(known, first - 1, 0), np.where(known, n - first, 0)])
    found = np.take_along_axis(values, ends, axis=0) if len(values) else np.full(ends.shape, np.nan)
    return np.where(known, found, np.nan)


def bootstrap_means(values: ArrayLike, draws: int = 1000, seed: int = 0,
                    groups: ArrayLike | None = None) -> np.ndarray:
    """Means of `draws` resamples of the rows of an n x m array, or of as many as `resamples` says: draws x m. The
    resamples of equal n, groups and seed are the same, so that the means of paired arrays can be compared draw by
    draw."""
    values = np.asarray(values, float)
    draws = resamples(len(values), draws)
    return np.concatenate([
        weights @ values / weights.sum(axis=1, keepdims=True) for weights in
        _resamples(_rows_by_group(len(values), groups), len(values), draws, seed)])


def resamples(n: int, draws: int) -> int:
    """How often n trials are drawn again: `draws` times, fewer where that would draw more than 20 million trials, but
    at least 200 times."""
    return int(np.clip(DRAWN // max(n, 1), min(FEWEST, draws), draws))


def resample_counts(n: int, groups: ArrayLike | None = None, draws: int = 1000, seed: int = 0,
                    block: int | None = None) -> Iterator[np.ndarray]:
    """The count of each of n rows in each resample: blocks of draws x n, by default none larger than 16 MB. The rows of
    a group are drawn together. The resamples do not depend on the size of the blocks."""
    return _resamples(_rows_by_group(n, groups), n, draws, seed, block)


def _resamples(rows, n, draws, seed, block=None):
    random, m = np.random.default_rng(seed), len(rows)
    member = np.empty(n, int)
    member[np.concatenate(rows)] = np.repeat(np.arange(m), [len(mine) for mine in rows])
    block = block or max(1, min(draws, (2 << 20) // max(n, m)))
    for first in range(0, draws, block):
        k = min(block, draws - first)
        picked = random.integers(m, size=(k, m)) + m * np.arange(k)[:, None]
        times = np.bincount(picked.ravel(), minlength=k * m).reshape(k, m).astype(float)
        yield times if m == n else times[:, member]


def _rows_by_group(n, groups):
    if groups is None:
        return [np.array([k]) for k in range(n)]
    return [rows for _, rows in places_of(np.asarray(groups))]
