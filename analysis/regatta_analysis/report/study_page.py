"""The page of a study: report.html beside its results. On request it is redrawn while the study runs."""
import base64
import hashlib
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ..claims import checks, claims
from ..escape import write_whole
from ..figures import clock as clock_figures, figures, finals, overviews, panels, style, sweep as sweep_figures
from ..load.errors import InputError
from ..load.load import load
from ..load.settings import method_label
from ..progress import progress
from ..stats import aggregate, inference, sweep as sweep_stats
from ..stats.regret import METRICS, default_metrics, dynamic_note, metric_on
from ..stats.summaries import cell_summaries
from . import answer, best_tables, charts, comparisons, matrix, parts, settings_table, stills, summary, tables
from .curve import MARKS
from .pages import render

SCRIPT = Path(__file__).with_name("charts.js")
ROWS = 200  # rows of a table; the files of `./run.sh figures` have the others
OPEN_ROWS, HEAT = 60, 6  # rows, figures
MATRICES = 12  # problems
FINAL = "Median with its 95% interval. Bold: the best, and all that paired trials do not show to be worse."
STUCK = ("A trial is stuck if it ends far above the others of its method: above a gap of at least a factor of 10, with "
         "at most half of the trials above the gap.")
CROSSES = " The figure of final values has a red cross for each."
REGRET = {"simple": "The gap between the optimum and the best query so far; 0 where the optimum was found.",
          "cumulative": "The sum of the gaps between the optimum and every query so far."}
RANKS = "Mean ranks{}. A bar joins methods that these problems, as a sample of others, do not tell apart."
REFRESH = 10  # seconds between two drawings


def write(paths, out=None, partial=False, trust=False, against=None, select=None, **more):
    """The page of results files or study directories. `out` is its path (default: report.html beside the first of
    them). `against`: archives to compare with (see load). `select` chooses from loaded results. For `more` see `write_loaded`. Returns the path."""
    loaded = [load(Path(p), partial, trust, against) for p in paths]
    return write_loaded([select(r) if select else r for r in loaded],
                        out or _folder(Path(paths[0])) / "report.html", **more)


def write_loaded(loaded, out, command=None, claims_files=(), live=None, panel=None):
    """The page of loaded results. `command` is the command that made them. `claims_files` are claims files (default:
    claims.yaml beside the results). `live` is the seconds after which the page loads itself again. `panel` asks for
    small multiples by this setting, or by problem."""
    if Path(out).is_dir():
        raise InputError(f"{out}: a folder, where the page is to be a file")
    for results in loaded:
        if panel:
            panel = results.full_name(panel)
            panels.check(results, panel)
    write_whole(Path(out), _page(loaded, command, claims_files, live, panel))
    return Path(out)


def watch(paths, out=None, say=print, pause=REFRESH, **more):
    """Redraw the page whenever trials are finished, until every study is complete. Only reads the results."""
    seen, page = None, None
    while True:
        now = [_stamp(Path(p)) for p in paths]
        running = any(Path(p).suffix == ".d" and Path(p).is_dir() for p in paths)
        if now != seen:
            try:
                page = write([_finished(Path(p)) for p in paths], out or _folder(Path(paths[0])) / "report.html",
                             live=pause if running else None, **more)
                if seen is None:
                    say(f"{page}: redrawn while the study runs; Ctrl-C stops")
                seen = now
            except InputError:
                if not running:  # else no trial is finished yet, or the files moved during the reading
                    raise
        if not running:
            return page
        time.sleep(pause)


def _finished(path):
    """OUT.h5.d, or OUT.h5 if it has replaced the directory."""
    return path.with_suffix("") if path.suffix == ".d" and not path.exists() else path


def _stamp(path):
    """A value that changes whenever a trial is committed."""
    path = _finished(path)
    if path.is_dir():
        return sorted(p.name for p in path.glob("*.h5") if not p.name.startswith("."))
    return path.stat().st_mtime_ns if path.exists() else None


