"""The scale of grades: the grade of several comparisons, when more trials cannot change it, and claims over universes
and readings."""
import itertools

import common
import numpy as np
import synthetic
import yaml
from regatta_analysis.claims import claims, grades, verdicts
from regatta_analysis.claims.grades import (AGAINST, CONTRADICTED, DEPENDS, EQUIVALENT, NOT_COMPARABLE, NOT_RUN, NOTHING,
                                            MOSTLY_OPEN, OPEN, PARTLY, SHOWN, SUPPORTED, VOID, Tally, grade, possible)
from regatta_analysis.claims.outcome import Item, Outcome
from regatta_analysis.report.curve import curves


class Scale(common.Case):
    GRADES = {
        "every": (((16, 0, 0, 0), SHOWN), ((15, 0, 0, 1), SUPPORTED), ((15, 0, 1, 0), PARTLY), ((15, 1, 0, 0), PARTLY),
                  ((0, 1, 0, 15), CONTRADICTED), ((2, 22, 0, 0), CONTRADICTED), ((0, 0, 16, 0), EQUIVALENT),
                  ((8, 0, 0, 8), SUPPORTED), ((7, 0, 0, 9), MOSTLY_OPEN), ((4, 0, 0, 101), MOSTLY_OPEN), ((0, 0, 3, 13), NOTHING), ((0, 0, 0, 16), NOTHING), ((1, 9, 0, 6), CONTRADICTED), ((0, 0, 0, 0), NOTHING)),
        "most": (((3, 2, 0, 0), SHOWN), ((2, 3, 0, 0), CONTRADICTED), ((2, 0, 0, 3), MOSTLY_OPEN), ((2, 0, 0, 2), SUPPORTED), ((2, 1, 0, 2), PARTLY),
                 ((2, 2, 1, 0), PARTLY), ((0, 0, 5, 0), EQUIVALENT), ((0, 2, 0, 3), NOTHING), ((3, 3, 0, 0), CONTRADICTED)),
        "any": (((1, 4, 0, 0), SHOWN), ((0, 5, 0, 0), CONTRADICTED), ((0, 4, 1, 0), EQUIVALENT), ((0, 4, 0, 1), NOTHING))}

    def test_several_comparisons_have_one_grade(self):
        for combine, cases in self.GRADES.items():
            for counts, expected in cases:
                self.assertEqual(grade(Tally(*counts), combine), expected, (combine, counts))

    def test_settled_as_soon_as_every_completion_gives_one_grade(self):
        self.assertEqual(possible(Tally(against=22, open=2), "every"), {CONTRADICTED})
        self.assertEqual(possible(Tally(against=14, open=2, shown=8), "every"), {CONTRADICTED})
        self.assertEqual(possible(Tally(shown=3, open=2), "most"), {SHOWN})
        self.assertEqual(possible(Tally(shown=15, open=1), "every"), {SHOWN, PARTLY})
        self.assertEqual(possible(Tally(shown=14, against=1, open=1), "every"), {PARTLY})
        self.assertEqual(possible(Tally(shown=1, open=4), "any"), {SHOWN})
        self.assertEqual(possible(Tally(open=1), "every", equivalent=False), {SHOWN, CONTRADICTED})

    def test_completions_are_all_there_are(self):
        """A grade that is possible is that of a tally without open comparisons, and what is settled does not move."""
        for counts in itertools.product(range(4), repeat=4):
            before = Tally(*counts)
            for combine in ("every", "most", "any") if before.total else ():
                found = possible(before, combine)
                by_hand = {grade(Tally(counts[0] + s, counts[1] + counts[3] - s - e, counts[2] + e), combine)
                           for s in range(counts[3] + 1) for e in range(counts[3] - s + 1)}
                self.assertEqual(found, by_hand)
                if len(found) == 1 and grade(before, combine) not in (NOTHING, SUPPORTED, MOSTLY_OPEN):
                    self.assertEqual({grade(before, combine)}, found, (before, combine))

    def test_checks_together(self):
        for found, expected in (([SHOWN, SHOWN], SHOWN), ([SHOWN, SUPPORTED], SUPPORTED), ([SHOWN, NOTHING], SUPPORTED),
                                ([SHOWN, CONTRADICTED], PARTLY), ([CONTRADICTED, NOTHING], CONTRADICTED),
                                ([SHOWN, NOT_COMPARABLE], NOT_COMPARABLE), ([NOT_RUN, NOTHING], NOTHING),
                                ([NOT_RUN], NOT_RUN), ([SHOWN, NOT_RUN], SUPPORTED), ([MOSTLY_OPEN, SHOWN], SUPPORTED),
                                ([SHOWN, NOTHING, NOTHING], MOSTLY_OPEN), ([MOSTLY_OPEN, NOTHING], MOSTLY_OPEN),
                                ([MOSTLY_OPEN, CONTRADICTED], PARTLY)):
            self.assertEqual(grades.together(found), expected, found)

    def test_the_count_is_told(self):
        self.assertEqual(str(Tally(15, 0, 1, 0)), "15 shown, 0 against, 1 equivalent, 0 open of 16")
        self.assertEqual(str(Tally.of([SHOWN, OPEN, VOID])), "1 shown, 0 against, 1 open of 2; 1 void")


