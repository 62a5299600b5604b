"""Results beside archives: what pairs is compared as if it had run here, and what does not pair is refused or named."""
import os
import re
import subprocess
from pathlib import Path

import h5py
import numpy as np
import yaml

from common import Case, needs_program, regatta, run
from regatta_analysis import InputError, load
from regatta_analysis.report import answer, comparisons, study_page
from regatta_analysis.stats import inference
from regatta_analysis.stats.regret import default_metrics, regret_curves

ARCHIVES = sorted((Path(__file__).parents[2] / "experiments" / "archive").glob("*.h5"))

STUDY = """study: {name}
seed: {seed}
seeds: {seeds}
common: {{iterations: 12, initial_points: 4, noise_variance: {noise}}}
problems: [{{name: branin, label: {label}}}, {{name: ackley, dim: 2}}]
algorithms: [{methods}]
"""


@needs_program
class Against(Case):
    def results(self, name, methods, seed=5, seeds=6, noise=0.01, label="Branin", more=""):
        study, output = self.scratch / f"{name}.yaml", self.scratch / f"{name}.h5"
        study.write_text(STUDY.format(name=name, seed=seed, seeds=seeds, noise=noise, label=label, methods=methods) + more)
        regatta("run", study, "-o", output, "-quiet")
        return output

    def archive(self, name, methods, **more):
        full, small = self.results(f"{name}_full", methods, **more), self.scratch / f"{name}.h5"
        regatta("merge", full, "-o", small, "-archive")
        return full, small

    def test_archived_methods_stand_beside_ones_own(self):
        mine = self.results("mine", "{name: ts, label: Mine}")
        full, small = self.archive("others", "random, {name: ei, label: EI}", label="branin")
        alone, both, whole = load(mine), load(mine, against=small), load(mine, against=[full])
        self.assertEqual(both.algorithms, ["Mine", "random", "EI"])
        self.assertEqual(both.problems, alone.problems)  # under their own names, not those of the archive
        self.assertEqual(both.warnings, ["Against others.h5: 24 trials of 2 methods that did not run here pair with those "
                                         "of this study."])
        self.assertEqual((default_metrics(both), default_metrics(whole)), (["simple"], ["simple", "cumulative"]))
        for results in (both, whole):
            curves = regret_curves(results, "Branin", "simple")
            theirs = regret_curves(load(full), "branin", "simple")
            np.testing.assert_array_equal(curves.loc["EI"].to_numpy(), theirs.loc["EI"].to_numpy())
            self.assertEqual(set(results.compare("Mine", "EI")["n"].iloc[:2]), {6})  # pairs
        last = regret_curves(both, "Branin", "cumulative")
        np.testing.assert_array_equal(last.loc["EI"].iloc[:, -1], regret_curves(load(full), "branin", "cumulative").loc["EI"].iloc[:, -1])
        for results, named, left in ((both, ["Mine"], "so 2 methods have none"), (whole, ["Mine", "Random search", "EI"], "")):
            table = comparisons.growth_table(inference.growth(results), results)
            self.assertEqual(([row[0][0] for row in table.rows], left in table.note), (named, True))
        self.assertEqual([row[1][0] for row in study_page._runtime(both).rows], 2 * ["Mine"])
        self.assertIn("they lack those of 4 of 6 cells", study_page._runtime(both).note)
        self.assertEqual(len(study_page._runtime(whole).rows), 6)
        out = self.scratch / "figures"
        code, said, wrong = run(str(mine), "--against", str(small), "--out", str(out), "--formats", "png")
        self.assertEqual(code, 0, wrong)
        self.assertIn("that did not run here pair with", wrong)
        self.assertIn("| EI |", (out / "summary.md").read_text())
        times = {line.split("|")[2].strip(): line for line in (out / "runtime.md").read_text().splitlines() if "| Branin |" in line}
        self.assertEqual(times["EI"].count(" – "), 6)  # an archive has no run times
        self.assertNotIn(" – ", times["Mine"])

    def test_nothing_is_said_of_further_trials_that_nobody_can_add(self):
        """Methods of others keep their seeds; those of an archive do too."""
        few = {"seeds": 8, "noise": 4}
        mine = self.results("mine", "{name: ts, label: Mine}, {name: pims, label: Other}", **few)
        full, small = self.archive("others", "random, {name: ei, label: EI}, {name: gp_ucb, label: UCB}", **few)
        alone = " ".join(answer.sentences(load(full), "simple"))
        self.assertRegex(alone, r"about \d+ more seeds|No open comparison is near")
        self.assertNotRegex(" ".join(answer.sentences(load(small), "simple")), r"about \d+ more|No open comparison")
        both = load(mine, against=small)
        self.assertEqual(both.beside.methods, {"random", "EI", "UCB"})
        told = re.search(r"[^.]*? against [^.]*about \d+ more", " ".join(answer.sentences(both, "simple")))
        self.assertFalse(told and set(re.findall("random|EI|UCB", told[0].partition(" on ")[0])), told)
        self.assertEqual(both.select(algorithms=["Mine", "EI"]).beside, both.beside)
        titles = [t.title for t in comparisons.aggregate_tables(both, "simple")]
        self.assertEqual(titles[1:], [f"{m} against each other method, all problems together" for m in ("Mine", "Other")])

    def test_a_study_that_names_its_rivals(self):
        """`plan` counts what pairs, pages and load() compare with it, and mistakes are one line."""
        _, small = self.archive("others", "random, {name: ei, label: EI}", seeds=8)
        mine = self.results("mine", "{name: ts, label: Mine}", more="against: [others.h5]\n")
        planned = self.plan("mine")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        self.assertIn("others.h5: 24 trials of 2 other methods pair with these and need no run", planned.stdout)
        self.assertIn("24 trials of 2 methods", load(mine).warnings[0])
        self.assertEqual((load(mine).algorithms, load(mine, against=()).algorithms), (["Mine", "random", "EI"], ["Mine"]))
        small.rename(self.scratch / "elsewhere.h5")
        self.assertEqual(load(mine).warnings, ["The study compares itself with others.h5, not found from here: --against PATH names it."])
        self.assertEqual(load(mine).algorithms, ["Mine"])
        text = (self.scratch / "mine.yaml").read_text()
        for there, here, says in (
                ("others.h5", "others.h5", "others.h5: no such results file"), ("others.h5", "mine.h5", "'against': no trial of .*mine.h5 pairs"),
                ("seed: 5", "seed: 6", "the seed of its study is 5, not 6"), ("0.01", "0.02", "noise_variance is 0.01 there, 0.02 here"),
                ("noise_variance: 0.01", "noise: {variance: \"0.01\", law: \"student(3, 0.57735)\"}", "noise_variance is 0.01 there, 0 here"),
                ("[others.h5]", "{a: b}", r"other.yaml:\d+:10: 'against' must be a path or a list of paths, got a map")):
            with self.subTest(here):
                changed = text.replace(there, here) if there == "[others.h5]" or there == here else text.replace(
                    there, here).replace("others.h5", "elsewhere.h5")
                (self.scratch / "other.yaml").write_text(changed)
                wrong = self.plan("other")
                self.assertEqual((wrong.returncode, len(wrong.stderr.splitlines())), (2, 1), wrong.stderr)
                self.assertRegex(wrong.stderr, says)

    def test_committed_archives_pair_with_todays_program(self):
        """A setting that came after an archive keeps no trial from pairing while it says nothing."""
        self.assertGreaterEqual(len(ARCHIVES), 7)
        for archive in ARCHIVES:
            with self.subTest(archive.name):
                study = yaml.safe_load(load(archive, against=()).study)
                study.update(study="mine", against=str(archive), algorithms=[{"name": "random", "label": "Mine"}])
                (self.scratch / "mine.yaml").write_text(yaml.safe_dump(study))
                planned = self.plan("mine")
                self.assertEqual(planned.returncode, 0, planned.stderr)
                self.assertRegex(planned.stdout, "other methods pair with these and need no run")
        functions = next(one for one in ARCHIVES if one.name == "functions.h5")
        study = yaml.safe_load(load(functions, against=()).study)
        study.update(study="mine", seeds=2, algorithms=[{"name": "nelder_mead", "label": "Mine"}], against=str(functions),
                     problems=[one for one in study["problems"] if one["label"] == "Branin"])
        (self.scratch / "mine.yaml").write_text(yaml.safe_dump(study))
        regatta("run", self.scratch / "mine.yaml", "-o", self.scratch / "mine.h5", "-quiet")
        self.assertIn("20 trials of 10 methods", load(self.scratch / "mine.h5").warnings[0])

    def plan(self, name):
        return subprocess.run([os.environ["REGATTA"], "plan", "-quick", self.scratch / f"{name}.yaml"], capture_output=True, text=True,
                              check=False)

    def test_methods_that_do_not_pair_for_one_reason_share_a_line(self):
        mine = self.results("mine", "{name: ts, label: Mine}")
        full = self.results("full", "random, ei, pims, gp_ucb", more="sweep: [{common.noise_variance: [0.01, 4]}]\n")
        lines = load(mine, against=full).warnings
        self.assertIn("48 trials of 4 methods", lines[0])
        self.assertEqual(lines[1:], ["full.h5: 4 methods on Branin, ackley do not pair: noise_variance is 4 there, 0.01 here"])

    def test_an_archive_alone(self):
        """It has a page, figures and tables of what it holds; logs of evaluations are refused in one line."""
        _, small = self.archive("others", "random, {name: ei, label: EI}")
        out = self.scratch / "figures"
        for command in ([small, "--out", out, "--formats", "png"], [small, "--out", self.scratch / "c", "--metric", "cumulative"],
                        ["page", small, "--out", self.scratch / "page.html"], ["export", small, "--to", "csv", self.scratch / "csv"],
                        ["export", small, "--to", "netcdf", self.scratch / "nc"]):
            code, _, wrong = run(*command)
            self.assertEqual((code, "Traceback" in wrong), (0, False), wrong)
        self.assertIn("This is an archive", (out / "summary.md").read_text())
        for kind in ("coco", "ioh"):
            code, _, wrong = run("export", small, "--to", kind, self.scratch / kind)
            self.assertEqual((code, len(wrong.splitlines()), (self.scratch / kind).exists()), (2, 1, False), wrong)
            self.assertIn("archived trials lack the evaluations", wrong)

    def test_what_ran_here_too_counts_once_and_equal_names_differ(self):
        mine = self.results("mine", "{name: ei, label: EI}, {name: random, label: R}")
        _, small = self.archive("others", "random, {name: ei, label: R}")  # their R is our EI; our R is their random
        with self.assertRaisesRegex(InputError, "no trial pairs with those of .*: they are the same trials"):
            load(mine, against=small)
        _, small = self.archive("more", "{name: ts, label: R}")
        self.assertEqual(load(mine, against=small).algorithms, ["EI", "R", "R (more)"])

    def test_what_does_not_pair(self):
        mine = self.results("mine", "random")
        for more, says in (({"seed": 6}, "the seed of its study is 6, not 5"), ({"noise": 0.5}, "noise_variance is 0.5 there, 0.01 here")):
            name = "_".join(f"{key}{value}".replace(".", "_") for key, value in more.items())
            full, small = self.archive(name, "ei", **more)
            for other in (full, small):
                with self.subTest(other.name), self.assertRaisesRegex(InputError, f"{other.name}: no trial pairs.*{says}"):
                    load(mine, against=other)
        heavy = (self.scratch / "mine.yaml").read_text().replace("noise_variance: 0.01", 'noise: {variance: "0.01", law: "student(3, 0.57735)"}')
        (self.scratch / "heavy.yaml").write_text(heavy.replace("[random]", "[ei]"))
        regatta("run", self.scratch / "heavy.yaml", "-o", self.scratch / "heavy.h5", "-quiet")
        with self.assertRaisesRegex(InputError, "heavy.h5: no trial pairs.*: noise.law is student"):
            load(mine, against=self.scratch / "heavy.h5")
        _, fewer = self.archive("fewer", "ei", seeds="[3, 4, 9]")
        self.assertIn("4 trials of 1 method that did", load(mine, against=fewer).warnings[0])
        _, none = self.archive("none", "ei", seeds="[7, 8]")
        with self.assertRaisesRegex(InputError, "none of these seeds"):
            load(mine, against=none)

    def test_a_problem_that_changed_under_its_name(self):
        """Trials of equal instance and seed begin alike; otherwise the archive is of another problem."""
        mine = self.results("mine", "random")
        full, _ = self.archive("others", "ei")
        with h5py.File(full, "r+") as file:
            file["Branin"]["simple_regret"][2, :] += 1.0
        with self.assertRaisesRegex(InputError, "ei on Branin, instance 0, seed 2, begins with a regret of"):
            load(mine, against=full, trust=True)
        with self.assertRaisesRegex(InputError, "others_full.h5: .*(checksum|damaged)"):
            load(mine, against=full)

    def test_files_that_are_no_archives(self):
        mine = self.results("mine", "random")
        (self.scratch / "text.h5").write_text("no HDF5")
        for name, says in (("absent.h5", "no such file"), ("text.h5", "text.h5: "), ("", "a folder, where a results file is")):
            code, _, wrong = run(str(mine), "--against", str(self.scratch / name), "--out", str(self.scratch / "f"))
            self.assertEqual((code, len(wrong.splitlines())), (2, 1), wrong)
            self.assertIn(says, wrong)
