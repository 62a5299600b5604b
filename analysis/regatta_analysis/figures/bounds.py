"""Regret bounds and information gain by theory (the CSV file of `regatta bounds`) over measurements."""
import numpy as np
import pandas as pd

from . import style
from ..escape import uncell
from ..load.errors import InputError
from ..load.program import formula
from ..stats.regret import curves, regret_curves
from ..stats import extended
from ..load.settings import aimed_score, panel_label, panels, swept_outside
from ..stats.summaries import over_cells

COLUMNS = ["problem", "algorithm", "swept", "quantity", "t", "value", "kind", "remark"]
NAMES = {
    "theorem_4_1": "Theorem 4.1", "theorem_4_2": "Theorem 4.2", "theorem_4_3": "Theorem 4.3",
    "theorem_4_4": "Theorem 4.4", "theorem_4_5": "Theorem 4.5",
    "proposition_4_1": "Proposition 4.1", "gp_ucb_expected": "GP-UCB, expected",
    "rgp_ucb_expected": "RGP-UCB, expected",
    "rrgp_corollary_4_1": "RRGP-UCB, Corollary 4.1",
    "rrgp_theorem_4_4": "RRGP-UCB, Theorem 4.4",
    "rrgp_corollary_a": "RRGP-UCB, Corollaries A.1 to A.3",
    "rrgp_theorem_b": "RRGP-UCB, Theorems B.5 to B.8",
    "sbo_kde_theorem_1": "SBO-KDE, Theorem 1", "drbo_kde_theorem_2": "DRBO-KDE, Theorem 2",
    "sampled_width_expected": "TS and PIMS, expected", "sampled_improvement_expected": "EIMS, expected (our bound)",
    "wdrbo_theorem_5": "WDRBO, Theorem 5", "wdrbo_theorem_9": "WDRBO, Theorem 9",
}
REALISED = {"bound_width": "RRGP-UCB, realised widths of the measure",
            "deviation": "RRGP-UCB, realised deviations of f"}
WIDTHS = ("bound_width", "confidence", "largest_sd")
GAINS = {"gamma_upper": ("maximum information gain, upper bound", (0, (5, 1.5))),
         "gamma_greedy": ("maximum information gain, greedy lower bound", (0, (1, 1)))}
DASHES = [(0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (9, 3)),
          (0, (2, 2))]


def read(path):
    """The table. Its problems get the labels that `load` gives them, and the column `base` has those of the study
    file."""
    try:
        table = pd.read_csv(path, keep_default_na=False,
                            dtype={**dict.fromkeys(COLUMNS, str), "t": int, "value": float})
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from error
    for name in {"problem", "algorithm", "swept"} & set(table):
        table[name] = table[name].map(uncell)
    if list(table.columns) != COLUMNS:
        raise InputError(f"{path}: no table of `regatta bounds`, whose columns are "
                         f"{', '.join(COLUMNS)}")
    cells = table[["problem", "algorithm", "swept"]].drop_duplicates()
    labels = {}
    for problem, mine in cells.groupby("problem", sort=False):
        found, places = panels([swept_outside(a, s) for a, s in zip(mine["algorithm"], mine["swept"])])
        for algorithm, swept, own in zip(mine["algorithm"], mine["swept"], places):
            score = aimed_score(swept)
            labels[problem, algorithm, swept] = [panel_label(problem, found[k]) + (f" {score}" if score else "") for k in own]
    table["base"] = table["problem"]
    table["problem"] = [labels[cell] for cell in zip(table["problem"], table["algorithm"], table["swept"])]
    return table.explode("problem", ignore_index=True)


def problems(results, table, quantities=NAMES):
    """Problems of the results that are in the table, in the order of the study."""
    known = table["quantity"].isin(list(quantities))
    if quantities is GAINS:  # gains of the model in the run, not of a model with nominal constants
        known &= table["kind"] != "nominal"
    known = set(table.loc[known, "problem"])
    return [p for p in results.problems if p in known]


def since_design(results, problem, of=None):
    """Cumulative regret of the queries (of the trials `of`). Studies that count regret from the first evaluation on include the initial
    design, to which the bounds do not apply."""
    frame = regret_curves(results, problem, "cumulative", of)
    return frame.sub(frame[0].fillna(0.0), axis=0) if 0 in frame else frame


