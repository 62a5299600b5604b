"""Kinds of checks that compare methods."""
from dataclasses import replace

import numpy as np
import pandas as pd
import xxhash

from . import bootstrap, grades
from .grades import AGAINST, OPEN, SHOWN, VOID
from .items import BANDS, certain, common_trials, interval_item, new_item, paired, require_means, shows, units_of
from .outcome import Item, Missing, Outcome, number, shortened
from .panels import (curves_of, describe_value, methods_of, metric_of, names, panel_on, panels_of, require, tables, undecidable,
                     words_of_metric)
from ..load.errors import InputError, nearest
from ..stats import evidence
from ..stats.measures import part, trial_values
from ..stats.regret import more_is_better


def better(check, studies):
    """The values of `who` are smaller than the values of `against`.

    - `who`, `against`, `on`, `value`: the methods, the panels and the compared value.
    - `statistic`: the reported number, `mean` (default) or `median`.
    - `combine`: `every` (default), `most` or `any` of the pairs on all panels must be shown. `pooled` makes one
      effect of all panels, with equal weights ("overall", "outperforms"); panels of one problem count as
      dependent.
    - `at_each`: compare at several queries t.
    - `times`: compare at these shares of the CPU time of the fastest method.
    - `versus`: take `against` on this one panel (default: the panel of `who`).

    {kind: better, who: EI, against: [Random, GP-UCB], on: study, value: {metric: simple, at: 20}, combine: most}
    """
    rows = list(_rows(check, studies))
    if not rows:
        raise Missing("nothing to compare")
    return wins(check, studies, rows, _compared(check), "log10" if check.get("value", {}).get("log") else None)


def _rows(check, studies):
    """(panel, table, a, b) of every comparison."""
    return ((panel, table, a, b) for panel, table, pairs in tables(check, studies) for a, b in pairs)


def wins(check, studies, rows, what, scale=None):
    """The Outcome of comparisons, rows of (panel, table, a, b), in which a is smaller."""
    combine = check.get("combine", "every")
    items = [better_item(*row, check.get("statistic", "mean"), scale) for row in rows]
    pooled = pooled_item(items, studies) if combine == "pooled" else None
    of = {"every": "in every comparison", "most": "in most comparisons", "any": "in a comparison",
          "pooled": "over all comparisons together"}[combine]
    return Outcome(lambda items: pairs_text(items, pooled), f"{what}: better {of}; typical ratio (or difference) of paired "
                   "trials with its 95 % confidence sequence", items, combine, True, pooled=pooled)


def better_item(panel, table, a, b, statistic="mean", scale=None):
    """The comparison of columns a and b of a table: a is smaller."""
    both = table[[a, b]].dropna()
    item = new_item(panel, both, a, b)
    found = paired(item, both, scale or panel.scale, statistic, panel.margin)
    if found is None:
        return item
    item.most = found.neutral
    item.decide_by(found, lambda one: one.verdict)
    shows(item, both, lambda centres: centres[:, 0] < centres[:, 1], statistic)
    item.more = {"effect": found.effect, "skewed": found.skewed, "wins": found.wins, "ties": found.ties,
                 "losses": found.losses}
    return item


def pooled_item(items, studies):
    """All comparisons as one, with equal weights of panels. The panels of one problem of the study file, whatever is
    swept or scored, share trials, or the designs and noise of their trials."""
    places = [(i.cells[0][0], studies.get(i.cells[0][0]).group(i.cells[0][1]).base) for i in items]
    known = [(i.evidence, place) for i, place in zip(items, places) if i.evidence and i.state != VOID]
    pairs = {(i.a, i.b) for i in items}
    a, b = pairs.pop() if len(pairs) == 1 else ("", "")
    item = Item(f"{len(items)} {'panels' if a else 'comparisons'} together", a, b, n=min(i.n for i in items), units=min(i.units for i in items),
                cells=tuple(dict.fromkeys(cell for i in items for cell in i.cells)), pools=True)
    if not known:
        return item
    try:
        found = evidence.pooled(*map(list, zip(*known)))
    except ValueError as error:
        raise Missing(f"not pooled: {error}") from error
    item.most, item.units = found.neutral, len(found.contrasts[0])
    item.decide_by(found, lambda one: one.verdict)
    return item


