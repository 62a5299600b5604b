"""Bounds over measured regret: the table of `regatta bounds` is read, drawn as it is, or refused."""
import csv

import common
import numpy as np
import synthetic
from regatta_analysis import load
from regatta_analysis.claims import checks, claims
from regatta_analysis.figures import bounds
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats.regret import regret_curves

HEADER = ",".join(bounds.COLUMNS)


class Bounds(common.Case):
    def table(self, *rows):
        path = self.scratch / "bounds.csv"
        path.write_text("\n".join([HEADER, *rows]) + "\n")
        return bounds.read(path)

    def results(self):
        path = self.scratch / "study.h5"
        synthetic.write(path, [synthetic.problem("P", ["EI", "IRGP-UCB"], seeds=3,
                                                 queries=5)])
        return load(path)

    def curves(self):
        return self.table(*[f"P,IRGP-UCB,,theorem_4_1,{t},{3.5 * t},bound," for t in range(1, 6)],
                          *[f"P,IRGP-UCB,,gamma_upper,{t},{2.0 * t},bound,hadamard"
                            for t in range(1, 6)])

    @common.needs_program
    def test_labels_are_texts_that_no_spreadsheet_computes(self):
        labels = ["=1+1", "@x", "-a, b", "+1", "2024", "1.50", "true", "'q", "x"]
        (self.scratch / "s.yaml").write_text("study: s\nseeds: 1\ncommon: {iterations: 4, initial_points: 2, noise_variance: 1e-4}\nproblems:\n" + "".join(
            f"  - {{label: \"{label}\", name: gp_path, dim: 1, levels: {k + 4}, "
            f"surrogate: {{kernel: gaussian, length_scale: 0.1, fit: fixed, standardise: false}}}}\n" for k, label in enumerate(labels))
            + "algorithms: [{name: irgp_ucb, label: \"=me\"}]\n")
        common.regatta("bounds", "s.yaml", "-o", "b.csv", cwd=self.scratch)
        with open(self.scratch / "b.csv", newline="") as file:
            cells = {cell for row in csv.DictReader(file) for cell in (row["problem"], row["algorithm"])}
        self.assertFalse([cell for cell in cells if cell[0] in "=+-@"])
        table = bounds.read(self.scratch / "b.csv")
        self.assertEqual(set(table["problem"]), set(labels))
        self.assertEqual(set(table["algorithm"]), {"=me"})

    def test_lines_are_the_numbers(self):
        results = self.results()
        figure = bounds.regret_figure(results, self.curves())
        drawn = [line.get_ydata() for line in figure.axes[0].lines]
        measured = regret_curves(results, "P", "cumulative").loc["IRGP-UCB"].mean()[1:]
        for expected in (3.5 * np.arange(1, 6), measured.to_numpy()):
            self.assertTrue(any(np.allclose(y, expected) for y in drawn if len(y) == 5))

    def test_a_bound_that_no_run_can_exceed_decides_nothing(self):
        """If asked: t times the largest regret of a query, of whatever method, is what a bound must be below."""
        synthetic.write(self.scratch / "s.h5", [synthetic.problem("P", ["EI", "IRGP-UCB"], seeds=12, queries=5)])
        worst = np.nanmax(regret_curves(load(self.scratch / "s.h5"), "P", "instantaneous").to_numpy())
        check = {"kind": "bound", "who": "IRGP-UCB", "on": "s", "bound": "theorem_4_1"}
        for shares, informative, grade in (([1.01] * 5, True, "not comparable"), ([1.01] * 5, False, "shown"),
                                           ([1.01] * 4 + [0.99], True, "shown"), ([0.01] * 5, True, "contradicted")):
            rows = [f"P,IRGP-UCB,,theorem_4_1,{t},{share * t * worst},bound," for t, share in enumerate(shares, 1)]
            (self.scratch / "s_bounds.csv").write_text("\n".join([HEADER, *rows]) + "\n")
            found = checks.run(check | {"informative": informative}, claims.Studies({"s": self.scratch / "s.h5"}))
            self.assertEqual(found.grade, grade, (shares, informative, found.text))
            self.assertEqual("no run can exceed it" in found.text, grade == "not comparable", found.text)

    def test_sums_of_widths(self):
        """Robustness measures: the realised sums of the proof, for the rule that it is about."""
        made = synthetic.problem("P", ["EI", "IRGP-UCB"], seeds=3, queries=5)
        arrays, first = made["arrays"], made["initial"]
        arrays["bound_width"] = np.arange(arrays["y"].size).reshape(arrays["y"].shape) / 10.0
        arrays["largest_sd"] = np.full(arrays["y"].shape, 0.5)
        arrays["confidence"][:] = 9.0
        path = self.scratch / "study.h5"
        results = synthetic.loaded(path, [made])
        rows = self.table("P,IRGP-UCB,,measure_slope,5,3,bound,",
                          *[f"P,IRGP-UCB,,rrgp_corollary_4_1,{t},{99 * t},bound," for t in range(1, 6)])
        found = bounds.realised(results, "P", "IRGP-UCB", rows)
        mine = np.array([cell[0] == "IRGP-UCB" for cell in made["cells"]])
        widths = arrays["bound_width"][mine][:, first:]
        np.testing.assert_allclose(found["bound_width"], 2 * widths.cumsum(axis=1).mean(axis=0))
        np.testing.assert_allclose(found["deviation"], 4 * 3 * 3 * 0.5 * np.arange(1, 6))
        self.assertEqual(bounds.realised(results, "P", "EI", rows), {})
        drawn = [line.get_ydata() for line in bounds.regret_figure(results, rows).axes[0].lines]
        for curve in found.values():
            self.assertTrue(any(np.allclose(y, curve) for y in drawn if len(y) == 5))
        del arrays["bound_width"]
        other = self.scratch / "other.h5"
        self.assertEqual(bounds.realised(synthetic.loaded(other, [made]), "P", "IRGP-UCB", rows), {})

    def test_the_initial_design_is_no_part_of_it(self):
        made = synthetic.problem("P", ["IRGP-UCB"], seeds=3, queries=5, initial=2)
        made["arrays"]["cumulative_regret"][:] = np.arange(1, 8) * 10.0  # counts from the first on
        path = self.scratch / "study.h5"
        line = bounds.regret_figure(synthetic.loaded(path, [made]), self.curves()).axes[0].lines[0]
        np.testing.assert_allclose(line.get_ydata(), [10.0, 20.0, 30.0, 40.0, 50.0])

    def test_only_problems_of_the_table_are_drawn(self):
        results = self.results()
        other = self.table("Q,IRGP-UCB,,theorem_4_1,1,2,bound,")
        self.assertEqual(bounds.problems(results, other), [])
        self.assertEqual(bounds.problems(results, self.curves()), ["P"])

    def test_swept_settings_name_the_problem(self):
        table = self.table("P,IRGP-UCB,noise_variance=0.1,theorem_4_1,1,2,bound,")
        self.assertEqual(table["problem"].tolist(), ["P (noise_variance=0.1)"])

    def test_another_file_is_refused(self):
        path = self.scratch / "other.csv"
        for text in ("a,b\n1,2\n", "", HEADER + "\nP,A,,theorem_4_1,first,2,bound,\n"):
            path.write_text(text)
            with self.assertRaises(InputError) as caught:
                bounds.read(path)
            self.assertIn("other.csv", str(caught.exception))
