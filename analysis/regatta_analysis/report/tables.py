"""Final regret and run times as data frames, and as Markdown, LaTeX and CSV."""
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..escape import Tex, markdown as md, number, tex, write_csv
from ..figures import panels, style
from ..figures.figures import NO_INTERVAL, Band
from ..load.results import remembered
from ..load.settings import value_text as setting_text
from ..progress import progress
from ..stats import extended, robust
from ..stats.best import not_worse
from ..stats.measures import trial_values
from ..stats.regret import METRICS, censored, dynamic_note, metric_on, more_is_better, queries
from ..stats.summaries import cell_summaries, last_summaries

STAGES = ("fit", "acquire", "evaluate")
UPRIGHT = 6  # problems that fit side by side


def curve_summaries(results, metrics, quantiles=(0.25, 0.75)):
    """Every statistic of every cell at every query: a frame per metric and problem, of one row per algorithm and t."""
    for metric in metrics:
        for problem in progress(results.problems, "tables of curves"):
            block = cell_summaries(results, problem, metric, quantiles, bootstrap=True)
            about = pd.DataFrame({"metric": metric, "problem": problem}, index=block.index)
            yield pd.concat([about, block], axis=1)


def final_regret(results, metrics, quantiles=(0.25, 0.75), bootstrap=False):
    """One row per metric and cell. It has the summary at the last query t of the problem, with n, the number of trials
    with a value there (if n is 0, the rest is NaN). It also has the numbers of trials planned, done, failed and
    missing, and the numbers with a finite value and stuck (`robust.stuck`). censored: `stop` ended trials of the cell, which has no value therefore (`regret.censored`)."""
    blocks = []
    for metric in metrics:
        last = []
        for problem in results.problems:
            summary, end = last_summaries(results, problem, metric, quantiles, bootstrap), queries(results, problem)
            here = results.cells([problem]).assign(t=end.max() if len(end) else np.nan)
            here = here.merge(summary, how="left", on=["algorithm", "t"])
            stuck = here["algorithm"].map(stuck_trials(results, problem, metric)).fillna(0)
            last.append(here.assign(more_is_better=more_is_better(results, problem, metric), n_stuck=stuck,
                                    censored=here["algorithm"].isin(censored(results, problem, metric))))
        block = pd.concat(last, ignore_index=True)
        block = block.fillna({"n": 0, "n_finite": 0}).astype(dict.fromkeys(["n", "n_finite", "n_stuck"], int))
        block.insert(0, "metric", metric)
        blocks.append(block)
    return pd.concat(blocks, ignore_index=True)


@remembered
def stuck_trials(results, problem, metric):
    """{algorithm: numbers of trials whose last value is finite and stuck}; empty for values of which more is better."""
    if METRICS[metric].running:
        return {}
    values = trial_values(results, problem, {"metric": metric}).dropna()
    return {name: int((robust.stuck(own) & np.isfinite(own)).sum())
            for name, own in values.groupby(level="algorithm", observed=True)}


def runtime(results):
    """One row per planned cell: queries and seconds per trial (mean and standard error over complete trials) of every
    stage and of their sum, wall and CPU, and the mean wall time of model and acquisition per query.
    """
    rows = []
    for problem in results.problems:
        cells, none, planned = results.group(problem).done.cells, results.group(problem).subset([]), results.cells([problem])
        for algorithm in planned.loc[planned["planned"] > 0, "algorithm"]:
            cell = cells.get(algorithm, none)
            made = (cell.column("n_iterations") - cell.column("n_initial")).astype(float)
            timed = not results.archived or cell.knows("wall_acquire")  # an archived trial has no times of queries
            totals = {f"{clock}_{stage}": _total(cell, f"{clock}_{stage}") for clock in ("wall", "cpu") for stage in STAGES}
            for clock in ("wall", "cpu"):
                totals[clock] = sum(totals[f"{clock}_{stage}"] for stage in STAGES)
            totals["per_query"] = (totals["wall_fit"] + totals["wall_acquire"]) / np.where(made > 0, made, np.nan)
            row = {"problem": problem, "algorithm": algorithm, "n": cell.n, "queries": made.mean() if cell.n else 0.0}
            for name, values in totals.items():
                values = values if timed else np.full(cell.n, np.nan)
                _, row[name], _, row[f"{name}_se"] = extended.mean_and_error(values)
            rows.append(row)
    return pd.DataFrame(rows)


