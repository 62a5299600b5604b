"""Kinds of checks about how large something is, and how it grows."""
import numpy as np
import pandas as pd

from . import judge
from .items import (centre_of, common_trials, contrasts, drawn_item, functional, interval_outcome, medians,
                    new_item, ratio, require_means, share_item, units_of)
from .outcome import Missing, Outcome, decided, shortened
from .panels import METRIC_WORDS, cells_behind, describe_value, each_method
from ..stats.growth import exponents
from ..stats.measures import TooShort, at, part, trial_values, value_curves
from ..stats.regret import curves


def within(check, studies):
    """who, on, value, low and/or high, statistic: the mean (or median) lies in the interval.

    {kind: within, who: EI, on: study/Plane, value: {metric: simple, at: last}, low: 0.01, high: 1}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, statistic = [], check.get("statistic", "mean")
    for panel, results, problem, who in each_method(check, studies):
        values = trial_values(results, problem, check.get("value", {}), [who]).dropna().to_frame()
        item = new_item(panel, values, who, "")
        units = units_of(values)[:, 0]
        if not len(units):
            items.append(item)
            continue
        if statistic == "mean":
            signs = [(s, -s * limit) for s, limit in ((-1.0, low), (1.0, high)) if np.isfinite(limit)]
            contrasts(item, panel, values, [[s] for s, _ in signs], np.array([o for _, o in signs]))
            item.low, item.high = judge.mean_interval(units, item.level)
        else:
            drawn = judge.centres(values.to_numpy(float), panel.experiments(values.index), statistic)[:, 0]
            item.shown = (drawn >= low) & (drawn <= high)
            drawn_item(item, medians(values)[:, 0], low, high)
        item.value, item.least, item.most = centre_of(values.to_numpy(float)[:, 0], statistic), low, high
        items.append(item)
    return interval_outcome(studies, items, f"{statistic} of {describe_value(check.get('value', {}))}", low, high)


def drop(check, studies):
    """who, on, metric, start, end, factor: the mean falls by at least the factor between two t.

    {kind: drop, who: EI, on: study, metric: simple, start: 5, end: 20, factor: 2}
    """
    items, factor = [], float(check["factor"])
    for panel, results, problem, who in each_method(check, studies):
        frame = value_curves(results, problem, check.get("metric", "simple")).xs(who, level="algorithm")
        both = pd.DataFrame({"before": at(frame, check["start"]), "after": at(frame, check["end"])}).dropna()
        item = new_item(panel, both, who, "")
        contrasts(item, panel, both, [[-1.0, factor]])
        item.value, item.low, item.high = ratio(both.to_numpy(float), units_of(both), item.level)
        item.least = factor
        items.append(item)
    return interval_outcome(studies, items, f"mean at t = {check['start']} over mean at t = {check['end']}", factor,
                            np.inf)


def flat(check, studies):
    """who, on, metric, early, late: [first, last] queries, factor, because: the mean over the late queries is
    that over the early ones within the factor, a margin that needs a reason.

    {kind: flat, who: Random, on: study, early: [1, 10], late: [11, 20], factor: 1.25,
      because: as steep as the eye tells from a straight line}
    """
    items, factor = [], float(check["factor"])
    for panel, results, problem, who in each_method(check, studies):
        frame = value_curves(results, problem, check.get("metric", "instantaneous")).xs(who, level="algorithm")
        both = pd.DataFrame({key: part(frame, check[key]).mean(axis=1) for key in ("late", "early")}).dropna()
        item = new_item(panel, both, who, "")
        contrasts(item, panel, both, [[1.0, -factor], [-factor, 1.0]])
        item.value, item.low, item.high = ratio(both.to_numpy(float), units_of(both), item.level)
        item.least, item.most = 1.0 / factor, factor
        items.append(item)
    return interval_outcome(studies, items, f"mean regret over queries {check['late'][0]} to {check['late'][1]} "
                            f"over that of {check['early'][0]} to {check['early'][1]} ({check['because']})",
                            1.0 / factor, factor)


def reach(check, studies):
    """who, on, target (default 0), by: in an experiment of the paper's size every trial is more likely
    than not to have simple regret <= target at query `by`; not_before: instead, some trial has not yet.
    With n trials, the share of trials that get there in time is at least (below) 2^(-1/n).

    {kind: reach, who: EI, on: study/Plane, target: 0.001, by: 20}
    """
    items, target = [], float(check.get("target", 0.0)) + 1e-9
    late = "not_before" in check
    t = int(check["not_before"]) if late else int(check["by"])
    for panel, results, problem, who in each_method(check, studies):
        frame = curves(results, problem, "simple_regret").xs(who, level="algorithm")
        got = (at(frame, t) <= target).to_frame()
        reached = got.to_numpy()[:, 0]
        item = new_item(panel, frame, who, "")
        counts = panel.experiments(frame.index)
        border = 0.5**(1.0 / counts[0].sum())
        item.shown = counts @ ~reached > 0 if late else counts @ ~reached == 0
        share_item(item, reached, border, late)
        if item.units < item.n:  # trials of an instance do not count as so many
            late_by = border - units_of(got.astype(float))[:, 0]
            item.holds, item.fails = map(float, judge.mean_below(-late_by if late else late_by))
        first = np.where(frame.le(target).any(axis=1), frame.le(target).to_numpy().argmax(axis=1)
                         + frame.columns[0], np.inf)
        item.more = {"reached": int(reached.sum()), "last": float(first.max())}
        items.append(item)
    verdict = decided(items, "all", studies.look)
    text = "; ".join(f"{i.a} ({i.where}): {i.more['reached']} of {i.n} trials by t = {t}, "
                     + (f"all by t = {i.more['last']:.0f}" if np.isfinite(i.more["last"]) else "not all ever")
                     for i in shortened(items))
    what = "not every trial" if late else "every trial"
    return Outcome(verdict, text, f"{what} of an experiment of the paper's size has simple regret at most "
                   f"{check.get('target', 0):g} at query {t}, more likely than not; exact binomial test", items)


def growth(check, studies):
    """who, on, metric (default cumulative; cpu, wall: cost), low and/or high: exponent of its growth
    over the last three quarters of the queries; start: instead, from this query; against: instead, it is
    less than that method's.

    {kind: growth, who: EI, on: study, metric: cumulative, low: 0.4, high: 0.8}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, metric = [], check.get("metric", "cumulative")
    other = check.get("against")
    if other:
        low, high = -np.inf, 0.0
    for panel, results, problem, who in each_method(check, studies):
        frame = value_curves(results, problem, metric)
        cells = [_positive_times(frame.xs(a, level="algorithm")) for a in ([who, other] if other else [who])]
        common = common_trials(cells)
        cells = [cell.loc[common] for cell in cells]
        columns = np.intersect1d(cells[0].columns, cells[-1].columns)
        if check.get("start", 0) >= columns[-1]:
            raise TooShort(f"the study ends at query {columns[-1]}, growth from {check['start']} on needs more")
        cells = [cell[columns] for cell in cells]

        def statistic(means, columns=columns, cells=cells):
            found = [exponents(block, columns, check.get("start")) for block in
                     np.split(means, len(cells), axis=-1)]
            return found[0] - found[1] if other else found[0]
        items.append(functional(panel, pd.concat(cells, axis=1), who, statistic, low, high))
    words = METRIC_WORDS.get(metric, metric)
    name = f"growth exponent of {words}" + (f" less that of {other}" if other else "")
    return interval_outcome(studies, items, name, low, high)


