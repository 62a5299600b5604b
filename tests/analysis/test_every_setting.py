"""A setting of any name in the parameters tables of the sources can be swept: it is a column beside those that the
tables of the analysis always have, from the file to figures, page and exports."""
import importlib.util
import json
import os
import re
import unittest
from unittest import mock

import common
import numpy as np
import pandas as pd
import synthetic
import xarray as xr
from regatta_analysis import load
from regatta_analysis.figures import overviews, sweep as figures
from regatta_analysis.figures.figures import Band
from regatta_analysis.load import reader, settings
from regatta_analysis.report import comparisons, export, stills, study_page, tables
from regatta_analysis.stats import sweep

SOURCES = common.HERE.parents[1] / "src"
PART = {"algorithm": "algorithm", "problem": "problem", "acquisition": "maximiser", "gp": "surrogate",
        "study": "run", "robust": "problem", "density": "algorithm", "extra": "problem"}
ENTRY = re.compile(r'\bRG_(?:REALS?|INTS?|BOOL|CHOICE|PATH|TEXTS?|[A-Z]+)\(\s*"([a-z]\w*)",\s*[(A-Za-z][\w)]*,\s*[^",]+,')
TOGETHER = 60  # settings in a study
PROGRAM = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "value": request["x"]["a"] + float(sys.argv[1])}), flush=True)
"""
TYPES = """study: types
seeds: 1
common: {iterations: 2, initial_points: 2}
problems: [{name: gp_path, dim: 1, levels: 5}, {name: external, program: ./p.py, arguments: ["0"], inputs: [a real 0 1]}]
algorithms: [random, gp_ucb, mes]
sweep:
  - algorithms.gp_ucb.scale: [1, 4]
    algorithms.gp_ucb.beta: [heuristic, bcr_cont]
    algorithms.mes.floor: [yes, no]
    algorithms.mes.samples: [3, 5]
    problems.gp_path.length_scale: [[0.1], [0.2]]
    problems.gp_path.dim: [1, 2]
    problems.gp_path.kernel: [gaussian, matern52]
    problems.external.arguments: [["0"], ["1"]]
    common.surrogate.length_scale: [[0.2], [0.3]]
    common.surrogate.ard: [yes, no]
    common.surrogate.kernel: [gaussian, matern32]
    common.surrogate.fit_starts: [1, 2]
    common.surrogate.noise_variance: [1e-4, 1e-3]
    common.maximiser.raw_samples: [16, 32]
    common.maximiser.perturbation: [0.01, 0.1]
    common.maximiser.selection: [best, boltzmann]
    common.initial_design: [uniform, sobol]
    common.noise_variance: [0, 0.01]
    common.count_initial: [no, yes]
    common.on_failure: [fail, worst]
