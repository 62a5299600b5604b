"""Final values over a swept setting: one line per method, one panel per problem and value of the other settings. Also
heat-maps over two settings."""
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap, LogNorm, Normalize, SymLogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..escape import number
from ..load.errors import InputError, nearest
from ..stats import comparison, extended, sweep
from ..stats.regret import METRICS, metric_on, more_is_better
from ..stats.statistics import INTERVAL, bootstrap_means, interval_of_median
from . import figures, style
from .panels import PANELS, by_panel, check, words_of

METHODS = 6  # in a heat-map


def over_figures(results, over, metric, band=figures.Band(), scale="auto", most=None, panel=None):
    """[(words, figure)] of pages of panels, the first `most` of them; each panel has one problem and one
    value of every setting but `over`. `panel`: the panels of a figure differ in this setting only, or in the
    problem."""
    styles, found = sweep_styles(results, metric), panels_over(results, over, metric)
    named = [(words_of(results, place), mine) for place, mine in found]
    label = f"Final {metric_on(results, results.problems, metric).name.lower()}"
    if panel is not None:
        check(results, panel, [over])
        places = [place for place, _ in found]
        return [(", ".join(filter(None, (words_of(results, places[page[0]], panel), words))),
                 _page([named[k] for k in page], over, metric, (styles, label), band, scale))
                for page, words in by_panel(places, panel)[:most]]
    pages = [named[k:k + PANELS] for k in range(0, len(named), PANELS)]
    return [(f"page {k + 1} of {len(pages)}" if len(pages) > 1 else "", _page(page, over, metric, (styles, label), band, scale))
            for k, page in enumerate(pages[:most])]


def panels_over(results, over, metric):
    """[(place, final values)]: for every problem and values of the settings that go together with those in `over` (one
    name or several), the final values of the methods there. `place` is {"problem": label, setting: value}."""
    over = [over] if isinstance(over, str) else list(over)
    table = sweep.final_values(results, metric).dropna(subset=over)
    by = ["problem", *(name for name in sweep.names(results) if name not in over)]
    return [({name: value for name, value in zip(by, key) if not pd.isna(value)}, mine)
            for key, mine in table.groupby(by if len(by) > 1 else by[0], sort=False, dropna=False)
            for key in [key if isinstance(key, tuple) else (key,)]]


def sweep_styles(results, metric):
    """The style of every method, the same one in all figures of a sweep."""
    return style.algorithm_styles(list(dict.fromkeys(sweep.final_values(results, metric)["method"])))


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


