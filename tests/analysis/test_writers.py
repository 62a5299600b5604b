"""Every writer with hostile labels at once: what the commands write about a study with them has the structure of what
they write about the same study with plain ones, and each label arrives as text."""
import csv
import io
import json
import re
import unittest
import xml.etree.ElementTree
from html.parser import HTMLParser
from importlib.util import find_spec

import common
import h5py
import numpy as np
import synthetic
from regatta_analysis import escape, load
from regatta_analysis.figures import figures, style

HOSTILE = ["=1+1", "+1+cmd", "-2+3", "@SUM(1)", "=HYPERLINK(\"http://x\",\"y\")", " =2", "\t=3", "\uff1d1+1",
           "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "<!--", "]]>", "&lt;b&gt;", "&",
           "\" onmouseover=\"alert(1)", "' x='", "![x](http://x)", "[y](javascript:alert(1))", "`a` **b** _c_ ~~d~~ | e",
           "# h", "1. one", "---", "$\\input{/etc/passwd}$", "\\write18{x}", "%", "\\", "{", "}", "a_b^c", "[12pt]", "*",
           "\x1b[31mred", "\u202eevil", "a\nb", "'", "','", "../../up", "..", "-rf", "CON", "null", "NaN-ish", "{{ 7*7 }}",
           "{% x %}", "é 中"]
PLAIN = [f"name {k}" for k in range(len(HOSTILE))]
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def studies(names):
    """{name: (problems, options of the command)}, whose labels are `names`: many methods on problems whose regret is
    dynamic, with failures; a sweep of texts; workers on a clock; functions of a suite."""
    methods, places = names[:-3], names[-3:]
    plain = [synthetic.problem(place, methods if k else methods[:8], seeds=2, queries=3, failed=(1, 4), random_state=k)
             for k, place in enumerate([names[8], names[4]])]
    plain[0]["options"] = "context=before"
    swept = [synthetic.problem(place, [f"{names[8]} (mode={value})" for value in names[:4]] + names[9:11], seeds=2,
                               queries=4) for place in places]
    for made in swept:
        made["swept"] = [f"mode={cell[0].split('mode=')[1][:-1]}" if "mode=" in cell[0] else "" for cell in made["cells"]]
    clock = [synthetic.problem(names[0], [names[8], names[1]], seeds=2, queries=4, initial=2)]
    n, rows = clock[0]["arrays"]["y"].shape
    clock[0]["arrays"].update(finished=np.tile(np.arange(rows) - 1.0, (n, 1)), dispatched=np.tile(np.arange(rows) - 2.0, (n, 1)),
                              worker=np.ones((n, rows)), attempts=np.ones((n, rows)))
    clock[0]["columns"] = {"workers": np.full(n, 2), "release": np.array(["async"] * n, object), "makespan": np.full(n, 4.0),
                           "idle_share": np.zeros(n), "in_flight": np.zeros(n, int), "lost": np.zeros(n, int)}
    suite = [synthetic.problem(names[0], names[:4], seeds=2, queries=4) | {"name": "bbob", "options":
                                                                           "function=3,dim=2,first_instance=1"}]
    return {"plain": plain, "swept": swept, "clock": clock, "suite": suite}


class Tags(HTMLParser):
    """Names of the tags and attributes of a page, and its text."""
    def __init__(self, page):
        super().__init__()
        self.found, self.texts = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found |= {(tag, name) for name, _ in attributes} | {tag}

    def handle_comment(self, text):
        self.found.add("comment")

    def handle_data(self, text):
        self.texts.append(text)


