"""Figures that compare the methods over all problems of some studies: profiles and ranks."""
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator, NullFormatter

from . import style
from ..stats import comparison, extended, inference, profiles
from ..stats.statistics import median_of_units

RANKED = 24  # algorithms in a diagram of ranks


def panel_rows(rows):
    """Figure, and [(Panel, (axes, entry))] for rows of entries."""
    most = max(len(row) for row in rows)
    columns, width = style.width_of(most)
    rows = rows if columns == most else [[entry] for row in rows for entry in row]
    height = {1: 2.3, 2: 2.15}.get(columns, 1.85 if columns == 3 else 1.6)
    figure = style.Drawing(width, len(rows) * height, grid=True)
    made = []
    for r, row in enumerate(rows):
        for c, entry in enumerate(row):
            axis = figure.add_subplot(len(rows), columns, r * columns + c + 1)
            below = r + 1 < len(rows) and c < len(rows[r + 1])
            made.append((style.Panel(axis, columns, c == 0, not below), (axis, entry)))
    return figure, made


def profiles_of(loaded, names=None):
    """Data and performance profiles over all problems of {study: results}, by queries and by CPU time: [(part of the
    file name, words, figure)]. `names`: the methods (default: all)."""
    drawn, names = [], names or list(dict.fromkeys(a for results in loaded.values() for a in results.algorithms))
    for cost, words in (("evaluations", "queries"), ("cpu", "CPU seconds")):
        tables = [_known_hits(results, study, cost) for study, results in loaded.items() if cost != "cpu" or not results.archived]
        tables = [table for table in tables if table is not None and len(table)]
        if tables:
            drawn.append((f"_{cost}", f"by {words}", profile_figure(pd.concat(tables, ignore_index=True), words, names)))
    return drawn


def _known_hits(results, study, cost):
    """Hits on the problems whose optimum is known."""
    known = [p for p in results.problems if results.group(p).knows("simple_regret")]
    if not known:
        return None
    table = profiles.hits(results, cost=cost, problems=known)
    return table.assign(problem=study + "/" + table["problem"])


def profile_figure(table, words, names):
    """Left: share of trials and targets reached against cost; right: against cost relative to the
    best algorithm on the same trial and target."""
    with style.context():
        figure, axes = panel_rows([[{}, {}]])
        styles = style.algorithm_styles(names)
        shown = [a for a in names if (table["algorithm"] == a).any()]
        made = profiles.data_profile(table), profiles.performance_profile(table)
        for (panel, _), profile, label in zip(axes, made, (words[0].upper() + words[1:], "Cost / least cost")):
            least = min((c[c > 0].min() for c, _ in profile.values() if (c > 0).any()), default=1.0)
            last = max((costs[-1] for costs, _ in profile.values() if len(costs)), default=least)
            last = last if last > least else 10.0 * least  # all costs are equal, or 0
            for algorithm in shown:
                costs, share = _thinned(*profile[algorithm])
                x = np.concatenate([[least], np.maximum(costs, least), [last]])
                y = np.concatenate([[0.0], share, share[-1:] if len(share) else [0.0]])
                panel.axes.step(x, y, where="post", **{**styles[algorithm], "marker": None})
            panel.dress("Data profile" if profile is made[0] else "Performance profile",
                        "Share reached")
            panel.axes.set_xscale("log")
            panel.axes.xaxis.set_minor_formatter(NullFormatter())
            panel.axes.set_xlim(least, last * 1.05)
            panel.axes.set_ylim(0, 1.02)
            panel.axes.yaxis.set_major_locator(MaxNLocator(5))
            panel.axes.set_xlabel(label)
        entries = [(a, {**styles[a], "marker": None}) for a in shown]
        targets = ", ".join(f"{target:g}" for target in sorted(set(table["target"]), reverse=True))
        pairs = table[["problem", "target"]].drop_duplicates()
        less = pairs["problem"].nunique() * pairs["target"].nunique() - len(pairs)
        trials = table.drop_duplicates(["problem", "algorithm", "instance", "seed"]).groupby("algorithm").size()
        style.place_legend(figure, entries, [
            f"targets: {targets} of the median simple regret at t = 0; share of targets on {extended.spread(trials)} "
            "trials" + (f"; without {less} targets below the regret of `stop`" if less else "")])
        return figure


