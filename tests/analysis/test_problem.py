"""`regatta.problem`: values, gradients, noise and mistakes, from the program that serves them."""
import os
import signal
import threading
import unittest
from unittest import mock

import common
import numpy as np
import regatta
import regatta_analysis


class Problem(unittest.TestCase):
    def problem(self, *words, **settings):
        made = regatta.problem(*words, **settings)
        self.addCleanup(made.close)
        return made

    def test_values_are_those_of_eval(self):
        f = self.problem("bbob", function=15, dim=3, instance=4)
        x = [0.3, -1.25, 1 / 3]
        said = common.regatta("eval", "bbob", "-set", "function=15,dim=3", "-instance", "4", "-x", ",".join(map(repr, x)))
        words = {line.split()[0]: line.split()[1] for line in said.splitlines() if len(line.split()) == 2}
        self.assertEqual(f(x), float(words["f"]))
        self.assertEqual(f.regret(x), float(words["regret"]))
        self.assertEqual((f.name, f.instance, f.dim, f.names, f.bounds[0]),
                         ("bbob", 4, 3, ["x1", "x2", "x3"], (-5.0, 5.0)))
        self.assertIsNone(f.context)

    def test_batches_gradients_and_the_optimum(self):
        f = self.problem("branin")
        points = np.random.default_rng(0).uniform([-5, 0], [10, 15], (200, 2))
        values = f(points)
        self.assertEqual(values.shape, (200,))
        self.assertEqual(list(values), f(points.tolist()))
        self.assertEqual(values[7], f(points[7]))
        np.testing.assert_allclose(f.regret(points), f.optimum - values)
        self.assertEqual(len(f.optimisers), 3)
        np.testing.assert_allclose([f.regret(x) for x in f.optimisers], 0, atol=1e-12)
        step = np.array([[1e-6, 0], [0, 1e-6]])
        np.testing.assert_allclose(f.gradient(points[3]), (f(points[3] + step) - f(points[3] - step)) / 2e-6,
                                   rtol=1e-5)
        searched = self.problem("gp_path", instance=2, study_seed=7)  # a finite set, its optimum by scan
        self.assertEqual(searched.optimum, max(searched(searched.space.points)))

    def test_constraints(self):
        f = self.problem("gardner", simulation=2)
        self.assertEqual(f.constraint_names, ("c",))
        points = np.random.default_rng(0).uniform(0, 6, (20, 2))
        np.testing.assert_allclose(f.constraints(points)["c"],
                                   np.sin(points[:, 0]) * np.sin(points[:, 1]) + 0.95, atol=1e-15)
        self.assertEqual(f.constraints([0, 0]), {"c": 0.95})
        self.assertLess(f.constraints(f.optimisers[0])["c"], 1e-12)
        self.assertAlmostEqual(f.optimum, 1 - np.arcsin(0.95), 14)
        self.assertEqual(self.problem("branin").constraints([0, 0]), {})

    def test_noise_and_contexts_are_those_of_a_study(self):
        """With a study seed and without one, in the study and here; eval has the same default."""
        for seed in (None, 5):
            with self.subTest(seed=seed):
                self.check_study(seed)
        self.assertIn(", instance 0 of study seed 1", common.regatta("eval", "gp_path", "-x", "0.3,0.2,0.5"))

    def check_study(self, seed):
        folder = common.scratch_directory(self)
        (folder / "study.yaml").write_text(
            f"study: s\n{'' if seed is None else f'seed: {seed}'}\nseeds: 2\n"
            "common: {iterations: 3, initial_points: 2, noise_variance: 0.25}\n"
            "problems: [branin, newsvendor, {name: gp_path_set, points: 50}]\nalgorithms: [random]\n")
        common.regatta("run", folder / "study.yaml", "-o", folder / "s.h5", "-quiet")
        results = regatta.load(folder / "s.h5")
        self.assertIs(regatta.load, regatta_analysis.load)
        for name, options in (("branin", {}), ("newsvendor", {}), ("gp_path_set", {"points": 50})):
            f = self.problem(name, **({} if seed is None else {"study_seed": seed}), noise_variance=0.25, noise_seed=1,
                             **options)
            group = results.group(name)
            row = list(group.trials["seed"]).index(1)
            x, y = group.values("x")[row], group.values("y")[row]
            c = None
            if f.context:
                c = f.contexts(len(x), seed=1)
                np.testing.assert_array_equal(c, group.values("c")[row])
            np.testing.assert_array_equal(f(x[:2], c and c[:2]), y[:2])
            np.testing.assert_array_equal(f(x[2:], c and c[2:]), y[2:])  # the count goes on
            np.testing.assert_array_equal(f.objective(x), group.values("objective")[row])
            if name == "gp_path_set":
                self.assertEqual(f.optimum, group.column("optimum")[row])

    def test_inputs_with_names_and_words(self):
        program = common.HERE.parents[1] / "experiments" / "examples" / "external" / "evaluator.py"
        f = self.problem("external", program=str(program), optimum=92, inputs=[
            "temperature real 20 120", "stirrers integer 1 6", "solvent choice water ethanol toluene"])
        self.assertEqual((f.names, f.space.kinds), (["temperature", "stirrers", "solvent"], ["real", "integer", "choice"]))
        self.assertEqual(f.optimum, 92)
        self.assertAlmostEqual(f([71.5, 3, "ethanol"]), 92)
        self.assertEqual(f([[71.5, 3, "water"], [71.5, 2, "toluene"]]), [80, 85.5])
        with self.assertRaisesRegex(ValueError, "entry 3 is not a number"):
            f([71.5, 3, "mud"])

    def test_a_wrong_point_is_a_value_error_and_no_end(self):
        f = self.problem("branin")
        for x, why in (([1], "point 1 of \"x\" is not a list of 2 numbers"),
                       ([[1, 2], [1, 99]], 'point 2 of "x": number 2 is 99, not in [0, 15]'),
                       (["a", 1], "entry 1 is not a number"), ([float("nan"), 1], "not finite"), ([], "not a list of 2"),
                       (None, "a list of numbers, not None"), ({"x1": 1}, "a list of numbers"), ([1 + 2j, 1], "no number"),
                       ("12", "a list of numbers, not '12'"), ([object(), 1], "no number")):
            with self.subTest(why), self.assertRaises(ValueError) as raised:
                f(x)
            self.assertIn(why, str(raised.exception))
        for variance in (-1, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "noise_variance must be"):
                self.problem("branin", noise_variance=variance)
        for x, seed in (([10**19, 2], 0), ([1, 2], 2**63)):  # no number of JSON's readers: the answer has no id
            far = self.problem("branin", noise_variance=1, noise_seed=seed)
            with self.assertRaisesRegex(ValueError, "integer"):
                far(x)
            far.noise_variance = 0
            self.assertLess(far([1, 2]), 0)
        with self.assertRaisesRegex(ValueError, "no context"):
            f([1, 2], [0.5])
        with self.assertRaisesRegex(ValueError, "has no context"):
            f.contexts()
        with self.assertRaisesRegex(ValueError, "f needs a context"):
            self.problem("newsvendor")([0.5])
        with self.assertRaisesRegex(ValueError, "not one of the"):
            self.problem("gp_path")([0.123] * 3)
        self.assertLess(f([1, 2]), 0)

    def test_mistakes_of_the_call_are_the_programs_line(self):
        for words, settings, why in ((["brann"], {}, "did you mean 'branin'"),
                                     (["bbob"], {"function": 25}, "'function' must be an integer in [1, 24]"),
                                     (["branin"], {"instance": -1}, "-instance must be"),
                                     (["external"], {}, "external needs -set inputs"),
                                     (["branin"], {"plugins": ["absent.so"]}, "absent.so")):
            with self.subTest(why), self.assertRaises(ValueError) as raised:
                regatta.problem(*words, **settings)
            self.assertIn(why, str(raised.exception))
        with mock.patch.dict(os.environ, REGATTA="/absent/regatta"), self.assertRaises(FileNotFoundError):
            regatta.problem("branin")

    def test_a_program_that_is_not_there(self):
        for name, seen in (("build/none", rf" \(seen from {os.getcwd()}\)"), ("/no/regatta", ""), (os.path.abspath(__file__), "")):
            with mock.patch.dict(os.environ, REGATTA=name), self.assertRaisesRegex(
                    FileNotFoundError, f"^the environment variable REGATTA names {name}, which is not a program{seen}$"):
                regatta.problem("branin")

    def test_the_end(self):
        with regatta.problem("sphere", dim=3) as f:
            self.assertEqual(f([0, 0, 0]), 0)
        f.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            f([0, 0, 0])
        self.assertEqual(f._process.returncode, 0)
        killed = self.problem("sphere")
        os.kill(killed._process.pid, signal.SIGKILL)
        with self.assertRaisesRegex(RuntimeError, "ended with exit code -9"):
            killed([0] * killed.dim)

    def test_threads_share_it(self):
        f, wrong = self.problem("sphere", dim=1), []

        def ask(k):
            wrong.extend(v for v in (k / 10,) for _ in range(50) if f([v]) != -v * v)
        threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
