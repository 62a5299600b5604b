"""`regatta bounds`: tables that other programs read, and one line for every mistake."""
import csv

from regatta_test import HERE, RegattaTest, main, regatta

STUDY = """study: bounds
common:
  iterations: 100
  initial_points: 8
  noise_variance: 1e-4
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: false}
problems: [gp_path]
algorithms: [irgp_ucb, gp_ucb, rgp_ucb, ei]
"""


class Bounds(RegattaTest):
    def test_tables(self):
        study = self.write("study.yaml", STUDY)
        bounds, confidence = self.folder / "bounds.csv", self.folder / "confidence.csv"
        out = self.run_ok("bounds", study, "-o", bounds, "-confidence", confidence)
        self.assertIn("379.858", out)
        self.assertIn("no confidence parameter of known law", out)
        with open(bounds, newline="") as file:
            rows = list(csv.DictReader(file))
        last = {(r["algorithm"], r["quantity"]): r for r in rows if r["t"] == "100"}
        self.assertEqual(last["irgp_ucb", "theorem_4_1"]["kind"], "bound")
        self.assertAlmostEqual(float(last["irgp_ucb", "theorem_4_1"]["value"]), 379.858081, 5)
        self.assertAlmostEqual(float(last["rgp_ucb", "rgp_ucb_expected"]["value"]), 592.078121, 5)
        self.assertNotIn("ei", {r["algorithm"] for r in rows})
        with open(confidence, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 300)
        row = next(r for r in rows if r["algorithm"] == "rgp_ucb" and r["t"] == "50")
        self.assertAlmostEqual(float(row["low"]), 25.49265934, 7)
        self.assertAlmostEqual(float(row["high"]), 49.06404588, 7)

    def test_experiments(self):
        """Oracle O12 at T = 200, and bounds that say something, as the comments promise."""
        folder = HERE.parent.parent / "experiments" / "irgp_ucb"
        self.assertIn("759.716", self.run_ok("bounds", folder / "fig1b_noise.yaml"))
        out = self.run_ok("bounds", folder / "bounds.yaml")
        values = [float(line.split()[-2]) / 500 for line in out.splitlines()
                  if "theorem_4_1" in line]
        self.assertEqual(len(values), 6)
        self.assertTrue(1.3 < min(values) < 1.31 and 2.1 < max(values) < 2.14, values)

    def test_mistakes(self):
        study = self.write("study.yaml", STUDY)
        for arguments, code, says in (((study, "-delta", "2"), 2, "-delta must be a number in"),
                                      ((study, "-level", "x"), 2, "-level must be a number in"),
                                      ((study, "-tigth"), 2, "did you mean '-tight'"),
                                      ((self.folder / "none.yaml",), 2, "none.yaml"),
                                      ((study, "-o", "/nowhere/b.csv"), 2, "/nowhere/b.csv")):
            found, _, err = regatta("bounds", *arguments)
            self.assertEqual(found, code, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(says, err)


if __name__ == "__main__":
    main()
