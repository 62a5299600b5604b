"""The smoke studies of experiments/boke: the same bits on one and on three ranks, and properties of every run."""
import h5py
import numpy as np

from regatta_test import HERE, LONG, RegattaTest

STUDIES = HERE.parents[1] / "experiments" / "boke"


class Boke(RegattaTest):
    def run_study(self, name, layouts=(1, 3) if LONG else (3,)):
        return h5py.File(self.same_bits(STUDIES / f"{name}.yaml", layouts=layouts))

    def check_regret(self, results):
        for group in results.values():
            if isinstance(group, h5py.Group) and "simple_regret" in group:
                self.assertTrue((np.diff(group["simple_regret"][:], axis=1) <= 0).all(), group.name)

    def check_repeats(self, group):
        """Queries that KR-UCB says are repeated are bitwise copies, all others are new."""
        mine = group["algorithm"].asstr()[:] == "KR-UCB"
        for x, repeated in zip(group["x"][mine], group["repeated"][mine]):
            for t in np.flatnonzero(~np.isnan(repeated)):
                self.assertEqual(bool(repeated[t]), (x[:t] == x[t]).all(axis=1).any())

    def test_benchmarks(self):
        with self.run_study("fig6_smoke", (1, 3)) as results:
            self.check_regret(results)
            for name in ("Forrester", "Sphere6"):
                self.check_repeats(results[name])

    def test_sprinkler(self):
        with self.run_study("fig8_smoke") as results:
            self.check_regret(results)

    def test_fill_distance(self):
        with self.run_study("fig3_smoke") as results:
            for d in (1, 2, 3, 4):
                group = results[f"d = {d}"]
                fill, names = group["fill_distance"][:], group["algorithm"].asstr()[:]
                self.assertTrue(np.isfinite(fill).all())
                nested = names != "Latin hypercube"
                self.assertTrue((np.diff(fill[nested], axis=1) <= 1e-9).all())
                t = np.arange(1, fill.shape[1] + 1)
                ball = np.pi ** (d / 2) / {1: np.pi ** 0.5 / 2, 2: 1, 3: np.pi ** 0.5 * 3 / 4, 4: 2}[d]
                self.assertTrue((fill >= (t * ball) ** (-1 / d) * (1 - 1e-3)).all())
            line = results["d = 1"]
            x, fill = line["x"][0, :, 0], line["fill_distance"][0]
            for t in range(1, len(x) + 1):
                ends = np.sort(x[:t])
                self.assertAlmostEqual(fill[t - 1], max(ends[0], 1 - ends[-1],
                                                        *(np.diff(ends) / 2), 0), places=12)
