"""Trials with several workers against an independent simulator (workers_simulator.py): every rule for points in flight, sync
and async, with and without a method that thinks, initial designs of every kind, known values, deaths and limits. Each
trial must have the simulator's rows, in its order, with its times."""
import json
import math
import re

import h5py
import numpy as np

from regatta_test import HERE, RegattaTest
from workers_simulator import TICK, Clock, Setting, ticks

N_INITIAL, ITERATIONS, WORKERS = 4, 12, 3
N = N_INITIAL + ITERATIONS
KNOWN = {"none": 0, "some": 2, "all": 4, "Table": 2, "Program": 2}
POINTS = [(0.2, -1.5), (0.9, 3.0), (0.4, 1.0), (0.6, 2.0)]
COMMON = f"iterations: {ITERATIONS}, initial_points: {N_INITIAL}, noise_variance: 0.01"
PROBLEMS = """
problems:
  - {name: forrester, label: none}
  - {name: forrester, label: some, given: some.csv}
  - {name: forrester, label: all, given: all.csv}
"""


def read(path):
    """{problem: list of trials}, a trial being {name: value or values by row} of all variables."""
    found = {}
    with h5py.File(path) as file:
        for label in filter(lambda name: name in file, KNOWN):
            group = file[label]
            columns = {name: group[name][()] for name in group if isinstance(group[name], h5py.Dataset)}
            columns["swept"] = file["cells/swept"][()][columns["cell"]]
            number = len(columns["key"])
            found[label] = [{name: value[k] for name, value in columns.items() if len(value) == number}
                            for k in range(number)]
    return found