def trend(check, studies):
    """who, on, metric, grows: true (like log t) or false (constant): the slope of the mean against
    log t, times log T, as a share of the mean, is above or within 5%.

    {kind: trend, who: GP-UCB, on: study, metric: confidence, grows: true}
    """
    items, metric = [], check.get("metric", "confidence")
    limits = (0.05, np.inf) if check["grows"] else (-0.05, 0.05)
    for panel, results, problem, who in each_method(check, studies):
        cell = _positive_times(value_curves(results, problem, metric).xs(who, level="algorithm"))
        x = np.log(np.asarray(cell.columns, float))

        def statistic(means, x=x):
            return (means @ (x - x.mean())) / np.sum((x - x.mean())**2) * x[-1] / means.mean(axis=-1)
        items.append(functional(panel, cell, who, statistic, *limits))
    return interval_outcome(studies, items, f"rise of the mean {metric} with log t from t = 1 to T, as "
                            "a share of its mean", *limits)


def bound(check, studies):
    """who, on, bound: a quantity of `regatta bounds` (STUDY_bounds.csv beside the results): the mean
    cumulative regret of the queries is at most it at every query it speaks of.

    {kind: bound, who: GP-UCB, on: study, bound: gp_ucb_theorem}
    """
    from ..figures import bounds  # here: Matplotlib takes half a second
    items = []
    for panel, results, problem, who in each_method(check, studies):
        path = results.path.parent / f"{panel.where.partition(',')[0]}_bounds.csv"
        if not path.exists():
            raise Missing(f"{panel.where}: no {path.name} beside the results (regatta bounds)")
        table = bounds.read(path)
        cells, _ = cells_behind(results, problem, who)
        mine = [cell in cells for cell in zip(table["base"], table["algorithm"], table["swept"])]
        rows = table[mine & (table["quantity"] == check["bound"]) & np.isfinite(table["value"])].drop_duplicates("t")
        frame = bounds.since_design(results, problem).xs(who, level="algorithm")
        limit = rows.set_index("t")["value"]
        columns = [t for t in frame.columns if t in limit.index and t > 0]
        if not columns:
            raise Missing(f"{panel.where}: {path.name} says nothing of {check['bound']} for {who}")
        over = frame[columns].dropna() / limit[columns].to_numpy()
        require_means(panel, over)
        item, units = new_item(panel, over, who, ""), units_of(over)
        if len(units) > 1:
            below, above = judge.mean_below(units.T - 1.0)
            item.holds, item.fails = float(below.max()), float(min(1.0, len(columns) * above.min()))
            worst = int(np.argmax(units.mean(axis=0)))
            item.value, (item.low, item.high) = units[:, worst].mean(), judge.mean_interval(units[:, worst], item.level)
        item.shown = np.all(judge.centres(over.to_numpy(float), panel.experiments(over.index)) <= 1.0, axis=1)
        item.most = 1.0
        items.append(item)
    return interval_outcome(studies, items, f"largest share of {bounds.NAMES.get(check['bound'], check['bound'])} "
                            "that the mean cumulative regret reaches", -np.inf, 1.0)


def _positive_times(frame):
    frame = frame.dropna(how="all")  # trials without a curve
    inside = frame.loc[:, (frame.columns > 0) & frame.notna().all().to_numpy()]
    if inside.shape[1] < 3:
        raise Missing("too few queries with a value")
    return inside
