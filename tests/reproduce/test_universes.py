"""Settings that a paper leaves open: the files of experiments/, study files and results in every universe,
verdicts over universes and readings, their record and their curve."""
import json
import re
import subprocess
import unittest
import unittest.mock

from papers import PROGRAM, REGATTA, regatta, run  # first: it sets the path
import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis.claims import checks, claims, grades, stages, verdicts
from regatta_analysis.claims.grades import (AGAINST, CONTRADICTED, DEPENDS, MOSTLY_OPEN, NOTHING, OPEN, PARTLY, SHOWN,
                                           SUPPORTED)
from regatta_analysis.claims.outcome import Item, Outcome
from regatta_analysis.claims.panels import names
from regatta_analysis import InputError, load
from regatta_analysis.figures import bounds
from regatta_analysis.load.yaml_file import read_yaml
from regatta_analysis.report.curve import curves
from reproduce import EXPERIMENTS, catalogue, kept, record, universes
from synthetic import made_up

SETTINGS = """
figures:
  - id: f
    studies: [s]
    size: {seeds: 2}
    settings:
      - id: width
        what: The width.
        alternatives:
          - {id: two, ours: true, set: {algorithms.GP-UCB.value: 4}, because: a, source: b}
          - {id: five, set: {algorithms.GP-UCB.value: 25.0}, because: a, source: b}
      - id: scale
        what: Length scale.
        alternatives:
          - {id: short, ours: true, set: {problems.P.surrogate.length_scale: 0.1}, because: a, source: b}
          - {id: long, set: {problems.P.surrogate.length_scale: 0.3}, because: a, source: b}
"""
STUDY = """study: s
seed: 1
seeds: 2
common: {iterations: 4, initial_points: 2, surrogate: {fit: fixed}}
problems:
  - {name: ackley, dim: 1, label: P, surrogate: {length_scale: 0.1}}
  - {name: ackley, dim: 2, label: Q}
algorithms:
  - random
  - {name: gp_ucb, label: GP-UCB, beta: fixed, value: 4}
"""


def settings_of(directory, text=SETTINGS):
    path = directory / "settings.yaml"
    path.write_text(text)
    universes.read.cache_clear()
    return universes.read(path)


class Files(common.Case):
    def figures(self):
        """(directory, Figure) of every settings.yaml of experiments/."""
        for path in sorted(EXPERIMENTS.glob("*/settings.yaml")):
            for figure in universes.read(path).figures:
                yield path.parent, figure

    def test_ours_is_what_the_study_file_has(self):
        seen = 0
        for directory, figure in self.figures():
            for study in figure.studies:
                data = read_yaml(directory / f"{study}.yaml")
                for path, value in figure.values({}).items():
                    had = self.value(data, path)
                    seen += had is not None
                    self.assertTrue(had is None or universes._same(had, value), (directory, study, path))
        self.assertGreater(seen, 30)

    def test_every_key_is_one_of_a_study_of_its_figure(self):
        for directory, figure in self.figures():
            entries = [universes._entries((directory / f"{study}.yaml").read_text()) for study in figure.studies]
            for path in figure.values({}):
                self.assertTrue(any(universes._reads(own, path) for own in entries), (directory, figure.id, path))

    def test_the_studies_of_claims_have_settings_or_a_reason(self):
        for name in catalogue.papers():
            paper = catalogue.paper(name)
            found = [check for claim in claims.read(paper.claims_file)["claims"] for check in claims.checks_of(claim)]
            used = {place.partition("/")[0] for check in found for key in ("on", "versus") for place in names(check.get(key, []))}
            listed = {study for figure in paper.settings.figures for study in figure.studies}
            self.assertEqual(used, listed, name)

    def value(self, data, path):
        layer, _, rest = path.partition(".")
        places = [data["common"]] if layer == "common" else [
            e for e in data[layer] if isinstance(e, dict) and rest.startswith(f"{common.label(e)}.")]
        self.assertLessEqual(len(places), 1, path)
        if not places:
            return None
        rest = rest if layer == "common" else rest[len(common.label(places[0])) + 1:]
        block, name = universes._block(rest, "")
        return (places[0].get(block, {}) if block else places[0]).get(name)

    @PROGRAM
    def test_the_program_takes_every_sweep(self):
        for directory, figure in self.figures():
            for study in figure.studies if figure.settings else ():
                path = self.scratch / f"{study}.yaml"
                path.write_text(universes.swept((directory / f"{study}.yaml").read_text(), figure))
                done = subprocess.run([REGATTA, "plan", path, "-quick"], capture_output=True, text=True)
                wrong = [line for line in done.stderr.splitlines()
                         if "there is no file" not in line and ": " in line and str(path) in line]
                self.assertEqual(wrong, [], directory / study)

    def test_every_margin_and_reading_has_a_reason(self):
        for name in catalogue.papers():
            for claim in claims.read(catalogue.paper(name).claims_file)["claims"]:
                for reading in verdicts.readings_of(claim):
                    self.assertTrue(reading["because"] or "checks" in claim, (name, claim["id"]))
                for check in claims.checks_of(claim):
                    if check["kind"] in ("comparable", "close", "flat"):
                        self.assertTrue(check["because"], (name, claim["id"]))

    def test_mistakes(self):
        for text, words in ((SETTINGS.replace("ours: true, ", "", 1), "one alternative is ours, not 0"),
                            (SETTINGS.replace("GP-UCB.value: 25.0", "GP-UCB.delta: 1"), "not set by every"),
                            (SETTINGS.replace("because: a, ", "", 1), "lacks 'because'"),
                            (SETTINGS.replace("size:", "sise:"), "unknown key 'sise'"),
                            (SETTINGS.replace("size:", "design: all\n    size:"), "design 'all'"), ("a: 1", "a list 'figures'"),
                            (SETTINGS.replace("size:", "because: a\n    size:"), "needs 'settings', or else 'because'"),
                            ("figures: [{id: f, studies: [s]}]", "needs 'settings', or else 'because'"),
                            ("figures: [{id: f, studies: [s], because: ' '}]", "needs 'settings', or else 'because'"),
                            ("figures: [5]", "list of mappings"), (SETTINGS.replace("[s]", "s"), "studies is a list"),
                            (SETTINGS.replace("id: five", "id: two"), "two alternatives have one id"),
                            (SETTINGS.replace("problems.P.", "problem.P."), "paths that begin with common"),
                            ("figures: [{id: f, studies: [s], settings: [{id: a, what: b, alternatives: 5}]}]",
                             "alternatives is a list")):
            with self.assertRaises(InputError) as caught:
                settings_of(self.scratch, text)
            self.assertIn(words, str(caught.exception))


