"""The content of figures: golden curves, scales, styles, legends that cover nothing, equal bytes."""

import common
import numpy as np
import synthetic
from matplotlib.backends.backend_agg import FigureCanvasAgg
from regatta_analysis.figures import style
from regatta_analysis.figures.figures import (BANDS, Band, confidence_figure, confidence_problems,
                                      confidence_summary, regret_grid, theory_figure)
from regatta_analysis.stats.regret import regret_curves
from regatta_analysis.stats.statistics import summarise
from regatta_analysis.stats.summaries import cell_summaries


class Figures(common.Case):
    @classmethod
    def setUpClass(cls):
        cls.pool = synthetic.problem("Pool", seeds=5, queries=80, finite=94, random_state=4)
        cls.box = synthetic.problem("Box", seeds=4, queries=30, scale=4e6, failed=(0,),
                                    missing=(32, 33, 34, 35), random_state=5)

    def results(self, *problems):
        path = self.scratch / "study.h5"
        return synthetic.loaded(path, problems)

    def lines(self, figure, panel=0):
        return {line.get_label(): line for line in figure.axes[panel].lines
                if not line.get_label().startswith("_")}

    def test_golden_curves(self):
        results = self.results(synthetic.problem("P", ["IRGP-UCB", "EI"], instances=2, seeds=3,
                                                 queries=6))
        self.assert_golden(summarise(regret_curves(results, "P", "cumulative")), "curves")
        self.assert_golden(confidence_summary(results, "P"), "confidence")

    def test_lines_are_the_summary(self):
        results = self.results(self.box)
        summary = summarise(regret_curves(results, "Box", "cumulative")).set_index("algorithm")
        lines = self.lines(regret_grid(results, ["Box"], "cumulative"))
        self.assertEqual(set(lines), set(synthetic.ALGORITHMS) - {"Random"})
        np.testing.assert_allclose(lines["EI"].get_xdata(), summary.loc["EI", "t"])
        np.testing.assert_allclose(lines["EI"].get_ydata(), summary.loc["EI", "median"])
        for kind in ("se", "bootstrap"):
            lines = self.lines(regret_grid(results, ["Box"], "cumulative", band=Band(kind)))
            np.testing.assert_allclose(lines["EI"].get_ydata(), summary.loc["EI", "mean"])

    def test_median_bands_are_order_statistics(self):
        results = self.results(synthetic.problem("P", ["EI"], seeds=12, queries=6))
        found = cell_summaries(results, "P", "simple", bootstrap=True)
        values = regret_curves(results, "P", "simple").to_numpy()
        middle, low, high = Band("median").of(found)
        np.testing.assert_allclose(middle, np.median(values, axis=0))
        np.testing.assert_allclose(low, np.sort(values, axis=0)[2])  # 12 trials: 96% between the third and the tenth
        np.testing.assert_allclose(high, np.sort(values, axis=0)[9])
        title = regret_grid(results, ["P"], "simple", band=Band("median")).legends[0].get_title().get_text()
        self.assertIn("median with 95% interval", title)

    def test_a_stuck_trial_does_not_flood_a_logarithmic_chart(self):
        stuck = synthetic.problem("P", ["EI"], seeds=6, queries=6)
        stuck["arrays"]["simple_regret"][3] = 1e5
        results = self.results(stuck)
        found = cell_summaries(results, "P", "simple")
        for factor in (1.0, 1.5):
            mean, low, high = Band("se", factor=factor).of(found)
            self.assertTrue((low > 0.2 * mean).all())
            np.testing.assert_allclose(np.log(high / mean), factor * found["se"] / found["mean"])
            np.testing.assert_allclose(mean / low, high / mean)
        title = regret_grid(results, ["P"], "simple", band=Band("se")).legends[0].get_title().get_text()
        self.assertIn("exp(error / mean)", title)  # said, because it is not mean - error

    def test_errors_are_over_instances(self):
        """Ten seeds on each of ten functions are ten independent units, in every kind of band."""
        made = synthetic.problem("P", ["EI"], instances=10, seeds=10, queries=4)
        instance = np.array([i for _, i, _ in made["cells"]])
        made["arrays"]["simple_regret"] = np.exp(instance)[:, None] * np.ones_like(made["arrays"]["simple_regret"])
        results = self.results(made)
        found = cell_summaries(results, "P", "simple", bootstrap=True).iloc[[-1]]
        values = np.exp(np.arange(10.0))
        middle, low, high = (v.item() for v in Band().of(found))
        np.testing.assert_allclose([middle, low, high], [np.median(values), values[1], values[8]])
        mean, _, high = (v.item() for v in Band("se").of(found))
        np.testing.assert_allclose(np.log(high / mean), values.std(ddof=1) / 10**0.5 / values.mean())
        mean, low, high = (v.item() for v in Band("bootstrap").of(found))
        self.assertGreater(high - low, 2.0 * values.std() / 10**0.5)
        title = regret_grid(results, ["P"], "simple").legends[0].get_title().get_text()
        self.assertIn("over 100 trials of 10 instances", title)

    def test_one_default(self):
        """The command, the page, the tables and Python draw the same statistic, and offer the same ones."""
        from regatta_analysis.__main__ import _study_parser
        options = _study_parser()
        option = next(a for a in options._actions if a.dest == "band")
        self.assertEqual((option.default, tuple(option.choices), Band().kind), (BANDS[0], BANDS, BANDS[0]))
        results = self.results(self.box)
        first, second = (self.lines(figure)["EI"].get_ydata() for figure in (
            regret_grid(results, ["Box"], "simple"), results.figure("simple")))
        np.testing.assert_array_equal(first, second)

    def test_missing_cells_are_named(self):
        legend = regret_grid(self.results(self.box), ["Box"], "simple").legends[0]
        texts = [text.get_text() for text in legend.get_texts()]
        self.assertIn("Random (missing)", texts)
        self.assertIn("IRGP-UCB (3 of 4)", texts)
        self.assertIn("over 3 to 4 trials", legend.get_title().get_text())

    def test_scales(self):
        results = self.results(self.pool, self.box)
        axes = regret_grid(results, ["Pool"], "simple", band=Band("se")).axes[0]
        self.assertEqual(axes.get_yscale(), "symlog")  # zeros are there and must be seen
        self.assertLess(axes.get_ylim()[0], 0.0)
        self.assertEqual(regret_grid(results, ["Pool"], "simple", "linear").axes[0].get_yscale(),
                         "linear")
        self.assertEqual(regret_grid(results, ["Pool"], "cumulative").axes[0].get_yscale(),
                         "linear")
        axes = regret_grid(results, ["Box"], "cumulative", "log").axes[0]
        self.assertEqual(axes.get_yscale(), "log")
        self.assertIn("10^{", regret_grid(results, ["Box"], "cumulative").axes[0].get_ylabel())

    def test_zero_is_announced(self):
        figure = regret_grid(self.results(self.pool), ["Pool"], "simple", "log")
        self.assertIn("to show 0", figure.legends[0].get_title().get_text())

    def test_regret_that_is_zero_throughout(self):
        flat = synthetic.problem("Flat", ["EI"], seeds=2, queries=4, finite=2, scale=1e-9)
        for name in ("simple_regret", "cumulative_regret"):
            flat["arrays"][name][:] = 0.0
        for scale in ("auto", "log", "linear"):
            figure = regret_grid(self.results(flat), ["Flat"], "simple", scale)
            self.assertEqual(figure.axes[0].get_yscale(), "linear")

    def test_nothing_overlaps(self):
        """The legend is below all panels, inside the page, and so is every label."""
        long = dict(self.pool, label="A problem with a very long name, noise variance = 0.0001")
        results = self.results(self.pool, self.box, long)
        for figure in (regret_grid(results, ["Pool"], "simple"),
                       regret_grid(results, results.problems, "simple")):
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            first = np.asarray(canvas.buffer_rgba()).copy()
            canvas.draw()
            self.assertTrue((first == np.asarray(canvas.buffer_rgba())).all(), "drawn once more it is another figure")
            renderer = canvas.get_renderer()
            legend = figure.legends[0].get_window_extent(renderer)
            self.assertTrue(figure.bbox.contains(legend.x0, legend.y0))
            self.assertTrue(figure.bbox.contains(legend.x1, legend.y1))
            for axes in figure.axes:
                box = axes.get_tightbbox(renderer)
                self.assertGreaterEqual(box.y0, legend.y1 - 1)
                self.assertGreaterEqual(box.x0, -1)
                self.assertLessEqual(box.x1, figure.bbox.x1 + 1)
                self.assertLessEqual(box.y1, figure.bbox.y1 + 1)

    def test_sizes(self):
        results = self.results(self.pool, self.box)
        self.assertAlmostEqual(regret_grid(results, ["Pool"], "simple").get_figwidth(), 3.4)
        self.assertAlmostEqual(regret_grid(results, results.problems, "simple").get_figwidth(), 7.0)

    def test_styles_differ_and_stay(self):
        styles = style.algorithm_styles(synthetic.ALGORITHMS)
        self.assertEqual(len({(s["color"], s["marker"]) for s in styles.values()}), 9)
        alone = style.algorithm_styles(["Random", "MES"])
        self.assertEqual(alone["MES"], styles["MES"])
        self.assertEqual(alone["Random"], styles["Random"])
        many = style.algorithm_styles([f"method {k}" for k in range(40)])
        self.assertEqual(len({(s["color"], s["marker"]) for s in many.values()}), 40)

    def test_confidence(self):
        results = self.results(self.pool, synthetic.problem("Plain", ["EI"], seeds=2, queries=5))
        self.assertEqual(confidence_problems(results), ["Pool"])
        summary = confidence_summary(results, "Pool").set_index("algorithm")
        self.assertEqual(set(summary.index), {"IRGP-UCB", "GP-UCB", "RGP-UCB"})
        self.assertTrue((summary["t"] >= 1).all())
        figure = confidence_figure(results, points=94)
        laws = [line.get_ydata() for line in figure.axes[0].lines if line.get_color() == "k"]
        self.assertEqual(len(laws), 7)  # three means; the edges of two random laws
        measured = self.lines(figure)["GP-UCB"].get_ydata()
        self.assertTrue(any(np.allclose(measured, law) for law in laws))
        lines = confidence_figure(results).axes[0].lines
        self.assertEqual(len([line for line in lines if line.get_color() == "k"]), 0)

    def test_theory(self):
        figure = theory_figure(1000, 50)
        self.assertEqual(len(figure.axes[0].lines), 3)
        self.assertEqual([t.get_text() for t in figure.legends[0].get_texts()],
                         ["GP-UCB", "RGP-UCB", "IRGP-UCB"])

    def test_equal_bytes(self):
        results = self.results(self.box)
        for stem in ("first", "second"):
            style.save(regret_grid(results, ["Box"], "simple"), self.scratch / stem, ["pdf", "png", "svg"])
        for suffix in ("pdf", "png", "svg"):
            first, second = ((self.scratch / f"{stem}.{suffix}").read_bytes()
                             for stem in ("first", "second"))
            self.assertEqual(first, second)
            self.assertNotIn(b"CreationDate", first)
            self.assertNotIn(b"/Type3", first)
