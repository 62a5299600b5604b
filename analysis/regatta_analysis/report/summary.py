"""Everything that the command writes, and summary.md, which leads through it."""
import re

import numpy as np
import pandas as pd

from ..escape import alternative, code, code_block, markdown as md, write_csv
from ..figures import bounds, clock as clock_figures, figures, overviews, panels, runtime_profiles, style, sweep
from . import answer, best_tables, parts, stills, tables
from ..stats import aggregate, clock, inference, runtime as bbob, sweep as sweep_stats
from ..load.errors import InputError, nearest
from ..stats.regret import METRICS, default_metrics, metric_on
from ..load.settings import value_text
from ..progress import progress

PAGE, PAGES = 12, 20  # problems in a figure, figures of curves


def write_all(results, options):
    """Figures, tables and summary.md into options.out; returns the paths written."""
    band = figures.Band(options.band, options.quantiles)
    options.drawn = options.metric or drawn_metrics(results)
    options.metric, options.state = options.metric or default_metrics(results), results.state
    _check_metrics(results, options.metric)
    table = bounds.read(options.bounds) if options.bounds else None
    if options.panel:
        panels.check(results, options.panel, options.over or [])
    options.out.mkdir(parents=True, exist_ok=True)
    tables.write_curves(results, options.metric, band, options.out)  # first, because it needs the most memory
    swept, sensitivity = _sweeps(results, options, band)  # early, because it checks settings and methods
    settings, best = best_tables.write(results, options.metric[0], options.out) if results.settings else ([], "")
    drawn = (_panel_figures if options.panel else _regret_figures)(results, options, band)
    if figures.confidence_problems(results) and not (results.settings and len(results.problems) > PAGE):
        drawn.append(("Confidence parameter", _save(
            figures.confidence_figure(results, options.points), options, "confidence")))
    if table is not None:
        drawn += _bound_figures(results, table, options)
    regret = tables.write_final_regret(results, options.metric, band, options.out)
    runtime = tables.write_runtime(results, options.out)
    drawn += _overviews(results, options)
    by_time, clock_tables = _clock(results, options, band)
    drawn += by_time + swept
    drawn += [(title, _save(figure, options, stem))
              for title, stem, figure in runtime_profiles.figures_of(results)]
    more, statistics = inference.write(results, options.metric[0], options.out)
    together = ""
    if not swept and not METRICS[options.metric[0]].running:
        more += aggregate.write(results, options.metric[0], options.out)
        together = "".join(map(tables.section, aggregate_tables(results, options.metric[0])))
    if not swept:
        together = "".join(map(tables.section, rank_tables(results, options.metric[0]))) + together
    path = options.out / "summary.md"
    path.write_text(_summary(results, options.metric[0], drawn, best, regret, runtime, together + statistics + sensitivity),
                    encoding="utf-8")
    written = [file for _, files in drawn for file in files] + [path, *more, *settings, *clock_tables]
    if bbob.bbob_problems(results):
        written.append(options.out / "ert.csv")
        write_csv(bbob.ert_table(bbob.runs(results)), written[-1])
    return written + [options.out / "curves.csv"] + [options.out / f"{stem}.{suffix}" for stem in ("final_regret", "runtime")
                      for suffix in ("md", "tex", "csv")]


def _check_metrics(results, metrics):
    for metric in metrics:
        for problem in results.problems:
            if METRICS[metric].column not in results.group(problem).evaluations():
                raise InputError(f"{results.path}: {problem!r} has no {METRICS[metric].column!r}")


def rank_tables(results, metric):
    """The Table of the mean ranks of the methods, in a list; none where nothing can be ranked."""
    found = inference.ranks(results, metric)
    if not len(found):
        return []
    rows = [tables.plain(r.algorithm, f"{r.rank:.2f} [{r.low:.2f}, {r.high:.2f}]", f"{r.first:.2f}")
            for r in found.itertuples()]
    several = f"mean over {found['problems'].iloc[0]} problems, " if found["problems"].iloc[0] > 1 else ""
    return [tables.Table(
        f"Ranks by final {metric_on(results, results.problems, metric).name.lower()}",
        f"Rank by medians, {several}with its 95% interval; 1 is best. First: share of resamples in which it is first.",
        ["Algorithm", "Rank [95%]", "First"], rows,
        "The interval is of the bootstrap: the trials of a problem are drawn again for all methods together, or its instances "
        "where trials share them, and the medians are ranked anew. It says how the ranks of these methods on these problems "
        "depend on chance, and nothing about other problems. Equal medians share a rank, so several methods can be first.")]


