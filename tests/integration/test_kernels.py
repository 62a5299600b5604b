"""Every kernel on the list runs, with and without paths, on boxes and grids; a bound that needs a slope is refused by
name."""
from regatta_test import RegattaTest

STUDY = """study: kernels
seeds: 1
common:
  iterations: 3
  initial_points: 5
  surrogate: {{kernel: {kernel}, shape: {shape}, structure: {structure}}}
problems: [branin, {{name: gp_path, kernel: {kernel}, dim: 2, levels: 12}}]
algorithms: [ei{paths}]
"""
GROUPS = """study: groups
seeds: 1
common: {{iterations: 3, initial_points: 5, surrogate: {{{block}}}}}
problems: [branin]
algorithms: [ei, {{name: ts, features: 50}}]
"""
BOUNDS = """study: bounds
common: {{iterations: 5, surrogate: {{kernel: {kernel}}}}}
problems: [newsvendor]
algorithms: [wdrbo]
"""


class Kernels(RegattaTest):
    def test_every_kernel(self):
        names = [line.split()[0] for line in self.run_ok("list", "kernels").splitlines()[1:]]
        self.assertEqual(names[4:], ["rational_quadratic", "periodic", "spherical_linear"])
        checksums = set()
        for name in names:
            described = self.run_ok("describe", name)
            has_shape = "'shape'" in described
            paths = "" if "paths: refused" in described else ", {name: ts, features: 50}"
            whole = "over the inputs of a factor; a and b" in described
            for shape in ("auto", "0.6")[:1 + has_shape]:
                study = self.write("study.yaml", STUDY.format(
                    kernel=name, shape=shape, paths=paths, structure="whole" if whole else "product"))
                output = self.results_of(study, "-strict", name=f"{name}{shape}.h5")
                checksums.add(self.checksum(output))
        self.assertEqual(len(checksums), len(names) + 2)

    def test_kernels_by_group(self):
        """A product of two families is not one of either, and splits as such."""
        checksums = {self.checksum_of(block) for block in (
            "structure: product", "structure: product, kernels: [periodic, matern52]",
            "structure: product, kernels: [periodic, matern52], shape: 0.3",
            "structure: product, kernels: [matern52, periodic]")}
        self.assertEqual(len(checksums), 4)

    def checksum_of(self, block):
        study = self.write("study.yaml", GROUPS.format(block=block))
        output = self.results_of(study, "-strict", name=f"{len(list(self.folder.iterdir()))}.h5")
        return self.checksum(output)

    def test_bounds_need_a_slope(self):
        for name, refused in (("matern12", True), ("rational_quadratic", False)):
            out = self.run_ok("bounds", self.write("b.yaml", BOUNDS.format(kernel=name)))
            self.assertEqual(f"the paths of the kernel '{name}' have no derivative" in out, refused)
