"""The comparisons of a study for readers: tables and files of `stats.inference` and `stats.aggregate`."""
import numpy as np

from ..escape import number, write_csv
from ..figures import style
from ..stats import aggregate, evidence, extended, inference
from ..stats.regret import METRICS, metric_on
from . import answer, tables
from .tables import Table, better, plain


OWN = 3  # methods of a study that stand against all others, each in a table
TOGETHER = ("Ties are half a win. Both intervals hold at any number of trials. Shown: better after Holm's correction over all "
            "pairs of methods. Suggested: better at 5% by itself. Worse: the other is better at 5%.")


def pairs_table(frame, title):
    """`inference.comparisons`."""
    pairs, names = frame["a"].nunique() > 1, style.shown_names([*frame["a"], *frame["b"]])
    header = ["Problem", *(["Algorithm"] if pairs else []), "Against", "n", "Ratio [95%]", "P(better) [95%]", "Verdict",
              "p (Holm)", "Stuck", "n needed"]
    rows = [plain(row.problem, *([names[row.a]] if pairs else []), names[row.b], row.n, tables.effect(row), better(row),
                  row.verdict, _p(row.p_holm), _stuck(row), _needed(row)) for row in frame.itertuples()]
    first = "the first" if pairs or not len(frame) else names[frame["a"].iloc[0]]
    return Table(title, f"Ratio: typical ratio of {first} to the other; below 1 (differences: below 0) is better.", header, rows,
                 f"Paired over n common trials, or n instances where trials share them. P(better): share of the pairs that "
                 f"{first} wins, ties half. Both intervals hold at any number of trials; each verdict is at 5%, p has Holm's "
                 "correction over the whole table. Stuck: shares of stuck trials of both. n needed: about how many pairs "
                 "decide it if wins keep their share.")


def _stuck(row):
    return " / ".join("–" if not np.isfinite(s) else f"{100 * s:.0f}%" for s in (row.stuck_a, row.stuck_b))


def _p(value):
    return "–" if not np.isfinite(value) else "< 1e-4" if value < 1e-4 else f"{value:.2g}"


def _needed(row):
    if row.verdict != evidence.OPEN:
        return "enough"
    return f"{row.needed:.0f}" if np.isfinite(row.needed) and row.needed > row.n else "–"


def growth_table(frame, results, where=""):
    """`inference.growth`: algorithm x problem, or the rows of a sweep; only methods that have an exponent."""
    cells = {(row.problem, row.algorithm): (_exponent(row), False) for row in frame.itertuples()}
    header, rows, none = ["Algorithm", *results.problems], [], ("–", False)
    if cells and results.settings:
        header, rows, keys = tables.over_grid(results, "cumulative", lambda pairs: [cells.get(pair, none) for pair in pairs])
        known = [k for k in range(len(header)) if k < keys or any(row[k] != none for row in rows)]
        left, header, rows = len(header) - len(known), [header[k] for k in known], [[row[k] for k in known] for row in rows]
    elif cells:
        whole = [[(name, False), *(cells.get((p, a), none) for p in results.problems)]
                 for a, name in style.shown_names(results.algorithms).items()]
        rows = [row for row in whole if any(cell != none for cell in row[1:])]
        left = len(whole) - len(rows)
    return Table(f"Growth of cumulative regret{where}",
                 "Exponent a of mean cumulative regret ~ t^a, with its 95% interval; 1 is linear." + _lacking(cells and left, results),
                 header, rows,
                 "Fitted over the last three quarters of the queries, over the trials whose cumulative regret is defined; "
                 "the interval is of the bootstrap. With `count_initial`, t counts the initial design too.")


def _lacking(left, results):
    """A sentence on methods without an exponent."""
    if not left:
        return ""
    methods = f"{left} methods" if left > 1 else "1 method"
    verb = "have" if left > 1 else "has"
    return f" Archives have this regret at few queries, so {methods} {verb} none." if results.archived else f" {methods} {verb} none."


def _exponent(row):
    if not np.isfinite(row.exponent):
        return "–"
    interval = f" [{number(row.low, '.2f')}, {number(row.high, '.2f')}]" if np.isfinite(row.low) else ""
    return f"{number(row.exponent, '.2f')}{interval} ({extended.counted(row.n)})"


