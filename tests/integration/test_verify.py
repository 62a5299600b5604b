"""`regatta verify`: a good file passes; every change is found and named."""
import os
import shutil
from unittest import mock

import h5py

from regatta_test import HERE, RegattaTest, fingerprint, other_core, regatta

SMOKE = HERE / "smoke.yaml"


class Verify(RegattaTest):
    smoke = None  # results of the smoke study

    def setUp(self):
        super().setUp()
        self.output = self.folder / "out.h5"

    def make(self):
        if not Verify.smoke:
            self.run_ok("run", SMOKE, "-o", self.output, "-quiet", ranks=2)
            Verify.smoke = self.output.read_bytes()
        self.output.write_bytes(Verify.smoke)

    def verify(self, expected, *options, says="", ranks=None):
        code, out, err = regatta("verify", self.output, *options, ranks=ranks)
        self.assertEqual(code, expected, f"{out}\n{err}")
        self.assertIn(says, out if code in (0, 75) else err)
        return out, err

    def test_good(self):
        self.make()
        out, err = self.verify(0, says="60 records, every checksum right")
        self.assertIn("complete: all 60 trials", out)
        self.assertIn("run again: 3 trials, 3 equal in every bit", out)
        self.assertEqual(err, "")
        self.assertEqual(out, self.verify(0, ranks=3)[0], "the sample depends on the ranks")
        self.verify(0, "-all", ranks=3, says="run again: 60 trials, 60 equal in every bit")
        self.verify(0, "-no-rerun", says="run again: 0 trials")
        for sample in ("-1", "0", "x"):
            self.assertEqual(regatta("verify", self.output, "-sample", sample)[0], 2)

    def test_unfinished(self):
        """A study directory, as a stopped run leaves it."""
        longer = self.write("longer.yaml", SMOKE.read_text().replace("seeds: 4", "seeds: 400"))
        self.output = self.stopped_study(longer, self.folder / "long.h5")[0].parent
        self.verify(75, says="incomplete: ")

    def test_an_edited_value(self):
        self.make()
        with h5py.File(self.output, "r+") as file:
            file["branin/y"][3, 5] += 1e-9
        self.verify(3, says="does not have the checksum stored beside it")

    def test_an_edited_byte(self):
        self.make()
        data = bytearray(self.output.read_bytes())
        data[len(data) // 2] ^= 1
        self.output.write_bytes(data)
        self.verify(3, says="is damaged")

    def test_a_forged_checksum(self):
        self.make()
        with h5py.File(self.output, "r+") as file:
            file.attrs["checksum"] = "0" * 32
        self.verify(3, says="it says 00000000")

    def test_a_note_of_another_program(self):
        self.make()
        with h5py.File(self.output, "r+") as file:
            file.attrs["note"] = "for the appendix"
        self.verify(0, says="no trailer")

    def test_no_such_file(self):
        self.verify(2, says="no such results file")

    def test_another_arithmetic(self):
        """Made with another BLAS core: compared with a tolerance; bits where the file says ours."""
        core = other_core()
        if not core:
            self.skipTest("OpenBLAS has one core type here")
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE=core):
            self.run_ok("run", SMOKE, "-o", self.output, "-quiet", ranks=2)
            self.verify(0, "-all", says="run again: 60 trials, 60 equal in every bit")
        self.verify(0, "-all", says="of another numeric fingerprint with the same initial design")
        with h5py.File(self.output, "r+") as file:
            for problem in ("branin", "gp_path"):
                column = file[problem]["provenance/fingerprint"]
                column[:] = int(fingerprint(), 16)
        _, err = self.verify(3, "-all")
        self.assertRegex(err, r"trial [0-9a-f]{32} \(branin, .*, instance \d, seed \d\) differs: "
                              r"\w+ of evaluation \d+ is .*, was ")

    def test_study_that_cannot_be_planned(self):
        """Data files are looked for beside the results file, or where -study says."""
        self.write("pool.csv", "a,b,y\n" + "".join(
            f"{i / 8},{j / 8},{(i - 3) ** 2 + j}\n" for i in range(6) for j in range(6)))
        study = self.write("study.yaml", """
study: pool
seeds: 2
common: {iterations: 3, initial_points: 2, noise_variance: 1.0e-4}
problems:
  - {name: dataset, path: pool.csv, objective: y}
algorithms: [random]
""")
        code, _, err = regatta("plan", study)
        self.assertEqual(code, 0, err)
        self.run_ok("run", study, "-o", self.output, "-quiet")
        self.verify(0, says="2 equal in every bit")
        away = self.folder / "away"
        away.mkdir()
        shutil.move(self.output, away)
        self.output = away / "out.h5"
        self.verify(2, says="data not opened")
        self.verify(0, "-study", study, says="2 equal in every bit")
