"""Writes golden/*.csv anew: run it when numbers change on purpose, and look at the difference."""
import tempfile
from pathlib import Path

import common
import synthetic
from regatta_analysis import load
from regatta_analysis.figures.figures import confidence_summary
from regatta_analysis.stats.regret import regret_curves
from regatta_analysis.stats.statistics import summarise
from regatta_analysis.report.tables import final_regret, runtime


def save(frame, name):
    frame.to_csv(common.HERE / "golden" / f"{name}.csv", index=False, float_format="%.17g")


with tempfile.TemporaryDirectory() as scratch:
    path = Path(scratch) / "study.h5"
    algorithms = ["IRGP-UCB", "EI", "Random"]
    synthetic.write(path, [
        synthetic.problem("Crossed", algorithms, instances=3, seeds=2, queries=20),
        synthetic.problem("Pool_94 & co", algorithms, seeds=4, queries=10, finite=94,
                          failed=(5,), missing=(8, 9, 10, 11), random_state=1)])
    save(final_regret(load(path), ["simple", "cumulative"]), "final_regret")
    save(runtime(load(path)), "runtime")
    synthetic.write(path, [synthetic.problem("P", ["IRGP-UCB", "EI"], instances=2, seeds=3,
                                             queries=6)])
    save(summarise(regret_curves(load(path), "P", "cumulative")), "curves")
    save(confidence_summary(load(path), "P"), "confidence")
