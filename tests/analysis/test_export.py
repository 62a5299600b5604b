"""Exports, read back: tables with the same bits, netCDF as other programs open it, logs of COCO and IOHprofiler
by the rules of their formats."""
import importlib.util
import json
import pathlib
import re
import shutil
import unittest

import common
import h5py
import netCDF4
import numpy as np
import pandas as pd
import peers
import synthetic
import xarray as xr
from common import run
from regatta_analysis import InputError, load
from regatta_analysis.report import logs

HEADER = re.compile(r"% f evaluations \| g evaluations \| best noise-free fitness - Fopt \((-?[\d.]+e[+-]\d\d)\) \+ "
                    r"sum g_i\+ \| measured fitness \| best measured fitness or single-digit g-values \| x1 \| x2\.\.\.$")
ROW = re.compile(r"\d+ 0( [+-]\d\.\d{9}e[+-]\d\d){3}( [+-]\d\.\d{4}e[+-]\d\d)*$")


def bbob(function, dim, label=None, **more):
    part = synthetic.problem(label or f"BBOB {dim}-D (function={function})", ["EI", "=Random, d"], seeds=2,
                             instances=2, queries=60, dim=dim, **more)
    return part | {"name": "bbob", "options": f"function={function},dim={dim},first_instance=4"}