class Writers(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.undrawn(cls)
        cls.said = ""
        for kind, names in (("hostile", HOSTILE), ("plain", PLAIN)):
            for name, problems in studies(names).items():
                cls.write(kind, name, problems, names)

    @classmethod
    def write(cls, kind, name, problems, names):
        for made in problems:  # a group of HDF5 has no slash in its name
            made["label"] = made["label"].replace("/", "").replace("..", "dots")
        path = cls.directory / f"{kind}_{name}.h5"
        synthetic.write(path, problems, title=names[8])
        with h5py.File(path, "r+") as file:
            file.attrs.update({key: names[10] for key in ("references", "creator_name", "license", "id", "history")})
            for group in (group for group in file.values() if "message" in group):
                group["message"][...] = [names[9] if text else "" for text in group["message"].asstr()[()]]
        out = cls.directory / f"{kind}_{name}"
        commands = [[path, "--out", out / "figures", "--formats", "png", "--page", out / "page.html", "--trust"]]
        commands += [["export", path, "--to", to, out / to, "--trust"] for to in ("csv", "netcdf", "ioh", "coco")]
        for command in commands:
            code, *said = common.run(*command)
            if code:
                raise AssertionError(said)
            cls.said += "".join(said)

    def files(self, pattern, kind="hostile"):
        found = [path for name in studies(PLAIN) for path in (self.directory / f"{kind}_{name}").rglob(pattern)]
        self.assertTrue(found)
        return found

    def pairs(self, pattern):
        """(pages with hostile labels, the same with plain ones)"""
        for path in self.files(pattern):
            yield path, self.directory / str(path.relative_to(self.directory)).replace("hostile_", "plain_", 1)

    def test_csv(self):
        seen = set()
        for path in self.files("*.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, path)
            for cell in (cell for row in rows for cell in row):
                try:
                    float(cell)
                except ValueError:
                    self.assertNotRegex(cell, rf"\A{FORMULA.pattern}", path)
                self.assertNotRegex(cell, OBEYED, path)
                seen.add(cell)
        for label in HOSTILE[:-3]:
            self.assertIn(escape.cell(label), seen)
        self.assertEqual([escape.cell(text) for text in ("-1.5", "+2e3", "-inf", "=1", "a=1", "-x")],
                         ["-1.5", "+2e3", "-inf", "'=1", "a=1", "'-x"])

    def test_html(self):
        for path, plain in self.pairs("*.html"):
            page, other = (Tags(p.read_text(encoding="utf-8")) for p in (path, plain))
            self.assertEqual(page.found, other.found, path)
            self.assertNotRegex("".join(page.texts), OBEYED)

    @unittest.skipUnless(find_spec("markdown_it"), "no markdown-it")
    def test_markdown(self):
        from markdown_it import MarkdownIt
        render = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render
        for path, plain in self.pairs("*.md"):
            page, other = (Tags(render(p.read_text(encoding="utf-8"))) for p in (path, plain))
            self.assertEqual(page.found - {"strong"}, other.found - {"strong"}, path)

    def test_markdown_has_no_raw_html(self):
        for path in self.files("*.md"):
            text = re.sub(r"(`+).*?\1", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            self.assertNotRegex(text, "<[a-zA-Z!/]", path)
            self.assertNotRegex(text, OBEYED, path)

    def test_the_summary_has_all_problems_together(self):
        page = (self.directory / "plain_plain" / "figures" / "summary.md").read_text()
        self.assertIn("\n### All problems together, final simple regret\n\n| Algorithm |", page)

    def test_latex(self):
        known = {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"}
        for path, plain in self.pairs("*.tex"):
            text, other = (p.read_text(encoding="utf-8") for p in (path, plain))
            commands, others = (set(re.findall(r"\\([a-zA-Z]+|.)", t)) for t in (text, other))
            self.assertLessEqual(commands - others, known | set("&%$#_{}"), path)
            bare = re.sub(r"\\.", "", text)
            self.assertEqual(bare.count("{") - bare.count("}"), 0, path)
            self.assertEqual(bare.count("%"), 1, path)  # the comment about booktabs
            self.assertNotRegex(text, r"\\\\\s*(\n\s*)*[\[*]", path)

    def test_logs_of_other_programs(self):
        for path in [*self.files("*.json")]:
            json.loads(path.read_text(encoding="utf-8"))
        for path in self.files("*.info"):
            for line in path.read_text(encoding="utf-8").splitlines():
                self.assertRegex(line, r"^(suite = '[^']*'(, \w+ = ('[^']*'|[\d.e-]+))+|% .*|data_f\d+/\S+\.dat(, .*)?)$")
        for path in self.files("*.dat"):
            for line in path.read_text().splitlines():
                self.assertRegex(line, r"^(% f evaluations .*|evaluations raw_y|[-+\d.e ]+)$")

    def test_names_of_files(self):
        """Plain names inside the folder that was named."""
        for path in self.files("*"):
            for part in path.relative_to(self.directory).parts:
                self.assertRegex(part, r"^[A-Za-z0-9+][\w.+-]*$", path)

    def test_pictures(self):
        """The elements of an SVG are those of a figure with plain labels."""
        found = []
        for kind, names in (("hostile", HOSTILE), ("plain", PLAIN)):
            results = load(self.directory / f"{kind}_plain.h5", trust=True)
            figure = figures.regret_grid(results, results.problems[:2], "simple")
            style.mark(figure, names[8])
            file = io.BytesIO()
            with style.context():
                figure.savefig(file, format="svg", metadata={"Date": None})
            tree = xml.etree.ElementTree.fromstring(file.getvalue())
            found.append({element.tag for element in tree.iter()})
        self.assertEqual(*found)

    def test_the_terminal(self):
        self.assertNotRegex(self.said, OBEYED)

    def test_more_methods_than_colours(self):
        """Every label has a look of its own as long as there are some."""
        looks = style.algorithm_styles([f"m{k}" for k in range(1500)])
        self.assertGreater(len({str((v["color"], v["marker"], v["linestyle"])) for v in looks.values()}), 500)
        first = [str(v) for v in list(looks.values())[:144]]
        self.assertEqual(len(set(first)), 144)
