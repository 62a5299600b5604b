"""Regret (or any other value per evaluation) of every trial of a problem on a common time axis."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterable, Optional, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..load.errors import InputError, nearest
from ..load.results import remembered

if TYPE_CHECKING:
    from ..load.group import Group
    from ..load.results import Results


@dataclass(frozen=True)
class Metric:
    """A curve that can be drawn: variable of the results file and axis label. Less is better unless
    it is a running maximum of an objective that is maximised (`more_is_better`)."""
    column: str
    label: str
    name: str
    running: bool = False  # the largest value so far, the initial design included


METRICS = {
    "simple": Metric("simple_regret", "Simple regret $S_t$", "Simple regret"),
    "cumulative": Metric("cumulative_regret", "Cumulative regret $R_t$", "Cumulative regret"),
    "instantaneous": Metric("instantaneous_regret", "Instantaneous regret $r_t$",
                            "Instantaneous regret"),
    "average": Metric("cumulative_regret", "Average regret $R_t/t$", "Average regret"),
    "best": Metric("objective", "Best value so far", "Best value", running=True),
}


@remembered
def is_dynamic(results: Results, problem: str) -> bool:
    """Whether regret on a problem is dynamic: the law of its contexts changes, or the contexts are announced, and the
    regret of an evaluation is against the best design of that moment."""
    return bool((results.group(problem).constant("dynamic")[:1] == 1).any())


def metric_on(results: Results, problems: Iterable[str], metric: str) -> Metric:
    """The Metric of these problems in words: regret is called dynamic if it is so on all of them, and an average has no
    formula if some of them count the initial design."""
    problems = list(problems)
    found = in_words(metric, bool(problems) and all(is_dynamic(results, problem) for problem in problems))
    if metric == "average" and any(summed(results, problem, [0.0]).any() for problem in problems):
        found = replace(found, label=f"{found.name} per evaluation counted")
    return found


def in_words(metric: str, dynamic: bool) -> Metric:
    """The Metric, its regret called dynamic or not."""
    found = METRICS[metric]
    if found.running or not dynamic:
        return found
    return replace(found, label=found.label.replace("regret", "dynamic regret"),
                   name=found.name.replace("regret", "dynamic regret"))


def dynamic_note(results: Results, problems: Optional[Iterable[str]] = None) -> str:
    """Sentences, for the end of a note, on those of the problems (default: all) whose regret is dynamic, and on trials
    that `stop` ended; "" if there are none."""
    titles = {problem: results.title_of(problem) for problem in problems or results.problems}
    note = note_on([title for problem, title in titles.items() if is_dynamic(results, problem)], len(titles))
    return note + stop_note(sum(int((stops(results.group(problem)) > 0).sum()) for problem in titles))


def stop_note(n: int) -> str:
    """The sentence on n trials that the study's `stop` ended."""
    if not n:
        return ""
    return (f" stop ended {n} trial{'s' if n > 1 else ''}: simple regret and best value stay where they were, and other "
            "regrets of an algorithm end with the first of its trials.")


def note_on(dynamic: Sequence[str], n: int) -> str:
    """The sentence on those of n problems that are called so."""
    if not dynamic:
        return ""
    where = f" on {', '.join(dynamic)}" if len(dynamic) < n else ""
    return (f" Regret{where} is dynamic: that of an evaluation is against the best design under the law or the context "
            "of that evaluation.")


def default_metrics(results: Results) -> list[str]:
    """Simple and cumulative regret if some problem's optimum is known; the best value so far if some problem's
    is not."""
    known = [(~np.isnan(results.group(problem).values("simple_regret"))).any()
             for problem in results.problems
             if "simple_regret" in results.group(problem).evaluations()]
    unknown = any("objective" in results.group(problem).evaluations() for problem in results.problems)
    return (["simple", "cumulative"] if any(known) or not unknown or not known else []) \
        + (["best"] if unknown and not all(known) else [])


