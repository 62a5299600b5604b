"""Studies with contexts drawn by nature: the smoke studies of the papers, the estimated error of an objective without
a formula, and one line for every mistake."""
import os
from unittest import mock

import h5py
import numpy as np

import context_bounds
from regatta_test import HERE, LONG, RegattaTest, regatta

EXPERIMENTS = HERE.parents[1] / "experiments"
STUDY = """study: contexts
common: {iterations: 2, initial_points: 3, maximiser: {raw_samples: 16, restarts: 2}}
problems:
  - {name: newsvendor, label: quasi-Monte Carlo, expectation: qmc, expectation_points: 1024}
  - {name: newsvendor, label: formula}
algorithms: [random]
"""


ATOMS = """study: atoms
common: {iterations: 12, initial_points: 5, maximiser: {raw_samples: 64, restarts: 5}, surrogate: {preset: botorch2023}}
problems:
  - {name: newsvendor, label: two, law: "mixture(0.5 * point(0.8), 0.5 * point(4))"}
  - {name: newsvendor, label: mixed, law: "mixture(0.5 * point(0.2), 0.5 * uniform(0, 1))"}
  - {name: newsvendor, label: clipped, law: "normal(0.8, 0.5)", observed: clipped}
algorithms:
  - erbo
  - {name: sbo_kde, label: sbo}
  - {name: sbo_kde, label: sbo rule, expectation: quadrature}
  - {name: drbo_kde, label: drbo}
  - {name: drbo_kde, label: drbo rule, expectation: quadrature}
  - {name: drbo_mmd, contexts: 16}
"""
CRITERIA = {"erbo": context_bounds.average,
            "sbo": lambda u, c: context_bounds.density_average(u, c, False),
            "sbo rule": lambda u, c: context_bounds.density_average(u, c, True),
            "drbo": lambda u, c: context_bounds.density_worst(u, c, False),
            "drbo rule": lambda u, c: context_bounds.density_worst(u, c, True),
            "drbo_mmd": lambda u, c: context_bounds.grid_worst(u, c, 16)}


class Contexts(RegattaTest):
    def test_smoke_studies(self):
        """Every method runs, with the same bits on one and on three ranks."""
        for paper, layouts in (("sbo_kde", (1, 3) if LONG else (3,)), ("wdrbo", (1, 3))):
            self.same_bits(EXPERIMENTS / paper / "smoke.yaml", layouts=layouts, name=paper)

    def test_error_of_the_objective(self):
        with h5py.File(self.results_of(STUDY, "-strict")) as results:
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
        with h5py.File(self.results_of(study, "-strict")) as results:
            for problem in map(str, range(6)):
                group = results[problem]
                regret = group["instantaneous_regret"][:, -4:].mean(axis=1)
                names = group["algorithm"].asstr()[:]
                random = regret[names == "random"].mean()
                for name in ("sbo_kde", "rule", "erbo") if problem == "3" else set(names) - {"random"}:
                    with self.subTest(problem=problem, method=name):
                        self.assertLess(regret[names == name].mean(), 0.1 * random)
            for problem in map(str, range(4)):
                self.check_maximisers(results[problem], {"erbo"})

    def test_laws_with_atoms(self):
        """Every query maximises its criterion over the contexts observed, in NumPy: point masses, two or beside a
        density, and those that clipping makes."""
        with h5py.File(self.results_of(ATOMS, "-strict")) as results:
            for problem in ("two", "mixed", "clipped"):
                self.check_maximisers(results[problem], set(CRITERIA))

    def check_maximisers(self, group, names):
        designs = np.linspace(0, 1, 41)
        columns = {name: group[name][()] for name in ("x", "c", "y", *context_bounds.COLUMNS)}
        for trial, name in enumerate(group["algorithm"].asstr()[:]):
            for i in range(6, 17) if name in names else ():
                row = {key: values[trial, i] for key, values in columns.items()}
                c = columns["c"][trial, :i, 0]
                z = np.column_stack([columns["x"][trial, :i, 0], c])
                value = CRITERIA[name](context_bounds.Bound(row, z, columns["y"][trial, :i]), c)
                found, error = value(row["x"][0])
                with self.subTest(problem=group.name, method=name, trial=trial, query=i):
                    self.assertAlmostEqual(found, row["acquisition"], delta=error)
                    for best, slack in map(value, designs):
                        self.assertGreater(found, best - slack - error - 1e-3)

    def refused(self, text, *says):
        super().refused("run", self.write("study.yaml", text), "-o", self.folder / "out.h5", says=says)

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
