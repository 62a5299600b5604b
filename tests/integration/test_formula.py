"""`regatta bounds -formula`: columns of numbers in, columns out; families and formulas of theory are listed."""
import math
import subprocess

from regatta_test import REGATTA, RegattaTest, environment

# the specification of IRGP-UCB, Figure 1(a): mean, 2.5% and 97.5% quantile of RGP-UCB at |X| = 1000
RGP_UCB = {1: (17.03662076, 9.93101365, 26.02836990), 200: (43.17113769, 31.26485558, 56.96854457)}


class Formula(RegattaTest):
    def ask(self, text, *arguments):
        return subprocess.run([REGATTA, "bounds", "-formula", *arguments], input=text, capture_output=True,
                              text=True, env=environment())

    def test_law(self):
        done = self.ask("t\n1\n200\nnan\n0\n1e300\n", "rgp_ucb", "points=1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        header, *rows = done.stdout.split()
        self.assertEqual(header, "mean,low,high")
        self.assertEqual(rows[2:], 3 * ["nan,nan,nan"])
        for row, expected in zip(rows, RGP_UCB.values()):
            for found, value in zip(row.split(","), expected):
                self.assertAlmostEqual(float(found), value, places=7)

    def test_theorems(self):
        """Numbers of the specifications, and of the theorems by hand."""
        rest = 1 + 2 * math.pi**2 / 3
        for text, arguments, expected in (
                ("weight\n2.5\n", ("regression_radius", "delta=0.05"), [0.171787763339]),
                ("t,eta,omega\n1,4,0\n", ("regression_general",), [2 * 0.334926380527**0.5]),
                ("t\n1000\n", ("regression_finite", "gaps=[0, 0.9, 0, 0, 0, 0, 0, 0, 0, 0]"),
                 [None, None, 4925.21741581]),
                ("t\n2.718281828459045\n", ("regression_finite", "gaps=[0.5, 0, 0.9]"),
                 [2 * (0.64 * 3 * math.e)**0.5 + rest * 2.7, 0.64 / 0.5 + 0.64 / 0.9 + rest * 1.4]),
                ("t,gamma\n300,500\n", ("robust_regret", "points=2500", "noise=1e-6"), [2476.20167618]),
                ("t,gamma\n300,500\n", ("robust_regret", "points=2500", "noise=1e-6", "nu=2"),
                 [20938.0359643])):
            done = self.ask(text, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            for found, value in zip(done.stdout.split()[1].split(","), expected):
                if value is not None:
                    self.assertAlmostEqual(float(found) / value, 1, delta=1e-10)

    def test_missing_terms_show(self):
        rows = "0,1,4,1\n0,2,4,nan\n0,3,4,1\n1,5,4,1\n"
        done = self.ask("run,bound_width,confidence,largest_sd\n" + rows, "robust_realised", "slope=2")
        self.assertEqual(done.stdout.split()[1:], ["2,16", "6,nan", "12,32", "10,16"])

    def test_mistakes(self):
        for text, arguments, says in (("", ("covers",), "nothing is called 'covers' (covering, "),
                                      ("n\n1\n", ("covering",), "'dim' is missing"),
                                      ("n\n1\n", ("covering", "dim"), "'dim' is not of the form KEY="),
                                      ("n\n1\n", ("covering", "dim=0"), "'dim'"),
                                      ("t\n1\n", ("covering", "dim=2"), "no CSV table"),
                                      ("n\nx\n", ("covering", "dim=2"), "no CSV table"),
                                      ("t\n1\n", ("ei",), "nothing is called 'ei'")):
            done = self.ask(text, *arguments)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(says, done.stderr)

    def test_listed_and_described(self):
        names = [line.split()[0] for line in self.run_ok("list", "theory").splitlines()[1:]]
        self.assertEqual(names[:4], ["irgp_ucb", "rrgp_ucb", "kde", "wasserstein"])
        for name in names:
            self.assertIn("theory)", self.run_ok("describe", name))
