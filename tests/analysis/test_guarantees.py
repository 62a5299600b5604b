"""The promises and measurements of docs/statistics.md, in a small version of its simulations."""
import os
import re
from pathlib import Path

import calibration_table as simulated
import common
import numpy as np
from regatta_analysis.claims.grades import OPEN, SHOWN
from regatta_analysis.claims.outcome import Item, decide_together
from regatta_analysis.stats import evidence, statistics
from scipy import stats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"
STUDIES = 120
LONG = os.environ.get("REGATTA_LONG") == "1"


class Comparisons(common.Case):
    def test_intervals_keep_their_level_at_every_look(self):
        for law in simulated.PAIRS:
            with self.subTest(law=law):
                found = simulated.misses(law, STUDIES, looks=4)
                self.assertLessEqual(found.max(), evidence.LEVEL)

    def test_differences_are_found(self):
        for law, least in (("normal", 0.95), ("lognormal, sigma 1", 0.7), ("10% stuck", 0.55)):
            with self.subTest(law=law):
                self.assertGreaterEqual(simulated.power(law, studies=STUDIES)[1], least)

    def test_pooled_panels_keep_the_level_where_methods_lead_on_half_of_them(self):
        random, missed = np.random.default_rng(1), 0
        for _ in range(STUDIES):
            panels = [evidence.compare(*(random.lognormal(shift, 1.0, 12) for shift in (way, -way)))
                      for way in (1.0, -1.0, 0.0, 0.0)]
            missed += evidence.pooled(panels).verdict != "open"
        self.assertLessEqual(missed / STUDIES, evidence.LEVEL)


class Families(common.Case):
    """A claim tells its reader a grade, and the count of its comparisons. Without any difference it says nothing in 95 %
    of studies, however many comparisons it has."""

    def test_a_claim_of_24_comparisons_says_nothing_without_a_difference(self):
        """docs/statistics.md has the table of all laws with more studies."""
        for law in simulated.FAMILIES if LONG else ("lognormal, sigma 1", "half at 0 (ties)"):
            with self.subTest(law=law):
                found = simulated.family(law, studies=400 if LONG else 15, sizes=(16,), looks=4 if LONG else 1)
                self.assertLessEqual(found[:-1].max(), evidence.LEVEL)
                self.assertGreaterEqual(found[-1], found[-2], "alone each of them says more")

    def test_the_rule_of_a_claim_is_a_part_of_the_test_of_simes(self):
        """For every p of the comparisons, which the page bases its promise on: nothing is said unless, with p sorted, the
        i-th of k is at most 5 % times i / k for some i."""
        random = simulated.seeded("Simes")
        for k in (1, 2, 3, 24):
            for p in random.random((200, k))**6:
                items = [self.with_p(one) for one in p]
                decide_together(items)
                said = any(item.state != OPEN for item in items)
                self.assertEqual(said, p.min() <= evidence.LEVEL / k or p.max() <= evidence.LEVEL)
                simes = np.any(np.sort(p) <= evidence.LEVEL * np.arange(1, k + 1) / k)
                self.assertLessEqual(said, simes)

    @staticmethod
    def with_p(p):
        """A comparison that is shown where p is at most its level."""
        item = Item("")

        def decide(among):
            item.state = SHOWN if p <= evidence.LEVEL / among else OPEN
        item.decide = decide
        decide(1)
        return item

    def test_comparisons_that_all_say_the_same_need_no_more_than_one_would(self):
        """Nine wins of nine on each of 24 panels, and on 23 of them."""
        wins, noise = (np.full(9, 0.5), np.ones(9)), (np.array([0.5, 2.0] * 4 + [0.5]), np.ones(9))
        items = [simulated.item(*wins) for _ in range(24)]
        decide_together(items)
        self.assertEqual({(item.state, item.among) for item in items}, {(SHOWN, 1)})
        items[0] = simulated.item(*noise)
        decide_together(items)
        self.assertEqual({(item.state, item.among) for item in items}, {(OPEN, 24)})
        self.assertTrue(all(item.low < 1.0 < item.high for item in items), "the interval is the one that decides")


class Levels(common.Case):
    def test_medians_are_covered_whatever_the_law(self):
        for law in simulated.MEANS:
            for n in (10, 40):
                with self.subTest(law=law, n=n):
                    self.assertGreaterEqual(min(simulated.coverage(law, n, 600)[3:]), 0.93)

    def test_means_of_stuck_trials_are_not_covered(self):
        """No interval of the mean knows of stuck trials that it has not seen: the page says so."""
        for law, most in (("5% stuck", 0.5), ("10% stuck", 0.72)):
            self.assertLessEqual(max(simulated.coverage(law, 10, 600)[:3]), most)
            self.assertGreaterEqual(simulated.mean_errors(law, 600)[0], 0.25)

    def test_the_interval_of_a_median_is_the_shortest_of_its_level(self):
        for n in (6, 11, 25, 60):
            low, high = statistics.median_interval(np.arange(1.0, n + 1.0)[:, None])[:, 0]

            def missed(inside):
                return 2.0 * stats.binom.cdf(inside - 1, n, 0.5)
            self.assertEqual(low + high, n + 1)
            self.assertLessEqual(missed(low), 0.05)
            self.assertGreater(missed(low + 1), 0.05)
        self.assertTrue(np.isnan(statistics.median_interval(np.ones((5, 2)))).all())
        some = np.array([3.0, np.nan, 1.0, 2.0, np.inf, 4.0, 5.0])
        self.assertEqual(statistics.median_interval(some).tolist(), [1.0, np.inf])


class Page(common.Case):
    def test_the_page_has_the_tables_of_the_program(self):
        """One row of each kind is simulated again, in full, and stands on the page with these digits."""
        page = PAGE.read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+) \|([\d. |]+)\|$", page, re.M)
        self.assertGreaterEqual(len(rows), 27)
        for row in (simulated.table(["", *"1234"], [("10% stuck", simulated.mean_errors("10% stuck"))]),
                    simulated.table(["", *"123"], [("20% stuck", simulated.power("20% stuck"))])):
            self.assertIn(row.splitlines()[-1], page)
