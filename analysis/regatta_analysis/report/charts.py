"""The data of the interactive charts of a report: regret curves, and final values over swept settings. The numbers
come from `stats.summaries`. Long curves are drawn at some of their queries, and at no points between queries."""
import json

import numpy as np
import pandas as pd
from markupsafe import Markup

from ..escape import line, number
from ..figures import figures, style, sweep as sweep_figures
from ..figures.panels import views, words_of
from ..progress import progress
from ..stats import extended, sweep
from ..stats.profiles import mean_spent
from ..stats.regret import METRICS, dynamic_note, metric_on
from ..stats.summaries import cell_summaries

PANELS = 120  # most panels of a chart; --problems and --where choose among more
POINTS = 60_000  # most points of all curves of a chart
LEAST, MOST = 24, 160  # points of a curve


def embedded(charts):
    """The charts as JSON for a page. Nothing in it can end the element or act as markup."""
    text = json.dumps(charts, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def regret_chart(results, metrics, band=figures.Band()):
    """Curves of every problem and value of swept settings (a panel), metric and algorithm, against queries
    and against CPU time. None of `metrics` is empty."""
    shown = views(results, metrics[0])[:PANELS]
    methods = list(shown[0].cells)
    points = int(np.clip(POINTS // (len(shown) * len(metrics) * len(methods)), LEAST, MOST))
    cells, panels = {}, []
    for view in progress(shown, "curves"):
        pairs = list(view.cells.values())
        for problem in dict.fromkeys(pair[0] for pair in pairs if pair):
            if problem not in cells:
                cells[problem] = _cells(results, problem, metrics, band)
        panels.append([_measure([cells[pair[0]][metric].get(pair[1]) if pair else None
                                 for pair in pairs], metric, band, points) for metric in metrics])
    axes = [{"name": "Query t (after the initial design)", "short": "t"}]
    if any(v is not None for p in panels for m in p for c in m["curves"] if c for v in c["x"][1]):
        axes.append({"name": "CPU time of model and acquisition (s)", "short": "CPU s"})
    series = _series(methods)
    hidden = [series[k]["name"] for k in _behind(
        [p[0]["curves"] for p in panels], len(methods), figures.direction(results, results.problems, metrics[0]))]
    first = f" The {figures.BANDED} methods that end best are shown at first." if hidden else ""
    return {**_names(results, [view.place for view in shown]), "series": series, "axes": axes,
            "measures": [_named(results, m) for m in metrics], "data": panels, **({"hidden": hidden} if hidden else {}),
            "note": _note(results, metrics[0], band) + first + dynamic_note(results)}


def _behind(panels, n, better):
    """The places of the methods behind the first `figures.BANDED` by their mean rank at the ends of their curves; more
    lines in one chart cover each other."""
    if n <= figures.BANDED:
        return []
    ends = pd.DataFrame([[np.nan if c is None or c["y"][-1] is None else c["y"][-1] for c in curves] for curves in panels])
    ranks = ends.rank(axis=1, na_option="bottom", ascending=not better.startswith("higher")).mean().to_numpy()
    return sorted(np.argsort(ranks, kind="stable")[figures.BANDED:].tolist())


def _names(results, places):
    """The names of panels in the menu, and their headings where these say more."""
    names = [line(words_of(results, place)) for place in places]
    heads = [line(name if (text := results.index.get(name.rpartition(", ")[2])) is None else f"{name}: {text}")
             for name in names]
    return {"panels": names, **({"heads": heads} if heads != names else {})}


def _note(results, metric, band):
    """The statistic of the charts, in words."""
    better = figures.direction(results, results.problems, metric)
    return (f"{band.note(drawn=False).capitalize()} over complete trials, whose number stands with each value."
            f"{f' {better.capitalize()}.' if better else ''}")


def _cells(results, problem, metrics, band):
    """{metric: {algorithm: (summary, CPU seconds)}} of a problem."""
    paid = _cpu(results, problem)
    found = {m: cell_summaries(results, problem, m, band.quantiles) for m in metrics}
    return {m: {a: (cell, paid.get(a)) for a, cell in summary.groupby("algorithm", sort=False)}
            for m, summary in found.items()}


def _named(results, metric):
    name = metric_on(results, results.problems, metric).name
    return {"name": name, "short": name.lower()}


def _cpu(results, problem):
    """Mean CPU seconds of an algorithm until each query; {} if they were not recorded."""
    if results.archived or not {"cpu_fit", "cpu_acquire"} <= set(results.group(problem).evaluations()):
        return {}
    return {a: pd.Series(mean_spent(results, problem, cell)) for a, cell in results.group(problem).done.cells.items()}


def _measure(cells, metric, band, points):
    there = [cell for cell in cells if cell is not None]
    if there:
        band = band.fitting(pd.concat([figures.last_rows(summary) for summary, _ in there]))
    scale = "linear" if METRICS[metric].running or metric in ("cumulative", "average") or not there else \
        figures.auto_scale(pd.concat([summary for summary, _ in there]), band)
    return {"log": scale == "log",
            "curves": [None if cell is None else _curve(*cell, band, points) for cell in cells]}


def _curve(cell, paid, band, points):
    keep = np.unique(np.linspace(0, len(cell) - 1, min(points, len(cell))).round().astype(int))
    t = cell["t"].to_numpy()[keep]
    cpu = paid.reindex(t).to_numpy(float) if paid is not None else np.full(len(t), np.nan)
    return {"x": [_numbers(t), _numbers(cpu)], "n": _counts(cell.iloc[keep]),
            **dict(zip(("y", "low", "high"), (_numbers(np.asarray(v, float)[keep]) for v in band.of(cell))))}


def _counts(rows):
    """The text beside the values of a curve: the number of their trials. One text if all numbers are the same."""
    texts = [extended.counted(n) if n == finite else f"feasible in {finite} of {n}"
             for n, finite in zip(rows["n"], rows["n_finite"])]
    return texts[0] if len(set(texts)) == 1 else texts


def sweep_charts(results, metric, band=figures.Band()):
    """A chart per swept setting of the final values over it: a panel per problem and values of the others."""
    names = sweep.names(results)
    if not names:
        return []
    methods = list(sweep_figures.sweep_styles(results, metric))
    charts = []
    for over in progress(names, "settings"):
        found = sweep_figures.panels_over(results, over, metric)
        values = sorted({v for _, mine in found for v in mine[over]})
        kind, place = sweep_figures.places_of(values)
        words = [line(v) if kind == "words" else number(v, "g") for v in values] if kind in ("words", "steps") else None
        charts.append({
            **_names(results, [at for at, _ in found[:PANELS]]),
            "series": _series(methods), "measures": [_named(results, metric)],
            "axes": [{"name": line(over), "short": line(over), "words": words, "apart": kind == "words",
                      "log": kind == "log"}],
            "data": [[_over(mine, over, band, methods, place, metric)] for _, mine in found[:PANELS]],
            "note": f"Final {metric_on(results, results.problems, metric).name.lower()}. {_note(results, metric, band)} Methods that don't read a setting stand at "
                    "each of its values." + dynamic_note(results)})
    return charts


def _over(table, over, band, methods, place, metric):
    found = sweep_figures.summary(table, over, band)
    band = band.fitting(found)
    cells = {m: c.assign(x=c["t"].map(place)).sort_values("x")
             for m, c in found.groupby("algorithm", sort=False)}
    curves = [None if m not in cells else {
        "x": [_numbers(cells[m]["x"])], "n": _counts(cells[m]), **dict(zip(("y", "low", "high"), map(_numbers, band.of(cells[m]))))}
        for m in methods]
    return {"log": not METRICS[metric].running and figures.auto_scale(found, band) == "log", "curves": curves}


def _series(labels):
    looks, names = style.algorithm_styles(labels), style.shown_names(labels)
    dashes = {label: looks[label]["linestyle"] for label in labels}
    return [{"name": line(names[label]), "colour": looks[label]["color"], "dash": " ".join(f"{1.6 * v:.1f}" for v in dash[1])
             if isinstance(dash, tuple) else "none"} for label, dash in dashes.items()]


def _numbers(values):
    """A number for JSON: five digits, or null for a number that is not finite."""
    return [None if not np.isfinite(v) else int(v) if float(v).is_integer() and abs(v) < 1e9
            else float(f"{v:.5g}") for v in pd.Series(values).astype(float)]
