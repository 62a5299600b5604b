"""Every curve of every figure, read back under the name that the legend gives it, against the formula or
the numbers that it is to show, worked out here from the arrays of the results or from the papers."""
from papers import PROGRAM  # first: it sets the path
import common
import drawn
import numpy as np
import pandas as pd
import synthetic
from matplotlib.text import Text
from regatta_analysis import load
from regatta_analysis.figures import bounds, figures, overviews, panels, runtime_profiles, style, sweep
from regatta_analysis.stats import profiles, runtime
from reproduce import illustrations, kernel_theory, paper_figures

METHODS = ["Random", "EI", "GP-UCB", "RGP-UCB", "IRGP-UCB", "BPT-UCB", "mine"]  # slots in another order


class Case(common.Case):
    def same(self, found, expected):
        """One curve under each name, with these x and y."""
        self.assertEqual(sorted(found), sorted(expected))
        for label, (x, y) in expected.items():
            (at, values), = found[label]
            np.testing.assert_allclose(at, x, rtol=1e-9, err_msg=label)
            np.testing.assert_allclose(values, y, rtol=1e-9, atol=1e-12, err_msg=label)

    def results(self, *made, name="study.h5"):
        synthetic.write(self.scratch / name, made)
        return load(self.scratch / name)

    @staticmethod
    def trials(made, method, column, first=0):
        """Trials x evaluations of a method, from evaluation t = `first` on."""
        mine = [k for k, cell in enumerate(made["cells"]) if cell[0] == method]
        return made["arrays"][column][mine][:, made["initial"] - 1 + first:]


