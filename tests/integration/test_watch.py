"""`regatta watch`: the picture of a running study in a terminal, which is given back as it was."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from regatta_test import REGATTA, RegattaTest, end, environment, main, mpirun, regatta

STUDY = """study: watched
title: "\\e[31mred"
seed: 11
seeds: 40
common: {iterations: 30, initial_points: 4, noise_variance: 1.0e-4}
problems: [branin]
algorithms: [random, gp_ucb]
"""


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, *command, rows=24, columns=100):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.job = subprocess.Popen(command, stdin=self.slave, stdout=self.slave,
                                    stderr=self.slave, start_new_session=True,
                                    env=dict(environment(), TERM="xterm"))
        self.seen = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def take(self, seconds):
        """Take what comes within so many seconds; whether something did."""
        came = bool(select.select([self.master], [], [], seconds)[0])
        if came:
            self.seen += os.read(self.master, 65536).decode()
        return came

    def read(self, until, seconds=30):
        """What came since the last reading, up to the first match of a pattern."""
        deadline = time.monotonic() + seconds
        while not re.search(until, self.seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {until!r} in {self.seen!r}")
            self.take(0.2)
        end = re.search(until, self.seen).end()
        text, self.seen = self.seen[:end], self.seen[end:]
        return text

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self, test):
        """Exit code; the terminal must be as it was."""
        deadline = time.monotonic() + 60
        while self.job.poll() is None and time.monotonic() < deadline:
            self.take(0.1)
        code = self.job.wait(timeout=1)
        while self.take(0.1):
            pass
        test.assertEqual(termios.tcgetattr(self.slave), self.before)
        test.assertRegex(self.seen, r"\x1b\[\?7h\x1b\[\?25h\x1b\[\?1049l", "screen not left")
        os.close(self.master)
        os.close(self.slave)
        return code


class Watch(RegattaTest):
    def setUp(self):
        super().setUp()
        self.study = self.write("study.yaml", STUDY)
        self.output = self.folder / "out.h5"

    def start(self):
        job = subprocess.Popen(mpirun(2, "run", self.study, "-o", self.output, "-quiet"),
                               env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(end, job)
        return job

    def part_of_it(self):
        """Some of the 80 trials, committed by a run that was stopped."""
        job = self.start()
        time.sleep(3)
        job.send_signal(signal.SIGUSR1)
        said = job.communicate(timeout=60)[0]
        return int(re.search(r"with (\d+) of 80", said).group(1))

    def test_a_running_study(self):
        self.slow_trials(500)
        done = self.part_of_it()
        self.assertGreater(done, 2)
        self.once(done)
        self.keys(done)
        self.signals()
        self.slow_trials(100)
        job = self.start()
        screen = Terminal(REGATTA, "watch", self.output, "-every", "0.3")
        screen.read(r"trials +\d+ of 80 ")
        code = screen.end(self)  # by itself, when the study is complete
        said = job.communicate(timeout=60)[0]
        self.assertEqual((code, job.returncode), (0, 0), said)
        last = screen.seen.partition("\x1b[?1049l")[2]
        self.assertIn("out.h5: complete", last)
        self.assertRegex(last, r"trials +80 of 80 \[#{40}\]")
        self.assertRegex(last, r"branin +gp_ucb +40/40 ")
        self.assertNotIn("left  ", last)
        self.assertFalse((self.folder / "out.h5.d").exists())
        self.assertIn("out.h5: complete", self.run_ok("watch", self.output))

    def once(self, done):
        """Plain text where standard output is no terminal; nothing on disk changes."""
        def stamps():
            return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}

        before = stamps()
        out = self.run_ok("watch", f"{self.output}.d/", "-once")
        self.assertEqual(out, re.sub(r"[^\n -~]", "", out))
        self.assertRegex(out, rf"study +watched: \?\[31mred\ntrials +{done} of 80 \[[#.]+\]\n")
        self.assertRegex(out, r"ranks +2, 2 of them heard of, \d+ % of their time in trials")
        self.assertRegex(out, rf"left +{80 - done} trials, about \d+ s, over at \d\d:\d\d")
        rows = re.findall(r"branin +(\w+) +(\d+)/40 +[\d.]+ s +(\*? ?)([\d.e-]+) +(-[\d.]+)$", out,
                          re.M)
        self.assertEqual([row[0] for row in rows], ["random", "gp_ucb"])
        self.assertEqual(sum(int(row[1]) for row in rows), done)
        leader = min(rows, key=lambda row: float(row[3]))
        self.assertEqual([row[2] for row in rows].count("* "), 1)
        self.assertEqual(leader[2], "* ")
        self.assertEqual(stamps(), before)
        code, out, err = regatta("watch", self.folder / "other.h5")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no such results file or study directory", err)
        code, _, err = regatta("watch", self.output, "-every", "soon")
        self.assertEqual(code, 2)
        self.assertIn("-every must be seconds from 0.1 to 86400, got 'soon'", err)

    def keys(self, done):
        screen = Terminal(REGATTA, "watch", self.output, "-every", "60", rows=30)
        picture = screen.read(r"q quits[^\n]*\x1b\[J")
        self.assertIn(f"{done} of 80", picture)
        self.assertRegex(picture, r"gp_ucb +\d+/40")
        screen.resize(10, 30)  # one line of the table fits, and 30 columns
        picture = screen.read(r"q quits[^\n]*\x1b\[J")
        self.assertNotIn("gp_ucb", picture)
        self.assertNotIn("best value", picture)
        screen.type("j")
        self.assertIn("gp_ucb", screen.read(r"q quits[^\n]*\x1b\[J"))
        screen.resize(12, 120)
        self.assertIn("best value", screen.read(r"q quits[^\n]*\x1b\[J"))
        screen.type("q")
        self.assertEqual(screen.end(self), 0)

    def signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            screen = Terminal(REGATTA, "watch", self.output)
            screen.read(r"q quits[^\n]*\x1b\[J")
            screen.job.send_signal(number)
            self.assertEqual(screen.end(self), -number)

    def test_before_anything_is_committed(self):
        (self.folder / "out.h5.d").mkdir()
        self.assertIn("no trial is committed yet", self.run_ok("watch", self.output))
        out = self.run_ok("watch", self.output, "-study", self.study)
        self.assertRegex(out, r"trials +0 of 80")
        self.assertIn("the first that finishes tells", out)
        self.assertRegex(out, r"branin +random +0/40\n")
        screen = Terminal(REGATTA, "watch", "-every", "0.1", self.output)
        screen.read("no trial is committed yet")
        self.commit_unreadable_study()
        for _ in range(3):
            screen.read(r"its study can't be planned here[^\x1b]*\x1b\[K[^\x00]*?q quits")
        screen.type("q")
        self.assertEqual(screen.end(self), 0)

    def commit_unreadable_study(self):
        """A shard of a study that needs a file which is not there any more."""
        data, part = self.write("given.csv", "x1,x2\n0,0\n"), self.folder / "part.h5"
        study = self.write("given.yaml", "study: watched\nseeds: 2\nproblems: [branin]\n"
                           "algorithms: [random]\ncommon: {iterations: 1, given: given.csv}\n")
        self.run_ok("run", study, "-o", part, "-part", "1/2", "-quiet")
        os.remove(data)
        shard, = (self.folder / "part.h5.d").iterdir()
        shard.rename(self.folder / "out.h5.d" / shard.name)


if __name__ == "__main__":
    main()
