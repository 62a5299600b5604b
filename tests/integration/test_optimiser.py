"""Programs as methods: the study goes on in spite of any misbehaviour, and answers outlive a kill."""
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess

import h5py
import numpy as np

from regatta_test import HERE, LONG, RegattaTest, environment, mpirun, ranks_of, regatta, wait_until

OPTIMISER = HERE / "optimiser.py"
EXAMPLES = HERE.parents[1] / "experiments" / "examples" / "optimiser"

HEAD = """study: optimiser
seeds: 1
common: {{iterations: {iterations}, initial_points: 3}}
problems: [{problem}]
algorithms:
"""
METHOD = """  - {{name: external, label: {label}, program: {program}, retries: {retries}, time_limit: {limit},
     arguments: {arguments}, record: [width]}}
"""

SILENCE = 5  # seconds: only what never answers may meet its limit, on the busiest of machines

# what the program does at its second query, and what the record says then
MISTAKES = {
    "crash": "was ended by signal 11 (Segmentation fault): it broke",
    "silent": f"gave no answer within {SILENCE} seconds",
    "garbage": "answered something that is not a JSON object: well ...",
    "not_json": "answered a JSON object with a mistake",
    "outside": 'answered "x" outside the domain: number 1 is 1000000, not in [-5, 10]',
    "short": 'answered without a list of 2 numbers as "x"',
    "text": 'answered a "x" whose entry 1 is not a number',
    "nothing": 'answered without a list of 2 numbers as "x"',
    "error": "reports: no idea",
    "fit": 'answered a "fit" without seconds "wall" and "cpu"',
}
FINITE_MISTAKES = {
    "seen": "again, which was evaluation",
    "no_point": 'answered "x" that is not one of the 40 points of the domain',
    "no_index": 'answered "index" that is not a whole number from 0 to 39',
}
ONCE = "{name: dataset, path: pool.csv, inputs: [a], objective: y}"

SUMS = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["do"] == "start":
        answer["protocol"] = 1
        total = sum(v for point in request["initial"] for v in point["x"] if not isinstance(v, str))
    elif request["do"] == "ask":
        answer["x"] = [0, 2]
    print(json.dumps(answer), flush=True)
