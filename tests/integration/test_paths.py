"""Unusual paths and environments: each is followed, or refused with one line; none hangs."""
import os
import pathlib
import signal
import subprocess
import unittest
from unittest import mock

from regatta_test import HANG, HERE, REGATTA, RegattaTest, end, environment, regatta, wait_until

STUDY = """study: paths
seeds: 2
common: {iterations: 3, initial_points: 2}
problems: [branin]
algorithms: [random]
"""
SHARD = "0-0123456789abcdef0123456789abcdef.h5"
ROOT = HERE.parent.parent


class Paths(RegattaTest):
    def setUp(self):
        super().setUp()
        self.study = self.write("study.yaml", STUDY)
        self.good = self.folder / "good.h5"
        self.run_ok("run", self.study, "-o", self.good, "-quiet")

    def test_outputs_that_are_refused(self):
        link, dangling = self.folder / "link.h5", self.folder / "dangling.h5"
        link.symlink_to(self.good)
        dangling.symlink_to(self.folder / "nowhere.h5")
        for output, says in (("./" * 2024 + "out.h5", "a path of 4054 characters"),
                             ("./" * 1900 + "o.h5", "at most 3800 are accepted"),
                             ("./" * 3000 + "out.h5", "at most 3800 are accepted"),
                             (f"{self.folder}/{'x' * 251}.h5", "a file name of 254 bytes"),
                             (link, "is a symbolic link"), (dangling, "is a symbolic link"),
                             (self.folder / "x.csv", "its name must end in .h5"),
                             (f"{self.folder}/", "names no file")):
            self.refused("run", self.study, "-o", output, "-quiet", says=says)
            exists = os.path.lexists(output)
            self.refused("merge", self.good, "-o", output, says="exists already" if exists else says)
        self.assertTrue(link.is_symlink() and dangling.is_symlink())
        self.run_ok("info", link)  # read through it
        self.run_ok("run", self.study, "-o", f"{self.folder}/{'./' * 1800}long.h5", "-quiet")
        self.assertEqual(self.checksum(self.folder / "long.h5"), self.checksum(self.good))

    def test_pipes(self):
        pipe = self.folder / "pipe.h5"
        os.mkfifo(pipe)
        for command in ("info", "status", "checksum", "verify"):
            self.refused(command, pipe, says="it is a pipe", code=3 if command == "verify" else 2)
        self.refused("run", self.study, "-o", pipe, "-quiet", says="it is a pipe")
        self.refused("merge", self.good, pipe, "-o", self.folder / "merged.h5", says="it is a pipe")
        self.refused("run", pipe, "-quiet", says="pipe")
        shards = self.folder / "out.h5.d"
        shards.mkdir()
        os.mkfifo(shards / SHARD)
        for name in ("evaluations", "bad", "foreign"):
            os.mkfifo(shards / name)
        for command in ("info", "status", "checksum"):
            self.assertEqual(regatta(command, shards)[0],
                             75 if command == "status" else 2, command)
        code, _, err = regatta("run", self.study, "-o", self.folder / "out.h5", "-quiet")
        self.assertIn(code, (0, 2, 3), err)
        self.assertNotIn("PETSC ERROR", err)

    def test_full_standard_output(self):
        for arguments in (["list", "problems"], ["info", self.good], ["describe", "branin"], ["help"],
                          ["run", self.study, "-o", self.good, "-quiet"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([REGATTA, *map(str, arguments)], env=environment(), stdout=full,
                                      stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertEqual(done.stderr, "regatta: standard output can't be written: "
                             "No space left on device\n")

    def test_options_nobody_named(self):
        """.petscrc, here or at home, is not obeyed; a file that is named is."""
        expected = self.run_ok("checksum", self.good)
        for name in (".petscrc", "named"):
            self.write(name, "-log_view\n")
        done = subprocess.run([REGATTA, "checksum", self.good], text=True, capture_output=True,
                              env=dict(environment(), HOME=str(self.folder)), cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected, ""))
        out = self.run_ok("checksum", self.good, "-options_file", self.folder / "named")
        self.assertIn("Performance Summary", out)

    def test_options_of_other_programs(self):
        """PETSC_OPTIONS of a site: not-a-numbers are values here, and nobody waits for a debugger."""
        others = "-fp_trap -start_in_debugger noxterm -malloc_test -no_such_option 3 -error_output_none -help"
        for ranks in (None, 2):
            with mock.patch.dict(os.environ, PETSC_OPTIONS=f"{others} -gp_ksp_rtol 1e-9"):
                code, out, err = regatta("verify", self.good, ranks=ranks)
            self.assertEqual(code, 0, out + err)
            self.assertEqual(out, self.run_ok("verify", self.good))
            self.assertEqual(err, "regatta: PETSC_OPTIONS: -fp_trap -start_in_debugger -malloc_test -no_such_option "
                             "-error_output_none -help ignored (accepted: what a command line accepts)\n")

    def test_folders_of_other_things(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for folder in (empty, self.folder, "/etc"):
            for command in ("info", "checksum"):
                self.refused(command, folder, says="no study directory")

    def test_signals_while_it_starts(self):
        """A stop like any other, from the moment on that the program has begun."""
        text = STUDY.replace("seeds: 2", "seeds: 20000")
        study = self.write("long.yaml", text)
        for number, begun in ((signal.SIGTERM, False), (signal.SIGUSR1, False), (signal.SIGINT, True)):
            output = self.folder / f"{number}.h5"
            job = subprocess.Popen([REGATTA, "run", study, "-o", output, "-quiet"], text=True,
                                   env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(end, job)
            self.assertTrue(wait_until(lambda: self.catches_term(job.pid), job))
            if begun:
                self.assertTrue(wait_until(pathlib.Path(f"{output}.d").exists, job))
            job.send_signal(number)
            out, err = job.communicate(timeout=HANG)
            self.assertEqual(job.returncode, 0, err)
            self.assertIn("stopped by a signal", out)

    def catches_term(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
        return bool(int(caught, 16) & 1 << (signal.SIGTERM - 1))

    @unittest.skipUnless("FAULT_SHIM" in os.environ, "no library that holds a call")
    def test_what_a_killed_merge_leaves(self):
        """The next run removes the temporary file."""
        job = subprocess.Popen([REGATTA, "merge", self.good, "-o", self.folder / "merged.h5"], stdout=subprocess.DEVNULL,
                               env=environment() | {"LD_PRELOAD": os.environ["FAULT_SHIM"], "REGATTA_FAULT_HOLD": "fsync",
                                                    "REGATTA_FAULT_PREFIX": f"{self.folder}/.tmp.",
                                                    "REGATTA_FAULT_UNTIL": str(self.folder / "never")})
        self.addCleanup(end, job)
        self.assertTrue(wait_until(lambda: list(self.folder.glob(".tmp.*")), job))
        job.kill()
        job.wait()
        left = list(self.folder.glob(".tmp.*"))
        self.assertEqual(len(left), 1)
        other = self.folder / left[0].name.replace(".tmp.", ".tmp.other-")
        other.touch()  # of another host: it may be alive
        self.run_ok("merge", self.good, "-o", self.folder / "again.h5")
        self.assertEqual(list(self.folder.glob(".tmp.*")), [other])

    def test_labels_on_a_terminal(self):
        """Escape codes, C1 controls and ends of lines in labels reach it as question marks."""
        label = r"A\e[31m\x07\x9b2J\x7f\nB\rC"
        text = STUDY.replace("[branin]", f'[{{name: branin, label: "{label}"}}]').replace(
            "[random]", f'[{{name: random, label: "{label}"}}]')
        study, output = self.write("labels.yaml", text), self.folder / "labels.h5"
        code, _, err = regatta("run", study, "-o", output, "-quiet")
        shown = err
        if code == 0:
            for arguments in (("info", output), ("plan", study), ("verify", output), ("bounds", study)):
                code, out, err = regatta(*arguments)
                shown += out + err
            self.assertIn("A?[31m?", shown)
        self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")

    def test_a_python_that_was_asked_for(self):
        with mock.patch.dict(os.environ, REGATTA_PYTHON="/bin/false"):
            done = subprocess.run([ROOT / "run.sh", "figures", self.good], text=True,
                                  capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("REGATTA_PYTHON=/bin/false lacks h5py", done.stderr)
