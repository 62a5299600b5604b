"""Studies with contexts drawn by nature: the smoke studies of the papers, the estimated error of an objective without
a formula, and one line for every mistake."""
import os
from unittest import mock

import h5py
import numpy as np

from regatta_test import HERE, LONG, RegattaTest, main, regatta

EXPERIMENTS = HERE.parents[1] / "experiments"
STUDY = """study: contexts
common: {iterations: 2, initial_points: 3, maximiser: {raw_samples: 16, restarts: 2}}
problems:
  - {name: newsvendor, label: quasi-Monte Carlo, expectation: qmc, expectation_points: 1024}
  - {name: newsvendor, label: formula}
algorithms: [random]
"""


COLUMNS = ("length_scale", "signal_variance", "model_noise", "jitter", "confidence", "acquisition")


def matern(row, a, b):
    s = np.sqrt(5 * (((a[:, None] - b[None]) / row["length_scale"])**2).sum(-1))
    return row["signal_variance"] * (1 + s + s**2 / 3) * np.exp(-s)


def average_bound(row, z, y, designs):
    """The mean over the contexts of the data of the upper confidence bound at each design, model units."""
    y = (y - y.mean()) / y.std(ddof=1)
    k = matern(row, z, z) + (row["model_noise"] + row["jitter"]) * np.eye(len(z))
    one = np.ones(len(z))
    mean = one @ np.linalg.solve(k, y) / (one @ np.linalg.solve(k, one))
    bounds = []
    for x in designs:
        cross = matern(row, np.column_stack([np.full(len(z), x), z[:, 1]]), z)
        variance = row["signal_variance"] - (cross * np.linalg.solve(k, cross.T).T).sum(1)
        width = np.sqrt(row["confidence"] * variance.clip(1e-10))
        bounds.append((mean + cross @ np.linalg.solve(k, y - mean) + width).mean())
    return np.array(bounds)


