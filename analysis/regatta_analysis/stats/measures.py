"""One number per trial, by which a claim compares algorithms."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..load.errors import InputError, nearest
from ..load.results import remembered
from .clock import pending_distance
from .evidence import ROPE
from .price import cost_adjusted, price_of
from .profiles import first_at_most, spent
from .regret import METRICS, REWARDS, curves, more_is_better, regret_curves, reward_sums

if TYPE_CHECKING:
    from ..load.group import Group
    from ..load.results import Results

FLOOR = 1e-12  # smallest regret in logarithms, because a regret may be 0
KEYS = {"metric", "at", "over", "log", "sense", "hit"}


def value_curves(results: Results, problem: str, metric: str, of: Group | None = None) -> pd.DataFrame:
    """Curves (`regret.curves`) of a metric of METRICS, of `cpu` or `wall` (seconds spent so far), of REWARDS (sums over the
    evaluations that cumulative regret counts), of `pending_distance` (clock.py), of `cost_adjusted(PRICE)` (price.py), or
    of any column."""
    if metric in METRICS:
        return regret_curves(results, problem, metric, of)
    if metric in ("cpu", "wall"):
        return spent(results, problem, metric, of)
    if metric in REWARDS:
        return reward_sums(results, problem, REWARDS[metric], of)
    if metric == "pending_distance":
        return pending_distance(results, problem, of)
    price = price_of(metric)
    if price is not None:
        return cost_adjusted(results, problem, price, of)
    columns = results.group(problem).evaluations()
    if metric not in columns:
        known = [*METRICS, *REWARDS, "cpu", "wall", "pending_distance", "cost_adjusted(PRICE)", *columns]
        raise InputError(f"{results.path}: {problem!r} has no {metric!r} recorded{nearest(metric, known)}")
    return curves(results, problem, metric, of=of)


def trial_values(results: Results, problem: str, value: Mapping[str, Any],
                 algorithms: Iterable[str] | None = None) -> pd.Series:
    """Series of one number per complete trial, indexed by (algorithm, instance, seed). Less is better, and a trial
    without a value has NaN. `value` has the keys

    - `metric`: see `value_curves`.
    - `at`: a query t, or `last` (default), the last query of the problem.
    - `over: [first, last]`: the mean over these queries.
    - `log: true`: take log10 of the values first.
    - `hit`: instead, the number of the first query after which the metric is at most this value (a best value that is
      maximised: at least). If it never is, the number of the last query plus one.
    - `sense: max`: more is better, so the sign is turned. Checks that compare methods know it of `best`.
    """
    unknown = set(value) - KEYS
    if unknown:
        raise InputError(f"value: unknown key {sorted(unknown)[0]!r}{nearest(sorted(unknown)[0], KEYS)} (known: {sorted(KEYS)})")
    metric = value.get("metric", "simple")
    if metric == "best" and value.get("sense") == "max" and not more_is_better(results, problem, metric):
        raise InputError(f"value: less is better of {metric!r} on {problem!r}, which is minimised: leave out 'sense'")
    done = results.group(problem).done
    if algorithms is not None:
        done = done.subset(np.isin(done.column("algorithm"), list(algorithms)))
    return pd.Series(done.each(lambda block: _numbers(results, problem, value, metric, block).to_numpy(float)), done.index)


def _numbers(results, problem, value, metric, block):
    frame = value_curves(results, problem, metric, block)
    if "hit" in value:
        sign = -1.0 if more_is_better(results, problem, metric) else 1.0
        return hitting_times(sign * frame, sign * float(value["hit"]))
    if value.get("log"):
        frame = np.log10(frame.clip(lower=FLOOR))
    if "over" in value:
        frame = part(frame, value["over"])
        series = frame.mean(axis=1, skipna=False)
    else:
        series = at(frame, value.get("at", "last"))
    return -series if value.get("sense") == "max" else series


@remembered
def last_values(results: Results, problem: str, metric: str) -> pd.Series:
    """`trial_values` of one of METRICS at the last query, with the sign by which less is better."""
    values = trial_values(results, problem, {"metric": metric})
    return -values if more_is_better(results, problem, metric) else values


@remembered
def usual_gain(results: Results, problem: str) -> float:
    """The usual gain of a trial over its first feasible best value: the median over all trials; 0 without any. It
    is the measure of differences of best values, which have no zero."""
    def gained(block):
        values = regret_curves(results, problem, "best", block).to_numpy()
        known = np.isfinite(values)
        first = values[np.arange(len(values)), known.argmax(axis=1)]
        return np.where(known[:, -1], np.abs(values[:, -1] - first), np.nan)
    with np.errstate(invalid="ignore"):
        gain = results.group(problem).done.each(gained)
    return float(np.median(gain[~np.isnan(gain)])) if (~np.isnan(gain)).any() else 0.0


def comparing(results: Results, problem: str, metric: str) -> tuple[str | None, float | None]:
    """(scale, margin) of `evidence.compare` for values of a metric at a query: differences of best values, of which a tenth
    of the usual gain makes none in practice; (None, None), as the values are, of others."""
    return ("difference", ROPE * usual_gain(results, problem)) if metric == "best" else (None, None)


def hitting_times(frame: pd.DataFrame, target: float) -> pd.Series:
    """First column of curves at which a trial is at most the target; one more than the last for never."""
    found = first_at_most(frame, target, frame.columns)
    return pd.Series(np.where(np.isinf(found), frame.columns[-1] + 1.0, found), frame.index)


def part(frame: pd.DataFrame, over: Sequence) -> pd.DataFrame:
    """The columns first..last of curves; what the study does not reach is an error."""
    first, last = over
    last = frame.columns[-1] if last == "last" else int(last)
    inside = frame.loc[:, (frame.columns >= first) & (frame.columns <= last)]
    if not inside.shape[1] or last > frame.columns[-1]:
        raise TooShort(f"the study ends at query {frame.columns[-1]}, query {last} is needed")
    return inside


def at(frame: pd.DataFrame, t: int | str) -> pd.Series:
    """The column t of curves, of all trials the same one; `last`: the last column."""
    if t == "last":
        return frame.iloc[:, -1]
    if int(t) not in frame.columns:
        raise TooShort(f"the study ends at query {frame.columns[-1]}, query {t} is needed")
    return frame[int(t)]


def regret_at_time(results: Results, problem: str, shares: ArrayLike, metric: str = "simple") -> pd.DataFrame:
    """Simple regret (or another of METRICS, with the sign by which less is better) of every trial after given CPU times:
    a frame with a column per share of the total time of the fastest algorithm's mean trial (so every algorithm has
    spent that time)."""
    done, sign = results.group(problem).done, -1.0 if more_is_better(results, problem, metric) else 1.0
    ends = done.each(lambda block: spent(results, problem, of=block).max(axis=1).to_numpy())
    times = np.asarray(shares, float) * pd.Series(ends, done.index).groupby(level="algorithm").mean().min()

    def values(block):
        paid = spent(results, problem, of=block).to_numpy()
        at_time = np.array([np.searchsorted(row, times, side="right") - 1 for row in paid], int).reshape(len(paid), -1)
        regret = sign * regret_curves(results, problem, metric, block).to_numpy()
        return np.take_along_axis(regret, np.maximum(at_time, 0), axis=1)
    return pd.DataFrame(done.each(values), done.index, times)


class TooShort(Exception):
    """The results end before the queries of a claim."""
