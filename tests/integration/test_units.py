"""The unit of the outputs, a power of two, changes no bit of the queries: all presets and transformations, methods of
every kind."""
import math
import os
import re
import unittest
from unittest import mock

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = None

from regatta_test import HERE, RegattaTest

SURROGATES = {**{name: f"{{preset: {name}}}" for name in ("default", "robust", "fast", "rugged", "high_dimension",
                                                          "botorch2023", "botorch2024", "hebo")},
              "copula": "{transform: copula}", "power": "{transform: yeo_johnson, fit_noise: true}",
              "warped": "{transform: copula, input_warping: kumaraswamy}",
              "noisy": "{transform: yeo_johnson, noise_variance: NOISE}", "ranks": "{transform: copula, noise_variance: NOISE}",
          "long": "{transform: yeo_johnson, fit_warm: auto, refit_every: 2, deviation: sample}"}
METHODS = ("ei", "log_ei", "pi", "gp_ucb", "ts", "mes", "jes", "knowledge_gradient", "turbo", "hebo", "aegis", "boke",
           "nelder_mead", "cma_es", "eims", "pims", "q_ei", "ucb_pe", "kr_ucb", "constrained_ei", "gittins, lambda: PRICE")
STUDY = """study: units
seeds: 1
common: {iterations: ITERATIONS, initial_points: 5}
problems:
  - name: external
    label: branin
    program: units.py
    inputs: [a real -5 10, b real 0 15]
algorithms:
"""

PENALISED = """study: penalised
seeds: 3
common: {iterations: 3, initial_points: 4, workers: 3, duration: point(1), release: sync}
problems: [branin]
algorithms:
"""


@unittest.skipUnless(h5py, "no h5py")
class Units(RegattaTest):
    def run_in(self, unit, study):  # f is at most 1e100
        """label -> (queries, outputs, posterior deviation), the last two divided by the unit."""
        output = self.folder / f"{study.stem}{unit}.h5"
        text = study.read_text().replace("NOISE", repr(math.ldexp(0.75, 2 * max(unit, -530))))
        text = text.replace("PRICE", repr(math.ldexp(1, unit)))
        with mock.patch.dict(os.environ, UNIT=str(unit)):
            self.run_ok("run", self.write("study.yaml", text), "-o", output, "-quiet")
        with h5py.File(output) as file:
            group = file["branin"]
            return {label.decode(): (group["x"][i], *(np.ldexp(group[name][i], -unit) for name in ("y", "posterior_sd")))
                    for i, label in enumerate(group["algorithm"][:])}

    def compare(self, study, units):
        plain = self.run_in(0, study)
        for unit in units:
            for label, (x, y, sd) in self.run_in(unit, study).items():
                with self.subTest(method=label, unit=unit):
                    np.testing.assert_array_equal(x, plain[label][0])
                    np.testing.assert_array_equal(y, plain[label][1])
                    np.testing.assert_allclose(sd, plain[label][2], rtol=1e-9)
                    self.assertFalse(np.isinf(sd).any())

    def study(self, name, iterations, entries):
        (self.folder / "units.py").symlink_to(HERE / "units.py")
        return self.write(f"{name}.yaml", STUDY.replace("ITERATIONS", str(iterations)) + "".join(entries))

    def test_no_preset_or_transformation_is_missing(self):
        text = self.run_ok("describe", "surrogate")
        presets = re.findall(r"^(\w+): ", text.partition("\nPresets ")[2], re.M)
        kinds = re.search(r"^transform +choice +\w+ +(.*?)  ", text, re.M)[1].split(" | ")
        self.assertEqual((presets[0], kinds[0]), ("default", "none"))
        self.assertEqual([p for p in presets if f"{{preset: {p}}}" not in SURROGATES.values()], [])
        self.assertEqual([k for k in kinds[1:] if f"transform: {k}" not in "".join(SURROGATES.values())], [])

    def test_surrogates(self):
        study = self.study("surrogates", 16, (f"  - {{name: ei, label: {label}, surrogate: {text}}}\n"
                                              for label, text in SURROGATES.items()))
        self.compare(study, (20, -20, 320, -500))

    def test_methods(self):
        study = self.study("methods", 5, (f"  - {{name: {name}}}\n" for name in METHODS))
        self.compare(study, (37, -600))

    def test_acquisition_of_penalised_methods(self):
        """Without points in flight `acquisition` is what it is without penalties. With them it is the logarithm of the
        penalised value (of a confidence bound: of its softplus), and of `mes` the information itself. The first batch
        has the data that it would have without penalties, where the query has the largest value of all."""
        kinds = {"ei": lambda v: v, "log_ei": lambda v: v, "mes": lambda v: v,
                 **dict.fromkeys(("gp_ucb", "rgp_ucb", "irgp_ucb"), lambda v: np.log(np.log1p(np.exp(v))))}
        rules = {"plain": "ignore", "soft": "{penalise: soft}", "hard": "{penalise: hard, clip: product}"}
        output = self.folder / "penalised.h5"
        self.run_ok("run", self.write("penalised.yaml", PENALISED + "".join(
            f"  - {{name: {name}, label: {name} {rule}, pending: {text}}}\n"
            for name in kinds for rule, text in rules.items())), "-o", output, "-quiet")
        with h5py.File(output) as file:
            group = file["branin"]
            found = {(*label.split(), seed): row[4:] for label, seed, row in zip(
                group["algorithm"].asstr()[()], group["seed"][()], group["acquisition"][()])}
            self.assertEqual(group["n_pending"][0, 4:].tolist(), [0, 1, 2])
        for (name, rule, seed), values in found.items():
            plain = found[name, "plain", seed]
            with self.subTest(method=name, rule=rule, seed=seed):
                self.assertEqual(values[0], plain[0])
                if rule != "plain":
                    most = kinds[name](plain[1:])
                    self.assertTrue((values[1:] <= most + 1e-3).all() and (values[1:] >= most - 2).all(), (values, most))
                    self.assertTrue(name != "mes" or (values >= 0).all())

    def test_knowledge_gradient_on_a_finite_set(self):
        """An alternative that is the query itself counts once: values fall far below the rounding of a sum, e^-37."""
        study = self.write("kg.yaml", """study: kg
common: {iterations: 40, initial_points: 6, noise_variance: 1.0e-8, surrogate: {kernel: gaussian, length_scale: 0.3,
         variance: 1, fit: fixed, standardise: false, mean: zero}}
problems: [{name: gp_path, label: P}]
algorithms: [knowledge_gradient]
""")
        self.run_ok("run", study, "-o", self.folder / "kg.h5", "-quiet", "-strict")
        with h5py.File(self.folder / "kg.h5") as file:
            values = file["P/acquisition"][0][6:]
        self.assertTrue(np.isfinite(values).all())
        self.assertLess(values[-5:].max(), -50)
