"""The answer of a sweep: best settings, others not distinguishable from them, effects, on values of known law."""
import itertools
import re

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis import InputError
from regatta_analysis.figures import sweep as figures
from regatta_analysis.report import best_tables
from regatta_analysis.stats import best, sweep

NOISE, KERNELS, SEEDS = ("1e-4", "1e-2"), ("gaussian", "matern52"), 20
FACTOR = {"1e-4": 1.0, "1e-2": 3.0, "gaussian": 1.0, "matern52": 1.02}


def made(change=None):
    """EI reads both settings, TS the noise alone, Random none. The noise makes a factor of 3 and the kernel one of
    1.02; every seed has its own level, and every trial a little noise."""
    cells = [("Random", "")] + [("TS", f"noise={v}") for v in NOISE] + [
        ("EI", f"noise={v}, kernel={k}") for v in NOISE for k in KERNELS]
    part = synthetic.problem("Box", [str(k) for k in range(len(cells))], seeds=SEEDS, queries=4)
    random = np.random.default_rng(5)
    level, values = random.lognormal(0.0, 1.0, SEEDS), {}
    for k, (name, instance, seed) in enumerate(part["cells"]):
        method, swept = cells[int(name)]
        factor = np.prod([FACTOR[pair.split("=")[1]] for pair in swept.split(", ") if pair])
        value = level[seed] * factor * np.exp(0.01 * random.normal())
        part["cells"][k], part["swept"][k] = (method, instance, seed), swept
        part["arrays"]["simple_regret"][k], part["arrays"]["objective"][k] = value, -value
        values.setdefault((method, swept), []).append(value)
    if change:
        change(part)
    return part, {key: np.array(v) for key, v in values.items()}