@remembered
def optimum_known(results: Results, problem: str) -> bool:
    """Whether a problem has an optimum, from which regret is measured. Without complete trials it is not known to lack
    one."""
    group = results.group(problem)
    done = group.column("status") == "complete"
    if not done.any() or "optimum" not in group.names or np.isfinite(group.column("optimum")[done]).any():
        return True
    return bool("simple_regret" in group.evaluations() and (~np.isnan(group.values("simple_regret")[done])).any())


def more_is_better(results: Results, problem: str, metric: str) -> bool:
    """Whether larger values of a metric are better on a problem."""
    return metric in METRICS and METRICS[metric].running and not results.minimised(problem).any()


def regret_curves(results: Results, problem: str, metric: str) -> pd.DataFrame:
    """Curves of one of METRICS: one row per complete trial (algorithm, instance, seed), one column
    per t = 0, 1, ..., T; t = 0 is the end of the initial design, left out where it says nothing. The best
    value has the sign that the user's program or file has: of what is minimised it is the least value so far."""
    frame = curves(results, problem, METRICS[metric].column, METRICS[metric].running)
    if METRICS[metric].running and not more_is_better(results, problem, metric):
        frame = 0 - frame
    if metric in ("instantaneous", "average"):
        frame = frame.loc[:, frame.columns > 0]
    return frame / summed(results, problem, frame.columns) if metric == "average" else frame


def summed(results: Results, problem: str, t: ArrayLike) -> np.ndarray:
    """How many evaluations the cumulative regret of every row of `curves` has summed at the queries t: t, and the
    initial design too where the run has `count_initial`."""
    group = results.group(problem)
    keep = np.flatnonzero(group.column("status") == "complete")
    initial = group.column("n_initial")[keep].astype(float) - counted_from(group, keep)
    return initial[:, None] + np.asarray(t, float)


def before_queries(results: Results, problem: str, algorithm: str, metric: str) -> float:
    """How many evaluations of a method a sum of METRICS has before the first query; 0 for what is no sum."""
    if metric not in METRICS or METRICS[metric].column != "cumulative_regret":
        return 0.0
    group = results.group(problem)
    mine = group.column("algorithm")[group.column("status") == "complete"] == algorithm
    return summed(results, problem, [0.0])[mine, 0].max(initial=0.0)


def counted_from(group: Group, keep: np.ndarray) -> np.ndarray:
    """The first evaluation, from 0, that the cumulative regret of each of the trials `keep` counts: the first query,
    or the first of all where the run has `count_initial`."""
    whole = group.constant("run.count_initial")[keep] == 1
    return np.where(whole, 0, group.column("n_initial").astype(int)[keep])


def curves(results: Results, problem: str, column: str, running: bool = False) -> pd.DataFrame:
    """The same for any variable with one value per evaluation, or for its running maximum (minus infinity until an
    evaluation succeeds and is feasible). Failed trials are left out (`results.cells()` counts them). Values that were
    not recorded are NaN. A trial that its study's `stop` ended is censored: its simple regret and its best value stay
    where they were, because further queries could not make them worse. Its instantaneous and cumulative regret are not
    known beyond its end, and there no trial of its algorithm has a value: a mean over the others would be one over
    those that did worse. The regret of a query that failed or is infeasible is that of its substitute value
    (`on_failure: penalty`, `worst`), else undefined; then the trial has no cumulative regret."""
    group = results.group(problem)
    if column not in group.evaluations():
        raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded{nearest(column, group.evaluations())}")
    keep = np.flatnonzero(group.column("status") == "complete")
    values = group.values(column)[keep].astype(float)
    ends, initial = (group.column(name).astype(int)[keep] for name in ("n_iterations", "n_initial"))
    if running and values.size:
        made = np.arange(values.shape[1]) < ends[:, None]
        best = np.fmax.accumulate(values, axis=1)
        none = np.logical_and.accumulate(_lost(group, keep, values.shape), axis=1)
        values = np.where(made, np.where(none, -np.inf, best), np.nan)
        values = _carried(group, keep, values, ends)
    elif column == "simple_regret":
        values = _carried(group, keep, values, ends)
    elif column == "instantaneous_regret":
        values = _ended(group, keep, _defined(group, keep, values))
    elif column == "cumulative_regret":
        values = _ended(group, keep, regret_sums(group, keep))
    last = (ends - initial).max(initial=0)
    index = pd.MultiIndex.from_frame(group.trials.loc[keep, ["algorithm", "instance", "seed"]])
    return pd.DataFrame(aligned(values, initial, last), index, pd.RangeIndex(last + 1, name="t"))


