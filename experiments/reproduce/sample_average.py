"""Proposition 1 of arXiv:2312.10423 as a measurement: the share of trials whose first query is far from the maximiser
of the expectation, by the number M of samples that the average has. A study has a method "Expectation" and methods
"M = 16" and so on; at each seed all have the same data."""
import re

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, NullFormatter

from regatta_analysis.figures import style

EXPECTATION = "Expectation"
FEW = 10  # A share of this number of trials or fewer says little.
DISTANCES = (0.005, 0.01, 0.02)


def size_of(name):
    """The M of a method "M = 16"; None for other names."""
    found = re.fullmatch(r"M = (\d+)", name)
    return int(found[1]) if found else None


def distances(results, problem, expectation=EXPECTATION):
    """|x - x*| of the first queries: a row per trial (instance, seed), a column per M. x* is the query of the method
    with the exact expectation."""
    group = results.group(problem)
    first = group.column("n_initial").astype(int)
    frame = pd.DataFrame({name: group.column(name) for name in ("algorithm", "instance", "seed")})
    frame["x"] = list(group.values("x")[np.arange(group.n), first])
    queries = frame[group.column("status") == "complete"].set_index(["instance", "seed", "algorithm"])["x"].unstack()
    there = queries.dropna()
    sizes = {size_of(name): name for name in there if size_of(name)}
    best = np.stack(there[expectation].to_numpy())
    return pd.DataFrame({m: np.linalg.norm(np.stack(there[sizes[m]].to_numpy()) - best, axis=1) for m in sorted(sizes)},
                        index=there.index)


def shares(found, far=DISTANCES):
    """The share of trials that are farther than each distance: a row per M, a column per distance."""
    return pd.DataFrame({d: (found > d).mean() for d in far})


def rate(share, least=0.0):
    """(eta, Q) of the least-squares line log share = log Q - eta M through the shares above `least`."""
    inside = share[share > least]
    slope, log_q = np.polyfit(inside.index.to_numpy(float), np.log(inside.to_numpy()), 1)
    return -slope, np.exp(log_q)


def figure_of(results, problem, panels):
    """Shares against M, straight where they fall exponentially, with the line through each."""
    found = distances(results, problem)
    table = shares(found)
    figure, axes = panels([[{"study": "", "problem": problem}]])
    (panel, _), = axes
    looks = style.algorithm_styles([f"farther than {d:g}" for d in table])
    for d, look in zip(table, looks.values()):
        panel.axes.plot(table.index, table[d].where(table[d] > 0), **look)
        if (table[d] > FEW / len(found)).sum() > 1:
            eta, q = rate(table[d], FEW / len(found))
            panel.axes.plot(table.index, q * np.exp(-eta * table.index), color=look["color"], lw=0.8, ls=(0, (1, 1)))
    panel.axes.set_yscale("log")
    panel.dress(problem, "Share of trials", None)
    panel.axes.set_ylim(0.5 / len(found), 1.5)
    panel.axes.set_xlabel("samples M")
    panel.axes.xaxis.set_major_locator(FixedLocator(table.index[-4:].tolist()))
    panel.axes.xaxis.set_minor_formatter(NullFormatter())
    style.place_legend(figure, [*looks.items(), ("exponential", {"color": "0.4", "lw": 0.8, "ls": (0, (1, 1))})],
                       [f"distance of the query from that of the expectation; {len(found)} trials"])
    return figure
