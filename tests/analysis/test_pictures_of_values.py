"""Ranks with their uncertainty, the dots of final values with stuck trials, and settings in words."""
import contextlib
from unittest import mock

import common
import numpy as np
import synthetic
from regatta_analysis import load
from regatta_analysis.figures import finals, style
from regatta_analysis.load import program
from regatta_analysis.report import comparisons, settings_table, tables
from regatta_analysis.stats import inference, robust


class Values(common.Case):
    def study(self, *parts):
        return synthetic.loaded(self.scratch / "s.h5", list(parts))

    def ranks(self, *parts):
        return inference.ranks(self.study(*parts), "simple").set_index("algorithm")

    def test_ranks_are_certain_only_where_methods_differ(self):
        """Apart: no uncertainty. Alike: the interval covers both ranks, and each is first in about half of the resamples."""
        found = self.ranks(synthetic.made_up("P", {"A": 0.02, "B": 0.1, "C": 0.1}, seeds=16, noise=0.3))
        self.assertEqual(tuple(found.loc["A", ["rank", "low", "high", "first"]]), (1.0, 1.0, 1.0, 1.0))
        for name in "BC":
            self.assertEqual(tuple(found.loc[name, ["low", "high"]]), (2.0, 3.0))
        self.assertEqual(found.loc[["B", "C"], "first"].sum(), 0.0)

    def test_units_are_instances(self):
        """Trials that share an instance repeat its luck: with them as units the order would seem certain."""
        part = synthetic.problem("P", ["A", "B"], instances=6, seeds=8, queries=3)
        for k, (algorithm, instance, _) in enumerate(part["cells"]):
            part["arrays"]["simple_regret"][k] = 1.0 if algorithm == "A" else (0.5, 0.5, 0.5, 0.5, 4.0, 4.0)[instance]
        found = self.ranks(part)
        self.assertEqual((found.loc["B", "rank"], found.loc["B", "high"]), (1.0, 2.0))
        with mock.patch.object(inference, "unit_medians", lambda table: table.to_numpy(float)):
            self.assertEqual(self.ranks(part).loc["B", "high"], 1.0)

    def test_equal_methods_share_a_rank(self):
        part = synthetic.problem("P", ["A", "B", "C"], seeds=5, queries=3)
        part["arrays"]["simple_regret"][:] = 0.0
        found = self.ranks(part)
        self.assertEqual(set(found["rank"]), {2.0})
        self.assertEqual(set(found["first"]), {1.0})
        self.assertTrue(comparisons.rank_tables(load(self.scratch / "s.h5"), "simple")[0].rows)
        self.assertEqual(comparisons.rank_tables(self.study(synthetic.problem("P", ["A"], seeds=3, queries=3)), "simple"), [])

    def test_dots_are_the_trials_and_crosses_the_stuck_ones(self):
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=12)
        lost = [k for k, (a, _, s) in enumerate(part["cells"]) if a == "A" and s in (3, 7)]
        part["arrays"]["simple_regret"][lost] *= 1e3
        for k, (a, _, seed) in enumerate(part["cells"]):  # far above the median, with no gap below: not stuck
            part["arrays"]["simple_regret"][k] *= 3.0**max(0, seed - 6) if a == "B" else 1.0
        results = self.study(part, synthetic.made_up("Zero", {"A": 0.0, "B": 0.1}, seeds=12))
        for problem in results.problems:
            figure = finals.final_figure(results, problem, "simple")
            axes, = figure.axes
            values = finals.final_values(results, problem, "simple")
            drawn = [np.sort(line.get_xdata()) for line in axes.lines]
            names = [text.get_text() for text in axes.get_yticklabels()]
            for row, name in enumerate(names):
                rest, crosses, median = drawn[3 * row:3 * row + 3]
                own = np.sort(values[name])
                np.testing.assert_array_equal(np.sort(np.concatenate([rest, crosses])), own)
                self.assertEqual(len(crosses), robust.stuck(own).sum())
                self.assertEqual(median, np.median(own))
            self.assertEqual(len(drawn[1]), tables.stuck_trials(results, problem, "simple")["A"])
            self.assertEqual(names, ["A", "B"])
            style.write(figure, self.scratch / "f.png", 75, "png")
        self.assertIn("(2 in all)", finals.caption(results, "simple"))

    @common.needs_program
    def test_settings_in_words(self):
        """Every setting that differs from its default or between methods has a row with its meaning; no other has one."""
        parts = [{"beta": "auto", "delta": "0.1"}, {"beta": "srinivas", "delta": "0.1"}]
        values = [("algorithm", "gp_ucb", [("A", parts[0]), ("B", parts[1])]),
                  ("run", "", [("P", {"iterations": "50", "noise_known": "true", "noise_variance": "0.0"})]),
                  ("surrogate", "", [("A", {"kernel": "gaussian"}), ("B", {"kernel": "gaussian"}), ("A", {"kernel": "matern32"})])]
        with mock.patch.object(settings_table, "_values", lambda _: values):
            rows = [[text for text, _ in row] for row in settings_table.settings_table(mock.Mock(archived=False)).rows]
        self.assertEqual([row[:4] for row in rows], [
            ["A", "beta", "auto", "auto"], ["B", "beta", "srinivas", "auto"], ["P", "iterations", "50", "–"],
            ["the model of all methods with one", "kernel", "swept: gaussian, matern32", "matern52"]])
        self.assertEqual([row[4] for row in rows][2:], ["queries after the initial design", "covariance function"])

    @common.needs_program
    def test_a_setting_that_an_archive_lacks_has_its_default(self):
        """The program that made it may be older; the setting is not swept therefore."""
        for known in (True, False):
            settings_table.described.cache_clear()
            with mock.patch.object(settings_table, "_values", lambda _: [("run", "", [("P", {"stop_rule": "false"}), ("P", {})])]), \
                    contextlib.nullcontext() if known else mock.patch.object(program, "program", lambda: None):
                self.assertEqual(settings_table.settings_table(mock.Mock(archived=True)).rows, [])
                self.assertEqual(len(settings_table.settings_table(mock.Mock(archived=False)).rows), known)
        settings_table.described.cache_clear()

    def test_settings_without_a_program(self):
        settings_table.described.cache_clear()
        with mock.patch.object(program, "program", lambda: None):
            self.assertEqual(settings_table.described("ei"), {})
        settings_table.described.cache_clear()
