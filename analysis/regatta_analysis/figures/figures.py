"""Regret curves and confidence parameters. Every function that draws gets its numbers from `statistics.summarise`.
Nothing is smoothed or interpolated."""
import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import (FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter,
                               NullLocator)

from . import style
from ..escape import number
from ..stats import extended
from ..stats.regret import METRICS, curves, dynamic_note, metric_on, more_is_better
from ..load.settings import words_of_settings
from ..stats.statistics import INTERVAL
from ..stats.summaries import cell_summaries, over_cells
from .laws import confidence_law

BANDS = ("median", "se", "quantile", "bootstrap")  # the first one is the default everywhere
BANDED = 12  # lines in a panel that have bands
NO_INTERVAL = "no interval with fewer than 6 independent trials"  # `median_interval`


@dataclass(frozen=True)
class Band:
    """The statistic of figures and tables: median with its 95% interval or with a quantile band, mean with `factor`
    standard errors, or mean with its 95% bootstrap interval. Errors and intervals are over units that are independent:
    the instances if several trials share one, else the trials. A standard error of values that are not negative is
    drawn as the ratio exp(error / mean), its first-order size on a logarithmic axis, so that a stuck trial does not
    fill a logarithmic chart."""
    kind: str = BANDS[0]
    quantiles: tuple = (0.25, 0.75)
    factor: float = 1.0

    def of(self, cell):
        """Centre, lower and upper edge of a summary."""
        if self.kind == "se":
            mean, errors = cell["mean"].astype(float), cell["se_instances"].fillna(cell["se"]).astype(float)
            error = self.factor * errors.fillna(0.0)
            if not (cell["low"] >= 0.0).all():
                return mean, mean - error, mean + error
            ratio = np.exp((error / mean.where(mean > 0.0)).fillna(0.0))
            return mean, mean / ratio, mean * ratio
        if self.kind == "bootstrap":
            return cell["mean"], *(cell[name].fillna(cell["mean"]) for name in INTERVAL)
        if self.kind == "median":
            centre = cell["median_instances"].fillna(cell["median"])
            return centre, *(cell[name].fillna(centre) for name in ("median_low", "median_high"))
        return cell["median"], cell["low"], cell["high"]

    @property
    def interval(self):
        """Whether summaries need the bootstrap."""
        return self.kind == "bootstrap"

    def fitting(self, rows):
        """This band, or medians with quantiles if any of the compared rows of a summary has no mean."""
        if self.kind == "median" or (rows["n"] == rows["n_finite"]).all():
            return self
        return replace(self, kind="quantile")

    def note(self, drawn=True):
        """The statistic in words, of a figure or of a table."""
        if self.kind == "se":
            return "mean ± standard error" + (" (bands: mean ×/÷ exp(error / mean))" if drawn else "")
        if self.kind == "bootstrap":
            return "mean with 95% bootstrap interval (too short for skewed values)"
        if self.kind == "median":
            return "median with 95% interval"
        low, high = (f"{100 * q:g}" for q in self.quantiles)
        return f"median, {low}–{high}% quantile band"


def regret_grid(results, problems, metric, scale="auto", band=Band()):
    """One panel per problem, one legend for all; a single one at column width."""
    with style.context():
        figure, panels = style.panels(problems)
        styles, titles = style.algorithm_styles(results.algorithms), {p: panel_title(results, p) for p in problems}
        shown, notes, label = {}, [], metric_on(results, problems, metric).label
        for problem, panel in panels:
            shown[problem] = summary = cell_summaries(results, problem, metric, band.quantiles,
                                                      band.interval)
            notes += draw_panel(panel, (titles[problem], label), summary, styles, band, scale, metric)
        entries, remarks = _legend_entries(results, shown, styles)
        named = {titles[problem]: summary for problem, summary in shown.items()}
        style.place_legend(figure, entries, [*value_notes(named, band, "", direction(results, problems, metric)), *notes,
                                             *remarks, *keys(results, titles.values()),
                                             *dynamic_words(results, problems, metric)])
        return figure


LONGEST = 90  # characters of a title that says the settings; longer ones have their names in `Results.index`


def panel_title(results, problem):
    """The title of a panel: the problem with its settings."""
    group = results.group(problem)
    text = ", ".join([str(group.place), words_of_settings(group.at)]) if group.at else problem
    return text if len(text) <= LONGEST else results.title_of(problem)


def keys(results, titles, most=4):
    """Notes on the names of settings that end the titles of panels."""
    named = [f"{name}: {text}" for name, text in results.index.items()
             if any(re.search(rf"\b{name}\)?$", title) for title in titles)]
    return [style.escaped(text) for text in named[:most]] + (
        ["the page and summary.md list the other names of settings"] if len(named) > most else [])


