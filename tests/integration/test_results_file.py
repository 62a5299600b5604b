"""A results file and an unfinished study in other programs: readers, info, documents."""
import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy as np
from regatta_test import HERE, LONG, RegattaTest, regatta

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOKE = HERE / "smoke.yaml"


class ResultsFile(RegattaTest):
    def read_everywhere(self, path, *engine):
        done = subprocess.run([sys.executable, str(HERE / "read_everywhere.py"), str(path), *engine],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_results_open_everywhere(self):
        output = self.results_of(SMOKE, name="smoke.h5", ranks=2)
        self.assertIn("h5py: 60 trials", self.read_everywhere(output))
        info = self.run_ok("info", output)
        self.assertIn("results, complete", info)
        self.assertRegex(info, r"trials +60\n")
        self.assertIn(self.checksum(output), info)
        self.assertEqual(self.run_ok("info", output, "-study"), SMOKE.read_text())

    def test_shards_open_everywhere(self):
        output = self.folder / "stopped.h5"
        whole = self.folder / "whole.h5"
        study = self.write("long.yaml", SMOKE.read_text().replace("seeds: 4", "seeds: 400"))
        shard = self.stopped_study(study, output)[0]
        self.read_everywhere(shard, *([] if LONG else ["h5netcdf"]))
        info = self.run_ok("info", self.folder / "stopped.h5.d")
        self.assertIn("not packed yet", info)
        self.assertRegex(info, r"trials +\d+ of 6000 finished\n")
        self.assertEqual(info.split("\n", 1)[1], self.run_ok("info", output).split("\n", 1)[1])
        self.assertEqual(regatta("status", output)[0], 75)
        shutil.copytree(self.folder / "stopped.h5.d", self.folder / "whole.h5.d")
        self.run_ok("run", SMOKE, "-o", whole, "-quiet", ranks=2)  # the rest stays aside
        self.assertEqual(regatta("status", whole)[0], 0)

    def test_the_file_is_small(self):
        """Columns are compressed: 74 bytes a row in the quickstart with 200 queries, a little more in a fifth of it."""
        text = (ROOT / "experiments" / "quickstart.yaml").read_text()
        for old, new in (("iterations: 60 ", "iterations: 200 "), ("instances: 100 ", "instances: 20 ")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        study = self.write("quick.yaml", text)
        output = self.results_of(study, name="quick.h5")
        self.assertLess(output.stat().st_size, 90 * 100 * 208)
        self.run_ok("merge", output, "-o", self.folder / "archive.h5", "-archive")
        self.assertLess((self.folder / "archive.h5").stat().st_size, 220_000 + 600 * 100)  # descriptions, and 100 trials

    def test_columns_that_are_left_out(self):
        text = ("study: few\nseeds: 2\ncommon: {iterations: 3, initial_points: 3}\nproblems: [branin]\n"
                "algorithms: [random, ei]\n")
        checksums, columns = {}, ("posterior_sd", "acquisition", "jitter", "timing/wall_fit", "timing/cpu_evaluate")
        for record, kept in (("all", columns), ("{without: [timing]}", columns[:3]),
                             ("{without: [timing, acquisition, posterior_sd]}", ("jitter",))):
            study, output = self.write("few.yaml", f"{text}record: {record}\n"), self.folder / f"{len(kept)}.h5"
            self.run_ok("run", study, "-o", output, "-quiet")
            self.assertIn("4 equal in every bit", self.run_ok("verify", output, "-all"))
            with h5py.File(output) as file:
                group = file["branin"]
                has = [name for name in columns if name in group and group[name].id.get_storage_size()]
                self.assertEqual(has, list(kept))
                self.assertEqual([b";without=acquisition,posterior_sd;study_seed=" in key for key in group["key"][()]],
                                 [len(kept) == 1] * 4)
            checksums[len(kept)] = self.checksum(output)
        self.assertEqual(checksums[5], checksums[3])  # times are no results
        self.assertNotEqual(checksums[5], checksums[1])
        self.refused("plan", self.write("few.yaml", f"{text}record: {{without: [timing, posterior_ds]}}\n"),
                     says="few.yaml:6:28: unknown column 'posterior_ds' that 'record' can leave out, did you mean 'posterior_sd'?")

    def test_the_table_of_cells(self):
        """The settings of a cell are data, also in a study that was shortened, and in one joined from parts."""
        (self.folder / "pool.csv").write_text("x,y\n" + "".join(f"{k},{k * k}\n" for k in range(9)))
        text = """study: cells
seeds: 3
instances: 2
common: {iterations: 2, initial_points: 2}
problems:
  - {name: dataset, path: pool.csv, label: P, goal: minimise, stop_regret: 0.5}
  - {name: gp_path, dim: 1, levels: 5, label: G}
algorithms:
  - random
  - {name: gp_ucb, label: UCB, beta: fixed, value: 2.5, surrogate: {fit: fixed}}
sweep:
  - algorithms.UCB.surrogate.length_scale: [0.1, auto]
"""
        output = self.results_of(self.write("cells.yaml", text), name="cells.h5")
        self.check_cells(output, 6)
        self.run_ok("merge", output, "-o", self.folder / "joined.h5")
        self.check_cells(self.folder / "joined.h5", 6)
        self.run_ok("run", self.write("cells.yaml", text.replace("  - random\n", "").replace("seeds: 3", "seeds: 2")),
                    "-o", output, "-quiet")
        self.check_cells(output, 4, seeds=2)

    def check_cells(self, path, planned, seeds=3):
        import h5py
        with h5py.File(path) as file:
            cells, settings = file["cells"], file["cells/settings"]
            rows = [{name: one.asstr()[k] if one.dtype.kind == "O" else one[k] for name, one in (*cells.items(), *settings.items())
                     if isinstance(one, h5py.Dataset)} for k in range(6)]
            order = [row["order"] for row in rows]
            self.assertEqual(order, [*range(planned), *(6 - planned) * [-1]])
            self.assertEqual(file.attrs["n_planned"], sum(
                int(row["planned_seeds"] * row["planned_instances"]) for row in rows))
            for row in rows:
                pool, random = row["problem"] == "P", row["algorithm_name"] == "random"
                self.assertEqual((row["goal"], row["stops"]), ("minimise", "regret") if pool else ("maximise", ""))
                self.assertEqual((row["iterations"], row["initial_points"], row["dynamic"]), (2, 2, 0))
                self.assertEqual(row["method"], "random" if random else "UCB")
                if row["order"] >= 0:
                    self.assertEqual((row["planned_seeds"], row["planned_instances"]), (seeds, 1 if pool else 2))
                    self.assertEqual(row["problem_number"], 1 if pool else 2)
                self.assertEqual(row["surrogate.length_scale"], "" if random else row["swept"].partition("=")[2])
                self.assertTrue(np.isnan(row["algorithm.value"]) if random else row["algorithm.value"] == 2.5)
                self.assertEqual(row.get("problem.path"), "pool.csv" if pool else "")
            self.assertEqual([name for name in settings if settings[name].attrs.get("swept")], ["surrogate.length_scale"])
            self.assertEqual(settings["problem.levels"].dtype, np.int32)
            self.assertEqual(settings["surrogate.fit"].dtype.kind, "O")
            for label in ("P", "G", "earlier/P", "earlier/G"):
                group = file.get(label)
                for trial in range(len(group["cell"]) if group else 0):
                    mine = rows[group["cell"][trial]]
                    self.assertEqual((mine["problem"], mine["algorithm"]), (label[-1], group["algorithm"].asstr()[trial]))

    def test_document_is_up_to_date(self):
        self.assertEqual(self.run_ok("describe", "results-format"),
                         (ROOT / "docs" / "results-format.md").read_text())

    def test_no_results_file(self):
        for path, words in ((self.folder / "none.h5", "no such"),
                            (self.write("text.h5", "no HDF5"), "text.h5")):
            err = self.refused("info", path, says=words)
            self.assertNotIn("HDF5-DIAG", err)
            self.assertEqual(len(err.splitlines()), 1)
