"""The claims of the papers of experiments/: what they name is in their study files; a cheap claim of each, afresh."""
import json
from unittest import mock

from papers import PROGRAM, REGATTA, regatta, run  # first: it sets the path
import common
import synthetic
import yaml
from regatta_analysis.claims import checks, claims
from regatta_analysis.claims.grades import AGAINST, SHOWN
from regatta_analysis.claims.panels import names
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.yaml_file import read_yaml
from reproduce import EXPERIMENTS, catalogue, published, record, report
from reproduce import run as reproduced
from synthetic import made_up



class Files(common.Case):
    def test_claims_name_what_the_study_files_have(self):
        """Every study, problem and algorithm named by a claim is in the study file of that name."""
        seen = 0
        for path in EXPERIMENTS.glob("*/claims.yaml"):
            for claim in claims.read(path)["claims"]:
                for check in claims.checks_of(claim):
                    self.assertIn(check["kind"], checks.KINDS, f"{path}: {claim['id']}")
                    seen += self.check_names(path, claim, check)
        self.assertGreater(seen, 15)

    def test_the_trials_of_study_files_can_decide_their_claims(self):
        """But for bounds of theory that no run can exceed."""
        found = {file.stem: claims.too_few(path, file.stem, file.read_text())
                 for path in EXPERIMENTS.glob("*/claims.yaml") for file in path.parent.glob("*.yaml")
                 if file.stem in claims.studies_named(path)}
        self.assertGreater(len(found), 20)
        self.assertEqual({study for study, said in found.items() if said}, {"theory"})

    def check_names(self, path, claim, check):
        places = [place for key in ("on", "versus") for place in names(check.get(key, []))]
        for place in places:
            study, _, problem = place.partition("/")
            file = path.parent / f"{study}.yaml"
            self.assertTrue(file.exists(), f"{path}: claim {claim['id']}: no study file {file.name}")
            data = read_yaml(file)
            labels = {name for entry in data["problems"] for name in common.problem_labels(entry)}
            if problem:
                self.assertTrue(problem in labels or problem.split(" (")[0] in labels,
                                f"{path}: claim {claim['id']}: no problem {problem!r} in {file.name}")
            methods = {common.label(entry) for entry in data["algorithms"]}
            named = [name for key in ("who", "against", "among")
                     for name in names(check.get(key, []))]
            unknown = set(named) - methods
            self.assertFalse(unknown, f"{path}: claim {claim['id']}: not in {file.name}")
        return len(places)

    def test_every_claim_has_a_short_sentence_in_the_readme(self):
        for paper in catalogue.papers():
            rows = (EXPERIMENTS / paper / "README.md").read_text().splitlines()
            for claim in claims.read(EXPERIMENTS / paper / "claims.yaml")["claims"]:
                sentence = " ".join(claim.get("sentence", "").split())
                self.assertTrue(0 < len(sentence.split()) <= 25, f"{paper}: {claim['id']}")
                row = f"| {claim['id']} | {sentence.rstrip('.')} | "
                self.assertTrue(any(line.startswith(row) for line in rows), row)

    # Claims that need no results, or those of a few methods. K15 takes a minute.
    CHEAP = {"boke": "B1", "irgp_ucb": "C1", "rrgp_ucb": "R1", "sbo_kde": "K15" if common.LONG else "K18", "wdrbo": "C0"}
    SEEDS = {"C1": 40, "R1": 40, "K18": 3}  # as many as decide the claim

    @PROGRAM
    def test_a_cheap_claim_of_every_paper_is_decided_afresh(self):
        """Its grade is that of the paper's verdicts.json."""
        for paper, name in self.CHEAP.items():
            known = json.loads((EXPERIMENTS / paper / "verdicts.json").read_text())
            if known["version"] != record.VERSION:
                continue
            path = EXPERIMENTS / paper / "claims.yaml"
            claim = next(c for c in claims.read(path)["claims"] if c["id"] == name)
            file = self.scratch / f"{paper}.yaml"
            file.write_text(yaml.safe_dump({"claims": [claim]}))
            found, = claims.evaluate(file, claims.Studies(self.results(path.parent, claim)))
            told = next(c for c in known["claims"] if c["id"] == name)
            self.assertEqual(found.grade, told["grade"], (paper, name))

    def results(self, paper, claim):
        """{study: results} of a few seeds of the methods that a claim speaks of."""
        files, found = {}, claims.checks_of(claim)
        for study in checks.studies_in(found):
            methods = {who for check in found if "on" in check for who in names(check["who"])}
            data = read_yaml(paper / f"{study}.yaml")
            data |= {"seeds": self.SEEDS[claim["id"]],
                     "algorithms": [a for a in data["algorithms"] if common.label(a) in methods]}
            file, files[study] = self.scratch / f"{study}.yaml", self.scratch / f"{study}.h5"
            file.write_text(yaml.safe_dump(data))
            regatta("run", file, "-o", files[study])
            if any(check["kind"] == "bound" for check in found):
                regatta("bounds", file, "-o", self.scratch / f"{study}_bounds.csv")
        return files


