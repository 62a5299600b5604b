"""The figures of the papers in their arrangement: rows of panels with the error bars of the paper. Also figures that
the papers don't have (regret against time, profiles, ranks)."""
import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter
from regatta_analysis.figures import bounds, figures, overviews, style
from regatta_analysis.figures.overviews import panel_rows
from regatta_analysis.stats import extended
from regatta_analysis.stats.measures import value_curves
from regatta_analysis.stats.regret import (METRICS, REWARDS, in_words, is_dynamic, last_query, note_on, regret_curves,
                                           reward_sums)
from regatta_analysis.stats.statistics import summarise

from . import illustrations, kernel_theory, roots, sample_average
from .catalogue import studies_of

DESIGN = {"color": "0.4", "lw": 0.8, "ls": (0, (4, 2))}  # the line where the initial design ends
LABELS = {name: metric.label for name, metric in METRICS.items()} | {
    "cumulative_reward": "Cumulative reward", "cpu": "CPU seconds",
    "cumulative_expected_reward": "Sum of $F(x_t)$"}


def draw(spec, studies, results_directory=None):
    """[(suffix of the file name, what it is, Figure)] of one figure; [] when there are no results of
    any of its panels. `results_directory`: where tables of `regatta bounds` lie."""
    if spec["kind"] == "roots":
        return [("", "", roots_figure(spec))]
    if spec["kind"] in illustrations.KINDS:
        with style.context():
            return [("", "", illustrations.KINDS[spec["kind"]](panel_rows))]
    if not any(studies.get(name) for name in studies_of(spec)):
        return []
    if spec["kind"] == "confidence":
        return _confidence(spec, studies)
    if spec["kind"] == "kernel_bounds":
        with style.context():
            return [(f"_{study}", study, kernel_theory.bounds_figure(studies.get(study), problem, panel_rows))
                    for study in spec["studies"] if studies.get(study)
                    for problem in studies.get(study).problems]
    if spec["kind"] == "sample_average":
        with style.context():
            return [("", "", sample_average.figure_of(studies.get(spec["study"]), problem, panel_rows))
                    for problem in studies.get(spec["study"]).problems]
    if spec["kind"] in ("bounds", "conditional"):
        return _bounds(spec, studies, results_directory)
    if spec["kind"] == "profile":
        return overviews.profiles_of(_loaded(spec, studies), spec.get("methods"))
    if spec["kind"] == "ranks":
        return overviews.ranks(_loaded(spec, studies), spec.get("metric", "simple"))
    drawn = [("", "", grid(spec, studies))]
    for axis in spec.get("also", []):
        if axis == "time":
            drawn.append(("_time", "against CPU time of model and acquisition",
                          grid(spec, studies, time=True)))
        elif axis == "log":
            drawn.append(("_log", "logarithmic", grid({**spec, "scale": "log"}, studies)))
        else:
            drawn.append((f"_{axis}", LABELS.get(axis, axis).split(" $")[0].lower(),
                          grid({**spec, "metric": axis, "scale": "auto", "initial": False}, studies)))
    return drawn


def _loaded(spec, studies):
    """{study: results} of the studies of a figure that have results."""
    return {name: studies.get(name) for name in studies_of(spec) if studies.get(name)}


def _methods_of(spec, studies):
    """Labels in the order of the studies, or as `methods` lists them."""
    return list(spec.get("methods") or dict.fromkeys(a for r in _loaded(spec, studies).values() for a in r.algorithms))


# ---- rows of panels of curves ------------------------------------------------------------------


