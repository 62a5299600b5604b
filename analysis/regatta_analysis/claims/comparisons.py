"""Kinds of checks that compare methods."""
import numpy as np

from . import judge
from .items import (centre_of, certain, common_trials, contrasts, medians, new_item, ratio, require_means,
                    units_of)
from .outcome import NO, OPEN, TIE, YES, Missing, Outcome, decided, number, shortened
from .panels import METRIC_WORDS, describe_value, names, panel_on, present, require, tables
from ..load.errors import InputError
from ..stats import comparison, extended
from ..stats.measures import part, value_curves


def better(check, studies):
    """who, against, on, value (what is compared), statistic: mean (default) | median;
    quantifier: all | most | any of the pairs on all panels (default all); at_each: several queries t;
    times: shares of the CPU time of the fastest; versus: one panel on which `against` is taken (default:
    the same). The statistic of `who` is smaller.

    {kind: better, who: EI, against: [Random, GP-UCB], on: study, value: {metric: simple, at: 20}, quantifier: most}
    """
    statistic, items = check.get("statistic", "mean"), []
    for panel, table, pairs in tables(check, studies):
        items += [better_item(panel, table, a, b, statistic) for a, b in pairs]
    if not items:
        raise Missing("nothing to compare")
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier, studies.look)
    return Outcome(verdict, _pairs_text(items), _pairs_method(check, quantifier, statistic), items,
                   quantifier)


def better_item(panel, table, a, b, statistic):
    both = table[[a, b]].dropna()
    if statistic == "mean":
        require_means(panel, both)
    item, data = new_item(panel, both, a, b), both.to_numpy(float)
    units = units_of(both)
    d = extended.difference(*units.T)
    scale = abs(centre_of(data[:, 1], statistic)) if len(data) else np.nan
    drawn = judge.centres(data, panel.experiments(both.index), statistic) if len(data) else None
    item.shown = drawn[:, 0] < drawn[:, 1] if len(data) else None
    item.most, item.strict = 0.0, True
    if len(units) > 1 and statistic == "mean":
        item.holds, item.fails = map(float, judge.mean_below(d))
        item.tied = float(judge.tied(*units.T))
        item.low, item.high = judge.mean_interval(d, item.level)
    elif len(units) > 1:
        centres = medians(both)
        gap, margin = extended.difference(*centres.T), judge.TIE * abs(centres[:, 1])
        item.holds, item.fails = map(float, judge.inside(gap, -np.inf, 0.0, len(units)))
        item.tied = max(float(judge.inside(sign * gap - margin, -np.inf, 0.0, len(units))[0]) for sign in (1.0, -1.0))
        item.low, item.high = judge.drawn_interval(gap, len(units), item.level)
    if len(d) and not np.any(d):
        item.holds = item.fails = 1.0
        item.tied = 0.5**len(d)
    centre = [centre_of(column, statistic) for column in data.T] if len(data) else [np.nan, np.nan]
    item.value = float(extended.difference(*centre))
    item.value, item.low, item.high = (_over(x, scale) for x in (item.value, item.low, item.high))
    item.needed = judge.needed(d, item.level)
    item.more = {"mean_a": centre[0], "mean_b": centre[1], "difference": float(extended.difference(*centre)),
                 "rank_p": comparison.signed_rank(d, "less"), "superiority": comparison.superiority(d)[0]}
    return item


def _over(value, scale):
    """The value as a share of the scale, where there is one."""
    return value / scale if scale else np.sign(value) * np.inf if value else 0.0


def _pairs_text(items):
    yes, no, tie = (sum(i.verdict == v for i in items) for v in (YES, NO, TIE))
    n, least = len(items), min(i.n for i in items)
    text = f"{yes} of {n} comparisons hold, {no} are contradicted, {tie} tie, {n - yes - no - tie} open; "
    text += f"{least} common trials" if least == max(i.n for i in items) else f"at least {least} trials"
    worst = max(items, key=lambda i: i.holds)
    if np.isfinite(worst.more["mean_a"]):
        text += (f"; weakest: {worst.a} vs {worst.b} ({worst.where}): "
                 f"{number(worst.more['mean_a'])} against {number(worst.more['mean_b'])}, p = {number(worst.holds)}, "
                 f"P(better) = {worst.more['superiority']:.2f} (ranks: p = {number(worst.more['rank_p'])})")
    return text


def _pairs_method(check, quantifier, statistic):
    value = describe_value(check.get("value", {}))
    if "times" in check:
        value = "simple regret at equal CPU time"
    if "at_each" in check:
        value += " at " + ", ".join(f"t = {t}" for t in check["at_each"])
    return (f"{statistic} of {value} is smaller in {quantifier} pairs; paired bootstrap over "
            "instances and seeds; drawn is the difference as a share of the other's")


