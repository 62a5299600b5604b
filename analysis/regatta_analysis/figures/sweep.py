"""Final values over a swept setting: one line per method, one panel per problem and value of the other settings. Also
heat-maps over two settings."""
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap, LogNorm, Normalize, SymLogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from ..escape import number
from ..load.errors import InputError, nearest
from ..stats import comparison, extended, sweep
from ..stats.measures import comparing
from ..stats.regret import METRICS, metric_on, more_is_better
from ..stats.statistics import median_of_units, summarise
from . import figures, style
from .panels import PANELS, by_panel, check, words_of

METHODS = 6  # in a heat-map


def over_figures(results, over, metric, band=figures.Band(), scale="auto", most=None, panel=None):
    """[(words, figure)] of pages of panels, the first `most` of them; each panel has one problem and one
    value of every setting but `over`. `panel`: the panels of a figure differ in this setting only, or in the
    problem."""
    styles, found = sweep_styles(results, metric), panels_over(results, over, metric)
    named, places = [(words_of(results, place), mine) for place, mine in found], [place for place, _ in found]
    looks = (styles, f"Final {metric_on(results, results.problems, metric).name.lower()}",
             figures.direction(results, results.problems, metric), *figures.keys(results, [n for n, _ in named]))
    if panel is None:
        pages = style.pages(range(len(named)), PANELS)
    else:
        check(results, panel, [over])
        pages = [(page, ", ".join(filter(None, (words_of(results, places[page[0]], panel), words))))
                 for page, words in by_panel(places, panel)]
    return [(words, _page([named[k] for k in page], over, metric, looks, band, scale)) for page, words in pages[:most]]


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
    """`statistics.summarise` per method and value of the setting, which is t."""
    table = table.dropna(subset=["value"])
    wide = table.rename(columns={"method": "algorithm"}).set_index(["algorithm", "instance", "seed", over])["value"].unstack()
    return summarise(wide[list(dict.fromkeys(table[over]))], band.quantiles, list(dict.fromkeys(table["method"])),
                     band.interval)


def _page(page, over, metric, looks, band, scale):
    """`looks`: the styles of the methods, the label of the values, and a note on which of them are better."""
    styles, label, *remarks = looks
    with style.context():
        figure, panels = style.panels([name for name, _ in page])
        found = [summary(mine, over, band) for _, mine in page]
        whole = pd.concat(found)
        band = band.fitting(whole)
        notes, kinds = ["; ".join(filter(None, (figures.drawn_note(band, whole), remarks[0])))], set()
        for mine, (name, panel) in zip(found, panels):
            kinds.add(_draw(panel.axes, mine, styles, band))
            factor, more = figures.scale_axes(panel.axes, mine, band, scale, metric)
            notes += more
            panel.dress(name, label, factor)
            _dress(panel, mine, over)
        infinite = whole[whole["n_finite"] < whole["n"]]
        if len(infinite):
            notes.append(f"{len(infinite)} of {len(whole)} cells have no mean: a feasible design in "
                         f"{infinite['n_finite'].sum()} of their {infinite['n'].sum()} trials")
        drawn, joined = set(whole["algorithm"]), kinds != {"words"}
        style.place_legend(figure, [(m, look if joined else {**look, "linestyle": "none"}) for m, look in styles.items()
                                    if m in drawn or not drawn], notes + remarks[1:])
        return figure


def places_of(values):
    """(kind of the axis, {value: place on it}), `stats.sweep.axis_of`."""
    kind, values = sweep.axis_of(values), list(dict.fromkeys(values))
    if kind in ("linear", "log"):
        return kind, {v: v for v in values}
    return kind, {v: k for k, v in enumerate(values if kind == "words" else sorted(values))}


def _draw(axes, found, styles, band):
    """Lines with bands over numbers; over words a point with a bar for each method, side by side, because nothing lies
    between two words. Returns the kind of the axis."""
    kind, places = places_of(list(found["t"]))
    methods = list(dict.fromkeys(found["algorithm"]))
    for k, (method, cell) in enumerate(found.groupby("algorithm", sort=False)):
        aside = 0.5 * ((k + 0.5) / len(methods) - 0.5) if kind == "words" else 0.0
        cell = cell.assign(x=cell["t"].map(places).astype(float) + aside).sort_values("x")
        middle, low, high = band.of(cell)
        low, high = figures.edges(middle, low, high)
        look = {**styles[method], "markeredgecolor": "white", "markeredgewidth": 0.3}
        if kind == "words":
            known = np.isfinite(low)
            axes.vlines(cell["x"][known], low[known], high[known], color=look["color"], lw=0.9)
            axes.plot(cell["x"], middle, **{**look, "linestyle": "none"})
            continue
        axes.fill_between(cell["x"], low, high, color=look["color"], alpha=0.15, lw=0)
        axes.plot(cell["x"], middle, **look)
    return kind


