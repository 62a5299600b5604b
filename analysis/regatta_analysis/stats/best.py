"""The question that a sweep answers: which setting is best for a method on a problem, which others cannot be told from
it, and what each setting changes.

A cell is one method on one problem at one combination of the settings that the method reads. Settings of a problem
are no choice: they make another problem (`Group.block`)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.results import remembered
from ..load.settings import method_label, same_value, words_of_settings
from . import evidence, extended
from .measures import comparing, last_values
from .regret import censored, more_is_better
from .statistics import median_of_units

if TYPE_CHECKING:
    from ..load.results import Results

BEST = ["problem", "method", "setting", "scale", "median", "low", "high", "n", "planned", "cells", "alike", "why"]
ALL = "all problems together"
EFFECTS = ["problem", "method", "setting", "value", "against", "n", "scale", "effect", "low", "high", "better",
           "better_low", "better_high", "verdict"]
FEWER, NO_VALUE = "the best value rests on {} of {} trials", "no setting has a finite value"
CENSORED = "`stop` ended trials of a setting, so its value at the last query is not known"
EQUAL = "all settings have the same values"


def cells(results: Results, metric: str) -> dict[tuple[str, str], dict[tuple, pd.Series]]:
    """{(problem, method): {((setting, value), ...): final values of the trials}}; the values are indexed by
    instance and seed, less is better, and NaN where a trial has none."""
    found = {}
    for group, algorithm, pair, own in _swept(results):
        here = found.setdefault(pair, {})
        if own not in here:
            values = last_values(results, group.label, metric).reindex(group.cells[algorithm].index)
            here[own] = values.droplevel("algorithm")
    return found


def planned(results: Results) -> dict[tuple[str, str], dict[tuple, int]]:
    """The same with the numbers of trials that are planned."""
    found, known = {}, results.cells().set_index(["problem", "algorithm"])["planned"]
    for group, algorithm, pair, own in _swept(results):
        found.setdefault(pair, {}).setdefault(own, int(known[group.label, algorithm]))
    return found


def _swept(results):
    """(group, algorithm, (problem, method), settings of the method without those of its problem) of every cell."""
    for group in map(results.group, results.problems):
        for (algorithm, swept), own in group.swept.items():
            yield group, algorithm, (group.block, method_label(algorithm, swept)), tuple(
                (name, value) for name, value in own.items() if group.part(name) != "problem")


def censored_cells(results: Results, metric: str) -> set[tuple[str, str]]:
    """(problem, method) where a setting has no value because `stop` ended its trials."""
    return {pair for group, algorithm, pair, _ in _swept(results) if algorithm in censored(results, group.label, metric)}


def best_settings(results: Results, metric: str) -> pd.DataFrame:
    """One row per problem and method, BEST: the setting with the best median (over the medians of the instances, where
    several trials share one), with low and high, its 95% interval for every law; n of the planned trials have a value.
    cells: how many settings the method has. alike: those of the others that cannot be told from the best one,
    as texts; another setting can if paired evidence shows it worse at 5%, over all of them together, by more than
    makes a difference in practice. Where nobody is best, setting is "" and why says so. A method that reads no setting
    has "" too. `scale` is "value". Rows of the scale "ratio" follow, one per method, for all problems together
    (problem ALL): there a value is a share of the median of all trials of the method on the problem."""
    found, ended, counts = cells(results, metric), censored_cells(results, metric), planned(results)
    more = {p for p in results.problems if more_is_better(results, p, metric)}
    flips = {results.group(p).block: -1.0 if p in more else 1.0 for p in results.problems}
    rows = [_best_row(problem, method, some, flips[problem], "value", (problem, method) in ended,
                      counts[problem, method], _comparing(results, problem, metric))
            for problem in flips for (where, method), some in found.items() if where == problem]
    rows += [_best_row(ALL, method, some, 1.0, "ratio", any(m == method for _, m in ended),
                       {key: sum(n[key] for (_, m), n in counts.items() if m == method) for key in some}, (None, None))
             for method, some in _together(found).items()]
    return pd.DataFrame(rows, columns=BEST)


def _comparing(results, block, metric):
    """`measures.comparing` on the first panel of a problem of the study file."""
    return comparing(results, next(p for p in results.problems if results.group(p).block == block), metric)


def _together(found):
    """{method: {setting: values over all problems}} of methods that have the same settings on several problems and
    values that are ratios of something; the instances of the problems differ."""
    made = {}
    for method in dict.fromkeys(method for _, method in found):
        mine = {problem: some for (problem, m), some in found.items() if m == method}
        usual = {problem: pd.concat(some.values()) for problem, some in mine.items()}
        scales = {problem: v.median() for problem, v in usual.items() if v.min() >= 0.0}
        if len(mine) > 1 and len(scales) == len(mine) and all(0.0 < v < np.inf for v in scales.values()) \
                and len({frozenset(some) for some in mine.values()}) == 1 and len(next(iter(mine.values()))) > 1:
            made[method] = {key: pd.concat([_named(some[key] / scales[problem], problem) for problem, some in mine.items()])
                            for key in next(iter(mine.values()))}
    return made


def _named(values, problem):
    """Values whose instances belong to a problem; each trial is one where trials do not share them."""
    frame = values.index.to_frame(index=False)
    shared = 1 < frame["instance"].nunique() < len(frame)
    names = [f"{problem}/{i}" if shared else f"{problem}/{i}/{s}" for i, s in zip(frame["instance"], frame["seed"])]
    return values.set_axis(pd.MultiIndex.from_arrays([names, frame["seed"]], names=["instance", "seed"]))


def _best_row(problem, method, some, flip, scale, ended, planned, compares):
    keys, values, counts = list(some), list(some.values()), [planned[key] for key in some]
    medians = [_median(v) for v in values]
    whole = [v.notna().sum() == n > 0 and not ended for v, n in zip(values, counts)]
    best, why = extended.best([m[0] for m in medians], whole), ""
    if not best.any():
        known = np.isfinite([m[0] for m in medians])
        at = int(np.nanargmin(np.where(known, [m[0] for m in medians], np.nan))) if known.any() else 0
        why = FEWER.format(int(values[at].notna().sum()), counts[at]) if known.any() else NO_VALUE
        why = CENSORED if ended else why
        return [problem, method, "", scale, *[np.nan] * 3, int(values[at].notna().sum()), counts[at],
                len(keys), [], why]
    at = int(best.argmax())
    centre, *ends = medians[at]
    low, high = sorted(flip * np.array(ends))
    setting = words_of_settings(dict(keys[at]))
    if len(keys) > 1 and all(v.equals(values[0]) for v in values):
        setting, why = "", EQUAL
    return [problem, method, setting, scale, flip * centre, low, high, int(values[at].notna().sum()), counts[at],
            len(keys), [words_of_settings(dict(key)) for k, (key, worse) in enumerate(zip(
                keys, _told_apart(values, at, *compares))) if k != at and not worse], why]


def _median(values):
    """(median over units, low, high) of the values of trials."""
    centre, low, high = (float(v) for v in median_of_units(values))
    return float(extended.quantiles(values, [0.5])[0]) if np.isnan(centre) else centre, low, high


@remembered
def not_worse(results: Results, metric: str, cells: tuple[tuple[str, str], ...], best: int) -> np.ndarray:
    """Whether each of the cells (pairs of problem and algorithm) is the best one or not shown to be worse than it at the
    last query: paired evidence, at 5 % over all of them together."""
    values = [last_values(results, problem, metric).xs(algorithm, level="algorithm") for problem, algorithm in cells]
    return _told_apart(values, best, *comparing(results, cells[best][0], metric)) == 0


def _told_apart(values, at, scale=None, margin=None):
    """Whether each of the series is shown to be worse than the one at a place, at 5 % over all of them together."""
    level = evidence.LEVEL / max(len(values) - 1, 1)
    pairs = [pd.concat([own.rename("a"), values[at].rename("b")], axis=1).dropna() for own in values]
    return np.array([k != at and len(both) > 0 and _evidence(both, level, scale, margin).verdict == evidence.WORSE
                     for k, both in enumerate(pairs)])


def _evidence(both, level=evidence.LEVEL, scale=None, margin=None):
    """The Evidence of the columns a and b, which may be empty. A trial may stand several times: a unit is a trial, or an instance where
    several trials share one."""
    instances = both.index.get_level_values("instance")
    units = instances if 1 < instances.nunique() < len(both.index.unique()) else both.index
    codes, (a, b) = pd.factorize(units.to_numpy())[0], both.to_numpy(float).T
    scale = scale or evidence.scale_of(a, b)
    if len(codes) > 1 and codes.max() == 0:  # one unit
        contrast = float(np.median(evidence.contrasts(a, b, scale)))
        a, b = ([np.exp(contrast)], [1.0]) if scale == "ratio" else ([contrast], [0.0])
        codes = codes[:1]
    return evidence.compare(a, b, codes, scale, level=level, margin=margin)


def effects(results: Results, metric: str) -> pd.DataFrame:
    """One row per problem, method, setting that the method reads, and value of it but the first, EFFECTS: the typical
    effect of this value against the first one, with a 95% confidence sequence. Trials are paired by instance and seed
    and by the values of all other settings; a unit is a trial, with the median over the other settings. The effect is
    a ratio, less than 1 if the value is better, or a difference where values below 0 exist. better: the share of
    units in which the value is better than the first one, ties half, with its interval."""
    rows = []
    for (problem, method), some in cells(results, metric).items():
        names = list(dict.fromkeys(name for key in some for name, _ in key))
        for name in names:
            values = list(dict.fromkeys(dict(key)[name] for key in some if name in dict(key)))
            for value in values[1:]:
                rows.append([problem, method, name, value, values[0], *_effect(some, name, value, values[0],
                                                                                      _comparing(results, problem, metric))])
    return pd.DataFrame(rows, columns=EFFECTS)


def _effect(some, name, value, first, compares):
    def at(wanted):
        return {tuple(pair for pair in key if pair[0] != name): v for key, v in some.items()
                if name in dict(key) and same_value(dict(key)[name], wanted)}
    one, other = at(value), at(first)
    shared = [key for key in one if key in other]
    if not shared:
        return [0, "", *[np.nan] * 6, evidence.OPEN]
    both = pd.concat([pd.concat([one[key].rename("a"), other[key].rename("b")], axis=1) for key in shared]).dropna()
    found = _evidence(both, evidence.LEVEL, *compares)
    return [len(both.index.unique()), found.scale, found.typical, found.low, found.high, found.better,
            found.better_low, found.better_high, found.verdict]
