"""`regatta bounds`: tables that other programs read, and one line for every mistake."""
import csv
from statistics import NormalDist

import numpy as np

from regatta_test import HERE, RegattaTest, regatta

PAPERS = HERE.parents[1] / "experiments"
STUDY = """study: bounds
common:
  iterations: 100
  initial_points: 8
  noise_variance: 1e-4
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: false}
problems: [gp_path]
algorithms: [irgp_ucb, gp_ucb, rgp_ucb, ei]
"""


BOX = """study: box
common:
  iterations: 40
  initial_points: 1
  noise_variance: 1e-2
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.5, variance: 1, noise_variance: 1e-2, fit: fixed, mean: zero,
              standardise: false}
problems:
  - {name: gp_norm, context_dim: 2, length_scale: 0.5, law: ["normal(0.5, 0.3)", "uniform(0, 1)"]}
algorithms: [{name: rrgp_ucb_continuous, label: rrgp, a: 2, b: 3, levels_max: 4}]
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
        folder = PAPERS / "irgp_ucb"
        self.assertIn("759.716", self.run_ok("bounds", folder / "fig1b_noise.yaml"))
        out = self.run_ok("bounds", folder / "bounds.yaml")
        values = [float(line.split()[-2]) / 500 for line in out.splitlines()
                  if "theorem_4_1" in line]
        self.assertEqual(len(values), 6)
        self.assertTrue(1.3 < min(values) < 1.31 and 2.1 < max(values) < 2.14, values)

    def values(self, study):
        """{(method, quantity): values over t} of the tables of a study."""
        path, found = self.folder / "bounds.csv", {}
        self.run_ok("bounds", study, "-o", path)
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                found.setdefault((row["algorithm"], row["quantity"]), []).append(float(row["value"]))
        return {key: np.array(values) for key, values in found.items()}

    def test_methods_that_sample_a_path(self):
        """BCR_T <= sqrt(C1 gamma_T sum_t (C2 + log(1 + m/noise))) with m values known, for TS and PIMS without the
        logarithm, and the lemma behind it: the query of EIMS against the least (g* - mu)/sd, on posteriors at random."""
        noise, t = 1e-4, np.arange(1, 101)
        found = self.values(self.write("study.yaml", STUDY.replace("irgp_ucb, gp_ucb, rgp_ucb, ei", "eims, pims, ts")))
        gamma, c1, c2 = found["eims", "gamma_upper"], 2 / np.log(1 + 1 / noise), 2 + 2 * np.log(1000 / 2)
        bound = np.sqrt(c1 * gamma * np.cumsum(c2 + np.log(1 + (8 + t - 1) / noise)))
        np.testing.assert_allclose(found["eims", "sampled_improvement_expected"], bound, rtol=1e-12)
        for method in ("pims", "ts"):
            np.testing.assert_allclose(found[method, "sampled_width_expected"], np.sqrt(c1 * c2 * t * gamma), rtol=1e-12)
        random, normal, tight = np.random.default_rng(1), NormalDist(), 0
        tail, density = np.vectorize(lambda s: normal.cdf(-s)), np.vectorize(normal.pdf)
        for _ in range(2000):
            sd = 10**random.uniform(-2, 0, 40)
            z = random.uniform(-1, 5) + random.exponential(3, 40)  # (g* - mu)/sd
            at = np.argmax(sd * (density(z) - z * tail(z)))
            least, ratio = max(z.min(), 0)**2, np.log((sd.max() / sd.min())**2)
            self.assertLessEqual(max(z[at], 0)**2, least + ratio + 1e-9)
            tight = max(tight, max(z[at], 0)**2 - least)
        self.assertGreater(tight, 1)  # EIMS does ask elsewhere than PIMS

    def test_density_theorems_with_the_constants_of_the_method(self):
        """Theorems 1 and 2 with a = 1 and b = 4.714, T = 60 (arXiv:2312.10423)."""
        found = self.values(PAPERS / "sbo_kde" / "theory.yaml")
        t, dim, error = np.arange(1, 61), 2, 1.4897487761226  # of a normal law of deviation 0.15
        steep = 4.714 * dim * np.sqrt(np.pi) / 2 + np.sqrt(2 / np.pi)
        c1, c = steep * error * 5 / 3, 8 / np.log(1 + 1 / 0.01)
        c2 = c * max(1, error**2 * 5)
        beta = np.maximum(0, 2 * np.log(t**2 / np.sqrt(2 * np.pi)) + 2 * np.log(t**2 * 4.714 * np.sqrt(np.pi) / 2))
        for method, quantity, radius in (("SBO-KDE", "sbo_kde_theorem_1", 0 * t),
                                         ("DRBO-KDE", "drbo_kde_theorem_2", t**-0.4)):
            gamma = found[f"{method}, theorem", "gamma_upper"]
            spread = np.sqrt(t**0.2) + np.sqrt(t) + np.sqrt(c / c2 * np.cumsum(radius**2))
            bound = (np.pi**2 / 3 + np.sqrt(beta * gamma * c2) * spread + 2 * c1 * t**0.6
                     + steep * np.cumsum(radius))
            np.testing.assert_allclose(found[f"{method}, theorem", quantity], bound, rtol=1e-10)

    def test_wasserstein_theorems_with_the_constants_of_the_method(self):
        """Theorems 5 and 9 with B = 3, R = 0.1, delta = 0.1 and five points known at first, T = 60 (arXiv:2503.20341);
        kappa is so small that the radius falls below the diameter of the box."""
        text = (PAPERS / "wdrbo" / "theory.yaml").read_text().replace("norm: 3, noise", "norm: 3, covering: 1e-3, noise")
        found = self.values(self.write("small.yaml", text))
        t, slope = np.arange(1, 61), 1 / 0.3
        for method, quantity in (("WDRBO, Theorem 5", "wdrbo_theorem_5"), ("WDRBO, Theorem 9", "wdrbo_theorem_9")):
            gain = 2 * found[method, "gamma_upper"]  # log det
            norm = 0.1 * np.sqrt(gain[4] + np.append(0, gain[:-1]) + 2 * np.log(1 / 0.1)) + 3
            known = t + 4
            covering = 1e-3 * ((1 + np.log(known * norm))**3 + (1 + np.log(known))**5)
            radius = np.sqrt(2 * (np.log(1 / 0.1) + np.log(1 + 2 * known) + covering) / known)
            radius = np.minimum(radius, 1) if quantity.endswith("9") else np.full(60, 0.02)
            penalty = 4 * radius * norm * slope + (2 * (1 + 2 * slope * norm) / t if quantity.endswith("9") else 0)
            bound = 4 * norm * np.sqrt(t * (gain + 4 * np.log(6 / 0.1))) + np.cumsum(penalty)
            np.testing.assert_allclose(found[method, quantity], bound, rtol=1e-10)
            np.testing.assert_allclose(found[method, "wasserstein_beta"], norm, rtol=1e-12)
            query = {"5": "4", "9": "8"}[quantity[-1]]  # Theorems 4 and 8: of one query, with a deviation of at most 1
            np.testing.assert_allclose(found[method, f"wdrbo_theorem_{query}"], 2 * norm + penalty, rtol=1e-12)
            self.assertNotIn((method, f"wdrbo_theorem_{12 - int(query)}"), found)

    def test_where_nature_draws_contexts_from_a_box(self):
        """Theorems B.5 to B.8 of arXiv:2504.03172 on a partition into ceil(t^(1/4)) x ceil(t^(1/4)) cells."""
        study = self.write("box.yaml", BOX)
        found, t, length, noise = self.values(study), np.arange(1, 41), 0.5, 1e-2
        cells = np.ceil(t**0.25 - 1e-9)
        varphi = np.cumsum(2 * np.sqrt(2) * np.sqrt(2) / cells / length)
        edges = [[NormalDist(0.5, 0.3).cdf(k / m) for k in range(1, m)] for m in (1, 2, 3)]
        least = [np.diff([0, *edge, 1]).min() / (len(edge) + 1) for edge in edges]  # the other law is uniform
        p_min = np.minimum.accumulate(np.array(least)[cells.astype(int) - 1])
        tau = np.ceil(3 * 3 * t**2 * (np.sqrt(np.log(2 * 3)) + np.sqrt(np.pi) / 2))
        kappa = (1 + tau) * tau**2
        gain = varphi + 2 / np.log(1 + 1 / noise) * found["rrgp", "gamma_upper"] / p_min
        root = 4 * np.sqrt(t * (2 * np.log(kappa) + 2) * gain)
        for quantity, bound in (("rrgp_theorem_b", np.pi**2 / 3 + root), ("rrgp_theorem_b_best", (np.pi**2 / 3 + root) / t),
                                ("rrgp_theorem_b_last", 2 / t**2 + np.pi**2 / (3 * t) + root / t)):
            np.testing.assert_allclose(found["rrgp", quantity], bound, rtol=1e-10)
        self.assertFalse([q for _, q in found if q.startswith(("rrgp_corollary_a", "rrgp_theorem_a"))])
        for old, new, says in (("normal(0.5, 0.3)", "uniform(0, 0.4)", "leaves out a part of their box"),
                               ("normal(0.5, 0.3)", "jump(uniform(0, 1), 9, uniform(0.1, 1))", "changes in time"),
                               ("gaussian", "matern12", "have no derivative")):
            self.assertIn(says, self.run_ok("bounds", self.write("other.yaml", BOX.replace(old, new))))

    def test_a_method_that_is_not_that_of_the_theorems(self):
        text = (PAPERS / "wdrbo" / "theory.yaml").read_text()
        for old, new, says in (("noise_variance: 1, noise_units", "noise_variance: 2, noise_units", "lambda = 1"),
                               ("variance: 1, noise", "variance: 4, noise", "k(z,z) = 1")):
            out = self.run_ok("bounds", self.write("other.yaml", text.replace(old, new)))
            self.assertEqual(out.count(f"the theorems ask for {says}"), 2, out)
        self.assertIn("holds if the given balls contain the law", self.run_ok("bounds", self.write("theory.yaml", text)))

    def test_measures_and_laws_that_are_not_the_problem_s(self):
        """Bounds are those of the measure that the problem names, for a method that aims at it under the right law."""
        def remarks(text):
            lines = self.run_ok("bounds", self.write("other.yaml", text)).splitlines()[1:]
            return {line.split()[1]: (line.split()[2], line) for line in lines}

        problem = BOX.split("algorithms:")[0]
        found = remarks(problem + """algorithms:
  - {name: rrgp_ucb_continuous, label: right, law: ["normal(0.5, 0.3)", "uniform(0, 1)"], measure: expectation}
  - {name: rrgp_ucb_continuous, label: law, law: "uniform(0, 1)"}
  - {name: rrgp_ucb_continuous, label: measure, measure: worst}
""")
        self.assertTrue(found["right"][0].startswith("rrgp_theorem_b"), found)
        self.assertEqual([found[label][0] for label in ("law", "measure")], ["none", "none"], found)
        found = remarks(BOX.split("problems:")[0] + """problems: [{name: gp_path_context, levels: 5, setting: uncontrollable}]
algorithms:
  - {name: rrgp_ucb, label: right, measure: expectation}
  - {name: rrgp_ucb, label: other, measure: cvar(0.3)}
""")
        self.assertTrue(found["right"][0].startswith("rrgp_"), found)
        self.assertEqual(found["other"][0], "none", found)
        found = remarks(problem.replace("context_dim", "measure: cvar(0.3), context_dim") + """algorithms:
  - {name: sbo_kde, any_measure: true}
  - {name: wdrbo, any_measure: true}
  - {name: wdrbo, label: given, any_measure: true, schedule: constant, centre: ["normal(0.5, 0.3)", "uniform(0, 1)"]}
  - {name: rrgp_ucb_continuous, label: right}
""")
        for label in ("sbo_kde", "wdrbo", "given"):
            self.assertIn("the theorems are about the expectation", found[label][1])
        self.assertTrue(found["right"][0].startswith("rrgp_theorem_b"), found)

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