class Contexts(RegattaTest):
    def test_smoke_studies(self):
        """Every method runs, with the same bits on one and on three ranks."""
        for paper, layouts in (("sbo_kde", (1, 3) if LONG else (3,)), ("wdrbo", (1, 3))):
            outputs = []
            for ranks in layouts:
                outputs.append(self.folder / f"{paper}_{ranks}.h5")
                self.run_ok("run", EXPERIMENTS / paper / "smoke.yaml", "-o", outputs[-1], "-quiet",
                            "-strict", ranks=ranks)
            self.assertEqual(len(set(map(self.checksum, outputs))), 1)

    def test_error_of_the_objective(self):
        study, output = self.write("study.yaml", STUDY), self.folder / "out.h5"
        self.run_ok("run", study, "-o", output, "-quiet", "-strict")
        with h5py.File(output) as results:
            sampled, exact = results["quasi-Monte Carlo"], results["formula"]
            error = sampled["objective_error"][:]
            self.assertTrue(((error > 0) & (error < 0.01)).all())
            difference = np.abs(sampled["objective"][:] - exact["objective"][:])
            self.assertTrue((difference < 4 * error + 1e-9).all())
            if "objective_error" in exact:
                self.assertTrue(np.isnan(exact["objective_error"][:]).all())

    def test_contexts_out_of_reach(self):
        """The kernel between data and contexts is zero: nothing is learned, and BLAS has nothing to say."""
        far = STUDY.replace("[random]", "[{name: erbo, centre: 'point(1000)'}]").replace("initial_points: 3", (
            "initial_points: 1, surrogate: {kernel: gaussian, fit: fixed, length_scale: 0.1}"))
        code, out, _ = regatta("run", self.write("study.yaml", far), "-o", self.folder / "out.h5", "-quiet", "-strict")
        self.assertEqual((code, len(out.splitlines())), (0, 1), out[:500])

    def test_contexts_outside_the_box(self):
        """Methods find the best design wherever nature draws; of mixed laws, those that maximise the average."""
        laws = {"newsvendor": ("point(10)", "point(-3)", "normal(10, 0.5)",
                               "mixture(0.5 * point(0.8), 0.5 * point(4))"),
                "three_humps_camel, clip: false": ("normal(1.6, 0.2)", "normal(-0.6, 0.2)")}
        problems = "".join(f"  - {{name: {name}, label: {label}, law: '{law}'}}\n"
                           for label, (name, law) in enumerate((n, law) for n, all_ in laws.items() for law in all_))
        study = ("study: outside\nseeds: 2\ncommon: {iterations: 12, initial_points: 5, maximiser: {raw_samples: 64, "
                 f"restarts: 5}}, surrogate: {{preset: botorch2023}}}}\nproblems:\n{problems}algorithms: [random, sbo_kde, "
                 "{name: sbo_kde, label: rule, expectation: quadrature}, drbo_kde, {name: drbo_mmd, contexts: 16}, "
                 "{name: drbo_mmd_minimax, contexts: 64}, stable_opt, erbo, wdrbo, {name: wdrbo_exact, contexts: 16}]\n")
        output = self.folder / "out.h5"
        self.run_ok("run", self.write("study.yaml", study), "-o", output, "-quiet", "-strict")
        with h5py.File(output) as results:
            for problem in map(str, range(6)):
                group = results[problem]
                regret = group["instantaneous_regret"][:, -4:].mean(axis=1)
                names = group["algorithm"].asstr()[:]
                random = regret[names == "random"].mean()
                for name in ("sbo_kde", "rule", "erbo") if problem == "3" else set(names) - {"random"}:
                    with self.subTest(problem=problem, method=name):
                        self.assertLess(regret[names == name].mean(), 0.1 * random)
            self.check_maximisers(results)

    def check_maximisers(self, results):
        """Queries of ERBO maximise the average bound over the contexts observed, in NumPy."""
        grid = np.linspace(0, 1, 201)
        for problem in map(str, range(4)):
            group = results[problem]
            columns = {name: group[name][()] for name in ("x", "c", "y", *COLUMNS)}
            trials = np.flatnonzero(group["algorithm"].asstr()[:] == "erbo")
            for trial, i in ((trial, i) for trial in trials for i in range(6, 17, 5)):
                row = {key: values[trial, i] for key, values in columns.items()}
                z = np.concatenate([columns["x"][trial, :i], columns["c"][trial, :i]], axis=1)
                bound = average_bound(row, z, columns["y"][trial, :i], np.append(row["x"], grid))
                with self.subTest(problem=problem, trial=trial, query=i):
                    self.assertGreater(bound[0], bound[1:].max() - 1e-3)
                    self.assertAlmostEqual(bound[0], row["acquisition"], delta=1e-5 * (1 + abs(bound[0])))

    def refused(self, text, *says):
        study = self.write("study.yaml", text)
        code, _, err = regatta("run", study, "-o", self.folder / "out.h5")
        self.assertEqual(code, 2, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        for words in says:
            self.assertIn(words, err)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_mistakes(self):
        one = STUDY.replace("  - {name: newsvendor, label: formula}\n", "")
        self.refused(one.replace("expectation: qmc", "law: 'normal(0.5, -1)'"), "study.yaml:4",
                     "deviation > 0")
        self.refused(one.replace("random", "{name: wdrbo, radius: -0.1}"), "study.yaml:5", "radius",
                     "-0.1")
        self.refused(one.replace("random", "{name: wdrbo, centre: 'cauchy(0, 0)'}"), "study.yaml:5",
                     "scale > 0")
        small = one.replace("newsvendor", "ackley_context, context_dim: 16").replace(
            ", expectation: qmc, expectation_points: 1024", "")
        self.refused(small.replace("random", "{name: drbo_mmd, contexts: 1e5}"), "'drbo_mmd'",
                     " GB, most of it for its contexts", "no number of ranks would do")
        laws = ", ".join(16 * ["'normal(0, 1)'"])
        self.refused(small.replace("random", "{name: erbo, centre: [%s]}" % laws), "'erbo'",
                     " GB, most of it for its contexts")
        with mock.patch.dict(os.environ, REGATTA_DATA=str(self.folder)):
            self.refused(one.replace("newsvendor", "portfolio"), "study.yaml:4", "portfolio",
                         "REGATTA_DATA", "https://")


if __name__ == "__main__":
    main()
