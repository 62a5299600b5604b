"""A sweep over a number, a word and a block, with methods that read one, two, three and none of them: plan,
run, info, the files of older versions, and the words of docs/read-results.md on the study of docs/first-study.md."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from regatta_test import RegattaTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWEEP = """study: sweep
seed: 3
seeds: 2
common: {iterations: 3, initial_points: 3}
problems: [{name: branin, noise_variance: 1.0e-2}]
algorithms: [random, density_exploration, turbo, gp_ucb]
sweep:
  - common.surrogate.variance: [0.5, 2.0e0]
  - common.surrogate.kernel: [gaussian, matern52]
  - common.maximiser: [{raw_samples: 32, restarts: 2}, {raw_samples: 64}]
"""
LOOK = """
import json, sys
from regatta_analysis import load
from regatta_analysis.stats import inference, sweep
results = load(sys.argv[1])
table = sweep.final_values(results, "simple")
pairs = inference.comparisons(results, "simple")
counts = table.groupby(["method", *results.settings]).size()
print(json.dumps({
    "settings": results.settings, "problems": len(results.problems), "counts": results.counts(),
    "kinds": [str(results.data[name].dtype) for name in results.settings],
    "values": [sorted(set(map(str, results.data[name]))) for name in results.settings],
    "cells": len(results.trials.drop_duplicates("cell")), "broadcast": [len(counts), *set(counts)],
    "missing": int(results.cells()["missing"].sum()),
    "pairs": [len(pairs), int(pairs["n"].min()), len(pairs.drop_duplicates(["a", "b", "mean_a", "mean_b"]))],
    "coordinates": sorted(n for n, c in results.xarray("branin").coords.items() if "setting" in c.attrs)}))
"""


def python(code, *arguments, folder=None):
    """Standard output of Python code that may use the analysis."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          cwd=folder, env=dict(os.environ, PYTHONPATH=str(ROOT / "analysis"),
                                               PYTHONDONTWRITEBYTECODE="1"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def has_modules():
    return subprocess.run([sys.executable, "-c", "import h5py, pandas, xarray"],
                          capture_output=True).returncode == 0


class Sweep(RegattaTest):
    def test_three_settings(self):
        study, output = self.write("sweep.yaml", SWEEP), self.folder / "sweep.h5"
        plan = self.run_ok("plan", study)
        self.assertIn("15 cells", plan)
        self.assertIn("30 trials, 0 done, 30 to run", plan)
        for line in ("random doesn't read surrogate.kernel: 1 cell for 2 values",
                     "density_exploration doesn't read surrogate.variance: 1 cell for 2 values",
                     "turbo doesn't read maximiser: 1 cell for 2 values"):
            self.assertIn(line, plan)
        self.assertNotIn("gp_ucb doesn't", plan)
        self.run_ok("run", study, "-o", output, "-quiet", ranks=2)
        info = self.run_ok("info", output)
        self.assertEqual(len(re.findall(r"(?m)^branin +", info)), 15)
        some = self.run_ok("info", output, "-where", "variance=2,kernel=matern52")
        self.assertEqual(len(re.findall(r"(?m)^branin +", some)), 6)  # 1, 2, 1 and 2 cells
        some = self.run_ok("info", output, "-where", "maximiser={raw_samples=64}")
        self.assertEqual(len(re.findall(r"(?m)^branin +", some)), 10)
        for wrong, words in (("kernel=rbf", "no kernel=rbf in it (it has: gaussian, matern52)"),
                             ("noise=1", "'noise' was not swept (swept: "), ("kernel", "NAME=VALUE")):
            self.refused("info", output, "-where", wrong, says=words)
        if has_modules():
            self.check_analysis(json.loads(python(LOOK, output)))

    def check_analysis(self, found):
        self.assertEqual(found["settings"], ["surrogate.variance", "surrogate.kernel", "maximiser"])
        self.assertEqual(found["kinds"], ["float64", "category", "category"])
        self.assertEqual(found["values"], [["0.5", "2.0", "nan"], ["", "gaussian", "matern52"],
                                           ["", "{raw_samples=32,restarts=2}", "{raw_samples=64}"]])
        self.assertEqual(found["coordinates"], sorted(found["settings"]))
        self.assertEqual((found["problems"], found["cells"], found["missing"]), (8, 15, 0))
        self.assertEqual(found["counts"], {"planned": 30, "done": 30, "failed": 0, "missing": 0})
        self.assertEqual(found["broadcast"], [4 * 8, 2])
        self.assertEqual(found["pairs"][:2], [8 * 6, 2])  # every pair in every panel, over both seeds

    def test_an_older_file_is_made_longer(self):
        """Its trials keep their settings, and get a table of cells."""
        output = self.folder / "old.h5"
        shutil.copy(ROOT / "tests" / "data" / "results-v2.h5", output)
        some = self.run_ok("info", output, "-where", "variance=2,kernel=matern52")
        self.assertEqual(len(re.findall(r"(?m)^branin +", some)), 6)
        study = self.run_ok("info", output, "-study").replace("seeds: 2", "seeds: 3")
        self.run_ok("run", self.write("longer.yaml", study), "-o", output, "-quiet", ranks=2)
        self.assertEqual(len(re.findall(r"(?m)^branin .* 3 +21 ", self.run_ok("info", output))), 15)
        if has_modules():
            old, new = (json.loads(python(LOOK, path)) for path in (
                ROOT / "tests" / "data" / "results-v2.h5", output))
            self.assertEqual(new["coordinates"], sorted(new["settings"]))
            self.assertEqual(new["kinds"], ["float64", "category", "category"])
            for same in ("settings", "problems", "cells", "broadcast", "missing"):
                self.assertEqual(old[same][:1] if same == "broadcast" else old[same],
                                 new[same][:1] if same == "broadcast" else new[same])

    @unittest.skipUnless(has_modules(), "no Python with h5py, pandas and xarray")
    def test_example_of_the_documentation(self):
        text = "".join((ROOT / "docs" / page).read_text() for page in ("first-study.md", "read-results.md"))
        study = next(code for code in re.findall(r"```yaml\n(.*?)```", text, re.S)
                     if code.startswith("study: my_first_study"))
        example = next(code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "load(" in code)
        for long, short in (("seeds: 20 ", "seeds: 2 "), ("instances: 5 ", "instances: 2 "),
                            ("iterations: 100 ", "iterations: 3 "), ("iterations: 200 ", "iterations: 4 ")):
            self.assertIn(long, study)
            study = study.replace(long, short)
        self.run_ok("run", self.write("study.yaml", study), "-o", self.folder / "study.h5", "-quiet", ranks=2)
        (self.folder / "analysis").symlink_to(ROOT / "analysis")
        said = python(example + "\nprint(len(last.groupby(cell, dropna=False, observed=True).median()),"
                      " len(last), dataset['noise_variance'].attrs['units'], dataset.sizes['dim_x'])",
                      folder=self.folder)
        self.assertEqual(said.splitlines()[-1], "12 36 y^2 4")  # 2 problems, 3 methods, 2 noises
