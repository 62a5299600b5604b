"""Writes golden/*.csv anew: run it when numbers change on purpose, and look at the difference."""
import tempfile
from pathlib import Path

import common
import synthetic
from regatta_analysis.figures.figures import confidence_summary
from regatta_analysis.stats.regret import regret_curves
from regatta_analysis.stats.statistics import summarise
from regatta_analysis.report.tables import final_regret, runtime


def save(frame, name):
    frame.to_csv(common.HERE / "golden" / f"{name}.csv", index=False, float_format="%.17g")


with tempfile.TemporaryDirectory() as scratch:
    path = Path(scratch) / "study.h5"
    results = synthetic.loaded(path, synthetic.golden())
    save(final_regret(results, ["simple", "cumulative"]), "final_regret")
    save(runtime(results), "runtime")
    results = synthetic.loaded(path, [synthetic.problem("P", ["IRGP-UCB", "EI"], instances=2, seeds=3, queries=6)])
    save(summarise(regret_curves(results, "P", "cumulative")), "curves")
    save(confidence_summary(results, "P"), "confidence")