def regret_figure(results, table):
    """Cumulative regret, mean and standard error, below the bounds that hold for each method."""
    shown, looks = problems(results, table), {}
    with style.context():
        figure, panels = style.panels(shown)
        styles, methods, notes, counts = style.algorithm_styles(results.algorithms), {}, set(), []
        for problem, panel in panels:
            rows = table[table["problem"] == problem]
            summary = over_cells(results, problem, lambda cell: since_design(results, problem, cell))
            summary = summary[summary["t"] > 0]
            counts += summary["n"].tolist()
            for algorithm, cell in summary.groupby("algorithm", sort=False):
                methods[algorithm] = styles[algorithm]
                panel.axes.plot(cell["t"], cell["mean"], zorder=3, markevery=0.2,
                                **styles[algorithm])
                mine = rows[(rows["algorithm"] == algorithm) & rows["quantity"].isin(list(NAMES))]
                for quantity, curve in mine.groupby("quantity", sort=False):
                    looks.setdefault(quantity, DASHES[len(looks) % len(DASHES)])
                    panel.axes.plot(curve["t"], curve["value"], lw=0.9, ls=looks[quantity],
                                    color=styles[algorithm]["color"], zorder=2)
                for quantity, curve in realised(results, problem, algorithm, rows).items():
                    looks.setdefault(quantity, DASHES[len(looks) % len(DASHES)])
                    panel.axes.plot(curve.index, curve, lw=1.2, ls=looks[quantity],
                                    color=styles[algorithm]["color"], zorder=2)
            dress(panel, problem, "Cumulative regret $R_t$")
            notes |= _vacuous(results, problem, rows)
        entries = [*methods.items(), *((_bound_label(table, quantity), {"color": "0.3", "lw": 0.9, "ls": dash})
                                       for quantity, dash in looks.items())]
        style.place_legend(figure, entries, [
            f"markers: measured mean over {extended.spread(counts)} trials; others: its bounds", *sorted(notes)])
        return figure


def realised(results, problem, algorithm, rows):
    """The bounds of the expected cumulative regret in the proofs of RRGP-UCB's theorems, before they use gamma_t
    (`robust_realised` of the program), as means over the runs. {quantity: series over t}; empty for rules outside the
    theorems."""
    slope = rows.loc[(rows["algorithm"] == algorithm) & (rows["quantity"] == "measure_slope"), "value"]
    cell = results.group(problem).done.cells.get(algorithm)
    if slope.empty or cell is None or not {"bound_width", "confidence"} <= set(cell.evaluations()):
        return {}
    frames = {column: curves(results, problem, column, of=cell).iloc[:, 1:] for column in WIDTHS
              if column in cell.evaluations()}
    shape = runs, times = frames["bound_width"].shape
    columns = {"run": np.repeat(np.arange(runs), times)}
    columns |= {column: frames[column].to_numpy().ravel() if column in frames
                else np.full(runs * times, np.nan) for column in WIDTHS}
    sums = formula("robust_realised", columns, slope=slope.iloc[0])
    found = {quantity: pd.DataFrame(sums[quantity].to_numpy().reshape(shape),
                                    columns=frames["bound_width"].columns).mean()
             for quantity in REALISED}
    return {quantity: curve for quantity, curve in found.items() if curve.notna().any()}


def _bound_label(table, quantity):
    """A note on a bound whose constants or assumptions are not available."""
    if quantity in REALISED:
        return REALISED[quantity]
    kinds = set(table.loc[table["quantity"] == quantity, "kind"])
    return NAMES[quantity] + (" (nominal)" if kinds == {"nominal"} else "")


def gain_figure(results, table):
    """Realised information gain, mean over trials, between greedy and upper bound of its maximum."""
    shown = problems(results, table, GAINS)
    with style.context():
        figure, panels = style.panels(shown)
        styles, methods, counts = style.algorithm_styles(results.algorithms), {}, []
        for problem, panel in panels:
            rows = table[table["problem"] == problem]
            summary = over_cells(results, problem, lambda cell: curves(
                results, problem, "information_gain", of=cell).iloc[:, 1:].dropna(how="all"))
            counts += summary["n"].tolist()
            for algorithm, cell in summary.groupby("algorithm", sort=False):
                methods[algorithm] = styles[algorithm]
                panel.axes.plot(cell["t"], cell["mean"], zorder=3, markevery=0.2,
                                **styles[algorithm])
            for quantity, (_, dash) in GAINS.items():
                curve = rows[rows["quantity"] == quantity].drop_duplicates("t")
                panel.axes.plot(curve["t"], curve["value"], color="0.3", lw=0.9, ls=dash)
            dress(panel, problem, "Information gain")
        entries = [*methods.items(), *((name, {"color": "0.3", "lw": 0.9, "ls": dash})
                                       for name, dash in GAINS.values())]
        style.place_legend(figure, entries, [
            f"lines with markers: realised, mean over {extended.spread(counts)} trials"])
        return figure


def dress(panel, problem, label):
    panel.dress(problem, label)
    panel.axes.set_xscale("log")
    panel.axes.set_yscale("log")
    panel.axes.set_xlim(left=1)


def _vacuous(results, problem, rows):
    """A note on a bound that grows like T and stays above the regret of random search: it is not informative yet."""
    cells, notes = results.group(problem).done.cells, set()
    for cell in (cell for cell in cells.values() if "random" in cell.column("algorithm_name")):
        regret = since_design(results, problem, cell).mean()
        last = int(regret.index[-1])
        ends = rows[rows["quantity"].isin(list(NAMES)) & (rows["t"] == last)]
        if len(ends) and np.all(ends["value"] > regret.iloc[-1]):
            notes.add("bounds above random search: see their growth, not their size")
    return notes
