"""Bad input gets one clear line and exit code 2, and nothing is written."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from regatta_test import HANG, HERE, REGATTA, RegattaTest, environment, regatta

GOOD = (HERE / "smoke.yaml").read_text()
MISTAKES = (
    ("seeds: 4", "seeds: [4", "study.yaml:"),
    ("seeds: 4", "seeds: 4\nseeds: 5", "seeds"),
    ("iterations", "iteratoins", "did you mean 'iterations'"),
    ("- gp_ucb", "- gp_ucp", "did you mean 'gp_ucb'"),
    ("iterations: 12", "iterations: -1", "study.yaml:8:"),
    ("seeds: 4", "seeds: 0", "seeds"),
    ("instances: 2", "instances: pared", "'paired'"),
    ("- gp_ucb", "- {name: gp_ucb, beta: bcr}", "bcr"),
)


class BadInput(RegattaTest):
    def study(self, old, new):
        self.assertIn(old, GOOD)
        return self.write("study.yaml", GOOD.replace(old, new, 1))

    def run_refused(self, old, new, says):
        self.refused("run", self.study(old, new), "-o", self.folder / "out.h5", says=says)

    def test_limits_of_address_space(self):
        """OpenBLAS waits for ever where it finds no room for its buffer. All limits end in one line or in results."""
        study = self.study("seeds: 4", "seeds: 1")
        codes = []
        for i, megabytes in enumerate((*range(250, 300, 10), 320, 480, 900)):
            limit = [megabytes << 20] * 2
            done = subprocess.run([REGATTA, "run", study, "-o", self.folder / f"{i}.h5", "-quiet"],
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
                                  env=environment(), capture_output=True, text=True, timeout=HANG)
            codes.append(done.returncode)
            if codes[-1]:
                self.assertRegex(done.stderr, r"\Aregatta: .*limit of address space \(ulimit -v.*\n\Z")
                self.assertFalse((self.folder / f"{i}.h5").exists())
        self.assertEqual((codes[0], codes[-1]), (2, 0))
        self.assertLessEqual(set(codes), {0, 2})

    def test_address_space_that_plan_names(self):
        """A run fits in what `plan` says, and one whose trials need far more than MPI is told before the first."""
        study = self.study("seeds: 4", "seeds: 1")
        said = re.search(r"address space \(ulimit -v, h_vmem\): ([0-9.]+) GB per rank", self.run_ok("plan", study, "-quick"))
        large = self.write("large.yaml", "study: large\nseeds: 1\ncommon: {iterations: 20000}\nproblems: [branin]\n"
                           "algorithms: [gp_ucb]\n")
        for file, gigabytes, code in ((study, float(said.group(1)), 0), (large, 2, 2)):
            limit = [int(1e9 * gigabytes)] * 2
            done = subprocess.run([REGATTA, "run", file, "-o", self.folder / f"{code}.h5", "-quiet"],
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
                                  env=environment(), capture_output=True, text=True, timeout=HANG)
            self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\Aregatta: 'gp_ucb' on 'branin' needs [0-9.]+ GB per rank, more than the limit of "
                         r"address space \(ulimit -v, ulimit -d, h_vmem\) leaves\n\Z")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "BLAS has one thread anyway")
    def test_one_thread_of_blas_where_address_space_is_limited(self):
        """The program starts again, which only the environment of the process shows."""
        env = {key: value for key, value in environment().items() if "NUM_THREADS" not in key}
        for limited in (False, True):
            limit = [2 << 30 if limited else resource.RLIM_INFINITY] * 2
            with subprocess.Popen([REGATTA, "serve", "branin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit)) as job:
                job.stdin.write(b"x\n")
                job.stdin.flush()
                job.stdout.readline()
                seen = pathlib.Path(f"/proc/{job.pid}/environ").read_bytes()
                job.stdin.close()
            self.assertEqual(b"GOTO_NUM_THREADS=1" in seen, limited)

    def test_parts_of_the_benchmark(self):
        """A part that does not exist, or a size that is missing, is refused before mpirun starts."""
        script = HERE.parents[1] / "tests/bench/run_bench.sh"
        for words in (["large", "cholesky"], ["large", "iterative", "9", "9", "mode"], ["small"]):
            done = subprocess.run([script, pathlib.Path(REGATTA).parent, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Abench.*\n\Z")

    def test_warnings(self):
        """One line for what is allowed, but spoils a study; the command goes on."""
        far = "most contexts lie outside the box of contexts"
        for problem, algorithm, says in (
                ("newsvendor, law: 'point(10)'", "sbo_kde", far),
                ("newsvendor, law: 'uniform(0.5, 2.5)'", "drbo_mmd", far),
                ("newsvendor, law: 'point(10)'", "random", None),
                ("newsvendor, law: 'point(10)', observed: clipped", "sbo_kde", None),
                ("newsvendor, law: 'uniform(0, 1.2)'", "sbo_kde", None),
                ("newsvendor, measure: cvar(0.3)", "gp_ucb", "'gp_ucb' does not look at contexts and prefers designs of "
                 "large mean, but regret counts the measure 'cvar(0.3)'"),
                ("newsvendor, measure: cvar(0.3)", "random", None),
                ("newsvendor, measure: cvar(0.3), context: before", "gp_ucb", None),
                ("newsvendor", "gp_ucb", None),
                ("branin, duration: 'pareto(0.5, 1)'", "random", "the mean of 'duration: pareto(0.5, 1)' is inf"),
                ("branin, duration: 'clip(pareto(0.5, 1), 0, 9)'", "random", None),
                ("branin, duration: 'pareto(1.5, 1)'", "random", None)):
            study = self.write("study.yaml", f"study: s\nseeds: 1\ncommon: {{iterations: 1, initial_points: 2}}\n"
                               f"problems: [{{name: {problem}, label: it}}]\nalgorithms: [{algorithm}]\n")
            code, out, err = regatta("plan", study, "-quick")
            self.assertEqual((code, err.count("\n")), (0, 1 if says else 0), f"{problem} {err}")
            self.assertIn(f"regatta: 'it': {says}" if says else "", err)
            self.assertIn("1 trials", out)
        _, _, err = regatta("run", self.write("study.yaml", study.read_text().replace("1.5", "0.5")), "-quiet",
                            "-o", self.folder / "out.h5", ranks=2)
        self.assertEqual(err.count("is infinite"), 1, err)

    def test_plan_without_some_data(self):
        """A line for each missing file names its problems, also one whose label ends another; the others are planned. A run
        needs all of them."""
        study = self.write("study.yaml", """study: s
