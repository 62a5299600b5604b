"""Regret (or any other value per evaluation) of every trial of a problem on a common time axis."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Callable, Iterable, Iterator, Optional, Sequence

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
REWARDS = {"cumulative_reward": "y", "cumulative_expected_reward": "objective"}  # sums, and of which column


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


@remembered
def default_metrics(results: Results) -> list[str]:
    """Simple and cumulative regret if some problem's optimum is known (of archived trials simple regret alone); the best
    value so far if some problem's is not."""
    groups = list(map(results.group, results.problems))
    known = [group.knows("simple_regret") for group in groups if "simple_regret" in group.evaluations()]
    unknown = any("objective" in group.evaluations() for group in groups)
    return (["simple"] + ["cumulative"] * (not results.archived) if any(known) or not unknown or not known else []) \
        + (["best"] if unknown and not all(known) else [])


@remembered
def optimum_known(results: Results, problem: str) -> bool:
    """Whether a problem has an optimum, from which regret is measured. Without complete trials it is not known to lack
    one."""
    done = results.group(problem).done
    return not done.n or "optimum" not in done.names or bool(np.isfinite(done.column("optimum")).any()) \
        or done.knows("simple_regret")


def more_is_better(results: Results, problem: str, metric: str) -> bool:
    """Whether larger values of a metric are better on a problem."""
    return metric in METRICS and METRICS[metric].running and not results.minimised(problem).any()


# The functions of curves take the trials `of`, which are complete ones of a problem: all of them if not given, those of a
# cell, or a block of these. Curves of all trials of a problem have the same queries t.


def regret_curves(results: Results, problem: str, metric: str, of: Optional[Group] = None,
                  t: Optional[ArrayLike] = None) -> pd.DataFrame:
    """Curves of one of METRICS: one row per complete trial (algorithm, instance, seed), one column
    per t = 0, 1, ..., T (or for those in `t`, ascending); t = 0 is the end of the initial design, left out where it says nothing. The best
    value has the sign that the user's program or file has: of what is minimised it is the least value so far."""
    frame = curves(results, problem, METRICS[metric].column, METRICS[metric].running, of, t)
    if METRICS[metric].running and not more_is_better(results, problem, metric):
        frame = 0 - frame
    if metric in ("instantaneous", "average"):
        frame = frame.loc[:, frame.columns > 0]
    return frame / summed(results, problem, frame.columns, of) if metric == "average" else frame


WHOLE = 1 << 25  # values of curves that are in memory at once, 256 MB


