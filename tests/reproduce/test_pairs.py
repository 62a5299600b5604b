"""experiments/parallel/pairs.py: pairs of two methods on equal seeds, by made-up results of known differences."""

import papers  # first: it sets the path
import common
import synthetic
from reproduce import EXPERIMENTS

SCRIPT = EXPERIMENTS / "parallel" / "pairs.py"


class Pairs(common.Case):
    def run_script(self, *words):
        return papers.run_script(SCRIPT, *words)

    def test_shares_and_ratios(self):
        path = self.scratch / "study.h5"
        synthetic.write(path, [synthetic.made_up("One", {"EI": 1.0, "TS": 2.0}, seeds=6, noise=0),
                               synthetic.made_up("Two", {"EI": 4.0, "TS": 1.0}, seeds=10, noise=0),
                               synthetic.made_up("Three", {"EI": 3.0, "TS": 3.0}, seeds=6, noise=0)])
        found = self.run_script(path, "EI", "TS").splitlines()
        self.assertEqual(found[:4], ["all trials", "  One: 1.00 [0.61, 1.00]", "  Three: 0.50 [0.19, 0.81]",
                                     "  Two: 0.00 [0.00, 0.28]"])
        # (1 + 0 + 1/2)/3 below; the cube root of 1/2 * 4 * 1: every problem counts alike, not every trial
        self.assertIn("Wilson's 95 % interval", found[5])
        self.assertEqual(found[4:5], ["  all 22 pairs: 0.50 [0.50, 0.50]; ratio 1.3 [1.3, 1.3]"])

    def test_mistakes(self):
        path = self.scratch / "study.h5"
        synthetic.write(path, [synthetic.made_up("One", {"EI": 1.0, "TS": 2.0}, seeds=6)])
        for words, message in (((path, "EI"), "usage"), ((path, "EI", "KB"), "no finished trials of 'KB' .*EI, TS")):
            with self.assertRaisesRegex(SystemExit, message):
                self.run_script(*words)
