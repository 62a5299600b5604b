"""The studies of experiments/scale in their smoke versions, and the programs that read them."""
import subprocess
import sys
import unittest

import h5py
import numpy

from regatta_test import HANG, HERE, LONG, REGATTA, RegattaTest, environment

SCALE = HERE.parents[1] / "experiments" / "scale"


class Scale(RegattaTest):
    def call(self, *command, **variables):
        done = subprocess.run([*map(str, command)], env={**environment(), **variables},
                              capture_output=True, text=True, timeout=HANG)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        return done.stdout

    @unittest.skipUnless(LONG, "a long test")
    def test_scaling_studies_as_they_are_submitted(self):
        out = self.call("bash", SCALE / "submit.sh", RANKS="2", SMOKE="_smoke", REGATTA=REGATTA,
                        STUDIES=str(SCALE), OUT=str(self.folder), PYTHON=sys.executable,
                        LAUNCH="mpirun -n")
        lines = [line.split() for line in out.splitlines()]
        for row in (["1", "3200"], ["2", "3200"], ["1", "3000"], ["2", "3780"]):
            self.assertTrue(any(line[:2] == row for line in lines), f"{row}\n{out}")
        self.assertEqual(sum(line[:2] in (["1", "8"], ["2", "8"]) for line in lines), 4, out)
        again = self.call("bash", SCALE / "submit.sh", RANKS="2", SMOKE="_smoke", REGATTA=REGATTA,
                          STUDIES=str(SCALE), OUT=str(self.folder), PYTHON=sys.executable,
                          LAUNCH="mpirun -n")
        self.assertIn("(0 run now", again)

    def test_the_full_scaling_studies_fit_64_ranks_and_no_fewer(self):
        for study in ("strong", "weak"):
            path = SCALE / f"{study}.yaml"
            self.assertIn("teams of up to 64", self.run_ok("plan", path, "-ranks", 64, "-per-host",
                                                           64, "-memory", 192))
            self.refused("plan", path, "-ranks", 32, "-memory", 192, says="64 is more than the 32 ranks of this job")

    def test_cost_of_a_query(self):
        """Every method of the study with its exponents, from a short version of it."""
        study = self.folder / "contexts.yaml"
        text = (SCALE / "horizon_contexts.yaml").read_text()
        study.write_text(text.replace("iterations: 990", "iterations: 5")
                         .replace("raw_samples: 1024, restarts: 50", "raw_samples: 8, restarts: 2"))
        results = self.results_of(study, "-strict", name="contexts.h5", ranks=2)
        out = self.call(sys.executable, SCALE / "cost.py", results)
        lines = [line.split() for line in out.splitlines() if line]
        self.assertEqual(sum(line[0] == "fit" and line[-1] == "3" for line in lines), 8, out)
        self.assertEqual(sum(line[0] == "search" and line[-1] == "3" for line in lines), 2, out)

    def test_studies(self):
        for name in ("surrogate", "paths", "gain"):
            self.run_ok("run", SCALE / f"{name}_smoke.yaml", "-o", self.folder / f"{name}.h5",
                        "-quiet", "-strict", ranks=2)

    def test_no_matrix_against_a_matrix(self):
        """The same queries to 1e-3, the same maxima of paths to 1e-5 of the deviation of y, and a
        variance that is no smaller; a run again has the same bits."""
        study, sums = SCALE / "iterative_smoke.yaml", []
        for name in ("first", "again"):
            output = self.results_of(study, "-strict", name=f"{name}.h5", ranks=2)
            sums.append(self.checksum(output))
        self.assertEqual(*sums)
        with h5py.File(output) as file:
            group = file["Branin"]
            x, sd = group["x"][:, 300:], group["posterior_sd"][:, 300:]
            maximum, steps = group["path_maximum"][:, 300:], group["solver_iterations"][:, 300:]
            fitted = group["fit_data"][:, 300:]
        for dense, free in ((0, 1), (2, 3)):
            self.assertLess(abs(x[dense] - x[free]).max(), 1e-3)
            self.assertTrue((sd[free] > sd[dense] * (1 - 1e-3)).all() and (sd[free] < sd[dense] * 1.01).all())
            self.assertTrue(numpy.isnan(steps[dense]).all() and (steps[free] > 0).all())
        self.assertLess(abs(maximum[2] - maximum[3]).max(), 1e-5)
        self.assertTrue((fitted[4] == 150).all())

    def test_options_of_the_solver(self):
        study = self.write("solver.yaml", """
study: solver
seeds: 1
common: {iterations: 2, initial_points: 40, noise_variance: 25,
         maximiser: {raw_samples: 64, restarts: 2}, surrogate: {solver: iterative, fit: fixed}}
problems: [branin, {name: gp_path, dim: 2, levels: 12}]
algorithms: [gp_ucb, ei, ts, {name: mes, samples: 3}]
""")
        run = lambda name, *options: self.run_ok("run", study, "-o", self.folder / f"{name}.h5",
                                                 "-quiet", "-strict", *options)
        self.assertRegex(self.run_ok("plan", study), "estimated: .*core-hours")  # without PETSc, which the solver needs
        self.assertIn("KSP Residual norm", run("monitor", "-gp_ksp_monitor"))
        run("jacobi", "-gp_pc_type", "jacobi")
        with h5py.File(self.folder / "monitor.h5") as own, h5py.File(self.folder / "jacobi.h5") as other:
            for name in ("branin", "gp_path"):
                steps = [file[name]["solver_iterations"][0, -1] for file in (own, other)]
                self.assertLess(*steps)

    def test_what_needs_a_matrix_is_refused(self):
        study = """
study: refused
common: {{iterations: 2, surrogate: {{solver: iterative{more}}}}}
problems: [branin]
algorithms: [{algorithm}]
"""
        for algorithm, more, words in (
                ("jes", "", "'jes' needs the kernel matrix, and 'solver: iterative' has none; with it: "),
                ("{name: ts, paths: rff}", "", "'paths: rff' needs a matrix"),
                ("ei", ", noise_floor: 0", "'solver: iterative' needs noise: a 'noise_floor' above 0")):
            path = self.write("refused.yaml", study.format(algorithm=algorithm, more=more))
            self.refused("plan", path, says=words)

    def test_growth(self):
        study, output = SCALE / "horizon_smoke.yaml", self.folder / "horizon.h5"
        self.run_ok("run", study, "-o", output, "-quiet", ranks=2)
        self.run_ok("bounds", study, "-o", self.folder / "bounds.csv")
        out = self.call(sys.executable, SCALE / "growth.py", output, self.folder / "bounds.csv")
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["60"]]
        self.assertEqual(len(rows), 2, out)
        for row in rows:
            regret, greedy, gamma, ratio, bound, exponent = (float(row[k]) for k in
                                                             (1, 3, 5, 6, 7, 8))
            self.assertTrue(0 < regret < bound and 0 < greedy <= gamma and 0 <= exponent <= 1, out)
            self.assertAlmostEqual(ratio, regret / (60 * gamma) ** 0.5, delta=0.01)
