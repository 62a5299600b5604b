"""Studies of a paper one after the other, then its report."""
import shutil
import subprocess
import sys

from regatta_analysis import launch, study
from regatta_analysis.claims import replicate as trials
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.program import program

from . import availability, catalogue, record, replicate, report


class Stopped(Exception):
    """A run was asked to stop."""


def listing():
    """PAPER/FIGURE of every figure."""
    return "\n".join(f"{name}/{figure['id']}" for name in catalogue.papers()
                     for figure in catalogue.paper(name).figures)


def everything(options, results, command):
    """Run and report PAPER[/FIGURE,...], or all papers with an index; the paths written."""
    if options.paper != "all":
        return one(options, options.paper, results, command)[0]
    written = []
    for name in catalogue.papers():
        try:
            text, stopped = one(options, name, results, command.replace(" all", f" {name}", 1))
        except InputError as error:
            print(f"reproduce: {name}: no report: {error}", file=sys.stderr)
            continue
        written.append(text)
        if stopped:
            break
    return "\n".join([*written, *map(str, report.write_index(results, options.scale))])


def one(options, target, results, command):
    """(the paths of the report of a paper, whether a run was asked to stop)."""
    name, _, named = target.partition("/")
    paper, figures = catalogue.paper(name), named.split(",") if named else []
    for figure in figures:
        catalogue.figure_named(paper, figure)
    place, skipped, without, stopped = results / name, [], [], False
    (place / options.scale).mkdir(parents=True, exist_ok=True)
    try:
        if options.run:
            _studies(options, paper, figures, place, (skipped, without))
    except Stopped:
        stopped = True
    formats = ("png",) if options.scale == "smoke" else ("pdf", "png")
    page, text = report.write(name, place, options.scale, command, skipped, without, formats)
    return f"{page}\n{text}", stopped


def _studies(options, paper, figures, place, notes):
    """Run the studies; raises Stopped. `notes` has lists that get (study, reason) for each missing study."""
    launch.required()
    skipped, without = notes
    folder = place / options.scale
    written = catalogue.write_studies(paper, options.scale, options.seeds, folder, figures, options.universes)
    works = []
    for number, (name, file, bounds) in enumerate(written, 1):
        study.say(f"[{number}/{len(written)}] {paper.name}/{name}")
        missing, some = availability.leave_out(file, program())
        reasons = availability.words(missing)
        if not some:
            study.say(f"  left out: {reasons}")
            skipped.append((name, reasons))
            continue
        if reasons:
            study.say(f"  goes without {reasons}")
            without.append((name, reasons))
        if _run(name, file, folder, place / "small" if options.scale == "full" else None, skipped,
                options.launch):
            works.append(trials.Work(name, file, folder / f"{name}.h5"))
            if bounds:
                study.bounds(file, folder / f"{name}_bounds.csv")
    if options.until_decided and works:
        known = record.read(paper.directory / "verdicts.json") if options.keep else None
        study.say(replicate.Replication(works, paper.claims_file, options.budget, options.launch, study.say, known).run())


def _run(name, file, folder, smaller, skipped, command):
    """Run a study; whether it is complete now. Results of a smaller scale are taken over."""
    output = folder / f"{name}.h5"
    before = smaller and smaller / output.name
    if before and before.exists() and not output.exists() and not output.with_name(f"{output.name}.d").exists():
        shutil.copy(before, output)
    planned = subprocess.run([program(), "plan", file, "-o", output], capture_output=True, text=True, check=False)
    if planned.returncode:
        lines = availability.last_words(planned, "regatta plan: ")
        print("\n".join(lines), file=sys.stderr)
        skipped.append((name, lines[-1].rpartition("/")[2]))
        return False
    for line in planned.stdout.splitlines()[-2:]:
        study.say(f"  {line}")
    launch.run([*command, program(), "run", file, "-o", output])
    if not launch.complete(output):
        raise Stopped
    return True