"""
LONG = bool(os.environ.get("REGATTA_LONG"))


def parameters():
    """{name: part} of all entries of parameters tables but `score`, which is the measure that a trial aims at."""
    found = {}
    for path in sorted(SOURCES.rglob("*.[ch]")):
        part = PART.get(path.relative_to(SOURCES).parts[0])
        for name in ENTRY.findall(path.read_text(encoding="utf-8")) if part else ():
            found.setdefault(name, part)
    return {name: part for name, part in found.items() if name != "score"}


def study(path, names):
    """Two methods and a problem, swept over all the names together: two cells each."""
    pairs = [(k, ", ".join(f"{name}={k + 1}" for name in names)) for k in range(2)]
    made = synthetic.problem("P", ["A0", "A1", "B0", "B1"], seeds=3, queries=3)
    swept = [dict(pairs)[int(cell[0][1])] for cell in made["cells"]]
    own = [", ".join(f"{n}={int(cell[0][1]) + 1}" for n, part in names.items() if part == "algorithm")
           for cell in made["cells"]]
    made["cells"] = [(f"{cell[0][0]} ({text})" if text else cell[0][0], *cell[1:])
                     for cell, text in zip(made["cells"], own)]
    made["swept"], values = swept, np.array([text.split(", ")[0].split("=")[1] for text in swept], int)
    there = {"problem", "algorithm", "instance", "seed", "id", "status", "swept", "key", "optimum", "cell",
             *made["arrays"], *reader.COLUMNS_BEFORE}
    made["settings"] = {f"{part}.{name}" if name in there else name: (part, values.astype(float))
                        for name, part in names.items()}
    synthetic.write(path, [made])
    return values, made["arrays"]["simple_regret"][:, -1]


class EverySetting(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        found = list(parameters().items())
        found += [(name, "algorithm") for name in sorted(settings.RESERVED - dict(found).keys())]
        cls.chunks = [dict(found[k:k + TOGETHER]) for k in range(0, len(found), TOGETHER)]

    def test_tables_are_found(self):
        names = parameters()
        self.assertGreater(len(names), 100)
        for name, part in (("value", "algorithm"), ("noise_variance", "surrogate"), ("dim", "problem")):
            self.assertIn(name, names)
        self.assertTrue(settings.RESERVED & names.keys(), "no parameter has the name of a column")

    def test_as_data(self):
        """Each setting is a column with its own values, beside the columns that are always there."""
        for k, names in enumerate(self.chunks):
            path = self.scratch / f"{k}.h5"
            values, final = study(path, names)
            results = load(path)
            self.assertEqual(len(results.settings), len(names))
            table, data, trials = sweep.final_values(results, "simple"), results.data, results.trials
            for frame in (table, data, trials):
                self.assertTrue(frame.columns.is_unique)
            dataset = results.group("P").whole([results.group(p) for p in results.problems]).dataset()
            self.assertEqual(len(table), len(final))
            for name in names:
                with self.subTest(name=name):
                    column = results.full_name(name)
                    self.assertIn(column, results.settings)
                    np.testing.assert_array_equal(trials[column], values)
                    np.testing.assert_array_equal(dataset[column], values)
                    for v in (1, 2):
                        np.testing.assert_allclose(np.sort(table.loc[table[column] == v, "value"]),
                                                   np.sort(final[values == v]))
                        self.assertEqual(len(results.select(where={name: v}).trials), len(final) // 2)

    def test_as_texts(self):
        """Each setting is a column of the tables and of the exports, and a chart of the page; nothing is drawn. Without
        REGATTA_LONG those that are called like a column, and some others."""
        for k, names in enumerate(self.chunks if LONG else [self.some()]):
            path, out = self.scratch / f"{k}.h5", self.scratch / f"out{k}"
            study(path, names)
            results = load(path, trust=True)
            out.mkdir()
            tables.write_curves(results, ["simple"], Band(), out)
            tables.write_final_regret(results, ["simple"], Band(), out)
            comparisons.write(results, "simple", out)
            for name in ("curves", "final_regret", "comparisons"):
                table = pd.read_csv(out / f"{name}.csv")
                self.assertEqual([n for n in table if re.search(r"\.\d+$", n)], [])  # pandas: a name twice
                for n in names:
                    found = [set(table[form].dropna()) for form in self.forms(n, names) if form in table]
                    of_pairs = name == "comparisons" and names[n] == "algorithm"  # whose methods are two
                    self.assertIn(set() if of_pairs else {1, 2}, found, (name, n))
            with mock.patch.object(stills, "stills", lambda *_: []), mock.patch.object(overviews, "ranks", lambda *_: []):
                page = study_page.write_loaded([results], out / "page.html").read_text(encoding="utf-8")
            charts = json.loads(re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", page, re.S)[1])
            self.assertEqual([chart["axes"][0]["name"] for chart in charts[-len(names):]], results.settings)
            for chart in charts[-len(names):]:
                self.assertEqual({v for panel in chart["data"] for c in panel[0]["curves"] if c for v in c["x"][0]}, {1, 2})
            self.check_exports(path, names, results.settings)

    def some(self):
        chosen = {name: part for chunk in self.chunks for name, part in chunk.items() if name in settings.RESERVED}
        return chosen | dict(list(self.chunks[0].items())[:4])

    def forms(self, name, names):
        part = names[name]
        return name, f"{part}.{name}", f"setting.{name}"

    def check_exports(self, path, names, columns):
        for kind in export.KINDS:
            if kind == "parquet" and not importlib.util.find_spec("pyarrow"):
                continue
            out = path.with_suffix(f".{kind}")
            self.run_main("export", path, "--to", kind, out, "--trust")
            if kind == "csv":
                for table in (pd.read_csv(out / "evaluations.csv"), pd.read_csv(out / "trials.csv")):
                    self.assertEqual({n: set(table[n]) for n in columns}, {n: {1, 2} for n in columns})
                    self.assertEqual([n for n in table if re.search(r"\.\d+$", n) and n[0] != "x"], [])
            if kind == "netcdf":
                with xr.open_dataset(next(out.glob("*.nc")), engine="h5netcdf") as dataset:
                    self.assertEqual(len([n for n in dataset.coords if "setting" in dataset[n].attrs]), len(names))

    def test_names_of_columns_are_drawn(self):
        """Figures over every setting that is called like a column, and over one that is not called so."""
        names = {name: part for chunk in self.chunks for name, part in chunk.items() if name in settings.RESERVED}
        study(self.scratch / "s.h5", names | {"scale": "algorithm"})
        results = load(self.scratch / "s.h5")
        for name in results.settings:
            (_, figure), = figures.over_figures(results, name, "simple")
            self.assertIn(name, {axes.get_xlabel() for axes in figure.axes})
            self.assertEqual({v for axes in figure.axes for line in axes.lines for v in line.get_xdata()}, {1, 2})

    @unittest.skipUnless(LONG, "a long test: everything is drawn")
    def test_all_are_drawn(self):
        for k, names in enumerate(self.chunks):
            path, out = self.scratch / f"{k}.h5", self.scratch / f"out{k}"
            study(path, names)
            self.run_main(path, "--out", out, "--formats", "png", "--metric", "simple", "--page", out / "page.html")
            for name in names:
                self.assertTrue(any((out / f"over_{form}_simple.png").exists() for form in self.forms(name, names)), name)

    @unittest.skipUnless("REGATTA" in os.environ, "no program")
    def test_a_study_that_sweeps_value(self):
        """The fixed confidence parameter of a method, with other parts' settings beside it."""
        (self.scratch / "s.yaml").write_text(
            "study: s\nseeds: 2\ncommon: {iterations: 2, initial_points: 2}\nproblems: [forrester]\n"
            "algorithms: [random, {name: gp_ucb, beta: fixed}]\nsweep: [{algorithms.gp_ucb.value: [1, 4]}]\n")
        common.regatta("run", self.scratch / "s.yaml", "-o", self.scratch / "s.h5", "-quiet")
        results = load(self.scratch / "s.h5")
        self.assertEqual(results.settings, ["algorithm.value"])
        table = sweep.final_values(results, "simple")
        self.assertEqual(table.groupby(["method", "algorithm.value"]).size().to_dict(),
                         {(m, v): 2 for m in ("random", "gp_ucb") for v in (1.0, 4.0)})
        self.assertEqual(len(figures.over_figures(results, "algorithm.value", "simple")), 1)
        self.run_main(self.scratch / "s.h5", "--out", self.scratch / "out", "--formats", "png", "--over", "value")

    @unittest.skipUnless("REGATTA" in os.environ, "no program")
    def test_every_type_of_every_part(self):
        """Settings of all types that go together, as the program writes them: cells stand at their own values only."""
        (self.scratch / "p.py").write_text(PROGRAM)
        (self.scratch / "p.py").chmod(0o755)
        (self.scratch / "s.yaml").write_text(TYPES)
        common.regatta("run", self.scratch / "s.yaml", "-o", self.scratch / "s.h5", "-quiet")
        path, out = self.scratch / "s.h5", self.scratch / "out"
        results = load(path)
        n = sum(len(line.split(": [")) == 2 for line in TYPES.split("sweep:")[1].splitlines())
        self.assertEqual(len(results.settings), n)
        self.assertEqual(len(sweep.final_values(results, "best")), len(results.trials))
        out.mkdir()
        tables.write_final_regret(results, ["best"], Band(), out)
        for metric in ("best", "simple"):  # the program's optimum is not known: no regret
            self.assertEqual(len(figures.over_figures(results, "samples", metric)), 1)
        with mock.patch.object(stills, "stills", lambda *_: []), mock.patch.object(overviews, "ranks", lambda *_: []):
            study_page.write_loaded([results], out / "page.html")
        if LONG:
            self.run_main(path, "--out", out, "--formats", "png", "--metric", "best", "--page", out / "page.html")
        table = pd.read_csv(out / "final_regret.csv")
        for name in results.settings:
            self.assertEqual(table[table["n"] > 0][name].dropna().nunique(), 2, name)
            self.assertEqual(results.trials[name].replace("", np.nan).dropna().nunique(), 2, name)
        for kind in ("csv", "netcdf", "ioh"):
            self.run_main("export", path, "--to", kind, self.scratch / kind)
        self.assertLessEqual(set(results.settings), set(pd.read_csv(self.scratch / "csv" / "evaluations.csv")))

    def run_main(self, *arguments):
        code, *said = common.run(*arguments)
        self.assertEqual(code, 0, said)
