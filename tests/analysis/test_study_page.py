"""The page of a study: its content, labels that would break it, its charts in a browser, redrawn while
a study runs."""
import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import common
import numpy as np
import synthetic
from browser import BROWSER, WIDTHS, in_browser
from common import run
from regatta_analysis import InputError, load
from regatta_analysis.claims import claims
from regatta_analysis.figures import figures
from regatta_analysis.report import charts, study_page, tables
from regatta_analysis.stats import inference, summaries
from regatta_analysis.stats.regret import regret_curves

EVIL = ["</script><script>document.title='broken'</script>".replace("/", "\\"), '<img src=x onerror="alert(1)">',
        "$\\input{x}$ & 'quotes' \"", "long_" * 40, "\u202eevil \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
        "</script >".replace("/", "") + "<!--", "__proto__", "{{ 7 * 7 }}"]
PROBLEM = "<b onmouseover=alert(1)> \u05e9\u05dc\u05d5\u05dd " + "x" * 150

# The acts of a reader on a chart, and the page after each.
ACTS = """
<script>
addEventListener("load", () => setTimeout(() => {
  const all = (q, n = document) => [...n.querySelectorAll(q)], chart = all(".chart")[0], found = {};
  const button = words => all("button", chart).find(b => b.textContent === words);
  const lines = () => all(".drawing path[stroke]", chart).length;
  const value = () => all(".entry .value", chart)[0].textContent;
  const key = k => all(".drawing", chart)[0].dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
  found.shown = !chart.hidden;
  found.stills = all("details.still").filter(d => d.open).length;
  found.lines = lines();
  found.end = value();
  key("Home");
  found.first = value();
  key("ArrowRight");
  found.second = value();
  found.reading = all(".reading", chart)[0].textContent;
  all(".entry", chart)[0].click();
  found.hidden = lines();
  all(".entry", chart)[0].click();
  const log = button("log y"), before = log.getAttribute("aria-pressed");
  log.click();
  found.toggled = log.getAttribute("aria-pressed") !== before;
  button("CPU s").click();
  found.axis = all(".drawing .label", chart)[0].textContent;
  button("cumulative regret").click();
  found.measure = all(".drawing .label", chart)[1].textContent;
  all("select", chart)[0].value = "1";
  all("select", chart)[0].dispatchEvent(new Event("change"));
  found.heading = all(".heading", chart)[0].textContent;
  found.names = all(".entry .name", chart).map(e => e.textContent);
  found.named = all("button, select", chart).every(b => b.textContent || b.getAttribute("aria-label"));
  found.title = document.title;
  found.scripts = all("script").length;
  const said = document.createElement("pre");
  said.id = "found";
  said.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
  document.body.append(said);
}, 100));
</script>
"""


# This script counts what a page in the style of paper shows: by section, in "How to read this", names of settings, links.
PAPER = """
<script>
addEventListener("load", () => setTimeout(() => {
  dispatchEvent(new Event("beforeprint"));
  const seen = q => [...document.querySelectorAll(q)].filter(e => e.checkVisibility()).length, found = {};
  found.sections = Object.fromEntries([...document.querySelectorAll("section")].map((s, k) => {
    s.id = `section${k}`;
    return [s.querySelector("h2").textContent, seen(["p", "td", "dd", "img", "summary", ".tiles b"].map(e => `#section${k} ${e}`).join())];
  }));
  found.how = seen(".how dd");
  found.names = seen(".printed td");
  found.links = seen("nav");
  found.folded = [...document.querySelectorAll("details:not([open]) > summary")].map(e => e.textContent + getComputedStyle(e, "::after").content);
  const said = document.createElement("pre");
  said.id = "found";
  said.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
  document.body.append(said);
}, 100));
</script>
"""


