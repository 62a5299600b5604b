"""The result of `cmake --install`: help, man pages, completion, and plug-ins made by `regatta new`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from regatta_test import LONG, REGATTA, RegattaTest, environment, install, main, regatta

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "share/regatta/python"
COMMANDS = ("run plan list describe eval bounds info status checksum verify merge version new "
            "help serve").split()
STUDY = """study: plugins
seeds: 2
common: {iterations: 5, initial_points: 3}
problems: [my_problem]
algorithms: [my_method, random]
"""


class Install(RegattaTest):
    @classmethod
    def setUpClass(cls):
        site = pathlib.Path(REGATTA).parent / "docs/html/index.html"
        if not site.exists():  # as ./run.sh docs leaves it
            site.parent.mkdir(parents=True)
            site.touch()
            cls.addClassCleanup(shutil.rmtree, site.parents[1])
        cls.prefix = install(cls)

    def test_man_pages_and_completion(self):
        prefix = self.prefix
        pages = {page.name for page in prefix.rglob("man1/*.1")}
        self.assertEqual(pages, {"regatta.1", *(f"regatta-{command}.1" for command in COMMANDS)})
        for page in prefix.rglob("man1/*.1"):
            text = page.read_text()
            self.assertTrue(text.startswith(".TH"), page)
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)
        self.assertIn("walltime", next(prefix.rglob("regatta-run.1")).read_text())
        for shell, name in (("bash", "completions/regatta"), ("zsh", "_regatta"), ("fish", "regatta.fish")):
            script, = prefix.rglob(name)
            self.assertIn("-walltime" if shell != "fish" else "-o walltime", script.read_text())
            if shutil.which(shell):
                subprocess.run([shell, "-n", script], check=True)

    def test_documentation(self):
        for name in ("README.md", "CHANGELOG.md", "LICENSE", "html/index.html"):
            self.assertTrue((self.prefix / "share/doc/regatta" / name).is_file(), name)

    def test_analysis(self):
        self.analysis(self.prefix)

    def analysis(self, prefix):
        """The Python package of a prefix is found by its command."""
        python = os.environ.get("REGATTA_PYTHON", sys.executable)
        if subprocess.run([python, "-c", "import h5py, jinja2, matplotlib, pandas, xxhash, yaml"],
                          capture_output=True).returncode:
            self.skipTest("no Python for the analysis")
        kept = {k: v for k, v in environment().items() if k not in ("PYTHONPATH", "REGATTA")}
        done = subprocess.run([prefix / "bin/regatta-analysis", "claims", "--help", "better"],
                              capture_output=True, text=True, env={**kept, "REGATTA_PYTHON": python})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout)
        self.imports(python, f"import site; site.addsitedir({str(prefix / 'lib/python3/dist-packages')!r})"
                     if prefix.name == "usr" else f"import sys; sys.path.insert(0, {str(prefix / PACKAGE)!r})", prefix)

    def imports(self, python, before, prefix):
        """The package is that of a prefix, and finds the program there."""
        kept = {k: v for k, v in environment().items() if k not in ("PYTHONPATH", "REGATTA")}
        done = subprocess.run([python, "-c", f"{before}; import regatta; print(regatta.__file__, regatta.find_program(), "
                               "regatta.problem('branin').dim)"], capture_output=True, text=True, env=kept, cwd="/")
        self.assertEqual(done.stdout.split(), [str(prefix / PACKAGE / "regatta/__init__.py"),
                                               str(prefix / "bin/regatta"), "2"], done.stderr)

    def test_import_in_an_environment(self):
        """`cmake --install --prefix` of a virtual environment makes its Python import the package."""
        environment = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        for part in ("bin", "share"):  # what an installation under another prefix has; the rest is a copy
            shutil.copytree(self.prefix / part, environment / part, dirs_exist_ok=True)
        done = subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={environment}", "-DREGATTA_PACKAGE=" + PACKAGE, "-P",
                               ROOT / "cmake/InstallPython.cmake"], capture_output=True, text=True, check=True)
        self.assertIn("regatta.pth", done.stdout + done.stderr)
        self.imports(environment / "bin/python3", "pass", environment)
        done = subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=/nowhere", "-DREGATTA_PACKAGE=" + PACKAGE, "-P",
                               ROOT / "cmake/InstallPython.cmake"], capture_output=True, text=True, check=True)
        self.assertIn(f"export PYTHONPATH=/nowhere/{PACKAGE}\n", done.stdout + done.stderr)

    def test_a_python_without_the_packages(self):
        """regatta-analysis says in one line what is missing."""
        python = self.write("python", "#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n".format(sys=sys))
        python.chmod(0o755)
        done = subprocess.run([self.prefix / "bin/regatta-analysis", "--help"], capture_output=True, text=True,
                              env={**os.environ, "REGATTA_PYTHON": str(python)})
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertRegex(done.stderr, "^regatta-analysis: .*/python lacks numpy, scipy, pandas, h5py,.* yaml, xxhash; ")

    @unittest.skipUnless(LONG, "a long test")
    @unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("cpack"), "needs dpkg-dev and cpack")
    def test_debian_package(self):
        """Made by cpack, unpacked in a scratch root: it depends on what is linked, and works there."""
        subprocess.run(["cpack", "-G", "DEB", "--config", pathlib.Path(REGATTA).parent / "CPackConfig.cmake",
                        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "-B", self.folder],
                       check=True, capture_output=True)
        package, = self.folder.glob("regatta_*.deb")
        fields = subprocess.run(["dpkg-deb", "-f", package, "Depends", "Recommends", "Version"], check=True,
                                capture_output=True, text=True).stdout
        for library in ("petsc", "hdf5", "gsl", "yaml", "jansson", "xxhash"):
            self.assertRegex(fields, rf"Depends: .*lib{library}")
        self.assertRegex(fields, "Recommends: .*python3-h5py")
        self.assertIn(f"Version: {regatta('version')[1].split()[1]}\n", fields)
        root = self.folder / "root"
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        script = subprocess.run(["dpkg-deb", "-I", package, "prerm"], check=True, capture_output=True, text=True).stdout
        self.assertIn("__pycache__", script)  # else a removal leaves folders
        done = subprocess.run([root / "usr/bin/regatta", "version"], capture_output=True, text=True,
                              env=environment())
        self.assertEqual(done.stdout, regatta("version")[1])
        for name in ("share/man/man1/regatta.1", "lib/libregatta.so", "include/regatta/regatta.h",
                     "share/regatta/python/regatta_analysis/__init__.py"):
            self.assertTrue(list((root / "usr").glob(name)), name)
        self.analysis(root / "usr")

    def test_bash_completes(self):
        script = self.write("completion", self.run_ok("help", "-completion", "bash"))
        for words, answer in (("regatta des", "describe"), ("regatta list pro", "problems"),
                              ("regatta run -wa", "-walltime"), ("regatta describe max", "maximiser")):
            done = subprocess.run(["bash", "-c", f". {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}"
                                   "- 1)); _regatta; echo ${COMPREPLY[@]}"], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), answer)

    def test_help(self):
        self.assertEqual(self.run_ok("help", "run"), self.run_ok("run", "-help"))
        listed = self.run_ok("help")
        self.assertEqual(listed, self.run_ok("--help"))
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", listed)
            self.assertIn(f"usage: regatta {command}", self.run_ok("help", command))
        for arguments, words in ((("help", "rum"), "did you mean 'run'"), (("help", "-completion", "csh"), "bash")):
            code, _, err = regatta(*arguments)
            self.assertEqual((code, err.count("\n")), (2, 1))
            self.assertIn(words, err)

    def test_describe_says_what_the_head_comment_says(self):
        for method in ("gp_ucb", "turbo"):
            head = (ROOT / f"src/algorithm/{method}.c").read_text().partition("*/")[0]
            words = re.search(r"\n   (Deviations: .*?)\n   Needs", head, re.S)[1].replace("\n   ", "\n  ")
            self.assertIn("Cost per iteration: ", words)
            self.assertIn(f"\n  {words}\n", self.run_ok("describe", method))

    def test_list(self):
        for subject in ("problems", "algorithms", "kernels", "measures", "theory"):
            self.assertRegex(self.run_ok("list"), rf"(?m)^{subject} +\d+ names")
            self.assertNotIn(" ...\n", self.run_ok("list", subject))

    def test_new_plugins(self):
        prefix = self.prefix
        program = prefix / "bin/regatta"
        env = environment()
        for kind, name in (("problem", "my_problem"), ("algorithm", "my_method")):
            subprocess.run([program, "new", kind, name], check=True, cwd=self.folder, env=env, stdout=subprocess.DEVNULL)
            for step in (["-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"],
                         ["--build", "build"]):
                done = subprocess.run(["cmake", *step], cwd=self.folder / name, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        plugins = [word for name in ("my_problem", "my_method")
                   for word in ("-plugin", self.folder / name / "build" / f"{name}.so")]
        output = self.folder / "out.h5"
        subprocess.run([program, "run", self.write("study.yaml", STUDY), "-o", output, "-quiet", *plugins],
                       check=True, env=env, stdout=subprocess.DEVNULL)
        self.assertIn("4 trials", self.run_ok("checksum", output))
        for arguments, words in ((("problem", "my_problem"), "exists"), (("kernel", "k"), "source tree"),
                                 (("problem", "p", "-context"), "source tree")):
            done = subprocess.run([program, "new", *arguments], cwd=self.folder, env=env, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
