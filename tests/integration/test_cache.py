"""Optima that took a search, kept beside the results until the study is complete: the same results with and without
them, and nothing anywhere else."""
import os
import resource
from unittest import mock

from regatta_test import RegattaTest

# The search takes half a second, everything else next to nothing.
STUDY = """
study: kept
seeds: 2
common: {iterations: 3, initial_points: 2}
problems: [{name: gp_path_box, features: 1000}]
algorithms: [random]
"""


class Cache(RegattaTest):
    expected = None  # checksum of a plain run

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()
        patch = mock.patch.dict(os.environ, HOME=str(self.home), XDG_CACHE_HOME=str(self.home))
        patch.start()
        self.addCleanup(patch.stop)
        self.study = self.write("study.yaml", STUDY)

    def run_part(self, name, *part, ranks=None):
        """CPU seconds of a run of the study, or of one of its seeds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.run_ok("run", self.study, "-o", self.folder / name, "-quiet", "-strict", *part, ranks=ranks)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def plain(self):
        if not Cache.expected:
            self.run_part("plain.h5", ranks=2)
            Cache.expected = self.checksum(self.folder / "plain.h5")
            (self.folder / "plain.h5").unlink()
        return Cache.expected

    def kept(self, name):
        return sorted((self.folder / f"{name}.d" / "optima").iterdir())

    def test_a_run_that_goes_on_reads(self):
        expected = self.plain()
        cold = self.run_part("out.h5", "-part", "1/2")
        self.assertEqual([path.suffix for path in self.kept("out.h5")], [".optimum"])
        self.assertLess(self.run_part("out.h5", "-part", "2/2"), 0.5 * cold)
        self.assertEqual(self.checksum(self.folder / "out.h5"), expected)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["home", "out.h5", "study.yaml"])
        self.assertEqual(list(self.home.iterdir()), [])

    def test_files_of_no_use(self):
        """A truncated file is written again; if the folder can't exist, the run goes on."""
        expected = self.plain()
        self.run_part("cut.h5", "-part", "1/2")
        (path,) = self.kept("cut.h5")
        path.write_bytes(path.read_bytes()[:-20])
        self.run_part("cut.h5", "-part", "2/2")
        self.assertEqual(self.checksum(self.folder / "cut.h5"), expected)
        (self.folder / "none.h5.d").mkdir()
        (self.folder / "none.h5.d" / "optima").write_text("in the way")
        self.run_part("none.h5")
        self.assertEqual(self.checksum(self.folder / "none.h5"), expected)

    def test_verify_searches(self):
        """It takes the time of a search."""
        read = []
        for part in ("1/2", "2/2"):
            read.append(self.run_part("out.h5", "-part", part))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out = self.run_ok("verify", self.folder / "out.h5")
        self.assertIn("equal in every bit", out)
        self.assertGreater(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 2 * read[1])