class Results(common.Case):
    def universes(self, path):
        settings = settings_of(self.scratch)
        figure = settings.figure("s")
        return {verdicts.words(u): universes.view(load(path, True), figure, u) for u in figure.universes()}

    def test_one_at_a_time(self):
        figure = settings_of(self.scratch, SETTINGS.replace("    size:", "    design: one at a time\n    size:")
                             ).figure("s")
        self.assertEqual([tuple(u.values()) for u in figure.universes()],
                         [("two", "short"), ("five", "short"), ("two", "long")])

    def test_a_setting_alone_is_not_crossed(self):
        figure = settings_of(self.scratch, SETTINGS.replace("what: Length", "alone: true\n        what: Length")).figure("s")
        self.assertEqual([tuple(u.values()) for u in figure.universes()],
                         [("two", "short"), ("five", "short"), ("two", "long")])

    @PROGRAM
    def test_a_study_of_fewer_queries_than_any_alternative_has_our_settings(self):
        text = SETTINGS[:SETTINGS.index("      - id: scale")] + """      - id: budget
        what: Queries.
        alternatives:
          - {id: four, ours: true, set: {common.iterations: 4}, because: a, source: b}
          - {id: eight, set: {common.iterations: 8}, because: a, source: b}
"""
        figure = settings_of(self.scratch, text).figure("s")
        for queries, wanted in ((2, ["four"]), (4, ["four"]), (8, ["eight"]), (6, [])):
            file, results = self.scratch / "s.yaml", self.scratch / f"{queries}.h5"
            file.write_text(STUDY.replace("iterations: 4", f"iterations: {queries}"))
            regatta("run", file, "-o", results)
            views = {u["budget"]: universes.view(load(results), figure, u) for u in figure.universes() if u["width"] == "two"}
            self.assertEqual([name for name, one in views.items() if one], wanted, queries)

    @PROGRAM
    def test_same_trials_same_file_same_resume(self):
        """Results of the study as it is are those of our universe; the sweep adds the others to them."""
        study, results = self.scratch / "s.yaml", self.scratch / "s.h5"
        study.write_text(STUDY)
        regatta("run", study, "-o", results)
        found = self.universes(results)
        ours = found.pop("width = two, scale = short")
        before = dict(zip(ours.texts("id"), ours.texts("checksum")))
        for view in found.values():  # only what does not read the settings
            self.assertEqual(set(view.trials["algorithm"]) - {"GP-UCB"}, {"random"})
            self.assertLess(len(view.trials), len(ours.trials))
        study.write_text(universes.swept(STUDY, settings_of(self.scratch).figure("s")))
        self.assertRegex(regatta("run", study, "-o", results), r"16 trials(?s:.)*\(8 run now")
        found = self.universes(results)
        self.assertEqual(len(found), 4)
        for words, view in found.items():
            self.assertEqual((view.problems, len(view.trials)), (["P", "Q"], 8), words)
            self.assertEqual(set(view.algorithms), {"random", "GP-UCB"}, words)
        after = found["width = two, scale = short"]
        after = dict(zip(after.texts("id"), after.texts("checksum")))
        self.assertEqual(before, after)
        seen = {trial for view in found.values() for trial in view.group("P").texts("id")}
        self.assertEqual(len(seen), 8 + 2)

    @PROGRAM
    def test_a_bound_is_that_of_its_universe(self):
        """The columns of STUDY_bounds.csv count if their cell ran in the universe."""
        study, results = self.scratch / "s.yaml", self.scratch / "s.h5"
        study.write_text(universes.swept(STUDY, settings_of(self.scratch).figure("s")))
        regatta("run", study, "-o", results)
        cells = load(results).trials[["problem", "algorithm", "swept"]].drop_duplicates()
        rows = cells.merge(pd.DataFrame({"t": range(1, 5)}), how="cross").assign(
            quantity="q", kind="bound", remark="", value=lambda f: np.where(f["swept"].str.contains("value=25"), 1e-6, 1e6))
        rows[bounds.COLUMNS].to_csv(self.scratch / "s_bounds.csv", index=False)
        check = {"kind": "bound", "who": "GP-UCB", "on": "s/P", "bound": "q"}
        studies = universes.Multiverse({"s": results}, settings=settings_of(self.scratch))
        for universe in studies.settings.universes(["s"]):
            item, = checks.run(check, studies.within(universe)).items
            self.assertEqual(item.value < 1, universe["width"] == "two", universe)

    def test_a_parameter_that_came_later_is_not_in_older_files(self):
        """A trial without a value of a method's own parameter had its default, not every value of it."""
        path = "algorithms.Random.contexts"
        for named, had in (({}, "law"), ({"contexts": "uniform"}, "uniform")):
            for value in ("law", "uniform"):
                own = {"algorithm": {"ties": "lowest", **named}}
                self.assertEqual(universes._belongs(own, "P", "Random", {path: value}, ({path: "law"}, {}), {}),
                                 value == had, (named, value))
        self.assertTrue(universes._belongs({}, "P", "US", {path: "uniform"}, ({path: "law"}, {}), {}))

    def test_a_law_of_the_context_is_a_setting(self):
        """Its comma and its parentheses stand in labels."""
        ours, path = {"problems.Camel.law": "normal(0.5, 0.2)"}, "problems.Camel.law"
        for law in ("normal(0.5, 0.2)", "uniform(0, 1)"):
            had = {"problem": {"clip": "true", "law": f'["{law}"]'}}
            self.assertTrue(universes._belongs(had, "Camel", "ERBO", {path: law}, (ours, {}), {}))
            self.assertFalse(universes._belongs(had, "Camel", "ERBO", {path: "uniform(0, 2)"}, (ours, {}), {}))
            self.assertEqual(universes._without(f"Camel (law={law}, dim=1)", {"law"}), "Camel (dim=1)")

    def test_study_files_keep_their_universes(self):
        paper = catalogue.paper("boke")
        catalogue.write_studies(paper, "smoke", None, self.scratch, ["fig8"], everywhere=True)
        ((_, path, _),) = catalogue.write_studies(paper, "smoke", None, self.scratch, ["fig8"])
        self.assertIn(universes.MARK, path.read_text())
        self.assertEqual(len(read_yaml(path)["sweep"]), 1)