def aggregate_tables(results, metric):
    """The Tables of all problems together; none of one problem, whose other tables say the same."""
    several = len(results.problems) > 1
    return aggregate.tables(results, metric, metric_on(results, results.problems, metric).name) if several else []


def drawn_metrics(results):
    """The metrics whose curves are drawn where nobody chose: of a sweep only the first one, because the figures over its
    settings answer what it asks."""
    return default_metrics(results)[:1 if results.settings else None]


def _regret_figures(results, options, band):
    """A figure per problem and one of all problems; with more than PAGE problems, only pages of them; of a sweep, only
    the first page."""
    drawn = []
    for metric in options.drawn:
        kept = _kept(results, options, band, "curves", metric)
        pages = {tuple(page): words for page, words in style.pages(results.problems, PAGE)}
        wanted = regret_pages(results.problems, results.title_of)
        if results.settings:  # the figures over its settings say more than a figure for each of their values
            wanted = [page for page in wanted if len(page[2]) > 1][:1] or wanted[:1]
        for title, stem, problems in progress(wanted, "figures"):
            figure = figures.regret_grid(results, problems, metric, options.scale, band)
            drawn.append((f"{title}, {metric_on(results, results.problems, metric).name.lower()}",
                          _save(figure, options, f"regret_{stem}_{metric}")))
            if tuple(problems) in pages:
                kept.add(", ".join(filter(None, (metric_on(results, results.problems, metric).name, pages[tuple(problems)]))), figure)
        kept.done()
    return drawn


def _panel_figures(results, options, band):
    """Small multiples, the first PAGES of them."""
    drawn = []
    for metric in options.drawn:
        kept = _kept(results, options, band, "curves", metric, options.panel)
        made = panels.curve_figures(results, options.panel, metric, band, options.scale, PAGES)
        for k, (words, figure) in enumerate(progress(made, "figures")):
            stem = f"regret_by_{file_names([options.panel])[options.panel]}_{k + 1}_{metric}"
            title = f"{metric_on(results, results.problems, metric).name} by {options.panel}"
            drawn.append((": ".join(filter(None, (title, words))), _save(figure, options, stem)))
            kept.add(drawn[-1][0], figure)
        kept.done()
    return drawn


def _kept(results, options, band, *key):
    """Pictures for the page, if there is a page and it draws its figures in this way."""
    return stills.Drawn(results, key, bool(options.page) and stills.usual(band, options.scale, options.width))


def regret_pages(problems, title_of=str):
    """(title, part of the file name, problems) of every figure of curves; with very many problems, the first PAGES."""
    pages = [problems[k:k + PAGE] for k in range(0, len(problems), PAGE)][:PAGES]
    if len(pages) == 1:
        titles = [title_of(problem) for problem in problems]
        names = file_names(titles)
        whole = [("All problems", "all", problems)] if len(problems) > 1 else []
        return [(title, names[title], [problem]) for title, problem in zip(titles, problems)] + whole
    more = " (--problems and --where choose others)" if len(problems) > PAGE * PAGES else ""
    return [(f"Problems {PAGE * k + 1} to {PAGE * k + len(page)} of {len(problems)}{more}",
             f"all_page{k + 1:0{len(str(len(pages)))}d}", page) for k, page in enumerate(pages)]