def dynamic_words(results, problems, metric):
    """A note on problems whose regret is dynamic, for a legend; [] if no problem has dynamic regret."""
    text = "" if METRICS[metric].running else dynamic_note(results, problems).strip(" .")
    return [style.escaped(text)] if text else []


def draw_panel(panel, title, summary, styles, band, scale, metric, joint=None):
    """One panel of curves by one statistic for all of them; returns notes. `title` is that of the panel and of its
    vertical axis, `joint` the summary that sets the scale of the axis."""
    fitting = band.fitting(last_rows(summary))
    draw(panel.axes, summary, styles, fitting)
    factor, notes = scale_axes(panel.axes, summary if joint is None else joint, fitting, scale, metric)
    panel.dress(*title, factor)
    return notes


def last_rows(summary):
    """The rows of a summary at its last t."""
    return summary[summary["t"] == summary["t"].max()]


def direction(results, problems, metric):
    """A note that says which values of a metric are better."""
    more = {more_is_better(results, problem, metric) for problem in problems}
    return "" if len(more) > 1 else "higher is better" if more == {True} else "lower is better"


def value_notes(shown, band, centre="", better=""):
    """The note below panels {name: summary}: the statistic, the number of its trials at the last query, and the
    panels in which some trials have no finite value. `centre` is the statistic that is drawn, if it is not that
    of the band, and `better` says which values are better."""
    kinds, infinite = {}, []
    for name, summary in shown.items():
        rows = last_rows(summary)
        names, parts = kinds.setdefault(band.fitting(rows), ([], []))
        names.append(name)
        parts.append(rows)
        infinite += [f"{r.algorithm}{f' on {name}' if len(shown) > 1 else ''} in {r.n_finite} of {r.n}"
                     for r in rows[rows["n_finite"] < rows["n"]].itertuples()]
    notes = []
    for kind, (names, parts) in kinds.items():
        where = f"{'; '.join(map(str, names))}: " if len(kinds) > 1 else ""
        notes.append(where + "; ".join(filter(None, (drawn_note(kind, pd.concat(parts), centre if kind == band else ""), better))))
    if any(summary["algorithm"].nunique() > BANDED for summary in shown.values()):
        notes.append(f"panels with more than {BANDED} methods have no bands")
    if infinite:
        more = f"; and {len(infinite) - 4} more" if len(infinite) > 4 else ""
        notes.append(f"a trial without a feasible design counts as infinite; feasible: {'; '.join(infinite[:4])}{more}")
    return [style.escaped(note) for note in notes]


def drawn_note(band, rows, words=""):
    """The statistic of the band that is drawn (in other `words`), and the numbers of trials and instances behind the
    rows of a summary."""
    if len(rows) and rows["n"].max() == 1:
        return "single trials"
    crossed = rows["n_instances"].where(rows["median_instances"].notna()).dropna()
    note = f"{words or band.note()} over {extended.spread(rows['n'])} trials"
    note += f" of {extended.spread(crossed)} instances" if len(crossed) else ""
    few = not words and band.kind == "median" and rows["median_low"].isna()[rows["n"] > 0].any()
    return note + (f" ({NO_INTERVAL})" if few else "")


def confidence_problems(results):
    """Problems on which a method recorded its confidence parameter."""
    return [p for p in results.problems if results.group(p).knows("confidence")]


def confidence_summary(results, problem):
    """Mean and 95% interval over the trials of the recorded confidence parameter, per query."""
    return over_cells(results, problem, lambda cell: curves(results, problem, "confidence", of=cell).iloc[:, 1:], (0.025, 0.975))


def confidence_figure(results, points=None):
    """Mean and central 95% of the confidence parameter as recorded, one panel per problem.

    `points`: number of designs |X| of the (finite) problems; with it the laws by formula are drawn
    over what was measured, for the methods and rules that have one.
    """
    problems = confidence_problems(results)
    with style.context():
        figure, panels = style.panels(problems)
        styles = style.algorithm_styles(results.algorithms)
        shown, laws, summaries = {}, [], {}
        for problem, panel in panels:
            summaries[problem] = summary = confidence_summary(results, problem)
            draw(panel.axes, summary, styles, Band("quantile", (0.025, 0.975)), centre="mean")
            for algorithm, t in summary.groupby("algorithm", sort=False)["t"]:
                shown[algorithm] = styles[algorithm]
                law = recorded_law(results, problem, algorithm, t.to_numpy(), points)
                if law is not None:
                    laws.append(law)
                    _draw_law(panel.axes, law)
            panel.axes.set_ylim(bottom=0)
            panel.dress(problem, "Confidence parameter")
        entries = list(shown.items())
        if laws:
            entries += [("mean by formula", {"color": "k", "lw": 0.7, "ls": "-"}),
                        ("95% interval by formula", {"color": "k", "lw": 0.7, "ls": ":"})]
        style.place_legend(figure, entries, value_notes(summaries, Band("quantile"),
                                                        "measured: mean and central 95%"))
        return figure