def word(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Workers(RegattaTest):
    def setUp(self):
        super().setUp()
        for name, n in list(KNOWN.items())[:3]:
            self.write(f"{name}.csv", "x1,y\n" + "".join(f"{x},{y}\n" for x, y in POINTS[:n]))

    def durations(self, law, seeds):
        """The durations of submissions 1, 2, ..., from trials with one worker, as a results file and as ticks by seed."""
        study = self.write("alone.yaml", f"study: alone\nseeds: {seeds}\ncommon: {{{COMMON}, duration: \"{law}\", "
                                         "initial_time: counted}\nproblems: [{name: forrester, label: none}]\n"
                                         "algorithms: [random]\n")
        output = self.results_of(study, name="alone.h5")
        trials = read(output)["none"]
        for trial in trials:
            self.assertEqual(list(trial["submission"]), list(range(1, N + 1)))
        return output, {int(t["seed"]): [ticks(d) for d in t["duration"]] for t in trials}

    def check_clock(self, trial, clock):
        """A trial has the rows of the simulator."""
        rows = clock.rows
        self.assertEqual(trial["n_iterations"], len(rows))
        exact = {"submission": [r.submission for r in rows], "worker": [r.worker or math.nan for r in rows],
                 "attempts": [r.attempts if r.worker else math.nan for r in rows],
                 "n_pending": [len(clock.asked[r.submission][2]) if r.worker else math.nan for r in rows]}
        times = {name: [getattr(r, name) / TICK for r in rows] for name in ("dispatched", "finished", "told", "idle")}
        times["duration"] = [(r.finished - r.dispatched) / TICK for r in rows]
        for name, wanted in {**exact, **times}.items():
            np.testing.assert_array_equal(trial[name][:len(rows)], wanted, name)
        self.assertEqual(trial["makespan"], clock.makespan / TICK)
        np.testing.assert_equal(trial["idle_share"], clock.idle_share)
        self.assertEqual((trial["in_flight"], trial["lost"]), (clock.in_flight, clock.lost_count))
        self.assertEqual(trial["status"], 1)

    def check(self, label, trial, clock):
        """The same; and known values have the file's y and the problem's f, and none of them fails."""
        self.check_clock(trial, clock)
        n = KNOWN[label]
        f = -(6 * trial["x"][:, 0] - 2)**2 * np.sin(12 * trial["x"][:, 0] - 4)
        np.testing.assert_allclose(trial["f"], np.where(np.isnan(trial["y"]), np.nan, f), rtol=1e-12)
        if not n:
            return
        np.testing.assert_array_equal(trial["y"][:n], [y for _, y in POINTS[:n]])
        np.testing.assert_array_equal(trial["known"][:trial["n_iterations"]],
                                      np.arange(trial["n_iterations"]) < n)
        if "failed" in trial:
            self.assertFalse(trial["failed"][:n].any())

    def setting(self, label, trial, duration, **more):
        """The setting of a trial, as its study has it."""
        start = word(trial.get("initial_time", b"free"))
        thinks = float(trial.get("thinking.b", 0))
        values = {"workers": WORKERS, "sync": word(trial["release"]) == "sync", "n_initial": N_INITIAL, "n": N,
                  "n_known": N_INITIAL if start == "free" else KNOWN[label], "overlapped": start == "overlapped",
                  "think": lambda n: ticks(thinks * math.sqrt(n)), "duration": duration}
        return Setting(**{**values, **more})

    def test_rules_for_points_in_flight(self):
        """Pending rules x sync and async x thinking x known values x kinds of initial designs."""
        _, known = self.durations("uniform(0, 2)", 2)
        study = self.write("rules.yaml", f"""study: rules
seeds: 2
common: {{{COMMON}, workers: {WORKERS}, duration: "uniform(0, 2)", maximiser: {{raw_samples: 32, restarts: 1}},
         thinking: {{p: 0.5}}}}
{PROBLEMS}
algorithms: [ei]
sweep:
  - {{common.release: [sync, async]}}
  - {{common.thinking.b: [0, 0.2]}}
  - {{common.initial_time: [free, counted, overlapped]}}
  - {{algorithms.ei.pending: [ignore, believer, random_believer, liar_min, liar_mean, liar_max, {{penalise: hard}}, {{penalise: soft}}]}}
""")
        output = self.results_of(study, name="rules.h5")
        for label, trials in read(output).items():
            self.assertEqual(len(trials), 2 * 2 * 2 * 3 * 8)
            for trial in trials:
                with self.subTest(label, swept=word(trial["swept"]), seed=trial["seed"]):
                    mine = known[int(trial["seed"])]
                    self.check(label, trial, Clock(self.setting(label, trial, lambda s, a: mine[s - 1])))

    def test_deaths_and_limits(self):
        """Known values are never lost and never too long, and `plan -simulate` foresees the clock."""
        recorded, known = self.durations("uniform(0, 2)", 1)
        study = self.write("limits.yaml", f"""study: limits
common: {{{COMMON}, workers: {WORKERS}, on_failure: worst, thinking: {{p: 0.5}}}}
{PROBLEMS}
algorithms: [random]
sweep:
  - {{common.release: [sync, async]}}
  - {{common.thinking.b: [0, 0.1]}}
  - {{common.initial_time: [free, counted, overlapped]}}
  - {{common.start: [ask, design]}}
  - {{common.duration: [recorded {recorded.name}, "point(1) * (0.2 + x1)"], common.time: [auto, 4]}}
  - {{common.crew: [{{}}, {{time_limit: 0.7}}, {{death: point(2.1), repair: point(0.5)}},
                   {{death: point(1.9), repair: point(0), lost: fail, time_limit: 1}}]}}
""")
        output = self.results_of(study, name="limits.h5")
        clocks = {}
        for label, trials in read(output).items():
            self.assertEqual(len(trials), 2 * 2 * 3 * 2 * 2 * 4)
            for trial in trials:
                swept = word(trial["swept"])
                with self.subTest(label, swept=swept, seed=trial["seed"]):
                    clock = Clock(self.limited(label, trial, known[int(trial["seed"])]))
                    self.check(label, trial, clock)
                    clocks.setdefault((label, swept), []).append(clock)
        self.check_forecasts(study, clocks)

    def limited(self, label, trial, recorded):
        """The setting of a trial of the study of deaths and limits."""
        key, mine = word(trial["key"]), dict(enumerate(recorded, 1))
        if "x1" in key:
            mine = {int(s): ticks(0.2 + x) for s, x in zip(trial["submission"], trial["x"][:, 0]) if s == s}

        def number(name, otherwise):
            found = re.search('[{,]' + name + r'="?(?:point\()?([0-9.]+)', key)
            return ticks(float(found[1])) if found else otherwise

        life, repair = number("death", math.inf), number("repair", None)
        return self.setting(label, trial, lambda s, a: mine.get(s, math.inf), time=number("time", math.inf),
                            longest=number("time_limit", math.inf), life=lambda: life, repair=lambda: repair,
                            resubmit="lost=fail" not in key, n_designed=N_INITIAL + WORKERS * ("start=design" in key))

    def check_forecasts(self, study, clocks):
        """Makespan, idle share, number of rows and of losses of `plan -simulate`, means of the trials of a cell."""
        seen = 0
        for line in self.run_ok("plan", study, "-quick", "-simulate", "2").splitlines():
            words = re.split(r"  +", line.strip())
            found = clocks.get((words[0], words[2])) if len(words) == 8 else None
            if not found or words[4].startswith("~"):
                continue
            seen += 1
            mean = [sum(values) / len(found) for values in zip(*(
                (c.makespan / TICK, 100 * c.idle_share, len(c.rows), c.lost_count) for c in found))]
            self.assertEqual(words[4:], [f"{mean[0]:.4g}", f"{mean[1]:.1f}%", f"{mean[2]:.4g}", f"{mean[3]:.3g}"], line)
        self.assertEqual(seen, len(clocks) // 2)

    def test_what_methods_hear(self):
        """At each ask an external method has been told exactly what the simulator says, and hears of the same points
        in flight."""
        _, known = self.durations("uniform(0, 2)", 1)
        for release in ("sync", "async"):
            for b in (0, 0.2):
                heard = self.folder / f"heard_{release}_{b}"
                study = self.write("hears.yaml", f"""study: hears
common: {{{COMMON}, workers: {WORKERS}, release: {release}, duration: "uniform(0, 2)", thinking: {{b: {b}, p: 0.5}},
         initial_time: counted}}
problems: [{{name: forrester, label: some, given: some.csv}}]
algorithms: [{{name: external, program: {HERE / "optimiser.py"}, arguments: [--heard, {heard}]}}]
""")
                self.run_ok("run", study, "-o", self.folder / "hears.h5", "-quiet")
                (trial,) = read(self.folder / "hears.h5")["some"]
                trial["thinking.b"], trial["initial_time"] = b, "counted"
                clock = Clock(self.setting("some", trial, lambda s, a: known[0][s - 1]))
                with self.subTest(release=release, b=b):
                    self.check("some", trial, clock)
                    self.check_heard(heard, clock)
                (self.folder / "hears.h5").unlink()

    def check_heard(self, heard, clock):
        told, asks = list(range(1, N_INITIAL + 1)), 0
        lines = [json.loads(line) for line in heard.read_text().splitlines()]
        last = max(k for k, line in enumerate(lines) if line["do"] == "start")  # the rehearsal is first
        for line in lines[last + 1:]:
            if line["do"] == "tell":
                told.append(line["submission"])
            elif line["do"] == "ask":
                asks += 1
                self.assertEqual((ticks(line["now"]), sorted(told), [p["submission"] for p in line["pending"]]),
                                 clock.asked[line["submission"]])
        self.assertEqual(asks, ITERATIONS)
        self.assertEqual(told[N_INITIAL:], [r.submission for r in clock.rows if r.submission > N_INITIAL])

    def test_durations_that_are_data(self):
        """Known values of a table with a column of durations, and of a program that reports them."""
        self.write("table.csv", "a,b,cost,seconds\n" + "".join(
            f"{i % 6},{i // 6},{(i % 6 - 2)**2 + i // 6},{0.25 * (i % 6 + 1)}\n" for i in range(36)))
        self.write("table_known.csv", "x1,x2,y\n0,0,1.5\n5,5,7\n")
        self.write("program_known.csv", "a,n,y\n0.25,3,1.5\n0.75,7,-7\n")
        study = self.write("data.yaml", f"""study: data
common: {{{COMMON}, workers: {WORKERS}}}
problems:
  - {{name: dataset, label: Table, path: table.csv, goal: minimise, objective: cost, inputs: [a, b],
     given: table_known.csv, duration: column seconds}}
  - {{name: external, label: Program, program: {HERE / "evaluator.py"}, arguments: [--duration], retries: 0,
     inputs: [a real 0 1, n integer 1 9], given: program_known.csv, duration: reported}}
algorithms: [random]
sweep: [{{common.release: [sync, async], common.initial_time: [counted, overlapped]}}]
""")
        output = self.results_of(study, name="data.h5")
        found = read(output)
        for label, of_x in (("Table", lambda x: 0.25 * (x[0] + 1)), ("Program", lambda x: 0.2 + x[0])):
            self.assertEqual(len(found[label]), 2)
            for trial in found[label]:
                with self.subTest(label, swept=word(trial["swept"])):
                    mine = {int(s): ticks(of_x(x)) for s, x in zip(trial["submission"], trial["x"])}
                    self.check_clock(trial, Clock(self.setting(label, trial, lambda s, a: mine[s])))
                    given = [1.5, 7] if label == "Table" else [-1.5, 7]
                    f = [4, 14] if label == "Table" else given  # the value of a program has no other source
                    np.testing.assert_array_equal(np.abs(trial["y"][:2]), np.abs(given))
                    np.testing.assert_array_equal(np.abs(trial["f"][:2]), np.abs(f))
