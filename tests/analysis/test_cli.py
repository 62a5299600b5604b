"""The command: files it writes, one line and exit code 2 for what it can't use."""
import os
import re
import subprocess
import sys

import common
import numpy as np
import pandas as pd
import synthetic
from common import run
from regatta_analysis import load


class Study(common.Case):
    def setUp(self):
        super().setUp()
        self.path = self.scratch / "study.h5"
        self.out = self.scratch / "out"
        synthetic.write(self.path, [
            synthetic.problem("GP paths", ["IRGP-UCB", "EI"], seeds=3, queries=8, failed=(1,)),
            synthetic.problem("all", ["IRGP-UCB", "EI"], seeds=3, queries=8, missing=(5,))])

    def written(self):
        return sorted(path.name for path in self.out.iterdir())


class Everything(Study):
    def test_everything(self):
        common.coarse(type(self))
        code, out, err = run(self.path, "--out", self.out)
        self.assertEqual((code, err), (0, ""))
        expected = ["confidence", "profiles_cpu", "profiles_evaluations", "regret_GP_paths_cumulative", "regret_GP_paths_simple",
                    "regret_all_2_cumulative", "regret_all_2_simple", "regret_all_cumulative",
                    "regret_all_simple"]
        tables = [f"{stem}.{suffix}" for stem in ("final_regret", "runtime")
                  for suffix in ("csv", "md", "tex")]
        self.assertEqual(self.written(), sorted(
            [f"{stem}.{suffix}" for stem in expected for suffix in ("pdf", "png")]
            + tables + ["aggregate.csv", "aggregate_pairs.csv", "comparisons.csv", "curves.csv", "growth.csv",
                        "statistics.md", "summary.md"]))
        self.assertIn("31 files", out)
        summary = (self.out / "summary.md").read_text()
        for words in ("# A synthetic study", "10 of 12 done, 1 failed, 1 missing",
                      "Cholesky broke down", synthetic.STUDY, "| EI | 2 | 0 | 1 |", "| GP paths | EI | 2 |", "## Statistics",
                      "![GP paths, simple regret](regret_GP_paths_simple.png)", "(2 of 3)"):
            self.assertIn(words, summary)


