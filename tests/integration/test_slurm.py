"""The Slurm script of docs/slurm.md, with stand-ins for srun and scontrol that do what Slurm does: run
the tasks, send them USR1 before the limit, start the script again when it asks for a requeue."""
import os
import re
import signal
import subprocess

from regatta_test import HANG, HERE, REGATTA, RegattaTest, environment, regatta, wait_until

ROOT = HERE.parents[1]
SRUN = """#!/bin/bash
mpirun -n 3 "$@" &
echo $! > srun.pid
wait $!
"""
SCONTROL = """#!/bin/bash
echo "$@" >> requeued
"""


STUDY = (HERE / "stop.yaml").read_text().replace("seeds: 20", "seeds: 8")


class Slurm(RegattaTest):
    def setUp(self):
        super().setUp()
        text = (ROOT / "docs/slurm.md").read_text()
        script = re.search(r"^#!/bin/bash\n#SBATCH.*?(?=^```)", text, re.S | re.M).group()
        self.assertIn("--signal=USR1@", script)
        self.script = self.write("job.sh", script)
        tools = self.folder / "bin"
        tools.mkdir()
        for name, body in (("srun", SRUN), ("scontrol", SCONTROL)):
            (tools / name).write_text(body)
            (tools / name).chmod(0o755)
        (tools / "regatta").symlink_to(REGATTA)
        self.write("study.yaml", STUDY)
        self.slow_trials(900)
        self.env = {**environment(), "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_JOB_ID": "4711"}

    def tasks(self):
        """Slurm signals the tasks of a step, not the batch script."""
        try:
            parent = (self.folder / "srun.pid").read_text().strip()
        except FileNotFoundError:
            return []
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", parent], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def job(self, limit, act):
        """One start of the script; after `limit` seconds of running trials `act` is called. Returns
        its exit code and whether it asked for a requeue."""
        requeued = self.folder / "requeued"
        requeued.unlink(missing_ok=True)
        (self.folder / "srun.pid").unlink(missing_ok=True)
        job = subprocess.Popen(["bash", self.script], cwd=self.folder, env=self.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        wait_until(lambda: len(self.tasks()) == 3 and (self.folder / "study.h5.d").exists(), job)
        try:
            job.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            act()
        out, _ = job.communicate(timeout=HANG)
        self.assertNotIn("command not found", out)
        if requeued.exists():
            self.assertEqual(requeued.read_text(), "requeue 4711\n")
        return job.returncode, requeued.exists()

    def signal_tasks(self):
        for pid in self.tasks():
            os.kill(pid, signal.SIGUSR1)

    def test_requeue_until_complete(self):
        starts, requeue, limit = 0, True, 2.0
        while requeue:
            code, requeue = self.job(limit, self.signal_tasks)
            self.assertEqual(code, 0)
            starts, limit = starts + 1, 2 * limit
            self.assertLess(starts, 12)
        self.assertGreater(starts, 1, "the study was over before the first limit")
        self.assertEqual(regatta("status", self.folder / "study.h5")[0], 0)
        self.run_ok("run", self.folder / "study.yaml", "-o", self.folder / "whole.h5", "-quiet", ranks=2)
        self.assertEqual(self.checksum(self.folder / "study.h5"),
                         self.checksum(self.folder / "whole.h5"))

    def test_stop_file_ends_the_chain(self):
        stop = self.folder / "study.h5.d" / "STOP"
        self.assertEqual(self.job(1.5, stop.touch), (0, True))
        code, requeue = self.job(60, lambda: None)
        self.assertEqual((code != 0, requeue), (True, False))

    def test_bad_input_is_not_requeued(self):
        self.write("study.yaml", "study: [\n")
        code, requeue = self.job(60, lambda: None)
        self.assertEqual((code != 0, requeue), (True, False))
