"""Evidence against independent computations: quadrature by SciPy, exact enumeration, brute-force inversion."""
import itertools
import math
import warnings

import common
import numpy as np
from regatta_analysis.claims import claims
from regatta_analysis.stats import evidence, robust
from scipy import integrate, stats


def sample(n, shift, seed=0):
    random = np.random.default_rng([seed, n])
    b = random.lognormal(size=n)
    return b * np.exp(random.normal(size=n) + shift), b


class Sequence(common.Case):
    def test_sign_evidence_is_the_mixed_likelihood_ratio(self):
        for wins, losses in ((0, 0), (3, 0), (8, 1), (5, 9), (60, 40)):
            mixed, _ = integrate.quad(lambda p: 2.0 * (2.0 * p)**wins * (2.0 - 2.0 * p)**losses, 0.5, 1.0)
            found = evidence.sign_evidence(np.repeat([1.0, -1.0], [wins, losses]))
            self.assertAlmostEqual(found / mixed, 1.0, 9)
            bets = evidence.bet_evidence(np.repeat([1.0, -1.0, 0.0], [wins, losses, 4]))
            self.assertAlmostEqual(bets / mixed, 1.0, 9)

    def test_rank_evidence_is_the_mixed_product_over_ranks_so_far(self):
        d = np.array([0.3, -2.0, 0.0, 1.0, 1.0, -0.1, 4.0])
        weights = [np.sign(x) * stats.rankdata(np.abs(d[:k + 1]))[k] / (k / 2 + 1) for k, x in enumerate(d)]

        def wealth(stake):
            theta = math.atanh(stake)
            return math.prod(math.exp(theta * w) / math.cosh(theta * w) for w in weights)
        mixed, _ = integrate.quad(wealth, 0.0, 1.0)
        self.assertAlmostEqual(evidence.rank_evidence(d), mixed, 6)

    def test_only_the_first_units_count_by_rank(self):
        many = np.random.default_rng(0).normal(size=60)
        changed = many.copy()
        changed[45:] *= 100.0
        self.assertEqual(evidence.rank_evidence(many), evidence.rank_evidence(changed))
        changed[5] *= 100.0
        self.assertNotEqual(evidence.rank_evidence(many), evidence.rank_evidence(changed))

    def test_evidence_is_a_martingale_under_fair_signs(self):
        """The mean over all signs is 1 for any absolute values, also with ties, zeros and infinities."""
        for size in ([0.1, 5.0, 2.0, 0.3, 1.0], [1.0, 1.0, 1.0, 2.0, np.inf], [0.0, 3.0, np.inf, np.inf, 0.5]):
            for test in (evidence.sign_evidence, evidence.rank_evidence):
                found = [test(np.array(size) * signs) for signs in itertools.product((-1.0, 1.0), repeat=5)]
                self.assertAlmostEqual(np.mean(found), 1.0, 6)

    def test_interval_is_what_the_tests_do_not_refute(self):
        for n, shift in ((8, -1.5), (20, 0.2), (35, 0.0), (55, 0.4)):
            found = evidence.compare(*sample(n, shift))
            borders = np.exp(np.linspace(-5, 5, 401))
            kept = [x for x in borders if found.against(x) == "open"]
            inside = [x for x in borders if found.low < x < found.high]
            self.assertEqual(kept, inside)
            self.assertTrue(found.low < found.typical < found.high)
            self.assertEqual(found.verdict == "open", found.low < 1.0 < found.high)

    def test_scale_and_direction_do_not_matter(self):
        a, b = sample(15, -0.8)
        one, other = evidence.compare(a, b), evidence.compare(b, a)
        self.assertAlmostEqual(one.low * other.high, 1.0, 12)
        self.assertAlmostEqual(one.better, 1.0 - other.better, 12)
        self.assertAlmostEqual(one.better_low, 1.0 - other.better_high, 12)
        self.assertAlmostEqual(evidence.compare(7.0 * a, 7.0 * b).low, one.low, 12)
        logs = evidence.compare(np.log10(a), np.log10(b), scale="log10")
        self.assertAlmostEqual(logs.high, one.high, 10)
        self.assertEqual((one.stuck_a, one.stuck_b), (logs.stuck_a, logs.stuck_b))

    def test_twelve_wins_of_twelve_are_shown_whatever_their_sizes(self):
        self.assertEqual(evidence.compare(np.full(7, 0.5), np.ones(7)).verdict, "open", "p = 0.031 on one side")
        for n, shown in ((5, False), (9, True), (12, True)):
            for size in (np.ones(n), np.arange(n) + 1.0, np.arange(n)[::-1] + 1.0):
                found = evidence.compare(np.exp(-size), np.ones(n))
                self.assertEqual(found.verdict, "better" if shown else "open")
                self.assertEqual((found.wins, found.ties, found.losses), (n, 0, 0))

    def test_seven_trials_are_the_fewest_that_decide(self):
        """claims.LEAST: of six no order of sizes is enough, of seven some are."""
        decided = {n: [evidence.compare(np.exp(-np.array(s, float)), np.ones(n)).verdict for s in itertools.islice(
            itertools.permutations(range(1, n + 1)), 0, None, {6: 7, 7: 101}[n])] for n in (6, 7)}
        self.assertEqual(set(decided[claims.LEAST - 1]), {"open"})
        self.assertIn("better", decided[claims.LEAST])
        self.assertEqual(evidence.least_units(1), claims.LEAST)
        for among, n in ((2, 9), (7, 11), (36, 13)):
            self.assertEqual([evidence.compare(np.exp(-np.arange(1.0, k)), np.ones(k - 1), level=0.05 / among).verdict
                              for k in (n, n + 1)], ["open", "better"])
            self.assertEqual(evidence.least_units(among), n)

    def test_a_factor_of_three_contradicts_one_of_one_and_a_half(self):
        a, b = sample(12, 0.0)
        found = evidence.compare(b * np.linspace(2.6, 4.8, 12), b)
        self.assertEqual(found.within(1 / 1.5, 1.5), "outside")
        self.assertEqual(evidence.compare(a, b).within(1 / 1.5, 1.5), "open")

    def test_equivalent_needs_an_interval_inside_the_region(self):
        b = sample(20, 0.0)[1]
        self.assertEqual(evidence.compare(b * np.linspace(0.93, 1.05, 20), b).verdict, "equivalent")
        self.assertEqual(evidence.compare(b * np.linspace(0.80, 0.85, 20), b).verdict, "better")
        self.assertEqual(evidence.compare(b, b).verdict, "equivalent")
        self.assertEqual(evidence.compare(b - 9.0, b - 9.0, scale="difference").verdict, "equivalent")

    def test_infinity_sorts_last_and_ties_with_itself(self):
        a, b = np.full(12, 2.0), np.full(12, np.inf)
        found = evidence.compare(a, b)
        self.assertEqual((found.verdict, found.high, found.effect, found.stuck_b), ("better", 0.0, 0.0, 1.0))
        self.assertEqual(evidence.compare(b, a).verdict, "worse")
        same = evidence.compare(b, b)
        self.assertEqual((same.verdict, same.effect, same.ties), ("equivalent", 1.0, 12))
        a[:3], b[3:] = np.inf, 1.0
        self.assertTrue(np.isfinite([evidence.compare(a, b).better, evidence.compare(a, b).typical]).all())

    def test_zeros_tie_and_missing_pairs_are_left_out(self):
        found = evidence.compare([0.0, 0.0, np.nan, 1.0], [0.0, 1.0, 1.0, np.nan])
        self.assertEqual((found.n, found.wins, found.ties, found.losses), (2, 1, 1, 0))
        empty = evidence.compare([], [])
        self.assertEqual((empty.n, empty.verdict, empty.low, empty.high), (0, "open", 0.0, np.inf))
        self.assertTrue(np.isnan([empty.effect, empty.better, empty.typical]).all())

    def test_trials_of_an_instance_are_one_unit(self):
        a, b = sample(24, -0.5)
        groups = np.repeat(np.arange(6), 4)
        found = evidence.compare(a, b, groups)
        medians = np.median(np.log(a / b).reshape(6, 4), axis=1)
        np.testing.assert_allclose(found.units, medians)
        self.assertEqual(found.n, 24)
        self.assertEqual(len(evidence.compare(a, b, np.zeros(24)).units), 24)
        self.assertEqual(len(evidence.compare(a, b, np.arange(24)).units), 24)

    def test_effects_are_those_of_the_statistic(self):
        a, b = np.array([1.0, 2.0, 3.0, 100.0]), np.array([1.0, 1.0, 1.0, 1.0])
        for statistic, value in (("mean", 26.5), ("median", 2.5), ("iqm", 2.5)):
            self.assertAlmostEqual(evidence.compare(a, b, statistic=statistic).effect, value)
        self.assertAlmostEqual(evidence.compare(a - 9.0, b, scale="difference", statistic="mean").effect, 16.5)
        self.assertEqual((evidence.scale_of(a, b), evidence.scale_of(a, -b)), ("ratio", "difference"))
        with self.assertRaises(ValueError):
            evidence.compare(a, b, scale="nothing")