seeds: 3
common: {iterations: 2, initial_points: 2}
problems:
  - {name: dataset, label: AC, path: a.csv, objective: y}
  - {name: branin, label: B}
  - {name: dataset, label: C, path: a.csv, objective: y}
  - {name: dataset, label: D, path: b.csv, objective: y}
algorithms: [random, latin_hypercube]
""")
        code, out, err = regatta("plan", study, "-quick")
        self.assertEqual(code, 2)
        self.assertRegex(err, rf"^{study}:5:5: dataset: there is no file 'a.csv'.*; left out: AC, C\n"
                              rf"{study}:8:5: dataset: there is no file 'b.csv'.*; left out: D\n$")
        self.assertIn("6 trials, 0 done", out)
        self.refused("run", study, says=("5:5", "8:5"), lines=2)
        code, out, err = regatta("plan", self.write("none.yaml", study.read_text().replace("branin", "dataset, path: a.csv")),
                                 "-quick")
        self.assertEqual((code, out, err.count("left out")), (2, "", 2))
        self.refused("plan", self.write("wrong.yaml", study.read_text().replace("branin", "brannin")), says="brannin")
        study.write_text(study.read_text().replace("objective: y}\n  - {name: branin", "objectiv: y}\n  - {name: branin"))
        self.refused("plan", study, says="objectiv")

    def test_missing_file(self):
        self.refused("run", self.folder / "none.yaml", says="none.yaml")

    def test_mistakes_in_the_study(self):
        for old, new, says in MISTAKES:
            with self.subTest(new=new):
                self.run_refused(old, new, says)

    def test_output_cannot_be_written(self):
        study = self.write("study.yaml", GOOD)
        self.refused("run", study, "-o", self.folder / "no" / "such" / "out.h5", says="out.h5")

    def test_output_is_another_file(self):
        study = self.write("study.yaml", GOOD)
        other = self.write("other.h5", "this is no results file\n")
        self.refused("run", study, "-o", other, says="other.h5")

    def test_output_of_another_study(self):
        tiny = GOOD.replace("iterations: 12", "iterations: 1").replace("seeds: 4", "seeds: 1")
        study = self.write("study.yaml", tiny)
        output = self.results_of(study)
        other = self.write("other.yaml", tiny.replace("study: smoke", "study: smog"))
        self.refused("run", other, "-o", output, says="smoke")
        self.refused("verify", output, "-all", "-no-rerun", says="one of -sample, -all and -no-rerun")
        for command in ("status", "verify"):
            self.refused(command, self.folder, says="no study directory")
        self.refused("merge", output, "-o", self.folder / "no" / "out.h5", says="No such file")
        self.refused("info", study, says="no results file")

    @unittest.skipUnless(os.geteuid() == 0, "root alone can be somebody else")
    def test_files_of_somebody_else(self):
        """A results file and a folder of shards that may not be read."""
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))  # a path that everybody may read
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        study = self.write("study.yaml", GOOD)
        theirs, folder = self.write("theirs.h5", ""), self.folder / "shards.h5.d"
        folder.mkdir(mode=0)
        theirs.chmod(0)
        self.folder.chmod(0o777)
        for *command, says in (("run", study, "-o", theirs, "cannot read"),
                               ("status", self.folder / "shards.h5", "cannot list")):
            try:
                done = subprocess.run([REGATTA, *command], user=65534, group=65534, extra_groups=[],
                                      env=environment() | {"TMPDIR": str(self.folder)}, capture_output=True,
                                      text=True, timeout=HANG)
            except PermissionError:
                self.skipTest("the program is out of their reach")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertRegex(done.stderr, f"{says} .*: Permission denied")

    def test_unknown_command_and_options(self):
        self.refused("rum", says="did you mean 'run'")
        self.refused("run", self.folder / "x.yaml", "-walltme", "5", says="-walltime")
        self.refused("run", self.write("study.yaml", GOOD), "-walltime", "soon", says="-walltime")
        self.refused("run", self.write("study.yaml", GOOD), "-walltime", "1:2:3:4", says="-walltime")
        self.refused("run", self.folder / "study.yaml", "-walltime", "0", says="more than 0")
        study = self.write("study.yaml", GOOD)
        self.refused("run", study, "-o", "", says="names no file")
        self.refused("run", study, "-o", "-quiet", says="option '-o' needs a value")
        self.refused("run", study, "-options_file", self.folder / "no", says="can't be opened")
        traps = self.write("options", "# those of another program\n-fp_trap\n")
        self.refused("run", study, "-options_file", traps, says="options:2: '-fp_trap' is not accepted")
        with mock.patch.dict(os.environ, PETSC_OPTIONS=f"-log_view -options_file {traps}"):
            self.refused("run", study, says="options:2: '-fp_trap' is not accepted")
        self.refused("plan", study, "-simulate", "", says="needs numbers of ranks")
        code, _, err = regatta("plan", study, "-simulate", ",".join("x" * 60))
        self.assertEqual((code, err.count("got 'x'")), (2, 20))
        self.refused("describe", "gp_ucp", says="did you mean 'gp_ucb'")
        self.refused("info", self.folder / "none.h5", says="none.h5")
        self.refused("eval", "brannin", "-x", "1,2", says="did you mean 'branin'")

    def test_on_several_ranks(self):
        self.refused("run", self.folder / "none.yaml", says="none.yaml", ranks=2)
