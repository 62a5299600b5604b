"""Interchange after gest-api: a method of Regatta as a generator, and a generator as an optimiser of a study."""

import common
import regatta
from generators import Pairs  # before what follows: it finds the stand-in where gest-api is missing

import regatta.gest
from gest_api.generator import Generator as Base
from gest_api import vocs as described
from gest_api.vocs import VOCS


def bowl(point):
    return (point["a"] - 2) ** 2 + (point["b c"] + 1) ** 2 + (0 if point["solvent"] == "x y" else 3)


def problem(**more):
    return VOCS(variables={"a": [0.0, 5.0], "b c": [-3.0, 3.0], "solvent": {"water", "x y"}}, objectives={"loss": "MINIMIZE"},
                **more)


class AsGenerator(common.Case):
    def test_a_method_of_regatta(self):
        """It takes others' points, begins with a design, makes several points at once, and comes near the minimum. Equal
        seeds give equal points, for points whose results are missing too."""
        runs = []
        for _ in range(2):
            generator = regatta.gest.Generator(problem(constants={"k": 7}), "ei", seed=3, initial_points=5)
            self.assertIsInstance(generator, Base)
            self.assertFalse(generator.returns_id)
            given = {"a": 4.5, "b c": 2.5, "solvent": "water", "k": 7}
            generator.ingest([{**given, "loss": bowl(given)}])
            points = generator.suggest(3)
            points += generator.suggest()
            results = [{**point, "loss": bowl(point)} for point in points]
            results[0]["loss"] = float("nan")  # an evaluation that failed
            generator.ingest(results)
            batch = generator.suggest(2)
            self.assertEqual(len({tuple(point.items()) for point in batch}), 2)
            missing = generator.suggest(1)  # without the results of the batch
            self.assertNotIn(missing[0], batch)
            generator.finalize()
            runs.append(points + batch + missing)
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(len(runs[0]), 7)
        for point in runs[0]:
            self.assertEqual(list(point), ["a", "b c", "solvent", "k"])
            self.assertEqual(point["k"], 7)
            self.assertTrue(0 <= point["a"] <= 5 and -3 <= point["b c"] <= 3 and point["solvent"] in ("water", "x y"), point)
        design = [{**point, "loss": bowl(point)} for point in runs[0][:4]]
        generator.ingest([{**point, "loss": bowl(point)} for point in runs[0][4:]])
        for _ in range(4):
            point, = generator.suggest(1)
            generator.ingest([{**point, "loss": bowl(point)}])
        best = min(y for _, y in generator._results)
        self.assertLess(best, min(result["loss"] for result in design))

    def test_what_it_refuses(self):
        variables, make = {"x": [0.0, 1.0]}, regatta.gest.Generator
        for vocs, words in ((VOCS(variables={}, objectives={"f": "MINIMIZE"}), "needs a variable"),
                            (VOCS(variables=variables, objectives={}), "one objective"),
                            (VOCS(variables=variables, objectives={"f": "MINIMIZE", "g": "MINIMIZE"}), "one objective"),
                            (VOCS(variables=variables, objectives={"f": "EXPLORE"}), "one objective"),
                            (VOCS(variables=variables, objectives={"f": "MAXIMIZE"}, constraints={"c": ["LESS_THAN", 0.0]}),
                             "can't take constraints"),
                            *((VOCS(variables={"x": one()}, objectives={"f": "MAXIMIZE"}), "ContextualVariable 'x'")
                              for one in (getattr(described, "ContextualVariable", None),) if one)):  # newer than 0.2
            with self.assertRaisesRegex(ValueError, words):
                make(vocs)
        generator = make(VOCS(variables=variables, objectives={"f": "MAXIMIZE"}), "eii")
        for results, words in (([{"x": 1.0}], "lacks f"), ([{"x": 1.0, "f": 1.0, "_id": 3}], "3 is no point")):
            with self.assertRaisesRegex(ValueError, words):
                generator.ingest(results)
        with self.assertRaisesRegex(ValueError, "0 points"):
            generator.suggest(0)
        with self.assertRaisesRegex(ValueError, "unknown algorithm 'eii', did you mean 'ei'"):
            generator.suggest(1)


class AsOptimiser(common.Here):
    def test_a_generator_in_a_study(self):
        """With one worker and with several, with words, a problem's constraints and its initial design."""
        inputs = ["a real 0 5", "n integer 1 4", "solvent choice water ether"]
        study = {"study": "race", "seeds": 2, "common": {"iterations": 5, "initial_points": 3},
                 "problems": [{"name": "branin"}, {"name": "branin", "label": "Two at a time", "workers": 2, "duration": "uniform(1, 2)"},
                              regatta.objective(mixed, inputs, constraints=["c"], label="Mixed")],
                 "algorithms": [regatta.gest.optimiser(Pairs, arguments={"seed": 5})]}
        data = regatta.run(study, "race.h5", ranks=1, quiet=True).data
        asked = data[data.t > 0]
        self.assertEqual(len(asked), 3 * 2 * 5)
        self.assertTrue((data.algorithm == "Pairs").all() and (data.status == "complete").all())
        own = asked[(asked.problem == "branin") & (asked.seed == 0)]
        other = asked[(asked.problem == "branin") & (asked.seed == 1)]
        self.assertEqual(own.x_0.tolist(), other.x_0.tolist())  # its seed is its own
        self.assertEqual(set(asked[asked.problem == "Mixed"].x_solvent), {"water", "ether"})

    def test_what_it_refuses(self):
        """In one line, when the study begins."""
        study = {"study": "race", "seeds": 1, "common": {"iterations": 2, "initial_points": 2},
                 "problems": [{"name": "gp_path", "dim": 1, "levels": 5}], "algorithms": [regatta.gest.optimiser(Pairs)]}
        with self.assertRaisesRegex(ValueError, "a generator needs a box, this problem has a finite set of designs"):
            regatta.run(study, "race.h5", ranks=1, quiet=True)


def mixed(a, n, solvent):
    return {"value": a * n, "constraints": {"c": a - 4 if solvent == "water" else -1}}
