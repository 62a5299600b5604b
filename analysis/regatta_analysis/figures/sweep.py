"""Final values over a swept setting: one line per method, one panel per problem and value of the other settings. Also
heat-maps over two settings."""
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..escape import number
from ..load.errors import InputError
from ..stats import comparison, extended, sweep
from ..stats.regret import METRICS, more_is_better
from ..stats.statistics import INTERVAL, bootstrap_means, interval_of_median
from . import figures, style
from .panels import PANELS, by_panel, check, words_of

METHODS = 6  # in a heat-map


def over_figures(results, over, metric, band=figures.Band(), scale="auto", most=None, panel=None):
    """[(words, figure)] of pages of panels, the first `most` of them; each panel has one problem and one
    value of every setting but `over`. `panel`: the panels of a figure differ in this setting only, or in the
    problem."""
    table = sweep.final_values(results, metric)
    methods = list(dict.fromkeys(table["method"]))
    others = [name for name in sweep.names(results) if name != over]
    keys = [key for key, _ in table.groupby(_by(others), sort=False)]
    keys = [key if isinstance(key, tuple) else (key,) for key in keys]
    if panel is not None:
        check(results, panel, [over])
        places = [dict(zip(["problem", *others], key)) for key in keys]
        return [(", ".join(filter(None, (words_of(places[page[0]], panel), words))),
                 _page(table, [keys[k] for k in page], others, over, metric, methods, band, scale))
                for page, words in by_panel(places, panel)[:most]]
    pages = [keys[k:k + PANELS] for k in range(0, len(keys), PANELS)]
    return [(f"page {k + 1} of {len(pages)}" if len(pages) > 1 else "",
             _page(table, page, others, over, metric, methods, band, scale))
            for k, page in enumerate(pages[:most])]


def _by(others):
    return ["problem", *others] if others else "problem"


def summary(table, over, band):
    """Per method and value of the setting: t (the value), n, n_finite, mean, se, median, low, high, and INTERVAL
    (trials that share an instance are drawn together)."""
    rows = []
    for (method, value), mine in table.dropna(subset=["value"]).groupby(["method", over], sort=False):
        values = mine["value"].to_numpy(float)
        n, mean, _, se = extended.mean_and_error(values)
        drawn = bootstrap_means(values[:, None], groups=mine["instance"]) if band.kind == "bootstrap" \
            and n > 1 and np.isfinite(mean) else mean
        rows.append([method, value, n, np.isfinite(values).sum(), mean, se,
                     *extended.quantiles(values, [0.5, *band.quantiles]), *np.quantile(drawn, [0.025, 0.975]),
                     *interval_of_median(mine.set_index("instance")["value"])])
    return pd.DataFrame(rows, columns=["algorithm", "t", "n", "n_finite", "mean", "se", "median", "low", "high",
                                       *INTERVAL])


def _page(table, keys, others, over, metric, methods, band, scale):
    names = [words_of(dict(zip(["problem", *others], key))) for key in keys]
    with style.context():
        figure, panels = style.panels(names)
        styles = style.algorithm_styles(methods)
        found = [summary(table[np.all([table[c] == v for c, v in zip(["problem", *others], key)], axis=0)],
                         over, band) for key in keys]
        whole = pd.concat(found)
        band = band.fitting(whole)
        notes = [figures.drawn_note(band.note(), whole["n"])]
        for mine, (name, panel) in zip(found, panels):
            places = _draw(panel.axes, mine, styles, band)
            factor, remarks = figures.scale_axes(panel.axes, mine, band, scale, metric)
            notes += remarks
            panel.dress(name, f"Final {METRICS[metric].name.lower()}", factor)
            _dress(panel, places, over)
        infinite = whole[whole["n_finite"] < whole["n"]]
        if len(infinite):
            notes.append(f"{len(infinite)} of {len(whole)} cells have no mean: a feasible design in "
                         f"{infinite['n_finite'].sum()} of their {infinite['n'].sum()} trials")
        style.place_legend(figure, styles.items(), notes)
        return figure


def _draw(axes, found, styles, band):
    """Lines with bands; returns the places of the values on the axis: numbers, or words in a row."""
    values = list(dict.fromkeys(found["t"]))
    numbers = all(isinstance(v, (int, float, np.number)) for v in values)
    places = {v: v if numbers else k for k, v in enumerate(values)}
    for method, cell in found.groupby("algorithm", sort=False):
        cell = cell.assign(x=cell["t"].map(places)).sort_values("x")
        middle, low, high = band.of(cell)
        axes.fill_between(cell["x"], *figures.edges(middle, low, high), color=styles[method]["color"], alpha=0.15, lw=0)
        axes.plot(cell["x"], middle, markeredgecolor="white", markeredgewidth=0.3, **styles[method])
    return places


def _dress(panel, places, over):
    axes, at = panel.axes, sorted(places.values())
    if not at:  # no trial has a value
        return
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
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: number(v, "g")))
    axes.set_xlabel(style.escaped(over) if panel.bottom else "")


# ---- over two settings -------------------------------------------------------------------------


