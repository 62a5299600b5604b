"""Results that lack trials: parts, shards and joined files count what the study plans, and every page says so first."""
import io
import re
from unittest import mock

import common
from regatta_analysis import load
from regatta_analysis.figures import style
from regatta_analysis.load import program

STUDIES = {"plain": """
seeds: 5
common: {iterations: 2, initial_points: 2}
problems: [branin, {name: ackley, label: 2024}]
algorithms: [random, {name: ei, label: Other}]
""", "sweep": """
seeds: {first: 3, count: 4}
common: {iterations: 2, initial_points: 2}
problems:
 - {name: dataset, label: Table, path: table.csv, goal: minimise, repeats: yes}
 - gp_path
algorithms: [random, {name: ei, label: EI (x)}]
sweep:
 - {common.count_initial: [no, yes]}
 - {common.noise_variance: [0.1, 1e-2]}
 - {algorithms.EI (x).surrogate.kernel: [gaussian, matern52]}
""", "crew": """
seeds: [1, 4, 9]
instances: 3
common: {iterations: 2, initial_points: 2, duration: point(1)}
problems: [{name: gp_path, label: Paths}, branin]
algorithms: [random, ts]
sweep:
 - {common.workers: [1, 2]}
 - {algorithms.ts.pending: [ignore, believer]}
""", "scores": """
seeds: 4
instances: paired
common: {iterations: 2, initial_points: 1, noise_variance: 1e-6}
problems:
 - {name: gp_path_context, label: 2D, setting: simulator, score: {EXP: expectation, PTR: ptr(0.5)}}
algorithms: [{name: random_sampling, label: Random}, {name: rrgp_ucb, label: Proposed}]
"""}


@common.needs_program
class Incomplete(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        (cls.directory / "table.csv").write_text("a,y\n0,1\n1,3\n2,7\n3,4\n")
        for name, text in STUDIES.items():
            (cls.directory / f"{name}.yaml").write_text(f"study: {name}\n{text}")
            for part in ("1/3", "2/3"):
                common.regatta("run", f"{name}.yaml", "-o", f"{name}.{part[0]}.h5", "-part", part, "-quiet", cwd=cls.directory)
            common.regatta("merge", f"{name}.1.h5.d", f"{name}.2.h5.d", "-o", f"{name}.joined.h5", cwd=cls.directory)
            common.regatta("run", f"{name}.yaml", "-o", f"{name}.whole.h5", "-quiet", cwd=cls.directory)

    def some(self, name):
        return [load(self.directory / f"{name}.1.h5"), load(self.directory / f"{name}.joined.h5", partial=True)]

    @staticmethod
    def size(results):
        """The number of trials; those that several scores share count once."""
        return len(set(results.texts("id")))

    def test_the_plan_is_that_of_the_study(self):
        """In all, in cells, in selections: as the complete results have it, and as `status` says it."""
        for name in STUDIES:
            whole = load(self.directory / f"{name}.whole.h5")
            n, done = self.size(whole), whole.cells().set_index(["problem", "algorithm"])["done"]
            for results, path in zip(self.some(name), (f"{name}.1.h5", f"{name}.joined.h5")):
                said = common.regatta("status", path, code=75, cwd=self.directory)
                self.assertEqual(re.search(r"\((\d+) of (\d+) trials\)", said).groups(), (str(self.size(results)), str(n)))
                self.assertEqual(results.counts(), {"planned": n, "done": self.size(results), "failed": 0,
                                                    "missing": n - self.size(results)})
                cells = results.cells().set_index(["problem", "algorithm"])
                self.assertEqual(cells["planned"].to_dict(), done[cells.index].to_dict(), path)
                self.assertEqual(results.state, f"Incomplete: {results.path.name} has {self.size(results)} of {n} planned "
                                 "trials")
                for label in [*results.places, *results.problems]:
                    if not label.endswith((" EXP", " PTR")):  # labels of the study file
                        mine = results.select(problems=[label])
                        self.assertEqual(mine.counts()["planned"], self.size(whole.select(problems=[label])), label)
                for label in results.algorithms:
                    mine = results.select(algorithms=[label])
                    self.assertEqual(mine.counts()["planned"], self.size(whole.select(algorithms=[label])), label)
        mine = self.some("sweep")[1].select(where={"noise_variance": "0.01"})
        self.assertEqual(mine.counts()["planned"], 4 * 2 * 2 * 3)

    def test_without_the_program(self):
        with mock.patch.object(program, "program", lambda: None):
            program.planned.cache_clear()
            results = load(self.directory / "plain.joined.h5", partial=True)
            self.assertEqual(results.counts(), {"planned": 20, "done": len(results.trials), "failed": 0,
                                                "missing": 20 - len(results.trials)})
            self.assertIn("of at least 20 planned trials", results.state)
            self.assertEqual(set(results.cells()["planned"]), {5})
        program.planned.cache_clear()

    def test_complete_results_have_no_state(self):
        self.assertEqual(load(self.directory / "plain.whole.h5").state, "")

    def test_best_settings_rest_on_all_planned_trials(self):
        for results in self.some("sweep"):
            found = results.best_settings("best")
            self.assertEqual(set(found["planned"]), {4})
            for row in found.itertuples():
                self.assertEqual(row.setting != "", row.n == 4 and row.why == "", row)

    def test_claims_say_it_first(self):
        file = self.scratch / "claims.yaml"
        file.write_text("claims: [{id: A, where: x, claim: y, checks: [{kind: better, who: Other, against: random, on: "
                        "plain.joined, value: {metric: best}}]}]")
        for more in ([], ["--json"]):
            code, out, errors = common.run("claims", self.directory / "plain.joined.h5", "--claims", file, *more)
            self.assertEqual((code, (errors if more else out).splitlines()[0]), (0, self.some("plain")[1].state))
            self.assertTrue(more or not errors)

    def test_every_page_says_it_first(self):
        for name in STUDIES:
            self.check_pages(name, self.directory / f"{name}.1.h5", f"{name}.1.h5.d")

    def check_pages(self, name, path, shown):
        """`path` does not exist yet: the folder beside it is read."""
        out, errors, marked = self.scratch / name, io.StringIO(), []

        def keep(figure, *more):
            marked.append(figure._suptitle.get_text() if figure._suptitle else "")
            return common_write(figure, *more)
        common_write = style.write
        with mock.patch.object(style, "write", keep):
            code, _, errors = common.run(path, "--out", out, "--formats", "png", "--page", out / "p.html")
        self.assertEqual(code, 0)
        said = f"Incomplete: {shown} has "
        self.assertTrue(errors.startswith(f"regatta_analysis: {said}"), errors)
        self.assertTrue(marked and all(text.replace("\n", " ").startswith(said) for text in marked), marked)
        for page in out.glob("*.md"):
            lines = [line for line in page.read_text().splitlines() if line and not line.startswith("# ")]
            self.assertTrue(lines[0].startswith(f"**{said}"), (page, lines[0]))
        for page in out.glob("*.tex"):
            captions = re.findall(r"\\caption\{(.*)", page.read_text())
            self.assertTrue(captions and all(text.startswith(said) for text in captions), page)
        page = (out / "p.html").read_text()
        self.assertLess(page.index(said), page.index("<nav"))
        for command in (["page", path, "--out", out / "q.html"], ["export", path, "--to", "csv", out / "csv"]):
            code, _, errors = common.run(*command)
            self.assertEqual(code, 0)
            self.assertIn(said, errors.splitlines()[0])