def queries(results: Results, problem: str) -> np.ndarray:
    """Queries after the initial design of every row of `curves`."""
    group = results.group(problem)
    made = (group.column("n_iterations").astype(int) - group.column("n_initial").astype(int))
    return made[group.column("status") == "complete"]


def _carried(group, keep, values, ends):
    """Values whose last one is repeated in trials that `stop` ended."""
    after = (np.arange(values.shape[1]) >= ends[:, None]) & (stops(group) > 0)[:, None]
    return np.where(after, np.take_along_axis(values, np.maximum(ends - 1, 0)[:, None], axis=1), values)


STOPS = {1.0: "regret", 2.0: "seconds"}  # entries of `stop`, by the values of the variable `stopped`


def stops(group: Group, every: bool = False) -> np.ndarray:
    """The reason why each complete trial (or every trial) ended: 1 for the target regret of `stop`, 2 for its seconds,
    0 for neither."""
    keep = np.flatnonzero((group.column("status") == "complete") | every)
    if "stopped" not in group.evaluations():
        return np.zeros(len(keep))
    return np.nanmax(np.nan_to_num(group.values("stopped")[keep]), axis=1, initial=0.0)


def _ended(group, keep, values):
    """Values without those of an algorithm beyond the first query at which `stop` ended one of its trials."""
    algorithm, stopped = group.column("algorithm")[keep], stops(group) > 0
    ends, initial = (group.column(name).astype(int)[keep] for name in ("n_iterations", "n_initial"))
    last = pd.Series((ends - initial)[stopped]).groupby(algorithm[stopped]).min()
    limit = pd.Series(algorithm).map(last).fillna(values.shape[1]).to_numpy()
    return np.where(np.arange(values.shape[1]) < (initial + limit)[:, None], values, np.nan)


def censored(results: Results, problem: str, metric: str) -> set[str]:
    """The algorithms that have no value of the metric at the last query because `stop` ended one of their trials before
    it. Nobody is known to be better than they are."""
    group, made = results.group(problem), queries(results, problem)
    found = METRICS.get(metric)
    if found is None or found.running or found.column == "simple_regret":
        return set()
    ended = (stops(group) > 0) & (made < made.max(initial=0))
    return set(group.column("algorithm")[group.column("status") == "complete"][ended])


def _lost(group, keep, shape):
    """Whether each evaluation of the trials `keep` failed or is infeasible (trials x evaluations)."""
    recorded, lost = group.evaluations(), False
    for name, word in (("failed", 1.0), ("feasible", 0.0)):
        if name in recorded:
            lost = lost | (group.values(name)[keep] == word)
    return lost if np.ndim(lost) else np.zeros(shape, bool)


