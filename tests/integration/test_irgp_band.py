"""specs irgp_ucb, O17: simple regret of all methods on sample paths, and cumulative regret, agree with
an independent implementation (NumPy) within three standard errors of the difference: 24 trials each
(12 without REGATTA_LONG), initial designs of 8 points, theoretical parameters, exact paths."""
import math

import h5py
import numpy as np

from regatta_test import LONG, RegattaTest

STUDY = """study: irgp_band
seed: 17
instances: {trials}
seeds: 1
common:
  iterations: 100
  initial_points: 8
  noise_variance: 1.0e-4
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, variance: 1, fit: fixed,
              standardise: false}
problems:
  - {name: gp_path, label: paths}
algorithms:
  - {name: irgp_ucb, label: IRGP-UCB, shift: finite}
  - {name: gp_ucb, label: GP-UCB, beta: bcr}
  - {name: rgp_ucb, label: RGP-UCB, kappa: finite}
  - {name: ei, label: EI}
  - {name: ts, label: TS, paths: exact}
  - {name: pims, label: PIMS, paths: exact}
  - {name: mes, label: MES, samples: 10, paths: exact}
  - {name: jes, label: JES, samples: 10, paths: exact}
  - {name: random, label: random}
"""

# Mean and standard error of simple regret at t = 20, 40, 60, 100; mean cumulative regret at t = 100.
BAND = {
    "IRGP-UCB": ((0.796, 0.121), (0.506, 0.107), (0.408, 0.090), (0.184, 0.075), 255.8),
    "GP-UCB": ((0.938, 0.128), (0.800, 0.104), (0.623, 0.097), (0.306, 0.075), 286.7),
    "RGP-UCB": ((1.015, 0.128), (0.695, 0.098), (0.515, 0.097), (0.288, 0.065), 289.0),
    "EI": ((0.768, 0.118), (0.541, 0.115), (0.382, 0.087), (0.212, 0.067), 237.1),
    "TS": ((1.030, 0.114), (0.704, 0.128), (0.401, 0.074), (0.287, 0.068), 213.5),
    "PIMS": ((0.788, 0.123), (0.591, 0.099), (0.412, 0.083), (0.323, 0.078), 174.0),
    "MES": ((0.730, 0.098), (0.525, 0.097), (0.329, 0.079), (0.153, 0.050), 245.5),
    "JES": ((1.033, 0.149), (0.772, 0.121), (0.584, 0.100), (0.167, 0.062), 258.7),
    "random": ((1.297, 0.108), (1.045, 0.107), (0.959, 0.111), (0.656, 0.098), 318.8),
}
TIMES = (20, 40, 60, 100)
TRIALS = 24 if LONG else 12


class Band(RegattaTest):

    def results(self):
        with h5py.File(self.results_of(STUDY.replace("{trials}", str(TRIALS)), ranks=2)) as file:
            group = file["paths"]
            return group["algorithm"].asstr()[()], *(group[name][:, 7:] for name in (
                "simple_regret", "cumulative_regret", "information_gain"))

    def test_band(self):
        names, simple, cumulative, gain = self.results()
        for method, row in BAND.items():
            mine = names == method
            self.assertEqual(mine.sum(), TRIALS)
            for t, (mean, error) in zip(TIMES, row):
                here = simple[mine, t]
                spread = math.hypot(error, here.std(ddof=1) / math.sqrt(TRIALS))
                with self.subTest(method=method, t=t):
                    self.assertLess(abs(here.mean() - mean), 3 * spread)
            with self.subTest(method=method, regret="cumulative"):
                here = cumulative[mine, 100]
                spread = here.std(ddof=1) * math.sqrt(1 / TRIALS + 1 / 24)
                self.assertLess(abs(here.mean() - row[-1]), 3 * spread)
            # Properties of every trial: S_t falls, R_t grows, the gain stays below Hadamard's bound.
            self.assertTrue((np.diff(simple[mine], axis=1) <= 0).all())
            self.assertTrue((np.diff(cumulative[mine][:, 1:], axis=1) >= 0).all())
            if method != "random":
                bound = 0.5 * np.arange(1, 101) * math.log1p(1e4)
                self.assertTrue((gain[mine, 1:] <= bound * (1 + 1e-12)).all())
