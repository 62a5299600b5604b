"""The page of a reproduced paper, report.html and report.md, and the index over all papers."""
import base64
from dataclasses import dataclass, field
from pathlib import Path

from regatta_analysis.claims import claims
from regatta_analysis.claims.grades import SHOWN
from regatta_analysis.escape import markdown as md
from regatta_analysis.figures import style
from regatta_analysis.figures.figures import Band
from regatta_analysis.load.errors import InputError
from regatta_analysis.report import comparisons, tables
from regatta_analysis.report.curve import MARKS
from regatta_analysis.report.parts import failed_trials, provenance
from regatta_analysis.report.tables import Table
from regatta_analysis.stats import inference
from regatta_analysis.stats.regret import METRICS, default_metrics

from . import availability, catalogue, paper_figures, published, universes
from .pages import render


@dataclass
class Drawn:
    """A figure of the page: title, caption, and (words, path of the PNG file) of its parts."""
    id: str
    title: str
    caption: str
    parts: list = field(default_factory=list)
    missing: str = ""


def write(name, directory, scale="full", command=None, skipped=(), without=(),
          formats=("pdf", "png")):
    """Report of one paper from the results in `directory`/`scale`, written into `directory`. Returns the paths of
    report.html and report.md. `skipped` has (study, reason) of studies that could not run; `without` has (study,
    "problem: reason") of studies without some of their problems."""
    paper = catalogue.paper(name)
    studies = universes.studies_of(paper.directory, _results_of(directory / scale, name))
    loaded, broken = _load_all(paper, studies)
    skipped = dict(skipped)
    data = {
        "paper": paper, "scale": scale, "command": command or default_command(name, scale),
        "verdicts": claims.evaluate(paper.claims_file, studies) if paper.claims_file.exists() else [],
        "figures": _figures(paper, studies, directory, scale, formats, (skipped, dict(without))),
        "published": [Table(*table) for table in published.tables_of(paper.claims_file, studies)]
        if paper.claims_file.exists() else [],
        "tables": _tables(loaded), "comparisons": _comparisons(paper, loaded),
        "growth": _growth(loaded),
        "studies": _about_studies(paper, loaded, broken, skipped, dict(without)),
        "settings": {s: r.study for s, r in loaded.items()}, "provenance": [(s, provenance(r)) for s, r in loaded.items()],
        "failed": [f"{s}: {line}" for s, r in loaded.items() for line in failed_trials(r)],
    }
    data["counts"] = claims.count(data["verdicts"])
    page, text = directory / "report.html", directory / "report.md"
    page.write_text(render("report", data | {"image": embedded, "marks": MARKS}), encoding="utf-8")
    text.write_text(_markdown(data, directory), encoding="utf-8")
    return page, text


def default_command(name, scale):
    """The settings of a scale in words."""
    return f"./run.sh reproduce {name}" + ("" if scale == "full" else f" --scale {scale}")


def _results_of(folder, name):
    return claims.find_results([folder], name) if folder.is_dir() else {}


def _load_all(paper, studies):
    loaded, broken = {}, {}
    for study in paper.studies():
        try:
            results = studies.get(study)
        except InputError as error:
            broken[study], studies.files[study] = str(error), None
            results = None
        if results is not None:
            loaded[study] = results
    return loaded, broken


# ---- figures -----------------------------------------------------------------------------------


def _figures(paper, studies, directory, scale, formats, notes):
    place, (skipped, without) = directory / "figures", notes
    place.mkdir(parents=True, exist_ok=True)
    drawn = [draw_figure(paper, _with_reasons(spec, {**skipped, **without}), studies, place, directory / scale, formats)
             for spec in paper.figures]
    for figure, spec in zip(drawn, paper.figures):
        why = [skipped.get(study) for study in catalogue.studies_of(spec)]
        if why and all(why) and not figure.parts:
            figure.missing = why[0]
    return drawn


def _with_reasons(spec, reasons):
    """The figure with a reason for each panel whose problem is without its data."""
    def entry(found):
        lacks = availability.names(reasons.get(found.get("study"), ""), found.get("problem"))
        return found | {"missing": "needs data"} if lacks else found
    if "panels" not in spec:
        return spec
    return spec | {"panels": [[entry(found) for found in row] for row in spec["panels"]]}


def draw_figure(paper, spec, studies, place, results_directory, formats=("pdf", "png")):
    """Draw one figure into `place`. If it can't be drawn, say why."""
    drawn = Drawn(spec["id"], spec["title"], " ".join(spec.get("caption", "").split()))
    try:
        parts = paper_figures.draw(spec, studies, results_directory)
    except InputError as error:
        drawn.missing = str(error)
        return drawn
    for suffix, words, figure in parts:
        files = style.save(figure, place / f"{spec['id']}{suffix}", formats)
        drawn.parts.append((words, next((f for f in files if f.suffix == ".png"), files[0])))
    if not parts and spec["kind"] == "ranks" and any(
            studies.get(study) for study in catalogue.studies_of(spec)):
        drawn.missing = "ranks need three algorithms that ran on two or more problems"
    elif not parts:
        names = ", ".join(catalogue.studies_of(spec))
        drawn.missing = f"no results of {names} yet: ./run.sh reproduce {paper.name}/{spec['id']}"
    return drawn


def embedded(path):
    """The image file as the source of an <img>."""
    return "data:image/png;base64," + base64.b64encode(Path(path).read_bytes()).decode("ascii")


# ---- tables ------------------------------------------------------------------------------------


