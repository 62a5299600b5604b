"""Memory, leaks, files: a run leaves nothing behind and writes only to the given places."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from regatta_test import HANG, LONG, REGATTA, RegattaTest, environment, regatta

STUDY = """
study: tidy
seed: 3
seeds: {seeds}
common: {{iterations: 4, initial_points: 3, maximiser: {{raw_samples: 32, restarts: 2}}}}
problems: [branin, {{name: gp_path, dim: 1, levels: 8}}]
algorithms: [random, gp_ucb, irgp_ucb]
"""

MANY = """
study: many
seeds: {seeds}
common: {{iterations: {iterations}, initial_points: 3}}
problems: [branin]
algorithms: [{method}]
"""


def has_h5py():
    done = subprocess.run([sys.executable, "-c", "import h5py"], capture_output=True)
    return done.returncode == 0


def snapshot(folder):
    """Every path below a folder, with size and time of what is in it."""
    return {path: (path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in folder.rglob("*") if not path.is_dir()}


def blame(log):
    """Errors of a valgrind log whose innermost frame of the program is one of ours, the start-up of
    the libraries (PetscInitialize, below which MPI leaves its own) left out."""
    found = []
    for block in re.split(r"\n==\d+== ?\n", log):
        is_error = re.search(r"Invalid|uninitialised|definitely lost in loss|Mismatched", block)
        if is_error and "rg_" in block and "PetscInitialize" not in block:
            found.append(block)
    return found


class Hygiene(RegattaTest):
    def study(self, seeds=1, text=STUDY):
        return self.write("tidy.yaml", text.format(seeds=seeds))

    @unittest.skipUnless(LONG, "a long test")
    @unittest.skipUnless(shutil.which("valgrind"), "no valgrind")
    def test_valgrind(self):
        log, study = self.folder / "valgrind.log", self.study()
        done = subprocess.run(
            ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=30",
             f"--log-file={log}", REGATTA, "run", study, "-o", self.folder / "out.h5",
             "-quiet"], env=environment(), capture_output=True, text=True, timeout=HANG)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = log.read_text()
        self.assertIn("ERROR SUMMARY", text)
        self.assertEqual(blame(text), [])

    def test_malloc_dump(self):
        code, out, err = regatta("run", self.study(), "-o", self.folder / "out.h5", "-quiet",
                                 "-malloc_dump", "-malloc_debug")
        self.assertEqual(code, 0, err)
        self.assertNotRegex(out + err, r"\[ ?0\]")  # lines of the dump begin with the rank

    def peaks(self, seeds, iterations, method):
        """Peak memory of a run after each of its trials, in bytes, in the order of their starts."""
        study = self.write("many.yaml", MANY.format(seeds=seeds, iterations=iterations, method=method))
        output = self.results_of(study)
        program = ("import h5py, sys; p = h5py.File(sys.argv[1])['branin/provenance'];"
                   "print(*(v for _, v in sorted(zip(p['started'][:], p['peak_memory'][:]))))")
        peaks = [float(word) for word in subprocess.run(
            [sys.executable, "-c", program, output], capture_output=True, text=True,
            check=True).stdout.split()]
        self.assertEqual(len(peaks), seeds)
        self.assertGreater(peaks[49], 1e6)
        return peaks

    @unittest.skipUnless(has_h5py(), "no h5py")
    def test_memory_does_not_grow_with_the_number_of_trials(self):
        """8 MiB of records wait for the next commit, or fewer where 30 seconds pass before. With
        the shard that is built from them and what allocations add, these are 21 MB. All records
        are 75 MB."""
        peaks = self.peaks(1200, 200, "random")
        self.assertLess(peaks[-1] - peaks[49], 35e6)

    @unittest.skipUnless(has_h5py() and LONG, "long")
    def test_thousands_of_fits_take_no_more_memory(self):
        """8 MiB of short records, and their shard, take 37 MB. All records are 130 MB."""
        peaks = self.peaks(20000, 4, "gp_ucb")
        self.assertLess(peaks[-1] - peaks[49], 64e6)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "not root, or no setpriv")
    def test_a_user_who_may_write_nowhere_else(self):
        study = self.study()
        output = self.folder / "output"
        output.mkdir()
        os.chown(output, 65534, 65534)
        self.folder.chmod(0o755)
        program = self.folder / "regatta"  # the build may stand where others can't look
        shutil.copy(REGATTA, program)
        home = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        env = dict(environment(), HOME=str(home), TMPDIR=str(output))
        before = snapshot(self.folder)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "run", study,
             "-o", output / "out.h5", "-quiet"], cwd="/", env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((output / "out.h5").exists())
        new = {path for path in snapshot(self.folder) if path not in before}
        self.assertTrue(all(output in path.parents for path in new), new)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "run", study,
             "-o", self.folder / "out.h5", "-quiet"], cwd="/", env=env, capture_output=True,
            text=True)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)

    def test_labels_lead_nowhere(self):
        """Names that look like paths become names of groups, or are refused."""
        labels = ["../../out", "/etc/passwd", "..", ".", "a/b/../../../c", "timing", "provenance",
                  "earlier", "\u00fc\u4e2d\u6587 \U0001f600", "-o", "%s%n", "x" * 150, "a\\b", "C:"]
        inside = self.folder / "inside"
        inside.mkdir()
        accepted = 0
        for label in labels:
            text = (f"study: t\ncommon: {{iterations: 2}}\nproblems: [{{name: branin, label: "
                    f"'{label}'}}]\nalgorithms: [{{name: random, label: '{label}'}}]\n")
            study = self.write("label.yaml", text)
            before = snapshot(self.folder)
            output = inside / "out.h5"
            code, _, err = regatta("run", study, "-o", output, "-quiet")
            self.assertIn(code, (0, 2), err)
            accepted += code == 0
            new = {path for path in snapshot(self.folder) if path not in before}
            self.assertEqual(new, {output} if code == 0 else set(), label)
            if code == 0:
                output.unlink()
        self.assertGreater(accepted, 4)
        for name in ("../t", "a/b", "..", "T", "t" * 65, "\u00fc"):
            study = self.write("name.yaml", f"study: '{name}'\ncommon: {{iterations: 2}}\n"
                               "problems: [branin]\nalgorithms: [random]\n")
            self.assertEqual(regatta("run", study, "-quiet")[0], 2, name)
