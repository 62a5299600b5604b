"""Figures and tables of a study:    python3 -m regatta_analysis RESULTS.h5 --out DIR
Run a study, with its page:         python3 -m regatta_analysis study STUDY.yaml [RESULTS.h5]
Claims on results:                  python3 -m regatta_analysis claims RESULTS...
More trials for open claims:        python3 -m regatta_analysis replicate STUDY.yaml -o RESULTS.h5
The page of a study:                python3 -m regatta_analysis page RESULTS...
Results in other formats:           python3 -m regatta_analysis export RESULTS --to FORMAT DIR
Confidence parameters by formula:   python3 -m regatta_analysis confidence --points N --out DIR"""
import argparse
import difflib
import json
import os
import sys
from pathlib import Path

from regatta import __version__

from .escape import line, say, terminal
from .load.errors import InputError
from .load.load import load
from .load.settings import split
from .stats.clock import MOMENTS
from .stats.regret import METRICS


BUDGET = 4.0  # core-hours


class Parser(argparse.ArgumentParser):
    def __init__(self, **words):
        super().__init__(allow_abbrev=False, **words)  # half an option must not start hours of work

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments=None):
    """Exit code: 0, or 2 for a file or option that can't be used (one line on stderr)."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    commands = {"confidence": (_confidence_parser, _confidence),
                "study": (_run_parser, _run), "claims": (_claims_parser, _claims), "replicate": (replicate_parser, _replicate),
                "page": (_page_parser, _page), "export": (_export_parser, _export)}
    first = arguments[0] if arguments else ""
    if first == "--version":
        say(f"regatta-analysis {__version__}")
        return 0
    meant = difflib.get_close_matches(first, commands, 1)
    if meant and first not in commands and not Path(first).exists():
        say(f"regatta_analysis: no command and no file '{line(first)}', did you mean '{meant[0]}'?", sys.stderr)
        return 2
    make_parser, run = commands.get(first, (_study_parser, _study))
    options = make_parser().parse_args(arguments[1:] if run is not _study else arguments)
    return answer("regatta_analysis", run, options)


def answer(name, run, options):
    """Run a command of the program `name` and return its exit code. Print its text, or the line that says why it can't
    run."""
    try:
        say(run(options))
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except InputError as error:
        say(f"{name}: {line(error)}", sys.stderr)
        return 2
    except OSError as error:
        file = error.filename or getattr(options, "out", "")
        say(f"{name}: {line(file)}: {error.strerror or error}", sys.stderr)
        return 2
    except MemoryError:
        say(f"{name}: this needs more than the memory that the process may have (ulimit -v)", sys.stderr)
        return 2
    return 0


def _study(options):
    results = load(options.results, options.partial, options.trust, options.against)
    for warning in results.warnings:
        say(f"regatta_analysis: warning: {line(warning)}", sys.stderr)
    results = _said(_selected(results, options))
    beside = Path(options.results).with_name("bounds.csv")
    options.bounds = options.bounds or (beside if beside.exists() else None)
    options.over = [results.full_name(name) for name in options.over or []]
    options.panel = options.panel and results.full_name(options.panel)
    from .figures import style
    from .report import answer as answers
    from .report.summary import write_all
    with style.wide(options.width):
        written = write_all(results, options)
    say("\n".join(answers.as_text(results, options.metric[0], options.command)))
    said = f"{len(written)} files in {options.out}: see {options.out / 'summary.md'}"
    if not options.page:
        return said
    from .report import study_page
    page = study_page.write_loaded([results], options.page, options.command, options.claims,
                                   panel=options.panel)
    return f"{said}\nReport: {page}"


def _said(results):
    """The results, after a line that says if they are incomplete, and which file or folder was read."""
    if results.state:
        say(f"regatta_analysis: {line(results.state)}", sys.stderr)
    return results


def _run(options):
    from . import study
    if options.file.suffix == ".h5" and (options.file.is_file() or options.file.with_suffix(".h5.d").is_dir()):
        options.file, options.output = study.file_of(options.file), options.output or options.file
    code = study.grow(options.file, seeds=options.seeds, instances=options.instances)
    if code:
        raise SystemExit(code)
    output = options.output or study.default_output(options.file, options.results)
    code = study.run(options.file, output, options.launch, budget_of(options))
    if code is not None:
        raise SystemExit(code)
    return _study(_study_parser().parse_args(study.options_of_figures(options.file, output, options.command)))


def _run_parser():
    parser = Parser(prog="regatta_analysis study", description="Runs what is missing of a study, then draws its "
                    "figures and writes report.html beside the results.")
    parser.add_argument("file", type=Path, metavar="STUDY.yaml", help="the study file, or results to go on with: then "
                        "their study file is written beside them")
    parser.add_argument("output", type=Path, nargs="?", metavar="RESULTS.h5",
                        help="default: NAME/NAME.h5 in the folder of results")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="(default: results)")
    parser.add_argument("--command", help="how it was run, for the page")
    for key in ("seeds", "instances"):
        parser.add_argument(f"--{key}", type=positive, metavar="N", help=f"add trials: so many {key}, written into the "
                            "study file; only the new ones run")
    trial_options(parser)
    return parser


def trial_options(parser):
    """Options of commands that may add trials to studies."""
    parser.add_argument("--until-decided", action="store_true", help="add trials in stages, and write them into the "
                        "study file, until no more can change the grade of a claim beside it, or the budget is spent")
    _budget_options(parser, None)


def _budget_options(parser, default=BUDGET):
    from . import launch
    parser.add_argument("--budget", type=_hours, default=default, metavar="CORE-HOURS",
                        help=f"for the trials that are added (default: {BUDGET:g})")
    launch.add_option(parser)


def budget_of(options):
    """Core-hours for further trials, from the options of `trial_options`; None if no trials are to be added."""
    if options.budget is not None and not options.until_decided:
        raise InputError("--budget goes with --until-decided")
    return (BUDGET if options.budget is None else options.budget) if options.until_decided else None


def _selected(results, options):
    if options.problems or options.algorithms or options.where:
        return results.select(options.problems, options.algorithms, options.where)
    return results


def _confidence(options):
    from .figures import figures, style
    options.out.mkdir(parents=True, exist_ok=True)
    with style.wide(options.width):
        paths = style.save(figures.theory_figure(options.points, options.horizon),
                           options.out / "confidence", options.formats)
    return "\n".join(str(path) for path in paths)


def _claims(options):
    from .claims import claims, kinds
    if options.kind:
        return kinds.describe(options.kind)
    if not options.results:
        raise InputError("claims needs results files (--help says more)")
    folders = [p if p.is_dir() and p.suffix != ".d" else p.parent for p in map(Path, options.results)]
    beside = [folder / "claims.yaml" for folder in dict.fromkeys(folders)]
    verdicts, states = [], []
    for path in options.claims or [path for path in beside if path.exists()]:
        studies = claims.Studies(claims.find_results(options.results, path.parent.name), against=options.against)
        verdicts += claims.evaluate(path, studies)
        states += studies.states()
    if not verdicts:
        raise InputError(f"{options.results[0]}: no study that a claims file speaks of; --claims "
                         "names the claims file")
    return verdicts_text(verdicts, options.json, states)


def verdicts_text(verdicts, as_json, states):
    """Grades for the terminal, or as JSON. The text says first which results are incomplete, by their `states`; beside
    JSON that stands on standard error."""
    from .claims import claims
    states = "".join(f"{state}\n" for state in dict.fromkeys(states))
    if as_json:
        sys.stderr.write(terminal(states))
        return json.dumps(claims.as_data(verdicts), indent=1)
    return f"{states}{claims.plain(verdicts)}\n\n{len(verdicts)} claims: {claims.count(verdicts)}"


def _claims_parser():
    from .claims.checks import KINDS
    from .claims.grades import GRADES
    parser = Parser(prog="regatta_analysis claims", description="Grades claims on results, in every reading: "
                    f"{', '.join(GRADES)}.",
                    epilog=f"kinds of checks: {', '.join(KINDS)}", add_help=False)
    parser.add_argument("-h", "--help", nargs="?", action=_KindHelp, dest="kind", metavar="KIND",
                        help="this text; what a kind of check expects, with an example; of `all` kinds")
    parser.add_argument("results", nargs="*", help="results files, study directories (*.h5.d), or "
                        "folders of them; the name of a file is that of its study file")
    parser.add_argument("--claims", nargs="+", type=Path, metavar="FILE.yaml",
                        help="claims files (default: claims.yaml beside the results)")
    parser.add_argument("--json", action="store_true", help="everything, machine-readable")
    _against_option(parser)
    return parser


class _KindHelp(argparse.Action):
    """`--help` alone prints the help; with the name of a kind it prints the help of the kind."""

    def __call__(self, parser, options, kind, option=None):
        if kind is None:
            parser.print_help()
            parser.exit()
        options.kind = kind


def _replicate(options):
    from .claims import replicate
    return replicate.Replication(*replication(options)).run()


def replication(options):
    """Arguments of a Replication, of the options of replicate_parser."""
    from . import launch
    from .claims import replicate
    launch.required()
    several, file = len(options.studies) > 1 or options.out.is_dir(), options.claims
    file = file or options.studies[0].parent / "claims.yaml"
    works = []
    for study in options.studies:
        results = options.out / f"{study.stem}.h5" if several else options.out
        if not study.is_file():
            raise InputError(f"{study}: no such file")
        works.append(replicate.Work(results.name.removesuffix(".h5"), study, results))
    return works, file, options.budget, options.launch, say


def replicate_parser(prog="regatta_analysis replicate"):
    """The options of `replicate`."""
    parser = Parser(prog=prog, description="Runs studies and grades claims on them; then "
                     "adds trials in stages, twice as many each time and only to the cells that open claims "
                     "need, until no further trials can change a grade or the budget is spent. The study files say what was added "
                     "(their key `replicate`); interrupted, the same command goes on.")
    parser.add_argument("studies", nargs="+", type=Path, metavar="STUDY.yaml")
    parser.add_argument("--claims", type=Path, metavar="FILE.yaml",
                        help="the claims (default: claims.yaml beside the study)")
    parser.add_argument("-o", dest="out", required=True, type=Path, metavar="OUT", help="the results file; of several "
                        "studies the folder of their results, each called as its study file")
    _budget_options(parser)
    return parser


def _page(options):
    from .report import study_page
    more = {"command": options.command, "claims_files": options.claims, "partial": options.partial,
            "trust": options.trust, "against": options.against, "panel": options.panel,
            "select": lambda results: _selected(results, options)}
    if not options.live:
        return study_page.write(options.results, options.out, **{**more, "select": lambda results: _said(
            _selected(results, options))})
    try:
        return f"{study_page.watch(options.results, options.out, say, options.every, **more)}: complete"
    except KeyboardInterrupt:
        return "stopped; the page stays as it is"


def _page_parser():
    parser = Parser(prog="regatta_analysis page", description="report.html of a study: curves, sweeps, "
                     "statistics, run times, failures, settings, provenance; one file that needs no network.")
    parser.add_argument("results", nargs="+", help="results files, or study directories (*.h5.d)")
    parser.add_argument("--out", type=Path, metavar="FILE.html",
                        help="the page (default: report.html beside the first results)")
    _page_options(parser)
    _selection_options(parser)
    parser.add_argument("--live", action="store_true", help="redraw the page while the study runs")
    parser.add_argument("--every", type=positive, default=10, metavar="SECONDS",
                        help="how often --live looks for finished trials (default: 10)")
    _reading_options(parser)
    return parser


def _reading_options(parser):
    parser.add_argument("--partial", action="store_true",
                        help="accept a file that may lack trials (from `regatta merge`)")
    parser.add_argument("--trust", action="store_true", help="don't check that files are as they were written")
    _against_option(parser)


def _against_option(parser):
    parser.add_argument("--against", nargs="+", type=Path, metavar="ARCHIVE.h5", help="archives or other results "
                        "whose trials pair with these: their methods are compared too, without running here (default: "
                        "those that the study file names under `against`)")


def _page_options(parser):
    parser.add_argument("--claims", nargs="+", type=Path, default=[], metavar="FILE.yaml",
                        help="claims files of the page (default: claims.yaml beside the results)")
    parser.add_argument("--command", help="how it was run, for the page")


def _selection_options(parser):
    _choice_options(parser)
    parser.add_argument("--panel", metavar="NAME", help="small multiples: the panels of a figure differ in "
                        "this swept setting only, or in the `problem`")


def _choice_options(parser):
    parser.add_argument("--problems", nargs="+", metavar="LABEL", help="only these")
    parser.add_argument("--algorithms", nargs="+", metavar="LABEL", help="only these")
    parser.add_argument("--where", type=_settings, metavar="NAME=VALUE,...", help="only trials with "
                        "these values of swept settings, and those that were not swept over them")


def _export(options):
    from .report import export
    results = _said(_selected(load(options.results, options.partial, options.trust, options.against), options))
    written, notes = export.write(results, options.to, options.directory)
    return "\n".join([f"{len(written)} files in {options.directory}", *notes])


def _export_parser():
    from .report import export
    parser = Parser(prog="regatta_analysis export", description="Results in other programs' formats: tables "
                     "(csv, parquet), netCDF with CF and ACDD attributes, a file per problem, or the logs of "
                     "COCO and IOHprofiler, a folder per suite and algorithm (docs/results-format.md).")
    parser.add_argument("results", help="results file, or study directory (*.h5.d)")
    parser.add_argument("--to", required=True, choices=list(export.KINDS))
    parser.add_argument("directory", type=Path, metavar="DIR")
    _choice_options(parser)
    _reading_options(parser)
    return parser


def _study_parser():
    parser = Parser(prog="regatta_analysis", description="Figures and tables of a study.",
                     epilog="other commands, with --help: `regatta_analysis claims`, "
                     "`regatta_analysis confidence`")
    parser.add_argument("results", help="results file, or study directory (*.h5.d) while it runs")
    output_options(parser)
    parser.add_argument("--metric", nargs="+", choices=list(METRICS), metavar="METRIC",
                        help="of: %(choices)s (default: simple cumulative; best where the optimum is "
                        "not known)")
    parser.add_argument("--count", choices=MOMENTS, default="finished", help="with several workers: by time, an "
                        "evaluation counts when it has ended, or when the method is told (default: %(default)s)")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--log", dest="scale", action="store_const", const="log", default="auto",
                       help="logarithmic regret axis (default: by the range of the curves)")
    scale.add_argument("--linear", dest="scale", action="store_const", const="linear",
                       help="linear regret axis")
    parser.add_argument("--band", choices=["median", "se", "quantile", "bootstrap"], default="median",
                        help="median with its 95%% interval, mean with standard error, median with quantiles, or mean "
                        "with its 95%% bootstrap interval; errors and intervals are over the instances where several "
                        "trials share one (default: median)")
    parser.add_argument("--quantiles", type=_quantiles, default=(0.25, 0.75), metavar="LOW,HIGH",
                        help="of --band quantile (default: 0.25,0.75)")
    parser.add_argument("--points", type=positive, metavar="N",
                        help="number of designs |X| of the finite problems: draws the laws of the "
                        "confidence parameters by formula over the recorded ones")
    parser.add_argument("--bounds", type=Path, metavar="FILE.csv",
                        help="table of `regatta bounds`: draws the bounds over cumulative regret (default: bounds.csv "
                        "beside the results, where there is one)")
    _reading_options(parser)
    _selection_options(parser)
    parser.add_argument("--over", type=_one_or_two, metavar="NAME[,NAME]", help="draw final values "
                        "over this swept setting, or heat-maps over two (default: each, the first two)")
    parser.add_argument("--baseline", metavar="LABEL", help="method that heat-maps compare with "
                        "(default: the first)")
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="the page of the study too, from "
                        "the same numbers (as `regatta_analysis page`)")
    _page_options(parser)
    return parser


def _confidence_parser():
    parser = Parser(prog="regatta_analysis confidence", description="Confidence parameters of "
                     "GP-UCB, RGP-UCB and IRGP-UCB by formula.")
    parser.add_argument("--points", type=positive, default=1000, metavar="N",
                        help="number of designs |X| (default: 1000)")
    parser.add_argument("--horizon", type=positive, default=200, metavar="T",
                        help="number of queries (default: 200)")
    output_options(parser)
    return parser


def output_options(parser):
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where to write")
    parser.add_argument("--formats", nargs="+", choices=["pdf", "png", "svg"], default=["pdf", "png"],
                        help="of the figures (default: pdf png)")
    parser.add_argument("--width", choices=["auto", "column", "page"], default="auto", help="of figures of panels: one "
                        "column of a journal, or both (default: by the number of panels)")


def _accepts(what):
    """For the type of an option: the error for a text that it can't use says what it accepts."""
    def decorate(convert):
        def checked(text):
            try:
                return convert(text)
            except ValueError as error:
                raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}") from error
        return checked
    return decorate


@_accepts("a number of core-hours, 0 or more")
def _hours(text):
    if not 0.0 <= float(text) < float("inf"):
        raise ValueError
    return float(text)


@_accepts("NAME=VALUE,NAME=VALUE,...")
def _settings(text):
    """{name: value} of NAME=VALUE,...; brackets and quotes hold commas together."""
    pairs = [pair.partition("=") for pair in split(text, ",")]
    if not all(name and equals and value for name, equals, value in pairs):
        raise ValueError
    return {name.strip(): value.strip() for name, _, value in pairs}


@_accepts("one name, or two different ones with a comma between")
def _one_or_two(text):
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) != len(names) or len(names) > 2:
        raise ValueError
    return names


@_accepts("LOW,HIGH with 0 <= LOW < HIGH <= 1")
def _quantiles(text):
    low, high = (float(part) for part in text.split(","))
    if not 0.0 <= low < high <= 1.0:
        raise ValueError
    return low, high


@_accepts("a whole number from 1 on")
def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