class OfAStudy(Case):
    def setUp(self):
        super().setUp()
        self.made = synthetic.problem("P", METHODS, seeds=5, queries=12)
        self.study = self.results(self.made)

    def centre(self, column, statistic=np.mean, first=0):
        return {m: (np.arange(first, 13), statistic(self.trials(self.made, m, column, first), axis=0))
                for m in METHODS}

    def test_regret(self):
        for metric, column, first in (("simple", "simple_regret", 0), ("instantaneous", "instantaneous_regret", 1)):
            for band, statistic in ((figures.Band(), np.median), (figures.Band("quantile"), np.median),
                                    (figures.Band("se"), np.mean),
                                    (figures.Band("bootstrap"), np.mean)):
                found, = drawn.curves(figures.regret_grid(self.study, ["P"], metric, "linear", band))
                self.same(found, self.centre(column, statistic, first))

    def test_small_multiples(self):
        (_, figure), = panels.curve_figures(self.study, "problem", "simple", scale="linear")
        self.same(drawn.curves(figure)[0], self.centre("simple_regret", np.median))

    def test_figure_of_a_paper(self):
        spec = {"kind": "regret", "metric": "simple", "scale": "linear", "methods": METHODS[::-1],
                "panels": [[{"study": "s", "problem": "P"}]], "also": ["time"]}
        (_, _, figure), (_, _, timed) = paper_figures.draw(spec, {"s": self.study})
        self.same(drawn.curves(figure)[0], self.centre("simple_regret"))
        spent = {m: np.cumsum((self.trials(self.made, m, "cpu_fit", 1) + self.trials(
            self.made, m, "cpu_acquire", 1)).mean(axis=0)) for m in METHODS}
        mean = self.centre("simple_regret", first=1)
        found = drawn.curves(timed)[0]
        for m in METHODS:
            (x, y), = found[m]
            np.testing.assert_allclose(y, mean[m][1])
            np.testing.assert_allclose(x, spent[m])

    def test_figure_with_the_initial_design(self):
        """Curves over evaluations begin with the first point of the design, and the line stands at its last one."""
        made = synthetic.problem("P", METHODS, seeds=5, queries=12, initial=4)
        study = self.results(made, name="design.h5")
        spec = {"kind": "regret", "metric": "simple", "scale": "linear", "initial": True, "also": ["time"],
                "panels": [[{"study": "s", "problem": "P"}]]}
        (_, _, figure), (_, _, timed) = paper_figures.draw(spec, {"s": study})
        self.same(drawn.curves(figure)[0], {m: (np.arange(1, 17), self.trials(made, m, "simple_regret", -3).mean(axis=0))
                                            for m in METHODS})
        line, = (one for one in figure.axes[0].lines if len(one.get_xdata()) == 2)
        self.assertEqual(list(line.get_xdata()), [4, 4])
        self.assertIn(drawn.look(line), drawn.named(figure))
        self.assertIn("Evaluation", figure.axes[0].get_xlabel())
        self.assertNotIn("Evaluation", timed.axes[0].get_xlabel())

        (_, _, sums), = paper_figures.draw({**spec, "metric": "cumulative_reward", "also": []}, {"s": study})
        self.same(drawn.curves(sums)[0], {m: (np.arange(5, 17), np.cumsum(self.trials(made, m, "y", 1).mean(axis=0)))
                                          for m in METHODS})  # a study that counts no reward of the design

    @PROGRAM
    def test_confidence(self):
        found, = drawn.curves(figures.confidence_figure(self.study, 1000))
        recorded = {"GP-UCB", "RGP-UCB", "IRGP-UCB"}
        self.assertEqual(set(found), recorded | {"mean by formula", "95% interval by formula"})
        for m in recorded:
            (_, y), = found[m]
            np.testing.assert_allclose(y, self.trials(self.made, m, "confidence", 1).mean(axis=0))
        t = np.arange(1, 13)
        means = [2 * np.log(1000 * t**2 / np.sqrt(2 * np.pi)), np.full(12, 2 * np.log(500) + 2)]
        for expected in means:
            self.assertTrue(any(np.allclose(y, expected) for _, y in found["mean by formula"]))
        self.assertEqual([len(found[name]) for name in ("mean by formula", "95% interval by formula")], [3, 4])

    @PROGRAM
    def test_bounds(self):
        rows = [f"P,{m},,{quantity},{t},{k * t},bound," for k, m in enumerate(METHODS[1:], 2)
                for quantity, k in (("theorem_4_1", 10 * k), ("gp_ucb_expected", 10 * k + 1)) for t in range(1, 13)]
        rows += [f"P,EI,,{quantity},{t},{k * t},bound," for quantity, k in (("gamma_upper", 3), ("gamma_greedy", 2))
                 for t in range(1, 13)]
        path = self.scratch / "bounds.csv"
        path.write_text("\n".join([",".join(bounds.COLUMNS), *rows]) + "\n")
        table, t = bounds.read(path), np.arange(1, 13)
        found, = drawn.curves(bounds.regret_figure(self.study, table), drawn.bound_of)
        expected = self.centre("cumulative_regret", first=1)
        for k, m in enumerate(METHODS[1:], 2):
            expected[f"{m}: Theorem 4.1"] = t, 10.0 * k * t
            expected[f"{m}: GP-UCB, expected"] = t, (10.0 * k + 1) * t
        self.same(found, expected)
        found, = drawn.curves(bounds.gain_figure(self.study, table))
        self.same(found, self.centre("information_gain", first=1) | {
            "maximum information gain, upper bound": (t, 3.0 * t),
            "maximum information gain, greedy lower bound": (t, 2.0 * t)})

    def test_given_the_confidence_parameters(self):
        path, t = self.scratch / "bounds.csv", np.arange(1, 13)
        path.write_text("\n".join([",".join(bounds.COLUMNS), *(
            f"P,{m},,{quantity},{i},{k * i},bound," for m in METHODS for i in t
            for quantity, k in (("theorem_4_3", 3), ("theorem_4_1", 2)))]) + "\n")
        found, = drawn.curves(paper_figures.conditional_figure(self.study, bounds.read(path)))
        means = self.centre("cumulative_regret", first=1)
        self.assertEqual(len(found["given one sequence"]), len(METHODS))
        for _, y in means.values():
            self.assertTrue(any(np.allclose(y, other) for _, other in found["given one sequence"]))
        del found["given one sequence"]
        self.same(found, {"mean over sequences": (t, np.mean([y for _, y in means.values()], axis=0)),
                          "Theorem 4.3": (t, 3.0 * t), "Theorem 4.1": (t, 2.0 * t)})

    def test_profiles(self):
        table = profiles.hits(self.study)
        left, right = drawn.curves(overviews.profile_figure(table, "queries", METHODS))
        cost = {m: table.loc[table["algorithm"] == m, "cost"].to_numpy() for m in METHODS}
        best = table.groupby(["instance", "seed", "target"])["cost"].transform("min").to_numpy()
        ratio = np.maximum(table["cost"], 1.0) / np.maximum(best, 1.0)
        for m in METHODS:
            for found, values in ((left, cost[m]), (right, np.where(np.isfinite(table["cost"]), ratio, np.inf)[
                    (table["algorithm"] == m).to_numpy()])):
                (x, y), = found[m]
                for at in (1.0, 3.0, 7.0):
                    share = y[np.searchsorted(x, at, side="right") - 1] if at >= x[0] else 0.0
                    self.assertAlmostEqual(share, np.mean(values <= min(at, x[-1])), msg=m)

    @PROGRAM
    def test_fill_distance(self):
        spec = {"kind": "regret", "metric": "fill_distance", "scale": "log", "bounds": "fill", "errors": 0,
                "panels": [[{"study": "s", "problem": "P"}]]}
        long = synthetic.problem("P", METHODS, seeds=3, queries=40, initial=1)
        (_, _, figure), = paper_figures.draw(spec, {"s": self.results(long, name="long.h5")})
        found, n = drawn.curves(figure)[0], np.arange(1, 41) + 1.0
        (_, covering), = found.pop("covering bound")
        np.testing.assert_allclose(covering, 1.0 / np.sqrt(np.pi * n))  # n disks of this radius cover the square
        (_, slope), = found.pop("slope −1/d")
        np.testing.assert_allclose(slope / slope[0], np.sqrt(2.0 / n))
        self.same(found, {m: (np.arange(41), self.trials(long, m, "fill_distance").mean(axis=0)) for m in METHODS})

    @PROGRAM
    def test_bounds_of_kernel_regression(self):
        made = synthetic.problem("P", ["Random", "BOKE"], seeds=2, queries=6, dim=1, initial=1)
        made["arrays"]["x"] = np.round(made["arrays"]["x"] * 19) / 19
        figure = kernel_theory.bounds_figure(self.results(made, name="arms.h5"), "P", overviews.panel_rows)
        found, t = drawn.curves(figure)[0], np.arange(1.0, 8.0)
        arms = illustrations.damped_cosine(np.linspace(0.0, 1.0, 20))
        gaps, rest = arms.max() - arms, 1.0 + 2.0 * np.pi**2 / 3.0
        self.same(found, {m: (t, self.trials(made, m, "cumulative_regret").mean(axis=0))
                          for m in ("Random", "BOKE")} | {
            "Theorem 4.10, expected": (t, 2 * np.sqrt(0.64 * 20 * t * np.log(t)) + rest * 20 * gaps.max()),
            "its form in the gaps": (t, 0.64 * np.log(t) * (1 / gaps[gaps > 0]).sum() + rest * gaps.sum())})

    def test_dynamic_regret(self):
        """A figure of a paper says whose regret is dynamic."""
        made = [{**synthetic.problem(f"P{k}", ["Random", "BOKE"], seeds=2, queries=6), "options": options}
                for k, options in enumerate(("context=after", "context=before"))]
        study = self.results(*made, name="moving.h5")
        for shown, label, words in (([0, 1], "Simple regret", "Regret on P1 is dynamic"),
                                    ([1], "Simple dynamic regret", "Regret is dynamic"), ([0], "Simple regret", "")):
            panels_of = [[{"study": "s", "problem": f"P{k}"} for k in shown]]
            (_, _, figure), = paper_figures.draw({"kind": "regret", "panels": panels_of}, {"s": study})
            texts = " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text))
            self.assertIn(words, texts)
            self.assertEqual("dynamic" in texts, bool(words))
            self.assertTrue(figure.axes[0].get_ylabel().startswith(label))

    def test_ranks(self):
        """The mean rank stands behind the name, and its line ends there."""
        ranks = {m: 1.0 + k for k, m in enumerate(METHODS)}
        figure = overviews.rank_figure({"ranks": pd.Series(ranks), "critical_difference": 1.2, "n": 5, "p": 0.01})
        axes, = figure.axes
        starts = {tuple(line.get_xydata()[-1]): line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3}
        found = {text.get_text().split(" (")[0].strip(): starts[text.get_position()] for text in axes.texts
                 if text.get_position() in starts}
        self.assertEqual(found, ranks)


