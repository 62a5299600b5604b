"""`regatta eval`: known values, finite designs, optima, and one line for every mistake."""
import os
from unittest import mock

from regatta_test import RegattaTest, regatta


class Eval(RegattaTest):
    def lines(self, *arguments):
        """The answer as a list of (name, rest of the line)."""
        out = self.run_ok("eval", *arguments)
        return [tuple(line.split(maxsplit=1)) for line in out.splitlines()[1:]]

    def value(self, lines, name):
        return float(dict(lines)[name].split()[0])

    def refused(self, *arguments, says):
        super().refused("eval", *arguments, says=says)

    def test_value_and_gradient(self):
        lines = self.lines("ackley", "-x", "1,2,-3,4")
        self.assertAlmostEqual(self.value(lines, "f"), -8.43469444444, places=10)
        self.assertEqual(dict(lines)["f"], dict(lines)["F"])
        self.assertAlmostEqual(self.value(lines, "regret"), 8.43469444444, places=10)
        self.assertEqual(dict(lines)["optimiser"], "(0, 0, 0, 0)")
        slope = [float(g) for g in dict(lines)["gradient"].strip("()").split(",")]
        step = 1e-6
        above, below = (self.value(self.lines("ackley", "-x", f"1,{2 + h},-3,4"), "f")
                        for h in (step, -step))
        self.assertAlmostEqual(slope[1], (above - below) / (2 * step), places=6)

    def test_every_optimiser(self):
        lines = self.lines("holder_table")
        self.assertEqual([name for name, _ in lines].count("optimiser"), 4)
        self.assertNotIn("x", dict(lines))

    def test_parameters(self):
        self.assertEqual(self.value(self.lines("sphere", "-set", "dim=2,lower=0.5", "-set",
                                               "upper=2", "-x", "1,1"), "f"), -2)
        for scales in ("0.1,0.2", "[0.1,0.2]"):
            self.lines("gp_path", "-set", f"dim=2,length_scale={scales},levels=5", "-x", "0,0")

    def test_optimum_by_search(self):
        lines = self.lines("sphere", "-set", "dim=2,lower=0.5,upper=2")
        self.assertEqual(dict(lines)["optimum"], "-0.5  by search")
        self.assertEqual(dict(lines)["optimiser"], "(0.5, 0.5)")

    def test_finite_design(self):
        near = dict(self.lines("gp_path", "-x", "0.31,0.2,0.5", "-instance", "3", "-seed", "7"))
        self.assertIn("index 325 of 1000, the nearest point", near["x"])
        there = dict(self.lines("gp_path", "-x", "0.3,0.2,0.5", "-instance", "3", "-seed", "7"))
        self.assertNotIn("nearest", there["x"])
        self.assertEqual(near["f"], there["f"])
        other = dict(self.lines("gp_path", "-x", "0.3,0.2,0.5", "-instance", "4", "-seed", "7"))
        self.assertNotEqual(near["f"], other["f"])

    def test_same_on_several_ranks(self):
        self.assertEqual(self.run_ok("eval", "branin", "-x", "1,2", ranks=2),
                         self.run_ok("eval", "branin", "-x", "1,2"))

    def test_mpi_is_started_where_it_is_needed(self):
        with mock.patch.dict(os.environ, OMPI_MCA_pml="nonesuch"):  # Open MPI would not start
            self.assertIn("matern52", self.run_ok("list", "kernels"))
        code, out, _ = regatta("list", "kernels", "-log_view")
        self.assertEqual(code, 0)
        self.assertIn("PETSc Performance Summary", out)

    def test_mistakes(self):
        self.refused("brannin", "-x", "1,2", says="did you mean 'branin'")
        self.refused("branin", "-x", "1", says="-x has 1 coordinate, branin has 2")
        self.refused("branin", "-x", "1,99", says="coordinate 2 is 99, outside [0, 15]")
        self.refused("branin", "-x", "1,a", says="got 'a'")
        self.refused("branin", "-x", "", says="'-x'")
        self.refused("branin", "-c", "1", says="-c without -x")
        self.refused("branin", "-x", "1,2", "-c", "1", says="no context")
        self.refused("branin", "-instance", "-3", says="-instance must be an integer >= 0")
        self.refused("branin", "-seed", "1x", says="-seed must be an integer >= 0")
        self.refused("branin", "-y", "3", says="unknown option '-y'")
        self.refused("ackley", "-set", "dmi=3", says="did you mean 'dim'")
        self.refused("ackley", "-set", "dim", says="-set takes KEY=VALUE, got 'dim'")
        self.refused("ackley", "-set", "dim=0", says="got '0'")
        self.refused("ackley", "-set", "lower=5,upper=3", says="must be less than upper")
        self.refused(says="an argument is missing")