def heat_figures(results, first, second, metric, baseline=None):
    """[(words, figure)] of heat-maps over two settings, one figure per problem and value of the other settings, at
    most PANELS. A figure has the mean of every method (the median for all of them if a cell has no mean), and the
    difference of its mean to that of `baseline` (default: the first method), with a star if a paired test finds one
    (5%, Holm over the figure). It also has the method that is best by these values. It has at most METHODS methods;
    choose others by Results.select."""
    table = sweep.final_values(results, metric)
    methods = list(dict.fromkeys(table["method"]))
    if baseline is not None and baseline not in methods:
        raise InputError(f"{results.path}: no algorithm {baseline!r} (it has: {', '.join(methods)})")
    methods = sorted(methods, key=lambda m: m != baseline)[:METHODS]
    table = table[table["method"].isin(methods)]
    others = [name for name in sweep.names(results) if name not in (first, second)]
    made = []
    for key, mine in table.groupby(_by(others), sort=False):
        key = key if isinstance(key, tuple) else (key,)
        words = ", ".join([key[0], *(f"{name} = {value}" for name, value in zip(others, key[1:]))])
        made.append((words, _heat(mine, words, first, second, metric, methods,
                                  baseline or methods[0], more_is_better(results, key[0], metric))))
        if len(made) == PANELS:
            break
    return made


def _heat(table, title, first, second, metric, methods, baseline, more):
    rows, columns = (list(dict.fromkeys(sorted(table[name]))) for name in (second, first))
    found = table.groupby(["method", second, first])["value"].agg(list)
    cells = pd.DataFrame(dict(enumerate(map(pd.Series, found))))
    statistic, centres = extended.centres(cells)
    centres = pd.Series(centres.to_numpy(), found.index)
    shown = {m: _grid(centres.xs(m), rows, columns) for m in methods}
    others = [m for m in methods if m != baseline]
    with style.context():
        figure = Figure(figsize=(style.PAGE_WIDTH, 1.75 * (1 + bool(others)) + 0.3),
                        layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(1 + bool(others), len(methods), squeeze=False)
        finite = centres[np.isfinite(centres)]
        limits = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        for axes, method in zip(grid[0], methods):
            _cells(axes, shown[method], rows, columns, "viridis_r", limits)
            axes.set_title(style.wrapped(style.escaped(method), 34), loc="left")
        if others:
            _best(grid[1][0], shown, methods, rows, columns, more)
            _differences(grid[1][1:], table, baseline, others, (second, first), rows, columns)
        for axes in grid[:, 0]:
            axes.set_ylabel(style.escaped(second))
        for axes in grid[-1]:
            axes.set_xlabel(style.escaped(first))
        figure.suptitle(style.escaped(f"{title}: {statistic} of the final {METRICS[metric].name.lower()} over "
                                      f"{extended.spread(cells.count())} trials"), fontsize=8.5, x=0.01, ha="left")
        if others:
            figure.supxlabel(style.escaped(
                f"Below: the best {statistic}, and mean differences to {baseline}, where there are means; * found by "
                "the signed-rank test (5%, Holm's correction over the figure)"), fontsize=7, color=style.GREY)
        return figure


def _grid(series, rows, columns):
    return series.unstack().reindex(index=rows, columns=columns).to_numpy(float)


def _cells(axes, values, rows, columns, colours, limits, marks=None):
    """One heat-map with its numbers in the cells."""
    axes.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto", origin="lower")
    axes.set_xticks(range(len(columns)), [style.escaped(_word(v)) for v in columns])
    axes.set_yticks(range(len(rows)), [style.escaped(_word(v)) for v in rows])
    span = limits[1] - limits[0] or 1.0
    for (r, c), value in np.ndenumerate(values) if values.size <= 100 else ():
        share = (value - limits[0]) / span if np.isfinite(value) else 0.0 if colours == "viridis_r" else 0.5
        dark = share > 0.55 if colours == "viridis_r" else abs(share - 0.5) > 0.35
        axes.text(c, r, _centre(value) + ("*" if marks is not None and marks[r, c] else ""),
                  ha="center", va="center", fontsize=6.5, color="white" if dark else "black")


def _centre(value):
    if np.isfinite(value):
        return number(value, ".3g")
    return "–" if np.isnan(value) else "−∞" if value < 0 else "∞"


def _word(value):
    return f"{value:g}" if isinstance(value, (int, float, np.number)) else value


def _best(axes, shown, methods, rows, columns, more):
    """The method with the best value in every cell, in its colour; no method where no value is finite."""
    values = np.array([shown[m] for m in methods])
    best = (np.argmax if more else np.argmin)(np.nan_to_num(values, nan=-np.inf if more else np.inf), 0)
    best = np.ma.masked_where(~np.isfinite(np.take_along_axis(values, best[None], 0)[0]), best)
    styles = style.algorithm_styles(methods)
    axes.imshow(best, cmap=ListedColormap([styles[m]["color"] for m in methods]), vmin=-0.5,
                vmax=len(methods) - 0.5, aspect="auto", origin="lower", alpha=0.45)
    axes.set_xticks(range(len(columns)), [style.escaped(_word(v)) for v in columns])
    axes.set_yticks(range(len(rows)), [style.escaped(_word(v)) for v in rows])
    for (r, c), k in np.ma.ndenumerate(best) if best.size <= 100 else ():
        axes.text(c, r, style.escaped(methods[k]), ha="center", va="center", fontsize=6.5)
    axes.set_title("Best", loc="left")


def _differences(panels, table, baseline, others, settings, rows, columns):
    found = {m: sweep.differences(table, m, baseline, settings) for m in others}
    p = comparison.holm(np.concatenate([f["p"] for f in found.values()]))
    reach = pd.concat([f["difference"].abs() for f in found.values()]).max() or 1.0
    reach = reach if np.isfinite(reach) else 1.0
    for axes, method in zip(panels, others):
        mine, p = found[method].assign(known=p[:len(found[method])] < 0.05), p[len(found[method]):]
        grids = (_grid(mine[name].astype(float), rows, columns) for name in ("difference", "known"))
        values, known = grids
        _cells(axes, values, rows, columns, "RdBu_r", (-reach, reach), known == 1.0)
        axes.set_title(style.wrapped(style.escaped(f"{method} - {baseline}"), 34), loc="left")
