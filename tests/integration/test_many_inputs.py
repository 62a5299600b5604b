"""Methods with a Gaussian process in 100 dimensions at their default settings, and the prior made for many inputs."""
import h5py
import numpy as np

from regatta_test import RegattaTest, main

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
        study = self.write("study.yaml", STUDY)
        outputs = [self.folder / f"{ranks}.h5" for ranks in (1, 2)]
        for ranks, output in enumerate(outputs, 1):
            self.run_ok("run", study, "-o", output, "-quiet", "-strict", ranks=ranks)
        self.assertEqual(self.checksum(outputs[0]), self.checksum(outputs[1]))
        with h5py.File(outputs[0], "r") as file:
            x = file["ackley"]["x"][()]
            scales = file["ackley"]["length_scale"][:, -1]
        self.assertTrue((np.abs(x) <= 32.768).all())
        # the mode of the prior is sqrt(100) exp(sqrt(2) - 3) = 2.05
        self.assertTrue((np.abs(np.median(scales, axis=1) - 2.05) < 0.1).all())


if __name__ == "__main__":
    main()
