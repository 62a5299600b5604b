"""Trials of another build, plug-in or numeric fingerprint are reported, and run again on request."""
import os
import re
import subprocess
from unittest import mock

import h5py

from regatta_test import REGATTA, SLOW, RegattaTest, environment, mpirun, other_core, regatta

STUDY = """
study: origins
seed: 5
seeds: {seeds}
common: {{iterations: 4, initial_points: 2}}
problems: [branin]
algorithms: [random, ei]
"""


class Stale(RegattaTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out.h5"

    def study(self, seeds=3):
        return self.write("stale.yaml", STUDY.format(seeds=seeds))

    def run_study(self, *options, seeds=3, ranks=None):
        code, out, err = regatta("run", self.study(seeds), "-o", self.output, *options, ranks=ranks)
        self.assertEqual(code, 0, err)
        return out, err

    def software(self):
        with h5py.File(self.output) as file:
            return {text.decode() for text in file["branin/provenance/software"][:]}

    def age(self, trials):
        """As if an older build had made the first trials of the file."""
        with h5py.File(self.output, "r+") as file:
            software = file["branin/provenance/software"]
            for trial in range(trials):
                software[trial] = "regatta 0.0 (commit 0123abc, source 0123456789ab); PETSc 3"

    def words(self, trials):
        """The messages of run, plan, info and status."""
        of = "6 finished trials were made by another build (regatta 0.0 (commit 0123abc, source"
        for command in (("run", self.study(), "-o", self.output),
                        ("plan", self.study(), "-o", self.output), ("info", self.output),
                        ("status", self.output)):
            code, out, err = regatta(*command)
            self.assertEqual(code, 0, err)
            text = err if command[0] == "run" else out
            if trials:
                self.assertIn(f"{trials} of {of}", text, command)
                self.assertIn("-recompute", text)
                self.assertEqual("stale" in text, command[0] in ("info", "status"))
            else:
                self.assertNotIn("another build", text + out)
                self.assertNotIn("recompute", text + out)

    def test_another_build(self):
        self.run_study()
        self.words(0)
        before, now = self.checksum(self.output), self.software()
        self.age(4)
        self.words(4)
        out, _ = self.run_study()
        self.assertIn("(0 run now", out)
        self.assertIn("4 trials were made by another build", out)

        out, err = self.run_study("-recompute", "ei")
        self.assertIn("(1 run now", out)  # three of random, one of ei
        self.assertIn("3 of 5 finished trials were made by another build", err)
        out, err = self.run_study("-recompute", ranks=2)
        self.assertIn("(3 run now", out)
        self.assertEqual(err, "")
        self.assertEqual(self.checksum(self.output), before)
        self.assertEqual(self.software(), now)
        self.words(0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.h5", "stale.yaml"])

    def test_clocks_that_differ(self):
        """The clock of the host of the old records was ahead; no decision compares clocks of hosts."""
        with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, CLOCK_AHEAD="86400"):
            self.run_study()
        before, now = self.checksum(self.output), self.software()
        self.age(4)
        self.words(4)
        out, _ = self.run_study("-recompute")
        self.assertIn("(4 run now", out)
        self.assertEqual(self.software(), now)
        self.words(0)
        with h5py.File(self.output, "r+") as file:  # as if another host had made them
            provenance = file["branin/provenance"]
            self.assertEqual(sorted(provenance["generation"][:]), [0, 0, 1, 1, 1, 1])
            provenance["host"][:4] = "elsewhere"
            self.assertGreater(abs(provenance["started"][5] - provenance["started"][0]), 80000)
        found = re.search("ran +within ([0-9.]+) s of wall time on each host\n",
                          self.run_ok("info", self.output))
        self.assertLess(float(found[1]), 40000)
        self.age(1)
        self.run_study("-recompute")
        with h5py.File(self.output) as file:
            self.assertEqual(file["branin/provenance/generation"][0], 2)
        self.assertEqual(self.checksum(self.output), before)

    def test_run_again_and_failed(self):
        """The failure is reported; the old record stays and is reported as before; nothing is lost."""
        self.run_study()
        before = self.checksum(self.output)
        self.age(6)
        with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, COS_FAILS_ABOVE="-100"):
            code, out, err = regatta("run", self.study(), "-o", self.output, "-recompute", "-strict")
        self.assertEqual(code, 1, err)
        self.assertIn("6 trials failed when they were run again; their earlier records stay", out)
        self.assertIn("failed when it was run again", err)
        self.assertNotIn("says why", out)
        self.assertEqual(self.checksum(self.output), before)
        self.words(6)
        out, _ = self.run_study("-recompute")
        self.assertIn("(6 run now", out)
        self.assertEqual(self.checksum(self.output), before)
        self.words(0)

    def test_more_seeds(self):
        """Old and new trials in one complete file: never without the line."""
        self.run_study()
        self.age(6)
        out, err = self.run_study(seeds=5)
        self.assertIn("10 trials in", out)
        self.assertIn("6 trials were made by another build", out)
        self.assertIn("6 of 6 finished trials were made by another build", err)
        code, out, _ = regatta("status", self.output)
        self.assertEqual(code, 0)
        self.assertIn("complete; stale: 6 of 10 finished trials were made by another build", out)

    def test_stopped_and_resumed(self):
        """Trials that ran again stay, however often the run is stopped."""
        self.run_study()
        before = self.checksum(self.output)
        self.age(6)
        self.slow_trials(4000)
        for walltime in ("0.4", "1", "2.5", "6"):  # on a busy machine nothing may have been run again yet
            out, _ = self.run_study("-recompute", "-walltime", walltime)
            self.assertIn("stopped by", out)
            code, out, _ = regatta("status", self.output)
            if code:
                break
        self.assertEqual(code, 75, out)
        self.assertIn("another build", out)
        self.run_study("-recompute")
        self.assertEqual(self.checksum(self.output), before)
        self.words(0)

    def test_another_fingerprint(self):
        core = other_core()
        if not core:
            self.skipTest("all BLAS cores have one arithmetic here")
        self.run_study()
        before = self.checksum(self.output)
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE=core):
            _, err = self.run_study(seeds=4)
            self.assertIn("6 of 6 finished trials were made under another numeric fingerprint", err)
        self.assertIn("6 of 8 finished trials were made under another numeric fingerprint",
                      self.run_ok("status", self.output))
        self.run_study("-recompute", seeds=4)
        self.assertNotIn("another", self.run_ok("info", self.output))
        self.run_study()
        self.assertEqual(self.checksum(self.output), before)

    def test_ranks_that_differ(self):
        core = other_core()
        if not core:
            self.skipTest("all BLAS cores have one arithmetic here")
        arguments = ["run", self.study(), "-o", self.output, "-quiet"]
        done = subprocess.run([*mpirun(1, *arguments), ":", "-n", "1", "env", f"OPENBLAS_CORETYPE={core}",
                               REGATTA, *map(str, arguments)], env=environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("the ranks' numeric fingerprints differ"), 1, done.stderr)

    def test_wrong_label(self):
        self.refused("run", self.study(), "-o", self.output, "-recompute", "eo",
                     says="-recompute: no problem or algorithm of this study has the label 'eo'")
        self.assertFalse(os.path.exists(f"{self.output}.d"), "a mistake wrote something")