class Conclusions(common.Case):
    def test_a_universe_that_was_run_in_part_does_not_count_beside_a_whole_one(self):
        whole, part = Outcome("", items=[Item("p", state=SHOWN)]), Outcome("", items=[Item("p")], partial=True)
        for outcomes, there in (((whole, part), [True, False]), ((part, whole), [True, True]),
                                ((whole, Outcome("nothing")), [True, False])):
            settings = unittest.mock.Mock(universes=lambda _: [{"a": 0}, {"a": 1}])
            studies = unittest.mock.Mock(universes=settings.universes, within=lambda u: unittest.mock.Mock(signature=lambda _: u["a"], which=u["a"]))
            with unittest.mock.patch.object(verdicts.checks, "run", lambda _, inside: outcomes[inside.which]):
                cases = verdicts.decide({"checks": [{"on": "s"}]}, studies)
            self.assertEqual([one.there for one in cases], there)

    @PROGRAM
    def test_a_universe_that_did_not_run_has_no_grade_from_trials_that_it_shares(self):
        """A setting of one problem, or of one method, leaves the trials of the others as they are. They are no results of
        the other universe for a statement about all problems or all methods."""
        place = self.scratch / "m"
        place.mkdir()
        (place / "s.yaml").write_text(STUDY)
        regatta("run", place / "s.yaml", "-o", place / "s.h5")
        better = {"kind": "better", "who": "random", "against": "GP-UCB", "on": "s"}
        lead = {"kind": "lead", "who": "random", "on": "s/Q", "over": [1, 4]}
        for layer, check, ran in (("problems.P.surrogate.length_scale", better, 1), ("algorithms.GP-UCB.value", lead, 1),
                                  ("problems.P.surrogate.length_scale", better | {"on": "s/Q"}, 1),
                                  ("algorithms.GP-UCB.value", lead | {"among": ["random"]}, 1)):
            mine = 0.1 if "length" in layer else 4
            text = (f"figures: [{{id: f, studies: [s], settings: [{{id: w, what: a, alternatives: ["
                    f"{{id: ours, ours: true, set: {{{layer}: {mine}}}, because: a, source: b}}, "
                    f"{{id: other, set: {{{layer}: 25}}, because: a, source: b}}]}}]}}]")
            studies = universes.Multiverse({"s": place / "s.h5"}, place, settings_of(place, text))
            found = verdicts.evaluate("p", {"id": "A", "where": "", "claim": "a", "checks": [check]}, studies)
            self.assertEqual(len(found.ran), ran, (layer, check))
            self.assertNotIn("2 settings", found.sentence())

    def test_the_papers_own_setting_decides_where_it_is_known(self):
        setting = universes.Setting("a", "", ({"id": "1"}, {"id": "2", "paper": True}))
        cases = [verdicts.Case({"a": a}, "r", [Outcome("", items=[Item("p", state=state)])])
                 for a, state in (("1", AGAINST), ("2", SHOWN))]
        self.assertEqual(verdicts.conclude(cases, {"a": setting})[0], SHOWN)
        self.assertEqual(verdicts.conclude(cases, {})[0], DEPENDS)


class Estimate(common.Case):
    def item(self, value, **more):
        return Item("", value=value, low=value - 1, high=value + 1, most=0.0, **more)

    def estimate(self, *items, combine="every"):
        return verdicts.Case({}, "r", [Outcome("", "m", list(items), combine)]).estimate()

    def test_the_comparison_that_decides(self):
        items = [self.item(v) for v in (-3.0, 2.0, -1.0)]
        self.assertEqual(self.estimate(*items)[:3], (2.0, 1.0, 3.0))
        self.assertEqual(self.estimate(*items, combine="most")[0], -1.0)
        self.assertEqual(self.estimate(*items, combine="any")[0], -3.0)
        self.assertIn("least favourable of 3", self.estimate(*items)[5])

    def test_shares_of_what_has_different_borders(self):
        items = [self.item(-1.0, state=SHOWN), self.item(0.0, state=AGAINST), Item("", value=5.0, most=9.0)]
        value, low, high, _, _, unit = self.estimate(*items)
        self.assertEqual((value, low, high, unit), (1 / 3, 1 / 3, 2 / 3, verdicts.SHARE))


