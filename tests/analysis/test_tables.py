"""The formats of numbers, and the golden tables of a small study."""
import re
from unittest import mock

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis import escape, load
from regatta_analysis.figures.figures import Band
from regatta_analysis.load import program
from regatta_analysis.report.tables import (TEX, TEXT, better_values, final_regret, final_regret_grid, latex, markdown,
                                            runtime, runtime_grid, with_error, write_final_regret, write_runtime)


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
        self.results = synthetic.loaded(self.scratch / "study.h5", synthetic.golden())

    def test_tables_of_latex_fit_a_page(self):
        """Wide and long ones are several, with the columns that say what a row is in each; no cell is lost."""
        for keys, columns, n in ((1, 3, 2), (1, 18, 4), (3, 9, 100), (5, 7, 46), (6, 2, 1)):
            header = [f"k{k}" for k in range(keys)] + [f"c{k}" for k in range(columns)]
            rows = [[(f"r{r}k{k}", False) for k in range(keys)] + [(f"v{r}x{k}", False) for k in range(columns)]
                    for r in range(n)]
            text = latex(header, rows, "T", keys)
            parts = text.split(r"\end{table}")[:-1]
            cells = [cell for part in parts for line in part.splitlines() if line.startswith("r")
                     for cell in line.removesuffix(r" \\").split(" & ")]
            values = [cell for cell in cells if cell.startswith("v")]
            self.assertEqual(sorted(values), sorted(f"v{r}x{k}" for r in range(n) for k in range(columns)))
            for k, part in enumerate(parts, 1):
                self.assertLessEqual(max(line.count(" & ") for line in part.splitlines()) + 1, max(6, keys + 2))
                self.assertLessEqual(sum(line.startswith("r") for line in part.splitlines()), 45)
                self.assertEqual(f"Part {k} of {len(parts)}." in part, len(parts) > 1)
                self.assertTrue(all(line.startswith("r") is False or f"k{keys - 1}" in line for line in part.splitlines()))

    def test_captions_say_which_values_are_better(self):
        write_final_regret(self.results, ["simple", "best"], Band(), self.scratch)
        found = re.findall(r"(Larger|Lower) values are better\.", (self.scratch / "final_regret.tex").read_text())
        self.assertEqual(found, ["Lower", "Larger"])
        table = final_regret(self.results, ["best"]).assign(more_is_better=lambda t: t["problem"] == "Crossed")
        self.assertEqual(better_values(table, {"Crossed": "C"}), "Larger values are better on C; lower ones elsewhere.")

    def test_methods_have_their_names_for_readers(self):
        synthetic.write(self.scratch / "n.h5", [synthetic.problem("ei", ["ei", "gp_ucb", "mine"], seeds=2, queries=4)])
        with mock.patch.object(program, "titles", lambda: {"ei": "EI", "gp_ucb": "GP-UCB"}):
            write_final_regret(load(self.scratch / "n.h5"), ["simple"], Band(), self.scratch)
            write_runtime(load(self.scratch / "n.h5"), self.scratch)
        for name in ("final_regret", "runtime"):
            for ending, stop in ((".tex", "&"), (".md", "|")):
                text = (self.scratch / f"{name}{ending}").read_text()
                self.assertTrue(all(f"{word} {stop}" in text for word in ("GP-UCB", "EI", "mine")) and "ei" in text, text)
            self.assertIn("gp_ucb", (self.scratch / f"{name}.csv").read_text())

    def test_numbers_of_csv_read_back_to_the_same_bits(self):
        frame = pd.DataFrame({"x": [0.3, 0.1 + 0.2, 1 / 3, 1e-320, -0.0, np.nan, np.inf], "text": list("abcdefg"),
                              "word": pd.Categorical(["=1", "b", "b", "=1", "b", None, "b"])})
        escape.write_csv(frame, self.scratch / "x.csv")
        found = pd.read_csv(self.scratch / "x.csv", float_precision="round_trip")
        np.testing.assert_array_equal(found["x"], frame["x"] + 0.0)
        self.assertEqual(found["word"].tolist()[:5] + [found["word"].isna()[5]], ["'=1", "b", "b", "'=1", "b", True])
        table = final_regret(self.results, ["simple"])
        escape.write_csv(table, self.scratch / "t.csv")
        np.testing.assert_array_equal(pd.read_csv(self.scratch / "t.csv", float_precision="round_trip")["mean"], table["mean"])

    def test_csv_is_what_pandas_writes(self):
        """Byte for byte, in blocks that cut runs of equal values, from the texts that `cell` gives."""
        numbers = [np.nan, np.nan, np.inf, -np.inf, 5e-324, -2.5e-310, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 0.1 + 0.2,
                   1 / 3, 1 / 3, 1.7976931348623157e308, 3.0, 2**53 + 2.0, 0.0, 0.0, -1.5]
        labels = ['a,b', 'say "x"', "two\nlines", "", " ", "=1+1", "-1", "+a", "@b", "\t", "a\rb", "\u202eb", "naïve ☃", "nan", "None",
                  "'", '"', "1_0", "a;b", "\ud800"]
        words = [*labels[:5], *labels[:5]] * 2
        frame = pd.DataFrame({
            "y": numbers, "f": numbers, "-y": [-v for v in numbers], "alike": 0.25, "i": np.arange(20) - 5, "label": labels,
            "=long": np.arange(20, dtype=np.uint64) + 2**63, "flag": np.arange(20) % 3 == 0, "small": np.arange(20, dtype=np.int8),
            "mixed": [True, 1, 1.0, None, np.nan, "x", False, 0, -0.0, 2**70, np.float64(0.1), *[None] * 9],
            "word": pd.Categorical([None if w == " " else w for w in words]), "nothing": np.nan,
            "Int64": pd.array([1, None, *range(18)], "Int64"), "boolean": pd.array([True, None, *[False] * 18], "boolean")})
        plain = frame.assign(**{name: frame[name] + 0.0 for name in ("y", "f", "-y")})
        for name in ("label", "mixed", "word"):
            plain[name] = [escape.cell(v) if isinstance(v, str) else v for v in plain[name].astype(object)]
        plain.columns = [escape.cell(name) for name in plain]
        for some in (slice(None), slice(0), slice(3, 4)):
            for names in (list(frame), ["y"], ["label"], ["i"]):
                expected = plain[[escape.cell(name) for name in names]][some].to_csv(index=False).encode()
                for rows in (3, 7, 1 << 14):
                    with mock.patch.object(escape, "ROWS", rows):
                        escape.write_csv(frame[names][some], self.scratch / "p.csv")
                    self.assertEqual((self.scratch / "p.csv").read_bytes(), expected, (some, names, rows))

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
        header, rows = final_regret_grid(self.results, table, "simple")
        self.assertEqual(header, ["Algorithm", "Crossed (T = 20, 6 trials)", "Pool_94 & co (T = 10)"])
        cells = {row[0][0]: [text for text, _ in row[1:]] for row in rows}
        self.assertEqual(cells["Random"][1], "missing")
        self.assertTrue(cells["EI"][1].endswith(" (3 of 4)"))
        self.assertEqual(cells["EI"][0], "0.332")  # three instances have no interval
        rows = final_regret_grid(self.results, table, "simple", Band("se"))[1]
        self.assertIn("[±", next(row[1][0] for row in rows if row[0][0] == "EI"))
        text = markdown(header, rows)
        self.assertEqual(len(text.split("\n")), 5)
        self.assertIn("| Algorithm | Crossed (T = 20, 6 trials) |", text)
        _, rows = runtime_grid(runtime(self.results))
        self.assertIn("missing", [text for text, _ in rows[-1]])

    def test_best_is_bold_even_at_zero(self):
        _, rows = final_regret_grid(self.results, final_regret(self.results, ["simple"]), "simple")
        for column in (1, 2):
            self.assertGreaterEqual(sum(row[column][1] for row in rows), 1)
        bold = [row[0][0] for row in rows if row[1][1]]
        table = final_regret(self.results, ["simple"])
        crossed = table[table["problem"] == "Crossed"].set_index("algorithm")["median_instances"]
        self.assertIn(crossed.idxmin(), bold)

    def test_all_are_bold_that_are_not_told_apart_from_the_best(self):
        """EI and TS differ in the ninth digit, and Random is worse in all trials."""
        levels = {"EI": 1.0, "TS": 1.0 + 1e-9, "Random": 4.0}
        results = synthetic.loaded(self.scratch / "s.h5", [synthetic.made_up("P", levels, seeds=12)])
        for band in (Band(), Band("median")):
            table = final_regret(results, ["simple"], bootstrap=band.interval)
            _, rows = final_regret_grid(results, table, "simple", band)
            self.assertEqual([row[0][0] for row in rows if row[1][1]], ["EI", "TS"])
            best, _, worst = rows
            self.assertIn("0.0", best[1][0] + worst[1][0])

    def test_latex_escapes(self):
        table = final_regret(self.results, ["simple"])
        text = latex(*final_regret_grid(self.results, table, "simple", Band("quantile"), TEX), "50% & more")
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
