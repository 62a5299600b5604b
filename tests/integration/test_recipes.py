"""Recipes: the container, the Apptainer definition, the CI workflow and those of package managers fit
run.sh, the project and each other."""
import contextlib
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import types
import unittest
from unittest import mock

from regatta_test import RegattaTest, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "cmake" / "packaging"
VERSION = re.search(r'#define RG_VERSION "(.*?)"', (ROOT / "src/regatta/error.h").read_text())[1]
PACKAGE = r"[a-z0-9][a-z0-9+.-]+"


def installed(text):
    """Package lists of the apt-get lines of a recipe, in order."""
    text = text.replace("\\\n", " ")
    return [set(re.findall(rf"(?<= )(?!--)({PACKAGE})", " " + found))
            for found in re.findall(r"apt-get install -y --no-install-recommends ([^&\n]*)", text)]


class Recipes(RegattaTest):
    def setUp(self):
        super().setUp()
        self.docker = (ROOT / "Dockerfile").read_text()
        self.apptainer = (ROOT / "apptainer.def").read_text()
        listed = re.search(r"packages=\((.*?)\)", (ROOT / "run.sh").read_text(), re.S)[1]
        self.packages = set(listed.split())

    def test_packages_are_those_of_run_sh(self):
        build, final = installed(self.docker)
        self.assertEqual(installed(self.apptainer), [build, final])
        wanted = {p for p in self.packages if not p.startswith("python3")} - {"libcmocka-dev", "hdf5-tools"}
        self.assertEqual(build, wanted)
        python = {p for p in self.packages if p.startswith("python3")}
        self.assertEqual({p for p in final if p.startswith("python3")}, python)

    def test_a_study_builds_the_program_alone(self):
        """The recipes build no tests, which take longer."""
        cmake = self.write("cmake", '#!/bin/sh\necho "$@"\n')
        cmake.chmod(0o755)
        script = f'source "{ROOT}/run.sh"; install_packages() {{ :; }}; python() {{ :; }}; run_program study study.yaml'
        subprocess.run(["bash", "-c", script], check=True, capture_output=True,
                       env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "REGATTA_BUILD": str(self.folder)})
        self.assertIn("--target regatta_program ", (self.folder / "build.log").read_text())

    @unittest.skipUnless(shutil.which("apt-cache"), "no apt-cache")
    def test_packages_exist(self):
        if 'VERSION_ID="12"' not in pathlib.Path("/etc/os-release").read_text():
            self.skipTest("not Debian 12")
        wanted = set.union(*installed(self.docker))
        known = subprocess.run(["apt-cache", "show", *wanted], capture_output=True, text=True).stdout
        self.assertEqual(wanted - set(re.findall(r"(?m)^Package: (.*)$", known)), set())

    def test_users_are_not_root(self):
        self.assertIn("\nUSER regatta\n", self.docker)

    def test_workflow(self):
        try:
            import yaml
        except ModuleNotFoundError:
            self.skipTest("no PyYAML")
        jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
        for name, job in jobs.items():
            for step in job["steps"]:
                command = step.get("run", "./run.sh")
                self.assertTrue(command.startswith(
                    ("./run.sh", "apt-get update &&", "docker ", "dnf install ", "git clone ")), (name, command))
        self.assertIn({"run": "./run.sh docs"}, jobs["docs"]["steps"])
        self.assertEqual(jobs["debian"]["strategy"]["matrix"]["compiler"], ["gcc", "clang"])
        self.assertEqual(jobs["debian"]["env"]["REGATTA_WERROR"], 1)
        listed = re.search(r"Fedora  dnf install (.*?)\(then", (ROOT / "docs/install.md").read_text(), re.S)[1].split()
        self.assertEqual(jobs["fedora"]["steps"][0]["run"].split(), ["dnf", "install", "-y", "git", *listed])

    def test_versions_agree(self):
        """The version has one home; files that can't read it there agree with it, and so does the newest tag."""
        self.assertTrue(self.run_ok("version").startswith(f"regatta {VERSION} "))
        self.assertRegex((ROOT / "CITATION.cff").read_text(), rf"(?m)^version: {re.escape(VERSION)}$")
        self.assertRegex((ROOT / "analysis/pyproject.toml").read_text(),
                         rf'(?m)^version = "{re.escape(VERSION)}"$')
        first = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text())
        self.assertEqual(first[1], VERSION)
        released = re.search(r"(?m)^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text())
        self.assertEqual(released and released[1], None if first[2] == "unreleased" else first[2])
        tags = subprocess.run(["git", "-C", ROOT, "tag", "--points-at", "HEAD", "v*"], capture_output=True,
                              text=True).stdout.split()
        self.assertLessEqual(set(tags), {f"v{VERSION}"} if first[2] != "unreleased" else set())

    def test_spack(self):
        """The recipe is Python that Spack's names are enough for; its version is that of the project."""
        said = []
        stub = types.ModuleType("spack.package")
        for word in ("version", "depends_on", "variant", "license"):
            setattr(stub, word, lambda *a, word=word, **k: said.append((word, a[0])))
        stub.when = lambda condition: contextlib.nullcontext()
        stub.CMakePackage = object
        path = PACKAGING / "spack/package.py"
        with mock.patch.dict(sys.modules, {"spack": types.ModuleType("spack"), "spack.package": stub}):
            made = runpy.run_path(str(path))["Regatta"]
        self.assertIn(("version", VERSION), said)
        needed = {text.split()[0].split("@")[0] for word, text in said if word == "depends_on"}
        self.assertLessEqual({"mpi", "petsc", "hdf5", "gsl", "libyaml", "jansson", "xxhash", "random123"}, needed)
        self.assertTrue(made.__doc__)
        options = set(re.findall(r'"(REGATTA_\w+)"', path.read_text()))
        self.assertEqual(options - self.options(), set())

    def test_conda(self):
        try:
            import yaml
        except ModuleNotFoundError:
            self.skipTest("no PyYAML")
        text = (PACKAGING / "conda/meta.yaml").read_text()
        self.assertIn(f'{{% set version = "{VERSION}" %}}', text)
        text = re.sub(r"{%.*?%}", "", text).replace("{{ version }}", VERSION)
        recipe = yaml.safe_load(re.sub(r"{{ (.*?) }}", r"\1", text))
        self.assertEqual(str(recipe["package"]["version"]), VERSION)
        wanted = re.search(r"dependencies = \[(.*?)\]", (ROOT / "analysis/pyproject.toml").read_text(), re.S)[1]
        named = {"matplotlib": "matplotlib-base", "xxhash": "python-xxhash"}
        wanted = {named.get(name, name) for name in re.findall(r'"(\w+)', wanted)}
        self.assertLessEqual(wanted, set(recipe["requirements"]["run"]))
        build = (PACKAGING / "conda/build.sh").read_text()
        self.assertEqual(set(re.findall(r"-D(REGATTA_\w+)", build)) - self.options(), set())

    def test_nix(self):
        path = PACKAGING / "nix/default.nix"
        text = path.read_text()
        self.assertIn(f'version = "{VERSION}"', text)
        self.assertEqual(set(re.findall(r"-D(REGATTA_\w+)", text)) - self.options(), set())
        if not shutil.which("nix-instantiate"):
            self.skipTest("no nix-instantiate (Debian: nix-bin)")
        subprocess.run(["nix-instantiate", "--parse", path], check=True, capture_output=True)

    def options(self):
        """The options of CMake."""
        text = "".join(path.read_text() for path in (ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")))
        return set(re.findall(r"option\((REGATTA_\w+)", text))

    def test_container_is_built(self):
        builder = next(filter(shutil.which, ("buildah", "podman")), None)
        works = builder and subprocess.run([builder, "info"], capture_output=True).returncode == 0
        if not works or subprocess.run([builder, "pull", "docker.io/library/debian:12-slim"],
                                       capture_output=True).returncode:
            self.skipTest("containers can't be built here (buildah or podman, and the image debian:12-slim)")
        subprocess.run([builder, "build", "-t", "regatta-test", ROOT], check=True)


if __name__ == "__main__":
    main()
