"""Everything that the command writes, and summary.md, which leads through it."""
import re

import numpy as np
import pandas as pd

from ..escape import alternative, code, code_block, markdown as md, write_csv
from ..figures import bounds, clock as clock_figures, figures, overviews, panels, runtime_profiles, style, sweep
from . import answer, best_tables, comparisons, parts, stills, tables
from ..stats import clock, runtime as bbob, sweep as sweep_stats
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
    swept, sensitivity = _sweeps(results, options, band)  # this stands here because it checks settings and methods
    settings, best = best_tables.write(results, options.metric[0], options.out) if results.settings else ([], "")
    drawn = _curves(results, options, band)
    if figures.confidence_problems(results) and not (results.settings and len(results.problems) > PAGE):
        drawn += _draw(results, options, [("Confidence parameter", "confidence", figures.confidence_figure(
            results, options.points))])
    if table is not None:
        drawn += _draw(results, options, _bound_figures(results, table))
    regret = tables.write_final_regret(results, options.metric, band, options.out)
    runtime = tables.write_runtime(results, options.out)
    drawn += _draw(results, options, _overviews(results, options.metric))
    by_time, clock_tables = _clock(results, options, band)
    drawn += by_time + swept
    drawn += _draw(results, options, runtime_profiles.figures_of(results))
    more, statistics = comparisons.write(results, options.metric[0], options.out)
    together = ""
    if not swept and not METRICS[options.metric[0]].running:
        more += comparisons.write_aggregate(results, options.metric[0], options.out)
        together = "".join(map(tables.section, comparisons.aggregate_tables(results, options.metric[0])))
    if not swept:
        together = "".join(map(tables.section, comparisons.rank_tables(results, options.metric[0]))) + together
    path = options.out / "summary.md"
    path.write_text(_summary(results, options, drawn, best, regret, runtime, together + statistics + sensitivity),
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


def drawn_metrics(results):
    """The metrics whose curves are drawn where nobody chose: of a sweep only the first one, because the figures over its
    settings answer what it asks."""
    return default_metrics(results)[:1 if results.settings else None]


def _draw(results, options, entries, key=None, band=figures.Band()):
    """Write the figures of (title, part of the file name, figure); returns [(title, paths)]. The page shows them as
    pictures under the `key`, and under a fourth entry as their title (None: not), if there is a page and it draws figures
    in this way: so each is drawn once for both."""
    wanted = key and options.page and band == figures.Band() and options.scale == options.width == "auto"
    drawn, kept = [], []
    for title, stem, figure, *shown in entries:
        style.mark(figure, options.state)
        drawn.append((title, style.save(figure, options.out / stem, options.formats)))
        if wanted and len(kept) < stills.MOST and (name := shown[0] if shown else title):
            kept.append(stills.still(name, figure))
    if wanted:
        results.remember(("stills", *key), lambda: kept)
    return drawn


def _curves(results, options, band):
    """Figures of the curves of the metrics, or small multiples of them."""
    make = _panel_figures if options.panel else _regret_figures
    return [one for metric in options.drawn for one in _draw(
        results, options, make(results, options, band, metric),
        ("curves", metric, *([options.panel] if options.panel else [])), band)]


def _regret_figures(results, options, band, metric):
    """A figure per problem and one of all problems; with more than PAGE problems, only pages of them; of a sweep, only
    the first page."""
    name = metric_on(results, results.problems, metric).name
    pages = {tuple(page): ", ".join(filter(None, (name, words))) for page, words in style.pages(results.problems, PAGE)}
    wanted = regret_pages(results.problems, results.title_of)
    if results.settings:  # the figures over its settings say more than a figure for each of their values
        wanted = [page for page in wanted if len(page[2]) > 1][:1] or wanted[:1]
    for title, stem, problems in progress(wanted, "figures"):
        figure = figures.regret_grid(results, problems, metric, options.scale, band)
        yield f"{title}, {name.lower()}", f"regret_{stem}_{metric}", figure, pages.get(tuple(problems))


def _panel_figures(results, options, band, metric):
    """Small multiples, the first PAGES of them."""
    title = f"{metric_on(results, results.problems, metric).name} by {options.panel}"
    stem = f"regret_by_{file_names([options.panel])[options.panel]}"
    made = panels.curve_figures(results, options.panel, metric, band, options.scale, PAGES)
    for k, (words, figure) in enumerate(progress(made, "figures"), 1):
        yield ": ".join(filter(None, (title, words))), f"{stem}_{k}_{metric}", figure


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
    drawn, metric = [], options.metric[0]
    pair = over or sweep_stats.pair(results) or ()
    if len(pair) == 2:
        drawn += _draw(results, options, _heat_maps(results, options, pair), ("heat", metric, *pair, options.baseline))
    for name in progress((over or names) if len(over) < 2 else [], "settings"):
        panel = options.panel if options.panel != name else None
        drawn += _draw(results, options, _over(results, options, name, panel, band), ("over", metric, name, panel), band)
    if not names:
        return drawn, ""
    found = sweep_stats.sensitivity(sweep_stats.final_values(results, metric), results, metric)
    write_csv(found, options.out / "sensitivity.csv")
    table = sensitivity_table(found, metric)
    return drawn, "\n" + tables.section(table)


def sensitivity_table(found, metric):
    """The result of `stats.sweep.sensitivity`, for readers."""
    names = style.shown_names(found["method"])
    rows = [tables.plain(r.problem, names[r.method], r.setting, r.n_values, tables.setting_text(r.best_at) or "–",
                         tables.number_of(r.least, r.n_least), tables.number_of(r.largest, r.n_largest), "–" if np.isnan(r.share) else f"{r.share:.2f}")
            for r in found.itertuples(index=False)]
    return tables.Table("Sensitivity", f"Medians of the final {METRICS[metric].name.lower()} at the values of "
                        "a setting, over all values of the others, and the numbers of their trials; range: their difference as a share of "
                        "the method's median.", ["Problem", "Algorithm", "Setting", "Values", "Best at",
                                                 "Least", "Largest", "Range"], rows)


def _over(results, options, name, panel, band):
    """Figures of the final values over a setting."""
    metric = options.metric[0]
    title = f"Final {metric_on(results, results.problems, metric).name.lower()} over {name}"
    pages = sweep.over_figures(results, name, metric, band, options.scale, PAGES, panel)
    for k, (words, figure) in enumerate(pages, 1):
        stem = f"over_{file_names([name])[name]}_{metric}" + (f"_page{k}" if words else "")
        yield ", ".join(filter(None, (title, words))), stem, figure


def _heat_maps(results, options, pair):
    """Heat-maps over the two chosen settings, or over the first two that go together."""
    metric, both = options.metric[0], "_".join(file_names(pair).values())
    title = f"final {metric_on(results, results.problems, metric).name.lower()} over {' and '.join(pair)}"
    for k, (words, figure) in enumerate(sweep.heat_figures(results, *pair, metric, options.baseline), 1):
        yield f"{words}: {title}", f"heat_{both}_{metric}_{k}", figure


def _clock(results, options, band):
    """Figures by time, and the paths of their tables; nothing without several workers or a clock."""
    names = file_names(list(clock.families(results)))
    made = clock_figures.figures_of(results, options.metric, band, options.scale, options.count)
    drawn = _draw(results, options, ((title, f"{kind}_{names[name]}" + (f"_page{page}" if page else ""), figure)
                                     for title, kind, name, page, figure in made),
                  ("clock", *options.metric, options.count), band)
    if not names:
        return drawn, []
    write_csv(clock.clock_table(results, options.count), options.out / "clock.csv")
    return drawn, [options.out / "clock.csv"]


def _overviews(results, metrics):
    """Ranks over the problems, and profiles, if there are enough algorithms and known optima."""
    made = {"ranks": overviews.ranks({"study": results}, metrics[0])}
    if "simple" in metrics:
        made["profiles"] = overviews.profiles_of({"study": results})
    return [(f"{stem.capitalize()} {words}".strip(), f"{stem}{suffix}", figure)
            for stem, some in made.items() for suffix, words, figure in some]


def _bound_figures(results, table):
    if bounds.problems(results, table):
        yield "Cumulative regret and its bounds", "bounds", bounds.regret_figure(results, table)
    if bounds.problems(results, table, bounds.GAINS):
        yield "Information gain", "information_gain", bounds.gain_figure(results, table)


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


def _summary(results, options, drawn, best, regret, runtime, statistics):
    cells, total = tables.cells_table(planned(results)), results.counts()
    about = [f"- {name}: {md(results.attributes[name])}" for name in
             ("source", "references", "history") if str(results.attributes.get(name, "")).strip()]
    lines = [f"# {md(results.title)}", "", *answer.as_markdown(results, options.metric[0], options.command),
             f"- results: {code(results.path.name)} ({'incomplete' if results.state else 'complete'})", *about,
             f"- problems: {md('; '.join(results.problems))}",
             f"- algorithms: {md('; '.join(style.shown_names(results.algorithms).values()))}",
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
    shared, names = {}, style.shown_names(results.algorithms)
    for problem in results.problems:
        group = results.group(problem)
        algorithm = [names[label] for label in group.column("algorithm")]
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
