"""Labels are data: their text is shown, and never interpreted."""
import csv
import importlib.util
import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser

import common
import numpy as np
import pandas as pd
import synthetic
from regatta_analysis import escape, load
from regatta_analysis.figures import figures, style
from regatta_analysis.report import pages, tables

LABELS = [r"$\input{/etc/passwd}$", r"\write18{date}", "\x1b[31mred\x1b]0;title\x07",
          '=HYPERLINK("http://x","y")', "@SUM(1)", "<script>alert(1)</script>",
          "![x](http://x) [y](http://y)", "`code` | **bold** _x_", "$x^$ 100 % & # {a}_b ~^",
          "[12pt]", "\u202eevil", "a\nb\tc", "_hidden", "é 中"]
PROBLEM = '<img src=x onerror="alert(1)">$\\frac{$'


class Parts(HTMLParser):
    """The tags of a page, and the texts of its elements by tag."""
    def __init__(self, page):
        super().__init__()
        self.tags, self.found, self.open = set(), {}, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.found.setdefault(tag, []).append("")
        if tag not in ("img", "br"):
            self.open.append((tag, len(self.found[tag]) - 1))

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, text):
        for tag, k in self.open:
            self.found[tag][k] += text


class Labels(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        common.coarse(cls)
        cls.path = cls.directory / "study.h5"
        synthetic.write(cls.path, [
            synthetic.problem(PROBLEM.replace("/", ""), LABELS, seeds=2, queries=4, failed=(1,)),
            synthetic.problem("=1+1", LABELS, seeds=2, queries=4)], title="<b>T</b> `x` \x1b[2J")
        cls.out = cls.directory / "out"
        cls.code, *said = common.run(cls.path, "--out", cls.out, "--formats", "png")
        cls.said = "".join(said)

    def test_they_are_drawn(self):
        self.assertEqual(self.code, 0, self.said)
        self.assertEqual(load(self.path).algorithms, LABELS)
        figure = figures.regret_grid(load(self.path), ["=1+1"], "simple")
        shown = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertEqual(len(shown), len(LABELS))
        for text in shown:
            dollars = text.count("$") - text.count(r"\$")
            self.assertEqual(dollars, 0, text)
            self.assertNotIn("\x1b", text)

    def test_terminal(self):
        self.assertNotIn("\x1b", self.said)
        code, _, errors = common.run(self.directory / "no\x1b[2J.h5", "--out", "x")
        self.assertEqual(code, 2)
        self.assertIn(r"no\x1b[2J.h5: no such file", errors)

    def test_csv(self):
        """pandas reads the labels back as `escape.cell` has them, so that tables join; a terminal obeys nothing in a file."""
        known = {escape.cell(label) for label in LABELS}
        for path in self.out.glob("*.csv"):
            self.assertNotRegex(path.read_text(encoding="utf-8"), "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]")
            table = pd.read_csv(path)
            for name in {"algorithm", "a", "b"} & set(table):
                self.assertLessEqual(set(table[name]), known, path)
            if "problem" in table:
                self.assertLessEqual(set(table["problem"]), {PROBLEM.replace("/", ""), "'=1+1"}, path)
        curves = pd.read_csv(self.out / "curves.csv")
        joined = curves.merge(pd.read_csv(self.out / "final_regret.csv"), on=["problem", "algorithm", "metric"])
        self.assertEqual(set(joined["algorithm"]), known)

    def test_numbers_in_csv_stay_numbers(self):
        frame = tables.final_regret(load(self.path), ["simple"])
        frame["mean"] *= -1.0
        escape.write_csv(frame, self.scratch / "t.csv")
        with open(self.scratch / "t.csv", newline="", encoding="utf-8") as file:
            np.testing.assert_allclose([float(r["mean"]) for r in csv.DictReader(file)],
                                       frame["mean"], rtol=1e-9)

    def test_markdown(self):
        for path in self.out.glob("*.md"):
            text = re.sub("`+[^`]+`+", "", path.read_text(encoding="utf-8"))  # not what is code
            for word in ("<script", "<img", "<b>", "](http", "\x1b", " $x^$", "\u202e"):
                self.assertFalse(word in text, (word, path))
        summary = (self.out / "summary.md").read_text(encoding="utf-8")
        columns = {line.replace(r"\|", "").count("|") for line in summary.split("## Final regret")[1]
                   .split("## Run time")[0].splitlines() if line.startswith("|")}
        self.assertEqual(columns, {4})

    @unittest.skipUnless(importlib.util.find_spec("markdown_it"), "no markdown-it")
    def test_a_renderer_of_markdown_shows_the_labels(self):
        """Every page has the tags of tables, headings, lists and pictures only, and in cells the labels as they are."""
        from markdown_it import MarkdownIt
        labels = ["a`b` <i>c</i>", "<b>bold</b>", "x|y", "*em*", "_u_", "**s**", "~~d~~ `", "[a](b) [c]", "&lt; \\* \\",
                  "# h", "1. one", "- item", "+", "a]b"]
        made = synthetic.problem("# <b>", labels, seeds=2, queries=2, failed=(1,))
        path, out = self.scratch / "s.h5", self.scratch / "out"
        synthetic.write(path, [made], title="1. <b>`T|_x_*")
        self.assertEqual(common.run(path, "--out", out, "--formats", "png", "--metric", "simple")[0], 0)
        render, shown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]), []
        for page in sorted(out.glob("*.md")):
            parts = Parts(render.render(page.read_text(encoding="utf-8")))
            self.assertLessEqual(parts.tags, set("h1 h2 h3 ul li p a img table thead tbody tr th td strong pre code"
                                                 .split()), page)
            self.assertLessEqual(set(parts.found.get("strong", [])), {t for t in parts.found["td"] if t[:1].isdigit()}, page)
            shown += parts.found.get("td", [])
            if page.name == "summary.md":
                self.assertEqual(parts.found["h1"], ["1. <b>`T|_x_*"])
                self.assertEqual({t.split()[0] for t in parts.found["h2"]},
                                 {"Final", "Run", "Statistics", "Cells", "Settings", "Figures", "Study"})
                self.assertIn(f"algorithms: {'; '.join(labels)}", parts.found["li"])
                self.assertTrue(any(t.startswith("# <b>, simple regret: ") for t in parts.found["p"]))
        for label in labels:
            self.assertGreater(shown.count(label), 8, label)

    def test_code(self):
        self.assertEqual(escape.code("a`b"), "``a`b``")
        self.assertEqual(escape.code("`"), "`` ` ``")
        self.assertEqual(escape.code_block("x\n```\ny")[0], "````")

    def test_html(self):
        """The only tags are those of the template."""
        table = tables.Table("<script>1</script>", "<i>", ["<b>"], [[(label, True) for label in LABELS]])
        page = pages._environment.from_string(
            '{% import "macros.html" as m %}{{ m.numbers(t) }}').render(t=table)
        self.assertEqual(Parts(page).tags, {"h3", "div", "table", "thead", "tr", "th", "tbody", "td", "b", "p"})

    def test_latex(self):
        text = (self.out / "final_regret.tex").read_text(encoding="utf-8")
        self.assertNotIn(r"\input", text)
        self.assertNotIn(r"\write", text)
        self.assertIn(r"\$\textbackslash{}input\{/etc/passwd\}\$", text)
        self.assertIn("{}[12pt] &", text)
        for row in text.splitlines():
            self.assertFalse(row.startswith("["), row)

    @unittest.skipUnless(shutil.which("pdflatex"), "no pdflatex")
    def test_latex_compiles(self):
        table = (self.out / "final_regret.tex").read_text(encoding="utf-8")
        (self.scratch / "t.tex").write_text(
            "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,textcomp}"
            f"\\begin{{document}}{table.replace('中', '')}\\end{{document}}", encoding="utf-8")
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
                              cwd=self.scratch, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_mathtext(self):
        self.assertEqual(style.escaped("$a$\n\x1b"), r"\$a\$ \x1b")
