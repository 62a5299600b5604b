"""The tuning problems: known scores, data as scikit-learn has them, the study on generated data."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest

from regatta_test import HERE, LONG, RegattaTest, regatta

BOKE = HERE.parents[1] / "experiments" / "boke"
TUNING = BOKE / "tuning.py"

FOREST = {"n_estimators": 50, "max_depth": 8, "min_samples_split": 4, "max_features": 0.5,
          "min_impurity_decrease": 0}
XGBOOST = {"n_estimators": 20, "max_depth": 4, "learning_rate": 0.3, "subsample": 0.8,
           "colsample_bytree": 0.8, "gamma": 0.1, "min_child_weight": 2.5}


def have(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def ask(arguments, *settings, **variables):
    """The answers to questions for these settings."""
    lines = "".join(json.dumps({"id": i, "x": x}) + "\n" for i, x in enumerate(settings))
    done = subprocess.run([sys.executable, TUNING, *arguments], input=lines, capture_output=True, text=True,
                          env={**os.environ, **variables})
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == list(range(len(settings))), done.stderr
    return answers


class Tuning(RegattaTest):
    @unittest.skipUnless(have("sklearn"), "python3-sklearn is not installed")
    def test_known_score(self):
        import sklearn
        first, again, other = ask(["--model", "forest", "--data", "diabetes"], FOREST, FOREST,
                                  {**FOREST, "max_depth": 2})
        self.assertEqual(first["value"], again["value"])
        if sklearn.__version__.startswith("1.2."):
            self.assertAlmostEqual(first["value"], 0.435843664, delta=1e-6)
        self.assertTrue(0.3 < first["value"] < 0.6)
        self.assertNotEqual(other["value"], first["value"])

    @unittest.skipUnless(LONG and have("sklearn", "xgboost"), "a long test; or python3-xgboost is not installed")
    def test_xgboost(self):
        first, = ask(["--model", "xgboost", "--data", "friedman"], XGBOOST)
        again, wrong = ask(["--model", "xgboost", "--data", "friedman"], XGBOOST, FOREST)
        self.assertEqual(first, again)
        self.assertTrue(0.6 < first["value"] < 0.95)
        self.assertIn("the inputs of this model are n_estimators, max_depth", wrong["error"])

    @unittest.skipUnless(have("sklearn"), "python3-sklearn is not installed")
    def test_without_a_request_it_says_what_is_missing(self):
        for data, code, words in (("friedman", 0, ""), ("nowhere.csv", 1, "no file nowhere.csv")):
            done = subprocess.run([sys.executable, TUNING, "--model", "forest", "--data", data], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertIn(words, done.stderr)

    def test_what_is_missing_is_said(self):
        (self.folder / "sklearn").mkdir()
        (self.folder / "sklearn" / "__init__.py").write_text("raise ImportError('none')\n")
        answer, = ask(["--model", "forest", "--data", "friedman"], FOREST,
                      PYTHONPATH=str(self.folder))
        self.assertIn("apt install python3-sklearn", answer["error"])
        if have("sklearn"):
            answer, = ask(["--model", "forest", "--data", "winequality-red.csv"], FOREST,
                          REGATTA_DATA="/nowhere")
            self.assertIn("nor in REGATTA_DATA = /nowhere; the data are at https://",
                          answer["error"])

    @unittest.skipUnless(have("sklearn"), "python3-sklearn is not installed")
    def test_data(self):
        spec = importlib.util.spec_from_file_location("tuning", TUNING)
        tuning = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tuning)
        housing = self.write("housing.csv", (
            "longitude,latitude,housing_median_age,total_rooms,total_bedrooms,population,"
            "households,median_income,median_house_value,ocean_proximity\n"
            "-122.5,37.5,41.0,880.0,129.0,322.0,126.0,8.3252,452600.0,NEAR BAY\n"
            "-122.0,37.0,21.0,7099.0,,2401.0,1138.0,8.3014,358500.0,NEAR BAY\n"))
        x, y = tuning.load(str(housing))
        self.assertEqual(x.tolist(), [[8.3252, 41, 880 / 126, 129 / 126, 322, 322 / 126, 37.5,
                                       -122.5]])
        self.assertEqual(y.tolist(), [4.526])
        wine = self.write("wine.csv", '"acid";"alcohol";"quality"\n7.4;9.5;5\n7.4;9.5;5\n')
        x, y = tuning.load(str(wine))
        self.assertEqual((x.tolist(), y.tolist()), ([[7.4, 9.5]] * 2, [5, 5]))
        x, y = tuning.make_friedman()
        self.assertEqual((x.shape, y.shape), ((500, 10), (500,)))
        self.assertTrue(10 < y.mean() < 18)
        few, _ = tuning.reduce(x, y, 100)
        self.assertEqual(len(few), 100)
        from sklearn.model_selection import KFold
        folds = KFold(5, shuffle=True, random_state=0)
        self.assertEqual([len(held) for _, held in folds.split(range(1599))], [320] * 4 + [319])
        self.assertEqual([len(held) for _, held in folds.split(range(4898))],
                         [980] * 3 + [979] * 2)

    @unittest.skipUnless(LONG and have("sklearn", "xgboost"), "a long test; or python3-xgboost is not installed")
    def test_study(self):
        study, output = BOKE / "fig9_smoke.yaml", self.folder / "out.h5"
        self.run_ok("run", study, "-o", output, "-quiet", "-strict", ranks=2)
        self.assertIn("10 trials", self.run_ok("info", output).replace("trials    10",
                                                                       "10 trials"))
        out = self.run_ok("verify", output, "-all", "-study", study)
        self.assertIn("run again: 10 trials, 10 equal in every bit", out)

    def test_plans(self):
        for name in ("fig9", "fig9_reduced"):
            code, out, err = regatta("plan", BOKE / f"{name}.yaml", *([] if LONG else ["-quick"]))
            self.assertEqual(code, 0, err)
            self.assertIn("600 trials, 0 done", out)
