"""Kill storms: SIGKILL of mpirun, of the first rank, of another rank, at random moments, and the same
command again at once, while orphans of the last run still live and a reader looks at every file."""
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import h5py

from regatta_test import HERE, LONG, RegattaTest, environment, is_alive, mpirun, ranks_of, regatta

RANKS = 4
MOMENTS = 50 if LONG else 2  # per victim
STUDY = HERE / "kill.yaml"


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
            records = sum(len(group["id"]) for name, group in file.items() if name != "cells" and "id" in group)
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
            self.over.wait(0.02 if LONG else 0.1)

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
        """SIGKILL one process; True if it was there. Does not wait for the remains."""
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
