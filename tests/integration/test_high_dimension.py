"""Problems with many inputs against the programs in tests/reference/high_dimension.py, at the points of the smoke
study, whose checksum is in the table of test_checksums.py; options for many inputs."""
import sys

import h5py
import numpy as np

from regatta_test import HERE, RegattaTest, regatta

sys.path.insert(0, str(HERE.parent / "reference"))
import high_dimension as reference  # noqa: E402

SMOKE = HERE.parent.parent / "experiments" / "high_dimension" / "smoke.yaml"
BAD = """study: bad
common: {iterations: 1, initial_points: 2, initial_design: uniform}
problems:
  - {%s}
algorithms: [%s]
"""
METHOD = """study: bad
common: {iterations: 1, initial_points: 4, initial_design: uniform}
problems: [{name: hartmann6, embed: 41}]
algorithms:
  - {%s}
"""
LOCAL = """study: local
seeds: 1
common:
  iterations: 2
  initial_points: 10
  surrogate: {fit: fixed}
  maximiser: {raw_samples: 64, max_iterations: 0, incumbents: 0, perturbations: 0, local_share: 1}
problems: [{name: hartmann6, embed: 100}]
algorithms: [%s]
"""
ORDER = """study: order
seeds: 1
common: {iterations: 1, initial_points: 2, maximiser: {raw_samples: 8, restarts: 1}}
problems: [branin]
algorithms:
  - {name: ei, %s}
"""
NOTICE = "'hartmann6': 41 inputs with the default prior and no local points; for more than 40 there is"


