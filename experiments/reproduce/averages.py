"""The check that the regret of the last recommendation is at most the average: Theorems 4.3 and 4.6 of arXiv:2504.03172."""
import numpy as np
from regatta_analysis.claims import bootstrap
from regatta_analysis.claims.items import BANDS, interval_outcome, new_item, require_means, shows, units_of
from regatta_analysis.claims.panels import each_method
from regatta_analysis.stats.regret import curves


def below_average(check, studies):
    """The expected regret of the last recommendation is at most its average so far, at every recommendation from the
    second on. The test is for a number of trials that was fixed beforehand.

    - `who`, `on`: the methods and the panels.

    {kind: below_average, who: Proposed, on: recommendation}
    """
    items = []
    for panel, results, problem, who in each_method(check, studies):
        cell = curves(results, problem, "instantaneous_regret", of=results.group(problem).done.cells[who])
        items.append(_item(panel, cell.loc[:, cell.notna().all()].droplevel("algorithm"), who))
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
    """What regret (n x recommendations) has more than its average up to there, from the second recommendation on."""
    return (regret - np.cumsum(regret, axis=1) / np.arange(1, regret.shape[1] + 1))[:, 1:]


def largest(excess, level):
    """(low, high) of the largest mean of the columns (n x columns); each end errs with probability `level` at most. The
    largest of the upper ends needs no correction for their number, because one of them is that of the largest mean. Any
    of the lower ends may be too high, so each has its part of the level."""
    low, _ = bootstrap.mean_interval(excess.T, level / excess.shape[1])
    _, high = bootstrap.mean_interval(excess.T, level)
    return low.max(), high.max()


KEYS = "who* on*"
