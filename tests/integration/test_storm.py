"""Kill storms: SIGKILL of mpirun, of the first rank, of another rank, at random moments, and the same
command again at once, while orphans of the last run still live and a reader looks at every file. And
at a chosen moment: while a rank commits the trials of all."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time
import unittest

import h5py

from regatta_test import (HERE, LONG, SLOW, RegattaTest, end, environment, is_alive, main, mpirun,
                          ranks_of, regatta)

RANKS = 4
MOMENTS = 50 if LONG else 4  # per victim
STUDY = HERE / "kill.yaml"
FAULT_SHIM = os.environ.get("FAULT_SHIM", "")
JOINT = """study: joint
seeds: 32
common: {iterations: 4, initial_points: 2}
problems: [branin]
algorithms: [random]
"""


class Reader(threading.Thread):
    """Opens whatever *.h5 there is, again and again; errors other than `it is gone` are kept."""

    def __init__(self, folder, output):
        super().__init__(daemon=True)
        self.folder, self.output = folder, output
        self.over = threading.Event()
        self.errors, self.opened, self.asked = [], 0, 0

    def look(self, path):
        """A shard or results file in h5py: complete, with as many records as it says."""
        try:
            handle = open(path, "rb")  # an open file stays whole when it is removed
        except FileNotFoundError:
            return
        with handle, h5py.File(handle, "r") as file:
            records = sum(len(group["id"]) for group in file.values() if "id" in group)
            if records != file.attrs["n_trials"]:
                raise ValueError(f"{records} records of {file.attrs['n_trials']}")
        self.opened += 1

    def ask(self, command):
        code, out, err = regatta(command, self.output)
        allowed = {"status": (0, 75), "checksum": (0,)}[command]
        nothing_yet = "no such" in err or "no finished trials" in err
        if code not in allowed and not nothing_yet:
            raise ValueError(f"{command}: exit {code}: {out}{err}")
        self.asked += 1

    def run(self):
        commands = ["status", "checksum"]
        while not self.over.is_set():
            try:
                for path in [*self.folder.glob("*.h5"), *self.folder.glob("*.h5.d/*.h5")]:
                    self.look(path)
                commands.reverse()
                self.ask(commands[0])
            except Exception as error:  # any of them is a broken promise
                self.errors.append(repr(error))
            self.over.wait(0.02)

    def finish(self):
        self.over.set()
        self.join(60)


class Storm(RegattaTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "storm.h5"
        self.seen, self.jobs = set(), []
        self.addCleanup(self.kill_orphans)

    def start(self):
        job = subprocess.Popen(mpirun(RANKS, "run", STUDY, "-o", self.output, "-quiet"),
                               env=environment(), start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        self.jobs.append(job)
        return job

    def kill_orphans(self):
        for job in self.jobs:
            if job.poll() is None:
                job.kill()
            job.wait()
        for pid in self.seen:
            if is_alive(pid) and str(self.folder) in self.arguments(pid):
                os.kill(pid, signal.SIGKILL)

    def arguments(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return ""

    def strike(self, job, victim):
        """SIGKILL one process; True if it was there. What is left is not waited for."""
        ranks = ranks_of(job)
        self.seen.update(ranks)
        if victim == "mpirun":
            pid = job.pid
        elif len(ranks) < RANKS:
            return False
        else:
            pid = ranks[0] if victim == "rank 0" else self.moments.choice(ranks[1:])
        os.kill(pid, signal.SIGKILL)
        if victim == "mpirun":
            job.wait()
        return True

    def storm(self, victim, expected, length):
        kills = orphans = finished = 0
        while kills < MOMENTS:
            job, begin = self.start(), time.monotonic()
            try:
                job.wait(timeout=self.moments.uniform(0.3, 1.0) * length)
                finished += 1
                length = min(length, time.monotonic() - begin)  # a busy machine may have become a quiet one
            except subprocess.TimeoutExpired:
                kills += self.strike(job, victim)
                orphans += any(is_alive(pid) for pid in ranks_of(job) or self.seen)
            if self.output.exists():
                self.assertEqual(self.checksum(self.output), expected)
                self.output.unlink()
        return kills, orphans, finished

    def test_storm(self):
        self.moments = random.Random(20241121)
        reference = self.folder / "reference"
        reference.mkdir()
        begin = time.monotonic()
        self.run_ok("run", STUDY, "-o", reference / "out.h5", "-quiet", ranks=RANKS)
        length = time.monotonic() - begin
        expected = self.checksum(reference / "out.h5")
        reader = Reader(self.folder, self.output)
        reader.start()
        try:
            for victim in ("mpirun", "rank 0", "another rank"):
                kills, orphans, finished = self.storm(victim, expected, length)
                print(f"SIGKILL of {victim}: {kills} survived, {orphans} restarts beside orphans, "
                      f"{finished} runs finished in between", flush=True)
            self.run_ok("run", STUDY, "-o", self.output, "-quiet", ranks=3)
        finally:
            reader.finish()
        self.assertEqual(self.checksum(self.output), expected)
        self.run_ok("verify", self.output, "-sample", "1")
        self.assertEqual(reader.errors[:5], [])
        self.assertGreater(reader.opened, 0)
        print(f"reader: {reader.opened} files opened, {reader.asked} commands, no error")


@unittest.skipUnless(FAULT_SHIM, "sanitized")
class JointCommit(RegattaTest):
    """The first rank that has no more trials commits what all have finished; fsync takes 5 seconds."""

    def setUp(self):
        super().setUp()
        self.study = self.write("study.yaml", JOINT)
        self.begun = self.folder / "begun.h5"  # a quarter of the trials is committed
        self.run_ok("run", self.study, "-o", self.begun, "-quiet", "-part", "1/4")
        self.output = self.folder / "joint.h5"

    def start(self):
        shim = {"LD_PRELOAD": f"{FAULT_SHIM} {SLOW}", "PAUSE_US": "1000", "REGATTA_FAULT_SLOW": "fsync",
                "REGATTA_FAULT_SLOW_MS": "5000", "REGATTA_FAULT_PREFIX": f"{self.output}.d"}
        job = subprocess.Popen(mpirun(3, "run", self.study, "-o", self.output),
                               env={**environment(), **shim}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(end, job)
        return job

    def records(self, pattern):
        """Of the trials in each of these files: the rank that ran it, out of how many, and when."""
        found = {}
        for path in self.folder.glob(pattern):
            try:
                with h5py.File(path) as file:
                    columns = [file["branin/provenance"][name][()] for name in ("rank", "ranks", "started")]
                    found[path.name] = set(zip(*columns))
            except (OSError, KeyError):  # not yet written, or gone
                continue
        return found

    def committed(self):
        return set().union(*self.records("joint.h5.d/*.h5").values())

    def joint_commit(self, job):
        """The rank that waits for the fsync of trials of several ranks, and these trials."""
        while job.poll() is None:
            for name, trials in self.records("joint.h5.d/.tmp.*").items():
                if len({rank for rank, _, _ in trials}) > 1:
                    return [str(pid) for pid in ranks_of(job)].index(name.split(".")[-2]), trials
            time.sleep(0.01)
        self.fail(f"no joint commit: {job.communicate()[0]}")

    def strike(self, hands_over):
        """SIGKILL of the rank that commits, or of one whose trials it has. What the living have, of whomever,
        they commit before mpirun kills them."""
        shutil.copytree(f"{self.begun}.d", f"{self.output}.d")
        promised = self.committed()
        self.assertEqual(len(promised), 8)
        job = self.start()
        victim, trials = self.joint_commit(job)
        if hands_over:
            victim = min({rank for rank, _, _ in trials} - {victim})
            promised |= trials
        else:
            promised |= {trial for trial in trials if trial[0] != victim}
        pids = ranks_of(job)
        os.kill(pids[victim], signal.SIGKILL)
        said, _ = job.communicate(timeout=30)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(said, fr"process rank {victim} .* exited on signal 9 \(Killed\)")
        self.assertNotIn("ERROR", said)
        begun = time.monotonic()
        while any(map(is_alive, pids)):
            self.assertLess(time.monotonic() - begun, 20, "a rank outlives its job")
            time.sleep(0.01)
        self.assertLessEqual(promised, self.committed())

    def test_joint_commit(self):
        reference = self.folder / "reference.h5"
        self.run_ok("run", self.study, "-o", reference, "-quiet")
        for hands_over in (False, True):
            self.strike(hands_over)
            committed = self.committed()
            self.run_ok("run", self.study, "-o", self.output, "-quiet")
            self.assertEqual(self.checksum(self.output), self.checksum(reference))
            self.assertLessEqual(committed, self.records("joint.h5")["joint.h5"], "not run again")
            self.output.unlink()


if __name__ == "__main__":
    main()
