"""Claims: every kind of check on made-up results whose answer is known, the files of experiments/,
and the command."""
import json
import os
import subprocess
import unittest

import common
import h5py
import numpy as np
import pandas as pd
import synthetic
import yaml
from regatta_analysis.claims import checks, claims, forms, judge
from regatta_analysis.claims.comparisons import better_item
from regatta_analysis.claims.items import contrasts, drawn_item, new_item, share_item
from regatta_analysis.claims.outcome import NO, NONE, OPEN, TIE, YES, Item, Outcome, decided
from regatta_analysis.claims.panels import Panel, names
from regatta_analysis.claims.verdicts import Case
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.yaml_file import read_yaml
from test_cli import run

REGATTA = os.environ.get("REGATTA", "")


def pairs(a, b):
    """A table of two algorithms over trials of one instance."""
    index = pd.MultiIndex.from_product([[0], range(len(a))], names=["instance", "seed"])
    return pd.DataFrame({"a": a, "b": b}, index)


def made_up(name, level, seeds=20, queries=40, noise=0.05, power=-1.0):
    """A problem on which the regret of every algorithm is its level times t^power, with noise."""
    p = synthetic.problem(name, list(level), seeds=seeds, queries=queries, initial=4)
    random = np.random.default_rng(9)
    for k, (algorithm, _, seed) in enumerate(p["cells"]):
        t = np.maximum(np.arange(p["rows"]) - 3, 1)
        regret = level[algorithm] * t**power * np.exp(noise * random.normal(size=len(t)))
        simple = np.minimum.accumulate(regret)
        p["arrays"]["instantaneous_regret"][k] = regret
        p["arrays"]["simple_regret"][k] = simple
        p["arrays"]["cumulative_regret"][k, 4:] = np.cumsum(regret[4:])
    return p


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

    def verdict(self, kind, **check):
        return self.decide(kind, **check).verdict

    def test_better(self):
        self.assertEqual(self.verdict("better", who="EI", against=["GP-UCB", "Random"]), YES)
        self.assertEqual(self.verdict("better", who="GP-UCB", against="EI"), NO)
        self.assertEqual(self.verdict("better", who=["EI"], against="TS"), TIE)
        self.assertEqual(self.verdict("better", who="EI", against=["TS", "GP-UCB", "Random"],
                                      quantifier="most"), YES)
        self.assertEqual(self.verdict("better", who="Random", against=["TS", "EI"],
                                      quantifier="any"), NO)
        outcome = self.decide("better", who="EI", against="Random", at_each=[5, 20, 40])
        self.assertEqual((outcome.verdict, len(outcome.rows)), (YES, 3))
        self.assertTrue(all(row["p"] < 1e-3 and row["n"] == 20 for row in outcome.rows))
        self.assertEqual(self.verdict("better", who="EI", against="GP-UCB", statistic="median"), YES)
        self.assertEqual(self.verdict("better", who="EI", against="Random", value={"hit": 0.1}), YES)

    def test_too_few_trials_are_never_decided(self):
        for kind, more in (("better", {"against": "GP-UCB"}), ("within", {"high": 9.0}),
                           ("lead", {"over": [1, 40]}), ("growth", {"high": 5.0})):
            self.assertEqual(self.verdict(kind, who="EI", **{"on": "few", **more}), OPEN, kind)

    def test_the_statistic_of_the_figure_decides_not_ranks(self):
        """`who` loses most trials by a little and wins the mean by a factor of 3.6: by ranks this was
        called contradicted, the figure shows a mean."""
        a, b = np.full(40, 1.0), np.full(40, 0.9)
        b[::4] = 12.0
        item = better_item(Panel("x", {}), pairs(a, b), "a", "b", "mean")
        self.assertGreater(item.more["mean_b"] / item.more["mean_a"], 3.6)
        self.assertLess(item.more["superiority"], 0.3)
        self.assertEqual(decided([item]), YES)
        item = better_item(Panel("x", {}), pairs(a, b), "a", "b", "median")
        self.assertEqual(decided([item]), NO)

    def test_ties_at_exactly_equal_values(self):
        zero = np.zeros(30)
        item = better_item(Panel("x", {}), pairs(zero, zero), "a", "b", "mean")
        self.assertEqual((decided([item]), item.value), (TIE, 0.0))

    def test_versus_another_panel(self):
        self.assertEqual(self.verdict("better", who="EI", against="EI", versus="study/Root"), YES)

    def test_comparable(self):
        why = {"because": "a test"}
        self.assertEqual(self.verdict("comparable", who="EI", against="TS", factor=1.2, **why), YES)
        self.assertEqual(self.verdict("comparable", who="EI", against="Random", factor=1.2, **why), NO)
        self.assertEqual(self.verdict("comparable", who="EI", against="GP-UCB", factor=1.5, **why), OPEN)
        self.assertEqual(self.verdict("comparable", who="GP-UCB", against="EI", factor=1.2,
                                      one_sided=True, **why), NO)

    def test_a_margin_needs_a_reason(self):
        for check in ({"kind": "comparable", "factor": 1.2}, {"kind": "comparable", "because": "x"},
                      {"kind": "comparable", "factor": 2, "because": " "},
                      {"kind": "group", "factor": 1.1}):
            with self.assertRaises(InputError):
                forms.require({**check, "who": "EI", "against": "TS", "on": "study"})

    def test_group(self):
        self.assertEqual(self.verdict("group", who=["EI", "Random"], against=["GP-UCB"]), YES)
        self.assertEqual(self.verdict("group", who=["GP-UCB", "Random"], against=["EI"]), NO)

    def test_lead(self):
        self.assertEqual(self.verdict("lead", who="EI", among=["GP-UCB", "Random"], over=[2, 40]),
                         YES)
        self.assertEqual(self.verdict("lead", who="Random", over=[2, 40]), NO)
        self.assertEqual(self.verdict("lead", who="GP-UCB", over=[2, 40], rank=3, share=0.9), YES)

    def test_sizes(self):
        value = {"metric": "instantaneous", "at": 40}
        self.assertEqual(self.verdict("within", who="EI", value=value, low=0.02, high=0.03), YES)
        self.assertEqual(self.verdict("within", who="EI", value=value, low=0.03), NO)
        self.assertEqual(self.verdict("drop", who="EI", start=4, end=40, factor=5), YES)
        self.assertEqual(self.verdict("drop", who="EI", start=4, end=40, factor=20), NO)
        self.assertEqual(self.verdict("reach", who="Random", target=0.05, by=40), NO)
        self.assertEqual(self.verdict("reach", who=["Random"], target=0.05, not_before=40), YES)

    def test_reach_allows_for_chance(self):
        """20 of 20 trials that got there don't show that one of ten would not; 100 of 100 do."""
        self.assertEqual(self.verdict("reach", who="EI", target=0.05, by=40), OPEN)
        self.assertEqual(self.verdict("reach", who="EI", target=0.05, not_before=40), OPEN)
        for n, verdict in ((20, OPEN), (100, NO)):
            item = Item("", n=n, units=n)
            share_item(item, np.ones(n, bool), 0.5**0.1, below=True)
            self.assertEqual(decided([item]), verdict)

    def test_reach_counts_instances_where_trials_share_them(self):
        """Three of six functions are never solved, by any of ten seeds: six draws, not sixty."""
        p = synthetic.problem("P", ["EI"], instances=6, seeds=10, queries=2)
        p["arrays"]["simple_regret"][:] = np.array([i % 2 for _, i, _ in p["cells"]])[:, None]
        synthetic.write(self.scratch / "shared.h5", [p])
        studies = claims.Studies({"shared": self.scratch / "shared.h5"})
        outcome = checks.run({"kind": "reach", "who": "EI", "on": "shared", "not_before": 2}, studies)
        self.assertEqual((outcome.verdict, outcome.items[0].n, outcome.items[0].units), (OPEN, 60, 6))

    def test_a_regret_of_zero(self):
        """An infinite ratio is large, and no ratio of 0 to 0 is unequal."""
        some, zero = np.linspace(0.5, 1.5, 20), np.zeros(20)
        for a, b, verdict in ((some, zero, NO), (zero, some, YES), (zero, zero, YES)):
            frame, panel = pairs(a, b), Panel("x", {})
            item = new_item(panel, frame, "a", "b")
            contrasts(item, panel, frame, [[1.0, -1.5]])
            self.assertEqual(decided([item]), verdict)

    def test_growth(self):
        exponent = self.decide("growth", who="EI", on="study/Root", low=0.5, high=0.75)
        self.assertEqual(exponent.verdict, YES)
        self.assertEqual(self.verdict("growth", who="EI", on="study/Root", high=0.4), NO)

    def test_trend(self):
        self.assertEqual(self.verdict("trend", who="GP-UCB", grows=True), YES)

    def test_identical(self):
        self.assertEqual(self.verdict("identical", who="EI", against="TS"), NO)
        self.assertEqual(self.verdict("identical", who="EI", against="EI"), YES)

    def test_what_is_not_there(self):
        for check, words in (({"who": "JES", "against": "EI"}, "no complete trial of 'JES'"),
                             ({"who": "EI", "against": "TS", "on": "fig9"}, "no results of fig9"),
                             ({"who": "EI", "against": "TS", "on": "study/Nowhere"}, "Nowhere"),
                             ({"who": "EI", "against": "TS", "at_each": [99]}, "query 99")):
            outcome = self.decide("better", **check)
            self.assertEqual(outcome.verdict, OPEN)
            self.assertIn(words, outcome.text)

    def test_a_later_look_needs_more_trials(self):
        first, third = (Item("", n=40, units=40, level=judge.level(look)) for look in (1, 3))
        more = judge.more_units(judge.level(3), judge.level(1))
        for decide in (lambda item: drawn_item(item, np.linspace(-1.0, 2.0, 101), -np.inf, 0.0),
                       lambda item: share_item(item, np.arange(40) < 30, 0.6)):
            decide(first)
            decide(third)
            self.assertAlmostEqual(third.needed, more * first.needed)

    def test_trials_needed_are_those_of_what_is_lacking(self):
        def item(needed, value=-1.0, holds=1.0, fails=1.0):
            return Item("", n=20, units=20, needed=needed, value=value, most=0.0, holds=holds, fails=fails)

        def lacking(items, quantifier="all"):
            verdict = decided(items, quantifier)
            outcome = Outcome(verdict, "", "", items, quantifier)
            return outcome.needed(), [i.needed for i in outcome.open_items()]

        clear, near, far = item(9, holds=1e-5), item(50, holds=0.02), item(900, holds=0.3)
        np.testing.assert_equal(lacking([clear, near, far]), (900, [50, 900]))
        # Of two of three both must come out at half the level.
        np.testing.assert_equal(lacking([clear, near, far], "most"), (50 * judge.more_units(0.005, 0.01), [50]))
        np.testing.assert_equal(lacking([clear, near, far], "any"), (np.nan, []))
        # One that fails contradicts all of them; what it shows alone does not do for the worst of four.
        against = item(70, value=1.0, fails=0.008)
        np.testing.assert_equal(lacking([clear, near, far, against]), (70 * judge.more_units(0.0025, 0.01), [70]))
        self.assertEqual(against.verdict, NO)

    def test_growth_is_that_of_the_open_comparison(self):
        """What is settled has fewer trials, and would make the rest seem to need many times theirs."""
        items = [Item("", n=15, units=15, holds=1e-5, value=-1.0, most=0.0),
                 Item("", n=240, units=240, needed=360, holds=0.02, value=-1.0, most=0.0)]
        outcome = Outcome(decided(items), "", "", items)
        # At the second look 1.54 times 360, at the third 2.08 times.
        self.assertEqual((outcome.needed(), outcome.growth()), (360, 4.0))
        case = Case({}, "as written", OPEN, [Outcome(YES, "", "", items[:1]), outcome])
        self.assertEqual((case.trials, case.needed(), case.growth()), (15, 360, 4.0))

    def test_trials_needed_are_those_of_the_look(self):
        """A mean at 3.7 standard errors is clear at a first look, not at a seventh."""  # (5.61 + 0.84)^2 / 3.7^2 * 960
        d = np.tile([-1.0, 0.0, 1.0], 320)
        d += 3.7 * d.std(ddof=1) / np.sqrt(len(d))
        for look, needed, growth in ((1, 961, 2.0), (7, 2922, 4.0)):
            item = Item("", n=960, units=960, level=judge.level(look), value=-1.0, most=0.0, holds=0.09)
            item.needed = judge.needed(d, item.level)
            outcome = Outcome(OPEN, "", "", [item])
            self.assertAlmostEqual(outcome.needed(), needed, delta=5)
            self.assertEqual(outcome.growth(), growth)

    def test_panels_without_results(self):
        """They leave a claim open, and no probability is made of the others."""
        outcome = self.decide("better", who="EI", against="Random", on=["study/Plane", "study/Nowhere"])
        self.assertEqual((outcome.verdict, outcome.shown()), (OPEN, None))
        self.assertIsNotNone(self.decide("better", who="EI", against="Random").shown())

    def test_what_only_the_results_tell_to_be_wrong(self):
        for check, words in (({"kind": "better", "against": "TS", "versus": "study"}, "STUDY/PROBLEM"),
                             ({"kind": "better", "against": "TS", "value": {"metric": "joy"}}, "no 'joy' recorded"),
                             ({"kind": "identical", "against": "TS", "column": "joy"}, "no 'joy' recorded")):
            with self.assertRaisesRegex(InputError, words):
                self.decide(who="EI", **check)
        for check in ({"kind": "growth", "high": 1, "start": 99}, {"kind": "growth", "against": "JES"}):
            self.assertEqual(self.verdict(who="EI", **check), OPEN)


