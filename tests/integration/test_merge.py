"""`regatta merge`: parts from different machines join into the results of one run; conflicting parts do not."""
import os
import re
import shutil
from unittest import mock

import h5py

from regatta_test import HERE, RegattaTest, other_core, regatta

TEXT = (HERE / "smoke.yaml").read_text().replace("iterations: 12", "iterations: 4")


class Merge(RegattaTest):
    def part(self, name, seeds, ranks=1):
        study = self.write(f"{name}.yaml", TEXT.replace("seeds: 4", f"seeds: {seeds}"))
        return self.results_of(study, name=f"{name}.h5", ranks=ranks)

    def merge(self, *inputs):
        output = self.folder / "merged.h5"
        return output, self.run_ok("merge", *inputs, "-o", output)

    def refused(self, *inputs, says, output=None):
        output = output or self.folder / "merged.h5"
        before = output.read_bytes() if output.exists() else None
        super().refused("merge", *inputs, "-o", output, says=says)
        self.assertEqual(output.read_bytes() if output.exists() else None, before)

    def test_trials_that_left_the_plan_stay_apart(self):
        """They keep the label of their problem, and count in nothing, joined and archived too."""
        text = "study: e\nseeds: 4\ncommon: {iterations: 3, initial_points: 2}\nproblems: [branin]\nalgorithms: [random, ei]\n"
        self.results_of(text)
        whole = self.results_of(text.replace("random, ", ""))
        for name, more in (("joined", []), ("archived", ["-archive"])):
            output = self.folder / f"{name}.h5"
            self.run_ok("merge", whole, "-o", output, *more)
            self.assertRegex(self.run_ok("info", output), r"trials    4\nearlier   4 trials that are not in the study any more")
        self.assertEqual(self.checksum(self.folder / "joined.h5"), self.checksum(whole))

    def test_two_halves(self):
        a, b = self.part("a", "[0, 1]", 2), self.part("b", "[2, 3]", 3)
        whole = self.part("whole", 4)
        bytes_before = a.read_bytes(), b.read_bytes()
        merged, out = self.merge(a, b)
        self.assertIn("every trial of the study is there", out)
        self.assertIn("seeds: {first: 0, count: 4}", self.run_ok("info", "-study", merged))
        self.assertEqual(self.checksum(merged), self.checksum(whole))
        self.assertEqual((a.read_bytes(), b.read_bytes()), bytes_before)
        self.assertEqual(regatta("status", merged)[0], 0)
        self.run_ok("verify", merged)
        # the study of both halves has nothing left to run
        out = self.run_ok("run", self.folder / "whole.yaml", "-o", merged)
        self.assertIn("0 run now", out)
        self.assertEqual(self.checksum(merged), self.checksum(whole))
        # shards that a run leaves which extends a part are an input of their own
        longer = self.write("longer.yaml", TEXT.replace("seeds: 4", "seeds: [0, 1, 2]"))
        self.run_ok("run", longer, "-o", a, "-part", "1/2", "-quiet")
        code, _, err = regatta("merge", a, "-o", self.folder / "short.h5")
        self.assertEqual((code, len(err.splitlines())), (0, 1), err)
        self.assertIn(f"the finished trials in {a}.d were not joined", err)
        code, out, err = regatta("merge", a, f"{a}.d", "-o", self.folder / "all.h5")
        self.assertIn("trials of the study are missing", out)
        self.assertRegex(err, r"^regatta: \d+ of \d+ trials are missing; the first: .+ on .+, seed 2, instance \d+\n$")
        self.assertEqual(code, 0)

    def test_one_part_twice(self):
        """An input by two names is a mistake, also where the path stands for a study directory."""
        p1, p2 = (self.results_of(TEXT, "-part", f"{i}/2", name=f"p{i}.h5") for i in (1, 2))
        for again in (p1, f"{p1}.d", f"{self.folder}/./p1.h5"):
            self.refused(p1, p2, again, says=f"{again} is an input twice", output=self.folder / "twice.h5")
        code, out, err = regatta("merge", p1, "-o", self.folder / "half.h5")
        n, planned = map(int, re.match(r"regatta: (\d+) of (\d+) trials are missing; the first: ", err).groups())
        self.assertEqual(code, 0)
        with h5py.File(self.folder / "half.h5") as file:
            self.assertEqual(file.attrs["n_trials"], planned - n)

    def test_many_parts(self):
        """There is no limit to the number of files."""
        for number in range(70):
            (self.folder / f"{number}.h5.d").mkdir()
        whole = self.part("whole", "[0]")
        merged, _ = self.merge(*(self.folder / f"{number}.h5" for number in range(70)), whole)
        self.assertEqual(self.checksum(merged), self.checksum(whole))

    def variant(self, name, *changes):
        text = TEXT.replace("seeds: 4", "seeds: 1")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.results_of(self.write(f"{name}.yaml", text), name=f"{name}.h5")

    def test_different_studies(self):
        a = self.variant("a")
        for name, old, new, says in (
                ("name", "study: smoke", "study: other", "'study' is 'other', not 'smoke'"),
                ("seed", "seed: 7", "seed: 8", "'seed' is 8, not 7"),
                ("horizon", "iterations: 4", "iterations: 5",
                 "'common.iterations' is '5', not '4'"),
                ("problem", "dim: 2", "dim: 1", "'problems.gp_path.dim' is '1', not '2'"),
                ("instances", "instances: 2", "instances: 1", "'instances' is '1', not '2'")):
            b = self.variant(name, (old, new))
            self.refused(a, b, says=says)
            self.refused(a, b, says=f"{name}.h5 is of another study than")

    def test_halves_by_methods(self):
        """The study text of the output names all its contents, and can be run."""
        ei, others = "  - ei\n", "  - gp_ucb\n  - rgp_ucb\n  - irgp_ucb\n"
        a, b = self.variant("a", (others, "")), self.variant("b", (ei, ""), ("  - random\n", ""))
        merged, out = self.merge(a, b)
        self.assertIn("every trial of the study is there", out)
        self.assertEqual(self.checksum(merged), self.checksum(self.part("whole", 1)))
        text = self.run_ok("info", "-study", merged)
        for method in ("random", "ei", "gp_ucb", "rgp_ucb", "irgp_ucb"):
            self.assertIn(f"  - {method}\n", text)
        self.assertIn("0 run now", self.run_ok("run", self.write("joined.yaml", text), "-o", merged))
        self.assertIn("results, complete", self.run_ok("info", merged))

    def test_overlap(self):
        a, b = self.part("a", "[0, 1, 2]"), self.part("b", "[2, 3]")
        merged, _ = self.merge(a, b)
        self.assertEqual(self.checksum(merged), self.checksum(self.part("whole", 4)))

    def test_a_stopped_study_and_its_rest(self):
        """The first input is a study directory with part of its trials."""
        whole = self.write("whole.yaml", TEXT)
        part = self.part("part", "[0]")
        directory = self.stopped_study(whole, self.folder / "whole.h5")[0].parent
        merged, out = self.merge(directory, part)
        expected = regatta("status", merged)[0]
        self.assertEqual("are missing" in out, expected == 75)
        with h5py.File(merged) as file:
            self.assertEqual(bool(file.attrs["complete"]), expected == 0)
        self.run_ok("run", whole, "-o", merged, "-quiet")
        self.assertEqual(self.checksum(merged), self.checksum(self.part("all", 4)))

    def test_existing_output(self):
        a, b = self.part("a", "[0]"), self.part("b", "[1]")
        self.refused(a, says="exists already", output=b)
        self.refused(a, b, says="exists already", output=self.write("notes.txt", "mine\n"))
        link = self.folder / "link.h5"
        link.symlink_to(self.folder / "nowhere.h5")
        self.refused(a, b, says="exists already", output=link)

    def test_edited_record(self):
        a, b = self.part("a", "[0, 1]"), self.part("b", "[1, 2]")
        with h5py.File(b, "r+") as file:
            file["branin/y"][0, 0] += 1
        self.refused(a, b, says="b.h5")
        self.refused(b, a, says="b.h5")

    def test_conflict(self):
        """The same trial with other bits: made with another arithmetic."""
        core = other_core()
        if not core:
            self.skipTest("OpenBLAS has one core type here")
        a = self.part("a", "[0, 1]")
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE=core):
            b = self.part("b", "[1, 2]")
        self.refused(a, b, says="differs between")
        c = self.part("c", "[2, 3]")
        self.merge(a, c)

    def test_bad_input(self):
        a = self.part("a", "[0]")
        self.refused(a, self.folder / "none.h5", says="none.h5")
        self.refused(a, self.write("text.h5", "no results\n"), says="text.h5")
        truncated = self.folder / "short.h5"
        truncated.write_bytes(a.read_bytes()[:-100])
        self.refused(truncated, a, says="short.h5")
        shutil.copy(a, self.folder / "copy.h5")
        super().refused("merge", a, self.folder / "copy.h5", says="-o OUT.h5 is missing")
        super().refused("merge", a, "-o", self.folder / "no" / "out.h5")
