"""Claims about workers, by time and by evaluations: every number against a loop over the rows of the files."""
import unittest

import common
import h5py
import numpy as np
from regatta_analysis import load
from regatta_analysis.claims import checks, claims, forms, grades
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats import evidence
from regatta_analysis.stats.measures import value_curves

STUDY = """
study: crews
seeds: 16
common: {iterations: 24, initial_points: 4, duration: "uniform(0.5, 1.5)", maximiser: {raw_samples: 64, restarts: 1}}
problems: [branin, {name: forrester, iterations: 12}]
algorithms: [random, {name: ei, label: EI}]
sweep:
  - {common.workers: [1, 4]}
  - {common.release: [sync, async]}
  - {algorithms.EI.pending: [ignore, believer]}
"""
INF = np.inf


class Forms(unittest.TestCase):
    def test_form(self):
        good = {"kind": "lower at time", "who": "a", "against": "b", "on": "s"}
        forms.require({**good, "crew": {"workers": [2, 4], "release": "async"}, "than": {"release": ["sync", "async"]}})
        for wrong, words in (
                ({"crew": {"worker": 3}}, "crew is a mapping such as {workers: [4, 8], release: async}"),
                ({"crew": {}}, "crew is a mapping"), ({"crew": {"workers": []}}, "crew is a mapping"),
                ({"than": {"release": "often"}}, "than is a mapping"), ({"than": {"workers": 0}}, "than is a mapping"),
                ({"time": 0}, "time is a number above 0, or last"), ({"time": "first"}, "time is a number above 0"),
                ({"kind": "earlier", "target": 1, "share": 0.5}, "earlier: takes target or share"),
                ({"kind": "equal per evaluation"}, "equal per evaluation lacks 'factor'")):
            with self.assertRaises(InputError) as caught:
                forms.require({**good, **wrong})
            self.assertIn(words, str(caught.exception))