def acted(page, scratch, acts=ACTS):
    """The page after acts; the page's policy is lifted for the test's own script."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    if acts == PAPER:
        text = text.replace("@media print", "@media all").replace("@media screen", "@media not all")
    probe = scratch / "acts.html"
    probe.write_text(text.replace("</body>", acts + "</body>"), encoding="utf-8")
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           f"--user-data-dir={scratch / 'profile'}", "--virtual-time-budget=10000",
                           "--window-size=1280,900", "--dump-dom", f"file://{probe}"],
                          capture_output=True, text=True, timeout=1800)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout)
    if not found:
        raise AssertionError(done.stderr[-800:])
    return json.loads(base64.b64decode(found[1]))


def swept_study(path, seeds=3, noises=("1e-4", "1e-1"), kernels=("a", "b"), methods=("Random", "EI", "GP-UCB")):
    """One problem under two settings: a number that two methods read, a word that one reads."""
    random, ei, gp_ucb = methods
    settings = [(random, "")] + [(ei, f"noise={v}") for v in noises] + [
        (f"{gp_ucb} (kernel={k})", f"noise={v}, kernel={k}") for v in noises for k in kernels]
    part = synthetic.problem("Box", [str(k) for k in range(len(settings))], seeds=seeds, queries=9)
    cells = [(settings[int(a)], i, s) for a, i, s in part["cells"]]
    part["cells"] = [(pair[0], i, s) for pair, i, s in cells]
    part["swept"] = [pair[1] for pair, _, _ in cells]
    synthetic.write(path, [part])


class Page(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.directory / "study.h5"
        synthetic.write(cls.path, [
            synthetic.problem(PROBLEM, EVIL, seeds=3, queries=12, failed=(1,), missing=(2,)),
            synthetic.problem("Plane", EVIL, seeds=3, queries=12, random_state=1)], title="<i>T</i> \u202e")
        cls.page = study_page.write([cls.path])

    def test_it_stands_beside_the_results(self):
        self.assertEqual(self.page, self.directory / "report.html")
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["report.html", "study.h5"])

    def test_everything_is_there(self):
        text = self.page.read_text(encoding="utf-8")
        for part in "overview curves statistics runtime failures settings again provenance".split():
            self.assertIn(f'<h2 id="s1-{part}">', text)
        self.assertIn("Cholesky broke down", text)
        self.assertIn("Cells that lack trials", text)
        self.assertIn("46 / 48", text)
        self.assertNotRegex(text, r'(src|href)="(?!data:|#)')
        self.assertIn("<img", text)  # for readers without scripts
        self.assertEqual(len(re.findall(r'<img alt="[^"]*: final value of every trial"', text)), 2)  # one per problem: they fit a phone

    def test_shares_its_numbers_and_figures_with_the_files(self):
        """Written after the figures, the page equals that of `page` alone, and nothing is computed twice."""
        out = self.scratch / "out"
        with mock.patch.object(inference, "_cells", wraps=inference._cells) as compared, \
                mock.patch.object(summaries, "cell_curves", wraps=summaries.cell_curves) as summarised, \
                mock.patch.object(figures, "regret_grid", wraps=figures.regret_grid) as drawn:
            with contextlib.nullcontext() if common.LONG else common.no_drawing():
                run(self.path, "--out", out, "--formats", "png", "--page", out / "page.html", "--command", "x")
        results = load(self.path)
        cells = 2 * len(results.problems)
        self.assertEqual((compared.call_count, summarised.call_count), (len(results.problems), cells))
        self.assertEqual(drawn.call_count, 2 * (len(results.problems) + 1))
        with contextlib.nullcontext() if common.LONG else common.no_drawing():
            alone = study_page.write([self.path], self.scratch / "alone.html", command="x")
        texts = [re.sub("base64,[^\"]*", "", page.read_text()) for page in (out / "page.html", alone)]
        self.assertEqual(*texts)

    def test_nothing_is_obeyed(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(text.count("<script"), 2)
        self.assertEqual(text.count("</script"), 2)
        for word in ("<b onmouse", "<img src=x", "<i>T", "\u202e", "<!--"):
            self.assertNotIn(word, text)
        self.assertIn("script-src 'sha256-", text)
        data = re.search(r'id="charts">(.*?)</script>', text)[1]
        self.assertEqual(len(json.loads(data)[0]["series"]), len(EVIL))

    def test_charts_have_the_numbers(self):
        results = load(self.path)
        chart = charts.regret_chart(results, ["simple", "cumulative"])
        curve = chart["data"][1][1]["curves"][0]
        frame = regret_curves(results, "Plane", "cumulative").xs(EVIL[0], level="algorithm")
        known = frame.median().dropna()
        self.assertEqual(curve["x"][0], list(known.index))
        np.testing.assert_allclose(curve["y"], known, rtol=1e-4)
        self.assertEqual([a["short"] for a in chart["axes"]], ["t", "CPU s"])
        self.assertTrue(all(b >= a for a, b in zip(curve["x"][1], curve["x"][1][1:])))

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_in_a_browser(self):
        everything, console = in_browser(self.page, self.scratch)
        self.assertEqual(console, [])
        for width in WIDTHS:
            found = everything[str(width)]
            self.assertEqual((found["broken"], found["overflow"], found["wide"], found["small"], found["split"], found["cut"] * (width == WIDTHS[0])),
                             (0, 0, [], 0, [], []), width)

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_on_paper_figures_stand_in_place_of_charts(self):
        drawn = self.page.read_text(encoding="utf-8").count("<img ")
        paper = self.scratch / "page.pdf"
        subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        f"--user-data-dir={self.scratch / 'profile'}", f"--print-to-pdf={paper}", f"file://{self.page.resolve()}"],
                       capture_output=True, check=True, timeout=1800)
        self.assertGreater(drawn, 2)
        self.assertEqual(paper.read_bytes().count(b"/Subtype /Image"), drawn)

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_on_paper_no_section_is_empty(self):
        """How numbers are made and what names of settings mean is printed; other folds say that they are there."""
        swept_study(self.scratch / "s.h5", kernels=[letter * 40 for letter in "ab"])
        with common.no_drawing():
            page = study_page.write([self.scratch / "s.h5"])
        found = acted(page, self.scratch, PAPER)
        self.assertGreater(len(found["sections"]), 9)
        self.assertEqual([title for title, seen in found["sections"].items() if not seen], [])
        self.assertGreater(found["how"], 4)
        self.assertEqual((found["names"], found["links"]), (2 * len(load(self.scratch / "s.h5").index), 0))
        self.assertIn("All pairs in a table", " ".join(found["folded"]))
        for words in found["folded"]:
            self.assertIn("(folded here, ", words)

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_a_sweep_is_no_scroll_of_paper(self):
        """Long tables scroll in their place, and pictures are folded; without that the page is four times as high.
        Nothing scrolls aside, and as little on a page of many problems."""
        swept_study(self.scratch / "s.h5", seeds=7, noises=["1e-4", "1e-3", "1e-2", "1e-1", "0.2", "0.3"])
        synthetic.write(self.scratch / "many.h5", [synthetic.problem(f"problem {k}", ["EI", "GP-UCB", "Random"], seeds=3,
                                                                     queries=9) for k in range(16)])
        for name, rows in (("s", "noise"), ("many", "Problem")):
            with common.no_drawing():
                page = study_page.write([self.scratch / f"{name}.h5"], self.scratch / f"{name}.html")
            everything, console = in_browser(page, self.scratch)
            self.assertEqual(console, [])
            self.assertLess(everything["1280"]["height"], 9000)
            self.assertEqual([(everything[str(width)]["overflow"], everything[str(width)]["cut"], everything[str(width)]["split"])
                              for width in WIDTHS], 2 * [(0, [], [])])
            growth = re.search(r"<h3>Growth of.*?</thead>", page.read_text(encoding="utf-8"), re.DOTALL)[0]
            self.assertIn(f"<th>{rows}</th>", growth)

    def test_a_measure_without_a_value_is_left_out(self):
        """As cumulative regret where some design is not feasible: no empty figure, table or explanation."""
        for known in (True, False):
            part = synthetic.problem("P", ["EI", "Random"], seeds=4, queries=12)
            for name in ("instantaneous_regret", "cumulative_regret"):
                part["arrays"][name] *= 1.0 if known else np.nan
            synthetic.write(self.scratch / "s.h5", [part])
            with common.no_drawing():
                text = study_page.write([self.scratch / "s.h5"]).read_text()
            self.assertEqual("umulative regret" in re.sub("base64[^\"]*", "", text), known)

    def test_many_methods_begin_with_those_that_end_best(self):
        """Twelve lines at first, the others a click away; of twelve methods all."""
        levels = {f"M{k}": 0.01 * 2.0**((7 * k) % 15) for k in range(15)}
        synthetic.write(self.scratch / "s.h5", [synthetic.made_up("P", levels, seeds=3, queries=9)])
        chart = charts.regret_chart(load(self.scratch / "s.h5"), ["simple"])
        self.assertEqual(set(chart["hidden"]), set(sorted(levels, key=levels.get)[12:]))
        some = load(self.scratch / "s.h5").select(algorithms=[f"M{k}" for k in range(12)])
        self.assertNotIn("hidden", charts.regret_chart(some, ["simple"]))

    @unittest.skipUnless(BROWSER, "no Chromium here (Debian: chromium-headless-shell)")
    def test_what_a_reader_does(self):
        found = acted(self.page, self.scratch)
        self.assertEqual((found["shown"], found["stills"]), (True, 0))
        self.assertEqual(found["hidden"], found["lines"] - 1)
        self.assertNotEqual(found["first"], found["end"])
        self.assertIn("t = 1", found["reading"])
        self.assertTrue(found["toggled"])
        self.assertIn("CPU time", found["axis"])
        self.assertEqual(found["measure"], "Cumulative regret")
        self.assertEqual(found["heading"], "Plane")
        self.assertEqual(found["names"], [label.replace("\u202e", "\\u202e") for label in EVIL])
        self.assertTrue(found["named"])
        self.assertEqual(found["scripts"], 3)  # two of the page, one of this test
        self.assertIn("report", found["title"])


class Sweep(common.Case):
    pictures = "undrawn"

    def test_methods_that_read_nothing_stand_everywhere(self):
        swept_study(self.scratch / "s.h5")
        results = load(self.scratch / "s.h5")
        chart = charts.regret_chart(results, ["simple"])
        self.assertEqual([s["name"] for s in chart["series"]], ["Random", "EI", "GP-UCB"])
        self.assertEqual(len(chart["panels"]), 4)
        for panel in chart["data"]:
            self.assertNotIn(None, panel[0]["curves"])
        self.assertEqual(len({json.dumps(p[0]["curves"][0]) for p in chart["data"]}), 1)
        over = charts.sweep_charts(results, "simple")
        self.assertEqual([(c["axes"][0]["short"], c["axes"][0]["words"], c["axes"][0]["log"], c["axes"][0]["apart"])
                          for c in over], [("noise", None, True, False), ("kernel", ["a", "b"], False, True)])
        text = study_page.write([self.scratch / "s.h5"]).read_text()
        for words in ("Final value over noise", "Sensitivity", "21 / 21", "swept settings"):
            self.assertIn(words, text)
        self.assertNotIn("Cells that lack trials", text)

    def test_only_what_was_planned_has_run_times(self):
        """A method does not run where others have a parameter of their own; of a complete study nothing is missing."""
        part = synthetic.problem("Box", ["0", "1", "2"], seeds=3, queries=9)
        settings = [("EI", "noise=4"), ("EI", "noise=8"), ("GP-UCB (kernel=a)", "noise=8, kernel=a")]
        part["swept"] = [settings[int(a)][1] for a, _, _ in part["cells"]]
        part["cells"] = [(settings[int(a)][0], i, s) for a, i, s in part["cells"]]
        results = synthetic.loaded(self.scratch / "s.h5", [part])
        _, rows = tables.runtime_grid(tables.runtime(results))
        self.assertEqual((len(results.problems) * len(results.algorithms), [row[2][0] for row in rows]), (4, 3 * ["3"]))

    def test_numbers_of_settings_are_as_typed(self):
        """The number of workers is no 4.0 where some method does not read it."""
        swept_study(self.scratch / "s.h5", noises=("4", "8"))
        text = study_page.write([self.scratch / "s.h5"]).read_text()
        self.assertIn("noise = 4", text)
        self.assertNotRegex(text, r"(?:= |>)[48]\.0\b")


class Several(common.Case):
    pictures = "undrawn"

    def test_studies_on_one_page(self):
        for name in ("a", "b"):
            synthetic.write(self.scratch / f"{name}.h5", [synthetic.problem(name, ["EI"], seeds=2, queries=9)],
                            title=f"Study {name}")
        code, out, err = run("page", self.scratch / "a.h5", self.scratch / "b.h5", "--out",
                             self.scratch / "both.html", "--command", "make both")
        self.assertEqual((code, err, out.strip()), (0, "", str(self.scratch / "both.html")))
        text = (self.scratch / "both.html").read_text()
        for words in ('href="#s2"', "Study b", 'id="s2-provenance"', "make both"):
            self.assertIn(words, text)
        self.assertEqual(text.count("0 where the optimum was found"), 1)  # how to read both is said once

    def test_no_such_file(self):
        code, _, err = run("page", self.scratch / "no.h5")
        self.assertEqual((code, len(err.splitlines())), (2, 1))


class Claims(common.Case):
    TEXT = """claims:
  - {id: c1, where: here, claim: EI beats Random, checks: [
      {kind: better, who: EI, against: Random, on: study}]}
  - {id: c2, where: there, claim: of another, checks: [
      {kind: better, who: EI, against: Random, on: other}]}
