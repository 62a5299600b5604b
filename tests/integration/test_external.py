"""Programs as objectives: the study survives any misbehaviour; no question is asked twice, no process is left."""
import collections
import json
import random
import re
import signal
import subprocess
import time

import h5py
import numpy as np

from regatta_test import HANG, HERE, LONG, RegattaTest, environment, is_alive, kill, mpirun, regatta, wait_until

EVALUATOR = HERE / "evaluator.py"
KILLS = 60 if LONG else 8

HEAD = """study: external
seeds: {seeds}
common: {{iterations: {iterations}, initial_points: 5}}
algorithms: [random, ei]
problems:
"""
PROBLEM = """  - name: external
    label: {label}
    program: {program}
{arguments}    inputs: [a real 0 1, n integer 1 9]
    time_limit: {limit}
    retries: {retries}
    optimum: 0
"""

SILENCE = 5  # seconds: only what never answers may meet its limit, on the busiest of machines

# what the program does at its fifth evaluation, and what the record says then
MISTAKES = {
    "crash": "was ended by signal 11 (Segmentation fault): it broke",
    "raise": "ended with exit code 1: ValueError: the reactor is on fire",
    "silent": f"gave no answer within {SILENCE} seconds",
    "leave": "ended with exit code 0",
    "error": "reports: no convergence",
    "garbage": "answered something that is not a JSON object",
    "list": "answered something that is not a JSON object: [1, 2]",
    "text": 'answered without a number as "value"',
    "infinite": "answered",
    "enormous": "external: f is beyond 1e100, too large to compute with at (",
    "no_id": 'answered without the "id" of the request',
    "other_id": "answered request 6, not request 5",
    "huge": "answered with a line of more than 65536 bytes",
}


def problem(label="P", program=EVALUATOR, arguments=(), limit=60, retries=0):
    return PROBLEM.format(label=label, program=program, limit=limit, retries=retries,
                          arguments=f"    arguments: {[str(a) for a in arguments]}\n"
                          if arguments else "")


def head(seeds=1, iterations=5):
    return HEAD.format(seeds=seeds, iterations=iterations)