class Laws(common.Case):
    def verdict(self, **check):
        return checks.run({"kind": "law", **check}, claims.Studies({})).items[0].state

    def test_one_law_below_another(self):
        self.assertEqual(self.verdict(less="irgp_ucb", than="gp_ucb", first=2, last=50), SHOWN)
        self.assertEqual(self.verdict(less="irgp_ucb", than="gp_ucb", first=1, last=50), AGAINST)
        self.assertEqual(self.verdict(less="Proposed, 97.5% quantile", than="RKHS", first=13,
                                      last=1000), SHOWN)
        self.assertEqual(self.verdict(less="Proposed, 97.5% quantile", than="RKHS", first=12,
                                      last=12), AGAINST)
        with self.assertRaisesRegex(InputError, "no law 'Nobody'"):
            self.verdict(less="Nobody", than="gp_ucb", first=1, last=2)


class Tables(common.Case):
    TEXT = """
claims: [{id: A, where: x, claim: y, checks: [{kind: unchecked, because: z}]}]
tables:
  - {title: Table 1, on: study, value: {at: 40}, rows: [{who: EI, published: [0.05, 0.001]},
     {who: JES, published: [1, 0]}]}
"""

    def test_tables(self):
        path, file = self.scratch / "study.h5", self.scratch / "claims.yaml"
        synthetic.write(path, [made_up("Plane", {"EI": 1.0, "Random": 4.0})])
        file.write_text(self.TEXT)
        ((title, _, _, rows),) = published.tables_of(file, claims.Studies({"study": path}))
        self.assertEqual(title, "Table 1")
        self.assertEqual(rows[1][2], "missing")
        self.assertAlmostEqual(float(rows[0][3]), 0.023 / 0.05, delta=0.05)


class Command(common.Case):
    @PROGRAM
    def test_a_paper_from_study_to_report(self):
        """One study of a paper, small; what the report has no results for, it says."""
        code, out, err = run("run", "wdrbo/linear", "--scale", "smoke", "--seeds", 2, "--results", self.scratch,
                             "--launch", "", "--command", "make it so")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("[1/1] wdrbo/linear", out)
        self.assertIn("  note: no outcome of 2 trials of a cell can decide claim C2; it takes 7 ", out)
        page = (self.scratch / "wdrbo" / "report.html").read_text()
        self.assertIn("make it so", page)
        self.assertTrue((self.scratch / "wdrbo" / "smoke" / "linear.h5").exists())
        code, out, _ = run("run", "list")
        self.assertIn("wdrbo/linear\n", out)

    @PROGRAM
    def test_a_study_that_can_not_be_planned_runs(self):
        """A plan that fails skips nothing; a run that fails ends the command with an error, after the report."""
        program, broken = self.scratch / "regatta", self.scratch / "broken"
        program.write_text(f"""#!/bin/sh
if [ "$1" = plan ] && [ "$3" = -o ]; then echo 'regatta plan: it broke' >&2; exit 70; fi
if [ "$1" = run ] && [ -e {broken} ]; then exit 3; fi
exec {REGATTA} "$@"
""")
        program.chmod(0o755)
        words = ("run", "irgp_ucb/fig2a", "--scale", "smoke", "--seeds", 1, "--results", self.scratch, "--launch", "")
        with mock.patch.object(reproduced, "program", lambda: program), \
                mock.patch.object(report, "write", return_value=("page", "text")) as written:
            code, out, err = run(*words)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("  regatta plan: it broke\n", out)
            self.assertTrue((self.scratch / "irgp_ucb" / "smoke" / "fig2a.h5").exists())
            self.assertEqual(written.call_args.args[4], [])
            broken.touch()
            code, _, err = run(*words)
        self.assertEqual(code, 2)
        self.assertIn("fig2a: regatta run ended with exit code 3", err)
        ((study, reason),) = written.call_args.args[4]
        self.assertEqual((study, "exit code 3" in reason), ("fig2a", True))

    def test_mistakes(self):
        for arguments, words in ((["verdict"], "invalid choice"), (["run", "wdrbo/fig3", "--no-ru"], "unrecognized arguments: --no-ru"),
                                 (["claims", self.scratch / "no.h5"], "no such file"),
                                 (["report", "nobody", self.scratch], "no paper 'nobody'"),
                                 (["run", "boke", "--keep"], "--keep goes with --until-decided"),
                                 (["run", "boke", "--budget", 3], "--budget goes with --until-decided"),
                                 (["run", "boke/fig99"], "no figure 'fig99'")):
            code, _, err = run(*arguments)
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertIn(words, err)