class Best(common.Case):
    pictures = "undrawn"

    def results(self, change=None):
        part, values = made(change)
        return synthetic.loaded(self.scratch / "s.h5", [part]), values

    def test_best_settings(self):
        results, values = self.results()
        found = results.best_settings().set_index("method")
        self.assertEqual(list(found.index), ["Random", "TS", "EI"])
        self.assertEqual(found["setting"].tolist(), ["", "noise = 1e-4", "noise = 1e-4, kernel = gaussian"])
        self.assertEqual(found["alike"].tolist(), [[], [], ["noise = 1e-4, kernel = matern52"]])
        self.assertEqual((found["cells"].tolist(), set(found["why"]), set(found["n"])), ([1, 2, 4], {""}, {SEEDS}))
        own = np.sort(values["EI", "noise=1e-4, kernel=gaussian"])
        row = found.loc["EI"]  # of 20 values, the 6th and the 15th enclose the median with 95.9%
        np.testing.assert_allclose([row["median"], row.low, row.high], [np.median(own), own[5], own[14]])

    def test_all_problems_together(self):
        """A setting that is best by little on one problem and by much on two is the best over all of them, whatever the
        unit of a problem."""
        parts, pooled = [], {}
        for k, (label, unit, factor) in enumerate((("P", 1e-6, 1.4), ("Q", 1.0, 1.4), ("R", 1e6, 0.95))):
            part, _ = made()
            part["label"] = label
            for row, swept in enumerate(part["swept"]):
                value = unit * (factor if "1e-2" in swept else 1.0) * np.random.default_rng([k, row]).lognormal(0.0, 0.05)
                part["arrays"]["simple_regret"][row] = value
                if part["cells"][row][0] == "TS":
                    pooled.setdefault(swept, {}).setdefault(label, []).append(value)
            parts.append(part)
        found = synthetic.loaded(self.scratch / "s.h5", parts).best_settings()
        row = found[found["problem"] == best.ALL].set_index("method").loc["TS"]
        self.assertEqual((row.setting, row.alike, row.n, row["scale"]), ("noise = 1e-4", [], 3 * SEEDS, "ratio"))
        shares = np.concatenate([np.array(pooled["noise=1e-4"][p]) / np.median(pooled["noise=1e-4"][p] + pooled["noise=1e-2"][p])
                                 for p in "PQR"])
        self.assertAlmostEqual(row["median"], np.median(shares))
        self.assertTrue(row.low < row["median"] < row.high)
        self.assertEqual(set(found.loc[found["problem"] == best.ALL, "method"]), {"TS", "EI"})  # Random has no settings
        table = best_tables.best_table(found, "simple")
        self.assertEqual(table.rows[0][0][0], best.ALL)

    def test_no_setting_is_best_where_all_give_the_same(self):
        """Random search reads the noise of the study, but its designs and their regrets don't depend on it."""
        def same(part):
            rows = [k for k, cell in enumerate(part["cells"]) if cell[0] == "TS"]
            half = len(rows) // 2
            part["arrays"]["simple_regret"][rows[half:]] = part["arrays"]["simple_regret"][rows[:half]]
        results, values = self.results(same)
        found = results.best_settings()
        row = found.set_index("method").loc["TS"]
        self.assertEqual((row.setting, row.why, row.alike), ("", best.EQUAL, ["noise = 1e-2"]))
        self.assertAlmostEqual(row["median"], np.median(values["TS", "noise=1e-4"]))
        cells = {line[1][0]: [text for text, _ in line] for line in best_tables.best_table(found, "simple").rows}
        self.assertEqual((cells["TS"][2], cells["TS"][4]), ("– (all settings have the same values)", "–"))
        table = sweep.final_values(results, "simple")
        found = sweep.sensitivity(table, results, "simple").set_index(["method", "setting"])
        self.assertEqual((found.loc[("TS", "noise"), "best_at"], found.loc[("TS", "noise"), "share"]), ("", 0))
        self.assertEqual(str(found.loc[("EI", "noise"), "best_at"]), "0.0001")

    def test_the_best_value_is_the_largest_one(self):
        results, values = self.results()
        row = results.best_settings("best").set_index("method").loc["TS"]
        own = np.sort(-values["TS", "noise=1e-4"])
        self.assertEqual(row.setting, "noise = 1e-4")
        np.testing.assert_allclose([row["median"], row.low, row.high], [np.median(own), own[5], own[14]])
        with self.assertRaisesRegex(InputError, "no metric 'simpel'"):
            results.best_settings("simpel")

    def test_effects(self):
        results, values = self.results()
        found = results.effects().set_index(["method", "setting"])
        self.assertEqual(list(found.index), [("TS", "noise"), ("EI", "noise"), ("EI", "kernel")])
        self.assertEqual((found["verdict"].tolist(), set(found["n"]), set(found["scale"])),
                         (["worse", "worse", "equivalent"], {SEEDS}, {"ratio"}))
        self.assertEqual((found["value"].tolist(), found["against"].tolist()),
                         (["1e-2", "1e-2", "matern52"], ["1e-4", "1e-4", "gaussian"]))
        ei = {swept: np.log(v) for (method, swept), v in values.items() if method == "EI"}
        contrasts = [ei[f"noise=1e-2, kernel={k}"] - ei[f"noise=1e-4, kernel={k}"] for k in KERNELS]
        row = found.loc[("EI", "noise")]
        self.assertAlmostEqual(row.effect, np.exp(np.median(np.median(contrasts, axis=0))))
        self.assertTrue(1.1 < row.low < 3.0 < row.high < 4.0)

    def test_several_values_of_a_trial_are_one_unit(self):
        """One seed shows nothing, for any number of values of the other setting."""
        def one_seed(part):
            keep = np.array([seed == 0 for _, _, seed in part["cells"]])
            part["status"][~keep], part["n_rows"][~keep] = 0, 0
        results, _ = self.results(one_seed)
        row = results.effects().set_index(["method", "setting"]).loc[("EI", "noise")]
        self.assertEqual((row.n, row.verdict, row.low, row.high), (1, "open", 0.0, np.inf))
        self.assertAlmostEqual(row.effect, 3.0, delta=0.1)
        index = pd.MultiIndex.from_tuples([(0, 0)] * 40, names=["instance", "seed"])
        found = best._evidence(pd.DataFrame({"a": 3.0, "b": 1.0}, index))
        self.assertEqual((len(found.units), found.low, found.high), (1, 0.0, np.inf))

    def test_nobody_is_best_by_fewer_trials(self):
        def fail(part):
            k = part["swept"].index("noise=1e-4")
            part["status"][k], part["n_rows"][k] = 2, 3
        results, _ = self.results(fail)
        row = results.best_settings().set_index("method").loc["TS"]
        self.assertEqual((row.setting, row.why, row.alike), ("", "the best value rests on 19 of 20 trials", []))
        table = best_tables.best_table(results.best_settings(), "simple")
        self.assertIn("– (the best value rests on 19 of 20 trials)", [row[2][0] for row in table.rows])

    def test_nobody_is_best_where_a_setting_has_no_value(self):
        """`stop` ended a trial of TS and one of EI with the better noise: its cumulative regret is unknown, its simple regret is not."""
        def stop(part):
            rows, arrays = part["n_rows"], part["arrays"]
            arrays["stopped"] = np.zeros_like(arrays["y"])
            k = [part["swept"].index(swept) for swept in ("noise=1e-4", "noise=1e-4, kernel=gaussian")]
            rows[k] -= 1
            arrays["stopped"][k, rows[k] - 1] = 1.0
            for values in arrays.values():
                values[k, rows[k[0]]:] = np.nan
        results, _ = self.results(stop)
        for metric, known in (("simple", True), ("cumulative", False)):
            rows = results.best_settings(metric).set_index("method")
            self.assertEqual(tuple(rows.loc["TS", ["setting", "why"]]), ("noise = 1e-4", "") if known
                             else ("", best.CENSORED))
            self.assertEqual(rows.loc["EI", "why"], "" if known else best.CENSORED)
            effect = results.effects(metric).set_index(["method", "setting"]).loc[("TS", "noise")]
            self.assertEqual((effect.n, effect.verdict == "open"), (SEEDS, False) if known else (0, True))
            table = sweep.final_values(results, metric)
            found = sweep.sensitivity(table, results, metric).set_index(["method", "setting"])["best_at"]
            # Where only one value of the setting is known, there is no sensitivity.
            self.assertEqual([str(v) for v in found[found.index.isin(["TS"], 0)]], ["0.0001"] if known else [])
            self.assertEqual(str(found["EI", "noise"]), "0.0001" if known else "")
            heat = figures._Heat(table, "Box", ("noise", "kernel"), metric, ["EI", "TS"], False)
            self.assertEqual(heat.open.tolist(), 2 * [[not known, False]])  # not the other noise
            self.assertTrue(known or (heat.winners()[:, 0] == -1).all())

    def test_infinite_values(self):
        def lose(part):
            for k, swept in enumerate(part["swept"]):
                if swept == "" and k % 2 or swept == "noise=1e-2":
                    part["arrays"]["simple_regret"][k] = np.inf
        results, values = self.results(lose)
        found = results.best_settings().set_index("method")
        self.assertEqual(set(found["scale"]), {"value"})
        self.assertAlmostEqual(found.loc["TS", "median"], np.median(values["TS", "noise=1e-4"]))
        self.assertEqual(found.loc["Random", "why"], "no setting has a finite value")
        row = results.effects().set_index(["method", "setting"]).loc[("TS", "noise")]
        self.assertEqual((row.effect, row.verdict), (np.inf, "worse"))

    def test_the_report_begins_with_the_answer(self):
        results, _ = self.results()
        out = self.scratch / "out"
        self.assertEqual(common.run(self.scratch / "s.h5", "--out", out, "--formats", "png", "--metric", "simple", "--over",
                                    "noise", "--page", out / "page.html")[0], 0)
        page, text = (out / "page.html").read_text(), (out / "summary.md").read_text()
        titles = re.findall(r"<h3>(.*?)</h3>", page)
        self.assertEqual(titles[:2], ["Best settings", "Effects of the settings"])
        self.assertLess(page.index('class="chart"'), page.index("Effects of the settings"))  # first the figure
        self.assertEqual(re.findall(r"^## (.*)", text, re.M)[:3], ["Best settings", "Effects of the settings", "Final regret"])
        for told in ("noise = 1e-4, kernel = matern52 (1 of 3)", "reads none", "none of 1"):
            self.assertIn(told, re.sub("</?span[^>]*>", "", page))
            self.assertIn(told, text)
        table = pd.read_csv(out / "effects.csv")
        np.testing.assert_allclose(table["effect"], results.effects("simple")["effect"])
        self.assertEqual(set(itertools.chain(pd.read_csv(out / "best_settings.csv")["method"])), {"Random", "TS", "EI"})
