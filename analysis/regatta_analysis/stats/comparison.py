"""Algorithms over several problems: ranks, Friedman's test and critical differences; and corrections for several tests.

Everything here takes a table with one row per trial (or problem) and one column per algorithm, of values where less is
better. evidence.py compares two algorithms on the trials of a problem.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from . import extended


def paired(values: pd.Series, order: Iterable[str] | None = None) -> pd.DataFrame:
    """The table of a series indexed by algorithm and by the levels that identify a trial."""
    table = values.unstack("algorithm")
    return table[[a for a in order if a in table]] if order is not None else table


def in_common(table: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """The rows of a table trial x algorithm in which two algorithms have a value, in the order of their index. A report
    asks for them once for each pair of methods."""
    both = table[[a, b]]
    known = both[~np.isnan(both.to_numpy(float)).any(axis=1)]
    return known if known.index.is_monotonic_increasing else known.sort_index()


def independent(frame: pd.DataFrame | pd.Series) -> pd.DataFrame | pd.Series:
    """The rows of a frame that are independent: means over instances where several trials share one."""
    shared = "instance" in frame.index.names and extended.shares_instances(frame)
    return extended.instance_means(frame) if shared else frame


def holm(p: ArrayLike) -> np.ndarray:
    """p values with Holm's correction; NaN stay NaN and do not count."""
    p = np.asarray(p, float)
    adjusted, known = np.full(p.shape, np.nan), np.flatnonzero(np.isfinite(p))
    largest = 0.0
    for k, at in enumerate(known[np.argsort(p[known], kind="stable")]):
        largest = max(largest, min(1.0, (len(known) - k) * p[at]))
        adjusted[at] = largest
    return adjusted


def superiority(difference: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """P(difference < 0) + P(difference = 0)/2 with Wilson's score interval; NaN without data."""
    difference = np.asarray(difference, float)
    n = len(difference)
    if not n:
        return np.nan, np.nan, np.nan
    share = (np.sum(difference < 0) + 0.5 * np.sum(difference == 0)) / n
    z = special.ndtri(0.5 + level / 2.0)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return float(share), float(max(centre - reach, 0.0)), float(min(centre + reach, 1.0))


def friedman(table: pd.DataFrame) -> dict | None:
    """Friedman's test over blocks (rows: problems, never trials of one; incomplete ones are left out): dict of n, mean `ranks`
    (1 is best), chi2, p, and Nemenyi's critical difference of mean ranks at 5%. None with fewer than
    3 algorithms or 2 blocks."""
    table = table.dropna()
    n, k = table.shape
    if k < 3 or n < 2:
        return None
    ranks = table.rank(axis=1).mean()
    if np.all(table.to_numpy() == table.to_numpy()[:, [0]]):
        chi2, p = 0.0, 1.0
    else:
        chi2, p = stats.friedmanchisquare(*table.to_numpy().T)
    return {"n": n, "ranks": ranks.sort_values(kind="stable"), "chi2": float(chi2), "p": float(p),
            "critical_difference": critical_difference(k, n)}


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: mean ranks of k algorithms over n blocks that differ by less are not separated."""
    return float(stats.studentized_range.ppf(1.0 - alpha, k, np.inf) / np.sqrt(2.0)
                 * np.sqrt(k * (k + 1) / (6.0 * n)))


def cliques(ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Largest groups of neighbours in the sorted `ranks` that are not separated: pairs (first, last) of positions,
    none inside another."""
    values, found = np.sort(np.asarray(ranks, float)), []
    for first in range(len(values)):
        last = int(np.searchsorted(values, values[first] + difference, side="right")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
