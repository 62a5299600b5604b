"""Claims: every kind of check on made-up results whose answer is known, the files of experiments/,
and the command."""
import json

import common
import h5py
import numpy as np
import pandas as pd
import synthetic
import yaml
from common import run
from regatta_analysis.claims import bootstrap, checks, claims, forms
from regatta_analysis.claims.comparisons import better_item
from regatta_analysis.claims.grades import (AGAINST, CONTRADICTED, EQUIVALENT, NOT_COMPARABLE, NOT_RUN, NOTHING, OPEN, PARTLY,
                                            SHOWN, SUPPORTED, VOID)
from regatta_analysis.claims.items import mean_share_item, new_item, paired, share_item, side
from regatta_analysis.claims.outcome import Item
from regatta_analysis.claims.panels import Panel
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats import measures
from regatta_analysis.stats.profiles import first_at_most
from synthetic import made_up


def pairs(a, b):
    """A table of two algorithms over trials of one instance."""
    index = pd.MultiIndex.from_product([[0], range(len(a))], names=["instance", "seed"])
    return pd.DataFrame({"a": a, "b": b}, index)


DROP = {"start": 4, "end": 40, "factor": 5}


class Kinds(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        level = {"EI": 1.0, "GP-UCB": 1.5, "TS": 1.001, "Random": 4.0}
        few = made_up("Plane", {"EI": 1.0, "GP-UCB": 1.5}, seeds=3)
        synthetic.write(cls.directory / "study.h5", [made_up("Plane", level),
                                                     made_up("Root", level, power=-0.5)])
        synthetic.write(cls.directory / "few.h5", [few])
        cls.studies = claims.Studies(claims.find_results([cls.directory], "paper"))

    def decide(self, kind, **check):
        return checks.run({"kind": kind, "on": "study/Plane", **check}, self.studies)

    def grade(self, kind, **check):
        return self.decide(kind, **check).grade

    def test_better(self):
        self.assertEqual(self.grade("better", who="EI", against=["GP-UCB", "Random"]), SHOWN)
        self.assertEqual(self.grade("better", who="GP-UCB", against="EI"), CONTRADICTED)
        self.assertEqual(self.grade("better", who=["EI"], against="TS"), EQUIVALENT)
        self.assertEqual(self.grade("better", who="EI", against=["TS", "GP-UCB", "Random"]), PARTLY)
        self.assertEqual(self.grade("better", who="EI", against=["TS", "GP-UCB", "Random"], combine="most"), SHOWN)
        self.assertEqual(self.grade("better", who="EI", against=["TS", "GP-UCB", "Random"], combine="pooled"), SHOWN)
        self.assertEqual(self.grade("better", who="Random", against=["TS", "EI"], combine="any"), CONTRADICTED)
        outcome = self.decide("better", who="EI", against="Random", at_each=[5, 20, 40])
        self.assertEqual((outcome.grade, len(outcome.rows)), (SHOWN, 3))
        self.assertTrue(all(row["better"] > 0.99 and row["n"] == row["wins"] == 20 for row in outcome.rows))
        self.assertEqual(self.grade("better", who="EI", against="GP-UCB", statistic="median"), SHOWN)
        self.assertEqual(self.grade("better", who="EI", against="Random", value={"hit": 0.1}), SHOWN)
        self.assertEqual(self.grade("better", who="EI", against="Random", value={"over": [1, 40], "log": True}), SHOWN)

    def test_panels_of_one_problem_are_pooled_as_dependent(self):
        """Swept and scored panels share trials, or designs and noise; another problem does not."""
        part = synthetic.problem("P", ["EI1", "EI2", "TS1", "TS2"], seeds=8)
        part["swept"] = [f"k={cell[0][-1]}" for cell in part["cells"]]
        part["cells"] = [(cell[0][:-1], *cell[1:]) for cell in part["cells"]]
        part["scores"] = "A=expectation; B=ptr(0.5)"
        part["scored_regret"] = np.random.default_rng(1).uniform(size=(*part["arrays"]["y"].shape, 2))
        path = self.scratch / "s.h5"
        synthetic.write(path, [part, synthetic.problem("Q", ["EI", "TS"], seeds=8)])
        outcome = checks.run({"kind": "better", "who": "EI", "against": "TS", "on": "s", "combine": "pooled"},
                             claims.Studies({"s": path}))
        self.assertEqual([item.where for item in outcome.items],
                         ["s, P (k=1) A", "s, P (k=1) B", "s, P (k=2) A", "s, P (k=2) B", "s, Q"])
        self.assertEqual(outcome.pooled.evidence.shared, 4 * [("s", "P")] + [("s", "Q")])

    def test_too_few_trials_decide_nothing(self):
        for kind, more in (("better", {"against": "GP-UCB"}), ("within", {"high": 9.0}), ("drop", DROP),
                           ("lead", {"over": [1, 40]}), ("growth", {"high": 5.0})):
            self.assertEqual(self.grade(kind, who="EI", **{"on": "few", **more}), NOTHING, kind)

    def test_kinds_for_a_fixed_number_of_trials_get_no_more(self):
        for kind, more, wanted in (("better", {"against": "GP-UCB"}, 1), ("lead", {"over": [1, 40]}, 0), ("growth", {"high": 5.0}, 0),
                                   ("reach", {"by": 40, "target": 0.05}, 0)):
            outcome = self.decide(kind, who="EI", **{"on": "few", **more})
            self.assertEqual((outcome.items[0].state, len(outcome.open_items())), (OPEN, wanted), kind)

    def test_typical_trials_decide_and_stuck_ones_are_told(self):
        """A quarter of the trials of b are stuck: the mean of a is smaller by far, and most trials say the opposite."""
        a, b = np.linspace(0.99, 1.01, 40), np.linspace(0.89, 0.91, 40)
        b[::4] = 12.0
        item = better_item(Panel("x", {}), pairs(a, b), "a", "b")
        self.assertNotEqual(item.state, SHOWN)
        self.assertEqual((item.stuck_a, item.stuck_b, item.more["skewed"]), (0.0, 0.25, True))
        self.assertLess(item.more["effect"], 0.3)

    def test_equal_values_everywhere_are_void(self):
        """Whole pools are exhausted: the end point says nothing about who was faster."""
        for value in (0.0, 3.0):
            item = better_item(Panel("x", {}), pairs(np.full(30, value), np.full(30, value)), "a", "b")
            self.assertEqual(item.state, VOID)
        item = better_item(Panel("x", {}), pairs(np.linspace(1, 2, 30), np.linspace(1, 2, 30)), "a", "b")
        self.assertEqual(item.state, EQUIVALENT)  # the same, trial by trial, but not everywhere

    def test_versus_another_panel(self):
        self.assertEqual(self.grade("better", who="EI", against="EI", versus="study/Root"), SHOWN)

    def test_comparable(self):
        why = {"because": "a test"}
        self.assertEqual(self.grade("comparable", who="EI", against="TS", factor=1.2, **why), SHOWN)
        self.assertEqual(self.grade("comparable", who="EI", against="Random", factor=1.2, **why), CONTRADICTED)
        self.assertEqual(self.grade("comparable", who="EI", against="GP-UCB", factor=1.5, **why), NOTHING)
        self.assertEqual(self.grade("comparable", who="GP-UCB", against="EI", factor=1.2,
                                      one_sided=True, **why), CONTRADICTED)

    def test_a_margin_needs_a_reason(self):
        for check in ({"kind": "comparable", "factor": 1.2}, {"kind": "comparable", "because": "x"},
                      {"kind": "comparable", "factor": 2, "because": " "},
                      {"kind": "group", "factor": 1.1}):
            with self.assertRaises(InputError):
                forms.require({**check, "who": "EI", "against": "TS", "on": "study"})

    def test_group(self):
        self.assertEqual(self.grade("group", who=["EI", "Random"], against=["GP-UCB"]), SHOWN)
        self.assertEqual(self.grade("group", who=["GP-UCB", "Random"], against=["EI"]), CONTRADICTED)

    def test_the_printed_interval_decides(self):
        """A check with borders is shown where its interval lies inside them, contradicted where outside, else open."""
        levels, found = {"A": 1.0, "B": 1.15, "C": 1.3, "D": 2.0}, {}
        synthetic.write(self.scratch / "noisy.h5", [made_up("P", levels, seeds=14, noise=0.5)])
        studies = claims.Studies({"noisy": self.scratch / "noisy.h5"})
        why, value = {"because": "a test"}, {"metric": "cumulative"}
        tries = []
        for who, against in (("AB", "CD"), ("CD", "AB"), ("BC", "AD")):
            group = {"kind": "group", "who": list(who), "against": list(against), "value": value, **why}
            item, = checks.run({"on": "noisy/P", **group}, studies).items
            tries += [{**group, "factor": end * near} for end in (item.low, item.high) for near in (0.999, 1.001)]
        tries += [{"kind": "comparable", "who": a, "against": b, "factor": f, "one_sided": one, **why}
                  for a in "AD" for b in "BC" for f in (1.2, 2.0) for one in (True, False)]
        tries += [{"kind": "lead", "who": a, "over": [2, 40], "share": share} for a in levels for share in (0.2, 0.5, 0.9)]
        tries += [{"kind": "drop", "who": "A", "start": 4, "end": 40, "factor": f} for f in (5, 10, 15)]
        for check in tries:
            for item in checks.run({"on": "noisy/P", **check}, studies).items:
                inside, outside = item.least <= item.low and item.high <= item.most, item.high < item.least or item.low > item.most
                self.assertEqual(item.state, SHOWN if inside else AGAINST if outside else OPEN, (check, item))
                self.assertTrue(item.low <= item.value <= item.high, (check, item))
                found.setdefault(check["kind"], set()).add(item.state)
        self.assertEqual(found["group"], {SHOWN, AGAINST, OPEN})

    def test_lead(self):
        self.assertEqual(self.grade("lead", who="EI", among=["GP-UCB", "Random"], over=[2, 40]),
                         SHOWN)
        self.assertEqual(self.grade("lead", who="Random", over=[2, 40]), CONTRADICTED)
        self.assertEqual(self.grade("lead", who="GP-UCB", over=[2, 40], rank=3, share=0.9), SHOWN)

    def test_queries_at_which_all_are_equal_count_for_nobody(self):
        """EI is behind for five queries; then both are at 0 for fifteen."""
        p = synthetic.problem("P", ["EI", "Random"], seeds=20, queries=20)
        regret = np.array([2.0 if algorithm == "EI" else 1.0 for algorithm, *_ in p["cells"]])[:, None]
        p["arrays"]["simple_regret"][:] = regret * (np.arange(p["rows"]) - p["initial"] < 5)
        synthetic.write(self.scratch / "pool.h5", [p])
        outcome = checks.run({"kind": "lead", "who": "EI", "on": "pool", "over": [1, 20]},
                             claims.Studies({"pool": self.scratch / "pool.h5"}))
        self.assertEqual((outcome.grade, outcome.items[0].value), (CONTRADICTED, 0.0))

    def test_sizes(self):
        value = {"metric": "instantaneous", "at": 40}
        self.assertEqual(self.grade("within", who="EI", value=value, low=0.02, high=0.03), SHOWN)
        self.assertEqual(self.grade("within", who="EI", value=value, low=0.03), CONTRADICTED)
        self.assertEqual(self.grade("drop", who="EI", start=4, end=40, factor=5), SHOWN)
        self.assertEqual(self.grade("drop", who="EI", start=4, end=40, factor=20), CONTRADICTED)
        self.assertEqual(self.grade("reach", who="Random", target=0.05, by=40), CONTRADICTED)
        self.assertEqual(self.grade("reach", who=["Random"], target=0.05, not_before=40), SHOWN)
        self.assertEqual(self.grade("reach", who="EI", metric="cumulative", target=0.05, not_before=40), SHOWN)

    def test_targets_are_compared_exactly(self):
        """`hit` and `reach` agree with a loop over the rows, at targets far below 1e-9 and at values of the trials."""
        p = synthetic.made_up("small", {"EI": 1e-9}, seeds=6, queries=40, power=-2.0)
        synthetic.write(self.directory / "small.h5", [p])
        studies = claims.Studies({"small": self.directory / "small.h5"})
        results = studies.panels(["small"])[0][1]
        regret = p["arrays"]["simple_regret"][:, 3:]  # t = 0, 1, ..., 40
        for target in (0.0, 1e-13, 1e-12, 1e-11, 1e-10, *regret[:3, 20]):
            first = [next((t for t, v in enumerate(row) if v <= target), 41) for row in regret]
            found = measures.trial_values(results, "small", {"metric": "simple", "hit": target})
            self.assertEqual(found.tolist(), first)
            for t in (1, 20, 40):
                outcome = checks.run({"kind": "reach", "who": "EI", "on": "small", "target": target, "by": t}, studies)
                self.assertEqual(outcome.items[0].more["reached"], sum(f <= t for f in first))
        self.assertEqual([first_at_most([[3, 2, 1]], 2, places).tolist() for places in ([5, 6, 7], [[7, 8, 9]])], [[6.0], [8.0]])

    def test_reach_allows_for_chance(self):
        """20 of 20 trials that got there don't show that one of ten would not; 100 of 100 do."""
        self.assertEqual(self.grade("reach", who="EI", target=0.05, by=40), NOTHING)
        self.assertEqual(self.grade("reach", who="EI", target=0.05, not_before=40), NOTHING)
        for n, state in ((20, OPEN), (100, AGAINST)):
            item = Item("", n=n, units=n)
            share_item(item, np.ones(n, bool), 0.5**0.1, below=True)
            self.assertEqual(item.state, state)

    def test_reach_counts_instances_where_trials_share_them(self):
        """One of six functions is never solved, by any of ten seeds: six draws, not sixty."""
        p = synthetic.problem("P", ["EI"], instances=6, seeds=10, queries=2)
        p["arrays"]["simple_regret"][:] = np.array([i == 2 for _, i, _ in p["cells"]])[:, None]
        synthetic.write(self.scratch / "shared.h5", [p])
        studies = claims.Studies({"shared": self.scratch / "shared.h5"})
        outcome = checks.run({"kind": "reach", "who": "EI", "on": "shared", "not_before": 2}, studies)
        self.assertEqual((outcome.grade, outcome.items[0].n, outcome.items[0].units), (NOTHING, 60, 6))

    def test_rare_instances_that_are_never_solved(self):
        """The mean share is at the border, because 7 % of the instances have none: it is rarely shown to be above, also
        after four looks."""
        random, border, wrong = np.random.default_rng(3), 0.93, 0

        def state(shares):
            item = Item("", least=border, most=1.0)
            mean_share_item(item, shares)
            return item.state
        for _ in range(300):
            shares = (random.uniform(size=40) < border) * 1.0
            wrong += SHOWN in [state(shares[:n]) for n in (5, 10, 20, 40)]
        self.assertLessEqual(wrong / 300, bootstrap.STATED)
        self.assertEqual(state(np.ones(400)), SHOWN)
        self.assertEqual(state(np.full(20, 0.5)), AGAINST)

    def test_a_regret_of_zero(self):
        """An infinite ratio is large, and no ratio of 0 to 0 is unequal."""
        some, zero = np.linspace(0.5, 1.5, 20), np.zeros(20)
        for a, b, state in ((some, zero, AGAINST), (zero, some, SHOWN), (zero, zero, VOID)):
            item = new_item(Panel("x", {}), pairs(a, b), "a", "b")
            item.decide_by(paired(item, pairs(a, b)), lambda one: side(one, 1.5))
            self.assertEqual(item.state, state)

    def test_growth(self):
        exponent = self.decide("growth", who="EI", on="study/Root", low=0.5, high=0.75)
        self.assertEqual(exponent.grade, SHOWN)
        self.assertEqual(self.grade("growth", who="EI", on="study/Root", high=0.4), CONTRADICTED)

    def test_a_mean_counts_stuck_trials_and_a_typical_trial_does_not(self):
        """Eight trials of 40 end at 9, the others near 0.1: so the mean is near 1.9, and the median near 0.1."""
        values = np.where(np.arange(40) % 5 == 0, 9.0, np.linspace(0.09, 0.11, 40))
        made = made_up("Stuck", {"EI": 1.0}, seeds=40)
        made["arrays"]["simple_regret"][:] = values[:, None]
        synthetic.write(self.directory / "stuck.h5", [made])
        self.addCleanup((self.directory / "stuck.h5").unlink)
        studies = claims.Studies({"stuck": self.directory / "stuck.h5"})
        for kind, border, below in (("mean", 0.2, CONTRADICTED), ("within", 0.2, SHOWN), ("mean", 9.0, SHOWN),
                                    ("within", 0.05, CONTRADICTED)):
            check = {"kind": kind, "who": "EI", "on": "stuck", "value": {"metric": "simple"}, "high": border}
            outcome = checks.run(check, studies)
            self.assertEqual(outcome.grade, below, (kind, border))
            self.assertEqual(outcome.open_items(), [])
            self.assertEqual(outcome.items[0].fixed, kind == "mean")

    def test_trend(self):
        self.assertEqual(self.grade("trend", who="GP-UCB", grows=True), SHOWN)

    def test_identical(self):
        self.assertEqual(self.grade("identical", who="EI", against="TS"), CONTRADICTED)
        self.assertEqual(self.grade("identical", who="EI", against="EI"), SHOWN)

    def test_what_is_not_there(self):
        for check, words in (({"who": "JES", "against": "EI"}, "no complete trial of 'JES'"),
                             ({"who": "EI", "against": "TS", "on": "fig9"}, "no results of fig9"),
                             ({"who": "EI", "against": "TS", "at_each": [99]}, "query 99")):
            outcome = self.decide("better", **check)
            self.assertEqual(outcome.grade, NOT_RUN)
            self.assertIn(words, outcome.text)

    def test_panels_without_results(self):
        """They leave a claim open: the study file plans Large, which has no trials yet."""
        outcome = self.decide("better", who="EI", against="Random", on=["study/Plane", "study/Large"])
        self.assertEqual(outcome.grade, SUPPORTED)

    def test_what_only_the_results_tell_to_be_wrong(self):
        for check, words in (({"kind": "better", "against": "TS", "versus": "study"}, "STUDY/PROBLEM"),
                             ({"kind": "better", "against": "TS", "on": "study/Plain"}, "no problem 'Plain', did you mean 'Plane'"),
                             ({"kind": "better", "against": "Randon"}, "no algorithm 'Randon', did you mean 'Random'"),
                             ({"kind": "lead", "over": [1, 9], "among": ["GPUCB"]}, "no algorithm 'GPUCB', did you mean 'GP-UCB'"),
                             ({"kind": "better", "against": "TS", "value": {"metric": "joy"}}, "no 'joy' recorded"),
                             ({"kind": "better", "against": "TS", "value": {"metric": "simpel"}}, "did you mean 'simple'"),
                             ({"kind": "identical", "against": "TS", "column": "joy"}, "no 'joy' recorded")):
            with self.assertRaisesRegex(InputError, words):
                self.decide(who="EI", **check)
        for check in ({"kind": "growth", "high": 1, "start": 99}, {"kind": "growth", "against": "JES"}):
            self.assertEqual(self.grade(who="EI", **check), NOT_RUN)


class Files(common.Case):
    def test_what_needs_data_is_not_comparable_without_them(self):
        claim = {"id": "A", "where": "x", "claim": "y", "checks": [
            {"kind": "better", "who": "EI", "against": "UCB", "on": "secret"}]}
        for more, grade in (({}, NOT_RUN), ({"needs": "data of others"}, NOT_COMPARABLE)):
            path = self.scratch / f"{len(more)}.yaml"
            (self.scratch / "secret.yaml").touch()
            path.write_text(yaml.safe_dump({"claims": [claim | more]}))
            found, = claims.evaluate(path, claims.Studies({}))
            self.assertEqual(found.grade, grade)
        self.assertEqual(found.sentence(), "Not comparable: it needs data of others.")

    def refused(self, text, words):
        """The claims file is refused with one line that contains the words."""
        path = self.scratch / "claims.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        claims.read.cache_clear()
        with self.assertRaises(InputError) as caught:
            claims.read(path)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_mistakes_in_a_file(self):
        one, fine = "claims:\n- {id: 1, where: x, claim: y, checks: %s}\n", "[{kind: unchecked, because: z}]"
        for text, words in (("claim: {}", "a list 'claims'"), ("claims: {}", "list of mappings"), ("a: 1\na: 2", "twice"), (b"\xff\xfe", "can't decode"),
                            ("claims: [{id: 1}]", "lacks 'where'"), ("claims: [", "line"),
                            ("claims: [5]", "list of mappings"), (one % "{}", "list of mappings"),
                            (one % "[]", "list of mappings"), (one % "[5]", "list of mappings"),
                            (one.replace("checks: %s", "readings: []"), "list of mappings"),
                            (one % fine + (one % fine).partition("\n")[2], "claim 1 stands here twice"),
                            (one % f"{fine}, printed: z", "printed is a number"),
                            (one % f"{fine}, price: 61", "price is a text, not 61"),
                            (one % fine + "tables: 5", "tables is a list"),
                            (one % fine + "tables: [{title: t, rows: [{who: EI}]}]", "published")):
            self.refused(text, words)

    def test_mistakes_in_a_check(self):
        pair, mine = "who: EI, against: TS, on: s", "who: EI, on: s"
        for check, words in (
            ("beter", "unknown kind of check 'beter'"), ("better, who: EI, on: s", "lacks 'against'"),
            ("drop, strat: 1, who: a, on: b, start: 1, end: 2, factor: 2", "unknown key 'strat'"),
            (f"better, {pair}, factor: 2", "unknown key 'factor'"), (f"better, {pair}, times: 2", "a list"),
            (f"better, {pair}, value: simple", "a mapping"), ("better, who: 3, against: a, on: s", "name"),
            (f"better, {pair}, value: {{at: five}}", "better, value: at is a query"),
            (f"better, {pair}, combine: some", "most"), (f"better, {pair}, statistic: mode", "median"),
            (f"close, {pair}, share: 0.1, because: x, combine: pooled", "pooled is for better"),
            (f"lead, {mine}, over: 5", "[first, last]"), (f"lead, {mine}, over: [9, 5]", "[first, last]"),
            (f"lead, {mine}, over: [1, 5], share: 2", "at most 1"), (f"within, {mine}", "low or high"),
            ("lead, who: [EI], on: s, over: [1, 5]", "a text"), (f"growth, {mine}", "low or high or"),
            (f"within, {mine}, low: 3, high: 1", "low is above high"), (f"reach, {mine}", "by or not"),
            (f"comparable, {pair}, factor: 0.5, because: x", "factor is below 1"),
            (f"group, {pair}, factor: 1.5", "because"), (f"trend, {mine}, grows: maybe", "true or false"),
            (f"reach, {mine}, by: 0", "from 1 on")):
            self.refused(f"claims: [{{id: 1, where: x, claim: y, checks: [{{kind: {check}}}]}}]", words)


class Command(common.Case):
    TEXT = """
claims:
  - {id: A1, where: Fig. 1, claim: EI beats Random., checks: [{kind: better, who: EI,
     against: Random, on: study}]}
  - {id: A2, where: Fig. 1, claim: Random beats EI., checks: [{kind: better, who: Random,
     against: EI, on: study}]}
"""

    def setUp(self):
        super().setUp()
        self.path = self.scratch / "study.h5"
        synthetic.write(self.path, [made_up("Plane", {"EI": 1.0, "Random": 4.0})])
        self.claims = self.scratch / "claims.yaml"
        self.claims.write_text(self.TEXT)
        claims.read.cache_clear()

    def test_text_and_json(self):
        code, out, err = run("claims", self.path, "--claims", self.claims)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 claims: 1 shown, 1 contradicted", out)
        self.assertNotIn("paper", out)
        self.assertIn("20 common trials", out)
        code, out, _ = run("claims", self.path, "--json")  # claims.yaml beside the results
        data = json.loads(out)
        self.assertEqual([claim["grade"] for claim in data], [SHOWN, CONTRADICTED])
        row = data[0]["cases"][0]["checks"][0]["comparisons"][0]
        self.assertTrue(row["state"] == SHOWN and row["better"] > 0.99 and row["high"] < 1.0)

    def test_no_claim_speaks_of_it(self):
        self.claims.unlink()
        code, _, err = run("claims", self.path)
        self.assertEqual(code, 2)
        self.assertEqual(len(err.splitlines()), 1)


class Places(common.Case):
    def test_files_of_two_papers_with_one_name(self):
        for paper, reference in (("boke", "arXiv:1, appendix"), ("wdrbo", "arXiv:2")):
            (self.scratch / paper).mkdir()
            path = self.scratch / paper / "fig1b.h5"
            synthetic.write(path, [made_up("Plane", {"EI": 1.0}, seeds=2)])
            with h5py.File(path, "r+") as file:
                file.attrs["references"] = reference
        folders = [self.scratch / "boke", self.scratch / "wdrbo"]
        for reference, paper in (("arXiv:1", "boke"), ("arXiv:2", "wdrbo")):
            found = claims.find_results(folders, paper, reference)
            self.assertEqual(found, {"fig1b": self.scratch / paper / "fig1b.h5"})

    def test_a_place_that_is_not_there(self):
        with self.assertRaisesRegex(InputError, "nowhere.h5: no such file"):
            claims.find_results([self.scratch / "nowhere.h5"], "boke")
        (self.scratch / "boke_fig6.h5.d").mkdir()
        found = claims.find_results([self.scratch / "boke_fig6.h5"], "boke")
        self.assertEqual(list(found), ["fig6"])