def outcome(*states, combine="every", **more):
    items = [Item(f"P{k}", "A", "B", n=12, units=12, state=state, value=0.5, low=0.4, high=0.6, most=1.0)
             for k, state in enumerate(states)]
    return Outcome("a text", "a method", items, combine, True, **more)


def case(*states, reading="r", there=True, **universe):
    return verdicts.Case(universe, reading, [outcome(*states)], there)


class Checks(common.Case):
    def test_pooled(self):
        """The one effect decides, whatever single panels show, and the count is that of effects."""
        for state, expected in ((SHOWN, SHOWN), (AGAINST, CONTRADICTED), (EQUIVALENT, EQUIVALENT), (OPEN, NOTHING)):
            found = outcome(SHOWN, OPEN, combine="pooled", pooled=Item("together", state=state))
            self.assertEqual((found.grade, found.tally.total), (expected, 1))
        self.assertEqual(len(found.open_items()), 2)

    def test_the_least_favourable_of_pooled_effects_is_the_estimate(self):
        effects = [Item("together", "A", b, state=OPEN, value=value, low=0.5, high=1.5, most=1.0)
                   for b, value in (("B", 0.8), ("C", 1.1), ("D", 0.9))]
        found = verdicts.Case({}, "r", [outcome(SHOWN, combine="pooled", pooled=one) for one in effects], True)
        value, *_, unit = found.estimate()
        self.assertEqual((value, unit), (1.1, "a method, the least favourable of 3"))

    def test_panels_without_results_are_one_more_open_comparison(self):
        found = outcome(SHOWN, SHOWN, partial=True)
        self.assertEqual((found.grade, found.possible()), (SUPPORTED, {SHOWN, PARTLY}))
        self.assertEqual(outcome(SHOWN, AGAINST, AGAINST, AGAINST, partial=True).grade, CONTRADICTED)
        self.assertEqual(Outcome("none").grade, NOT_RUN)
        self.assertEqual(Outcome("no data", comparable=False).grade, NOT_COMPARABLE)

    def test_checks_are_supported_by_the_share_of_all_their_comparisons(self):
        """A check with one comparison does not outweigh one with nine."""
        few = verdicts.Case({}, "r", [outcome(SHOWN), outcome(*[OPEN] * 9)])
        many = verdicts.Case({}, "r", [outcome(OPEN), outcome(*[SHOWN] * 9)])
        self.assertEqual((few.grade, many.grade), (MOSTLY_OPEN, SUPPORTED))
        self.assertEqual(verdicts.Case({}, "r", [outcome(SHOWN), Outcome("none"), Outcome("none")]).grade, MOSTLY_OPEN)

    def test_void_comparisons_count_nowhere(self):
        self.assertEqual(outcome(SHOWN, VOID).grade, SHOWN)
        self.assertEqual(outcome(VOID, VOID).grade, NOTHING)


