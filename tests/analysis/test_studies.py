"""Studies from Python: regatta.run, regatta.plan, regatta.objective, as a user's script calls them."""
import contextlib
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
import unittest
from pathlib import Path
from unittest import mock

import h5py
import numpy as np

from common import Here, needs_program
from functions import bowl, slow
import regatta
from regatta import studies
from regatta_analysis import InputError, launch
from regatta_analysis.report import tables
from regatta_analysis.stats import profiles
from regatta_analysis.stats.regret import dynamic_note, regret_curves

README = Path(__file__).resolve().parents[2] / "README.md"
STUDY = {"study": "small", "seeds": 2, "common": {"iterations": 3, "initial_points": 3}, "problems": ["branin"],
         "algorithms": ["random", "ei"], "sweep": [{"common.surrogate.kernel": ["gaussian", "matern52"]}]}
PLAIN = {key: value for key, value in STUDY.items() if key != "sweep"}
INPUTS = ["x real -1 1", "kernel choice rbf poly", "degree integer 2 5 if kernel=poly"]


@needs_program
class Studies(Here):
    def test_the_lines_of_the_readme(self):
        block = re.search(r"```python\n(import regatta\n.*?)```\n", README.read_text(), re.S)[1]
        self.assertLessEqual(len([line for line in block.splitlines() if line.strip()]), 6)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(block, made := {})
        frame = made["results"].data
        self.assertEqual(set(frame["algorithm"]), set(made["study"]["algorithms"]))
        self.assertEqual(len(made["results"].trials), made["study"]["seeds"] * len(made["study"]["algorithms"]))

    def test_mapping_text_and_path_are_one_study(self):
        made = [regatta.run(STUDY, "a.h5", ranks=1, quiet=True)]
        text = studies._text(STUDY)
        made.append(regatta.run(text, ranks=1, quiet=True))
        Path("study.yaml").write_text(text)
        made.append(regatta.run("study.yaml", Path("c.h5"), ranks=1, quiet=True))
        self.assertEqual(made[1].path, Path("small.h5"))
        for results in made:
            self.assertTrue(results.complete)
            np.testing.assert_array_equal(results.data["y"], made[0].data["y"])
        self.assertEqual(sorted(p.name for p in Path().iterdir()), ["a.h5", "c.h5", "small.h5", "study.yaml"])

    def test_plan(self):
        regatta.run({**STUDY, "seeds": 1}, "done.h5", ranks=1, quiet=True)
        cells = regatta.plan({**STUDY, "seeds": np.int64(2)}, "done.h5", quick=True)
        self.assertEqual(cells["algorithm"].tolist(), ["random", "ei", "ei"])
        self.assertEqual(cells["surrogate.kernel"].tolist()[1:], ["gaussian", "matern52"])
        self.assertEqual((cells["trials"].tolist(), cells["done"].tolist()), ([2] * 3, [1] * 3))
        self.assertTrue((cells["seconds"] > 0).all() and (cells["memory"] > 1e6).all())
        more = {**STUDY, "algorithms": [*STUDY["algorithms"], "pi"]}  # no count of operations stands for a time
        self.assertEqual(np.isnan(regatta.plan(more, "done.h5", quick=True)["seconds"]).tolist(), [False] * 3 + [True] * 2)
        self.assertTrue(np.isnan(regatta.plan(STUDY, quick=True)["seconds"]).all())

    def test_trials_that_stop_early_are_censored(self):
        study = {**PLAIN, "common": {"iterations": 30, "initial_points": 5, "stop_regret": 0.05}}
        results = regatta.run(study, ranks=1, quiet=True)
        rows = results.data
        early = rows[rows["stopped"] == 1].set_index(["algorithm", "seed"])
        self.assertTrue(0 < len(early) and early["t"].min() < rows["t"].max())
        curves = regret_curves(results, "branin", "simple").droplevel("instance")
        self.assertFalse(curves.isna().any(axis=None))
        for cell, row in early.iterrows():
            self.assertTrue((curves.loc[cell].loc[row["t"]:] == row["simple_regret"]).all())
        sums = regret_curves(results, "branin", "cumulative").droplevel("instance")
        self.assertTrue(all(sums.loc[cell].loc[row["t"] + 1:].isna().all() for cell, row in early.iterrows()))
        for method, mine in sums.groupby(level="algorithm"):  # no mean of those that did worse
            end = early.loc[method]["t"].min() if method in early.index else rows["t"].max()
            self.assertTrue(mine.loc[:, end + 1:].isna().all(axis=None) and mine.loc[:, 1:end].notna().all(axis=None))
        above = 2 / curves[0].median()  # all trials that ended early have reached a regret of 2
        self.assertEqual(set(profiles.hits(results, [above, 1e-9])["target"]), {above})
        self.assertIn(f" stop ended {len(early)} trials: ", dynamic_note(results))
        table = tables.final_regret(results, ["simple", "cumulative"])
        bold = [sum(cell[1] for row in tables.final_regret_grid(results, table, metric)[1] for cell in row)
                for metric in ("simple", "cumulative")]
        self.assertEqual((len(set(early.reset_index()["algorithm"])), bold), (1, [2, 0]))  # too few trials to tell the methods apart

    def test_wrong_names(self):
        results = regatta.run({**PLAIN, "seeds": 1}, ranks=1, quiet=True)
        for call, words in ((lambda: results.xarray("brannin"), "no problem 'brannin' in it, did you mean 'branin'?"),
                            (lambda: results.rows(["simple_regrett"]), "'simple_regrett' .*'simple_regret'?"),
                            (lambda: results.group("branin").values("objectiv"), "'objectiv' .*'objective'?"),
                            (lambda: results.texts("keys"), "no text 'keys', did you mean 'key'?"),
                            (lambda: results.cells(["brannin"]), "did you mean 'branin'?"),
                            (lambda: results.effects("cumulativ"), "no metric 'cumulativ', did you mean 'cumulative'?"),
                            (lambda: results.figure(band="medain"), "no band 'medain', did you mean 'median'?"),
                            (lambda: results.select(algorithms=["eei"]), "no algorithm 'eei' in it, did you mean 'ei'?")):
            with self.assertRaisesRegex(InputError, words.replace("?", "[?]")):
                call()

    def test_mistakes_name_their_keys(self):
        wrong = {**STUDY, "common": {"iteratoins": 3}, "problems": ["branin", {"name": "ackley", "dim": "two"}]}
        for call in (regatta.run, regatta.plan):
            with self.assertRaises(ValueError) as caught:
                call(wrong)
            self.assertEqual(str(caught.exception).splitlines(), [
                "common.iteratoins: unknown key 'iteratoins' in 'common', did you mean 'iterations'?",
                "problems[1].dim: 'dim' must be an integer in [1, 10000], got 'two'"])
        Path("wrong.yaml").write_text(studies._text(wrong))
        with self.assertRaisesRegex(ValueError, r"^wrong\.yaml:\d+:\d+: unknown key"):
            regatta.run("wrong.yaml")
        self.assertEqual([p.name for p in Path().iterdir()], ["wrong.yaml"])

    def test_a_cell_that_fails_is_a_warning_and_a_study_an_error(self):
        study = {**PLAIN, "problems": [regatta.objective(bowl, ["x real 0.6 1", *INPUTS[1:]], label="hot"),
                                       regatta.objective(bowl, ["x real 0 0.5", *INPUTS[1:]], label="cold")]}
        with self.assertWarnsRegex(UserWarning, "every trial of 2 of 4 cells failed"):
            results = regatta.run(study, ranks=2, quiet=True)
        self.assertEqual(set(results.trials["status"]), {"failed", "complete"})
        self.assertIn("ValueError: too hot", results.texts("message")[0])
        with self.assertRaisesRegex(RuntimeError, "every trial of 2 of 2 cells failed .*\n.*ValueError: too hot"):
            regatta.run({**study, "problems": study["problems"][:1]}, "hot.h5", ranks=2, quiet=True)
        self.assertEqual(set(regatta.load("hot.h5").trials["status"]), {"failed"})

    def test_interrupted_and_resumed(self):
        study = {"study": "long", "seeds": 2, "common": {"iterations": 12, "initial_points": 3},
                 "problems": [regatta.objective(slow, ["x real 0 1"])], "algorithms": ["random"]}

        def interrupt():
            while not list(Path("long.h5.d/evaluations").glob("*")):
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        before = signal.getsignal(signal.SIGINT)
        with self.assertRaisesRegex(KeyboardInterrupt, "stopped by a signal with 0 of 2 trials"):
            regatta.run(study, ranks=2, quiet=True)
        self.assertEqual(signal.getsignal(signal.SIGINT), before)
        self.assertTrue(list(Path("long.h5.d/evaluations").glob("*")))
        self.assertTrue(regatta.run(study, ranks=2, quiet=True).complete)


