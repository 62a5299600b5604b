"""Cost-adjusted simple regret, as a claim compares it, and trials that the rule of the Gittins index ends."""
import re

import common
import numpy as np
from regatta_analysis import load
from regatta_analysis.claims import checks, claims, forms
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats import evidence
from regatta_analysis.stats.measures import trial_values
from regatta_analysis.stats.price import cost_adjusted

STUDY = """
study: price
seeds: 8
common: {iterations: 8, initial_points: 4, maximiser: {raw_samples: 64, restarts: 1}}
problems:
  - {name: branin, label: costs, duration: "point(1) * (6 + x1)"}
  - {name: branin, label: no clock}
algorithms: [random, {name: gittins, lambda: 1, cost: "6 + x1"}, {name: gittins, label: decay, decay: 2, cost: "6 + x1"}]
"""


@common.needs_program
class Price(common.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.found = common.scratch_directory(cls), {}
        for name, text in (("whole", STUDY), ("ended", STUDY.replace("common: {", "common: {stop_rule: true, "))):
            study = cls.folder / f"{name}.yaml"
            study.write_text(text)
            common.regatta("run", study, "-o", study.with_suffix(".h5"), "-quiet", "-strict")
            cls.found[name] = load(study.with_suffix(".h5"))

    def test_against_a_loop(self):
        results = self.found["whole"]
        for problem in ("costs", "no clock"):
            group, values = results.group(problem), cost_adjusted(results, problem, 0.5)
            regret = group.values("simple_regret")
            for k, row in group.trials.iterrows():
                own = values.loc[(row["algorithm"], row["instance"], row["seed"])].to_numpy()
                spent = 0.0
                for t in range(9):
                    if t:
                        spent += 6 + group.values("x")[k, 3 + t, 0] if problem == "costs" else 1
                    self.assertAlmostEqual(own[t], regret[k, 3 + t] + 0.5 * spent, delta=1e-5)
            last = trial_values(results, problem, {"metric": "cost_adjusted(0.5)"})
            np.testing.assert_array_equal(last, values.iloc[:, -1])
        for price in (np.nan, np.inf, -1):
            with self.assertRaisesRegex(InputError, "a price is a number >= 0"):
                cost_adjusted(results, "costs", price)

    def test_trials_that_the_rule_ends(self):
        """They are the others, to the last bit, without the queries from the first one that the rule would not make."""
        whole, ended = self.found["whole"], self.found["ended"]
        for problem in ("costs", "no clock"):
            a, b = whole.group(problem), ended.group(problem)
            self.assertEqual(a.trials["seed"].tolist(), b.trials["seed"].tolist())
            paid, values = cost_adjusted(whole, problem, 0.5), cost_adjusted(ended, problem, 0.5)
            for k, row in a.trials.iterrows():
                stop = np.flatnonzero(a.values("stop")[k] == 1) if row["algorithm"] == "gittins" else []
                end = int(stop[0]) if len(stop) else 12
                self.assertEqual(b.trials["n_iterations"][k], end)
                for name in ("x", "y", "simple_regret"):
                    np.testing.assert_array_equal(a.values(name)[k, :end], b.values(name)[k, :end])
                stopped = b.values("stopped")[k, :end]
                self.assertEqual((stopped[-1], np.abs(stopped[:-1]).max()), (3 if end < 12 else 0, 0))
                key = (row["algorithm"], row["instance"], row["seed"])
                self.assertAlmostEqual(values.loc[key].iloc[-1], paid.loc[key].iloc[end - 4], delta=1e-5)
            ends = b.trials["n_iterations"][b.trials["algorithm"] == "gittins"]
            self.assertTrue(4 <= ends.min() < 12)
        self.assertIn("48 equal in every bit", common.regatta("verify", self.folder / "ended.h5", "-all"))

    def test_as_the_value_of_a_claim(self):
        """The comparison is that of the last values: the trials that the rule ended pay for fewer queries."""
        value = {"metric": "cost_adjusted(3)"}
        check = {"kind": "better", "who": "gittins", "against": "random", "on": "price", "combine": "every", "value": value}
        forms.require(check)
        self.assertTrue(forms.needs_optimum(check))
        for name, results in self.found.items():
            outcome = checks.run(check, claims.Studies({"price": self.folder / f"{name}.h5"}))
            self.assertIn("simple regret plus 3 times the cost at the last query", str(outcome.method))
            for item, problem in zip(outcome.items, ("costs", "no clock")):
                pairs = trial_values(results, problem, value).unstack("algorithm")
                found = evidence.compare(pairs["gittins"], pairs["random"], None, "ratio", statistic="mean")
                self.assertEqual((item.n, item.value), (8, found.typical))
        self.assertTrue(all(a.value > b.value for a, b in zip(*(checks.run(check, claims.Studies(
            {"price": self.folder / f"{name}.h5"})).items for name in ("whole", "ended")))))
        with self.assertRaisesRegex(InputError, "a price is a number >= 0, not 'x'"):
            trial_values(self.found["ended"], "costs", {"metric": "cost_adjusted(x)"})

    def test_mistakes(self):
        study = self.folder / "mistake.yaml"
        for old, new, says in ((", {name: gittins, lambda: 1, cost: \"6 + x1\"}, {name: gittins, label: decay, decay: 2, cost: "
                                "\"6 + x1\"}", "", "7:5: 'stop_rule' ends no trial, because no method here has a rule to stop"),
                               ("6 + x1)\"}", "6 + x1)\", workers: 2}", "6:5: 'stop_rule' needs 'workers: 1'")):
            text = (self.folder / "ended.yaml").read_text()
            self.assertIn(old, text)
            study.write_text(text.replace(old, new))
            with self.assertRaisesRegex(AssertionError, re.escape(says)):
                common.regatta("plan", study)
