"""Reading files: shapes, alignment, missing values, and one clear line for every bad file."""
import collections
import contextlib
import copy
import gc
import os
import pickle
import subprocess
import sys

import common
import h5py
import numpy as np
import synthetic
from regatta_analysis import InputError, load
from regatta_analysis.load import reader
from regatta_analysis.stats.regret import curves, regret_curves


class Load(common.Case):
    def setUp(self):
        super().setUp()
        self.path = self.scratch / "study.h5"
        self.small = synthetic.problem("Small, d = 2", ["EI", "Random"], seeds=3, queries=5,
                                       initial=2, failed=(1,), missing=(5,))
        self.large = synthetic.problem("Large", ["EI"], instances=2, seeds=2, queries=7, initial=3,
                                       dim=4)

    def test_flags_are_booleans(self):
        """Whether all trials have them, some, or none, in a file, in shards, and for some columns."""
        for given in ({}, {"failed": 1.0}, {"failed": 0.0, "feasible": 0.0}, {"failed": np.nan, "known": 1.0},
                      {"asked_otherwise": np.nan}):
            for name, value in given.items():
                values = np.full(self.small["arrays"]["y"].shape, np.nan)
                values[:, 1] = value
                self.small["arrays"][name] = values
            results = synthetic.loaded(self.path, [self.small, self.large])
            for frame in (results.data, results.group("Large").tidy(), results.rows(["failed", "y"])):
                for name in {"failed", *given} & set(frame):
                    self.assertEqual(frame[name].dtype, bool, (given, name))
                frame[frame.failed]
            data = results.data
            mine = data[(data["problem"] == "Small, d = 2") & (data["row"] == 1)]
            self.assertEqual(data["failed"].sum(), len(mine) if given.get("failed") == 1.0 else 0)
            for name in given:
                del self.small["arrays"][name]

    def test_trials_with_the_same_labels_are_refused(self):
        """In one file and in shards, with one line; whatever was made equal."""
        for forge in (lambda c: [c[0], c[0], *c[2:]], lambda c: [("EI", *cell[1:]) for cell in c], lambda c: [c[5]] * 6):
            part = synthetic.problem("P", ["EI", "Random"], seeds=3, queries=4, initial=2)
            part["cells"] = forge(part["cells"])
            path, shards = self.scratch / "forged.h5", self.scratch / "s.h5.d"
            synthetic.write(path, [part, synthetic.problem("Q", ["EI"], seeds=2, queries=4)])
            self.refused(path, "two trials of ", " on 'P' have instance 0 and seed ")
            shards.mkdir(exist_ok=True)
            for k, rows in enumerate(([0, 1, 2], [3, 4, 5])):
                synthetic.write(shards / f"0-{k}.h5", [part], complete=0, rows={"P": rows})
                with h5py.File(shards / f"0-{k}.h5", "r+") as file:
                    file["P/id"][...] = [f"trial {row}" for row in rows]  # equal ones would be one trial
            with self.assertRaises(InputError) as caught:
                load(shards, trust=True)
            self.assertIn("two trials of ", str(caught.exception))

    def test_frames(self):
        results = synthetic.loaded(self.path, [self.small, self.large])
        self.assertEqual(results.problems, ["Small, d = 2", "Large"])  # as in the study file
        self.assertEqual(results.study, synthetic.STUDY)
        self.assertTrue(results.complete)
        self.assertEqual(len(results.trials), 10)
        small = results.trials[results.trials["problem"] == "Small, d = 2"]
        self.assertEqual(list(small["status"]),
                         ["complete", "failed", "complete", "complete", "complete", "missing"])
        self.assertEqual(small["message"].iloc[1], "Cholesky broke down")
        # 4 complete trials of 7 rows, one that failed after 2 + 1, one missing; 4 of 10 rows
        self.assertEqual(len(results.data), 4 * 7 + 3 + 4 * 10)
        data = results.data
        one = data[(data["problem"] == "Large") & (data["instance"] == 1) & (data["seed"] == 0)]
        self.assertEqual(list(one["t"]), list(range(-2, 8)))
        self.assertEqual(list(one["row"]), list(range(10)))
        x = self.large["arrays"]["x"][2]
        np.testing.assert_array_equal(one[["x_0", "x_3"]], x[:, [0, 3]])
        self.assertTrue(data.loc[data["problem"] != "Large", "x_3"].isna().all())

    def test_no_evaluation(self):
        """Where every trial failed at once, there are columns without rows."""
        failed = synthetic.problem("P", ["EI"], seeds=2, queries=3, failed=(0, 1))
        for name, values in failed["arrays"].items():
            values[...] = np.nan
        failed["n_rows"][:] = 0
        results = synthetic.loaded(self.path, [failed])
        self.assertEqual(len(results.data), 0)
        self.assertLessEqual({"y", "x_0", "x_1"}, set(results.data))
        self.assertEqual(list(results.rows(["y"]))[-1], "y")

    def test_rows(self):
        """A part of the columns: they have the same values as in all, and no other column is read."""
        results = synthetic.loaded(self.path, [self.small, self.large])
        asked = []
        ask = reader.Reader.ask
        self.addCleanup(setattr, reader.Reader, "ask", ask)
        reader.Reader.ask = lambda *about: (asked.append(about[2:4]), ask(*about))[1]
        some, data = results.rows(["y", "x_1"]), results.data
        self.assertEqual(list(some), [*data.columns[:7], "x_1", "y"])
        for name in some:
            np.testing.assert_array_equal(some[name], data[name])
        self.assertEqual(some["algorithm"].dtype, "category")
        first = load(self.path)
        asked.clear()
        first.rows(["y"])
        self.assertIn(("values", "/Large/y"), asked)
        self.assertNotIn(("values", "/Large/f"), asked)
        with self.assertRaisesRegex(InputError, "no column 'z' in it"):
            results.rows(["y", "z"])

    def test_nothing_written(self):
        """A column that was never written is NaN, and takes no memory."""
        synthetic.write(self.path, [self.large])
        with h5py.File(self.path, "a") as file:
            group = file["Large"]
            made = group.create_dataset("idle", group["y"].shape, "f8", fillvalue=np.nan,
                                        chunks=True)
            for k, axis in enumerate(("trial", "iteration")):
                made.dims[k].attach_scale(group[axis])
        data = load(self.path, trust=True).data
        self.assertTrue(data["idle"].isna().all())
        self.assertEqual(data["idle"].to_numpy().strides, (0,))
        self.assertEqual(data.groupby("seed")["idle"].count().sum(), 0)

    def test_xarray(self):
        dataset = synthetic.loaded(self.path, [self.small]).xarray("Small, d = 2")
        self.assertEqual(dict(dataset.sizes), {"trial": 6, "iteration": 7, "dim_x": 2, "dim_z": 2})
        self.assertEqual(dataset["x"].dims, ("trial", "iteration", "dim_x"))
        self.assertEqual(list(dataset["iteration"].values), [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(list(dataset["algorithm"].values[[0, 5]]), ["EI", "Random"])
        np.testing.assert_array_equal(dataset["simple_regret"],
                                      self.small["arrays"]["simple_regret"])
        self.assertEqual(dataset["simple_regret"].attrs["units"], "1")

    def test_scores(self):
        """One problem per measure; trials that aim at one take part in that one alone."""
        part = synthetic.problem("P", ["Random", "EI", "TS"], seeds=2, queries=5, initial=1)
        regret = np.arange(6 * 6 * 2, dtype=float).reshape(6, 6, 2)
        part["swept"] = ["", "", *["score=A"] * 2, *["k=3, score=B"] * 2]
        part["scores"], part["scored_regret"] = "A=expectation; B=ptr(0.5)", regret
        results = synthetic.loaded(self.path, [part])
        self.assertEqual(set(results.problems), {"P (k=3) A", "P (k=3) B"})
        a = regret_curves(results, "P (k=3) A", "instantaneous")
        self.assertEqual(sorted(set(a.index.get_level_values(0))), ["EI", "Random"])
        np.testing.assert_array_equal(a.loc[("EI", 0, 1)], regret[3, 1:, 0])
        b = regret_curves(results, "P (k=3) B", "instantaneous")
        self.assertEqual(set(b.index.get_level_values(0)), {"Random", "TS"})
        self.assertEqual(set(results.data["problem"]), {"P A", "P B"})
        self.assertEqual(set(results.trials["aimed_score"]), {"", "A", "B"})
        np.testing.assert_array_equal(b.loc[("Random", 0, 0)], regret[0, 1:, 1])
        self.assertEqual(results.xarray("P B")["instantaneous_regret"].dims, ("trial", "iteration"))

    def test_time_zero_ends_the_initial_design(self):
        found = regret_curves(synthetic.loaded(self.path, [self.small]), "Small, d = 2", "simple")
        self.assertEqual(list(found.columns), [0, 1, 2, 3, 4, 5])
        self.assertEqual(len(found), 4)  # neither the failed nor the missing trial
        np.testing.assert_array_equal(found.loc[("EI", 0, 2)],
                                      self.small["arrays"]["simple_regret"][2, 1:])
        average = regret_curves(load(self.path), "Small, d = 2", "average")
        cumulative = self.small["arrays"]["cumulative_regret"][2, 2:]
        np.testing.assert_allclose(average.loc[("EI", 0, 2)], cumulative / [1, 2, 3, 4, 5])

    def test_cells(self):
        cells = synthetic.loaded(self.path, [self.small, self.large]).cells().set_index(["problem", "algorithm"])
        self.assertEqual(list(cells.loc[("Small, d = 2", "EI")]), [3, 2, 1, 0])
        self.assertEqual(list(cells.loc[("Small, d = 2", "Random")]), [3, 2, 0, 1])
        self.assertEqual(list(cells.loc[("Large", "Random")]), [4, 0, 0, 4])

    def test_swept_problems_are_different_cells(self):
        """A setting that is not in the algorithm's label is in the problem's."""
        swept = synthetic.problem("Box", ["EI", "TS"], seeds=2, queries=3)
        swept["cells"] = [(f"{a} (fit=map)" if a == "TS" else a, i, s)
                          for a, i, s in swept["cells"]]
        swept["swept"] = ["noise=0.1, dims=[2, 3]", "noise=0.2, dims=[2, 3]",
                          "noise=0.1, dims=[2, 3], fit=map", "noise=0.2, dims=[2, 3], fit=map"]
        results = synthetic.loaded(self.path, [swept])
        first, second = "Box (noise=0.1, dims=[2, 3])", "Box (noise=0.2, dims=[2, 3])"
        self.assertEqual(results.problems, [first, second])
        self.assertEqual(list(results.cells()["planned"]), [1, 1, 1, 1])
        self.assertEqual(set(results.data["problem"]), {"Box"})
        self.assertEqual(results.settings, ["noise", "dims", "fit"])
        self.assertEqual(list(results.trials["noise"]), [0.1, 0.2, 0.1, 0.2])
        self.assertEqual(list(results.trials["fit"]), ["", "", "map", "map"])
        self.assertEqual(set(results.data["dims"]), {"[2, 3]"})
        for seed, problem in enumerate((first, second)):
            found = regret_curves(results, problem, "simple").loc[("TS (fit=map)", 0, seed)]
            np.testing.assert_array_equal(found, swept["arrays"]["simple_regret"][2 + seed, 3:])

    def test_cost_is_linear_in_cells(self):
        """Four times the cells take about four times as many calls of functions, not sixteen."""
        def calls(n):
            part = synthetic.problem("Box", ["EI"], seeds=n, queries=2, initial=1)
            part["swept"] = [f"noise={k}" for k in range(n)]
            synthetic.write(self.path, [part])
            events = collections.Counter()

            def count(frame, event, _):
                events[event] += 1
            sys.setprofile(count)
            results = load(self.path)
            found = len(results.cells()), len(results.trials), len(results.data)
            sys.setprofile(None)
            self.assertEqual(found, (n, n, 3 * n))
            return events["call"] + events["c_call"]
        calls(1)  # what is only done once
        few = calls(100)
        self.assertLess(calls(400), 4 * few)

    def test_texts(self):
        results = synthetic.loaded(self.path, [self.small, self.large])
        self.assertNotIn("key", results.trials)
        for key, trial in zip(results.texts("key"), results.trials.itertuples()):
            self.assertTrue(key.endswith(f";instance={trial.instance};seed={trial.seed}"))
        np.testing.assert_array_equal(results.group("Large").texts("key", [1, 3]),
                                      results.texts("key")[[7, 9]])
        self.assertIn("id", results.xarray("Large").coords)

    def test_earlier_trials_are_left_out(self):
        synthetic.write(self.path, [self.small])
        with h5py.File(self.path, "a") as file:
            file.copy(file["Small, d = 2"], file.create_group("earlier"), "Old")
        self.assertEqual(load(self.path).problems, ["Small, d = 2"])

    def test_study_directory(self):
        """Shards in any distribution give the frames of the results file; repeats count once."""
        shards = self.scratch / "study.h5.d"
        shards.mkdir()
        both = [self.small, self.large]
        rows = {"Small, d = 2": [3, 0, 2], "Large": [0]}
        synthetic.write(shards / "0-a.h5", both, complete=0, rows=rows)
        synthetic.write(shards / "0-b.h5", both, complete=0,
                        rows={"Small, d = 2": [1, 4], "Large": [1, 2, 3]})
        synthetic.write(shards / "1-c.h5", both, complete=0, rows=rows)
        (shards / ".tmp.host.1.2").write_bytes(b"half a shard")
        results = load(shards)
        self.assertFalse(results.complete)
        self.assertEqual(results.warnings, [])
        self.assertEqual(len(results.trials), 9)
        self.assertEqual(results.problems, ["Small, d = 2", "Large"])
        self.assertEqual(results.algorithms, ["EI", "Random"])
        self.assertEqual(load(self.path).path, shards)  # the file is not there yet
        missing = results.cells().set_index(["problem", "algorithm"])["missing"]
        self.assertEqual(missing[("Small, d = 2", "Random")], 1)
        regret = curves(results, "Large", "simple_regret").loc[("EI", 1, 0)]
        np.testing.assert_array_equal(regret, self.large["arrays"]["simple_regret"][2, 2:])

    def test_shards_of_different_length(self):
        shards = self.scratch / "study.h5.d"
        shards.mkdir()
        longer = synthetic.problem("Small, d = 2", ["GP-UCB"], seeds=1, queries=9, initial=2)
        synthetic.write(shards / "0-a.h5", [self.small], complete=0, rows={"Small, d = 2": [0]})
        synthetic.write(shards / "0-b.h5", [longer], complete=0)
        results = load(shards)
        self.assertEqual(results.xarray("Small, d = 2").sizes["iteration"], 11)
        self.assertEqual(results.data.groupby("algorithm").size().to_dict(),
                         {"EI": 7, "GP-UCB": 11})

    def test_damaged_shard_is_reported(self):
        shards = self.scratch / "study.h5.d"
        shards.mkdir()
        synthetic.write(shards / "0-a.h5", [self.small], complete=0)
        (shards / "0-b.h5").write_bytes((shards / "0-a.h5").read_bytes()[:3000])
        results = load(shards)
        self.assertEqual(len(results.trials), 6)
        self.assertEqual(len(results.warnings), 1)
        self.assertIn("0-b.h5", results.warnings[0])


class Copies(common.Case):
    def setUp(self):
        super().setUp()
        self.path = self.scratch / "r.h5"
        synthetic.write(self.path, [synthetic.problem("P", ["EI", "Random"], seeds=3, queries=4)])

    def test_copies_read_with_children_of_their_own(self):
        here = os.getcwd()
        os.chdir(self.scratch)
        self.addCleanup(os.chdir, here)
        results = load("r.h5")
        rows = results.data
        made = [results, copy.copy(results), copy.deepcopy(results), pickle.loads(pickle.dumps(results))]
        os.chdir(here)  # they keep the place of a relative path
        gc.collect()
        with open(self.scratch / "other", "w") as other:
            for one in (*made, *(m.select(algorithms=["EI"]) for m in made)):
                self.assertEqual(one.data["y"].sum(), rows["y"][rows["algorithm"].isin(one.algorithms)].sum())
        self.assertEqual(os.path.getsize(other.name), 0)

    def test_a_hard_limit_on_memory(self):
        """A file is not called damaged because of it, whether it leaves enough memory or not."""
        script = ("import resource, sys; from regatta_analysis import load; from pathlib import Path\n"
                  "from regatta_analysis.load.errors import InputError\n"
                  "used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
                  "resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)\n"
                  "try: print(len(load(sys.argv[2]).data))\nexcept (MemoryError, ValueError, OSError, InputError) as error: print(error)")
        for more, words in (("1000000000", "^48$"), ("2500000", "^$|^48$|ulimit -v")):
            done = subprocess.run([sys.executable, "-c", script, more, self.path], capture_output=True, text=True, check=True,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"})
            self.assertRegex(done.stdout.strip(), words)


class BadInput(common.Case):
    def setUp(self):
        super().setUp()
        self.path = self.scratch / "study.h5"
        self.problem = synthetic.problem("P", ["EI"], seeds=2, queries=3)

    def test_missing(self):
        self.refused(self.path, "no such file")
        with contextlib.chdir(self.scratch):
            self.refused(".", "no finished trials")

    def test_not_hdf5(self):
        self.path.write_text("t, regret\n1, 0.5\n")
        self.refused(self.path, "not an HDF5 file")
        self.path.write_bytes(b"")
        self.refused(self.path, "not an HDF5 file")

    def test_truncated(self):
        synthetic.write(self.path, [self.problem])
        whole = self.path.read_bytes()
        for length in (200, 2000, len(whole) - 100):
            self.path.write_bytes(whole[:length])
            self.refused(self.path, "damaged")

    def test_another_program(self):
        with h5py.File(self.path, "w") as file:
            file["regret"] = [1.0, 0.5]
        self.refused(self.path, "not a Regatta results file")

    def test_newer(self):
        synthetic.write(self.path, [self.problem], schema_version=99)
        self.refused(self.path, "schema version 99", "newer")

    def test_incomplete(self):
        synthetic.write(self.path, [self.problem], complete=0)
        self.refused(self.path, "incomplete", "--partial")
        self.assertEqual(len(load(self.path, partial=True).trials), 2)

    def test_without_trials(self):
        synthetic.write(self.path, [])
        self.refused(self.path, "no trials")
        (self.scratch / "empty.h5.d").mkdir()
        self.refused(self.scratch / "empty.h5.d", "no finished trials")

    def test_damaged_group(self):
        synthetic.write(self.path, [self.problem])
        with h5py.File(self.path, "a") as file:
            del file["P/status"]
        self.refused(self.path, "status")

    def test_unknown_problem(self):
        synthetic.write(self.path, [self.problem])
        with self.assertRaisesRegex(InputError, "no problem 'Q' in it .it has: P"):
            load(self.path).xarray("Q")
