"""A host or a plug-in that has called setlocale changes nothing: numbers are read and written with a point."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from regatta_test import HERE, REGATTA, RegattaTest, environment

# what a host does before Regatta begins: the constructor of a library that is loaded first
HOST = """
#include <locale.h>
#include <stdlib.h>

__attribute__((constructor)) static void host(void)
{
  if (!setlocale(LC_ALL, "de_DE.UTF-8") || localeconv()->decimal_point[0] != ',') abort();
}
"""
STUDY = """
study: comma
seeds: 2
common: {iterations: 4, initial_points: 3, noise_variance: 0.0625, on_failure: penalty 0.5}
sweep: [{common.surrogate.variance: [0.5, 2.0e0]}]
problems:
  - {name: branin}
  - name: newsvendor
    law: "mixture(7/8 * normal(0.5, 0.25), 1/8 * uniform(0.1, 0.9))"
algorithms:
  - {name: ei, surrogate: {kernel: matern52, noise_variance: 1.5e-3}}
  - {name: gp_ucb, beta: fixed, value: 1.25}
"""
CREW = """
study: crew
seeds: 1
common:
  iterations: 5
  initial_points: 2
  noise_variance: 0.01
  workers: 2
  duration: lognormal(0.1, 0.5)
  given: known.csv
problems: [{name: branin}]
algorithms: [{name: ei}]
"""
OUTSIDE = """
study: outside
seeds: 1
common: {iterations: 4, initial_points: 2}
problems:
  - name: external
    label: bowl
    program: evaluator.py
    inputs: [a real 1e-3 0.5 log, n real -1.5 6.5]
algorithms: [{name: ei}]
"""


class Locale(RegattaTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        if not shutil.which("localedef") or not pathlib.Path("/usr/share/i18n/locales/de_DE").exists():
            raise unittest.SkipTest("no locale with a comma can be made (package locales)")
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", cls.root / "de_DE.UTF-8"], check=True)
        (cls.root / "host.c").write_text(HOST)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.root / "host.so", cls.root / "host.c"], check=True)

    def comma(self):
        return mock.patch.dict(os.environ, LOCPATH=str(self.root), LD_PRELOAD=str(self.root / "host.so"))

    def same(self, *arguments, stdin=None):
        """A command prints the same under both locales."""
        def said():
            done = subprocess.run([REGATTA, *map(str, arguments)], capture_output=True, text=True, input=stdin or "",
                                  env={**environment(), "OMPI_MCA_orte_create_session_dirs": "0"})
            return done.returncode, done.stdout, done.stderr
        plain = said()
        with self.comma():
            self.assertEqual(said(), plain, arguments)
        return plain

    def test_studies(self):
        """Values, sweeps, laws, logs of evaluations, times: the bytes of the results."""
        (self.folder / "evaluator.py").symlink_to(HERE / "evaluator.py")
        for name, text in {"comma": STUDY, "crew": CREW, "outside": OUTSIDE}.items():
            with self.subTest(name):
                study = self.write(f"{name}.yaml", text)
                self.write("known.csv", "x1,x2,y\n0.25,1.5,-1.25\n-2.5,7.75,-3e-1\n")
                for place, locale in (("plain", contextlib.nullcontext()), ("comma", self.comma())):
                    with locale:
                        self.run_ok("run", study, "-o", self.folder / f"{name}-{place}.h5", "-quiet")
                        self.run_ok("verify", self.folder / f"{name}-{place}.h5")
                plain, comma = (self.folder / f"{name}-{place}.h5" for place in ("plain", "comma"))
                self.assertEqual(self.checksum(plain), self.checksum(comma))
                self.same("info", comma)
                self.same("status", study, "-o", comma)

    def test_commands(self):
        study = self.write("study.yaml", STUDY)
        self.same("plan", study, "-json", "-quick")
        self.same("bounds", study)
        for arguments in (["describe", "gp_ucb"], ["describe", "surrogate"], ["list", "measures"],
                          ["describe", "laws"], ["list", "kernels"],
                          ["eval", "newsvendor", "-set", "law=mixture(0.25 point(0.5), normal(0.1, 0.3))", "-x", "0.5"],
                          ["eval", "shift_example", "-set", "measure=cvar(0.25)", "-x", "0.5"],
                          ["eval", "branin", "-x", "0,5;1,5"], ["bounds", study, "-delta", "0,5"],
                          ["plan", study, "-memory", "1,5"]):
            self.same(*arguments)
        code, out, _ = self.same("bounds", "-formula", "rgp_ucb", "points=1000", stdin="t\n1.5\n2e2\n")
        self.assertEqual(code, 0)
        self.assertIn("43.17", out)
        code, out, _ = self.same("serve", "branin", stdin='{"id": 1, "do": "evaluate", "x": [[0.5, 1.25]]}\n')
        self.assertEqual(code, 0)
        self.assertIn(".", out)

    def test_mistakes(self):
        """A comma is a mistake everywhere, in the same words; what follows a number is not overlooked."""
        for wrong in ("noise_variance: 0,5", 'noise_variance: "0,5"', "noise_variance: 0.5x", 'on_failure: "penalty 0,5"',
                      'on_failure: "penalty 0.5 x"', "noise_variance: 1e400", "noise_variance: 1e-400"):
            study = self.write("wrong.yaml", STUDY.replace("noise_variance: 0.0625,", wrong + ",", 1)
                               if "noise" in wrong else STUDY.replace("on_failure: penalty 0.5", wrong))
            code, _, err = self.same("plan", study)
            self.assertEqual(code, 2, (wrong, err))
            self.assertRegex(err, r"wrong.yaml:\d+:\d+: ")
