"""Large studies: figures in pages, statistics whose cost grows with the trials and no faster, progress on
terminals."""
import io
import unittest

import common
import numpy as np
import synthetic
import regatta_analysis.progress as progress
from regatta_analysis.figures.overviews import _thinned
from regatta_analysis.report.summary import PAGE, PAGES, regret_pages
from regatta_analysis.stats import statistics


class Pages(unittest.TestCase):
    def test_few_problems_have_a_figure_each(self):
        pages = regret_pages(["A", "B b"])
        self.assertEqual(pages, [("A", "A", ["A"]), ("B b", "B_b", ["B b"]),
                                 ("All problems", "all", ["A", "B b"])])
        self.assertEqual(regret_pages(["A"]), [("A", "A", ["A"])])

    def test_many_problems_are_pages(self):
        problems = [f"P{k}" for k in range(10 * PAGE + 1)]
        pages = regret_pages(problems)
        self.assertEqual([p for _, _, page in pages for p in page], problems)
        self.assertEqual((pages[0][1], pages[-1][1]), ("all_page01", "all_page11"))
        self.assertEqual(pages[-1][0], f"Problems {10 * PAGE + 1} to {10 * PAGE + 1} of {len(problems)}")

    def test_very_many_problems(self):
        pages = regret_pages([f"P{k}" for k in range(1000)])
        self.assertEqual(len(pages), PAGES)
        self.assertIn("of 1000 (--problems and --where choose others)", pages[0][0])


class Statistics(common.Case):
    def test_resamples(self):
        """Each row counts as often as its group was drawn, in blocks as well as at once."""
        groups = np.random.default_rng(0).integers(5, size=40)
        for given in (None, groups):
            rows = statistics._rows_by_group(40, given)
            weights = np.concatenate(list(statistics._resamples(rows, 40, 30, 7)))
            picked = np.random.default_rng(7).integers(len(rows), size=(30, len(rows)))
            for draw, mine in zip(weights, picked):
                for k, members in enumerate(rows):
                    np.testing.assert_array_equal(draw[members], np.sum(mine == k))
        large = [block.shape for block in statistics._resamples(
            statistics._rows_by_group(300000, None), 300000, 9, 0)]
        self.assertEqual(sum(n for n, _ in large), 9)
        self.assertLess(max(n for n, _ in large), 9)

    def test_thinned_steps(self):
        costs, share = np.array([1.0, 1.0, 2.0, 3.0, 3.0]), np.linspace(0.2, 1.0, 5)
        kept = _thinned(costs, share)
        np.testing.assert_array_equal(kept[0], [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(kept[1], share[[1, 2, 4]])
        many = _thinned(np.arange(10.0**5), np.arange(10.0**5))
        self.assertEqual((len(many[0]), many[0][0], many[0][-1]), (2000, 0.0, 10.0**5 - 1))
        self.assertEqual(len(_thinned(costs[:0], share[:0])[0]), 0)

    def test_cells_of_some_problems(self):
        path = self.scratch / "study.h5"
        results = synthetic.loaded(path, [synthetic.problem(label, ["EI", "TS"], seeds=2, queries=2)
                                          for label in ("P", "Q", "R")])
        some = results.cells(["R", "P"])
        self.assertEqual(list(some["problem"]), ["R", "R", "P", "P"])
        self.assertEqual(list(some["done"]), [2] * 4)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Progress(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, progress, "time", progress.time)
        self.now = 0.0
        progress.time = self

    def monotonic(self):
        self.now += 0.5
        return self.now

    def test_bar_after_two_seconds_on_a_terminal(self):
        terminal, file = Terminal(), io.StringIO()
        self.assertEqual(list(progress.progress(range(3), "things", terminal)), [0, 1, 2])
        self.assertEqual(terminal.getvalue(), "")
        list(progress.progress(range(10), "things", file))
        self.assertEqual(file.getvalue(), "")
        list(progress.progress(range(10), "things", terminal))
        self.assertIn("/10 things", terminal.getvalue())
        self.assertTrue(terminal.getvalue().endswith("\r\x1b[K"))
