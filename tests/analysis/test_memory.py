"""Large studies in little memory: what blocks of trials give is what all trials give at once, memory does not grow with the
cells, and files that are cut, that change while they are read, or that do not fit give one line."""
import subprocess
import sys
import tracemalloc
import warnings
from contextlib import ExitStack
from unittest import mock

import common
import numpy as np
import pandas as pd
import synthetic
import xarray as xr
from common import run
from regatta_analysis import InputError, load
from regatta_analysis.load import group, results as results_module
from regatta_analysis.report import export, logs, tables
from regatta_analysis.figures.figures import Band
from regatta_analysis.stats import inference, measures, profiles, regret, statistics, summaries


def cells(label, methods, seeds, queries):
    """A problem whose curves take most of the memory: `methods` cells of many values and few columns."""
    part = synthetic.problem(label, [f"M{k}" for k in range(methods)], seeds=1, queries=1)
    n, rows, random = methods * seeds, queries + part["initial"], np.random.default_rng(methods)
    each = random.exponential(size=(n, rows))
    arrays = {"instantaneous_regret": each, "simple_regret": np.minimum.accumulate(each, axis=1),
              "cumulative_regret": np.cumsum(each, axis=1), "objective": 3.0 - each, "x": random.uniform(size=(n, rows, 2))}
    arrays["cumulative_regret"][:, :part["initial"]] = np.nan
    return part | {"cells": [(f"M{k}", 0, s) for k in range(methods) for s in range(seeds)], "arrays": arrays, "rows": rows,
                   "status": np.ones(n, np.uint8), "n_rows": np.full(n, rows), "swept": [""] * n}


