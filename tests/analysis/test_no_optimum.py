"""Claims on problems whose optimum is not known: every kind of check, on values that are maximised and minimised, above
and below 0, with and without constraints. A kind compares best values, or is refused in one line; it never ends with
nothing to say about trials that differ in all of their values."""
import contextlib
import itertools
import re

import common
import numpy as np
import synthetic
import yaml
from common import run
from regatta_analysis import InputError
from regatta_analysis.claims import checks, claims, replicate
from regatta_analysis.claims.grades import CONTRADICTED, SHOWN

SEEDS, QUERIES, LEVELS = 12, 30, (5000.0, -5000.0)  # Values are far from 0, compared with what trials gain.
GAINS = {"Good": 5.0, "Poor": 1.0}  # of the best value over the queries, times log(1 + t)
WHY = {"because": "a test"}
PAIR = {"who": "Good", "against": "Poor"}
CASES = {  # kind: (a check that Good passes, or None where there is none; keys that make it a check on regret)
    "better": (PAIR, {"value": {"metric": "simple"}}),
    "comparable": (None, {"factor": 1.5, **WHY, **PAIR, "value": {"metric": "cumulative"}}),
    "group": ({"who": ["Good"], "against": ["Poor"]}, {"value": {"metric": "average"}}),
    "lead": ({"who": "Good", "over": [5, QUERIES]}, {"metric": "simple"}),
    "identical": ({"who": "Good", "against": "Good"}, None),
    "within": ({"who": "Good", "low": -1e6, "high": 1e6}, {"value": {"metric": "simple"}}),
    "mean": ({"who": "Good", "low": -1e6, "high": 1e6}, {"value": {"metric": "simple"}}),
    "drop": (None, {"who": "Good", "start": 1, "end": QUERIES, "factor": 2, "metric": "simple"}),
    "close": ({**PAIR, "share": 1e6, **WHY}, {"value": {"metric": "simple"}}),
    "flat": ({"who": "Good", "early": [1, 9], "late": [20, 29], "factor": 1e6, "metric": "fill_distance", **WHY}, {"metric": "instantaneous"}),
    "reach": (None, {"who": "Good", "by": QUERIES, "metric": "simple"}),
    "growth": ({"who": "Good", "metric": "fill_distance", "high": 1.0}, {"metric": "cumulative"}),
    "trend": ({"who": "Good", "metric": "fill_distance", "grows": False}, {"metric": "cumulative"}),
    "bound": (None, {"who": "Good", "bound": "gp_ucb"}),
    "lower at time": (None, PAIR), "earlier": (None, PAIR),
    "equal per evaluation": (None, {**PAIR, "factor": 2, **WHY, "value": {"metric": "simple"}}),
    "unchecked": (None, None),
}
WITHOUT_CLOCK = ("lower at time", "earlier", "equal per evaluation")


def problem(goal, level, constrained):
    """Trials in which Good gains five times as much as Poor, from the same start. A constrained trial of Poor has no
    feasible design in every third seed."""
    made = synthetic.problem("P", list(GAINS), seeds=SEEDS, queries=QUERIES, random_state=3)
    made["optimum"], sign = np.nan, -1.0 if goal == "minimise" else 1.0
    for name in ("simple_regret", "instantaneous_regret", "cumulative_regret"):
        made["arrays"][name][:] = np.nan
    t, random = np.maximum(np.arange(made["rows"]) - 3, 0), np.random.default_rng(2)
    feasible = np.ones((len(made["cells"]), made["rows"]))
    made["arrays"]["fill_distance"][:] = 1.0 + 1e-3 * random.normal(size=feasible.shape)
    for k, (algorithm, _, seed) in enumerate(made["cells"]):
        values = sign * level + GAINS[algorithm] * np.log1p(t) + 0.1 * seed + 0.01 * random.normal(size=len(t))
        made["arrays"]["objective"][k] = made["arrays"]["f"][k] = made["arrays"]["y"][k] = values
        if constrained:
            feasible[k, :6] = 0.0
            feasible[k] *= algorithm == "Good" or seed % 3 > 0
    if constrained:
        made["arrays"]["feasible"] = feasible
    made["options"] = f"goal={goal}"
    return made


