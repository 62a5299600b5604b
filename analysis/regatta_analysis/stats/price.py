"""Cost-adjusted simple regret: simple regret plus the price of what the queries have cost."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.errors import InputError
from .regret import aligned, curves

if TYPE_CHECKING:
    from ..load.results import Results


def cost_adjusted(results: Results, problem: str, price: float) -> pd.DataFrame:
    """A row for each complete trial, as in `curves`: its simple regret after query t = 0, 1, ... plus `price` times the
    cost of the queries so far. The cost of a query is its duration, and 1 in a study without a clock. The initial design,
    which is the same for all methods, costs nothing."""
    if not price >= 0:
        raise InputError(f"a price is a number >= 0, not {price!r}")
    regret, group = curves(results, problem, "simple_regret"), results.group(problem)
    keep = np.flatnonzero(group.column("status") == "complete")
    first = group.column("n_initial").astype(int)[keep]
    rows = np.arange(group.values("simple_regret").shape[1])
    costs = np.ones((len(keep), len(rows)))
    if {"dispatched", "finished"} <= set(group.evaluations()):
        costs = group.values("finished")[keep].astype(float) - group.values("dispatched")[keep].astype(float)
    spent = np.cumsum(np.where(rows < first[:, None], 0, np.nan_to_num(costs)), axis=1)
    return regret + price * aligned(spent, first, regret.columns.to_numpy())


def at_stop(results: Results, problem: str, values: pd.DataFrame, method: str) -> pd.Series:
    """The entries of `values` (as by `cost_adjusted`) at which the trials of a method stop: before the first query whose
    recorded `stop` is 1, or at the last query where none is."""
    stop = curves(results, problem, "stop").xs(method, level="algorithm")
    own = values.xs(method, level="algorithm")
    if (stop.index != own.index).any():
        raise InputError(f"{results.path}: the trials of {method!r} have no column 'stop'")
    met = (stop.to_numpy()[:, 1:] == 1)
    last = np.where(met.any(axis=1), met.argmax(axis=1), own.notna().to_numpy().sum(axis=1) - 1)
    return pd.Series(own.to_numpy()[np.arange(len(own)), last], own.index)
