"""The regret of the last recommendation against its average so far, on regrets made here."""
import papers  # noqa: F401  first: it sets the path
import common
import numpy as np
import synthetic
from regatta_analysis.claims import checks, claims, forms
from regatta_analysis.claims.grades import CONTRADICTED, NOTHING, SHOWN
from reproduce import averages


class Averages(common.Case):
    def outcome(self, mean, noise=0.05, known=60):
        """The outcome for regrets around mean(t); t is 1 for the recommendation from the initial design. `known`: trials
        that have a regret."""
        made = synthetic.problem("Hump", ["Proposed"], seeds=60, queries=9, initial=2, dim=1)
        regret, t = made["arrays"]["instantaneous_regret"], np.arange(1, 11)
        regret[:] = np.nan
        regret[:, 1:] = mean(t) * (1.0 + noise * np.random.default_rng(3).standard_normal((60, 10)))
        regret[known:] = np.nan
        synthetic.write(self.scratch / "s.h5", [made])
        check = {"kind": "below_average", "who": "Proposed", "on": "s"}
        forms.require(check)
        return checks.run(check, claims.Studies({"s": self.scratch / "s.h5"}))

    def test_grades(self):
        """A regret that falls is below its average, also if it rises at the end but stays below. A late peak above the
        average is against, and a level regret is open."""
        for mean, grade in ((lambda t: 1.0 / t, SHOWN), (lambda t: np.where(t < 9, 1.0 / t, 0.15), SHOWN),
                            (lambda t: np.where(t < 9, 1.0 / t, 0.5), CONTRADICTED), (lambda t: 1.0 + 0.0 * t, NOTHING)):
            self.assertEqual(self.outcome(mean).grade, grade)

    def test_value(self):
        """1/t is farthest below its average, and nearest to it, at the recommendations that are worked out here."""
        found = self.outcome(lambda t: 1.0 / t, 0.0).items[0]
        self.assertAlmostEqual(found.value, 0.1 - sum(1.0 / t for t in range(1, 11)) / 10)
        self.assertEqual((found.n, found.low, found.high), (60, found.value, found.value))

    def test_trials_without_regret_are_left_out(self):
        found = self.outcome(lambda t: 1.0 / t, known=40)
        self.assertEqual((found.grade, found.items[0].n), (SHOWN, 40))
        self.assertIn("no trial has a value", self.outcome(lambda t: 1.0 / t, known=0).text)
        self.assertIn("fewer than two recommendations of Proposed with a regret",
                      self.outcome(lambda t: np.where(t < 2, 1.0, np.nan)).text)

    def test_errors(self):
        """Level means of many recommendations: neither end errs more often than its level."""
        random, wrong = np.random.default_rng(5), np.zeros(2)
        for _ in range(400):
            low, high = averages.largest(random.standard_normal((50, 20)), 0.05)
            wrong += low > 0.0, high < 0.0
        self.assertLessEqual(wrong.max(), 20 + 2 * 4.4)
