"""Figures do not depend on the settings of a user's Matplotlib, and are drawn without a warning."""
import os
import subprocess
import sys
import warnings
from unittest import mock

import matplotlib
import numpy as np
import pandas as pd

import common
import synthetic
from regatta_analysis import load
from regatta_analysis.figures import figures, overviews, style

# Values that a user may write for a setting of each kind.
OTHERS = [True, False, "red", "0.3", 3, 0.7, 17.0, "tight", "both", "center", "monospace", ["DejaVu Sans Mono"], ":", [2.0, 1.0],
          "in", "left", "top", 1000, "round", (0.1, 2.0), "data", "compressed", "plasma", "dejavusans", "x", "none"]


def hostile():
    """Another value for every setting of Matplotlib that has one and reaches drawing."""
    found = {}
    for name, usual in matplotlib.rcParamsDefault.items():
        if name.startswith(("backend", "interactive", "toolbar", "webagg", "tk.", "savefig.directory", "keymap", "animation", "_internal")):
            continue
        for value in OTHERS:
            if type(value) is type(usual) or usual is None or isinstance(usual, (list, tuple)):
                with matplotlib.rc_context(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        matplotlib.rcParams[name] = value
                        changed = matplotlib.rcParams[name] != usual
                    except (ValueError, TypeError, KeyError, AttributeError):
                        continue
                if np.all(changed):
                    found[name] = value
                    break
    return found


class Style(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.coarse(cls)
        cls.results = synthetic.loaded(cls.directory / "s.h5", [synthetic.problem("P", ["EI", "TS"], seeds=8, queries=6)])

    def drawn(self):
        """The bytes of a figure that is made and written anew."""
        paths = style.save(figures.regret_grid(self.results, ["P"], "simple"), self.scratch / "f", ["png", "svg", "pdf"])
        return [path.read_bytes() for path in paths]

    def test_settings_of_a_user_change_nothing(self):
        found, plain = hostile(), self.drawn()
        self.assertGreater(len(found), 150)
        for less in ({}, {"savefig.bbox", "figure.autolayout", "figure.constrained_layout.use", "savefig.format"}):
            with matplotlib.rc_context():
                matplotlib.rcParams.update({name: value for name, value in found.items() if name not in less})
                self.assertEqual(self.drawn(), plain)
            with matplotlib.rc_context(), mock.patch.object(style, "_DEFAULTS", {}):  # a planted mistake is found
                matplotlib.rcParams.update({name: value for name, value in found.items() if name in ("text.color", *less)})
                self.assertNotEqual(self.drawn(), plain)

    def test_backends_that_are_not_there(self):
        """A notebook leaves MPLBACKEND=inline to programs that it starts."""
        code = "import regatta_analysis.figures.style as s; s.Drawing(1, 1).savefig('f.png'); print('drawn')"
        for backend in ("inline", "module://nothing", "agg", "", "no such backend"):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.scratch, env={
                **os.environ, "MPLBACKEND": backend, "PYTHONPATH": str(common.HERE.parents[1] / "analysis")})
            self.assertEqual((done.stdout, done.stderr), ("drawn\n", ""), backend)


class Profiles(common.Case):
    def test_costs_without_an_extent(self):
        """All targets reached at once, at no cost, after one query, or never: no warning, and axes with an extent."""
        rows = [[p, m, 0, s, t] for p in "PQ" for m in ("EI", "TS") for s in (0, 1) for t in (0.1, 0.01)]
        table = pd.DataFrame(rows, columns=["problem", "algorithm", "instance", "seed", "target"])
        for costs in (0.0, 1.0, np.inf, [0.0, np.inf] * 8, [0.0, 1.0] * 8, [1.0, np.inf] * 8):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                figure = overviews.profile_figure(table.assign(cost=costs), "queries", ["EI", "TS"])
                style.save(figure, self.scratch / "f", ["png"])
            for axes in figure.axes:
                low, high = axes.get_xlim()
                self.assertTrue(0.0 < low < high)

    def test_studies_without_an_extent(self):
        """One query, nothing reached, everything reached at t = 0: the whole command warns of nothing."""
        from regatta_analysis.__main__ import _study_parser
        from regatta_analysis.report import summary
        for name, queries, change in (("one", 1, None), ("none", 5, lambda r: r[:, :1]), ("all", 5, lambda r: 0.0)):
            made = [synthetic.problem(p, ["EI", "TS", "Random"], seeds=7, queries=queries) for p in ("P", "Q")]
            for part in made if change else ():
                regret = part["arrays"]["simple_regret"]
                regret[:] = change(regret)
            synthetic.write(self.scratch / f"{name}.h5", made)
            with warnings.catch_warnings(), mock.patch.object(style, "DPI", 40):
                warnings.simplefilter("error")
                summary.write_all(load(self.scratch / f"{name}.h5"), _study_parser().parse_args(
                    [f"{name}.h5", "--out", str(self.scratch / name), "--formats", "png"]))
