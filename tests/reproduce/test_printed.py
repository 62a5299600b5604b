"""The check on printed numbers: its interval against draws, its grades, and what it refuses. All kinds of papers."""
import inspect
import re

import papers  # first: the path
import common
import numpy as np
from regatta_analysis.claims import checks, claims, forms, kinds
from regatta_analysis.claims.grades import CONTRADICTED, NOTHING, PARTLY, SHOWN
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.yaml_file import read_yaml
from reproduce import EXPERIMENTS, printed

ROWS = [{"who": "A", "published": [44.3, 2.2]}, {"who": "B", "published": [43.8, 1.6]},
        {"who": "C", "published": [104.8, 3.9]}]


def outcome(**more):
    check = {"kind": "printed", "rows": ROWS, "runs": 15, **more}
    forms.require(check)
    return checks.run(check, claims.Studies({}))


class Interval(common.Case):
    def test_covers_the_ratio(self):
        """95 % of 4000 tables have the ratio of 2 in their interval, and as many miss it on either side."""
        random, runs = np.random.default_rng(1), 10
        a, b = random.normal(20.0, 6.0, (4000, runs)), random.normal(10.0, 6.0, (4000, runs))
        found = np.array([printed.ratio_interval(x.mean(), x.std(ddof=1) / np.sqrt(runs), y.mean(),
                                                 y.std(ddof=1) / np.sqrt(runs), runs, 0.025) for x, y in zip(a, b)])
        self.assertAlmostEqual(np.mean(found[:, 0] > 2.0), 0.02, delta=0.012)
        self.assertAlmostEqual(np.mean(found[:, 1] < 2.0), 0.02, delta=0.012)

    def test_by_its_definition(self):
        """At an end r of the interval, a - r b is t standard errors from 0."""
        for end in printed.ratio_interval(3.0, 0.4, 2.0, 0.3, 15, 0.025):
            self.assertAlmostEqual(abs(3.0 - 2.0 * end) / np.hypot(0.4, 0.3 * end), 2.144786687916927)
        self.assertEqual(printed.ratio_interval(3.0, 0.4, 2.0, 1.0, 15, 0.025), (-np.inf, np.inf))


class Grades(common.Case):
    def test_grades(self):
        near = {"who": ["A", "C"], "against": "B", "factor": 1.25, "because": "x"}
        for more, grade in (({"who": "A", "against": "C"}, SHOWN), ({"who": "C", "against": "A"}, CONTRADICTED),
                            ({"who": "B", "against": "A"}, NOTHING), (near, PARTLY),
                            (near | {"combine": "any"}, SHOWN)):
            self.assertEqual(outcome(**more).grade, grade, more)
        found = outcome(who="A", against="B")
        self.assertRegex(found.text, r"^A / B: 1\.01 \[0\.8\d+, 1\.1\d+\]; 15 runs each$")
        self.assertEqual((found.items[0].n, found.items[0].name), (15, "A against B (printed)"))
        self.assertEqual(outcome(who="A", against="B", table="Table 1").items[0].name, "A against B (Table 1)")

    def test_standard_deviations(self):
        """The mean of 15 runs is known better than a run."""
        rows = [{"who": "A", "published": [10.0, 4.0]}, {"who": "B", "published": [15.0, 4.0]}]
        self.assertEqual([outcome(who="A", against="B", rows=rows, deviation=d).grade for d in (False, True)],
                         [NOTHING, SHOWN])

    def test_mistakes(self):
        for more, words in (({"who": "D"}, "rows lack a name"), ({"factor": 2}, "because"), ({"runs": 1}, "from 2 on"),
                            ({"combine": "pooled"}, "pooled is for better"),
                            ({"rows": [{"who": "A", "published": [0, 1]}]}, "rows is")):
            with self.assertRaisesRegex(InputError, words):
                outcome(**{"who": "A", "against": "B", **more})


class Described(common.Case):
    def test_kinds_of_papers(self):
        """Each is described, with an example in its form, and named on the page."""
        page, mine = (EXPERIMENTS.parent / "docs" / "reproduce-a-paper.md").read_text(), []
        for kind, function in checks.KINDS.items():
            if not inspect.getmodule(function).__name__.startswith("reproduce."):
                continue
            words, example = kinds.described(kind)
            (self.scratch / "check.yaml").write_text(example)
            forms.require(read_yaml(self.scratch / "check.yaml"))
            for key in forms.KINDS[kind].replace("*", "").split():
                self.assertIn(key, words, kind)
            mine.append(kind)
        told = page.partition("more kinds of checks are for papers")[2].partition("\n\n")[0]
        self.assertEqual(sorted(re.findall(r"`(\w+)`", told)), sorted(mine))
