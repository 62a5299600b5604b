"""The result of `cmake --install`: help, man pages, completion, and plug-ins made by `regatta new`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from regatta_test import LONG, REGATTA, RegattaTest, environment, install, regatta

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "share/regatta/python"
COMMANDS = ("run plan list describe eval bounds info status checksum verify merge version selftest new "
            "help serve").split()
LMOD = pathlib.Path("/usr/share/lmod/lmod/init/bash")
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
        self.assertEqual(pages, {"regatta.1", "regatta-analysis.1", *(f"regatta-{command}.1" for command in COMMANDS)})
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

    # ---- `regatta selftest`, and what goes wrong with installations

    def copied(self, *parts):
        """These parts of the installation under another prefix."""
        prefix = self.folder / "moved"
        for part in parts:
            (shutil.copytree if (self.prefix / part).is_dir() else shutil.copy)(self.prefix / part, prefix / part)
        return prefix

    def selftest(self, prefix, *arguments, **variables):
        """Exit code, lines and complaint of the selftest of an installation."""
        kept = {k: v for k, v in environment().items() if k not in ("PYTHONPATH", "REGATTA")}
        done = subprocess.run([prefix / "bin/regatta", "selftest", *map(str, arguments)], capture_output=True, text=True,
                              env={**kept, "REGATTA_PYTHON": sys.executable, **variables}, cwd=self.folder)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def test_selftest(self):
        """A line for each check, without the source tree, under another prefix, and nothing left behind. A check that
        does not hold fails, and only that one. The whole is a long test."""
        prefix = self.copied("bin", "share/regatta")
        shared = prefix / "share/regatta/selftest"
        if not LONG:
            (shared / "high_dimension.yaml").write_text(
                "study: short\nseeds: 2\ncommon: {iterations: 2, initial_points: 2}\nproblems: [branin]\nalgorithms: [random]\n")
            table = (shared / "checksums.txt").read_text()
            (shared / "checksums.txt").write_text(re.sub("(?m)^.* high_dimension .*\n", "", table))
        temporary = self.folder / "temporary"
        temporary.mkdir()
        code, lines, err = self.selftest(prefix, TMPDIR=str(temporary))
        checks = ("program", "launch", "smoke on 1 rank", "smoke on 2 ranks", "high_dimension on 1 rank", "high_dimension on 2 ranks",
                  "verify", "verify of a file from another machine", "page")
        self.assertEqual((code, err), (0, ""), lines)
        self.assertEqual(tuple(line.split(": ")[0].split("  ")[-1].strip() for line in lines[:-1]), checks)
        self.assertRegex(lines[-1], "^selftest: [89] passed, 0 failed, [01] skipped in [0-9]+ s$")
        self.assertIn(f"{prefix}/bin/regatta, version ", lines[0])
        self.assertEqual(list(temporary.iterdir()), [])

        kept = self.folder / "kept"
        fingerprint = re.search("numeric fingerprint (.*)$", lines[0])[1]
        with (shared / "checksums.txt").open("a") as file:
            file.write(f"{fingerprint} high_dimension {'0' * 32}\n")
        (shared / "reference.h5").write_bytes((shared / "reference.h5").read_bytes()[:50000])
        code, lines, err = self.selftest(prefix, "-launch", "false", "-folder", kept)
        self.assertEqual((code, err), (1, ""))
        failed = [line.split(": ")[0].removeprefix("FAILED").strip() for line in lines if line.startswith("FAILED")]
        self.assertEqual(failed, ["launch", "smoke on 2 ranks", "high_dimension on 1 rank", "high_dimension on 2 ranks",
                                  "verify of a file from another machine"], lines)
        self.assertTrue((kept / "smoke-1.h5").exists())
        code, lines, err = self.selftest(prefix, "-launch", "env", "-folder", kept)
        self.assertIn("FAILED   launch: env does not start two processes", lines)

    @unittest.skipUnless(LMOD.exists(), "no Lmod (Debian: lmod)")
    def test_module(self):
        """Lmod loads the module of an installation that was moved, and takes all of it back."""
        prefix = self.copied("bin", "share/regatta")
        script = f"""set -e; export MODULEPATH=; . {LMOD}; module use {prefix}/share/regatta/modulefiles
            module load regatta; command -v regatta; regatta list kernels | head -n 1
            {sys.executable} -c 'import regatta; print(regatta.__file__)'; module -t list
            module help regatta; module unload regatta
            if env | grep -v MODULEPATH | grep {prefix}/ >&2; then exit 1; fi"""
        kept = {k: v for k, v in environment().items() if k not in ("PYTHONPATH", "REGATTA", "CMAKE_PREFIX_PATH")}
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=kept, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        version = regatta("version")[1].split()[1]
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], lines[2]), (f"{prefix}/bin/regatta", f"{prefix}/{PACKAGE}/regatta/__init__.py"), lines)
        self.assertIn(f"regatta/{version}", done.stdout + done.stderr)
        self.assertIn("regatta selftest", done.stdout + done.stderr)

    def test_a_program_without_its_folder(self):
        (self.folder / "moved/bin").mkdir(parents=True)
        prefix = self.copied("bin/regatta")
        code, lines, err = self.selftest(prefix)
        self.assertEqual((code, lines, err.count("\n")), (2, [], 1), err)
        self.assertRegex(err, "^regatta: selftest: there is no .*/selftest.sh: ")
        code, lines, err = self.selftest(self.prefix, "-folder", self.write("file", ""))
        self.assertEqual((code, lines, err), (2, [], f"regatta: selftest: can't write to '{self.folder}/file'\n"))

    def test_a_launcher_of_another_mpi(self):
        """The processes that it starts would each run the whole study."""
        launch = self.write("launch", '#!/bin/sh\nexport PMI_SIZE=2 PMI_FD=9\nPMI_RANK=1 "$@" &\nPMI_RANK=0 "$@"\n'
                            'code=$?; wait $! && exit 1; exit $code\n')
        launch.chmod(0o755)
        study = self.write("study.yaml", STUDY.replace("my_problem", "branin").replace("my_method, ", ""))
        done = subprocess.run([launch, self.prefix / "bin/regatta", "run", study, "-o", self.folder / "out.h5"],
                              capture_output=True, text=True, env=environment())
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertRegex(done.stderr, "^regatta: 2 processes were started, but .* can't connect them: ")
        self.assertFalse((self.folder / "out.h5").exists())

    def test_two_installed_versions(self):
        """A Python package and a program, or the programs of two hosts, that do not belong together."""
        package, program = self.folder / "python", self.folder / "regatta"
        shutil.copytree(self.prefix / PACKAGE, package)
        (package / "regatta/_version.py").write_text('__version__ = "9.8.7"\n')
        code = f"import sys; sys.path.insert(0, {str(package)!r}); import regatta\n"
        env = {**environment(), "REGATTA": str(self.prefix / "bin/regatta")}
        for call, error in (("regatta.problem('branin')", "ValueError"), ("regatta.run({'study': 's'})", "ValueError")):
            done = subprocess.run([sys.executable, "-c", code + call], capture_output=True, text=True, env=env, cwd=self.folder)
            self.assertRegex(done.stderr.splitlines()[-1], f"^{error}: .*the Python package regatta has version 9.8.7, and this "
                             "program has ")
        version = regatta("version")[1]
        source = re.search("source ([0-9a-f]{12})", version)[1].encode()
        program.write_bytes((self.prefix / "bin/regatta").read_bytes().replace(source, b"0123456789ab"))
        program.chmod(0o755)
        study = self.write("study.yaml", STUDY.replace("my_problem", "branin").replace("my_method, ", ""))
        words = ["run", study, "-o", self.folder / "out.h5"]
        done = subprocess.run(["mpirun", "-n", "1", self.prefix / "bin/regatta", *words, ":", "-n", "1",
                               program, *words], capture_output=True, text=True, env=environment())
        self.assertEqual(done.returncode, 2, done.stderr)
        said = [line for line in done.stderr.splitlines() if "study.yaml" in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "study.yaml: rank 1 runs another build than rank 0: regatta .*source 0123456789ab")

    def test_help(self):
        self.assertEqual(self.run_ok("help", "run"), self.run_ok("run", "-help"))
        listed = self.run_ok("help")
        self.assertEqual(listed, self.run_ok("--help"))
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", listed)
            self.assertIn(f"usage: regatta {command}", self.run_ok("help", command))
        for arguments, words in ((("help", "rum"), "did you mean 'run'"), (("help", "-completion", "csh"), "bash")):
            self.refused(*arguments, says=words)

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
        built = pathlib.Path(plugins[1])
        other = self.folder / "other.so"
        version = self.run_ok("version").split()[1].encode()
        other.write_bytes(built.read_bytes().replace(version + b"\0", b"9" + version[1:] + b"\0"))
        done = subprocess.run([program, "run", self.folder / "study.yaml", "-o", self.folder / "two.h5", "-plugin", other],
                              capture_output=True, text=True, env=env)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertRegex(done.stderr, r"other\.so was built for the headers of regatta 9\S*, this is ")
        for arguments, words in ((("problem", "my_problem"), "exists"), (("kernel", "k"), "source tree"),
                                 (("problem", "p", "-context"), "source tree")):
            done = subprocess.run([program, "new", *arguments], cwd=self.folder, env=env, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)
