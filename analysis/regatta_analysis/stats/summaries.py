"""Summaries of regret by cell and query, computed once for all figures, tables and pages of a study."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .regret import cell_curves, last_query
from .statistics import INTERVAL, joined, summary

if TYPE_CHECKING:
    import pandas as pd

    from ..load.group import Group
    from ..load.results import Results


def over_cells(results: Results, problem: str, curves_of: Callable[[Group], pd.DataFrame],
               quantiles: tuple[float, float] = (0.25, 0.75)) -> pd.DataFrame:
    """`statistics.summarise` of the curves that `curves_of` gives of the complete trials of each cell of a problem."""
    cells = results.group(problem).done.cells
    return joined([summary(a, curves_of(cells[a]), quantiles) for a in results.algorithms if a in cells])


def cell_summaries(results: Results, problem: str, metric: str,
                   quantiles: tuple[float, float] = (0.25, 0.75),
                   bootstrap: bool = False) -> pd.DataFrame:
    """`statistics.summarise` of the curves of a metric on a problem. Callers must not change it."""
    def key(with_interval):
        return "cell_summaries", problem, metric, tuple(quantiles), with_interval

    def make():
        made = joined([summary(*cell, quantiles, bootstrap) for cell in cell_curves(results, problem, metric)], bootstrap)
        _last(results, problem, metric, quantiles)[bootstrap] = made[made["t"] == last_query(results, problem)]
        return made

    if not bootstrap and results.remembers(key(True)):
        return results.remember(key(True), make).drop(columns=INTERVAL)
    return results.remember(key(bootstrap), make)


def last_summaries(results: Results, problem: str, metric: str, quantiles: tuple[float, float] = (0.25, 0.75),
                   bootstrap: bool = False) -> pd.DataFrame:
    """The rows of `cell_summaries` at the last query, which are never forgotten."""
    last = _last(results, problem, metric, quantiles)
    if True not in last and bootstrap not in last:
        cell_summaries(results, problem, metric, quantiles, bootstrap)
    return last[bootstrap] if bootstrap in last else last[True].drop(columns=INTERVAL)


def _last(results, problem, metric, quantiles):
    return results.remember(("last_summaries", problem, metric, tuple(quantiles)), dict)