class Relay(unittest.TestCase):
    def test_a_signal_is_repeated_until_the_child_ends(self):
        """As of mpirun, which loses signals while it starts."""
        deaf = ("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                "print(flush=True)\nfor k in range(3): signal.sigwait([signal.SIGUSR1])")
        for number in launch.STOPS:
            with launch.relayed([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as (child, heard), child:
                child.stdout.readline()
                os.kill(os.getpid(), number)
                self.assertEqual((child.wait(), heard), (0, [number]))

    def test_nohup(self):
        """A signal that the user has turned off stays off."""
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_IGN))
        with launch.relayed([sys.executable, "-c", ""]) as (child, heard), child:
            os.kill(os.getpid(), signal.SIGHUP)
            self.assertEqual((child.wait(), heard), (0, []))


@needs_program
class Objectives(Here):
    def test_a_function_of_a_file(self):
        settings = {"constraints": ["size"], "record": ["cost"], "goal": "minimise", "on_failure": "worst", "optimum": 0}
        study = {**PLAIN, "problems": [regatta.objective(bowl, INPUTS, label="Bowl", **settings)]}
        study["common"] = {"iterations": 20, "initial_points": 4}
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            results = regatta.run(study, ranks=1, quiet=True)
        rows = results.data
        failed = rows["failed"]
        self.assertEqual((failed.dtype, rows["feasible"].dtype), (bool, bool))
        told = results.failures()
        self.assertEqual(list(told["evaluation"]), list(rows["row"][failed] + 1))
        self.assertTrue(told["reason"].str.endswith(" reports: ValueError: too hot").all())
        self.assertTrue(told["text"].str.fullmatch(r"(?s)ValueError: too hot\nTraceback.*raise ValueError\(.*").all())
        with h5py.File(results.path) as file:  # a text once, then the number of its evaluation
            for text in file["Bowl/provenance/failure_texts"].asstr():
                self.assertEqual([line.count("ValueError: too hot") > 0 for line in text.splitlines()],
                                 [k == 0 for k in range(text.count("\n"))])
        texts = "".join(results.trials["failures"])
        self.assertEqual((texts.count("\n"), texts.count("reports: ValueError: too hot\n")), (failed.sum(),) * 2)
        first = rows.assign(y=-rows["y"]).groupby(["algorithm", "seed"])  # a constraint: only feasible designs count
        least = first.apply(lambda t: t["y"].where(t["feasible"] & ~t["failed"]).cummin().ffill()).to_numpy().ravel()
        np.testing.assert_array_equal(rows.sort_values(["algorithm", "seed", "row"], kind="stable")["best"], least)
        np.testing.assert_array_equal(results.rows(["best"])["best"], rows["best"])
        self.assertEqual(Path("failed").read_text().count("once"), failed.sum())  # not tried again
        self.assertTrue(0 < failed.sum() < len(rows))
        np.testing.assert_array_equal(failed, rows["x_x"] > 0.5)
        np.testing.assert_allclose(rows["constraint_size"][~failed], rows["x_x"][~failed] - 0.4)
        np.testing.assert_allclose(rows["answer_cost"], np.where(failed, np.nan, 2 + rows["x_x"]))
        np.testing.assert_array_equal(rows["x_degree"].isna(), rows["x_kernel"] == "rbf")
        np.testing.assert_allclose(rows["y"][~failed], (rows["x_x"] ** 2 + rows["x_degree"].fillna(0))[~failed])

    def test_answers(self):
        answer = regatta.objective(bowl).answer
        request = {"id": 3, "x": {"x": 0.25, "kernel": "poly", "degree": 2}}
        self.assertEqual(answer(request), {"value": -2.0625, "constraints": {"size": -0.15000000000000002},
                                           "record": {"cost": 2.25}, "duration": 3.0})
        out = io.StringIO()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            regatta.objective(lambda x: 1 / x).serve(['{"id": 4, "x": {"x": 0}}', '{"id": 5, "x": {"x": 2}}'], out)
        self.assertEqual([json.loads(line) for line in out.getvalue().splitlines()],
                         [{"id": 4, "error": "ZeroDivisionError: division by zero", "retry": False},
                          {"id": 5, "value": 0.5}])
        self.assertIn("Traceback", said.getvalue())

    def test_a_version_ignores_comments(self):
        versions = set()
        for k, text in enumerate(("def f(x):\n    return x\n", "def f(x):  # a line\n\n    return x\n",
                                  "def f(x):\n    return 2 * x\n")):
            Path(f"module{k}.py").write_text(text)
            with mock.patch.object(sys, "path", [str(self.scratch), *sys.path]):
                module = __import__(f"module{k}")
            entry = regatta.objective(module.f, ["x real 0 1"]).entry()
            self.assertEqual(entry["arguments"][:5], ["-m", "regatta.evaluator", ".", f"module{k}", "f"])
            versions.add(entry["arguments"][-1])
        self.assertEqual(len(versions), 2)
        self.assertEqual(regatta.objective(module.f, version="7").entry()["arguments"][-1], "7")

    def test_a_function_of_a_notebook(self):
        space = {}
        exec("def f(x):\n    return 3 * x\n", space)  # no file has it
        study = {**PLAIN, "problems": [regatta.objective(space["f"], ["x real 0 1"])]}
        with mock.patch.dict(sys.modules, cloudpickle=None), \
                self.assertRaisesRegex(ImportError, "^f is not in a file .* cloudpickle"):
            regatta.run(study)
        stand_in = types.SimpleNamespace(dumps=lambda f: b"cdrawn_function\nf\n.")  # a pickle that names a module
        Path("drawn_function.py").write_text("def f(x):\n    return 3 * x\n")
        with mock.patch.dict(sys.modules, cloudpickle=stand_in):
            rows = regatta.run(study, ranks=1, quiet=True).data
        self.assertTrue(Path("f.pickle").exists())
        np.testing.assert_allclose(rows["y"], 3 * rows["x_x"])

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "needs cloudpickle")
    def test_a_script_on_standard_input(self):
        """Its functions have no file, and no source either: another function has another version."""
        script = ("import regatta\ndef f(x): return FACTOR * x\nentry = regatta.objective(f, ['x real 0 1'], label='f')\n"
                  f"rows = regatta.run({{**{PLAIN}, 'problems': [entry]}}, ranks=1, quiet=True).data\n"
                  "print((rows['y'] / rows['x_x']).round(6).unique())\n")
        for factor in (3, 4):
            done = subprocess.run([sys.executable, "-"], input=script.replace("FACTOR", str(factor)), capture_output=True, text=True,
                                  env=studies._environment())
            self.assertEqual(done.stdout, f"[{factor}.]\n", done.stderr)

    def test_a_file_that_runs_a_study_when_it_is_imported(self):
        Path("script.py").write_text("import regatta\ndef f(x):\n    return x\nregatta.run({'study': 's'})\n")
        entry = {"name": "external", "program": sys.executable, "inputs": ["x real 0 1"],
                 "arguments": ["-m", "regatta.evaluator", ".", "script", "f", "1"], "retries": 0}
        study = {**PLAIN, "seeds": 1, "problems": [entry]}
        with self.assertRaisesRegex(RuntimeError, "put the call under if __name__"):
            regatta.run(study, ranks=1, quiet=True)

    def test_a_script_without_its_guard(self):
        script = ("import regatta\ndef f(x):\n    return x\n%sregatta.run({'study': 's', 'common': {'iterations': 2}, "
                  "'algorithms': ['random'], 'problems': [regatta.objective(f, ['x real 0 1'])]}, ranks=1, quiet=True)\n")
        for guard, words in (("", "line 4: other processes import this file: put the call under if __name__"),
                             ("if __name__ == '__main__':\n    ", "")):
            Path("script.py").write_text(script % guard)
            done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, env=studies._environment())
            self.assertIn(words, done.stderr)
            self.assertEqual((done.returncode, Path("s.h5").exists()), (bool(words), not words), done.stderr)


