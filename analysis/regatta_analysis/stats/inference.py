"""Statistics of the trials of a study about its algorithms: paired tests, growth exponents, ranks over the problems,
profiles; as data frames."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..escape import number
from ..load.errors import InputError
from ..load.results import remembered
from . import comparison, evidence, extended
from .growth import fitted, growth_exponent
from .measures import comparing, last_values
from .regret import METRICS, before_queries, metric_on, regret_curves
from .statistics import unit_medians
from ..progress import progress

if TYPE_CHECKING:
    from ..load.results import Results


def recorded(results: Results, metric: str) -> bool:
    """Whether every problem of the results has the metric."""
    return all(METRICS[metric].column in results.group(p).evaluations() for p in results.problems)


@remembered
def final_values(results: Results, problem: str, metric: str) -> pd.DataFrame:
    """Table trial x algorithm of the metric at the last query, less is better."""
    return comparison.paired(last_values(results, problem, metric), results.algorithms)


PAIRS = ["problem", "a", "b", "n", "scale", "effect", "low", "high", "better", "better_low", "better_high", "verdict", "p",
         "p_holm", "needed", "mean_a", "mean_b", "stuck_a", "stuck_b"]
GRADES = {evidence.BETTER: "shown", evidence.WORSE: "contradicted", evidence.EQUIVALENT: "equivalent",
          evidence.OPEN: "undecided"}  # of "a is better than b"
COMPARED = ["problem", "a", "b", "n", "scale", "effect", "low", "high", "better", "better_low", "better_high", "grade",
            "sentence"]
TOGETHER = "all problems together"


@remembered
def pair_evidence(results: Results, problem: str, metric: str, a: str, b: str) -> evidence.Evidence:
    """The Evidence of the final values of two algorithms over their common trials: the comparison of all pages."""
    scale, margin = comparing(results, problem, metric)
    both = comparison.in_common(final_values(results, problem, metric), a, b)
    return evidence.compare_columns(both, scale, margin=margin)


@remembered
def comparisons(results: Results, metric: str, against: str | None = None) -> pd.DataFrame:
    """PAIRS of all pairs, or of one algorithm with the others, problem by problem (`pair_evidence`): n independent units,
    the typical effect with its confidence sequence, P(better) with its interval, the verdict, p valid at any stopping
    time and with Holm's correction over all rows, about how many units decide it, and means and shares of stuck
    trials of both. If neither of the two reads a swept setting, their tests in its panels are the same test and count
    once."""
    rows, tests, known = [], [], {}
    for problem in progress(results.problems, "comparisons"):
        table = final_values(results, problem, metric)
        if against is not None and against not in table:
            continue
        pairs = ([(against, other) for other in table if other != against] if against is not None
                 else list(itertools.combinations(table, 2)))
        cells = _cells(results.group(problem))
        for a, b in pairs:
            test = (results.group(problem).place, a, b, cells[a], cells[b])
            if test not in known:
                both = comparison.in_common(table, a, b)
                known[test] = len(known), _row(pair_evidence(results, problem, metric, a, b), both)
            tests.append(known[test][0])
            rows.append([problem, a, b, *known[test][1]])
    frame = pd.DataFrame(rows, columns=[c for c in PAIRS if c != "p_holm"])
    adjusted = comparison.holm([row[PAIRS.index("p") - 3] for _, row in known.values()])
    frame.insert(PAIRS.index("p_holm"), "p_holm", adjusted[tests] if tests else [])
    return frame


def _row(found, both):
    ends = (found.low, found.high, found.better, found.better_low, found.better_high) if len(found.units) else 5 * [np.nan]
    return [len(found.units), found.scale, found.typical, *ends, found.verdict, found.p, found.needed,
            *extended.mean_and_error(both.to_numpy(float))[1], found.stuck_a, found.stuck_b]


def compared(results: Results, metric: str, a: str, b: str) -> pd.DataFrame:
    """COMPARED of two algorithms: a row per problem that both have, and with several one over all of them together
    (`evidence.pooled`). Each row says at 5 % whether a is better than b."""
    found = {problem: pair_evidence(results, problem, metric, a, b) for problem in results.problems
             if {a, b} <= set(final_values(results, problem, metric))}
    if not any(len(e.units) for e in found.values()):
        raise InputError(f"{results.path}: no trial in which both {a!r} and {b!r} have a final value of {metric!r}")
    name = {p: metric_on(results, [p], metric).name.lower() for p in found}
    rows = [_compared(e, p, a, b, name[p]) for p, e in found.items()]
    some = {p: e for p, e in found.items() if len(e.units)}
    if len(some) > 1 and len({e.scale == "difference" for e in some.values()}) == 1:
        whole = evidence.pooled(list(some.values()), [results.group(p).base for p in some])
        rows.append(_compared(whole, TOGETHER, a, b, METRICS[metric].name.lower()))
    return pd.DataFrame(rows, columns=COMPARED)


def _compared(found, problem, a, b, name):
    n = min(map(len, found.contrasts))
    numbers = [found.typical, found.low, found.high, found.better, found.better_low, found.better_high] if n else 6 * [np.nan]
    return [problem, a, b, n, found.scale, *numbers, GRADES[found.verdict], _sentence(found, problem, a, b, name, n)]


def _sentence(found, problem, a, b, name, n):
    """A sentence on a comparison, no stronger than its evidence."""
    where = f"on {problem}" if problem != TOGETHER else "over all problems together"
    if not n:
        return f"Nothing is known of {a} and {b} {where}: they have no trial in common."
    said = {evidence.BETTER: f"{a} is better than {b}", evidence.WORSE: f"{a} is worse than {b}",
            evidence.EQUIVALENT: f"{a} and {b} make no difference in practice",
            evidence.OPEN: f"It is undecided whether {a} is better than {b}"}[found.verdict]
    interval = f"[{number(found.low, '.3g')}, {number(found.high, '.3g')}]"
    effect = (f"its {name} is typically {number(found.typical, '.3g')} {interval} times that of {b}"
              if found.scale != "difference" else
              f"their {name} typically differs by {number(found.typical, '.3g')} {interval}, below 0 if {a} is better")
    return (f"{said} {where}: {effect}; P(better) = {found.better:.2f} [{found.better_low:.2f}, {found.better_high:.2f}], "
            f"from {n} pairs{' of each problem' if problem == TOGETHER else ''}.")


def _cells(group):
    """{algorithm: its cells} of a problem: the same trials in several panels are the same cells."""
    pairs = pd.DataFrame({name: group.column(name) for name in ("algorithm", "cell")}).drop_duplicates()
    return pairs.groupby("algorithm")["cell"].agg(frozenset).to_dict()


@remembered
def growth(results: Results) -> pd.DataFrame:
    """Growth exponent of mean cumulative regret of every cell with at least 8 queries, with its 95% bootstrap
    interval. Trials that share an instance are drawn together."""
    rows = []
    for problem in progress(results.problems, "growth exponents"):
        done = results.group(problem).done
        ends = done.each(lambda block: _known_until(regret_curves(results, problem, "cumulative", block).to_numpy()))
        t = np.arange(1, ends.max(initial=0) + 1)
        cells = done.subset(ends == len(t)).cells  # no curve where a regret is undefined or a trial ended early
        for algorithm in (a for a in done.cells if a in cells and len(t) >= 8):
            before = before_queries(results, problem, algorithm, "cumulative")
            at = t[fitted(t, before=before)]
            frame = regret_curves(results, problem, "cumulative", cells[algorithm], at).dropna()  # of an archive
            if not len(frame):
                continue
            instances = frame.index.get_level_values("instance") if extended.shares_instances(frame) else None
            rows.append([problem, algorithm, len(frame), *growth_exponent(frame.to_numpy(), at, instances, before)])
    return pd.DataFrame(rows, columns=["problem", "algorithm", "n", "exponent", "low", "high"])


def _known_until(values):
    """The last query at which each trial has a value; 0 without one."""
    known = ~np.isnan(values)
    return np.where(known.any(axis=1), values.shape[1] - 1 - known[:, ::-1].argmax(axis=1), 0)


RANKED = ["algorithm", "problems", "rank", "low", "high", "first"]
DRAWS, ELEMENTS = 1000, 1 << 22  # resamples; fewer where they would draw more values than this


@remembered
def ranks(results: Results, metric: str) -> pd.DataFrame:
    """RANKED of every method that has trials on all compared problems, the best first. rank: its mean rank by the medians
    of the last values, 1 is best, over the problems; low, high: the 95% percentile interval of the bootstrap, which draws
    the instances of a problem again where trials share them, else its trials; first: the share of the resamples in which
    no other method has a smaller mean rank."""
    tables = [final_values(results, problem, metric) for problem in results.problems]
    tables = [table.dropna(axis=1, how="all") for table in tables]
    methods = [a for a in results.algorithms if tables and all(a in table for table in tables)]
    units = [unit_medians(table[methods].dropna()) for table in tables if len(methods) > 1]
    units = [values for values in units if len(values) > 1]
    if not units:
        return pd.DataFrame(columns=RANKED)
    draws = int(np.clip(ELEMENTS // max(values.size for values in units), 100, DRAWS))
    random = np.random.default_rng(0)
    drawn = np.mean([_ranks_of(values, random.integers(len(values), size=(draws, len(values)))) for values in units], axis=0)
    own = np.mean([_ranks_of(values, np.arange(len(values))[None]) for values in units], axis=0)[0]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest")
    first = (drawn == drawn.min(axis=1, keepdims=True)).mean(axis=0)
    frame = pd.DataFrame({"algorithm": methods, "problems": len(units), "rank": own, "low": low, "high": high, "first": first})
    return frame.sort_values("rank", kind="stable", ignore_index=True)


def _ranks_of(values, draws):
    """(resamples, methods): ranks of the medians of values (units, methods) in each row of `draws`; equal ones share the
    mean of their ranks."""
    middle = extended.quantiles(np.moveaxis(values[draws], 1, 0), [0.5])[0]
    below = (middle[:, None, :] < middle[:, :, None]).sum(axis=2)
    return below + 0.5 * ((middle[:, None, :] == middle[:, :, None]).sum(axis=2) + 1.0)
