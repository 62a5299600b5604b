"""Summaries of regret by cell and query, computed once for all figures, tables and pages of a study."""
from .regret import regret_curves
from .statistics import INTERVAL, summarise


def cell_summaries(results, problem, metric, quantiles=(0.25, 0.75), bootstrap=False):
    """`statistics.summarise` of the curves of a metric on a problem. Not to be changed."""
    def key(with_interval):
        return "cell_summaries", problem, metric, tuple(quantiles), with_interval

    def make():
        return summarise(regret_curves(results, problem, metric), quantiles, results.algorithms, bootstrap)

    if not bootstrap and results.remembers(key(True)):
        return results.remember(key(True), make).drop(columns=INTERVAL)
    return results.remember(key(bootstrap), make)
