"""The works cited: one table, and every citation of the repository agrees with it."""
import re

import papers  # first: it sets the path
import common
from reproduce import catalogue

ROOT = common.HERE.parents[1]
TEXTS = [path for folder, kinds in (("src", "ch"), ("docs", ["md"]), ("experiments", ["md", "yaml"]),
                                    ("tests/oracle", "ch"), ("analysis", ["py"]), ("tests/reference", ["py"]))
         for kind in kinds for path in sorted((ROOT / folder).rglob(f"*.{kind}"))] + [ROOT / "README.md"]
AUTHOR = r"(?:(?:van|Van|De|Le) )?[A-Z][\w-]+"
WHO = rf"{AUTHOR}(?:(?:, | and ){AUTHOR})*"
CITED = re.compile(rf"({WHO})(?: et al\.)?,? \(?(\d{{4}})\)?"
                   r"(?:\]\([\w/]+\))?,? ?\[?\(?(arXiv:\d{4}\.\d{5}|RR-\d+)")
# The titles as printed on the papers themselves.
PAPERS = {
    "irgp_ucb": ("arXiv:2409.00979", "Takeno", "Regret Analysis for Randomized Gaussian Process Upper Confidence Bound"),
    "sbo_kde": ("arXiv:2312.10423", "Huang", "Stochastic Bayesian Optimization with Unknown Continuous Context "
                "Distribution via Kernel Density Estimation"),
    "wdrbo": ("arXiv:2503.20341", "Micheli", "Wasserstein Distributionally Robust Bayesian Optimization with "
              "Continuous Context"),
    "boke": ("arXiv:2502.06178", "Zhu", "Bayesian Optimization by Kernel Regression and Density-based Exploration"),
    "rrgp_ucb": ("arXiv:2504.03172", "Inatsu", "Bayesian Optimization of Robustness Measures under Input Uncertainty: "
                 "A Randomized Gaussian Process Upper Confidence Bound Approach"),
}


def names(text):
    return re.split(r", | and ", text)


def words(text):
    """A title without case, hyphens and the two spellings of -ise."""
    return " ".join(re.findall(r"\w+", text.lower().replace("ise", "ize").replace("isation", "ization")))


class References(common.Case):
    def setUp(self):
        super().setUp()
        self.table = catalogue.references()

    def test_table(self):
        for key, work in self.table.items():
            self.assertLessEqual(set(work), {"authors", "year", "title"}, key)
            self.assertTrue(key.startswith(("arXiv:", "RR-")) or key == f"{work['authors'][0]} {work['year']}", key)
            if key.startswith("arXiv:"):
                self.assertRegex(key, r"^arXiv:\d{4}\.\d{5}$")
                self.assertLessEqual(2000 + int(key[6:8]), work["year"], key)
        titles = [words(work["title"]) for work in self.table.values() if "title" in work]
        self.assertEqual(len(set(titles)), len(titles))

    def test_papers(self):
        self.assertEqual(set(PAPERS), set(catalogue.papers()))
        for name, (key, author, title) in PAPERS.items():
            paper = catalogue.paper(name)
            self.assertEqual((paper.reference, paper.authors[0], paper.title), (key, author, title))

    def test_every_citation(self):
        found = 0
        for path in TEXTS:
            text = re.sub(r"\s+(?:[*#/]+ )?", " ", path.read_text(encoding="utf-8"))
            for key in re.findall(r"arXiv:\d{4}\.\d{4,5}|RR-\d{4}", text):
                self.assertTrue(key in self.table, f"{path}: references.yaml has no {key}")
            for authors, year, key in CITED.findall(text):
                with self.subTest(path=str(path), key=key):
                    found += 1
                    work = self.table[key]
                    self.assertEqual(year, str(work["year"]))
                    cited = names(authors)
                    self.assertEqual(cited, work["authors"] if len(cited) > 1 else work["authors"][:1])
        self.assertGreater(found, 30)

    def test_what_methods_and_problems_cite(self):
        """A work in the source of a method or problem is in the table, and its title is that."""
        by_name, cited = {}, 0
        for key, work in self.table.items():
            by_name.setdefault((work["authors"][0], str(work["year"])), {})[key] = work
        for source in sources():
            for authors, year, rest in re.findall(rf"({WHO})(?: et al\.)?,? \(?(\d{{4}})\)?,? ?([^;]*)", source):
                cited += 1
                with self.subTest(source=source):
                    works = by_name[names(authors)[0], year]
                    key = next((key for key in works if key in rest), None) or next(
                        key for key in works if not key.startswith("arXiv") or len(works) == 1)
                    if len(names(authors)) > 1:
                        self.assertEqual(names(authors), works[key]["authors"])
                    title = re.match(r"[A-Z][a-z][^,(]{12,}?(?=$| \(|, (?:[A-Z]|arXiv|section))", rest)
                    if title and "title" in works[key]:
                        self.assertTrue(words(works[key]["title"]).startswith(words(title[0])), title[0])
        self.assertGreater(cited, 50)


def sources():
    """The sources in the descriptors of methods and problems: the last text of RG_ABOUT."""
    for path in sorted((ROOT / "src").glob("*/*.c")):
        for about in re.findall(r"RG_ABOUT\((.*?)\),\n", path.read_text(encoding="utf-8"), re.S):
            last = re.search(r'((?:"(?:\\.|[^"\\])*"\s*)+)$', about)[1]
            yield "".join(re.findall(r'"((?:\\.|[^"\\])*)"', last))
