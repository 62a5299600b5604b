"""The package as pip installs it, offline, in a venv that sees the system's packages."""
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

from common import scratch_directory

ROOT = Path(__file__).resolve().parents[2]


def lacks():
    """The missing packages to build and install a wheel here."""
    asked = subprocess.run([sys.executable, "-c", "import setuptools, wheel, ensurepip, venv"], capture_output=True,
                           text=True)
    return asked.stderr.strip().splitlines()[-1] if asked.returncode else ""


@unittest.skipIf(lacks(), "no tools for wheels (Debian: python3-venv, python3-setuptools, python3-wheel)")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch_directory(cls)
        shutil.copytree(ROOT / "analysis", cls.folder / "analysis", ignore=shutil.ignore_patterns("__pycache__", "build"))
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "REGATTA"))}
        cls.bin = cls.folder / "venv" / "bin"
        cls.call(sys.executable, "-m", "venv", "--system-site-packages", cls.folder / "venv")
        pip = [cls.bin / "python", "-m", "pip", "--quiet"]
        cls.call(*pip, "wheel", "--no-index", "--no-build-isolation", "--no-deps", "./analysis")
        cls.wheel, = cls.folder.glob("regatta_analysis-*-py3-none-any.whl")
        cls.call(*pip, "install", "--no-index", "--no-deps", cls.wheel)

    @classmethod
    def call(cls, *command, code=0, **variables):
        """Standard output of a command that ends with `code`, with these variables of the environment."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cls.folder,
                              env=cls.environment | variables)
        if done.returncode != code:
            raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_command(self):
        golden = ROOT / "tests/data/results-v2.h5"
        out = self.folder / "out"
        self.call(self.bin / "regatta-analysis", golden, "--out", out)
        self.assertTrue((out / "summary.md").exists())
        self.call(self.bin / "regatta-analysis", "missing.h5", "--out", out, code=2)
        self.call(self.bin / "regatta-analysis", "page", golden, "--out", out / "page.html")
        self.assertIn("<script", (out / "page.html").read_text())

    def test_without_a_package(self):
        """One line says what is missing."""
        golden = ROOT / "tests/data/results-v2.h5"
        for package, code in (("h5py", "from regatta.command import main; sys.exit(main())"),
                              ("yaml", "import regatta; regatta.run"),
                              ("matplotlib", "from regatta.command import main; sys.exit(main())")):
            done = subprocess.run([self.bin / "python", "-c", f"import sys; sys.modules[{package!r}] = None; {code}",
                                   golden, "--out", self.folder / "none"], capture_output=True, text=True,
                                  cwd=self.folder, env=self.environment)
            said = done.stderr.strip().splitlines()
            self.assertRegex(said[-1], rf"needs the package {package} [(]Debian: python3-{package}[)]$")
            if "command" in code:
                self.assertEqual((done.returncode, len(said)), (2, 1), said)

    def test_what_is_in_it(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            files = {name for name in wheel.namelist() if ".dist-info/" not in name}
        ours = {p.relative_to(ROOT / "analysis").as_posix() for package in ("regatta", "regatta_analysis")
                for p in (ROOT / "analysis" / package).rglob("*") if p.is_file() and "__pycache__" not in p.parts}
        self.assertEqual(files, ours)

    def test_without_the_program(self):
        """Loading and figures work, which test_command checks too; what needs the program is refused with one line."""
        golden = ROOT / "tests/data/results-v2.h5"
        code = ("import regatta\n"
                f"print(len(regatta.load({str(golden)!r}).trials) > 0)\n"
                "for call in (lambda: regatta.run({}), lambda: regatta.plan({}), lambda: regatta.problem('branin')):\n"
                "    try:\n        call()\n    except FileNotFoundError as error:\n        print(error)\n")
        self.assertEqual(self.call(self.bin / "python", "-c", code, PATH="/nowhere").splitlines(),
                         ["True"] + 3 * ["there is no program regatta: build it, put it in PATH, or name it in the "
                                         "environment variable REGATTA"])

    def test_papers_stay_at_home(self):
        """The wheel has what a user's study needs: no study files of papers, and not the engine that judges them."""
        code = "import regatta_analysis, pathlib; print(pathlib.Path(regatta_analysis.__file__).parent)"
        place = Path(self.call(self.bin / "python", "-c", code).strip())
        self.assertIn(str(self.folder / "venv"), str(place))
        self.assertFalse((place / "experiments").exists() or (place.parent / "reproduce").exists())

    def test_problems_and_optimisers_come_along(self):
        code = ("import pathlib, regatta; here = pathlib.Path(regatta.__file__).parent; "
                "print(here, (here / 'py.typed').exists(), "
                "(here.parent / 'regatta_analysis' / 'py.typed').exists(), regatta.problem.__name__, regatta.serve.__name__)")
        said = self.call(self.bin / "python", "-c", code).split()
        self.assertIn(str(self.folder / "venv"), said[0])
        self.assertEqual(said[1:], ["True", "True", "Problem", "serve"])

    def test_version(self):
        said = self.call(self.bin / "python", "-c", "import importlib.metadata as m; print(m.version('regatta-analysis'))")
        version = re.search(r'#define RG_VERSION "(.*?)"', (ROOT / "src/regatta/error.h").read_text())[1]
        self.assertEqual(said.strip(), version)
