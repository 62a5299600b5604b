"""The figures of the papers in their arrangement: rows of panels, the error bars that the paper
defines, and what the papers don't show (regret against time, profiles, ranks)."""
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from . import bounds, figures, illustrations, kernel_theory, laws, style
from ..stats import comparison, extended, profiles
from ..claims.catalogue import studies_of
from ..stats.measures import trial_values, value_curves
from ..stats.regret import METRICS
from ..stats.statistics import summarise

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
            return [("", "", illustrations.KINDS[spec["kind"]](_panels))]
    if not any(studies.get(name) for name in studies_of(spec)):
        return []
    if spec["kind"] == "confidence":
        return _confidence(spec, studies)
    if spec["kind"] == "kernel_bounds":
        with style.context():
            return [(f"_{study}", study, kernel_theory.bounds_figure(studies.get(study), problem, _panels))
                    for study in spec["studies"] if studies.get(study)
                    for problem in studies.get(study).problems]
    if spec["kind"] in ("bounds", "conditional"):
        return _bounds(spec, studies, results_directory)
    if spec["kind"] == "profile":
        return profiles_of(spec, studies)
    if spec["kind"] == "ranks":
        return ranks(spec, studies)
    drawn = [("", "", grid(spec, studies))]
    for axis in spec.get("also", []):
        if axis == "time":
            drawn.append(("_time", "against CPU time of model and acquisition",
                          grid(spec, studies, time=True)))
        elif axis == "log":
            drawn.append(("_log", "logarithmic", grid({**spec, "scale": "log"}, studies)))
        else:
            drawn.append((f"_{axis}", LABELS.get(axis, axis).split(" $")[0].lower(),
                          grid({**spec, "metric": axis, "scale": "auto"}, studies)))
    return drawn


# ---- rows of panels of curves ------------------------------------------------------------------


def grid(spec, studies, time=False):
    """Curves of a metric, mean and `errors` standard errors, over queries or over mean CPU time."""
    rows = spec["panels"]
    band = figures.Band("se", factor=float(spec.get("errors", 1)))
    names = _methods(spec, studies)
    with style.context():
        figure, axes = _panels(rows)
        styles, shown, notes, summaries = style.algorithm_styles(names), {}, [], {}
        for panel, (axis, entry) in axes:
            results = studies.get(entry["study"])
            title = entry.get("title", entry["problem"])
            label = _label(spec, entry)
            if results is None or entry["problem"] not in results.problems:
                _empty(axis, title, "no results yet")
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
        if spec.get("bounds") == "fill":
            entries += kernel_theory.fill_entries()
        notes = figures.value_notes(summaries, band, _band_words(band)) + _merged(notes)
        style.place_legend(figure, entries, notes)
        return figure


def _merged(notes):
    """Notes that several panels give rise to, in one."""
    different = list(dict.fromkeys(notes))
    linear = [note for note in different if note.startswith("linear below")]
    if len(linear) < 2:
        return different
    return [note for note in different if note not in linear] + [
        "linear below the dotted lines, to show 0"]


def _methods(spec, studies):
    """Labels in the order of the studies, or as `methods` lists them."""
    if "methods" in spec:
        return list(spec["methods"])
    names = []
    for study in studies_of(spec):
        results = studies.get(study)
        names += results.algorithms if results else []
    return list(dict.fromkeys(names))


def _curves(axis, results, entry, spec, styles, band, time):
    metric = entry.get("metric", spec.get("metric", "simple"))
    wanted = entry.get("methods", spec.get("methods"))
    frame = value_curves(results, entry["problem"], metric)
    if metric in ("cpu", "wall"):
        frame = frame.loc[:, frame.columns > 0]  # nothing is spent before the first query
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
    return drawn


def _dress(panel, title, label, spec, time):
    axis = panel.axes
    summary, band, metric = axis.regatta
    factor, notes = figures.scale_axes(axis, summary, band, spec.get("scale", "auto"), metric)
    panel.dress(title, label, factor)
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


