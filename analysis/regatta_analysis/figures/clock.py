"""Trials with several workers: regret by evaluations beside regret by time, and what each worker did when."""
import numpy as np
import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import figures, style
from .overviews import panel_rows
from ..stats import clock
from ..stats.regret import METRICS
from ..stats.statistics import summarise
from ..stats.summaries import cell_summaries

MOST = 20  # problems
ROWS, TRIALS, WORKERS = 5, 12, 64  # rows of panels by time; trials of a timeline, and workers of a trial in it
COLOURS = {"evaluation": "#9ECAE1", "best value so far": "#0072B2", "failed": "#D55E00"}


def figures_of(results, metrics, band=figures.Band(), scale="auto", moment="finished"):
    """Yields (title, first part of the file name, name of the problem, number of the page or "", figure) of all figures
    of the first MOST problems. moment: from when on evaluations count by time (stats.clock.MOMENTS)."""
    first, others = {}, [m for m in metrics if m in clock.OVER_TIME]
    for metric in others[:1]:
        yield from _time_entries(results, metric, band, scale, moment, first)
    for name, figure in timeline_figures(results):
        yield f"{name}, what the workers did", "timeline", name, "", figure
    for metric in others[1:]:
        yield from _time_entries(results, metric, band, scale, moment, first)


def _time_entries(results, metric, band, scale, moment, first):
    """The figures of a metric; `first` keeps the first metric that is drawn of each problem."""
    for name, page, figure in time_figures(results, metric, band, scale, moment):
        words = f"{name}, {METRICS[metric].name.lower()} by evaluations and by time"
        kind = "time" if first.setdefault(name, metric) == metric else f"time_{metric}"
        yield words + (f", page {page}" if page else ""), kind, name, page, figure


def time_figures(results, metric, band=figures.Band(), scale="auto", moment="finished"):
    """Yields (name of the problem, number of the page or "", figure) of the problems that have curves of the metric
    over time. A line is a number of workers with its release, and a pair of panels a method. If the study has only one
    such number, a line is a method."""
    for name, problems in _families(results):
        if not clock.metrics_of(results, problems, [metric]):
            continue
        lines = list(clock.rows(clock.cells(results, problems)).items())
        crews = list(dict.fromkeys(c.crew for _, mine in lines for c in mine))
        if len(crews) > 1:
            pairs = [(label, {c.crew: c for c in mine}) for label, mine in lines]
        else:
            pairs = [(f"{name}, {crews[0]}", {label: mine[0] for label, mine in lines})]
        names = crews if len(crews) > 1 else [label for label, _ in lines]
        for number, (page, words) in enumerate(style.pages(pairs, ROWS), 1):
            yield name, str(number) if words else "", _time_figure(results, page, names, metric, band, scale, moment)


def _families(results):
    return list(clock.families(results).items())[:MOST]


def _time_figure(results, pairs, names, metric, band, scale, moment):
    """A row of panels for each (title, {line: cell}) of `pairs`."""
    grid = clock.grid_of(results, [c for _, cells in pairs for c in cells.values()])
    by_query = [_named(cells, lambda c: _of_queries(results, c, metric, band)) for _, cells in pairs]
    by_time = [_named(cells, lambda c: summarise(clock.time_curves(results, c, metric, grid, moment),
                                                 band.quantiles, bootstrap=band.interval)) for _, cells in pairs]
    joint = pd.concat([*by_query, *by_time], ignore_index=True)
    shown = {title: _lasts(summary) for (title, _), summary in zip(pairs, by_time)}
    band = band.fitting(pd.concat([*shown.values(), *map(_lasts, by_query)]))
    with style.context():
        figure, made = panel_rows([[{}, {}] for _ in pairs])
        styles, notes = style.algorithm_styles(names), []
        for k, ((title, _), queries, times) in enumerate(zip(pairs, by_query, by_time)):
            (left, _), (right, _) = made[2 * k:2 * k + 2]
            notes += figures.draw_panel(left, (title, METRICS[metric].label), queries, styles, band, scale, metric, joint)
            _draw_steps(right.axes, times, styles, band)
            figures.scale_axes(right.axes, joint, band, scale, metric)
            right.dress("", METRICS[metric].label)
            right.axes.set_xlabel(clock.label(results, next(iter(pairs[k][1].values())).problem) if right.bottom else "")
            right.axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
            right.axes.set_xlim(0, 1.015 * grid[-1] or 1.0)
        style.place_legend(figure, [(n, styles[n]) for n in names], [
            *figures.value_notes(shown, band, "", figures.direction(results, results.problems, metric)), *notes, "a line by time ends when the first of its trials ends",
            *(["by time, an evaluation counts when the method is told"] if moment == "told" else [])])
        return figure


def _named(cells, summary):
    """The summaries of cells, with the names of lines as algorithms."""
    return pd.concat([summary(cell).assign(algorithm=line) for line, cell in cells.items()], ignore_index=True)