def _tables(loaded):
    """Final regret and run time of every study."""
    made = []
    for study, results in loaded.items():
        metrics = [m for m in default_metrics(results) if inference.recorded(results, m)]
        final = tables.final_regret(results, metrics) if metrics else None
        for metric in metrics:
            header, rows = tables.final_regret_grid(results, final, metric, Band())
            made.append(Table(f"{results.title}: {METRICS[metric].name.lower()} at the last query "
                              f"({study})",
                              f"{tables.drawn_in_words(Band())}{tables.FINAL_NOTE}",
                              header, rows))
        header, rows = tables.runtime_grid(tables.runtime(results))
        made.append(Table(f"{results.title}: time per trial ({study})",
                          "Mean ± standard error; wall = fit + acquire + evaluate.", header, rows))
    return made


def _comparisons(paper, loaded):
    """The paper's method against every other on every problem, by the paper's metric."""
    metric = next((f.get("metric", "simple") for f in paper.figures if f["kind"] == "ranks"), "simple")
    made = []
    for study, results in loaded.items():
        mains = [a for a in results.algorithms if a == paper.main or a.startswith(f"{paper.main} (")]
        if mains and inference.recorded(results, metric):
            made.append(comparisons.pairs_table(
                inference.comparisons(results, metric, mains[0]),
                f"{mains[0]} against the others, final {METRICS[metric].name.lower()} ({study})"))
    return [table for table in made if table.rows]


def _growth(loaded):
    """Growth exponents of the mean cumulative regret of every cell."""
    made = [comparisons.growth_table(inference.growth(results), results, f" ({study})")
            for study, results in loaded.items() if inference.recorded(results, "cumulative")]
    return [table for table in made if table.rows]


def _about_studies(paper, loaded, broken, skipped, without):
    rows = []
    for study in paper.studies():
        results = loaded.get(study)
        if results is None:
            why = broken.get(study) or skipped.get(study) or "not run"
            rows.append([(study, False), ("–", False), ("–", False), (why, False)])
            continue
        planned, done, failed = map(results.counts().get, ("planned", "done", "failed"))
        state = "complete" if results.complete and done == planned else "incomplete"
        state += f", {failed} failed" if failed else ""
        state += "".join(f"; {warning}" for warning in results.warnings)
        state += f"; without {without[study]}" if study in without else ""
        rows.append([(study, False), (results.title, False), (f"{done} of {planned}", False),
                     (state, False)])
    return Table("Studies", "", ["Study file", "Title", "Trials", "State"], rows)


# ---- Markdown ----------------------------------------------------------------------------------


def _markdown(data, directory):
    paper = data["paper"]
    lines = [f"# {paper.title}", "", f"{paper.citation}. {paper.about}", "",
             f"Scale: {data['scale']}. Claims: {data['counts']}.", ""]
    if data["verdicts"]:
        lines += ["## Claims", "", _claims_table(data["verdicts"]), ""]
    for table in data["published"]:
        lines += _markdown_table(Table(table.title, table.note, table.header,
                                       [[(c, False) for c in row] for row in table.rows]))
    lines += ["## Figures", ""]
    for figure in data["figures"]:
        lines += [f"### {figure.title}", "", figure.caption, ""]
        lines += [f"Missing: {figure.missing}", ""] if figure.missing else []
        for words, path in figure.parts:
            lines += [*([f"{words.capitalize()}:", ""] if words else []),
                      f"![{figure.title}]({path.relative_to(directory).as_posix()})", ""]
    lines += ["## Tables", ""]
    for table in [*data["tables"], *data["comparisons"], *data["growth"]]:
        lines += _markdown_table(table)
    lines += ["## Studies", "", tables.markdown(data["studies"].header, data["studies"].rows), ""]
    lines += [f"- failed: {md(line)}" for line in data["failed"]]
    lines += ["", "## Run it again", "", "```sh", data["command"], "```", "", "## Provenance", ""]
    for study, about in data["provenance"]:
        lines += [md(f"- {study}: " + "; ".join(f"{k}: {' '.join(v.split())}" for k, v in about.items()))]
    return "\n".join(lines) + "\n"


def _claims_table(found):
    """One row per claim."""
    rows = [[(v.id, False), (v.where, False), (v.claim, False), (v.words, v.grade == SHOWN), (v.sentence(), False)]
            for v in found]
    return tables.markdown(["Claim", "Where", "Statement", "Grade", "Evidence"], rows)


def _markdown_table(table):
    return [f"### {md(table.title)}", "", tables.markdown(table.header, table.rows), "",
            md(table.note), ""]


# ---- index -------------------------------------------------------------------------------------


def write_index(directory, scale="full"):
    """Write index.html and index.md over the papers that have a report in `directory`, with the grade of every claim.
    """
    rows, papers = [], []
    for name in catalogue.papers():
        paper = catalogue.paper(name)
        place = directory / name
        verdicts = []
        if paper.claims_file.exists():
            studies = universes.studies_of(paper.directory, _results_of(place / scale, name))
            _load_all(paper, studies)
            verdicts = claims.evaluate(paper.claims_file, studies)
        papers.append((paper, (place / "report.html").exists(), verdicts, claims.count(verdicts)))
        rows += verdicts
    data = {"papers": papers, "verdicts": rows, "counts": claims.count(rows), "marks": MARKS,
            "command": "./run.sh reproduce all" + ("" if scale == "full" else f" --scale {scale}"),
            "scale": scale}
    page, text = directory / "index.html", directory / "index.md"
    page.write_text(render("index", data), encoding="utf-8")
    lines = ["# Five papers, reproduced", "", f"Scale: {scale}. {len(rows)} claims: {data['counts']}.",
             ""]
    for paper, there, verdicts, count in papers:
        link = f"[report]({paper.name}/report.md)" if there else "no report yet"
        lines += [f"## {paper.title}", "", f"{paper.citation}; {link}; {count}", "",
                  _claims_table(verdicts), ""]
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page, text
