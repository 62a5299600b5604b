"""External optimisers with several workers: the protocol with several open queries."""
import json

import h5py
import numpy as np

from regatta_test import HERE, RegattaTest, regatta

OPTIMISER = HERE / "optimiser.py"
EXAMPLES = HERE.parents[1] / "experiments" / "examples" / "optimiser"
STUDY = """study: several
seeds: {seeds}
common: {{iterations: {iterations}, initial_points: 3, workers: 3, duration: exponential(1){settings}}}
problems: [{problem}]
algorithms:
  - {{name: external, label: P, program: {program}, arguments: {arguments}, retries: {retries}}}
"""
ONCE = "{name: dataset, path: pool.csv, inputs: [a], objective: y}"


class Several(RegattaTest):
    def study(self, *arguments, program=OPTIMISER, settings="", problem="branin", iterations=9, retries=0, seeds=1):
        (self.folder / "pool.csv").write_text("a,y\n" + "".join(f"{i},{(i - 7) ** 2}\n" for i in range(40)))
        return self.write("study.yaml", STUDY.format(program=program, arguments=list(arguments) or "auto", settings=settings,
                                                     problem=problem, iterations=iterations, retries=retries,
                                                     seeds=seeds))

    def heard(self, **more):
        """The conversation of the only trial of a study, without the rehearsal before it; and its rows by name."""
        log, output = self.folder / "heard", self.folder / "heard.h5"
        self.run_ok("run", self.study("--heard", str(log), **more), "-o", output, "-quiet")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        last = max(i for i, line in enumerate(lines) if line["do"] == "start")
        with h5py.File(output) as file:
            rows = {name: file["branin"][name][0] for name in ("submission", "dispatched", "finished", "n_pending", "y")}
        return lines[last:], rows

    def check(self, lines, rows, n_designed=0):
        """The messages tell the story of the rows. Returns the numbers in flight at each ask."""
        asked, flying, told = [], [], []
        for line in lines[1:]:
            if line["do"] == "ask":
                self.assertEqual(line["submission"], 3 + line["t"])
                waiting = [p["submission"] for p in line["pending"]]
                self.assertEqual(waiting, sorted(set(range(4, line["submission"])) - set(told)))
                asked.append(line)
                flying.append(len(waiting))
            else:
                told.append(line["submission"])
                row = list(rows["submission"]).index(line["submission"])
                self.assertEqual((line["y"], line["dispatched"], line["finished"]),
                                 tuple(rows[name][row] for name in ("y", "dispatched", "finished")))
        self.assertEqual([line["submission"] for line in asked], list(range(4 + n_designed, 13)))
        self.assertEqual(told, list(rows["submission"][3:]))
        by_number = dict(zip(rows["submission"], rows["n_pending"]))
        self.assertEqual(flying, [by_number[line["submission"]] for line in asked])
        return flying

    def test_conversation(self):
        lines, rows = self.heard()
        start = lines[0]
        self.assertEqual((start["protocol"], start["workers"], start["release"]), (2, 3, "async"))
        self.assertEqual(self.check(lines, rows), [0, 1] + 7 * [2])
        lines, rows = self.heard(settings=", release: sync")
        self.assertEqual(lines[0]["release"], "sync")
        self.assertEqual(self.check(lines, rows), 3 * [0, 1, 2])
        lines, rows = self.heard(settings=", start: design")
        self.check(lines, rows, n_designed=3)

    def test_same_results_on_two_ranks_and_again(self):
        study, outputs = self.study(seeds=3), [self.folder / f"{ranks}.h5" for ranks in (1, 2)]
        for ranks, output in enumerate(outputs, 1):
            self.run_ok("run", study, "-o", output, "-quiet", ranks=ranks)
        self.assertEqual(*map(self.checksum, outputs))
        self.assertIn("3 trials, 3 equal in every bit", self.run_ok("verify", outputs[0], "-all", "-study", study, "-allow-programs"))

    def test_a_program_that_died_hears_it_all_again(self):
        log, output = self.folder / "heard", self.folder / "out.h5"
        whole = self.folder / "whole.h5"
        self.run_ok("run", self.study(), "-o", whole, "-quiet")
        study = self.study("--heard", str(log), "--at", "6", "--how", "crash", "--once", str(self.folder / "once"),
                           retries=1)
        self.run_ok("run", study, "-o", output, "-quiet")
        parts = log.read_text().split('{"id":1,"do":"start"')[-2:]
        first, again = (part.splitlines()[1:] for part in parts)
        self.assertGreater(len(first), 6)
        self.assertEqual(again[:len(first)], first)
        with h5py.File(whole) as a, h5py.File(output) as b:
            np.testing.assert_array_equal(a["branin/x"], b["branin/x"])
            self.assertNotIn("asked_otherwise", b["branin"])

    def test_points_in_flight_are_taken(self):
        study = self.study(problem=ONCE)
        self.run_ok("run", study, "-o", self.folder / "good.h5", "-quiet", "-strict")
        study = self.study("--at", "5", "--how", "flying", problem=ONCE)
        output = self.folder / "bad.h5"
        code, _, err = regatta("run", study, "-o", output, "-quiet")
        self.assertEqual(code, 5, err)
        with h5py.File(output) as file:
            self.assertRegex(file["dataset/message"].asstr()[0],
                             r"^evaluation 8: external: optimiser.py answered point \d+ again, which is in flight as "
                             r"evaluation \d+; each may be queried once$")

    def test_programs_for_one_worker_are_refused(self):
        one = ("external: optimiser.py speaks protocol 1, which is for one worker: 'workers: 3' needs protocol 2")
        minimiser = ("external: scipy_search.py reports: a minimiser takes one query at a time: it needs 'workers: 1', "
                     "not 3")
        swept = self.study("--one").read_text() + "sweep: [{common.workers: [1, 3]}]\n"
        for text, message in (
                (self.study("--one").read_text(), one), (swept, one),
                (self.study("nelder_mead", program=EXAMPLES / "scipy_search.py").read_text(), minimiser)):
            study = self.write("one.yaml", text)
            err = self.refused("plan", study, lines=2)
            self.assertEqual(err.splitlines()[-1], f"{study}:6:5: 'P' fails on 'branin' at evaluation 4: {message}")
        self.write("one.yaml", text.replace("workers: 3", "workers: 1"))
        self.run_ok("plan", study)

    def test_adapters(self):
        entries = "".join(
            f"  - {{name: external, label: {label}, program: {EXAMPLES / program}, arguments: {arguments}}}\n"
            for label, program, arguments in (("Shell", "random_search.sh", "auto"), ("TPE", "optuna_search.py", "[tpe]"),
                                              ("GP and EI", "sklearn_bo.py", "auto")))
        text = self.study(settings=", start: design", iterations=8).read_text()
        study = self.write("adapters.yaml", text[:text.index("  - {name")] + entries)
        self.run_ok("run", study, "-o", self.folder / "adapters.h5", "-quiet", "-strict")
        with h5py.File(self.folder / "adapters.h5") as file:
            x, n_pending = file["branin/x"][()], file["branin/n_pending"][()]
            self.assertEqual(len(x), 3)
            self.assertEqual(np.nanmax(n_pending), 2)
            for trial in x:
                self.assertEqual(len(np.unique(trial, axis=0)), 11, "a query is repeated")
