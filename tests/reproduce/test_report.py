"""Reports: every paper's figures and page from made-up results, the pages in a browser, and study files
at the scales of a reproduction."""
import collections
import contextlib
import dataclasses
import functools
import re
import unittest
import unittest.mock

from papers import run  # first: it sets the path
import common
import synthetic
from browser import BROWSER, WIDTHS, in_browser
from regatta_analysis import load
from regatta_analysis.claims import claims, stages
from regatta_analysis.figures import overviews
from regatta_analysis.stats import comparison
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.yaml_file import read_yaml
from reproduce import EXPERIMENTS, availability, catalogue, demonstrations, densities, report


def made_up_results(paper, directory, seeds=5, queries=20):
    """Results with made-up numbers for every study file of a paper."""
    directory.mkdir(parents=True)
    for study in paper.studies():
        data = read_yaml(paper.directory / f"{study}.yaml")
        algorithms = [common.label(entry) for entry in data["algorithms"]]
        problems = [name for entry in data["problems"]
                    for name in common.problem_labels(entry)]
        synthetic.write(directory / f"{study}.h5", [
            synthetic.problem(name, algorithms, seeds=seeds, queries=queries, random_state=k)
            for k, name in enumerate(problems)])


def shortened(paper, known):
    """The paper with one figure of each kind that is not known, and its first figure of regret; each is drawn once. A
    long test keeps all figures."""
    kinds = collections.Counter()
    kept = []
    for figure in paper.figures:
        kinds[figure["kind"]] += 1
        if common.LONG or kinds[figure["kind"]] == 1 and figure["kind"] not in known - {"regret"}:
            kept.append({key: value for key, value in figure.items() if key != "also"})
    return dataclasses.replace(paper, figures=tuple(kept))


