"""Sweeps as data: settings as columns, methods that don't read one at each of its values, selections,
figures and the table over settings."""
import json
import pathlib
import re
import shutil
from unittest import mock

import common
import h5py
import numpy as np
import pandas as pd
import synthetic
from common import run
from regatta_analysis import InputError, load
from regatta_analysis.figures import overviews, panels, style, sweep as figures
from regatta_analysis.load import settings
from regatta_analysis.stats import inference, sweep

NOISE, KERNELS = ("1e-4", "1e-2", "1e-1"), ("gaussian", "matern52")


class Near(common.Case):
    def test_settings_that_differ_in_the_last_digit_stay_apart(self):
        """In frames, figures and every file of tables."""
        own = [f"a={text}, b={b}" for text in ("0.3", "0.30000000000000004", "1e-1") for b in (1, 2)]
        parts = synthetic.problem("P", [f"EI ({text})" for text in own] + ["Random"], seeds=3, queries=4)
        parts["swept"] = [cell[0][4:-1] if "(" in cell[0] else "" for cell in parts["cells"]]
        results = synthetic.loaded(self.scratch / "near.h5", [parts])
        table = sweep.final_values(results, "simple")
        self.assertEqual(sorted(table["a"].unique()), [0.1, 0.3, 0.1 + 0.2])
        self.assertEqual(table.groupby(["method", "a"]).size().tolist(), [6] * 6)
        self.assertEqual(len(sweep.differences(table, "EI", "Random", ["a", "b"])), 6)
        with common.no_drawing():
            self.assertEqual(run(self.scratch / "near.h5", "--out", self.scratch / "out", "--formats", "png")[0], 0)
        for path in (self.scratch / "out").glob("*.csv"):
            text = path.read_text()
            if "EI (a=" not in text and path.name != "effects.csv":
                continue
            for value in ("0.3", "0.30000000000000004"):
                self.assertRegex(text, rf"(?<![\d.]){value}(?!\d)", path)