class OfASweep(Case):
    def test_final_values(self):
        pairs = [("Random", "")] + [(m, f"noise={v}") for m in ("EI", "mine", "GP-UCB") for v in (1, 2, 3)]
        made = synthetic.problem("P", [str(k) for k in range(len(pairs))], seeds=4, queries=4)
        cells = [(pairs[int(a)], i, s) for a, i, s in made["cells"]]
        made["cells"], made["swept"] = [(p[0], i, s) for p, i, s in cells], [p[1] for p, _, _ in cells]
        results = self.results(made)
        (_, figure), = sweep.over_figures(results, "noise", "simple", scale="linear")
        last = made["arrays"]["simple_regret"][:, -1]
        swept = np.array(made["swept"])

        def median(m, v):
            mine = np.array([cell[0] == m for cell in made["cells"]]) & np.isin(swept, ["", f"noise={v}"])
            return np.median(last[mine])
        self.same(drawn.curves(figure)[0], {
            m: ([1, 2, 3], [median(m, v) for v in (1, 2, 3)]) for m in ("Random", "EI", "mine", "GP-UCB")})


class ByFormula(Case):
    @PROGRAM
    def test_confidence_parameters_of_the_papers(self):
        """Figure 1(a) of arXiv:2409.00979."""
        t = np.arange(1, 201)
        found, = drawn.curves(figures.theory_figure(1000, 200))
        kappa = np.log(1000 * t**2) / np.log(1.5)
        self.same(found, {"GP-UCB": (t, 2 * np.log(1000 * t**2 / np.sqrt(2 * np.pi))), "RGP-UCB": (t, kappa),
                          "IRGP-UCB": (t, np.full(200, 2 * np.log(500) + 2.0))})

    @PROGRAM
    def test_roots_of_confidence_parameters(self):
        """Figure 1 of arXiv:2504.03172 at N = 1000, delta = 0.05; its numbers at t = 1000 by hand."""
        figure = paper_figures.roots_figure({"points": 1000, "range": [1, 1000]})
        _, found = drawn.curves(figure)
        t = np.arange(1.0, 1001.0)
        union = 1000 * np.pi**2 * t**2 / (6 * 0.05)
        nodes, weights = np.polynomial.laguerre.laggauss(64)
        self.same(found, {"Proposed": (t, np.full(1000, weights @ np.sqrt(2 * np.log(1000) + 2 * nodes))),
                          "RKHS": (t, 1 + np.sqrt(2 * (np.log(t) + 1 + np.log(20)))),
                          "Bayesian": (t, np.sqrt(2 * np.log(union))), "BPT-UCB": (t, union**0.1)})
        for label, value in (("RKHS", 5.67), ("Bayesian", 6.96), ("BPT-UCB", 11.27)):
            self.assertAlmostEqual(found[label][0][1][-1], value, delta=0.006)

    @PROGRAM
    def test_illustrations(self):
        made = {kind: illustrations.KINDS[kind](overviews.panel_rows) for kind in illustrations.KINDS}
        grid, f = illustrations.GRID, illustrations.damped_cosine
        for panel in drawn.curves(made["regression"]):
            (x, y), = panel["samples"]
            (_, curve), = panel["kernel regression"]
            self.assertTrue(np.ptp(curve) <= np.ptp(y) and y.min() <= curve.min() <= curve.max() <= y.max())
            np.testing.assert_allclose(panel["true function"][0][1], f(grid))
            np.testing.assert_allclose(y, f(x), atol=0.45)
        for panel in drawn.curves(made["density"]):
            np.testing.assert_allclose(panel["true density"][0][1], illustrations.mixture(grid))
            self.assertGreater(np.trapz(panel["kernel density"][0][1], grid), 0.6)
        left, right = drawn.curves(made["step"])
        points, values = illustrations.run(False, 0)
        m, _, upper = illustrations.acquisition(points, values)
        self.same(left, {"regression, with width": (grid, m), "true function": (grid, f(grid)),
                         "samples": (points, values)})
        self.same(right, {"IKR-UCB": (grid, upper), "next query": ([grid[upper.argmax()]], [upper.max()])})
        for k, panel in enumerate(drawn.curves(made["steps"])):
            points, values = illustrations.run(k >= 8, k % 8)
            m, _, upper = illustrations.acquisition(points, values)
            self.same(panel, {"regression": (grid, m), "IKR-UCB": (grid, upper), "true function": (grid, f(grid)),
                              "first samples": (points[:5], values[:5]), "queries": (points[5:], values[5:])})

    def test_shift(self):
        figure = illustrations.shift(overviews.panel_rows)
        names = {mine[0]: label for mine, label in drawn.named(figure).items()}
        lines = [line for line in figure.axes[1].lines if len(line.get_xdata()) > 2]
        c, x = np.linspace(-4.0, 6.0, 200001), np.linspace(-1.0, 1.0, 401)
        for line in lines:
            mean, sd = {"assumed, N(0.5, 0.1)": (0.5, 0.1), "true, N(0.6, 0.2)": (0.6, 0.2)}[
                names[drawn.look(line)[0]]]
            law = np.exp(-0.5 * ((c - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
            distance = np.trapz(np.abs(c - 0.5) * law, c)
            np.testing.assert_allclose(line.get_ydata(), 1 - distance / (np.abs(x) + 0.2) - np.sqrt(
                np.abs(x) + 0.05), atol=1e-7)
        self.assertEqual(len(lines), 2)


class OfRuntimes(Case):
    def table(self):
        random, rows = np.random.default_rng(0), []
        for k, m in enumerate(METHODS):
            for dim in (2, 3):
                for function in (1, 6):
                    for instance in range(3):
                        hits = np.cumsum(random.integers(1, 4 + k, len(runtime.TARGETS))).astype(float)
                        hits[hits > 100] = np.nan
                        rows.append({"algorithm": m, "dim": dim, "function": function, "instance": instance,
                                     "length": 100, "hits": hits})
        return pd.DataFrame(rows)

    def test_profiles(self):
        table = self.table()
        simulated = runtime.simulated_runtimes(table)
        figure = runtime_profiles.profile_figure(table, simulated, style.algorithm_styles(METHODS), 2)
        names = {mine[0]: label for mine, label in drawn.named(figure).items()}
        found = drawn.curves(figure, lambda mine, _: f"budget of {names[mine[0]]}")
        for panel, functions in zip(found, ([1], [6], [1, 6])):
            for m in METHODS:
                (x, y), = panel[m]
                runs = np.concatenate([simulated[m, 2, f].ravel() for f in functions])
                for at in (5.0, 20.0, 60.0):
                    self.assertAlmostEqual(y[np.searchsorted(x, at, side="right") - 1], np.mean(runs <= at), msg=m)
                (at, _), = panel[f"budget of {m}"]
                self.assertEqual(at, [50.0])

    def test_expected_runtimes(self):
        table = self.table()
        erts = runtime.ert_table(table)
        target = runtime_profiles.hardest(erts)
        for panel, function in zip(drawn.curves(runtime_profiles.ert_figure(
                table, style.algorithm_styles(METHODS))), (1, 6)):
            for m in METHODS:
                (dims, values), = panel[m]
                for dim, value in zip(dims, values):
                    mine = table[(table["algorithm"] == m) & (table["dim"] == dim) & (table["function"] == function)]
                    at = np.array([hits[[f"{t:g}" for t in runtime.TARGETS].index(target)] for hits in mine["hits"]])
                    reached = np.isfinite(at)
                    expected = (np.where(reached, at, 100).sum() / reached.sum() / dim) if reached.any() else np.nan
                    np.testing.assert_allclose(value, expected)
