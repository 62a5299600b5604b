"""`schedule: sequence`: radii by a formula of t, in queries, in Theorem 5, and refused in one line."""
import csv

import h5py
import numpy as np

from regatta_test import RegattaTest, regatta

STUDY = """study: radii
seeds: 2
common:
  iterations: 8
  initial_points: 3
  noise_variance: 0
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.3, variance: 1, noise_variance: 1, noise_units: model,
              fit: fixed, mean: zero, standardise: false}
  maximiser: {raw_samples: 64, restarts: 2}
problems: [{name: newsvendor, label: N}]
algorithms:
"""
T = np.arange(1, 9)


class Radii(RegattaTest):
    def methods(self, text):
        """{method: {column: trials x queries}}."""
        out = self.folder / "radii.h5"
        self.run_ok("run", self.write("radii.yaml", STUDY + text), "-o", out)
        with h5py.File(out) as file:
            names = file["N/algorithm"].asstr()[:]
            return {name: {column: file["N"][column][:][names == name][:, 3:] for column in ("x", "radius")}
                    for name in set(names)}

    def test_radii_of_queries(self):
        """As the formula says; a constant formula is a constant radius, bit by bit, and a falling one is not."""
        text = "".join(f"""  - {{name: {name}, label: {name} falls, schedule: sequence, sequence: "0.4*log(1+t)/t^1.5"}}
  - {{name: {name}, label: {name} stays, schedule: sequence, sequence: "1/8"}}
  - {{name: {name}, label: {name} constant, schedule: constant, radius: 0.125}}
""" for name in ("wdrbo", "wdrbo_exact"))
        text += """  - {name: wdrbo, label: drifts, schedule: sequence, sequence: "1/t", drift: 0.01, window: 1}
"""
        found = self.methods(text)
        for name in ("wdrbo", "wdrbo_exact"):
            np.testing.assert_allclose(found[f"{name} falls"]["radius"], [0.4 * np.log(1 + T) / T**1.5] * 2, rtol=1e-14)
            for column in ("x", "radius"):
                np.testing.assert_array_equal(found[f"{name} stays"][column], found[f"{name} constant"][column])
            self.assertFalse(np.array_equal(found[f"{name} falls"]["x"], found[f"{name} constant"]["x"]))
        np.testing.assert_allclose(found["drifts"]["radius"], [1 / T + 0.01] * 2, rtol=1e-14)

    def test_theorem_5(self):
        """Its sum is over the radii of the sequence."""
        study = self.write("radii.yaml", STUDY + """  - {name: wdrbo, centre: "normal(0.3, 0.1)", beta: theory, norm: 2,
     noise_deviation: 0.1, schedule: sequence, sequence: "min(0.5, 1/t)"}
""")
        self.run_ok("bounds", study, "-o", self.folder / "bounds.csv")
        with open(self.folder / "bounds.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        gain, bound, query = (np.array([float(r["value"]) for r in rows if r["quantity"] == name])
                              for name in ("gamma_upper", "wdrbo_theorem_5", "wdrbo_theorem_4"))
        norm = 0.1 * np.sqrt(2 * (gain[2] + np.append(0, gain[:-1])) + 2 * np.log(10)) + 2
        price = 4 * np.minimum(0.5, 1 / T) * norm / 0.3
        first = 4 * norm * np.sqrt(T * (2 * gain + 4 * np.log(60)))
        np.testing.assert_allclose(bound, first + np.cumsum(price), rtol=1e-10)
        np.testing.assert_allclose(query, 2 * norm + price, rtol=1e-10)

    def test_mistakes(self):
        for method in ("wdrbo", "wdrbo_exact"):
            for keys, says in (("schedule: sequence", "'schedule: sequence' needs 'sequence', a formula of t"),
                               ('sequence: "1/t"', "'sequence' is for 'schedule: sequence'"),
                               ('schedule: sequence, sequence: "1/sqrt(n)"', "column 8: unknown name 'n'"),
                               ('schedule: sequence, sequence: "0.3 - t/1000"', "negative or not finite at t = 301"),
                               ('schedule: sequence, sequence: "1/(t-2)^2"', "negative or not finite at t = 2")):
                study = self.write("radii.yaml", STUDY + f"  - {{name: {method}, {keys}}}\n")
                code, _, err = regatta("run", study, "-o", self.folder / "none.h5")
                self.assertEqual((code, len(err.splitlines())), (2, 1), err)
                self.assertIn(says, err)
                self.assertIn("radii.yaml:", err)