class HighDimension(RegattaTest):
    def test_values(self):
        output = self.results_of(SMOKE, "-strict", name="smoke.h5")
        draws = {}

        def drawn(kind, *options, **named):
            key = kind, *options, *named.values()
            draws[key] = draws.get(key) or kind(*options, **named)
            return draws[key].value

        rotated = reference.rotated
        wanted = {
            "Hartmann 6 of 25": lambda x, i: reference.hartmann6(x[:6]),
            "Hartmann 6 rotated in 100": lambda x, i: rotated(reference.hartmann6, "hartmann6", i, 6, 0, 1, x),
            "Levy 4 of 1000": lambda x, i: reference.levy(x[:4]),
            "Levy 4 rotated in 300": lambda x, i: rotated(reference.levy, "levy", i, 4, -10, 10, x),
            "Rover": lambda x, i: reference.rover(x),
            "Lasso": lambda x, i: drawn(reference.Lasso, i)(x),
            "Lasso 100 noisy": lambda x, i: drawn(reference.Lasso, i, d=100, samples=50, active=10, snr=3)(x),
            "Ellipsoid 640": lambda x, i: -drawn(reference.Ellipsoid, i, 640)(x)}
        optima = {"Hartmann": 3.3223680114155148, "Levy": 0}
        with h5py.File(output) as file:
            for label, function in wanted.items():
                with self.subTest(problem=label):
                    group = file[label]
                    for trial in range(len(group["seed"])):
                        for row in (0, group["x"].shape[1] - 1):
                            expected = function(group["x"][trial, row], int(group["instance"][trial]))
                            value = group["objective"][trial, row]
                            if label == "Ellipsoid 640":
                                value -= group["optimum"][trial]
                            self.assertLess(abs(value - expected), 1e-8 * max(1, abs(expected)))
                    if label != "Ellipsoid 640":
                        np.testing.assert_allclose(group["optimum"][()], optima.get(label.split()[0], np.nan),
                                                   atol=1e-15)

    def test_mistakes(self):
        """Each is one line that says where, before anything runs."""
        for problem, method, words in (
                ("name: hartmann6, embed: 5", "random", "at least the 6 inputs of the problem itself, got 5"),
                ("name: hartmann6, embed: {rotation: random}", "random", "needs the number of inputs: {dim: D}"),
                ("name: hartmann6, embed: {dim: 9, rotatoin: random}", "random",
                 "unknown key 'rotatoin' in 'embed', did you mean 'rotation'?"),
                ("name: hartmann6, embed_rotation: random", "random", "a rotation needs a number of inputs"),
                ("name: damped_cosine, levels: 9, embed: 9", "random", "is for boxes"),
                ("name: lasso, samples: 0", "random", "'samples' must be an integer in [2, 1000000] or 'auto', got '0'"),
                ("name: lasso, samples: 5", "random", "leave 4 for training, fewer than the 5 folds"),
                ("name: lasso, active: 61", "random", "active = 61 is more than dim = 60"),
                ("name: ackley, embed: 2000", "ei", "which end at 1111 dimensions; it has 2000"),
                ("name: lasso, dim: 900000", "random", "GB for 1 rank on this host"),
                ("name: bbob, function: 1, dim: 640, embed: 1000000", "cma_es", "GB for 1 rank on this host")):
            with self.subTest(problem=problem):
                study = self.write("bad.yaml", BAD % (problem, method))
                for command in (["plan", study], ["run", study, "-o", self.folder / "bad.h5"]):
                    err = self.refused(*command)
                    self.assertRegex(err, r"\A(regatta: (plan: )?)?\S*bad\.yaml:\d+:\d+: [^\n]*\n\Z")
                    self.assertIn(words, err)
                self.assertFalse((self.folder / "bad.h5").exists())

    def test_mistakes_of_methods(self):
        for method, words in (
                ("name: ei, surrogate: {length_scale_facter: 1}", "did you mean 'length_scale_factor'?"),
                ("name: ei, surrogate: {length_scale_factor: 0}", "must be a number in (0, 1000] or 'auto', got '0'"),
                ("name: ei, surrogate: {length_scale_factor: 500}", "outside the bounds 0.01 and 14.3"),
                ("name: ei, surrogate: {length_scale_factor: 1, length_scale: 2}", "one of them may be given"),
                ("name: ei, surrogate: {kernel: spherical_linaer}", "did you mean 'spherical_linear'?"),
                ("name: ei, surrogate: {kernel: spherical_linear, structure: additive}", "must be 'whole'"),
                ("name: ts, surrogate: {kernel: spherical_linear}", "'spherical_linear'"),
                ("name: ei, surrogate: {preset: high_dimensions}", "did you mean 'high_dimension'?"),
                ("name: ei, maximiser: {local_shares: 1}", "did you mean 'local_share'?"),
                ("name: ei, maximiser: {local_share: 1.5}", "'local_share' must be a number in [0, 1] or 'auto'"),
                ("name: ei, maximiser: {local_points: 0}", "'local_points' must be an integer in [1, 1000000] or"),
                ("name: turbo, maximiser: {local_share: 1}", "maximiser")):
            with self.subTest(method=method):
                err = self.refused("plan", self.write("bad.yaml", METHOD % method))
                self.assertRegex(err, r"\A(regatta: (plan: )?)?\S*bad\.yaml:5:\d+: [^\n]*\n\Z")
                self.assertIn(words, err)

    def test_notice(self):
        for method, noticed in (("ei", True), ("ei, surrogate: {preset: high_dimension}", False), ("random", False),
                                ("ei, surrogate: {length_scale_factor: 1}", False), ("turbo", False),
                                ("ei, maximiser: {local_share: 0.1}", False),
                                ("ei, surrogate: {fit: ml}", False), ("ei, surrogate: {fit: fixed}", False),
                                ("ei, surrogate: {kernel: spherical_linear}", False)):
            text = METHOD % ("name: " + method)
            study = self.write("study.yaml", text)
            commands = ["plan", study, "-quick"], ["run", study, "-o", self.folder / "n.h5", "-quiet"]
            for command in commands[:1 + (method == "ei")]:
                code, _, err = regatta(*command)
                self.assertEqual((code, NOTICE in err, err.count("\n")), (0, noticed, int(noticed)), err)
        code, _, err = regatta("plan", "-quick", self.write("study.yaml", (METHOD % "name: ei").replace("41", "40")))
        self.assertEqual((code, err), (0, ""))

    def test_preset_loses_to_settings_beside_it(self):
        """In either order of the blocks; half of the search is local without such a setting."""
        for block, share in (("surrogate: {preset: high_dimension}", "0.5"),
                             ("maximiser: {local_share: 0.25}, surrogate: {preset: high_dimension}", "0.25"),
                             ("surrogate: {preset: high_dimension}, maximiser: {local_share: 0.25}", "0.25")):
            output = self.folder / "order.h5"
            output.unlink(missing_ok=True)
            self.run_ok("run", self.write("order.yaml", ORDER % block), "-o", output, "-quiet")
            with h5py.File(output) as file:
                self.assertEqual(str(file["cells/settings/maximiser.local_share"][0]), share)

    def test_every_method_searches_near_the_best(self):
        """Methods that read `maximiser` and take a box without contexts: a query of a search whose raw points are all
        local has most coordinates of an earlier input."""
        skip = {"constrained_ei", "ei_per_cost", "external",  # they need a problem of their own,
                "hebo"}  # and this draws from points beside the ends of its searches
        rows = [line.split() for line in self.run_ok("list", "algorithms").splitlines()[1:]]
        names = [row[0] for row in rows if row[0] not in skip]
        names = [name for name in names if self.takes(name)]
        self.assertGreaterEqual(set(names), {"ei", "log_ei", "gp_ucb", "pi", "ts", "mes", "jes", "knowledge_gradient",
                                             "pims", "eims", "ucb_pe", "q_ei", "boke"})
        output = self.results_of(self.write("local.yaml", LOCAL % ", ".join(names)), "-strict", name="local.h5")
        with h5py.File(output) as file:
            x, labels = file["hartmann6/x"][()], file["hartmann6/algorithm"].asstr()[()]
        for points, name in zip(x, labels):
            same = (points[10][None] == points[:10]).sum(axis=1).max()
            with self.subTest(method=name):
                self.assertTrue(50 <= same < 100, f"{same} coordinates of 100 are those of an earlier input")

    def takes(self, name):
        """Whether a method accepts the study above."""
        return regatta("plan", "-quick", self.write("takes.yaml", LOCAL % name))[0] == 0 and \
            regatta("plan", "-quick", self.write("takes.yaml", METHOD % f"name: {name}, maximiser: {{local_share: 1}}"))[0] == 0
