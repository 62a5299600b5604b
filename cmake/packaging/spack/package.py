# Copy this folder into a repository of packages as packages/regatta/, then `spack install regatta`; to build the tree at
# hand, `spack dev-build regatta@main` in it.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Regatta(CMakePackage):
    """Regatta races Bayesian-optimisation algorithms against each other over many seeds on MPI clusters and turns the
    outcome into regret analysis."""

    homepage = "https://regatta.example.org"
    git = f"{homepage}.git"

    maintainers("regatta-developers")

    license("BSD-2-Clause", checked_by="regatta-developers")

    version("main", branch="main")
    version("1.0.0", tag="v1.0.0")

    variant("scalapack", default=True, description="Let several ranks share the matrices of a trial")
    variant("iterative", default=True, description="Posteriors without a matrix, by PETSc's solvers")
    variant("bbob", default=True, description="The BBOB problems")
    variant("python", default=True, description="What the Python package needs: statistics, figures and reports")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18: +mpi+double~complex~int64")
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

    # No package of Spack has L-BFGS-B: its source is built with Regatta.
    resource(
        name="lbfgsb",
        url="http://users.iems.northwestern.edu/~nocedal/Software/Lbfgsb.3.0.tar.gz",
        sha256="f5b9a1c8c30ff6bcc8df9b5d5738145f4cbe4c7eadec629220e808dcf0e54720",
        placement="lbfgsb",
    )

    def cmake_args(self):
        return [
            self.define("REGATTA_TESTS", self.run_tests),
            self.define("REGATTA_LBFGSB_SOURCE", join_path(self.stage.source_path, "lbfgsb")),
            self.define_from_variant("REGATTA_SCALAPACK", "scalapack"),
            self.define_from_variant("REGATTA_ITERATIVE", "iterative"),
            self.define_from_variant("REGATTA_BBOB", "bbob"),
        ]

    def test_selftest(self):
        """check the installation by small studies on one rank and on two"""
        which(self.prefix.bin.regatta, required=True)("selftest")
