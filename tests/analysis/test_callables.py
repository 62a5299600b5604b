"""Callables of all kinds as objectives: what runs in another process is what was given, or it is refused."""
import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

import common
import numpy as np
import regatta
from regatta import studies
from regatta.evaluator import _importable

from callables import BY_NAME, BY_PICKLE, REFUSED, noisy, plain

ARGUMENT = {"builtin": "x", "of two": "base"}  # names of arguments that are not x
LATER = ("import json, sys\nfrom regatta.evaluator import Objective, _find\n"
         "print(json.dumps([Objective(_find(words)).answer({'id': 1, 'x': {name: 0.5}})['value'] for name, words in json.load(sys.stdin)]))")


def direct(function, name):
    return float(regatta.objective(function).answer({"id": 1, "x": {name: 0.5}})["value"])


class Callables(common.Here):
    def evaluate(self, entries):
        """Values in another process, which knows the working directory and what the entries say alone."""
        asked = [(name, entry["arguments"][2:]) for name, entry in entries]
        done = subprocess.run([sys.executable, "-c", LATER], input=json.dumps(asked), capture_output=True, text=True,
                              env=studies._environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def all_of(self, kinds):
        entries, values = [], []
        for kind, function in kinds.items():
            name = ARGUMENT.get(kind, "x")
            entries.append((name, regatta.objective(function, [f"{name} real 0 1"], label=kind).entry()))
            values.append(direct(function, name))
        self.assertEqual(self.evaluate(entries), values)
        versions = [entry["arguments"][-1] for _, entry in entries]
        self.assertEqual(len(set(versions)), len(values))
        again = [regatta.objective(function, label=kind).entry()["arguments"][-1] for kind, function in kinds.items()]
        self.assertEqual(again, versions)

    def test_by_name(self):
        for function in BY_NAME.values():
            self.assertTrue(_importable(function))
        self.all_of(BY_NAME)
        self.assertEqual(os.listdir(), [])

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "needs cloudpickle")
    def test_by_pickle(self):
        for kind, function in BY_PICKLE.items():
            self.assertFalse(_importable(function), kind)
        self.all_of(BY_PICKLE)
        for kind, function in REFUSED.items():
            with self.assertRaisesRegex(ImportError, f"(?-s:^{kind} is not in a file .*$)"):
                regatta.objective(function, label=kind).entry()

    def test_without_cloudpickle(self):
        """A callable that Python alone can't store is refused in one line."""
        with mock.patch.dict(sys.modules, cloudpickle=None):
            for kind, function in {**BY_PICKLE, **REFUSED}.items():
                name = ARGUMENT.get(kind, "x")
                with self.subTest(kind):
                    try:
                        entry = regatta.objective(function, label=kind).entry()
                    except ImportError as error:
                        self.assertRegex(str(error), f"(?-s:^{kind} is not in a file that another .*cloudpickle.*$)")
                    else:
                        self.assertEqual(self.evaluate([(name, entry)]), [direct(function, name)])

    def test_names_of_arguments(self):
        for function, inputs, words in (
                (plain, ["y real 0 1"], "inputs of plain: 'y' is no argument of it .it has: x."),
                (lambda temperature: 1, ["temprature real 0 1"], "'temprature' .* did you mean 'temperature'"),
                (lambda x, y: 1, ["x real 0 1"], "its argument 'y' is missing")):
            with self.assertRaisesRegex(ValueError, words):
                regatta.objective(function, inputs)
        for function, inputs in ((lambda x, y=1: 1, ["x real 0 1"]), (lambda **all_of_them: 1, ["x real 0 1"]),
                                 (lambda x, request: 1, ["x real 0 1"])):
            regatta.objective(function, inputs)
        regatta.objective(lambda x, c: 1, ["x real 0 1"], contexts=["c real 0 1"])
        for wrong in (3, "f", None):
            with self.assertRaisesRegex(TypeError, "takes a function"):
                regatta.objective(wrong)

    def test_answers_that_are_no_numbers(self):
        request = {"id": 1, "x": {}}
        for made in (None, float("nan"), float("inf"), "3", b"3", [1, 2], {}, {"value": None},
                     {"value": 1, "constraints": {"size": None}}, {"value": 1, "duration": "long"}):
            with self.assertRaisesRegex(ValueError, "^the function returned .*, not a finite number"):
                regatta.objective(lambda: made).answer(request)
        for further in (None, float("nan"), float("-inf"), "8", b"8", [1], {}, 10**400, object()):
            self.assertEqual(regatta.objective(lambda: {"value": 1, "cost": further, "size": True}).answer(request),
                             {"value": 1.0, "record": {"size": 1.0}})

    def test_only_answers_are_answers(self):
        entry = regatta.objective(noisy, ["x real 0 1"]).entry()
        requests = "".join(f'{{"id": {k}, "x": {{"x": {k}}}}}\n' for k in range(1, 4))
        done = subprocess.run([entry["program"], *entry["arguments"]], input=requests, capture_output=True, text=True,
                              env=studies._environment())
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()],
                         [{"id": k, "value": 2.0 * k} for k in range(1, 4)], done.stderr)
        self.assertIn("printed", done.stderr)


class Hill:
    """Asks for the middle, and prints."""

    def __init__(self, start):
        self.space, self.told = start.space, None

    def ask(self):
        subprocess.run(["sh", "-c", "echo '{\"id\":2,\"x\":[0,0]}'; cat"], check=True)
        return regatta.Query([(a + b) / 2 for a, b in self.space.bounds], record={"width": self.told, "height": 2})

    def tell(self, x, y, c=None):
        self.told = 2


class Broken(Hill):
    def ask(self):
        raise ValueError("no idea")


@common.needs_program
class Methods(Callables):
    test_by_name = test_by_pickle = test_without_cloudpickle = test_names_of_arguments = None
    test_answers_that_are_no_numbers = test_only_answers_are_answers = None

    def study(self, *methods):
        return {"study": "s", "seeds": 2, "common": {"iterations": 2, "initial_points": 2}, "problems": ["branin"],
                "algorithms": list(methods)}

    def test_a_class_as_method(self):
        study = self.study("random", regatta.optimiser(Hill, record=["width"]),
                           regatta.optimiser(regatta.minimiser(search), label="Search"))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            results = regatta.run(study, ranks=1, quiet=True)
        rows = results.data
        mine = rows[(rows["algorithm"] == "Hill") & (rows["t"] > 0)]
        self.assertEqual({*mine["x_0"], *mine["x_1"]}, {2.5, 7.5})
        np.testing.assert_array_equal(mine["program_width"], [np.nan, 2.0] * 2)
        self.assertIn("Hill gives height with its queries, which the study does not name under `record`", said.getvalue())
        self.assertEqual(set(rows[(rows["algorithm"] == "Search") & (rows["t"] > 0)]["x_0"]), {1.0})

    def test_a_method_that_is_refused(self):
        with self.assertRaisesRegex(ValueError, r"(?-s:^algorithms\[0\].*'Broken' fails .* reports: ValueError: no idea "
                                                r"\(test_callables.py, line \d+\)$)"):
            regatta.run(self.study(regatta.optimiser(Broken)), quiet=True)
        self.assertEqual(os.listdir(), [])


def search(f, space, seed, budget):
    for _ in range(budget):
        f([1, 1])
