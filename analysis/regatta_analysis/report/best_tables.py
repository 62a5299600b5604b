"""The answer of a sweep for readers: tables of `Results.best_settings` and `Results.effects`."""
from ..escape import write_csv
from ..figures import style
from ..stats.regret import METRICS
from . import tables

NAMED = 3  # settings that are named in a cell of a table


def best_table(found, metric):
    """Best setting per problem and method; those of all problems together come first."""
    order = found.sort_values("scale", key=lambda scale: scale != "ratio", kind="stable")
    names = style.shown_names(found["method"])
    rows = [tables.plain(r.problem, names[r.method], r.setting or f"– ({r.why})" if r.cells > 1 or r.why else "reads none",
                         _median(r), _alike(r)) for r in order.itertuples(index=False)]
    together = (" All problems together: each value as a share of the median of the method's trials on its problem."
                if (found["scale"] == "ratio").any() else "")
    return tables.Table(
        "Best settings", f"Final {METRICS[metric].name.lower()} at the setting with the best median. The best of many "
        "settings looks better than it is.",
        ["Problem", "Algorithm", "Best setting", "Median [95% interval] (trials)", "Not told apart from it"], rows,
        "The interval of the median holds for every law of the values. Not told apart: no paired evidence (95% over all "
        f"settings of the row together) that the setting is worse by 10% or more, or at all.{together}")


def _median(row):
    count = f"{row.n} of {row.planned}" if row.n < row.planned else str(row.n)
    ends = () if row.low != row.low else (row.low, row.high)
    return f"{tables.between(row.median, *ends) or '–'} ({count})"


def _alike(row):
    if row.cells < 2 or not row.setting:
        return "–"
    if not row.alike:
        return f"none of {row.cells - 1}"
    if len(row.alike) == row.cells - 1 > NAMED:
        return f"all {row.cells - 1} others"
    more = f"; and {len(row.alike) - NAMED} more" if len(row.alike) > NAMED else ""
    return "; ".join(row.alike[:NAMED]) + more + f" ({len(row.alike)} of {row.cells - 1})"


def effects_table(found, metric):
    """The effect of each setting."""
    names = style.shown_names(found["method"])
    rows = [tables.plain(r.problem, names[r.method], f"{r.setting} = {r.value}", f"{r.setting} = {r.against}", tables.effect(r),
                         tables.better(r), {"equivalent": "no difference"}.get(r.verdict, r.verdict), r.n)
            for r in found.itertuples(index=False) if r.n]
    return tables.Table(
        "Effects of the settings", f"Typical ratio of the final {METRICS[metric].name.lower()} of a trial to that at the "
        "setting's first value; less than 1 is better.",
        ["Problem", "Algorithm", "Setting", "Against", "Ratio [95%]", "P(better) [95%]", "Shown", "Trials"], rows,
        "Over all values of the other settings, with its 95% confidence sequence. P(better): the share of trials in which "
        "it is better, ties half.")


def write(results, metric, directory):
    """best_settings.csv and effects.csv; returns the paths and the tables as Markdown."""
    paths = [directory / "best_settings.csv", directory / "effects.csv"]
    best, effects = results.best_settings(metric), results.effects(metric)
    write_csv(best.assign(alike=["; ".join(some) for some in best["alike"]]), paths[0])
    write_csv(effects, paths[1])
    made = best_table(best, metric), effects_table(effects, metric)
    return paths, "".join(tables.section(t, 2) for t in made)
