"""Several workers on a clock: every number against a loop over the rows of the file, figures, tables, the page."""

import common
import h5py
import numpy as np
import pandas as pd
import synthetic
from common import run
from regatta_analysis import load
from regatta_analysis.figures import clock as figures
from regatta_analysis.report import study_page
from regatta_analysis.stats import clock
from regatta_analysis.stats.regret import regret_curves

STUDY = """
study: crews
seeds: 3
common: {iterations: 12, initial_points: 4, noise_variance: 0.01, duration: halfnormal(1.25),
         maximiser: {raw_samples: 64, restarts: 1}}
problems: [branin]
algorithms: [ts, {name: ei, label: EI}]
sweep:
  - {common.workers: [1, 4]}
  - {common.release: [sync, async]}
  - {algorithms.EI.pending: [ignore, believer]}
"""
DEATHS = """
study: deaths
seeds: 1
common: {iterations: 24, initial_points: 4, initial_time: counted, time: 3, duration: halfnormal(1.25), workers: 4,
         crew: {death: exponential(6), repair: point(0.5), lost: fail, time_limit: 2}, on_failure: worst}
problems: [branin]
algorithms: [random]
"""
SHORT = """
study: short
seeds: 3
common: {iterations: 30, initial_points: 4, duration: point(1), maximiser: {raw_samples: 64, restarts: 1}}
problems:
  - {name: branin, label: "$x_1$ & <b>%s", time: 0.5, workers: 2}
  - {name: branin, label: stopped, stop_regret: 5, time: 40}
algorithms: [random]
"""
TIMED = """
study: timed
seeds: 7
common: {iterations: 30, initial_points: 2, duration: exponential(0.7), time: 9}
problems:
  - branin
  - {name: branin, label: thinks, thinking: 1}
  - {name: branin, label: dies, crew: {death: exponential(1), repair: point(3), lost: fail}, on_failure: worst}
  - {name: branin, label: counted, initial_time: counted, count_initial: true}
  - {name: branin, label: slow, duration: point(10)}
  - {name: branin, label: budget, iterations: 3}
algorithms: [random]
sweep:
  - {common.workers: [1, 4]}
"""
NAN, INF = np.nan, np.inf


def by_hand(trials=3, failed=(2,)):
    """Two synchronous workers: the initial design, a batch that ends at 2, and a failure and the last value."""
    p = synthetic.problem("hand", ["EI"], seeds=trials, queries=4, initial=2, failed=failed)
    objective = np.tile([0, 1, 2.5, 1.5, NAN, 2.9], (trials, 1))
    finished = np.tile([NAN, NAN, 2, 1, 3, 5], (trials, 1))
    dispatched = np.tile([NAN, NAN, 0, 0, 2, 2], (trials, 1))
    finished[1:2, 5] = 4
    p["n_rows"][:] = 6
    simple = 3 - np.fmax.accumulate(objective, axis=1)
    p["arrays"].update(objective=objective, simple_regret=simple, finished=finished, dispatched=dispatched,
                       worker=np.tile([NAN, NAN, 1, 2, 1, 2], (trials, 1)), attempts=np.ones((trials, 6)))
    p["columns"] = {"workers": np.full(trials, 2), "release": np.array(["sync"] * trials, object),
                    "makespan": finished.max(axis=1, initial=0, where=~np.isnan(finished)),
                    "idle_share": np.full(trials, 0.25), "in_flight": np.zeros(trials, int),
                    "lost": np.zeros(trials, int)}
    return p


