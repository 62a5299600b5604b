"""Methods with a Gaussian process in 100 dimensions at their default settings, and the prior made for many inputs."""
import h5py
import numpy as np

from regatta_test import RegattaTest

STUDY = """study: many
common:
  iterations: 2
  initial_points: 6
  initial_design: sobol
  surrogate: {prior: hvarfner2024}
problems: [{name: ackley, dim: 100}]
algorithms: [ei, gp_ucb, ts, mes]
"""


class ManyInputs(RegattaTest):
    def test_hundred_dimensions(self):
        with h5py.File(self.same_bits(STUDY)) as file:
            x = file["ackley"]["x"][()]
            scales = file["ackley"]["length_scale"][:, -1]
        self.assertTrue((np.abs(x) <= 32.768).all())
        # the mode of the prior is sqrt(100) exp(sqrt(2) - 3) = 2.05
        self.assertTrue((np.abs(np.median(scales, axis=1) - 2.05) < 0.1).all())
