"""The files the program itself writes, read and drawn; needs REGATTA, the path of the program."""

import common
import numpy as np
import xarray as xr
from regatta_analysis import load
from regatta_analysis.__main__ import main
from regatta_analysis.figures.figures import recorded_law
from regatta_analysis.load import program
from regatta_analysis.report import export, study_page
from regatta_analysis.stats.regret import curves

STUDY = """
study: two_problems
title: Two problems
seed: 3
seeds: 2
instances: 2
common:
  iterations: 6
  initial_points: 4
problems:
  - name: gp_path
    label: GP path
    dim: 2
    levels: 5
    surrogate: {kernel: gaussian, length_scale: 0.1, fit: fixed, standardise: false}
  - name: ackley
    label: Ackley, d = 2
    dim: 2
algorithms:
  - {name: random, label: Random}
  - {name: gp_ucb, label: GP-UCB}
"""


@common.needs_program
class Plan(common.Case):
    def test_how_many_trials_a_study_will_have(self):
        """The remaining work according to the page of a running study."""
        self.assertEqual(sum(cell["trials"] for cell in program.planned(STUDY, ".")), 2 * 2 * 2 + 2 * 2)
        self.assertIsNone(program.planned("study: x\nproblems: [no_such]\n", "."))
        path = self.run_study("two", STUDY)
        folder = self.scratch / "other.h5.d"
        folder.mkdir()
        path.rename(folder / f"0-{'0' * 32}.h5")  # shards have the same schema
        page = study_page.write([folder]).read_text()
        self.assertIn("has 12 of 12 planned trials", page)
        self.assertIn("<b>12 / 12</b><span>trials done</span>", page)

    def run_study(self, name, text):
        study, path = self.scratch / f"{name}.yaml", self.scratch / f"{name}.h5"
        study.write_text(text)
        common.regatta("run", study, "-o", path, "-quiet")
        return path

    def test_credits_reach_the_file_and_what_is_made_of_it(self):
        """As attributes by their ACDD names; no checksum changes."""
        credits = "authors: [Ada, Bo]\nlicence: CC-BY-4.0\ndoi: 10.1/x\nkeywords: [regret, sweep]\n"
        part = STUDY.replace("seeds: 2", "seeds: [7]")
        named = [self.run_study("named", credits + STUDY), self.run_study("part", credits + part)]
        plain = self.run_study("plain", STUDY)
        merged = self.scratch / "merged.h5"
        common.regatta("merge", *named, "-o", merged)
        for path in (named[0], merged):
            self.assertEqual({k: str(v) for k, v in load(path, partial=True).attributes.items()
                              if k in export.CREDITS}, {"creator_name": "Ada, Bo", "license": "CC-BY-4.0",
                                                        "id": "10.1/x", "keywords": "regret, sweep"})
        self.assertEqual(load(named[0]).attributes["checksum"], load(plain).attributes["checksum"])
        self.assertFalse(set(export.CREDITS) & set(load(plain).attributes))
        self.assertIn("\nauthors   Ada, Bo\nlicence   CC-BY-4.0\n", common.regatta("info", named[0]))


@common.needs_program
class Program(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.directory / "study.h5"
        study = cls.directory / "study.yaml"
        study.write_text(STUDY)
        common.regatta("run", study, "-o", cls.path)

    def test_trials_and_evaluations(self):
        results = load(self.path)
        self.assertEqual(results.title, "Two problems")
        self.assertIn("study: two_problems", results.study)
        self.assertEqual(results.problems, ["GP path", "Ackley, d = 2"])
        self.assertEqual(results.algorithms, ["Random", "GP-UCB"])
        cells = results.cells()
        self.assertEqual(list(cells["done"]), [4, 4, 2, 2])  # Ackley has one instance
        self.assertEqual(len(results.data), 12 * 10)
        self.assertEqual((results.data["t"].min(), results.data["t"].max()), (-3, 6))
        gap = results.data.groupby(["problem", "algorithm", "instance", "seed"])["simple_regret"]
        self.assertTrue((gap.diff().dropna() <= 0).all())

    def test_common_initial_design(self):
        """All algorithms of a seed start from the same evaluations."""
        start = curves(load(self.path), "Ackley, d = 2", "simple_regret")[0]
        np.testing.assert_array_equal(start.loc["Random"], start.loc["GP-UCB"])

    def test_confidence_is_that_of_the_formula(self):
        results = load(self.path)
        for problem, points in (("GP path", 25), ("Ackley, d = 2", 0)):
            measured = curves(results, problem, "confidence").loc["GP-UCB"].to_numpy()[:, 1:]
            law = recorded_law(results, problem, "GP-UCB", np.arange(1, 7), points)
            np.testing.assert_allclose(measured, np.tile(law["mean"], (len(measured), 1)))

    def test_xarray_reads_it_without_us(self):
        ours = load(self.path).xarray("Ackley, d = 2")
        for engine in ("h5netcdf", "netcdf4"):
            try:
                with xr.open_dataset(self.path, group="Ackley, d = 2", engine=engine) as theirs:
                    np.testing.assert_array_equal(theirs["x"], ours["x"])
                    self.assertEqual(theirs["x"].dims, ours["x"].dims)
                    np.testing.assert_array_equal(theirs["algorithm"], ours["algorithm"])
            except (ImportError, ValueError) as error:
                if "engine" not in str(error):
                    raise

    def test_command(self):
        out = self.scratch / "out"
        self.assertEqual(main([str(self.path), "--out", str(out), "--formats", "png"]), 0)
        self.assertTrue((out / "regret_Ackley_d_2_simple.png").exists())
        self.assertTrue((out / "confidence.png").exists())
