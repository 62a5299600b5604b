"""Studies from Python: `regatta.run` and `regatta.plan`. The program does the work; this module starts it."""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

import yaml
from regatta_analysis import launch, load

from .evaluator import INSIDE, Method, Objective
from .problems import LAUNCHERS, find_program

if TYPE_CHECKING:
    import pandas as pd
    from regatta_analysis import Results

__all__ = ["plan", "run"]

Study = Union[Mapping[str, Any], str, "os.PathLike[str]"]
STARTS = ": this study starts programs: "  # in a line by which the program names them
PAUSE = 10.0  # seconds between two lines of progress where nothing can be overwritten


def run(study: Study, out: Union[str, "os.PathLike[str]", None] = None, ranks: Optional[int] = None, *,
        quiet: bool = False, options: Sequence[str] = ()) -> Results:
    """Run the missing trials of a study and return its results.

    study: a mapping that mirrors a study file, the text of a study file, or its path. A mapping may have objects of
    `regatta.objective` among its problems.
    out: the results file (default: the study's name with .h5, in the working directory).
    ranks: processes that take trials (default: $REGATTA_RANKS, or all cores).
    options: further words for `regatta run`, such as ["-walltime", "1:00:00"], or ["-plugin", "method.so"].

    Ctrl-C stops the run cleanly: it raises KeyboardInterrupt, and the same call resumes. If an option stopped the run,
    the results are those of the finished trials (`results.complete` is false). Raises ValueError if the study has
    mistakes; each line names the place of one. Raises RuntimeError if every trial failed; the results have the reasons."""
    if os.environ.get(INSIDE):
        raise RuntimeError("a file with an objective calls regatta.run when it is imported: put the call under "
                           "if __name__ == '__main__':")
    with _file(study) as path:
        plugins = [word for k, option in enumerate(options[:-1]) if option == "-plugin" for word in options[k:k + 2]]
        planned = _planned(study, path, "-quick", *plugins)  # finds mistakes before several ranks start
        out = Path(out or f"{planned['study']}.h5")
        ranks = ranks or launch.ranks()
        launcher = launch.words(ranks) if ranks > 1 else []
        said = _follow([*launcher, find_program(), "run", str(path), "-o", str(out), "-progress", "0.5", *options], quiet,
                       study)
    if not quiet and said:
        print(said)
    packed = out.is_file() and launch.complete(out)
    return load(out if packed else f"{out}.d", partial=True)


def plan(study: Study, out: Union[str, "os.PathLike[str]", None] = None, *, quick: bool = False,
         options: Sequence[str] = ()) -> pd.DataFrame:
    """The cells of a study: a row for each with its settings, its number of trials, how many are done in the results
    `out`, the seconds of a trial, and its peak memory in bytes. For the seconds it runs parts of a trial of each method,
    and calls an objective twice, unless it has `seconds` or a time_limit above 600; a line says so before. quick: it
    times nothing, and seconds are NaN until trials have finished. options: further words for `regatta plan`, as for `run`. Raises ValueError as `run` does."""
    import pandas as pd
    with _file(study) as path:
        cells = _planned(study, path, *(["-quick"] if quick else []), *(["-o", str(out)] if out else []), *options)["cells"]
    settings = [cell.pop("settings") for cell in cells]
    return pd.DataFrame([{**cell, **own} for cell, own in zip(cells, settings)]).astype({"seconds": float})


def _planned(study: Study, path: Path, *options: str) -> dict[str, Any]:
    """The plan of a study, as a dictionary. Raises ValueError where the study has mistakes."""
    done = subprocess.run([find_program(), "plan", str(path), "-json", *options], capture_output=True, text=True,
                          env=_environment(), stdin=subprocess.DEVNULL)
    if done.returncode:
        raise _mistake(done.returncode, done.stderr.splitlines(), study)
    sys.stderr.write("".join(line for line in done.stderr.splitlines(True) if STARTS not in line))
    planned: dict[str, Any] = json.loads(done.stdout)
    return planned


# ---- the study file --------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _file(study: Study) -> Iterator[Path]:
    """The path of a study. A mapping or a text becomes a file in the working directory, because a study's relative
    paths start at its folder."""
    if _is_path(study):
        yield Path(study)  # type: ignore[arg-type]
        return
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=".regatta-", suffix=".yaml", encoding="utf-8") as file:
        file.write(_text(study))
        file.flush()
        yield Path(file.name)


def _is_path(study: Study) -> bool:
    return not isinstance(study, Mapping) and "\n" not in str(study)


def _text(study: Study) -> str:
    if not isinstance(study, Mapping):
        return str(study)
    return str(yaml.safe_dump(_plain(study), sort_keys=False, allow_unicode=True, width=float("inf")))


def _plain(value: Any) -> Any:
    """Mappings, lists, numbers and texts of a study, also from NumPy."""
    if isinstance(value, (Method, Objective)):
        value = value.entry()
    if isinstance(value, Mapping):
        return {str(key): _plain(v) for key, v in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, os.PathLike) else value


# ---- the program -----------------------------------------------------------------------------------------------------