def pairs_text(items, pooled):
    least, most = min(i.n for i in items), max(i.n for i in items)
    text = f"{least} common trials" if least == most else f"{least} to {most} common trials"
    if pooled:
        text += f"; together: {_effect(pooled)}; one by one: {grades.Tally.of(i.state for i in items)}"
    worst = max(items, key=lambda i: (i.state != SHOWN, 1.0 - i.better if i.better == i.better else -1.0))
    if np.isfinite(worst.value):
        text += f"; {'weakest' if len(items) > 1 else 'found'}: {worst.name}, {_effect(worst)}"
    stuck = [f"{100 * share:.0f} % of the trials of {name} ({i.where})" for i in items
             for name, share in ((i.a, i.stuck_a), (i.b, i.stuck_b)) if share > 0]
    return text + (f"; stuck: {', '.join(list(dict.fromkeys(stuck))[:3])}" if stuck else "")


def _effect(item):
    """The effect in words."""
    kind = "difference" if item.evidence.scale == "difference" else "ratio"
    return (f"{kind} {number(item.value)} [{number(item.low)}, {number(item.high)}], P(better) {item.better:.2f} "
            f"[{item.better_low:.2f}, {item.better_high:.2f}]")


def _compared(check):
    """The compared values in words."""
    value = describe_value(check)
    if "times" in check:
        value = f"{words_of_metric(check)} at equal CPU time"
    if "at_each" in check:
        value += " at " + ", ".join(f"t = {t}" for t in check["at_each"])
    return value


def comparable(check, studies):
    """The ratio of the values of `who` and `against` lies within [1/factor, factor].

    - `who`, `against`, `on`, `value`: the methods, the panels and the compared value.
    - `factor`: the margin. `because`: the reason for this margin.
    - `one_sided: true`: the ratio is at most the factor (not inferior: "competitive").
    - `combine`: `every` (default), `most` or `any` of the pairs.

    {kind: comparable, who: EI, against: GP-UCB, on: study, value: {metric: cumulative}, factor: 1.1,
      because: closer than that the curves overlap}
    """
    return ratios(check, ((panel, table[[a, b]].dropna()) for panel, table, a, b in _rows(check, studies)))


def ratios(check, tables_, what=""):
    """The Outcome of comparisons of two columns, (panel, table), whose ratio is within a factor, or at most the factor.
    `what` is a remark on the values."""
    factor, one_sided, items = float(check["factor"]), check.get("one_sided", False), []
    for panel, both in tables_:
        _need_ratios(panel, both.to_numpy(float))
        items.append(interval_item(panel, both, 0.0 if one_sided else 1.0 / factor, factor, "ratio"))
    return Outcome(lambda some: intervals(some, "/"), f"{describe_value(check)}{what}: typical ratio of paired "
                   f"trials {'at most' if one_sided else 'within a factor'} {factor:g} ({check['because']})", items,
                   check.get("combine", "every"))


def _need_ratios(panel, data):
    if len(data) and np.min(data) < 0.0:
        raise undecidable(panel.where, "values below 0 have no ratio (a best value that is maximised counts with its sign "
                          "turned): compare with kind better or close")


def intervals(items, between):
    """Some comparisons in words, with their values and intervals; `between` stands between the two compared names."""
    return "; ".join(f"{i.a} {between} {i.b} ({i.where}): {number(i.value)} [{number(i.low)}, {number(i.high)}]"
                     for i in shortened(items))


