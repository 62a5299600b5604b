"""Mean ranks of the methods with their uncertainty: the bootstrap over the units of each problem that are independent."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.results import remembered
from . import extended, inference
from .statistics import unit_medians

if TYPE_CHECKING:
    from ..load.results import Results

DRAWS, ELEMENTS = 1000, 1 << 22  # resamples; fewer where they would draw more values than this
COLUMNS = ["algorithm", "problems", "rank", "low", "high", "first"]


@remembered
def ranks(results: Results, metric: str) -> pd.DataFrame:
    """COLUMNS of every method that has trials on all compared problems, the best first. rank: its mean rank by the medians
    of the last values, 1 is best, over the problems; low, high: the 95% percentile interval of the bootstrap, which draws
    the instances of a problem again where trials share them, else its trials; first: the share of the resamples in which
    no other method has a smaller mean rank."""
    tables = [inference.final_values(results, problem, metric) for problem in results.problems]
    tables = [table.dropna(axis=1, how="all") for table in tables]
    methods = [a for a in results.algorithms if tables and all(a in table for table in tables)]
    units = [unit_medians(table[methods].dropna()) for table in tables if len(methods) > 1]
    units = [values for values in units if len(values) > 1]
    if not units:
        return pd.DataFrame(columns=COLUMNS)
    draws = int(np.clip(ELEMENTS // max(values.size for values in units), 100, DRAWS))
    random = np.random.default_rng(0)
    drawn = np.mean([_ranks_of(values, random.integers(len(values), size=(draws, len(values)))) for values in units], axis=0)
    own = np.mean([_ranks_of(values, np.arange(len(values))[None]) for values in units], axis=0)[0]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest")
    first = (drawn == drawn.min(axis=1, keepdims=True)).mean(axis=0)
    frame = pd.DataFrame({"algorithm": methods, "problems": len(units), "rank": own, "low": low, "high": high, "first": first})
    return frame.sort_values("rank", kind="stable", ignore_index=True)


def _ranks_of(values, draws):
    """(resamples, methods): ranks of the medians of values (units, methods) in each row of `draws`; equal ones share the
    mean of their ranks."""
    middle = extended.quantiles(np.moveaxis(values[draws], 1, 0), [0.5])[0]
    below = (middle[:, None, :] < middle[:, :, None]).sum(axis=2)
    return below + 0.5 * ((middle[:, None, :] == middle[:, :, None]).sum(axis=2) + 1.0)