class Conclusions(common.Case):
    def conclude(self, *cases, **settings):
        return verdicts.conclude(list(cases), settings)

    def test_all_alike(self):
        for state, expected in ((SHOWN, SHOWN), (AGAINST, CONTRADICTED), (EQUIVALENT, EQUIVALENT), (OPEN, NOTHING)):
            self.assertEqual(self.conclude(case(state, a="x"), case(state, a="y")), (expected, ()))

    def test_the_count_is_that_of_a_case_that_shows_something(self):
        cases = [case(OPEN, OPEN, reading="r"), case(SHOWN, OPEN, reading="s")]
        verdict = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases)
        self.assertTrue(verdict.sentence().startswith("Supported: 1 shown, 0 against, 1 open of 2, "
                                                      "decided together at 5 %;"), verdict.sentence())

    def test_universes_are_no_conjunction(self):
        """Shown in one and open in another: supported, not undecided."""
        self.assertEqual(self.conclude(case(SHOWN, a="1"), case(OPEN, a="2"))[0], SUPPORTED)
        self.assertEqual(self.conclude(case(AGAINST, a="1"), case(OPEN, a="2"))[0], CONTRADICTED)
        self.assertEqual(self.conclude(case(SHOWN, a="1"), case(OPEN, there=False, a="2"))[0], SHOWN)
        self.assertEqual(self.conclude(case(OPEN, there=False))[0], NOT_RUN)

    def test_the_smallest_set_that_separates(self):
        table = [case(SHOWN if b == "2" else AGAINST, reading=r, a=a, b=b) for a in "12" for b in "12" for r in "mn"]
        self.assertEqual(self.conclude(*table), (DEPENDS, (("b",),)))
        table = [case(SHOWN if r == "m" else AGAINST, reading=r, a=a, b=b) for a in "12" for b in "12" for r in "mn"]
        self.assertEqual(self.conclude(*table), (DEPENDS, (("reading",),)))
        table = [case(SHOWN if a == b else AGAINST, a=a, b=b, c=c) for a in "12" for b in "12" for c in "12"]
        self.assertEqual(self.conclude(*table), (DEPENDS, (("a", "b"),)))

    def test_settings_that_did_not_run_or_are_the_same_trials_count_nowhere(self):
        again = case(SHOWN, a="3")
        again.same_as = 0
        verdict = self.verdict(case(SHOWN, a="1"), case(OPEN, there=False, a="2"), again)
        self.assertEqual((verdict.shares(), verdict.sentence()), ({SHOWN: 1}, "Shown: 1 shown, 0 against, 0 open of 1."))

    def verdict(self, *cases):
        found, turns_on = self.conclude(*cases)
        return verdicts.Verdict("p", "C", "here", "It is so.", found, list(cases), turns_on)

    def test_sentences(self):
        table = [case(SHOWN, a="1", b="1"), case(AGAINST, a="2", b="2"), case(OPEN, a="1", b="2")]
        verdict = self.verdict(*table)
        self.assertEqual(verdict.words, "depends on a or b")
        self.assertEqual(verdict.sentence(), "Depends: 1 shown, 0 against, 0 open of 1; shown with a 1 and b 1; "
                         "contradicted with a 2 and b 2; undecided in 1 of 3 combinations.")
        self.assertTrue(verdict.settled())
        verdict = self.verdict(case(SHOWN, a="1"), case(SHOWN, a="2"), case(OPEN, a="3"))
        self.assertEqual(verdict.sentence(), "Supported: 1 shown, 0 against, 0 open of 1; shown in 2, undecided "
                         "in 1 of 3 settings.")
        self.assertFalse(verdict.settled())
        verdict = self.verdict(case(*[SHOWN] * 15, EQUIVALENT))
        self.assertEqual(verdict.sentence(), "Partly: 15 shown, 0 against, 1 equivalent, 0 open of 16, decided "
                         "together at 5 %; not shown: A against B (P15) equivalent.")
        self.assertTrue(verdict.settled())

    def test_nothing_of_another_experiment_where_there_is_none(self):
        for verdict in (self.verdict(case(SHOWN)), self.verdict(case(SHOWN, OPEN))):
            self.assertNotIn("paper", verdict.sentence())
            self.assertTrue(np.isnan(verdict.picture[0]))

    def test_curve(self):
        """Effects sorted, and the share of combinations of each grade."""
        low, high = case(SHOWN, a="1"), case(AGAINST, a="2")
        high.outcomes[0].items[0].value = 2.0
        ((caption, svg),) = curves(self.verdict(high, low))
        self.assertIn("of 2 combinations: shown 50 %, contradicted 50 %", caption)
        self.assertLess(svg.index('class="dot yes"'), svg.index('class="dot no"'))


