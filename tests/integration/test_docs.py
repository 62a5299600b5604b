"""The documentation site: it builds without a warning, its links lead somewhere, its formulas are drawn, and nothing
of it needs a network. Skipped where the packages of `./run.sh docs` are missing."""
import html.parser
import json
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

from regatta_test import HANG, LONG, REGATTA, RegattaTest, regatta

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)


def lacks():
    """The missing programs and packages to build the site here."""
    asked = subprocess.run([sys.executable, "-c", "import sphinx, myst_parser, furo, nbconvert"], capture_output=True, text=True)
    if asked.returncode:
        return asked.stderr.strip().splitlines()[-1]
    return "" if shutil.which("doxygen") and Path("/usr/share/javascript/katex").exists() else "no Doxygen or KaTeX"


# Each page in a frame of each width, one after the other; [number of looks, [(width, page that is wider)]].
PROBE = """<!DOCTYPE html><body><pre id="found"></pre><script>
const pages = PAGES, wide = [];
let looked = 0;
(async () => {
  for (const width of [390, 1280]) for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.style = `width:${width}px;height:900px`;
    const loaded = new Promise(done => { frame.onload = done; });
    frame.src = page;
    document.body.append(frame);
    await loaded;
    const root = frame.contentDocument.documentElement;
    looked++;
    if (root.scrollWidth > root.clientWidth) wide.push([width, page]);
    frame.remove();
  }
  document.getElementById("found").textContent = JSON.stringify([looked, wide]) + " END";
})();
</script>"""


class Page(html.parser.HTMLParser):
    """The links of a page, the files it loads, its anchors, and its formulas."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.places, self.formulas, self.inside = [], [], set(), [], False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update(filter(None, (found.get("id"), found.get("name") if tag == "a" else None)))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get("src") or tag == "link" and found.get("rel") not in ("canonical",):
            self.loads.append(found.get("src") or found.get("href"))
        if "math" in (found.get("class") or "").split():
            self.inside = True
            self.formulas.append("")

    def handle_data(self, data):
        if self.inside:
            self.formulas[-1] += data

    def handle_endtag(self, tag):
        self.inside = False


def broken(site, pages):
    """[(page, link)] of {path: page} that lead nowhere inside of the site; Doxygen's own pages link among themselves."""
    pages = {path: page for path, page in pages.items() if "api" not in path.relative_to(site).parts}
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not goal.is_file() or parts.fragment and goal in pages and \
                    urllib.parse.unquote(parts.fragment) not in pages[goal].places:
                yield path.relative_to(site).as_posix(), link


MISSING = lacks() if LONG else "a long test"


@unittest.skipIf(MISSING, f"{MISSING} (Debian: python3-sphinx python3-myst-parser furo python3-nbconvert libjs-katex doxygen)")
class Docs(RegattaTest):
    def test_site(self):
        done = subprocess.run([sys.executable, ROOT / "docs" / "build_docs.py", REGATTA, self.folder / "docs"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        front = Path(done.stdout.strip())
        self.assertEqual(front, (self.folder / "docs/html/index.html").resolve())
        site = front.parent
        pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
        with self.subTest("links"):
            self.assertEqual(list(broken(site, pages)), [])
        with self.subTest("a planted mistake is found"):
            planted = site / "planted.html"
            planted.write_text('<a href="nowhere.html">a</a><a href="index.html#nowhere">b</a>')
            self.assertEqual(len(list(broken(site, {**pages, planted: Page(planted)}))), 2)
            planted.unlink()
        with self.subTest("a page for every name"):
            for kind in ("algorithms", "problems", "kernels", "theory"):
                listed = {line.split()[0] for line in regatta("list", kind)[1].splitlines()[1:]}
                self.assertEqual({p.stem for p in (site / "reference" / kind).glob("*.html")}, listed)
        with self.subTest("mathematics is that of methods and problems there are"):
            for page, kind, some, word in (("methods", "algorithms", "irgp_ucb", "operatorname"),
                                           ("problems", "problems", "branin", "tfrac{5.1}")):
                described = set(re.findall(r"^## (\w+)$", (ROOT / f"docs/{page}.md").read_text(), re.M))
                self.assertLessEqual(described, {p.stem for p in (site / "reference" / kind).glob("*.html")})
                self.assertIn(word, (site / "reference" / kind / f"{some}.html").read_text())
        with self.subTest("offline"):
            self.assertEqual([load for page in pages.values() for load in page.loads if load and "//" in load], [])
            sheets = {path: re.findall(r"url\(([^)]*)\)", path.read_text()) for path in site.rglob("*.css")}
            rooted = [(path.name, link) for path, links in sheets.items() for link in links if link.strip("'\"").startswith("/")]
            self.assertEqual(rooted, [])  # a page that is opened as a file has no root
        with self.subTest("widths and scripts"):
            self.widths(site, [path for path in pages if "api" not in path.relative_to(site).parts])
        with self.subTest("formulas"):
            self.formulas(site, [f for page in pages.values() for f in page.formulas])

    def widths(self, site, pages):
        """No page is wider than a screen of 390 or 1280 pixels, and no script fails. A planted page is and does."""
        if not BROWSER:
            self.skipTest("no Chromium here (Debian: chromium-headless-shell)")
        planted = site / "planted.html"
        planted.write_text("<!DOCTYPE html><article><p style='width: 2000px'>wide</p></article><script>import x from 'y';</script>")
        probe = site / "probe.html"
        probe.write_text(PROBE.replace("PAGES", json.dumps([page.as_uri() for page in [*pages, planted]])))
        done = self.browser(probe, "--disable-web-security", "--allow-file-access-from-files", "--enable-logging=stderr",
                            budget=400000)
        for path in (planted, probe):
            path.unlink()
        looked, wide = json.loads(re.search(r'<pre id="found">(.*) END</pre>', done.stdout)[1])
        self.assertEqual(looked, 2 * len(pages) + 2)
        self.assertEqual([(width, Path(page).name) for width, page in wide], [(390, "planted.html"), (1280, "planted.html")])
        errors = {line.rpartition("source: ")[2] for line in done.stderr.splitlines() if "CONSOLE" in line}
        self.assertEqual([error for error in errors if "planted.html" not in error], [])
        self.assertTrue(errors)

    def formulas(self, site, found):
        """All of them, drawn on one page."""
        self.assertGreater(len(found), 50)
        if not BROWSER:
            self.skipTest("no Chromium here (Debian: chromium-headless-shell)")
        static = site / "_static"
        marked = "".join(f'<div class="math">{f.replace("&", "&amp;").replace("<", "&lt;")}</div>' for f in found)
        sheet = site / "formulas.html"
        sheet.write_text(f'<!DOCTYPE html><meta charset="utf-8">{marked}<script src="{static}/katex/katex.min.js"></script>'
                         f'<script src="{static}/formulas.js"></script>')
        seen = self.in_browser(sheet)
        self.assertEqual(re.findall(r'class="katex-error" title="([^"]*)"', seen), [])
        self.assertGreaterEqual(seen.count('class="katex"'), len(found))
        self.assertIn('class="katex"', self.in_browser(site / "reference/algorithms/irgp_ucb.html"))

    def in_browser(self, page):
        return self.browser(page).stdout

    def browser(self, page, *options, budget=5000):
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               f"--user-data-dir={self.folder / 'profile'}", f"--virtual-time-budget={budget}", *options,
                               "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=HANG)
