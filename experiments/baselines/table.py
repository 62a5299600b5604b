#!/usr/bin/env python3
"""The tables of README.md and docs/performance.md: how methods end on many problems, against the first of them.

    PYTHONPATH=analysis experiments/baselines/table.py RESULTS.h5 [MORE.h5] [--figure PROFILES.png]

For each problem and method: the median of the final simple regret, the worst decile, and the share of equal seeds in
which the method ends below the first one (ties half) with Wilson's 95 % interval. Then over all problems: that share
with a 95 % bootstrap interval that draws seeds within problems, and CPU seconds of a trial. The figure has the share of
targets that were reached with t evaluations: 10^-0.25, 10^-0.5, ... 10^-6 of the median regret after the initial design,
on every problem; bands are 95 % bootstrap intervals."""
import argparse
import sys

import numpy as np
from regatta_analysis import load
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats.comparison import superiority

INTERVALS = ("Shares on a problem have Wilson's 95 % interval, those over all problems a bootstrap interval: each for itself, and "
             "for a number of trials that was fixed beforehand. Verdicts are in the report of the study.")
DRAWS = 2000
TARGETS = 10.0 ** (-0.25 * np.arange(1, 25))


def tables(paths):
    """{problem: {method: simple regret, a row per seed and a column per evaluation}}, {method: CPU seconds}; trials in
    the order of their seeds."""
    regrets, seconds = {}, {}
    for path in paths:
        data = load(path).data
        data = data[data["status"] == "complete"].sort_values(["seed", "t"])
        data = data.assign(cpu=data[["cpu_fit", "cpu_acquire"]].sum(axis=1))
        for (problem, method), cell in data.groupby(["problem", "algorithm"], observed=True, sort=False):
            wide = cell.pivot(index="seed", columns="t", values="simple_regret")
            regrets.setdefault(str(problem), {})[str(method)] = wide
            seconds.setdefault(str(method), {})[str(problem)] = cell.groupby("seed")["cpu"].sum().mean()
    return regrets, seconds


def differences(mine, first):
    """Final regret of `mine` less that of `first`, on each seed that both have."""
    seeds = mine.index.intersection(first.index)
    return (mine.loc[seeds].iloc[:, -1] - first.loc[seeds].iloc[:, -1]).to_numpy(float)


def wins(mine, first):
    """1 for each seed that both have on which `mine` ends below `first`, 1/2 for a tie."""
    return 0.5 - 0.5 * np.sign(differences(mine, first))


def interval(groups, random):
    """A 95 % interval of the mean over groups of their means, rows drawn within groups. Groups: rows x anything."""
    draws = np.mean([group[random.integers(0, len(group), (DRAWS, len(group)))].mean(axis=1) for group in groups], axis=0)
    return np.quantile(draws, [0.025, 0.975], axis=0)


def cell(mine, first):
    end = mine.iloc[:, -1].to_numpy()
    text = f"{np.median(end):.2g} ({np.quantile(end, 0.9):.2g})"
    if mine is first:
        return text
    share, low, high = superiority(differences(mine, first))
    return f"{text}; {share:.2f} [{low:.2f}, {high:.2f}]"


def print_tables(regrets, seconds):
    methods = list(seconds)
    print("| problem | " + " | ".join(methods) + " |\n" + "|---" * (len(methods) + 1) + "|")
    for problem, cells in regrets.items():
        first = cells[methods[0]]
        print(f"| {problem} | " + " | ".join(cell(cells[m], first) if m in cells else "" for m in methods) + " |")
    print("\n| method | problems | P(better than the first) | better or equal median | CPU s of a trial, over the first |")
    print("|---|---|---|---|---|")
    for method in methods:
        common = [p for p in regrets if {method, methods[0]} <= set(regrets[p])]
        groups = [wins(regrets[p][method], regrets[p][methods[0]]) for p in common]
        share = np.mean([g.mean() for g in groups])
        low, high = interval(groups, np.random.default_rng(0))
        medians = [[np.median(regrets[p][m].iloc[:, -1]) for m in (method, methods[0])] for p in common]
        cost = sum(seconds[method][p] for p in common) / sum(seconds[methods[0]][p] for p in common)
        print(f"| {method} | {len(common)} | {share:.2f} [{low:.2f}, {high:.2f}] | "
              f"{sum(a <= b for a, b in medians)} of {len(common)} | {cost:.2f} |")
    print(f"\n{INTERVALS}")


def reached(wide, scale, end):
    """The share of targets reached, seeds x evaluations 1 .. end."""
    regret = wide.to_numpy()[:, :end]
    regret = np.pad(regret, ((0, 0), (0, max(end - regret.shape[1], 0))), mode="edge")
    return (regret[:, :, None] <= scale * TARGETS).mean(axis=2)


def draw(regrets, methods, path):
    from regatta_analysis.figures import style
    with style.context():
        _curves(regrets, methods, path, style)


def _curves(regrets, methods, path, style):
    from matplotlib.figure import Figure

    end = max(wide.shape[1] for cells in regrets.values() for wide in cells.values())
    figure = Figure(figsize=(style.PAGE_WIDTH * 0.7, 3.2))
    axes, styles = figure.subplots(), style.algorithm_styles(methods)
    for method in methods:
        groups = []
        for cells in regrets.values():
            initial = int((next(iter(cells.values())).columns <= 0).sum())
            scale = np.median(np.concatenate([wide.iloc[:, initial - 1] for wide in cells.values()]))
            if method in cells:
                groups.append(reached(cells[method], scale, end))
        low, high = interval(groups, np.random.default_rng(0))
        look = {**styles[method], "marker": "", "label": method}
        (line,) = axes.plot(np.arange(1, end + 1), np.mean([g.mean(axis=0) for g in groups], axis=0), **look)
        axes.fill_between(np.arange(1, end + 1), low, high, color=line.get_color(), alpha=0.15, lw=0)
    axes.set(xlabel="evaluations", ylabel="share of targets reached", xlim=(1, end), ylim=(0, None))
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=style.SCREEN_DPI, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--figure")
    words = parser.parse_args()
    regrets, seconds = tables(words.results)
    print_tables(regrets, seconds)
    if words.figure:
        draw(regrets, list(seconds), words.figure)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"table.py: {error}")
