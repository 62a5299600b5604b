"""Summaries of regret by cell and query, computed once for all figures, tables and pages of a study."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .regret import regret_curves
from .statistics import INTERVAL, summarise

if TYPE_CHECKING:
    import pandas as pd

    from ..load.results import Results


def cell_summaries(results: Results, problem: str, metric: str,
                   quantiles: tuple[float, float] = (0.25, 0.75),
                   bootstrap: bool = False) -> pd.DataFrame:
    """`statistics.summarise` of the curves of a metric on a problem. Callers must not change it."""
    def key(with_interval):
        return "cell_summaries", problem, metric, tuple(quantiles), with_interval

    def make():
        return summarise(regret_curves(results, problem, metric), quantiles, results.algorithms, bootstrap)

    if not bootstrap and results.remembers(key(True)):
        return results.remember(key(True), make).drop(columns=INTERVAL)
    return results.remember(key(bootstrap), make)