def _label(spec, entry):
    metric = entry.get("metric", spec.get("metric", "simple"))
    return spec.get("labels", {}).get(metric, LABELS.get(metric, metric.replace("_", " ")))


def _band_words(band):
    if not band.factor:
        return "mean"
    return f"mean ± {'standard error' if band.factor == 1 else f'{band.factor:g} standard errors'}"


def _panels(rows):
    """Figure, and [(Panel, (axes, entry))] for rows of entries."""
    columns = max(len(row) for row in rows)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    height = {1: 2.3, 2: 2.15}.get(columns, 1.85 if columns == 3 else 1.6)
    figure = Figure(figsize=(width, len(rows) * height), layout="constrained")
    FigureCanvasAgg(figure)
    made = []
    for r, row in enumerate(rows):
        for c, entry in enumerate(row):
            axis = figure.add_subplot(len(rows), columns, r * columns + c + 1)
            below = r + 1 < len(rows) and c < len(rows[r + 1])
            made.append((style.Panel(axis, columns, c == 0, not below), (axis, entry)))
    return figure, made


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
            drawn += [(suffix, study if many else "", bounds.conditional_figure(results, table))
                      ] if bounds.problems(results, table, {"theorem_4_3"}) else []
            continue
        if bounds.problems(results, table):
            drawn.append((suffix, f"{study}: cumulative regret below its bounds" if many else
                          "cumulative regret below its bounds", bounds.regret_figure(results, table)))
        if bounds.problems(results, table, bounds.GAINS):
            drawn.append((f"{suffix}_gain", "information gain", bounds.gain_figure(results, table)))
    return drawn


def roots_figure(spec):
    """Square roots of the confidence parameters by formula, as Figure 1 of arXiv:2504.03172."""
    points, (first, last) = spec.get("points", 1000), spec.get("range", [1, 1000])
    t = np.arange(first, last + 1, dtype=float)
    names = ["Proposed", "RKHS", "Bayesian", "BPT-UCB"]
    with style.context():
        figure, axes = _panels([[{}, {}]])
        (left, _), (right, _) = axes
        roots = laws.robust_roots(t, points)
        draws = np.sqrt(roots["least"][0]**2 + np.random.default_rng(0).exponential(2.0, 10**6))
        styles = style.algorithm_styles(names)
        left.axes.hist(draws, bins=120, density=True, color=styles["Proposed"]["color"], alpha=0.6)
        left.dress("Density of a million draws", "Density")
        left.axes.set_xlim(draws.min(), np.quantile(draws, 0.9999))
        left.axes.set_xlabel(r"$\beta_t^{1/2}$ of Proposed")
        right.axes.fill_between(t, roots["low"], roots["high"], color=styles["Proposed"]["color"], alpha=0.18, lw=0)
        for k, name in enumerate(names):
            right.axes.plot(t, laws.law_curve(name, t, points),
                            markevery=figures.mark(k, len(names), len(t)), **styles[name])
        right.first = True
        right.dress("", r"$\beta_t^{1/2}$")
        style.place_legend(figure, styles.items(),
                           [f"by formula, {points} points; shaded: 95% interval of Proposed"])
        return figure


def profiles_of(spec, studies):
    """Data and performance profiles over all problems of the studies, by queries and by CPU time."""
    drawn = []
    for cost, words in (("evaluations", "queries"), ("cpu", "CPU seconds")):
        tables = []
        for study in spec["studies"]:
            results = studies.get(study)
            if results is not None:
                tables.append(_known_hits(results, study, cost))
        tables = [table for table in tables if table is not None]
        if tables:
            drawn.append((f"_{cost}", f"by {words}", profile_figure(
                pd.concat(tables, ignore_index=True), words, _methods(spec, studies))))
    return drawn


