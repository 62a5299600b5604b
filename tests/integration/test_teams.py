"""Trials that several ranks work on together."""
import re
import signal
import subprocess

import h5py
import numpy
from regatta_test import HANG, HERE, SLOW, RegattaTest, end, environment, mpirun, regatta, wait_until

STUDY = """
study: teams
seeds: {seeds}
common:
  iterations: 12
  initial_points: 8
  noise_variance: 1e-3
  surrogate: {{fit: {fit}, refit_every: 4, fit_starts: 0}}
  maximiser: {{raw_samples: 64, restarts: 4}}
problems:
  - {{name: branin, ranks_per_trial: {branin}}}
  - {{name: six_hump_camel, ranks_per_trial: {camel}}}
algorithms: [gp_ucb, ei]
"""


class Teams(RegattaTest):
    def study(self, branin, camel, fit="ml", seeds=3):
        return self.write(f"{branin}_{camel}.yaml",
                          STUDY.format(branin=branin, camel=camel, fit=fit, seeds=seeds))

    def test_local_models_have_the_same_bits_on_teams(self):
        expected = None
        for ranks, branin, camel in ((1, 1, 1), (2, 2, 1), (4, 4, 2), (6, "auto", 3)):
            output = self.results_of(self.study(branin, camel), name=f"{ranks}.h5", ranks=ranks)
            expected = expected or self.checksum(output)
            self.assertEqual(self.checksum(output), expected, f"{ranks} ranks")

    def test_a_distributed_model_makes_the_same_queries(self):
        values = []
        for ranks, size in ((1, 1), (4, 2), (6, 6)):
            output = self.results_of(self.study(size, 1, fit="fixed", seeds=1), "-crossover", 10, name=f"{ranks}.h5", ranks=ranks)
            with h5py.File(output) as file:
                values.append({name: file[name]["x"][()] for name in ("branin", "six_hump_camel")})
        for other in values[1:]:
            numpy.testing.assert_array_equal(other["six_hump_camel"], values[0]["six_hump_camel"])
            self.assertLess(numpy.nanmax(abs(other["branin"] - values[0]["branin"])), 1e-3)

    def test_auto_gives_the_ranks_left_over_to_the_first_trials(self):
        """One of five trials on four ranks has a team, always the same one."""
        study = self.write("auto.yaml", """
study: auto
seeds: 5
common: {iterations: 12, initial_points: 8, ranks_per_trial: auto, noise_variance: 1e-3,
         surrogate: {fit: fixed}, maximiser: {raw_samples: 64, restarts: 4}}
problems: [branin]
algorithms: [gp_ucb]
""")
        outputs = [self.results_of(study, "-crossover", 10, name=name, ranks=ranks)
                   for name, ranks in (("one.h5", 1), ("four.h5", 4), ("again.h5", 4))]
        one, four, _ = [h5py.File(output)["branin"] for output in outputs]
        differs = four["provenance/fingerprint"][()] != one["provenance/fingerprint"][()]
        self.assertEqual(list(differs), [True, False, False, False, False])
        numpy.testing.assert_array_equal(four["x"][1:], one["x"][1:])
        self.assertLess(numpy.nanmax(abs(four["x"][0] - one["x"][0])), 1e-3)
        self.assertEqual(self.checksum(outputs[1]), self.checksum(outputs[2]))

    def test_every_algorithm_runs_on_a_distributed_model(self):
        study = self.write("all.yaml", """
study: all
seeds: 1
common: {iterations: 4, initial_points: 8, ranks_per_trial: 2, noise_variance: 1e-3,
         maximiser: {raw_samples: 64, restarts: 3},
         surrogate: {fit: ml, refit_every: 2, fit_starts: 0}}
problems: [PROBLEM]
algorithms: [ALGORITHMS]
""")
        pairs = (("branin", "gp_ucb, rgp_ucb, irgp_ucb, ei, ts, {name: ts, label: p, paths: pathwise}, "
                            "pims, {name: mes, samples: 3}, {name: jes, samples: 3}, "
                            "variance_exploration"),
                 ("modified_branin", "sbo_kde, drbo_mmd, stable_opt, erbo, wdrbo"))
        for problem, algorithms in pairs:
            path = self.write(f"{problem}.yaml", study.read_text().replace(
                "PROBLEM", problem).replace("ALGORITHMS", algorithms))
            queries = []
            for crossover in (10, 10 ** 6):
                output = self.results_of(path, "-strict", "-crossover", crossover, name=f"{problem}{crossover}.h5", ranks=2)
                with h5py.File(output) as file:
                    queries.append(file[problem]["x"][()])
            # rounding, which a search may magnify: never a different query
            self.assertLess(abs(queries[0] - queries[1]).max(), 1e-3, problem)

    def test_problems_that_a_team_builds(self):
        """The same functions to rounding, and equal ones for all trials of a study."""
        study = self.write("problems.yaml", """
study: problems
seeds: 2
common: {iterations: 2, initial_points: 6, ranks_per_trial: 2}
algorithms: [random, ts]
problems:
  - {name: gp_path_set, points: 150}
  - {name: gp_surrogate, runs: 120, fit: ml}
  - {name: gp_path, dim: 2, levels: 12, kernel: matern32}
""")
        values = []
        for ranks, crossover in ((2, 10 ** 6), (2, 50), (4, 50)):
            output = self.results_of(study, "-crossover", crossover, name=f"problems{ranks}_{crossover}.h5", ranks=ranks)
            with h5py.File(output) as file:
                values.append({name: file[name]["f"][()][:, :6]
                               for name in ("gp_path_set", "gp_surrogate", "gp_path")})
        for name, first in values[0].items():
            for other in values[1:]:
                numpy.testing.assert_allclose(other[name], first, rtol=0, atol=1e-4)
            numpy.testing.assert_array_equal(values[1][name], values[2][name])
            numpy.testing.assert_array_equal(values[1][name][:2], values[1][name][2:])

    def run_refused(self, study, ranks, *words):
        err = self.refused("run", study, "-o", self.folder / "refused.h5", ranks=ranks)
        line, = (line for line in err.splitlines() if line.startswith("regatta:"))
        for word in words:
            self.assertIn(word, line)

    def test_teams_that_do_not_fit_are_refused(self):
        self.run_refused(self.study(4, 1), 2, "4", "more than the 2 ranks")
        self.run_refused(self.study(2, 1), 3, "2 ranks do not divide the 3 ranks")
        self.run_refused(self.study(3, 2), 6, "teams of 2 ranks do not divide teams of 3")

    def test_memory_that_is_not_there_is_refused(self):
        text = STUDY.format(branin=2, camel=1, fit="fixed, solver: dense", seeds=1)
        study = self.write("large.yaml", text.replace("iterations: 12", "iterations: 1000000"))
        self.run_refused(study, 2, "GB", "would do")

    def test_a_plan_says_what_a_run_would_refuse(self):
        text = STUDY.format(branin=4, camel=1, fit="fixed", seeds=1)
        study = self.write("plan.yaml", text.replace("iterations: 12", "iterations: 30000"))
        out = self.run_ok("plan", study, "-per-host", 4, "-memory", 64)
        self.assertIn("on 4 ranks: teams of up to 4, ", out)
        for words, options in (
                (["more than the 3 ranks"], ["-ranks", 3]),
                (["do not divide the 6 ranks"], ["-ranks", 6]),
                (["4 ranks on this host, which has 2.0 GB", "ranks_per_trial: 32 would do"],
                 ["-ranks", 4, "-per-host", 4, "-memory", 2]),
                (["-memory must be a positive number, got 'much'"], ["-memory", "much"]),
                (["-simulate takes numbers of ranks, separated by ',', got 'x'"], ["-simulate", "4,x", "-memory", 99]),
                (["more than the 2 ranks"], ["-simulate", "2", "-memory", 99]),
                (["unknown key 'tickets', did you mean 'ticket'?"], ["-simulate", 4, "tickets=1", "-memory", 99]),
                (["'metadata' must be a number > 0, got '0'"], ["-simulate", 4, "metadata=0", "-memory", 99]),
                (["'ticket=1' goes with -simulate only"], ["ticket=1"])):
            code, out, err = regatta("plan", study, *options)
            self.assertEqual(code, 2, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            if "'" in words[0]:
                self.assertEqual(out, "", "a mistake on the command line is found before anything is shown")
            for word in words:
                self.assertIn(word, err)

    def test_solver_that_auto_means(self):
        """Too many data for the matrix of one rank: counted without it, or refused by name."""
        study = """
study: large
seeds: 1
common: {{iterations: 47000, initial_points: 10}}
problems: [branin]
algorithms: [{{name: {}, surrogate: {{fit: fixed}}}}]
"""
        out = self.run_ok("plan", self.write("free.yaml", study.format("gp_ucb")), "-memory", 4)
        self.assertLess(float(re.search(r"up to (\d+) MB", out).group(1)), 1000)
        needs = self.write("needs.yaml", study.format("jes"))
        for memory, why in ((4, "on this host, which has 4.0 GB"), (200, "which ScaLAPACK can't count")):
            err = self.refused("plan", needs, "-memory", memory)
            self.assertRegex(err, rf"'jes' on 'branin' needs .*{why}.* would do")

    def test_memory_of_a_finite_set_counts_too(self):
        study = self.write("set.yaml", """
study: set
seeds: 8
common: {iterations: 20000, initial_points: 1,
         surrogate: {kernel: matern52, fit: fixed, standardise: false}}
problems: [{name: gp_path, dim: 3, levels: 20}]
algorithms: [gp_ucb]
""")
        err = self.refused("plan", study, "-ranks", 8, "-per-host", 8, "-memory", 32)
        self.assertRegex(err, r"needs [0-9.]+ GB for 8 ranks on this host, which has 32.0 GB: "
                              r"[1-7] ranks? per host would do")
        self.refused("plan", study, "-memory", 1, says="no number of ranks would do")

    def test_a_failed_trial_frees_its_team(self):
        study = self.write("failing.yaml", f"""
study: failing
seeds: 3
common:
  iterations: 8
  initial_points: 12
  ranks_per_trial: 2
  surrogate: {{fit: fixed}}
  maximiser: {{raw_samples: 32, restarts: 2}}
algorithms: [gp_ucb]
problems:
  - {{name: external, label: Bad, program: {HERE / "evaluator.py"}, inputs: [a real 0 1, n real 1 9],
     arguments: ["--at", "16", "--how", "error"], optimum: 0}}
  - {{name: external, label: Good, program: {HERE / "evaluator.py"}, optimum: 0,
     inputs: [a real 0 1, n real 1 9]}}
  - {{name: branin, label: Alone, ranks_per_trial: 1}}
""")
        output = self.folder / "failing.h5"
        code, out, err = regatta("run", study, "-o", output, "-quiet", "-crossover", 10, ranks=4)
        self.assertEqual(code, 4, err)
        self.assertIn("3 trials failed", out)
        self.assertEqual(regatta("status", output)[0], 0)
        with h5py.File(output) as file:
            for label, rows in (("Bad", 15), ("Good", 20), ("Alone", 20)):
                status = file[label]["status"][()] if "status" in file[label] else None
                self.assertEqual(list(file[label]["n_iterations"][()]), [rows] * 3, (label, status))
        self.assertEqual(regatta("run", study, "-o", self.folder / "strict.h5", "-quiet",
                                 "-crossover", 10, "-strict", ranks=2)[0], 4)

    def test_a_stop_dismisses_the_team(self):
        """Rank 0 is slow, and says so, once its model is a team's."""
        output, marks = self.folder / "stopped.h5", self.folder / "marks"
        marks.mkdir()
        slow = {"LD_PRELOAD": SLOW, "PAUSE_US": "100000", "SLOW_AFTER": "80", "SLOW_MARKS": str(marks)}
        job = subprocess.Popen(mpirun(4, "run", self.study(2, 1), "-o", output, "-quiet",
                                      "-crossover", 12),
                               env={**environment(), **slow}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(end, job)
        self.assertTrue(wait_until(lambda: any(marks.iterdir()), job))
        job.send_signal(signal.SIGUSR1)
        out, err = job.communicate(timeout=HANG)
        self.assertEqual(job.returncode, 0, err)
        self.run_ok("run", self.study(2, 1), "-o", output, "-quiet", "-crossover", 12, ranks=4)
        self.assertEqual(regatta("status", output)[0], 0)