class Kinds(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.studies = {}
        for case in itertools.product(("maximise", "minimise"), LEVELS, (False, True)):
            path = cls.directory / f"s{len(cls.studies)}.h5"
            synthetic.write(path, [problem(*case)])
            cls.studies[case] = claims.Studies({"s": path})

    def run_check(self, kind, case, **more):
        return checks.run({"kind": kind, "on": "s", **more}, self.studies[case])

    def test_every_kind_is_here(self):
        self.assertEqual(set(CASES), set(checks.KINDS))

    def test_what_holds_is_shown(self):
        for (kind, (holds, _)), case in itertools.product(CASES.items(), self.studies):
            if holds is None or (kind in ("within", "close", "flat") and case[2]):
                continue
            with self.subTest(kind=kind, case=case):
                if kind == "lead" and case[2]:  # no mean of infinite values
                    self.assertIn("no mean", self.run_check(kind, case, **holds).text)
                    continue
                self.assertEqual(self.run_check(kind, case, **holds).grade, SHOWN)

    def test_what_does_not_hold_is_contradicted(self):
        other = {"who": "Poor", "against": "Good"}
        for case in self.studies:
            with self.subTest(case=case):
                self.assertEqual(self.run_check("better", case, **other).grade, CONTRADICTED)
                self.assertEqual(self.run_check("better", case, **other, combine="pooled").grade, CONTRADICTED)
                self.assertEqual(self.run_check("group", case, who=["Poor"], against=["Good"]).grade, CONTRADICTED)

    def test_the_user_names_the_best_value_as_it_is(self):
        """With or without `sense`, at a query or at equal time, by a target in the user's own sign."""
        for case in self.studies:
            goal, level, constrained = case
            sign = -1.0 if goal == "minimise" else 1.0
            target = level + sign * 10.0
            with self.subTest(case=case):
                for value in ({"metric": "best"}, {"metric": "best", "at": 20}, {"metric": "best", "hit": target},
                              *([{"metric": "best", "sense": "max"}] if goal == "maximise" else [])):
                    self.assertEqual(self.run_check("better", case, **PAIR, value=value).grade, SHOWN, value)
                found = self.run_check("reach", case, who="Good", target=target, by=QUERIES)
                self.assertEqual((found.items[0].more["reached"], found.items[0].n), (SEEDS, SEEDS))
                found = self.run_check("reach", case, who="Poor", target=target, by=QUERIES)
                self.assertEqual((found.grade, found.items[0].more["reached"]), (CONTRADICTED, 0))
                if not constrained:
                    low, high = sorted((level + sign * 15.0, level + sign * 20.0))
                    self.assertEqual(self.run_check("within", case, who="Good", low=low, high=high).grade, SHOWN)

    def test_a_shift_of_the_values_changes_nothing(self):
        """Best values have no zero: the effect is a difference, and what makes none is a share of what trials gain."""
        for goal, constrained in itertools.product(("maximise", "minimise"), (False, True)):
            near, far = (self.run_check("better", (goal, level, constrained), **PAIR).items[0] for level in LEVELS)
            np.testing.assert_allclose([near.value, near.low, near.high], [far.value, far.low, far.high])
            self.assertEqual(near.evidence.scale, "difference")

    def test_regret_is_refused_in_one_line(self):
        for (kind, (holds, regret)), case in itertools.product(CASES.items(), self.studies):
            if regret is None or kind in WITHOUT_CLOCK:
                continue
            with self.subTest(kind=kind, case=case), self.assertRaises(InputError) as caught:
                self.run_check(kind, case, **{**(holds or {}), **regret})
            self.assertRegex(str(caught.exception), r"^s(, P)?: no trial can decide this: ")
            self.assertNotIn("\n", str(caught.exception))

    def test_ratios_of_values_below_0_are_refused(self):
        for kind, more in (("comparable", {**PAIR, "factor": 2, **WHY}),
                           ("group", {"who": ["Good"], "against": ["Poor"], "factor": 2, **WHY}),
                           ("drop", {"who": "Good", "start": 1, "end": 9, "factor": 2})):
            with self.subTest(kind=kind), self.assertRaisesRegex(InputError, "no trial can decide this"):
                self.run_check(kind, ("maximise", LEVELS[0], False), **more)
        more = {**PAIR, "factor": 2, **WHY}
        self.assertEqual(self.run_check("comparable", ("minimise", LEVELS[0], False), **more).grade, SHOWN)


STUDY = """study: mine
seeds: 10
common: {iterations: 8, initial_points: 3}
problems: [{name: external, label: Mine, program: ./mine, inputs: [a real 0 1]%s}]
algorithms: [random, {name: ei, label: EI}]
"""


class BeforeARun(common.Case):
    """A mistake that the study file tells is refused before anything runs."""

    def refused(self, check, words, more=""):
        (self.scratch / "mine.yaml").write_text(STUDY % more)
        path = self.scratch / "claims.yaml"
        path.write_text(yaml.safe_dump({"claims": [{"id": "A", "where": "x", "claim": "y", "checks": [check]}]}))
        claims.read.cache_clear()
        work = replicate.Work("mine", self.scratch / "mine.yaml", self.scratch / "mine.h5")
        with self.assertRaises(InputError) as caught:
            replicate.Replication([work], path, 1.0, [], print)
        self.assertRegex(str(caught.exception), words)
        self.assertNotIn("\n", str(caught.exception))

    def test_claims_that_no_trial_can_decide(self):
        one = {"who": "EI", "on": "mine"}
        for check in ({"kind": "better", "against": "random", "value": {"metric": "simple"}}, {"kind": "growth", "high": 1},
                      {"kind": "bound", "bound": "b"}, {"kind": "lower at time", "against": "random"},
                      {"kind": "flat", "early": [1, 2], "late": [3, 4], "factor": 2, "because": "x"},
                      {"kind": "lead", "over": [1, 5], "metric": "average", "on": "mine/Mine"}):
            self.refused({**one, **check}, "claim A: .*: no trial can decide this: 'Mine' has no known optimum")

    def test_names_that_the_study_does_not_have(self):
        check = {"kind": "better", "who": "EI", "against": "random", "on": "mine"}
        for more, words in (({"who": "MyEI"}, "no algorithm 'MyEI', did you mean 'EI'"),
                            ({"against": "randon"}, "no algorithm 'randon', did you mean 'random'"),
                            ({"on": "mine/Mime"}, "no problem 'Mime', did you mean 'Mine'"),
                            ({"on": ["mine", "mined"]}, "no study 'mined', did you mean 'mine'"),
                            ({"kind": "rank"}, "unknown kind of check 'rank'")):
            self.refused(check | more, words)

    def test_designs_that_can_never_decide(self):
        """Five seeds: said before a study runs. If trials are to be added, kinds that get none are refused."""
        (self.scratch / "mine.yaml").write_text((STUDY % "").replace("seeds: 10", "seeds: 5"))
        path, text = self.scratch / "claims.yaml", (self.scratch / "mine.yaml").read_text()
        better = {"kind": "better", "who": "EI", "against": "random", "on": "mine"}
        lead = {"kind": "lead", "who": "EI", "on": "mine", "over": [1, 5]}
        words = "no outcome of 5 trials of a cell can decide claim A; it takes 7 (`seeds`)"
        for check, said, refused in ((better, words, False), (lead, words, True), (better | {"combine": "pooled"}, "", False)):
            path.write_text(yaml.safe_dump({"claims": [{"id": "A", "where": "x", "claim": "y", "checks": [check]}]}))
            claims.read.cache_clear()
            with self.subTest(check=check):
                claims.require_decidable(path, "mine", text)
                self.assertEqual(claims.too_few(path, "mine", text), said)
                self.assertEqual(claims.too_few(path, "mine", text.replace("seeds: 5", "seeds: 7")), "")
                with self.assertRaisesRegex(InputError, re.escape(words)) if refused else contextlib.nullcontext():
                    claims.require_decidable(path, "mine", text, grows=True)

    def test_designs_that_decide_only_what_comes_out_alike(self):
        """Each of k comparisons has a part of the error: the note says from how many trials on one of them can come out."""
        (self.scratch / "mine.yaml").write_text((STUDY % "").replace("seeds: 10", "seeds: 8"))
        path, text = self.scratch / "claims.yaml", (self.scratch / "mine.yaml").read_text()
        better = {"kind": "better", "who": "EI", "against": "random", "on": "mine"}
        for check, n, said in ((better, 8, ""), (better | {"at_each": [1, 2, 3, 4, 5, 6, 7]}, 8, "8 trials .* claim A only if all .* "
                               "with 11 .* each of up to 7"), (better | {"at_each": [1, 2, 3, 4, 5, 6, 7]}, 11, ""),
                               (better | {"at_each": [1, 2], "combine": "pooled"}, 8, ""), (better | {"against": ["random", "EI"]}, 8,
                               "with 9 .* up to 2"), ({**better, "kind": "lead", "over": [1, 5]}, 8, "")):
            check = {key: value for key, value in check.items() if check["kind"] != "lead" or key != "against"}
            path.write_text(yaml.safe_dump({"claims": [{"id": "A", "where": "x", "claim": "y", "checks": [check]}]}))
            claims.read.cache_clear()
            with self.subTest(check=check, n=n):
                self.assertRegex(claims.notes(path, "mine", text.replace("seeds: 8", f"seeds: {n}")), said or "^$")

    def test_names_on_results(self):
        path = self.scratch / "sweep.h5"
        synthetic.write(path, [problem("minimise", 5.0, False)])
        for check, words in (({"on": "mysweep"}, "no study 'mysweep', did you mean 'sweep'"),
                             ({"who": "Goods"}, "no algorithm 'Goods', did you mean 'Good'"),
                             ({"on": "sweep/Q"}, "no problem 'Q'")):
            check = {"kind": "better", **PAIR, "on": "sweep", **check}
            (self.scratch / "claims.yaml").write_text(yaml.safe_dump(
                {"claims": [{"id": "A", "where": "x", "claim": "y", "checks": [check]}]}))
            claims.read.cache_clear()
            code, out, err = run("claims", path)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
            self.assertRegex(err, words)