"""


def method(label="P", arguments=(), retries=0, program=OPTIMISER, limit=120):
    return METHOD.format(label=label, program=program, retries=retries, limit=limit,
                         arguments=[str(a) for a in arguments] or "auto")


class Optimiser(RegattaTest):
    def study(self, *methods, iterations=4, problem="branin", name="study.yaml"):
        return self.write(name, HEAD.format(iterations=iterations, problem=problem)
                          + "".join(methods))

    def failures(self, mistakes, problem="branin"):
        study = self.study(*(method(how, ["--at", 2, "--how", how],
                                    limit=SILENCE if how == "silent" else 120) for how in mistakes),
                           problem=problem)
        code, _, err = regatta("run", study, "-o", self.folder / "out.h5", "-quiet")
        self.assertEqual(code, 5, err)  # every trial failed
        text = self.run_ok("info", self.folder / "out.h5", "-failed")
        for how, reason in mistakes.items():
            line = next(l for l in text.splitlines() if f", {how}, " in l)
            self.assertIn(reason, line)
            self.assertIn("optimiser.py", line)

    def test_wrong_answers_fail_the_trial_with_one_reason(self):
        self.failures(MISTAKES)

    def test_wrong_answers_on_finite_sets(self):
        self.write("pool.csv", "a,y\n" + "".join(f"{i / 40},{i % 7}\n" for i in range(40)))
        self.failures(FINITE_MISTAKES, ONCE)

    def test_a_wrong_answer_is_asked_for_again(self):
        quiet = self.checksum(self.results_of(self.study(method()), name="quiet.h5"))
        once = self.folder / "once"
        study = self.study(method(arguments=["--at", 2, "--how", "crash", "--once", once],
                                  retries=1), name="again.yaml")
        output = self.results_of(study, name="again.h5")
        self.assertTrue(once.exists())
        with h5py.File(output) as again, h5py.File(self.folder / "quiet.h5") as first:
            np.testing.assert_array_equal(again["branin/x"][()], first["branin/x"][()])
        self.assertNotEqual(quiet, self.checksum(output))  # other arguments: another method

    def test_layout_does_not_matter_and_numbers_are_recorded(self):
        study = self.write("seeds.yaml", self.study(method(), "  - random\n").read_text()
                           .replace("seeds: 1", "seeds: 4"))
        one = self.results_of(study, name="one.h5")
        self.assertEqual(self.checksum(one), self.checksum(self.results_of(study, name="two.h5", ranks=2)))
        self.run_ok("verify", one, "-allow-programs")
        with h5py.File(one) as file:
            names = [n for n in file["branin"] if n == "program_width"]
            self.assertTrue(names)
            widths = file["branin/program_width"][()]
            self.assertIn([1 / 8, 2 / 8, 3 / 8, 4 / 8], [list(row[3:7]) for row in widths])

    def test_start_says_what_a_method_may_know(self):
        heard = self.folder / "heard"
        self.results_of(self.study(method(arguments=["--heard", heard]), iterations=2))
        requests = [json.loads(line) for line in heard.read_text().splitlines()]
        self.assertEqual([r["do"] for r in requests], ["start", "ask", "tell", "start", "ask", "tell", "ask", "tell"])
        self.assertEqual(len(requests[0]["initial"]), 3)  # of the rehearsal, before the study begins
        del requests[:3]
        start = requests[0]
        self.assertEqual(start["protocol"], 1)
        self.assertEqual(start["budget"], 2)
        self.assertEqual((start["noise_variance"], start["noise_law"]), (0, "normal"))
        self.assertNotIn("measure", start)
        self.assertEqual(start["space"], {"names": ["x1", "x2"], "kinds": ["real", "real"],
                                          "lower": [-5, 0], "upper": [10, 15]})
        with h5py.File(self.folder / "out.h5") as file:
            timing = file["branin/timing"]
            self.assertGreater(np.nansum(timing["cpu_acquire"][0]), 0.005)  # Python's start
            self.assertGreater(np.nanmin(timing["program_memory"][0]), 4e6)
            self.assertTrue(np.isnan(timing["program_memory"][0, :3]).all())  # the initial design
            self.assertEqual(np.nansum(timing["cpu_fit"][0]), 0)
            software = file["branin/provenance/software"].asstr()[0]
            self.assertIn("; reported numpy 1.24, odd__name 2__3; program optimiser.py ", software)
            x, y = file["branin/x"][0], file["branin/y"][0]
        for row, e in enumerate(start["initial"] + [requests[2], requests[4]]):
            np.testing.assert_array_equal(e["x"], x[row])
            self.assertEqual(e["y"], y[row])

    def test_names_kinds_and_words(self):
        """An optimiser reads the meaning of coordinates, answers words and null, and gets the evaluated point."""
        problem = self.write("problem.py", """#!/usr/bin/python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "value": request["x"]["rate"]}), flush=True)
""")
        named = self.write("named.py", """#!/usr/bin/python3
import json, sys
answers = [[0.25, "rbf", 0.5, 3], [0.5, 0, None, 4.4], [1, "linear", 0.7, 5]]
wrong = [[0.5, "rbf", None, 3], [0.5, "cubic", 1, 3]]
heard = open(sys.argv[1], "a")
for line in sys.stdin:
    request = json.loads(line)
    print(line, end="", file=heard, flush=True)
    answer = {"protocol": 1} if request["do"] == "start" else {}
    if request["do"] == "ask":
        answer = {"x": wrong[int(sys.argv[2])] if len(sys.argv) > 2 else answers[request["t"] - 1]}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