def comparable(check, studies):
    """who, against, on, value, factor, because: the ratio of means lies within [1/factor, factor], a margin
    that needs a reason; one_sided: true: it is at most the factor; quantifier as in `better`.

    {kind: comparable, who: EI, against: GP-UCB, on: study, value: {metric: cumulative}, factor: 1.1,
      because: closer than that the curves overlap}
    """
    factor, items = float(check["factor"]), []
    for panel, table, pairs in tables(check, studies):
        for a, b in pairs:
            both = table[[a, b]].dropna()
            item, data = new_item(panel, both, a, b), both.to_numpy(float)
            signs = np.array([[1.0, -factor], [-factor, 1.0]])[:1 if check.get("one_sided") else 2]
            contrasts(item, panel, both, signs)
            item.value, item.low, item.high = ratio(data, units_of(both), item.level)
            item.least, item.most = 0.0 if check.get("one_sided") else 1.0 / factor, factor
            items.append(item)
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier, studies.look)
    text = intervals(items, "/")
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: ratio of means "
                   f"{'at most' if check.get('one_sided') else 'within a factor'} {factor:g} "
                   f"({check['because']})", items, quantifier)


def intervals(items, between):
    """The values of some comparisons of two with their intervals, in words; `between`: what stands between the
    two."""
    return "; ".join(f"{i.a} {between} {i.b} ({i.where}): {number(i.value)} [{number(i.low)}, {number(i.high)}]"
                     for i in shortened(items))


def close(check, studies):
    """who, against, on, value, share, because: the means differ by at most this share of the mean regret
    after the initial design (curves that coincide on a linear axis); one_sided: true: `who` is at most
    this much above.

    {kind: close, who: EI, against: GP-UCB, on: study, share: 0.05, because: a twentieth of the axis}
    """
    share, items = float(check["share"]), []
    for panel, table, pairs in tables(check, studies):
        study, _, problem = panel.where.partition(", ")
        results = studies.get(study)
        metric = check.get("value", {}).get("metric", "simple")
        first = value_curves(results, problem or results.problems[0], metric)[0].unstack("algorithm").mean(axis=1)
        for a, b in pairs:
            both = table[[a, b]].assign(first=first).dropna()
            item = new_item(panel, both, a, b)
            signs = np.array([[1.0, -1.0, -share], [-1.0, 1.0, -share]])[:1 if check.get("one_sided") else 2]
            contrasts(item, panel, both, signs)
            means, d = both.mean().to_numpy(), units_of(both) @ [1.0, -1.0, 0.0]
            item.value, low, high = (means[0] - means[1]) / means[2], *judge.mean_interval(d, item.level)
            item.low, item.high = low / means[2], high / means[2]
            item.least, item.most = -np.inf if check.get("one_sided") else -share, share
            items.append(item)
    verdict = decided(items, "all", studies.look)
    text = intervals(items, "less")
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: difference of means as a share "
                   f"of the regret after the initial design at most {share:g} ({check['because']})", items)


def group(check, studies):
    """who, against, on, value, factor (default 1): on every panel the least mean of `who` is at most
    `factor` times that of `against`; a factor needs `because`, a reason.

    {kind: group, who: [EI, GP-UCB], against: Random, on: study, value: {metric: cumulative}}
    """
    factor, items = float(check.get("factor", 1.0)), []
    who, against = names(check["who"]), names(check["against"])
    for panel, table, _ in tables(check, studies):
        table = table[[*who, *against]].dropna()
        require_means(panel, table)
        units, data = units_of(table), table.to_numpy(float)
        k = len(who)
        means = data.mean(axis=0)
        item = new_item(panel, table, who[int(np.argmin(means[:k]))], against[int(np.argmin(means[k:]))],
                        [*who, *against])
        if len(units) > 1:
            pairs = [[judge.mean_below(units[:, i] - factor * units[:, j]) for j in range(k, k + len(against))]
                     for i in range(k)]
            below = np.array([[float(p[0]) for p in row] for row in pairs])
            above = np.array([[float(p[1]) for p in row] for row in pairs])
            item.holds = min(1.0, k * below.max(axis=1).min())
            item.fails = min(1.0, len(against) * above.max(axis=0).min())
        drawn = judge.centres(data, panel.experiments(table.index))
        item.shown = drawn[:, :k].min(axis=1) <= factor * drawn[:, k:].min(axis=1)
        best = np.column_stack([data[:, who.index(item.a)], data[:, k + against.index(item.b)]])
        item.value, item.low, item.high = ratio(best, units_of(table[[item.a, item.b]]), item.level)
        item.most = factor
        item.needed = judge.needed(units_of(table[[item.a, item.b]]) @ [1.0, -factor], item.level)
        item.more = {"mean_a": best[:, 0].mean(), "mean_b": best[:, 1].mean()}
        items.append(item)
    verdict = decided(items, "all", studies.look)
    text = "; ".join(f"{i.where}: {i.a} {number(i.more['mean_a'])} against {i.b} {number(i.more['mean_b'])}"
                     for i in shortened(items, 8))
    margin = f" times {factor:g} ({check['because']})" if factor != 1.0 else ""
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: least mean of "
                   f"{', '.join(who)} at most the least of the others{margin}", items)


