"""Statistics of the trials of a study about its algorithms: paired tests, growth exponents, ranks over the problems,
profiles; as data frames, tables and files."""
from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..escape import markdown as md, number, write_csv
from ..load.results import remembered
from ..report import tables
from . import comparison, extended
from .growth import growth_exponent
from .measures import last_values
from .regret import METRICS, before_queries, regret_curves
from ..progress import progress
from ..report.tables import Table

if TYPE_CHECKING:
    from ..load.results import Results


def recorded(results: Results, metric: str) -> bool:
    """Whether every problem of the results has the metric."""
    return all(METRICS[metric].column in results.group(p).evaluations() for p in results.problems)


def final_values(results: Results, problem: str, metric: str) -> pd.DataFrame:
    """Table trial x algorithm of the metric at the last query, less is better."""
    return comparison.paired(last_values(results, problem, metric), results.algorithms)


@remembered
def comparisons(results: Results, metric: str, against: str | None = None) -> pd.DataFrame:
    """`comparison.compare` of all pairs, or of one algorithm with the others, problem by problem, with Holm's
    correction over all of them. Trials that share an instance are not independent; then the means of the instances are
    compared, over the seeds that both have. If neither of the two reads a swept setting, their tests in its panels are
    the same test and count once."""
    blocks, tests, known = [], [], {}
    for problem in progress(results.problems, "comparisons"):
        table = final_values(results, problem, metric)
        if against is not None and against not in table:
            continue
        pairs = ([(against, other) for other in table if other != against] if against is not None
                 else list(itertools.combinations(table, 2)))
        cells = _cells(results.group(problem))
        for pair in pairs:
            test = (results.group(problem).place, *pair, *(cells[a] for a in pair))
            if test not in known:
                known[test] = len(known), comparison.compare(
                    comparison.independent(table[list(pair)].dropna()), [pair])
            tests.append(known[test][0])
            blocks.append(known[test][1].assign(problem=problem))
    columns = ["problem", *comparison.PAIR_COLUMNS]
    frame = pd.concat(blocks or [pd.DataFrame(columns=columns)], ignore_index=True)[columns]
    adjusted = comparison.holm([block["p"].iloc[0] for _, block in known.values()])
    return frame.assign(p_holm=adjusted[tests] if tests else [])


def _cells(group):
    """{algorithm: its cells} of a problem: the same trials in several panels are the same cells."""
    pairs = pd.DataFrame({name: group.column(name) for name in ("algorithm", "cell")}).drop_duplicates()
    return pairs.groupby("algorithm")["cell"].agg(frozenset).to_dict()


def comparison_table(frame: pd.DataFrame, title: str) -> Table:
    """`comparisons` for readers."""
    pairs = frame["a"].nunique() > 1
    header = ["Problem", *(["Algorithm"] if pairs else []), "Against", "n", "Mean difference", "p",
              "p (Holm)", "Rank-biserial", "P(better)", "n needed"]
    rows = [[(text, False) for text in (
        row.problem, *([row.a] if pairs else []), row.b, str(row.n),
        tables.with_error(row.difference, row.se) or "–", _p(row.p), _p(row.p_holm),
        number(row.rank_biserial, "+.2f"), _share(row), _needed(row))] for row in frame.itertuples()]
    first = "the first" if pairs or not len(frame) else frame["a"].iloc[0]
    return Table(title, f"Paired over n common trials, or over the means of n instances where trials share instances; "
                 f"negative differences and P(better) above 0.5 speak for {first}. Two-sided Wilcoxon signed-rank test, "
                 "Holm's correction over the whole table; n needed for 80% power. Infinite values are the worst, two "
                 "of them tie, and a pair with one has no mean difference.", header, rows)


def _p(value):
    return "–" if not np.isfinite(value) else "< 1e-4" if value < 1e-4 else f"{value:.2g}"


def _share(row):
    return (f"{row.superiority:.2f} [{row.superiority_low:.2f}, {row.superiority_high:.2f}]"
            if np.isfinite(row.superiority) else "–")


def _needed(row):
    if not np.isfinite(row.needed):
        return "–"
    return f"{row.needed:.0f}" if row.needed > row.n else "enough"


@remembered
def growth(results: Results) -> pd.DataFrame:
    """Growth exponent of mean cumulative regret of every cell with at least 8 queries, with its 95% bootstrap
    interval. Trials that share an instance are drawn together."""
    rows = []
    for problem in progress(results.problems, "growth exponents"):
        frame = regret_curves(results, problem, "cumulative")
        frame = frame.loc[:, (frame.columns > 0) & frame.notna().any().to_numpy()]
        for algorithm, cell in frame.groupby(level="algorithm", sort=False):
            cell = cell.dropna()  # no curve where a regret is undefined or a trial ended early
            if len(cell) and cell.shape[1] >= 8:
                instances = cell.index.get_level_values("instance")
                crossed = 1 < instances.nunique() < len(cell)
                found = growth_exponent(cell.to_numpy(), cell.columns, groups=instances if crossed else None,
                                        before=before_queries(results, problem, algorithm, "cumulative"))
                rows.append([problem, algorithm, len(cell), *found])
    return pd.DataFrame(rows, columns=["problem", "algorithm", "n", "exponent", "low", "high"])


def growth_table(frame: pd.DataFrame, results: Results, where: str = "") -> Table:
    """`growth` for readers: algorithm x problem."""
    cells = {(row.algorithm, row.problem): row for row in frame.itertuples()}
    rows = [[(a, False)] + [(_exponent(cells.get((a, p))), False) for p in results.problems]
            for a in results.algorithms] if cells else []
    return Table(f"Growth of cumulative regret{where}",
                 "Exponent a of mean cumulative regret ~ t^a over the last three quarters of the queries, "
                 "with its 95% bootstrap interval, over the trials whose cumulative regret is defined; 1 is linear. "
                 "With `count_initial`, t counts the initial design too.",
                 ["Algorithm", *results.problems], rows)


def _exponent(row):
    if row is None or not np.isfinite(row.exponent):
        return "–"
    interval = f" [{number(row.low, '.2f')}, {number(row.high, '.2f')}]" if np.isfinite(row.low) else ""
    return f"{number(row.exponent, '.2f')}{interval} ({extended.counted(row.n, 'trial')})"


def write(results: Results, metric: str, directory: Path) -> tuple[list[Path], str]:
    """comparisons.csv, growth.csv and statistics.md; returns the paths and the Markdown text."""
    frame = comparisons(results, metric)
    made = [comparison_table(frame, f"All pairs, final {METRICS[metric].name.lower()}")]
    write_csv(results.with_settings(frame), directory / "comparisons.csv")
    written = [directory / "comparisons.csv"]
    if recorded(results, "cumulative"):
        found = growth(results)
        write_csv(results.with_settings(found), directory / "growth.csv")
        written.append(directory / "growth.csv")
        made.append(growth_table(found, results))
    text = "\n".join(f"### {t.title}\n\n{tables.markdown(t.header, t.rows)}\n\n{md(t.note)}\n"
                     for t in made if t.rows)
    (directory / "statistics.md").write_text(f"{tables.state_line(results)}## Statistics\n\n{text}", encoding="utf-8")
    return [*written, directory / "statistics.md"], text