class Sweep(common.Case):
    """A number that all read, and a word that one method reads; random search reads neither."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        cls.path = cls.directory / "study.h5"
        settings = [("Random", "")] + [("EI", f"noise={v}") for v in NOISE] + [
            (f"GP-UCB (kernel={k})", f"noise={v}, kernel={k}") for v in NOISE for k in KERNELS]
        part = synthetic.problem("Box", [str(k) for k in range(len(settings))], seeds=3, queries=4)
        cells = [(settings[int(a)], i, s) for a, i, s in part["cells"]]
        part["cells"] = [(pair[0], i, s) for pair, i, s in cells]
        part["swept"] = [pair[1] for pair, _, _ in cells]
        cls.final = part["arrays"]["simple_regret"][:, -1]
        cls.cells = cells
        synthetic.write(cls.path, [part])

    def setUp(self):
        super().setUp()
        self.results = load(self.path)

    def test_settings_are_columns(self):
        table = sweep.final_values(self.results, "simple")
        self.assertEqual(sweep.names(self.results), ["noise", "kernel"])
        self.assertEqual(list(dict.fromkeys(table["method"])), ["Random", "EI", "GP-UCB"])
        self.assertEqual(set(table["noise"]), {1e-4, 1e-2, 1e-1})
        self.assertEqual(set(table["kernel"]), set(KERNELS))
        one = table[(table["method"] == "GP-UCB") & (table["noise"] == 1e-2)
                    & (table["kernel"] == "matern52")]
        known = [v for v, (pair, _, _) in zip(self.final, self.cells)
                 if pair[1] == "noise=1e-2, kernel=matern52"]
        np.testing.assert_array_equal(np.sort(one["value"]), np.sort(known))

    def test_what_is_not_read_stands_at_every_value(self):
        table = sweep.final_values(self.results, "simple")
        counts = table.groupby(["method", "noise", "kernel"]).size()
        self.assertEqual((len(counts), set(counts)), (3 * 3 * 2, {3}))
        random = table[table["method"] == "Random"].groupby(["noise", "kernel"])["value"]
        self.assertEqual(len({tuple(np.sort(v)) for _, v in random}), 1)

    def test_logarithmic_axis(self):
        for values, spread in (([1e-4, 1e-2, 1e-1], True), ([1, 2, 4, 8], True), ([1, 2, 3, 4], False), ([1e-4, 1e-2], True),
                               ([1, 2], False), ([0, 1, 100], False)):
            self.assertEqual(sweep.is_spread(values), spread, values)
        for values, kind in (([1, 2, 3], "linear"), ([4, 8, 16], "log"), ([0.0, 1e-4, 1e-2], "steps"), ([5], "linear"),
                             (["a", "b"], "words"), ([0.0, 1.0, 2.0], "linear")):
            self.assertEqual(sweep.axis_of(values), kind)

    def test_ticks_are_the_values(self):
        """Each value of a setting has a tick, and those of an axis are written in one way."""
        made = [synthetic.problem("P", ["A"] * 3, seeds=2, queries=3) for _ in range(3)]
        axes = (("4", "8", "16"), ("0", "1e-4", "1e-2"), ("1e-7", "1e-6", "3e-5"))
        shown = (["4", "8", "16"], ["0", "0.0001", "0.01"], ["$10^{-7}$", "$10^{-6}$", r"$3 \times 10^{-5}$"])
        for part, values, expected in zip(made, axes, shown):
            part["swept"] = [f"u={values[k // 2]}" for k in range(6)]
            (_, figure), = figures.over_figures(synthetic.loaded(self.scratch / "s.h5", [part]), "u", "simple")
            self.assertEqual([t.get_text() for t in figure.axes[0].get_xticklabels()], expected)
            self.assertEqual(len(figure.axes[0].get_xticks()), 3)

    def test_figures(self):
        (words, figure), = figures.over_figures(self.results, "noise", "simple")
        self.assertEqual((words, len(figure.axes)), ("", 2))  # a panel per kernel
        for axes in figure.axes:
            self.assertEqual(axes.get_xscale(), "log")
            self.assertEqual([list(line.get_xdata()) for line in axes.lines if len(
                line.get_xdata()) == 3], [[1e-4, 1e-2, 1e-1]] * 3)
        (_, figure), = figures.over_figures(self.results, "kernel", "simple",
                                            figures.figures.Band("bootstrap"))
        self.assertEqual(len(figure.axes), 3)
        self.assertEqual([t.get_text() for t in figure.axes[0].get_xticklabels()], list(KERNELS))
        self.assertEqual({line.get_linestyle() for line in figure.axes[0].lines}, {"None"})  # nothing joins two words
        self.assertFalse([c for c in figure.axes[0].collections if hasattr(c, "get_paths") and len(c.get_paths()[0]) > 2])

    def test_panels_by_a_setting(self):
        """A figure per value of what is left, the same axis in its panels; random search is in all."""
        found = panels.curve_figures(self.results, "kernel", "simple")
        self.assertEqual([words for words, _ in found], [f"Box, noise = {float(v)}" for v in NOISE])
        table = sweep.final_values(self.results, "simple")
        for (_, figure), noise in zip(found, map(float, NOISE)):
            self.assertEqual([axes.get_title(loc="left").replace("\u00a0", " ") for axes in figure.axes],
                             [f"kernel = {k}" for k in KERNELS])
            self.assertEqual(len({axes.get_ylim() for axes in figure.axes}), 1)
            for axes, kernel in zip(figure.axes, KERNELS):
                mine = table[(table["noise"] == noise) & (table["kernel"] == kernel)]
                means = mine.groupby("method", sort=False)["value"].median()
                drawn = {line.get_label(): line.get_ydata()[-1] for line in axes.lines
                         if line.get_label() in means}
                self.assertEqual(list(drawn), ["Random", "EI", "GP-UCB"])
                np.testing.assert_allclose([drawn[m] for m in drawn], means[list(drawn)])

    def test_panels_by_problem_and_of_final_values(self):
        found = panels.curve_figures(self.results, "problem", "simple", most=4)
        self.assertEqual([(words, len(figure.axes)) for words, figure in found],
                         [(f"noise = {float(v)}, kernel = {k}", 1) for v in NOISE for k in KERNELS][:4])
        (words, figure), = figures.over_figures(self.results, "noise", "simple", panel="kernel")
        self.assertEqual((words, len(figure.axes)), ("Box", 2))
        with self.assertRaisesRegex(InputError, "no panels by 'noise' .there can be, by: problem, kernel"):
            figures.over_figures(self.results, "noise", "simple", panel="noise")

    def test_heat_maps(self):
        (words, figure), = figures.heat_figures(self.results, "noise", "kernel", "simple", "EI")
        maps = {axes.get_title(loc="left"): axes for axes in figure.axes if axes.get_title(loc="left")}
        self.assertEqual(list(maps), ["EI", "GP-UCB", "Random / EI", "GP-UCB / EI", "Best, if told apart"])
        self.assertEqual([axes.get_ylabel() for axes in figure.axes if axes.get_ylabel() not in ("", "kernel")],
                         ["median", "typical ratio"])  # a bar for each scale of colours, which Random does not stretch
        self.assertIn("Random does not depend on them", figure._supxlabel.get_text().replace("\n", " "))
        table = sweep.final_values(self.results, "simple")
        cells = table.set_index("seed").groupby(["method", "kernel", "noise"])["value"]
        self.assertEqual([t.get_text().split("\n")[0] for t in maps["GP-UCB"].texts],
                         [f"{cells.median()['GP-UCB', k, v]:.3g}" for k in KERNELS for v in (1e-4, 1e-2, 1e-1)])
        ratio = np.median(np.log(cells.get_group(("GP-UCB", KERNELS[0], 1e-4)) / cells.get_group(("EI", KERNELS[0], 1e-4))))
        self.assertEqual(maps["GP-UCB / EI"].texts[0].get_text(), f"{np.exp(ratio):.3g}")
        width, _ = figure.canvas.get_width_height()
        for text in (figure._suptitle, figure._supxlabel):
            box = text.get_window_extent(figure.canvas.get_renderer())
            self.assertTrue(0 <= box.x0 and box.x1 <= width, text.get_text())
        self.assertEqual({t.get_text() for t in maps["Best, if told apart"].texts}, {"–"})  # three seeds show nothing
        with self.assertRaisesRegex(InputError, "no algorithm 'Q'"):
            figures.heat_figures(self.results, "noise", "kernel", "simple", "Q")

    def test_best_of_a_heat_map(self):
        """No method is best with fewer trials than planned, with an infinite value, or together with such a one; nor one
        that is not told apart by the comparison of the table of all pairs."""
        values = {0: (1.0, 2.0), 1: (1.0, 2.0), 2: (2.0, 1.0), 3: (np.inf, 1.0), 4: (1.0, 1.0)}
        made = synthetic.problem("P", ["A", "B"] * 5, seeds=14, queries=4)
        u = np.repeat(np.arange(5), 28)
        made["swept"] = [f"u={k}, v=1" for k in u]
        made["settings"] = {"u": ("problem", u.astype(np.int32)), "v": ("problem", np.ones(140, np.int32))}
        for k, (method, _, _) in enumerate(made["cells"]):
            made["arrays"]["simple_regret"][k] = values[u[k]]["AB".index(method)]
        made["status"][0], made["n_rows"][0] = 2, 3  # a trial of A fails where A would be the best
        results = synthetic.loaded(self.scratch / "s.h5", [made])
        table = sweep.final_values(results, "simple")
        pairs = inference.comparisons(results, "simple")
        np.testing.assert_array_equal(sweep.differences(table, "A", "B", ("u", "v"))["p"], pairs["p"])
        heat = figures._Heat(table, "P", ("u", "v"), "simple", ["A", "B"], False)
        self.assertEqual(heat.winners().tolist(), [[-1, 0, 1, 1, -1]])
        self.assertEqual(figures._Heat(table, "P", ("u", "v"), "simple", ["A", "B"], True).winners().tolist(),
                         [[1, 1, 0, -1, -1]])
        for seed in range(4):  # A and B are as good on three trials, and B is better on the others
            table.loc[(table["u"] == 2) & (table["seed"] == seed), "value"] = [1.0, 3.0]
        self.assertEqual(figures._Heat(table, "P", ("u", "v"), "simple", ["A", "B"], False).winners().tolist(),
                         [[-1, 0, -1, 1, -1]])

    def test_colours_of_a_heat_map(self):
        """Logarithmic where values cover a factor of 20, linear near 0, linear where some are negative."""
        norm, words = figures.colours_of([1e-5, 1e-3, 1e-1, np.inf])
        np.testing.assert_allclose(norm([1e-5, 1e-3, 1e-1]), [0.0, 0.5, 1.0])
        self.assertIn("logarithmic", words)
        norm, words = figures.colours_of([0.0, 1e-5, 1e-1])
        self.assertEqual((norm(0.0), norm(1e-1), 0.02 < norm(1e-5) < 0.2), (0.0, 1.0, True))
        for values in ([1.0, 3.0], [-1e-5, 1.0], [], [0.0, 0.0]):
            norm, words = figures.colours_of(values)
            self.assertEqual((norm((norm.vmin + norm.vmax) / 2), words), (0.5, ""))

    def test_parameters_of_several_methods(self):
        """Methods that sweep parameters of their own add panels; those of different methods are never combined."""
        methods, values = [f"M{k}" for k in range(6)], (1, 2, 3)
        labels = [("Random", "")] + [(f"{m} (p{m}={v})", f"p{m}={v}, s={s}") for m in methods for v in values
                                     for s in (1, 2)]
        labels[0] = ("Random", "s=1")
        labels.insert(1, ("Random", "s=2"))
        part = synthetic.problem("Box", [str(k) for k in range(len(labels))], seeds=2, queries=3)
        chosen = [labels[int(a)] for a, _, _ in part["cells"]]
        part["cells"] = [(label, i, s) for (label, _), (_, i, s) in zip(chosen, part["cells"])]
        part["swept"] = [swept for _, swept in chosen]
        results = synthetic.loaded(self.scratch / "s.h5", [part])
        table = sweep.final_values(results, "simple")
        self.assertEqual(len(table), 2 * 2 * 6 * 3 * 2)  # method and Random, s, methods, values, seeds
        self.assertEqual(len(panels.views(results, "simple")), 2 * 6 * 3)
        for view in panels.views(results, "simple"):
            self.assertEqual(len([m for m, pair in view.cells.items() if pair]), 2)
        for name in ("pM3", "s"):
            made = figures.over_figures(results, name, "simple")
            drawn = [[text.get_text() for text in figure.legends[0].get_texts()] for _, figure in made]
            self.assertEqual(sum(len(figure.axes) for _, figure in made), 2 if name == "pM3" else 18)
            self.assertEqual(set(sum(drawn, [])), {"Random", "M3"} if name == "pM3" else {"Random", *methods})
        self.assertEqual(sweep.pair(results), ("pM0", "s") if results.settings[0] == "pM0" else ("s", "pM0"))
        with self.assertRaisesRegex(InputError, "no trial has both 'pM0' and 'pM1'"):
            figures.heat_figures(results, "pM0", "pM1", "simple")

    def test_differences(self):
        table = sweep.final_values(self.results, "simple")
        found = sweep.differences(table, "EI", "Random", ("kernel", "noise"))
        one = table[(table["kernel"] == "gaussian") & (table["noise"] == 1e-2)].pivot_table(
            index="seed", columns="method", values="value")
        self.assertEqual(found.loc[("gaussian", 1e-2), "scale"], "ratio")
        self.assertAlmostEqual(found.loc[("gaussian", 1e-2), "effect"], np.median(np.log(one["EI"] / one["Random"])))
        table.loc[table["method"] == "EI", "value"] -= 100.0
        self.assertEqual(set(sweep.differences(table, "EI", "Random", ("kernel", "noise"))["scale"]), {"difference"})

    def test_sensitivity(self):
        table = sweep.final_values(self.results, "simple")
        found = sweep.sensitivity(table, self.results, "simple").set_index(["method", "setting"])
        self.assertEqual({tuple(key) for key in found.index}, {  # random search reads neither, EI reads one
            ("EI", "noise"), ("GP-UCB", "noise"), ("GP-UCB", "kernel")})
        mine = table[table["method"] == "EI"].groupby("noise")["value"].median()
        self.assertEqual(found.loc[("EI", "noise"), "best_at"], mine.idxmin())
        self.assertAlmostEqual(found.loc[("EI", "noise"), "least"], mine.min())

    def test_select(self):
        some = self.results.select(where={"noise": "0.01", "kernel": "matern52"})
        self.assertEqual(set(some.trials["swept"]), {"", "noise=1e-2", "noise=1e-2, kernel=matern52"})
        some = self.results.select(["Box"], ["GP-UCB"])
        self.assertEqual(some.algorithms, [f"GP-UCB (kernel={k})" for k in KERNELS])
        for arguments, words in (({"problems": ["Q"]}, "no problem 'Q'"),
                                 ({"algorithms": ["Q"]}, "no algorithm 'Q'"),
                                 ({"where": {"Q": "1"}}, "no setting 'Q'"),
                                 ({"where": {"noise": "7"}}, "no noise=7 in it .it has: 1e-1, ")):
            with self.assertRaisesRegex(InputError, words):
                self.results.select(**arguments)

    def test_command(self):
        out = self.scratch / "out"
        self.assertEqual(run(self.path, "--out", out, "--formats", "png", "--where", "kernel=gaussian", "--over", "noise",
                             "--algorithms", "EI", "GP-UCB", "--metric", "simple")[0], 0)
        self.assertTrue((out / "over_noise_simple.png").exists())
        self.assertFalse((out / "over_kernel_simple.png").exists())
        self.assertIn("### Sensitivity", (out / "summary.md").read_text())
        written = pd.read_csv(out / "curves.csv").drop_duplicates(["algorithm", "noise", "kernel"])
        self.assertEqual(len(written), 3 + 3)  # EI, and GP-UCB of one kernel
        self.assertEqual(set(written["noise"]), {1e-4, 1e-2, 1e-1})
        run(self.path, "--out", out, "--formats", "png", "--over", "noise,kernel", "--baseline", "EI", "--metric", "simple")
        self.assertTrue((out / "heat_noise_kernel_simple_1.png").exists())
        _, said, _ = run(self.path, "--out", out, "--formats", "png", "--panel", "kernel", "--metric", "simple", "--page",
                         out / "page.html")
        self.assertIn(f"\nReport: {out / 'page.html'}\n", said)
        self.assertTrue((out / "regret_by_kernel_3_simple.png").exists())
        self.assertIn("Simple regret by kernel: Box, noise = 0.1<", (out / "page.html").read_text())
        self.assertIn("<summary>Small multiples by kernel</summary>", (out / "page.html").read_text())
        for wrong in (["--over", "x"], ["--panel", "x"], ["--over", "noise", "--panel", "noise"], ["--over", "a,b,c"], ["--baseline", "Q"],
                      ["--where", "noise=3"], ["--where", "noise"]):
            out = self.scratch / "wrong"
            with self.subTest(wrong=wrong):
                code, _, errors = run(self.path, "--out", out, *wrong)
                self.assertEqual((code, errors.count("\n")), (2, 1))
                self.assertEqual(list(out.glob("*.p*")), [])  # found before anything is drawn


class Kept(common.Case):
    """The files of tests/data of a sweep of a number, a word and a block, with methods that read one (density_exploration), two (turbo), three (gp_ucb) and none (random)."""

    DATA = pathlib.Path(__file__).resolve().parents[1] / "data"

    def of(self, name):
        return load(self.DATA / f"results-{name}.h5")

    def test_columns_are_typed(self):
        for name, block in (("v2", "maximiser"), ("v3", "maximiser")):
            results = self.of(name)
            self.assertEqual(results.settings, ["surrogate.variance", "surrogate.kernel", block])
            self.assertEqual([results.full_name(n) for n in ("kernel", "surrogate.variance", "problem")],
                             ["surrogate.kernel", "surrogate.variance", "problem"])
            for frame in (results.trials, results.data, results.group(results.problems[0]).trials):
                self.assertEqual(frame["surrogate.variance"].dtype, float)
                self.assertLess(set(frame["surrogate.kernel"].cat.categories), {"", *KERNELS, "?"})
            self.assertEqual(results.places, ["branin"])
            data = results.data.drop(columns="best")  # a group has no best value so far
            pd.testing.assert_frame_equal(results.group("branin").tidy()[list(data)], data)
            trials = results.trials
            self.assertEqual((len(trials), set(trials["problem"])), (30, {"branin"}))
            mine = trials[trials["algorithm"] == "turbo"]
            self.assertEqual(set(mine["surrogate.variance"]), {0.5, 2.0})
            self.assertTrue((mine[block] == "").all())
            self.assertEqual(results.counts(), {"planned": 30, "done": 30, "failed": 0, "missing": 0})
        about = self.of("v2").xarray("branin")["surrogate.variance"].attrs
        self.assertIn("signal variance", about["description"])
        self.assertEqual((about["part"], about["units"]), ("surrogate", "1"))

    def test_what_is_not_read_stands_in_every_panel(self):
        for name in ("v2", "v3"):
            results = self.of(name)
            self.assertEqual(len(results.problems), 8)
            self.assertEqual(set(results.cells()["done"]), {2})
            ids = [tuple(group.texts("id")[group.column("algorithm") == "random"])
                   for group in map(results.group, results.problems)]
            self.assertEqual(len(set(ids)), 1)
            with mock.patch.object(inference.comparison, "holm", wraps=inference.comparison.holm) as holm:
                pairs = inference.comparisons(results, "simple")
            self.assertEqual((len(pairs), set(pairs["n"])), (8 * 6, {2}))
            # density_exploration has 2 cells, turbo 4, gp_ucb 8: the number of pairs of cells that are different tests
            self.assertEqual(len(holm.call_args[0][0]), 2 + 4 + 8 + 2 * 4 + 8 + 8)
        self.assertEqual(set(results.select(where={"variance": 2, "kernel": "matern52"}).trials["cell"]),
                         set(results.trials[(results.trials["surrogate.variance"] != 0.5) & (
                             results.trials["surrogate.kernel"] != "gaussian")]["cell"]))

    def test_short_names_of_settings(self):
        """Long values of several settings have a number in file names, titles and menus, and a table says what it is."""
        results, out = self.of("v2"), self.scratch / "out"
        texts = {"S1": "surrogate.variance = 0.5, surrogate.kernel = gaussian, maximiser = {raw_samples=32, restarts=2}"}
        self.assertEqual({"S1": results.index["S1"]}, texts)
        self.assertEqual([results.title_of(p) for p in results.problems], [f"branin (S{k})" for k in range(1, 9)])
        self.assertEqual(len(set(results.index.values())), len(results.index))
        self.assertEqual(results.short({"surrogate.variance": 0.5, "surrogate.kernel": "gaussian",
                                        "maximiser": "{raw_samples=32,restarts=2}"}), "S1")
        self.assertEqual(results.short({"surrogate.kernel": "gaussian"}), "surrogate.kernel = gaussian")
        with mock.patch.object(style, "write", lambda figure, file, *_: None):
            self.assertEqual(run(self.DATA / "results-v2.h5", "--out", out, "--formats", "png", "--over", "kernel", "--metric",
                                 "simple", "--page", out / "page.html")[0], 0)
        text, page = (out / "summary.md").read_text(), (out / "page.html").read_text()
        self.assertIn("[regret_all_simple.png]", text)
        self.assertIn("| branin (S1) (T =", text)
        for name, words in results.index.items():
            self.assertIn(f"<td>{name}</td><td>{words}</td>", re.sub("<td [^>]*>", "<td>", page))
        chart = json.loads(re.search(r'id="charts">(.*?)</script>', page)[1])[0]
        self.assertEqual((chart["panels"][0], chart["heads"][0]), ("branin, S1", "branin, S1: " + texts["S1"]))
        self.assertLess(max(map(len, chart["panels"])), 20)

    def test_a_setting_that_was_altered(self):
        path = self.scratch / "altered.h5"
        path.write_bytes((self.DATA / "results-v2.h5").read_bytes()[:-32])  # as other programs leave it
        self.assertEqual(len(load(path).trials), 30)
        with h5py.File(path, "r+") as file:
            file["branin"]["surrogate.kernel"][-1] = "gaussian"
        with self.assertRaisesRegex(InputError, "contradict"):
            load(path)

    def test_a_study_that_runs(self):
        """Existing trials; among planned ones, a shared cell counts once."""
        folder = self.scratch / "s.h5.d"
        folder.mkdir()
        shutil.copy(self.DATA / "results-v2.h5", folder / "0-0.h5")
        results = load(folder)
        self.assertEqual(results.counts(), {"planned": 30, "done": 30, "failed": 0, "missing": 0})


class Typed(common.Case):
    def test_kinds_and_blocks(self):
        """Every kind of variable; a setting of the problem makes another problem, one of the run does not."""
        part = synthetic.problem("P", ["EI", "TS", "Random"], seeds=4, queries=3)
        function, noisy = np.tile([1, 1, 2, 2], 3), np.tile([0, 1, 0, 1], 3)
        part["swept"] = [f"function={f}, noisy={('no', 'yes')[n]}" for f, n in zip(function, noisy)]
        part["swept"][8:] = [f"function={f}" for f in function[8:]]  # Random does not read the other
        noisy[8:] = 255
        part["settings"] = {"function": ("problem", function.astype(np.int32)),
                            "noisy": ("run", noisy.astype(np.uint8))}
        results = synthetic.loaded(self.scratch / "s.h5", [part])
        self.assertEqual(results.settings, ["function", "noisy"])
        self.assertEqual([str(results.data[n].dtype) for n in results.settings], ["Int64", "boolean"])
        self.assertTrue(results.trials["noisy"][8:].isna().all())
        self.assertEqual(list(results.trials["noisy"][:4]), [False, True] * 2)
        self.assertEqual({results.group(p).block for p in results.problems},
                         {"P (function=1)", "P (function=2)"})
        self.assertEqual(len(results.problems), 4)
        self.assertEqual(set(results.cells()["planned"]), {1, 2})  # both of Random's seeds in a panel
        table = overviews.rank_table({"s": results})
        self.assertEqual(table.shape, (2, 3))


class Panels(common.Case):
    def test_joins(self):
        a, b = {"s": "1"}, {"s": "2"}
        self.assertEqual(settings.panels([{}]), ([{}], [[0]]))
        self.assertEqual(settings.panels([{}, a, b]), ([a, b], [[0, 1], [0], [1]]))
        m, n = {"m": "1"}, {"m": "2"}  # one reads s alone, another m alone
        found, places = settings.panels([a, b, m, n])
        self.assertEqual(sorted(tuple(sorted(p.items())) for p in found),
                         [(("m", i), ("s", j)) for i in "12" for j in "12"])
        self.assertEqual([len(p) for p in places], [2, 2, 2, 2])
        found, places = settings.panels([a, b, m, n, {}], product=False)
        self.assertEqual((found, places), ([a, b, m, n], [[0], [1], [2], [3], [0, 1, 2, 3]]))
        self.assertEqual(settings.panels([a, b, m], product=False)[0], [{**a, **m}, {**b, **m}])  # one value goes with all
        together = [{"s": "1", "t": "x"}, {"s": "2", "t": "y"}]  # paths of one axis
        self.assertEqual(settings.panels([a, b, {"t": "x"}, *together]), (together, [[0], [1], [0], [0], [1]]))
        self.assertEqual(settings.panels([{"s": "3"}, *together])[0], [{"s": "3"}, *together])  # of a merged file