def _page(page, over, metric, looks, band, scale):
    """`looks`: the styles of the methods and the label of the values."""
    styles, label = looks
    with style.context():
        figure, panels = style.panels([name for name, _ in page])
        found = [summary(mine, over, band) for _, mine in page]
        whole = pd.concat(found)
        band = band.fitting(whole)
        notes = [figures.drawn_note(band.note(), whole["n"])]
        for mine, (name, panel) in zip(found, panels):
            places = _draw(panel.axes, mine, styles, band)
            factor, remarks = figures.scale_axes(panel.axes, mine, band, scale, metric)
            notes += remarks
            panel.dress(name, label, factor)
            _dress(panel, places, over)
        infinite = whole[whole["n_finite"] < whole["n"]]
        if len(infinite):
            notes.append(f"{len(infinite)} of {len(whole)} cells have no mean: a feasible design in "
                         f"{infinite['n_finite'].sum()} of their {infinite['n'].sum()} trials")
        drawn = set(whole["algorithm"])
        style.place_legend(figure, [(m, look) for m, look in styles.items() if m in drawn or not drawn], notes)
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
    (5%, Holm over the figure). It also has the method that is best by these values. Colours are logarithmic where the
    values are positive and cover a factor of 20. It has at most METHODS methods; choose others by Results.select."""
    table = sweep.final_values(results, metric)
    methods = list(dict.fromkeys(table["method"]))
    if baseline is not None and baseline not in methods:
        raise InputError(f"{results.path}: no algorithm {baseline!r}{nearest(baseline, methods)} (it has: {', '.join(methods)})")
    found = panels_over(results, (first, second), metric)
    if not found:
        raise InputError(f"{results.path}: no trial has both {first!r} and {second!r}")
    made = []
    for place, mine in found[:PANELS]:
        here = sorted(dict.fromkeys(mine["method"]), key=lambda m: m != baseline)[:METHODS]
        words = words_of(results, place)
        made.append((words, _Heat(mine[mine["method"].isin(here)], words, (first, second), metric, here,
                                  more_is_better(results, place["problem"], metric)).figure()))
    return made


class _Heat:
    """A figure of heat-maps: the final values of `methods`, the first of which is the baseline, over two settings."""

    def __init__(self, table, title, settings, metric, methods, more):
        self.table, self.title, self.settings, self.methods, self.more = table, title, settings, methods, more
        self.columns, self.rows = (list(dict.fromkeys(sorted(table[name]))) for name in settings)
        found = table.groupby(["method", *settings[::-1]])["value"].agg(list)
        cells = pd.DataFrame(dict(enumerate(map(pd.Series, found))))
        self.statistic, centres = extended.centres(cells)
        self.centres, self.counts = pd.Series(centres.to_numpy(), found.index), cells.count()
        self.whole = pd.Series(self.counts.to_numpy() == found.map(len).to_numpy(), found.index)
        self.open = self._grid(table.groupby([*settings[::-1]])["censored"].any().astype(float)) == 1.0
        self.name = METRICS[metric].name.lower()

    def figure(self):
        baseline, others = self.methods[0], self.methods[1:]
        with style.context():
            figure = style.Drawing(style.PAGE_WIDTH, 1.75 * (1 + bool(others)) + 0.3)
            grid = figure.subplots(1 + bool(others), len(self.methods), squeeze=False)
            norm, scale = colours_of(self.centres)
            for axes, method in zip(grid[0], self.methods):
                self._cells(axes, self._grid(self.centres.xs(method)), "viridis_r", norm)
                axes.set_title(style.wrapped(style.escaped(method), 34), loc="left")
            if others:
                self._best(grid[1][0])
                self._differences(grid[1][1:], baseline, others)
            for axes in grid[:, 0]:
                axes.set_ylabel(style.escaped(self.settings[1]))
            for axes in grid[-1]:
                axes.set_xlabel(style.escaped(self.settings[0]))
            figure.suptitle(style.escaped(f"{self.title}: {self.statistic} of the final {self.name} over "
                                          f"{extended.spread(self.counts)} trials{scale}"), fontsize=8.5, x=0.01, ha="left")
            if others:
                figure.supxlabel(style.wrapped(style.escaped(self._note(baseline)), 150), fontsize=7, color=style.GREY)
            return figure

    def _note(self, baseline):
        return (f"Below: the best {self.statistic} (none if some of its trials are missing, or where stop ended trials), and mean differences to "
                f"{baseline}, where there are means; * found by the signed-rank test (5%, Holm's correction over the "
                "figure)")

    def _grid(self, series):
        return series.unstack().reindex(index=self.rows, columns=self.columns).to_numpy(float)

    def _ticks(self, axes):
        axes.set_xticks(range(len(self.columns)), [style.escaped(_word(v)) for v in self.columns])
        axes.set_yticks(range(len(self.rows)), [style.escaped(_word(v)) for v in self.rows])

    def _cells(self, axes, values, colours, norm, marks=None):
        """One heat-map with its numbers in the cells."""
        image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto", origin="lower")
        self._ticks(axes)
        for (r, c), value in np.ndenumerate(values) if values.size <= 100 else ():
            red, green, blue = image.cmap(norm(value))[:3] if np.isfinite(value) else (1.0, 1.0, 1.0)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            axes.text(c, r, _centre(value) + ("*" if marks is not None and marks[r, c] else ""),
                      ha="center", va="center", fontsize=6.5, color="white" if dark else "black")

    def winners(self):
        """(rows x columns) the place in `methods` of the one method with the best value; -1 if no value is finite, if
        several methods have it, if it rests on fewer trials than were planned, or if `stop` ended trials there."""
        values = np.array([self._grid(self.centres.xs(m)) for m in self.methods])
        whole = np.array([self._grid(self.whole.xs(m).astype(float)) == 1.0 for m in self.methods])
        found = np.full(values.shape[1:], -1)
        for at in np.ndindex(found.shape):
            best = extended.best(values[(slice(None), *at)], whole[(slice(None), *at)], self.more)
            found[at] = int(best.argmax()) if best.sum() == 1 and not self.open[at] else -1
        return found

    def _best(self, axes):
        """The winner of every cell, in its colour."""
        best, styles = self.winners(), style.algorithm_styles(self.methods)
        axes.imshow(np.ma.masked_less(best, 0), cmap=ListedColormap([styles[m]["color"] for m in self.methods]),
                    vmin=-0.5, vmax=len(self.methods) - 0.5, aspect="auto", origin="lower", alpha=0.45)
        self._ticks(axes)
        for (r, c), k in np.ndenumerate(best) if best.size <= 100 else ():
            axes.text(c, r, style.escaped(self.methods[k] if k >= 0 else "–"), ha="center", va="center", fontsize=6.5)
        axes.set_title("Best", loc="left")

    def _differences(self, panels, baseline, others):
        found = {m: sweep.differences(self.table, m, baseline, self.settings[::-1]) for m in others}
        p = comparison.holm(np.concatenate([f["p"] for f in found.values()]))
        reach = pd.concat([f["difference"].abs() for f in found.values()]).max() or 1.0
        reach = reach if np.isfinite(reach) else 1.0
        for axes, method in zip(panels, others):
            mine, p = found[method].assign(known=p[:len(found[method])] < 0.05), p[len(found[method]):]
            values, known = (self._grid(mine[name].astype(float)) for name in ("difference", "known"))
            self._cells(axes, values, "RdBu_r", Normalize(-reach, reach), known == 1.0)
            axes.set_title(style.wrapped(style.escaped(f"{method} - {baseline}"), 34), loc="left")


def colours_of(centres):
    """(norm of the colours, words about it) of values: logarithmic where they cover a factor of 20 or more; down to
    the smallest positive one, and linear from there to 0, where some are 0; linear where some are negative."""
    values = np.asarray(centres, float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    positive = values[values > 0.0]
    if low < 0.0 or not len(positive) or high < 20.0 * positive.min():
        return Normalize(low, high if high > low else low + 1.0), ""
    if low > 0.0:
        return LogNorm(low, high), "; logarithmic colours"
    return SymLogNorm(positive.min(), linscale=0.5, vmin=0.0, vmax=high), "; logarithmic colours, linear near 0"


def _centre(value):
    if np.isfinite(value):
        return number(value, ".3g")
    return "–" if np.isnan(value) else "−∞" if value < 0 else "∞"


def _word(value):
    return f"{value:g}" if isinstance(value, (int, float, np.number)) else value
