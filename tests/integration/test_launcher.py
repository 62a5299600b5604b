"""Jobs as launchers start them: many ranks on few cores, and two hosts, of which one vanishes. The hosts
are stand-ins: instead of ssh the launcher gets a script that runs the command here, in name spaces of its
own (host name, processes); they talk over TCP on the loopback device and share the file system."""
import itertools
import os
import pathlib
import signal
import subprocess
import unittest
from unittest import mock

import h5py
from regatta_test import HANG, LONG, REGATTA, SLOW, RegattaTest, end, environment, mpirun, regatta, wait_until

RANKS = 64 if LONG else 8
AGENT = """#!/bin/sh
host=$1; shift
echo $$ > {folder}/$host
exec unshare --uts --pid --mount-proc --fork --kill-child sh -c "hostname $host && $*"
"""
STUDY = """
study: launcher
seeds: {}
common: {{iterations: 2, initial_points: 2}}
problems: [branin]
algorithms: [random]
"""
NETWORK = """
ip netns add {0}a && ip netns add {0}b && ip -n {0}a link add v0 type veth peer name v0 netns {0}b &&
for i in 1 2; do n={0}$(echo $i | tr 12 ab)
  ip -n $n addr add 10.77.0.$i/24 dev v0 && ip -n $n link set v0 up && ip -n $n link set lo up || exit
done
"""
NAMESPACES = not subprocess.run("unshare --uts --pid --mount-proc --fork hostname other", shell=True,
                                check=False, capture_output=True).returncode