def reward_sums(results: Results, problem: str, column: str) -> pd.DataFrame:
    """Sums of `y` or `objective` over the queries t = 1, ..., T of every complete trial. A query that failed or is
    infeasible counts as its substitute value (`on_failure: penalty`, `worst`). Without one it has no reward, and its
    trial has no sum, as for cumulative regret."""
    group = results.group(problem)
    if column not in group.evaluations():
        raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded{nearest(column, group.evaluations())}")
    keep = np.flatnonzero(group.column("status") == "complete")
    values = group.values(column)[keep].astype(float)
    values[_lost(group, keep, values.shape)] = np.nan
    values = _substituted(group, keep, values, lambda _, penalty: penalty, np.fmin)
    ends, initial = (group.column(name).astype(int)[keep] for name in ("n_iterations", "n_initial"))
    for own, first, end in zip(values, initial, ends):
        sums = np.cumsum(own[first:end])
        own[:], own[first:end] = np.nan, sums if len(sums) and not np.isnan(sums[-1]) else np.nan
    values, last = _ended(group, keep, values), (ends - initial).max(initial=0)
    index = pd.MultiIndex.from_frame(group.trials.loc[keep, ["algorithm", "instance", "seed"]])
    return pd.DataFrame(aligned(values, initial, last), index, pd.RangeIndex(last + 1, name="t")).iloc[:, 1:]


def _defined(group, keep, regret):
    """The regret of each evaluation. If it failed or is infeasible, the setting `on_failure` decides: the regret of
    the penalty, or the worst so far (in the initial design, which methods get as a whole, its worst), else NaN."""
    optimum = group.column("optimum")[keep]
    return _substituted(group, keep, regret, lambda k, penalty: optimum[k] - penalty, np.fmax)


def _substituted(group, keep, values, penalised, worse):
    """Values (trials x evaluations) in which the substitute stands for an evaluation that failed or is infeasible.
    `penalised` makes it of the trial and the penalty; `worse` (np.fmax, np.fmin) is the worse one of two values."""
    missing = np.isnan(values)
    missing = missing & _lost(group, keep, values.shape) if missing.any() else missing
    trials, initial = np.flatnonzero(missing.any(axis=1)), group.column("n_initial").astype(int)[keep]
    for k, rule in zip(trials, group.constant("run.on_failure")[keep[trials]]):
        rule, _, penalty = str(rule).partition(" ")
        if rule == "penalty":
            values[k, missing[k]] = penalised(k, float(penalty))
        elif rule == "worst":
            worst = worse.accumulate(values[k])
            worst[:initial[k]] = worst[max(initial[k] - 1, 0)]
            values[k, missing[k]] = worst[missing[k]]
    return values


def regret_sums(group: Group, keep: np.ndarray) -> np.ndarray:
    """Cumulative regret after every evaluation of the trials `keep` (trials x evaluations), as in `curves`."""
    return _sums(group, keep, group.values("cumulative_regret")[keep].astype(float))


def _sums(group, keep, recorded):
    """Cumulative regret as recorded. If values of a trial are missing, it is the sum of `_defined`, and undefined if
    one of those is."""
    ends, initial = (group.column(name).astype(int)[keep] for name in ("n_iterations", "n_initial"))
    row = np.arange(recorded.shape[1])
    gaps = np.isnan(recorded) & (row >= initial[:, None]) & (row < ends[:, None])
    trials = np.flatnonzero(gaps.any(axis=1))
    recorded[trials] = np.nan
    if not len(trials) or "instantaneous_regret" not in group.evaluations():
        return recorded
    regret = _defined(group, keep[trials], group.values("instantaneous_regret")[keep[trials]].astype(float))
    starts = counted_from(group, keep)
    for k, own in zip(trials, regret):
        sums = np.cumsum(own[starts[k]:ends[k]])
        if not np.isnan(sums[-1]):
            recorded[k, starts[k]:ends[k]] = sums
    return recorded


def aligned(values: np.ndarray, initial: np.ndarray, last: int) -> np.ndarray:
    """Row k shifted so that column t holds evaluation initial[k] + t - 1."""
    row = np.arange(last + 1) + initial[:, None] - 1
    inside = (row >= 0) & (row < values.shape[1])
    found = np.take_along_axis(values, np.where(inside, row, 0), axis=1)
    return np.where(inside, found, np.nan)