def _dress(panel, found, over):
    """The horizontal axis, with ticks at the values."""
    axes, values = panel.axes, list(found["t"])
    if not values:  # no trial has a value
        return
    kind, places = places_of(values)
    at = sorted(places.values())
    reach = at[-1] - at[0] or 1.0
    if kind == "log":
        axes.set_xscale("log")
        margin = (at[-1] / at[0]) ** 0.06
        axes.set_xlim(at[0] / margin, at[-1] * margin)
        gaps, reach = np.diff(np.log(at)), np.log(at[-1] / at[0])
    else:
        axes.set_xlim(*((at[0] - 0.5, at[-1] + 0.5) if kind == "words" else (at[0] - 0.06 * reach, at[-1] + 0.06 * reach)))
        gaps = np.diff(at)
    if kind in ("linear", "log") and (len(at) > 8 or (gaps < 0.09 * reach).any()):  # ticks would cover each other
        axes.xaxis.set_major_locator(LogLocator(numticks=6) if kind == "log" else MaxNLocator(5))
        axes.xaxis.set_major_formatter(figures.power_formatter(at[0], at[-1]) if kind == "log" else
                                       FuncFormatter(lambda v, _: number(v, "g")))
    else:
        order = sorted(places, key=places.get)
        axes.set_xticks(at, [style.escaped(v) for v in order] if kind == "words" else tick_texts(order))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(style.escaped(over) if panel.bottom else "")


def tick_texts(values):
    """Numbers, all of them written in one way."""
    if all(v == 0 or 1e-4 <= abs(v) < 1e5 for v in values):
        return [number(v, "g") for v in values]
    return [_power(v) for v in values]


def _power(value):
    """Mathematics of a number as a multiple of a power of ten."""
    digits, exponent = f"{value:.3e}".split("e")
    digits = f"{float(digits):g}"
    power = f"10^{{{int(exponent)}}}"
    return "0" if value == 0 else f"${power}$" if digits == "1" else rf"${digits} \times {power}$"


# ---- over two settings -------------------------------------------------------------------------


def heat_figures(results, first, second, metric, baseline=None):
    """[(words, figure)] of heat-maps over two settings, one figure per problem and value of the other settings, at
    most PANELS. A figure has the median of every method that reads one of the settings, with its 95% interval; below,
    the typical ratio to `baseline` (default: the first method), with a star if the comparison of all pages finds a
    difference (5%, Holm over the figure), and the method that is told apart from all others. Colours are logarithmic where the
    values are positive and cover a factor of 20. It has at most METHODS methods; choose others by Results.select."""
    table = sweep.final_values(results, metric)
    methods = list(dict.fromkeys(table["method"]))
    if baseline is not None and baseline not in methods:
        raise InputError(f"{results.path}: no algorithm {baseline!r}{nearest(baseline, methods)} (it has: {', '.join(methods)})")
    found = panels_over(results, (first, second), metric)
    if not found:
        raise InputError(f"{results.path}: no trial has both {first!r} and {second!r}")
    made, read = [], sweep.reads(results)
    for place, mine in found[:PANELS]:
        here = sorted(dict.fromkeys(mine["method"]), key=lambda m: m != baseline)[:METHODS]
        words, problem = words_of(results, place), place["problem"]
        reading = [m for m in here if read[problem, m] & {first, second}]
        heat = _Heat(mine[mine["method"].isin(here)], words, (first, second), metric, here,
                     more_is_better(results, problem, metric), reading, comparing(results, problem, metric))
        if heat.reading or len(here) > 1:
            made.append((words, heat.figure()))
    return made


