"""Data and performance profiles: the share of the trials that have reached a target, after a number of evaluations or
a CPU time of the algorithm."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .regret import curves, stops

if TYPE_CHECKING:
    from ..load.group import Group
    from ..load.results import Results

TARGETS = (1e-1, 1e-2, 1e-3)


def hits(results: Results, targets: Sequence[float] | np.ndarray = TARGETS,
         cost: str = "evaluations", problems: Iterable[str] | None = None) -> pd.DataFrame:
    """The cost of every complete trial until its simple regret was at most a target: one row per
    problem, algorithm, instance, seed and target; `cost` infinite where it was never reached.

    targets: shares of the median simple regret at t = 0, of all trials of the problem that have a finite one there,
    so that they mean the same on every problem; without any such trial nothing is reached. cost: queries after the initial design, or CPU seconds of
    model and acquisition. A target below the regret at which the study's `stop` ended a trial is left out on that
    problem, because it is not known when the trial would have reached it.
    """
    blocks = []
    for problem in problems or results.problems:
        done = results.group(problem).done
        start = curves(results, problem, "simple_regret", t=[0])[0]
        scale, ended = start[np.isfinite(start)].median(), stops(done) == 1

        def first(block):
            regret = curves(results, problem, "simple_regret", of=block)
            paid = (regret.columns if cost != "cpu" else spent(results, problem, of=block)).to_numpy()
            return np.stack([first_at_most(regret.to_numpy(), target * scale, paid) for target in targets], axis=1)
        for target, mine in zip(targets, done.each(first).T):
            if (ended & np.isinf(mine)).any():
                continue
            blocks.append(done.index.to_frame(index=False).assign(problem=problem, target=target, cost=mine))
    columns = ["algorithm", "instance", "seed", "problem", "target", "cost"]
    return pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame(columns=columns)


def first_at_most(values: ArrayLike, target: float, places: ArrayLike) -> np.ndarray:
    """For each row of values the place (one for each column, or for each value) of the first that is at most the target,
    compared exactly; infinite where none is."""
    reached = np.asarray(values, float) <= target
    some = reached.any(axis=1)
    found = np.full(len(reached), np.inf)
    found[some] = np.broadcast_to(places, reached.shape)[some, reached[some].argmax(axis=1)]
    return found


def spent(results: Results, problem: str, clock: str = "cpu", of: Group | None = None) -> pd.DataFrame:
    """Seconds (`cpu` or `wall`) of model and acquisition up to and with query t, per complete trial (of those in `of`);
    NaN after its last query."""
    fit, acquire = (curves(results, problem, f"{clock}_{stage}", of=of).fillna(0.0) for stage in ("fit", "acquire"))
    total = acquire + fit
    total[0] = 0.0
    group = of or results.group(problem).done
    made = (group.column("n_iterations") - group.column("n_initial")).astype(int)
    return total.cumsum(axis=1).where(total.columns.to_numpy() <= made[:, None])


def mean_spent(results: Results, problem: str, of: Group) -> np.ndarray:
    """Mean CPU seconds of model and acquisition until each query, over the trials of a cell that made it."""
    total, count = 0.0, 0
    for block in of.blocks():
        seconds = spent(results, problem, of=block).to_numpy()
        total, count = total + np.nansum(seconds, axis=0), count + np.sum(~np.isnan(seconds), axis=0)
    with np.errstate(invalid="ignore"):
        return total / count


def data_profile(table: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{algorithm: (costs, share)} of `hits`: share of trials and targets reached at a cost of at most
    costs[k]; a step function."""
    return {algorithm: _steps(mine["cost"].to_numpy(float))
            for algorithm, mine in table.groupby("algorithm", sort=False)}


def performance_profile(table: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{algorithm: (ratios, share)}: the share of trials and targets that an algorithm reached at a cost of at most
    ratios[k] times that of the best algorithm there. A target that no algorithm reached counts as not reached."""
    trial = ["problem", "instance", "seed", "target"]
    best = table.groupby(trial)["cost"].transform("min")
    positive = table["cost"][table["cost"] > 0]
    least = positive.min() if len(positive) else 1.0
    ratio = np.maximum(table["cost"], least) / np.maximum(best, least)
    table = table.assign(cost=np.where(np.isfinite(table["cost"]), ratio, np.inf))
    return data_profile(table)


def _steps(cost):
    reached = np.sort(cost[np.isfinite(cost)])
    return reached, np.arange(1, len(reached) + 1) / len(cost)
