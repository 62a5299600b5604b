"""experiments/baselines/table.py: tables and profiles of made-up results of known differences."""
import runpy

import papers  # first: it sets the path
import common
import numpy as np
import pandas as pd
import synthetic
from reproduce import EXPERIMENTS

SCRIPT = EXPERIMENTS / "baselines" / "table.py"


class Table(common.Case):
    def run_script(self, *words):
        return papers.run_script(SCRIPT, *words).splitlines()

    def results(self):
        """40 queries: a regret of its level / 40 at the end; two files, and a method that only one of them has."""
        one, two = self.scratch / "one.h5", self.scratch / "two.h5"
        synthetic.write(one, [synthetic.made_up("One", {"EI": 40.0, "TS": 80.0}, seeds=6, noise=0),
                              synthetic.made_up("Two", {"EI": 160.0, "TS": 40.0}, seeds=10, noise=0)])
        synthetic.write(two, [synthetic.made_up("Three", {"EI": 120.0, "MES": 120.0}, seeds=6, noise=0)])
        return one, two

    def test_shares_count_problems_alike(self):
        lines = self.run_script(*self.results())
        self.assertEqual(lines[0], "| problem | EI | TS | MES |")
        self.assertEqual(lines[2:5], ["| One | 1 (1) | 2 (2); 0.00 [0.00, 0.39] |  |",
                                      "| Two | 4 (4) | 1 (1); 1.00 [0.72, 1.00] |  |",
                                      "| Three | 3 (3) |  | 3 (3); 0.50 [0.19, 0.81] |"])
        self.assertIn("Wilson's 95 % interval", lines[-1])
        # 6 pairs that lose and 10 that win: the problems have the same weight
        self.assertTrue(lines[9].startswith("| TS | 2 | 0.50 [0.50, 0.50] | 1 of 2 | "), lines[9])
        self.assertTrue(lines[10].startswith("| MES | 1 | 0.50 [0.50, 0.50] | 1 of 1 | "), lines[10])

    def test_profile(self):
        reached = runpy.run_path(str(SCRIPT))["reached"]
        wide = pd.DataFrame([[1.0, 0.09, 0.09], [1.0, 1.0, 1e-7]])
        # eleven times less is 4 of 24 targets; a trial that ends early keeps what it reached
        np.testing.assert_allclose(reached(wide, 1.0, 4) * 24, [[0, 4, 4, 4], [0, 0, 24, 24]])

    def test_figure(self):
        path = self.scratch / "profiles.png"
        self.run_script(*self.results(), "--figure", path)
        self.assertGreater(path.stat().st_size, 5000)
