"""The objects of checks: panels (a problem of a study), the methods on them, and their values per trial."""
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from . import forms, stages
from .outcome import Missing
from ..load.errors import InputError, nearest
from ..load.group import Group
from ..stats import comparison
from ..stats.measures import comparing, regret_at_time, trial_values, value_curves
from ..stats.price import price_of
from ..stats.regret import METRICS, more_is_better, optimum_known

METRIC_WORDS = {"simple": "simple regret", "cumulative": "cumulative regret",
                "instantaneous": "instantaneous regret", "average": "average regret",
                "cpu": "CPU time of model and acquisition",
                "wall": "wall time of model and acquisition",
                "confidence": "confidence parameter",
                "best": "best value so far",
                "pending_distance": "distance to the nearest query in flight",
                "cumulative_reward": "sum of the observations",
                "cumulative_expected_reward": "sum of the objective"}


@dataclass
class Panel:
    """A problem of a study, the size of the other experiment ({}: not given), and {column of its tables: (study,
    problem, algorithm)}. scale and margin: how its values are compared, see evidence.compare (None: as usual)."""
    where: str
    size: dict
    cells: dict = field(default_factory=dict)
    scale: str = None
    margin: float = None


def panel_on(studies, where, problem, methods, more=""):
    """The Panel of a place that `studies.panels` names, with the names of its tables' columns."""
    study = where.partition(",")[0]
    return Panel(f"{where}{more}", studies.size(where), {m: (study, problem, m) for m in methods})


def undecidable(where, why):
    """The error for a check that no trial can decide."""
    return InputError(f"{where}: no trial can decide this: {why}")


def metric_of(results, problem, metric, where):
    """The metric that a check compares: the one that it names, or simple regret, or the best value if the optimum is not
    known. Raises InputError for a regret without an optimum."""
    known = optimum_known(results, problem)
    metric = metric or ("simple" if known else "best")
    if not known and (metric in METRICS and not METRICS[metric].running or price_of(metric) is not None):
        raise undecidable(where, f"the optimum of {problem!r} is not known, so there is no {in_words(metric)}; compare "
                          "with value: {metric: best}, or say the `optimum` in the study file")
    return metric


def curves_of(results, problem, metric, who):
    """The curves of a metric of one method with complete trials, by instance and seed."""
    return value_curves(results, problem, metric, results.group(problem).done.cells[who]).droplevel("algorithm")


def compared(check, results, problem, where):
    """The `value` of a check on a panel, with its metric."""
    value = check.get("value", {})
    return {**value, "metric": metric_of(results, problem, value.get("metric"), where)}


def _values(results, problem, value, who, where):
    """measures.trial_values of which less is better, by `value` of a check on a panel."""
    value = compared({"value": value}, results, problem, where)
    if more_is_better(results, problem, value["metric"]) and "hit" not in value:
        value["sense"] = "max"
    return trial_values(results, problem, value, who)


def _comparing(panel, results, problem, value):
    """The panel with the scale on which its values are compared."""
    if not value.get("log") and "hit" not in value:
        metric = metric_of(results, problem, value.get("metric"), panel.where)
        panel.scale, panel.margin = comparing(results, problem, metric)
    return panel


def tables(check, studies):
    """(panel, table of values per trial, pairs) of every panel and point in time."""
    who, against, value = names(check["who"]), names(check["against"]), check.get("value", {})
    pairs = [(a, b) for a in who for b in against if a != b or "versus" in check]
    for where, results, problem in studies.panels(check["on"]):
        known = list(dict.fromkeys([*who, *against]))
        if "versus" in check:
            require(studies, results, problem, who, where)
            panel = _comparing(panel_on(studies, where, problem, []), results, problem, value)
            yield panel, _across(check, studies, results, problem, panel), [(f"{a} here", f"{b} there")
                                                                            for a, b in pairs]
            continue
        require(studies, results, problem, known, where)
        if "times" in check:
            metric = metric_of(results, problem, value.get("metric"), where)
            frame = regret_at_time(results, problem, check["times"], metric)
            for share, (time, series) in zip(check["times"], frame.items()):
                panel = panel_on(studies, where, problem, known, f", CPU time {time:.3g} s")
                yield _comparing(panel, results, problem, value), comparison.paired(series)[known], pairs
            continue
        for t in check.get("at_each", [None]):
            found = _values(results, problem, value if t is None else value | {"at": t}, known, where)
            panel = panel_on(studies, where, problem, known, "" if t is None else f", t = {t}")
            yield _comparing(panel, results, problem, value), comparison.paired(found)[known], pairs