def _folder(path):
    return path.parent if path.suffix in (".h5", ".d") or not path.is_dir() else path


def _page(loaded, command, claims_files, live, panel):
    made, drawn, told = [], [], set()
    for k, results in enumerate(loaded):
        about, some = _study(results, f"s{k + 1}", command, panel)
        about["verdicts"] = _verdicts(results, claims_files)
        about["how"] = {title: text for title, text in about["how"].items() if (title, text) not in told}
        told |= set(about["how"].items())
        made.append(about)
        drawn += some
    script = SCRIPT.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render("study", {"studies": made, "charts": charts.embedded(drawn), "script": Markup(script),
                            "script_hash": digest, "marks": MARKS, "live": live, "panel": panel, "matrix_key": matrix.KEY,
                            "now": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())})


def _name(results):
    return results.path.name.removesuffix(".d").removesuffix(".h5")


def _study(results, id_, command, panel=None):
    """The data of one study for the template, and its charts."""
    metrics = [m for k, m in enumerate(default_metrics(results)) if inference.recorded(results, m) and (k == 0 or _known(results, m))]
    metric = metrics[0] if metrics else None
    curves = [charts.regret_chart(results, metrics)] if metrics else []
    over = charts.sweep_charts(results, metric) if metric else []
    swept = sweep_stats.names(results) if over else []
    about = {"id": id_, "title": results.title, "file": results.path.name, "notes": results.beside.notes,
             "warnings": [warning for warning in results.warnings if warning not in results.beside.notes],
             "about": " ".join(str(results.attributes.get("description", "")).split()),
             "curves": bool(curves), "sweep": bool(over), "swept": swept,
             "command": command or answer.again(results), "text": results.study,
             "settings": summary.settings_of(results), "differs": _cut(settings_table.settings_table(results)),
             "provenance": parts.provenance(results), "failed": parts.failed_trials(results),
             "said": answer.sentences(results, metric, command), "open": _open_cells(summary.planned(results)), **_state(results), "tiles": _tiles(results),
             **_stills(results, metrics, panel), **_sweeps(results, metric, swept, panel), **_tables(results, metrics)}
    left = len(results.problems) - charts.PANELS
    about["curves_note"] = (f"The first {charts.PANELS} of {len(results.problems)} problems; "
                            "./run.sh figures draws others (--problems, --where).") if left > 0 else ""
    return about, curves + over


def _known(results, metric):
    """Whether some trial has a value of a metric: without one, its curves and tables would be empty."""
    return any(cell_summaries(results, p, metric)["n_finite"].any() for p in results.problems)


def _state(results):
    done, planned, failed = map(results.counts().get, ("done", "planned", "failed"))
    if results.state:
        return {"state": results.state, "mark": "open"}
    if results.complete and not failed:
        return {"state": "complete", "mark": "yes"}
    return {"state": f"{done} of {planned} trials done" + (f", {failed} failed" if failed else ""),
            "mark": "no" if failed else "open"}


def _tiles(results):
    """[(value, words, class)]"""
    done, planned, failed = map(results.counts().get, ("done", "planned", "failed"))
    rows = results.column("n_iterations").sum()
    problems = len({results.group(p).base for p in results.problems})
    methods = len({method_label(*pair) for p in results.problems for pair in results.group(p).labels()})
    swept = len(sweep_stats.names(results))
    counted = [(n, word) for n, word in ((problems, "problem"), (methods, "algorithm"), (swept, "swept setting")) if n]
    found = [(f"{done:,} / {planned:,}", "trials done", ""),
             *((f"{n:,}", word + "s" * (n != 1), "") for n, word in counted), (f"{int(rows):,}", "evaluations", ""),
             *([(f"{failed:,}", "failed trials", "bad")] if failed else [])]
    if results.has_column("cpu"):
        seconds = float(np.nansum(results.column("cpu")))
        found.append((parts.duration(seconds), "CPU time", ""))
    return found


