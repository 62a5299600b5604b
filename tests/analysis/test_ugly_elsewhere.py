"""Ugly results in claims, in sweeps and in the exports: every value and every n is compared with one computed from the
HDF5 file alone (ugly.py)."""
import importlib.util
import io
import itertools
import unittest
import warnings
from unittest import mock

import h5py
import netCDF4
import numpy as np
import pandas as pd

import common
import peers
import synthetic
import ugly
from regatta_analysis import load
from regatta_analysis.__main__ import _study_parser
from regatta_analysis.claims import checks, claims, grades
from regatta_analysis.figures import figures, style, sweep
from regatta_analysis.report import stills, summary
from ugly import METHODS, SEEDS, Truth, quantile


def median(values):
    return quantile(sorted(values), 0.5)


def command(*arguments):
    """(exit code, standard error with all warnings)."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, _, errors = common.run(*arguments)
    return code, errors


class Study(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.directory / "ugly.h5"
        synthetic.write(cls.path, ugly.study())
        cls.truth = Truth(cls.path)


class Claims(Study):
    """Comparisons of two methods, and sizes of one, by hand."""

    METRICS = {"simple": 1, "cumulative": 1, "best": -1, "cumulative_reward": -1}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.studies = claims.Studies({"ugly": cls.path})

    def run_check(self, label, metric, **check):
        value = {"metric": metric} | ({"sense": "max"} if self.METRICS[metric] < 0 else {})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return checks.run({"on": f"ugly/{label}", "value": value, **check}, self.studies)

    def values(self, label, method, metric):
        last = self.truth.last(label)
        found = self.truth.values(label, method, metric, last) if last is not None else {}
        return {trial: self.METRICS[metric] * v for trial, v in found.items()}

    def pairs(self, label, a, b, metric):
        first, second = self.values(label, a, metric), self.values(label, b, metric)
        return {k: (first[k], second[k]) for k in first if k in second}

    def test_pairs(self):
        for label, metric, (a, b) in itertools.product(self.truth.trials, self.METRICS, (
                ("Rare", "Safe"), ("Safe", "Rare"), ("EI", "Rare"))):
            with self.subTest(problem=label, metric=metric, a=a, b=b):
                outcome = self.run_check(label, metric, kind="better", who=a, against=b)
                if not self.truth.complete(label, a) or not self.truth.complete(label, b):
                    self.assertEqual((outcome.grade, outcome.items), (grades.NOT_RUN, []))
                    continue
                pairs = self.pairs(label, a, b, metric)
                if not pairs:  # nothing is compared
                    self.assertEqual((outcome.grade, outcome.items), (grades.NOT_RUN, []))
                    continue
                self.check_pair(outcome.items[0], pairs, metric)

    def check_pair(self, item, pairs, metric):
        ratio = metric != "best" and all(v >= 0 for pair in pairs.values() for v in pair)
        units = contrasts(pairs, ratio)
        self.assertEqual((item.n, item.units), (len(pairs), len(units)))
        self.assertEqual([item.more[name] for name in ("wins", "ties", "losses")], [
            sum(u < 0 for u in units), sum(u == 0 for u in units), sum(u > 0 for u in units)])
        typical = median(units)
        np.testing.assert_allclose(item.value, np.exp(typical) if ratio else typical, rtol=1e-9)
        self.check_effect(item, list(pairs.values()), ratio)
        self.assertAlmostEqual(item.better, np.mean([(1.0 - np.sign(u)) / 2.0 for u in units]))
        self.assertTrue(item.better_low <= item.better <= item.better_high)
        if len({v for pair in pairs.values() for v in pair}) == 1 and len(pairs) > 1:
            self.assertEqual(item.state, grades.VOID)
        margin = np.log(1.1) if ratio else item.evidence.margin
        if all(abs(u) > 2 * margin for u in units) and len(units) > 2:
            self.assertNotEqual(item.state, grades.EQUIVALENT)

    def check_effect(self, item, pairs, ratio):
        """The ratio of the means. It is undefined where a value is infinite."""
        first, second = (np.array(v) for v in zip(*pairs))
        if np.isinf(pairs).any():
            self.assertTrue(np.isnan(item.more["effect"]))
        elif not ratio or second.mean() > 0:
            np.testing.assert_allclose(item.more["effect"], first.mean() / second.mean() if ratio
                                       else first.mean() - second.mean(), rtol=1e-6, atol=1e-12)

    def test_sizes(self):
        for label, metric, method in itertools.product(self.truth.trials, ("simple", "cumulative_reward"), METHODS):
            with self.subTest(problem=label, metric=metric, method=method):
                outcome = self.run_check(label, metric, kind="within", who=method, low=-1.0, high=1e9)
                if not self.truth.complete(label, method):
                    self.assertEqual(outcome.grade, grades.NOT_RUN)
                    continue
                values = self.values(label, method, metric)
                if not values:
                    self.assertEqual((outcome.grade, outcome.items), (grades.NOT_RUN, []))
                    continue
                item, = outcome.items
                self.assertEqual(item.n, len(values))
                if values:
                    units = by_instance(values)
                    np.testing.assert_allclose(item.value, median(units), rtol=1e-9)
                    mean = np.mean(list(values.values()))
                    np.testing.assert_allclose(item.more["mean"], mean if np.isfinite(mean) else np.nan, rtol=1e-9)

    def test_targets(self):
        for label, method in itertools.product(self.truth.trials, METHODS):
            if self.truth.complete(label, method):
                last = self.truth.last(label)
                outcome = checks.run({"kind": "reach", "who": method, "on": f"ugly/{label}", "target": 0.5, "by": last},
                                     self.studies)
                values = self.truth.values(label, method, "simple", last).values()
                if not values:
                    self.assertEqual((outcome.grade, outcome.items), (grades.NOT_RUN, []))
                    continue
                reached = sum(v <= 0.5 + 1e-9 for v in values)
                self.assertEqual((outcome.items[0].n, outcome.items[0].more["reached"]), (len(values), reached), label)

    def test_growth_of_rewards(self):
        """The initial design counts in the sum and in the number of evaluations, or in neither."""
        made = [ugly.problem(label, run=run) for label, run in (("plain", ""), ("counted", ",count_initial=true"))]
        for one in made:
            one["arrays"]["y"] = np.abs(one["arrays"]["y"])
        synthetic.write(self.scratch / "sums.h5", made)
        studies, truth = claims.Studies({"sums": self.scratch / "sums.h5"}), Truth(self.scratch / "sums.h5")
        for label, before in (("plain", 0), ("counted", ugly.INITIAL)):
            t = np.unique(np.ceil(np.geomspace(before + 2.5, before + ugly.QUERIES, 30) - 1e-9).astype(int))
            for method in METHODS:
                means = [np.mean(list(truth.values(label, method, "cumulative_reward", k - before).values())) for k in t]
                outcome = checks.run({"kind": "growth", "who": method, "on": f"sums/{label}", "low": 0.0,
                                      "metric": "cumulative_reward"}, studies)
                self.assertAlmostEqual(outcome.items[0].value, np.polyfit(np.log(t), np.log(means), 1)[0], msg=label)

    def test_statements_about_means(self):
        """There is no mean where a value is infinite."""
        for check in ({"kind": "lead", "who": "Rare", "over": [1, 10]},
                      {"kind": "growth", "who": "Rare", "metric": "simple", "low": -3.0, "high": 3.0}):
            for label, infinite in (("some infinite", 4), ("all infeasible", 5)):
                outcome = checks.run({"on": f"ugly/{label}", "metric": "simple", **check}, self.studies)
                self.assertEqual(outcome.grade, grades.NOT_RUN)
                self.assertIn(f"no mean, a value is infinite in {infinite} of 5 trials", outcome.text)

    def test_a_fall_from_infinity(self):
        outcome = checks.run({"kind": "drop", "who": "Rare", "on": "ugly/infinite at the start", "metric": "simple",
                              "start": 1, "end": 10, "factor": 2}, self.studies)
        self.assertEqual((outcome.items[0].n, outcome.items[0].value), (SEEDS, np.inf))


def by_instance(values):
    """The values of trials (instance, seed), or their medians where some trials share an instance."""
    instances = list(dict.fromkeys(trial[0] for trial in values))
    if not 1 < len(instances) < len(values):
        return list(values.values())
    return [median([v for trial, v in values.items() if trial[0] == one]) for one in instances]


def contrasts(pairs, ratio):
    def one(a, b):
        if a == b:
            return 0.0
        with np.errstate(divide="ignore"):
            return np.log(a) - np.log(b) if ratio else a - b
    return by_instance({trial: one(*pair) for trial, pair in pairs.items()})


class Exports(Study):
    def export(self, kind):
        out = self.scratch / kind
        self.assertEqual(command("export", self.path, "--to", kind, out), (0, ""))
        return out

    def test_csv(self):
        self.check_table(pd.read_csv(self.export("csv") / "evaluations.csv", float_precision="round_trip"))

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "no pyarrow")
    def test_parquet(self):
        self.check_table(pd.concat(map(pd.read_parquet, sorted(self.export("parquet").glob("evaluations_*.parquet")))))

    def check_table(self, table):
        rows = 0
        groups = dict(iter(table.groupby(["problem", "algorithm", "instance", "seed"])))
        for label, trials in self.truth.trials.items():
            for trial in trials:
                n = trial["n_iterations"]
                mine = groups.get((label, trial["algorithm"], trial["instance"], trial["seed"]))
                rows += n
                for name in ("simple_regret", "cumulative_regret", "objective", "y") if n else ():
                    np.testing.assert_array_equal(mine.sort_values("row")[name], trial[name][:n])
        self.assertEqual(len(table), rows)

    def test_netcdf(self):
        """Every variable of the results file stands in the file of its problem, with the same values."""
        paths = sorted(self.export("netcdf").iterdir())
        self.assertEqual(len(paths), len(self.truth.trials))
        with h5py.File(self.path) as file:
            for path in paths:
                with netCDF4.Dataset(path) as made:
                    group, compared = file[made.problem], 0
                    for name, variable in group.items():
                        if not isinstance(variable, h5py.Dataset) or h5py.h5ds.is_scale(variable.id):
                            continue
                        found, wanted = made[name], variable.asstr()[()] if variable.dtype == object else variable[()]
                        found.set_auto_mask(False)
                        self.assertEqual(len(found.dimensions), wanted.ndim, name)
                        if name == "cell":
                            wanted = file["cells/id"].asstr()[()][wanted]
                        if name == "status":
                            wanted = np.array(["missing", "complete", "failed"])[wanted]
                        np.testing.assert_array_equal(found[:], wanted, name)
                        compared += 1
                    self.assertGreater(compared, 20)

    def runs(self, label, method):
        """[(instance from 1, f above the least known value, evaluation by evaluation)] of the trials with an
        evaluation; f is minus the objective, 1e300 where it has no value."""
        trials = self.truth.trials[label]
        column = "objective" if any((t["objective"] == t["objective"]).any() for t in trials) else "y"

        def value(trial):
            v = -np.where(trial["feasible"] == 0, np.nan, trial[column])[:trial["n_iterations"]]
            return np.where(np.isfinite(v), v, 1e300)
        least = {}
        for trial in trials:
            least.setdefault(trial["instance"], [-trial["optimum"]]).extend(value(trial))
        return [(t["instance"] + 1, np.maximum(value(t) - min(least[t["instance"]]), 0.0)) for t in trials
                if t["algorithm"] == method and t["n_iterations"]]

    def test_logs(self):
        problems = load(self.path).problems
        for kind, read in (("coco", lambda folder: peers.read_coco(folder, {"regatta-ugly"})[0]),
                           ("ioh", peers.read_ioh)):
            out = self.export(kind) / "regatta-ugly"
            for method in METHODS:
                found, compared = read(out / method), 0
                for number, label in enumerate(problems, 1):
                    wanted = self.runs(label, method)
                    self.assertEqual((number, 2) in found, bool(wanted), label)
                    mine = found.get((number, 2), [])
                    self.assertEqual([run[0] for run in mine], [run[0] for run in wanted])
                    for (_, evaluations, best), (_, gap) in zip(mine, wanted):
                        self.assertEqual(evaluations[-1], len(gap), label)
                        np.testing.assert_allclose(best, np.minimum.accumulate(gap)[evaluations - 1], rtol=1e-8,
                                                   atol=1e-12, err_msg=label)
                        compared += len(best)
                self.assertGreater(compared, 100)


class Sweeps(common.Case):
    """A swept setting of two methods, another one of EI alone, and one method that reads neither."""

    NOISE, KERNELS = ("1e-4", "1e-2"), ("gaussian", "matern52")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        cells = [("Safe", "")] + [("Rare", f"noise={v}") for v in cls.NOISE] + [
            (f"EI (kernel={k})", f"noise={v}, kernel={k}") for v in cls.NOISE for k in cls.KERNELS]
        made = ugly.problem("P", methods=[str(k) for k in range(len(cells))], failed=(3 * SEEDS,))
        number = [int(cell[0]) for cell in made["cells"]]
        made["cells"] = [(cells[k][0], *cell[1:]) for k, cell in zip(number, made["cells"])]
        made["swept"] = [cells[k][1] for k in number]
        for k, cell in enumerate(number):
            if cell == 1 or cell == 2 and k % SEEDS:  # feasible in 0 of 5, and in 1 of 5
                ugly.lose(made, k, range(ugly.ROWS), 0)
        cls.path, cls.values = cls.directory / "sweep.h5", {}
        synthetic.write(cls.path, [made])
        with h5py.File(cls.path) as file:
            group, settings = file["P"], file["cells/swept"].asstr()[()]
            for status, algorithm, swept, regret in zip(group["status"], group["algorithm"].asstr(),
                                                        settings[group["cell"][()]], group["simple_regret"][:, -1]):
                own = dict(pair.split("=") for pair in swept.split(", ") if pair)
                for noise, kernel in itertools.product(cls.NOISE, cls.KERNELS):
                    if own.get("noise", noise) == noise and own.get("kernel", kernel) == kernel and status == 1:
                        cls.values.setdefault((algorithm.split(" (")[0], float(noise), kernel), []).append(regret)
        cls.results = load(cls.path)

    def test_the_study_is_ugly(self):
        counts = {key: (len(v), int(np.isfinite(v).sum())) for key, v in self.values.items()}
        self.assertEqual((counts["Rare", 1e-4, "gaussian"], counts["Rare", 1e-2, "matern52"], len(counts)),
                         ((5, 0), (5, 1), 12))
        self.assertEqual(counts["EI", 1e-4, "gaussian"], (4, 4))

    def test_every_band_ends(self):
        write = style.write
        with mock.patch.object(stills, "SHARPNESS", 40), mock.patch.object(style, "write", lambda figure, file, *more: (
                isinstance(file, io.BytesIO) and write(figure, file, *more))):  # the page is drawn
            self.assertEqual(command(self.path, "--out", self.scratch / "se", "--metric", "simple", "--formats", "png",
                                     "--page", self.scratch / "p.html"), (0, ""))
        with warnings.catch_warnings(), mock.patch.object(style, "write", lambda *_: None):
            warnings.simplefilter("error")
            for band in figures.BANDS[1:] if common.LONG else figures.BANDS[-1:]:
                summary.write_all(self.results, _study_parser().parse_args(
                    [str(self.path), "--out", str(self.scratch / band), "--metric", "simple", "--band", band]))
        page = (self.scratch / "p.html").read_text()
        for key, values in self.values.items():
            finite = int(np.isfinite(values).sum())
            if finite < len(values):
                self.assertIn(f"feasible in {finite} of {len(values)}", page)
        table = pd.read_csv(self.scratch / "se" / "final_regret.csv")
        for row in table[(table["metric"] == "simple") & (table["n"] > 0)].itertuples():
            found = self.values[row.algorithm.split(" (")[0], row.noise if row.noise == row.noise else 1e-4,
                                row.kernel if isinstance(row.kernel, str) and row.kernel else "gaussian"]
            self.assertEqual((row.n, row.n_finite), (len(found), np.isfinite(found).sum()))
            np.testing.assert_allclose(row.median, median(found), rtol=1e-9)

    def test_figures_over_a_setting(self):
        for band in figures.BANDS:
            (_, figure), = sweep.over_figures(self.results, "noise", "simple", figures.Band(band))
            for axes, kernel in zip(figure.axes, self.KERNELS):
                self.assertIn(kernel, axes.get_title(loc="left"))
                drawn = {tuple(line.get_xdata()): line for line in axes.lines}
                lines = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 2 and list(
                    line.get_xdata()) == [1e-4, 1e-2]]
                wanted = [[median(self.values[m, float(v), kernel]) for v in self.NOISE] for m in ("Safe", "Rare", "EI")]
                np.testing.assert_allclose(lines, wanted, rtol=1e-12, err_msg=str(drawn))
            note = " ".join(figure.legends[0].get_title().get_text().split())
            cells = [v for v in self.values.values() if not np.isfinite(v).all()]
            self.assertIn(f"{len(cells)} of 12 cells have no mean: a feasible design in "
                          f"{sum(int(np.isfinite(v).sum()) for v in cells)} of their {sum(map(len, cells))} trials", note)
            self.assertIn("median", note)
            self.assertIn("over 4 to 5 trials", note)

    def test_heat_maps(self):
        (_, figure), = sweep.heat_figures(self.results, "noise", "kernel", "simple")
        self.assertIn("median of the final simple regret over 4 to 5 trials", figure._suptitle.get_text())
        places = [(float(v), k) for k in self.KERNELS for v in self.NOISE]
        for axes, method in zip(figure.axes, ("EI",)):  # the values of the others are the same everywhere
            wanted = [median(self.values[(method, *place)]) for place in places]
            self.assertEqual([text.get_text() for text in axes.texts],
                             ["∞" if np.isinf(v) else f"{v:.3g}" for v in wanted])
        best, = (axes for axes in figure.axes if axes.get_title(loc="left").startswith("Best"))
        self.assertEqual([text.get_text() for text in best.texts], 4 * ["–"])  # few trials tell nothing apart
