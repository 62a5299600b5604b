"""SIGKILL of the whole job at random moments, then the same command again: nothing is lost."""
import random
import subprocess
import time

from regatta_test import HERE, LONG, RegattaTest, environment, kill, mpirun

KILLS = 200 if LONG else 6
STUDY = HERE / "kill.yaml"


class Kill(RegattaTest):
    def start(self, output, ranks=2):
        return subprocess.Popen(mpirun(ranks, "run", STUDY, "-o", output, "-quiet"),
                                env=environment(), start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def test_kill_and_resume(self):
        reference = self.folder / "reference.h5"
        begin = time.monotonic()
        self.run_ok("run", STUDY, "-o", reference, "-quiet", ranks=2)
        length = time.monotonic() - begin
        expected = self.checksum(reference)

        moments = random.Random(20240903)
        output = self.folder / "killed.h5"
        kills = finished = 0
        while kills < KILLS:
            job, begin = self.start(output), time.monotonic()
            try:
                job.wait(timeout=moments.uniform(0.2, 1.0) * length)
                finished += 1
                length = min(length, time.monotonic() - begin)  # a busy machine may have become a quiet one
            except subprocess.TimeoutExpired:
                kill(job)
                kills += 1
            if output.exists():
                self.assertEqual(self.checksum(output), expected)
                output.unlink()
        self.run_ok("run", STUDY, "-o", output, "-quiet", ranks=3)
        self.assertEqual(self.checksum(output), expected)
        print(f"{kills} kills, {finished} runs finished in between")