def _sweeps(results, options, band):
    """Figures over every swept setting, or over the chosen one. Also sensitivity.csv and its table as Markdown."""
    names, over = sweep_stats.names(results), options.over or []
    for name in over:
        if name not in names:
            raise InputError(f"{results.path}: no setting {name!r} was swept{nearest(name, names)} "
                             f"(swept: {', '.join(names) or 'none'})")
    drawn, metric = _heat_maps(results, options), options.metric[0]
    for name in progress((over or names) if len(over) < 2 else [], "settings"):
        panel = options.panel if options.panel != name else None
        kept = _kept(results, options, band, "over", metric, name, panel)
        pages = sweep.over_figures(results, name, metric, band, options.scale, PAGES, panel)
        for k, (words, figure) in enumerate(pages):
            stem = f"over_{file_names([name])[name]}_{metric}" + (f"_page{k + 1}" if words else "")
            title = f"Final {metric_on(results, results.problems, metric).name.lower()} over {name}"
            drawn.append((", ".join(filter(None, (title, words))), _save(figure, options, stem)))
            kept.add(drawn[-1][0], figure)
        kept.done()
    if not names:
        return drawn, ""
    found = sweep_stats.sensitivity(sweep_stats.final_values(results, metric), results, metric)
    write_csv(found, options.out / "sensitivity.csv")
    table = sensitivity_table(found, metric)
    return drawn, "\n" + tables.section(table)


def sensitivity_table(found, metric):
    """The result of `stats.sweep.sensitivity`, for readers."""
    rows = [tables.plain(r.problem, r.method, r.setting, r.n_values, r.best_at, tables.number_of(r.least, r.n_least),
                         tables.number_of(r.largest, r.n_largest), "–" if np.isnan(r.share) else f"{r.share:.2f}")
            for r in found.itertuples(index=False)]
    return tables.Table("Sensitivity", f"Medians of the final {METRICS[metric].name.lower()} at the values of "
                        "a setting, over all values of the others, and the numbers of their trials; range: their difference as a share of "
                        "the method's median.", ["Problem", "Algorithm", "Setting", "Values", "Best at",
                                                 "Least", "Largest", "Range"], rows)


def _heat_maps(results, options):
    """Heat-maps over the two chosen settings, or over the first two that go together."""
    pair = options.over or sweep_stats.pair(results)
    if pair is None or len(pair) != 2:
        return []
    metric, drawn = options.metric[0], []
    both = "_".join(file_names(pair).values())
    kept = _kept(results, options, figures.Band(), "heat", metric, *pair, options.baseline)
    for k, (words, figure) in enumerate(sweep.heat_figures(results, *pair, metric, options.baseline)):
        drawn.append((f"{words}: final {metric_on(results, results.problems, metric).name.lower()} over {' and '.join(pair)}",
                      _save(figure, options, f"heat_{both}_{metric}_{k + 1}")))
        kept.add(drawn[-1][0], figure)
    kept.done()
    return drawn


def _clock(results, options, band):
    """Figures by time, and the paths of their tables; nothing without several workers or a clock."""
    names = file_names(list(clock.families(results)))
    drawn, kept = [], _kept(results, options, band, "clock", *options.metric, options.count)
    for title, kind, name, page, figure in clock_figures.figures_of(results, options.metric, band, options.scale,
                                                                    options.count):
        stem = f"{kind}_{names[name]}" + (f"_page{page}" if page else "")
        drawn.append((title, _save(figure, options, stem)))
        kept.add(title, figure)
    kept.done()
    if not names:
        return drawn, []
    write_csv(clock.clock_table(results, options.count), options.out / "clock.csv")
    return drawn, [options.out / "clock.csv"]


def _overviews(results, options):
    """Ranks over the problems, and profiles, if there are enough algorithms and known optima."""
    drawn = []
    made = {"ranks": overviews.ranks({"study": results}, options.metric[0])}
    if "simple" in options.metric:
        made["profiles"] = overviews.profiles_of({"study": results})
    for stem, some in made.items():
        for suffix, words, figure in some:
            title = f"{stem.capitalize()} {words}".strip()
            drawn.append((title, _save(figure, options, f"{stem}{suffix}")))
    return drawn


def _bound_figures(results, table, options):
    drawn = []
    if bounds.problems(results, table):
        drawn.append(("Cumulative regret and its bounds", _save(
            bounds.regret_figure(results, table), options, "bounds")))
    if bounds.problems(results, table, bounds.GAINS):
        drawn.append(("Information gain", _save(
            bounds.gain_figure(results, table), options, "information_gain")))
    return drawn


def _save(figure, options, stem):
    style.mark(figure, options.state)
    return style.save(figure, options.out / stem, options.formats)


