"""Methods of Results that compute statistics and draw figures: the loader knows neither."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .load.errors import InputError, nearest
from .load.results import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def best_settings(results: Results, metric: str | None = None) -> pd.DataFrame:
    """The best setting of a sweep for every problem and method, and the settings that may be as good:
    `stats.best.best_settings`. `metric`: the first one of the figures if not given."""
    from .stats import best  # here, as below: Matplotlib and SciPy take half a second, and readers of data need neither
    metric = _metric(results, metric)
    return results.remember(("best_settings", metric), lambda: best.best_settings(results, metric)).copy()


def effects(results: Results, metric: str | None = None) -> pd.DataFrame:
    """The effect of each swept setting, paired over the others: `stats.best.effects`."""
    from .stats import best
    metric = _metric(results, metric)
    return results.remember(("effects", metric), lambda: best.effects(results, metric)).copy()


def compare(results: Results, a: str, b: str, metric: str | None = None) -> pd.DataFrame:
    """Whether one algorithm is better than another at the last query, by the comparison of reports and claims
    (docs/statistics.md): `stats.inference.compared`. A row per problem, and one over all problems: n pairs, the
    typical ratio (or difference) of a to b with a 95 % interval that holds at any number of trials, P(better) with
    its interval, the grade of "a is better than b" (shown, contradicted, equivalent, undecided) and a sentence.
    `metric`: the first one of the figures if not given."""
    from .stats import inference
    results.check_names(None, [a, b], {})
    if a == b:
        raise InputError(f"{results.path}: {a!r} is compared with itself")
    return inference.compared(results, _metric(results, metric), a, b)


def figure(results: Results, metric: str | None = None, band: str = "median") -> Figure:
    """Curves of regret, a panel for each problem, as a figure of Matplotlib that a notebook shows. `metric`: the
    first one of the figures if not given. `band`: median with its 95 % interval, or "se", "quantile", "bootstrap",
    as the option --band of `regatta_analysis`."""
    from .figures import figures, style
    if band not in figures.BANDS:
        raise InputError(f"{results.path}: no band {band!r}{nearest(band, figures.BANDS)} (there are: "
                         f"{', '.join(figures.BANDS)})")
    drawn = figures.regret_grid(results, results.problems, _metric(results, metric), band=figures.Band(band))
    style.mark(drawn, results.state)
    return drawn


def _metric(results, metric):
    from .stats import regret
    metric = metric or regret.default_metrics(results)[0]
    if metric not in regret.METRICS:
        raise InputError(f"{results.path}: no metric {metric!r}{nearest(metric, regret.METRICS)} (there are: "
                         f"{', '.join(regret.METRICS)})")
    return metric


for method in (best_settings, effects, compare, figure):
    setattr(Results, method.__name__, method)
