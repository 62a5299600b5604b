"""Run a paper and report it:         python3 -m reproduce run PAPER[/FIGURE,...]; run list
Claims of papers on results:        python3 -m reproduce claims RESULTS...
One figure of a paper:              python3 -m reproduce figure PAPER/FIGURE RESULTS... --out DIR
Verdicts to commit, README tables:  python3 -m reproduce verdicts PAPER RESULTS...; readme
More trials for undecided claims:   python3 -m reproduce replicate STUDY.yaml... -o DIR --claims FILE.yaml
The page of a paper, the index:     python3 -m reproduce report PAPER DIR; index DIR
Study files of a paper at a scale:  python3 -m reproduce studies PAPER DIR
The folders experiments/ and analysis/ must be in PYTHONPATH."""
import sys
from pathlib import Path

from regatta_analysis.__main__ import (Parser, answer, budget_of, output_options, positive, replicate_parser, replication,
                                       trial_options, verdicts_text)
from regatta_analysis.claims import claims
from regatta_analysis.load.errors import InputError


def main(arguments=None):
    """Exit code: 0, or 2 for a file or option that can't be used (one line on stderr)."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    commands = {"run": (_run_parser, _run), "claims": (_claims_parser, _claims), "verdicts": (_verdicts_parser, _verdicts),
                "replicate": (_replicate_parser, _replicate), "readme": (_readme_parser, _readme),
                "figure": (_figure_parser, _figure), "report": (_report_parser, _report),
                "index": (_index_parser, _index), "studies": (_studies_parser, _studies)}
    parser = Parser(prog="reproduce", description="Papers of experiments/, reproduced; COMMAND --help says more.")
    parser.add_argument("command", metavar="COMMAND", choices=commands, help=", ".join(commands))
    make_parser, run = commands[parser.parse_args(arguments[:1]).command]
    return answer("reproduce", run, make_parser().parse_args(arguments[1:]))


def _run(options):
    from . import run
    if options.paper == "list":
        return run.listing()
    if options.keep and not options.until_decided:
        raise InputError("--keep goes with --until-decided")
    options.budget = budget_of(options)
    return run.everything(options, options.results, options.command or f"python3 -m reproduce run {options.paper}")


def _run_parser():
    parser = Parser(prog="reproduce run", description="Runs what is missing of a paper's studies, then writes "
                    "report.html and report.md: figures, tables, claims with grades.")
    parser.add_argument("paper", metavar="PAPER[/FIGURE,...]", nargs="?", default="list",
                        help="or all: every paper, and an index; or list: papers and figures")
    parser.add_argument("--scale", choices=["smoke", "small", "full"], default="full", help="full: as in the paper")
    parser.add_argument("--seeds", type=positive, metavar="N", help="trials per cell")
    parser.add_argument("--universes", action="store_true",
                        help="all alternatives of the settings the paper leaves open (settings.yaml); of all papers about "
                        "30 core-hours (docs/reproduce-a-paper.md)")
    parser.add_argument("--keep", action="store_true", help="what experiments/PAPER/verdicts.json has settled gets no "
                        "trials (with --until-decided)")
    parser.add_argument("--no-run", dest="run", action="store_false", help="the report alone, from what is there")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="(default: results)")
    parser.add_argument("--command", help="how it was run, for the page")
    trial_options(parser)
    return parser


def _claims(options):
    from . import catalogue, universes
    found, states = [], []
    for name in catalogue.papers():
        paper = catalogue.paper(name)
        files = claims.find_results(options.results, name, paper.reference)
        if set(files) & set(paper.studies()) and paper.claims_file.exists():
            studies = universes.studies_of(paper.directory, files)
            found += claims.evaluate(paper.claims_file, studies)
            states += studies.states()
    if not found:
        raise InputError(f"{options.results[0]}: no study that claims of a paper speak of")
    return verdicts_text(found, options.json, states)


def _claims_parser():
    parser = Parser(prog="reproduce claims", description="Decides the claims of papers on results, in every "
                    "universe and reading.")
    parser.add_argument("results", nargs="+", help="results files, study directories (*.h5.d), or folders of them; "
                        "the name of a file is that of its study file")
    parser.add_argument("--json", action="store_true", help="everything, machine-readable")
    return parser


def _replicate(options):
    from . import record, replicate
    before = record.read(options.keep) if options.keep else None
    return replicate.Replication(*replication(options), before).run()


def _replicate_parser():
    parser = replicate_parser("reproduce replicate")
    parser.add_argument("--keep", type=Path, metavar="VERDICTS.json", help="what this record has decided on more trials "
                        "of the same studies gets none")
    return parser


def _verdicts(options):
    from . import record
    path = record.write(options.paper, options.results, options.command, options.keep)
    return f"{path}\n{record.summary(record.read(path))}"


def _verdicts_parser():
    parser = Parser(prog="reproduce verdicts", description="Decides the claims of a paper on results and "
                     "writes experiments/PAPER/verdicts.json.")
    parser.add_argument("paper")
    parser.add_argument("results", nargs="+", help="results files, or folders of them")
    parser.add_argument("--command", help="how the results were made")
    parser.add_argument("--keep", action="store_true", help="what verdicts.json says of studies and universes that are "
                        "not among the results, and of claims that speak of them, stays")
    return parser


def _readme(_):
    from . import record
    return "\n".join(str(path) for path in record.write_readmes())


def _readme_parser():
    return Parser(prog="reproduce readme", description="Writes the tables of verdicts into README.md "
                   "and experiments/PAPER/README.md from verdicts.json.")


def _figure(options):
    from . import catalogue, report, universes
    name, _, figure = options.figure.partition("/")
    paper = catalogue.paper(name)
    spec = catalogue.figure_named(paper, figure)
    files = claims.find_results(options.results, name)
    place = options.results[0] if options.results else "."
    options.out.mkdir(parents=True, exist_ok=True)
    place = Path(place) if Path(place).is_dir() else Path(place).parent
    drawn = report.draw_figure(paper, spec, universes.studies_of(paper.directory, files), options.out, place,
                               options.formats)
    if drawn.missing:
        raise InputError(f"{options.figure}: {drawn.missing}")
    return "\n".join(str(path) for _, path in drawn.parts)


def _figure_parser():
    parser = Parser(prog="reproduce figure", description="One figure of a paper in its "
                     "arrangement; experiments/PAPER/figures.yaml lists them.")
    parser.add_argument("figure", metavar="PAPER/FIGURE")
    parser.add_argument("results", nargs="*", help="results files, or folders of them")
    output_options(parser)
    return parser


def _report(options):
    from . import report
    skipped, without = ([text.partition("=")[::2] for text in texts]
                        for texts in (options.skipped, options.without))
    page, text = report.write(options.paper, options.directory, options.scale, options.command,
                              skipped, without, ("png",) if options.scale == "smoke" else ("pdf", "png"))
    return f"{page}\n{text}"


def _report_parser():
    parser = Parser(prog="reproduce report", description="report.html and report.md of a "
                     "paper from the results in DIR/SCALE.")
    parser.add_argument("paper")
    _report_options(parser)
    parser.add_argument("--command", help="how it was run, for the page")
    parser.add_argument("--skipped", action="append", default=[], metavar="STUDY=REASON",
                        help="a study that could not run")
    parser.add_argument("--without", action="append", default=[], metavar="STUDY=REASON",
                        help="a study some of whose problems could not run")
    return parser


def _index(options):
    from . import report
    return "\n".join(str(path) for path in report.write_index(options.directory, options.scale))


def _index_parser():
    parser = Parser(prog="reproduce index", description="index.html and index.md over the "
                     "reports in DIR: every claim with its verdict.")
    _report_options(parser)
    return parser


def _studies(options):
    from . import availability, catalogue
    name, _, named = options.paper.partition("/")
    paper, figures = catalogue.paper(name), named.split(",") if named else []
    for figure in figures:
        catalogue.figure_named(paper, figure)
    written = catalogue.write_studies(paper, options.scale, options.seeds, options.directory, figures,
                                      options.universes)
    lines = []
    for study, path, bounds in written:
        missing, some = ({}, True) if options.regatta is None else availability.leave_out(
            path, options.regatta)
        lines.append("\t".join([study, str(path), "bounds" if bounds else "-",
                                "run" if some else "skip", availability.words(missing) or "-"]))
    return "\n".join(lines)


def _studies_parser():
    parser = Parser(prog="reproduce studies", description="Writes the study files of a paper "
                     "or of figures of it at a scale into DIR; lists them.")
    parser.add_argument("paper", metavar="PAPER[/FIGURE,...]")
    _report_options(parser)
    parser.add_argument("--seeds", type=positive, metavar="N", help="trials per cell")
    parser.add_argument("--universes", action="store_true",
                        help="all alternatives of the settings the paper leaves open (settings.yaml)")
    parser.add_argument("--regatta", metavar="PROGRAM", help="leave out the problems whose data or "
                        "programs are missing, as this program says")
    return parser


def _report_options(parser):
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--scale", choices=["smoke", "small", "full"], default="full")


if __name__ == "__main__":
    sys.exit(main())
