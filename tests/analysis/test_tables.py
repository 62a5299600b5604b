"""The formats of numbers, and the golden tables of a small study."""
import unittest

import common
import numpy as np
import synthetic
from regatta_analysis import load
from regatta_analysis.figures.figures import Band
from regatta_analysis.report.tables import (TEX, TEXT, final_regret, final_regret_grid, latex, markdown,
                                     runtime, runtime_grid, with_error)


class Numbers(common.Case):
    def test_with_error(self):
        cases = [((0.39, 0.2444), "0.39 ± 0.24"), ((1234.6, 56.78), "1235 ± 57"),
                 ((18.2042, 1.549), "18.2 ± 1.5"), ((0.0, 0.0), "0"), ((0.0, np.nan), "0"),
                 ((2.5, np.nan), "2.500"), ((np.nan, np.nan), ""),
                 ((3.2e7, 1.1e6), "(3.20 ± 0.11)e+07"), ((4.5e-9, 3e-9), "(4.5 ± 3.0)e-09"),
                 ((-12.5, 0.031), "-12.500 ± 0.031"), ((3.0, 4e-10), "3.000000 ± 4.0e-10"),
                 ((0.7, 1e-17), "0.7000"), ((123456.0, np.nan), "123456")]
        for (mean, error), text in cases:
            self.assertEqual(with_error(mean, error, TEXT), text)

    def test_latex_numbers(self):
        self.assertEqual(with_error(0.39, 0.2444, TEX), r"$0.39 \pm 0.24$")
        self.assertEqual(with_error(4.5e-9, 3e-9, TEX), r"$(4.5 \pm 3.0) \times 10^{-9}$")


class Tables(common.Case):
    def setUp(self):
        super().setUp()
        path = self.scratch / "study.h5"
        algorithms = ["IRGP-UCB", "EI", "Random"]
        synthetic.write(path, [
            synthetic.problem("Crossed", algorithms, instances=3, seeds=2, queries=20),
            synthetic.problem("Pool_94 & co", algorithms, seeds=4, queries=10, finite=94,
                              failed=(5,), missing=(8, 9, 10, 11), random_state=1)])
        self.results = load(path)

    def test_golden(self):
        self.assert_golden(final_regret(self.results, ["simple", "cumulative"]), "final_regret")
        self.assert_golden(runtime(self.results), "runtime")

    def test_final_regret_is_the_last_value(self):
        table = final_regret(self.results, ["simple"]).set_index(["problem", "algorithm"])
        data = self.results.data
        mine = data[(data["problem"] == "Crossed") & (data["algorithm"] == "EI")]
        mine = mine[mine["t"] == 20]
        row = table.loc[("Crossed", "EI")]
        self.assertEqual((row["n"], row["t"]), (6, 20))
        self.assertAlmostEqual(row["mean"], mine["simple_regret"].mean())
        self.assertAlmostEqual(row["se"], mine["simple_regret"].sem())
        instances = mine.groupby("instance")["simple_regret"].mean()
        self.assertAlmostEqual(row["se_instances"], instances.sem())

    def test_missing_is_shown(self):
        table = final_regret(self.results, ["simple"])
        header, rows = final_regret_grid(table, "simple")
        self.assertEqual(header, ["Algorithm", "Crossed (T = 20, 6 trials)", "Pool_94 & co (T = 10)"])
        cells = {row[0][0]: [text for text, _ in row[1:]] for row in rows}
        self.assertEqual(cells["Random"][1], "missing")
        self.assertTrue(cells["EI"][1].endswith(" (3 of 4)"))
        self.assertIn("[±", cells["EI"][0])
        text = markdown(header, rows)
        self.assertEqual(len(text.split("\n")), 5)
        self.assertIn("| Algorithm | Crossed (T = 20, 6 trials) |", text)
        _, rows = runtime_grid(runtime(self.results))
        self.assertIn("missing", [text for text, _ in rows[-1]])

    def test_best_is_bold_even_at_zero(self):
        _, rows = final_regret_grid(final_regret(self.results, ["simple"]), "simple")
        for column in (1, 2):
            self.assertGreaterEqual(sum(row[column][1] for row in rows), 1)
        bold = [row[0][0] for row in rows if row[1][1]]
        table = final_regret(self.results, ["simple"])
        crossed = table[table["problem"] == "Crossed"].set_index("algorithm")["mean"]
        self.assertEqual(bold, [crossed.idxmin()])

    def test_latex_escapes(self):
        table = final_regret(self.results, ["simple"])
        text = latex(*final_regret_grid(table, "simple", Band("quantile"), TEX), "50% & more")
        self.assertIn(r"Pool\_94 \& co (T = 10)", text)
        self.assertIn(r"\caption{50\% \& more}", text)
        self.assertEqual(text.count(r"\\"), 4)
        self.assertEqual(text.count("$") % 2, 0)
        self.assertEqual(text.count("{"), text.count("}"))

    def test_runtime_adds_up(self):
        table = runtime(self.results)
        stages = table["wall_fit"] + table["wall_acquire"] + table["wall_evaluate"]
        np.testing.assert_allclose(table["wall"], stages)
        data = self.results.data
        mine = data[(data["problem"] == "Crossed") & (data["algorithm"] == "EI")]
        per_trial = mine.groupby(["instance", "seed"])["cpu_acquire"].sum()
        row = table[(table["problem"] == "Crossed") & (table["algorithm"] == "EI")].iloc[0]
        self.assertAlmostEqual(row["cpu_acquire"], per_trial.mean())
        self.assertAlmostEqual(row["cpu_acquire_se"], per_trial.sem())


if __name__ == "__main__":
    unittest.main()
