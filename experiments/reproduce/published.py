"""Numbers printed in a paper, shown beside ours: the `tables` of its claims.yaml."""
import numpy as np
from regatta_analysis.claims import claims
from regatta_analysis.claims.outcome import Missing
from regatta_analysis.claims.panels import one_panel
from regatta_analysis.stats.measures import TooShort, trial_values

from . import density_error


def tables_of(path, studies):
    """[(title, note, header, rows)] of printed numbers beside ours, as ratios."""
    shown = []
    for table in claims.read(path).get("tables", []):
        header = ["", "Published", "Here", "Here / published"]
        rows = [_table_row(table, row, studies) for row in table["rows"]]
        shown.append((table["title"], " ".join(table.get("note", "").split()), header, rows))
    return shown


def _table_row(table, row, studies):
    printed, spread = row["published"]
    if "compute" in row:
        values = density_error.distances(row["compute"]["law"], row["compute"]["n"])
        label = f"{row['compute']['law']}, n = {row['compute']['n']}"
        ours = values.mean(), values.std(ddof=1) / np.sqrt(len(values)), len(values)
    else:
        label, ours = row.get("label", row["who"]), _ours(table, row, studies)
    if isinstance(ours, str):
        return [label, f"{printed:g} ± {spread:g}", ours, "–"]
    mean, se, n = ours
    return [label, f"{printed:g} ± {spread:g}", f"{mean:.3g} ± {se:.2g} ({n} runs)",
            f"{mean / printed:.3g}"]


def _ours(table, row, studies):
    """(mean, standard error, runs), or why there is nothing."""
    on = row.get("on", table.get("on"))
    try:
        _, results, problem = one_panel(studies, on)
        values = trial_values(results, problem, row.get("value", table.get("value")),
                                     [row["who"]])
    except TooShort as error:
        return f"missing: {error}"
    except Missing:
        return "missing"
    values = values.dropna().to_numpy()
    if not len(values):
        return "missing"
    if np.isinf(values).any():
        return f"no mean: feasible in {np.isfinite(values).sum()} of {len(values)} runs"
    se = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), se, len(values)
