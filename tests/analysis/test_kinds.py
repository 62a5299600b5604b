"""The kinds of claims: every kind is described, with an example that runs; docs/claims.md equals the printed text."""
import subprocess
import sys

import common
import synthetic
from common import run
from regatta_analysis.claims import checks, claims, forms, grades, kinds
from regatta_analysis.load.yaml_file import read_yaml



class Kinds(common.Case):
    def test_page_is_up_to_date(self):
        """Else: regatta_analysis claims --help all > docs/claims.md"""
        page = (common.HERE.parents[1] / "docs" / "claims.md").read_text(encoding="utf-8")
        self.assertEqual(page, kinds.page())

    def test_judging_needs_no_figures(self):
        """Matplotlib comes with the checks that draw: it would be half of the seconds of a short question."""
        code = "import sys; from regatta_analysis.claims import verdicts; print('matplotlib' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=common.HERE.parents[1] / "analysis", check=True,
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "False\n")

    def test_every_example_runs(self):
        synthetic.write(self.scratch / "study.h5", [synthetic.problem(
            "Plane", ["EI", "GP-UCB", "Random"], seeds=8, queries=20)])
        for kind in checks.KINDS:
            words, example = kinds.described(kind)
            (self.scratch / "check.yaml").write_text(example)
            check = read_yaml(self.scratch / "check.yaml")
            self.assertEqual(check["kind"], kind)
            forms.require(check)
            for key in set(forms.KINDS[kind].replace("*", "").split()):
                self.assertIn(key, words, kind)
            outcome = checks.run(check, claims.Studies({"study": self.scratch / "study.h5"}))
            self.assertIn(outcome.grade, grades.GRADES, kind)
            self.assertNotIn("no problem", outcome.text, kind)
            self.assertNotIn("no complete trial", outcome.text, kind)

    def test_the_claims_file_of_the_page(self):
        text = kinds.page().split("```yaml\n")[1].split("```")[0]
        (self.scratch / "claims.yaml").write_text(text)
        self.assertEqual(len(claims.read(self.scratch / "claims.yaml")["claims"]), 3)

    def test_by_command(self):
        for kind in checks.KINDS:
            code, out, err = run("claims", "--help", kind)
            self.assertEqual((code, err, out.startswith(f"{kind}: ")), (0, "", True))
        code, out, _ = run("claims", "--help", "all")
        self.assertEqual(out, kinds.page())
        code, _, err = run("claims", "--help", "nothing")
        self.assertEqual((code, len(err.splitlines())), (2, 1))
        code, _, err = run("claims")
        self.assertEqual((code, len(err.splitlines())), (2, 1))
