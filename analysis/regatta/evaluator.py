"""A Python function as a problem of a study: `regatta.objective`.

The study gets an entry of kind `external` whose program is Python with this module. A function of a file is imported
from there; a function that no file has, as in a notebook, is stored with cloudpickle."""
from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import marshal
import os
import pickle
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TextIO, Union

from . import respond

__all__ = ["Objective", "objective"]

INSIDE = "REGATTA_EVALUATOR"  # an environment variable of processes that evaluate a function
Answer = Union[float, Mapping[str, Any]]


@dataclass(frozen=True)
class Objective:
    """A function as a problem, see `objective`."""
    function: Callable[..., Answer]
    settings: dict[str, Any] = field(default_factory=dict)  # keys of the entry in the study
    version: Optional[str] = None

    def entry(self) -> dict[str, Any]:
        """The entry of `problems` in a study. For a function that no file has, it writes LABEL.pickle in the working
        directory."""
        label = self.settings.get("label", getattr(self.function, "__name__", "objective"))
        words = _importable(self.function) or ["--pickle", _pickled(self.function, label)]
        version = _version(self.function) if self.version is None else self.version
        return {"name": "external", "label": label, "program": sys.executable,
                "arguments": ["-m", "regatta.evaluator", *words, version], **self.settings}

    def serve(self, requests: Optional[Iterable[str]] = None, answers: Optional[TextIO] = None) -> None:
        """Answer requests until the input ends; for a program that a study file names."""
        respond(self.answer, requests, answers, retry=False)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        inputs = {**request["x"], **request.get("c", {})}
        if "request" in _parameters(self.function) and "request" not in inputs:
            inputs["request"] = request
        made = self.function(**inputs)
        if not isinstance(made, Mapping):
            return {"value": float(made)}
        constraints = {name: float(v) for name, v in made.get("constraints", {}).items()}
        own = {name: float(made[name]) for name in ("value", "duration") if name in made or name == "value"}
        numbers = {name: float(v) for name, v in made.items() if name not in ("constraints", *own)}
        return {**own, **({"constraints": constraints} if constraints else {}),
                **({"record": numbers} if numbers else {})}


def objective(function: Callable[..., Answer], inputs: Sequence[str] = (), *, version: Optional[str] = None,
              **settings: Any) -> Objective:
    """A Python function as a problem of a study, for `problems` of the study that `regatta.run` gets::

        def reaction(temperature, solvent, reflux):
            return yield_of(temperature, solvent, reflux)

        regatta.objective(reaction, inputs=["temperature real 20 120", "solvent choice water ethanol",
                                            "reflux real 0 2 if solvent=ethanol"], goal="minimise")

    function: called with every input by its name: numbers, words of choices, and None for an input that does not count.
    With a parameter `request` it also gets the message of docs/protocol.md, which has the trial's seed. It returns a
    number, or a mapping with `value` and maybe `constraints` ({name: number}), `duration` and further numbers. An
    exception is a failed evaluation, which is not repeated.
    settings: further keys of the entry (`regatta describe external`, and those of `common`): record=["cost"] keeps the
    number `cost` in the results, as `answer_cost`.
    version: a text that identifies the function's answers: finished trials of another version do not count. The
    default is a hash of the function's own code without its comments.
    """
    if inputs:
        settings = {"inputs": list(inputs), **settings}
    return Objective(function, settings, version)


# ---- how a program finds the function --------------------------------------------------------------------------------

def _importable(function: Callable[..., Any]) -> Optional[list[str]]:
    """Folder, module and name from which another process can import a function; None if it can't."""
    module, name = sys.modules.get(function.__module__), getattr(function, "__qualname__", "<none>")
    file = getattr(module, "__file__", None)
    if not file or not Path(file).is_file() or "<" in name:  # a script on standard input has the file "<stdin>"
        return None
    spec = getattr(module, "__spec__", None)  # a script has none
    parts = spec.name if spec else Path(file).stem
    path = Path(file).resolve()
    folder = path.parents[parts.count(".") + (path.stem == "__init__")]
    here = Path.cwd()
    return [str(folder.relative_to(here) if here == folder or here in folder.parents else folder), parts, name]


def _pickled(function: Callable[..., Any], label: str) -> str:
    """The file with a function that can't be imported."""
    try:
        import cloudpickle
    except ModuleNotFoundError:
        raise ImportError(f"{label} is not in a file that another process can import: put it into a file beside the "
                          "notebook, or install cloudpickle (Debian: python3-cloudpickle)") from None
    path = f"{label}.pickle"
    Path(path).write_bytes(cloudpickle.dumps(function))
    return path


def _version(function: Callable[..., Any]) -> str:
    """A hash of a function's code that does not change with comments and the layout of lines; without a source, as on
    standard input, of its compiled code."""
    try:
        code = ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function)))).encode()
    except (OSError, TypeError, SyntaxError):
        if not isinstance(function, FunctionType):
            return "1"
        code = marshal.dumps(function.__code__.replace(co_firstlineno=1), 2)  # format 2 depends on the code alone
    return hashlib.sha256(code).hexdigest()[:12]


def _parameters(function: Callable[..., Any]) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def _find(words: Sequence[str]) -> Callable[..., Answer]:
    if words[0] == "--pickle":
        return pickle.loads(Path(words[1]).read_bytes())
    folder, module, name = words[:3]
    sys.path.insert(0, str(Path(folder).resolve()))
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


if __name__ == "__main__":
    os.environ[INSIDE] = "1"
    Objective(_find(sys.argv[1:])).serve()
