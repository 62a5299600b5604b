"""`regatta run -part I/N`: shares of one study, at once into one output or each into its own."""
import re
import shutil
import subprocess

from regatta_test import HANG, HERE, REGATTA, RegattaTest, end, environment, regatta

STUDY = HERE / "smoke.yaml"
N_TRIALS = 60

FAILS = """study: fails
seeds: %d
common: {iterations: 2, initial_points: 1}
problems:
  - name: external
    program: /bin/false
    inputs: [a real 0 1]
algorithms: [random]
"""


class Parts(RegattaTest):
    whole = None  # checksum of a plain run

    def checksum_of_whole(self):
        if not Parts.whole:
            self.run_ok("run", STUDY, "-o", self.folder / "whole.h5", "-quiet", ranks=2)
            Parts.whole = self.checksum(self.folder / "whole.h5")
        return Parts.whole

    def status(self, output, *options):
        return regatta("status", output, *options)[0]

    def test_at_once_into_one_output(self):
        output = self.folder / "out.h5"
        parts = [subprocess.Popen([REGATTA, "run", STUDY, "-part", f"{i}/3", "-o", output, "-quiet"],
                                  env=environment(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for i in (1, 2, 3)]
        told = [part.communicate(timeout=HANG) for part in parts]
        self.assertEqual([part.returncode for part in parts], [0, 0, 0], told)
        run = [int(re.search(r"\((\d+) run now", out).group(1)) for out, _ in told]
        self.assertEqual(sum(run), N_TRIALS)
        self.assertTrue(any(f"{N_TRIALS} trials in {output}" in out for out, _ in told), told)
        self.assertEqual(self.status(output), 0)
        self.assertEqual(self.checksum(output), self.checksum_of_whole())
        before = output.read_bytes()
        out = self.run_ok("run", STUDY, "-part", "2/3", "-o", output)
        self.assertIn(f"{N_TRIALS} trials in {output} (0 run now", out)
        self.assertEqual(output.read_bytes(), before)

    def test_one_by_one(self):
        """Until the last part is there the study is incomplete; the parts know what is theirs."""
        output = self.folder / "out.h5"
        for i in (2, 1, 3):
            part = "-part", f"{i}/3"
            self.assertEqual(self.status(output, *part, "-study", STUDY), 75)
            out = self.run_ok("run", STUDY, *part, "-o", output, "-quiet")
            self.assertEqual(self.status(output, *part, "-study", STUDY), 0)
            self.assertEqual(self.status(output), 0 if i == 3 else 75)
            self.assertEqual("this part is finished" in out, i != 3, out)
            if i != 3:
                self.assertRegex(regatta("status", output)[1], r"^smoke: incomplete; the run command resumes it \(\d+ of "
                                 r"60 trials\); at the last rate of [\d.]+ trials a (second|minute|hour), about .+ left$")
            if i == 1:
                shutil.copytree(f"{output}.d", self.folder / "kept")
        self.assertEqual(self.checksum(output), self.checksum_of_whole())
        shutil.copytree(self.folder / "kept", f"{output}.d")  # as if they could not be removed
        self.assertEqual(self.run_ok("status", output), "smoke: complete\n")
        self.assertNotIn("beside", self.run_ok("info", output))
        shorter = self.write("shorter.yaml", STUDY.read_text().replace("seeds: 4", "seeds: 3"))
        for left in (f"regatta: 15 finished trials of {output} are not of this study any more, because the study file has "
                     "changed; they are kept, and count in nothing\n", ""):
            self.assertEqual(regatta("run", shorter, "-o", output, "-quiet")[::2], (0, left))
        longer = self.write("longer.yaml", STUDY.read_text().replace("seeds: 4", "seeds: 5"))
        self.run_ok("run", longer, "-part", "1/2", "-o", output, "-quiet")
        self.assertEqual(self.status(output), 75)
        self.assertIn("beside", self.run_ok("info", output))

    def test_watch(self):
        """`status -watch` repeats its line until the study is complete, and changes no file."""
        output = self.folder / "out.h5"
        self.run_ok("run", STUDY, "-part", "1/2", "-o", output, "-quiet")
        before = self.stamps()
        watch = subprocess.Popen([REGATTA, "status", output, "-watch", "0.1"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(end, watch)
        lines = [watch.stdout.readline() for _ in range(2)]
        self.assertEqual(self.stamps(), before)
        self.run_ok("run", STUDY, "-part", "2/2", "-o", output, "-quiet")
        rest = watch.communicate(timeout=HANG)[0].splitlines(keepends=True)
        self.assertEqual(watch.returncode, 0)
        for line in lines:
            self.assertRegex(line, r"^\d\d:\d\d:\d\d smoke: incomplete; .* \(30 of 60 trials\); at the last rate of .* left\n$")
        self.assertRegex(rest[-1], r"^\d\d:\d\d:\d\d smoke: complete\n$")
        self.refused("status", output, "-watch", "soon", says="-watch must be seconds from 0.1 to 86400, got 'soon'")
        self.assertEqual(regatta("status", self.folder / "other.h5", "-watch", "9")[0], 2)

    def stamps(self):
        return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}

    def test_into_outputs_of_their_own(self):
        outputs = [self.folder / f"part{i}.h5" for i in (1, 2, 3)]
        for i, output in enumerate(outputs, 1):
            out = self.run_ok("run", STUDY, "-part", f"{i}/3", "-o", output, "-quiet")
            self.assertRegex(out, rf" \d+ of {N_TRIALS} trials are in {output}.d")
            self.assertEqual(self.status(output), 75)
        merged = self.folder / "merged.h5"
        self.assertIn("every trial of the study is there",
                      self.run_ok("merge", *outputs, "-o", merged))
        self.assertEqual(self.checksum(merged), self.checksum_of_whole())

    def test_failed_trials_of_a_part(self):
        """A part retries its own failed trials only; the end reports those of the other parts too."""
        study = self.write("study.yaml", FAILS % 4)
        output = self.folder / "out.h5"
        run = "run", study, "-o", output, "-quiet"
        code, out, _ = regatta(*run, "-part", "1/2")
        self.assertEqual(code, 0, out)
        self.assertIn("2 trials failed", out)
        code, out, err = regatta(*run, "-part", "2/2")
        self.assertEqual(code, 5, err)
        self.assertIn("4 trials failed", out)
        self.assertIn("(2 run now", regatta(*run, "-part", "2/2", "-retry-failed")[1])

    def test_ranks_merge_their_files(self):
        """Every trial is committed before the next one of its rank, which is known to be slow: of 70 files, 64 or
        more are merged, 4 at a time."""
        study = self.write("study.yaml", FAILS % 140)
        output = self.folder / "out.h5"
        out = self.run_ok("run", study, "-o", output, "-quiet", "-part", "1/2")
        self.assertIn("70 of 140 trials are in", out)
        levels = [path.name[:2] for path in (self.folder / "out.h5.d").glob("*.h5")]
        self.assertIn("1-", levels)
        self.assertLess(len(levels), 10)

    def test_there_is_no_such_part(self):
        output = self.folder / "out.h5"
        for part in ("0/3", "4/3", "2", "1/3x", "1/2000000"):
            self.refused("run", STUDY, "-part", part, "-o", output,
                         says=f"-part must be I/N with I from 1 to N, such as 2/8, and N to 1000000, got '{part}'")
        code, _, err = regatta("status", output, "-part", "1/3")
        self.assertEqual((code, err), (2, "regatta: status: -part needs -study STUDY.yaml, the study file that the part "
                                          "is of\n"))