class Better(common.Case):
    """P(better) and its interval."""

    def test_it_is_the_share_of_wins_with_ties_half(self):
        found = evidence.compare([1.0, 1.0, 2.0, 5.0], [2.0, 1.0, 1.0, 9.0])
        self.assertEqual(found.better, 0.625)
        self.assertTrue(0.0 <= found.better_low < found.better < found.better_high <= 1.0)

    def test_its_interval_inverts_mixed_bets(self):
        """By SciPy's quadrature: the wealth of bets on value / m - 1 is 1 / level at the lower end."""
        for values in ([1.0] * 9 + [0.0], [1.0, 0.5, 0.5, 1.0] * 6, [0.0, 1.0] * 20):
            low = evidence.share_above(np.array(values), 0.0125)

            def wealth(stake, m=low):
                return math.exp(sum(math.log1p(stake * (v / m - 1.0)) for v in values))
            self.assertAlmostEqual(integrate.quad(wealth, 0.0, 1.0)[0], 80.0, delta=2.0)

    def test_beyond_one_half_the_verdict_is_not_open(self):
        random, decided = np.random.default_rng(7), 0
        for n in (9, 12, 20, 45):
            for shift in (-3.0, -1.0, -0.5, 0.5, 1.0, 3.0):
                found = evidence.compare(random.lognormal(shift, 1.0, n), random.lognormal(0.0, 1.0, n))
                if not found.better_low <= 0.5 <= found.better_high:
                    decided += 1
                    self.assertEqual(found.verdict, "better" if found.better > 0.5 else "worse")
        self.assertGreater(decided, 5)

    def test_the_interval_holds_at_every_look(self):
        random, missed = np.random.default_rng(2), 0
        for _ in range(300):
            a, b = random.lognormal(0.7, 1.0, 80), random.lognormal(0.0, 1.0, 80)
            truth = stats.norm.cdf(-0.7 / math.sqrt(2.0))
            looks = [evidence.compare(a[:n], b[:n]) for n in (10, 20, 40, 80)]
            missed += any(not e.better_low <= truth <= e.better_high for e in looks)
        self.assertLessEqual(missed / 300, evidence.LEVEL)

    def test_many_pairs_take_little(self):
        """20,000 pairs; a matrix of all pairs would need 3 GB, and counts of operations grow with n log n."""
        random = np.random.default_rng(0)
        a, b = random.lognormal(size=(2, 20_000))
        found = evidence.compare(a, b * 1.5)
        self.assertEqual((found.verdict, evidence.pooled([found]).verdict), ("better", "better"))
        self.assertTrue(found.low < 1.0 / 1.5 < found.high < 1.0)
        self.assertEqual(evidence.compare(np.ones(20_000), np.full(20_000, 2.0)).better_low > 0.99, True)


