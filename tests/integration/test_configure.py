"""The build finds its libraries without pkg-config, and says which parts it has."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from regatta_test import RegattaTest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def petsc_folder():
    """PETSC_DIR of the installed PETSc, or None."""
    asked = subprocess.run(["pkg-config", "--variable=prefix", "PETSc"], capture_output=True, text=True)
    return asked.stdout.strip() or None


@unittest.skipUnless(shutil.which("cmake") and shutil.which("mpicc") and petsc_folder(),
                     "needs cmake, mpicc and PETSc")
class Configure(RegattaTest):
    def configure(self, *options, code=0, **variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PKG_CONFIG", "PETSC_"))}
        done = subprocess.run(["cmake", "-S", ROOT, "-B", self.folder / "build", "-DREGATTA_TESTS=OFF", *options],
                              capture_output=True, text=True, env={**kept, **variables})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def mkl(self):
        """MKLROOT of a stand-in: MKL's names for OpenBLAS."""
        root = self.folder / "mkl"
        for folder, name, text in (("lib", "libmkl_intel_lp64.so", "INPUT(-lopenblas -llapacke)"),
                                   ("include", "mkl_cblas.h", ""), ("include", "mkl_lapacke.h", ""), ("", "empty.c", "")):
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / name).write_text(text)
        for name in ("sequential", "core", "scalapack_lp64", "blacs_openmpi_lp64", "blacs_intelmpi_lp64"):
            subprocess.run(["cc", "-shared", "-o", root / f"lib/libmkl_{name}.so", root / "empty.c"], check=True)
        return str(root)

    def test_no_pkg_config_entries(self):
        hidden = self.folder / "none"
        hidden.mkdir()
        root = self.mkl()
        said = self.configure("-DBLA_VENDOR=Intel10_64lp_seq", PKG_CONFIG_LIBDIR=str(hidden), PETSC_DIR=petsc_folder(),
                              MKLROOT=root, CMAKE_LIBRARY_PATH=f"{root}/lib")
        self.assertRegex(said, f"BLAS: {root}/lib/libmkl_intel_lp64.so")
        self.assertRegex(said, f"SCALAPACK: {root}/lib/libmkl_scalapack_lp64.so")
        flags = [file.read_text() for file in (self.folder / "build/CMakeFiles").rglob("flags.make")]
        self.assertTrue(any("RG_MKL" in text and f"{root}/include" in text for text in flags))
        for line in ("MPI: .*MPI", "PETSC: PETSc", "HDF5: .*(parallel|serial)", "BLAS: /", "GSL: /", "YAML: /",
                     "JANSSON: /", "XXHASH: /", "SCALAPACK: /", "ScaLAPACK yes: teams of ranks"):
            self.assertRegex(said, line)
        package = (self.folder / "build/regatta.pc").read_text()
        self.assertRegex(package, r"Libs.private: .*hdf5_hl.*gsl.*yaml.*lbfgsb")
        self.assertNotRegex(package, "PkgConfig::|NOTFOUND")

    def test_no_pkg_config_at_all_and_what_may_be_missing(self):
        """As with MPICH on Debian, the only ScaLAPACK is a package that names libraries that aren't there."""
        package = self.folder / "package"
        package.mkdir()
        (package / "scalapack-config.cmake").write_text('message(FATAL_ERROR "this file does not exist")\n')
        said = self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON", f"-Dscalapack_DIR={package}",
                              "-DRG_SCALAPACK_LIBRARY=", f"-DPETSC_DIR={petsc_folder()}")
        self.assertRegex(said, "PETSC: .*libpetsc")
        self.assertRegex(said, "BLAS: /.*openblas")
        self.assertIn("ScaLAPACK no: teams of one rank only", said)
        commands = (self.folder / "build/CMakeFiles").rglob("flags.make")
        self.assertTrue(any("RG_NO_SCALAPACK" in file.read_text() for file in commands))

    def test_missing(self):
        hidden = self.folder / "none"
        hidden.mkdir()
        said = self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", code=1)
        self.assertRegex(re.sub(r"\s+", " ", said), r"MPI was not found .*Install libopenmpi-dev")

    def test_the_source_of_lbfgsb(self):
        """Where its folder is named, it is built with Regatta, in silence and with LAPACK in place of LINPACK."""
        said = self.configure(f"-DREGATTA_LBFGSB_SOURCE={self.folder}", code=1)
        self.assertIn(f"REGATTA_LBFGSB_SOURCE: {self.folder} has no lbfgsb.f of L-BFGS-B 3.0", re.sub(r"\s+", " ", said))
        if not shutil.which("gfortran"):
            self.skipTest("no gfortran")
        for name, text in (("lbfgsb.f", "      subroutine setulb\n      write(6,*) ' ascent direction'\n      end\n"),
                           ("timer.f", "      subroutine timer\n      end\n")):
            self.write(name, text)
        said = self.configure(f"-DREGATTA_LBFGSB_SOURCE={self.folder}")
        self.assertRegex(said, "LBFGSB: source in /")
        self.assertEqual((self.folder / "build/lbfgsb/lbfgsb.f").read_text(), "      subroutine setulb\nc\n      end\n")
        self.assertRegex((self.folder / "build/regatta.pc").read_text(), "Libs.private: .*-lgfortran")

    def test_places_of_what_may_be_missing_compile(self):
        """Libraries, and what other systems than Linux lack."""
        flags = subprocess.run(["pkg-config", "--cflags", "PETSc", "openblas", "lapacke", "hdf5-openmpi"], check=True,
                               capture_output=True, text=True).stdout.split()
        mpi = subprocess.run(["mpicc", "-show"], check=True, capture_output=True, text=True).stdout.split()
        flags += [flag for flag in mpi if flag.startswith("-I")]
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for source in ("gp/team/distributed_matrix.c", "maths/blas.c", "study/store/store_pack.c", "study/store/store_layout.c",
                           "base/child.c"):
                subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter",
                                "-Werror", "-DRG_NO_SCALAPACK", "-D_GNU_SOURCE",
                                f"-I{ROOT / 'src'}", *flags, "-fsyntax-only", ROOT / "src" / source], check=True)