def grid(spec, studies, time=False):
    """Curves of a metric, mean and `errors` standard errors, over queries, over evaluations (`initial`: they begin with
    the initial design, which ends at a dashed line) or over mean CPU time."""
    rows = spec["panels"]
    band = figures.Band("se", factor=float(spec.get("errors", 1)))
    names = _methods_of(spec, studies)
    with style.context():
        figure, axes = panel_rows(rows)
        styles, shown, notes, summaries = style.algorithm_styles(names), {}, [], {}
        dynamic, note = _dynamic(spec, studies)
        for panel, (axis, entry) in axes:
            results = studies.get(entry["study"])
            title = entry.get("title", entry["problem"])
            label = _label(spec, entry, dynamic)
            if results is None or entry["problem"] not in results.problems:
                _empty(axis, title, entry.get("missing", "no results yet"))
                continue
            drawn = _curves(axis, results, entry, spec, styles, band, time)
            shown |= drawn
            if not drawn:
                _empty(axis, title, "no complete trial yet")
                continue
            summaries[f"{title} " * (title in summaries) + title] = axis.regatta[0]
            notes += _dress(panel, title, label, spec, time)
            if spec.get("bounds") == "fill":
                x = results.group(entry["problem"]).values("x")
                kernel_theory.draw_fill(axis, x.shape[-1], x.shape[-2] - 1)
            if "metric" in entry and not axis.get_ylabel().startswith(label):
                axis.set_ylabel(f"{label} ({axis.get_ylabel()})" if axis.get_ylabel() else label)
        entries = [(a, styles[a]) for a in names if a in shown]
        if spec.get("initial") and not time:
            entries.append(("end of the initial design", DESIGN))
        if spec.get("bounds") == "fill":
            entries += kernel_theory.fill_entries()
        notes = figures.value_notes(summaries, band, _band_words(band)) + _merged(notes) + [style.escaped(note)] * bool(note)
        style.place_legend(figure, entries, notes)
        return figure


def _merged(notes):
    """The notes of several panels as one note."""
    different = list(dict.fromkeys(notes))
    linear = [note for note in different if note.startswith("linear below")]
    if len(linear) < 2:
        return different
    return [note for note in different if note not in linear] + [
        "linear below the dotted lines, to show 0"]