class Together(common.Case):
    def panels(self, shifts, n=10):
        return [evidence.compare(*sample(n, shift, seed)) for seed, shift in enumerate(shifts)]

    def test_one_panel_has_the_tests_of_its_signs(self):
        one, = self.panels([-1.0], 14)
        found = evidence.pooled([one])
        self.assertAlmostEqual(found.p_below(1.0), 1.0 / max(1.0, evidence.sign_evidence(-one.units)), 9)
        self.assertAlmostEqual(found.better, one.wins / 14)
        self.assertAlmostEqual(found.typical, one.typical)

    def test_panels_that_are_open_may_speak_together(self):
        panels = self.panels([-0.7] * 6)
        self.assertGreater(sum(p.verdict == "open" for p in panels), 3)
        found = evidence.pooled(panels)
        self.assertEqual(found.verdict, "better")
        self.assertTrue(found.low < found.typical < found.high < 1.0)

    def test_panels_that_differ_cancel(self):
        found = evidence.pooled(self.panels([-2.0, -2.0, 2.0, 2.0], 40))
        self.assertEqual(found.verdict, "open")
        self.assertLess(abs(found.better - 0.5), 0.1)

    def test_the_pooled_effect_lies_in_its_interval(self):
        """Panels of skewed, stuck and tied ratios, whose own effects lie far apart."""
        draw = np.random.default_rng(7)
        for case in range(60):
            panels = []
            for _ in range(1 + case % 7):
                logs = draw.normal(draw.normal(0, 2), 1, 20) + 5.0 * (draw.random(20) < 0.3)
                logs[draw.random(20) < 0.2 * (case % 3)] = 0.0
                panels.append(evidence.compare(np.exp(logs), np.ones(20)))
            found = evidence.pooled(panels)
            self.assertTrue(found.low <= found.typical <= found.high, (case, found.low, found.typical, found.high))

    def test_each_panel_has_the_same_weight_and_rounds_stay_as_they_are(self):
        """Round k has unit k of every panel, also when one of the panels grows."""
        small, large = np.array([1.0, -1.0]), np.array([1.0, 1.0])
        np.testing.assert_allclose(evidence._rounds([small, large], ["p", "p"]), [1.0, 0.0])
        np.testing.assert_allclose(evidence._rounds([small, large], ["p", "q"]), [1.0, -1.0, 1.0, 1.0])
        first, = self.panels([-1.0], 6)
        grows, = self.panels([-0.5], 30)
        looks = [evidence.pooled([first, evidence.compare(np.exp(grows.units[:n]), np.ones(n))]) for n in (6, 9, 30)]
        for found in looks:
            np.testing.assert_allclose(found.contrasts[1], grows.units[:6])
            self.assertEqual(found.p_below(1.0), looks[0].p_below(1.0))

    def test_panels_of_one_problem_go_by_trial(self):
        """A trial that one of them lacks makes no round, so that no trial is in two rounds."""
        a, b = sample(8, -1.0)
        whole = evidence.compare(a, b, names=range(8))
        lacks = evidence.compare(a[1:], b[1:], names=range(1, 8))
        found = evidence.pooled([whole, lacks], ["p", "p"])
        np.testing.assert_allclose(*found.contrasts)
        self.assertEqual(len(found.contrasts[0]), 7)
        self.assertEqual([len(c) for c in evidence.pooled([whole, lacks], ["p", "q"]).contrasts], [7, 7])

    def test_a_panel_that_grows_keeps_the_level_over_looks(self):
        """One panel of ten trials and one that is looked at with 10 to 80: without a difference the pooled effect is
        rarely decided at any look."""
        random, missed = np.random.default_rng(4), 0
        for _ in range(200):
            still = evidence.compare(*random.lognormal(size=(2, 10)))
            a, b = random.lognormal(size=(2, 80))
            missed += any(evidence.pooled([still, evidence.compare(a[:n], b[:n])]).verdict != "open"
                          for n in range(10, 81, 10))
        self.assertLessEqual(missed / 200, evidence.LEVEL)

    def test_panels_that_share_trials_do_not_count_twice(self):
        one, = self.panels([-1.0], 14)
        found = evidence.pooled([one] * 5, ["p"] * 5)
        self.assertAlmostEqual(found.p_below(1.0), evidence.pooled([one]).p_below(1.0), 12)
        self.assertLess(evidence.pooled([one] * 5).p_below(1.0), found.p_below(1.0))

    def test_differences_are_shares_of_the_level(self):
        a, b = sample(12, -1.5)
        level = np.median(b - 50.0)
        one = evidence.compare(a - 50.0, b - 50.0, scale="difference")
        found = evidence.pooled([one])
        np.testing.assert_allclose(found.contrasts[0], (a - b) / abs(level))
        self.assertEqual(found.rope, (-evidence.ROPE, evidence.ROPE))
        with self.assertRaises(ValueError):
            evidence.pooled([one, evidence.compare(a, b)])
        with self.assertRaises(ValueError):
            evidence.pooled([])


