"""Regret (or any other value per evaluation) of every trial of a problem on a common time axis."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.errors import InputError

if TYPE_CHECKING:
    from ..load.results import Results


@dataclass(frozen=True)
class Metric:
    """A curve that can be drawn: variable of the results file and axis label. Less is better unless
    it is a running maximum."""
    column: str
    label: str
    name: str
    running: bool = False  # the largest value so far, the initial design included


METRICS = {
    "simple": Metric("simple_regret", "Simple regret $S_t$", "Simple regret"),
    "cumulative": Metric("cumulative_regret", "Cumulative regret $R_t$", "Cumulative regret"),
    "instantaneous": Metric("instantaneous_regret", "Instantaneous regret $r_t$",
                            "Instantaneous regret"),
    "average": Metric("cumulative_regret", "Average regret $R_t/t$", "Average regret"),
    "best": Metric("objective", "Best value so far", "Best value", running=True),
}


def default_metrics(results: Results) -> list[str]:
    """Simple and cumulative regret where some problem's optimum is known, the best value so far where
    some problem's is not."""
    known = [np.isfinite(results.group(problem).values("simple_regret")).any()
             for problem in results.problems
             if "simple_regret" in results.group(problem).evaluations()]
    unknown = any("objective" in results.group(problem).evaluations() for problem in results.problems)
    return (["simple", "cumulative"] if any(known) or not unknown or not known else []) \
        + (["best"] if unknown and not all(known) else [])


def regret_curves(results: Results, problem: str, metric: str) -> pd.DataFrame:
    """Curves of one of METRICS: one row per complete trial (algorithm, instance, seed), one column
    per t = 0, 1, ..., T; t = 0 is the end of the initial design, left out where it says nothing."""
    frame = curves(results, problem, METRICS[metric].column, METRICS[metric].running)
    if metric in ("instantaneous", "average"):
        frame = frame.loc[:, frame.columns > 0]
    return frame / frame.columns.to_numpy(float) if metric == "average" else frame


def curves(results: Results, problem: str, column: str, running: bool = False) -> pd.DataFrame:
    """The same for any variable with one value per evaluation, or for its running maximum. Failed
    trials are left out (they are counted in `results.cells()`); values that were not recorded are
    NaN."""
    group = results.group(problem)
    if column not in group.evaluations():
        raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded")
    trials = group.trials
    keep = np.flatnonzero(trials["status"] == "complete")
    values = group.values(column)[keep].astype(float)
    if running and values.size:
        made = np.arange(values.shape[1]) < trials["n_iterations"].to_numpy(int)[keep, None]
        values = np.where(made, np.fmax.accumulate(values, axis=1), np.nan)
    initial = trials["n_initial"].to_numpy(int)[keep]
    last = (trials["n_iterations"].to_numpy(int)[keep] - initial).max(initial=0)
    index = pd.MultiIndex.from_frame(trials.loc[keep, ["algorithm", "instance", "seed"]])
    return pd.DataFrame(_aligned(values, initial, last), index, pd.RangeIndex(last + 1, name="t"))


def _aligned(values, initial, last):
    """Row k shifted so that column t holds evaluation initial[k] + t - 1."""
    row = np.arange(last + 1) + initial[:, None] - 1
    inside = (row >= 0) & (row < values.shape[1])
    found = np.take_along_axis(values, np.where(inside, row, 0), axis=1)
    return np.where(inside, found, np.nan)
