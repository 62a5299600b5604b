"""Values of a problem that is minimised are shown as the user's program or table has them, in every place, and zero is
never -0. The program notes its answers; the printed numbers are compared with the notes."""
import json
import re
import sys

import common
import numpy as np
import pandas as pd
import synthetic
import xarray as xr
from regatta_analysis import InputError, escape, load
from regatta_analysis.report import export, tables
from regatta_analysis.stats import inference, measures, sweep

PROGRAM = """#!{python}
import json, sys
label, sign, least = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
for line in sys.stdin:
    request = json.loads(line)
    value = sign * (round(3 * abs(request["x"]["a"])) + least)
    with open("{notes}", "a") as notes:
        notes.write(json.dumps([label, request.get("trial"), request.get("evaluation"), value]) + "\\n")
    print(json.dumps({{"id": request["id"], "value": value}}), flush=True)
"""
PROBLEM = """  - {{name: external, label: {label}, program: ./program, arguments: [{label}, "{sign}", "{least}"],
     inputs: [a real -1 1], goal: {goal}{more}}}
"""
CASES = {"Loss": (1, 1, "minimise", ""), "Zero": (1, 0, "minimise", ", optimum: 0"),
         "Below": (1, -2, "minimise", ""), "Gain": (-1, 0, "maximise", "")}  # the best answer of Gain is -0.0
STUDY = """study: signs
seeds: 2
common: {{iterations: 4, initial_points: 3}}
problems:
{problems}  - {{name: dataset, label: Table, path: table.csv, goal: minimise, repeats: yes}}
algorithms: [random, ei]
"""
MINUS_ZERO = re.compile(r"(?<![\w.+-])[-−]0(\.0*)?(e[-+]?\d+)?(?![\d.\w])")


# Labels that a reader of YAML, JSON or CSV takes for something else, and as they stand in a study file.
TYPED = ["x", "2024", "1.50", "true", "yes", "on", "1e3", "0x10", "0o17", "012", "1_000", "2020-01-01", "12:30:45", "~x", "+1",
         "-.5", "1e400", "inf", "=1+1", "é 中", "a: b", "#5", "x (y=1)", '"~"', "'<<'", '"!!int 3"']
POOLS = """study: pools
seeds: 2
instances: 1
common: {initial_points: 2}
problems:
%salgorithms:
%ssweep:
  - {common.count_initial: [no, yes]}
"""
POOL = "  - {label: %s, name: dataset, path: table.csv, repeats: yes, goal: %s, iterations: %d}\n"
METHOD = "  - {label: %s, name: gp_ucb, beta: fixed, value: %d}\n"


@common.needs_program
class Typed(common.Case):
    """Labels are compared as texts, whatever they look like."""

    def test_labels_that_look_like_something_else(self):
        (self.scratch / "table.csv").write_text("a,y\n" + "".join(f"{k},{k + 5}\n" for k in range(6)))
        written = [label if label[0] in "'\"" else json.dumps(label) if label[0] in "#~-" or ": " in label else label
                   for label in TYPED]
        labels, goals = [label.strip("'\"") for label in TYPED], ["minimise", "maximise"]
        pools = [POOL % (label, goals[k % 2], k + 1) for k, label in enumerate(written)]
        methods = [METHOD % (label, k + 1) for k, label in enumerate(written)][::-1]
        self.check(pools, ["  - random\n"], labels, ["random"])
        self.check(pools[:1], methods, labels[:1], labels[::-1])

    def check(self, pools, methods, problems, algorithms):
        path, shards = self.scratch / "s.h5", self.scratch / "t.h5.d"
        (self.scratch / "s.yaml").write_text(POOLS % ("".join(pools), "".join(methods)))
        common.regatta("run", "s.yaml", "-o", path, "-quiet", cwd=self.scratch)
        self.check_results(load(path), problems, algorithms)
        shards.mkdir(exist_ok=True)
        path.rename(shards / "0-0.h5")  # an interrupted study, which has no order of its own
        self.check_results(load(shards), problems, algorithms)

    def check_results(self, results, problems, algorithms):
        self.assertEqual((results.places, results.algorithms), (problems, algorithms))
        for k, label in enumerate(problems):
            group, turned = results.group(label), results.minimised(label)
            self.assertEqual(turned.tolist(), [k % 2 == 0] * group.n, label)
            self.assertEqual(set(results.minimised(f"{label} (count_initial=no)")), {k % 2 == 0}, label)
            table = export.as_answered(group.tidy(), turned.repeat(group.column("n_iterations")))
            self.assertTrue((table["y"] >= 5).all(), label)