def close(check, studies):
    """The values differ by at most a share of the mean regret after the initial design, so that the curves coincide
    on a linear axis.

    - `who`, `against`, `on`, `value`: the methods, the panels and the compared value.
    - `share`: the margin. `because`: the reason for this margin.
    - `one_sided: true`: `who` is at most this share above `against`.
    - `combine`: `every` (default), `most` or `any` of the pairs.

    {kind: close, who: EI, against: GP-UCB, on: study, share: 0.05, because: a twentieth of the axis}
    """
    share, items = float(check["share"]), []
    least = -np.inf if check.get("one_sided", False) else -share
    for panel, table, a, b in _rows(check, studies):
        study, _, problem = panel.where.partition(", ")
        results = studies.get(study)
        problem = problem or results.problems[0]
        metric = metric_of(results, problem, check.get("value", {}).get("metric"), study)
        first = trial_values(results, problem, {"metric": metric, "at": 0}).replace([np.inf, -np.inf], np.nan)
        first = abs(first.mean())
        if not first > 0.0:
            raise undecidable(panel.where, f"the mean {words_of_metric(check)} after the initial design is {first:g}, of "
                              "which there is no share")
        items.append(interval_item(panel, table[[a, b]].dropna() / first, least, share, "difference"))
    return Outcome(lambda some: intervals(some, "less"), f"{describe_value(check)}: difference of paired trials as "
                   f"a share of the value after the initial design at most {share:g} ({check['because']})", items,
                   check.get("combine", "every"))


def group(check, studies):
    """On every panel, one method of `who` is at most `factor` times each method of `against`.

    - `who`, `against`, `on`, `value`: the methods, the panels and the compared value.
    - `factor`: 1 by default. Any other factor needs a reason, `because`.
    - `combine`: `every` (default), `most` or `any` of the panels.

    {kind: group, who: [EI, GP-UCB], against: Random, on: study, value: {metric: cumulative}}
    """
    factor, items = float(check.get("factor", 1.0)), []
    who, against = names(check["who"]), names(check["against"])
    for panel, table, _ in tables(check, studies):
        table = table[[*who, *against]].dropna()
        if factor != 1.0:
            _need_ratios(panel, table.to_numpy(float))
        items.append(_group_item(panel, table, who, against, factor))
    margin = f" times {factor:g} ({check['because']})" if factor != 1.0 else ""
    return Outcome(lambda some: intervals(some, "/"), f"{describe_value(check)}: the best of {', '.join(who)} is at "
                   f"most each of the others{margin}", items, check.get("combine", "every"))


def _group_item(panel, table, who, against, factor):
    data, k = table.to_numpy(float), len(who)
    centre = np.median(data, axis=0) if len(data) else np.zeros(data.shape[1])
    item = new_item(panel, table, who[int(np.argmin(centre[:k]))], against[int(np.argmin(centre[k:]))],
                    [*who, *against])
    scale = evidence.scale_of(data)
    item.most = factor if scale == "ratio" else 0.0
    found = paired(item, table[[item.a, item.b]], scale)
    if found is None:
        return item
    pairs = [[paired(Item(""), table[[a, b]], scale) for b in against] for a in who]
    item.decide_by(found, lambda _: "open")
    if item.state != VOID:
        _enclose_group(item, pairs)
    shows(item, table, lambda centres: centres[:, :k].min(axis=1) <= factor * centres[:, k:].min(axis=1))
    return item


def _enclose_group(item, pairs):
    """Decide by the interval of the largest ratio of the group's best method to a rival, over `pairs[a][b]`: its ends are
    those of the pairs at the level divided by the number of methods on the side that may be chosen."""
    decide_one = item.decide

    def ends(name, among):
        return np.array([[getattr(replace(one, level=one.level / among), name) for one in row] for row in pairs])

    def decide(among):
        decide_one(among)
        item.value = np.array([[one.typical for one in row] for row in pairs]).max(axis=1).min()
        item.low = ends("low", among * len(pairs[0])).min(axis=0).max()
        item.high = ends("high", among * len(pairs)).max(axis=1).min()
        item.state = SHOWN if item.high <= item.most else AGAINST if item.low > item.most else OPEN
    item.decide = decide
    decide(1)


