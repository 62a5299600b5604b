"""Kinds of checks about how large something is, and how it grows."""
import numpy as np
import pandas as pd

from . import stages
from .grades import OPEN, VOID
from .items import (BOOTSTRAP, FIXED, common_trials, functional, interval_item, interval_outcome, located, mean_share_item,
                    new_item, share_item, shows, units_of)
from .outcome import Missing, Outcome, shortened
from .panels import METRIC_WORDS, cells_behind, compared, curves_of, describe_value, each_method, metric_of, undecidable, words_of_metric
from ..load.errors import InputError, nearest
from ..stats.growth import exponents
from ..stats.measures import TooShort, at, part, trial_values, value_curves
from ..stats.regret import before_queries, more_is_better
from ..stats.robust import centre


def within(check, studies):
    """The values of typical trials lie in an interval.

    - `who`, `on`, `value`: the method, the panels and the value.
    - `low`, `high`: the ends of the interval; one of them is enough.
    - `statistic`: the reported number, `mean` (default) or `median`.

    {kind: within, who: EI, on: study/Plane, value: {metric: simple, at: last}, low: 0.01, high: 1}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, statistic = [], check.get("statistic", "mean")
    for panel, results, problem, who in each_method(check, studies):
        value = compared(check, results, problem, panel.where)
        values = trial_values(results, problem, value, [who]).dropna()
        item = interval_item(panel, pd.DataFrame({who: values, "": 0.0}), low, high, "difference", statistic)
        if item.state == VOID:  # equal values are a size like others
            item.state = OPEN
            item.decide_by(item.evidence, lambda one: located(one, low, high))
        item.more = {statistic: centre(values, statistic)}
        items.append(item)
    return interval_outcome(items, f"{describe_value(check)} of a typical trial", low, high)


def mean(check, studies):
    """The mean over trials lies in an interval. The test has the conditions of `growth`: a stuck trial counts for much.

    - `who`, `on`, `value`: the method, the panels and the value.
    - `low`, `high`: the ends of the interval; one of them is enough.

    {kind: mean, who: EI, on: study/Plane, value: {metric: simple, at: last}, low: 0.01, high: 1}
    """
    low, high, items = float(check.get("low", -np.inf)), float(check.get("high", np.inf)), []
    for panel, results, problem, who in each_method(check, studies):
        value = compared(check, results, problem, panel.where)
        frame = trial_values(results, problem, value, [who]).dropna().to_frame()
        items.append(functional(panel, frame, who, lambda means: means[..., 0], low, high))
    return interval_outcome(items, f"mean {describe_value(check)}", low, high, BOOTSTRAP)


def drop(check, studies):
    """The values of a trial fall by at least a factor between two queries.

    - `who`, `on`, `metric`: the method, the panels and the value.
    - `start`, `end`: the two queries t. `factor`: the least factor.

    {kind: drop, who: EI, on: study, metric: simple, start: 5, end: 20, factor: 2}
    """
    items, factor = [], float(check["factor"])
    for panel, results, problem, who in each_method(check, studies):
        metric = metric_of(results, problem, check.get("metric"), panel.where)
        _need_falling(results, problem, metric, panel)
        frame = curves_of(results, problem, metric, who)
        both = pd.DataFrame({who: at(frame, check["start"]), "": at(frame, check["end"])}).dropna()
        items.append(interval_item(panel, both, factor, np.inf, "ratio"))
    return interval_outcome(items, f"value at t = {check['start']} over the value at t = {check['end']}", factor, np.inf)


def _need_falling(results, problem, metric, panel):
    """A ratio between two queries needs values that have one."""
    if metric == "best" and (more_is_better(results, problem, metric) or results.group(problem).done.each(
            lambda block: value_curves(results, problem, metric, block).lt(0.0).any(axis=1).to_numpy()).any()):
        raise undecidable(panel.where, "a best value that is maximised, or below 0, does not fall by a factor")


def flat(check, studies):
    """The mean over the late queries equals the mean over the early queries within a factor.

    - `who`, `on`, `metric`: the method, the panels and the value.
    - `early`, `late`: the queries, each as [first, last].
    - `factor`: the margin. `because`: the reason for this margin.

    {kind: flat, who: Random, on: study, early: [1, 10], late: [11, 20], factor: 1.25,
      because: as steep as the eye tells from a straight line}
    """
    items, factor = [], float(check["factor"])
    for panel, results, problem, who in each_method(check, studies):
        metric = metric_of(results, problem, check.get("metric", "instantaneous"), panel.where)
        frame = curves_of(results, problem, metric, who)
        late, early = (part(frame, check[key]).mean(axis=1) for key in ("late", "early"))
        both = pd.DataFrame({who: late, "": early}).dropna()
        items.append(interval_item(panel, both, 1.0 / factor, factor, "ratio"))
    return interval_outcome(items, f"mean regret of a trial over queries {check['late'][0]} to {check['late'][1]} "
                            f"over that of {check['early'][0]} to {check['early'][1]} ({check['because']})",
                            1.0 / factor, factor)


def reach(check, studies):
    """In an experiment of this size, every trial is more likely than not to reach a target. With n trials, the
    share of trials that reach it in time is then at least 2^(-1/n). The test is for a number of trials that was
    fixed beforehand. If trials share instances, it is valid for any number of trials.

    - `who`, `on`, `metric`: the method, the panels and the value.
    - `target`: the largest value that counts (default 0). `by`: the query t at which it must be reached.
    - `not_before`: a query t instead of `by`; some trial has not reached the target by then, and the share is
      below 2^(-1/n).

    {kind: reach, who: EI, on: study/Plane, target: 0.001, by: 20}
    """
    items, late = [], "not_before" in check
    t = int(check["not_before"]) if late else int(check["by"])
    for panel, results, problem, who in each_method(check, studies):
        metric, target = metric_of(results, problem, check.get("metric"), panel.where), float(check.get("target", 0.0))
        frame = curves_of(results, problem, metric, who)
        if len(units_of(frame)) == len(frame):  # no trials share an instance: the binomial interval
            frame = curves_of(stages.planned(results), problem, metric, who)
        frame = frame[at(frame, t).notna()]
        got = frame.ge(target) if more_is_better(results, problem, metric) else frame.le(target)
        items.append(_reach_item(panel, frame.columns[0], got, at(got, t).to_frame(), who, late))
    what, sizes = "not every trial" if late else "every trial", sorted({i.more["size"] for i in items})
    test = "bets on the shares of the instances, at any number of them" if any(i.units < i.n for i in items) else \
        f"exact binomial interval{FIXED}"
    return Outcome(lambda some: _reach_text(some, t), f"{what} of {' or '.join(map(str, sizes))} has "
                   f"{words_of_metric(check)} at {check.get('target', 0):g} or better at query {t}, more likely than not; "
                   f"{test}", items)


def _reach_item(panel, first, got, now, who, late):
    """The comparison of the trials that have reached a target `now` (a column); `got` has it at all queries from `first`
    on."""
    reached = now.to_numpy()[:, 0]
    item = new_item(panel, now, who, "")
    size = int(np.prod(list(panel.size.values()))) if panel.size else len(reached)
    shows(item, now, lambda centres: (centres[:, 0] < 1.0) == late)
    share_item(item, reached, 0.5**(1.0 / max(size, 1)), late)
    if item.units < item.n:  # Trials of an instance are not independent.
        mean_share_item(item, units_of(now.astype(float))[:, 0])
    last = np.where(got.any(axis=1), got.to_numpy().argmax(axis=1) + first, np.inf)
    item.more = {"reached": int(reached.sum()), "last": float(last.max()) if len(last) else np.inf, "size": size}
    return item


def _reach_text(items, t):
    return "; ".join(f"{i.a} ({i.where}): {i.more['reached']} of {i.n} trials by t = {t}, "
                     + (f"all by t = {i.more['last']:.0f}" if np.isfinite(i.more["last"]) else "not all by the last query")
                     for i in shortened(items))


def growth(check, studies):
    """The exponent of growth over the last three quarters of the queries lies in an interval. The test is for a
    number of trials that was fixed beforehand, and for a mean that no rare trials dominate.

    - `who`, `on`: the method and the panels.
    - `metric`: the growing value (default `cumulative`; `cpu` and `wall` are costs).
    - `low`, `high`: the ends of the interval; one of them is enough.
    - `start`: the first query that counts, instead of a quarter of the queries.
    - `against`: a method whose exponent is larger, instead of an interval.

    With `count_initial` the initial design counts as queries before the first one.

    {kind: growth, who: EI, on: study, metric: cumulative, low: 0.4, high: 0.8}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, metric = [], check.get("metric", "cumulative")
    other = check.get("against")
    if other:
        low, high = -np.inf, 0.0
    for panel, results, problem, who in each_method(check, studies):
        metric_of(results, problem, metric, panel.where)
        cells = [_positive_times(curves_of(results, problem, metric, a)) for a in ([who, other] if other else [who])]
        common = common_trials(cells)
        cells = [cell.loc[common] for cell in cells]
        columns = np.intersect1d(cells[0].columns, cells[-1].columns)
        if check.get("start", 0) >= columns[-1]:
            raise TooShort(f"the study ends at query {columns[-1]}, growth from {check['start']} on needs more")
        cells = [cell[columns] for cell in cells]
        before = [before_queries(results, problem, a, metric) for a in (who, other)[:len(cells)]]

        def statistic(means, columns=columns, before=before):
            found = [exponents(block, columns, check.get("start"), first) for block, first in
                     zip(np.split(means, len(before), axis=-1), before)]
            return found[0] - found[1] if other else found[0]
        items.append(functional(panel, pd.concat(cells, axis=1), who, statistic, low, high))
    words = METRIC_WORDS.get(metric, metric)
    name = f"growth exponent of {words}" + (f" less that of {other}" if other else "")
    return interval_outcome(items, name, low, high, BOOTSTRAP)