def _total(cell, name):
    """Seconds per trial; stages that were never timed count 0, unrecorded columns are NaN."""
    if name not in cell.evaluations():
        return np.full(cell.n, np.nan)
    return cell.each(lambda block: np.nansum(block.values(name), axis=1))


@dataclass
class Table:
    """Header and rows of (text, bold) with a title, a note of two lines at most, and how its numbers are made."""
    title: str
    note: str
    header: list
    rows: list
    how: str = ""


def plain(*cells):
    """A row of a Table without bold cells."""
    return [(str(cell), False) for cell in cells]


def cells_table(cells, note=""):
    """A Table of rows of `Results.cells`."""
    names = style.shown_names(cells["algorithm"])
    return Table("Cells that lack trials", note, ["Problem", "Algorithm", "Done", "Failed", "Missing"],
                 [plain(c.problem, names[c.algorithm], c.done, c.failed, c.missing) for c in cells.itertuples()])


@dataclass(frozen=True)
class Notation:
    """The format of numbers: `power` is the format of a power of ten behind a number."""
    power: str = "e%+03d"
    plus_minus: str = "±"
    formula: str = "%s"  # around a number
    cell: type = str  # of cells that hold numbers
    infinity: str = "∞"
    minus: str = "−"


TEXT = Notation()
TEX = Notation(r" \times 10^{%d}", r"\pm", "$%s$", Tex, r"\infty", "-")


def with_error(mean, error=np.nan, notation=TEXT):
    """`mean ± error` with two digits of the error, and a power of ten behind both if necessary. Without an error, the
    mean alone with four digits. "" without a mean."""
    if not np.isfinite(mean):
        return ""
    if mean == 0 and not error > 0:
        return notation.formula % "0"
    if not error > 1e-14 * abs(mean):  # NaN, or rounding of equal values
        return notation.formula % _number(mean, notation, 4)
    exponent = int(np.floor(np.log10(max(abs(mean), error))))
    exponent = exponent if exponent < -3 or exponent > 5 else 0
    mean, error = mean / 10.0**exponent, error / 10.0**exponent
    digits = max(1 - int(np.floor(np.log10(error))), 0)
    shown = f"{error:.{digits}f}" if digits <= 6 else _number(error, notation, 2)
    text = f"{number(mean, f'.{min(digits, 6)}f')} {notation.plus_minus} {shown}"
    return notation.formula % (f"({text}){notation.power % exponent}" if exponent else text)


def _number(value, notation, digits):
    if np.isinf(value):
        return notation.infinity if value > 0 else notation.minus + notation.infinity
    exponent = int(np.floor(np.log10(abs(value)))) if value else 0
    if -4 < exponent < 6:
        return f"{value:.{max(digits - 1 - exponent, 0)}f}"
    return f"{value / 10.0**exponent:.{digits - 1}f}{notation.power % exponent}"


def number_of(value, n):
    """A number with the number of its trials."""
    return f"{_number(value, TEXT, 4) if value else '0'} ({n})"


def between(centre, *ends, notation=TEXT, digits=3):
    """`centre [low, high]`, – where one of the ends is not known; the centre alone without ends. "" without a centre."""
    if np.isnan(centre):
        return ""
    parts = ["–" if np.isnan(v) else "0" if v == 0 else _number(v, notation, digits) for v in (centre, *ends)]
    return notation.formula % (f"{parts[0]} [{parts[1]}, {parts[2]}]" if ends else parts[0])


def effect(row):
    """The typical effect of a comparison with its interval."""
    return (between(row.effect, row.low, row.high) or "–") + (" (difference)" if row.scale == "difference" else "")


def better(row):
    """P(better) of a comparison with its interval."""
    return f"{row.better:.2f} [{row.better_low:.2f}, {row.better_high:.2f}]" if np.isfinite(row.better) else "–"


