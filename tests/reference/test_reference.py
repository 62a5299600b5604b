"""Each paper's method against an independent program written from the paper (NumPy, a file per paper
beside this one): 30 trials each with other random numbers, so distributions of regret are compared, and
for RRGP-UCB, whose recommendations forgive a wrong width, those of its bounds. Seeds are fixed: the
outcome is always the same."""
import importlib
import os
import pathlib
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # matrices are small
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402
from scipy.stats import ks_2samp, mannwhitneyu  # noqa: E402

from regatta_test import RegattaTest, regatta  # noqa: E402

LEVEL = 0.01
SEED = 1  # of the references


def final(regret):
    return regret[:, -1]


def average(regret):
    return regret.mean(axis=1)


def p_values(ours, theirs):
    """Two-sample tests of the last value and of the mean over t: (regret, statistic, test) -> p.
    Rounding makes equal what trials at the same corner of the domain have in common."""
    found = {}
    for name, regret in theirs.items():
        for statistic in (final, average):
            a, b = statistic(ours[name]).round(6), statistic(regret).round(6)
            found[name, statistic.__name__, "Mann-Whitney"] = mannwhitneyu(a, b).pvalue
            found[name, statistic.__name__, "Kolmogorov-Smirnov"] = ks_2samp(a, b).pvalue
    return found


class Reference(RegattaTest):

    def ours(self, reference, names):
        """The program's regret in the study of a reference: name -> array (trial, t)."""
        study, output = self.write("study.yaml", reference.STUDY), self.folder / "study.h5"
        code, out, err = regatta("run", study, "-o", output, "-quiet")
        self.assertEqual(code, 0, out + err)
        with h5py.File(output) as file:
            return {name: file["problem"][name][:] for name in names}

    def compare(self, paper, **wrong):
        """Agreement with the reference; with `wrong`, that the reference altered so is rejected."""
        reference = importlib.import_module(paper)
        theirs = reference.run(SEED)
        ours = self.ours(reference, theirs)
        for name, regret in theirs.items():
            ours[name] = ours[name][:, -regret.shape[1]:]
            self.assertEqual(ours[name].shape, regret.shape)
            self.assertTrue(np.isfinite(ours[name]).all())
        for what, p in p_values(ours, theirs).items():
            with self.subTest(paper=paper, what=what):
                self.assertGreater(p, LEVEL)
        if wrong:
            altered = p_values(ours, reference.run(SEED, **wrong))
            self.assertLess(min(altered.values()) * len(altered), LEVEL, altered)

    def test_irgp_ucb(self):
        self.compare("irgp_ucb", width=0.5)

    def test_boke(self):
        self.compare("boke", width=0.25)

    def test_sbo_kde(self):
        self.compare("sbo_kde")

    def test_wdrbo(self):
        self.compare("wdrbo", radius=5)

    def test_rrgp_ucb(self):
        self.compare("rrgp_ucb", width=0.5)