class Progress(unittest.TestCase):
    LINES = ["0 of 9 trials, 1 s elapsed, ? left\n", "regatta: a warning\n",
             "7 of 9 trials, 1 failed, 2 s elapsed, 1 s left\n"]

    def shown(self, terminal, tqdm=None):
        stream = io.StringIO()
        stream.isatty = lambda: terminal
        with mock.patch.dict(sys.modules, {"tqdm": tqdm, "tqdm.auto": tqdm}), studies._Bar(False, stream) as bar:
            kinds = [bar.show(line) for line in self.LINES]
        self.assertEqual(kinds, [True, False, True])
        return stream.getvalue()

    def test_plain(self):
        self.assertEqual(self.shown(False), self.LINES[0] + self.LINES[1])
        self.assertEqual(self.shown(True), "\r" + self.LINES[0].strip() + "\x1b[K\n" + self.LINES[1] + "\r"
                         + self.LINES[2].strip() + "\x1b[K\n")

    def test_tqdm(self):
        made = []

        class Bar:
            def __init__(self, total, unit, file):
                self.total, self.n, self.closed = total, 0, False
                made.append(self)

            def set_postfix_str(self, text, refresh):
                self.text = text

            def update(self, n):
                self.n += n

            def close(self):
                self.closed = True
        self.shown(True, types.SimpleNamespace(tqdm=Bar))
        self.assertEqual((made[-1].n, made[-1].total, made[-1].closed), (7, 9, True))
        self.assertIn("1 failed", made[-1].text)

    def test_the_words_of_mpirun_are_left_out(self):
        rule = "-" * 74 + "\n"
        self.assertEqual([*studies._own_lines(["a\n", rule, "Primary job\n", rule, "b\n"])], ["a\n", "b\n"])


class Spaces(unittest.TestCase):
    SPACE = regatta.Space(["kernel", "degree", "rate"], ["choice", "integer", "real"], [0, 2, 1e-4], [2, 5, 1],
                          [{"choices": ["rbf", "poly"]}, {"if": "kernel", "is": ["poly"]}, {"log": True}])

    def test_numbers(self):
        self.assertEqual(self.SPACE.numeric([0, None, 0.1]), [0.5, 3.5, 0.1])
        self.assertEqual(self.SPACE.numeric(["poly", 3, None]), [1.5, 3, 0.01])
        box = regatta.Space(["x1"], ["real"], [0], [1])
        self.assertEqual((box.numeric([0.5]), box.decode([0.5])), ([0.5], {"x1": 0.5}))

    def test_names(self):
        for x, expected in (([0.5, 3.5, 0.1], {"kernel": "rbf", "degree": None, "rate": 0.1}),
                            ([1.2, 2.6, 1], {"kernel": "poly", "degree": 3, "rate": 1}),
                            (["poly", 5, 1], {"kernel": "poly", "degree": 5, "rate": 1}),
                            ([2.0, 5, 1], {"kernel": "poly", "degree": 5, "rate": 1})):
            self.assertEqual(self.SPACE.decode(x), expected)
