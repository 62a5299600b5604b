"""Durations that are data: a column of a table, what a program reports, and a recorded run."""
import h5py
import numpy as np

from regatta_test import HERE, RegattaTest, regatta

TABLE = "a,b,cost,seconds,late\n" + "".join(
    f"{i % 6},{i // 6},{(i % 6 - 2) ** 2 + (i // 6 - 3) ** 2},{0.25 * (i % 6 + 1)},{-1 if i == 6 else 1}\n"
    for i in range(36))
POOL = """
study: pool
seeds: 2
common: {{iterations: 12, workers: 3, duration: {duration}}}
problems: [{{name: dataset, path: table.csv, goal: minimise, objective: cost{inputs}}}]
algorithms: [random, {{name: ei, pending: believer}}]
"""
REPORTED = """
study: reported
seeds: 2
common: {{iterations: 10, initial_points: 4, workers: 3, duration: reported{settings}}}
problems:
  - name: external
    label: P
    program: {program}
    arguments: {arguments}
    inputs: [a real 0 1, n integer 1 9]
    record: [half, missing]
    retries: 0
algorithms: [random, {{name: ei, pending: liar_mean}}]
"""
RECORD = """
study: recorded
seeds: 2
common: {{iterations: {iterations}, initial_points: 4, workers: {workers}, duration: {duration}}}
problems: [branin]
algorithms: [{methods}]
"""


