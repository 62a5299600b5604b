"""Studies of a paper one after the other, then its report."""
import shutil
import subprocess
import sys

from regatta_analysis import launch, study
from regatta_analysis.claims import claims
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
    written, failed = [], []
    for name in catalogue.papers():
        try:
            text, stopped = one(options, name, results, command.replace(" all", f" {name}", 1))
        except InputError as error:
            print(f"reproduce: {name}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        written.append(text)
        if stopped:
            break
    index = map(str, report.write_index(results, options.scale))
    if failed:
        raise InputError(f"{', '.join(failed)}: not reproduced, as said above; {' and '.join(index)} has the others")
    return "\n".join([*written, *index])


def one(options, target, results, command):
    """(the paths of the report of a paper, whether a run was asked to stop). Raises InputError after the report if a
    study failed."""
    name, _, named = target.partition("/")
    paper, figures = catalogue.paper(name), named.split(",") if named else []
    for figure in figures:
        catalogue.figure_named(paper, figure)
    place, skipped, without, failed, stopped = results / name, [], [], [], False
    (place / options.scale).mkdir(parents=True, exist_ok=True)
    try:
        if options.run:
            _studies(options, paper, figures, place, (skipped, without, failed))
    except Stopped:
        stopped = True
    formats = ("png",) if options.scale == "smoke" else ("pdf", "png")
    page, text = report.write(name, place, options.scale, command, skipped + failed, without, formats)
    if failed:
        raise InputError("; ".join(f"{study}: {reason}" for study, reason in failed) + f"; {page} is without it")
    return f"{page}\n{text}", stopped


def _studies(options, paper, figures, place, notes):
    """Run the studies; raises Stopped. `notes` has lists that get (study, reason) for each missing study."""
    launch.required()
    skipped, without, failed = notes
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
        if not options.until_decided:
            study.note(claims.notes(paper.claims_file, name, file.read_text(encoding="utf-8")))
        failure = _run(name, file, folder, place / "small" if options.scale == "full" else None, options.launch)
        if failure:
            failed.append((name, failure))
        else:
            works.append(trials.Work(name, file, folder / f"{name}.h5"))
            if bounds:
                study.bounds(file, folder / f"{name}_bounds.csv")
    if options.until_decided and works:
        known = record.read(paper.directory / "verdicts.json") if options.keep else None
        study.say(replicate.Replication(works, paper.claims_file, options.budget, options.launch, study.say, known).run())


def _run(name, file, folder, smaller, command):
    """Run a study; why it failed, or ''. Results of a smaller scale are taken over. A plan that fails does not keep the
    study from running: it only says what the run will take."""
    output = folder / f"{name}.h5"
    before = smaller and smaller / output.name
    if before and before.exists() and not output.exists() and not output.with_name(f"{output.name}.d").exists():
        shutil.copy(before, output)
    planned = subprocess.run([program(), "plan", file, "-o", output], capture_output=True, text=True, check=False)
    lines = availability.last_words(planned, "regatta plan: ") if planned.returncode else planned.stdout.splitlines()[-2:]
    for line in lines:
        study.say(f"  {line}")
    code = launch.run([*command, program(), "run", file, "-o", output])
    if code:
        return f"regatta run ended with exit code {code}" + (f" ({lines[-1]})" if planned.returncode else "")
    if not launch.complete(output):
        raise Stopped
    return ""
