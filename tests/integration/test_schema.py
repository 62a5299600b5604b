"""One results file of every version of the schema since the last one before the first release is kept; every reader
reads it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from regatta_test import LONG, RegattaTest, regatta

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
EXAMPLES = ROOT / "analysis" / "examples"


def kept():
    """(path, checksum) of every results file that is kept."""
    for line in (DATA / "checksums.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, checksum = line.split()
            yield DATA / name, checksum


def some():
    """The newest of them; all in a long test."""
    return list(kept())[0 if LONG else -1:]


def version_of(path):
    return int(re.match(r"results-v(\d+)", path.name)[1])


def has_modules():
    done = subprocess.run([sys.executable, "-c", "import h5py, pandas"], capture_output=True)
    return done.returncode == 0


def has_hdf5r():
    if not shutil.which("Rscript"):
        return False
    done = subprocess.run(["Rscript", "-e", "library(hdf5r)"], capture_output=True)
    return done.returncode == 0


class Schema(RegattaTest):
    def example(self, command, *paths):
        done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=str(ROOT / "analysis"),
                                       PYTHONDONTWRITEBYTECODE="1"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def version(self, which="VERSION"):
        """The schema that this program writes, or the oldest one that it reads."""
        header = (ROOT / "src" / "study" / "file" / "study.h").read_text()
        return int(re.search(rf"#define RG_SCHEMA_{which} (\d+)", header).group(1))

    def test_every_version_is_kept(self):
        """A raise of RG_SCHEMA_VERSION needs a new file."""
        names = [path.name for path, _ in kept()]
        self.assertEqual({version_of(path) for path, _ in kept()}, set(range(self.version("OLDEST"), self.version() + 1)))
        self.assertEqual(sorted(names), sorted(path.name for path in DATA.glob("*.h5")))

    def test_checksums_stay(self):
        for path, checksum in kept():
            self.assertEqual(self.checksum(path), checksum, path.name)
            info = self.run_ok("info", path)
            self.assertIn(checksum, info)
            self.assertIn(f"(schema {version_of(path)})", info)
            self.assertEqual(regatta("status", path)[0], 0)

    def test_old_files_are_verified_and_merged(self):
        """The output of merge has today's schema and the same results."""
        for path, checksum in kept():
            code, out, err = regatta("verify", path, "-no-rerun")
            self.assertIn(code, (0, 75), err)  # revisions of methods since may have left trials over
            self.assertIn("every checksum right", out)
            merged = self.folder / path.name
            self.run_ok("merge", path, "-o", merged)
            self.assertEqual(self.checksum(merged), checksum, path.name)
            self.assertIn(f"(schema {self.version()})", self.run_ok("info", merged))

    @unittest.skipUnless(has_modules(), "no Python with h5py and pandas")
    def test_analysis_loads(self):
        code = ("import sys; from regatta_analysis import load\nfor path in sys.argv[1:]:\n r = load(path); "
                "print(sorted(r.algorithms), len(r.trials), len(r.data))")
        lines = self.example([sys.executable, "-c", code], *(path for path, _ in kept())).splitlines()
        for line, (path, _) in zip(lines, kept(), strict=True):
            self.assertRegex(line, r"'gp_ucb'.* [1-9]\d* [1-9]\d*$", path.name)

    @unittest.skipUnless(has_modules(), "no Python with h5py and pandas")
    def test_python(self):
        for path, _ in some():
            out = self.example([sys.executable, str(EXAMPLES / "read_results.py")], path)
            self.assertIn("gp_ucb", out)

    @unittest.skipUnless(has_hdf5r(), "no R with hdf5r")
    def test_r_reads_the_same_numbers(self):
        for path, _ in some():
            out = self.example(["Rscript", str(EXAMPLES / "read_results.R")], path)
            info = self.run_ok("info", path)
            # both print medians, one line per cell
            r = sorted(float(v) for v in re.findall(r"(?m)^\d+ .*?(\S+)$", out))
            last = sorted(float(v) for v in re.findall(r"(?m)^branin .* (\S+)$", info))
            self.assertEqual(len(r), len(last), out)
            for ours, theirs in zip(r, last):
                self.assertAlmostEqual(ours, theirs, delta=1e-3 * abs(theirs) + 1e-12)