class Durations(RegattaTest):
    def refuse(self, study, expected):
        """The plan and the run refuse a study in this one line."""
        for command in (("plan", study, "-quick"), ("run", study, "-o", self.folder / "no.h5")):
            err = self.refused(*command)
            self.assertEqual(err.strip(), f"{study}:{expected}")

    def rows(self, path, problem):
        """For each trial the label of its algorithm, and its rows by name."""
        names = ("submission", "dispatched", "finished", "duration", "x")
        with h5py.File(path) as file:
            group = file[problem]
            extra = [n for n in ("reported_duration", "answer_half", "answer_missing") if n in group]
            for trial, label in enumerate(group["algorithm"].asstr()):
                n = int(group["n_iterations"][trial])
                yield label, {name: group[name][trial][:n] for name in (*names, *extra)}

    def test_column(self):
        (self.folder / "table.csv").write_text(TABLE)
        study = self.write("pool.yaml", POOL.format(duration="column seconds", inputs=", inputs: [a, b]"))
        output = self.results_of(study)
        for _, rows in self.rows(output, "dataset"):
            timed = ~np.isnan(rows["duration"])
            self.assertEqual(timed.sum(), 12)
            np.testing.assert_array_equal(rows["duration"][timed], 0.25 * (rows["x"][timed, 0] + 1))
        self.run_ok("verify", output, "-all", "-study", study)
        ids = self.run_ok("plan", study, "-quick", "-trials")
        (self.folder / "table.csv").write_text(TABLE.replace("0.25", "0.5"))
        self.assertNotEqual(ids, self.run_ok("plan", study, "-quick", "-trials"), "other durations, other trials")

    def forecast(self, study):
        """The lines about workers of `plan -simulate`, the heading first."""
        out = self.run_ok("plan", study, "-quick", "-simulate", "1")
        return out[out.index("problem", out.index("ranks  ")):].splitlines() if "makespan" in out else out.splitlines()[-1:]

    def test_forecasts(self):
        """The forecast knows recorded durations, assumes random designs of a table, and leaves out what programs
        report."""
        (self.folder / "table.csv").write_text(TABLE)
        study, output = self.record("first", 2, methods="random")
        self.run_ok("run", study, "-o", output, "-quiet")
        study, output = self.record("again", 4, "recorded first.h5", "random")
        self.run_ok("run", study, "-o", output, "-quiet")
        with h5py.File(output) as file:
            makespan = file["branin/makespan"][()].mean()
        heading, line = self.forecast(study)
        self.assertEqual(line.split()[heading.split().index("makespan")], f"{makespan:.4g}")
        _, line, _, note = self.forecast(self.write("pool.yaml", POOL.format(duration="column seconds",
                                                                              inputs=", inputs: [a, b]")))
        self.assertRegex(line, r"^dataset +random +3 +~[3-6]\.\d")  # 8 queries of 0.25 to 1.5 on 3 workers
        self.assertEqual(note, "~: durations depend on the queries; here each is of a random design")
        self.assertEqual(self.forecast(self.reported()),
                         ["cells without a clock here: 2, whose programs report durations"])

    def test_wrong_columns(self):
        (self.folder / "table.csv").write_text(TABLE)
        table = self.folder / "table.csv"
        for duration, inputs, expected in (
                ("column late", ", inputs: [a, b]", "design 1 takes -1, and a time is in [0, 1e12]"),
                ("column second", ", inputs: [a, b]",
                 f"{table} has no column 'second' (objective), did you mean 'seconds'?"),
                ("column seconds", "", f"column 'seconds' of {table} is an input of the design, because 'inputs' "
                                       "does not name the inputs")):
            study = self.write("pool.yaml", POOL.format(duration=duration, inputs=inputs))
            self.refuse(study, f"5:12: 'duration' is \"{duration}\": {expected}")

    def reported(self, *arguments, settings=""):
        return self.write("reported.yaml", REPORTED.format(
            program=HERE / "evaluator.py", arguments=["--duration", *arguments], settings=settings))

    def test_reported(self):
        calls = self.folder / "calls"
        study = self.reported("--calls", str(calls), settings=", time: 2.5, initial_time: counted")
        output = self.results_of(study)
        cut = 0
        for _, rows in self.rows(output, "P"):
            np.testing.assert_array_equal(rows["duration"], np.round(1e6 * (0.2 + rows["x"][:, 0])) / 1e6)
            np.testing.assert_array_equal(rows["reported_duration"], 0.2 + rows["x"][:, 0])
            np.testing.assert_array_equal(rows["answer_half"], rows["x"][:, 0] / 2)
            self.assertNotIn("answer_missing", rows, "a column without any value is not stored")
            self.assertLessEqual(rows["finished"].max(), 2.5)
            cut += len(rows["duration"]) < 14
        self.assertGreater(cut, 0, "no trial ended by time: the test shows nothing about evaluations in flight")
        asked = len(calls.read_text().splitlines())
        out = self.run_ok("verify", output, "-all", "-study", study)
        self.assertIn("4 trials, 4 equal in every bit", out)
        self.assertEqual(len(calls.read_text().splitlines()), asked, "a verification asks the program nothing")

    def test_reported_survives_a_stop(self):
        calls, whole = self.folder / "calls", self.results_of(self.reported(), name="whole.h5")
        study = self.reported("--calls", str(calls), "--at", "9", "--how", "leave", "--once", str(self.folder / "once"))
        parts = self.results_of(study.read_text().replace("retries: 0", "retries: 1"))
        for (label, a), (other, b) in zip(self.rows(whole, "P"), self.rows(parts, "P")):
            self.assertEqual(label, other)
            for name in a:
                np.testing.assert_array_equal(a[name], b[name], err_msg=name)

    def test_reported_is_missing(self):
        study = self.reported("--silent-at", "7")
        output = self.folder / "missing.h5"
        self.assertEqual(regatta("run", study, "-o", output, "-quiet")[0], 5)
        with h5py.File(output) as file:
            for message in file["P/message"].asstr():
                self.assertEqual(message, "evaluation 7: external: the answer has no \"duration\", which "
                                          "'duration: reported' needs")
        study = self.reported("--silent-at", "7", settings=", on_failure: worst")
        for _, rows in self.rows(self.results_of(study, "-strict", name="tolerant.h5"), "P"):
            failed = rows["submission"] == 7
            self.assertEqual(rows["duration"][failed], [0])
            np.testing.assert_array_equal(np.isnan(rows["answer_half"]), failed)

    def record(self, name, workers=1, duration="exponential(2)", methods="random", iterations=12):
        study = self.write(f"{name}.yaml", RECORD.format(workers=workers, duration=duration, methods=methods,
                                                         iterations=iterations))
        return study, self.folder / f"{name}.h5"

    def test_recorded(self):
        study, output = self.record("first")
        self.run_ok("run", study, "-o", output, "-quiet")
        first = [dict(zip(rows["submission"], rows["duration"])) for _, rows in self.rows(output, "branin")]
        study, output = self.record("again", 4, "recorded first.h5", "ts, {name: ei, pending: believer}")
        self.run_ok("run", study, "-o", output, "-quiet", ranks=2)
        trials = list(self.rows(output, "branin"))
        self.assertEqual(len(trials), 4)
        for i, (_, rows) in enumerate(trials):
            for submission, duration in zip(rows["submission"], rows["duration"]):
                np.testing.assert_equal(duration, first[i % 2][submission])
        self.run_ok("verify", output, "-all", "-study", study)

    def test_recorded_is_too_short(self):
        study, output = self.record("first", methods="random, ei", workers=2)
        self.run_ok("run", study, "-o", output, "-quiet")
        study, _ = self.record("more", 4, "recorded first.h5", iterations=13)
        self.refuse(study, f"5:12: 'duration' is \"recorded first.h5\": {output} has no duration of submission 17 of "
                           "'branin', seed 0; submissions 5 to 17 need one")
        study.write_text(study.read_text().replace("seeds: 2", "seeds: 3").replace("13", "12"))
        self.refuse(study, f"5:12: 'duration' is \"recorded first.h5\": {output} has 4 trials with durations, but "
                           "none of 'branin', seed 2")
        study, _ = self.record("other", 4, "recorded first.h5 of EI")
        self.refuse(study, f"5:12: 'duration' is \"recorded first.h5 of EI\": {output} has no trial with durations of "
                           "the algorithm EI")
        study, _ = self.record("no_results", 4, "recorded more.yaml")
        self.refused("plan", study, "-quick", says=f"{study}:5:12: 'duration' is \"recorded more.yaml\": ")

    def test_recorded_durations_that_differ_by_method(self):
        study, output = self.record("first", methods="random, ei", duration="'point(1) * (1 + x2)'")
        self.run_ok("run", study, "-o", output, "-quiet")
        study, _ = self.record("again", 4, "recorded first.h5")
        self.refuse(study, f"5:12: 'duration' is \"recorded first.h5\": {output} has trials of 'branin', seed 0, with "
                           "different durations; choose an algorithm with 'recorded FILE of LABEL'")
        study, output = self.record("again", 4, "recorded first.h5 of ei")
        self.run_ok("run", study, "-o", output, "-quiet")
        chosen = {label: rows for label, rows in self.rows(self.folder / "first.h5", "branin")}["ei"]
        *_, (_, rows) = self.rows(output, "branin")
        want = dict(zip(chosen["submission"], chosen["duration"]))
        for submission, duration in zip(rows["submission"], rows["duration"]):
            np.testing.assert_equal(duration, want[submission])