class Known(common.Case):
    """Whole claims on made-up results whose truth is known, one for every grade."""

    LEVELS = {"Plane": {"EI": 1.0, "TS": 1.0, "Random": 4.3}, "Root": {"EI": 1.0, "TS": 1.0, "Random": 4.8},
              "Ring": {"EI": 1.0, "TS": 1.0, "Random": 2.2}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        synthetic.write(cls.directory / "race.h5", [synthetic.made_up(name, levels, seeds=12, noise=0.02)
                                                    for name, levels in cls.LEVELS.items()])
        noisy = {"A": 1.0, "B": 1.02}
        synthetic.write(cls.directory / "noisy.h5", [synthetic.made_up("Plane", noisy, seeds=5, noise=0.5)])
        cls.studies = claims.Studies({name: cls.directory / f"{name}.h5" for name in ("race", "noisy")})

    def graded(self, *checks, readings=None, **more):
        body = {"readings": readings} if readings else {"checks": list(checks)}
        path = self.scratch / "claims.yaml"
        (self.scratch / "nowhere.yaml").touch()  # a study that has not run
        path.write_text(yaml.safe_dump({"claims": [{"id": "A", "where": "x", "claim": "y", **body, **more}]}))
        claims.read.cache_clear()
        found, = claims.evaluate(path, self.studies)
        return found

    def test_twelve_of_twelve_on_three_functions_is_shown(self):
        found = self.graded({"kind": "better", "who": "EI", "against": "Random", "on": "race"})
        self.assertEqual((found.grade, str(found.first.tally)), (SHOWN, "3 shown, 0 against, 0 open of 3"))
        self.assertTrue(all(item.evidence.wins == 12 for item in found.first.items))
        self.assertNotIn("paper", found.sentence())

    def test_far_apart_is_not_comparable_within_a_factor(self):
        found = self.graded({"kind": "comparable", "who": "Random", "against": "EI", "on": "race", "factor": 1.5,
                             "because": "a test"})
        self.assertEqual((found.grade, found.first.tally.against), (CONTRADICTED, 3))

    def test_every_grade(self):
        better = {"kind": "better", "who": "EI", "against": "Random", "on": "race"}
        worse, even = better | {"who": "Random", "against": "EI"}, better | {"against": "TS"}
        guess = better | {"who": "A", "against": "B", "on": "noisy"}
        for expected, found in (
                (SHOWN, self.graded(better)), (CONTRADICTED, self.graded(worse)), (EQUIVALENT, self.graded(even)),
                (NOTHING, self.graded(guess)), (SUPPORTED, self.graded(better, guess)), (PARTLY, self.graded(better, worse)),
                (PARTLY, self.graded(better | {"against": ["Random", "TS"]})),
                (SUPPORTED, self.graded(better | {"on": ["race", "nowhere"]})),
                (NOT_RUN, self.graded(better | {"on": "nowhere"})),
                (NOT_COMPARABLE, self.graded({"kind": "unchecked", "because": "no code"})),
                (NOT_COMPARABLE, self.graded(better | {"on": "nowhere"}, needs="data of others")),
                (DEPENDS, self.graded(readings=[{"id": "m", "because": "a", "checks": [better]},
                                                {"id": "n", "because": "b", "checks": [worse]}])),
                (SHOWN, self.graded(better | {"combine": "pooled"})), (EQUIVALENT, self.graded(even | {"combine": "pooled"})),
                (SHOWN, self.graded(better | {"against": ["Random", "TS"], "combine": "any"})),
                (CONTRADICTED, self.graded(worse | {"combine": "pooled"}))):
            self.assertEqual(found.grade, expected, found.sentence())

    def test_the_heading_says_how_much_is_shown(self):
        """One of three shown and two open: no "supported" without this count."""
        found = self.graded({"kind": "better", "who": "A", "against": "B", "on": "noisy"},
                            {"kind": "better", "who": "EI", "against": "Random", "on": "race/Plane"})
        self.assertEqual((found.grade, found.words), (SUPPORTED, "supported: 1 of 2 shown"))
        self.assertIn("SUPPORTED: 1 OF 2 SHOWN", claims.plain([found]))

    def test_a_few_of_many_comparisons_do_not_support_a_claim(self):
        """4 of 105 shown is no support: the words say undecided first, and that none is against."""
        few, half = ([case(*[SHOWN] * k, *[OPEN] * (105 - k))] for k in (4, 53))
        for cases, words in ((few, "mostly undecided: 4 of 105 shown, none against"), (half, "supported: 53 of 105 shown")):
            found = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases)
            self.assertEqual(found.words, words)
        cases = [case(SHOWN, reading="a"), case(OPEN, reading="b"), case(OPEN, reading="c")]
        found = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases)
        self.assertEqual(found.words, "mostly undecided: shown in 1 of 3 readings")
        cases = [case(SHOWN, AGAINST, EQUIVALENT, OPEN)]
        found = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases)
        self.assertEqual(found.words, "partly: 1 of 4 shown, 1 against, 1 equivalent")

    def test_a_claim_that_nobody_ran_names_its_price(self):
        check = {"kind": "better", "who": "EI", "against": "Random", "on": "nowhere"}
        part = self.graded(check | {"on": ["race", "nowhere"]})
        self.assertTrue(part.words.endswith(" shown, others not run"), part.words)
        self.assertEqual(self.graded(check, price="61 core-hours").sentence(), "Not run: no results of nowhere yet (61 core-hours).")
        self.assertEqual(self.graded(check).sentence(), "Not run: no results of nowhere yet.")

    def test_an_undecided_claim_names_its_price_and_a_decided_one_does_not(self):
        for ending, states in ((True, [OPEN]), (False, [SHOWN]), (True, [SHOWN, OPEN, OPEN]), (False, [SHOWN, SHOWN, OPEN])):
            cases = [case(state) for state in states]
            found = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases, price="2 core-hours")
            self.assertEqual(found.sentence().endswith("; 2 core-hours."), ending, found.sentence())

    def test_all_checks_of_a_claim_are_decided_together(self):
        """Twelve wins on each of three functions hold alone; beside an open comparison each has a fourth of the error."""
        better = {"kind": "better", "who": "EI", "against": "Random", "on": "race"}
        alone, beside = self.graded(better), self.graded(better, better | {"who": "A", "against": "B", "on": "noisy"})
        self.assertEqual({i.among for i in alone.first.items}, {1})
        self.assertEqual({i.among for i in beside.first.items}, {4})
        self.assertGreater(beside.first.items[0].high, alone.first.items[0].high)
        self.assertIn("intervals are for all 4 comparisons of the claim together", beside.reasons()[0])

    def test_an_undecided_claim_says_where_it_leans(self):
        for who, against in (("A", "B"), ("B", "A")):
            found = self.graded({"kind": "better", "who": who, "against": against, "on": "noisy"})
            self.assertEqual(found.grade, NOTHING)
            item, = found.first.items
            side = "towards" if item.value <= 1.0 else "against"
            self.assertIn(f"leans {side} the statement", found.sentence())
            self.assertEqual(found.words, f"undecided, leans {side}")
            twice = self.graded(*2 * [{"kind": "better", "who": who, "against": against, "on": "noisy"}])
            self.assertEqual(twice.words, f"undecided, leans {side} in 2 of 2")
        both = self.graded({"kind": "better", "who": ["A", "B"], "against": ["A", "B"], "on": "noisy"})
        self.assertEqual((both.grade, both.words), (NOTHING, "undecided, leans towards in 1 of 2"))

    def test_not_inferior_in_most(self):
        check = {"kind": "comparable", "who": "EI", "on": "race", "factor": 1.1, "because": "a test", "one_sided": True}
        found = self.graded(check | {"against": ["TS", "Random"], "combine": "most"})
        self.assertEqual((found.grade, found.first.tally.shown), (SHOWN, 6))