class _Heat:
    """A figure of heat-maps: the final values of `methods`, the first of which is the baseline, over two settings, of
    which those in `reading` (default: all) read one. `compares`: `measures.comparing`."""

    def __init__(self, table, title, settings, metric, methods, more, reading=None, compares=(None, None)):
        self.table, self.title, self.settings, self.methods, self.more = table, title, settings, methods, more
        self.reading, self.name = methods if reading is None else reading, METRICS[metric].name.lower()
        self.compares = compares
        self.columns, self.rows = (list(dict.fromkeys(sorted(table[name]))) for name in settings)
        cells = table.set_index("instance").groupby(["method", *settings[::-1]])["value"]
        made = {key: (*median_of_units(values.dropna()), extended.quantiles(values, [0.5])[0], values.count(),
                      values.notna().all()) for key, values in cells}
        found = pd.DataFrame(made, ["units", "low", "high", "median", "n", "whole"]).T.astype(float)
        found.index.names = ["method", *settings[::-1]]
        self.centres, self.ends = found["units"].fillna(found["median"]), found[["low", "high"]]
        self.counts, self.whole = found["n"].astype(int), found["whole"] == 1.0
        self.reading = [m for m in self.reading if self.centres.xs(m).nunique() > 1]
        self.open = self._grid(table.groupby([*settings[::-1]])["censored"].any().astype(float)) == 1.0

    def figure(self):
        baseline, others = self.methods[0], self.methods[1:]
        maps = len(self.reading) + len(others) + bool(others)
        columns = min(3, max(len(self.reading), 1))
        shown = -(-len(self.reading) // columns)
        rows = shown + -(-(maps - len(self.reading)) // columns)
        with style.context():
            figure = style.Drawing(style.PAGE_WIDTH, 1.85 * rows + 0.5)
            grid = list(figure.subplots(rows, columns, squeeze=False).ravel())
            above, below = grid[:shown * columns], grid[shown * columns:]
            norm, scale = colours_of(self.centres[self.centres.index.get_level_values("method").isin(self.reading)])
            for axes, method in zip(above, self.reading):
                image = self._cells(axes, self._grid(self.centres.xs(method)), "viridis_r", norm,
                                    [self._grid(self.ends[name].xs(method)) for name in self.ends])
                axes.set_title(style.wrapped(style.escaped(self._named(method)), 34), loc="left", y=1.0)
            if self.reading:
                figure.colorbar(image, ax=above, pad=0.01, aspect=18 * shown).set_label(f"median{scale}")
            if others:
                self._best(below[len(others)])
                self._differences(figure, below, baseline, others)
            for axes in above[len(self.reading):] + below[len(others) + bool(others):]:
                axes.set_axis_off()
            for k, axes in enumerate(grid):
                axes.set_ylabel(style.escaped(self.settings[1]) if k % columns == 0 else "")
                axes.set_xlabel(style.escaped(self.settings[0]))
            figure.suptitle(style.escaped(f"{self.title}: median of the final {self.name} over "
                                          f"{extended.spread(self.counts)} trials, with its 95% interval; "
                                          f"{'higher' if self.more else 'lower'} is better"), fontsize=8.5, x=0.01, ha="left")
            figure.supxlabel(style.wrapped(style.escaped(self._note(baseline, others)), 150), fontsize=7, color=style.GREY)
            return figure

    def _named(self, method):
        return style.shown_names(self.methods)[method]

    def _note(self, baseline, others):
        notes = [f"{self._named(m)} does not depend on them: {_with_ends(self.centres[m].iloc[0], *self.ends.loc[m].iloc[0])}"
                 for m in self.methods if m not in self.reading]
        if others:
            notes.append(f"* told apart from {self._named(baseline)}: 5%, Holm's correction over the "
                         "figure. Best: the method with the best median where it is told apart from every other one; –: "
                         "none is, or trials are missing")
        return "; ".join(notes)

    def _compared(self, method, other):
        return sweep.differences(self.table, method, other, self.settings[::-1], *self.compares)

    def _grid(self, series):
        return series.unstack().reindex(index=self.rows, columns=self.columns).to_numpy(float)

    def _ticks(self, axes):
        axes.set_xticks(range(len(self.columns)), _words(self.columns))
        axes.set_yticks(range(len(self.rows)), _words(self.rows))

    def _cells(self, axes, values, colours, norm, ends=None, marks=None, text=None):
        """One heat-map with its numbers in the cells, and the intervals of few cells."""
        image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto", origin="lower")
        self._ticks(axes)
        few = ends is not None and len(self.columns) <= 4 and len(self.rows) <= 6
        for (r, c), value in np.ndenumerate(values) if values.size <= 100 else ():
            red, green, blue = image.cmap(norm(value))[:3] if np.isfinite(value) else (1.0, 1.0, 1.0)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            shown = (text or _centre)(value) + ("*" if marks is not None and marks[r, c] else "")
            if few and not np.isnan(ends[0][r, c]):
                shown += f"\n[{_centre(ends[0][r, c], '.2g')}, {_centre(ends[1][r, c], '.2g')}]"
            axes.text(c, r, shown, ha="center", va="center", fontsize=5.6 if few else 6.5,
                      color="white" if dark else "black")
        return image

    def winners(self):
        """(rows x columns) the place in `methods` of the one method with the best median that is told apart from every
        other one; -1 without such a method, if it rests on fewer trials than were planned, or if `stop` ended trials
        there."""
        values = np.array([self._grid(self.centres.xs(m)) for m in self.methods])
        whole = np.array([self._grid(self.whole.xs(m).astype(float)) == 1.0 for m in self.methods])
        found, p = np.full(values.shape[1:], -1), {}
        for at in np.ndindex(found.shape):
            best = extended.best(values[(slice(None), *at)], whole[(slice(None), *at)], self.more)
            found[at] = int(best.argmax()) if best.sum() == 1 and not self.open[at] else -1
        for k, method in enumerate(self.methods):
            for other in (m for m in self.methods if m != method and (found == k).any()):
                p[k, other] = self._grid(self._compared(method, other)["p"])
        tests = [(at, key) for key in p for at in zip(*np.nonzero(found == key[0]))]
        adjusted = comparison.holm([p[key][at] for at, key in tests])
        for (at, _), value in zip(tests, adjusted):
            if not value < 0.05:
                found[at] = -1
        return found

    def _best(self, axes):
        """The winner of every cell, in its colour."""
        best, styles = self.winners(), style.algorithm_styles(self.methods)
        axes.imshow(np.ma.masked_less(best, 0), cmap=ListedColormap([styles[m]["color"] for m in self.methods]),
                    vmin=-0.5, vmax=len(self.methods) - 0.5, aspect="auto", origin="lower", alpha=0.45)
        self._ticks(axes)
        for (r, c), k in np.ndenumerate(best) if best.size <= 100 else ():
            axes.text(c, r, style.escaped(self._named(self.methods[k]) if k >= 0 else "–"), ha="center", va="center",
                      fontsize=6.5)
        axes.set_title("Best, if told apart", loc="left", y=1.0)

    def _differences(self, figure, panels, baseline, others):
        found = {m: self._compared(m, baseline) for m in others}
        p = comparison.holm(np.concatenate([f["p"] for f in found.values()]))
        ratios = all((f["scale"] == "ratio").all() for f in found.values())
        effects = pd.concat([f["effect"].abs() for f in found.values()])
        reach = effects[np.isfinite(effects)].max()
        reach, rows = reach if reach > 0.0 else 1.0, len(panels) // 3 or 1
        for axes, method in zip(panels, others):
            mine, p = found[method].assign(known=p[:len(found[method])] < 0.05), p[len(found[method]):]
            values, known = (self._grid(mine[name].astype(float)) for name in ("effect", "known"))
            image = self._cells(axes, values, "RdBu_r", Normalize(-reach, reach), None, known == 1.0,
                                (lambda v: _centre(np.exp(v))) if ratios else _centre)
            sign = "/" if ratios else "-"
            axes.set_title(style.wrapped(style.escaped(f"{self._named(method)} {sign} {self._named(baseline)}"), 34), loc="left", y=1.0)
        bar = figure.colorbar(image, ax=panels, pad=0.01, aspect=18 * rows)
        bar.set_label("typical ratio" if ratios else "typical difference")
        if ratios:
            bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: _centre(np.exp(v))))


def _with_ends(centre, low, high):
    return _centre(centre) + ("" if np.isnan(low) else f" [{_centre(low)}, {_centre(high)}]")


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


def _centre(value, spec=".3g"):
    if np.isfinite(value):
        return number(value, spec)
    return "–" if np.isnan(value) else "−∞" if value < 0 else "∞"


def _words(values):
    """Texts of the values of a setting on an axis."""
    return tick_texts(values) if sweep.axis_of(values) != "words" else [style.escaped(v) for v in values]