class Shortened(common.Case):
    def test_not_of_shortened_studies(self):
        """Claims are about the paper's number of queries; results without a problem are not shorter for that."""
        (self.scratch / "s.yaml").write_text(STUDY)
        synthetic.write(self.scratch / "s.h5", [made_up("P", {"EI": 1.0, "GP-UCB": 2.0})])
        studies = universes.Multiverse({"s": self.scratch / "s.h5"}, self.scratch, settings_of(self.scratch))
        check = {"kind": "better", "who": "EI", "against": "GP-UCB", "on": "s"}
        label = "label: P, "
        for before, after, known in (
                ("iterations: 4", "iterations: 4", True), ("iterations: 4", "iterations: 3", False),
                (label, label + "iterations: 3, ", False), (label, label + "iterations: 5, ", True),
                ("  - {name: ackley, dim: 2, label: Q}\n", "", True)):
            self.assertIn(before, STUDY)
            studies.whole("s").study = STUDY.replace(before, after)
            outcome = checks.run(check, studies)
            self.assertEqual((bool(outcome.items), "fewer queries" in outcome.text), (known, not known), after)
        self.assertEqual(studies.size("s, P"), {"seeds": 2})
        self.assertEqual((studies.enough("s, P"), studies.enough("t")), (5.0, claims.ENOUGH))  # 2.5 times two trials


CLAIMS = """
claims:
  - id: A1
    where: Fig. 1
    sentence: EI is ahead
    claim: EI beats GP-UCB.
    printed: 0.5
    readings:
      - {id: end, because: x, checks: [{kind: better, who: EI, against: GP-UCB, on: s}]}
      - {id: reversed, because: x, checks: [{kind: better, who: GP-UCB, against: EI, on: s}]}
  - {id: A2, where: Fig. 2, claim: Nothing., checks: [{kind: unchecked, because: no data}]}
"""