""")
        for program in (problem, named):
            program.chmod(0o755)
        heard = self.folder / "heard"
        text = ("{name: external, label: P, program: problem.py, inputs: [rate real 1e-5 1 log, "
                "kernel choice linear rbf poly, gamma real 1e-4 1 if kernel=rbf|poly, n integer 1 5]}")
        output = self.results_of(self.study(method(arguments=[heard], program=named, ), iterations=3,
                                           problem=text))
        requests = [json.loads(line) for line in heard.read_text().splitlines()][3:]  # the rehearsal is first
        self.assertEqual(requests[0]["space"], {
            "names": ["rate", "kernel", "gamma", "n"], "kinds": ["real", "choice", "real", "integer"],
            "lower": [1e-5, 0, 1e-4, 1], "upper": [1, 3, 1, 5],
            "inputs": [{"log": True}, {"choices": ["linear", "rbf", "poly"]},
                       {"if": "kernel", "is": ["rbf", "poly"]}, {}]})
        told = [r["x"] for r in requests if r["do"] == "tell"]
        self.assertEqual([t[1:] for t in told], [[1, 0.5, 3], [0, None, 4], [0, None, 5]])
        np.testing.assert_allclose([t[0] for t in told], [0.25, 0.5, 1], rtol=1e-14)
        with h5py.File(output) as file:
            start = [r for r in requests if r["do"] == "start"][-1]  # the first was a rehearsal
            seen = [e["x"] for e in start["initial"]] + told
            np.testing.assert_array_equal(np.array(seen, float), file["P/x_seen"][0])
        for k, reason in enumerate(("answered a \"x\" without 'gamma', which counts there",
                                    'answered a "x" whose entry 2 is not a number')):
            study = self.study(method(arguments=[heard, k], program=named), problem=text)
            self.refused("run", study, "-o", self.folder / f"w{k}.h5", "-quiet", says=reason)  # the rehearsal finds it

    def test_the_seconds_of_fits_are_booked_as_such(self):
        output = self.results_of(self.study(method(arguments=["--fit", 0.05]), iterations=4))
        with h5py.File(output) as file:
            timing = file["branin/timing"]
            for clock in ("cpu", "wall"):
                fit, acquire = (timing[f"{clock}_{stage}"][0, 3:] for stage in ("fit", "acquire"))
                np.testing.assert_allclose(fit, 0.05, rtol=0.2)
                self.assertTrue((acquire > 0).all())

    def test_contexts_and_recommendations(self):
        nature = self.study(method(), method("R", ["--how", "centre"]), problem="newsvendor")
        output = self.results_of(nature)
        self.assertNotIn("ailed", self.run_ok("info", output))
        with h5py.File(output) as file:
            recommended = file["newsvendor/recommendation"][()]
        self.assertTrue(any((row[3:7] == 0.5).all() for row in recommended))

    def test_contexts_that_the_learner_chooses(self):
        study = self.study(method(), iterations=6, problem="{name: gp_path_context, levels: 20}")
        output = self.results_of(study)
        self.assertNotIn("ailed", self.run_ok("info", output))
        self.run_ok("verify", output, "-allow-programs")

    def test_a_study_whose_program_does_not_answer_start_does_not_pass_plan(self):
        self.refused("plan", self.study(method(arguments=["--how", "no_start"])),
                     says=("study.yaml:6:5: 'P' fails on 'branin' at evaluation ", "answered 'start' without \"protocol\": 1"), lines=2)
        self.run_ok("plan", self.study(method()))
        output = self.folder / "none.h5"
        err = self.refused("run",
                           self.study("  - random\n", method(arguments=["--how", "no_start"]), problem="branin, hartmann3"),
                           "-o", output, ranks=2)
        self.assertEqual(err.count("answered 'start' without \"protocol\": 1"), 1)
        self.assertFalse(output.exists() or output.with_name("none.h5.d").exists())
        self.refused("plan", self.study(method(program="absent.py")), says="there is no program 'absent.py'")

    def test_a_program_that_takes_no_null_does_not_pass_plan(self):
        """An input that doesn't count is null; a program that takes it for a number dies of it."""
        self.write("sums.py", SUMS).chmod(0o755)
        conditional = ("{name: external, program: /bin/cat, inputs: [kernel choice rbf poly, "
                       "degree integer 2 5 if kernel=poly]}")
        study = self.study(method(program="sums.py"), problem=conditional)
        for command in (("plan", study), ("run", study, "-o", self.folder / "sums.h5")):
            code, _, err = regatta(*command)
            self.assertEqual((code, err.count("'P' fails on 'external' at evaluation ")), (2, 1), err)
            self.assertIn("sums.py ended with exit code 1", err)
        self.run_ok("plan", self.study(method(program="sums.py"), problem="branin"))
        best = 'max(request["initial"], key=lambda point: point["y"])'
        self.write("best.py", SUMS.replace('request["initial"]', f"[{best}]")).chmod(0o755)
        for words in ("rbf poly", "poly rbf"):
            study = self.study(method(program="best.py"), problem=conditional.replace("rbf poly", words))
            self.assertEqual(regatta("plan", study)[0], 2, f"a program that looks at the best design only, {words}")

    def test_a_changed_program_is_told_of_as_another_build_is(self):
        program = pathlib.Path(shutil.copy(OPTIMISER, self.folder / "mine.py"))
        study = self.study("  - random\n", method(program="mine.py"))
        output = self.results_of(study)
        self.assertNotIn("another version", self.run_ok("plan", study, "-o", output))
        program.write_text(program.read_text() + "# changed\n")
        told = "1 of 2 finished trials were made by another version of their program"
        self.assertIn(told, self.run_ok("plan", study, "-o", output))
        self.run_ok("verify", output, "-all", "-allow-programs")  # the same bits, as it happens
        self.assertIn("(0 run now", self.run_ok("run", study, "-o", output))
        self.assertIn("(1 run now", self.run_ok("run", study, "-o", output, "-recompute"))
        self.assertNotIn("another version", self.run_ok("plan", study, "-o", output))
        program.unlink()
        self.assertIn("trials    2", self.run_ok("info", output))
        self.refused("verify", output, "-allow-programs", says="its trials were made by the program mine.py")

    def killed(self, arguments, program=OPTIMISER, between=lambda: None):
        """The results of a study that was killed in the middle and resumed."""
        heard = self.folder / "heard"
        study = self.study(method(arguments=[*arguments, "--heard", heard, "--at", 8, "--how", "silent", "--once",
                                             self.folder / "silent"], program=program), iterations=20)
        output = self.folder / "out.h5"
        job = subprocess.Popen(mpirun(1, "run", study, "-o", output, "-quiet"), env=environment(),
                               start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until((self.folder / "silent").exists, job))
        for rank in ranks_of(job):
            os.kill(rank, signal.SIGKILL)
        job.wait()
        self.assertFalse(output.exists())
        self.assertTrue(list((self.folder / "out.h5.d" / "answers").iterdir()))
        asked = len(heard.read_text().splitlines())
        between()
        self.results_of(study)
        lines = [json.loads(line) for line in heard.read_text().splitlines()]
        self.assertEqual([r["do"] for r in lines].count("start"), 4)  # each run tries the program first
        self.assertEqual(len(lines) - asked, 44)  # the second process reads everything
        first = {r["t"]: r for r in lines[3:asked] if r["do"] == "tell"}
        for r in lines[asked + 3:]:  # after the rehearsal
            if r["do"] == "tell" and r["t"] in first:
                self.assertEqual(r == first[r["t"]], program == OPTIMISER)  # the same values, of the same program
        self.assertFalse((self.folder / "out.h5.d").exists())
        with h5py.File(output) as file:
            return study, output, np.nan_to_num(file["branin/asked_otherwise"][0]
                                                if "asked_otherwise" in file["branin"]
                                                else np.zeros(23))

    def test_a_kill_changes_nothing(self):
        study, output, otherwise = self.killed([])
        self.assertEqual(otherwise.sum(), 0)
        self.assertEqual(self.checksum(output), self.checksum(self.results_of(study, name="whole.h5")))
        self.run_ok("verify", output, "-allow-programs")

    def test_answers_of_another_version_are_not_used(self):
        program = pathlib.Path(shutil.copy(OPTIMISER, self.folder / "mine.py"))
        text = program.read_text()
        _, output, otherwise = self.killed([], program, lambda: program.write_text(
            text.replace('else request["seed"]', 'else request["seed"] + 1')))
        self.assertEqual(otherwise.sum(), 0)
        self.run_ok("verify", output, "-all", "-allow-programs")

    def test_a_program_that_asks_something_else_is_named(self):
        _, output, otherwise = self.killed(["--entropy"])
        self.assertGreater(otherwise.sum(), 0)
        code, _, err = regatta("verify", output, "-allow-programs")
        self.assertEqual(code, 3)
        self.assertIn("the program is not reproducible", err)

    def test_examples_run(self):
        needs = {"scipy": "scipy_search", "optuna": "optuna_search", "cmaes": "[cmaes]", "nlopt": "nlopt_search",
                 "sklearn": "sklearn_bo"}
        missing = [package for package in needs if not importlib.util.find_spec(package)]
        slow = [] if LONG else ["optuna", "sklearn"]  # take seconds to load; test_several has them
        text = (EXAMPLES / "study.yaml").read_text()
        text = text.replace("seeds: 5", "seeds: 1").replace("iterations: 40", "iterations: 8")
        text = text.replace("problems: [branin, hartmann3]", "problems: [branin]")
        head, *methods = text.split("  - {")
        methods = [m.replace("program: ", f"program: {EXAMPLES}/") for m in methods
                   if not any(needs[package] in m for package in missing + slow)]
        output = self.results_of(self.write("examples.yaml", "  - {".join([head, *methods])))
        self.assertNotIn("ailed", self.run_ok("info", output))
        if missing:
            self.skipTest("adapters left out, for want of " + ", ".join(missing))
