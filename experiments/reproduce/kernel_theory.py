"""Theory of kernel regression (arXiv:2502.06178) over measurements: fill distance rates, Theorem 4.10 on a finite set,
Theorem 4.13 on an interval. The last two need the values of the damped cosine. The runs record weight, width and
bandwidth of every query."""
import numpy as np
from matplotlib.ticker import LogLocator

from regatta_analysis.figures import style
from regatta_analysis.load.program import formula
from regatta_analysis.stats import extended
from regatta_analysis.stats.regret import curves, regret_curves

from .illustrations import damped_cosine

LEVELS = 20  # points of the finite set
GRID = damped_cosine(np.linspace(0.0, 1.0, 20001))


# ---- figures -----------------------------------------------------------------------------------


def draw_fill(axis, dim, queries):
    """Over curves of the fill distance: covering bound, and slope -1/d through the middle of the
    curves at 20 points. `axis` has its curves; query t has t + 1 points."""
    t = np.arange(1, queries + 1)
    lines = [line.get_ydata() for line in axis.get_lines() if len(line.get_ydata()) > 20]
    covering = formula("covering", {"n": t + 1}, dim=dim)["covering"]
    axis.plot(t, covering, color="0.4", lw=0.8, ls=(0, (1, 1)), zorder=1)
    if lines:
        middle = np.exp(np.mean([np.log(line[19]) for line in lines]))
        rate = formula("covering", {"n": [20, *(t + 1)]}, dim=dim)["rate"].to_numpy()
        axis.plot(t, middle * rate[1:] / rate[0], color="0.4", lw=0.8,
                  ls=(0, (5, 1.5)), zorder=1)


def fill_entries():
    """Legend of `draw_fill`."""
    return [("slope −1/d", {"color": "0.4", "lw": 0.8, "ls": (0, (5, 1.5))}),
            ("covering bound", {"color": "0.4", "lw": 0.8, "ls": (0, (1, 1))})]


def bounds_figure(results, problem, panels):
    """Cumulative regret of the methods of kernel regression below their bounds."""
    finite = _is_finite(results, problem)
    frame = regret_curves(results, problem, "cumulative")
    figure, axes = panels([[{"study": "", "problem": problem}]])
    (panel, (axis, _)), = axes
    styles, shown = style.algorithm_styles(results.algorithms), {}
    for name, cell in frame.groupby(level="algorithm", sort=False):
        t, mean = cell.columns.to_numpy(float) + 1.0, cell.mean().to_numpy()
        axis.plot(t, mean, markevery=0.2, **styles[name])
        shown[name] = styles[name]
        if not finite:
            bound = _interval_of(results, problem, name)
            if bound is not None:
                axis.plot(t[1:], mean[0] + bound, color=styles[name]["color"], lw=0.9,
                          ls=(0, (5, 1.5)))
    entries = list(shown.items())
    if finite:
        arms = damped_cosine(np.linspace(0.0, 1.0, LEVELS))
        bounds = formula("regression_finite", {"t": t}, gaps=arms.max() - arms)
        for column, ls, label in (("root", (0, (5, 1.5)), "Theorem 4.10, expected"),
                                  ("gaps", (0, (1, 1)), "its form in the gaps")):
            axis.plot(t, bounds[column], color="0.3", lw=0.9, ls=ls)
            entries.append((label, {"color": "0.3", "lw": 0.9, "ls": ls}))
    else:
        entries.append(("Theorem 4.13, mean over runs", {"color": "0.3", "lw": 0.9, "ls": (0, (5, 1.5))}))
    axis.set_yscale("log")
    panel.dress(problem, "Cumulative regret $R_t$", None)
    axis.set_xscale("log")
    axis.set_xlim(1, 1.05 * t[-1])
    axis.xaxis.set_major_locator(LogLocator(numticks=6))
    counts = frame.notna().any(axis=1).groupby(level="algorithm").sum()
    style.place_legend(figure, entries, [f"means over {extended.spread(counts)} trials"])
    return figure


def _is_finite(results, problem):
    x = results.group(problem).values("x").ravel()
    return len(np.unique(x[np.isfinite(x)])) <= LEVELS


def _interval_of(results, problem, name):
    """Mean over runs of the bound of Theorem 4.13; None for a method without weights."""
    cells = {}
    for column in ("log_weight", "confidence", "bandwidth"):
        frame = curves(results, problem, column)
        cells[column] = frame.xs(name, level="algorithm").to_numpy()[:, 1:]
    if np.isnan(cells["bandwidth"]).all():
        return None
    shape = cells["log_weight"].shape
    columns = {"run": np.repeat(np.arange(shape[0]), shape[1])}
    columns |= {column: cells[column].ravel() for column in ("log_weight", "confidence")}
    columns["bandwidth"] = np.tile(cells["bandwidth"][0], shape[0])
    found = formula("regression_interval", columns, values=GRID[::20], largest=np.ptp(GRID),
                    gaussian=str("Gaussian" in name).lower())
    return found["bound"].to_numpy().reshape(shape).mean(axis=0)
