"""Empirical growth of cumulative regret: the exponent a of R_t ~ t^a."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .statistics import bootstrap_means


def growth_exponent(values: np.ndarray, t: np.ndarray, groups: ArrayLike | None = None, before: float = 0.0,
                    level: float = 0.95, draws: int = 1000) -> tuple[float, float, float]:
    """Exponent of the mean over trials with its bootstrap interval: (estimate, low, high).

    values: trials x times of cumulative regret at the times t, which `fitted` chooses; before: how many evaluations were
    summed before t = 1; groups: rows of a group are drawn together. It is the slope of log mean against log (before + t);
    NaN where the mean is not positive.
    """
    x, drawn = np.log(t + before), bootstrap_means(values, draws, groups=groups)
    found = slopes(x, np.vstack([values.mean(axis=0), drawn]))
    if len(values) < 2 or not np.isfinite(found[0]):
        return found[0], np.nan, np.nan
    tail = (1.0 - level) / 2.0
    return (found[0], *np.nanquantile(found[1:], [tail, 1.0 - tail]))


def exponents(means: np.ndarray, t: ArrayLike, start: float | None = None, before: float = 0.0) -> np.ndarray:
    """Growth exponents of curves of means (curves x times): slopes of their logarithms against log (before + t) from
    t = `start` (default: a quarter of the last) on, fitted at `fitted` times."""
    at = fitted(t, start, before)
    return slopes(np.log(np.asarray(t, float)[at] + before), means[:, at])


def fitted(t: ArrayLike, start: float | None = None, before: float = 0.0) -> np.ndarray:
    """The places of 30 times from t = `start` on (default: a quarter of the last) that are evenly spaced in
    log (before + t), so that the late ones do not outweigh the others."""
    t = np.asarray(t, float)
    start, t = (t[-1] / 4.0 if start is None else start) + before, t + before
    return np.unique(np.searchsorted(t, np.geomspace(max(start, t[0]), t[-1], 30) - 1e-9))


def slopes(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Slope of log(row) against x by least squares for every row; NaN unless all of it is positive."""
    positive = np.all(rows > 0, axis=1)
    y = np.log(np.where(positive[:, None], rows, 1.0))
    x = x - x.mean()
    return np.where(positive, (y @ x) / (x @ x), np.nan)