def recorded_law(results, problem, algorithm, t, points=None):
    """The law by formula for the settings of a cell; None without such a law."""
    cell = results.group(problem).cells[algorithm]
    name, dim = (cell.column(column)[0] for column in ("algorithm_name", "n_dim_x"))
    return confidence_law(name, t, points, dim, cell.parameters("algorithm"))


def theory_figure(points, horizon, methods=("gp_ucb", "rgp_ucb", "irgp_ucb")):
    """Confidence parameters by formula alone, as Figure 1(a) of arXiv:2409.00979."""
    names = {"gp_ucb": "GP-UCB", "rgp_ucb": "RGP-UCB", "irgp_ucb": "IRGP-UCB"}
    with style.context():
        figure, ((_, panel),) = style.panels([""])
        styles = style.algorithm_styles([names[m] for m in methods])
        t = np.arange(1, horizon + 1)
        for k, method in enumerate(methods):
            law, look = confidence_law(method, t, points), styles[names[method]]
            panel.axes.fill_between(law["t"], law["low"], law["high"], color=look["color"],
                                    alpha=0.18, lw=0)
            marks = mark(k, len(methods), horizon)
            panel.axes.plot(law["t"], law["mean"], markevery=marks, **look)
        panel.axes.set_ylim(bottom=0)
        panel.dress("", "Confidence parameter")
        style.place_legend(figure, styles.items(),
                           [f"mean and 95% interval by formula, {points} designs"])
        return figure


def auto_scale(summary, band):
    """Logarithmic when the curves fall by more than a factor of 20 and never below 0."""
    centre = band.of(summary)[0].to_numpy(float)
    positive = centre[(centre > 0) & np.isfinite(centre)]
    if not len(positive) or (centre < 0).any():
        return "linear"
    return "log" if positive.max() > 20.0 * positive.min() else "linear"


def draw(axes, summary, styles, band, centre=None):
    """Lines with bands, markers side by side, of a summary with the columns of `statistics.summarise`. More lines than
    BANDED have no bands: together these are only grey."""
    algorithms = list(dict.fromkeys(summary["algorithm"]))
    last = summary["t"].max() if len(summary) else 1
    for k, algorithm in enumerate(algorithms):
        cell = summary[summary["algorithm"] == algorithm]
        middle, low, high = band.of(cell)
        look = styles[algorithm]
        if len(algorithms) <= BANDED:
            axes.fill_between(cell["t"], *edges(middle, low, high), color=look["color"], lw=0, zorder=1,
                              alpha=0.18 if len(algorithms) <= 5 else 0.11)
        axes.plot(cell["t"], cell[centre] if centre else middle, zorder=3, label=algorithm,
                  markevery=mark(k, len(algorithms), last), markeredgecolor="white",
                  markeredgewidth=0.3, **look)


def edges(middle, low, high):
    """The edges of a band for drawing. An infinite edge lies far outside the axes; without a finite centre there is no
    edge."""
    middle, low, high = (np.asarray(v, float) for v in (middle, low, high))
    far = 1e6 * max(np.abs(v[np.isfinite(v)]).max(initial=1e-300) for v in (middle, low, high))
    return (np.where(np.isfinite(middle), np.clip(v, -far, far), np.nan) for v in (low, high))


def _draw_law(axes, law):
    random = law["low"].notna().any()  # else the measured curve is the law: leave it visible
    axes.plot(law["t"], law["mean"], color="k", lw=0.7, zorder=4 if random else 2)
    for edge in ("low", "high") if random else ():
        axes.plot(law["t"], law[edge], color="k", lw=0.7, ls=":", zorder=4)


