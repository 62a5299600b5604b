"""Centres of skewed values, and trials that are stuck.

Infinity stands for a trial that found no feasible design. It sorts after every number.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

FLOOR = 1e-12  # Regrets below it count as equal to it when logarithms are compared.
GAP = 1.0  # smallest gap above which trials count as stuck, in decades
SKEWED = 1.5  # ratio of mean to median from which values count as skewed


def centre(values: ArrayLike, statistic: str = "mean") -> float:
    """Mean, median or interquartile mean of the values (n,); NaN without values, and for the mean if one is infinite.

    The interquartile mean leaves out a quarter of the values at either end, rounded down to whole values
    (Agarwal et al. 2021, arXiv:2108.13264). The median between minus infinity and infinity is 0, because the values
    are differences, and half of them favour each side.
    """
    values = np.sort(np.asarray(values, float))
    n = len(values)
    if not n:
        return np.nan
    if statistic == "mean":
        return float(values.mean()) if np.isfinite(values).all() else np.nan
    cut = {"median": (n - 1) // 2, "iqm": n // 4}[statistic]
    middle = values[cut:n - cut]
    if middle[0] == -np.inf and middle[-1] == np.inf:
        return 0.0 if statistic == "median" else np.nan
    return float(middle.mean())


def stuck(values: ArrayLike, target: float | None = None) -> np.ndarray:
    """Whether each of the values (n,) of a method on a problem, less is better, belongs to a stuck trial.

    With a target: the values above it. Without one, the values are split at the largest gap between
    neighbouring values of log10(value). The trials above the gap are stuck when the gap is at least GAP decades
    and at most half of the trials are above it. Infinite values are always stuck. Values below 0 have no
    logarithm; then only infinite values are stuck.
    """
    values = np.asarray(values, float)
    lost = values == np.inf
    if target is not None:
        return values > target
    known = values[~lost]
    if len(known) < 2 or known.min() < 0.0:
        return lost
    logs = np.sort(np.log10(np.maximum(known, FLOOR)))
    first = len(values) - len(values) // 2  # At most half of the trials lie above the gap.
    gaps = np.diff(logs)
    at = int(np.argmax(gaps))
    if gaps[at] < GAP or at + 1 < first:
        return lost
    return lost | (np.log10(np.maximum(values, FLOOR)) > logs[at])


def skewed(values: ArrayLike) -> bool:
    """Whether the mean describes a typical trial badly: some trials are stuck, or the mean of values that are at least
    0 is SKEWED times their median or more."""
    values = np.asarray(values, float)
    if not len(values):
        return False
    if stuck(values).any():
        return True
    return bool(values.min() >= 0.0 and values.mean() > SKEWED * np.median(values))
