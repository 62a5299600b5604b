"""Every study file in experiments/ is a study that could run; so is what its comments promise."""
import os

from regatta_test import HERE, RegattaTest, main, regatta

EXPERIMENTS = HERE.parent.parent / "experiments"
NEEDS_DATA = "the data are at"


class Experiments(RegattaTest):
    def test_plan(self):
        files = sorted(EXPERIMENTS.rglob("*.yaml"))
        self.assertTrue(files)
        for file in files:
            with self.subTest(file=str(file.relative_to(EXPERIMENTS))):
                code, out, err = regatta("plan", file)
                if NEEDS_DATA in err and "REGATTA_DATA" not in os.environ:
                    self.skipTest(f"{file.name}: its data are not at hand (REGATTA_DATA)")
                self.assertEqual(code, 0, err)
                self.assertIn("trials", out)

    def test_bounds(self):
        """Oracle O12 at T = 200, and bounds that say something."""
        folder = EXPERIMENTS / "irgp_ucb"
        self.assertIn("759.716", self.run_ok("bounds", folder / "fig1b_noise.yaml"))
        out = self.run_ok("bounds", folder / "bounds.yaml")
        least = min(float(line.split()[-2]) for line in out.splitlines()
                    if "theorem_4_1" in line)
        self.assertLess(least, 1.4 * 500)


if __name__ == "__main__":
    main()