def _environment() -> dict[str, str]:
    """Programs of a study find this package. The program is not a rank of a job that this process belongs to."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS) or k.startswith("OMPI_MCA_")}
    paths = [str(Path(__file__).resolve().parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


def _follow(command: list[str], quiet: bool, study: Study) -> str:
    """Run the program on a study to its end; returns its last line."""
    lines: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        with launch.relayed(command, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace",
                            env=_environment()) as (child, signals), child, _Bar(quiet) as bar:
            for line in _own_lines(child.stderr):
                if not bar.show(line):
                    lines.append(line)
            code = child.wait()
        output.seek(0)
        said = output.read().strip()
    if signals:
        raise KeyboardInterrupt(said or "the run was stopped; the same call resumes")
    if code == 4:  # the results are complete, but every trial of some cell failed
        warnings.warn(lines[-1].strip(), stacklevel=4)
    elif code:
        raise _mistake(code, lines, study)
    elif quiet:
        sys.stderr.write("".join(line for line in lines if STARTS not in line))
    return said


def _own_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines without mpirun's messages about exit codes (blocks framed by rules) and about the stop signal."""
    inside = False
    for line in lines:
        rule = len(line) > 60 and not line.strip().strip("-")
        inside ^= rule
        if not rule and not inside and not line.startswith("mpirun: Forwarding signal"):
            yield line


def _mistake(code: int, lines: Sequence[str], study: Study = "") -> Exception:
    """The error of a program that ended with a code other than 0. Each line names the key where a mistake is."""
    lines = [line.strip() for line in lines if line.strip() and STARTS not in line] or [f"regatta ended with exit code {code}"]
    if code == 2:
        keys = {} if _is_path(study) else _places(_text(study))
        own = [line for line in lines if re.match(r"regatta: |.*?:\d+:\d+: ", line)]  # not what programs print
        return ValueError("\n".join(_named(line, keys) for line in own or lines))
    reasons = [line for line in lines[:-1] if " failed " in f" {line}"] if code == 5 else []
    return (OSError if code == 3 else RuntimeError)("\n".join(
        line.removeprefix("regatta: ") for line in [lines[-1], *reasons]))


def _named(line: str, keys: dict[tuple[int, int], str]) -> str:
    """A message about a study that has no file of its own: the place becomes the path of its key."""
    found = re.match(r".*?\.regatta-[^:]*\.yaml:(\d+):(\d+): (.*)", line)
    if not found:
        return line.removeprefix("regatta: ")
    key = keys.get((int(found[1]), int(found[2])), "")
    return f"{key}: {found[3]}" if key else found[3]


def _places(text: str) -> dict[tuple[int, int], str]:
    """{(line, column): path of the key there} of a study's text."""
    places: dict[tuple[int, int], str] = {}

    def walk(node: yaml.Node, path: str) -> None:
        places[node.start_mark.line + 1, node.start_mark.column + 1] = path
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = f"{path}.{key.value}" if path else str(key.value)
                walk(value, inner)
                walk(key, inner)
        if isinstance(node, yaml.SequenceNode):
            for k, value in enumerate(node.value):
                walk(value, f"{path}[{k}]")
    with contextlib.suppress(yaml.YAMLError):
        if root := yaml.compose(text):
            walk(root, "")
    return places


class _Bar:
    """The progress of a run, from the lines that the program prints: a bar of tqdm if that is installed, or one line
    that is overwritten, or on plain files a line now and then. Other lines pass."""

    def __init__(self, quiet: bool, stream: Optional[IO[str]] = None):
        self.quiet, self.stream = quiet, stream or sys.stderr
        self.shown, self.bar, self.live = 0.0, None, False

    def __enter__(self) -> _Bar:
        return self

    def show(self, line: str) -> bool:
        """Whether a line is one of progress."""
        found = re.match(r"(\d+) of (\d+) trials(.*)", line)
        if self.quiet:
            return bool(found)
        if found:
            self._advance(int(found[1]), int(found[2]), found[3].lstrip(", "), line.strip())
        else:
            self._close()
            self.stream.write(line)
        return bool(found)

    def _advance(self, done: int, total: int, more: str, line: str) -> None:
        overwrites = self.stream.isatty() or "ipykernel" in sys.modules
        if overwrites and (tqdm := _tqdm()):
            self.bar = self.bar or tqdm(total=total, unit="trial", file=self.stream)
            self.bar.set_postfix_str(more, refresh=False)
            self.bar.update(done - self.bar.n)
        elif overwrites:
            self.stream.write(f"\r{line}\x1b[K")
            self.live = True
        elif time.monotonic() - self.shown > PAUSE:
            self.stream.write(line + "\n")
            self.shown = time.monotonic()
        self.stream.flush()

    def _close(self) -> None:
        if self.bar:
            self.bar.close()
        if self.live:
            self.stream.write("\n")
        self.bar, self.live = None, False

    def __exit__(self, *_: object) -> None:
        self._close()


def _tqdm() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # in notebooks without ipywidgets: there the bar is a line of text
            from tqdm.auto import tqdm
        return tqdm
    except ImportError:
        return None