def few_samples(holds):
    """Demonstrations on a fortieth of the samples that they name; a long test keeps all."""
    return holds if common.LONG else lambda what, runs: 40 * holds(what, runs // 40)


class Pages(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.coarse(cls)
        whole = catalogue.paper
        known = {figure["kind"] for figure in whole("irgp_ucb").figures}
        lean = unittest.mock.patch.object(catalogue, "paper", lambda name: shortened(
            whole(name), known) if name != "irgp_ucb" else whole(name))
        decide, decided = claims.evaluate, {}

        def once(path, studies):
            """The claims of one paper are decided for the index too, those of the others only for their report."""
            if path not in decided or path.parent.name == "irgp_ucb":
                decided[path] = decide(path, studies)
            return decided[path]

        few = catalogue.papers() if common.LONG else ["boke", "irgp_ucb"]  # which have most kinds of figures
        for patch in (lean, unittest.mock.patch.object(catalogue, "papers", lambda: few), unittest.mock.patch.object(claims, "evaluate", once),
                      unittest.mock.patch.object(claims, "load", functools.lru_cache(None)(claims.load)),
                      unittest.mock.patch.object(densities, "RUNS", 320),
                      unittest.mock.patch.object(demonstrations, "holds", few_samples(demonstrations.holds))):
            patch.start()
            cls.addClassCleanup(patch.stop)
        cls.pages = {}
        for name in catalogue.papers():
            made_up_results(catalogue.paper(name), cls.directory / name / "full")
            with contextlib.nullcontext() if common.LONG or name == "irgp_ucb" else common.no_drawing():
                cls.pages[name] = report.write(name, cls.directory / name,
                                               skipped=[("fig2b", "no data")],
                                               formats=("png",))[0]
        cls.index = report.write_index(cls.directory)[0]

    def test_every_figure_is_drawn(self):
        for name, page in self.pages.items():
            text = page.read_text()
            paper = catalogue.paper(name)
            for figure in paper.figures:
                self.assertIn(f'id="{figure["id"]}"', text)
                if figure["kind"] in ("regret", "profile", "ranks", "roots", "confidence"):
                    files = list((page.parent / "figures").glob(f"{figure['id']}*.png"))
                    self.assertTrue(files, f"{name}: {figure['id']}")
            self.assertNotIn("no results yet", text)

    def test_pages_hold_everything(self):
        for name, page in self.pages.items():
            text = page.read_text()
            for verdict in claims.read(EXPERIMENTS / name / "claims.yaml")["claims"]:
                self.assertIn(f"<td>{verdict['id']}</td>", text)
            for part in ("claims", "figures", "tables", "studies", "again", "provenance"):
                self.assertIn(f'<h2 id="{part}">', text)
            self.assertNotRegex(text, r'(src|href)="(?!data:|#|https://arxiv|\.\./index)')
            self.assertNotIn("<script", text)
            self.assertIn(f"./run.sh reproduce {name}", text)
            markdown = page.with_suffix(".md").read_text()
            for file in re.findall(r"!\[.*?\]\((.*?)\)", markdown):
                self.assertTrue((page.parent / file).exists(), file)

    def test_index_has_every_claim(self):
        text = self.index.read_text()
        for name in self.pages:
            for claim in claims.read(EXPERIMENTS / name / "claims.yaml")["claims"]:
                self.assertIn(f"<td>{claim['id']}</td>", text)
            self.assertIn(f'href="{name}/report.html"', text)

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_in_a_browser(self):
        for page in [*(self.pages.values() if common.LONG else [self.pages["irgp_ucb"]]), self.index]:
            everything, console = in_browser(page, self.scratch)
            self.assertEqual(console, [], page)
            for width in WIDTHS:
                found, where = everything[str(width)], f"{page} at {width}"
                self.assertEqual(found["broken"], 0, where)
                self.assertEqual(found["overflow"], 0, f"{where}: {found['wide']}")
                self.assertEqual(found["wide"], [], where)
                self.assertEqual(found["small"], 0, where)
                self.assertTrue(found["images"] or page == self.index, where)

    def test_one_figure_by_command(self):
        code, out, err = run("figure", "irgp_ucb/fig2a", self.directory / "irgp_ucb" / "full",
                             "--out", self.scratch / "one", "--formats", "pdf")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("fig2a_time.pdf", out)
        for arguments, words in ((("irgp_ucb/fig9",), "fig1a, fig1b"), (("nobody/fig1",), "irgp_ucb"),
                                 (("irgp_ucb/fig1b",), "no results of fig1b")):
            code, _, err = run("figure", *arguments, "--out", self.scratch / "no")
            self.assertEqual((code, len(err.splitlines())), (2, 1))
            self.assertIn(words, err)


class NothingYet(common.Case):
    def test_page_without_results(self):
        name = "irgp_ucb"
        page, _ = report.write(name, self.scratch / name, "smoke", skipped=[("fig2b", "no data")])
        text = page.read_text()
        self.assertEqual(text.count("no data"), 2)  # among the studies, and at the figure
        self.assertIn("not run", text)
        self.assertIn("no results of fig1b yet", text)
        self.assertNotIn("<img", text)
        self.assertIn("Not the full study", text)

    def test_panels_name_missing_data(self):
        spec = catalogue.figure_named(catalogue.paper("boke"), "fig9")
        reasons = {"fig9": availability.words({"Forest, Wine Quality": "there is no file wine.csv; it is elsewhere",
                                               "XGBoost, Wine Quality": "there is no file wine.csv; it is elsewhere",
                                               "XGBoost, California Housing": "no XGBoost"})}
        figure = report.paper_figures.grid(report._with_reasons(spec, reasons), claims.Studies({}))
        texts = {axes.get_title(loc="left"): axes.texts[-1].get_text() for axes in figure.axes}
        self.assertEqual([text for _, text in sorted(texts.items())], ["no results yet", *3 * ["needs data"]])

    def test_every_trial_failed(self):
        """Panels without a trial, a legend without entries, and the page stands."""
        paper = catalogue.paper("boke")
        directory = self.scratch / "boke" / "full"
        directory.mkdir(parents=True)
        problems = [entry["label"] for entry in read_yaml(paper.directory / "fig9.yaml")["problems"]]
        synthetic.write(directory / "fig9.h5", [
            synthetic.problem(name, ["BOKE", "GP-UCB"], seeds=2, queries=5, failed=range(4))
            for name in problems])
        drawn = report.draw_figure(paper, catalogue.figure_named(paper, "fig9"), claims.Studies(
            claims.find_results([directory], "boke")), self.scratch, directory, ("png",))
        self.assertEqual((len(drawn.parts), drawn.missing), (1, ""))

    def test_a_damaged_file_is_one_line(self):
        directory = self.scratch / "irgp_ucb" / "full"
        directory.mkdir(parents=True)
        (directory / "fig1b.h5").write_text("not HDF5")
        page, _ = report.write("irgp_ucb", directory.parent)
        self.assertIn("not an HDF5 file", page.read_text())


class Ranks(common.Case):
    def test_trials_of_one_problem_are_no_blocks(self):
        synthetic.write(self.scratch / "one.h5", [synthetic.problem("Plane")])
        self.assertEqual(overviews.ranks({"one": load(self.scratch / "one.h5")}), [])
        synthetic.write(self.scratch / "two.h5", [synthetic.problem("Plane"), synthetic.problem("Hill")])
        self.assertEqual(len(overviews.ranks({"two": load(self.scratch / "two.h5")})), 1)

    def test_known_ranks_are_drawn(self):
        import pandas as pd
        table = pd.DataFrame({"Best": [1.0] * 12, "Middle": [2.0] * 12, "Last": [3.0] * 12})
        found = comparison.friedman(table)
        figure = overviews.rank_figure(found)
        texts = [text.get_text() for text in figure.axes[0].texts]
        self.assertIn(" Best (1.00) ", texts)
        self.assertIn(" Last (3.00) ", texts)


class Coverage(common.Case):
    PAPERS = {"irgp_ucb": "fig1a fig1b fig2a fig2b", "rrgp_ucb": "fig1 fig2 fig3 fig4",
              "boke": "fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 table1",
              "sbo_kde": "fig1a fig1b fig2 table1", "wdrbo": "fig1a fig1b fig2 fig3 fig4 tables"}

    def test_every_figure_of_the_papers(self):
        page = (common.HERE.parents[1] / "docs" / "reproduce-a-paper.md").read_text()
        for name, wanted in self.PAPERS.items():
            ids = [figure["id"] for figure in catalogue.paper(name).figures]
            self.assertEqual(set(wanted.split()) - set(ids), set(), name)
            for figure in wanted.split():
                self.assertIn(f"`{figure}`", page)

    def test_every_study_is_in_a_figure_and_every_figure_in_the_table(self):
        """The table of docs/reproduce-a-paper.md has each figure with its study files, but for summaries over others."""
        page = (common.HERE.parents[1] / "docs" / "reproduce-a-paper.md").read_text()
        rows, name = {}, ""
        for line in page.splitlines():
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) == 5:
                name = cells[0] or name
                for figure in re.findall("`(.+?)`", cells[2]):
                    rows[name, figure] = set(re.findall("`(.+?)`", cells[3]))
        for paper in map(catalogue.paper, self.PAPERS):
            there = {path.stem for path in paper.directory.glob("*.yaml")} - {"claims", "figures", "settings"}
            drawn = {study for figure in paper.figures for study in catalogue.studies_of(figure)}
            self.assertEqual({study for study in there if "smoke" not in study} - drawn, set(), paper.name)
            for figure in paper.figures:
                if figure["id"] not in ("profiles", "ranks"):
                    self.assertEqual(rows.get((paper.name, figure["id"])), set(catalogue.studies_of(figure)),
                                     (paper.name, figure["id"]))

    def test_panels_are_problems_of_their_studies(self):
        for name in catalogue.papers():
            paper = catalogue.paper(name)
            for figure in paper.figures:
                for panel in [p for row in figure.get("panels", []) for p in row]:
                    study = read_yaml(paper.directory / f"{panel['study']}.yaml")
                    known = [n for entry in study["problems"] for n in common.problem_labels(entry)]
                    self.assertIn(panel["problem"], known, f"{name}/{figure['id']}")
                    methods = [common.label(entry) for entry in study["algorithms"]]
                    self.assertLessEqual(set(figure.get("methods", [])), set(methods))


class Availability(common.Case):
    TEXT = """study: a
problems:
  - ackley   # a comment
  - {name: external, label: B, program: /bin/sh, arguments: [-c, "%s"]}
  - name: portfolio
    label: C
algorithms: [random]
"""

    def left_out(self, shell, *diagnostics):
        """With a `regatta plan` that says these lines: what is left out, and the study file."""
        path, plan = self.scratch / "study.yaml", self.scratch / "regatta"
        path.write_text(self.TEXT % shell)
        lines = "".join(f"echo '{path}:{line}' >&2\n" for line in diagnostics)
        plan.write_text(f"#!/bin/sh\n{lines}exit {2 if diagnostics else 0}\n")
        plan.chmod(0o755)
        return (*availability.leave_out(path, plan), read_yaml(path)["problems"], path)

    def test_nothing(self):
        found, some, problems, path = self.left_out("exit 0")
        self.assertEqual((found, some, len(problems)), ({}, True, 3))
        self.assertEqual(path.read_text(), self.TEXT % "exit 0")

    def test_missing_data_and_silent_programs(self):
        found, some, problems, path = self.left_out(
            "echo a; echo no trees >&2; exit 3", "5:5: portfolio: there is no file p.csv (set it); left out: C")
        self.assertEqual(found, {"C": "there is no file p.csv (set it)", "B": "no trees"})
        self.assertEqual((some, problems), (True, ["ackley"]))
        self.assertIn("ackley   # a comment\nalgorithms", path.read_text())
        self.assertEqual(self.left_out("exit 4")[0], {"B": "exit code 4"})
        self.assertEqual(self.left_out("echo oh >&2; kill -ILL $$")[0], {"B": "ended by SIGILL"})

    def test_nothing_left(self):
        lines = ["3:5: there is no file x; left out: ackley, B", "5:5: there is no file y; left out: C"]
        found, some, problems, _ = self.left_out("exit 0", *lines)
        self.assertEqual((len(found), some, len(problems)), (3, False, 3))

    def test_other_mistakes_are_left_to_the_run(self):
        found, some, problems, _ = self.left_out("exit 0", "5:5: there is no file x; left out: C",
                                                 "3:5: unknown problem")
        self.assertEqual((found, some, len(problems)), ({}, True, 3))


class Scales(common.Case):
    TEXT = """study: a
seed: 1
seeds: {seeds}
{instances}common:
  iterations: 100     # queries
  surrogate: {{fit_iterations: 200}}
problems: [{{name: ackley, iterations: 7}}, {{name: branin, iterations: 300}}]
algorithms: [random]
"""

    def scaled(self, scale, seeds="10", instances="", n=None):
        return catalogue.scaled(self.TEXT.format(seeds=seeds, instances=instances), scale, n)

    def test_full_is_as_it_is(self):
        self.assertEqual(self.scaled("full"), self.TEXT.format(seeds="10", instances=""))

    def test_smoke(self):
        text = self.scaled("smoke", instances="instances: 10   # functions\n")
        for line in ("seeds: 2\n", "instances: 2   # functions\n", "iterations: 12     # queries",
                     "fit_iterations: 200", "iterations: 7}", "iterations: 12}"):
            self.assertIn(line, text)

    def test_small_and_seeds(self):
        self.assertIn("seeds: 5\n", self.scaled("small"))
        self.assertIn("seeds: 3\ninstances: 3\n", self.scaled("small", instances="instances: 10\n"))
        self.assertIn("instances: 5\n", self.scaled("small", "1", "instances: 100\n"))
        self.assertIn("instances: 40\n", self.scaled("full", "1", "instances: 100\n", 40))
        self.assertIn("seeds: 40\ninstances: 10\n", self.scaled("full", "5", "instances: 10\n", 40))
        self.assertIn("seeds: 5\ninstances: paired\n", self.scaled("small", "100",
                                                                   "instances: paired\n"))
        self.assertIn("seeds: {first: 100, count: 2}\n", self.scaled(
            "smoke", "{first: 100, count: 15}"))
        self.assertIn("seeds: {first: 100, count: 3}\n", self.scaled("full", "[100, 101]", n=3))

    def test_fewer_seeds_later_keep_what_was_run(self):
        paper = catalogue.paper("irgp_ucb")
        catalogue.write_studies(paper, "full", 20, self.scratch, ["fig2a"])
        ((_, path, _),) = catalogue.write_studies(paper, "full", 5, self.scratch, ["fig2a"])
        self.assertIn("seeds: 20\n", path.read_text())
        more = [{"problem": "Ackley", "seeds": 40}]
        path.write_text(stages.replicated(path.read_text(), more))
        catalogue.write_studies(paper, "full", 5, self.scratch, ["fig2a"])
        self.assertEqual(stages.sizes(path.read_text())[2], more)
        catalogue.write_studies(paper, "full", 50, self.scratch, ["fig2a"])
        self.assertEqual(stages.sizes(path.read_text())[2], [])

    def test_studies_of_several_figures(self):
        code, out, _ = run("studies", "boke/fig8,fig3", self.scratch)
        self.assertEqual((code, [line.split("\t")[0] for line in out.splitlines()]), (0, ["fig3", "fig8"]))
        code, _, err = run("studies", "boke/fig8,fig33", self.scratch)
        self.assertEqual((code, "no figure 'fig33' of boke (there are: fig1," in err), (2, True))

    def test_programs_beside_the_study_file_are_found(self):
        paper = catalogue.paper("boke")
        ((_, path, _),) = catalogue.write_studies(paper, "smoke", None, self.scratch, ["fig9"])
        programs = [p["program"] for p in read_yaml(path)["problems"]]
        self.assertEqual(set(programs), {str((paper.directory / "tuning.py").resolve())})

    def test_smoke_of_slow_evaluations(self):
        text = catalogue.scaled("common:\n  iterations: 75\n  initial_points: 25\n  seconds: 12\n",
                                "smoke")
        self.assertIn("iterations: 3\n  initial_points: 3\n", text)

    def test_left_out_problems_come_back_with_the_trials_of_before(self):
        paper = catalogue.paper("irgp_ucb")
        ((_, path, _),) = catalogue.write_studies(paper, "full", 20, self.scratch, ["fig2a"])
        whole = path.read_text()
        path.write_text("\n".join(line for line in whole.splitlines() if "ackley" not in line))
        catalogue.write_studies(paper, "full", 5, self.scratch, ["fig2a"])
        self.assertEqual(path.read_text(), whole)

    def test_every_study_of_a_paper_scales(self):
        most = catalogue.SMOKE_ITERATIONS
        for name in catalogue.papers():
            paper = catalogue.paper(name)
            self.assertTrue(paper.studies(), name)
            for study, path, _ in catalogue.write_studies(paper, "smoke", None, self.scratch / name, everywhere=True):
                data = read_yaml(path)
                swept = [values for axis in data.get("sweep", []) for key, values in axis.items() if key.endswith("iterations")
                         and ".maximiser." not in key]
                queries = [n for entry in (data["common"], *data["problems"]) if isinstance(entry, dict)
                           for n in [entry.get("iterations", 1)]]
                self.assertNotEqual(path.read_text(), (paper.directory / f"{study}.yaml").read_text(), (name, study))
                self.assertEqual(([], None, True), (swept, data.get("replicate"), max(queries) <= most), (name, study))

    def test_numbers_of_ones_own_are_for_all_cells(self):
        paper = catalogue.paper("sbo_kde")
        ((_, path, _),) = catalogue.write_studies(paper, "full", None, self.scratch, ["pair"])
        self.assertEqual(len(stages.sizes(path.read_text())[2]), 4)
        ((_, path, _),) = catalogue.write_studies(paper, "full", 5, self.scratch / "five", ["pair"])
        self.assertEqual((len(stages.sizes(path.read_text())[0]), stages.sizes(path.read_text())[2]), (5, []))

    def test_figure_files_with_mistakes(self):
        path = self.scratch / "p" / "figures.yaml"
        path.parent.mkdir()
        patch = unittest.mock.patch.object(catalogue, "EXPERIMENTS", self.scratch)
        patch.start()
        self.addCleanup(patch.stop)
        (self.scratch / "references.yaml").write_text("r: {title: t, authors: [A], year: 2020}")
        head = "{reference: r, about: a, main: m, figures: [{id: f, title: t, %s}]}"
        for text, words in (("{title: t}", "lacks 'reference'"), (head % "kind: pie", "'pie'"),
                            (head % "knid: x", "lacks 'kind'"),
                            (head % "kind: regret, panles: []", "'panles'"),
                            (head.replace(": r,", ": q,") % "kind: step", "references.yaml has no 'q'"),
                            (head.replace("}]}", "}, {id: f, title: u, kind: step}]}") % "kind: step",
                             "f stands here twice")):
            path.write_text(text)
            with self.assertRaises(InputError) as caught:
                catalogue.paper("p")
            self.assertIn(words, str(caught.exception))