@common.needs_program
class Signs(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        folder = cls.directory
        (folder / "program").write_text(PROGRAM.format(python=sys.executable, notes=folder / "notes"))
        (folder / "program").chmod(0o755)
        (folder / "table.csv").write_text("a,y\n" + "".join(f"{k},{(k - 3) ** 2 + 1}\n" for k in range(8)))
        (folder / "s.yaml").write_text(STUDY.format(problems="".join(
            PROBLEM.format(label=label, sign=sign, least=least, goal=goal, more=more)
            for label, (sign, least, goal, more) in CASES.items())))
        cls.path, cls.out = folder / "s.h5", folder / "out"
        cls.regatta("run", folder / "s.yaml", "-o", cls.path, "-quiet")
        cls.results = load(cls.path)
        cls.answers = cls._answers(folder / "notes")
        cls.run_main(cls.path, "--out", cls.out, "--formats", "png", "--metric", "best", "--page", cls.out / "p.html")
        cls.best = {}  # {(problem, algorithm): best answers of its trials, at the last query}
        for (problem, algorithm, _), values in cls.answers.items():
            best = max(values) if CASES.get(problem, [0] * 3)[2] == "maximise" else min(values)
            cls.best.setdefault((problem, algorithm), []).append(best)

    @classmethod
    def _answers(cls, path):
        """{(problem, algorithm, seed): values}: as the program noted them, of the table by the design in the file."""
        noted = {}
        for label, trial, evaluation, value in map(json.loads, path.read_text().splitlines()):
            noted.setdefault((label, trial), {})[evaluation] = value
        found, trials = {}, cls.results.trials
        for trial, name in zip(trials.itertuples(), cls.results.texts("id")):
            if trial.problem == "Table":
                group = cls.results.group("Table")
                at = (group.column("algorithm") == trial.algorithm) & (group.column("seed") == trial.seed)
                values = [(round(x) - 3) ** 2 + 1 for x in group.values("x")[at][0][:, 0]]
            else:
                values = [v for _, v in sorted(noted[trial.problem, name].items())]
            found[trial.problem, trial.algorithm, trial.seed] = values
        return found

    @classmethod
    def regatta(cls, *arguments):
        return common.regatta(*arguments, cwd=cls.directory)

    @classmethod
    def run_main(cls, *arguments):
        code, *said = common.run(*arguments)
        if code:
            raise AssertionError(said)

    def test_the_best_answers_are_those_meant(self):
        best = {p: min(v for (q, _), some in self.best.items() if q == p for v in some) for p in ("Loss", "Zero", "Below")}
        self.assertEqual(best, {"Loss": 1, "Zero": 0, "Below": -2})
        self.assertTrue(all(len(v) == 7 for v in self.answers.values()))

    def test_info(self):
        said = self.regatta("info", self.path)
        shown = {label: float(value) for label, value in re.findall(r"^best on (\w+): .* -> (\S+) \(", said, re.M)}
        self.assertEqual(shown, {"Loss": 1, "Zero": 0, "Below": -2, "Gain": 0})
        self.assertIsNone(MINUS_ZERO.search(said), said)

    def test_eval(self):
        """The answer of the program or the table, the optimum and the gradient of `regatta eval` have one sign."""
        def shown(*arguments):
            lines = (line.split() for line in self.regatta("eval", *arguments).splitlines()[1:])
            return {line[0]: line[1] for line in lines if len(line) > 1}
        for label, (sign, least, goal, _) in CASES.items():
            found = shown("external", "-set", f"program=./program,goal={goal},optimum={sign * least}", "-set",
                          f"arguments=[{label},{sign},{least}]", "-set", "inputs=a real -1 1", "-x", "0.6")
            answer = sign * (round(3 * 0.6) + least)
            self.assertEqual([float(found[name]) for name in ("f", "F", "optimum", "regret")],
                             [answer, answer, sign * least, 2], label)
        found = shown("dataset", "-set", "path=table.csv,goal=minimise", "-x", "5")
        self.assertEqual([found[name] for name in ("f", "F", "optimum", "regret")], ["5", "5", "1", "4"])
        up, down = (shown("gp_surrogate", "-set", f"path=table.csv,goal={goal}", "-x", "5.2")
                    for goal in ("maximise", "minimise"))
        self.assertEqual([up[name] for name in ("f", "F", "gradient")], [down[name] for name in ("f", "F", "gradient")])

    def test_tables(self):
        final = pd.read_csv(self.out / "final_regret.csv")
        for row in final.itertuples():
            own = self.best[row.problem, row.algorithm]
            self.assertEqual((row.mean, row.median, row.n), (np.mean(own), np.median(own), 2))
            self.assertEqual(row.more_is_better, row.problem == "Gain")
        for row in pd.read_csv(self.out / "curves.csv").itertuples():
            fold = max if row.problem == "Gain" else min
            own = [fold(v[:3 + row.t]) for (p, a, _), v in self.answers.items() if (p, a) == (row.problem, row.algorithm)]
            self.assertEqual((row.mean, row.low <= row.high), (np.mean(own), True))
        text = (self.out / "final_regret.md").read_text().splitlines()
        header, rows = text[4], [line.split("|")[1:-1] for line in text if re.match(r"\| (Random search|EI) ", line)]
        for k, name in enumerate(header.split("|")[2:-1], 1):
            problem, shown = name.split()[0], {row[0].strip(): row[k].strip() for row in rows}
            labels = {"Random search": "random", "EI": "ei"}
            for method, cell in shown.items():
                self.assertEqual(float(re.match(r"(?:\*\*)?(-?[\d.]+)", cell)[1]), np.mean(self.best[problem, labels[method]]), cell)
                self.assertTrue(cell.startswith("**"), (problem, cell))  # two trials tell nothing apart

    def test_comparisons(self):
        for row in pd.read_csv(self.out / "comparisons.csv").itertuples():
            a, b = (np.array(self.best[row.problem, name]) for name in (row.a, row.b))
            self.assertEqual((row.scale, row.effect), ("difference", np.median(b - a if row.problem == "Gain" else a - b)))

    def test_page(self):
        page = (self.out / "p.html").read_text()
        data = json.loads(re.search(r'<script[^>]*application/json[^>]*>(.*?)</script>', page, re.S)[1])
        chart = next(c for c in data if any(m["name"] == "Best value" for m in c["measures"]))
        at = [m["name"] for m in chart["measures"]].index("Best value")
        for label, panel in zip(chart["panels"], chart["data"]):
            for algorithm, curve in zip(load(self.path).algorithms, panel[at]["curves"]):
                self.assertEqual(curve["y"][-1], np.median(self.best[label, algorithm]), label)
        self.assertGreater(len(chart["panels"]), 3)

    def test_exports(self):
        for kind in ("csv", "netcdf", "coco", "ioh"):
            self.run_main("export", self.path, "--to", kind, self.scratch / kind)
        table = pd.read_csv(self.scratch / "csv" / "evaluations.csv")
        for (problem, algorithm, seed), mine in table.groupby(["problem", "algorithm", "seed"]):
            for name in ("y", "f", "objective"):
                self.assertEqual(mine[name].tolist(), self.answers[problem, algorithm, seed], (problem, name))
        optimum = pd.read_csv(self.scratch / "csv" / "trials.csv").groupby("problem")["optimum"].first()
        self.assertEqual((optimum["Zero"], optimum["Table"]), (0, 1))
        with xr.open_dataset(self.scratch / "netcdf" / "Loss.nc", engine="h5netcdf") as dataset:
            self.assertEqual(dataset["y"].values.tolist(), [self.answers["Loss", str(a), int(s)] for a, s in zip(
                dataset["algorithm"].values, dataset["seed"].values)])
        self._check_logs()

    def _check_logs(self):
        """For minimised objectives the logs have the answers; a value is above the optimum where that is known."""
        for problem, optimum in (("Loss", 0), ("Zero", 0), ("Below", 0), ("Table", 1)):
            for algorithm in ("random", "ei"):
                path = next((self.scratch / "ioh").glob(f"*/{algorithm}/data_f*_{problem}/*.dat"))
                ends = [float(part.split()[-1]) for part in path.read_text().split("evaluations raw_y\n")[1:]]
                lasts = [v[-1] - optimum for (p, a, _), v in self.answers.items() if (p, a) == (problem, algorithm)]
                self.assertEqual(ends, lasts, problem)
                about = json.loads(next((self.scratch / "ioh").glob(f"*/{algorithm}/*_{problem}.json")).read_text())
                self.assertEqual([run["best"]["y"] for run in about["scenarios"][0]["runs"]],
                                 [v - optimum for v in self.best[problem, algorithm]])
        text = "".join(p.read_text() for p in (self.scratch / "coco").rglob("*.dat"))
        measured = {float(row.split()[3]) for row in text.splitlines() if not row.startswith("%")}
        self.assertLessEqual(measured, {v for (p, _, _), own in self.answers.items() if p in ("Zero", "Table") for v in own})

    def test_no_minus_zero(self):
        for kind in ("csv", "coco", "ioh"):
            self.run_main("export", self.path, "--to", kind, self.scratch / kind)
        paths = [p for folder in (self.out, self.scratch) for p in folder.rglob("*")
                 if p.suffix in (".csv", ".md", ".tex", ".dat", ".tdat", ".info", ".json")]
        self.assertGreater(len(paths), 20)
        for path in paths:
            for row in path.read_text().splitlines():
                self.assertIsNone(MINUS_ZERO.search(row), (path.name, row))
        cells = re.findall(r"<td[^>]*>(.*?)</td>", (self.out / "p.html").read_text(), re.S)
        self.assertEqual([c for c in cells if MINUS_ZERO.search(c)], [])
        self.assertEqual([escape.number(v, s) for v, s in ((-0.0, "g"), (-1e-9, ".2f"), (-0.01, ".2f"), (-1e-9, "+.2f"))],
                         ["0", "0.00", "-0.01", "0.00"])
        self.assertEqual(tables.with_error(-0.0001, 0.01), "0.000 ± 0.010")

    def test_the_file_keeps_its_sign(self):
        group = self.results.group("Loss")
        for k, (algorithm, seed) in enumerate(zip(group.column("algorithm"), group.column("seed"))):
            np.testing.assert_array_equal(group.values("f")[k], np.negative(self.answers["Loss", algorithm, seed]))

    def test_a_wrong_sense_is_refused(self):
        value = {"metric": "best", "sense": "max"}
        self.assertEqual(len(measures.trial_values(self.results, "Gain", value)), 4)
        with self.assertRaisesRegex(InputError, "'Loss', which is minimised"):
            measures.trial_values(self.results, "Loss", value)


class Sweep(common.Case):
    def test_sensitivity(self):
        """The best setting of a minimised objective has the least answer, whether the problem or the program says so."""
        for options, best, sign in (("goal=minimise", 1.0, -1), ("", 2.0, 1), ('path="a\\",goal=minimise,b"', 2.0, 1)):
            made = synthetic.problem("P", ["A (k=1)", "A (k=2)"], seeds=3, queries=3)
            worse = np.array([cell[0] == "A (k=2)" for cell in made["cells"]])
            made["arrays"]["objective"][:] = sign * np.where(worse, 2.0, 1.0)[:, None]
            made["swept"], made["options"] = [cell[0][3:-1] for cell in made["cells"]], options
            results = synthetic.loaded(self.scratch / "s.h5", [made])
            found = sweep.sensitivity(sweep.final_values(results, "best"), results, "best").iloc[0]
            self.assertEqual((found["best_at"], found["least"], found["largest"]), (best, 1, 2))
            first = inference.comparisons(results, "best").iloc[0]
            self.assertEqual(first["better"], 1.0 if first["a"] == f"A (k={best:.0f})" else 0.0)