class Command(Study):
    pictures = "undrawn"

    def test_programs_that_are_not_reproducible_are_named(self):
        problem = synthetic.problem("Branin", ["Mine", "EI"], seeds=3, queries=8)
        otherwise = problem["arrays"]["asked_otherwise"] = np.full_like(problem["arrays"]["simple_regret"], np.nan)
        otherwise[1, 6] = 1
        label = problem["cells"][1][0]
        synthetic.write(self.path, [problem, synthetic.problem("Other", ["Mine", "EI"], seeds=3, queries=8)])
        _, _, err = run(self.path, "--out", self.out, "--formats", "png")
        line = (f"{label} on Branin is not reproducible: started again, its program asked for something else "
                "in 1 of 3 trials")
        self.assertIn(line, err)
        self.assertIn(f"- warning: {line}", (self.out / "summary.md").read_text())
        self.assertEqual(load(self.path).select(problems=["Other"]).warnings, [])

    def test_help(self):
        for words in ((), ("claims",), ("confidence",)):
            code, out, err = run(*words, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertIn("usage: ", out)

    def test_best_value_where_the_optimum_is_unknown(self):
        problem = synthetic.problem("Furnace", ["EI", "Random"], seeds=3, queries=8)
        for name in ("instantaneous", "simple", "cumulative"):
            problem["arrays"][f"{name}_regret"][:] = float("nan")
        synthetic.write(self.path, [problem])
        code, _, err = run(self.path, "--out", self.out, "--formats", "pdf")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("regret_Furnace_best.pdf", self.written())
        self.assertNotIn("regret_Furnace_simple.pdf", self.written())
        table = (self.out / "final_regret.md").read_text()
        rows = re.findall(r"\| \**([\d.]+)\** \|", table)
        bold = re.findall(r"\*\*([\d.]+)\*\*", table)
        self.assertEqual(len(rows), 2)
        self.assertIn(max(rows, key=float), bold)

    def test_options(self):
        code, _, err = run(self.path, "--out", self.out, "--metric", "average", "--linear",
                           "--band", "quantile", "--quantiles", "0.1,0.9", "--formats", "pdf")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("regret_GP_paths_average.pdf", self.written())
        self.assertFalse([name for name in self.written() if name.endswith(".png")])
        self.assertIn("10–90% quantile band", (self.out / "final_regret.md").read_text())

    def test_curves_and_bootstrap(self):
        code, _, err = run(self.path, "--out", self.out, "--metric", "simple", "--band", "bootstrap",
                           "--formats", "png")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("95% bootstrap interval", (self.out / "final_regret.md").read_text())
        curves = pd.read_csv(self.out / "curves.csv")
        self.assertEqual(len(curves), 2 * 2 * 9)  # problems, algorithms, t = 0 .. 8
        inside = curves[curves["n"] > 1]
        self.assertTrue((inside["boot_low"] <= inside["mean"]).all())
        self.assertTrue((inside["boot_high"] >= inside["mean"]).all())

    def test_confidence_by_formula(self):
        code, _, err = run("confidence", "--points", "50", "--out", self.out, "--formats", "pdf")
        self.assertEqual((code, err, self.written()), (0, "", ["confidence.pdf"]))
        self.assertIn("--points", self.refused_line("confidence", "--points", "0", "--out", "x"))

    def refused_line(self, *arguments):
        code, out, err = run(*arguments)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1))
        return err

    def refused(self, *arguments):
        self.assertFalse(self.out.exists())
        err = self.refused_line(*arguments)
        self.assertFalse(self.out.exists())
        return err

    def test_bad_files(self):
        self.assertIn("nothing.h5: no such file",
                      self.refused(self.scratch / "nothing.h5", "--out", self.out))
        self.assertIn("none.csv: No such file or directory\n",
                      self.refused_line(self.path, "--bounds", self.scratch / "none.csv", "--out", self.out))
        self.assertIn(f"{self.scratch}: a folder", self.refused_line("page", self.path, "--out", self.scratch))
        text = self.scratch / "text.h5"
        text.write_text("no")
        self.assertIn("not an HDF5 file", self.refused(text, "--out", self.out))
        newer = self.scratch / "newer.h5"
        synthetic.write(newer, [], schema_version=7)
        self.assertIn("newer", self.refused(newer, "--out", self.out))

    def test_bad_options(self):
        self.assertIn("--out", self.refused(self.path))
        self.assertIn("no command and no file 'claim', did you mean 'claims'?", self.refused_line("claim", self.path))
        self.assertIn("no such file", self.refused("nothing", "--out", self.out))
        self.assertIn("invalid choice: 'joy'",
                      self.refused(self.path, "--out", self.out, "--metric", "joy"))
        for option, text, accepted in (("--quantiles", "0.9,0.1", "LOW,HIGH"), ("--where", "joy", "NAME=VALUE"),
                                       ("--points", "0", "from 1 on"), ("--over", "a,a", "two different ones")):
            self.assertRegex(self.refused(self.path, "--out", self.out, option, text),
                             f"{option}: must be .*{accepted}.*, got '{text}'")

    def test_out_is_a_file(self):
        target = self.scratch / "file"
        target.write_text("")
        code, _, err = run(self.path, "--out", target)
        self.assertEqual((code, err.count("\n")), (2, 1))

    def test_as_a_program_and_example(self):
        root = common.HERE.parents[1] / "analysis"
        command = [sys.executable, "-m", "regatta_analysis", "nothing.h5", "--out", "o"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "regatta_analysis: nothing.h5: no such file\n"))
        seen, unseen = os.pipe()
        os.close(seen)  # as after `| head`
        done = subprocess.run([*command[:3], "page", self.path, "--out", self.scratch / "p.html"], cwd=root, stdout=unseen,
                              stderr=subprocess.PIPE, text=True)
        os.close(unseen)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        done = subprocess.run([sys.executable, root / "examples" / "read_results.py", self.path],
                              env={"PYTHONPATH": str(root)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("IRGP-UCB", done.stdout)
