"""The objects of checks: panels (a problem of a study), the methods on them, and their values per trial."""
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .outcome import Missing
from ..load.errors import InputError
from ..load.group import Group
from ..stats import comparison
from ..stats.measures import regret_at_time, trial_values

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
    problem, algorithm)}."""
    where: str
    size: dict
    cells: dict = field(default_factory=dict)


def panel_on(studies, where, problem, methods, more=""):
    """The Panel of a place that `studies.panels` names, with the names of its tables' columns."""
    study = where.partition(",")[0]
    return Panel(f"{where}{more}", studies.size(where), {m: (study, problem, m) for m in methods})


def tables(check, studies):
    """(panel, table of values per trial, pairs) of every panel and point in time."""
    who, against = names(check["who"]), names(check["against"])
    pairs = [(a, b) for a in who for b in against if a != b or "versus" in check]
    for where, results, problem in studies.panels(check["on"]):
        known = list(dict.fromkeys([*who, *against]))
        if "versus" in check:
            panel = panel_on(studies, where, problem, [])
            yield panel, _across(check, studies, results, problem, panel), [(f"{a} here", f"{b} there")
                                                                            for a, b in pairs]
            continue
        require(results, problem, known, where)
        if "times" in check:
            frame = regret_at_time(results, problem, check["times"])
            for share, (time, series) in zip(check["times"], frame.items()):
                table = comparison.paired(series)[known]
                yield panel_on(studies, where, problem, known, f", CPU time {time:.3g} s"), table, pairs
            continue
        for t in check.get("at_each", [None]):
            value = dict(check.get("value", {})) | ({} if t is None else {"at": t})
            table = comparison.paired(trial_values(results, problem, value, known))[known]
            yield panel_on(studies, where, problem, known, "" if t is None else f", t = {t}"), table, pairs


def _across(check, studies, results, problem, panel):
    """Table of values on two panels, paired by instance and seed; `panel` learns of their cells."""
    who, against = names(check["who"]), names(check["against"])
    where, other, there = one_panel(studies, check["versus"])
    require(other, there, against, where)
    value, study = check.get("value", {}), where.partition(",")[0]
    panel.cells.update({f"{a} here": (panel.where.partition(",")[0], problem, a) for a in who},
                       **{f"{b} there": (study, there, b) for b in against})
    here = comparison.paired(trial_values(results, problem, value, who))[who]
    there = comparison.paired(trial_values(other, there, value, against))[against]
    return pd.concat([here.add_suffix(" here"), there.add_suffix(" there")], axis=1)


def one_panel(studies, place):
    """(where, results, problem) of a place that is one panel; raises InputError if it is several."""
    found = studies.panels([place])
    if len(found) > 1:
        raise InputError(f"{place} has several problems; STUDY/PROBLEM names one of them")
    return found[0]


def each_method(check, studies):
    for where, results, problem in studies.panels(check["on"]):
        who, other = names(check["who"]), names(check.get("against", []))
        require(results, problem, [*who, *other], where)
        for name in who:
            yield panel_on(studies, where, problem, [name, *other]), results, problem, name


def require(results, problem, wanted, where):
    have = present(results, problem)
    for name in wanted:
        if name not in have:
            raise Missing(f"{where}: no complete trial of {name!r}")


def present(results, problem):
    """Algorithms with complete trials on the panel."""
    trials = results.group(problem).trials
    have = set(trials.loc[trials["status"] == "complete", "algorithm"])
    return [a for a in results.algorithms if a in have]


def names(value):
    """One name or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


def describe_value(value):
    """A value of measures.trial_values in words."""
    metric = METRIC_WORDS.get(value.get("metric", "simple"), value.get("metric"))
    if "hit" in value:
        words = f"first query with simple regret at most {value['hit']:g}"
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
    mine = group.column("algorithm") == algorithm
    pairs = zip(Group.column(group, "algorithm")[mine], group.column("swept")[mine])
    return {(group.base, *pair) for pair in pairs}, bool(np.any(group.column("instance")[mine] > 0))
