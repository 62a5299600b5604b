"""Ugly results through everything that prints a number: each number and each n is compared with one computed here
from the HDF5 file alone, by the rule of stats/extended.py."""
import contextlib
import io
import itertools
import json
import re
import warnings
from unittest import mock

import h5py
import numpy as np
import pandas as pd

import common
import synthetic
import ugly
from regatta_analysis import load
from regatta_analysis.__main__ import _study_parser
from regatta_analysis.figures import figures, style
from regatta_analysis.report import stills, summary, tables
from regatta_analysis.stats import extended
from regatta_analysis.stats.regret import metric_on, regret_curves
from regatta_analysis.stats.summaries import cell_summaries
from ugly import INITIAL, METHODS, NAMES, QUERIES, Truth, numbers

GRID = figures.regret_grid


def contrast(a, b):
    """log(a / b) of two regrets; equal ones, also infinite, tie."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.0 if a == b else float(np.log(a) - np.log(b))


class Ugly(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        cls.panels, cls.write = {}, staticmethod(style.write)
        cls.path = cls.directory / "ugly.h5"
        cls.results = synthetic.loaded(cls.path, ugly.study())
        cls.truth = Truth(cls.path)

    def shown(self, pairs):
        for (value, within), expected in pairs:
            if np.isinf(expected):
                self.assertEqual(value, expected)
            else:
                self.assertLessEqual(abs(value - expected), within + 1e-9 * abs(expected))

    @classmethod
    def draw(cls, path, out, *options):
        """The standard error of the command, including warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            code, _, errors = common.run(path, "--out", out, "--formats", "png", *options)
        return code, errors

    def files(self, band):
        """The files that the command writes, by quantiles and with the page; tables alone by other bands. Curves are
        drawn on the page alone. `panels` has the panels of both."""
        out = self.directory / band
        if not out.exists() and band == "quantile":
            patches = ((style, "write", self.write_some), (stills, "SHARPNESS", 40), (figures, "regret_grid", self.keep),
                       (summary, "regret_pages", lambda problems, _: [("All problems", "all", problems)]))
            with contextlib.ExitStack() as stack:
                for patch in patches:
                    stack.enter_context(mock.patch.object(*patch))
                self.assertEqual(self.draw(self.path, out, "--band", band, "--metric", *NAMES, "--page",
                                           out / "page.html"), (0, ""))
        elif not out.exists():
            out.mkdir()
            tables.write_final_regret(self.results, list(NAMES), figures.Band(band), out)
        return out

    @classmethod
    def keep(cls, results, problems, metric, scale="auto", band=figures.Band()):
        figure = GRID(results, problems, metric, scale, band)
        cls.panels.update({(metric, band.kind, label): axes for label, axes in zip(problems, figure.axes)})
        return figure

    @classmethod
    def write_some(cls, figure, file, *more):
        if isinstance(file, io.BytesIO) or "regret_" not in file.name:
            cls.write(figure, file, *more)

    def planned(self, label):
        return len({(t["instance"], t["seed"]) for t in self.truth.trials[label]})

    def test_final_values(self):
        for band in figures.BANDS:
            text = (self.files(band) / "final_regret.md").read_text()
            for metric, section in zip(NAMES, text.split("\n### ")[1:]):
                header, _, *rows = (line.strip("| ").split(" | ") for line in section.split("\n") if line[:1] == "|")
                self.assertEqual([row[0] for row in rows], METHODS)
                for column, head in enumerate(header[1:], 1):
                    label = head.split(" (")[0]
                    with self.subTest(band=band, metric=metric, problem=label):
                        self.check_column(head, label, {r[0]: r[column] for r in rows}, band, metric)

    def check_column(self, head, label, texts, band, metric):
        cells = {m: self.truth.cell(label, m, metric) for m in METHODS}
        counts, planned = {n for n, *_ in cells.values() if n}, self.planned(label)
        infinite = any(n > finite for n, finite, *_ in cells.values())
        medians = band in ("quantile", "median") or infinite
        self.assertEqual("median" in head, infinite and band not in ("quantile", "median"))
        if self.truth.last(label) is not None:
            self.assertIn(f"T = {self.truth.last(label)}", head)
        if len(counts) == 1:
            self.assertRegex(head, rf"\b{min(counts)} trials?\b")
        centres = {m: (quartiles[0] if medians else mean) for m, (n, _, mean, _, quartiles) in cells.items() if n}
        if band == "median":
            centres = {m: self.truth.typical(label, m, metric) for m in centres}
        top = (max if metric == "best" else min)(centres.values(), default=np.inf)
        known = np.isfinite(top) and all(cells[m][0] == planned for m in centres if centres[m] == top)
        for method, text in texts.items():
            n, finite, mean, se, quartiles = cells[method]
            text, bold = text.strip("*"), text.startswith("**")
            whole = n == planned and np.isfinite(centres.get(method, np.nan))
            self.assertEqual(bold, bool(known and whole), (method, text))  # up to five trials tell nothing apart
            if not self.truth.complete(label, method):
                self.assertIn(text, ("failed", "missing"))
                continue
            if n < planned or len(counts) > 1:
                count = f" ({n} of {planned})" if n < planned else f" ({n})"
                self.assertTrue(text.endswith(count), text)
                text = text.removesuffix(count)
            self.assertEqual(text == "no value", n == 0)
            if not n:
                continue
            text, _, feasible = text.partition(", feasible in ")
            self.assertEqual(feasible, f"{finite} of {n}" if finite < n else "")
            if band == "median":  # Five values have no 95% interval of the median.
                self.assertNotIn("[", text)
                self.shown(zip(numbers(text), [centres[method]]))
            elif medians:
                self.shown(zip(numbers(text), quartiles))
            else:
                self.shown(zip(numbers(text), [mean] + ([se] if band == "se" and se else [])))

    def test_curves(self):
        table = pd.read_csv(self.files("quantile") / "curves.csv", keep_default_na=False, na_values=[""])
        known, means, middle = set(), [], []
        for row in table.itertuples():
            n, finite, mean, se, quartiles = self.truth.cell(row.problem, row.algorithm, row.metric, row.t)
            known.add((row.metric, row.problem, row.algorithm, row.t))
            self.assertEqual((row.n, row.n_finite), (n, finite), row)
            means.append([np.nan if v is None else v for v in (mean, se)])
            middle.append(quartiles)
        np.testing.assert_allclose(table[["mean", "se"]], means, rtol=1e-9)
        np.testing.assert_allclose(table[["median", "low", "high"]], middle, rtol=1e-9, atol=1e-12)
        for metric, label, method in itertools.product(NAMES, self.truth.trials, METHODS):
            for t in range((self.truth.last(label) or 0) + 1):
                self.assertEqual(self.truth.cell(label, method, metric, t)[0] > 0,
                                 (metric, label, method, t) in known)

    def test_pairs(self):
        table = pd.read_csv(self.files("quantile") / "comparisons.csv", keep_default_na=False, na_values=[""])
        for row in table.itertuples():
            first, second = (self.truth.values(row.problem, m, "simple", self.truth.last(row.problem))
                             for m in (row.a, row.b))
            pairs = {k: (first[k], second[k]) for k in first if k in second}
            instances = {k[0] for k in pairs}
            if 1 < len(instances) < len(pairs):
                units = {i: np.median([contrast(*v) for k, v in pairs.items() if k[0] == i]) for i in instances}
            else:
                units = {k: contrast(*v) for k, v in pairs.items()}
            self.assertEqual(row.n, len(units))
            if not pairs:
                self.assertTrue(np.isnan([row.p, row.better, row.effect]).all())
                continue
            wins = sum(1.0 if d < 0 else 0.5 if d == 0 else 0.0 for d in units.values()) / len(units)
            self.assertAlmostEqual(row.better, wins)
            self.assertTrue(row.verdict in ("open", "equivalent") and 0.05 < row.p <= 1.0, "five trials are too few")
            middle = np.median(list(units.values()))
            if np.isfinite(middle):
                self.assertAlmostEqual(row.effect, np.exp(middle))

    def test_growth(self):
        table = pd.read_csv(self.files("quantile") / "growth.csv").set_index(["problem", "algorithm"])
        for label, method in itertools.product(self.truth.trials, METHODS):
            last = self.truth.values(label, method, "cumulative", self.truth.last(label) or 0)
            self.assertEqual((label, method) in table.index, len(last) > 0)
            if last and min(last.values()) > 0:
                before = INITIAL if label == "initial counted" else 0
                t = np.unique(np.ceil(np.geomspace(before + 2.5, before + QUERIES, 30) - 1e-9).astype(int)) - before
                curves = [self.truth.values(label, method, "cumulative", k) for k in t]
                logs = [np.log(np.mean([values[trial] for trial in last])) for values in curves]
                self.assertEqual(table.loc[(label, method), "n"], len(last))
                self.assertAlmostEqual(table.loc[(label, method), "exponent"],
                                       np.polyfit(np.log(before + t), logs, 1)[0])

    def test_average_regret(self):
        """It is the mean regret of the evaluations that are summed."""
        for label, method in itertools.product(self.truth.trials, METHODS):
            frame = regret_curves(self.results, label, "average")
            for t in range(1, (self.truth.last(label) or 0) + 1):
                mine = frame[t][frame.index.get_level_values("algorithm") == method].droplevel("algorithm").dropna()
                expected = pd.Series(self.truth.values(label, method, "average", t), dtype=float)
                np.testing.assert_allclose(mine.sort_index().to_numpy(), expected.sort_index().to_numpy(), rtol=1e-9)
        for labels, words in ((["plain"], "$R_t/t$"), (["plain", "initial counted"], "per evaluation counted")):
            self.assertIn(words, metric_on(self.results, labels, "average").label)

    def test_figures(self):
        """The lines of every panel, and the legend that a problem has in a figure of its own."""
        self.files("quantile")
        self.keep(self.results, list(self.truth.trials), "best")  # which the page does not have
        self.assertEqual(len(self.panels), 3 * 2 * len(self.truth.trials))
        for (metric, kind, label), axes in self.panels.items():
            with self.subTest(metric=metric, problem=label, band=kind):
                self.check_figure(metric, label, kind, axes, *self.legend(label, metric, figures.Band(kind)))

    def legend(self, label, metric, band):
        """(note, entries) of the legend of a figure of one problem."""
        shown = {label: cell_summaries(self.results, label, metric, band.quantiles, band.interval)}
        looks = style.algorithm_styles(self.results.algorithms)
        return " ".join(figures.value_notes(shown, band)), [name for name, _ in figures._legend_entries(
            self.results, shown, looks)[0]]

    def test_legends(self):
        """Figures have these legends."""
        for label in ("plain", "some infinite", "one method failed", "a seed missing"):
            (legend,) = figures.regret_grid(self.results, [label], "simple").legends
            note, entries = self.legend(label, "simple", figures.Band())
            self.assertTrue(" ".join(legend.get_title().get_text().split()).replace("; lower is better", "").startswith(note))
            self.assertEqual([text.get_text() for text in legend.get_texts()], entries)

    def check_figure(self, metric, label, kind, axes, note, entries):
        t = self.truth.last(label)
        cells = {m: self.truth.cell(label, m, metric, t) for m in METHODS}
        medians = kind in ("quantile", "median") or any(n > finite for n, finite, *_ in cells.values())
        counts = [n for n, *_ in cells.values() if n]
        if counts and max(counts) > 1:
            self.assertIn("median" if medians else "mean", note)
            self.assertIn(f"over {extended.spread(counts)} trials", note)
        for method, (n, finite, *_) in cells.items():
            self.assertEqual(f"{method} in {finite} of {n}" in note, finite < n)
        lines = {line.get_label(): line for line in axes.lines}
        for method in METHODS:
            known = {k: self.truth.cell(label, method, metric, k) for k in range((t or 0) + 1)}
            expected = {k: self.truth.typical(label, method, metric, k) if kind == "median" else c[4][0] if medians else c[2]
                        for k, c in known.items() if c[0]}
            drawn = dict(zip(*lines[method].get_data())) if method in lines else {}
            np.testing.assert_allclose([drawn.get(k, np.nan) for k in expected],
                                       [np.nan if v is None else v for v in expected.values()], rtol=1e-9, atol=1e-12)
        planned = self.planned(label)
        for text, method in zip(entries, METHODS):
            n = cells[method][0]
            done = bool(self.truth.complete(label, method))
            self.assertEqual(text, method + ("" if n == planned else f" ({n} of {planned})" if n else
                                             " (no value)" if done else " (missing)"))

    def test_page(self):
        text = (self.files("quantile") / "page.html").read_text()
        table = re.search(r"<h3>Simple regret at the last query</h3>(.*?)</table>", text, re.DOTALL)[1]
        rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row.replace("\n", "")) for row in table.split("<tr>")[1:]]
        markdown = (self.files("median") / "final_regret.md").read_text().split("\n### ")[1]
        lines = [line.strip("| ").split(" | ") for line in markdown.split("\n") if line[:1] == "|"]
        problems = list(map(list, zip(lines[0], *lines[2:])))  # a row for each on the page, which has more room below
        problems[0][0] = "Problem"
        self.assertEqual([[re.sub("</?b>", "**", cell) for cell in row] for row in rows], problems)
        chart, *_ = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])
        for label, measures in zip(chart["panels"], chart["data"]):
            for metric, measure in zip(NAMES, measures):
                cells = {m: self.truth.cell(label, m, metric) for m in METHODS}
                for curve, (method, (n, finite, *_)) in zip(measure["curves"], cells.items()):
                    if not n:
                        continue
                    value = self.truth.typical(label, method, metric)
                    self.assertEqual(curve["y"][-1] is None, not np.isfinite(value))
                    if np.isfinite(value):
                        self.assertLessEqual(abs(curve["y"][-1] - value), 1e-4 * abs(value))
                    said = curve["n"] if isinstance(curve["n"], str) else curve["n"][-1]
                    self.assertEqual(said, extended.counted(n) if n == finite else f"feasible in {finite} of {n}")

    def check_all_bands(self, path):
        """Figures, tables and page by every band, without a warning. All are made, and the page is drawn."""
        with mock.patch.object(style, "write", self.write_some), mock.patch.object(stills, "SHARPNESS", 40):
            self.assertEqual(self.draw(path, self.scratch / "se", "--page", self.scratch / "p.html"), (0, ""))
        results = load(path)
        with warnings.catch_warnings(), mock.patch.object(style, "write", lambda figure, file, *_: None):
            warnings.simplefilter("error")
            for band in figures.BANDS[1:] if common.LONG else figures.BANDS[-1:]:
                summary.write_all(results, _study_parser().parse_args(
                    [str(path), "--out", str(self.scratch / band), "--formats", "png", "--band", band, "--metric", "simple"]))

    def test_single_trial(self):
        path = self.scratch / "one.h5"
        synthetic.write(path, [synthetic.problem("P", ["EI"], seeds=1, queries=4, initial=2)])
        self.check_all_bands(path)
        text = (self.scratch / "se" / "final_regret.md").read_text()
        with h5py.File(path) as file:
            last = file["P"]["simple_regret"][0, -1]
        self.assertIn("| P (T = 4, 1 trial) |", text)
        cell = re.search(r"\| EI \| \*\*(.*?)\*\* \|", text)[1]
        self.shown(zip(numbers(cell), [last]))

    def test_only_failures(self):
        path = self.scratch / "failed.h5"
        synthetic.write(path, [synthetic.problem("P", ["EI", "TS"], seeds=2, queries=6, failed=range(4))])
        self.check_all_bands(path)
        self.assertIn("| EI | failed |", (self.scratch / "se" / "final_regret.md").read_text())
