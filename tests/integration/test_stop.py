"""Signals, the wall-time limit and the STOP file stop a run cleanly; the same command resumes."""
import signal
import subprocess
import time

from regatta_test import HERE, RegattaTest, environment, main, mpirun, regatta

STUDY = HERE / "stop.yaml"


class Stop(RegattaTest):
    expected = None

    def setUp(self):
        super().setUp()
        self.output = self.folder / "out.h5"

    def reference(self):
        if Stop.expected is None:
            path = self.folder / "reference.h5"
            self.run_ok("run", STUDY, "-o", path, "-quiet", ranks=2)
            Stop.expected = self.checksum(path)
        return Stop.expected

    def resumes(self):
        code, _, _ = regatta("status", self.output)
        self.assertEqual(code, 75, "the run was over before it could be stopped")
        self.run_ok("run", STUDY, "-o", self.output, "-quiet", ranks=2)
        self.assertEqual(regatta("status", self.output)[0], 0)
        self.assertEqual(self.checksum(self.output), self.reference())

    def start(self):
        job = subprocess.Popen(mpirun(2, "run", STUDY, "-o", self.output, "-quiet"),
                               env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        directory = self.folder / "out.h5.d"
        deadline = time.monotonic() + 30
        while not directory.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.8)
        return job

    def test_usr1(self):
        job = self.start()
        job.send_signal(signal.SIGUSR1)
        out, _ = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, out)
        self.assertIn("the same command resumes", out)
        self.resumes()

    def test_stop_file(self):
        job = self.start()
        (self.folder / "out.h5.d" / "STOP").touch()
        out, _ = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, out)
        self.assertIn("STOP", out)
        (self.folder / "out.h5.d" / "STOP").unlink()
        self.resumes()

    def test_walltime(self):
        out = self.run_ok("run", STUDY, "-o", self.output, "-quiet", "-walltime", "1", ranks=2)
        self.assertIn("wall-time", out)
        self.resumes()


if __name__ == "__main__":
    main()
