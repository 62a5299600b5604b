"""The smoke studies of experiments/rrgp_ucb: what must hold of every run, and for some the same bits on
one and on three ranks."""
import h5py
import numpy as np

from regatta_test import HERE, LONG, RegattaTest

STUDIES = HERE.parents[1] / "experiments" / "rrgp_ucb"
FIXED = ("BBBMOBO (fixed)", "Proposed (fixed)")


class Rrgp(RegattaTest):
    def run_study(self, name, layouts=(1,)):
        return h5py.File(self.same_bits(STUDIES / f"{name}.yaml", layouts=layouts, name=name))

    def check_row(self, name, layouts=(2,)):
        """Nine methods in 17 trials per seed; for the expectation two of them are one (R13)."""
        with self.run_study(name, layouts) as results:
            groups = [g for g in results.values() if isinstance(g, h5py.Group) and "x" in g]
            self.assertEqual(len(groups), 1)
            group = groups[0]
            names, seeds = group["algorithm"].asstr()[:], group["seed"][:]
            self.assertEqual(len(names), 34)
            self.assertEqual(len(set(names)), 9)
            regret = group["score_instantaneous_regret"][:]
            scored = ~np.isnan(regret[:, -1])
            self.assertTrue((regret[~np.isnan(regret)] >= 0).all())
            for algorithm in set(names):
                mine = names == algorithm
                followers = algorithm.startswith(("BBBMOBO", "Proposed"))
                self.assertEqual(mine.sum(), 6 if followers else 2)
                self.assertTrue((scored[mine].sum(axis=1) == (1 if followers else 3)).all())
            for seed in set(seeds):
                rows = [np.flatnonzero((names == name) & (seeds == seed) & scored[:, 0])
                        for name in FIXED]
                self.assertEqual([len(row) for row in rows], [1, 1])
                for variable in ("x", "c", "y", "score_instantaneous_regret"):
                    np.testing.assert_array_equal(*(group[variable][row] for row in rows))
                first = group["x"][seeds == seed, 0], group["y"][seeds == seed, 0]
                for values in first:  # the initial point and its noise are everybody's
                    self.assertTrue((values == values[0]).all())

    def test_simulator(self):
        self.check_row("fig2_2d_smoke", (1, 3))
        for name in ("fig2_4d_smoke", "fig2_6d_smoke", "fig4_synthetic_smoke") if LONG else ("fig4_synthetic_smoke",):
            with self.subTest(name=name):
                self.check_row(name)

    def test_uncontrollable(self):
        for name in ("fig3_2d_smoke", "fig3_4d_smoke", "fig3_6d_smoke")[:3 if LONG else 1]:
            with self.subTest(name=name):
                self.check_row(name)

    def test_continuous(self):
        """Algorithms 3 to 7: the number of nodes grows like t^2 until it is capped."""
        with self.run_study("continuous_smoke", (1, 3) if LONG else (3,)) as results:
            panels = [g for g in results if g.startswith("Alg.")]
            self.assertEqual(len(panels), 9)
            for panel in panels:
                group = results[panel]
                mine = group["algorithm"].asstr()[:] == "Proposed"
                levels = group["levels"][mine]
                t = np.arange(1, levels.shape[1])
                self.assertTrue((np.diff(levels[:, 1:], axis=1) > 0).all())
                self.assertTrue((group["confidence"][mine, 1:] > 0).all())
                if panel.startswith(("Alg. 3", "Alg. 6")):
                    self.assertNotIn("levels_used", group)
                else:
                    used = group["levels_used"][mine]
                    np.testing.assert_array_equal(used[:, 1:], np.minimum(levels[:, 1:], 32))
                self.assertLess(levels[0, -1] / levels[0, 1] / t[-1] ** 2 - 1, 0.05)
                regret = group["instantaneous_regret"][:]
                self.assertTrue((regret[~np.isnan(regret)] >= 0).all())

    def test_ties(self):
        """Both rules of ties: the same initial point, other queries."""
        with self.run_study("ties_smoke") as results:
            for panel in ("2D PTR", "4D PTR", "6D PTR"):
                group = results[panel]
                names, x = group["algorithm"].asstr()[:], group["x"]
                for name in ("BBBMOBO", "Proposed", "Proposed (fixed)"):
                    lowest, other = x[names == name], x[names == name + ", random ties"]
                    np.testing.assert_array_equal(lowest[:, 0], other[:, 0])
                    self.assertTrue((lowest[:, 1:] != other[:, 1:]).any())

    def test_missing_measurements(self):
        """The data of Figure 4 are the user's: without them the study doesn't start."""
        self.refused("plan", STUDIES / "fig4.yaml", says="lifetime.csv")
