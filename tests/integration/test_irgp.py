"""The studies of experiments/irgp_ucb, small: the same bits on one and on three ranks, figures, and a
user's table as spreadsheets save it."""
import os
import subprocess
import sys
import unittest

try:
    import h5py
    import matplotlib  # noqa: F401
    import numpy as np
    import pandas  # noqa: F401
except ImportError:
    h5py = None

from regatta_test import HERE, LONG, RegattaTest

ROOT = HERE.parents[1]
STUDIES = ROOT / "experiments" / "irgp_ucb"
DATASET = """study: table
seeds: 2
common: {iterations: 8, initial_points: 2, noise_variance: 1.0e-4}
problems: [{name: dataset, path: t.csv}]
algorithms: [ts, mes, jes, pims, irgp_ucb]
"""


class Irgp(RegattaTest):
    @unittest.skipUnless(h5py and LONG, "a long test; or no h5py, Matplotlib, pandas")
    def test_smoke_to_figures(self):
        results, out = self.same_bits(STUDIES / "smoke.yaml", layouts=(1, 3)), self.folder / "figures"
        done = subprocess.run([sys.executable, "-m", "regatta_analysis", results, "--out", out],
                              env={**os.environ, "PYTHONPATH": str(ROOT / "analysis"),
                                   "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = [path for path in out.iterdir() if path.suffix in (".pdf", ".png")]
        self.assertTrue(drawn and all(path.stat().st_size > 1000 for path in drawn), drawn)

    @unittest.skipUnless(h5py, "no h5py")
    def test_figures_of_the_paper(self):
        """The study files themselves, two trials of a few queries of each cell."""
        for name in ("fig1a", "fig1b", "fig1b_exact", "fig2a"):
            text = (STUDIES / f"{name}.yaml").read_text()
            for key, most in (("seeds", 2), ("instances", 2), ("iterations", 6)):
                text = "\n".join(
                    f"{line.partition(key)[0]}{key}: {most}" if line.strip().startswith(f"{key}: ")
                    else line for line in text.splitlines())
            with h5py.File(self.results_of(text, "-strict", name=f"{name}.h5", ranks=2)) as results:
                for group in results.values():
                    if "simple_regret" in group:
                        self.assertTrue((np.diff(group["simple_regret"][:], axis=1) <= 0).all())
                        self.assertTrue((np.diff(group["cumulative_regret"][:][:, -6:], axis=1)
                                         >= 0).all())

    @unittest.skipUnless(h5py, "no h5py")
    def test_a_table_as_spreadsheets_save_it(self):
        """A byte-order mark, semicolons, CR LF, a constant column and rows given twice."""
        rows = [(x / 4, y / 4, 7) for x in range(5) for y in range(3)]
        lines = ["x;y;batch;yield"] + [f"{x};{y};{c};{x * (1 - x) + y}" for x, y, c in rows + rows[:4]]
        (self.folder / "t.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
        with h5py.File(self.same_bits(DATASET, layouts=(1, 3))) as results:
            group = results["dataset"]
            self.assertTrue((group["optimum"][...] == 0.75).all())
            for x in group["x"][:]:  # no row is asked for twice
                self.assertEqual(len(np.unique(x, axis=0)), 10)
        (self.folder / "t.csv").write_text("x,y\n1,2\n2,much\n")
        self.refused("run", self.folder / "study.yaml", "-o", self.folder / "no.h5",
                     says="t.csv:3: column 'y' must be a number, got 'much'")