def value_text(cell, band, notation=TEXT):
    """The statistic of a row of a summary that the band uses. If a value is infinite, also the number of finite
    values."""
    if not cell.n:
        return ""
    if band.kind == "se":
        text = with_error(cell.mean, cell.se, notation)
        if getattr(cell, "se_instances", np.nan) > 0:
            error = f"{notation.plus_minus} {_number(cell.se_instances, notation, 2)}"
            text += f" [{notation.formula % error}]"
    elif band.kind == "bootstrap":
        text = between(cell.mean, cell.boot_low, cell.boot_high, notation=notation)
    elif band.kind == "median":
        centre = cell.median if np.isnan(cell.median_instances) else cell.median_instances
        known = not np.isnan(cell.median_low)
        text = between(centre, cell.median_low, cell.median_high, notation=notation) if known else between(centre, notation=notation)
    else:
        text = between(cell.median, cell.low, cell.high, notation=notation)
    text += f", {cell.n_stuck} stuck" if getattr(cell, "n_stuck", 0) else ""
    return text + (f", feasible in {cell.n_finite} of {cell.n}" if cell.n_finite < cell.n else "")


FINAL_NOTE = (". k stuck: k trials end far above the others of their method, above a gap of at least a factor of 10 "
              "with at most half of the trials above it; they would dominate a mean. (k of n): k of the n trials "
              "that were planned have a value. Infinity, of a trial without a feasible design, sorts last; it has no "
              "mean, and medians with quartiles stand in place of means. Bold: the best value, and those whole ones that "
              "paired trials do not show to be worse (5% over all of the column together); none if trials of the best are "
              "missing, or `stop` ended trials of a method before their last query.")


def drawn_in_words(band):
    """The statistic of a table of final values."""
    units = {"median": f" (of the medians of the instances, where trials share them; {NO_INTERVAL})",
             "se": " (in brackets over the means of the instances, where trials share them)"}
    return f"{band.note(drawn=False).capitalize()}{units.get(band.kind, '')} over complete trials"


# Every table is first a list of rows of cells; a cell is (text, bold); then one of three writers.

def final_regret_grid(results, table, metric, band=Band(), notation=TEXT, titles={}):
    """Header and rows (algorithm x problem) of one metric; `titles` are those of problems that have one. The best cell
    of a problem is bold, and those that are not told apart from it. Problems with a cell that has no mean have
    medians."""
    table, header, columns = table[table["metric"] == metric], ["Algorithm"], []
    for problem, rows in table.groupby("problem", sort=False):
        fitting, counts = band.fitting(rows), set(rows.loc[rows["n"] > 0, "n"])
        about = [f"T = {rows['t'].iloc[0]:.0f}"] if rows["t"].notna().all() else []
        about += [extended.counted(*counts)] if len(counts) == 1 else []
        about += ["median"] if fitting != band else []
        title = titles.get(problem, problem)
        header.append(f"{title} ({', '.join(about)})" if about else title)
        columns.append(dict(zip(rows["algorithm"], final_cells(results, rows, band, notation, len(counts) > 1))))
    return header, [[(name, False), *(column[label] for column in columns)]
                    for label, name in style.shown_names(table["algorithm"]).items()]


def final_over_grid(results, table, metric, band=Band(), notation=TEXT):
    """`over_grid` of the final values of one metric."""
    table = table[table["metric"] == metric].set_index(["problem", "algorithm"], drop=False)
    return over_grid(results, metric, lambda pairs: final_cells(results, table.loc[pairs], band, notation))


def over_grid(results, metric, cells_of):
    """Header, rows and the number of columns that say what a row is, of a sweep: a row per problem and values of the
    settings, a column per method. `cells_of` gives the cells of the pairs (problem, algorithm) of a row."""
    views, rows, names = panels.views(results, metric), [], results.settings
    methods = list(views[0].cells)
    for view in views:
        there = {m: pair for m, pair in view.cells.items() if pair is not None}
        found = dict(zip(there, cells_of(list(there.values()))))
        rows.append([(setting_text(view.place.get(name, "–")), False) for name in (panels.PROBLEM, *names)]
                    + [found.get(m, ("–", False)) for m in methods])
    return ["Problem", *names, *style.shown_names(methods).values()], rows, 1 + len(names)


