"""Problems with many inputs against the programs in tests/reference/high_dimension.py, at the points of the smoke
study, whose checksum is in the table of test_checksums.py."""
import sys

import h5py
import numpy as np

from regatta_test import HERE, RegattaTest, main, regatta

sys.path.insert(0, str(HERE.parent / "reference"))
import high_dimension as reference  # noqa: E402

SMOKE = HERE.parent.parent / "experiments" / "high_dimension" / "smoke.yaml"
BAD = """study: bad
common: {iterations: 1, initial_points: 2, initial_design: uniform}
problems:
  - {%s}
algorithms: [%s]
"""


class HighDimension(RegattaTest):
    def test_values(self):
        output = self.folder / "smoke.h5"
        self.run_ok("run", SMOKE, "-o", output, "-quiet", "-strict")
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
                    code, _, err = regatta(*command)
                    self.assertEqual(code, 2, err)
                    self.assertRegex(err, r"\A(regatta: (plan: )?)?\S*bad\.yaml:\d+:\d+: [^\n]*\n\Z")
                    self.assertIn(words, err)
                self.assertFalse((self.folder / "bad.h5").exists())


if __name__ == "__main__":
    main()
