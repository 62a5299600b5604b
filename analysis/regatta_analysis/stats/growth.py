"""Empirical growth of cumulative regret: the exponent a of R_t ~ t^a."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .statistics import bootstrap_means


def growth_exponent(values: ArrayLike, t: ArrayLike, start: float | None = None,
                    level: float = 0.95, draws: int = 1000, seed: int = 0,
                    groups: ArrayLike | None = None, before: float = 0.0) -> tuple[float, float, float]:
    """Exponent of the mean over trials with its bootstrap interval: (estimate, low, high).

    values: trials x times of cumulative regret; t: the times (> 0); start: first time that counts
    (default: a quarter of the last); before: how many evaluations were summed before t = 1. The slope of log mean
    against log (before + t) is fitted to 30 times that are evenly spaced in it, so that the late ones do not outweigh
    the others. NaN where the mean is not positive.
    """
    at = fitted(t, start, before)
    return slope_of_mean(np.asarray(values, float)[:, at], np.log(np.asarray(t, float)[at] + before), level, draws, seed, groups)


def slope_of_mean(values: np.ndarray, x: np.ndarray, level: float = 0.95, draws: int = 1000, seed: int = 0,
                  groups: ArrayLike | None = None) -> tuple[float, float, float]:
    """(estimate, low, high) of the slope of the logarithm of the mean of values (trials x times) against x."""
    found = slopes(x, np.vstack([values.mean(axis=0), bootstrap_means(values, draws, seed, groups)]))
    if len(values) < 2 or not np.isfinite(found[0]):
        return found[0], np.nan, np.nan
    tail = (1.0 - level) / 2.0
    return (found[0], *np.nanquantile(found[1:], [tail, 1.0 - tail]))


def exponents(means: np.ndarray, t: ArrayLike, start: float | None = None, before: float = 0.0) -> np.ndarray:
    """Growth exponents of curves of means (curves x times): slopes of their logarithms against log (before + t) from
    t = `start` (default: a quarter of the last) on, fitted to 30 times evenly spaced in it."""
    at = fitted(t, start, before)
    return slopes(np.log(np.asarray(t, float)[at] + before), means[:, at])


def fitted(t: ArrayLike, start: float | None = None, before: float = 0.0) -> np.ndarray:
    """The places of the times to which `exponents` fits."""
    t = np.asarray(t, float)
    start, t = (t[-1] / 4.0 if start is None else start) + before, t + before
    return np.unique(np.searchsorted(t, np.geomspace(max(start, t[0]), t[-1], 30) - 1e-9))


def slopes(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Slope of log(row) against x by least squares for every row; NaN unless all of it is positive."""
    positive = np.all(rows > 0, axis=1)
    y = np.log(np.where(positive[:, None], rows, 1.0))
    x = x - x.mean()
    return np.where(positive, (y @ x) / (x @ x), np.nan)
