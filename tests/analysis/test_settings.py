"""Keys and labels taken apart."""
import unittest

import common
from regatta_analysis.load.settings import blocks, options, panel_label, swept_outside

KEY = ('schema=1;problem=external@2{command="a;b,c",bounds=[0,1]};run={iterations=5,noise=0};'
       'algorithm=gp_ucb@1{beta=bcr,delta=0.1};study_seed=4;instance=0;seed=7')
SEARCHED = 'surrogate={kernel=rbf};maximiser=adam@2{local_search=adam,restarts=10};study_seed=4'


class Settings(common.Case):
    def test_blocks(self):
        found = blocks(KEY)
        self.assertEqual(list(found), ["schema", "problem", "run", "algorithm", "study_seed",
                                       "instance", "seed"])
        self.assertEqual(found["seed"], "7")
        self.assertEqual(found["problem"], 'external@2{command="a;b,c",bounds=[0,1]}')

    def test_options(self):
        self.assertEqual(options(KEY, "algorithm"), {"beta": "bcr", "delta": "0.1"})
        self.assertEqual(options(KEY, "problem"), {"command": '"a;b,c"', "bounds": "[0,1]"})
        self.assertEqual(options(KEY, "seed"), {})
        self.assertEqual(options(KEY, "surrogate"), {})
        self.assertEqual(options(SEARCHED, "surrogate"), {"kernel": "rbf"})
        self.assertEqual(options(SEARCHED, "maximiser"), {"local_search": "adam", "restarts": "10"})

    def test_problem_label(self):
        self.assertEqual(panel_label("Box", swept_outside("EI", "")), "Box")
        self.assertEqual(panel_label("Box", swept_outside("EI (xi=0.1)", "xi=0.1")), "Box")
        self.assertEqual(panel_label("Box", swept_outside("EI (xi=0.1)", "noise=0.2, xi=0.1")),
                         "Box (noise=0.2)")
        self.assertEqual(panel_label("Box", swept_outside("EI (mine)", "dims=[1, 2]")), "Box (dims=[1, 2])")


if __name__ == "__main__":
    unittest.main()
