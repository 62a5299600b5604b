"""Cost-adjusted simple regret, and its value where the rule of the Gittins index stops."""
import os
import subprocess
import unittest

import common
import numpy as np
from regatta_analysis import load
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats.price import at_stop, cost_adjusted

STUDY = """
study: price
seeds: 3
common: {iterations: 8, initial_points: 4, maximiser: {raw_samples: 64, restarts: 1}}
problems:
  - {name: branin, label: costs, duration: "point(1) * (6 + x1)"}
  - {name: branin, label: no clock}
algorithms: [random, {name: gittins, lambda: 1, cost: "6 + x1"}]
"""


@unittest.skipUnless("REGATTA" in os.environ, "REGATTA names the program to run")
class Price(common.Case):
    def test_against_a_loop(self):
        folder = common.scratch_directory(type(self))
        study, output = folder / "price.yaml", folder / "price.h5"
        study.write_text(STUDY)
        subprocess.run([os.environ["REGATTA"], "run", study, "-o", output, "-quiet", "-strict"], check=True)
        results = load(output)
        for problem in ("costs", "no clock"):
            group, values = results.group(problem), cost_adjusted(results, problem, 0.5)
            regret, stop = group.values("simple_regret"), group.values("stop")
            for k, row in group.trials.iterrows():
                own = values.loc[(row["algorithm"], row["instance"], row["seed"])].to_numpy()
                spent = 0.0
                for t in range(9):
                    if t:
                        spent += 6 + group.values("x")[k, 3 + t, 0] if problem == "costs" else 1
                    self.assertAlmostEqual(own[t], regret[k, 3 + t] + 0.5 * spent, delta=1e-5)
                if row["algorithm"] == "gittins":
                    met = [t for t in range(1, 9) if stop[k, 3 + t] == 1]
                    at = at_stop(results, problem, values, "gittins").loc[(row["instance"], row["seed"])]
                    self.assertEqual(at, own[met[0] - 1 if met else 8])
            self.assertTrue((stop == 1).any())
            self.assertTrue((stop == 0).any())
        with self.assertRaisesRegex(InputError, "a price is a number >= 0"):
            cost_adjusted(results, "costs", np.nan)


if __name__ == "__main__":
    unittest.main()