def cell_curves(results: Results, problem: str, metric: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """(algorithm, its `regret_curves`), cell by cell, in the order of the study. Curves of more than WHOLE values come
    in parts, of all trials and some queries each, for which the file is read again and again."""
    cells, size = results.group(problem).done.cells, last_query(results, problem) + 1
    for algorithm in (a for a in results.algorithms if a in cells):
        step = max(1, WHOLE // cells[algorithm].n)
        for first in range(0, size, step):
            yield algorithm, regret_curves(results, problem, metric, cells[algorithm], range(first, min(first + step, size)))


def summed(results: Results, problem: str, t: ArrayLike, of: Optional[Group] = None) -> np.ndarray:
    """How many evaluations the cumulative regret of every row of `curves` has summed at the queries t: t, and the
    initial design too where the run has `count_initial`."""
    group = of or results.group(problem).done
    return (group.column("n_initial").astype(float) - counted_from(group))[:, None] + np.asarray(t, float)


def before_queries(results: Results, problem: str, algorithm: str, metric: str) -> float:
    """How many evaluations of a method a sum of METRICS or REWARDS has before the first query; 0 for what is no sum."""
    mine = results.group(problem).done.cells.get(algorithm)
    if mine is None or metric not in REWARDS and (metric not in METRICS or METRICS[metric].column != "cumulative_regret"):
        return 0.0
    return summed(results, problem, [0.0], mine).max(initial=0.0)


def counted_from(group: Group) -> np.ndarray:
    """The first evaluation, from 0, that cumulative regret and the sums of rewards of each trial count: the first query,
    or the first of all where the run has `count_initial`."""
    return np.where(group.constant("run.count_initial") == 1, 0, group.column("n_initial").astype(int))


def curves(results: Results, problem: str, column: str, running: bool = False, of: Optional[Group] = None,
           t: Optional[ArrayLike] = None) -> pd.DataFrame:
    """The same for any variable with one value per evaluation, or for its running maximum (minus infinity until an
    evaluation succeeds and is feasible). Failed trials are left out (`results.cells()` counts them). Values that were
    not recorded are NaN. A trial that its study's `stop` ended is censored: its simple regret and its best value stay
    where they were, because further queries could not make them worse. Its instantaneous and cumulative regret are not
    known beyond its end, and there no trial of its algorithm has a value: a mean over the others would be one over
    those that did worse. The regret of a query that failed or is infeasible is that of its substitute value
    (`on_failure: penalty`, `worst`), else undefined; then the trial has no cumulative regret."""
    group = _with(results, problem, column, of)

    def values(block):
        found, ends = block.values(column).astype(float), block.column("n_iterations").astype(int)
        if running and found.size:
            made = np.arange(found.shape[1]) < ends[:, None]
            none = np.logical_and.accumulate(_lost(block, found.shape), axis=1)
            best = np.fmax.accumulate(found, axis=1)
            return _carried(block, np.where(made, np.where(none, -np.inf, best), np.nan), ends)
        if column == "simple_regret":
            return _carried(block, found, ends)
        if column == "instantaneous_regret":
            return _ended(results, problem, block, _defined(block, found))
        if column == "cumulative_regret":
            return _ended(results, problem, block, _sums(block, found))
        return found
    return framed(results, problem, group, values, t)


def framed(results: Results, problem: str, group: Group, values: Callable[[Group], np.ndarray],
           t: Optional[ArrayLike] = None) -> pd.DataFrame:
    """A row per trial and a column per query t = 0, 1, ... of the problem (or those in `t`): the `values` (trials x
    evaluations) of blocks of the trials."""
    t, first = np.arange(last_query(results, problem) + 1) if t is None else np.asarray(t), 0
    found = np.empty((group.n, len(t)))
    for block in group.blocks():
        found[first:first + block.n] = aligned(values(block), block.column("n_initial").astype(int), t)
        first += block.n
    return pd.DataFrame(found, group.index, pd.Index(t, name="t"))


def _with(results, problem, column, of):
    """The trials `of`, or all complete ones, which must have a variable."""
    group = of or results.group(problem).done
    if column not in group.evaluations():
        raise InputError(f"{results.path}: {problem!r} has no {column!r} recorded{nearest(column, group.evaluations())}")
    return group


@remembered
def queries(results: Results, problem: str) -> np.ndarray:
    """Queries after the initial design of every row of `curves`."""
    done = results.group(problem).done
    return done.column("n_iterations").astype(int) - done.column("n_initial").astype(int)


def last_query(results: Results, problem: str) -> int:
    """The largest number of queries of a complete trial."""
    return int(queries(results, problem).max(initial=0))


def _carried(block, values, ends):
    """Values whose last one is repeated in trials that `stop` ended."""
    stopped = stops(block) > 0
    if not stopped.any():
        return values
    after = (np.arange(values.shape[1]) >= ends[:, None]) & stopped[:, None]
    return np.where(after, np.take_along_axis(values, np.maximum(ends - 1, 0)[:, None], axis=1), values)


STOPS = {1.0: "regret", 2.0: "seconds", 3.0: "rule"}  # entries of `stop`, by the values of the variable `stopped`


def stops(group: Group, every: bool = False) -> np.ndarray:
    """The reason why each complete trial (or every trial) ended: 1 for the target regret of `stop`, 2 for its seconds,
    3 for the rule of the method, 0 for none of them."""
    group = group if every else group.done
    if not group.is_stored("stopped"):
        return np.zeros(group.n)
    return group.each(lambda block: np.nanmax(np.nan_to_num(block.values("stopped")), axis=1, initial=0.0))


@remembered
def _first_ends(results, problem):
    """{algorithm: the first query at which `stop` ended one of its trials}."""
    done = results.group(problem).done
    stopped = stops(done) > 0
    return pd.Series(queries(results, problem)[stopped]).groupby(done.column("algorithm")[stopped]).min().to_dict()


def _ended(results, problem, block, values):
    """Values without those of an algorithm beyond the first query at which `stop` ended one of its trials."""
    first = _first_ends(results, problem)
    if not first:
        return values
    limit = np.array([first.get(name, values.shape[1]) for name in block.column("algorithm")])
    inside = np.arange(values.shape[1]) < (block.column("n_initial").astype(int) + limit)[:, None]
    return np.where(inside, values, np.nan)


def censored(results: Results, problem: str, metric: str) -> set[str]:
    """The algorithms that have no value of the metric at the last query because `stop` ended one of their trials before
    it. Nobody is known to be better than they are."""
    found = METRICS.get(metric)
    if found is None or found.running or found.column == "simple_regret":
        return set()
    return {name for name, first in _first_ends(results, problem).items() if first < last_query(results, problem)}


def _lost(block, shape):
    """Whether each evaluation of some trials failed or is infeasible (trials x evaluations)."""
    lost = np.zeros(shape, bool)
    for name, word in (("failed", 1.0), ("feasible", 0.0)):
        if name in block.evaluations():
            lost |= block.values(name) == word
    return lost


def reward_sums(results: Results, problem: str, column: str, of: Optional[Group] = None,
                t: Optional[ArrayLike] = None) -> pd.DataFrame:
    """Sums of `y` or `objective` over the queries t = 1, ..., T of every complete trial (or those in `t`), and over the
    initial design too (t = 0) where the run has `count_initial`. An evaluation that failed or is infeasible counts as its substitute value
    (`on_failure: penalty`, `worst`). Without one it has no reward, and its trial has no sum, as for cumulative regret."""
    def values(block):
        found = block.values(column).astype(float)
        found[_lost(block, found.shape)] = np.nan
        found = _substituted(block, found, lambda _, penalty: penalty, np.fmin)
        for own, first, end in zip(found, counted_from(block), block.column("n_iterations").astype(int)):
            sums = np.cumsum(own[first:end])
            own[:], own[first:end] = np.nan, sums if len(sums) and not np.isnan(sums[-1]) else np.nan
        return _ended(results, problem, block, found)
    group = _with(results, problem, column, of)
    frame = framed(results, problem, group, values, t)
    return frame if t is not None or summed(results, problem, [0.0], group).any() else frame.iloc[:, 1:]


def _defined(block, regret):
    """The regret of each evaluation. If it failed or is infeasible, the setting `on_failure` decides: the regret of
    the penalty, or the worst so far (in the initial design, which methods get as a whole, its worst), else NaN."""
    optimum = block.column("optimum")
    return _substituted(block, regret, lambda k, penalty: optimum[k] - penalty, np.fmax)


def _substituted(block, values, penalised, worse):
    """Values (trials x evaluations) in which the substitute stands for an evaluation that failed or is infeasible.
    `penalised` makes it of the trial and the penalty; `worse` (np.fmax, np.fmin) is the worse one of two values."""
    missing = np.isnan(values)
    missing = missing & _lost(block, values.shape) if missing.any() else missing
    trials, initial = np.flatnonzero(missing.any(axis=1)), block.column("n_initial").astype(int)
    for k, rule in zip(trials, block.constant("run.on_failure")[trials]):
        rule, _, penalty = str(rule).partition(" ")
        if rule == "penalty":
            values[k, missing[k]] = penalised(k, float(penalty))
        elif rule == "worst":
            worst = worse.accumulate(values[k])
            worst[:initial[k]] = worst[max(initial[k] - 1, 0)]
            values[k, missing[k]] = worst[missing[k]]
    return values


def regret_sums(group: Group) -> np.ndarray:
    """Cumulative regret after every evaluation of some trials (trials x evaluations), as in `curves`."""
    return _sums(group, group.values("cumulative_regret").astype(float))


def _sums(block, recorded):
    """Cumulative regret as recorded. If values of a trial are missing, it is the sum of `_defined`, and undefined if
    one of those is."""
    ends, initial = (block.column(name).astype(int) for name in ("n_iterations", "n_initial"))
    row = np.arange(recorded.shape[1])
    gaps = (np.isnan(recorded) & (row >= initial[:, None]) & (row < ends[:, None])).any(axis=1)
    gaps &= np.isnan(np.take_along_axis(recorded, np.maximum(ends - 1, 0)[:, None], axis=1)[:, 0])  # not of an archive
    recorded[gaps] = np.nan
    if not gaps.any() or "instantaneous_regret" not in block.evaluations():
        return recorded
    some, starts = block.subset(gaps), counted_from(block)
    regret = _defined(some, some.values("instantaneous_regret").astype(float))
    for k, own in zip(np.flatnonzero(gaps), regret):
        sums = np.cumsum(own[starts[k]:ends[k]])
        if not np.isnan(sums[-1]):
            recorded[k, starts[k]:ends[k]] = sums
    return recorded


def aligned(values: np.ndarray, initial: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Row k shifted so that the columns hold evaluations initial[k] + t - 1."""
    if len(initial) and (initial == initial[0]).all() and 0 <= (row := initial[0] + t - 1)[0] and row[-1] < values.shape[1]:
        return values[:, row]
    row = t + initial[:, None] - 1
    inside = (row >= 0) & (row < values.shape[1])
    found = np.take_along_axis(values, np.where(inside, row, 0), axis=1)
    return np.where(inside, found, np.nan)