def lead(check, studies):
    """who, among (default: all methods of the panel), on, metric, over: [first, last], rank (1: the
    best), share: `who` is among the first `rank` by mean in at least this share of the queries.

    {kind: lead, who: EI, among: [EI, GP-UCB, Random], on: study/Plane, metric: simple, over: [10, 20], share: 0.9}
    """
    who, rank, share = check["who"], int(check.get("rank", 1)), float(check.get("share", 0.5))
    items = []
    for where, results, problem in studies.panels(check["on"]):
        among = names(check["among"]) if "among" in check else present(results, problem)
        require(results, problem, [who, *among], where)
        frame = part(value_curves(results, problem, check.get("metric", "simple")), check["over"]).dropna()
        methods = list(dict.fromkeys([who, *among]))
        cells = [frame.xs(a, level="algorithm") for a in methods]
        common = common_trials(cells)
        if not len(common):
            raise Missing(f"{where}: no common trials yet")
        items.append(_lead_item(panel_on(studies, where, problem, methods), methods,
                                [cell.loc[common] for cell in cells], rank, share))
    verdict = decided(items, "all", studies.look)
    text = "; ".join(f"{i.where}: in {100 * i.value:.0f}% of the queries "
                     f"[{100 * i.low:.0f}, {100 * i.high:.0f}]" for i in shortened(items))
    place = "the smallest" if rank == 1 else f"among the {rank} smallest"
    first, last = check["over"]
    return Outcome(verdict, f"{text}; {min(i.n for i in items)} trials",
                   f"mean {METRIC_WORDS.get(check.get('metric', 'simple'), check.get('metric'))} "
                   f"{place} in at least {100 * share:.0f}% of the queries {first} to {last}; "
                   "bootstrap over instances and seeds", items)


def _lead_item(panel, methods, cells, rank, share):
    """Whether the first of the cells (frames of equal index and columns) leads."""
    values = np.stack([cell.to_numpy(float) for cell in cells], axis=1)
    item = new_item(panel, cells[0], methods[0], "", methods)
    for cell in cells:
        require_means(panel, cell)
    units = np.stack([units_of(cell) for cell in cells], axis=1)
    item.value = float(judge.lead_share(values.mean(axis=0), rank))
    item.least, item.most = share, 1.0
    flat = values.reshape(len(values), -1)
    drawn = judge.centres(flat, panel.experiments(cells[0].index)).reshape(-1, *values.shape[1:])
    item.shown = judge.lead_share(drawn, rank) >= share
    if len(units) > 1:
        item.holds, item.fails = judge.leads(units, rank, share)
        means = (judge.weights(len(units)) @ units.reshape(len(units), -1)).reshape(-1, *units.shape[1:])
        item.low, item.high = judge.drawn_interval(judge.lead_share(means, rank), len(units),
                                                   item.level)
        whole = units.mean(axis=2)
        others = [(whole[:, 0], other) for other in whole[:, 1:].T]
        item.tied = min(1.0, len(others) * min((float(judge.tied(*pair)) for pair in others), default=1.0))
        item.needed = max((judge.needed(a - b, item.level) for a, b in others), default=np.nan)
    return item


def identical(check, studies):
    """who, against, on, column (default x): the same values, bit by bit, in every common trial.

    {kind: identical, who: EI, against: GP-UCB, on: study, column: x}
    """
    items, column = [], check.get("column", "x")
    for where, results, problem in studies.panels(check["on"]):
        require(results, problem, [check["who"], check["against"]], where)
        group_ = results.group(problem)
        if column not in group_.evaluations():
            raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded")
        values, trials = group_.values(column), group_.trials
        done = trials[trials["status"] == "complete"]
        first, second = (done[done["algorithm"] == a].reset_index()
                         .set_index(["instance", "seed"])["index"]
                         for a in (check["who"], check["against"]))
        common = first.index.intersection(second.index)
        equal = [np.array_equal(values[first[k]], values[second[k]], equal_nan=True)
                 for k in common]
        if equal:
            items.append(certain(where, all(equal), len(equal), value=float(np.mean(equal)), least=1.0))
    verdict = decided(items, "all", studies.look) if items else OPEN
    text = "; ".join(f"{i.where}: {round(i.value * i.n)} of {i.n} trials" for i in items)
    return Outcome(verdict, text, f"{column} equal bit by bit in every common trial", items)
