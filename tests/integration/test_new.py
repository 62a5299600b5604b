"""`regatta new` gives algorithms, problems and a kernel that build, are listed and run."""
import pathlib
import resource
import shutil
import subprocess

from regatta_test import LONG, REGATTA, RegattaTest, environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDY = """study: skeletons
seeds: 2
common: {iterations: 5, initial_points: 3, surrogate: {kernel: my_kernel}}
problems: [my_problem, my_contexts]
algorithms: [my_method, my_bound, ei]
"""


class New(RegattaTest):
    def test_skeletons_build_and_run(self):
        """Without REGATTA_LONG they and their lists are only compiled; test_install builds and runs plug-ins."""
        tree = self.folder / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", "build*", "results"))
        self.run_ok("new", "algorithm", "my_method", "-source", tree)
        self.run_ok("new", "algorithm", "my_bound", "-surrogate", "-source", tree)
        self.run_ok("new", "problem", "my_problem", "-source", tree)
        self.run_ok("new", "problem", "my_contexts", "-context", "-source", tree)
        self.run_ok("new", "kernel", "my_kernel", "-source", tree)
        self.refused("new", "algorithm", "my_method", "-source", tree)

        # linked in front of the static library, whose registries they take the place of
        prefix, program = self.folder / "prefix", self.folder / "regatta"
        build = pathlib.Path(REGATTA).parent
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        package, = prefix.rglob("regatta.pc")
        flags = subprocess.run(
            ["pkg-config", "--static", "--cflags", "--libs", package],
            check=True, capture_output=True, text=True).stdout.split()
        static, = prefix.rglob("libregatta.a")
        flags = [static if flag == "-lregatta" else flag for flag in flags]
        names = ("algorithm/my_method.c", "algorithm/my_bound.c", "algorithm/registry.c",
                 "problem/my_problem.c", "problem/my_contexts.c", "problem/registry.c")
        includes = [f for f in flags if str(f).startswith(("-I", "-isystem", "-D"))]
        kernels = sorted((tree / "src/gp/kernel").glob("*.c"))
        sources = [tree / "src" / name for name in names]
        subprocess.run(["cmake", f"-DLIST={tree / 'src/gp/kernel/list.h'}",
                        f"-DOUTPUT={self.folder / 'generated/regatta_kernels.h'}",
                        "-P", tree / "cmake/RegattaKernels.cmake"], check=True)
        compiler = ["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                    "-Wno-unknown-pragmas", "-Wno-unused-parameter", f"-I{tree / 'src'}",
                    f"-I{tree / 'tests'}", f"-I{self.folder / 'generated'}", f"-I{build / 'generated'}"]
        if not LONG:
            subprocess.run([*compiler, "-fsyntax-only", *sources, kernels[0], *includes], check=True)
            return
        sources += sorted((tree / "src/cli").glob("*.c"))
        for source in kernels:
            subprocess.run([*compiler, "-O1", "-c", source, *includes, "-o",
                            self.folder / f"{source.stem}.o"], check=True)
        objects = [self.folder / f"{source.stem}.o" for source in kernels]
        subprocess.run([*compiler, *sources, *objects, *flags, "-o", program], check=True)
        self.assertTrue(list(prefix.rglob("regattaConfig.cmake")))
        study = self.write("study.yaml", STUDY)
        output = self.folder / "out.h5"
        subprocess.run([program, "run", study, "-o", output, "-quiet"], check=True,
                       stdout=subprocess.DEVNULL, env=environment())
        self.assertIn("12 trials", self.run_ok("checksum", output))

        # the loops of tests over the list of kernels, and what the skeleton lacks
        loops = self.folder / "loops"
        subprocess.run([*compiler, tree / "tests/unit/gp/test_kernel.c", tree / "tests/test_main.c",
                        *objects, *flags, "-lcmocka", "-o", loops], check=True)
        subprocess.run([loops], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=environment())
        listed = subprocess.run([program, "list", "kernels"], check=True, capture_output=True,
                                text=True, env=environment()).stdout
        self.assertIn("my_kernel", listed)
        refused = subprocess.run([program, "plan", self.write("ts.yaml", STUDY.replace("ei", "ts"))],
                                 capture_output=True, text=True, env=environment())
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("the kernel 'my_kernel' has no spectrum to draw the features of paths from",
                      refused.stderr)

    def test_mistakes(self):
        for arguments in (("algorithm", "My-Method"), ("plot", "x"), ("problem", "x", "-source", "/"),
                          ("algorithm", "x", "-context"), ("problem", "x", "-surrogate"),
                          ("kernel", "x", "-context")):
            self.refused("new", *arguments)

    def test_a_list_that_takes_no_line(self):
        """Files may have 50 kB, as the list has already: nothing is left behind."""
        place = self.folder / "src" / "algorithm"
        place.mkdir(parents=True)
        shutil.copy(ROOT / "src" / "algorithm" / "new.c.in", place)
        (place / "list.h").write_text("/* */\n" * 10000)
        done = subprocess.run([REGATTA, "new", "algorithm", "mine", "-source", self.folder], capture_output=True,
                              text=True, restore_signals=False,  # SIGXFSZ stays ignored
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000)))
        self.assertEqual((done.returncode, done.stderr), (2, f"regatta: new: {place / 'list.h'}: File too large\n"))
        self.assertFalse((place / "mine.c").exists())
