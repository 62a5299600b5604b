"""Sweeps as data: one row per trial with a column per swept setting, and the effect of each setting."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..load.settings import method_label, panels
from . import comparison, extended
from .measures import trial_values
from .regret import more_is_better

if TYPE_CHECKING:
    from ..load.results import Results

FIXED = ["problem", "method", "instance", "seed", "value"]


def names(results: Results) -> list[str]:
    """Swept settings, in the order of the labels."""
    return results.settings


def final_values(results: Results, metric: str) -> pd.DataFrame:
    """One row per complete trial: problem (without settings), method, instance, seed, the value of the metric at the
    last query, and a column per setting. A method that was not swept over a setting has a row for every value of it
    that goes together with its own (`settings.panels`)."""
    settings, blocks, pairs, found = names(results), [], [], []
    for label in results.problems:
        group = results.group(label)
        values = trial_values(results, label, {"metric": metric})
        frame = values.rename("value").reset_index()
        swept = {pair[0]: (method_label(*pair), {**own, **group.at}) for pair, own in group.swept.items()}
        frame["problem"] = group.place
        pairs += [(a, m) for a, (m, _) in swept.items()]
        found += [own for _, own in swept.values()]
        frame["method"] = frame["algorithm"].map({a: m for a, (m, _) in swept.items()})
        for name in settings:
            frame[name] = frame["algorithm"].map({a: s.get(name) for a, (_, s) in swept.items()})
        blocks.append(frame[FIXED + settings])
    table = pd.concat(blocks, ignore_index=True)
    together, _ = panels(found)
    for k, name in enumerate(settings, 1):
        table = _together(_broadcast(table, name), settings[:k], together)
    for name in settings:
        table = _typed(table, name)
    rank = {label: k for k, label in enumerate(results.algorithms)}
    order = {}  # of methods: by their first label in the study
    for label, method in dict.fromkeys(pairs):
        order[method] = min(order.get(method, len(rank)), rank[label])
    return table.sort_values("method", key=lambda m: m.map(order), kind="stable", ignore_index=True)


def _broadcast(table, name):
    everywhere = table[name].isna()
    values = table[name].dropna().unique()
    copies = [table[everywhere].assign(**{name: value}) for value in values]
    return pd.concat([table[~everywhere], *copies], ignore_index=True)


def _together(table, some, together):
    """The rows whose values of some settings stand in a panel; settings that go together have few of all pairs."""
    known = {tuple(one.get(name) for name in some) for one in together}
    if any(None in values for values in known):
        return table
    return table[[values in known for values in zip(*(table[name] for name in some))]]


def _typed(table, name):
    numbers = pd.to_numeric(table[name], errors="coerce")
    return table.assign(**{name: table[name] if numbers.isna().any() else numbers})


def is_spread(values: ArrayLike) -> bool:
    """Whether numbers need a logarithmic axis: they are positive, and cover a factor of 30 or are evenly spaced in
    their logarithms."""
    values = np.unique(np.asarray(values, float))
    if len(values) < 3 or values[0] <= 0:
        return False
    steps = np.diff(np.log(values))
    return values[-1] >= 30 * values[0] or (np.ptp(steps) < 0.05 * steps.mean() and steps[0] > 0.5)


def sensitivity(table: pd.DataFrame, results: Results, metric: str) -> pd.DataFrame:
    """One row per problem, method and setting: the smallest and the largest median over the values of the setting, the
    numbers of their trials, the value with the better one, and their difference as a share of the method's median."""
    rows = []
    for (problem, method), mine in table.groupby(["problem", "method"], sort=False):
        for name in names(results):
            found = mine.groupby(name)["value"].agg(["median", "count"]).dropna().sort_values("median", kind="stable")
            if len(found) > 1:
                least, largest = found.iloc[0], found.iloc[-1]
                better = largest if more_is_better(results, problem, metric) else least
                best = found[found["median"] == better["median"]].index.min()
                spread = float(extended.difference(largest["median"], least["median"]))
                centre = abs(mine["value"].median())
                rows.append([problem, method, name, len(found), best, least["median"], int(least["count"]),
                             largest["median"], int(largest["count"]),
                             spread / centre if centre and np.isfinite(spread + centre) else np.nan])
    return pd.DataFrame(rows, columns=["problem", "method", "setting", "n_values", "best_at", "least", "n_least",
                                       "largest", "n_largest", "share"])


def differences(table: pd.DataFrame, method: str, baseline: str,
                settings: Iterable[str]) -> dict | pd.DataFrame:
    """Per value of two settings: mean difference of a method to the baseline over common trials, or
    over the means of the instances where trials share them (NaN where a value is infinite), p of the signed-rank
    test, and the number of differences."""
    rows = {}
    pair = table[table["method"].isin([method, baseline])]
    for key, mine in pair.groupby(list(settings), sort=False):
        both = mine.set_index(["instance", "seed", "method"])["value"].unstack("method")
        both = comparison.independent(both.reindex(columns=[method, baseline]).dropna()).to_numpy(float)
        difference = extended.difference(*both.T)
        rows[key] = [difference.mean() if len(both) and np.isfinite(both).all() else np.nan,
                     comparison.signed_rank(difference), len(both)]
    index = pd.MultiIndex.from_tuples(list(rows), names=list(settings))
    return pd.DataFrame(list(rows.values()), index, ["difference", "p", "n"])
