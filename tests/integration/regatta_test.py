"""Frame of the integration tests: runs the regatta program the way a user does."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

REGATTA = os.environ.get("REGATTA_PROGRAM") or sys.exit("REGATTA_PROGRAM is not set")
SLOW = os.environ.get("REGATTA_SLOW", "")
HERE = pathlib.Path(__file__).resolve().parent
LONG = bool(os.environ.get("REGATTA_LONG"))
HANG = 1800  # seconds after which a program hangs, also on the busiest machine


def environment():
    """Environment of a run: root may use mpirun, which may start more ranks than there are cores, and the Python that
    runs this is the first in PATH (pyenv's takes five times as long to start)."""
    env = dict(os.environ, PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
               OMPI_MCA_rmaps_base_oversubscribe="1")
    if os.geteuid() == 0:
        env["OMPI_ALLOW_RUN_AS_ROOT"] = env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return env


def mpirun(ranks, *arguments):
    """Command line of `regatta ARGUMENTS` on `ranks` ranks."""
    return ["mpirun", "-n", str(ranks), REGATTA, *map(str, arguments)]


def regatta(*arguments, ranks=None, timeout=HANG):
    """Run to the end; returns exit code, standard output, standard error."""
    command = mpirun(ranks, *arguments) if ranks else [REGATTA, *map(str, arguments)]
    alone = {} if ranks else {"OMPI_MCA_orte_create_session_dirs": "0"}  # see tests/CMakeLists.txt
    done = subprocess.run(command, env={**environment(), **alone}, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def install(case):
    """Install the program for the tests of a class; returns the prefix."""
    folder = tempfile.TemporaryDirectory()
    case.addClassCleanup(folder.cleanup)
    prefix = pathlib.Path(folder.name) / "prefix"
    subprocess.run(["cmake", "--install", pathlib.Path(REGATTA).parent, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)
    return prefix


def wait_until(condition, job=None):
    """Until the condition holds, or the job is over; returns whether it holds."""
    hangs = time.monotonic() + HANG
    while not condition() and (job is None or job.poll() is None) and time.monotonic() < hangs:
        time.sleep(0.02)
    return condition()


def end(job):
    """Nothing that a test started outlives it, also where it failed."""
    if job.poll() is None:
        job.kill()
    job.wait()


def kill(job):
    """SIGKILL for the whole job: mpirun and its children, which have process groups of their own."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(job.pid)], capture_output=True,
                              text=True).stdout.split()
    for pid in [job.pid, *map(int, children)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.communicate()


def ranks_of(job):
    """Process ids of the ranks of a running mpirun, rank 0 first."""
    found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(job.pid)], capture_output=True,
                           text=True).stdout.split()
    return sorted(int(pid) for pid, name in zip(found[::2], found[1::2]) if name == "regatta")


def is_alive(pid):
    """Whether a process runs (a zombie does not)."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def fingerprint():
    return re.search(r"^fingerprint +([0-9a-f]{16})$", regatta("version")[1], re.M).group(1)


def other_core():
    """A BLAS core whose arithmetic differs from that of this machine; None: no such machine."""
    mine = fingerprint()
    for core in ("Prescott", "Haswell"):
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE=core):
            if fingerprint() != mine:
                return core
    return None


class RegattaTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="regatta-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def program(self, name, text):
        """A file that can be executed."""
        path = self.write(name, text)
        path.chmod(0o755)
        return path

    def slow_trials(self, microseconds):
        """From now on iterations take at least a few times this long, on a machine of any speed."""
        slow = mock.patch.dict(os.environ, LD_PRELOAD=SLOW, PAUSE_US=str(microseconds))
        slow.start()
        self.addCleanup(slow.stop)

    def stopped_study(self, study, output, least=1, ranks=None):
        """The shards of a study that was stopped when it had at least `least` of them: the wall time grows while
        nothing is finished, and trials are slow, so that no machine under any load ends the study."""
        walltime, shards = 0.5, []
        while len(shards) < least and walltime < HANG:
            before = shards
            with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, PAUSE_US="2000"):
                self.run_ok("run", study, "-o", output, "-quiet", "-walltime", walltime, ranks=ranks)
            shards = sorted(pathlib.Path(f"{output}.d").glob("[0-9]-*.h5"))
            walltime *= 1 if len(shards) > len(before) else 2
        self.assertGreaterEqual(len(shards), least, "no wall time leaves a stopped study")
        self.assertFalse(pathlib.Path(output).exists())
        return shards

    def run_ok(self, *arguments, ranks=None):
        code, out, err = regatta(*arguments, ranks=ranks)
        self.assertEqual(code, 0, f"{arguments}: exit {code}\n{out}\n{err}")
        return out

    def refused(self, *arguments, says=(), code=2, lines=1, ranks=None):
        """A command ends with this exit code and one line that has these words, and writes nothing; returns the line.
        `lines`: their number, where programs are announced; None: any."""
        before = sorted(self.folder.rglob("*"))
        found, out, err = regatta(*arguments, ranks=ranks)
        self.assertEqual(found, code, f"{arguments}: {out}{err}")
        if lines and not ranks:  # mpirun adds lines of its own
            self.assertEqual(len(err.splitlines()), lines, err)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, err)
        self.assertEqual(sorted(self.folder.rglob("*")), before, "something was written")
        return err

    def results_of(self, study, *options, name="out.h5", ranks=None):
        """The results file of a study file, or of the text of one, that is run to its end."""
        output = self.folder / name
        study = self.write("study.yaml", study) if isinstance(study, str) else study
        self.run_ok("run", study, "-o", output, "-quiet", *options, ranks=ranks)
        return output

    def same_bits(self, study, *options, layouts=(1, 2), name="out"):
        """The results file of a study, which has the same bits on each of these numbers of ranks."""
        outputs = [self.results_of(study, "-strict", *options, name=f"{name}{ranks}.h5", ranks=ranks) for ranks in layouts]
        self.assertEqual(len(set(map(self.checksum, outputs))), 1, layouts)
        return outputs[-1]

    def checksum(self, path):
        return self.run_ok("checksum", path).split()[0]