@common.needs_program
class Program(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.coarse(cls)
        (cls.directory / "crews.yaml").write_text(STUDY)
        cls.path = cls.directory / "crews.h5"
        common.regatta("run", cls.directory / "crews.yaml", "-o", cls.path, "-quiet")

    def check(self, kind, **more):
        check = {"kind": kind, "who": "random", "against": "random", "on": "crews", **more}
        forms.require(check)
        return checks.run(check, claims.Studies({"crews": self.path}))

    def trials(self, problem, algorithm, workers, release, path=None):
        """For each seed of a cell the optimum, the ends and values of its evaluations, its makespan and its regret by
        rows."""
        found = {}
        with h5py.File(path or self.path) as file:
            g = file[problem]
            for k in range(len(g["seed"])):
                if (g["algorithm"][k].decode(), g["workers"][k], g["release"][k].decode()) != (
                        algorithm, workers, release):
                    continue
                n = g["n_iterations"][k]
                found[g["seed"][k]] = (g["optimum"][k], list(zip(np.nan_to_num(g["finished"][k, :n]), g["objective"][k, :n])),
                                       float(g["makespan"][k]), g["simple_regret"][k, :n])
        return [found[seed] for seed in sorted(found)]

    @staticmethod
    def regret(trial, time):
        return trial[0] - max(value for end, value in trial[1] if end <= time)

    def hit(self, trial, target):
        return min([end for end, _ in trial[1] if self.regret(trial, end) <= target], default=INF)

    def compare(self, item, a, b):
        """An item has the effect of these paired values."""
        found = evidence.compare(a, b, None, "ratio", statistic="mean")
        np.testing.assert_allclose([item.value, item.low, item.high], [found.typical, found.low, found.high], rtol=1e-9)
        self.assertEqual(item.n, len(a))

    def test_lower_at_time(self):
        for time in ("last", 3.5):
            outcome = self.check("lower at time", on="crews/branin", crew={"workers": 4, "release": "async"},
                                 than={"workers": 1}, time=time)
            item, = outcome.items
            self.assertEqual((item.a, item.b), ("random, 4 workers, async", "random, 1 worker"))
            a, b = self.trials("branin", "random", 4, "async"), self.trials("branin", "random", 1, "")
            at = min(t[2] for t in a + b) if time == "last" else time
            self.assertEqual(item.where, f"crews, branin, time {at:.4g}")
            self.compare(item, [self.regret(t, at) for t in a], [self.regret(t, at) for t in b])
            self.assertEqual(outcome.grade, grades.SHOWN)
        reverse = self.check("lower at time", on="crews/branin", crew={"workers": 1},
                             than={"workers": 4, "release": "async"})
        self.assertEqual(reverse.grade, grades.CONTRADICTED)

    def test_earlier(self):
        outcome = self.check("earlier", on="crews/branin", crew={"workers": 4}, than={"workers": 1}, target=3)
        self.assertEqual([i.a for i in outcome.items], ["random, 4 workers, sync", "random, 4 workers, async"])
        b = self.trials("branin", "random", 1, "")
        for item, release in zip(outcome.items, ("sync", "async")):
            a = self.trials("branin", "random", 4, release)
            end = min(t[2] for t in a + b if self.hit(t, 3) == INF)
            late = sum(self.hit(t, 3) > end for t in b)
            self.assertGreater(late, 0, "every trial gets there: the test shows nothing about those that do not")
            self.compare(item, *([min(self.hit(t, 3), end) for t in trials] for trials in (a, b)))
        share = self.check("earlier", on="crews/branin", crew={"workers": 4}, than={"workers": 1}, share=0.5).items[0]
        with h5py.File(self.path) as file:
            start = np.median([float(row[3]) for row in file["branin/simple_regret"]])
        self.assertIn(f"target {0.5 * start:.3g}", share.where)

    def test_trials_that_were_stopped_are_known_until_they_ended(self):
        """They end with a regret of 20. Which of them would have reached 2 next is not known."""
        path = self.scratch / "stopping.h5"
        path.with_suffix(".yaml").write_text("""
study: stopping
seeds: 16
common: {iterations: 40, initial_points: 4, duration: "uniform(0.5, 1.5)", stop_regret: 20}
problems: [branin]
algorithms: [random, {name: ei, label: EI}]
""")
        common.regatta("run", path.with_suffix(".yaml"), "-o", path, "-quiet")
        a, b = (self.trials("branin", label, 1, "", path) for label in ("EI", "random"))
        for target in (2, 20):
            late = [0 if np.isnan(t[2]) else t[2] for t in a + b if self.hit(t, target) == INF]  # NaN: it saw no clock
            self.assertEqual(bool(late), target == 2)
            end = min(late, default=INF)
            check = {"kind": "earlier", "who": "EI", "against": "random", "on": "stopping", "target": target}
            item, = checks.run(check, claims.Studies({"stopping": path})).items
            self.compare(item, *([min(self.hit(t, target), end) for t in trials] for trials in (a, b)))
            self.assertEqual(item.where, f"stopping, branin, target {target}" + (f", up to time {end:.4g}" if late else ""))

    def test_equal_per_evaluation(self):
        """Random search meets the same points in the same order of submission: by evaluations it is the same."""
        outcome = self.check("equal per evaluation", crew={"workers": 4}, than={"workers": 1}, factor=1.1, because="x")
        self.assertEqual(len(outcome.items), 4)
        self.assertLessEqual({i.state for i in outcome.items}, {grades.VOID, grades.SHOWN})
        item = outcome.items[0]
        a, b = self.trials("branin", "random", 4, "sync"), self.trials("branin", "random", 1, "")
        self.compare(item, [t[3][-1] for t in a], [t[3][-1] for t in b])
        at = self.check("equal per evaluation", on="crews/branin", crew={"workers": 4, "release": "async"},
                        than={"workers": 1}, factor=1.1, because="x", value={"metric": "simple", "at": 9}).items[0]
        a = self.trials("branin", "random", 4, "async")
        self.compare(at, [t[3][4 + 8] for t in a], [t[3][4 + 8] for t in b])
        ei = "EI (pending=believer)"
        other = self.check("equal per evaluation", who=ei, against=ei, on="crews/forrester", factor=1.1, because="x",
                           crew={"workers": 4, "release": "sync"}, than={"workers": 1}).items[0]
        a, b = self.trials("forrester", ei, 4, "sync"), self.trials("forrester", "EI", 1, "")
        self.compare(other, [t[3][-1] for t in a], [t[3][-1] for t in b])
        self.assertNotAlmostEqual(other.value, 1.0)  # two sides that differ

    def test_methods_of_equal_crews_and_settings_that_one_worker_does_not_read(self):
        outcome = self.check("lower at time", who="EI (pending=believer)", against=["random", "EI (pending=ignore)"],
                             on="crews/forrester", combine="most")
        self.assertEqual([(i.a, i.b) for i in outcome.items], [
            (f"EI{mine}, {crew}", f"{other}, {crew}")
            for crew, mine, several in (("1 worker", "", False), ("4 workers, sync", " (pending=believer)", True),
                                        ("4 workers, async", " (pending=believer)", True))
            for other in ["random"] + ["EI (pending=ignore)"] * several])
        pooled = self.check("lower at time", who="EI (pending=believer)", crew={"workers": 4}, combine="pooled")
        self.assertEqual(pooled.pooled.n, 16)
        self.assertEqual(len(pooled.items), 4)

    def test_no_results(self):
        for more, words in (({"on": "crews/nowhere"}, "no problem 'nowhere' with a clock"),
                            ({"who": "TS (pending=believe)"}, "no algorithm 'TS \\(pending=believe\\)' with a clock")):
            with self.assertRaisesRegex(InputError, words):
                self.check("lower at time", **more)
        with self.assertRaisesRegex(InputError, "no algorithm 'ts' with a clock"):
            self.check("lower at time", who="ts")
        for more, words in (({"crew": {"workers": 7}}, "nothing to compare: no trials with these workers and releases"),
                            ({"time": 100, "crew": {"workers": 4}, "than": {"workers": 1}}, "a trial ends at time"), ({"on": "other"}, "no results of other yet")):
            outcome = self.check("lower at time", **more)
            self.assertEqual(outcome.grade, grades.NOT_RUN)
            self.assertIn(words, outcome.text)

    def test_distance_to_points_in_flight(self):
        results = load(self.path)
        with h5py.File(self.path) as file:
            g = file["branin"]
            chosen = np.flatnonzero((g["workers"][()] == 4) & (g["release"].asstr()[()] == "async"))
            values = {name: g[name][()] for name in ("x", "submission", "dispatched", "finished", "n_pending", "seed")}
            labels = g["algorithm"].asstr()[()]
        problem = "branin (workers=4, release=async)"
        frame = value_curves(results, problem, "pending_distance")
        x = values["x"][chosen]
        scale = np.nanmax(x, axis=(0, 1)) - np.nanmin(x, axis=(0, 1))
        for k in chosen[:6]:
            row = frame.loc[(labels[k], 0, values["seed"][k])]
            for i in range(4, 28):
                at, number = values["dispatched"][k, i], values["submission"][k, i]
                near = [np.linalg.norm((values["x"][k, j] - values["x"][k, i]) / scale) for j in range(4, 28)
                        if values["submission"][k, j] < number and values["finished"][k, j] > at]
                self.assertEqual(len(near), values["n_pending"][k, i])
                np.testing.assert_allclose(row[i - 3], min(near, default=np.nan))
