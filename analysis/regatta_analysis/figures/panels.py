"""Small multiples of curves: a figure for each problem and value of swept settings. It has a panel for each value of
the chosen setting, or for each problem. A line is a method. The panel fixes the settings that the method was swept
over. A method appears in the panels of all values of a setting that it does not read."""
from dataclasses import dataclass

import pandas as pd

from ..load.errors import InputError, nearest
from ..load.settings import method_label, same_value, words_of_settings
from ..stats import sweep
from ..stats.regret import metric_on
from ..stats.summaries import cell_summaries
from . import figures, style

PANELS = 12  # in a figure
PROBLEM = "problem"


@dataclass(frozen=True)
class View:
    """The content of one panel: `place` is {"problem": label without settings, setting: value, ...}, `cells` is
    {method: (problem, algorithm) as the results name them, None: it has no trials there}."""
    place: dict
    cells: dict


def words_of(results, place, *without):
    """The name of a place, without the settings in `without`: with short names of the settings everywhere if some would be
    too long without them."""
    at = {name: v for name, v in place.items() if name not in (PROBLEM, *without)}
    problem = [str(place[PROBLEM])] if PROBLEM in place and PROBLEM not in without else []
    whole = ", ".join([*problem, *filter(None, [words_of_settings(at)])])
    longest = max(map(len, (whole, *results.index.values())))
    return whole if longest <= figures.LONGEST else ", ".join([*problem, results.short(at)])


def views(results, metric):
    """A View per problem and values of all swept settings."""
    names = sweep.names(results)
    if not names:
        return [View({PROBLEM: p}, {a: (p, a) for a in results.algorithms}) for p in results.problems]
    table, cells = sweep.final_values(results, metric), {}
    for problem in results.problems:
        group = results.group(problem)
        for (algorithm, swept), own in group.swept.items():
            cells.setdefault(method_label(algorithm, swept), []).append(
                (group.place, {**own, **group.at}, (problem, algorithm)))
    found = []
    for key in table[[PROBLEM, *names]].drop_duplicates().itertuples(index=False, name=None):
        place = {n: v for n, v in zip([PROBLEM, *names], key) if not pd.isna(v)}
        found.append(View(place, {
            m: next((pair for where, own, pair in cells[m] if where == key[0] and all(
                n in place and same_value(v, str(place[n])) for n, v in own.items())), None)
            for m in dict.fromkeys(table["method"])}))
    return found


def check(results, panel, over=()):
    """Check that `panel` is a swept setting that is not drawn over, or "problem"."""
    known = [PROBLEM, *(name for name in sweep.names(results) if name not in over)]
    if panel not in known:
        raise InputError(f"{results.path}: no panels by {panel!r}{nearest(panel, known)} (there can be, by: {', '.join(known)})")


def by_panel(places, panel):
    """Groups of places that have a value for `panel` and differ in nothing else, in pages of PANELS."""
    groups = {}
    for k, place in enumerate(places):
        if panel in place:
            groups.setdefault(tuple(pair for pair in place.items() if pair[0] != panel), []).append(k)
    return [page for mine in groups.values() for page in style.pages(mine, PANELS)]


def curve_figures(results, panel, metric, band=figures.Band(), scale="auto", most=None):
    """[(words, figure)] of curves in panels by `panel`, the first `most` of them."""
    check(results, panel)
    found = views(results, metric)
    return [(", ".join(filter(None, (words_of(results, found[page[0]].place, panel), words))),
             _figure(results, [found[k] for k in page], panel, metric, band, scale))
            for page, words in by_panel([view.place for view in found], panel)[:most]]


def _figure(results, page, panel, metric, band, scale):
    methods = list(page[0].cells)
    with style.context():
        figure, made = style.panels([words_of(results, {panel: view.place[panel]}) for view in page])
        styles = style.algorithm_styles(methods)
        summaries = [_summary(results, view, metric, band) for view in page]
        joint = pd.concat(summaries, ignore_index=True)
        if panel != PROBLEM:  # the panels are compared with each other
            band = band.fitting(pd.concat(map(figures.last_rows, summaries)))
        shown = list(dict.fromkeys(pair[0] for view in page for pair in view.cells.values() if pair))
        notes = figures.value_notes({name: s for (name, _), s in zip(made, summaries)}, band, "",
                                    figures.direction(results, shown, metric))
        label = metric_on(results, shown, metric).label
        for (name, made_panel), summary in zip(made, summaries):
            notes += figures.draw_panel(made_panel, (name, label), summary, styles, band, scale, metric,
                                        None if panel == PROBLEM else joint)
        style.place_legend(figure, styles.items(), [
            *notes, *figures.keys(results, [name for name, _ in made]),
            *figures.dynamic_words(results, shown, metric)])
        return figure


def _summary(results, view, metric, band):
    """The summaries of a panel's cells, with the methods as algorithms."""
    parts = []
    for method, pair in view.cells.items():
        if pair is not None:
            whole = cell_summaries(results, pair[0], metric, band.quantiles, band.interval)
            parts.append(whole[whole["algorithm"] == pair[1]].assign(algorithm=method))
    return pd.concat(parts, ignore_index=True)
