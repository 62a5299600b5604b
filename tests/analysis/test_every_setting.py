"""A setting of any name in the parameters tables of the sources can be swept: it is a column beside those that the
tables of the analysis always have."""
import contextlib
import io
import os
import re
import subprocess
import unittest

import common
import numpy as np
import synthetic
from regatta_analysis import load
from regatta_analysis.__main__ import main
from regatta_analysis.figures import sweep as figures
from regatta_analysis.load import integrity, settings
from regatta_analysis.stats import sweep

SOURCES = common.HERE.parents[1] / "src"
PART = {"algorithm": "algorithm", "problem": "problem", "acquisition": "maximiser", "gp": "surrogate",
        "study": "run", "robust": "problem", "density": "algorithm"}
ENTRY = re.compile(r'\bRG_(?:REALS?|INTS?|BOOL|CHOICE|PATH|TEXTS?|[A-Z]+)\("([a-z]\w*)", *[A-Za-z]\w*, *\w+,')
TOGETHER = 30  # settings in a study


def parameters():
    """{name: part} of all entries of parameters tables but `score`, which is the measure that a trial aims at."""
    found = {}
    for path in sorted(SOURCES.rglob("*.[ch]")):
        part = PART.get(path.relative_to(SOURCES).parts[0])
        for name in ENTRY.findall(path.read_text(encoding="utf-8")) if part else ():
            found.setdefault(name, part)
    return {name: part for name, part in found.items() if name != "score"}


def study(path, names):
    """Two methods and a problem, swept over all the names together: two cells each."""
    pairs = [(k, ", ".join(f"{name}={k + 1}" for name in names)) for k in range(2)]
    made = synthetic.problem("P", ["A0", "A1", "B0", "B1"], seeds=3, queries=3)
    swept = [dict(pairs)[int(cell[0][1])] for cell in made["cells"]]
    own = [", ".join(f"{n}={int(cell[0][1]) + 1}" for n, part in names.items() if part == "algorithm")
           for cell in made["cells"]]
    made["cells"] = [(f"{cell[0][0]} ({text})" if text else cell[0][0], *cell[1:])
                     for cell, text in zip(made["cells"], own)]
    made["swept"], values = swept, np.array([text.split(", ")[0].split("=")[1] for text in swept], int)
    there = {"problem", "algorithm", "instance", "seed", "id", "status", "swept", "key", "optimum", "cell",
             *made["arrays"], *integrity.COLUMNS_BEFORE}
    made["settings"] = {f"{part}.{name}" if name in there else name: (part, values.astype(float))
                        for name, part in names.items()}
    synthetic.write(path, [made], schema_version=2)
    return values, made["arrays"]["simple_regret"][:, -1]


class EverySetting(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.coarse(cls)
        found = list(parameters().items())
        found += [(name, "algorithm") for name in sorted(settings.RESERVED - dict(found).keys())]
        cls.chunks = [dict(found[k:k + TOGETHER]) for k in range(0, len(found), TOGETHER)]

    def test_tables_are_found(self):
        names = parameters()
        self.assertGreater(len(names), 100)
        for name, part in (("value", "algorithm"), ("noise_variance", "surrogate"), ("dim", "problem")):
            self.assertIn(name, names)
        self.assertTrue(settings.RESERVED & names.keys(), "no parameter has the name of a column")

    def test_as_data(self):
        """Each setting is a column with its own values, beside the columns that are always there."""
        for k, names in enumerate(self.chunks):
            path = self.scratch / f"{k}.h5"
            values, final = study(path, names)
            results = load(path)
            self.assertEqual(len(results.settings), len(names))
            table, data, trials = sweep.final_values(results, "simple"), results.data, results.trials
            for frame in (table, data, trials):
                self.assertTrue(frame.columns.is_unique)
            dataset = results.group("P").whole([results.group(p) for p in results.problems]).dataset()
            self.assertEqual(len(table), len(final))
            for name in names:
                with self.subTest(name=name):
                    column = results.full_name(name)
                    self.assertIn(column, results.settings)
                    np.testing.assert_array_equal(trials[column], values)
                    np.testing.assert_array_equal(dataset[column], values)
                    for v in (1, 2):
                        np.testing.assert_allclose(np.sort(table.loc[table[column] == v, "value"]),
                                                   np.sort(final[values == v]))
                        self.assertEqual(len(results.select(where={name: v}).trials), len(final) // 2)

    @unittest.skipUnless("REGATTA" in os.environ, "no program")
    def test_a_study_that_sweeps_value(self):
        """The fixed confidence parameter of a method, with other parts' settings beside it."""
        (self.scratch / "s.yaml").write_text(
            "study: s\nseeds: 2\ncommon: {iterations: 2, initial_points: 2}\nproblems: [forrester]\n"
            "algorithms: [random, {name: gp_ucb, beta: fixed}]\nsweep: [{algorithms.gp_ucb.value: [1, 4]}]\n")
        subprocess.run([os.environ["REGATTA"], "run", self.scratch / "s.yaml", "-o", self.scratch / "s.h5",
                        "-quiet"], check=True, stdout=subprocess.DEVNULL)
        results = load(self.scratch / "s.h5")
        self.assertEqual(results.settings, ["algorithm.value"])
        table = sweep.final_values(results, "simple")
        self.assertEqual(table.groupby(["method", "algorithm.value"]).size().to_dict(),
                         {(m, v): 2 for m in ("random", "gp_ucb") for v in (1.0, 4.0)})
        self.assertEqual(len(figures.over_figures(results, "algorithm.value", "simple")), 1)
        self.run_main(self.scratch / "s.h5", "--out", self.scratch / "out", "--formats", "png", "--over", "value")

    def run_main(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.assertEqual(main([str(a) for a in arguments]), 0, said.getvalue())


if __name__ == "__main__":
    unittest.main()
