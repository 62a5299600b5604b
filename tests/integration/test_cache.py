"""Optima kept from run to run: same results with and without, and never a reason to fail."""
import os
import resource
from unittest import mock

from regatta_test import RegattaTest, main, regatta

# The search takes half a second, everything else next to nothing.
STUDY = """
study: kept
seed: {seed}
seeds: {seeds}
common: {{iterations: 3, initial_points: 2}}
problems: [{{name: gp_path_box, features: 1250}}]
algorithms: [random]
"""


class Cache(RegattaTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.cache = self.home / ".cache" / "regatta"
        self.set(HOME=str(self.home))
        for name in ("REGATTA_CACHE", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)  # `set` has a copy of the environment

    def set(self, **variables):
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def run_study(self, name, seeds=1, ranks=None, seed=1):
        """Checksum, and CPU seconds."""
        study = self.write("study.yaml", STUDY.format(seeds=seeds, seed=seed))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.run_ok("run", study, "-o", self.folder / name, "-quiet", "-strict", ranks=ranks)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return self.checksum(self.folder / name), seconds

    def kept(self):
        """Names and times of the files."""
        return {path.name: path.stat().st_mtime_ns for path in self.cache.iterdir()}

    def test_later_runs_read(self):
        first, cold = self.run_study("first.h5")
        files = self.kept()
        self.assertEqual([name[-8:] for name in files], [".optimum"])
        second, warm = self.run_study("second.h5")
        self.assertEqual(first, second)
        self.assertLess(warm, 0.5 * cold)
        longer, _ = self.run_study("first.h5", seeds=3, ranks=2)  # extends the first
        self.assertEqual(self.kept(), files)
        os.environ["REGATTA_CACHE"] = "off"
        self.assertEqual(self.run_study("off.h5", seeds=3, ranks=3)[0], longer)
        self.assertEqual(self.kept(), files)

    def test_verify_searches(self):
        """It takes the time of a search."""
        self.run_study("out.h5")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out = self.run_ok("verify", self.folder / "out.h5")
        self.assertIn("run again: 1 trial, 1 equal in every bit", out)
        verify = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.assertGreater(verify, 2 * self.run_study("again.h5")[1])

    def test_a_folder_of_no_use(self):
        expected, _ = self.run_study("first.h5")
        (path,) = self.cache.iterdir()
        path.write_bytes(path.read_bytes()[:-20])
        self.assertEqual(self.run_study("cut.h5")[0], expected)
        self.assertGreater(path.stat().st_size, 100)
        for folder in ("/dev/null/cache", str(path)):
            os.environ["REGATTA_CACHE"] = folder
            self.assertEqual(self.run_study("out.h5")[0], expected, folder)
            (self.folder / "out.h5").unlink()

    def test_a_folder_that_others_may_write(self):
        """A forged optimum is not believed, and the folder not used, with one line."""
        expected, _ = self.run_study("first.h5")
        (path,) = self.cache.iterdir()
        self.assertEqual((self.cache.stat().st_mode | path.stat().st_mode) & 0o022, 0)
        study = self.folder / "study.yaml"
        for mode in (0o777, 0o1777, 0o775):
            self.cache.chmod(mode)
            files = self.kept()
            code, _, err = regatta("run", study, "-o", self.folder / f"{mode:o}.h5", "-quiet", ranks=2)
            self.assertEqual(code, 0, err)
            self.assertEqual(err, f"regatta: optima are not kept in {self.cache}: others may write to "
                             "it (chmod go-w mends that)\n")
            self.assertEqual(self.kept(), files)
            self.assertEqual(self.checksum(self.folder / f"{mode:o}.h5"), expected)
        self.cache.chmod(0o755)
        path.chmod(0o666)  # anybody may have written it
        before = self.kept()
        self.assertEqual(self.run_study("entry.h5")[0], expected)
        self.assertNotEqual(self.kept(), before)
        self.assertEqual(path.stat().st_mode & 0o022, 0)
        if os.geteuid() == 0:
            os.chown(self.cache, 65534, 65534)
            code, _, err = regatta("run", study, "-o", self.folder / "other.h5", "-quiet")
            self.assertEqual((code, err.count("\n")), (0, 1))
            self.assertIn("it is another user's", err)

    def test_where(self):
        """Said by `version`, and in `help`."""
        for variables, folder in (({}, self.cache),
                                  ({"XDG_CACHE_HOME": "/a"}, "/a/regatta"),
                                  ({"REGATTA_CACHE": "/b"}, "/b"),
                                  ({"REGATTA_CACHE": "off"}, "not kept")):
            self.set(**variables)
            self.assertRegex(self.run_ok("version"), rf"(?m)^optima +{folder}$")
        self.assertIn("REGATTA_CACHE", self.run_ok("help"))


if __name__ == "__main__":
    main()