class External(RegattaTest):
    def setUp(self):
        super().setUp()
        self.calls = self.folder / "calls"
        self.output = self.folder / "out.h5"
        self.logs = self.folder / "out.h5.d" / "evaluations"
        self.slow = self.write("slow", "while this file is there, a program takes its time")

    def asked(self):
        """(pid, trial, evaluation) in order."""
        if not self.calls.exists():
            return []
        lines = self.calls.read_text().splitlines()
        return [(int(pid), trial, int(number)) for pid, trial, number in map(str.split, lines)]

    def programs_end(self):
        self.assertTrue(wait_until(lambda: not any(is_alive(c[0]) for c in self.asked())),
                        "a program was left behind")

    def start(self, study, ranks=2):
        return subprocess.Popen(mpirun(ranks, "run", study, "-o", self.output, "-quiet"),
                                env=environment(), start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    # ---- misbehaviour --------------------------------------------------------------------------

    def test_every_mistake_is_recorded(self):
        text = head()
        for how in MISTAKES:
            text += problem(how, limit=SILENCE if how == "silent" else 60,
                            arguments=["--at", 5, "--how", how])
        text += problem("good", arguments=["--calls", self.calls])
        study = self.write("study.yaml", text)
        code, out, err = regatta("run", study, "-o", self.output, "-quiet", ranks=2)
        self.assertEqual(code, 4, err)
        self.assertIn(f"{2 * len(MISTAKES)} trials failed", out)
        self.assertIn(f"every trial of {2 * len(MISTAKES)} of {2 * len(MISTAKES) + 2} cells failed "
                      "(the first: random on crash)", err)
        self.assertEqual(regatta("run", study, "-o", self.output, "-quiet", "-strict")[0], 4)
        with h5py.File(self.output) as results:
            for how, reason in MISTAKES.items():
                for message in results[how]["message"].asstr():
                    self.assertTrue(message.startswith("evaluation 5: external: "), message)
                    self.assertIn(reason, message)
                self.assertEqual(set(results[how]["n_iterations"][:]), {4}, how)
            self.assertEqual(set(results["good"]["message"].asstr()), {""})
            self.assertEqual(set(results["good"]["n_iterations"][:]), {10})
        self.programs_end()
        pids = {c[0] for c in self.asked()}
        self.assertLessEqual(len(pids), 2, "one program per rank lives as long as it is of use")

    def test_tried_again(self):
        for how in ("crash", "silent", "twice"):
            marker = self.folder / how
            # a program that is silent once may be slow several times
            study = self.write("study.yaml", head() + problem(
                how, limit=2 if how == "silent" else 60, retries=20 if how == "silent" else 1, arguments=["--at", 5, "--how", how, "--once", marker]))
            self.results_of(study, "-strict", name=f"{how}.h5")
            self.assertTrue(marker.exists())

    def test_inputs_that_count_sometimes(self):
        """Logarithmic and conditional inputs: null in messages where they don't count, the same for the
        model wherever they stand, recorded as seen; bits of any number of ranks."""
        program = self.write("tuner.py", """#!/usr/bin/python3
import json, math, sys
for line in sys.stdin:
    request = json.loads(line)
    x = request["x"]
    assert (x["gamma"] is None) == (x["kernel"] != "rbf"), x
    assert (x["degree"] is None) == (x["kernel"] != "poly"), x
    assert 1e-5 <= x["rate"] <= 1 and isinstance(x["degree"], (int, type(None))), x
    value = -abs(math.log10(x["rate"]) + 3) - (0 if x["kernel"] == "rbf" else 1)
    value -= abs(math.log10(x["gamma"]) + 1) if x["kernel"] == "rbf" else (x["degree"] or 0)
    print(json.dumps({"id": request["id"], "value": value}), flush=True)
""")
        program.chmod(0o755)
        study = self.write("study.yaml", f"""study: tuner
common: {{iterations: 12, initial_points: 5}}
problems:
  - name: external
    label: P
    program: {program}
    inputs: [rate real 1e-5 1 log, kernel choice linear rbf poly, gamma real 1e-4 10 log if kernel=rbf,
             degree integer 1 5 if kernel=poly]
algorithms: [random, ei, ts, jes, nelder_mead]
""")
        outputs = [self.folder / f"{ranks}.h5" for ranks in (1, 2)]
        for ranks, output in enumerate(outputs, 1):
            self.run_ok("run", study, "-o", output, "-quiet", "-strict", ranks=ranks)
        self.assertEqual(self.checksum(outputs[0]), self.checksum(outputs[1]))
        self.assertIn("5 equal in every bit", self.run_ok("verify", outputs[0], "-all"))
        with h5py.File(outputs[0]) as results:
            x, seen = results["P/x"][()], results["P/x_seen"][()]
        for j, word, middle in ((2, 1, 10 ** -1.5), (3, 2, 3)):
            counts = seen[..., 1] == word
            self.assertTrue((np.isnan(seen[..., j]) == ~counts).all())
            self.assertTrue(np.allclose(x[..., j][~counts], middle, rtol=1e-12))
            self.assertTrue(counts.any())

    def test_designs_of_integers_and_choices(self):
        """Methods with a model see the designs that are evaluated, and without noise ask for none twice."""
        program = self.write("grid.py", """#!/usr/bin/python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    x = request["x"]
    value = -(x["n"] - 3) ** 2 - 3 * "qpr".index(x["k"]) + (x["n"] * x["m"]) % 5
    print(json.dumps({"id": request["id"], "value": value}), flush=True)
""")
        program.chmod(0o755)
        inputs = "[n integer 1 5, k choice p q r, m integer 1 4]"
        study = self.write("study.yaml", f"""study: grid
common: {{iterations: 30, initial_points: 4}}
problems:
  - {{name: external, label: P, program: {program}, inputs: {inputs}}}
  - {{name: external, label: noisy, program: {program}, inputs: {inputs}, noise_variance: 1}}
algorithms: [ei, pi, gp_ucb, ts, mes, jes, pims, eims, knowledge_gradient, constrained_ei, ucb_pe, turbo, aegis, boke]
""")
        self.run_ok("run", study, "-o", self.output, "-quiet", "-strict", ranks=2)
        with h5py.File(self.output) as results:
            for label in ("P", "noisy"):
                x, seen = results[label]["x"][()], results[label]["x_seen"][()]
                np.testing.assert_array_equal(x[..., [0, 2]], seen[..., [0, 2]])
                np.testing.assert_allclose(x[..., 1], seen[..., 1] + 0.5, rtol=1e-12)
            algorithm = results["P"]["algorithm"].asstr()[()]
            for name, points in zip(algorithm, results["P"]["x_seen"][()]):
                initial, asked = points[:4], [tuple(p) for p in points[4:]]
                known = {tuple(p) for p in initial}
                self.assertEqual(len(set(asked)), 30, name)
                self.assertFalse(known & set(asked), name)
            again = [len({tuple(p) for p in points}) for points in results["noisy"]["x_seen"][()]]
            self.assertLess(min(again), 20, "noise is averaged over evaluations of one design")

    # ---- failures as data ----------------------------------------------------------------------

    def outcomes(self, group, name):
        return group[name][()], group["y"][()], group["f"][()], group["objective"][()]

    def test_failures_are_data(self):
        """Every failure, except of a program that can't be started, is handled as the study says."""
        for rule, told, hows in (("worst", None, ["crash", "garbage", "infinite", "enormous"]),
                                 ("penalty -77", -77.0, ["error"]), ("infeasible", None, ["silent", "raise", "text"])):
            text = head(iterations=3)
            for k, how in enumerate(hows):
                text += problem(how, arguments=["--at", 5 + k % 2, "--how", how],
                                limit=5 if how == "silent" else 60)
            study = self.write("study.yaml", text.replace(
                "initial_points: 5", f"initial_points: 5, on_failure: {rule}").replace(
                "[random, ei]", f"[random, constrained_ei, {{name: external, label: T, program: "
                f"{HERE / 'optimiser.py'}, arguments: [--heard, {self.folder / 'heard'}]}}]"))
            output = self.results_of(study, "-strict", name=f"{rule[:5]}.h5", ranks=2)
            lines = (self.folder / "heard").read_text().splitlines()
            (self.folder / "heard").unlink()
            heard = [json.loads(line) for line in lines]
            tells = [e for r in heard for e in ([r] if r["do"] == "tell" else r.get("initial", []))]
            self.assertEqual(sum("failed" in e for e in tells), len(hows))
            for e in tells:
                if "failed" in e:
                    self.assertFalse(e["feasible"])
                    self.assertEqual(e["y"], told if told else e["y"])
            with h5py.File(output) as results:
                for k, how in enumerate(hows):
                    group, row = results[how], 4 + k % 2
                    failed, y, f, F = self.outcomes(group, "failed")
                    wrong = np.zeros_like(failed, bool)
                    wrong[:, row] = True
                    for values in (y, f, F):
                        np.testing.assert_array_equal(np.isnan(values), wrong, err_msg=how)
                    np.testing.assert_array_equal(failed, wrong)
                    np.testing.assert_array_equal(group["feasible"][()], ~wrong)
                    np.testing.assert_allclose(group["simple_regret"][()],
                                               -np.fmax.accumulate(F, axis=1))
                    if told is None:  # the worst so far: a method gets its initial design as a whole
                        want = np.nanmin(y[-1][:row + 1])
                        self.assertIn(want, [e["y"] for e in tells if "failed" in e])
            if rule == "infeasible" or LONG:
                self.assertIn(f"{3 * len(hows)} equal in every bit",
                              self.run_ok("verify", output, "-all", "-allow-programs"))
                (self.folder / "heard").unlink()
            self.assertIn(", T: 1 evaluations failed", self.run_ok("info", output))

    def test_a_program_that_is_gone_is_no_failure_of_an_evaluation(self):
        program = self.write("short.py", EVALUATOR.read_text())
        program.chmod(0o755)
        study = self.write("study.yaml", head().replace("5}", "5, on_failure: worst}") + problem(
            program=program, arguments=["--at", 3, "--how", "raise"]))
        program.write_text(program.read_text().replace(
            "and misbehave(request):", "and (os.remove(__file__) or misbehave(request)):"))
        code, _, err = regatta("run", study, "-o", self.output, "-quiet")
        self.assertEqual(code, 5, err)
        self.assertRegex(self.run_ok("info", self.output), "evaluation 4: external: .*can't be started|"
                                                           "evaluation 4: external: .*No such file")

    def test_failures_outlive_a_kill(self):
        text = head(iterations=8).replace("5}", "5, on_failure: infeasible}") + problem(
            arguments=["--at", 6, "--how", "long", "--constrained", "--delay", 0.2, "--slow",
                       self.slow, "--calls", self.calls]).replace("    inputs", "    constraints: [cost, size]\n    record: [half]\n    inputs")
        study = self.write("study.yaml", text.replace("[random, ei]", "[ei, constrained_ei]"))
        job = self.start(study)
        self.assertTrue(wait_until(lambda: any(number >= 9 for _, _, number in self.asked())))
        self.assertIsNone(job.poll())
        kill(job)
        self.slow.unlink()
        self.run_ok("run", study, "-o", self.output, "-quiet", "-strict", ranks=2)
        again = collections.Counter((trial, number) for _, trial, number in self.asked())
        self.assertLessEqual(sum(n > 1 for n in again.values()), 2)  # those in flight
        self.assertTrue(all(number > 6 for (_, number), n in again.items() if n > 1))
        quiet = self.folder / "quiet.h5"
        self.run_ok("run", study, "-o", quiet, "-quiet", "-strict")
        self.assertEqual(self.checksum(self.output), self.checksum(quiet))
        self.assertIn("2 equal in every bit", self.run_ok("verify", self.output, "-all"))
        with h5py.File(self.output) as file:
            half, failed = file["P/answer_half"][()], file["P/failed"][()] == 1
            np.testing.assert_array_equal(half, np.where(failed, np.nan, file["P/x_seen"][..., 0] / 2))
            self.assertEqual(failed.sum(), 2)
            for text in file["P/provenance/failures"].asstr():
                self.assertRegex(text, r"^6: external: \S+ reports: no convergence a*€{30,60}( \(.*)?\n$")
            for text in file["P/provenance/failure_texts"].asstr():
                self.assertTrue(text.startswith('6: "'))
                error, *lines = json.loads(text[3:]).splitlines()
                self.assertRegex(error, "^no convergence a*€{100}$")
                self.assertEqual(lines, ["Traceback:", *(f"  line {i}, in naïve" for i in range(1000))])

    def test_info_counts_the_trials_with_a_feasible_design(self):
        study = self.write("study.yaml", "study: rare\nseed: 3\nseeds: 12\ncommon: {iterations: 4, "
                           "initial_points: 6}\nproblems: [{name: gardner, simulation: 2}, branin]\n"
                           "algorithms: [random]\n")
        self.run_ok("run", study, "-o", self.output, "-quiet")
        with h5py.File(self.output) as file:
            feasible = int(np.isfinite(file["gardner/simple_regret"][:, -1]).sum())
        self.assertTrue(0 < feasible < 12)
        lines = self.run_ok("info", self.output).splitlines()
        self.assertIn(f"{feasible} of 12", next(line for line in lines if "gardner" in line))
        self.assertNotIn(" of 12", next(line for line in lines if line.startswith("branin")))

    def test_constraints(self):
        """Named constraints in the answer: recorded, regret counts feasible designs, methods that don't know of them
        get the worst value; what is no constraint fails."""
        hows = {"no_constraint": 'answered without a number as "size" in "constraints"',
                "text_constraint": 'answered without a number as "cost" in "constraints"',
                "enormous_constraint": "constraint 'cost' is beyond 1e100"}
        text = head(iterations=12)
        for how in ("", *hows):
            text += problem(how or "good", arguments=["--constrained", *(
                ["--at", 7, "--how", how] if how else [])]).replace(
                "    inputs", "    constraints: [cost, size]\n    inputs").replace(
                "optimum: 0", "optimum: -0.0025")
        study = self.write("study.yaml", text.replace("[random, ei]", "[random, constrained_ei]"))
        self.assertEqual(regatta("run", study, "-o", self.output, "-quiet")[0], 4)
        with h5py.File(self.output) as results:
            for how, reason in hows.items():
                for message in results[how]["message"].asstr():
                    self.assertIn(reason, message)
            group = results["good"]
            seen, feasible = group["x_seen"][()], group["feasible"][()]
            np.testing.assert_allclose(group["constraint_cost"][()], seen[..., 0] - 0.25)
            np.testing.assert_allclose(group["constraint_size"][()], seen[..., 1] - 6)
            np.testing.assert_array_equal(feasible, (seen[..., 0] <= 0.25) & (seen[..., 1] <= 6))
            best = np.fmax.accumulate(np.where(feasible == 1, group["f"][()], np.nan), axis=1)
            np.testing.assert_allclose(group["simple_regret"][()],
                                       np.where(np.isnan(best), np.inf, -0.0025 - best))
            self.assertFalse("failed" in group)
            self.assertLess(group["simple_regret"][1, -1], 0.02)
        self.assertIn("best on good: ", self.run_ok("info", self.output))

    def test_optimum_is_an_annotation(self):
        """A trial that does better than the optimum is complete and says so; another optimum changes regret,
        and asks for nothing again."""
        text = head(seeds=2, iterations=8) + problem(arguments=["--calls", self.calls])
        wrong = self.write("wrong.yaml", text.replace("optimum: 0", "optimum: -0.5"))
        study = self.write("study.yaml", text)
        other = self.folder / "other.h5"
        _, _, err = regatta("run", wrong, "-o", self.output, "-quiet", "-strict", ranks=2)
        self.assertEqual(err.count("is better than the optimum by"), err.count("rank"), err)
        self.assertIn("better than the optimum", err)
        asked = len(self.asked())
        n_better = 0
        with h5py.File(self.output) as results:
            group = results["P"]
            f, message = group["f"][()], group["message"].asstr()[()]
            self.assertTrue((group["optimum"][()] == -0.5).all())
            for k, values in enumerate(f):
                beyond = np.flatnonzero(values > -0.5)
                n_better += len(beyond) > 0
                best = max(values.max(), -0.5)
                np.testing.assert_array_equal(group["instantaneous_regret"][k], best - values)
                np.testing.assert_array_equal(group["simple_regret"][k], best - np.maximum.accumulate(values))
                told = (f"evaluation {beyond[0] + 1} is better than the optimum by {values[beyond[0]] + 0.5:.3g};"
                        if len(beyond) else "")
                self.assertTrue(message[k].startswith(told) and bool(told) == bool(message[k]), (told, message[k]))
        self.assertGreater(n_better, 1)
        for file, optimum in ((study, 0), (wrong, -0.5), (study, 0)):
            _, _, err = regatta("run", file, "-o", self.output, "-quiet", "-strict")
            self.assertIn("another optimum: regret of 4 finished trials counts from it", err)
            self.assertEqual(len(self.asked()), asked, "an evaluation was asked for again")
            self.assertIn("4 equal in every bit", self.run_ok("verify", self.output, "-all"))
            self.run_ok("run", file, "-o", other, "-quiet", "-strict")
            self.assertEqual(self.checksum(self.output), self.checksum(other))
            asked = len(self.asked())
            other.unlink()
            with h5py.File(self.output) as results:
                self.assertEqual(set(results["P"]["optimum"][()]), {optimum})
        unknown = self.write("unknown.yaml", text.replace("    optimum: 0\n", ""))
        self.run_ok("run", unknown, "-o", self.output, "-quiet", "-strict")
        self.assertEqual(len(self.asked()), asked)
        with h5py.File(self.output) as results:
            self.assertTrue(np.isnan(results["P"]["simple_regret"][()]).all())

    def test_programs_that_cannot_run(self):
        missing = problem(program="no_such_folder/no_such_program")
        plain = self.write("plain.py", "print()")
        for text, reason in ((missing, "there is no program"),
                             (problem(program="no-such-program-in-path"), "in PATH"),
                             (problem(program=self.folder), "is not a file"),
                             (problem(program=plain), "can't be executed"),
                             (problem().replace("a real 0 1", "a real 1 0"), "lower bound"),
                             (problem().replace("n integer 1 9", "n whole 1 9"), "its kind is"),
                             (problem().replace("n integer 1 9", "n integer 0 9 log"), "greater than 0"),
                             (problem().replace("n integer 1 9", "n integer 1 9 if a=1"),
                              "study.yaml:6:5: external: input 'n integer 1 9 if a=1': 'a' is not "
                              "a choice")):
            self.refused("plan", self.write("study.yaml", head() + text), says=reason)
        study = self.write("study.yaml", head() + problem(program="no-such-program-in-path"))
        self.refused("run", study, "-o", self.output, "-quiet")
        self.assertFalse(self.output.exists())
        plain.chmod(0o755)  # nothing says what runs it
        plain.write_text("#!/no/such/interpreter\n")
        study = self.write("study.yaml", head() + problem(program=plain))
        code, _, err = regatta("run", study, "-o", self.output, "-strict", "-quiet")
        self.assertEqual(code, 5, err)
        with h5py.File(self.output) as results:
            self.assertIn("can't be started", results["P"]["message"].asstr()[0])

    def test_cpu_of_the_program(self):
        """Also where a shell that waits for it stands in between, and where its children work."""
        burn = 0.06
        behind = self.write("behind.sh", f"#!/bin/sh\n{EVALUATOR} --burn {burn}\n:\n")
        behind.chmod(0o755)
        text = head(1, 2).replace("[random, ei]", "[random]")
        study = self.write("study.yaml", text + problem("direct", arguments=["--burn", burn])
                           + problem("behind", program=behind) + problem("idle"))
        self.run_ok("run", study, "-o", self.output, "-quiet", "-strict")
        with h5py.File(self.output) as results:
            for label in ("direct", "behind"):
                seconds = results[label]["timing/cpu_evaluate"][0]
                self.assertGreaterEqual(min(seconds), burn, label)
                self.assertGreaterEqual(results[label]["provenance/cpu"][0], 7 * burn, label)
                self.assertLess(sum(seconds[1:]), 20 * burn, label)
            self.assertLess(sum(results["idle"]["timing/cpu_evaluate"][0][1:]), burn)

    def test_plan_counts_the_time_of_finished_trials_by_the_wall(self):
        """A program that waits uses no CPU time. Its trials have 8 evaluations."""
        for seeds in (1, 2):
            text = head(seeds, 3).replace("[random, ei]", "[random]")
            study = self.write("study.yaml", text + problem(arguments=["--delay", 0.2]))
            if seeds == 1:
                self.run_ok("run", study, "-o", self.output, "-quiet")
        plan = self.run_ok("plan", study, "-o", self.output)
        self.assertIn("from the clock of 1 finished trial", plan)
        self.assertGreaterEqual(float(re.search(r"the longest trial ([\d.]+) s\)", plan)[1]), 1.6)

    def test_the_log_has_the_whole_text_of_a_long_error(self):
        program = self.write("program.py", """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    text = "the pump stands still" + 30 * " and waits" + " until somebody comes"
    print(json.dumps({"id": json.loads(line)["id"], "error": text, "retry": False}), flush=True)
""")
        program.chmod(0o755)
        study = self.write("study.yaml", head(1, 3).replace("[random, ei]", "[random]") + problem(program=program))
        regatta("run", study, "-o", self.output, "-quiet")
        log = "".join(path.read_text() for path in self.folder.glob("*.h5.d/log/*"))
        self.assertEqual(log.count("until somebody comes"), 1, log)
        with h5py.File(self.output) as results:
            self.assertIn("the pump stands still and waits", str(results["P/message"][0]))

    def test_plan_evaluates_a_program_only_after_saying_so(self):
        calls = self.folder / "calls"
        program = self.write("program.py", f"""#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    open({str(calls)!r}, "a").write(".")
    print(json.dumps({{"id": json.loads(line)["id"], "value": 1}}), flush=True)
""")
        program.chmod(0o755)
        for extra, options, limit, says, count in (
                ("", (), 60, "'P' is evaluated twice, to time it", 2), ("    seconds: 3\n", (), 60, "", 0),
                ("", ("-quick",), 60, "", 0), ("", (), 7200, "'P' is not evaluated, because its time_limit", 0)):
            calls.write_text("")
            study = self.write("study.yaml", head(1, 3) + problem(program=program, limit=limit) + extra)
            code, out, err = regatta("plan", study, *options)
            self.assertEqual((code, len(calls.read_text())), (0, count), err)
            self.assertEqual(err.count("\n"), 1 + bool(says), err)
            self.assertIn(says, err)
        self.assertFalse(list(self.folder.glob(".tmp*")))

    # ---- interruptions -------------------------------------------------------------------------

    def study(self, output_calls, delay, seeds=4, iterations=12):
        return self.write("study.yaml", head(seeds, iterations) + problem(
            arguments=["--calls", output_calls, "--delay", delay, "--slow", self.slow]))

    def test_killed_at_any_moment(self):
        study = self.study(self.calls, delay=0.2, seeds=32 if LONG else 6)
        self.slow.unlink()
        self.run_ok("run", study, "-o", self.folder / "reference.h5", "-quiet", ranks=2)
        expected = self.checksum(self.folder / "reference.h5")
        total = len(self.asked())
        self.calls.unlink()
        self.slow.touch()

        moments = random.Random(20241121)
        for _ in range(KILLS):
            # this number of further questions, and a moment: never all of them, however fast the machine
            enough = len(self.asked()) + moments.randint(1, total // (2 * KILLS))
            job = self.start(study)
            self.assertTrue(wait_until(lambda: len(self.asked()) >= enough), "the program is asked")
            time.sleep(moments.uniform(0, 0.05))
            self.assertIsNone(job.poll())
            kill(job)
            self.programs_end()
        self.slow.unlink()
        self.run_ok("run", study, "-o", self.output, "-quiet", ranks=3)
        self.assertEqual(self.checksum(self.output), expected)
        self.assertFalse(self.logs.parent.exists(), "the logs have served")

        # a question that was followed by another one to the same program had been answered, and the
        # answer used: nobody may ask it again
        asked = self.asked()
        last = {pid: i for i, (pid, _, _) in enumerate(asked)}
        used = collections.Counter()
        for i, (pid, trial, number) in enumerate(asked):
            self.assertEqual(used[trial, number], 0, f"evaluation {number} of {trial} again")
            used[trial, number] += i != last[pid]
        self.assertGreater(len(last), KILLS)
        print(f"{KILLS} kills, {len(asked)} questions for {total} evaluations")

    def test_killed_rank_takes_its_program_along(self):
        study = self.study(self.calls, delay=300)
        job = self.start(study)
        self.assertTrue(wait_until(lambda: len(self.asked()) == 2), "the programs are asked")
        self.assertTrue(all(is_alive(pid) for pid, _, _ in self.asked()))
        kill(job)
        self.programs_end()

    def test_stopped_in_the_initial_design(self):
        study = self.write("study.yaml", head(2, 5).replace("initial_points: 5",
                                                            "initial_points: 25")
                           + problem(arguments=["--calls", self.calls, "--delay", 0.2, "--slow", self.slow]))
        job = self.start(study)
        self.assertTrue(wait_until(lambda: len(self.asked()) > 6))
        job.send_signal(signal.SIGUSR1)
        out, _ = job.communicate(timeout=HANG)
        self.assertEqual(job.returncode, 0, out)
        self.assertIn("stopped by a signal with 0 of 4 trials", out)
        self.assertTrue(list(self.logs.glob("*.log")))
        self.programs_end()
        self.slow.unlink()
        before = len(self.asked())
        self.run_ok("run", study, "-o", self.output, "-quiet", ranks=2)
        questions = [(trial, number) for _, trial, number in self.asked()]
        self.assertEqual(len(questions), len(set(questions)), "something was asked again")
        self.assertEqual(len(questions), 4 * 30)
        self.assertGreater(len(questions), before)
        self.assertFalse(self.logs.parent.exists())
