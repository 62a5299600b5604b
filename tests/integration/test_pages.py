"""The tutorials show what a reader sees: their files are written, their commands run, and the output that follows in a
block `text` is compared. A page may leave out lines and ends of lines, where it has `...`. Seconds, bytes and times of day
differ everywhere; other fractions are compared on machines of the fingerprint that printed them. The notebook is
executed again."""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import unittest

import numpy as np

from regatta_test import HANG, HERE, LONG, REGATTA, RegattaTest, environment, fingerprint

ROOT = HERE.parents[1]
PRINTED_BY, NOTEBOOK_BY = "be370eafd81ec0b7", "8748e3e5b6c63dd0"  # `regatta version`
BLOCK = re.compile(r"((?:^[^\n]+\n)*\n?)^( *)```(\w+)\n(.*?)^ *```$", re.M | re.S)
NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
# a number with its unit, or the column of seconds in a table, which an empty column follows
MEASURED = re.compile(rf"{NUMBER} (?:s|min|h|MB|GB|core-hours)(?![\w/])|(?<=  ){NUMBER}(?= {{20,}}\S+$)")


def blocks(page):
    """[(the paragraph before, language, text)] of a page."""
    for found in BLOCK.finditer((ROOT / page).read_text()):
        before, indent, language, text = found.groups()
        yield before.strip(), language, re.sub(rf"^{indent}", "", text, flags=re.M)


def plain(line, exact):
    line = MEASURED.sub("#", line)
    return " ".join((line if exact else re.sub(r"\b\d+\.\d+(e[-+]?\d+)?", "#", line)).split())


def follows(shown, printed, exact):
    """The first line of a page that the output lacks, in its place; None: it has all."""
    lines = [plain(line, exact) for line in printed.splitlines()]
    at, gap = 0, False
    for line in shown.splitlines():
        if line.strip() == "...":
            gap = True
            continue
        start, dots, _ = plain(line, exact).partition("...")
        candidates = range(at, len(lines)) if gap else range(at, min(at + 1, len(lines)))
        found = next((k for k in candidates if lines[k].startswith(start) and (dots or lines[k] == start)), None)
        if found is None:
            return line
        at, gap = found + 1, False
    return None if gap or at == len(lines) else f"no more, but: {printed.splitlines()[at]}"


def said(notebook):
    """[(standard output and values of a cell as text, whether it drew a figure)] of the cells with code."""
    cells = []
    for cell in (c for c in notebook["cells"] if c["cell_type"] == "code"):
        texts = [o.get("data", {}).get("text/plain", []) if o["output_type"] != "stream" else o["text"]
                 for o in cell["outputs"] if o.get("name") != "stderr"]
        cells.append(("".join(line for text in texts for line in [*text, "\n"]),
                      any("image/png" in o.get("data", {}) for o in cell["outputs"])))
    return cells


def grey(path, size=(60, 24)):
    """A picture as means over a grid of fields: 0 is black, 1 is white."""
    from matplotlib import image
    pixels = image.imread(path)[..., :3].mean(axis=2)
    rows, columns = (np.linspace(0, n, k + 1).astype(int) for n, k in zip(pixels.shape, reversed(size)))
    return np.array([[pixels[a:b, c:d].mean() for c, d in zip(columns, columns[1:])] for a, b in zip(rows, rows[1:])])


