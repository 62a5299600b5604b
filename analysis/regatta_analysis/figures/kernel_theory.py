"""Theory of kernel regression (arXiv:2502.06178) over what was measured: fill distance rates, Theorem
4.10 on a finite set, Theorem 4.13 on an interval. The last two are about the damped cosine, whose values
they need; its runs record weight, width and bandwidth of every query."""
from collections import deque
from math import gamma, pi

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from . import style
from .illustrations import damped_cosine
from ..stats.regret import curves, regret_curves

VARSIGMA, DELTA, LEVELS = 0.1, 0.1, 20
GAUSSIAN_RADIUS = np.sqrt(2.0 * np.log(1e3))  # where the Gaussian kernel has fallen to 1e-3
GRID = damped_cosine(np.linspace(0.0, 1.0, 20001))


# ---- formulas ----------------------------------------------------------------------------------


def covering_bound(n, dim):
    """Least fill distance of any n points of the unit cube: balls of that radius must cover it."""
    return (np.asarray(n, float) * pi ** (dim / 2) / gamma(dim / 2 + 1)) ** (-1.0 / dim)


def modulus(values, spacing, reach):
    """sup |f(x) - f(x')| over |x - x'| <= reach, from values on a grid of that spacing."""
    window, largest = int(np.floor(reach / spacing)), 0.0
    for sign in (1.0, -1.0):
        queue = deque()  # candidates for the least of the window, increasing
        for i, value in enumerate(sign * np.asarray(values)):
            while queue and queue[-1][1] >= value:
                queue.pop()
            queue.append((i, value))
            if queue[0][0] < i - window:
                queue.popleft()
            largest = max(largest, value - queue[0][1])
    return largest


def finite_bounds(gaps, t, varsigma=VARSIGMA):
    """Theorem 4.10 in expectation: (2 sqrt(C1' n t log t) + C2' n max gap, the form in the gaps)."""
    first, second = 64.0 * varsigma**2, 1.0 + 2.0 * pi**2 / 3.0
    root = 2.0 * np.sqrt(first * len(gaps) * t * np.log(t)) + second * len(gaps) * max(gaps)
    positive = gaps[gaps > 0]
    return root, np.log(t) * np.sum(first / positive) + np.sum(second * positive)


def interval_bound(log_weight, beta, omega, largest=np.inf):
    """Theorem 4.13 of each run, query by query: the running sum of 2 sqrt(beta/W) + 2 omega, each term
    at most the `largest` regret there is."""
    terms = 2.0 * np.sqrt(beta) * np.exp(-0.5 * log_weight) + 2.0 * omega
    return np.cumsum(np.minimum(terms, largest), axis=1)


# ---- figures -----------------------------------------------------------------------------------


def draw_fill(axis, dim, queries):
    """Over curves of the fill distance: covering bound, and slope -1/d through the middle of the
    curves at 20 points. `axis` has its curves; query t has t + 1 points."""
    t = np.arange(1, queries + 1)
    lines = [line.get_ydata() for line in axis.get_lines() if len(line.get_ydata()) > 20]
    axis.plot(t, covering_bound(t + 1, dim), color="0.4", lw=0.8, ls=(0, (1, 1)), zorder=1)
    if lines:
        middle = np.exp(np.mean([np.log(line[19]) for line in lines]))
        axis.plot(t, middle * ((t + 1) / 20.0) ** (-1.0 / dim), color="0.4", lw=0.8,
                  ls=(0, (5, 1.5)), zorder=1)


def fill_handles():
    """Legend of `draw_fill`."""
    return ([Line2D([], [], color="0.4", lw=0.8, ls=ls) for ls in ((0, (5, 1.5)), (0, (1, 1)))],
            ["slope −1/d", "covering bound"])


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
    handles = [Line2D([], [], **look) for look in shown.values()]
    labels = list(shown)
    if finite:
        arms = damped_cosine(np.linspace(0.0, 1.0, LEVELS))
        for curve, ls, label in zip(finite_bounds(arms.max() - arms, t), ((0, (5, 1.5)), (0, (1, 1))),
                                    ("Theorem 4.10, expected", "its form in the gaps")):
            axis.plot(t, curve, color="0.3", lw=0.9, ls=ls)
            handles.append(Line2D([], [], color="0.3", lw=0.9, ls=ls))
            labels.append(label)
    else:
        handles.append(Line2D([], [], color="0.3", lw=0.9, ls=(0, (5, 1.5))))
        labels.append("Theorem 4.13, mean over runs")
    axis.set_yscale("log")
    panel.dress(problem, "Cumulative regret $R_t$", None)
    axis.set_xscale("log")
    axis.set_xlim(1, 1.05 * t[-1])
    axis.xaxis.set_major_locator(LogLocator(numticks=6))
    style.place_legend(figure, handles, labels, [])
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
    radius = GAUSSIAN_RADIUS if "Gaussian" in name else 1.0
    spacing = 1.0 / (len(GRID) - 1)
    omega = np.array([modulus(GRID[::20], 20 * spacing, radius * h) for h in cells["bandwidth"][0]])
    return interval_bound(cells["log_weight"], cells["confidence"], omega,
                          np.ptp(GRID)).mean(axis=0)
