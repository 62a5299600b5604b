"""A Python function as a problem of a study, and a class as a method: `regatta.objective`, `regatta.optimiser`.

The study gets an entry of kind `external` whose program is Python with this module. What another process can import by
its name is imported there; everything else, as in a notebook, is stored in a pickle, with cloudpickle if it is there."""
from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import math
import os
import pickle
import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TextIO, Union

from .optimisers import Optimiser, Parallel, Start, further, private, respond, serve

__all__ = ["Method", "Objective", "objective", "optimiser"]

INSIDE = "REGATTA_EVALUATOR"  # an environment variable of processes that evaluate a function
Answer = Union[float, Mapping[str, Any]]


@dataclass(frozen=True)
class _Entry:
    """A callable as an entry of a study."""
    function: Callable[..., Any]
    settings: dict[str, Any] = field(default_factory=dict)  # keys of the entry in the study
    version: Optional[str] = None

    def entry(self) -> dict[str, Any]:
        """The entry in a study. For a function that can't be imported, it writes LABEL.pickle in the working
        directory."""
        label = str(self.settings.get("label", _name(self.function)))
        words = _importable(self.function) or ["--pickle", _pickled(self.function, label)]
        version = _version(self.function) if self.version is None else self.version
        return {"name": "external", "label": label, "program": sys.executable,
                "arguments": ["-m", "regatta.evaluator", *self._kind(), *words, version], **self.settings}

    def _kind(self) -> list[str]:
        return []


class Method(_Entry):
    """A class of optimisers as a method, see `optimiser`."""

    def _kind(self) -> list[str]:
        return ["--optimiser"]


class Objective(_Entry):
    """A function as a problem, see `objective`."""

    def serve(self, requests: Optional[Iterable[str]] = None, answers: Optional[TextIO] = None) -> None:
        """Answer requests until the input ends; for a program that a study file names."""
        respond(self.answer, requests, answers, retry=False)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        inputs = {**request["x"], **request.get("c", {})}
        parameters = _parameters(self.function)
        if parameters is None:  # as of NumPy's functions: they take their arguments in order
            made = self.function(*inputs.values())
        else:
            if "request" in parameters and "request" not in inputs:
                inputs["request"] = request
            placed = [inputs.pop(name) for name, p in parameters.items()
                      if p.kind is p.POSITIONAL_ONLY and name in inputs]
            made = self.function(*placed, **inputs)
        if not isinstance(made, Mapping):
            return {"value": _number("the function returned", made)}
        constraints = {name: _number(f"the function returned the constraint {name!r} as", v)
                       for name, v in made.get("constraints", {}).items()}
        own = {name: _number(f"the function returned {name!r} as", made.get(name))
               for name in ("value", "duration") if name in made or name == "value"}
        numbers = further({name: v for name, v in made.items() if name not in ("constraints", *own)})
        return {**own, **({"constraints": constraints} if constraints else {}),
                **({"record": numbers} if numbers else {})}


def _number(words: str, value: Any) -> float:
    """A finite number; ValueError for anything else."""
    try:
        number = float("nan") if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not math.isfinite(number):
        missing = "; is there a `return`?" if value is None else ""
        raise ValueError(f"{words} {value!r}, not a finite number{missing}")
    return number


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
    if not callable(function):
        raise TypeError(f"regatta.objective takes a function, not {function!r}")
    if inputs:
        settings = {"inputs": list(inputs), **settings}
        _check_names(function, [str(line).split()[0] for key in ("inputs", "contexts")
                                for line in settings.get(key) or () if str(line).split()])
    return Objective(function, settings, version)


def optimiser(factory: Callable[[Start], Union[Optimiser, Parallel]], *, version: Optional[str] = None,
              **settings: Any) -> Method:
    """A class of optimisers as a method of a study, for `algorithms` of the study that `regatta.run` gets::

        regatta.run({..., "algorithms": ["ei", regatta.optimiser(Hill, label="Hill climbing")]})

    factory: as for `regatta.serve`: called with a `Start` for a new optimiser; or `regatta.minimiser(function)`.
    settings, version: as for `objective`, of the method (`regatta describe external`): record=["width"] keeps the number
    `width` of a `Query`, as `program_width`.
    """
    if not callable(factory):
        raise TypeError(f"regatta.optimiser takes a class, not {factory!r}")
    return Method(factory, settings, version)