class Robust(common.Case):
    def test_centres(self):
        values = np.arange(1.0, 12.0) ** 2
        self.assertAlmostEqual(robust.centre(values, "iqm"), stats.trim_mean(values, 0.25))
        self.assertAlmostEqual(robust.centre(values, "median"), np.median(values))
        self.assertTrue(np.isnan(robust.centre(np.append(values, np.inf), "mean")))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(robust.centre([np.inf, -np.inf, -np.inf, np.inf], "median"), 0.0)
            self.assertEqual(robust.centre([np.inf, 1.0, np.inf], "median"), np.inf)
            self.assertEqual(evidence.compare([0.0, 1.0], [1.0, 0.0]).typical, 1.0)
        self.assertLess(robust.centre(np.append(values, np.inf), "iqm"), 121.0)
        self.assertTrue(np.isnan(robust.centre([], "iqm")))

    def test_stuck_trials_lie_above_the_largest_gap(self):
        values = np.array([0.01, 0.02, 0.03, 0.011, 2.0, 0.015, 3.0])
        self.assertEqual(robust.stuck(values).tolist(), [v > 1.0 for v in values])
        self.assertFalse(robust.stuck([0.1, 0.2, 0.5, 0.9]).any(), "no gap of a decade")
        self.assertFalse(robust.stuck([0.001, 1.0, 1.1, 1.2]).any(), "one trial is lucky, three are not stuck")
        self.assertEqual(robust.stuck([0.001, 0.001, 1.0, 1.0]).tolist(), [False, False, True, True])
        self.assertEqual(robust.stuck([0.0, 0.0, 0.0, 0.5]).tolist(), [False, False, False, True])
        self.assertEqual(robust.stuck([1.0, 2.0, np.inf]).tolist(), [False, False, True])
        self.assertEqual(robust.stuck([0.1, 0.3], target=0.2).tolist(), [False, True])
        self.assertFalse(robust.stuck([-1.0, 5.0, 500.0]).any(), "values below 0 have no logarithm")

    def test_skewed_values_have_a_mean_that_misleads(self):
        for values, skewed in (([1.0, 1.2, 0.9], False), ([1.0, 1.2, 0.9, 1.1, 8.0], True), ([1.0, 1.2, np.inf], True), ([], False)):
            self.assertEqual(robust.skewed(values), skewed, values)