def mark(k, n, last):
    """Marker positions: about six on a curve, those of different curves side by side."""
    every = max(int(last) // 6, 1)
    return (int(every * (k + 0.5) / n), every)


def scale_axes(axes, summary, band, scale, metric):
    """Set the vertical axis. Returns the factor taken out of its numbers, for the axis label, and
    notes the reader must see."""
    centre, low, high = (np.asarray(v, float) for v in band.of(summary)) if len(summary) else [np.empty(0)] * 3
    finite = np.isfinite(centre)
    if not finite.any():
        axes.text(0.5, 0.5, "no finite value", ha="center", va="center", color=style.GREY, transform=axes.transAxes)
        return "", []
    centre, low, high = (v[finite] for v in (centre, low, high))
    low, high = (np.where(np.isfinite(v), v, centre) for v in (low, high))
    if scale == "auto":
        sums = metric in ("cumulative", "average", "best") or metric.endswith("_reward")
        scale = "linear" if sums else auto_scale(summary, band)
    if scale == "linear" or not (centre > 0).any():
        notes = ["no positive value: linear scale"] if scale == "log" else []
        return _linear(axes, low.min(), high.max(), centre.min() >= 0 and metric != "best"), notes
    smallest, largest = centre[centre > 0].min(), high.max()
    smallest = min(smallest, max(low[low > 0].min(initial=np.inf), smallest / 10.0))  # a decade for lower edges
    if (centre <= 0).any():
        return "", _symlog(axes, smallest, largest)
    axes.set_yscale("log")
    axes.set_ylim(0.75 * smallest, 1.25 * largest)
    _log_ticks(axes, 0.75 * smallest, 1.25 * largest)
    return "", []


def _linear(axes, lowest, highest, positive):
    """Linear from 0 for quantities that are never negative, with a power of ten taken out."""
    reach = max(abs(lowest), abs(highest)) or 1.0
    lowest = min(0.0 if positive else lowest, highest)
    margin = 0.03 * (highest - lowest or reach)
    axes.set_ylim(lowest - 0.6 * margin, highest + margin)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    exponent = int(np.floor(np.log10(reach)))
    if -3 < exponent < 5:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: number(v, ".10g")))
        return ""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: number(v / 10.0**exponent, ".6g")))
    return f"$\\times 10^{{{exponent}}}$"


def _symlog(axes, smallest, largest):
    """Logarithmic down to a power of ten below the smallest positive value, linear from there to 0,
    with the border drawn."""
    bottom = int(np.floor(np.log10(max(smallest, 1e-9 * largest))))
    top = int(np.ceil(np.log10(largest)))
    axes.set_yscale("symlog", linthresh=10.0**bottom, linscale=0.35)
    axes.set_ylim(-0.12 * 10.0**bottom, 1.25 * largest)
    axes.axhline(10.0**bottom, color=style.GREY, lw=0.7, ls=(0, (1, 1.5)), zorder=2)
    step = -(-(top - bottom + 1) // 6)
    decades = list(range(bottom, top + 1, step))
    axes.yaxis.set_major_locator(FixedLocator([0.0] + [10.0**k for k in decades]))
    axes.yaxis.set_major_formatter(power_formatter(10.0**bottom, largest))
    minor = [m * 10.0**k for k in range(bottom, top) for m in (2, 5)] if step == 1 else []
    axes.yaxis.set_minor_locator(FixedLocator(minor))
    axes.yaxis.set_minor_formatter(NullFormatter())
    return [f"linear below the dotted line at $10^{{{bottom}}}$, to show 0"]


def _log_ticks(axes, low, high):
    if high / low > 100.0:
        axes.yaxis.set_major_locator(LogLocator(numticks=7))
        axes.yaxis.set_major_formatter(power_formatter(low, high))
        axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5), numticks=7))  # each further tick costs much time
        axes.yaxis.set_minor_formatter(NullFormatter())
        return
    multiples = (1, 2, 5) if high / low > 6.0 else range(1, 10)
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [m * 10.0**k for k in decades for m in multiples if low <= m * 10.0**k <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def power_formatter(low, high):
    """Powers of ten, written in one way on an axis: as numbers if all of them are short."""
    plain = 0.99e-3 <= low and high < 1e4

    def power(value, _=None):
        return number(value, "g") if plain or value == 0 else f"$10^{{{round(np.log10(abs(value)))}}}$"
    return FuncFormatter(power)


def _legend_entries(results, shown, styles):
    """Every algorithm of the study, and notes on cells of the summaries {problem: summary} in which some trials have
    no value at the last query. With one problem, its counts are beside the name."""
    cells = results.cells(list(shown))
    last = pd.concat([last_rows(summary).assign(problem=problem) for problem, summary in shown.items()])
    cells = cells.merge(last[["problem", "algorithm", "n"]], how="left", on=["problem", "algorithm"])
    cells["n"] = cells["n"].fillna(0).astype(int)
    entries = []
    for algorithm, mine in cells.groupby("algorithm", sort=False):
        n, planned, done = (int(mine[name].sum()) for name in ("n", "planned", "done"))
        partial = "" if n == planned else f" ({n} of {planned})" if n else " (no value)" if done else " (missing)"
        entries.append((algorithm + (partial if len(shown) == 1 or not n else ""),
                        styles[algorithm] if n else Patch(alpha=0.0)))
    if len(shown) == 1:
        return entries, []
    texts = [f"{c.algorithm} on {results.title_of(c.problem)} ({c.n}/{c.planned})"
             for c in cells[cells["n"] < cells["planned"]].itertuples()]
    note = ("trials with a value: " + "; ".join(texts) if len(texts) <= 4
            else f"{len(texts)} cells lack trials or values")
    return entries, [style.escaped(note)] if texts else []