def _check_names(function: Callable[..., Any], names: Sequence[str]) -> None:
    """Raise ValueError unless the function takes the inputs with these names."""
    parameters = _parameters(function)
    if parameters is None:
        return
    said = f"inputs of {_name(function)}"
    takes = [name for name, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [name for name in names if name not in takes]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise ValueError(f"{said}: {unknown[0]!r} is no argument of it{nearest(unknown[0], takes)} (it has: "
                         f"{', '.join(takes) or 'none'})")
    for name, p in parameters.items():
        if name in takes and p.default is p.empty and name not in (*names, "request"):
            raise ValueError(f"{said}: its argument {name!r} is missing among them")


# ---- how a program finds the function --------------------------------------------------------------------------------

def _name(function: Callable[..., Any]) -> str:
    """The name of a callable in labels and messages."""
    function = getattr(function, "func", function)  # of a partial
    return str(getattr(function, "__name__", type(function).__name__))


def nearest(word: str, known: Sequence[str]) -> str:
    found = difflib.get_close_matches(word, known, 1)
    return f", did you mean {found[0]!r}?" if found else ""


def _importable(function: Callable[..., Any]) -> Optional[list[str]]:
    """Folder, module and name from which another process can import just this callable; None if it can't."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    name = getattr(function, "__qualname__", "<none>")
    file = getattr(module, "__file__", None)
    if not file or not Path(file).is_file() or _resolve(module, name) is not function:
        return None  # a script on standard input has the file "<stdin>"
    _check_guard(module, file)
    spec = getattr(module, "__spec__", None)  # a script has none
    parts = spec.name if spec else Path(file).stem
    path = Path(file).resolve()
    folder = path.parents[parts.count(".") + (path.stem == "__init__")]
    here = Path.cwd()
    return [str(folder.relative_to(here) if here == folder or here in folder.parents else folder), parts, name]


def _resolve(place: Any, name: str) -> Any:
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


def _check_guard(module: ModuleType, file: str) -> None:
    """Raise RuntimeError if the statement of a module that runs now would run again when the module is imported."""
    frame = inspect.currentframe()
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_globals is module.__dict__):
        frame = frame.f_back
    if not frame or module.__name__ != "__main__":
        return
    with contextlib.suppress(OSError, SyntaxError, UnicodeError):
        for node in ast.walk(ast.parse(Path(file).read_bytes())):
            if (isinstance(node, ast.If) and node.lineno <= frame.f_lineno <= (node.end_lineno or 0)
                    and "__name__" in ast.unparse(node.test)):
                return
        raise RuntimeError(f"{Path(file).name}, line {frame.f_lineno}: other processes import this file: put the call "
                           "under if __name__ == '__main__':")


def _pickled(function: Callable[..., Any], label: str) -> str:
    """The file with a callable that can't be imported, behind the folders in which its modules may be."""
    try:
        from cloudpickle import dumps
    except ModuleNotFoundError:
        dumps = pickle.dumps
    try:
        stored = dumps(function)
        if dumps is pickle.dumps and b"__main__" in stored:
            raise pickle.PicklingError("it is of the main program")
    except Exception as error:
        more = "" if dumps is not pickle.dumps else ", or install cloudpickle (Debian: python3-cloudpickle)"
        raise ImportError(f"{label} is not in a file that another process can import, and can't be pickled "
                          f"({' '.join(str(error).split())}): put it under a name of its own into a file{more}") from None
    path = re.sub(r"[^\w.-]+", "_", label) + ".pickle"
    Path(path).write_bytes(pickle.dumps([os.path.abspath(folder) for folder in sys.path]) + stored)
    return path


def _version(function: Callable[..., Any]) -> str:
    """A hash of the code that is called, and of what it holds: values of closures, partials, defaults and objects. It
    does not change with comments and the layout of lines."""
    parts = _parts(function, [])
    plain = isinstance(function, FunctionType) and len(parts) == 1
    return hashlib.sha256(parts[0] if plain else b"\0".join(parts)).hexdigest()[:12]


def _parts(value: Any, seen: list[Any]) -> list[bytes]:
    """The parts that tell a value from others, as bytes. seen: the values around it, for values that hold themselves."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return [repr(value).encode()]
    if any(value is one for one in seen):
        return [b"again"]
    inner = [*seen, value]

    def all_of(values: Iterable[Any]) -> list[bytes]:
        return [part for one in values for part in _parts(one, inner)]
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
        held = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        literal = all(isinstance(one, (bool, int, float, str, type(None))) for one in held)
        return [_source(value.__code__), *all_of(cells), *([] if literal and value.__name__ != "<lambda>" else all_of(held))]
    if isinstance(value, MethodType):
        return all_of([value.__func__, value.__self__])
    if isinstance(value, functools.partial):
        return all_of([value.func, value.args, value.keywords])
    if isinstance(value, (list, tuple)):
        return [type(value).__name__.encode(), *all_of(value), b"end"]
    if isinstance(value, Mapping):
        return [b"mapping", *all_of(part for pair in value.items() for part in pair), b"end"]
    if isinstance(value, (set, frozenset)):
        return [b"set", *sorted(b" ".join(_parts(one, inner)) for one in value)]
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        return [str((value.dtype, value.shape)).encode(), value.tobytes()]
    if isinstance(value, type):
        return [value.__qualname__.encode(), _source(value)]
    if isinstance(value, (ModuleType, BuiltinFunctionType)) or type(value).__name__ == "ufunc":
        return [f"{getattr(value, '__module__', '')} {value.__name__}".encode()]
    if hasattr(value, "__wrapped__"):  # functools.lru_cache
        return [type(value).__name__.encode(), *all_of([value.__wrapped__])]
    own = {**getattr(value, "__dict__", {}), **{name: getattr(value, name, None) for one in type(value).__mro__
                                                for name in _slots(one)}}
    with contextlib.suppress(Exception):
        own = own or {"pickle": pickle.dumps(value, 4)}
    return [*_parts(type(value), inner), *all_of(part for pair in own.items() for part in pair)]


def _slots(kind: type) -> list[str]:
    slots = kind.__dict__.get("__slots__", ())
    return [name for name in ([slots] if isinstance(slots, str) else slots) if not name.startswith("__")]


def _source(what: Any) -> bytes:
    """The source of a function's code or of a class without its comments; of a lambda, of which a line may have several,
    and without a source, as on standard input, the compiled code."""
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        if getattr(what, "co_name", "") != "<lambda>":
            return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(what)))).encode()
    return _compiled(what) if isinstance(what, CodeType) else repr(what).encode()


def _compiled(code: CodeType) -> bytes:
    constants = [_compiled(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames)).encode()


def _parameters(function: Callable[..., Any]) -> Optional[Mapping[str, inspect.Parameter]]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def _find(words: Sequence[str]) -> Callable[..., Any]:
    if words[0] == "--pickle":
        with open(words[1], "rb") as file:
            folders = pickle.load(file)
            sys.path += [folder for folder in folders if folder not in sys.path]
            return pickle.load(file)
    folder, module, name = words[:3]
    sys.path.insert(0, str(Path(folder).resolve()))
    return _resolve(importlib.import_module(module), name)


def _main(words: Sequence[str]) -> None:
    os.environ[INSIDE] = "1"
    with private() as (requests, answers):  # before the user's file is imported, which may print
        if words[0] == "--optimiser":
            serve(_find(words[1:]), requests, answers)
        else:
            Objective(_find(words)).serve(requests, answers)


if __name__ == "__main__":
    _main(sys.argv[1:])
