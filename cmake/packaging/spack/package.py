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
    version("0.1.0", tag="v0.1.0")

    variant("scalapack", default=True, description="Let several ranks share the matrices of a trial")
    variant("iterative", default=True, description="Posteriors without a matrix, by PETSc's solvers")
    variant("bbob", default=True, description="The BBOB problems")
    variant("lbfgsb", default=True, description="Search by L-BFGS-B 3.0, built with Regatta; without, another method with other bits")
    variant("python", default=True, description="What the Python package needs: statistics, figures and reports")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+lbfgsb")
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

    # No package of Spack has L-BFGS-B: its source becomes a library of this package.
    resource(
        name="lbfgsb",
        when="+lbfgsb",
        url="http://users.iems.northwestern.edu/~nocedal/Software/Lbfgsb.3.0.tar.gz",
        sha256="f5b9a1c8c30ff6bcc8df9b5d5738145f4cbe4c7eadec629220e808dcf0e54720",
        placement="lbfgsb",
    )

    @property
    def lbfgsb_library(self):
        return join_path(self.prefix.lib, f"liblbfgsb.{dso_suffix}")

    @run_before("cmake", when="+lbfgsb")
    def build_lbfgsb(self):
        """Bits are those of Debian's build, which calls LAPACK in place of LINPACK, and is silent as this one."""
        mkdirp(self.prefix.lib)
        linpack = join_path(self.package_dir, "linpack.f")
        with working_dir(join_path(self.stage.source_path, "lbfgsb")):
            filter_file(r"^ +write\(6,\*\) *' (ascent|Positive|Using the back).*$", "c", "lbfgsb.f")
            Executable(spack_fc)("-O2", "-fPIC", "-shared", "-o", self.lbfgsb_library, "lbfgsb.f", linpack, "timer.f",
                                 *self.spec["openblas"].libs.ld_flags.split())

    def cmake_args(self):
        arguments = [
            self.define("REGATTA_TESTS", self.run_tests),
            self.define_from_variant("REGATTA_LBFGSB", "lbfgsb"),
            self.define_from_variant("REGATTA_SCALAPACK", "scalapack"),
            self.define_from_variant("REGATTA_ITERATIVE", "iterative"),
            self.define_from_variant("REGATTA_BBOB", "bbob"),
        ]
        if self.spec.satisfies("+lbfgsb"):
            arguments.append(self.define("RG_LBFGSB_LIBRARY", self.lbfgsb_library))
        return arguments

    def test_selftest(self):
        """check the installation by small studies on one rank and on two"""
        which(self.prefix.bin.regatta, required=True)("selftest")