def _open_cells(cells):
    found = cells[cells["done"] < cells["planned"]]
    more = len(found) - OPEN_ROWS
    return tables.cells_table(found.head(OPEN_ROWS), f"and {more} more" if more > 0 else "")


# ---- figures -----------------------------------------------------------------------------------


def _stills(results, metrics, panel):
    """The curves as figures, for browsers without scripts and for print."""
    found = []
    for metric in [m for m in summary.drawn_metrics(results) if m in metrics]:
        found += stills.stills(results, ("curves", metric, *([panel] if panel else [])),
                               lambda m=metric: _curve_figures(results, m, panel))
    clock = [] if not metrics else stills.stills(results, ("clock", *metrics, "finished"), lambda: [
        (title, figure) for title, *_, figure in clock_figures.figures_of(results, metrics)])
    ranks = overviews.ranks({"study": results}, metrics[0]) if metrics else []
    ends = results.remember(("stills", "finals", metrics[0]), lambda: _final_figures(results, metrics[0])) if metrics else []
    return {"stills": found, "clock": clock, "finals": ends, "finals_caption": finals.caption(results, metrics[0]) if ends else "", "ranks": [
        stills.still(RANKS.format(f" {words}" if words else ""), f, results.state) for _, words, f in ranks]}


def _final_figures(results, metric):
    """The pictures of the final values on the first problems; of a sweep none, whose figures over its settings have them."""
    if results.settings:
        return []
    shown = [p for p in results.problems[:finals.PROBLEMS] if inference.final_values(results, p, metric).notna().any(axis=None)]
    return [stills.still(f"{results.title_of(p)}: final value of every trial", finals.final_figure(results, p, metric), results.state)
            for p in progress(shown, "final values")]


def _curve_figures(results, metric, panel):
    """[(title, figure)]"""
    name = metric_on(results, results.problems, metric).name
    if panel:
        return [(": ".join(filter(None, (f"{name} by {panel}", words))), figure) for words, figure in
                panels.curve_figures(results, panel, metric, most=stills.MOST)]
    return [(", ".join(filter(None, (name, words))), figures.regret_grid(results, page, metric)) for page, words in
            progress(style.pages(results.problems, summary.PAGE)[:1 if results.settings else stills.MOST], "figures")]


def _sweeps(results, metric, swept, panel):
    if not swept:
        return {"over": {}, "heat": [], "sensitivity": None}
    title = f"Final {metric_on(results, results.problems, metric).name.lower()} over"
    found = sweep_stats.sensitivity(sweep_stats.final_values(results, metric), results, metric)
    pair = sweep_stats.pair(results)
    heat = [] if pair is None else stills.stills(results, ("heat", metric, *pair, None), lambda: [
        (f"{words}: {title.lower()} {' and '.join(pair)}", figure)
        for words, figure in sweep_figures.heat_figures(results, *pair, metric)[:HEAT]])
    return {"over": {name: _over(results, metric, name, panel if panel != name else None, title)
                     for name in progress(swept, "settings")},
            "heat": heat[:HEAT], "sensitivity": _cut(summary.sensitivity_table(found, metric))}


def _over(results, metric, name, panel, title):
    return stills.stills(results, ("over", metric, name, panel), lambda: [
        (f"{title} {name}{', ' + words if words else ''}", figure) for words, figure in
        sweep_figures.over_figures(results, name, metric, most=stills.MOST, panel=panel)])


# ---- tables ------------------------------------------------------------------------------------


