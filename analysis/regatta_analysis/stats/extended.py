"""The one rule for values that are infinite, undefined or missing.

Infinity is a value, the worst one: the simple regret of a trial is infinite until a design is feasible, and the best
value so far is minus infinity. Equal infinities tie. If any value is infinite there is no mean; then the number of
finite values, the median and the quantiles describe the values. NaN is no value: it is undefined or was not recorded.
A number always appears with the number of values behind it."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def difference(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a - b; equal infinities differ by 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, a - b)


def mean_and_error(values: ArrayLike) -> tuple[np.ndarray, ...]:
    """(n, mean, sd, se) along axis 0: the number of values, NaN not among them, their mean, standard deviation with
    divisor n - 1 and standard error. The last three are NaN where they do not exist: there is no value, or an
    infinite one."""
    values = np.asarray(values, float)
    known, infinite = ~np.isnan(values), np.isinf(values).any(axis=0)
    n = known.sum(axis=0)
    filled = np.where(np.isfinite(values), values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(infinite, np.nan, filled.sum(axis=0) / n)[()]
        squares = np.where(known, (filled - mean) ** 2, 0.0).sum(axis=0)
        sd = np.sqrt(np.where(n > 1, squares / (n - 1), np.nan))
    return n, mean, sd, sd / np.sqrt(np.maximum(n, 1))


def quantiles(values: ArrayLike, levels: Sequence[float]) -> np.ndarray:
    """Quantiles along axis 0, levels first: linear between order statistics, infinity the last of them. NaN is left
    out, and the result where there is nothing else."""
    return sorted_quantiles(np.sort(np.asarray(values, float), axis=0), levels)


def sorted_quantiles(ordered: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """`quantiles` of values that are sorted along axis 0, NaN last."""
    if not len(ordered):
        return np.full((len(levels), *ordered.shape[1:]), np.nan)
    last, found = (~np.isnan(ordered)).sum(axis=0) - 1.0, []
    for level in levels:
        at = level * np.maximum(last, 0.0)
        low, high = (np.take_along_axis(ordered, end(at).astype(int)[None], 0)[0] for end in (np.floor, np.ceil))
        with np.errstate(invalid="ignore"):
            between = low + (at - np.floor(at)) * (high - low)
        found.append(np.where((low == high) | np.isinf(low) | (at == np.floor(at)), low, between))
    return np.stack(found)


def shares_instances(frame: pd.DataFrame | pd.Series) -> bool:
    """Whether some, but not all, trials share an instance: then instances are independent, and trials are not."""
    return 1 < frame.index.get_level_values("instance").nunique() < len(frame)


def instance_means(frame: pd.DataFrame | pd.Series) -> pd.DataFrame | pd.Series:
    """Means of the rows of every instance; infinite where one of them is (pandas has NaN there)."""
    means = frame.where(np.isfinite(frame)).groupby(level="instance").mean()
    for infinity in (np.inf, -np.inf):
        means = means.mask((frame == infinity).groupby(level="instance").any(), infinity)
    return means


def centres(table: pd.DataFrame) -> tuple[str, pd.Series]:
    """("mean", means of the columns), or ("median", medians) where some column has no mean: columns are compared by
    one statistic."""
    values = table.to_numpy(float)
    if np.isinf(values).any():
        return "median", pd.Series(quantiles(values, [0.5])[0], table.columns)
    return "mean", pd.Series(mean_and_error(values)[1], table.columns)


def best(values: ArrayLike, whole: ArrayLike, more: bool = False) -> np.ndarray:
    """Whether each value is the best: the smallest value, or the largest. No value is marked if the best value is not
    finite, or if an equally good one rests on fewer trials than were planned (`whole` is false)."""
    values, whole = np.asarray(values, float), np.asarray(whole, bool)
    known = values[~np.isnan(values)]
    if not len(known) or not np.isfinite(top := known.max() if more else known.min()):
        return np.zeros(values.shape, bool)
    return (values == top) & whole[values == top].all()


def counted(n: int, word: str = "trial") -> str:
    """'1 trial', '24 trials'."""
    return f"{n} {word}{'s' * (n != 1)}"


def spread(counts: ArrayLike) -> str:
    """'24', or '3 to 24' of different counts; '0' of none."""
    counts = np.asarray(counts, int)
    low, high = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
    return f"{low} to {high}" if low < high else str(high)
