"""A space of ConfigSpace as inputs of a problem."""
import json

import common
import regatta
import regatta.configspace

# As ConfigSpace 1.2 writes a space; versions before 1.0 have `default` in place of `default_value`, and no `meta`.
SPACE = {"name": None, "hyperparameters": [
    {"type": "uniform_float", "name": "C", "lower": 1e-4, "upper": 1e3, "default_value": 1.0, "log": True, "meta": None},
    {"type": "uniform_int", "name": "degree", "lower": 2, "upper": 5, "default_value": 2, "log": False, "meta": None},
    {"type": "categorical", "name": "kernel", "choices": ["linear", "poly", "rbf"], "weights": None, "default_value": "rbf"},
    {"type": "ordinal", "name": "size", "sequence": [1, 2, 4], "default_value": 1, "meta": None},
    {"type": "uniform_float", "name": "gamma", "lower": 0.0, "upper": 8.0, "default_value": 1.0, "log": False},
    {"type": "constant", "name": "shrinking", "value": True, "meta": None}],
    "conditions": [{"type": "EQ", "child": "degree", "parent": "kernel", "value": "poly"},
                   {"type": "NEQ", "child": "gamma", "parent": "kernel", "value": "linear"},
                   {"type": "IN", "child": "kernel", "parent": "size", "values": [2, 4]}],
    "forbiddens": [], "python_module_version": "1.2.0", "format_version": 0.4}
LINES = ["C real 0.0001 1000.0 log", "size choice 1 2 4", "kernel choice linear poly rbf if size=2|4",
         "degree integer 2 5 if kernel=poly", "gamma real 0.0 8.0 if kernel=poly|rbf"]


def changed(number, **keys):
    return {**SPACE, "hyperparameters": [{**one, **(keys if i == number else {})} for i, one in
                                         enumerate(SPACE["hyperparameters"])]}


@common.needs_program
class Spaces(common.Here):
    def test_a_file_becomes_inputs_in_an_order_in_which_a_study_runs(self):
        path = self.scratch / "space.json"
        path.write_text(json.dumps(SPACE))
        self.assertEqual(regatta.configspace.inputs(path), LINES)
        self.assertEqual(regatta.configspace.inputs(SPACE), LINES)
        # In a study of the program: `degree` counts only where `kernel` is poly.
        seen = regatta.run({"study": "s", "seeds": 2, "common": {"iterations": 4, "initial_points": 8},
                            "problems": [regatta.objective(lambda **x: float((x["degree"] is not None) != (x["kernel"] == "poly")),
                                                           LINES, label="SVM")],
                            "algorithms": ["random"]}, quiet=True).data
        self.assertEqual(set(seen["y"]), {0.0})

    def test_what_inputs_can_not_be_is_named_in_one_line(self):
        conditions = [{"type": "AND", "child": "degree", "conditions": []}], [{"type": "LT", "child": "gamma", "parent": "C",
                                                                              "value": 1}]
        for space, said in (
                ({}, "no list 'hyperparameters'"), ({**SPACE, "forbiddens": [{"type": "EQUALS"}]}, "no forbidden clauses"),
                (changed(0, type="normal_float"), "C is of type 'normal_float'"), (changed(0, name="a b"), "'a b' can't be a word"),
                (changed(2, choices=["x", ""]), "value of kernel '' can't be a word"),
                ({**SPACE, "conditions": conditions[0]}, "the condition AND of degree"),
                ({**SPACE, "conditions": conditions[1]}, "the condition LT of gamma"),
                ({**SPACE, "conditions": SPACE["conditions"] * 2}, "degree has several conditions"),
                ({"hyperparameters": [{"name": "x"}]}, "a hyperparameter or a condition lacks 'type'"),
                ({"hyperparameters": [{"type": "categorical", "name": "k"}]}, "lacks 'choices'"),
                ({"hyperparameters": [5]}, "is no mapping"),
                ({**SPACE, "conditions": [{**SPACE["conditions"][0], "value": "sigmoid"}]}, "accepted: linear, poly, rbf"),
                ({**SPACE, "conditions": [{**SPACE["conditions"][0], "child": "nu"}]}, "a condition is for nu, which is no"),
                ({**SPACE, "conditions": [*SPACE["conditions"], {"type": "EQ", "child": "size", "parent": "kernel", "value": "rbf"}]},
                 "form a circle")):
            with self.subTest(said=said), self.assertRaisesRegex(ValueError, said) as caught:
                regatta.configspace.inputs(space)
            self.assertNotIn("\n", str(caught.exception))
        path = self.scratch / "space.json"
        path.write_text("study: s\n")
        with self.assertRaisesRegex(ValueError, "space.json: this is no JSON"):
            regatta.configspace.inputs(path)