def trend(check, studies):
    """The mean grows like log t, or stays constant. The measure is the slope of the mean against log t, times log
    T, as a share of the mean: it is above 5%, or within 5%. The test has the conditions of `growth`.

    - `who`, `on`, `metric`: the method, the panels and the value.
    - `grows`: `true` (like log t) or `false` (constant).

    {kind: trend, who: GP-UCB, on: study, metric: confidence, grows: true}
    """
    items, metric = [], check.get("metric", "confidence")
    limits = (0.05, np.inf) if check["grows"] else (-0.05, 0.05)
    for panel, results, problem, who in each_method(check, studies):
        metric_of(results, problem, metric, panel.where)
        cell = _positive_times(curves_of(results, problem, metric, who))
        x = np.log(np.asarray(cell.columns, float) + before_queries(results, problem, who, metric))

        def statistic(means, x=x):
            return (means @ (x - x.mean())) / np.sum((x - x.mean())**2) * x[-1] / means.mean(axis=-1)
        items.append(functional(panel, cell, who, statistic, *limits))
    return interval_outcome(items, f"rise of the mean {metric} with log t from t = 1 to T, as "
                            "a share of its mean", *limits, BOOTSTRAP)


def bound(check, studies):
    """The cumulative regret of a typical trial is at most a bound, at every query for which the bound has a value.

    - `who`, `on`: the method and the panels.
    - `bound`: a quantity of `regatta bounds` (STUDY_bounds.csv beside the results).
    - `informative: true`: bounds that no run can exceed decide nothing. Such a bound is nowhere below t times the
      largest regret of a query of any method.

    {kind: bound, who: GP-UCB, on: study, bound: gp_ucb_theorem, informative: true}
    """
    from ..figures import bounds  # here: Matplotlib takes half a second
    items, vacuous = [], []
    for panel, results, problem, who in each_method(check, studies):
        metric_of(results, problem, "cumulative", panel.where)
        done = results.group(problem).done
        frame = bounds.since_design(results, problem, done.cells[who]).droplevel("algorithm")
        limit = _limit(check["bound"], panel, results, problem, who)
        columns = [t for t in frame.columns if t in limit.index and t > 0]
        if not columns:
            raise Missing(f"{panel.where}: the bounds say nothing of {check['bound']} for {who}")
        over = frame[columns].dropna() / limit[columns].to_numpy()
        worst = np.nanmax(done.each(lambda block: np.fmax.reduce(
            value_curves(results, problem, "instantaneous", block).to_numpy(), axis=1)))
        share = (limit[columns] / (worst * np.array(columns))).min()
        if share >= 1.0:
            vacuous.append(f"{who} ({panel.where}, {columns[-1]} queries): at least {share:.3g} times that, and cumulative "
                           f"regret reaches {100 * over.max().max():.2g} % of it")
        item = interval_item(panel, pd.DataFrame({who: over.max(axis=1), "": 1.0}), -np.inf, 1.0, "ratio")
        if item.evidence:
            shows(item, over, lambda centres: np.all(centres <= 1.0, axis=1))
        items.append(item)
    if check.get("informative") and vacuous and len(vacuous) == len(items):
        return Outcome(f"{bounds.NAMES.get(check['bound'], check['bound'])} is vacuous here: no run can exceed it, because "
                       f"at every t it is above t times the largest regret of a query; {'; '.join(vacuous)}",
                       comparable=False)
    return interval_outcome(items, f"largest share of {bounds.NAMES.get(check['bound'], check['bound'])} "
                            "that the cumulative regret of a typical trial reaches", -np.inf, 1.0)


def _limit(quantity, panel, results, problem, who):
    """The values of a bound of one method by query t."""
    from ..figures import bounds
    path = results.path.parent / f"{panel.where.partition(',')[0]}_bounds.csv"
    if not path.exists():
        raise Missing(f"{panel.where}: no {path.name} beside the results (regatta bounds)")
    table = bounds.read(path)
    cells, _ = cells_behind(results, problem, who)
    mine = [cell in cells for cell in zip(table["base"], table["algorithm"], table["swept"])]
    if not (table["quantity"] == quantity).any():
        raise InputError(f"{path}: no quantity {quantity!r} in it{nearest(quantity, table['quantity'].unique())}")
    rows = table[mine & (table["quantity"] == quantity) & np.isfinite(table["value"])].drop_duplicates("t")
    return rows.set_index("t")["value"]


def _positive_times(frame):
    frame = frame.dropna(how="all")  # trials without a curve
    inside = frame.loc[:, (frame.columns > 0) & frame.notna().all().to_numpy()]
    if inside.shape[1] < 3:
        raise Missing("too few queries with a value")
    return inside
