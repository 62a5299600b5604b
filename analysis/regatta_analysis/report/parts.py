"""Parts of several pages: the software and machines of the results, and the failed trials."""
import pandas as pd

from ..load.settings import problem_of


def provenance(results):
    """{item: value} of the software and machines of the results."""
    trials, about = results.trials, {"results file": results.path.name}
    for name in ("source", "references", "checksum", "history"):
        if str(results.attributes.get(name, "")).strip():
            about[name] = str(results.attributes[name]).strip()
    for column, words in (("host", "hosts"), ("machine", "machines"), ("software", "software"),
                          ("fingerprint", "numeric fingerprints")):
        if column in trials:
            values = [f"{int(v):016x}" if column == "fingerprint" else str(v)
                      for v in trials[column].dropna().unique()]
            about[words] = "; ".join(v for v in values[:4] if v)
    if "started" in trials and trials["started"].notna().any():
        first, last = (pd.Timestamp(t, unit="s").strftime("%Y-%m-%d %H:%M UTC") for t in
                       (trials["started"].min(), trials["started"].max()))
        about["trials started"] = f"{first} to {last}"
    for column, words in (("cpu", "CPU hours"), ("wall", "wall hours of the trials")):
        if column in trials:
            about[words] = f"{trials[column].sum() / 3600.0:.3g}"
    return {k: v for k, v in about.items() if v}


def failed_trials(results, most=5):
    """Lines on the first failed trials, with their messages."""
    failed = results.trials[results.trials["status"] == "failed"]
    lines = [f"{t.algorithm} on {problem_of(t)}, instance {t.instance}, seed {t.seed}: "
             f"{getattr(t, 'message', '') or 'no message'}" for t in failed.head(most).itertuples()]
    return lines + ([f"and {len(failed) - most} more"] if len(failed) > most else [])


def duration(seconds):
    """Seconds in the unit that fits."""
    for unit, size in (("days", 172800.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / (86400.0 if unit == 'days' else size):.3g} {unit}"
    return f"{seconds:.3g} s"
