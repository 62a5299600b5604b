"""All problems of a study together, on one scale: how a method does as a whole, and against the others.

The score of a trial is log10 of its value over the median value that all trials of all methods have on the problem.
A score of -1 is a tenth of what is usual there. Every problem has the same weight. Infinite values sort last.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.results import remembered
from . import comparison, evidence, extended
from .measures import trial_values
from .robust import FLOOR, stuck
from .statistics import resample_counts, resamples

if TYPE_CHECKING:
    from ..load.results import Results

DRAWS = 2000  # resamples
COLUMNS = ["algorithm", "problems", "n", "ratio", "low", "high", "stuck", "improvement"]
PAIRS = ["a", "b", "problems", "ratio", "low", "high", "better", "better_low", "better_high", "verdict", "n", "p",
         "p_holm"]


def scores(results: Results, metric: str) -> pd.DataFrame:
    """One row per complete trial: problem, algorithm, instance, seed, value, score, and whether it is stuck
    (`robust.stuck`). Problems without a scale are left out: those with values below 0, or with a
    median that is 0 or infinite."""
    parts = []
    for problem in results.problems:
        values = trial_values(results, problem, {"metric": metric}).dropna()
        usual = values.median()
        if not len(values) or values.min() < 0.0 or not 0.0 < usual < np.inf:
            continue
        score = np.log10(np.maximum(values, FLOOR * usual) / usual)
        lost = values.groupby(level="algorithm", observed=True).transform(lambda own: stuck(own)).astype(bool)
        parts.append(values.rename("value").to_frame().assign(score=score, stuck=lost, problem=problem)
                     .reset_index().astype({"algorithm": str}))
    columns = ["problem", "algorithm", "instance", "seed", "value", "score", "stuck"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def methods(table: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS of every algorithm in a table of `scores`, over the problems on which it has trials.

    ratio, low, high: 10 to the interquartile mean of the scores, with its 95% interval by the stratified bootstrap
    (Agarwal et al. 2021): trials of a problem, or its instances where trials share them, are drawn again on each
    problem, 2,000 times, or as often as `resamples` says. stuck: share of stuck trials. improvement: probability that
    a trial of it is better than one of another method on the same problem, ties half, mean over problems and other
    methods. Shares are means over problems.
    """
    rows = []
    for algorithm, mine in table.groupby("algorithm", sort=False):
        shares = mine.groupby("problem")["stuck"].mean()
        ratios = 10.0**_resampled_means([part for _, part in mine.groupby("problem", sort=False)])
        low, high = np.quantile(ratios[1:], [0.025, 0.975], method="nearest")
        rows.append([algorithm, len(shares), len(mine), ratios[0], low, high, shares.mean(),
                     _improvement(table, algorithm)])
    return pd.DataFrame(rows, columns=COLUMNS)


def _resampled_means(parts):
    """(1 + DRAWS,): the interquartile mean of the scores of one method, first of the trials themselves, then of their
    resamples, in blocks of at most 16 MB. parts: the trials of each problem."""
    known = np.concatenate([part["score"].to_numpy(float) for part in parts])
    order = np.argsort(known, kind="stable")
    places = np.split(np.argsort(order, kind="stable"), np.cumsum([len(part) for part in parts])[:-1])
    draws = resamples(len(known), DRAWS)
    block = max(1, min(draws, (2 << 20) // len(known)))
    whole = [np.ones((1, len(part))) for part in parts]
    shared = [part["instance"].to_numpy() if extended.shares_instances(part.set_index("instance")) else None for part in parts]
    blocks = zip(*(resample_counts(len(part), own, draws, block=block) for part, own in zip(parts, shared)))
    found = []
    for problems in chain([whole], blocks):
        weights = np.empty((len(problems[0]), len(known)))
        for own, counts in zip(places, problems):
            weights[:, own] = counts / counts.sum(axis=1, keepdims=True)
        found += [_middle_mean(known[order], row) for row in weights]
    return np.array(found)


def _middle_mean(values, weights):
    """The mean of the middle half of sorted values (n,) by their weights (n,): a value that lies on a quartile counts with
    the part of its weight that is inside."""
    until = np.cumsum(weights)
    low, high = until[-1] * np.array([0.25 + 1e-12, 0.75 - 1e-12])
    first, last = np.searchsorted(until, low, side="right"), np.searchsorted(until, high)
    if first == last or np.isinf(values[last]):
        return values[last]
    inside = weights[first:last + 1].copy()
    inside[0], inside[-1] = until[first] - low, high - until[last - 1]
    return inside @ values[first:last + 1] / (high - low)


def _improvement(table, algorithm):
    shares = []
    for _, here in table.groupby("problem"):
        mine = here.loc[here["algorithm"] == algorithm, "value"].to_numpy(float)
        for other, rest in here.groupby("algorithm"):
            if other != algorithm and len(mine):
                values = np.sort(rest["value"].to_numpy(float))
                below, upto = (np.searchsorted(values, mine, side=side) for side in ("left", "right"))
                shares.append(1.0 - (below + upto).mean() / (2 * len(values)))
    return float(np.mean(shares)) if shares else np.nan


def pairs(table: pd.DataFrame, first: str, places: Mapping[str, str] | None = None) -> pd.DataFrame:
    """PAIRS of one algorithm against each other one, over the problems that both have: the pooled ratio of paired
    trials with its confidence sequence, P(better) with its interval, the verdict, the number of pairs of each problem, and p, also with
    Holm's correction over the rows (`evidence.pooled`). places:
    {problem: its problem of the study file}; panels of one share their trials."""
    return _pairs(_wide(table), [first], places)


def every(table: pd.DataFrame, order: Sequence[str], places: Mapping[str, str] | None = None) -> pd.DataFrame:
    """As `pairs`, of each method of `order` against each later one; p with Holm's correction over all rows."""
    return _pairs(_wide(table), order, places, later=True)


def _wide(table):
    """{problem: its values, trial x algorithm}."""
    return {problem: comparison.paired(here.set_index(["algorithm", "instance", "seed"])["value"])
            for problem, here in table.groupby("problem", sort=False)}


def _pairs(wide, firsts, places, later=False):
    rows, places = [], places or {}
    names = list(dict.fromkeys(name for here in wide.values() for name in here))
    for k, first in enumerate(firsts):
        rows += _against(wide, first, firsts[k + 1:] if later else [name for name in names if name != first], places)
    frame = pd.DataFrame(rows, columns=PAIRS[:-1])
    return frame.assign(p_holm=comparison.holm(frame["p"]))


def _against(wide, first, others, places):
    """Rows of `pairs`, without the corrected p."""
    rows = []
    for other in others:
        found = {problem: _evidence(here, first, other) for problem, here in wide.items()}
        found = {problem: e for problem, e in found.items() if e is not None and len(e.units)}
        if found:
            p = evidence.pooled(list(found.values()), [places.get(problem, problem) for problem in found])
            rows.append([first, other, len(found), p.typical, p.low, p.high, p.better, p.better_low, p.better_high,
                         p.verdict, min(map(len, p.contrasts)), p.p])
    return rows


def _evidence(here, a, b):
    return evidence.compare_columns(comparison.in_common(here, a, b)) if {a, b} <= set(here) else None


@remembered
def made(results: Results, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(`methods`, `every` pair of them, the method with the least ratio first)."""
    table = scores(results, metric)
    found = methods(table)
    order = found.sort_values("ratio", kind="stable")["algorithm"].tolist()
    return found, every(table, order, {problem: results.group(problem).base for problem in results.problems})