"""

    def test_those_that_speak_of_the_study(self):
        synthetic.write(self.scratch / "study.h5", [synthetic.problem("P", ["EI", "Random"], seeds=8)])
        (self.scratch / "claims.yaml").write_text(self.TEXT)
        text = study_page.write([self.scratch / "study.h5"]).read_text()
        self.assertIn("<td>c1</td>", text)
        self.assertNotIn("<td>c2</td>", text)
        (self.scratch / "claims.yaml").write_text(self.TEXT.replace("on: study", "on: studdy"))
        claims.read.cache_clear()
        with self.assertRaisesRegex(InputError, "no study 'studdy', did you mean 'study'"):
            study_page.write([self.scratch / "study.h5"])


@unittest.skipUnless(os.environ.get("REGATTA") and shutil.which("mpirun"), "no program to run")
class FrontDoor(common.Case):
    STUDY = """study: tiny
seeds: 2
common: {iterations: 3, initial_points: 2}
problems: [branin]
algorithms: [random]
"""

    def test_run_sh_ends_with_the_report(self):
        (self.scratch / "tiny.yaml").write_text(self.STUDY)
        script = (f'source "{common.HERE.parents[1]}/run.sh"; regatta=$REGATTA; '
                  'python regatta_analysis study tiny.yaml out/tiny.h5 --command "./run.sh study tiny.yaml"')
        done = subprocess.run(["bash", "-c", script], cwd=self.scratch, capture_output=True, text=True,
                              env={**os.environ, "REGATTA_RANKS": "1", "REGATTA_PYTHON": sys.executable},
                              timeout=1800)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.scratch / "out" / "report.html"
        self.assertEqual(done.stdout.splitlines()[-1], "Report: out/report.html")
        self.assertIn("./run.sh study tiny.yaml", page.read_text())
        self.more_seeds_of_results_alone()

    def more_seeds_of_results_alone(self):
        """The answer's command for results without a study file writes that file beside them, and the study grows."""
        results, written = self.scratch / "out" / "tiny.h5", self.scratch / "out" / "tiny.yaml"
        for options, code, seeds in ((["--seeds", 3], 0, 3), (["--instances", 4], 2, 3), (["--seeds", 1], 2, 3)):
            found, _, err = run("study", results, *options, "--launch", "", "--results", self.scratch)
            self.assertEqual((found, written.read_text(), len(load(results).trials)),
                             (code, self.STUDY.replace("seeds: 2", f"seeds: {seeds}"), seeds), err)
        self.assertRegex(err, "tiny.yaml: the study has 3 seeds, and --seeds only adds some\n$")
        written.write_text(self.STUDY + "# another\n")
        self.assertRegex(run("study", results, "--seeds", 4)[2], "^regatta_analysis: .*tiny.yaml: not the study of tiny.h5")

    def test_options_that_do_not_fit(self):
        for arguments, words in (([self.scratch / "no.yaml"], "no.yaml: no such file"),
                                 (["x.yaml", "--budget", "2"], "--budget goes with --until-decided"),
                                 (["x.yaml", "--until-decided", "--budget", "much"], "core-hours")):
            code, _, err = run("study", *arguments)
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertIn(words, err)