class ByHand(common.Case):
    def results(self, **more):
        return synthetic.loaded(self.scratch / "hand.h5", [by_hand(**more)])

    def test_step_function(self):
        """An evaluation counts from its end, not from its row or the end of its batch; nothing after the makespan."""
        history = clock.histories(self.results(), "hand")
        frame = history.at([0, 0.99, 1, 1.99, 2, 3, 3.99, 4, 4.99, 5, 5.01])
        expected = [[2, 2, 1.5, 1.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, NAN],
                    [2, 2, 1.5, 1.5, 0.5, 0.5, 0.5, 0.1, NAN, NAN, NAN]]
        np.testing.assert_allclose(frame.to_numpy(), expected, atol=1e-12)
        self.assertEqual([seed for _, _, seed in frame.index], [0, 1])  # seed 2 failed
        np.testing.assert_array_equal(history.first(0.5 + 1e-9), [2, 2])
        np.testing.assert_array_equal(history.first(0.2), [5, 4])
        np.testing.assert_array_equal(history.first(0.01), [INF, INF])

    def test_curves_of_a_cell_have_all_trials(self):
        results = self.results()
        cell, = clock.cells(results, ["hand"])
        self.assertEqual((cell.workers, cell.release, cell.crew), (2, "sync", "2 workers, sync"))
        grid = clock.grid_of(results, [cell])
        self.assertEqual((grid[0], grid[-1]), (0, 4))
        self.assertFalse(clock.time_curves(results, cell, "simple", [0, 4, 5]).isna().any(axis=None))
        self.assertEqual(clock.time_curves(results, cell, "simple", [0, 4, 5]).shape, (2, 2))

    def test_best_value(self):
        best = clock.histories(self.results(), "hand", "best").at([0, 1, 2, 4])
        np.testing.assert_allclose(best.iloc[0], [1, 1.5, 2.5, 2.5])

    def test_cumulative_regret_over_time(self):
        """Queries add their regret when they end, not in the order of rows; the initial design adds none."""
        p = by_hand()
        p["arrays"]["cumulative_regret"] = np.tile([NAN, NAN, 0.5, 2, 4, 4.1], (3, 1))  # the failure counts as 2
        results = synthetic.loaded(self.scratch / "sums.h5", [p])
        frame = clock.histories(results, "hand", "cumulative").at([0, 0.99, 1, 2, 3, 4, 5])
        np.testing.assert_allclose(frame.to_numpy(), [[0, 0, 1.5, 2, 4, 4, 4.1], [0, 0, 1.5, 2, 4, 4.1, NAN]])
        self.assertAlmostEqual(clock.clock_table(results)["cumulative_regret"][0], 4.05)
        kinds = [kind for _, kind, *_ in figures.figures_of(results, ["simple", "cumulative"])]
        self.assertEqual(kinds, ["time", "timeline", "time_cumulative"])
        p["arrays"]["cumulative_regret"][1, 4:] = NAN
        p["arrays"]["instantaneous_regret"][1, 4] = NAN
        frame = clock.histories(synthetic.loaded(self.scratch / "gap.h5", [p]), "hand", "cumulative").at([0, 3])
        np.testing.assert_array_equal(frame.isna(), [[False, False], [True, True]])

    def test_evaluations_that_count_when_they_are_told(self):
        p = by_hand()
        p["arrays"]["told"] = np.tile([NAN, NAN, 2, 2, 5, 5], (3, 1))
        p["arrays"]["told"][1, 4:] = 4
        p["arrays"]["cumulative_regret"] = np.tile([NAN, NAN, 0.5, 2, 4, 4.1], (3, 1))
        results = synthetic.loaded(self.scratch / "told.h5", [p])
        for metric, expected in (("simple", [[2, 2, 0.5, 0.5, 0.5, 0.1], [2, 2, 0.5, 0.5, 0.1, NAN]]),
                                 ("cumulative", [[0, 0, 2, 2, 2, 4.1], [0, 0, 2, 2, 4.1, NAN]])):
            frame = clock.histories(results, "hand", metric, "told").at([0, 1.99, 2, 3, 4, 5])
            np.testing.assert_allclose(frame.to_numpy(), expected, atol=1e-12)
        counts = [clock.clock_table(results, moment)["evaluations"][0] for moment in clock.MOMENTS]
        self.assertEqual(counts, [3.5, 3])
        (_, _, figure), = figures.time_figures(results, "simple", moment="told")
        self.assertIn("when the method is told", figure.legends[0].get_title().get_text())

    def test_optimum_that_is_not_known(self):
        p = by_hand()
        del p["arrays"]["simple_regret"], p["arrays"]["instantaneous_regret"], p["arrays"]["cumulative_regret"]
        results = synthetic.loaded(self.scratch / "open.h5", [p])
        table = clock.clock_table(results)
        self.assertEqual((len(table), table["time"][0], table["evaluations"][0]), (1, 4, 3.5))
        self.assertTrue(np.isnan(table["regret"][0]))
        self.assertEqual(list(figures.time_figures(results, "simple")), [])
        drawn = {kind: figure for _, kind, _, _, figure in figures.figures_of(results, ["simple", "best"])}
        self.assertEqual(list(drawn), ["timeline", "time"])
        figure = drawn["time"]
        np.testing.assert_allclose(figure.axes[1].lines[0].get_ydata()[[0, -1]], [1, 2.7])  # mean of 2.5 and 2.9

    def test_regret_is_measured_from_a_better_value_than_the_optimum(self):
        p = by_hand()
        p["arrays"]["objective"][:, 5] = 3.5
        p["arrays"]["simple_regret"] = 3.5 - np.fmax.accumulate(p["arrays"]["objective"], axis=1)
        frame = clock.histories(synthetic.loaded(self.scratch / "more.h5", [p]), "hand").at([0, 1, 4])
        np.testing.assert_allclose(frame.iloc[1], [2.5, 2, 0], atol=1e-12)

    def test_one_trial_and_no_trial(self):
        one = self.results(trials=1, failed=())
        table = clock.clock_table(one)
        self.assertEqual(list(table["reached"]), [1, 0, 0])  # targets 0.2, 0.02, 0.002
        self.assertEqual(table["time_to_target"][0], 5)
        self.assertTrue(table["speed_up"].isna().all())
        self.assertEqual(len(list(figures.figures_of(one, ["simple"]))), 2)
        self.assertEqual(clock.families(self.results(trials=1, failed=(0,))), {})

    def test_a_trial_is_known_up_to_the_time_limit(self):
        """Its last evaluation ended long before in some of them, and the next one would have ended later."""
        p = by_hand(trials=5, failed=())
        p["run"] = "};workers={time=4"
        p["arrays"]["finished"][:, 2:] = np.array([[0.1, 0.2, 0.3, 0.317], [0.1, 0.2, 0.3, 2.613], [0.1, 0.2, 0.3, 3.947],
                                                   [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])
        p["arrays"]["objective"][3:, 5] = 1
        p["arrays"]["simple_regret"] = 3 - np.fmax.accumulate(p["arrays"]["objective"], axis=1)
        table = clock.clock_table(synthetic.loaded(self.scratch / "limit.h5", [p]))
        self.assertEqual(table[["target", "reached", "time_to_target"]].iloc[0].round(9).tolist(), [0.2, 3, 3.947])

    def test_no_clock(self):
        synthetic.write(self.scratch / "plain.h5", [synthetic.problem("plain", ["EI", "TS"], seeds=2, queries=4)])
        self.assertEqual(clock.families(load(self.scratch / "plain.h5")), {})
        self.assertEqual(len(clock.clock_table(load(self.scratch / "plain.h5"))), 0)

    def test_median_with_censored_trials(self):
        for times, limits, median in (([3, 1, 2], [9, 9, 9], 2), ([1, INF, INF, 4], [5, 2, 2, 5], 4),
                                      ([1, INF, INF], [5, 5, 5], INF), ([INF], [1], INF), ([0, 0], [1, 1], 0),
                                      ([2, 2, INF, INF], [9, 9, 9, 9], 2), ([1, 2, INF], [9, 9, 1], 2)):
            self.assertEqual(clock.median_time(times, limits), median, times)


@common.needs_program
class Program(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        for name, text in (("crews", STUDY), ("deaths", DEATHS), ("short", SHORT), ("timed", TIMED)):
            (cls.directory / f"{name}.yaml").write_text(text)
            common.regatta("run", cls.directory / f"{name}.yaml", "-o", cls.directory / f"{name}.h5", "-quiet")
        cls.path = cls.directory / "crews.h5"
        cls.results = load(cls.path)

    def trials(self, path, algorithm, workers, release):
        """Facts of each trial of a cell by a loop over the file: [(row in the file, optimum, [(end, F) of every
        evaluation], makespan, idle share, ends on the workers)]."""
        found = []
        with h5py.File(path) as file:
            g = file["branin"]
            for k in range(len(g["seed"])):
                if (g["algorithm"][k].decode(), g["workers"][k], g["release"][k].decode()) != (
                        algorithm, workers, release):
                    continue
                events = []
                for row in range(g["n_iterations"][k]):
                    end, value = g["finished"][k, row], g["objective"][k, row]
                    events.append((0.0 if np.isnan(end) else end, -INF if np.isnan(value) else value))
                found.append((k, g["optimum"][k], events, float(g["makespan"][k]), float(g["idle_share"][k]),
                              [e for e in g["finished"][k, :] if not np.isnan(e)]))
        return found

    @staticmethod
    def regret(optimum, events, time):
        return optimum - max([value for end, value in events if end <= time], default=-INF)

    def lines(self):
        found = {}
        for label, mine in clock.rows(clock.cells(self.results, self.results.problems)).items():
            for cell in mine:
                found[label, cell.workers, cell.release] = cell
        return found

    def test_cells_stand_with_the_settings_that_they_do_not_read(self):
        """With one worker no evaluation is pending: EI is the same for both rules."""
        self.assertEqual(sorted(self.lines()), sorted(
            (label, w, r) for label in ("ts", "EI (pending=ignore)", "EI (pending=believer)")
            for w, r in ((1, ""), (4, "sync"), (4, "async"))))
        self.assertEqual(self.lines()["EI (pending=ignore)", 1, ""].algorithm, "EI")
        self.assertEqual(list(clock.families(self.results)), ["branin"])

    def test_curves_and_table_by_a_loop_over_the_file(self):
        table = clock.clock_table(self.results)
        lines = self.lines()
        all_trials = {key: self.trials(self.path, cell.algorithm, *key[1:]) for key, cell in lines.items()}
        common_time = min(t[3] for trials in all_trials.values() for t in trials)
        with h5py.File(self.path) as file:
            start = np.median([float(row[n - 1]) for row, n in zip(file["branin/simple_regret"],
                                                                    file["branin/n_initial"])])
        for (label, workers, release), cell in lines.items():
            trials = all_trials[label, workers, release]
            grid = clock.grid_of(self.results, [cell])
            frame = clock.time_curves(self.results, cell, "simple", grid)
            expected = [[self.regret(t[1], t[2], time) for time in frame.columns] for t in trials]
            np.testing.assert_allclose(frame.to_numpy(), expected, atol=1e-9)
            self.assertEqual(frame.columns[-1], min(t[3] for t in trials))
            mine = table[(table["algorithm"] == label) & (table["workers"] == workers) & (table["release"] == release)]
            self.assertEqual(list(mine["share"]), [0.1, 0.01, 0.001])
            for row in mine.itertuples():
                self.assertEqual((row.problem, row.trials, row.time), ("branin", 3, common_time))
                self.assertAlmostEqual(row.makespan, np.mean([t[3] for t in trials]))
                self.assertAlmostEqual(row.idle_share, np.mean([t[4] for t in trials]))
                self.assertAlmostEqual(row.evaluations, np.mean([sum(e <= common_time for e in t[5]) for t in trials]))
                self.assertAlmostEqual(row.regret, np.mean([self.regret(*t[1:3], common_time) for t in trials]))
                self.assertAlmostEqual(row.cumulative_regret, np.mean(
                    [sum(t[1] - value for end, value in t[2][4:] if end <= common_time) for t in trials]))
                self.assertAlmostEqual(row.target, row.share * start)
                hits = self.hits(trials, row.target)
                self.assertEqual(row.reached, sum(h < INF for h in hits))
                self.assertEqual(row.time_to_target, clock.median_time(hits, [t[3] for t in trials]))
                single = clock.median_time(self.hits(all_trials[label, 1, ""], row.target),
                                           [t[3] for t in all_trials[label, 1, ""]])
                known = 0 < single < INF and 0 < row.time_to_target < INF
                np.testing.assert_equal(row.speed_up, single / row.time_to_target if known else NAN)
                np.testing.assert_equal(row.efficiency, row.speed_up / workers)
        self.assertTrue((table["speed_up"] > 1).any())

    def test_trials_under_a_time_limit_are_known_up_to_it(self):
        """Whatever they do then: an evaluation in flight, thinking, a worker that is away, nothing at all. Trials that
        made all evaluations are known up to their last one."""
        results = load(self.directory / "timed.h5")
        table = clock.clock_table(results).set_index(["problem", "workers", "share"]).sort_index()
        self.assertEqual(len(table), 6 * 2 * 3)
        self.assertEqual(table.loc["slow", "evaluations"].tolist(), [0] * 6)
        for problem in results.problems:
            history, group = clock.histories(results, problem), results.group(problem)
            place, workers = group.place, int(group.column("workers")[0])
            rows = history.times
            last = np.where(np.isfinite(rows), rows, 0).max(axis=1)
            full = group.column("n_iterations") == (5 if place == "budget" else 32)
            np.testing.assert_array_equal(history.ends, np.where(full, last, 9), problem)
            sums = clock.histories(results, problem, "cumulative")
            np.testing.assert_array_equal(sums.limits, history.ends)
            self.assertFalse(np.isnan(sums.at([0]).to_numpy()).any(), problem)
            known = table.loc[place, workers, :]
            self.assertFalse(known["cumulative_regret"].isna().any(), problem)
            if not full.any():
                hits = [sorted(self.hits(self.timed(group), row.target)) for row in known.itertuples()]
                self.assertEqual(known["time_to_target"].tolist(), [mine[(len(mine) - 1) // 2] for mine in hits])
        self.assertGreater(np.isfinite(table["time_to_target"]).sum(), 5)
        regret = results.group("counted (workers=1)").values("instantaneous_regret")
        n = (~np.isnan(regret)).sum(axis=1)
        average = regret_curves(results, "counted (workers=1)", "average").ffill(axis=1).iloc[:, -1]
        np.testing.assert_allclose(average, np.nansum(regret, axis=1) / n)

    @staticmethod
    def timed(group):
        """As `trials` has them, of a group."""
        ends, values = group.values("finished"), group.values("objective")
        return [(k, optimum, [(0.0 if np.isnan(e) else e, -INF if np.isnan(v) else v) for e, v in
                           zip(ends[k, :n], values[k, :n])])
                for k, (optimum, n) in enumerate(zip(group.column("optimum"), group.column("n_iterations")))]

    def hits(self, trials, target):
        return [min([end for end, _ in events if self.regret(optimum, events, end) <= target], default=INF)
                for _, optimum, events, *_ in trials]

    def test_evaluations_that_count_from_their_end_agree_with_rows_at_the_end(self):
        for problem in self.results.problems:
            history = clock.histories(self.results, problem)
            rows = self.results.group(problem).values("simple_regret")
            np.testing.assert_array_equal(history.values[:, -1], rows[:, -1])

    def test_figure_by_evaluations_and_by_time(self):
        (name, page, figure), = figures.time_figures(self.results, "simple")
        self.assertEqual((name, page, len(figure.axes), len(figure.legends)), ("branin", "", 6, 1))
        self.assertEqual([t.get_text() for t in figure.legends[0].get_texts()],
                         ["1 worker", "4 workers, sync", "4 workers, async"])
        for k, (label, mine) in enumerate(clock.rows(clock.cells(self.results, self.results.problems)).items()):
            left, right = figure.axes[2 * k:2 * k + 2]
            self.assertEqual(left.get_title(loc="left"), label)
            self.assertEqual([line.get_color() for line in left.lines[:3]], [line.get_color() for line in right.lines])
            for line, cell in zip(right.lines, mine):
                trials = self.trials(self.path, cell.algorithm, cell.workers, cell.release)
                medians = [np.median([self.regret(*t[1:3], time) for t in trials]) for time in line.get_xdata()]
                np.testing.assert_allclose(line.get_ydata(), medians, atol=1e-9)
                self.assertEqual(line.get_drawstyle(), "steps-post")
            self.assertEqual(left.get_ylim(), right.get_ylim())

    def test_timeline(self):
        (name, figure), = figures.timeline_figures(self.results)
        self.assertEqual((name, len(figure.axes)), ("branin", 2))
        for axes, release in zip(figure.axes, ("sync", "async")):
            _, _, _, makespan, idle, _ = self.trials(self.path, "ts", 4, release)[0]
            self.assertIn(f"4 workers, {release}: ts, seed 0; makespan {makespan:.4g}", axes.get_title(loc="left"))
            bars = [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in axes.patches]
            self.assertEqual(len(bars), 12)
            self.assertAlmostEqual(1 - sum(width for *_, width in bars) / (4 * makespan), idle, places=5)
            for worker in range(1, 5):  # no worker does two things at once
                mine = sorted((x, x + width) for y, x, width in bars if round(y) == worker)
                self.assertTrue(all(a[1] <= b[0] + 1e-9 for a, b in zip(mine, mine[1:])))

    def test_deaths_and_a_time_limit(self):
        """Nothing is known before the first end of an initial design that runs on the workers. Lost evaluations are
        not values. Evaluations in flight at the end are in no number."""
        path = self.directory / "deaths.h5"
        results = load(path)
        trials = self.trials(path, "random", 4, "async")
        cell, = clock.cells(results, results.problems)
        frame = clock.time_curves(results, cell, "simple", np.linspace(0, 3, 50))
        for values, (_, optimum, events, *_) in zip(frame.to_numpy(), trials):
            np.testing.assert_allclose(values, [self.regret(optimum, events, t) for t in frame.columns], atol=1e-9)
        self.assertEqual((frame.iloc[0, 0], frame.columns[-1]), (INF, 3))  # known until the limit, not the makespan
        trial = figures.first_trial(results, cell)
        with h5py.File(path) as file:
            self.assertGreater(file["branin/in_flight"][0], 0)
            self.assertEqual((trial["what"] == "failed").sum(), np.isnan(file["branin/objective"][0]).sum())
            best = np.fmax.accumulate(file["branin/objective"][0])  # asynchronous rows stand in the order of their ends
        self.assertEqual((trial["what"] == "best value so far").sum(), len(np.unique(best)))
        texts = [t.get_text() for f in figures.timeline_figures(results) for t in f[1].legends[0].get_texts()]
        self.assertIn("failed", texts)
        self.assertEqual(len(list(figures.time_figures(results, "simple"))), 1)

    def test_nothing_ends_before_the_limit_and_a_stopped_trial(self):
        """Regret stays that of the initial design until the limit. A trial that reached its goal keeps its regret."""
        results = load(self.directory / "short.h5")
        self.assertEqual(list(clock.families(results)), ["$x_1$ & <b>%s", "stopped"])
        history = clock.histories(results, "$x_1$ & <b>%s")
        np.testing.assert_array_equal(history.at([0, 0.5, 0.51]).isna().any(), [False, False, True])
        self.assertEqual(history.at([0.5]).to_numpy().tolist(), history.at([0]).to_numpy().tolist())
        stopped = clock.histories(results, "stopped")
        self.assertTrue((stopped.limits == INF).all())
        ends = [max(e for e in row if e < INF) for row in stopped.times]
        self.assertEqual(stopped.end, max(ends))
        self.assertTrue((stopped.at([1e9]).to_numpy() <= 5).all())
        np.testing.assert_array_equal(stopped.first(5), ends)
        self.assertEqual((stopped.known(5), stopped.known(-1)), (INF, min(ends)))
        np.testing.assert_array_equal(clock.histories(results, "stopped", "cumulative").limits,
                                      np.nan_to_num(results.group("stopped").column("makespan")))
        drawn = [figure for *_, figure in figures.figures_of(results, ["simple"])]
        self.assertEqual(len(drawn), 3)  # the stopped trials have one worker and no timeline
        self.assertIn("no evaluation ended", drawn[-1].axes[0].get_title(loc="left"))

    def test_command_and_page(self):
        out = self.scratch / "out"
        path = self.directory / "deaths.h5"
        code, said, errors = run(path, "--out", out, "--formats", "png", "--metric", "simple", "--page", out / "p.html")
        self.assertEqual((code, errors), (0, ""), said)
        text = (out / "summary.md").read_text()
        for file in ("time_branin.png", "timeline_branin.png"):
            self.assertTrue((out / file).exists())
            self.assertIn(f"]({file})", text)
        table = pd.read_csv(out / "clock.csv", keep_default_na=False, na_values=[""])
        self.assertEqual(list(table["share"]), [0.1, 0.01, 0.001])
        page = (out / "p.html").read_text()
        self.assertIn("branin, simple regret by evaluations and by time</figcaption>", page)
        self.assertIn("branin, what the workers did</figcaption>", page)
        self.assertIn("By time</a>", study_page.write([path], self.scratch / "q.html").read_text())
