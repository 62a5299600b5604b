# Spack: copy this folder into a repository of packages as packages/regatta/, then, in Regatta's tree,
#   spack dev-build regatta@0.1.0
from spack.package import *


class Regatta(CMakePackage):
    """Races Bayesian-optimisation algorithms against each other over many seeds on MPI clusters and
    turns the outcome into regret analysis."""

    license("BSD-2-Clause")

    version("0.1.0")  # the tree at hand

    variant("scalapack", default=True, description="Let several ranks share the matrices of a trial")
    variant("python", default=True, description="Statistics, figures and reports")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18: +mpi~complex+double")
    depends_on("hdf5@1.10: +mpi+hl")
    depends_on("openblas")  # its CBLAS and LAPACKE; its threads and kernels are set and recorded
    depends_on("gsl")
    depends_on("libyaml")
    depends_on("jansson@2.14:")
    depends_on("xxhash")
    depends_on("random123", type="build")
    depends_on("scalapack", when="+scalapack")
    depends_on("cmocka", type="test")
    with when("+python"):
        depends_on("python@3.9:", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-scipy", type="run")
        depends_on("py-pandas", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-xarray", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-jinja2", type="run")
        depends_on("py-pyyaml", type="run")
        depends_on("py-xxhash", type="run")

    def cmake_args(self):
        # Spack has no package of L-BFGS-B: the method in its place is asked for by name
        return [
            self.define("REGATTA_LBFGSB", False),
            self.define("REGATTA_TESTS", self.run_tests),
            self.define_from_variant("REGATTA_SCALAPACK", "scalapack"),
        ]
