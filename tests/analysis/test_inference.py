"""Tables of tests and growth exponents of whole studies, against the functions behind them."""

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis import InputError, load
from regatta_analysis.claims import checks, claims
from regatta_analysis.figures import overviews
from regatta_analysis.report import comparisons, tables
from regatta_analysis.stats import aggregate, comparison, evidence, inference
from regatta_analysis.stats.regret import curves


def load_of(folder, **more):
    """Results of EI and TS that differ by chance alone."""
    return synthetic.loaded(folder / "noise.h5", [synthetic.made_up("P", {"EI": 1.0, "TS": 1.0}, noise=0.5, **more)])


class Inference(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.directory / "study.h5"
        power = synthetic.problem("Power", ["EI", "TS", "Random"], seeds=8, queries=40)
        t = np.arange(1, 41)
        for k, (algorithm, _, _) in enumerate(power["cells"]):
            exponent = {"EI": 0.5, "TS": 0.8, "Random": 1.0}[algorithm]
            power["arrays"]["cumulative_regret"][k, 4:] = (1 + 0.1 * (k % 8)) * t**exponent
        cls.results = synthetic.loaded(path, [power, synthetic.problem("Plane", ["EI", "TS", "Random"], seeds=8,
                                                                       queries=40, failed=(0,), random_state=4)])

    def test_pairs(self):
        found = inference.comparisons(self.results, "simple").set_index(["problem", "a", "b"])
        self.assertEqual(len(found), 6)
        last = curves(self.results, "Plane", "simple_regret")[40].unstack("algorithm")
        both = last[["EI", "TS"]].dropna()
        row = found.loc["Plane", "EI", "TS"]
        self.assertEqual(row["n"], 7)
        expected = evidence.compare(both["EI"], both["TS"])
        self.assertEqual((row["p"], row["effect"], row["low"]), (expected.p, expected.typical, expected.low))
        self.assertEqual((row["better"], row["verdict"]), (expected.better, expected.verdict))
        np.testing.assert_allclose(found["p_holm"], comparison.holm(found["p"]))  # over all shown

    def test_shared_instances(self):
        """Five seeds on each of four instances are four units, not twenty."""
        path = self.scratch / "study.h5"
        synthetic.write(path, [synthetic.problem("P", ["EI", "TS"], instances=4, seeds=5, queries=5,
                                                 missing=(7,))])
        row, = inference.comparisons(load(path), "simple").itertuples()
        both = curves(load(path), "P", "simple_regret")[5].unstack("algorithm").dropna()
        self.assertEqual((len(both), row.n), (19, 4))
        medians = np.log(both["EI"] / both["TS"]).groupby(level="instance").median()
        self.assertAlmostEqual(row.effect, np.exp(medians.median()))
        self.assertEqual(row.better, (medians < 0).mean())

    def test_blocks_are_problems(self):
        def labels(path, problems):
            synthetic.write(path, [synthetic.problem(p, ["EI", "TS", "Random"], seeds=4, queries=3)
                                   for p in problems])
            return load(path)
        one = labels(self.scratch / "one.h5", ["P"])
        self.assertEqual(overviews.ranks({"s": one}), [])
        two = labels(self.scratch / "two.h5", ["P", "Q"])
        self.assertEqual(list(overviews.rank_table({"s": two}).index), ["s, P", "s, Q"])
        swept = synthetic.problem("P", ["EI", "TS", "Random"], seeds=4, queries=3)
        swept["swept"] = [f"noise={k % 2}" for k in range(12)]
        swept = synthetic.loaded(self.scratch / "swept.h5", [swept])
        self.assertEqual(len(swept.problems), 2)
        self.assertEqual(list(overviews.rank_table({"s": swept}).index), ["s, P"])

    def test_more_is_better_for_the_best_value(self):
        less = inference.final_values(self.results, "Plane", "best")
        np.testing.assert_allclose(less["EI"].dropna(), -curves(
            self.results, "Plane", "objective", True)[40].loc["EI"])

    def test_one_against_the_others(self):
        found = inference.comparisons(self.results, "simple", "TS")
        self.assertEqual(list(found["b"]), ["EI", "Random"] * 2)
        table = comparisons.pairs_table(found, "title")
        self.assertEqual(table.header[:2], ["Problem", "Against"])
        self.assertEqual(len(inference.comparisons(self.results, "simple", "nobody")), 0)

    def test_exponents(self):
        found = inference.growth(self.results).set_index(["problem", "algorithm"])
        for algorithm, exponent in (("EI", 0.5), ("TS", 0.8), ("Random", 1.0)):
            self.assertAlmostEqual(found.loc[("Power", algorithm), "exponent"], exponent, places=6)
        table = comparisons.growth_table(found.reset_index(), self.results)
        self.assertEqual(table.rows[0][table.header.index("Power")][0], "0.50 [0.50, 0.50] (8 trials)")

    def test_one_pair_in_a_sentence(self):
        levels = {"EI": 1.0, "TS": 1.0, "Random": 4.0}
        results = synthetic.loaded(self.scratch / "s.h5", [synthetic.made_up(p, levels, seeds=12) for p in "PQ"])
        found = results.compare("EI", "Random")
        self.assertEqual(list(found["problem"]), ["P", "Q", inference.TOGETHER])
        self.assertEqual(set(found["grade"]), {"shown"})
        row = inference.comparisons(results, "simple").set_index(["problem", "a", "b"]).loc["P", "EI", "Random"]
        for name in ("n", "effect", "low", "high", "better", "better_low", "better_high"):
            self.assertEqual(found[name].iloc[0], row[name])
        self.assertRegex(found["sentence"].iloc[0], r"^EI is better than Random on P: its simple regret is typically 0\.2\S* "
                         r"\[0\.\S+, 0\.\S+\] times that of Random; P\(better\) = 1\.00 \[0\.\d\d, 1\.00\], from 12 pairs\.$")
        self.assertEqual(set(results.compare("Random", "EI")["grade"]), {"contradicted"})
        with self.assertRaisesRegex(InputError, "no algorithm 'Randon' in it, did you mean 'Random'"):
            results.compare("EI", "Randon")
        with self.assertRaisesRegex(InputError, "compared with itself"):
            results.compare("EI", "EI")

    def test_every_page_has_the_same_comparison(self):
        """The table of pairs, a claim, results.compare and the table of all problems, on trials of which some are stuck,
        and on those of random search, which are no stuck ones although they are behind all others."""
        made = synthetic.made_up("P", {"EI": 0.01, "Random": 1.0}, seeds=30)
        for k, (algorithm, _, seed) in enumerate(made["cells"]):
            if algorithm == "EI" and seed % 4 == 0:
                made["arrays"]["simple_regret"][k] *= 150.0
        results = synthetic.loaded(self.scratch / "s.h5", [made])
        row, = inference.comparisons(results, "simple").itertuples()
        found = results.compare("EI", "Random").iloc[0]
        item, = checks.run({"kind": "better", "who": "EI", "against": "Random", "on": "s"},
                           claims.Studies({"s": self.scratch / "s.h5"})).items
        pooled = aggregate.pairs(aggregate.scores(results, "simple"), "EI").iloc[0]
        for name in ("low", "high", "better", "better_low", "better_high"):
            self.assertEqual(getattr(row, name), found[name])
            self.assertEqual(getattr(row, name), getattr(item, name))
        self.assertEqual((row.effect, row.effect, row.effect), (found["effect"], item.value, pooled["ratio"]))
        self.assertEqual((row.verdict, found["grade"], item.state), ("better", "shown", "shown"))
        final = tables.final_regret(results, ["simple"]).set_index("algorithm")
        self.assertEqual(final["n_stuck"].to_dict(), {"EI": 8, "Random": 0})
        shares = aggregate.methods(aggregate.scores(results, "simple")).set_index("algorithm")["stuck"]
        self.assertEqual([row.stuck_a, item.stuck_a, shares["EI"]], [8 / 30] * 3)
        self.assertEqual([row.stuck_b, item.stuck_b, shares["Random"]], [0.0] * 3)

    def test_noise_alone_is_undecided(self):
        found = load_of(self.scratch, seeds=9).compare("EI", "TS", "simple").iloc[0]
        self.assertEqual(found["grade"], "undecided")
        self.assertTrue(found["low"] < 1.0 < found["high"] and found["better_low"] < 0.5 < found["better_high"])
        self.assertIn("It is undecided whether EI is better than TS on P", found["sentence"])

    def test_files(self):
        written, text = comparisons.write(self.results, "simple", self.scratch)
        self.assertTrue(all(path.exists() for path in written))
        self.assertEqual(len(pd.read_csv(self.scratch / "comparisons.csv")), 6)
        self.assertIn("| Power | EI | TS | 8 |", text)
