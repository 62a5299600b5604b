"""Recipes: the container, the Apptainer definition, the CI workflow and those of package managers fit
run.sh, the project and each other."""
import contextlib
import importlib.util
import io
import json
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

from regatta_test import LONG, RegattaTest

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

    def test_the_users_options_count(self):
        """The last of several options counts, so those of run.sh come first."""
        given = {"--results": "MINE", "--command": "C"}
        script = (f'source "{ROOT}/run.sh"; build_target() {{ :; }}; python() {{ printf "%s\\n" "$@"; }}; '
                  f'run_program reproduce run boke {" ".join(f"{k} {v}" for k, v in given.items())}')
        words = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(words[:2], ["reproduce", "run"])
        for option, value in given.items():
            self.assertEqual([words[k + 1] for k, word in enumerate(words) if word == option][1:], [value])

    def test_help_does_nothing_else(self):
        """A command whose help is asked for does not start, and one without arguments takes none."""
        kept = self.write("kept", "")
        for name in re.findall(r"(?m)^  ([a-z]+) ", subprocess.run([ROOT / "run.sh", "help"], capture_output=True, text=True).stdout):
            for word, code in (("--help", 0), ("-h", 0), ("sideways", 2)):
                if word == "sideways" and name not in ("build", "docs", "clean", "help"):
                    continue
                done = subprocess.run([ROOT / "run.sh", name, word], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                      env={**os.environ, "REGATTA_BUILD": str(self.folder)})
                self.assertEqual(done.returncode, code, (name, word, done.stderr))
                self.assertRegex(done.stderr if code else done.stdout, f"{name} takes no arguments" if code else "usage:")
                self.assertEqual(list(self.folder.iterdir()), [kept], (name, word))

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
                    ("./run.sh", "apt-get update &&", "docker ", "dnf install ", "git clone ", "curl ")), (name, command))
        self.assertIn({"run": "./run.sh docs"}, jobs["docs"]["steps"])
        self.assertEqual(jobs["debian"]["strategy"]["matrix"]["compiler"], ["gcc", "clang"])
        self.assertEqual(jobs["debian"]["env"]["REGATTA_WERROR"], 1)
        steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["release"]["steps"]
        self.assertIn({"run": "./run.sh release"}, steps)
        listed = re.search(r"Fedora  dnf install (.*?)\(then", (ROOT / "docs/install.md").read_text(), re.S)[1].split()
        self.assertEqual(jobs["fedora"]["steps"][0]["run"].split(), ["dnf", "install", "-y", "git", *listed])

    # ---- the number of the version, and the address, have one home each

    def release(self):
        """The module of ./run.sh release."""
        spec = importlib.util.spec_from_file_location("release", ROOT / "cmake/release/release.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_versions_agree(self):
        """Files that can't read the version at its home agree with it, and so does the newest tag."""
        self.assertTrue(self.run_ok("version").startswith(f"regatta {VERSION} "))
        release = self.release()
        self.assertEqual(set(release.values(release.PLACES).values()), {VERSION})
        self.assertEqual(len(set(release.values(release.ADDRESSES).values())), 1)
        first = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text())
        self.assertEqual(first[1], VERSION)
        released = re.search(r"(?m)^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text())
        self.assertEqual(released and released[1], None if first[2] == "unreleased" else first[2])
        tags = subprocess.run(["git", "-C", ROOT, "tag", "--points-at", "HEAD", "v*"], capture_output=True,
                              text=True).stdout.split()
        self.assertLessEqual(set(tags), {f"v{VERSION}"} if first[2] != "unreleased" else set())

    def test_the_version_is_set_everywhere(self):
        """No file of the tree, save stories of the past, has the old number after ./run.sh release --set."""
        tree = self.folder / "tree"
        release = self.release()
        for name in {*release.PLACES, *release.ADDRESSES}:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
        with mock.patch.object(release, "ROOT", tree), contextlib.redirect_stdout(io.StringIO()):
            release.set_version("7.6.5", "2031-02-03", "https://example.net/regatta/")
            self.assertEqual(set(release.values(release.PLACES).values()), {"7.6.5"})
            self.assertEqual([name for name in release.PLACES if VERSION in (tree / name).read_text()], [])
            self.assertEqual(set(release.values(release.ADDRESSES).values()), {"https://example.net/regatta"})
            self.assertIn("## 7.6.5 (2031-02-03)\n", (tree / "CHANGELOG.md").read_text())
            self.assertIn("version: 7.6.5\ndate-released: 2031-02-03\n", (tree / "CITATION.cff").read_text())
            self.assertEqual(json.loads((tree / "codemeta.json").read_text())["datePublished"], "2031-02-03")
            with self.assertRaisesRegex(SystemExit, "CITATION.cff has the version '7.6.6', src/regatta/error.h has '7.6.5'"):
                (tree / "CITATION.cff").write_text((tree / "CITATION.cff").read_text().replace("7.6.5", "7.6.6"))
                release.agree(release.PLACES, "version")
            release.set_version("7.6.6", None, None)
            self.assertNotIn("date-released", (tree / "CITATION.cff").read_text())
            self.assertNotIn("datePublished", json.loads((tree / "codemeta.json").read_text()))
        files = subprocess.run(["git", "-C", ROOT, "grep", "-lF", VERSION], capture_output=True, text=True).stdout.split()
        known = {*release.PLACES, "docs/versions.md", "docs/library.md"}
        stories = ("CHANGELOG.md", "experiments/", "tests/", "docs/", "src/")
        self.assertEqual({name for name in files if not name.startswith(stories)} - known, set())

    @unittest.skipUnless(LONG, "a long test")
    def test_release(self):
        """The artefacts of the last commit, made once: all are there, checksums fit, and the list of parts names the
        libraries that the package needs."""
        missing = [tool for tool in ("dpkg-shlibdeps", "cpack", "git") if not shutil.which(tool)]
        if missing or subprocess.run(["/usr/bin/python3", "-c", "import pip, setuptools, wheel"], capture_output=True).returncode:
            self.skipTest(f"needs pip, setuptools, wheel{''.join(f', {tool}' for tool in missing)}")
        clean = subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True)
        if clean.returncode or clean.stdout:
            self.skipTest("the tree has changes that are not committed")
        out = self.folder / "out"
        done = subprocess.run([sys.executable, ROOT / "cmake/release/release.py", "--once", "--out", out], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names = {path.name for path in out.iterdir()}
        self.assertEqual({name for name in names if not name.endswith(".deb")}, {f"regatta-{VERSION}.tar.gz", "SHA256SUMS",
                                 f"regatta_analysis-{VERSION}-py3-none-any.whl", f"regatta-{VERSION}.spdx.json"})
        parts = json.loads((out / f"regatta-{VERSION}.spdx.json").read_text())
        listed = {part["name"] for part in parts["packages"]}
        self.assertLessEqual({"regatta", "regatta-deb"}, listed)
        for library in ("libpetsc", "libgsl", "libhdf5", "liblbfgsb"):
            self.assertTrue(any(name.startswith(library) for name in listed), library)
        self.assertEqual({bond["relatedSpdxElement"] for bond in parts["relationships"]}
                         - {part["SPDXID"] for part in parts["packages"]}, set())

    def test_metadata(self):
        """CITATION.cff, codemeta.json and .zenodo.json tell the same; the papers are those that Regatta judges."""
        try:
            import yaml
        except ModuleNotFoundError:
            self.skipTest("no PyYAML")
        cite = yaml.safe_load((ROOT / "CITATION.cff").read_text())
        meta, zenodo = (json.loads((ROOT / name).read_text()) for name in ("codemeta.json", ".zenodo.json"))
        papers = {item["identifiers"][0]["value"] for item in cite["references"]}
        judged = [path.with_name("README.md").read_text() for path in ROOT.glob("experiments/*/verdicts.json")]
        self.assertEqual(len(papers), len(judged))
        for paper in papers:
            self.assertTrue(any(paper in text for text in judged), paper)
        self.assertEqual(papers, {item["identifier"] for item in zenodo["related_identifiers"]})
        self.assertEqual(papers, {item["@id"].replace("https://arxiv.org/abs/", "arXiv:")
                                  for item in meta["referencePublication"]})
        self.assertEqual((meta["description"], zenodo["description"]), (cite["abstract"], f"<p>{cite['abstract']}</p>"))
        self.assertEqual((meta["keywords"], zenodo["keywords"]), (cite["keywords"], cite["keywords"]))
        known = yaml.safe_load((ROOT / "experiments/references.yaml").read_text())
        for item in cite["references"]:
            entry = known[item["identifiers"][0]["value"]]
            self.assertEqual(([author["family-names"] for author in item["authors"]], item["title"], item["year"]),
                             (entry["authors"], entry["title"], entry["year"]))
        self.assertEqual((ROOT / "LICENSES/BSD-2-Clause.txt").read_text(), (ROOT / "LICENSE").read_text())

    def test_licences(self):
        if not shutil.which("reuse"):
            self.skipTest("no reuse (Debian: reuse)")
        done = subprocess.run(["reuse", "lint"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def spack(self, *variants):
        """The recipe, run with stand-ins for the names of Spack that it may use: the package with these variants, and
        (word, arguments, keywords) of every directive."""
        said, stub, build = [], types.ModuleType("spack.package"), types.ModuleType("spack_repo.builtin.build_systems.cmake")

        class CMakePackage:
            run_tests, prefix = False, types.SimpleNamespace(lib="/prefix/lib", bin=types.SimpleNamespace(regatta="/prefix/bin/regatta"))
            stage = types.SimpleNamespace(source_path=str(self.folder))

            def define(self, name, value):
                return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

            def define_from_variant(self, name, variant):
                return self.define(name, f"+{variant}" in variants)

        def executable(program, **_):
            return lambda *words: said.append(("call", (program, *words), {}))

        for word in ("version", "depends_on", "variant", "license", "maintainers", "resource"):
            setattr(stub, word, lambda *a, word=word, **k: said.append((word, a, k)))
        stub.when = lambda condition: contextlib.nullcontext()
        stub.join_path, stub.which = (lambda *parts: "/".join(parts)), executable
        stub.__all__ = [name for name in vars(stub) if not name.startswith("_")]
        build.CMakePackage = CMakePackage
        modules = {"spack": types.ModuleType("spack"), "spack.package": stub, build.__name__: build,
                   **{name: types.ModuleType(name) for name in ("spack_repo", "spack_repo.builtin",
                                                                "spack_repo.builtin.build_systems")}}
        with mock.patch.dict(sys.modules, modules):
            return runpy.run_path(str(PACKAGING / "spack/package.py"))["Regatta"], said

    def test_spack(self):
        """The names of Spack that are listed above are enough for the recipe. Its version is that of the project, its
        options are those of CMake, it needs the packages that CMake looks for, and it brings the source of L-BFGS-B."""
        recipe, said = self.spack("+iterative", "+scalapack")
        words = [(word, arguments[0] if arguments else "") for word, arguments, _ in said]
        self.assertIn(("version", VERSION), words)
        needed = {re.split("[ @+~]", text)[0] for word, text in words if word == "depends_on"}
        self.assertLessEqual({"c", "fortran", "mpi", "petsc", "hdf5", "gsl", "libyaml", "jansson", "xxhash", "random123"}, needed)
        python = re.search(r"dependencies = \[(.*?)\]", (ROOT / "analysis/pyproject.toml").read_text(), re.S)[1]
        self.assertEqual({name for name in needed if name.startswith("py-")}, {f"py-{name}" for name in re.findall(r'"(\w+)', python)})
        self.assertLessEqual({"iterative", "bbob", "python"}, {text for word, text in words if word == "variant"})
        self.assertTrue(recipe.__doc__ and recipe.homepage and recipe.git)
        source, = [keywords for word, _, keywords in said if word == "resource"]
        self.assertRegex(source["sha256"], "^[0-9a-f]{64}$")
        package = recipe()
        self.assertEqual(set(package.cmake_args()), {
            "-DREGATTA_TESTS=OFF", f"-DREGATTA_LBFGSB_SOURCE={self.folder}/{source['placement']}", "-DREGATTA_SCALAPACK=ON",
            "-DREGATTA_ITERATIVE=ON", "-DREGATTA_BBOB=OFF"})
        options = {argument[2:].partition("=")[0] for argument in package.cmake_args()}
        self.assertEqual({name for name in options if name.startswith("REGATTA_")} - self.options(), set())
        package.test_selftest()
        self.assertEqual(said[-1][1], ("/prefix/bin/regatta", "selftest"))

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
        """The settings of CMake."""
        text = "".join(path.read_text() for path in (ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")))
        return set(re.findall(r"(?:option|set)\((REGATTA_\w+)", text))

    def test_container_is_built(self):
        builder = next(filter(shutil.which, ("buildah", "podman")), None)
        works = builder and subprocess.run([builder, "info"], capture_output=True).returncode == 0
        if not works or subprocess.run([builder, "pull", "docker.io/library/debian:12-slim"],
                                       capture_output=True).returncode:
            self.skipTest("containers can't be built here (buildah or podman, and the image debian:12-slim)")
        subprocess.run([builder, "build", "-t", "regatta-test", ROOT], check=True)
