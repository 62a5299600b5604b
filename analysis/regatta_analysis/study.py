"""A study from its file to its page: run the missing trials, then draw figures and write report.html."""
import json
import subprocess
from pathlib import Path

from . import launch
from .claims import replicate, stages
from .claims.claims import notes, require_decidable
from .escape import say, write_whole
from .load import against
from .load.errors import InputError
from .load.load import load
from .load.program import program


def note(text):
    """Print a line that a reader must know before a study runs, if there is one."""
    if text:
        say(f"  note: {text}")


def run(file, output, command, budget=None):
    """Run the missing trials of a study, with further trials for its claims if there is a `budget` of core-hours.
    Returns the exit code, or None if the study is complete. `command` starts the program on several ranks."""
    launch.required()
    if not file.is_file():
        raise InputError(f"{file}: no such file")
    planned = subprocess.run([program(), "plan", file, "-o", output, "-ranks", str(launch.ranks())], check=False)
    if planned.returncode:  # One process has reported the mistakes of the file.
        return planned.returncode
    if (file.parent / "claims.yaml").is_file():
        about = file.parent / "claims.yaml", output.name.removesuffix(".h5"), file.read_text(encoding="utf-8")
        require_decidable(*about, grows=budget is not None)
        note(notes(*about) if budget is None else "")
    output.parent.mkdir(parents=True, exist_ok=True)
    code = launch.run([*command, program(), "run", file, "-o", output])
    if code or not launch.complete(output):
        return code
    if budget is not None:
        work = replicate.Work(output.name.removesuffix(".h5"), file, output)
        say(replicate.Replication([work], file.parent / "claims.yaml", budget, command, say).run())
        if not launch.complete(output):
            return 0
    bounds(file, output.parent / "bounds.csv")
    return None


def file_of(results):
    """The study file of results, written beside them from the text that they have; a file that is there must be equal."""
    text, path = load(results).study, results.with_suffix(".yaml")
    if not text:
        raise InputError(f"{results}: it has no text of a study")
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise InputError(f"{path}: not the study of {results.name}: give the study file first, then the results")
    write_whole(path, text)
    return path


def grow(file, **numbers):
    """Write into a study file how many `seeds` or `instances` every cell has (None: as it is). Returns the exit code of
    the program for a file with a mistake, else 0. InputError for a number that adds no trial, and the file stays."""
    numbers = {key: number for key, number in numbers.items() if number is not None}
    if not numbers or not file.is_file():
        return 0
    launch.required()
    code, trials = _planned(file)
    if code:  # It has reported the mistakes of the file.
        return code
    text = before = file.read_text(encoding="utf-8")
    for key, number in numbers.items():
        try:
            text = stages.raised(text, key, number)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
    if text == before:
        return 0
    write_whole(file, text)
    if _planned(file) == (0, trials):
        write_whole(file, before)
        raise InputError(f"{file}: more instances add no trial, because no problem here is random: give --seeds")
    return 0


def _planned(file):
    """(the exit code of `plan`, the number of trials of a study file)."""
    done = subprocess.run([program(), "plan", file, "-quick", "-json"], stdout=subprocess.PIPE, check=False)
    return done.returncode, done.returncode or sum(cell["trials"] for cell in json.loads(done.stdout)["cells"])


def bounds(file, path):
    """Write the bounds of theory for a study into a table."""
    subprocess.run([program(), "bounds", file, "-o", path], stdout=subprocess.DEVNULL, check=False)


def options_of_figures(file, output, command):
    """Arguments of the command that draws the figures and writes the page of a study that was run."""
    folder, claims = output.parent, file.parent / "claims.yaml"
    arguments = [output, "--out", folder, "--page", folder / "report.html"]
    arguments += ["--command", command] if command else []
    archives, _ = against.named(file.parent, file.read_text(encoding="utf-8"))
    arguments += ["--against", *archives] if archives else []
    return [str(a) for a in arguments + (["--claims", claims] if claims.exists() else [])]


def default_output(file, results):
    """The path of the results of a study."""
    return Path(results) / file.stem / f"{file.stem}.h5"
