"""`regatta describe surrogate` and its page of the reference: every parameter is in one of the groups. A parameter that
was deleted is unknown, and the identities of trials stay."""
import importlib.util
import re

from regatta_test import HERE, RegattaTest

GROUPS = ["Model", "Noise", "Transform", "Fit", "Prior", "Solver", "Search"]
DELETED = ("noise_start", "noise_upper", "fit_tolerance")
STUDY = """study: groups
common: {{iterations: 3, initial_points: 2{surrogate}}}
problems: [branin]
algorithms: [ei]
"""


def pages():
    spec = importlib.util.spec_from_file_location("build_docs", HERE.parents[1] / "docs/build_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Describe(RegattaTest):
    def test_every_parameter_has_a_group(self):
        text = self.run_ok("describe", "surrogate").split("\nPresets")[0]
        first, *parts = re.split(r"^([A-Z][a-z]+)\nname .*\n", text, flags=re.M)
        self.assertEqual(parts[::2], GROUPS)
        self.assertEqual(len(first.splitlines()), 2, "nothing stands before the first group")
        names = [[line.split()[0] for line in rows.splitlines() if line] for rows in parts[1::2]]
        self.assertTrue(all(names))
        everything = sum(names, [])
        self.assertEqual(len(everything), len(set(everything)))
        source = (HERE.parents[1] / "src/gp/model/surrogate.c").read_text()
        table = source[source.index("rg_surrogate_params[] = {"):source.index("{0},")]
        entries = re.findall(r"RG_(?!GROUP|GONE)[A-Z]+\(\s*\"(\w+)\"", table)
        self.assertEqual(sorted(everything), sorted(entries))
        for name in DELETED:
            self.assertNotIn(name, text)

    def test_page(self):
        docs = pages()
        page = docs.body(self.run_ok("describe", "surrogate").split(": ", 1)[1])
        self.assertEqual(re.findall(r"^## (\w+)$", page, re.M), GROUPS)
        for group in page.split("\n## ")[1:1 + len(GROUPS)]:
            self.assertIn("| name | meaning |\n| --- | --- |\n| `", group)

    def suggests_none(self, err):
        """A message names neither groups nor deleted parameters as what would be accepted."""
        accepted = re.split(r"did you mean|known:", err, maxsplit=1)[-1]
        for name in (*GROUPS, *DELETED):
            self.assertNotRegex(accepted, rf"\b{name}\b")

    def test_groups_are_no_keys(self):
        for block, sweep in ((", surrogate: {Model: 1}", ""), (", surrogate: {zzz: 1}", ""),
                             ("", "sweep: [{common.surrogate.Fit: [1, 2]}]\n"), ("", "sweep: [{common.zzz: [1, 2]}]\n"),
                             ("", "sweep: [{common.surrogate.fit_tolerance: [1, 2]}]\n"),
                             ("", "sweep: [{common.surrogate: [{Noise: 1}, {Noise: 2}]}]\n")):
            with self.subTest(block + sweep):
                err = self.refused("plan", self.write("study.yaml", STUDY.format(surrogate=block) + sweep))
                self.suggests_none(err)

    def test_deleted(self):
        for name in DELETED:
            with self.subTest(name):
                study = self.write("study.yaml", STUDY.format(surrogate=f", surrogate: {{{name}: 1}}"))
                err = self.refused("plan", study, says=f"unknown key '{name}'")
                self.suggests_none(err)
        study = self.write("study.yaml", STUDY.format(surrogate=""))
        self.assertIn("3d61c742946bdd7c156c77a7a9b771de", self.run_ok("plan", study, "-trials"))