class Live(common.Case):
    def test_redrawn_until_it_is_complete(self):
        shards = self.scratch / "s.h5.d"
        shards.mkdir()
        part = synthetic.problem("P", ["EI", "Random"], seeds=4, queries=9)
        synthetic.write(shards / "0-a.h5", [part], complete=0, rows={"P": [0, 1]})
        said, seen = [], []
        work = threading.Thread(target=lambda: seen.append(study_page.watch(
            [shards], say=said.append, pause=0.05)))
        work.start()
        page = self.scratch / "report.html"
        self.wait(lambda: page.exists() and "s.h5.d has 2 of" in page.read_text())
        self.assertIn('http-equiv="refresh"', page.read_text())
        self.assertEqual([p.name for p in shards.iterdir()], ["0-a.h5"])  # it only reads
        synthetic.write(self.scratch / "b", [part], complete=0, rows={"P": [4, 5, 6]})
        (self.scratch / "b").rename(shards / "0-b.h5")
        self.wait(lambda: "s.h5.d has 5 of" in page.read_text())
        synthetic.write(self.scratch / "s.h5", [part])
        shutil.rmtree(shards)
        work.join(1800)
        self.assertEqual(seen, [page])
        self.assertNotIn('http-equiv="refresh"', page.read_text())
        self.assertIn("8 / 8", page.read_text())

    def wait(self, condition):
        end = time.monotonic() + 1800
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_nothing_there(self):
        with self.assertRaises(InputError):
            study_page.watch([self.scratch / "no.h5.d"], pause=0.01)