def file_names(labels):
    """Labels as parts of file names: letters, digits, dots, hyphens; different labels differ."""
    names, taken = {}, {"all"}
    for label in labels:
        name = base = re.sub(r"[^A-Za-z0-9.+-]+", "_", label).strip("_.-")[:100] or "problem"
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        names[label] = name
        taken.add(name)
    return names


def _summary(results, metric, drawn, best, regret, runtime, statistics):
    cells, total = tables.cells_table(planned(results)), results.counts()
    about = [f"- {name}: {md(results.attributes[name])}" for name in
             ("source", "references", "history") if str(results.attributes.get(name, "")).strip()]
    lines = [f"# {md(results.title)}", "", *answer.as_markdown(results, metric),
             f"- results: {code(results.path.name)} ({'incomplete' if results.state else 'complete'})", *about,
             f"- problems: {md('; '.join(results.problems))}",
             f"- algorithms: {md('; '.join(results.algorithms))}",
             f"- trials: {total['done']} of {total['planned']} done, {total['failed']} failed, "
             f"{total['missing']} missing",
             *[f"- warning: {md(warning)}" for warning in results.warnings],
             "", best, "## Final regret", "", regret, "## Run time", "", runtime,
             "## Statistics", "", statistics,
             "## Cells", "", tables.markdown(cells.header, cells.rows), "", *_failures(results), *_index(results), *_settings(results),
             "## Figures", ""]
    for title, files in drawn:
        links = ", ".join(f"[{file.name}]({file.name})" for file in files)
        lines += [f"{md(title)}: {links}", ""]
        pictures = sorted(file for file in files if file.suffix in (".png", ".svg"))
        lines += [f"![{alternative(title)}]({file.name})\n" for file in pictures[:1]]
    if results.study:
        lines += ["## Study", "", *code_block(results.study, "yaml")]
    return "\n".join(lines) + "\n"


def planned(results):
    """`results.cells()` without pairs of labels that are not a cell of the sweep."""
    cells = results.cells()
    return cells[cells["planned"] > 0]


def settings_of(results):
    """[(name of the block, labels, text)]: the settings of problems and algorithms. Each setting appears once, with
    all labels that share it."""
    shared = {}
    for problem in results.problems:
        group = results.group(problem)
        algorithm = group.column("algorithm")
        for row in np.flatnonzero(~pd.Series(group.column("cell")).duplicated()):
            for part, label in (("problem", problem), ("run", problem), ("algorithm", algorithm[row]),
                                ("surrogate", algorithm[row]), ("maximiser", algorithm[row])):
                shared.setdefault((part, _settings_text(group, part, row)), []).append(label)
    order = {name: k for k, name in enumerate(("problem", "run", "algorithm", "surrogate"))}
    return [(name, list(dict.fromkeys(labels)), text) for (name, text), labels in
            sorted(((key, labels) for key, labels in shared.items() if key[1]), key=lambda item: order.get(item[0][0], len(order)))]


def _settings_text(group, part, row):
    """The settings of a part, with the name and revision of a problem or algorithm in front; "" if there is nothing."""
    pairs = ",".join(f"{name}={value}" for name, value in group.parameters(part, row).items())
    if part not in ("problem", "algorithm"):
        return f"{{{pairs}}}" if pairs else ""
    revision = value_text(group.constant(f"{part}_revision")[row])
    return f"{group.column(f'{part}_name')[row]}@{revision}{{{pairs}}}"


def index_table(results):
    """The values of settings that have short names."""
    return tables.Table("Names of settings", "", ["Name", "Settings"],
                        [tables.plain(*pair) for pair in results.index.items()])


def _index(results):
    table = index_table(results)
    return [f"## {table.title}", "", tables.markdown(table.header, table.rows), ""] if table.rows else []


def _settings(results):
    lines = [f"- {name} ({md('; '.join(labels))}): {code(text)}" for name, labels, text in settings_of(results)]
    return ["## Settings", "", *lines, ""]


def _failures(results):
    """At most ten failed trials with their messages."""
    lines = [f"- {md(line)}" for line in parts.failed_trials(results, 10)]
    return ["Failed trials (not in any mean):", "", *lines, ""] if lines else []
