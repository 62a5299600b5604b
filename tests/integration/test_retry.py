"""Failed trials: they are kept, and `regatta run -retry-failed` runs them again."""
import os
from unittest import mock

from regatta_test import SLOW, RegattaTest, regatta

STUDY = """
study: retry
seed: 5
seeds: 8
common: {iterations: 4, initial_points: 2}
problems: [branin]
algorithms: [random]
"""
KEPT = "failed in an earlier run"


class Retry(RegattaTest):
    def setUp(self):
        super().setUp()
        self.study = self.write("retry.yaml", STUDY)
        self.output = self.folder / "out.h5"

    def run_study(self, *options, fails_above=None, ranks=None, output=None, code=0):
        """Run the study, which ends with this exit code; returns its standard output and standard error."""
        broken = {"LD_PRELOAD": SLOW, "COS_FAILS_ABOVE": str(fails_above)} if fails_above else {}
        with mock.patch.dict(os.environ, broken):
            found, out, err = regatta("run", self.study, "-o", output or self.output, *options, ranks=ranks)
        self.assertEqual(found, code, f"{options}: {out}{err}")
        return out, err

    def failed(self, out):
        """How many trials the report says have failed."""
        words = [line.split()[0] for line in out.splitlines() if " trials failed" in line]
        return int(words[0]) if words else 0

    def sound(self):
        """The checksum of the study where nothing fails."""
        output = self.folder / "sound.h5"
        self.run_study(output=output)
        return self.checksum(output)

    def test_retry(self):
        out, _ = self.run_study(fails_above=6)
        failed = self.failed(out)
        self.assertTrue(0 < failed, out)
        before = self.checksum(self.output)
        self.assertNotEqual(before, self.sound())

        out, err = self.run_study("-strict", code=1)  # they stay as they are, and it says so
        self.assertIn(f"{failed} trial", err)
        self.assertIn(KEPT, err)
        self.assertIn("(0 run now", out)
        self.assertEqual(self.failed(out), failed)
        self.assertEqual(self.checksum(self.output), before)
        self.assertEqual(self.run_study("-quiet")[1], "")

        out, _ = self.run_study("-retry-failed", fails_above=6)  # the same again
        self.assertIn(f"({failed} run now", out)
        self.assertEqual(self.failed(out), failed)
        self.assertEqual(self.checksum(self.output), before)
        self.assertFalse(os.path.exists(f"{self.output}.d"))

        out, _ = self.run_study("-retry-failed", fails_above=9)  # others fail, or later
        self.assertNotEqual(self.checksum(self.output), before)
        self.assertLess(self.failed(out), failed)

        out, err = self.run_study("-retry-failed", "-strict", ranks=2)
        self.assertEqual(self.failed(out), 0)
        self.assertNotIn(KEPT, err)
        self.assertEqual(self.checksum(self.output), self.sound())
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.h5", "retry.yaml", "sound.h5"])

    def test_retry_of_a_study_that_was_stopped(self):
        """Complete records replace failed ones in shards; neither kind prevents a merge."""
        with mock.patch.dict(os.environ, PAUSE_US="4000"):
            out, _ = self.run_study("-walltime", "0.3", fails_above=4)
        self.assertIn("stopped by the wall-time limit", out)
        self.slow_trials(4000)
        self.run_study("-retry-failed", "-walltime", "0.3")
        self.run_study("-retry-failed")
        self.assertEqual(self.checksum(self.output), self.sound())
        self.assertFalse(os.path.exists(f"{self.output}.d"))

    def test_a_failed_trial_gives_way_in_a_merge(self):
        broken = self.folder / "broken.h5"
        self.run_study(output=broken, fails_above=6)
        for parts in ((broken, "sound.h5"), ("sound.h5", broken)):
            sound, joined = self.sound(), self.folder / "joined.h5"
            self.run_ok("merge", *(self.folder / part for part in parts), "-o", joined)
            self.assertEqual(self.checksum(joined), sound)
            joined.unlink()
