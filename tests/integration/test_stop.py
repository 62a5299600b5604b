"""Signals, the wall-time limit and the STOP file stop a run cleanly; the same command resumes."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from regatta_test import (HANG, HERE, LONG, REGATTA, RegattaTest, end, environment, is_alive, mpirun, ranks_of, regatta,
                          wait_until)

STUDY = HERE / "stop.yaml"
ROOT = HERE.parents[1]


def heed_hangup():
    """Under nohup, programs ignore the signal."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Stop(RegattaTest):
    expected = None

    def setUp(self):
        super().setUp()
        self.output = self.folder / "out.h5"
        self.directory = self.folder / "out.h5.d"
        self.slow_trials(200)

    def reference(self):
        if Stop.expected is None:
            path = self.folder / "reference.h5"
            self.run_ok("run", STUDY, "-o", path, "-quiet", ranks=2)
            Stop.expected = self.checksum(path)
        return Stop.expected

    def command(self, ranks=2, *options):
        return mpirun(ranks, "run", STUDY, "-o", self.output, "-quiet", *options)

    def start(self, command=None, ranks=2, **options):
        """Start a job and wait until every rank has run some iterations and a trial is committed; from then on they
        take so long that the job is not over when it is stopped."""
        marks = self.folder / "marks"
        shutil.rmtree(marks, ignore_errors=True)
        marks.mkdir()
        slow = {"PAUSE_US": "20000", "SLOW_AFTER": "1500", "SLOW_MARKS": str(marks)}
        if ranks > 1:
            slow["SLOW_RANKS"] = "1"
        job = subprocess.Popen(command or self.command(ranks), env={**environment(), **slow},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, preexec_fn=heed_hangup, **options)
        self.addCleanup(end, job)
        while job.poll() is None and (len(list(marks.iterdir())) < ranks or not self.shards()):
            time.sleep(0.02)
        return job

    def shards(self):
        return list(self.directory.glob("[0-9]-*.h5"))

    def stopped(self, job, by="a signal"):
        """The job ended as one that was asked to stop; returns what it said."""
        out, _ = job.communicate()
        self.assertEqual(job.returncode, 0, out)
        self.assertIn("the same command resumes", out)
        self.assertIn(f"stopped by {by}", out)
        return out

    def finished_so_far(self):
        """Trials that a reader finds in the study directory."""
        return int(self.run_ok("checksum", self.output).split()[1])

    def is_intact(self):
        """Part of the trials is there, every checksum right, nothing half-written."""
        self.assertEqual(list(self.directory.glob(".tmp*")), [], "a temporary file was left")
        self.assertFalse((self.directory / "bad").exists())
        code, out, err = regatta("verify", self.directory, "-no-rerun")
        self.assertEqual((code, err), (75, ""), out)
        code, _, _ = regatta("status", self.output)
        self.assertEqual(code, 75, "the run was over before it could be stopped")

    def resumes(self):
        self.is_intact()
        self.slow_trials(0)
        self.run_ok("run", STUDY, "-o", self.output, "-quiet", ranks=2)
        self.assertEqual(regatta("status", self.output)[0], 0)
        self.assertEqual(self.checksum(self.output), self.reference())

    def through_mpirun(self, number):
        job = self.start()
        job.send_signal(number)
        out = self.stopped(job)
        said = int(re.search(r"with (\d+) of 60", out).group(1))
        self.assertGreater(said, 0)
        self.assertEqual(self.finished_so_far(), said)
        self.is_intact()

    def test_usr1(self):
        self.through_mpirun(signal.SIGUSR1)
        self.resumes()

    def test_usr2(self):
        self.through_mpirun(signal.SIGUSR2)

    def ends_mpirun(self, number):
        """mpirun ends its ranks one second after TERM: finished trials are committed by then."""
        job = self.start()
        job.send_signal(number)
        out, _ = job.communicate()
        self.assertGreater(self.finished_so_far(), 0, out)
        self.is_intact()

    def test_term_through_mpirun(self):
        self.ends_mpirun(signal.SIGTERM)
        self.resumes()

    def test_int_through_mpirun(self):
        self.ends_mpirun(signal.SIGINT)

    def to_ranks(self, number, which):
        job = self.start(ranks=3)
        ranks = ranks_of(job)
        self.assertEqual(len(ranks), 3)
        for rank in which:
            os.kill(ranks[rank], number)
        self.stopped(job)
        self.is_intact()

    def test_term_to_every_rank(self):
        self.to_ranks(signal.SIGTERM, range(3))

    def test_term_to_the_first_rank(self):
        self.to_ranks(signal.SIGTERM, [0])

    def test_term_to_the_last_rank(self):
        self.to_ranks(signal.SIGTERM, [2])

    def test_without_mpirun(self):
        command = [REGATTA, "run", STUDY, "-o", self.output, "-quiet"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
            job = self.start(command, ranks=1)
            job.send_signal(number)
            self.stopped(job)
        self.is_intact()

    def test_signals_again_and_again(self):
        """A stop under way is not hurried by more signals, and not spoilt; only a second TERM or INT ends it."""
        job = self.start(ranks=3)
        ranks = ranks_of(job)
        for number in (signal.SIGTERM, *(signal.SIGUSR1, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR2) * 3):
            for pid in ranks:
                if is_alive(pid):
                    os.kill(pid, number)
            time.sleep(0.01)
        self.stopped(job)
        self.is_intact()

    def test_stop_file(self):
        job = self.start()
        stop = self.directory / "STOP"
        stop.touch()
        out = self.stopped(job, by="the STOP file")
        self.assertIn("once it is removed", out)
        err = self.refused("run", STUDY, "-o", self.output)
        self.assertEqual(err, f"regatta: {stop} asks for a stop; remove it to run\n")
        stop.unlink()
        self.resumes()

    def test_walltime(self):
        self.slow_trials(1000)
        for limit in ("1", "0:01", "0:0:1") if LONG else ("0:01",):
            out = self.run_ok("run", STUDY, "-o", self.output, "-quiet", "-walltime", limit, ranks=2)
            self.assertIn("stopped by the wall-time limit", out)
        seconds = 1
        while not self.shards():  # a busy machine finishes no trial in a second
            seconds *= 2
            self.run_ok("run", STUDY, "-o", self.output, "-quiet", "-walltime", str(seconds), ranks=2)
        self.is_intact()

    def test_a_silent_rank(self):
        """A rank that no longer answers, as that of a host without network: the others commit and leave by
        themselves, whatever MPI does."""
        for silent in (0, 1):
            job = self.start(self.command(2, "-grace", "0.5"))
            ranks = ranks_of(job)
            os.kill(ranks[silent], signal.SIGSTOP)
            os.kill(ranks[1 - silent], signal.SIGUSR1)
            out, _ = job.communicate()
            self.assertEqual(job.returncode, 75, out)
            self.assertIn(f"rank {1 - silent}: an iteration or a call of MPI did not end in time", out)
            self.assertIn("its finished trials are committed; the same command resumes", out)
            self.is_intact()

    def cpu_ticks(self, pid):
        """CPU time that a process has used so far, in hundredths of a second."""
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])

    def test_in_the_middle_of_an_iteration(self):
        """A stop ends an iteration that would take hours, without waiting for the grace period: in sampled paths, in
        fits, in searches."""
        endless = {
            "paths": "name: jes, features: 100000, path_restarts: 100000",
            "fit": "name: ei, surrogate: {fit_starts: 10000, fit_multistart: always, fit_iterations: 1000000}",
            "search": "name: gp_ucb, maximiser: {raw_samples: 100000, restarts: 100000, local_search: adam}",
        }
        marks = self.folder / "marks"
        for what, method in endless.items():
            study = self.write("long.yaml", "study: long\nseed: 1\nseeds: 1\n"
                               "common: {iterations: 1000, initial_points: 400}\n"
                               "problems: [{name: hartmann6}]\n"
                               f"algorithms: [{{{method}}}]\n")
            shutil.rmtree(marks, ignore_errors=True)
            marks.mkdir()
            with self.subTest(what):
                job = subprocess.Popen([REGATTA, "run", study, "-o", self.output, "-grace", "1e6"], text=True,
                                       env={**environment(), "PAUSE_US": "0", "SLOW_AFTER": "40",
                                            "SLOW_MARKS": str(marks)},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.addCleanup(end, job)
                self.assertTrue(wait_until(lambda: list(marks.iterdir()), job))
                before = self.cpu_ticks(job.pid)
                self.assertTrue(wait_until(lambda: self.cpu_ticks(job.pid) > before + 50, job))
                job.terminate()
                out, _ = job.communicate(timeout=HANG)
                self.assertEqual(job.returncode, 0, out)
                self.assertIn("stopped by a signal with 0 of 1 trials finished", out)
                self.assertNotIn("PETSC", out)

    def test_stop_in_packing(self):
        """Signals from the moment the last trials end until the results file stands."""
        small = self.write("small.yaml", STUDY.read_text().replace("seeds: 20", "seeds: 8"))
        reference = self.folder / "small.h5"
        self.run_ok("run", small, "-o", reference, "-quiet", ranks=2)
        expected = self.checksum(reference)
        finished = 0
        delays = (0.0, 0.002, 0.005, 0.01, 0.02) if LONG else (0.0, 0.005, 0.02)
        for delay in delays:
            job = subprocess.Popen(mpirun(2, "run", small, "-o", self.output, "-quiet"),
                                   env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            while not self.shards() and not self.output.exists() and job.poll() is None:
                time.sleep(0.0005)
            time.sleep(delay)
            for pid in ranks_of(job):
                os.kill(pid, signal.SIGTERM)
            out, _ = job.communicate()
            self.assertEqual(job.returncode, 0, out)
            if self.output.exists():
                finished += 1
                self.assertEqual(self.checksum(self.output), expected)
                self.assertEqual(list(self.folder.glob(".tmp*")), [])
                self.output.unlink()
        self.run_ok("run", small, "-o", self.output, "-quiet", ranks=2)
        self.assertEqual(self.checksum(self.output), expected)
        print(f"{finished} of {len(delays)} runs had begun to pack")

    def run_sh(self):
        """run.sh in a process group of its own, as a terminal starts it."""
        script = f'source "{ROOT}/run.sh"; regatta=$1; python regatta_analysis study "$2" "$3"'
        return self.start(["bash", "-c", script, "run.sh", REGATTA, STUDY, self.output], start_new_session=True)

    def test_run_sh_term(self):
        job = self.run_sh()
        job.send_signal(signal.SIGTERM)
        self.stopped(job)
        self.is_intact()

    def test_run_sh_ctrl_c(self):
        """Ctrl-C reaches the whole process group."""
        job = self.run_sh()
        os.killpg(job.pid, signal.SIGINT)
        self.stopped(job)
        self.is_intact()


class Relay(RegattaTest):
    def test_a_launcher_that_dies_of_a_repeated_signal_has_stopped(self):
        """mpirun has no handler while it starts and while it closes; without a signal to us its death is a failure."""
        relay = "from regatta_analysis import launch\nimport sys\nsys.exit(launch.run(sys.argv[1:]))"
        closing = 'trap "trap - USR1; echo closing" USR1; echo up; while :; do sleep 0.01; done'
        for words, stop, code in ((["bash", "-c", closing], True, 0), (["bash", "-c", "kill -USR1 $$"], False, 246),
                                  (["bash", "-c", 'trap "exit 3" USR1; echo up; while :; do sleep 0.01; done'], True, 3)):
            job = subprocess.Popen([sys.executable, "-c", relay, *words], stdout=subprocess.PIPE, text=True,
                                   env={**environment(), "PYTHONPATH": str(ROOT / "analysis")})
            if stop:
                self.assertEqual(job.stdout.readline(), "up\n")
                job.send_signal(signal.SIGTERM)
            out, _ = job.communicate()
            self.assertEqual(job.returncode, code, out)


class Together(RegattaTest):
    def test_two_runs_at_once(self):
        """Two runs of one study waste time, and spoil nothing."""
        output, reference = self.folder / "out.h5", self.folder / "reference.h5"
        study = self.write("study.yaml", STUDY.read_text().replace("seeds: 20", "seeds: 6"))
        jobs = [subprocess.Popen(mpirun(2, "run", study, "-o", output, "-quiet"), env=environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True) for _ in range(2)]
        for job in jobs:
            out, _ = job.communicate()
            self.assertEqual(job.returncode, 0, out)
        self.run_ok("run", study, "-o", reference, "-quiet", ranks=2)
        self.assertEqual(self.checksum(output), self.checksum(reference))
        self.assertEqual(regatta("status", output)[0], 0)
