"""Sweeps as data: one row per trial with a column per swept setting, and the effect of each setting."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..load.results import remembered
from ..load.settings import method_label, panels
from . import evidence, extended
from .measures import trial_values
from .regret import censored, more_is_better

if TYPE_CHECKING:
    from ..load.results import Results

FIXED = ["problem", "method", "instance", "seed", "value", "censored"]


def names(results: Results) -> list[str]:
    """Swept settings, in the order of the labels."""
    return results.settings


def pair(results: Results) -> tuple[str, str] | None:
    """The first two settings that some trial has together; None if no trial has two."""
    found = [{*own, *group.at} for group in map(results.group, results.problems) for own in group.swept.values()]
    return next((two for two in itertools.combinations(names(results), 2) if any(set(two) <= one for one in found)),
                None)


def reads(results: Results) -> dict[tuple[str, str], set[str]]:
    """{(problem, method): the swept settings that the method reads there}."""
    found = {}
    for group in map(results.group, results.problems):
        for pair, own in group.swept.items():
            found.setdefault((group.place, method_label(*pair)), set()).update(own)
    return found


@remembered
def final_values(results: Results, metric: str) -> pd.DataFrame:
    """One row per planned trial and panel: problem (without settings), method, instance, seed, the value of the metric
    at the last query (NaN if the trial has none), whether it has none because `stop` ended trials of its cell
    (`regret.censored`), and a column per setting.

    A method that does not read a setting has a row for every value of it that goes together with its own. Methods that
    each sweep parameters of their own have panels of their own, in which the parameters of the others are missing, and a
    method that sweeps nothing is in all of them (`settings.panels` without products)."""
    frames, found, first = [], [], {}
    rank = {label: k for k, label in enumerate(results.algorithms)}
    for label in results.problems:
        group = results.group(label)
        whole = _whole(results, group, trial_values(results, label, {"metric": metric}))
        whole["censored"] = whole["algorithm"].isin(censored(results, label, metric))
        mine = dict(iter(whole.groupby("algorithm", sort=False, observed=True)))
        for (algorithm, swept), own in group.swept.items():
            method = method_label(algorithm, swept)
            first[method] = min(first.get(method, len(rank)), rank[algorithm])
            found.append({**own, **group.at})
            frames.append(mine[algorithm].assign(problem=group.place, method=method)[FIXED])
    made, places = panels(found, product=False)
    blocks = [(number, frame.assign(**made[number])) for frame, some in zip(frames, places) for number in some]
    blocks.sort(key=lambda block: (first[block[1]["method"].iloc[0]], block[0]))
    table = pd.concat([block for _, block in blocks], ignore_index=True).reindex(columns=FIXED + names(results))
    for name in names(results):
        table = _typed(table, name)
    return table


def _whole(results, group, values):
    """The values of all planned trials of a group as a frame; in a complete study those that exist are planned."""
    index = pd.MultiIndex.from_arrays([group.column(name) for name in values.index.names], names=values.index.names)
    if not results.complete:
        pairs = index.droplevel("algorithm").unique()
        index = pd.MultiIndex.from_tuples([(a, *pair) for a in index.unique("algorithm") for pair in pairs],
                                          names=values.index.names)
    return values.reindex(index).rename("value").reset_index()


def _typed(table, name):
    """The table with numbers in a column of texts if all of them are numbers, to the bit (pandas rounds the last digits)."""
    try:
        known = {text: float(text) for text in table[name].dropna().unique()}
    except ValueError:
        return table
    return table.assign(**{name: table[name].map(known).astype(float)})


def is_spread(values: ArrayLike) -> bool:
    """Whether numbers need a logarithmic axis: they are positive, and cover a factor of 30 or are evenly spaced in
    their logarithms."""
    values = np.unique(np.asarray(values, float))
    if len(values) < 2 or values[0] <= 0:
        return False
    steps = np.diff(np.log(values))
    return values[-1] >= 30 * values[0] or (len(values) > 2 and np.ptp(steps) < 0.05 * steps.mean() and steps[0] > 0.5)


def axis_of(values: Sequence) -> str:
    """The axis that shows the values of a setting: "words" in a row, "linear" or "log"; "steps" (numbers in a row, each
    as far from the next one) for numbers that need a logarithmic axis and are not all positive."""
    if not all(isinstance(v, (int, float, np.number)) for v in values):
        return "words"
    numbers = np.unique(np.asarray(values, float))
    if is_spread(numbers):
        return "log"
    return "steps" if len(numbers) and numbers[0] == 0.0 and is_spread(numbers[1:]) else "linear"


def sensitivity(table: pd.DataFrame, results: Results, metric: str) -> pd.DataFrame:
    """One row per problem, method and setting that the method reads: the smallest and the largest median over the values
    of the setting, the numbers of their trials, the value with the better one, and their difference as a share of the
    method's median. The better one is "" where all are equal, or where `stop` ended trials of a value."""
    rows, read = [], reads(results)
    for (problem, method), mine in table.groupby(["problem", "method"], sort=False):
        for name in (name for name in names(results) if name in read[problem, method]):
            found = mine.groupby(name)["value"].agg(["median", "count"]).dropna().sort_values("median", kind="stable")
            if len(found) > 1:
                least, largest = found.iloc[0], found.iloc[-1]
                better = largest if more_is_better(results, problem, metric) else least
                equal = least["median"] == largest["median"]
                best = "" if equal or mine["censored"].any() else found[found["median"] == better["median"]].index.min()
                spread = float(extended.difference(largest["median"], least["median"]))
                centre = abs(mine["value"].median())
                rows.append([problem, method, name, len(found), best, least["median"], int(least["count"]),
                             largest["median"], int(largest["count"]),
                             spread / centre if centre and np.isfinite(spread + centre) else np.nan])
    return pd.DataFrame(rows, columns=["problem", "method", "setting", "n_values", "best_at", "least", "n_least",
                                       "largest", "n_largest", "share"])


def differences(table: pd.DataFrame, method: str, baseline: str, settings: Iterable[str],
                scale: str | None = None, margin: float | None = None) -> pd.DataFrame:
    """Per value of two settings the comparison of a method with the baseline, that of all pages (`evidence.compare`; scale
    and margin: `measures.comparing`): the typical contrast, its scale ("ratio": a logarithm of a ratio, else
    "difference"), p valid at any stopping time, which is 1 where they are equivalent, and the number of units."""
    rows = {}
    pair = table[table["method"].isin([method, baseline])]
    scale = scale or evidence.scale_of(pair["value"])
    for key, mine in pair.groupby(list(settings), sort=False):
        both = mine.set_index(["instance", "seed", "method"])["value"].unstack("method")
        both = both.reindex(columns=[method, baseline]).dropna()
        found = evidence.compare_columns(both, scale, margin=margin)
        rows[key] = [extended.quantiles(found.units, [0.5])[0] if len(found.units) else np.nan, scale,
                     1.0 if found.verdict == evidence.EQUIVALENT else found.p, len(found.units)]
    index = pd.MultiIndex.from_tuples(list(rows), names=list(settings))
    return pd.DataFrame(list(rows.values()), index, ["effect", "scale", "p", "n"])
