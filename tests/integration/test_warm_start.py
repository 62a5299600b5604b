"""Known values at the start of a trial, its end before its budget, and the reports on failed evaluations."""
import os

import h5py
import numpy as np

from regatta_test import RegattaTest, regatta

PROGRAM = """#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    with open("asked", "a") as file:
        file.write("x\\n")
    time.sleep({pause})
    x = request["x"]["a"]
    if x > {most}:
        print("a long story", file=sys.stderr)
        print(json.dumps({{"id": request["id"], "error": "too hot" if x < 0.9 else "much too hot", "retry": False}}), flush=True)
    else:
        print(json.dumps({{"id": request["id"], "value": (x - 0.3) ** 2}}), flush=True)
"""
STUDY = """study: warm
seeds: 2
common: {{iterations: 6, initial_points: 4, {common}}}
problems: [{{name: external, label: P, program: program.py, inputs: [a real 0 1], goal: minimise, optimum: 0}}]
algorithms: [random, ei]
"""


class WarmStart(RegattaTest):
    def study(self, common, most=2, pause=0):
        self.write("program.py", PROGRAM.format(most=most, pause=pause)).chmod(0o755)
        return self.write("study.yaml", STUDY.format(common=common))

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def asked(self):
        file = self.folder / "asked"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def test_known_values(self):
        self.write("points.csv", "y,a\n0.0625,0.05\n0.01,0.4\n")
        study = self.study("given: points.csv")
        code, _, err = regatta("run", study, "-o", "a.h5", "-quiet")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.asked(), 4 * 8)  # 10 evaluations of a trial, two of them known
        with h5py.File(self.folder / "a.h5") as results:
            rows = results["P"]
            np.testing.assert_array_equal(rows["known"][:], [[1, 1] + 8 * [0]] * 4)
            np.testing.assert_array_equal(rows["y"][:, :2], [[-0.0625, -0.01]] * 4)
            np.testing.assert_array_equal(rows["x"][:, :2, 0], [[0.05, 0.4]] * 4)
            self.assertTrue((rows["simple_regret"][:, 1] <= 0.01).all())
        before = regatta("plan", study, "-trials")[1]
        self.write("points.csv", "y,a\n0.0625,0.05\n0.02,0.4\n")
        self.assertNotEqual(regatta("plan", study, "-trials")[1], before)  # other trials
        self.write("points.csv", "y,a\n0.0625,0.05\n,0.4\n")
        self.assertIn("points.csv:3: 'y' must be a number, got ''", regatta("plan", study)[2])
        self.write("points.csv", "z,a\n0.0625,0.05\n")
        self.assertIn("has a column 'z'; its columns are a, and y for known values", regatta("plan", study)[2])
        self.write("points.csv", "y,x1,x2\n0,0,0\n")
        study.write_text("study: gardner\ncommon: {iterations: 3, given: points.csv}\nproblems: [gardner]\n"
                         "algorithms: [random]\n")
        self.assertIn("a problem with contexts or constraints takes no known values", regatta("plan", study)[2])

    def test_stop_at_a_regret(self):
        study = self.write("study.yaml", "study: early\nseeds: 3\ncommon: {iterations: 40, initial_points: 5, "
                           "stop_regret: 0.5}\nproblems: [branin]\nalgorithms: [random, ei]\n")
        for ranks in (1, 2):
            self.run_ok("run", study, "-o", self.folder / f"{ranks}.h5", "-quiet", ranks=ranks)
        self.assertEqual(self.checksum(self.folder / "1.h5"), self.checksum(self.folder / "2.h5"))
        self.assertIn("6 equal in every bit", self.run_ok("verify", self.folder / "1.h5", "-all"))
        with h5py.File(self.folder / "1.h5") as results:
            rows = results["branin"]
            ends, algorithm = rows["n_iterations"][:], rows["algorithm"].asstr()[:]
            for k, end in enumerate(ends):
                regret, stopped = rows["simple_regret"][k, :end], rows["stopped"][k, :end]
                self.assertEqual(stopped[-1], float(end < 45))
                self.assertFalse(stopped[:-1].any())
                self.assertEqual((regret[4:] <= 0.5).sum(), end < 45)  # it ended at the first such row
        self.assertTrue((ends[algorithm == "ei"] < 45).all())

    def test_stop_after_seconds(self):
        study = self.study("stop_seconds: 0.5", pause=0.1)
        self.assertEqual(regatta("run", study, "-o", "a.h5", "-quiet")[0], 0)
        with h5py.File(self.folder / "a.h5") as results:
            ends = results["P/n_iterations"][:]
            self.assertTrue((ends == 5).all() or (ends >= 4).all() and (ends < 10).all(), ends)
            self.assertEqual({results["P/stopped"][k, end - 1] for k, end in enumerate(ends)}, {2})
        study.write_text(study.read_text().replace("stop_seconds: 0.5", "stop_regret: -1"))
        self.assertIn("'stop_regret' must be", regatta("plan", study)[2])

    def test_one_line_for_each_reason(self):
        study = self.study("on_failure: worst", most=0.5)
        code, _, err = regatta("run", study, "-o", "a.h5", "-quiet", ranks=2)
        self.assertEqual(code, 0)
        with h5py.File(self.folder / "a.h5") as results:
            x, failed = results["P/x"][:, :, 0], results["P/failed"][:]
        np.testing.assert_array_equal(failed, x > 0.5)
        self.assertEqual(self.asked(), x.size)  # no failure was tried again
        lines = [line for line in err.splitlines() if line.startswith("regatta: ")]
        counts = {"much too hot": (x >= 0.9).sum(), "too hot": ((x > 0.5) & (x < 0.9)).sum()}
        self.assertEqual(sorted(lines[:-1]), sorted(
            f"regatta: failed {n} time{'s' if n > 1 else ''}: external: {self.folder}/program.py reports: {why}"
            for why, n in counts.items() if n))
        self.assertEqual(lines[-1], "regatta: a.h5.d/log has the full texts")
        self.assertNotIn("a long story", err)
        logs = "".join(path.read_text() for path in (self.folder / "a.h5.d/log").iterdir())
        self.assertEqual((logs.count("a long story\n"), logs.count(" reports: ")), (failed.sum(), failed.sum()))
        self.assertRegex(logs, r"(?m)^trial [0-9a-f]{32} \(ei on P, seed 1\), evaluation \d+: external: ")
