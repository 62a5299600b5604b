"""Cost-adjusted simple regret: simple regret plus the price of what the queries have cost."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.errors import InputError
from .regret import curves, framed

if TYPE_CHECKING:
    from ..load.results import Results


def cost_adjusted(results: Results, problem: str, price: float) -> pd.DataFrame:
    """A row for each complete trial, as in `curves`: its simple regret after query t = 0, 1, ... plus `price` times the
    cost of the queries so far. The cost of a query is its duration, and 1 in a study without a clock. The initial design,
    which is the same for all methods, costs nothing."""
    if not price >= 0:
        raise InputError(f"a price is a number >= 0, not {price!r}")
    def spent(block):
        made = block.values("simple_regret")
        clock = {"dispatched", "finished"} <= set(block.evaluations())
        costs = block.values("finished").astype(float) - block.values("dispatched") if clock else np.ones(made.shape)
        design = np.arange(made.shape[1]) < block.column("n_initial").astype(int)[:, None]
        return np.cumsum(np.where(design, 0, np.nan_to_num(costs)), axis=1)
    done = results.group(problem).done
    return curves(results, problem, "simple_regret", of=done) + price * framed(results, problem, done, spent)


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
