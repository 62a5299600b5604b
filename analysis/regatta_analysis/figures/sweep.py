"""Final values over a setting that was swept: one line per method, one panel per problem and value of the
other settings."""
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..stats import sweep
from ..stats.regret import METRICS
from ..stats.statistics import bootstrap_means
from . import figures, style

PANELS = 12


def over_figures(results, over, metric, band=figures.Band(), scale="auto"):
    """[(words, figure)] of pages of panels; each panel has one problem and one value of every setting
    but `over`."""
    table = sweep.final_values(results, metric)
    methods = list(dict.fromkeys(table["method"]))
    others = [name for name in sweep.names(results) if name != over]
    keys = [key for key, _ in table.groupby(["problem", *others], sort=False)]
    keys = [key if isinstance(key, tuple) else (key,) for key in keys]
    pages = [keys[k:k + PANELS] for k in range(0, len(keys), PANELS)]
    return [(f"page {k + 1} of {len(pages)}" if len(pages) > 1 else "",
             _page(table, page, others, over, metric, methods, band, scale))
            for k, page in enumerate(pages)]


def summary(table, over, band):
    """Per method and value of the setting: t (the value), n, mean, se, median, low, high, boot_low,
    boot_high (trials that share an instance are drawn together)."""
    rows = []
    for (method, value), mine in table.groupby(["method", over], sort=False):
        values = mine["value"].to_numpy(float)
        n, sd = len(values), values.std(ddof=1) if len(values) > 1 else np.nan
        median, low, high = np.quantile(values, [0.5, *band.quantiles])
        drawn = bootstrap_means(values[:, None], groups=mine["instance"]) if band.kind == "bootstrap" \
            and n > 1 else values.mean()
        rows.append([method, value, n, values.mean(), sd / np.sqrt(n), median, low, high,
                     *np.quantile(drawn, [0.025, 0.975])])
    return pd.DataFrame(rows, columns=["algorithm", "t", "n", "mean", "se", "median", "low", "high",
                                       "boot_low", "boot_high"])


def _page(table, keys, others, over, metric, methods, band, scale):
    names = [", ".join([key[0], *(f"{name} = {value}" for name, value in zip(others, key[1:]))])
             for key in keys]
    with style.context():
        figure, panels = style.panels(names)
        styles = style.algorithm_styles(methods)
        notes = []
        for key, (name, panel) in zip(keys, panels):
            mine = table[np.all([table[c] == v for c, v in zip(["problem", *others], key)], axis=0)]
            found = summary(mine, over, band)
            places = _draw(panel.axes, found, styles, band)
            factor, remarks = figures.scale_axes(panel.axes, found, band, scale, metric)
            notes += remarks
            panel.dress(name, f"Final {METRICS[metric].name.lower()}", factor)
            _dress(panel, places, over)
        counts = " or ".join(str(n) for n in sorted(set(
            table.groupby(["problem", *others, "method", over]).size())))
        style.place_legend(figure, [Line2D([], [], **styles[m]) for m in methods], methods, [
            f"{band.note()} over {counts} trials", *notes])
        return figure


def _draw(axes, found, styles, band):
    """Lines with bands; returns the places of the values on the axis: numbers, or words in a row."""
    values = list(dict.fromkeys(found["t"]))
    numbers = all(isinstance(v, (int, float, np.number)) for v in values)
    places = {v: v if numbers else k for k, v in enumerate(values)}
    for method, cell in found.groupby("algorithm", sort=False):
        cell = cell.assign(x=cell["t"].map(places)).sort_values("x")
        middle, low, high = band.of(cell)
        axes.fill_between(cell["x"], low, high, color=styles[method]["color"], alpha=0.15, lw=0)
        axes.plot(cell["x"], middle, markeredgecolor="white", markeredgewidth=0.3, **styles[method])
    return places


def _dress(panel, places, over):
    axes, at = panel.axes, sorted(places.values())
    if any(isinstance(value, str) for value in places):
        axes.set_xlim(-0.3, len(at) - 0.7)
        axes.set_xticks(at, [style.escaped(v) for v in places])
    elif sweep.is_spread(at):
        axes.set_xscale("log")
        axes.set_xlim(at[0] / 1.15, at[-1] * 1.15)
        axes.xaxis.set_major_locator(LogLocator(numticks=6))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        margin = 0.04 * (at[-1] - at[0] or 1.0)
        axes.set_xlim(at[0] - margin, at[-1] + margin)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.set_xlabel(style.escaped(over) if panel.bottom else "")
