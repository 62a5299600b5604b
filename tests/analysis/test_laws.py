"""Confidence parameters against the table of Figure 1(a) in the specification of IRGP-UCB."""

import common
import numpy as np
from regatta_analysis.figures.laws import confidence_law

# t, beta bcr, beta srinivas (delta 0.1), mean of RGP-UCB, its 2.5% and 97.5% quantiles
TABLE = """
1 11.97763349 19.41608135 17.03662076 9.93101365 26.02836990
2 14.75022221 22.18867007 20.45564334 12.57254095 30.22627601
10 21.18797386 28.62642172 28.39436794 18.92719647 39.75098779
50 27.62572551 35.06417337 36.33309253 25.49265934 49.06404588
200 33.17090296 40.60935082 43.17113769 31.26485558 56.96854457
500 36.83606589 44.27451374 47.69083970 35.12612130 62.14698660
"""


class Laws(common.Case):
    def setUp(self):
        super().setUp()
        self.table = np.array([line.split() for line in TABLE.split("\n") if line], float)
        self.t = self.table[:, 0]

    def check(self, found, expected):
        np.testing.assert_allclose(found, expected, rtol=0, atol=6e-9)

    def test_gp_ucb(self):
        for rule, column in (("bcr", 1), ("srinivas", 2), ("auto", 1)):
            found = confidence_law("gp_ucb", self.t, 1000, 3, {"beta": rule, "delta": "0.1"})
            self.check(found["mean"], self.table[:, column])
            self.assertTrue(found[["low", "high"]].isna().all(axis=None))
        scaled = confidence_law("gp_ucb", self.t, 1000, settings={"scale": "0.5"})
        self.check(scaled["mean"], self.table[:, 1] / 2)

    def test_rgp_ucb(self):
        self.check(confidence_law("rgp_ucb", self.t, 1000)[["mean", "low", "high"]],
                   self.table[:, 3:])

    def test_irgp_ucb(self):
        found = confidence_law("irgp_ucb", self.t, 1000)
        np.testing.assert_allclose(
            found[["mean", "low", "high"]],
            np.tile([14.4292161968, 12.4798518128, 19.8069751051], (len(self.t), 1)), atol=1e-9)

    def test_heuristics_on_a_box(self):
        """Oracle O4: d = 4, t = 125, and s = d/2."""
        gamma = confidence_law("rgp_ucb", [125], 0, 4).iloc[0]
        self.assertAlmostEqual(gamma["mean"], 4.41716873429, places=10)
        self.assertAlmostEqual(gamma["low"], 1.30611482045, places=10)
        self.assertAlmostEqual(gamma["high"], 9.38914011819, places=10)
        self.assertAlmostEqual(confidence_law("gp_ucb", [125], 0, 4)["mean"][0], 4.41716873429)
        self.assertEqual(confidence_law("irgp_ucb", [7], 0, 4)["mean"][0], 4.0)

    def test_no_formula(self):
        self.assertIsNone(confidence_law("ei", [1], 10))
        self.assertIsNone(confidence_law("gp_ucb", [1], None, 3))  # auto, but on what?
        self.assertIsNone(confidence_law("gp_ucb", [1], 10, 3, {"beta": "fixed"}))

    def test_never_negative(self):
        self.assertEqual(confidence_law("gp_ucb", [1], 2)["mean"][0], 0.0)