class Record(common.Case):
    def setUp(self):
        super().setUp()
        place = self.scratch / "p"
        place.mkdir()
        (place / "claims.yaml").write_text(CLAIMS)
        (self.scratch / "references.yaml").write_text("none: {title: t, authors: [A], year: 2020}")
        (place / "figures.yaml").write_text(
            "{reference: none, about: a, main: EI, figures: [{id: f, title: t, kind: ranks, "
            "studies: [s]}]}")
        (place / "s.yaml").write_text(STUDY)
        (place / "README.md").write_text(f"# p\n\n{record.BEGIN}\nold\n{record.END}\n\nmore\n")
        synthetic.write(self.scratch / "s.h5", [made_up("P", {"EI": 1.0, "GP-UCB": 2.0}) | {"machine": "a processor"}])
        patch = unittest.mock.patch.object(catalogue, "EXPERIMENTS", self.scratch)
        patch.start()
        self.addCleanup(patch.stop)
        claims.read.cache_clear()
        claims._references.cache_clear()

    def test_verdicts_and_readmes(self):
        code, out, err = run("verdicts", "p", self.scratch / "s.h5", "--command", "make it so")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 claims: 1 depends, 1 not comparable", out)
        found = json.loads((self.scratch / "p" / "verdicts.json").read_text())
        self.assertEqual(found["command"], "make it so")
        self.assertEqual(found["results"]["s"]["trials"], 40)
        self.assertEqual(found["results"]["s"]["machines"], ["a processor"])
        self.assertEqual(found["results"]["s"]["revisions"], {"ei": [1], "gp_ucb": [1]})
        self.assertIn("| s | 40 |  | `make it so` |  |\n", record.claim_table("p", found))
        found["results"]["s"]["revisions"] = {"ei": [1], "gp_ucb": [2, 3]}
        self.assertIn("| `make it so` | gp_ucb 2 and 3 |\n", record.claim_table("p", found))
        first = found["claims"][0]
        self.assertEqual((first["turns_on"], [c["grade"] for c in first["cases"]]),
                         (["reading"], [SHOWN, CONTRADICTED]))
        self.assertEqual((first["count"]["shown"], first["shares"]), (1, {SHOWN: 1, CONTRADICTED: 1}))
        comparison, = first["cases"][1]["checks"][0]["comparisons"]
        self.assertEqual((comparison["state"], comparison["n"]), (AGAINST, 20))
        self.assertAlmostEqual(comparison["value"], 2.0, delta=0.1)
        with unittest.mock.patch.object(record, "_put", wraps=record._put) as put:
            put.side_effect = lambda path, text: [path] if self.scratch not in path.parents else unittest.mock.DEFAULT
            code, out, _ = run("readme")
        self.assertEqual(code, 0)
        root = self.scratch.parent
        self.assertEqual([call.args[0] for call in put.call_args_list[1:]],
                         [root / "README.md", root / "docs" / "reproduce-a-paper.md", root / "docs" / "paper" / "paper.md"])
        self.assertEqual(put.call_args_list[1].args[1].splitlines()[0],
                         "Of 2 statements, 1 holds in part, or in some readings or settings only, and 1 cannot be compared.")
        text = (self.scratch / "p" / "README.md").read_text()
        self.assertIn("| A1 | EI is ahead | depends on reading | shown in 1, contradicted in 1 of 2 readings "
                      "|\n| A2 | Nothing | not comparable | no data |", text)
        self.assertTrue(text.startswith("# p\n") and text.endswith("more\n") and "old" not in text)

    def test_every_grade_has_words(self):
        counts = {kind: k + 1 for k, kind in enumerate(grades.GRADES)}
        said = record.in_words(counts)
        self.assertEqual([int(n) for n in re.findall(r"\d+", said)],
                         [sum(counts.values()), *(sum(counts[kind] for kind in kinds) for kinds, *_ in record.WORDS)])
        self.assertEqual(sum(len(kinds) for kinds, *_ in record.WORDS), len(grades.GRADES))

    def test_a_record_has_the_grades_of_todays_rules(self):
        """Claims are graded from the comparisons in the record: where no rule has changed, all words stay as they were,
        and a claim that was "supported" by a few of its comparisons is mostly undecided without its results."""
        for path in sorted((common.HERE.parents[1] / "experiments").glob("*/verdicts.json")):
            before, now = json.loads(path.read_text())["claims"], record.read(path)
            for old, new in zip(before, now["claims"]):
                shown, total = new["count"]["shown"], grades.Tally(**new["count"]).total
                if new["grade"] in (grades.SUPPORTED, grades.MOSTLY_OPEN) and len(new["cases"]) == 1:
                    self.assertEqual(new["grade"], grades.SUPPORTED if 2 * shown >= total else grades.MOSTLY_OPEN, new["id"])
                said = re.sub(", decided (together|one by one) at 5 %", "", new["sentence"])
                self.assertEqual(said != new["sentence"], grades.Tally(**new["count"]).total > 1, new["sentence"])
                if old["grade"] == new["grade"] and old["shares"] == new["shares"]:
                    self.assertEqual([re.sub(", decided (together|one by one) at 5 %", "", old["sentence"]), old["count"],
                                      old["turns_on"]], [said, new["count"], new["turns_on"]])
            self.assertEqual(now["counts"], record.counts(now["claims"]))
            self.assertEqual(record.read(path), now)
        few = {"reading": "a", "universe": {}, "results": True, "grade": "supported", "picture": [None] * 3, "trials": 9,
               "count": {"shown": 1, "open": 6}, "checks": [{"text": "", "method": "", "combine": "every", "ties": False,
               "partial": False, "comparable": True, "comparisons": [dict.fromkeys(kept.ITEM) | {
                   "state": SHOWN if k == 0 else "open", "where": f"P{k}", "least": None, "most": 1.0} for k in range(7)]}]}
        claim = {"id": "C", "where": "", "claim": "", "grade": "supported", "cases": [few]}
        found = kept.regraded("p", claim, {})
        self.assertEqual((found["grade"], found["words"], found["cases"][0]["grade"]), (grades.MOSTLY_OPEN, "mostly undecided: "
                         "1 of 7 shown, none against", grades.MOSTLY_OPEN))

    def test_the_committed_tables_are_those_of_the_records(self):
        """README.md, the page on papers and the article say what the verdicts.json files of all papers say."""
        with unittest.mock.patch.object(catalogue, "EXPERIMENTS", common.HERE.parents[1] / "experiments"):
            records = {name: record.read(common.HERE.parents[1] / "experiments" / name / "verdicts.json") for name in catalogue.papers()}
            for page, text in (("README.md", record.paper_words(records)),
                               ("docs/reproduce-a-paper.md", record.paper_table(records)),
                               ("docs/paper/paper.md", record.article_words(records))):
                inside = (common.HERE.parents[1] / page).read_text().partition(record.BEGIN)[2].partition(record.END)[0]
                self.assertEqual(inside.strip(), text, page)
            for name, found in records.items():
                inside = (common.HERE.parents[1] / "experiments" / name / "README.md").read_text().partition(record.BEGIN)[2]
                self.assertEqual(inside.partition(record.END)[0].strip(), record.claim_table(name, found), name)

    def test_the_first_paragraph_of_a_paper_counts_as_its_record_does(self):
        """"5 of 16 comparisons" is the tally of a claim in one of its settings: so many are shown, or against."""
        for path in sorted((common.HERE.parents[1] / "experiments").glob("*/verdicts.json")):
            text = " ".join((path.parent / "README.md").read_text().split("\n\n")[1].split())
            self.assertGreaterEqual(len(re.findall(r"[.)] [A-Z]", text)), 3, path)
            found = record.read(path)["claims"]
            known = {(one["count"][kind], grades.Tally(**one["count"]).total) for claim in found
                     for one in (claim, *claim["cases"]) if one["count"] for kind in ("shown", "against")}
            for n, total in re.findall(r"(\d+) of (\d+)(?! seeds)(?=\b)", text):
                self.assertIn((int(n), int(total)), known, path)
            for name in re.findall(r"\b[BCKR]\d+b?\b", text):
                self.assertTrue(any(name in re.split(r"\W+", claim["id"]) for claim in found), name)

    def test_evidence_in_one_clause(self):
        case = {"value": 0.5, "low": 0.25, "high": None, "least": None, "most": 1.0, "universe": {}, "reading": "a",
                "results": True, "grade": SHOWN}
        one = {"grade": SHOWN, "shares": {SHOWN: 1}, "count": {"shown": 1}, "cases": [case]}
        self.assertEqual(record.evidence(one), "0.5 [0.25, ∞], claimed at most 1")
        said = "Shown: 1 shown; an experiment of the paper's size shows it with probability 0.9 [0.8, 1.0]."
        self.assertEqual(record.evidence(one | {"sentence": said}), "0.5 [0.25, ∞], claimed at most 1; an experiment "
                         "of the paper's size shows it with probability 0.9 [0.8, 1.0]")
        self.assertEqual(record.evidence(one | {"cases": [case | {"low": None}]}), "0.5, claimed at most 1")
        for low, high, words in ((0.25, None, "0.5 [0.25, ∞], claimed at most 1"), (0.25, 0.75, "0.5, claimed at most 1; the "
                                 "interval that decided was not recorded"), (1.5, None, "0.5, claimed at most 1; the interval "
                                                                             "that decided was not recorded")):
            old = {**case, "grade": NOTHING, "low": low, "high": high}
            self.assertEqual(record.evidence({**one, "grade": NOTHING, "cases": [old]}), words)
        for universes, readings, kinds in (("x", "ab", "readings"), ("xy", "a", "settings"),
                                           ("xy", "ab", "combinations of setting and reading")):
            cases = [case | {"universe": {"s": u}, "reading": r} for u in universes for r in readings]
            cases.append(case | {"universe": {"s": "z"}, "reading": "c", "results": False})
            more = one | {"shares": {SHOWN: len(cases) - 1}, "count": {"shown": 2, "open": 1}, "cases": cases}
            self.assertEqual(record.evidence(more), "2 shown, 0 against, 1 open of 3, decided one by one at 5 %; the same grade "
                             f"in all {len(cases) - 1} {kinds}")
            self.assertIn("of 3, decided together at 5 %; the", record.evidence(more | {"level": record.LEVEL}))
            apart = more | {"shares": {SHOWN: 1, NOTHING: len(cases) - 2}, "level": record.LEVEL}
            self.assertTrue(record.evidence(apart).endswith(f"of {len(cases) - 1} {kinds}; decided together at 5 %"))
        ratio = case | {"least": 0.0, "most": 1.1}
        self.assertEqual(record.evidence(one | {"cases": [ratio]}), "0.5 [0.25, ∞], claimed at most 1.1")
        self.assertEqual(record.evidence(one | {"cases": [ratio | {"most": None}]}), "0.5 [0.25, ∞], claimed at least 0")

    def test_records_are_short_and_read_back_equal(self):
        """Records of papers take six lines for each case of a claim; they and odd values read back as they were written."""
        known = [json.loads(path.read_text()) for path in EXPERIMENTS.glob("*/verdicts.json")]
        odd = {"a\nb": ["ü\"", {}, [], [[]], {"": None}], "n": [1, 1.0, -0.0, 1e-300, True], "long": ["word" * 9] * 40,
               "deep": [[[[[["x" * 30] * 9]]]]]}
        for value in (*known, odd, [], {}, "text", [odd, odd]):
            text = record.as_text(value)
            self.assertEqual(json.dumps(json.loads(text)), json.dumps(value))
        for value in known:
            cases = sum(len(claim["cases"]) for claim in value["claims"])
            self.assertLess(record.as_text(value).count("\n"), 100 + 6 * cases)

    def test_a_claim_that_has_changed_is_not_graded_yet(self):
        run("verdicts", "p", self.scratch / "s.h5")
        found = record.read(self.scratch / "p" / "verdicts.json")
        self.assertNotIn("not graded", record.claim_table("p", found))
        found["claims"][0]["claim"] = "EI always beats GP-UCB."
        self.assertIn("| A1 | EI is ahead | – | not graded yet |\n| A2 | Nothing | not comparable |",
                      record.claim_table("p", found))

    def with_another_study(self):
        """A second study, t, in which EI is behind, and three claims, the last of which speaks of both."""
        place = self.scratch / "p"
        claim = "  - id: {}\n    where: Fig. 3\n    claim: EI wins.\n    checks:\n{}"
        check = "      - {{kind: better, who: EI, against: GP-UCB, on: {}}}\n"
        (place / "claims.yaml").write_text("claims:\n" + "".join(
            claim.format(name, "".join(check.format(study) for study in studies))
            for name, studies in (("A1", "s"), ("A2", "t"), ("A3", "st"))))
        (place / "t.yaml").write_text(STUDY)
        (place / "figures.yaml").write_text((place / "figures.yaml").read_text().replace("[s]", "[s, t]"))
        claims.read.cache_clear()
        return [self.made("s", {"EI": 1.0, "GP-UCB": 2.0}), self.made("t", {"EI": 2.0, "GP-UCB": 1.0})]

    def made(self, study, levels):
        path = self.scratch / f"{study}.h5"
        synthetic.write(path, [made_up("P", levels)])
        return path

    def test_what_is_told_of_studies_that_are_not_here_is_kept(self):
        both = self.with_another_study()
        code, _, err = run("verdicts", "p", *both, "--keep")
        self.assertEqual((code, "no verdicts to keep yet" in err), (2, True))
        self.assertEqual(run("verdicts", "p", *both, "--command", "first")[0], 0)
        path = self.scratch / "p" / "verdicts.json"
        first = json.loads(path.read_text())
        self.assertEqual([c["grade"] for c in first["claims"]], [SHOWN, CONTRADICTED, PARTLY])
        self.assertEqual(run("verdicts", "p", both[0], "--keep", "--command", "again")[0], 0)
        self.assertEqual(json.loads(path.read_text()), first)  # the same trials: nothing is new
        self.assertEqual(run("verdicts", "p", both[0])[0], 0)
        self.assertEqual(list(json.loads(path.read_text())["results"]), ["s"])

    def test_a_study_that_changed_has_its_own_command_and_its_claims_decided_afresh(self):
        both = self.with_another_study()
        path = self.scratch / "p" / "verdicts.json"
        run("verdicts", "p", *both, "--command", "first")
        before = path.read_text()
        changed = self.made("t", {"EI": 1.0, "GP-UCB": 3.0})
        code, _, err = run("verdicts", "p", changed, "--keep", "--command", "again")
        self.assertEqual((code, path.read_text()), (2, before))
        self.assertIn("claim A3 of p is to be decided afresh and speaks of s too: give their results", err)
        alone = catalogue.EXPERIMENTS / "p" / "claims.yaml"
        alone.write_text(alone.read_text()[:alone.read_text().index("  - id: A3")])
        claims.read.cache_clear()
        self.assertEqual(run("verdicts", "p", changed, "--keep", "--command", "again")[0], 0)
        found = json.loads(path.read_text())
        self.assertEqual([c["grade"] for c in found["claims"]], [SHOWN, SHOWN])
        self.assertEqual((found["command"], found["results"]["t"]["command"]), ("first", "again"))
        self.assertEqual(found["results"]["s"], json.loads(before)["results"]["s"])
        self.assertRegex(record.claim_table("p", found), r"(?s)\| s \|[^|]*\|[^|]*\| `first` \|.*\| t \|[^|]*\|[^|]*\| `again` \|")

    def test_what_is_settled_stays_where_a_study_has_got_more_trials(self):
        here, place = self.with_another_study(), self.scratch / "p" / "verdicts.json"
        problem = made_up("P", {"EI": 2.0, "GP-UCB": 1.0}, seeds=40)
        few = {"P": [k for k, (_, _, seed) in enumerate(problem["cells"]) if seed < 20]}
        synthetic.write(here[1], [problem], rows=few)
        run("verdicts", "p", *here)
        first = json.loads(place.read_text())
        with unittest.mock.patch.object(synthetic, "STUDY", "seeds: 20\nreplicate: [{problem: P, seeds: 40}]\n"):
            synthetic.write(here[1], [problem])
        self.assertEqual(run("verdicts", "p", here[1], "--keep")[::2], (0, ""))
        found = json.loads(place.read_text())
        self.assertEqual((found["results"]["t"]["trials"], found["results"]["s"]), (80, first["results"]["s"]))
        self.assertEqual(found["claims"][2], first["claims"][2])  # of both
        place.write_text(json.dumps(first | {"claims": [c | {"settled": False} for c in first["claims"]]}))
        code, _, err = run("verdicts", "p", here[1], "--keep")
        self.assertEqual((code, "claim A3 of p is to be decided afresh" in err), (2, True))

    def with_universes(self):
        """The text of a study whose two claims are about 24 seeds (`grown`), and the same with universes (`swept`)."""
        place = self.scratch / "p"
        place.joinpath("claims.yaml").write_text(
            "claims: [{id: A1, where: x, claim: y, checks: [{kind: better, who: GP-UCB, against: random, on: s/Q}]}, "
            "{id: A2, where: x, claim: z, checks: [{kind: better, who: random, against: GP-UCB, on: s/P}]}]")
        claims.read.cache_clear()
        settings = settings_of(place)
        study = STUDY.replace("seed: 1\nseeds: 2", "reference: none\nseed: 1\nseeds: 3").replace(
            "iterations: 4", "iterations: 12")
        grown = stages.replicated(study, [{"problem": name, "seeds": 24} for name in "PQ"])
        return study, grown, universes.swept(study, settings.figure("s"))

    @PROGRAM
    def test_results_that_grow_beside_others_are_told_once(self):
        _, grown, swept = self.with_universes()
        told = self.decided(grown, "first")["results"]["s"]
        self.decided(swept, "second", "--keep")
        # two looks more, then another of the cells of P beside the first of them
        for cells, trials in (({"Q": 12}, 24 + 27), ({"Q": 12, "P": 6}, 24 + 27 + 15)):
            text = stages.replicated(swept, [{"problem": name, "seeds": n} for name, n in cells.items()])
            both = self.decided(text, "second", "--keep")["results"]["s"]
            (beside,) = both["beside"]
            self.assertEqual((both, beside["trials"]), (told | {"beside": [beside]}, trials))

    @PROGRAM
    def test_universes_that_are_run_later_stand_beside_what_was_decided(self):
        study, grown, swept = self.with_universes()
        first = self.decided(grown, "first")
        ours = [claim["cases"][0] for claim in first["claims"]]
        self.assertEqual([(c["grade"], c["trials"]) for c in ours], [(SHOWN, 24), (CONTRADICTED, 24)])
        both = self.decided(swept, "second", "--keep")
        self.assertEqual([c["cases"][0] for c in both["claims"]], ours)
        self.assertEqual([[c["trials"] for c in claim["cases"]] for claim in both["claims"]], [[24, 3], [24, 3, 3, 3]])
        told, (beside,) = first["results"]["s"], both["results"]["s"]["beside"]
        self.assertEqual(both["results"]["s"], told | {"beside": [beside]})
        self.assertEqual((beside["command"], beside["trials"]), ("second", 24))
        self.assertEqual({**beside["first"], **told["first"]}, beside["first"])
        self.assertIn(f"{told['trials'] + 24} trials", record.summary(both))
        self.assertRegex(record.claim_table("p", both), r"(?s)\| s \|[^|]*\|[^|]*\| `first` \|.*\| s \| 24 \|[^|]*\| `second` \|")
        self.assertEqual(self.decided(swept, "second", "--keep"), both)

        again = self.decided(grown, "third", "--keep")  # the first results once more
        self.assertEqual(again, both)

        long = "width = two, scale = long"  # a universe that has other trials now, by what the record says
        self.assertEqual(len(beside["first"]), 4)
        path, text = self.scratch / "p" / "verdicts.json", json.dumps(both)
        path.write_text(text.replace(f'"{long}": "{beside["first"][long]}"', f'"{long}": "0"').replace(
            '"trials": 3', '"trials": 4'))
        changed = self.decided(swept, "second", "--keep")
        self.assertEqual([c["trials"] for c in changed["claims"][1]["cases"]], [24, 3, 4, 4])
        self.assertEqual(self.decided(swept, "second", "--keep"), changed)
        other = self.decided(study.replace("seed: 1", "seed: 2"), "fourth", "--keep")
        self.assertEqual([len([c for c in claim["cases"] if c["results"]]) for claim in other["claims"]], [1, 1])
        self.assertNotIn("beside", other["results"]["s"])

    @PROGRAM
    def test_universes_take_the_place_of_the_trials_that_they_hold(self):
        """Also where all of them ran anew, so that the recorded trials were not the first."""
        study, _, swept = self.with_universes()
        first = self.decided(study, "first")["results"]["s"]
        both = self.decided(swept, "second", "--keep")["results"]["s"]
        self.assertEqual((first["trials"], both["trials"], both["command"]), (12, 24, "second"))
        self.assertNotIn("beside", both)

    @PROGRAM
    def test_universes_leave_a_claim_that_speaks_of_a_study_without_results_here(self):
        """More trials in our universe do not: they could decide it."""
        study, grown, swept = self.with_universes()
        place, path = self.scratch / "p", self.scratch / "p" / "verdicts.json"
        both = "{id: A3, where: x, claim: both, checks: [{kind: better, who: random, against: GP-UCB, on: [s/P, t/P]}]}"
        place.joinpath("claims.yaml").write_text(place.joinpath("claims.yaml").read_text()[:-1] + f", {both}]")
        place.joinpath("t.yaml").write_text(STUDY)
        place.joinpath("figures.yaml").write_text(place.joinpath("figures.yaml").read_text().replace("[s]", "[s, t]"))
        claims.read.cache_clear()
        first = self.decided(study, "first")
        first["results"]["t"], first["claims"][2]["settled"] = first["results"]["s"], False
        path.write_text(json.dumps(first))
        before = record.read(path)["claims"][2]
        told = self.decided(swept, "second", "--keep")
        self.assertEqual((told["results"]["s"]["trials"], told["claims"][2]), (24, before))
        self.assertEqual(len(told["claims"][1]["cases"]), 4)
        path.write_text(json.dumps(first))
        self.scratch.joinpath("s.yaml").write_text(grown)
        regatta("run", self.scratch / "s.yaml", "-o", self.scratch / "first" / "s.h5")
        code, _, err = run("verdicts", "p", self.scratch / "first" / "s.h5", "--keep")
        self.assertEqual((code, "claim A3 of p is to be decided afresh and speaks of t too" in err), (2, True), err)

    @PROGRAM
    def test_the_price_of_an_undecided_claim_is_in_the_table_and_not_in_the_record(self):
        study, _, _ = self.with_universes()
        place = self.scratch / "p" / "claims.yaml"
        place.write_text(place.read_text().replace("claim: y,", "claim: y, price: two hours,"))
        claims.read.cache_clear()
        found = self.decided(study, "first")
        self.assertEqual(found["claims"][0]["grade"], NOTHING)
        for grade, priced in ((NOTHING, True), (MOSTLY_OPEN, True), (SUPPORTED, False)):
            found["claims"][0]["grade"] = grade
            self.assertEqual("; two hours |" in record.claim_table("p", found), priced, grade)
        self.assertNotIn("two hours", self.scratch.joinpath("p", "verdicts.json").read_text())
        items = [Item(f"P{k}", "A", "B", n=12, units=12, state=state) for k, state in enumerate([SHOWN, AGAINST, OPEN])]
        for among, priced in (([0, 2, 2], True), ([2], True), ([0, 0, 2], False), ([1], False)):
            cases = [verdicts.Case({}, "r", [Outcome("a text", "a method", [items[k] for k in among], "every", True)], True)]
            found = verdicts.Verdict("p", "C", "", "claim", verdicts.conclude(cases, {})[0], cases, price="two hours")
            self.assertEqual("two hours" in found.sentence(), priced, found.sentence())
            self.assertNotIn("two hours", record._claim(found)["sentence"])

    def decided(self, study, command, *options):
        """The record after a study was run and its claims decided."""
        file, results = self.scratch / "s.yaml", self.scratch / f"{command}" / "s.h5"
        file.write_text(study)
        results.parent.mkdir(exist_ok=True)
        regatta("run", file, "-o", results)
        code, _, err = run("verdicts", "p", results, "--command", command, *options)
        self.assertEqual((code, err), (0, ""))
        return record.read(self.scratch / "p" / "verdicts.json")

    def test_the_checksum_is_that_of_the_trials(self):
        once = kept.about(load(self.scratch / "s.h5"))
        synthetic.write(self.scratch / "t.h5", [made_up("P", {"EI": 1.0, "GP-UCB": 2.0})],
                        rows={"P": np.arange(40)[::-1]})
        self.assertEqual(once["checksum"], kept.about(load(self.scratch / "t.h5"))["checksum"])
        synthetic.write(self.scratch / "u.h5", [made_up("P", {"GP-UCB": 2.0})])
        self.assertNotEqual(once["checksum"], kept.about(load(self.scratch / "u.h5"))["checksum"])

    def test_curves(self):
        verdict = claims.evaluate(self.scratch / "p" / "claims.yaml",
                                  claims.Studies({"s": self.scratch / "s.h5"}))[0]
        ((unit, svg),) = curves(verdict)
        self.assertIn("simple regret", unit)
        self.assertEqual(svg.count('class="dot yes"'), 1)
        self.assertEqual(svg.count('class="dot no"'), 1)
        self.assertEqual(len(re.findall(r'class="o(?:n|ff)"', svg)), 4)
        self.assertIn("paper 0.5", svg)
        self.assertLess(svg.index('class="dot yes"'), svg.index('class="dot no"'))  # sorted by the estimate