class Export(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.directory / "study.h5"
        synthetic.write(cls.path, [bbob(3, 2, failed=(1,)), bbob(3, 8, random_state=1), bbob(10, 2, random_state=2),
                                   synthetic.problem("A b", ["EI"], seeds=2, queries=9)])
        with h5py.File(cls.path, "r+") as file:
            file.attrs.update({"creator_name": "Ada, Bo", "license": "CC-BY-4.0", "id": "10.1/x",
                               "keywords": "regret"})
        cls.results = load(cls.path, trust=True)

    def export(self, kind, *more):
        out = self.scratch / kind
        code, said, wrong = run("export", self.path, "--to", kind, out, "--trust", *more)
        self.assertEqual((code, wrong), (0, ""))
        self.assertRegex(said, r"^\d+ files in ")
        return out

    def trial(self, problem, algorithm, k):
        """Values above the optimum and designs of the k-th trial of a cell."""
        group = self.results.group(problem)
        at = np.flatnonzero(group.column("algorithm") == algorithm)[k]
        n = group.column("n_iterations")[at]
        return 3.0 - group.values("objective")[at, :n], group.values("x")[at, :n]

    # ---- tables ----

    def test_csv(self):
        out = self.export("csv")
        data = self.results.data.drop(columns="best")  # which follows from the others
        found = pd.read_csv(out / "evaluations.csv", float_precision="round_trip")
        self.assertEqual(list(found), list(data))
        for name in ("simple_regret", "x_0", "x_7", "cpu_fit", "t", "seed"):
            np.testing.assert_array_equal(found[name], data[name])
        self.assertEqual(set(found["algorithm"]), {"EI", "'=Random, d"})  # no spreadsheet computes a label
        trials = pd.read_csv(out / "trials.csv", dtype={"checksum": str})
        self.assertEqual(list(trials["key"]), list(self.results.texts("key")))
        self.assertEqual(set(self.results.trials) - set(trials), set())
        about = json.loads((out / "study.json").read_text())
        self.assertEqual((about["creator_name"], about["license"], about["id"], about["keywords"]),
                         ("Ada, Bo", "CC-BY-4.0", "10.1/x", "regret"))
        self.assertEqual(about["study"], self.results.study)

    def test_csv_of_a_sweep(self):
        """A row per evaluation, cells that several panels share once, and columns of what was swept."""
        for kept in sorted((pathlib.Path(__file__).resolve().parents[1] / "data").glob("results-v*.h5")):
            results, out = load(kept), self.scratch / kept.stem
            code, _, wrong = run("export", kept, "--to", "csv", out)
            self.assertEqual((code, wrong), (0, ""))
            found = pd.read_csv(out / "evaluations.csv")
            self.assertEqual((list(found), len(found)), (list(results.data.drop(columns="best")), len(results.data)), kept.name)
            self.assertTrue(set(results.settings) <= set(found), kept.name)

    @unittest.skipIf(importlib.util.find_spec("pyarrow"), "pyarrow is there")
    def test_no_parquet_without_pyarrow(self):
        code, said, wrong = run("export", self.path, "--to", "parquet", self.scratch / "p", "--trust")
        self.assertEqual((code, said, wrong.count("\n")), (2, "", 1))
        self.assertIn("needs the Python package pyarrow, which Debian 12 does not have", wrong)
        self.assertFalse((self.scratch / "p").exists())

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "no pyarrow")
    def test_parquet(self):
        out = self.export("parquet")
        found = pd.read_parquet(out / "evaluations_A_b.parquet")
        pd.testing.assert_frame_equal(found, self.results.group("A b").tidy())

    def test_netcdf(self):
        out = self.export("netcdf")
        self.assertEqual(len(list(out.iterdir())), 4)
        name = "BBOB_8-D_function_3.nc"
        with netCDF4.Dataset(out / name) as file:
            self.assertEqual(file.Conventions, "CF-1.10, ACDD-1.3")
            self.assertEqual((file.creator_name, file.license, file.id, file.naming_authority, file.keywords),
                             ("Ada, Bo", "CC-BY-4.0", "10.1/x", "org.doi", "regret"))
            self.assertEqual((file.title, file.study), (self.results.title, self.results.study))
            self.assertIn("summary", file.ncattrs())
            self.assertEqual({k: len(v) for k, v in file.dimensions.items()},
                             {"trial": 8, "iteration": 64, "dim_x": 8, "dim_z": 8})
            for variable in file.variables.values():
                self.assertIn("long_name", variable.ncattrs(), variable.name)
                self.assertNotIn(getattr(variable, "units", "1"), ("y", "native"))
        wanted = self.results.xarray("BBOB 8-D (function=3)")
        for engine in ("netcdf4", "h5netcdf"):
            with xr.open_dataset(out / name, engine=engine) as found:
                np.testing.assert_array_equal(found["simple_regret"], wanted["simple_regret"])
                self.assertEqual(found["x"].dims, ("trial", "iteration", "dim_x"))
                self.assertIn("algorithm", found.coords)
                self.assertEqual(list(found["algorithm"].values), list(wanted["algorithm"].values))

    # ---- COCO ----

    def runs_of(self, path):
        """[(f_opt, rows)] of a .dat or .tdat."""
        found = []
        text = path.read_text()
        self.assertTrue(text.endswith("\n"))
        for row in text.splitlines():
            if row.startswith("%"):
                found.append((float(HEADER.match(row)[1]), []))
            else:
                self.assertRegex(row, ROW)
                found[-1][1].append([float(v) for v in row.split(" ")])
        return found

    def test_coco(self):
        out = self.export("coco", "--problems", *(p for p in self.results.problems if p != "A b"))
        self.assertEqual([p.name for p in out.iterdir()], ["bbob"])
        out /= "bbob"
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["EI", "Random_d"])
        triples = (out / "EI" / "bbobexp_f3.info").read_text().split("\n")
        self.assertEqual(len(triples), 6)
        for dim, (first, words, last) in zip((2, 8), (triples[:3], triples[3:])):
            self.assertEqual(first, f"suite = 'bbob', funcId = 3, DIM = {dim}, Precision = 1.000e-08, algId = 'EI', "
                             "coco_version = '2.8.2', logger = 'bbob', data_format = 'bbob-new2', settings = ''")
            self.assertRegex(words, "^% .*Ada, Bo")
            path, *ends = last.split(", ")
            self.assertEqual(path, f"data_f3/bbobexp_f3_DIM{dim}.dat")
            self.assertEqual([e.partition(":")[0] for e in ends], ["4", "4", "5", "5"])
            for suffix in ("dat", "tdat"):
                self.check_coco(out / "EI" / path.replace(".dat", f".{suffix}"), ends, dim, suffix)

    def check_coco(self, path, ends, dim, suffix):
        found = self.runs_of(path)
        self.assertEqual(len(found), len(ends))
        for k, (end, (least, rows)) in enumerate(zip(ends, found)):
            gap, x = self.trial(f"BBOB {dim}-D (function=3)", "EI", k)
            best = np.minimum.accumulate(gap)
            number = [int(r[0]) for r in rows]
            self.assertEqual(least, -3.0)
            self.assertEqual((number[0], number[-1]), (1, len(gap)))
            self.assertEqual(end.partition(":")[2], f"{len(gap)}|{best[-1]:.1e}")
            self.assertEqual(number, sorted(set(number)))
            np.testing.assert_allclose([r[2] for r in rows], best[np.array(number) - 1], rtol=1e-9)
            np.testing.assert_allclose([r[4] for r in rows], best[np.array(number) - 1] - 3.0, rtol=1e-9)
            np.testing.assert_allclose([r[3] for r in rows[:-1]], gap[np.array(number[:-1]) - 1] - 3.0, rtol=1e-9)
            self.assertEqual({len(r) for r in rows}, {5 + (dim if dim < 7 else 0)})
            if dim < 7:
                np.testing.assert_allclose(rows[0][5:], x[0], rtol=1e-4)
            level = np.ceil(20 * np.log10(best))
            wanted = ({n for n in range(1, len(gap) + 1) if n == 1 or level[n - 1] < level[n - 2]}
                      if suffix == "dat" else
                      {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 17, 19, 22, 25, 28, 31, 35, 39, 44, 50, 56, 63}
                      | {m * dim * 10**e for m in (1, 2, 5) for e in (0, 1)})
            self.assertEqual(set(number), {n for n in wanted if n <= len(gap)} | {len(gap)})

    def test_coco_last_row_is_the_best(self):
        gap = np.array([4.0, 1.0, 2.0, 3.0])
        made = logs._coco_run(logs.Run(2, 1, gap + 7.0, 7.0, np.arange(8.0).reshape(4, 2)),
                              logs._improvements).splitlines()
        self.assertEqual(made[-1], "4 0 +1.000000000e+00 +8.000000000e+00 +8.000000000e+00 +2.0000e+00 +3.0000e+00")
        self.assertEqual([row.split()[0] for row in made[1:]], ["1", "2", "4"])

    def test_other_problems_are_another_suite(self):
        """A folder per suite; a problem has the number of its place in the study, whatever is selected."""
        path = self.scratch / "mixed.h5"
        synthetic.write(path, [bbob(3, 2, "P"), *(synthetic.problem(label, ["EI"], seeds=2, queries=9, dim=2)
                                                  for label in ("Small, d = 2", "Large"))])
        number = {label: 1 + k for k, label in enumerate(load(path).problems)}
        self.assertLess(number["Small, d = 2"], number["Large"])
        for kind, read in (("coco", lambda folder: peers.read_coco(folder, {"regatta-mixed"})[0]),
                           ("ioh", peers.read_ioh)):
            for selected in ([], ["Large"]):
                out = self.scratch / f"{kind}{len(selected)}"
                code, said, _ = run("export", path, "--to", kind, out, *(["--problems", *selected] if selected else []))
                self.assertEqual(code, 0)
                self.assertEqual(sorted(p.name for p in out.iterdir()), ["bbob"] * (not selected) + ["regatta-mixed"])
                self.assertEqual(sorted(read(out / "regatta-mixed" / "EI")), sorted(
                    (number[label], 2) for label in selected or ("Small, d = 2", "Large")))
                self.assertEqual("cocopp reads the " in said, kind == "coco", said)
        self.assertEqual(set(peers.read_coco(self.scratch / "coco0" / "bbob" / "EI")[0]), {(3, 2)})
        with self.assertRaisesRegex(ValueError, "suites"):
            peers.read_coco(self.scratch / "coco0" / "regatta-mixed" / "EI")

    def test_old_exports_are_not_written_over(self):
        for kind in ("csv", "netcdf", "coco", "ioh"):
            out = self.export(kind)
            before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
            code, said, wrong = run("export", self.path, "--to", kind, out, "--trust")
            self.assertEqual((code, said, wrong.count("\n")), (2, "", 1))
            self.assertIn("is not an empty folder", wrong)
            self.assertEqual(before, {path: path.stat().st_mtime_ns for path in out.rglob("*")})

    def test_functions_of_one_number(self):
        path = self.scratch / "twice.h5"
        synthetic.write(path, [bbob(3, 2, "P"), bbob(3, 2, "Q")])
        for kind in ("coco", "ioh"):
            code, _, wrong = run("export", path, "--to", kind, self.scratch / "t")
            self.assertEqual((code, wrong.count("\n")), (2, 1))
            self.assertIn("'P' and 'Q' are both function 3 in 2 dimensions; --problems or --where", wrong)

    def test_coco_needs_an_optimum(self):
        shutil.copy(self.path, self.scratch / "u.h5")
        with h5py.File(self.scratch / "u.h5", "r+") as copy:
            for label in [label for label, group in copy.items() if label not in ("A b", "cells")]:
                del copy[label]
            copy["A b/optimum"][:] = np.nan
        results = load(self.scratch / "u.h5", trust=True)
        with self.assertRaisesRegex(InputError, "no optimum is known"):
            logs.write_coco(results, self.scratch / "c", {})
        self.assertGreater(len(logs.write_ioh(results, self.scratch / "i", {})[0]), 1)

    def test_every_run_is_exported_as_it_was(self):
        """Trials that are infeasible at first or all along, failed, without an evaluation, or better than the optimum:
        runs of both formats, read back and compared with the file."""
        part = bbob(3, 2, "P")
        values = part["arrays"]["objective"]
        values[0, :3] = np.nan  # infeasible at first
        values[1] = np.nan  # all along
        values[2, 10] = 3.25  # better than the optimum 3, on the second instance
        part["n_rows"][3], part["status"][3] = 0, 2  # nothing was evaluated
        part["n_rows"][4], part["status"][4] = 7, 2
        path = self.scratch / "ugly.h5"
        synthetic.write(path, [part])
        optimum = {0: 3.0, 1: 3.25}
        wanted = {"EI": [], "=Random, d": []}
        for k, (algorithm, instance, _) in enumerate(part["cells"]):
            n = part["n_rows"][k]
            if n:
                gap = np.where(np.isnan(values[k, :n]), np.inf, optimum[instance] - values[k, :n])
                wanted[algorithm].append((4 + instance, np.minimum.accumulate(gap)))
        for kind in ("coco", "ioh"):
            out = self.scratch / f"ugly-{kind}"
            code, said, wrong = run("export", path, "--to", kind, out, "--trust")
            self.assertEqual((code, wrong), (0, ""))
            self.assertIn("1 trial without an evaluation left out", said)
            for algorithm, folder in (("EI", "EI"), ("=Random, d", "Random_d")):
                found = (peers.read_coco(out / "bbob" / folder)[0] if kind == "coco" else
                         peers.read_ioh(out / "bbob" / folder))[3, 2]
                self.assertEqual([run[0] for run in found], [run[0] for run in wanted[algorithm]])
                for (_, number, best), (_, gap) in zip(found, wanted[algorithm]):
                    self.assertEqual(number[-1], len(gap))
                    seen = np.where(best > 1e299, np.inf, best)
                    np.testing.assert_allclose(seen, gap[number - 1], rtol=1e-8)
        optima = peers.read_coco(self.scratch / "ugly-coco" / "bbob" / "EI")[1][3, 2]
        self.assertEqual(optima, [-3.0, -3.0, -3.25])

    def test_trials_that_stop_ended(self):
        """A reader of every format can tell them from complete trials and from missing values."""
        part = bbob(3, 2, "P", failed=(3,))
        part["arrays"]["stopped"] = np.zeros_like(part["arrays"]["y"])
        for k, n, reason in ((0, 20, 1.0), (1, 30, 2.0)):
            part["n_rows"][k], part["arrays"]["stopped"][k, n - 1] = n, reason
        for k, n in enumerate(part["n_rows"]):
            for values in part["arrays"].values():
                values[k, n:] = np.nan
        path = self.scratch / "stop.h5"
        synthetic.write(path, [part])
        with h5py.File(path, "r+") as file:
            file["P/n_iterations"].attrs["description"] = "entries of this trial"
        for kind in ("csv", "netcdf", "coco", "ioh"):
            code, said, wrong = run("export", path, "--to", kind, self.scratch / f"stop-{kind}", "--trust")
            self.assertEqual((code, wrong), (0, ""))
            self.assertEqual("stop ended 1 run at the target regret: programs count lower values, of which nothing is "
                             "known, as missed" in said.split("\n"), kind in ("coco", "ioh"))
        trials = pd.read_csv(self.scratch / "stop-csv" / "trials.csv", keep_default_na=False)
        self.assertEqual(list(trials["stopped"]), ["regret", "seconds", *[""] * 6])
        with xr.open_dataset(self.scratch / "stop-netcdf" / "P.nc") as found:
            self.assertEqual(found["n_iterations"].attrs["description"], "entries of this trial")
            self.assertEqual(list(found["n_iterations"].values), list(part["n_rows"]))
            self.assertEqual(set(found["status"].values), {"complete", "failed"})
            self.assertFalse({"flag_values", "flag_meanings"} & set(found["status"].attrs))
            self.assertEqual([row.max() for row in found["stopped"].fillna(0).values], [1, 2, *[0] * 6])
            np.testing.assert_array_equal(found["simple_regret"].notnull().sum("iteration"), part["n_rows"])
        told = "stop ended 1 of 4 runs at the target regret, 1 of 4 runs after its seconds"
        info = [self.scratch / "stop-coco" / "bbob" / name / "bbobexp_f3.info" for name in ("EI", "Random_d")]
        self.assertEqual([path.read_text().split("\n")[1].endswith(f"; {told}") for path in info], [True, False])
        made = [json.loads((self.scratch / "stop-ioh" / "bbob" / name / "IOHprofiler_f3_Rastrigin.json").read_text())
                for name in ("EI", "Random_d")]
        self.assertEqual([{"stop": told} in one["experiment_attributes"] for one in made], [True, False])
        self.assertFalse(any("stop" in attribute for attribute in made[1]["experiment_attributes"]))
        for found in (peers.read_coco(info[0].parent)[0], peers.read_ioh(self.scratch / "stop-ioh" / "bbob" / "EI")):
            self.assertEqual([number[-1] for _, number, _ in found[3, 2]], list(part["n_rows"][:4]))

    # ---- IOHprofiler ----

    def test_ioh(self):
        out = self.export("ioh", "--problems", *(p for p in self.results.problems if p != "A b"))
        out /= "bbob"
        made = json.loads((out / "EI" / "IOHprofiler_f3_Rastrigin.json").read_text())
        self.assertEqual([made[k] for k in ("version", "suite", "function_id", "function_name", "maximization")],
                         ["0.3.9", "BBOB", 3, "Rastrigin", False])
        self.assertEqual(made["algorithm"]["name"], "EI")
        self.assertIn({"creator_name": "Ada, Bo"}, made["experiment_attributes"])
        self.assertEqual([s["dimension"] for s in made["scenarios"]], [2, 8])
        for scenario in made["scenarios"]:
            blocks = (out / "EI" / scenario["path"]).read_text().split(" ".join(made["attributes"]) + "\n")
            self.assertEqual((blocks[0], len(blocks) - 1), ("", 4))
            for k, (about, block) in enumerate(zip(scenario["runs"], blocks[1:])):
                gap, x = self.trial(f"BBOB {scenario['dimension']}-D (function=3)", "EI", k)
                rows = [(int(n), float(v)) for n, v in (row.split(" ") for row in block.splitlines())]
                self.assertEqual((about["instance"], about["evals"]), (4 + k // 2, len(gap)))
                self.assertEqual([n for n, _ in rows].count(1), 1)
                self.assertEqual((rows[0][0], rows[-1][0]), (1, len(gap)))
                np.testing.assert_allclose([v for _, v in rows], gap[[n - 1 for n, _ in rows]], rtol=1e-14)
                self.assertEqual([n for n, _ in rows][:-1], [n for n in range(1, len(gap) + 1) if n == 1 or
                                 gap[n - 1] < gap[:n - 1].min()][:len(rows) - 1])
                self.assertEqual(about["best"]["evals"], int(gap.argmin()) + 1)
                np.testing.assert_allclose(about["best"]["x"], x[gap.argmin()])

    def test_options(self):
        for wrong in (["--to", "xml"], []):
            code, _, said = run("export", self.path, *wrong, self.scratch / "x")
            self.assertEqual((code, said.count("\n")), (2, 1))