def upright(table):
    """A Table of algorithms by problems, with the problems as its rows if there are more of them: pages have more room
    below than aside."""
    if len(table.header) - 1 <= max(len(table.rows), UPRIGHT):
        return table
    columns = zip([(text, False) for text in table.header], *table.rows)
    header, *rows = map(list, columns)
    return replace(table, header=["Problem", *(text for text, _ in header[1:])], rows=rows)


def better_values(table, titles):
    """A sentence on which values of a `final_regret` of one metric are better."""
    larger = table.groupby("problem", sort=False)["more_is_better"].any()
    if larger.nunique() == 1:
        return "Larger values are better." if larger.iloc[0] else "Lower values are better."
    return f"Larger values are better on {', '.join(titles.get(p, p) for p in larger.index[larger])}; lower ones elsewhere."


def final_cells(results, rows, band=Band(), notation=TEXT, counts=True):
    """(text, bold) of rows of `final_regret` that are compared with each other. The best is bold, and all that paired
    trials do not show to be worse. With `counts`, each gives the number of its trials; else only those with missing
    trials do."""
    fitting = band.fitting(rows)
    centre = np.asarray(fitting.of(rows)[0], float)
    whole = (rows["n"] == rows["planned"]) & ~rows["censored"].any()
    best = extended.best(centre, whole, rows["more_is_better"].any())
    if best.any():
        known = np.flatnonzero(np.isfinite(centre) & whole)
        cells = tuple(map(tuple, rows[["problem", "algorithm"]].to_numpy()[known]))
        best[known] |= not_worse(results, rows["metric"].iloc[0], cells, int(np.flatnonzero(known == best.argmax())[0]))
    return [(_final_text(row, fitting, notation, counts), bool(bold)) for row, bold in zip(rows.itertuples(), best)]


def _final_text(cell, band, notation, counts):
    if not cell.done:
        return "missing" if cell.missing else "failed"
    count = f" ({cell.n} of {cell.planned})" if cell.n < cell.planned else f" ({cell.n})" if counts else ""
    return notation.cell((value_text(cell, band, notation) or "no value") + count)


def runtime_grid(table, notation=TEXT):
    """Header and rows (cell x stage), per trial, in seconds, or in milliseconds if all are short."""
    unit, factor = ("s", 1.0) if not table["wall"].max() < 1.0 else ("ms", 1e3)
    small, per_query = ("ms", 1e3) if not table["per_query"].max() < 1e-3 else ("µs", 1e6)
    stages = {"wall": "Wall", "wall_fit": "Fit", "wall_acquire": "Acquire",
              "wall_evaluate": "Evaluate", "cpu": "CPU"}
    header = ["Problem", "Algorithm", "Trials", "Queries",
              *[f"{title} ({unit})" for title in stages.values()], f"Per query ({small})"]
    rows, names = [], style.shown_names(table["algorithm"])
    for cell in table.itertuples():
        values = ["0", "–", "missing"] + ["–"] * 5
        if cell.n:
            scales = {**dict.fromkeys(stages, factor), "per_query": per_query}
            values = [str(cell.n), f"{cell.queries:.3g}" if cell.queries % 1 else f"{cell.queries:.0f}",
                      *[notation.cell(with_error(scale * getattr(cell, name),
                                                 scale * getattr(cell, f"{name}_se"), notation))
                        or "–" for name, scale in scales.items()]]
        rows.append([(text, False) for text in (cell.problem, names[cell.algorithm], *values)])
    return header, rows


def markdown(header, rows):
    """A table of Markdown; rows of (text, whether it is bold)."""
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    body = [line([f"**{md(text)}**" if bold else md(text) for text, bold in row])
            for row in rows]
    return "\n".join([line([md(h) for h in header]), line(["---"] * len(header))] + body)


def section(table, level=3):
    """A Table as a section of Markdown."""
    note = md(f"{table.note} {table.how}".strip())
    return f"{'#' * level} {md(table.title)}\n\n{markdown(table.header, table.rows)}\n\n{note}\n\n"


WIDE, LONG = 6, 45  # columns and rows of a table that fits a page