class Blocks(common.Case):
    """One value for a block, where there is otherwise one block for all."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        cls.path = cls.directory / "study.h5"
        bbob = synthetic.problem("BBOB (function=3)", ["EI", "TS", "Random"], instances=2, seeds=4, queries=9, failed=(1, 13))
        synthetic.write(cls.path, [bbob | {"name": "bbob", "options": "function=3,dim=2,first_instance=4"},
                                   synthetic.problem("A", ["EI", "Random"], seeds=9, queries=12, dim=3, missing=(3,))])

    def small(self):
        stack = ExitStack()
        for module, name in ((group, "BLOCK"), (regret, "WHOLE"), (statistics, "BLOCK"), (results_module, "KEPT"),
                             (results_module, "SMALL")):
            stack.enter_context(mock.patch.object(module, name, 40))
        return stack

    def both(self, make):
        """The files that `make` writes into a folder, at once and in small blocks."""
        found = []
        for name in ("whole", "small"):
            with self.small() if name == "small" else ExitStack():
                out = self.scratch / make.__name__ / name
                make(out)
                found.append({p.relative_to(out): p for p in sorted(out.rglob("*")) if p.is_file()})
        self.assertEqual(list(found[0]), list(found[1]))
        self.assertGreater(len(found[0]), 1)
        return [(found[0][name], found[1][name]) for name in found[0]]

    def same(self, one, other):
        if one.suffix == ".csv" and one.read_bytes() != other.read_bytes():  # sums may be rounded in another order
            pd.testing.assert_frame_equal(pd.read_csv(one), pd.read_csv(other), rtol=1e-12, atol=1e-13)
        elif one.suffix == ".nc":
            xr.testing.assert_identical(*(xr.open_dataset(path, engine="h5netcdf").load() for path in (one, other)))
        elif one.suffix != ".csv":
            self.assertEqual(one.read_bytes(), other.read_bytes(), one.name)

    def test_figures_tables_and_page(self):
        def drawn(out):
            self.assertEqual(run(self.path, "--out", out, "--page", out / "page.html", "--formats", "png")[0], 0)
        for pair in self.both(drawn):
            self.same(*pair)

    def test_exports(self):
        for kind in ("csv", "netcdf", "coco", "ioh"):
            def written(out, kind=kind):
                out.parent.mkdir(exist_ok=True)
                self.assertEqual(run("export", self.path, "--to", kind, out / kind)[0], 0)
            for pair in self.both(written):
                self.same(*pair)

    def test_curves_are_those_of_plain_arrays(self):
        results = load(self.path)
        with self.small():
            for problem in results.problems:
                done = results.group(problem).done
                values = done.values("simple_regret")[:, 3:]
                np.testing.assert_array_equal(regret.regret_curves(results, problem, "simple"), values)
                parts = dict.fromkeys(done.cells, np.empty(0))
                for algorithm, frame in regret.cell_curves(results, problem, "simple"):
                    mine = done.column("algorithm") == algorithm
                    np.testing.assert_array_equal(frame, values[mine][:, frame.columns])
                    parts[algorithm] = np.append(parts[algorithm], frame.columns)
                for queries in parts.values():
                    np.testing.assert_array_equal(queries, np.arange(values.shape[1]))
                last = measures.last_values(results, problem, "simple")
                np.testing.assert_array_equal(last, values[:, -1])
                cell = summaries.cell_summaries(results, problem, "simple").set_index(["algorithm", "t"])
                for algorithm in done.cells:
                    mine = values[done.column("algorithm") == algorithm]
                    np.testing.assert_array_equal(cell.loc[algorithm, "high"], np.quantile(mine, 0.75, axis=0))
                    np.testing.assert_allclose(cell.loc[algorithm, "mean"], mine.mean(axis=0), rtol=1e-13)


class Memory(common.Case):
    """The peak of what Python and NumPy allocate, for some cells and for five times as many."""

    FEW, MANY, SEEDS, QUERIES = 2, 10, 300, 400

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for methods in (cls.FEW, cls.MANY):
            synthetic.write(cls.directory / f"{methods}.h5", [cells("P", methods, cls.SEEDS, cls.QUERIES)])

    def peak(self, compute, methods):
        results = load(self.directory / f"{methods}.h5")
        tracemalloc.start()
        try:
            compute(results)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def assert_does_not_grow(self, compute, name):
        """Eight cells more, each of 1 MB a variable, take less than one variable of all of them would."""
        few, many = (self.peak(compute, methods) for methods in (self.FEW, self.MANY))
        column = 8 * (self.MANY - self.FEW) * self.SEEDS * self.QUERIES
        self.assertLess(many - few, 0.6 * column, f"{name}: {few / 1e6:.1f} MB and {many / 1e6:.1f} MB")

    def test_memory_does_not_grow_with_cells(self):
        with mock.patch.object(group, "BLOCK", self.SEEDS * self.QUERIES), mock.patch.object(results_module, "KEPT", 1 << 20), \
                mock.patch.object(export, "write_csv", lambda *_, **__: None), mock.patch.object(logs, "_coco_run", lambda *_: ""):
            for compute in (
                    lambda r: summaries.cell_summaries(r, "P", "simple"),
                    lambda r: inference.growth(r),
                    lambda r: profiles.hits(r),
                    lambda r: [measures.last_values(r, "P", metric) for metric in ("simple", "cumulative", "best")],
                    lambda r: tables.write_curves(r, ["simple"], Band(), self.scratch),
                    lambda r: tables.final_regret(r, ["simple", "cumulative"]),
                    lambda r: export.write(r, "csv", self.new()),
                    lambda r: export.write(r, "coco", self.new()),
                    lambda r: export.write(r, "netcdf", self.new())):
                self.assert_does_not_grow(compute, ", ".join(compute.__code__.co_names))

    def new(self):
        path = self.scratch / f"export_{len(list(self.scratch.iterdir()))}"
        return path


class Files(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.directory / "study.h5"
        synthetic.write(cls.path, [cells("P", 2, 200, 100)])

    def test_a_file_that_is_cut_or_grows_while_it_is_read(self):
        data = self.path.read_bytes()
        for name, after in (("cut", data[:len(data) // 3]), ("grown", data + data[:1000]), ("other", data[::-1])):
            path = self.scratch / f"{name}.h5"
            path.write_bytes(data)
            results = load(path)
            results.group("P").values("simple_regret")
            path.write_bytes(after)
            try:
                found = results.group("P").values("objective")
            except InputError as error:
                self.assertRegex(str(error), rf"^{path}: ")
                self.assertNotIn("\n", str(error))
            else:
                np.testing.assert_array_equal(found, load(self.path).group("P").values("objective"))
            code, _, wrong = run("export", path, "--to", "csv", self.scratch / name)
            if name != "grown":  # what was committed is there, with its checksums
                self.assertEqual((code, len(wrong.splitlines())), (2, 1), name)
                self.assertIn(str(path), wrong)
            else:
                self.assertEqual((code, wrong), (0, ""))

    def test_rows_that_do_not_fit(self):
        results, names = load(self.path), ["simple_regret", "objective"]
        size = len(results.data) * 8
        with mock.patch.object(results_module, "_memory", lambda: 30 * size), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            results.rows(names)
            self.assertEqual(len(said), 1)
            self.assertRegex(str(said[0].message), r"study.h5: 41,600 rows take .* GB of .* GB of memory; rows\(\[...\]\)")
        with mock.patch.object(results_module, "_memory", lambda: 9 * size), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaisesRegex(InputError, "^[^\n]*study.h5: 41,600 rows take [^\n]*$"):
                results.data
            self.assertEqual(len(results.rows(["objective"], algorithms=["M1"])), len(results.rows(["objective"])) // 2)
        with mock.patch.object(results_module, "_memory", lambda: 100 * size), warnings.catch_warnings():
            warnings.simplefilter("error")
            pd.testing.assert_frame_equal(results.rows(["objective"], algorithms=["M1"]),
                                          results.select(algorithms=["M1"]).rows(["objective"]))

    def test_a_limit_on_memory_gives_one_line(self):
        """The address space that the process has after its imports, and 30 MB."""
        path = self.scratch / "large.h5"
        synthetic.write(path, [cells("P", 1, 2000, 5000)])
        code = ("import resource, sys\n"
                "from regatta_analysis.__main__ import main\n"
                "from regatta_analysis.report import study_page\n"
                "pages = int(open('/proc/self/statm').read().split()[0])\n"
                "resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (30 << 20),) * 2)\n"
                f"sys.exit(main(['page', {str(path)!r}, '--trust', '--out', {str(self.scratch / 'l.html')!r}]))")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**common.os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)})
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertRegex(done.stderr, "memory")
