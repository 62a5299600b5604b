"""The scripts of experiments/cluster: parts of a study that go on until they are finished. srun,
scontrol, qsub, ssh and LSF's variables are stand-ins that do what those do."""
import os
import shutil
import signal
import subprocess
import unittest
from unittest import mock

from regatta_test import HANG, HERE, REGATTA, RegattaTest, environment, wait_until

SCRIPTS = HERE.parents[1] / "experiments" / "cluster"
MPIRUN = "#!/bin/bash\nexec \"$@\"\n"  # one rank
SRUN = "#!/bin/bash\nexec mpirun \"$@\" -walltime $LIMIT\n"  # in place of USR1 before the limit
NOTE = "#!/bin/bash\nprintf '%s\\n' \"$*\" >> \"$NOTES\"\n"  # what a batch system was asked for
SSH = "#!/bin/bash\n[ \"$1 $2\" = '-o BatchMode=yes' ] && [ $3 != nowhere ] && exec bash -c \"$4\"\nexit 255\n"


class Cluster(RegattaTest):
    whole = None  # checksum of a plain run

    def setUp(self):
        super().setUp()
        self.tools = self.folder / "bin"
        self.tools.mkdir()
        (self.tools / "regatta").symlink_to(REGATTA)
        self.output = self.folder / "study.h5"
        self.notes = self.folder / "notes"
        shutil.copy(HERE / "smoke.yaml", self.folder / "study.yaml")
        if not Cluster.whole:
            self.run_ok("run", self.folder / "study.yaml", "-o", self.folder / "whole.h5", "-quiet")
            Cluster.whole = self.checksum(self.folder / "whole.h5")

    def tool(self, name, text):
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def start(self, script, *arguments, **variables):
        """A script of experiments/cluster as its batch system starts it: in the study's folder."""
        env = {**environment(), "PATH": f"{self.tools}:{os.environ['PATH']}",
               "NOTES": str(self.notes), **variables}
        return subprocess.Popen(["bash", SCRIPTS / script, *arguments], cwd=self.folder, env=env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def end(self, job):
        """Output and exit code of a script, and what it asked its batch system for."""
        out, _ = job.communicate(timeout=HANG)
        self.assertNotIn("command not found", out)
        asked = self.notes.read_text().splitlines() if self.notes.exists() else []
        self.notes.unlink(missing_ok=True)
        return out, job.returncode, asked

    def assert_complete(self):
        self.run_ok("status", self.output)
        self.assertEqual(self.checksum(self.output), Cluster.whole)

    def parts(self, job, again, script, *arguments, **variables):
        """Start each of two parts until it does not ask for another start; `job`: what the batch
        system sets for a part, `again`: what says that it is to start again."""
        starts = 0
        for part in (1, 2):
            more, limit = True, 1
            while more:
                out, code, asked = self.end(self.start(script, *arguments, **{
                    **variables, "LIMIT": str(limit), **job(part)}))
                more = again(part, code, asked)
                self.assertTrue(more or code == 0, out)
                starts, limit = starts + 1, 2 * limit
        self.assertGreater(starts, 2, "the study was over before the first limit")
        self.assert_complete()

    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_scripts_are_clean(self):
        done = subprocess.run(["shellcheck", *sorted(SCRIPTS.glob("*.sh"))], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_slurm(self):
        self.tool("mpirun", MPIRUN)
        self.tool("srun", SRUN)
        self.tool("scontrol", NOTE)
        self.slow_trials(1000)
        self.parts(lambda part: {"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": str(part),
                                 "SLURM_ARRAY_TASK_COUNT": "2"},
                   lambda part, _, asked: asked == [f"requeue 4711_{part}"],
                   "slurm.sh", "study.yaml", "study.h5")

    def test_pbs(self):
        self.tool("mpirun", MPIRUN)
        self.tool("qsub", NOTE)
        self.slow_trials(1000)
        settings = {"PARTS": "2", "STUDY": "study.yaml", "OUT": "study.h5",
                    "PBS_O_WORKDIR": str(self.folder)}
        words = "-v PART={},PARTS=2,STUDY=study.yaml,OUT=study.h5,LIMIT="
        self.parts(lambda part: {"PBS_ARRAY_INDEX" if part == 1 else "PART": str(part)},
                   lambda part, _, asked: len(asked) == 1 and asked[0].startswith(words.format(part)), "pbs.sh", **settings)

    def test_lsf(self):
        self.tool("mpirun", MPIRUN)
        self.slow_trials(1000)
        self.parts(lambda part: {"LSB_JOBINDEX": str(part), "LSB_JOBINDEX_END": "2"},
                   lambda _, code, asked: code == 75,
                   "lsf.sh", STUDY="study.yaml", OUT="study.h5")

    def test_ssh(self):
        """Stopped by a signal, refused by a host, resumed on other hosts."""
        self.tool("mpirun", MPIRUN.replace('"$@"', '"${@:3}"'))
        self.tool("ssh", SSH)
        hosts = self.folder / "hosts"
        hosts.write_text("alpha 2\n# beta 2\ngamma 2 # the fast one\n")
        command = "ssh.sh", "study.yaml", "study.h5", "hosts"
        with mock.patch.dict(os.environ):
            self.slow_trials(20000)
            job = self.start(*command)
            self.assertTrue(wait_until(self.output.with_suffix(".h5.d").exists, job))
            job.send_signal(signal.SIGTERM)
            out, code, _ = self.end(job)
            self.assertEqual(code, 75, out)
            self.assertIn("stopped by the STOP file", out)
        hosts.write_text("alpha 2\nnowhere 2\n")
        out, code, _ = self.end(self.start(*command))
        self.assertEqual(code, 255, out)
        self.assertIn("nowhere: part 2 of 2 ended with exit code 255", out)
        hosts.write_text("alpha 2\nbeta 2\ngamma 2\n")
        out, code, _ = self.end(self.start(*command))
        self.assertEqual(code, 0, out)
        self.assert_complete()
