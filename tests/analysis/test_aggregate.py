"""Methods over all problems of a study, against independent computations."""

from unittest import mock

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis import load
from regatta_analysis.report import answer, comparisons, matrix, tables as report_tables
from regatta_analysis.stats import aggregate, comparison, evidence
from regatta_analysis.stats.regret import curves
from scipy import stats


def trials(values):
    """A table of scores: {problem: {algorithm: values}}."""
    rows = [[p, a, 0, seed, v, np.log10(v), False] for p, cells in values.items() for a, some in cells.items()
            for seed, v in enumerate(some)]
    return pd.DataFrame(rows, columns=["problem", "algorithm", "instance", "seed", "value", "score", "stuck"])


class Aggregate(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.directory / "study.h5"
        stuck = synthetic.problem("Stuck", ["EI", "TS", "Random"], seeds=8, queries=20, random_state=3)
        for k, (algorithm, _, seed) in enumerate(stuck["cells"]):
            if algorithm == "TS" and seed < 2:
                stuck["arrays"]["simple_regret"][k, 4:] = 1e4
        synthetic.write(path, [stuck, synthetic.problem("Plane", ["EI", "TS", "Random"], seeds=8, queries=20),
                               synthetic.problem("Empty", ["EI", "TS", "Random"], seeds=8, queries=20, finite=9,
                                                 scale=1e9)])
        cls.results = load(path)

    def test_final_tables_count_stuck_trials(self):
        final = report_tables.final_regret(self.results, ["simple"])
        counts = final.set_index(["problem", "algorithm"])["n_stuck"]
        self.assertEqual(counts["Stuck"].to_dict(), {"EI": 0, "TS": 2, "Random": 0})
        _, rows = report_tables.final_regret_grid(self.results, final, "simple")
        column = self.results.problems.index("Stuck") + 1
        self.assertEqual([row[column][0].endswith("2 stuck") for row in rows], [False, True, False])

    def test_scores_are_logarithms_of_shares_of_the_median(self):
        found = aggregate.scores(self.results, "simple")
        last = curves(self.results, "Plane", "simple_regret")[20]
        mine = found[found["problem"] == "Plane"].set_index(["algorithm", "instance", "seed"])
        np.testing.assert_allclose(10**mine["score"], (last / last.median())[mine.index])
        self.assertEqual(found.loc[found["stuck"], "algorithm"].tolist(), ["TS", "TS"])

    def test_problems_without_a_scale_are_left_out(self):
        found = aggregate.scores(self.results, "simple")
        self.assertLessEqual(set(found["problem"]), {"Stuck", "Plane", "Empty"})
        self.assertEqual(len(aggregate.scores(self.results, "best").columns), 7)

    def test_interquartile_mean_of_equal_panels(self):
        random = np.random.default_rng(2)
        values = {p: {"A": random.lognormal(size=8), "B": random.lognormal(size=8)} for p in "PQR"}
        found = aggregate.methods(trials(values)).set_index("algorithm")
        whole = np.log10(np.concatenate([values[p]["A"] for p in "PQR"]))
        self.assertAlmostEqual(np.log10(found.loc["A", "ratio"]), stats.trim_mean(whole, 0.25))
        shares = [stats.mannwhitneyu(values[p]["B"], values[p]["A"]).statistic / 64 for p in "PQR"]
        self.assertAlmostEqual(found.loc["A", "improvement"], np.mean(shares))
        self.assertAlmostEqual(found.loc["B", "improvement"], 1.0 - np.mean(shares))
        self.assertTrue((found["low"] < found["ratio"]).all() and (found["ratio"] < found["high"]).all())

    def test_resamples_stay_inside_their_problem(self):
        """Problems of constant values: every resample has the same, so the interval is a point."""
        found = aggregate.methods(trials({"P": {"A": [1.0] * 4}, "Q": {"A": [100.0] * 4}})).iloc[0]
        self.assertAlmostEqual(found["ratio"], 10.0)
        self.assertAlmostEqual(found["low"], 10.0)
        self.assertAlmostEqual(found["high"], 10.0)

    def test_problems_have_the_same_weight(self):
        found = aggregate.methods(trials({"P": {"A": [1.0] * 2}, "Q": {"A": [100.0] * 30}})).iloc[0]
        self.assertAlmostEqual(found["ratio"], 10.0)

    def test_infinite_values_count_where_they_are_not_few(self):
        few, many = [1.0] * 7 + [np.inf], [1.0] * 4 + [np.inf] * 4
        found = aggregate.methods(trials({"P": {"few": few, "many": many}})).set_index("algorithm")["ratio"]
        self.assertEqual((found["few"], found["many"]), (1.0, np.inf))

    def test_pairs_are_pooled_over_problems(self):
        table = aggregate.scores(self.results, "simple")
        row = aggregate.pairs(table, "EI").set_index("b").loc["Random"]
        panels = []
        for problem in table["problem"].unique():
            last = curves(self.results, problem, "simple_regret")[20].unstack("algorithm")
            panels.append(evidence.compare(last["EI"], last["Random"]))
        expected = evidence.pooled(panels)
        self.assertEqual((row["verdict"], row["low"], row["high"]), (expected.verdict, expected.low, expected.high))
        self.assertGreater(row["better"], 0.65)

    def test_every_pair_is_that_of_the_two_alone(self):
        """Whichever is first; p is corrected over all of them, and the best method comes first."""
        found, every = aggregate.made(self.results, "simple")
        table = aggregate.scores(self.results, "simple")
        self.assertEqual(set(map(frozenset, every[["a", "b"]].to_numpy())), {frozenset(p) for p in (
            ("EI", "TS"), ("EI", "Random"), ("TS", "Random"))})
        self.assertEqual(every["a"].iloc[0], found.sort_values("ratio")["algorithm"].iloc[0])
        alone = {(r.a, r.b): r for m in found["algorithm"] for r in aggregate.pairs(table, m).itertuples()}
        for r in every.itertuples():
            self.assertEqual((r.better, r.low, r.verdict), (alone[r.a, r.b].better, alone[r.a, r.b].low, alone[r.a, r.b].verdict))
            turned, = [t for t in answer.seen_together(every, r.b) if t.name == r.a]
            np.testing.assert_allclose((turned.better, turned.high), (alone[r.b, r.a].better, alone[r.b, r.a].high))
        np.testing.assert_allclose(every["p_holm"], comparison.holm(every["p"]))
        square, = matrix.together(found, every)
        self.assertEqual([len(row) for row in square.rows], [3, 3, 3])

    def test_tables_and_files(self):
        whole, versus = comparisons.aggregate_tables(self.results, "simple")
        self.assertEqual([row[0][0] for row in whole.rows], ["EI", "TS", "Random"])
        self.assertEqual(whole.rows[1][4][0], f"{100 * 0.25 / whole_problems(whole):.0f}%")
        self.assertEqual({row[-1][0] for row in versus.rows} - {"shown", "suggested", "open", answer.ALIKE, "worse"}, set())
        infinite = (aggregate.made(self.results, "simple")[0].assign(high=np.inf), aggregate.made(self.results, "simple")[1])
        with mock.patch.object(aggregate, "made", lambda *_: infinite):
            self.assertRegex(comparisons.aggregate_tables(self.results, "simple")[0].rows[0][3][0], r"\[\S+, ∞\]$")
            self.assertRegex(answer.sentences(self.results)[0], r"its simple regret is \S+ \[\S+, ∞\] times")
        written = comparisons.write_aggregate(self.results, "simple", self.scratch)
        self.assertEqual(list(pd.read_csv(written[0]).columns), aggregate.COLUMNS)
        self.assertEqual(list(pd.read_csv(written[1]).columns), aggregate.PAIRS)


def whole_problems(table):
    return int(table.rows[0][1][0])