def _tables(results, metrics):
    swept = sweep_stats.names(results)
    final = tables.final_regret(results, metrics) if metrics and not swept else None
    made = [_final_over(results, m) for m in metrics] if swept else [tables.upright(tables.Table(
        f"{metric_on(results, results.problems, m).name} at the last query", FINAL,
        *tables.final_regret_grid(results, final, m), _how_final(results))) for m in metrics
        if final.loc[final["metric"] == m, "n"].any()]
    frame = inference.comparisons(results, metrics[0]) if metrics else None
    pairs = [comparisons.pairs_table(
        frame, f"All pairs, final {metric_on(results, results.problems, metrics[0]).name.lower()}")] if metrics else []
    pairs, tested, ranked = [_cut(t) for t in pairs if t.rows], [], []
    versus = matrix.matrices(frame, answer.findings(results, metrics[0]), {p: answer.title(results, p) for p in results.problems}
                             )[:MATRICES] if pairs else []
    if metrics and not swept:
        ranked = comparisons.rank_tables(results, metrics[0])
    if metrics and not swept and not METRICS[metrics[0]].running and len(results.problems) > 1:
        whole, every = aggregate.made(results, metrics[0])
        tested = comparisons.aggregate_tables(results, metrics[0])
        versus = matrix.together(whole, every) + versus
        pairs = [_cut(t) for t in [comparisons.every_table(every)] if t.rows] + pairs
    if inference.recorded(results, "cumulative"):
        grown = comparisons.growth_table(inference.growth(results), results)
        tested.append(grown if swept else tables.upright(grown))
    runtime = _runtime(results)
    settings = [best_tables.best_table(results.best_settings(metrics[0]), metrics[0]),
              best_tables.effects_table(results.effects(metrics[0]), metrics[0])] if metrics and swept else []
    index = summary.index_table(results)
    how = {METRICS[m].name: REGRET[m] for m in metrics if m in REGRET} | {"Stuck": STUCK + ("" if swept else CROSSES)}
    for t in [t for t in (*settings, *made, *ranked, *pairs, *tested) if t.rows]:
        how |= {t.title: t.how} if t.how and t.how not in how.values() else {}
    how |= {"Method against method": matrix.HOW} if versus else {}
    return {"pairs": pairs, "matrices": versus, "ranked": ranked, "how": how,
            "answer": [_cut(t) for t in settings], "index": index if index.rows else None,
            "final": [_cut(t) for t in made], "statistics": [_cut(t) for t in tested if t.rows], "runtime": _cut(runtime)}


def _final_over(results, metric):
    """Final values of a sweep: a row per problem and values of the settings, a column per method."""
    header, rows, _ = tables.final_over_grid(results, tables.final_regret(results, [metric]), metric)
    return tables.Table(f"{metric_on(results, results.problems, metric).name} at the last query",
                        f"{FINAL} Methods that don't read a setting stand at each of its values.", header, rows,
                        _how_final(results))


def _runtime(results):
    """Times of the cells that have some: an archive has none."""
    times = tables.runtime(results)
    known = (times["n"] == 0) | times["wall"].notna()
    note = "" if known.all() else f" Archives have no run times: they lack those of {len(times) - known.sum()} of {len(times)} cells."
    return tables.Table("Time per trial", f"Mean ± standard error; wall = fit + acquire + evaluate.{note}",
                        *tables.runtime_grid(times[known]))


def _how_final(results):
    return f"{tables.drawn_in_words(figures.Band())}{tables.FINAL_NOTE}{dynamic_note(results)}"


def _cut(table):
    """The table; if it is long, its first ROWS."""
    if len(table.rows) <= ROWS:
        return table
    note = f"{table.note} The first {ROWS} of {len(table.rows)} rows; ./run.sh figures writes them all as CSV."
    return replace(table, note=note, rows=table.rows[:ROWS])


# ---- claims ------------------------------------------------------------------------------------


def _verdicts(results, claims_files):
    """Grades of the claims about this study, from the files given or from claims.yaml beside it."""
    beside = _folder(results.path) / "claims.yaml"
    name, found = _name(results), []
    for path in [Path(p) for p in claims_files] or ([beside] if beside.exists() else []):
        if name not in claims.studies_named(path):
            claims.require_studies(path, [name])  # a mistake in the name of this one
            continue
        studies = claims.Studies({name: results.path}, against=results.beside.files)
        wanted = {c["id"] for c in claims.read(path)["claims"]
                  if name in checks.studies_in(claims.checks_of(c))}
        found += [v for v in claims.evaluate(path, studies, others=True) if v.id in wanted]
    return found
