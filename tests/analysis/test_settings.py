"""Labels taken apart, and keys of schema 2."""

import common
import numpy as np
from regatta_analysis.load import schema2
from regatta_analysis.load.settings import panel_label, swept_outside

KEY = ('schema=1;problem=external@2{command="a;b,c",bounds=[0,1]};run={iterations=5,noise=0};'
       'algorithm=gp_ucb@1{beta=bcr,delta=0.1};study_seed=4;instance=0;seed=7')
SEARCHED = 'surrogate={kernel=rbf};maximiser=adam@2{local_search=adam,restarts=10};study_seed=4'


class Old(common.Case):
    """The one conversion reads cells from the keys of schema 2."""

    def constants(self, *keys, study="", algorithm="EI"):
        n = len(keys)
        texts = {"key": keys, "cell": keys, "problem": n * ["P"], "algorithm": n * [algorithm], "swept": n * [""]}
        return schema2.with_cells({name: schema2._Parsed(n, lambda own=own: np.array(own, object))
                                   for name, own in texts.items()}, study).constants

    def test_settings(self):
        found = self.constants(KEY, SEARCHED)
        self.assertEqual(found["algorithm.beta"].all().tolist(), ["bcr", ""])
        self.assertEqual(found["problem.command"].all()[0], "a;b,c")
        self.assertEqual(found["problem.bounds"].all()[0], "[0,1]")
        np.testing.assert_array_equal(found["run.iterations"].all(), [5, np.nan])
        np.testing.assert_array_equal(found["maximiser.restarts"].all(), [np.nan, 10])
        self.assertEqual(found["problem_revision"].all()[0], 2)
        self.assertEqual(found["surrogate.kernel"].all().tolist(), ["", "rbf"])

    def test_texts_with_quotes(self):
        key = r'problem=external@1{arguments=["a\"b,goal=minimise,\\"],goal=maximise,x=1};seed=1'
        self.assertEqual(self.constants(key)["goal"].all()[0], "maximise")

    def test_fields(self):
        study = "problems: [{name: branin}, {label: P, name: pool, goal: minimise}]\nalgorithms: [random, EI]\n"
        found = self.constants(KEY, study=study)
        self.assertEqual([found[name].all()[0] for name in ("goal", "problem_number", "algorithm_number", "dynamic")],
                         ["minimise", 2, 2, 0])
        for law in ("context=before", 'law=["jump(1,2)"]'):
            self.assertEqual(self.constants(KEY.replace("bounds", f"{law},bounds"))["dynamic"].all()[0], 1)


class Settings(common.Case):
    def test_problem_label(self):
        self.assertEqual(panel_label("Box", swept_outside("EI", "")), "Box")
        self.assertEqual(panel_label("Box", swept_outside("EI (xi=0.1)", "xi=0.1")), "Box")
        self.assertEqual(panel_label("Box", swept_outside("EI (xi=0.1)", "noise=0.2, xi=0.1")),
                         "Box (noise=0.2)")
        self.assertEqual(panel_label("Box", swept_outside("EI (mine)", "dims=[1, 2]")), "Box (dims=[1, 2])")
