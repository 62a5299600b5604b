"""Data and performance profiles: the share of the trials that have reached a target, after a number of evaluations or
a CPU time of the algorithm."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .regret import curves, queries, stops

if TYPE_CHECKING:
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
        regret = curves(results, problem, "simple_regret")
        paid = spent(results, problem) if cost == "cpu" else None
        ended = stops(results.group(problem)) == 1
        scale = regret[0][np.isfinite(regret[0])].median()
        for target in targets:
            first = first_at_most(regret.to_numpy(), target * scale, (regret.columns if paid is None else paid).to_numpy())
            if (ended & np.isinf(first)).any():
                continue
            blocks.append(regret.index.to_frame(index=False).assign(problem=problem, target=target, cost=first))
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


def spent(results: Results, problem: str, clock: str = "cpu") -> pd.DataFrame:
    """Seconds (`cpu` or `wall`) of model and acquisition up to and with query t, per complete trial; NaN after its
    last query."""
    total = 0.0
    for stage in ("fit", "acquire"):
        frame = curves(results, problem, f"{clock}_{stage}")
        total = frame.fillna(0.0) + total
    total[0] = 0.0
    return total.cumsum(axis=1).where(total.columns.to_numpy() <= queries(results, problem)[:, None])


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
