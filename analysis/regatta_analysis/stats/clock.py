"""Trials with several workers on a simulated or real clock: regret over time, time to a target, speed-up, idle time.

An evaluation counts from the time when it ended (`finished`), even if its method learnt the value later; `told` is the
other choice. An initial design that was known at the start counts from time 0. A curve over time is a step function of
the evaluations that have ended: their simple regret, best value, or sum of regret. Problems with several scores have no
such curves, because their file does not hold the regret of each evaluation by each score."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..load.errors import InputError
from ..load.results import remembered
from ..load.settings import method_label, panel_label
from .profiles import TARGETS, first_at_most
from .regret import counted_from, curves, framed, last_query, more_is_better, regret_sums, stops

if TYPE_CHECKING:
    from ..load.group import Group
    from ..load.results import Results

CLOCK = ("workers", "release")  # the settings that are compared by time
MOMENTS = ("finished", "told")  # from when on an evaluation may count
OVER_TIME = {"best": "objective", "simple": "simple_regret", "cumulative": "cumulative_regret"}  # metrics with curves
POINTS = 201  # times of a grid, besides the ends of the curves


@dataclass(frozen=True)
class Cell:
    """The trials of a method with one number of workers and one release. `settings` has its other swept settings."""
    problem: str
    algorithm: str
    workers: int
    release: str
    method: str
    settings: Mapping[str, str]

    @property
    def crew(self) -> str:
        """The workers in words."""
        return ", ".join(filter(None, (f"{self.workers} worker{'s' * (self.workers != 1)}", self.release)))

    @property
    def method_label(self) -> str:
        """The method with its other settings."""
        return panel_label(self.method, self.settings)


@dataclass(frozen=True)
class History:
    """The evaluations of the complete trials of a problem in the order of their ends: `times` when they ended (infinite
    in place of evaluations that were not made), `values` the regret or best value from then on, `limits` the times
    until which these values are known, `ends` the times when the trials ended: until then it is known which targets
    they reached. A row is a trial, as in `index`."""
    index: pd.MultiIndex
    times: np.ndarray
    values: np.ndarray
    limits: np.ndarray
    ends: np.ndarray
    before: float  # value without any evaluation

    def at(self, grid: ArrayLike) -> pd.DataFrame:
        """The curves at some times, one column for each; a trial has no value (NaN) after its limit."""
        grid = np.asarray(grid, float)
        ended = np.array([np.searchsorted(row, grid, side="right") for row in self.times], int).reshape(-1, len(grid))
        found = np.take_along_axis(self.values, np.maximum(ended - 1, 0), axis=1)
        found = np.where(ended > 0, found, self.before)
        return pd.DataFrame(np.where(grid <= self.limits[:, None], found, np.nan), self.index, pd.Index(grid, name="t"))

    def first(self, target: float) -> np.ndarray:
        """The time when each trial reached a target; infinite if it did not."""
        return first_at_most(np.where(np.isfinite(self.times), self.values, np.nan), target, self.times)

    def known(self, target: float) -> float:
        """The time until which it is known which trials have reached a target: the first end of a trial that has not;
        infinite if all have."""
        return float(np.min(self.ends[np.isinf(self.first(target))], initial=np.inf))

    @property
    def end(self) -> float:
        """The time until which all trials are known: the smallest of their finite limits."""
        known = self.limits[np.isfinite(self.limits)]
        return float(known.min()) if len(known) else float(self.times[np.isfinite(self.times)].max(initial=0.0))


def has_clock(results: Results, problem: str) -> bool:
    """Whether some complete trial of a problem ran on a clock."""
    group = results.group(problem)
    if not _times(group) or group.place != group.base:
        return False
    return bool(np.isfinite(group.done.column("makespan").astype(float)).any())


def _times(group):
    """Names of the columns that say when evaluations ended."""
    return {"finished", "wall_finished"} & set(group.evaluations())


def moments(group: Group, name: str) -> np.ndarray:
    """The time at which each evaluation was `dispatched`, `finished` or `told` (trials x rows): on the simulated
    clock, or in seconds on the real one."""
    simulated, real = (group.values(n).astype(float) if n in group.evaluations() else np.nan
                       for n in (name, f"wall_{name}"))
    return np.where(np.isnan(simulated), real, simulated)


def label(results: Results, problem: str) -> str:
    """The label of an axis of time."""
    real = "wall_finished" in results.group(problem).evaluations()
    return "Time (s)" if real else "Time on the simulated clock"


def families(results: Results) -> dict[str, list[str]]:
    """{name: problems with a clock that differ in the number of workers and the release only}."""
    found: dict[str, list[str]] = {}
    for problem in filter(lambda p: has_clock(results, p), results.problems):
        group = results.group(problem)
        found.setdefault(panel_label(group.place, _others(group.at)), []).append(problem)
    return found


def _others(settings):
    return {name: value for name, value in settings.items() if name.rpartition(".")[2] not in CLOCK}


def metrics_of(results: Results, problems: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """The metrics of a list that have curves over time: `best`, and `simple` and `cumulative` if the regret is known."""
    return [m for m in metrics if m == "best" or (m in OVER_TIME and _known(results, problems, OVER_TIME[m]))]


def _known(results, problems, column="simple_regret"):
    """Whether the regret of some of the problems is known. A sum over no query is known where simple regret is."""
    for problem in problems:
        group = results.group(problem)
        empty = column == "cumulative_regret" and not last_query(results, problem)
        if group.knows("simple_regret" if empty else column):
            return True
    return False


def cells(results: Results, problems: Sequence[str]) -> list[Cell]:
    """The cells of some problems that have complete trials."""
    found = {}
    for problem in problems:
        group = results.group(problem)
        first, (workers, release) = group.done.labels(), (group.done.column(name) for name in CLOCK)
        for (label, text), own in group.swept.items():
            if (label, text) in first:
                k = first[label, text]
                found.setdefault((problem, label), Cell(problem, label, int(workers[k]), str(release[k]),
                                                        method_label(label, text), _others(own)))
    return list(found.values())


def rows(found: Sequence[Cell]) -> dict[str, list[Cell]]:
    """{label: cells of one method}. A cell that does not read a setting (one worker has no pending evaluations) stands
    with each of its values."""
    def within(one, other):
        return one.method == other.method and one.settings.items() <= other.settings.items()

    whole = [c for c in found if not any(within(c, o) and len(c.settings) < len(o.settings) for o in found)]
    return {c.algorithm: [o for o in found if within(o, c)] for c in whole}


@remembered
def histories(results: Results, problem: str, metric: str = "simple", moment: str = "finished",
              algorithm: str | None = None) -> History:
    """The History of a problem (or of one algorithm on it) by `simple` (simple regret), `cumulative` (sum of the regret of
    the queries) or `best` (best value so far). moment: of MOMENTS."""
    done = results.group(problem).done
    done = done if algorithm is None else done.subset(done.column("algorithm") == algorithm)
    parts = [_history(results, block, metric, moment) for block in done.blocks()]
    return History(done.index, *map(np.concatenate, list(zip(*parts))[:-1]), parts[0][-1])


def history(results: Results, cell: Cell, metric: str = "simple", moment: str = "finished") -> History:
    """The History of a cell."""
    return histories(results, cell.problem, metric, moment, cell.algorithm)


def _history(results, block, metric, moment):
    """The fields of the History of some trials, but for their index."""
    times = ends(block, moment)
    order = np.argsort(times, axis=1, kind="stable")
    values, before = _VALUES[metric](results, block, order)
    times = np.take_along_axis(times, order, axis=1)
    last = np.maximum(_ends(block), np.where(np.isfinite(times), times, 0.0).max(axis=1, initial=0.0))
    stays = (stops(block) > 0) & (metric != "cumulative")
    return times, values, np.where(stays, np.inf, last), last, before


def _best(block, order):
    objective = block.values("objective").astype(float)
    found = np.take_along_axis(np.where(np.isnan(objective), -np.inf, objective), order, axis=1)
    return objective, np.fmax.accumulate(found, axis=1)


def _best_values(results, block, order):
    sign = 1.0 if more_is_better(results, block.label, "best") else -1.0
    return sign * _best(block, order)[1], -sign * np.inf


def _simple_regret(results, block, order):
    objective, best = _best(block, order)
    return np.maximum(_reference(block, objective)[:, None] - best, 0.0), np.inf


def _cumulative_regret(results, block, order):
    """A trial with a query of unknown regret has no sum; one without a query has the sum 0."""
    sums, last = regret_sums(block), block.column("n_iterations").astype(int) - 1
    each = np.diff(np.nan_to_num(sums), axis=1, prepend=0.0)
    some = last >= counted_from(block)
    unknown = some & np.isnan(sums[np.arange(block.n), last])
    return np.where(unknown[:, None], np.nan, np.cumsum(np.take_along_axis(each, order, axis=1), axis=1)), 0.0


_VALUES = {"simple": _simple_regret, "cumulative": _cumulative_regret, "best": _best_values}


def _ends(block):
    """The times when trials ended: the time limit if evaluations were still to come then, else their makespan."""
    ends = np.nan_to_num(block.column("makespan").astype(float))
    limits = pd.to_numeric(pd.Series(block.constant("run.time")), errors="coerce").to_numpy(float)  # NaN for `auto`
    planned = block.column("n_initial") + block.constant("iterations").astype(float)
    late = ~np.isnan(limits) & (block.column("n_iterations") < planned) & (stops(block) == 0)
    return np.where(late, limits, ends)


@remembered
def _ranges(results, problem):
    """The range of each coordinate over all queries of a problem, 1 where it is 0."""
    ends = [(np.nanmin(x, axis=(0, 1)), np.nanmax(x, axis=(0, 1))) for x in (
        block.values("x").astype(float) for block in results.group(problem).done.blocks() if block.n)]
    wide = np.nanmax([high for _, high in ends], axis=0) - np.nanmin([low for low, _ in ends], axis=0)
    return np.where(wide > 0, wide, 1.0)


def pending_distance(results: Results, problem: str, of: Group | None = None) -> pd.DataFrame:
    """Curves of the smallest distance of each query to a query in flight when it was chosen, by evaluations. Each
    coordinate is in units of its range over all queries of the problem. NaN where nothing was in flight, or where
    evaluations were lost, so that the file does not say what was."""
    group = of or results.group(problem).done
    if not _times(group):
        raise InputError(f"{results.path}: {problem!r} has no queries in flight")

    def values(block):
        x = block.values("x").astype(float) / (_ranges(results, problem) if block.n else 1.0)
        found = np.full(x.shape[:2], np.nan)
        columns = (block.values("submission"), moments(block, "dispatched"), moments(block, "told"), block.values("n_pending"))
        for k, (number, start, end, waiting) in enumerate(zip(*(c.astype(float) for c in columns))):
            for row in np.flatnonzero(waiting > 0):
                flying = (number < number[row]) & (end > start[row])
                if flying.sum() == waiting[row]:
                    found[k, row] = np.sqrt(((x[k, flying] - x[k, row])**2).sum(axis=1)).min()
        return found
    return framed(results, problem, group, values)


def ends(group: Group, moment: str = "finished") -> np.ndarray:
    """The time at which each evaluation ended, or its method got the value (trials x rows). It is 0 in an initial
    design that was known at the start, and infinite where no evaluation was made."""
    finished = moments(group, moment)
    known = np.arange(finished.shape[1]) < group.column("n_initial").astype(int)[:, None]
    return np.where(np.isnan(finished), np.where(known, 0.0, np.inf), finished)


def _reference(block, objective):
    """The value from which the simple regret of each trial is measured, to the bit: the optimum, or the best value of
    the trial if that is larger (by more than the error of the optimum)."""
    optimum = block.column("optimum").astype(float)
    regret, best = block.values("simple_regret").astype(float), np.fmax.accumulate(objective, axis=1)
    whole, larger = optimum, best[:, -1] > optimum + 1e-9 * np.maximum(np.abs(optimum), 1.0)
    at = (np.arange(block.n), np.argmax((regret > 0) & np.isfinite(regret + best), axis=1))
    for value in (best[:, -1], optimum):
        known = (regret[at] > 0) & (value - best[at] == regret[at])
        whole = np.where(known, value, whole)
        larger &= ~known
    unlike = (regret[at] > 0) & (whole - best[at] != regret[at])  # the value of a recommendation
    return np.where(unlike, regret[at] + best[at], np.where(larger, best[:, -1], whole))


def grid_of(results: Results, found: Sequence[Cell]) -> np.ndarray:
    """The common times of some cells: equally spaced from 0 to the last end of a cell, and the end of every cell."""
    last = [_end(results, c) for c in found]
    return np.unique(np.concatenate([np.linspace(0.0, max(last), POINTS), last]))


def _end(results, cell):
    return history(results, cell, "best").end


def time_curves(results: Results, cell: Cell, metric: str, grid: ArrayLike, moment: str = "finished") -> pd.DataFrame:
    """The curves of a cell at some times. They end when its first trial ends: all times have the same trials."""
    mine = history(results, cell, metric, moment)
    frame = mine.at(grid)
    return frame.loc[:, frame.columns <= mine.end]


def median_time(times: ArrayLike, limits: ArrayLike) -> float:
    """The median time to a target by the estimate of Kaplan and Meier (1958). `times` is infinite in trials that had
    not reached the target at their `limits`. The median is infinite if the estimate stays above one half."""
    times, limits = np.asarray(times, float), np.asarray(limits, float)
    left, share = np.minimum(times, limits), 1.0
    for time in np.unique(times[np.isfinite(times)]):
        share *= 1.0 - (times == time).sum() / (left >= time).sum()
        if share <= 0.5 + 1e-12:
            return float(time)
    return np.inf


def targets(results: Results, problems: Sequence[str]) -> dict[float, float]:
    """{share: target}, where a target is a share of the median simple regret at the end of the initial design, as in
    profiles."""
    known = _known(results, problems) and np.isfinite(target(results, problems, 1.0))
    return {share: target(results, problems, share) for share in TARGETS} if known else {}


def target(results: Results, problems: Sequence[str], share: float) -> float:
    """A share of the median simple regret at the end of the initial design; NaN without such regret."""
    starts = np.concatenate([curves(results, p, "simple_regret", t=[0])[0].to_numpy(float) for p in problems])
    starts = starts[np.isfinite(starts)]
    return share * float(np.median(starts)) if len(starts) else np.nan


def clock_table(results: Results, moment: str = "finished") -> pd.DataFrame:
    """One row per family, cell and target.

    makespan, idle_share: means over the trials that have them. evaluations, regret: means of the number of evaluations
    that ended on the workers, of the simple regret, and of the sum of the regret of the queries at `time`, the last time
    that all cells of the family have.
    time_to_target: see `median_time`; reached: the number of trials that reached it. speed_up: the median of the method
    with one worker over that of the cell; efficiency: the speed-up per worker. The last two are NaN if a median is 0 or
    infinite, or if nothing ran with one worker."""
    blocks = []
    for name, problems in families(results).items():
        found, goals = cells(results, problems), targets(results, problems)
        time = min(_end(results, c) for c in found)
        lines = rows(found)
        for label, mine in lines.items():
            medians: dict[float, float] = {}
            for cell in sorted(mine, key=lambda c: c.workers):
                about = {"problem": name, "algorithm": label, **_about(results, cell, time, moment)}
                blocks += [{**about, **_to_target(results, cell, *pair, medians, moment)}
                           for pair in goals.items()] or [about]
    return pd.DataFrame(blocks)


def _about(results, cell, time, moment):
    mine = results.group(cell.problem).done.cells[cell.algorithm]
    ended = mine.each(lambda block: (moments(block, moment) <= time).sum(axis=1))
    return {"workers": cell.workers, "release": cell.release, "trials": mine.n,
            **{name: pd.Series(mine.column(name).astype(float)).mean() for name in ("makespan", "idle_share")},
            "time": time, "evaluations": ended.mean(),
            "regret": _regret(results, cell, time, "simple", moment),
            "cumulative_regret": _regret(results, cell, time, "cumulative", moment)}


def _regret(results, cell, time, metric, moment):
    if not metrics_of(results, [cell.problem], [metric]):
        return np.nan
    return history(results, cell, metric, moment).at([time]).to_numpy().mean()


def _to_target(results, cell, share, target, single, moment):
    """The columns of the table for one target. `single` keeps the medians with one worker, {share: time}."""
    mine = history(results, cell, moment=moment)
    times = mine.first(target)
    median = median_time(times, mine.ends)
    if cell.workers == 1:
        single[share] = median
    base = single.get(share, np.nan)
    known = 0.0 < median < np.inf and 0.0 < base < np.inf
    speed_up = base / median if known else np.nan
    return {"share": share, "target": target, "reached": int(np.isfinite(times).sum()), "time_to_target": median,
            "speed_up": speed_up, "efficiency": speed_up / cell.workers}
