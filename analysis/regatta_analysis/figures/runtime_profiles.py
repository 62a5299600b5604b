"""Figures of runtimes on the noiseless BBOB functions: profiles by group of functions for each
dimension, and expected runtimes over the dimension."""
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..stats import extended, runtime
from . import style

MARKS = 8  # markers along a curve


def figures_of(results):
    """[(title, stem, figure)] of a study with BBOB problems; [] without."""
    problems = runtime.bbob_problems(results)
    if not problems:
        return []
    table = runtime.runs(results, problems)
    if not len(table):
        return []
    simulated = runtime.simulated_runtimes(table)
    styles = style.algorithm_styles(results.algorithms)
    made = [(f"Runtime profiles, dimension {dim}", f"runtime_profiles_{dim}d",
             profile_figure(table, simulated, styles, dim)) for dim in sorted(set(table["dim"]))]
    if table["dim"].nunique() > 1:
        made.append(("Expected runtime over the dimension", "runtime_ert",
                     ert_figure(table, styles)))
    return made


def profile_figure(table, simulated, styles, dim):
    """One panel per group of functions of the study, and one for all."""
    here = table[table["dim"] == dim]
    functions = set(here["function"])
    groups = {name: sorted(functions & set(members)) for name, members in runtime.GROUPS.items()}
    groups = {name: members for name, members in groups.items() if members}
    if len(groups) == 2:  # the study has one group only
        groups.pop("all functions")
    end = _end(simulated, here, dim)
    with style.context():
        figure, panels = style.panels([f"{name}: {_functions(members)}"
                                       for name, members in groups.items()])
        for (title, panel), members in zip(panels, groups.values()):
            for algorithm in dict.fromkeys(here["algorithm"]):
                _profile(panel.axes, table, simulated, styles[algorithm], algorithm, dim, members,
                         end)
            _dress(panel, title, end)
        names = list(dict.fromkeys(here["algorithm"]))
        runs = here.groupby(["algorithm", "function"]).size()
        style.place_legend(
            figure, [(a, styles[a]) for a in names],
            [f"BBOB in {dim} dimensions, {extended.spread(runs)} runs per function, 51 targets "
             "$10^2\\ldots10^{-8}$", "cross: evaluations really made; beyond it simulated restarts"])
    return figure


def _profile(axes, table, simulated, line, algorithm, dim, members, end):
    found = runtime.distribution(simulated, algorithm, dim, members)
    if found is None:
        return
    x, share = (np.concatenate([[first], values, [last]]) for values, first, last in
                zip(found, (1.0 / dim, 0.0), (end, found[1][-1] if len(found[1]) else 0.0)))
    marks = np.searchsorted(x, np.geomspace(1.0 / dim, end, MARKS + 2)[1:-1], side="right") - 1
    axes.plot(x, share, drawstyle="steps-post", markevery=sorted(set(marks)), **line)
    budget = runtime.budget(table, algorithm, dim, members)
    if np.isfinite(budget):
        height = share[np.searchsorted(x, budget, side="right") - 1]
        axes.plot([budget], [height], marker="x", color=line["color"], markersize=6.5,
                  markeredgewidth=1.4, zorder=5)


def _end(simulated, here, dim):
    """Right end of the axis: a power of ten that holds all runs and most simulated restarts."""
    finite = [block[np.isfinite(block)] for key, block in simulated.items() if key[1] == dim]
    largest = max((np.quantile(block, 0.99) for block in finite if len(block)), default=1.0)
    return 10.0 ** np.ceil(np.log10(max(largest, here["length"].max() / dim) * 1.01))


def _dress(panel, title, end):
    axes = panel.axes
    axes.set_xscale("log")
    axes.set_xlim(right=end)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_formatter(NullFormatter())
    panel.frame(title, "Function-target pairs solved", "Evaluations / dimension")


def ert_figure(table, styles):
    """ERT / dimension over the dimension, one panel per function, to the hardest table target that
    some algorithm reached on at least half of the functions."""
    erts = runtime.ert_table(table)
    target = hardest(erts)
    functions = sorted(set(erts["function"]))
    names = list(dict.fromkeys(table["algorithm"]))
    with style.context():
        figure, panels = style.panels([f"f{f}" for f in functions])
        for (title, panel), function in zip(panels, functions):
            axes, here = panel.axes, erts[erts["function"] == function]
            for algorithm in names:
                mine = here[here["algorithm"] == algorithm].sort_values("dim")
                values = mine[target].replace(np.inf, np.nan) / mine["dim"]
                axes.plot(mine["dim"], values, **styles[algorithm])
            _dress_ert(panel, title, sorted(set(erts["dim"])), _decades(erts[target] / erts["dim"]))
        style.place_legend(figure, [(a, styles[a]) for a in names],
                           [f"expected runtime to within {target} of the optimum; no point: no run "
                            "reached it"])
    return figure


def hardest(erts):
    """Name of the hardest target column that is finite for some algorithm on half of the functions."""
    targets = [f"{t:g}" for t in runtime.TABLE_TARGETS]
    for target in reversed(targets):
        reached = erts.groupby("function")[target].min()
        if np.isfinite(reached).mean() >= 0.5:
            return target
    return targets[0]


def _decades(values):
    """Powers of ten around all finite values, the same for all panels."""
    finite = np.log10(values[np.isfinite(values)])
    if not len(finite):
        return 1.0, 10.0
    low, high = np.floor(finite.min() - 0.05), np.ceil(finite.max() + 0.05)
    return 10.0**low, 10.0**high


def _dress_ert(panel, title, dims, limits):
    axes = panel.axes
    axes.set_xscale("log")
    axes.set_xticks(dims)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale("log")
    axes.set_ylim(limits)
    axes.yaxis.set_major_locator(LogLocator(numticks=5))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(dims[0] / 1.15, dims[-1] * 1.15)
    panel.frame(title, "ERT / dimension", "Dimension")


def _functions(members):
    """f1-f5, or f1, f8 where they do not follow one another."""
    if len(members) > 1 and members == list(range(members[0], members[-1] + 1)):
        return f"f{members[0]}\u2013f{members[-1]}"
    return ", ".join(f"f{f}" for f in members)