class Pages(RegattaTest):
    def shell(self, commands):
        here = pathlib.Path(REGATTA).parent
        exports = f"export PATH={here}:$PATH PYTHONPATH={ROOT / 'analysis'} REGATTA={REGATTA}\n"
        done = subprocess.run(["bash", "-ec", exports + commands],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=HANG,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}{done.stderr}")
        return done.stdout

    def page(self, name, checked):
        """Follow a page, and compare its outputs; there are `checked` of them."""
        count, printed, script = 0, "", []
        for before, language, text in blocks(name):
            file = re.search(r"`(\w+\.(?:yaml|py))`", before)
            if language == "text" and printed:
                wrong = follows(text, printed, fingerprint() == PRINTED_BY)
                self.assertIsNone(wrong, f"{name} shows what is not printed; printed is:\n{printed}")
                count += 1
            elif language in ("yaml", "python") and file:
                self.write(file[1], text).chmod(0o755)
                printed = self.shell(f"python3 {file[1]}\n") if "python3 " + file[1] in before else ""
            elif language == "python":  # the blocks of a page are one script
                said = self.shell("python3 - <<'END'\n" + "".join(script) + "print('-- next')\n" + text + "END\n")
                printed = said.split("-- next\n")[1]
                script.append(text)
            elif language == "sh" and "regatta_analysis" in text and not LONG:
                printed = ""  # figures take long
            elif language == "sh" and "./run.sh" not in text and "git " not in text:
                printed = self.shell(text)
        self.assertEqual(count, checked)
        self.figures(name)

    def figures(self, name):
        """The figures of a page are what its commands draw now, in files of the same names; a page may show a smaller
        copy."""
        for path in re.findall(r"!\[[^]]*\]\((figures/\w+\.png)\)", (ROOT / name).read_text()):
            for drawn in self.folder.rglob(pathlib.Path(path).name):
                shown, now = (grey(file) for file in (ROOT / "docs" / path, drawn))
                self.assertLess(abs(shown - now).mean(), 0.03, path)  # another figure has 0.07

    def test_readme(self):
        self.page("README.md", 1)

    def test_first_study(self):
        self.page("docs/first-study.md", 2)

    def test_cluster_sweep(self):
        self.page("docs/cluster-sweep.md", 2 if LONG else 1)

    def test_python(self):
        self.page("docs/python.md", 3)

    def test_your_problem(self):
        self.page("docs/your-problem.md", 1)

    @unittest.skipUnless(LONG, "a long test")
    def test_notebook(self):
        missing = [p for p in ("nbconvert", "ipykernel", "cloudpickle", "matplotlib") if not importlib.util.find_spec(p)]
        if missing:
            self.skipTest(f"no {', '.join(missing)} (Debian: python3-NAME)")
        shown = (ROOT / "docs/notebook.ipynb").read_text()
        copy = self.write("notebook.ipynb", shown)
        self.shell(f"{sys.executable} -m nbconvert --to notebook --execute --inplace notebook.ipynb 2>&1")
        again, shown = said(json.loads(copy.read_text())), said(json.loads(shown))
        self.assertEqual(len(shown), len(again))
        self.assertTrue(any(drawn for _, drawn in shown))
        for (text, drawn), (printed, draws) in zip(shown, again):
            self.assertEqual(drawn, draws)
            wrong = follows(text, printed, fingerprint() == NOTEBOOK_BY)
            self.assertIsNone(wrong, f"the notebook shows what is not printed; printed is:\n{printed}")

    def test_differences_are_found(self):
        printed = "a 3 trials 1.5 s\nb  2.5\nc\nd\n"
        for shown, wrong in (("a 3 trials 7 s\nb 2.5\nc\nd\n", None), ("a 3 ...\n...\nd\n", None), ("a 3 ...\n...\n", None),
                             ("a 4 trials 7 s\n", "a 4 trials 7 s"), ("a 3 ...\nc\n", "c"), ("...\nc\n", "no more, but: d"),
                             ("a 3 ...\nb 2.6\n...\n", "b 2.6")):
            self.assertEqual(follows(shown, printed, True), wrong)
        self.assertIsNone(follows("a 3 ...\nb 2.6\n...\n", printed, False))
        self.assertEqual(follows("ei  2.6   7\n", "ei  2.5   7\n", True), "ei  2.6   7")
        self.assertIsNone(follows(f"ei  2.6{24 * ' '}7\n", f"ei  2.5{24 * ' '}7\n", True))