def _lasts(summary):
    """The last row of each line, all at one t."""
    return summary.groupby("algorithm", sort=False).tail(1).assign(t=0)


def _of_queries(results, cell, metric, band):
    whole = cell_summaries(results, cell.problem, metric, band.quantiles, band.interval)
    return whole[whole["algorithm"] == cell.algorithm]


def _draw_steps(axes, summary, styles, band):
    names = list(dict.fromkeys(summary["algorithm"]))
    for k, name in enumerate(names):
        mine = summary[summary["algorithm"] == name]
        middle, low, high = band.of(mine)
        axes.fill_between(mine["t"], *figures.edges(middle, low, high), step="post", color=styles[name]["color"], lw=0,
                          zorder=1, alpha=0.18 if len(names) <= 5 else 0.11)
        axes.plot(mine["t"], middle, drawstyle="steps-post", zorder=3, label=name, markeredgecolor="white",
                  markeredgewidth=0.3, markevery=figures.mark(k, len(names), len(mine)), **styles[name])


def timeline_figures(results):
    """Yields (name of the problem, figure): the first complete trial with several workers of each release and number of
    workers, each in a panel; problems that ran with one worker only have no such figure."""
    for name, problems in _families(results):
        first = {}
        for cell in clock.cells(results, problems):
            if cell.workers > 1:
                first.setdefault(cell.crew, cell)
        if first:
            yield name, _timeline(results, list(first.values())[:TRIALS])


def _timeline(results, cells):
    heights = [1.1 + 0.11 * min(cell.workers, WORKERS) for cell in cells]
    with style.context():
        figure = style.Drawing(style.PAGE_WIDTH, sum(heights))
        axes = figure.subplots(len(cells), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        shown, notes = {}, ["a gap: the worker is idle or away"]
        for axis, cell in zip(axes, cells):
            trial = first_trial(results, cell)
            _draw_bars(axis, trial, shown)
            axis.set_title(style.wrapped(style.escaped(_title(cell, trial)), 100), loc="left", y=1.0)
            axis.set_ylabel("Worker")
            if cell.workers > WORKERS:
                notes.append(f"the first {WORKERS} workers")
            if (trial["attempts"] > 1).any() or trial.attrs["in_flight"] or trial.attrs["lost"]:
                notes.append("evaluations that were lost or did not end are not drawn")
        axes[-1].set_xlabel(clock.label(results, cells[-1].problem))
        style.place_legend(figure, [(what, shown[what]) for what in COLOURS if what in shown], notes)
        return figure


def _title(cell, trial):
    about, name = trial.attrs, f"{cell.crew}: {cell.algorithm}, seed {trial.attrs['seed']}"
    if not len(trial):
        return f"{name}; no evaluation ended"
    return f"{name}; makespan {about['makespan']:.4g}, idle {100 * about['idle_share']:.3g} %"


def first_trial(results, cell):
    """The evaluations on the workers in the first complete trial of a cell, in the order of their ends: `worker`,
    `dispatched`, `finished`, `attempts`, and `what` they are, a key of COLOURS. Facts of the trial are in `attrs`."""
    group = results.group(cell.problem)
    mine = (group.column("algorithm") == cell.algorithm) & (group.column("status") == "complete")
    k = np.flatnonzero(mine)[:1]
    one = group.subset(np.isin(np.arange(group.n), k))
    frame = pd.DataFrame({name: one.values(name)[0].astype(float) for name in ("worker", "attempts", "objective")})
    frame = frame.assign(**{name: clock.moments(one, name)[0] for name in ("dispatched", "finished")})
    start = frame.loc[clock.ends(one)[0] == 0, "objective"].max()  # best value of an initial design that was known
    frame = frame[frame["worker"].notna()].sort_values("finished", kind="stable").reset_index(drop=True)
    best = np.fmax.accumulate(np.concatenate([[-np.inf, start], frame["objective"]]))[1:-1]  # before each
    frame["what"] = np.where(frame["objective"].isna(), "failed",
                             np.where(frame["objective"] > best, "best value so far", "evaluation"))
    frame.attrs.update({name: one.column(name)[0] for name in
                        ("seed", "workers", "makespan", "idle_share", "in_flight", "lost")})
    return frame


def _draw_bars(axis, trial, shown):
    """A bar for each evaluation; `shown` gets the entries of the legend."""
    drawn = trial[trial["worker"] <= WORKERS]
    for what, mine in drawn.groupby("what"):
        axis.barh(mine["worker"], mine["finished"] - mine["dispatched"], left=mine["dispatched"], height=0.8,
                  color=COLOURS[what], edgecolor="white", linewidth=0.4)
        shown.setdefault(what, Patch(color=COLOURS[what]))
    axis.set_ylim(min(trial.attrs["workers"], WORKERS) + 0.6, 0.4)
    axis.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axis.set_xlim(left=0)