def latex(header, rows, caption, keys=1):
    """Booktabs tables (\\usepackage{booktabs}), several if one would not fit a page. The first `keys` columns, which say
    what a row is, stand in all of them."""
    step = max(WIDE - keys, 2)
    parts = [([*range(keys), *range(k, min(k + step, len(header)))], rows[r:r + LONG])
             for r in range(0, max(len(rows), 1), LONG) for k in range(keys, len(header), step)]
    return "\n\n".join(_latex([header[c] for c in columns], [[row[c] for c in columns] for row in some],
                              caption + (f" Part {k} of {len(parts)}." if len(parts) > 1 else ""), keys)
                       for k, (columns, some) in enumerate(parts, 1))


def _latex(header, rows, caption, keys):
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{tex(caption)}}}",
             rf"\begin{{tabular}}{{{'l' * keys + 'r' * (len(header) - keys)}}}", r"\toprule",
             " & ".join(tex(h) for h in header) + r" \\", r"\midrule"]
    for row in rows:
        cells = [_tex_cell(text, bold) for text, bold in row]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join(lines + [r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def write_final_regret(results, metrics, band, directory):
    """final_regret.md, .tex, .csv; returns the Markdown text."""
    table = final_regret(results, metrics, band.quantiles, band.interval)
    texts, tex, titles = [], [], {problem: results.title_of(problem) for problem in results.problems}
    for metric in metrics:
        name = metric_on(results, results.problems, metric).name
        better = better_values(table[table["metric"] == metric], titles)
        caption = _caption(results, f"{name} at the last query T: {band.note(drawn=False)}. {better}")
        texts.append(f"### {name}\n\n{markdown(*final_regret_grid(results, table, metric, band, TEXT, titles))}\n\n{md(better)}")
        tex.append(_final_latex(results, table, metric, band, titles, caption))
    note = f"At the last query T of a problem. {drawn_in_words(band)}{FINAL_NOTE}"
    text = "\n\n".join(texts + [md(note + dynamic_note(results))]) + "\n"
    _write(results, directory, "final_regret", "## Final regret\n\n" + text, tex, table)
    return text


def _final_latex(results, table, metric, band, titles, caption):
    """The table of one metric in LaTeX."""
    if results.settings:
        header, rows, keys = final_over_grid(results, table, metric, band, TEX)
        return latex(header, rows, caption, keys)
    return latex(*final_regret_grid(results, table, metric, band, TEX, titles), caption)


def write_curves(results, metrics, band, directory):
    """curves.csv: the values of the figures and the other statistics, cell by cell and query by query."""
    for k, block in enumerate(curve_summaries(results, metrics, band.quantiles)):
        write_csv(results.with_settings(block), directory / "curves.csv", mode="a" if k else "w", header=not k)


def write_runtime(results, directory):
    """runtime.md, .tex, .csv; returns the Markdown text."""
    table = runtime(results)
    caption = _caption(results, "Time per trial: mean and standard error over complete trials.")
    text = (markdown(*runtime_grid(table)) + "\n\nTime per trial: mean ± standard error over "
            "complete trials; wall = fit + acquire + evaluate; per query: fit + acquire.\n")
    _write(results, directory, "runtime", "## Run time\n\n" + text, [latex(*runtime_grid(table, TEX), caption, keys=2)], table)
    return text


def _write(results, directory, stem, text, tex, table):
    (directory / f"{stem}.md").write_text(state_line(results) + text, encoding="utf-8")
    (directory / f"{stem}.tex").write_text("% needs \\usepackage{booktabs}\n"
                                           + "\n\n".join(tex) + "\n", encoding="utf-8")
    write_csv(results.with_settings(table), directory / f"{stem}.csv")


def state_line(results):
    """The line of Markdown with which a page of incomplete results begins; "" if they are complete."""
    return f"**{md(results.state)}.**\n\n" if results.state else ""


def _caption(results, text):
    return f"{results.state}. {text}" if results.state else text


def _tex_cell(text, bold):
    """Escape texts for LaTeX; numbers, with brackets and counts around them at most, are LaTeX already."""
    if isinstance(text, Tex):
        return rf"{{\boldmath {text}}}" if bold else text
    return rf"\textbf{{{tex(text)}}}" if bold else tex(text)
