"""Algorithms against each other: paired tests over common trials, effect sizes, ranks over problems,
and the number of trials that a decision still needs.

Everything here takes a table with one row per trial (or problem) and one column per algorithm, of
values where less is better; rows in which one of the two algorithms has no value are left out of a
pair. Infinite values count as `extended` says: two of them tie, and a pair with one has no mean. Trials that share an instance are not independent: where several do, the instances' means are compared.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from . import extended

EXACT = 50  # differences: the law of the signed-rank statistic is computed for that many at most
PAIR_COLUMNS = ["a", "b", "n", "mean_a", "mean_b", "difference", "se", "low", "high", "p", "p_holm",
                "rank_biserial", "superiority", "superiority_low", "superiority_high", "needed"]


def paired(values: pd.Series, order: Iterable[str] | None = None) -> pd.DataFrame:
    """The table of a series indexed by algorithm and by the levels that identify a trial."""
    table = values.unstack("algorithm")
    return table[[a for a in order if a in table]] if order is not None else table


def compare(table: pd.DataFrame, pairs: Iterable[tuple[str, str]] | None = None,
            alternative: str = "two-sided", power: float = 0.8,
            alpha: float = 0.05) -> pd.DataFrame:
    """One row per pair (a, b) of algorithms, PAIR_COLUMNS: n common trials; means; difference a - b
    with standard error and 95% interval (Student, over instances where trials share them, as all that
    follows), NaN where a value is infinite; p of the Wilcoxon signed-rank test
    (alternative "less": a is the smaller one), and with Holm's correction over all rows; matched
    rank-biserial correlation (-1: a always less); probability of superiority P(a < b) + P(a = b)/2
    with its Wilson interval; trials needed in all to find the difference with the power."""
    names = list(table.columns)
    if pairs is None:
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1:]]
    rows = [_pair(table, a, b, alternative, power, alpha) for a, b in pairs]
    frame = pd.DataFrame(rows, columns=[c for c in PAIR_COLUMNS if c != "p_holm"])
    frame.insert(PAIR_COLUMNS.index("p_holm"), "p_holm", holm(frame["p"]))
    return frame


def _pair(table, a, b, alternative, power, alpha):
    frame = table[[a, b]].dropna()
    both, units = frame.to_numpy(float), independent(frame).to_numpy(float)
    difference = extended.difference(*units.T)
    n, m, finite = len(both), len(units), np.isfinite(both).all()
    means = extended.mean_and_error(both)[1]
    mean = (both[:, 0] - both[:, 1]).mean() if n and finite else np.nan
    se = difference.std(ddof=1) / np.sqrt(m) if m > 1 and finite else np.nan
    reach = special.stdtrit(m - 1, 0.975) * se if m > 1 else np.nan
    return [a, b, n, *means, mean, se, mean - reach, mean + reach, signed_rank(difference, alternative),
            rank_biserial(difference), *superiority(difference),
            trials_needed(difference, power, alpha, alternative) * n / max(m, 1)]


def independent(frame: pd.DataFrame | pd.Series) -> pd.DataFrame | pd.Series:
    """The rows of a frame that are independent: means over instances where several trials share one."""
    if "instance" not in frame.index.names:
        return frame
    instance = frame.index.get_level_values("instance")
    return extended.instance_means(frame) if 1 < instance.nunique() < len(instance) else frame


def signed_rank(difference: ArrayLike, alternative: str = "two-sided") -> float:
    """p of the Wilcoxon signed-rank test of the differences that are not 0, with mean ranks for ties: exact for up to
    EXACT of them, from the law of the statistic over all signs, else by the normal approximation; 1 when all are 0,
    NaN without any."""
    difference = np.asarray(difference, float)
    if not len(difference):
        return np.nan
    difference = difference[difference != 0]
    if not len(difference):
        return 1.0
    ranks = stats.rankdata(np.abs(difference))
    if len(ranks) > EXACT:
        return float(stats.wilcoxon(np.sign(difference) * ranks, alternative=alternative, method="approx").pvalue)
    law, positive = _law_of_rank_sums(ranks), round(2 * ranks[difference > 0].sum())
    low, high = law[:positive + 1].sum(), law[positive:].sum()
    return float(min({"less": low, "greater": high, "two-sided": 2.0 * min(low, high)}[alternative], 1.0))


def _law_of_rank_sums(ranks):
    """Probabilities that twice the sum of the positive ranks is 0, 1, 2, ... when all signs are equally likely; mean
    ranks of ties are multiples of 1/2."""
    law = np.array([1.0])
    for twice in np.round(2 * ranks).astype(int):
        law = 0.5 * (np.pad(law, (0, twice)) + np.pad(law, (twice, 0)))
    return law


def holm(p: ArrayLike) -> np.ndarray:
    """p values with Holm's correction; NaN stay NaN and do not count."""
    p = np.asarray(p, float)
    adjusted, known = np.full(p.shape, np.nan), np.flatnonzero(np.isfinite(p))
    largest = 0.0
    for k, at in enumerate(known[np.argsort(p[known], kind="stable")]):
        largest = max(largest, min(1.0, (len(known) - k) * p[at]))
        adjusted[at] = largest
    return adjusted


def rank_biserial(difference: ArrayLike) -> float:
    """(W+ - W-) / (W+ + W-) of the signed ranks of the differences that are not 0; 0 without any."""
    difference = np.asarray(difference, float)
    difference = difference[difference != 0]
    if not len(difference):
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float(np.sum(np.sign(difference) * ranks) / ranks.sum())


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


def trials_needed(difference: ArrayLike, power: float = 0.8, alpha: float = 0.05,
                  alternative: str = "two-sided") -> float:
    """Trials in all after which the signed-rank test finds differences like these with the power
    (Noether 1987); NaN with fewer than 3, infinite when there is no difference."""
    difference = np.asarray(difference, float)
    n = len(difference)
    if n < 3:
        return np.nan
    share = _share_of_positive_pairs(difference)
    if share == 0.5:
        return np.inf
    tails = 2.0 if alternative == "two-sided" else 1.0
    z = special.ndtri(1.0 - alpha / tails) + special.ndtri(power)
    least = int(np.ceil(np.log2(tails / alpha)))  # fewer trials can't reach the level
    return float(max(np.ceil(z**2 / (3.0 * (share - 0.5) ** 2)), least))


def _share_of_positive_pairs(difference):
    """Share of the pairs of different trials whose differences have a sum above 0; a sum of 0 counts
    half. O(n log n)."""
    n, ordered = len(difference), np.sort(difference)
    below, upto = (np.searchsorted(ordered, -ordered, side=side) for side in ("left", "right"))
    above = (np.sum(n - upto) - np.sum(ordered > 0)) / 2
    level = (np.sum(upto - below) - np.sum(ordered == 0)) / 2
    return (above + 0.5 * level) / (n * (n - 1) / 2)


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