def lead(check, studies):
    """`who` is among the first `rank` methods by mean in at least a share of the queries. Queries at which all
    values are equal do not count. The test is for a number of trials that was fixed beforehand.

    - `who`, `on`, `metric`: the method, the panels and the ranked value.
    - `among`: the ranked methods (default: all methods of the panel).
    - `over: [first, last]`: the queries that count.
    - `rank`: 1 is the best. `share`: the share of the queries.
    - `combine`: `every` (default), `most` or `any` of the panels.

    {kind: lead, who: EI, among: [EI, GP-UCB, Random], on: study/Plane, metric: simple, over: [10, 20], share: 0.9}
    """
    who, rank, share = check["who"], int(check.get("rank", 1)), float(check.get("share", 0.5))
    items = []
    for where, results, problem in panels_of(check, studies):
        everybody = methods_of(studies.whole_study(where.partition(",")[0]), problem)
        among = names(check["among"]) if "among" in check else everybody
        require(studies, results, problem, [who, *among], where)
        metric = metric_of(results, problem, check.get("metric"), where)
        methods, sign = list(dict.fromkeys([who, *among])), -1.0 if more_is_better(results, problem, metric) else 1.0
        cells = [sign * part(curves_of(results, problem, metric, a), check["over"]).dropna() for a in methods]
        common = common_trials(cells)
        if not len(common):
            raise Missing(f"{where}: no common trials yet")
        items.append(_lead_item(panel_on(studies, where, problem, methods), methods,
                                [cell.loc[common] for cell in cells], rank, share))
    place = "the best" if rank == 1 else f"among the {rank} best"
    first, last = check["over"]
    return Outcome(_leads_text, f"mean {words_of_metric(check)} {place} in at least {100 * share:.0f}% of the queries "
                   f"{first} to {last}{BANDS}", items, check.get("combine", "every"))


def _leads_text(items):
    text = "; ".join(f"{i.where}: in {100 * i.value:.0f}% of the queries "
                     f"[{100 * i.low:.0f}, {100 * i.high:.0f}]" for i in shortened(items))
    return f"{text}; {min(i.n for i in items)} trials"


def _lead_item(panel, methods, cells, rank, share):
    """Whether the first of the cells (frames of equal index and columns) leads."""
    for cell in cells:
        require_means(panel, cell)
    values = np.stack([cell.to_numpy(float) for cell in cells], axis=1)
    differs = np.ptp(values, axis=(0, 1)) > 0.0
    if differs.any():
        values, cells = values[..., differs], [cell.loc[:, differs] for cell in cells]
    item = new_item(panel, cells[0], methods[0], "", methods)
    units = np.stack([units_of(cell) for cell in cells], axis=1)
    item.value = float(bootstrap.lead_share(values.mean(axis=0), rank))
    item.least, item.most = share, 1.0
    flat = pd.DataFrame(values.reshape(len(values), -1), cells[0].index)
    shows(item, flat, lambda centres: bootstrap.lead_share(centres.reshape(-1, *values.shape[1:]), rank) >= share)
    if len(units) > 1 and np.ptp(values) == 0.0:
        item.state = VOID
    elif len(units) > 1:
        item.enclose(lambda level: bootstrap.lead_interval(units, rank, level))
    return item


def identical(check, studies):
    """The values of `who` and `against` are equal, bit by bit, in every common trial.

    - `who`, `against`, `on`: the methods and the panels.
    - `column`: the compared column (default `x`).

    {kind: identical, who: EI, against: GP-UCB, on: study, column: x}
    """
    items, column = [], check.get("column", "x")
    for where, results, problem in studies.panels(check["on"]):
        require(studies, results, problem, [check["who"], check["against"]], where)
        group_ = results.group(problem)
        if column not in group_.evaluations():
            raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded{nearest(column, group_.evaluations())}")
        cells = (group_.done.cells[a] for a in (check["who"], check["against"]))
        both = pd.concat([pd.Series(cell.each(lambda block: _digests(block.values(column))),
                                    cell.index.droplevel("algorithm")) for cell in cells], axis=1).dropna()
        if len(both):
            equal = (both[0] == both[1]).to_numpy()
            items.append(certain(where, bool(equal.all()), len(equal), value=float(np.mean(equal)), least=1.0))
    text = "; ".join(f"{i.where}: {round(i.value * i.n)} of {i.n} trials" for i in items)
    return Outcome(text, f"{column} equal bit by bit in every common trial", items)


def _digests(values):
    """A text per trial, equal where all values are equal; NaN equals NaN."""
    values = values.astype(float) + 0.0
    values[np.isnan(values)] = np.nan
    return np.array([xxhash.xxh3_128_hexdigest(row.tobytes()) for row in values], object)