def _thinned(costs, share, most=2000):
    """Steps that are fine enough for the eye: one at every cost, and no more than `most`."""
    last = np.flatnonzero(np.diff(costs, append=np.inf))
    if len(last) > most:
        last = last[np.linspace(0, len(last) - 1, most).round().astype(int)]
    return costs[last], share[last]


def rank_table(loaded, metric="simple"):
    """Table of problems x algorithms of {study: results}: medians of `metric` at the last query, over the trials that
    all algorithms have (over the medians of instances that several trials share), and their means over the settings
    swept outside problems and algorithms. Trials are not blocks, because those of a problem repeat the same
    information."""
    blocks = {}
    for study, results in loaded.items():
        for problem in results.problems:
            table = inference.final_values(results, problem, metric).dropna(axis=1, how="all")
            blocks.setdefault(f"{study}, {results.group(problem).block}", []).append(_medians(table.dropna()))
    centres = pd.DataFrame({name: pd.concat(some, axis=1).mean(axis=1, skipna=False)
                            for name, some in blocks.items()}).T
    return centres.dropna(axis=1)  # methods that ran on all of them


def _medians(table):
    centre, *_ = median_of_units(table)
    return pd.Series(np.where(np.isnan(centre), extended.quantiles(table.to_numpy(float), [0.5])[0], centre), table.columns)


def ranks(loaded, metric="simple"):
    """Critical-difference diagram as a list of one figure; [] with fewer than three algorithms or two problems, and with
    more than RANKED algorithms, whose names would cover each other."""
    found = comparison.friedman(rank_table(loaded, metric))
    return [("", "", rank_figure(found))] if found and len(found["ranks"]) <= RANKED else []


def rank_figure(found):
    """Critical-difference diagram (Demsar 2006): mean ranks. Bars join the methods that Nemenyi's test does not
    separate."""
    ranks, gap = found["ranks"], found["critical_difference"]
    k = len(ranks)
    groups = comparison.cliques(ranks, gap)
    def shown(name):  # longer ones leave no room for the axis
        return style.escaped(name if len(name) <= 40 else f"{name[:39]}…")
    half, names = (k + 1) // 2, style.shown_names(ranks.index)
    with style.context():
        figure = style.Drawing(style.PAGE_WIDTH * 0.8, 2.0)
        axis = figure.add_subplot()
        axis.set_axis_off()
        axis.set_xlim(1 - 0.45 * (k - 1), k + 0.45 * (k - 1))
        axis.plot([1, k], [0, 0], color="k", lw=0.8)
        for rank in range(1, k + 1):
            axis.plot([rank, rank], [0, 0.25], color="k", lw=0.8)
            axis.text(rank, 0.4, str(rank), ha="center", va="bottom", fontsize=7.5)
        axis.plot([1, min(1 + gap, k)], [1.6, 1.6], color="k", lw=1.5)
        axis.text(1, 2.0, f"critical difference {gap:.2f}"
                  + ("" if 1 + gap <= k else " (wider than the axis)"), fontsize=7, va="bottom")
        for g, (first, last) in enumerate(groups):
            axis.plot([ranks.iloc[first] - 0.04, ranks.iloc[last] + 0.04], [-0.45 * (g + 1)] * 2,
                      color="k", lw=2.2, solid_capstyle="round")
        start = -0.45 * len(groups) - 0.3
        for k_, (name, rank) in enumerate(ranks.items()):
            left = k_ < half
            level = start - 0.8 * (k_ if left else len(ranks) - 1 - k_) - 0.4
            edge = 1 - 0.06 * (k - 1) if left else k + 0.06 * (k - 1)
            axis.plot([rank, rank, edge], [0, level, level], color="0.4", lw=0.7)
            axis.text(edge, level, f" {shown(names[name])} ({rank:.2f}) ", fontsize=7.5,
                      ha="right" if left else "left", va="center")
        axis.set_ylim(start - 0.8 * half - 0.3, 2.9)
        figure.set_size_inches(style.PAGE_WIDTH * 0.8, 0.17 * (3.2 - start + 0.8 * half))
        figure.supxlabel(f"mean rank over {found['n']} problems (1 is best); Friedman p = "
                         f"{found['p']:.2g}; bars: not distinguished (Nemenyi, 5%)", fontsize=7,
                         color=style.GREY)
        return figure
