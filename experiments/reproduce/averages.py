"""The check that the regret of the last recommendation is at most the average: Theorems 4.3 and 4.6 of arXiv:2504.03172."""
import numpy as np
from regatta_analysis.claims import bootstrap
from regatta_analysis.claims.items import BANDS, interval_outcome, new_item, require_means, shows, units_of
from regatta_analysis.claims.outcome import Missing
from regatta_analysis.claims.panels import each_method, metric_of
from regatta_analysis.stats.regret import curves


def below_average(check, studies):
    """The expected regret of the last recommendation is at most its average so far, at every recommendation from the
    second on. The test is for a number of trials that was fixed beforehand.

    - `who`, `on`: the methods and the panels.

    {kind: below_average, who: Proposed, on: recommendation}
    """
    items = []
    for panel, results, problem, who in each_method(check, studies):
        metric_of(results, problem, "instantaneous", panel.where)
        cell = curves(results, problem, "instantaneous_regret", of=results.group(problem).done.cells[who])
        cell = cell.droplevel("algorithm").dropna(how="all")  # without trials that have no curve
        cell = cell.loc[:, cell.notna().all()]
        if cell.shape[1] < 2:
            raise Missing(f"{panel.where}: fewer than two recommendations of {who} with a regret")
        items.append(_item(panel, cell, who))
    return interval_outcome(items, "largest difference of the expected regret of the last recommendation from its average so "
                            "far", -np.inf, 0.0, BANDS)


def _item(panel, frame, who):
    require_means(panel, frame)
    item, excess = new_item(panel, frame, who, "", panel.cells), above(units_of(frame))
    item.least, item.most = -np.inf, 0.0
    if len(excess):
        item.value = float(excess.mean(axis=0).max())
        shows(item, frame, lambda centres: above(centres).max(axis=1) <= 0.0)
    if len(excess) > 1:
        item.enclose(lambda level: largest(excess, level))
    return item


def above(regret):
    """The difference between regret (n x recommendations) and its average so far, from the second recommendation on."""
    return (regret - np.cumsum(regret, axis=1) / np.arange(1, regret.shape[1] + 1))[:, 1:]


def largest(excess, level):
    """(low, high) of the largest mean of the columns of `excess` (n x columns); each end errs with probability `level` at
    most. The upper end needs no correction for the number of columns, because it is at least that of the largest mean
    (Berger 1982). The lower end has Bonferroni's, because any column may lie too high."""
    low, _ = bootstrap.mean_interval(excess.T, level / excess.shape[1])
    _, high = bootstrap.mean_interval(excess.T, level)
    return low.max(), high.max()


KEYS = "who* on*"
