"""`regatta merge -archive`: a small results file that keeps what a comparison needs, and that anybody can check."""
import os
from unittest import mock

import h5py
import numpy as np

from regatta_test import HERE, RegattaTest, other_core, regatta

STUDY = """study: archived
seeds: 4
common: {iterations: 40, initial_points: 4, noise_variance: 0.01}
problems: [branin, {name: ackley, dim: 2, label: Ackley}]
algorithms: [random, ei, {name: ts, label: TS}]
"""
BUDGETS = (1, 2, 5, 10, 20)  # and the last query


def columns(path, problem, *names):
    with h5py.File(path) as file:
        return [file[problem][name][:] for name in names]


class Archive(RegattaTest):
    def archived(self, text=STUDY, *options):
        self.run_ok("run", self.write("study.yaml", text), "-o", self.folder / "full.h5", "-quiet", *options)
        self.run_ok("merge", self.folder / "full.h5", "-o", self.folder / "small.h5", "-archive")
        return self.folder / "full.h5", self.folder / "small.h5"

    def test_what_stays(self):
        full, small = self.archived()
        self.assertLess(small.stat().st_size, full.stat().st_size)
        for problem in ("branin", "Ackley"):
            names = "simple_regret", "cumulative_regret", "x", "id"
            before, after = columns(full, problem, *names, "objective"), columns(small, problem, *names)
            np.testing.assert_array_equal(after[0], before[0])
            queries = np.arange(before[1].shape[1]) - 3
            kept = np.isin(queries, BUDGETS) | (queries == 40)
            np.testing.assert_array_equal(after[1], np.where(kept, before[1], np.nan))
            best = before[4].argmax(axis=1)
            for trial, row in enumerate(best):  # the best design, at its evaluation
                np.testing.assert_array_equal(after[2][trial, row], before[2][trial, row])
                self.assertTrue(np.isnan(np.delete(after[2][trial], row, axis=0)).all())
            self.assertEqual(after[3].tolist(), before[3].tolist())
            with h5py.File(small) as file:  # Columns without a value are not there.
                for name, column in file[problem].items():
                    if isinstance(column, h5py.Dataset) and column.ndim > 1:
                        self.assertFalse(np.isnan(column[:]).all(), name)
                self.assertNotIn("objective", file[problem])

    def test_anybody_can_check_it(self):
        full, small = self.archived()
        self.assertIn(f"archive   of the results with checksum {self.checksum(full)}\n", self.run_ok("info", small))
        self.assertNotEqual(self.checksum(small), self.checksum(full))
        for ranks in (None, 2):
            self.assertIn("run again: 24 trials, 24 equal in every bit", self.run_ok("verify", small, "-all", ranks=ranks))
        self.assertIn("complete", self.run_ok("status", small))
        self.refused("merge", small, "-o", self.folder / "again.h5", says="is an archive: join the results that it was")
        self.refused("run", self.folder / "study.yaml", "-o", small, says="is an archive, which no run extends")
        with h5py.File(small, "r+") as file:  # another program changes a value
            file["branin"]["simple_regret"][0, -1] *= 0.5
        code, _, err = regatta("verify", small)
        self.assertEqual(code, 3)
        self.assertIn("does not have the checksum stored beside it", err)

    def test_the_text_of_another_study_fits_no_trial(self):
        """Archived trials with noise of 0.01 under a text that says 0.02."""
        _, small = self.archived()
        small.rename(self.folder / "kept.h5")
        (self.folder / "full.h5").unlink()
        with h5py.File(self.folder / "kept.h5", "r+") as file:
            text = file.attrs["study"]
            file.attrs["study"] = text.replace("noise_variance: 0.01", "noise_variance: 0.02")
        code, out, _ = regatta("verify", self.folder / "kept.h5", "-all")
        self.assertNotEqual(code, 0)
        self.assertIn("incomplete: 0 of 24 trials", out)

    def test_a_program_without_an_optimum(self):
        """The best values so far stay. The answers do not, so that the trials can't run again."""
        example = HERE.parents[1] / "experiments" / "examples" / "external"
        full, small = self.archived(f"""study: external
seeds: 2
common: {{iterations: 12, initial_points: 6, on_failure: worst}}
algorithms: [random, ei]
problems:
  - {{name: external, label: Reaction, program: "{example / 'evaluator.py'}", inputs: [temperature real 20 120,
     stirrers integer 1 6, solvent choice water ethanol toluene]}}
""")
        (before,), (after,) = (columns(path, "Reaction", "objective") for path in (full, small))
        best = np.fmax.accumulate(before, axis=1)
        np.testing.assert_array_equal(np.fmax.accumulate(after, axis=1), best)
        steps = np.diff(np.nan_to_num(best, nan=-1e300), axis=1) > 0
        np.testing.assert_array_equal(~np.isnan(after[:, 1:]), steps)
        code, out, err = regatta("verify", small)
        self.assertEqual((code, len(err.splitlines())), (0, 1), err)
        self.assertIn("no trial of this archive can run again here", err)

    def test_another_machine_is_not_taken_for_a_check(self):
        core = other_core()
        if not core:
            self.skipTest("this machine has one BLAS core")
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE=core):
            _, small = self.archived()
        code, out, err = regatta("verify", small)
        self.assertEqual((code, len(err.splitlines())), (0, 1), err)
        self.assertIn("run again: 0 trials", out)
        self.assertIn("no trial of this archive can run again here", err)