def rank_tables(results, metric):
    """The Table of the mean ranks of the methods, in a list; none where nothing can be ranked."""
    found = inference.ranks(results, metric)
    if not len(found):
        return []
    names = style.shown_names(found["algorithm"])
    rows = [plain(names[r.algorithm], f"{r.rank:.2f} [{r.low:.2f}, {r.high:.2f}]", f"{r.first:.2f}")
            for r in found.itertuples()]
    several = f"mean over {found['problems'].iloc[0]} problems, " if found["problems"].iloc[0] > 1 else ""
    return [Table(
        f"Ranks by final {metric_on(results, results.problems, metric).name.lower()}",
        f"Rank by medians, {several}with its 95% interval; 1 is best. First: share of resamples in which it is first.",
        ["Algorithm", "Rank [95%]", "First"], rows,
        "The interval is of the bootstrap: the trials of a problem are drawn again for all methods together, or its instances "
        "where trials share them, and the medians are ranked anew. It says how the ranks of these methods on these problems "
        "depend on chance, and nothing about other problems. Equal medians share a rank, so several methods can be first.")]


def aggregate_tables(results, metric):
    """The methods over all problems, and those against all others of which the reader asks: methods of the study's own where
    others stand beside them, else the best one. No table of one problem, whose other tables say the same."""
    if len(results.problems) < 2:
        return []
    name = metric_on(results, results.problems, metric).name
    found, every = aggregate.made(results, metric)
    names = style.shown_names(found["algorithm"])
    rows = [plain(names[r.algorithm], r.problems, r.n, tables.between(r.ratio, r.low, r.high), f"{100 * r.stuck:.0f}%",
                  "–" if np.isnan(r.improvement) else f"{r.improvement:.2f}") for r in found.sort_values("ratio", kind="stable").itertuples()]
    whole = Table(
        f"All problems together, final {name.lower()}",
        "Ratio: the value as a share of what is usual on a problem; 1 is usual, less is better.",
        ["Algorithm", "Problems", "Trials", "Ratio", "Stuck", "P(improvement)"], rows,
        "Ratio: interquartile mean over trials and problems of the value as a share of the problem's median, with its "
        "95% stratified bootstrap interval. P(improvement): probability that a trial is better than any trial of another "
        "method on the same problem, unpaired.")
    own = [a for a in results.algorithms if a not in results.beside.methods] if results.beside.methods else []
    asked = own if 0 < len(own) <= OWN else every["a"].head(1).tolist()
    return [t for t in (whole, *(versus_table(every, method) for method in asked)) if t.rows]


def versus_table(every, method):
    """A method against each other one over all problems, from the pairs of `aggregate.made`."""
    problems = {frozenset((r.a, r.b)): r.problems for r in every.itertuples()}
    names = style.shown_names([*every["a"], *every["b"]])
    rows = [plain(names[r.name], problems[frozenset((method, r.name))], tables.between(r.effect, r.low, r.high), better(r), r.grade)
            for r in answer.seen_together(every, method)]
    return Table(
        f"{names[method]} against each other method, all problems together",
        f"Ratio of paired trials of {names[method]} to those of the other (less is better), and the share of pairs that it wins.",
        ["Against", "Problems", "Ratio [95%]", "P(better) [95%]", "Verdict"], rows, TOGETHER)


def every_table(every):
    """Each pair of methods over all problems."""
    names = style.shown_names([*every["a"], *every["b"]])
    rows = [plain(names[r.a], names[r.b], r.problems, tables.between(r.ratio, r.low, r.high), better(r),
                  answer.seen_from(r.a, r).grade, _p(r.p_holm)) for r in every.assign(effect=every["ratio"]).itertuples()]
    return Table("All pairs, all problems together", "Ratio of paired trials of the first to those of the other; less is better.",
                 ["Algorithm", "Against", "Problems", "Ratio [95%]", "P(better) [95%]", "Verdict", "p (Holm)"], rows, TOGETHER)


def write(results, metric, directory):
    """comparisons.csv, growth.csv and statistics.md; returns the paths and the Markdown text."""
    frame = inference.comparisons(results, metric)
    made = [pairs_table(frame, f"All pairs, final {METRICS[metric].name.lower()}")]
    write_csv(results.with_settings(frame), directory / "comparisons.csv")
    written = [directory / "comparisons.csv"]
    if inference.recorded(results, "cumulative"):
        found = inference.growth(results)
        write_csv(results.with_settings(found), directory / "growth.csv")
        written.append(directory / "growth.csv")
        made.append(growth_table(found, results))
    text = "".join(tables.section(t) for t in made if t.rows)
    (directory / "statistics.md").write_text(f"{tables.state_line(results)}## Statistics\n\n{text}", encoding="utf-8")
    return [*written, directory / "statistics.md"], text


def write_aggregate(results, metric, directory):
    """aggregate.csv and aggregate_pairs.csv; returns the paths."""
    written = []
    for name, frame in zip(("aggregate", "aggregate_pairs"), aggregate.made(results, metric)):
        write_csv(frame, directory / f"{name}.csv")
        written.append(directory / f"{name}.csv")
    return written
