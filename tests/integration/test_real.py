"""Trials on the real clock: kills of the leader and of programs, replays, and a recorded run as a law of durations."""
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import h5py
import numpy as np

from regatta_test import HERE, LONG, REGATTA, RegattaTest, end, environment, mpirun, regatta, wait_until

KILLS = 60 if LONG else 4  # of each victim
STUDY = """
study: real
seeds: 1
common: {{iterations: {iterations}, initial_points: 4, workers: 3, clock: real{settings}}}
problems:
  - name: external
    label: P
    program: {program}
    arguments: [{notes}, {plan}]
    inputs: [a real 0 1]
    retries: 100
algorithms: [{method}]
"""
RECORDED = """
study: recorded
seeds: 1
common: {{iterations: 20, initial_points: 4, initial_time: counted, workers: {workers}, release: {release},
         duration: recorded {path}}}
problems: [branin]
algorithms: [random, ei]
"""
HELD = """
import fcntl, json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["evaluation"] > 5:  # waits until the test lets go of the file
        with open(sys.argv[1]) as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    print(json.dumps({"id": request["id"], "value": request["x"]["a"]}), flush=True)
"""


class Real(RegattaTest):
    def setUp(self):
        super().setUp()
        self.notes, self.plan, self.output = (self.folder / name for name in ("notes", "plan.json", "out.h5"))
        self.plan.write_text("{}")

    def study(self, method="random", iterations=20, settings=""):
        return self.write("real.yaml", STUDY.format(program=HERE / "struck.py", notes=self.notes, plan=self.plan,
                                                    method=method, iterations=iterations, settings=settings))

    def questions(self):
        """The evaluations that were asked for, in order."""
        return [int(line.split()[0]) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []

    def logged(self):
        """The evaluations whose answers are on the disk."""
        logs = self.folder.glob("out.h5.d/evaluations/*.log")
        return {int(line.split()[0]) for log in logs for line in log.read_text().splitlines() if len(line) > 60}

    def strikes(self, moments, last):
        """Two programs die, and then who is named last, a few questions later each."""
        n, plan = len(self.questions()), {}
        for victim in ("child", "child", last):
            n += moments.randint(1, 5)
            plan[n] = (victim, moments.choice(("asked", "answering", "answered")))
        self.plan.write_text(json.dumps(plan))

    def run_once(self, study, ranks, **faults):
        """Whether the run came to its end."""
        env = {**environment(), **({} if ranks else {"OMPI_MCA_orte_create_session_dirs": "0"})}
        env.update({f"REGATTA_FAULT_{name.upper()}": str(value) for name, value in faults.items()})
        if faults:
            env["LD_PRELOAD"] = os.environ["FAULT_SHIM"]
        arguments = ["run", study, "-o", self.output, "-quiet"]
        done = subprocess.run(mpirun(ranks, *arguments) if ranks else [REGATTA, *arguments], env=env,
                              capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (0, 137) if ranks else (0, -9), done.stderr)
        return done.returncode == 0

    def storm(self, study, kills, ranks=None):
        """Kill the program and finish the trial. Half of the kills happen at a question: a program kills its parent,
        which is the leader, or with `ranks` the rank that holds it. The others kill the leader at a file call, while
        it reads what is there or later."""
        moments = random.Random(20260313)
        asked = done = asking = 0
        known = set()
        while True:
            at_file = "FAULT_SHIM" in os.environ and done % 2 == 0 and done < kills
            faults = dict(prefix=f"{self.output}.d", call=moments.randint(5, 200 if ranks else 150),
                          action=moments.choice(("die", "torn", "lost"))) if at_file else {}
            self.strikes(moments, "child" if at_file else "parent")
            if done >= kills:
                self.plan.write_text("{}")
            pathlib.Path(f"{self.notes}.struck").unlink(missing_ok=True)
            finished = self.run_once(study, ranks, **faults)
            asking += len(self.questions()) > asked
            again = known & set(self.questions()[asked:])
            self.assertFalse(again, "answers on the disk were asked for again")
            if finished:
                break
            asked, known, done = len(self.questions()), self.logged(), done + 1
        self.assertGreaterEqual(done, kills)
        self.assertIn("1 trial, 1 equal in every bit", self.run_ok("verify", self.output, "-all", "-study", study))
        with h5py.File(self.output) as file:
            rows, timeline = file["P"], file["P/provenance/timeline"].asstr()[0]
            self.assertEqual(set(rows["submission"][0]), set(range(1, int(rows["n_iterations"][0]) + 1)))
            self.assertTrue(asking - 1 <= timeline.count(" gap ") <= done, (asking, timeline.count(" gap "), done))
            self.assertGreaterEqual(timeline.count(" lost "), kills)
            self.assertGreater(file["P/provenance/gap"][0], 0)
            told = file["P/timing/wall_told"][0]
            self.assertTrue((np.diff(told) >= 0).all() and told[0] > 0)
        print(f"{done} kills of ranks, {asking} runs that asked, {timeline.count(' lost ')} attempts lost, {len(self.questions())} questions")

    def test_kills(self):
        ei = "{name: ei, maximiser: {raw_samples: 64, restarts: 1}}"
        self.storm(self.study("random" if LONG else ei, 30 * KILLS), KILLS)  # each resumed run asks the method again

    def test_kills_in_a_team(self):
        kills = 60 if LONG else 2
        self.storm(self.study(settings=", ranks_per_trial: 4", iterations=30 * kills), kills, ranks=4)

    def test_a_recorded_run_is_a_law(self):
        self.run_ok("run", self.study(settings=", release: sync"), "-o", self.output, "-quiet")
        with h5py.File(self.output) as file:
            timing = file["P/timing"]
            taken = (timing["wall_finished"][0] - timing["wall_dispatched"][0])[np.argsort(file["P/submission"][0])]
        sums = []
        for workers, release in ((8, "async"), (2, "sync")):
            study = self.write("recorded.yaml", RECORDED.format(path=self.output, workers=workers, release=release))
            output = self.results_of(study, name=f"recorded{workers}.h5")
            with h5py.File(output) as file:
                for trial in range(2):
                    order = np.argsort(file["branin/submission"][trial])
                    np.testing.assert_allclose(file["branin/duration"][trial][order], taken, atol=2e-6)
            sums.append(self.checksum(output))
        self.assertNotEqual(*sums)

    def test_status_says_what_workers_do(self):
        """Three programs hold evaluations 6, 7 and 8, then their second attempts after a kill of the run."""
        held, program = self.folder / "held", self.write("held.py", HELD)
        study = self.write("real.yaml", STUDY.format(program=HERE / "struck.py", notes=0, plan=0, method="random",
                                                     iterations=6, settings="").replace(
            f"program: {HERE / 'struck.py'}", "program: python3").replace("[0, 0]", f"[{program}, {held}]"))
        with open(held, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for attempt in ("", ", attempt 2,"):
                began = int(time.time())
                job = subprocess.Popen([REGATTA, "run", study, "-o", self.output, "-quiet"], env=environment(),
                                       stdin=subprocess.DEVNULL, start_new_session=True)
                self.addCleanup(end, job)
                said = []

                def busy():
                    said[:] = regatta("status", self.output, "-study", study)[1:]
                    return len(re.findall(f"evaluation [678]{attempt} since", said[0])) == 3

                self.assertTrue(wait_until(busy, job), said)
                lines = said[0].splitlines()
                self.assertEqual(lines[0], f"{self.output}: incomplete; the run command resumes it (0 of 1 trials)")
                self.assertEqual(lines[1], "P, random, seed 0: 5 of 10 evaluations have ended")
                self.assertEqual([line[:11] for line in lines[2:]], [f"  worker {w}:" for w in (1, 2, 3)])
                self.assertEqual(sorted(re.findall(r"evaluation (\d)", "".join(lines[2:]))), ["6", "7", "8"])
                for line in lines[2:]:
                    since, = re.findall(rf"^  worker \d: evaluation \d{attempt} since (\S+ \S+)$", line)
                    self.assertTrue(began <= time.mktime(time.strptime(since, "%Y-%m-%d %H:%M:%S")) <= time.time())
                if not attempt:
                    out = regatta("status", self.output)[1]
                    self.assertRegex(out.splitlines()[1], r"^trial [0-9a-f]{32}: 5 evaluations have ended$")
                    os.killpg(job.pid, signal.SIGKILL)
                    job.wait()
                    out = regatta("status", self.output, "-study", study)[1]
                    self.assertEqual(out.splitlines()[1:], [
                        "P, random, seed 0: 5 of 10 evaluations have ended; no process runs it any more"])
        self.assertEqual(job.wait(), 0)
        self.assertEqual(regatta("status", self.output)[:2], (0, "real: complete\n"))

    def test_a_damaged_timeline_is_found(self):
        study = self.study()
        self.run_ok("run", study, "-o", self.output, "-quiet")
        with h5py.File(self.output, "r+") as file:
            text = file["P/provenance/timeline"]
            lines = text.asstr()[0].splitlines()
            first = next(i for i, line in enumerate(lines) if " end " in line)
            text[0] = "\n".join(lines[:first] + lines[first + 1:]) + "\n"
        code, out, err = regatta("verify", self.output, "-all", "-study", study)
        self.assertEqual(code, 3, out + err)
        self.assertIn("its timeline in the record has another event here", out + err)