def _known_hits(results, study, cost):
    """Hits on the problems whose optimum is known."""
    known = [p for p in results.problems if "simple_regret" in results.group(p).evaluations()
             and (~np.isnan(results.group(p).values("simple_regret"))).any()]
    if not known:
        return None
    table = profiles.hits(results, cost=cost, problems=known)
    return table.assign(problem=study + "/" + table["problem"])


def profile_figure(table, words, names):
    """Left: share of trials and targets reached against cost; right: against cost relative to the
    best algorithm on the same trial and target."""
    with style.context():
        figure, axes = _panels([[{}, {}]])
        styles = style.algorithm_styles(names)
        shown = [a for a in names if (table["algorithm"] == a).any()]
        made = profiles.data_profile(table), profiles.performance_profile(table)
        for (panel, _), profile, label in zip(axes, made, (words[0].upper() + words[1:], "Cost / least cost")):
            last = max((costs[-1] for costs, _ in profile.values() if len(costs)), default=1.0)
            least = min((c[c > 0].min() for c, _ in profile.values() if (c > 0).any()), default=1.0)
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
        style.place_legend(figure, entries, [
            f"targets: {targets} of the median simple regret at t = 0; share of targets on "
            f"{extended.spread(table.groupby('algorithm').size() // table['target'].nunique())} trials"])
        return figure


def _thinned(costs, share, most=2000):
    """Steps enough for the eye: one at every cost, and no more than `most`."""
    last = np.flatnonzero(np.diff(costs, append=np.inf))
    if len(last) > most:
        last = last[np.linspace(0, len(last) - 1, most).round().astype(int)]
    return costs[last], share[last]


def rank_table(spec, studies):
    """Table of problems x algorithms: means of `metric` at the last query, over the trials that all algorithms have
    (medians where one has no mean) and over the settings that were swept outside problems and algorithms; None
    without results. Trials are no blocks: those
    of a problem say the same about it again and again."""
    blocks = {}
    for study in spec["studies"]:
        results = studies.get(study)
        for problem in results.problems if results else []:
            metric = spec.get("metric", "simple")
            sense = {"sense": "max"} if metric in METRICS and METRICS[metric].running else {}
            series = trial_values(results, problem, {"metric": metric} | sense)
            table = comparison.paired(series, results.algorithms).dropna(axis=1, how="all")
            blocks.setdefault(f"{study}, {results.group(problem).block}", []).append(
                extended.centres(table.dropna())[1])
    if not blocks:
        return None
    centres = pd.DataFrame({name: pd.concat(some, axis=1).mean(axis=1, skipna=False)
                            for name, some in blocks.items()}).T
    return centres.dropna(axis=1)  # methods that ran on all of them


def ranks(spec, studies):
    """Critical-difference diagram as a list of one figure; [] with fewer than three algorithms or two
    problems."""
    table = rank_table(spec, studies)
    found = comparison.friedman(table) if table is not None else None
    return [("", "", rank_figure(found))] if found else []


def rank_figure(found):
    """Critical-difference diagram (Demsar 2006): mean ranks, bars join what Nemenyi's test does not
    tell apart."""
    ranks, gap = found["ranks"], found["critical_difference"]
    k = len(ranks)
    groups = comparison.cliques(ranks, gap)
    half = (k + 1) // 2
    with style.context():
        figure = Figure(figsize=(style.PAGE_WIDTH * 0.8, 2.0), layout="constrained")
        FigureCanvasAgg(figure)
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
            axis.text(edge, level, f" {style.escaped(name)} ({rank:.2f}) ", fontsize=7.5,
                      ha="right" if left else "left", va="center")
        axis.set_ylim(start - 0.8 * half - 0.3, 2.9)
        figure.set_size_inches(style.PAGE_WIDTH * 0.8, 0.17 * (3.2 - start + 0.8 * half))
        figure.supxlabel(f"mean rank over {found['n']} problems (1 is best); Friedman p = "
                         f"{found['p']:.2g}; bars: not told apart (Nemenyi, 5%)", fontsize=7,
                         color=style.GREY)
        return figure
