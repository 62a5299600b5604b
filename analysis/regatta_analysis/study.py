"""A study from its file to its page: run the missing trials, then draw figures and write report.html."""
import subprocess
from pathlib import Path

from . import launch
from .claims import replicate
from .claims.claims import require_decidable, too_few
from .escape import say
from .load import against
from .load.errors import InputError
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
        note(too_few(*about) if budget is None else "")
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