def _curves(axis, results, entry, spec, styles, band, time):
    metric = entry.get("metric", spec.get("metric", "simple"))
    wanted = entry.get("methods", spec.get("methods"))
    design = _design(results, entry["problem"]) if spec.get("initial") and not time else 0
    frame = _from_the_first(results, entry["problem"], metric, design) if design else value_curves(
        results, entry["problem"], metric)
    if metric in ("cpu", "wall"):
        frame = frame.loc[:, frame.columns > 0]  # no time is spent before the first query
    summary = summarise(frame, band.quantiles, results.algorithms)
    if time:
        spent = value_curves(results, entry["problem"], "cpu")
        summary = summary.merge(summarise(spent, band.quantiles)[["algorithm", "t", "mean"]].rename(
            columns={"mean": "spent"}), on=["algorithm", "t"])
        summary = summary[summary["t"] > 0]
    names = [a for a in dict.fromkeys(summary["algorithm"])
             if a in styles and (wanted is None or a in wanted)]
    summary = summary[summary["algorithm"].isin(names)]
    drawn, band = {}, band.fitting(figures.last_rows(summary))
    for k, algorithm in enumerate(names):
        cell = summary[summary["algorithm"] == algorithm]
        x = cell["spent" if time else "t"].to_numpy(float)
        middle, low, high = (np.asarray(v, float) for v in band.of(cell))
        look = styles[algorithm]
        if band.factor:
            axis.fill_between(x, *figures.edges(middle, low, high), color=look["color"], lw=0, zorder=1,
                              alpha=0.18 if len(names) <= 5 else 0.11)
        mark = (figures.mark(k, len(names), len(x)) if not time else
                (k * max(len(x) // (6 * len(names)), 1), max(len(x) // 6, 1)))
        axis.plot(x, middle, zorder=3, markevery=mark, markeredgecolor="white",
                  markeredgewidth=0.3, **look)
        drawn[algorithm] = look
    axis.regatta = (summary, band, metric)
    if design:
        axis.axvline(design, **DESIGN, zorder=1)
    return drawn


def _design(results, problem):
    """The number of points of the initial design; 0 without trials, or if they differ in it."""
    found = set(results.group(problem).done.column("n_initial").astype(int).tolist())
    return found.pop() if len(found) == 1 else 0


def _from_the_first(results, problem, metric, design):
    """Curves of regret, or of a sum of rewards, whose columns are the evaluations 1, 2, ..., those of the initial design
    included."""
    t = np.arange(1 - design, last_query(results, problem) + 1)
    frame = reward_sums(results, problem, REWARDS[metric], t=t) if metric in REWARDS else regret_curves(
        results, problem, metric, t=t)
    return frame.set_axis(frame.columns + design, axis=1)


def _dress(panel, title, label, spec, time):
    axis = panel.axes
    summary, band, metric = axis.regatta
    factor, notes = figures.scale_axes(axis, summary, band, spec.get("scale", "auto"), metric)
    panel.dress(title, label, factor)
    if spec.get("initial") and not time and panel.bottom:
        axis.set_xlabel("Evaluation, those of the initial design included" if panel.columns < 3 else "Evaluation")
    if spec.get("log_x") and not time:
        last = summary["t"].max() if len(summary) else 10
        axis.set_xscale("log")
        axis.set_xlim(1, 1.05 * max(last, 2))
        axis.xaxis.set_major_locator(LogLocator(numticks=6))
    if time:
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(numticks=6))
        axis.xaxis.set_minor_formatter(NullFormatter())
        positive = summary["spent"][summary["spent"] > 0]
        if len(positive):
            axis.set_xlim(0.9 * positive.min(), 1.1 * positive.max())
        if panel.bottom:
            axis.set_xlabel("CPU seconds")
    return notes


def _label(spec, entry, dynamic=False):
    metric = entry.get("metric", spec.get("metric", "simple"))
    if metric in METRICS and dynamic:
        return spec.get("labels", {}).get(metric, in_words(metric, True).label)
    return spec.get("labels", {}).get(metric, LABELS.get(metric, metric.replace("_", " ")))


def _dynamic(spec, studies):
    """(whether all panels that have results show dynamic regret, a note on those that do)."""
    there = [(entry, studies.get(entry["study"])) for row in spec["panels"] for entry in row
             if entry.get("metric", spec.get("metric", "simple")) in METRICS]
    there = [(entry.get("title", entry["problem"]), is_dynamic(results, entry["problem"])) for entry, results in there
             if results and entry["problem"] in results.problems]
    moving = [title for title, dynamic in there if dynamic]
    return bool(there) and len(moving) == len(there), note_on(moving, len(there)).strip(" .")


def _band_words(band):
    if not band.factor:
        return "mean"
    return f"mean ± {'standard error' if band.factor == 1 else f'{band.factor:g} standard errors'}"


def _empty(axis, title, text):
    axis.set_title(style.wrapped(style.escaped(title), 34), loc="left")
    axis.text(0.5, 0.5, text, ha="center", va="center", color=style.GREY, fontsize=8,
              transform=axis.transAxes)
    axis.set_xticks([])
    axis.set_yticks([])


# ---- other kinds -------------------------------------------------------------------------------


def _confidence(spec, studies):
    results = studies.get(spec["study"])
    if not figures.confidence_problems(results):
        return []
    return [("", "", figures.confidence_figure(results, spec.get("points")))]


def _bounds(spec, studies, directory):
    drawn, many = [], len(spec["studies"]) > 1
    for study in spec["studies"]:
        results, path = studies.get(study), directory and directory / f"{study}_bounds.csv"
        if results is None or not path or not path.exists():
            continue
        table, suffix = bounds.read(path), f"_{study}" if many else ""
        if spec["kind"] == "conditional":
            drawn += [(suffix, study if many else "", conditional_figure(results, table))
                      ] if bounds.problems(results, table, {"theorem_4_3"}) else []
            continue
        if bounds.problems(results, table):
            drawn.append((suffix, f"{study}: cumulative regret below its bounds" if many else
                          "cumulative regret below its bounds", bounds.regret_figure(results, table)))
        if bounds.problems(results, table, bounds.GAINS):
            drawn.append((f"{suffix}_gain", "information gain", bounds.gain_figure(results, table)))
    return drawn


def conditional_figure(results, table):
    """Cumulative regret given the confidence parameters: a line per sequence of them (a setting of the
    method), their mean, and the bounds of Theorem 4.3 (of nearly every line) and 4.1 (of the mean)."""
    shown = bounds.problems(results, table, {"theorem_4_3"})
    with style.context():
        figure, panels = style.panels(shown)
        counts = []
        for problem, panel in panels:
            rows = table[table["problem"] == problem]
            frame = bounds.since_design(results, problem)
            frame = frame.loc[:, frame.columns > 0]
            counts += frame.notna().any(axis=1).groupby(level="algorithm").sum().tolist()
            lines = frame.groupby(level="algorithm", sort=False).mean()
            panel.axes.plot(lines.columns, lines.T, color="0.7", lw=0.5, zorder=2)
            panel.axes.plot(lines.columns, lines.mean(), color="k", lw=1.2, zorder=3)
            for quantity, dash in (("theorem_4_3", bounds.DASHES[0]), ("theorem_4_1", bounds.DASHES[1])):
                curve = rows[rows["quantity"] == quantity].groupby("t")["value"].max()
                panel.axes.plot(curve.index, curve, color="#0072B2", lw=1.0, ls=dash)
            bounds.dress(panel, problem, "Cumulative regret $R_t$")
        bound = {"color": "#0072B2", "lw": 1.0}
        style.place_legend(figure, [("given one sequence", {"color": "0.7", "lw": 0.7}),
                                    ("mean over sequences", {"color": "k", "lw": 1.2}),
                                    (bounds.NAMES["theorem_4_3"], {**bound, "ls": bounds.DASHES[0]}),
                                    (bounds.NAMES["theorem_4_1"], {**bound, "ls": bounds.DASHES[1]})],
                           [f"a sequence: mean over {extended.spread(counts)} trials"])
        return figure


def roots_figure(spec):
    """Square roots of the confidence parameters by formula, as Figure 1 of arXiv:2504.03172."""
    points, (first, last) = spec.get("points", 1000), spec.get("range", [1, 1000])
    t = np.arange(first, last + 1, dtype=float)
    names = ["Proposed", "RKHS", "Bayesian", "BPT-UCB"]
    with style.context():
        figure, axes = panel_rows([[{}, {}]])
        (left, _), (right, _) = axes
        law = roots.robust_roots(t, points)
        draws = np.sqrt(law["least"][0]**2 + np.random.default_rng(0).exponential(2.0, 10**6))
        styles = style.algorithm_styles(names)
        left.axes.hist(draws, bins=120, density=True, color=styles["Proposed"]["color"], alpha=0.6)
        left.dress("Density of a million draws", "Density")
        left.axes.set_xlim(draws.min(), np.quantile(draws, 0.9999))
        left.axes.set_xlabel(r"$\beta_t^{1/2}$ of Proposed")
        right.axes.fill_between(t, law["low"], law["high"], color=styles["Proposed"]["color"], alpha=0.18, lw=0)
        for k, name in enumerate(names):
            right.axes.plot(t, roots.law_curve(name, t, points),
                            markevery=figures.mark(k, len(names), len(t)), **styles[name])
        right.first = True
        right.dress("", r"$\beta_t^{1/2}$")
        style.place_legend(figure, styles.items(),
                           [f"by formula, {points} points; shaded: 95% interval of Proposed"])
        return figure