def _across(check, studies, results, problem, panel):
    """Table of values on two panels, paired by instance and seed; `panel` learns of their cells."""
    who, against = names(check["who"]), names(check["against"])
    where, other, there = one_panel(studies, check["versus"])
    require(studies, other, there, against, where)
    value, study = check.get("value", {}), where.partition(",")[0]
    panel.cells.update({f"{a} here": (panel.where.partition(",")[0], problem, a) for a in who},
                       **{f"{b} there": (study, there, b) for b in against})
    here = comparison.paired(_values(results, problem, value, who, panel.where))[who]
    there = comparison.paired(_values(other, there, value, against, where))[against]
    return pd.concat([here.add_suffix(" here"), there.add_suffix(" there")], axis=1)


def one_panel(studies, place):
    """(where, results, problem) of a place that is one panel; raises InputError if it is several."""
    found = studies.panels([place])
    if len(found) > 1:
        raise InputError(f"{place} has several problems; STUDY/PROBLEM names one of them")
    return found[0]


def panels_of(check, studies):
    """[(where, results, problem)] of a check. Kinds that need a number of trials that was fixed beforehand see no others."""
    found = studies.panels(check["on"])
    return [(where, stages.planned(results), problem) for where, results, problem in found] \
        if check.get("kind") in forms.FIXED else found


def each_method(check, studies):
    for where, results, problem in panels_of(check, studies):
        who, other = names(check["who"]), names(check.get("against", []))
        require(studies, results, problem, [*who, *other], where)
        for name in who:
            yield panel_on(studies, where, problem, [name, *other]), results, problem, name


def require(studies, results, problem, wanted, where):
    """Raises InputError for a method that is neither in the results nor in the study, Missing for one without a complete
    trial on the panel."""
    have, known = present(results, problem), methods_of(results, problem)
    for name in wanted:
        if name not in known and not studies.plans(where.partition(",")[0], "algorithms", name):
            raise InputError(f"{where}: no algorithm {name!r}{nearest(name, known)} (it has: {', '.join(known)})")
        if name not in have:
            raise Missing(f"{where}: no complete trial of {name!r}")


def methods_of(results, problem):
    """The algorithms that have trials on a panel, complete or not."""
    return list(results.group(problem).cells)


def present(results, problem):
    """Algorithms with complete trials on the panel."""
    have = results.group(problem).done.cells
    return [a for a in results.algorithms if a in have]


def names(value):
    """One name or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


def in_words(metric):
    """A metric in words."""
    price = price_of(metric)
    return METRIC_WORDS.get(metric, metric) if price is None else f"simple regret plus {price:g} times the cost"


def words_of_metric(check):
    """The metric of a check in words."""
    metric = check.get("value", check).get("metric")
    return in_words(metric) if metric else "simple regret (best value where there is no optimum)"


def describe_value(check):
    """The value that a check compares (measures.trial_values) in words."""
    value, metric = check.get("value", {}), words_of_metric(check)
    if "hit" in value:
        words = f"first query with {metric} at {value['hit']:g} or better"
    elif "over" in value:
        first, last = value["over"]
        words = f"{'log10 of ' if value.get('log') else ''}{metric}, mean over queries {first} to {last}"
    else:
        when = value.get("at", "last")
        words = f"{metric} at {'the last query' if when == 'last' else f'query {when}'}"
    return words + (" (negated: more is better)" if value.get("sense") == "max" else "")


def cells_behind(results, problem, algorithm):
    """(cells of the study file behind a method on a panel: (problem, algorithm, swept), whether they have several
    instances)."""
    group = results.group(problem)
    mine = group.cells.get(algorithm)
    if mine is None:
        return set(), False
    pairs = set(zip(Group.column(mine, "algorithm"), mine.column("swept")))
    return {(group.base, *pair) for pair in pairs}, bool(np.any(mine.column("instance") > 0))