def processes_of(output):
    """The ranks that write to an output, with their environment."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            if words[0] == REGATTA.encode() and str(output).encode() in words:
                found[int(path.name)] = (path / "environ").read_bytes()
        except OSError:
            continue
    return found


class Launcher(RegattaTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "study.h5"

    def test_hosts_with_other_data(self):
        """Each rank looks for a data file from its own folder: the trials would not be the same."""
        study = self.write("study.yaml", STUDY.format(2).replace("2}", "2, given: start.csv}"))
        command = ["mpirun"]
        for i in range(2):
            (self.folder / f"host{i}").mkdir()
            self.write(f"host{i}/start.csv", f"x1,x2\n0,{i}\n")
            command += [":"] * i + ["-wdir", self.folder / f"host{i}", "-n", "1", REGATTA, "run", study,
                                    "-o", self.output]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=HANG)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("study.yaml: rank 1 finds other data", done.stderr)
        self.assertFalse(self.output.exists())

    def test_many_ranks_on_few_cores(self):
        """The same bits as on one rank; the simulator knows how long the trials of each rank take."""
        study = self.write("study.yaml", STUDY.format(5 * RANKS // 2))
        with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, PAUSE_US="30000"):
            self.run_ok("run", study, "-o", self.output, "-quiet", ranks=RANKS)
        with h5py.File(self.output) as file:
            trials = file["branin/provenance"]
            took = trials["wall"][()]
        plan = self.run_ok("plan", study, "-o", self.output, "-simulate", f"1,{RANKS}")
        one, many = (line.split() for line in plan.splitlines()[-2:])
        self.assertEqual((one[0], many[0]), ("1", str(RANKS)))
        self.assertAlmostEqual(float(one[1]), took.sum(), delta=0.1 * took.sum())
        self.assertAlmostEqual(float(many[1]), 3 * took.mean(), delta=0.3 * took.mean())
        self.run_ok("run", study, "-o", self.folder / "one.h5", "-quiet")
        self.assertEqual(self.checksum(self.output), self.checksum(self.folder / "one.h5"))

    def test_inside_a_slurm_job_without_a_launcher(self):
        """Open MPI refuses to start where it finds SLURM_NODELIST and no library of Slurm. `srun --pty bash` is a
        step of one task, and a batch script is no step, so `run` is alone there; other commands need no MPI, also
        in a step of many tasks, of which the first one speaks."""
        study = self.write("study.yaml", STUDY.format(2))
        batch = {"SLURM_JOB_ID": "1", "SLURM_JOBID": "1", "SLURM_NODELIST": "n1", "SLURM_PROCID": "0",
                 "SLURM_NTASKS": "8"}
        shell = {**batch, "SLURM_STEP_ID": "0", "SLURM_STEPID": "0", "SLURM_STEP_NUM_TASKS": "1"}
        for i, variables in enumerate((batch, shell)):
            with mock.patch.dict(os.environ, variables):
                output = self.folder / f"{i}.h5"
                self.assertIn("2 trials in", self.run_ok("run", study, "-o", output))
                self.run_ok("verify", output)
        for rank in range(2):
            with mock.patch.dict(os.environ, shell, SLURM_STEP_NUM_TASKS="2", SLURM_PROCID=str(rank)):
                for words in (["version"], ["list"], ["plan", study], ["info", output], ["checksum", output],
                              ["status", output], ["eval", "branin", "-x", "0,0"], ["describe", "random"]):
                    self.assertEqual(self.run_ok(*words) == "", rank == 1, words)
                self.assertEqual(regatta("info", "missing.h5")[0], 0 if rank else 2)

    def test_tasks_that_mpi_cannot_connect(self):
        """`srun --mpi=none` and `--mpi=pmi2` start tasks that an Open MPI without Slurm's libraries can't connect: one
        line and exit code 2 in place of Open MPI's text. With one task `run` is alone. A launcher of another MPI
        gets the same line. Variables of the step that `mpirun` inherits matter not."""
        study = self.write("study.yaml", STUDY.format(2))
        step = {"SLURM_JOB_ID": "1", "SLURM_NODELIST": "n1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3"}
        pmi = {"PMI_SIZE": "3", "PMI_FD": "13"}
        for rank in range(2):
            for variables in ({}, {**pmi, "PMI_RANK": str(rank)}):
                with mock.patch.dict(os.environ, step, SLURM_PROCID=str(rank), **variables):
                    code, out, err = regatta("run", study, "-o", self.output)
                self.assertEqual((code, out), (2, ""))
                self.assertEqual(err.count("\n"), 1 - rank, err)
                self.assertIn("" if rank else "3 processes were started, but Open MPI", err)
                self.assertIn("" if rank else "srun --mpi=pmix", err)
                self.assertFalse(self.output.exists() or self.output.with_suffix(".h5.d").exists())
        alone = {**step, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}
        with mock.patch.dict(os.environ, alone, PMI_RANK="0", PMI_SIZE="1", PMI_FD="13"):
            self.assertIn("2 trials in", self.run_ok("run", study, "-o", self.output))
        for rank, names in itertools.product(range(2), ("PMI_{}", "OMPI_COMM_WORLD_{}")):  # before, after MPI's start
            with mock.patch.dict(os.environ, {names.format("RANK"): str(rank), names.format("SIZE"): "2",
                                              "OMPI_MCA_ess_singleton_isolated": "0"}):
                code, out, err = regatta("run", study, "-o", self.folder / "apart.h5")
            self.assertEqual((code, out, err.count("\n")), (2, "", 1 - rank), err)
            self.assertIn("" if rank else "2 processes were started, but Open MPI", err)
            self.assertEqual(list(self.folder.glob("apart.*")), [])
        words = mpirun(2, "run", study, "-o", self.folder / "step.h5")
        inherited = [word for name, value in {**step, "SLURM_PROCID": "0"}.items() for word in ("-x", f"{name}={value}")]
        done = subprocess.run(words[:1] + inherited + words[1:], env=environment(), capture_output=True, text=True,
                              timeout=HANG, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("2 trials in", done.stdout)

    @unittest.skipUnless(NAMESPACES, "name spaces need root")
    def test_a_host_with_little_shared_memory(self):
        """As in a container: its ranks commit each for itself."""
        self.write("study.yaml", STUDY.format(4))
        words = " ".join(mpirun(2, "run", "/mnt/study.yaml", "-o", "/mnt/study.h5", "-quiet"))
        subprocess.run(["unshare", "--mount", "sh", "-c", f"mount --bind {self.folder} /mnt && "
                        f"mount -t tmpfs -o size=100k tmpfs /dev/shm && TMPDIR=/mnt {words}"],
                       env=environment(), check=True, capture_output=True, timeout=HANG)
        self.assertEqual(self.run_ok("status", self.output), "launcher: complete\n")

    def has_shards(self):
        return any(self.output.with_suffix(".h5.d").glob("[0-9]-*.h5"))

    def start(self, study, **variables):
        """The study on two ranks of each of two hosts."""
        agent = self.write("agent", AGENT.format(folder=self.folder))
        agent.chmod(0o755)
        command = ["mpirun", "--host", "alpha:2,beta:2", "-n", "4", "--mca", "plm_rsh_agent", agent,
                   "--mca", "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo",
                   "-x", "LD_PRELOAD", "-x", "PAUSE_US", REGATTA, "run", study, "-o", self.output,
                   "-quiet"]
        return subprocess.Popen(command, env={**environment(), "LD_PRELOAD": SLOW, "PAUSE_US": "20000",
                                              **variables},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    @unittest.skipUnless(NAMESPACES, "name spaces need root")
    def test_a_host_vanishes(self):
        study = self.write("study.yaml", STUDY.format(500))
        job = self.start(study)
        self.assertTrue(wait_until(self.has_shards, job))
        self.assertEqual(len(processes_of(self.output)), 4)
        os.kill(int((self.folder / "beta").read_text()), signal.SIGKILL)  # and all that runs there
        out, _ = job.communicate(timeout=HANG)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(out, "lost communication|disconnected|daemons")
        self.assertTrue(wait_until(lambda: not processes_of(self.output)), "ranks that outlive their job")
        self.assertFalse(self.output.exists())
        job = self.start(study, PAUSE_US="0")
        out, _ = job.communicate(timeout=HANG)
        self.assertEqual(job.returncode, 0, out)
        with h5py.File(self.output) as file:
            hosts = set(file["branin/provenance/host"].asstr()[()])
        self.assertEqual(hosts, {"alpha", "beta"})
        self.run_ok("run", study, "-o", self.folder / "one.h5", "-quiet")
        self.assertEqual(self.checksum(self.output), self.checksum(self.folder / "one.h5"))

    def test_a_host_falls_silent(self):
        """The network between two hosts is gone, and nothing says so: every rank that is asked to stop commits and
        leaves by itself, though MPI waits for the others for ever."""
        name = f"regatta{os.getpid()}"
        for host in "ab":  # the launcher's daemon of the silent host is still there
            self.addCleanup(subprocess.run, f"kill -9 $(ip netns pids {name}{host}); ip netns del {name}{host}",
                            shell=True, capture_output=True, check=False)
        try:
            subprocess.run(["sh", "-c", NETWORK.format(name)], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("name spaces of networks are not permitted")
        study = self.write("study.yaml", STUDY.format(2000))
        agent = self.write("agent", f"#!/bin/sh\nhost=$1; shift\nexec ip netns exec {name}b unshare --uts sh -c "
                           '"hostname $host && $*"\n')
        agent.chmod(0o755)
        network = [word for part in ("btl", "oob") for word in ("--mca", f"{part}_tcp_if_include", "10.77.0.0/24")]
        job = subprocess.Popen(
            ["ip", "netns", "exec", f"{name}a", "mpirun", "--host", "localhost:2,other:2", "-n", "4", "--mca",
             "plm_rsh_agent", agent, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", *network, "-x", "LD_PRELOAD",
             "-x", "PAUSE_US", REGATTA, "run", study, "-o", self.output, "-quiet", "-grace", "1"],
            env={**environment(), "LD_PRELOAD": SLOW, "PAUSE_US": "20000"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(end, job)
        self.assertTrue(wait_until(self.has_shards, job))
        subprocess.run(["ip", "-n", f"{name}a", "link", "set", "v0", "down"], check=True)
        ranks = processes_of(self.output)
        self.assertEqual(len(ranks), 4)
        for pid in ranks:
            os.kill(pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: not processes_of(self.output)), "ranks that do not leave")
        code, out, err = regatta("verify", self.output.with_suffix(".h5.d"), "-no-rerun")
        self.assertEqual((code, err), (75, ""), out)

    @unittest.skipUnless(NAMESPACES, "name spaces need root")
    def test_hosts_that_cannot_share_a_counter_are_refused(self):
        """One-sided communication over TCP as Debian forbids it, where the user does, too."""
        job = self.start(self.write("study.yaml", STUDY.format(4)), OMPI_MCA_osc="^ucx,pt2pt")
        out, _ = job.communicate(timeout=HANG)
        self.assertEqual(job.returncode, 2, out)
        self.assertEqual(out.count("regatta:"), 1)
        self.assertIn("set OMPI_MCA_osc=^ucx", out)
        self.assertFalse(self.output.with_suffix(".h5.d").exists())
