"""Parts of several pages: the software and machines of the results, and the failed trials."""
import numpy as np
import pandas as pd

from ..figures import style
from ..load.settings import problem_of


def provenance(results):
    """{item: value} of the software and machines of the results."""
    about = {"results file": results.path.name}
    for name in ("source", "references", "checksum", "history"):
        if str(results.attributes.get(name, "")).strip():
            about[name] = str(results.attributes[name]).strip()
    for column, words in (("host", "hosts"), ("machine", "machines"), ("software", "software"),
                          ("fingerprint", "numeric fingerprints")):
        values = [f"{int(v):016x}" if column == "fingerprint" else str(v) for v in pd.unique(results.column(column)) if v == v]
        about[words] = "; ".join(v for v in values[:4] if v)
    started = results.column("started").astype(float)
    if not np.isnan(started).all():
        first, last = (pd.Timestamp(t, unit="s").strftime("%Y-%m-%d %H:%M UTC") for t in
                       (np.nanmin(started), np.nanmax(started)))
        about["trials started"] = f"{first} to {last}"
    for column, words in (("cpu", "CPU hours"), ("wall", "wall hours of the trials")):
        if results.has_column(column):
            about[words] = f"{np.nansum(results.column(column)) / 3600.0:.3g}"
    return {k: v for k, v in about.items() if v}


def failed_trials(results, most=5):
    """Lines on the first failed trials, with their messages."""
    failed = [group.subset(group.column("status") == "failed") for group in map(results.group, results.places)]
    names = style.shown_names(results.algorithms)
    lines = [f"{names[t.algorithm]} on {problem_of(t)}, instance {t.instance}, seed {t.seed}: "
             f"{getattr(t, 'message', '') or 'no message'}" for group in failed for t in group.head(most).trials.itertuples()]
    more = sum(group.n for group in failed) - most
    return lines[:most] + ([f"and {more} more"] if more > 0 else [])


def duration(seconds):
    """Seconds in the unit that fits."""
    for unit, size in (("days", 172800.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / (86400.0 if unit == 'days' else size):.3g} {unit}"
    return f"{seconds:.3g} s"