class Files(common.Case):
    def test_what_needs_data_is_not_checkable_without_them(self):
        claim = {"id": "A", "where": "x", "claim": "y", "checks": [
            {"kind": "better", "who": "EI", "against": "UCB", "on": "secret"}]}
        for more, verdict in (({}, OPEN), ({"needs": "data of others"}, NONE)):
            path = self.scratch / f"{len(more)}.yaml"
            path.write_text(yaml.safe_dump({"claims": [claim | more]}))
            found, = claims.evaluate(path, claims.Studies({}))
            self.assertEqual(found.verdict, verdict)
        self.assertEqual(found.sentence(), "Not checkable: it needs data of others.")

    def refused(self, text, words):
        """The claims file is refused in one line that says the words."""
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
            (f"better, {pair}, quantifier: some", "most"), (f"better, {pair}, statistic: mode", "median"),
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
        self.assertIn("2 claims: 1 reproduced, 0 depends on a setting, 1 not reproduced, 0 near tie", out)
        self.assertIn("20 common trials", out)
        code, out, _ = run("claims", self.path, "--json")  # claims.yaml beside the results
        data = json.loads(out)
        self.assertEqual([claim["verdict"] for claim in data], [YES, NO])
        row = data[0]["checks"][0]["rows"][0]
        self.assertTrue(row["p"] < 1e-3 and row["superiority"] == 1.0)

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


if __name__ == "__main__":
    unittest.main()
