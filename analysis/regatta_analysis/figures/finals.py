"""Final values of all trials as dots: a row for each method, in the order of their medians, and the trials that are stuck
with a mark of their own. A figure for each problem."""
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from ..escape import number
from ..stats import extended, robust
from ..stats.inference import final_values
from ..stats.regret import metric_on, more_is_better
from . import figures, style

PROBLEMS, METHODS, DOTS = 12, 20, 400  # problems of a page, methods of a figure, dots of a method
STUCK, MEDIAN = "#B00020", "#000000"
BAND = 0.18  # of the width of a panel, for trials without a feasible design


def final_figure(results, problem, metric):
    """The final values on a problem: the METHODS methods with the least medians. As wide as a column, so that pages put
    several side by side or one below the other."""
    values, methods = _ordered(results, problem, metric)
    with style.context():
        figure = style.Drawing(style.COLUMN_WIDTH, 0.75 + 0.17 * len(methods), grid=True)
        panel = style.Panel(figure.add_subplot(), 1, first=True, bottom=True)
        _draw(panel.axes, values, methods, style.algorithm_styles(results.algorithms))
        panel.frame(figures.panel_title(results, problem), "", f"Final {metric_on(results, [problem], metric).name.lower()}")
        return figure


def caption(results, metric):
    """The caption under the figures of the first PROBLEMS problems: how to read them, and what they leave out."""
    problems, stuck, left, without = results.problems[:PROBLEMS], 0, 0, False
    for problem in problems:
        values, methods = _ordered(results, problem, metric)
        shown = values[methods].to_numpy(float)
        stuck += sum(int((robust.stuck(own) & np.isfinite(own)).sum()) for own in (_own(values, m) for m in methods))
        left += values.shape[1] - len(methods)
        without |= bool(np.isinf(shown).any())
    return " ".join(filter(None, [
        "A dot is the final value of a trial, a bar a median; the best method stands first.",
        f"{figures.direction(results, problems, metric).capitalize()}.",
        f"A red cross is a stuck trial ({stuck} in all)." if stuck else "",
        "∞ × n: n trials have no feasible design." if without else "",
        f"{left} rows of methods with larger medians are left out." if left else "",
        f"The first {PROBLEMS} of {len(results.problems)} problems." if len(results.problems) > PROBLEMS else ""]))


def _ordered(results, problem, metric):
    """(final values in the user's sign, trial x method; the methods that are shown, the best first)."""
    values = final_values(results, problem, metric).dropna(axis=1, how="all")
    medians = {a: robust.centre(values[a].dropna(), "median") for a in values}
    return (-values if more_is_better(results, problem, metric) else values), sorted(values, key=medians.get)[:METHODS]


def _draw(axes, values, methods, styles):
    """Draw the dots of a panel."""
    finite = values[methods].to_numpy(float)
    finite = finite[np.isfinite(finite)]
    _scale(axes, finite)
    for row, method in enumerate(methods):
        own = _own(values, method)
        lost = robust.stuck(own) & np.isfinite(own)
        shown = np.isfinite(own) if len(own) <= DOTS else np.isin(np.arange(len(own)), np.linspace(0, len(own) - 1, DOTS).round())
        aside = row + 0.5 * ((0.618034 * np.arange(len(own)) + 0.5) % 1.0 - 0.5)
        rest = shown & ~lost & np.isfinite(own)
        axes.plot(own[rest], aside[rest], ls="none", marker="o", ms=2.2, alpha=0.6, mew=0, color=styles[method]["color"])
        axes.plot(own[lost], aside[lost], ls="none", marker="x", ms=3.2, mew=0.9, color=STUCK)
        axes.plot(extended.quantiles(own, [0.5]), [row], ls="none", marker="|", ms=11, mew=1.6, color=MEDIAN)
    _infinite(axes, values, methods)
    names = style.shown_names(methods)
    axes.set_ylim(len(methods) - 0.4, -0.6)
    axes.set_yticks(range(len(methods)), [style.escaped(names[m] if len(names[m]) <= 28 else f"{names[m][:27]}…") for m in methods])


def _own(values, method):
    return np.sort(values[method].dropna().to_numpy(float))


def _infinite(axes, values, methods):
    """The numbers of infinite values, in a band of their own at the right of a panel."""
    counts = {row: int(np.isinf(values[method].to_numpy(float)).sum()) for row, method in enumerate(methods)}
    if not any(counts.values()):
        return
    axis = axes.xaxis.get_transform()
    low, high = axis.transform(np.array(axes.get_xlim()))
    axes.set_xlim(axes.get_xlim()[0], axis.inverted().transform(high + BAND * (high - low)))
    axes.axvline(axis.inverted().transform(high), color=style.GREY, lw=0.5, ls=":")
    for row, n in counts.items():
        if n:
            axes.annotate(f"∞ × {n}", (0.99, row), xycoords=("axes fraction", "data"), fontsize=6, ha="right", va="center",
                          color=style.GREY)


def _scale(axes, finite):
    """A logarithmic axis where the values are not negative and cover a factor of 20; values of 0 stand left of a decade."""
    positive = finite[finite > 0.0]
    axes.xaxis.set_major_locator(MaxNLocator(5))  # as many whatever the width: the layout is found at another one
    if not len(positive) or finite.min() < 0.0 or finite.max() <= 20.0 * positive.min():
        return
    low, high = positive.min(), positive.max()
    if finite.min() > 0.0:
        axes.set_xscale("log")
        axes.set_xlim(0.7 * low, 1.4 * high)
    else:
        axes.set_xscale("symlog", linthresh=low, linscale=0.3)
        axes.set_xlim(-0.15 * low, 1.4 * high)
    bottom, top = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    step = -(-(top - bottom + 1) // 7)
    ticks = [m * 10.0**k for k in range(bottom, top + 1, step) for m in ((1, 2, 5) if high < 100.0 * low else (1,))]
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks if low / 2.0 <= t <= 1.4 * high] if finite.min() > 0.0 else
                                              [0.0, *(t for t in ticks if low < t <= 1.4 * high)]))
    axes.xaxis.set_major_formatter(figures.power_formatter(low, high) if high >= 100.0 * low else
                                   FuncFormatter(lambda v, _: number(v, "g")))
    axes.xaxis.set_minor_locator(FixedLocator([]))
