"""Regatta's problems for notebooks and other frameworks: ``regatta.problem("hartmann6")``.

The values come from the program (`regatta serve`), one process per problem. The messages are those of
docs/protocol.md. The module needs the standard library only; it accepts NumPy arrays and returns arrays for them."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, IO, Optional, Sequence, Union

from ._version import __version__
from .optimisers import PROTOCOL, Space

__all__ = ["Problem", "find_program", "problem"]

# variables of MPI's launchers: the program is not one of their ranks
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "MPI_", "MPIR_", "PRTE_", "HYDRA_", "SLURM_PMI")


def find_program() -> str:
    """The program `regatta`: $REGATTA, the one built or installed beside this package, or the one in PATH.
    FileNotFoundError without one, or if $REGATTA names none."""
    here = Path(__file__).resolve()
    beside = [here.parents[2] / "build" / "regatta"]
    if len(here.parents) > 4:
        beside.append(here.parents[4] / "bin" / "regatta")
    built = next((str(path) for path in beside if os.access(path, os.X_OK)), None)
    found = os.environ.get("REGATTA") or built or shutil.which("regatta")
    if not found:
        raise FileNotFoundError("there is no program regatta: build it, put it in PATH, or name it in "
                                "the environment variable REGATTA")
    if not shutil.which(found):
        raise FileNotFoundError(f"the environment variable REGATTA names {found}, which is not a program"
                                f"{'' if os.path.isabs(found) else f' (seen from {os.getcwd()})'}")
    os.environ["REGATTA_PACKAGE"] = __version__  # a program of another version refuses it in one line
    return found


def _word(value: Any) -> str:
    """A parameter in the form that `-set` accepts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format(value, ".17g")
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return "[" + ",".join(_word(v) for v in _plain(value)) + "]"
    return str(value)


def _plain(values: Any) -> Any:
    """Lists and numbers of an array."""
    return values.tolist() if hasattr(values, "tolist") else values


def _is_batch(values: Any) -> bool:
    if not hasattr(values, "__len__") or isinstance(values, (str, bytes, dict)):
        raise ValueError(f"a point is a list of numbers, not {values!r}")
    return len(values) > 0 and hasattr(values[0], "__len__") and not isinstance(values[0], str)


class Problem:
    """A problem by its name in study files, with its parameters. Close it, or use it as a context manager::

        with regatta.problem("bbob", function=15, dim=5, instance=3) as f:
            f.bounds, f([0, 0, 0, 0, 0]), f.gradient([[0] * 5, [1] * 5]), f.optimum, f.regret([1] * 5)

    name: one that `regatta list problems` names (`regatta describe NAME` has its parameters), or one
    of `plugins`, shared libraries. instance, study_seed: the draw of a random problem; None: the seed
    of a study file that sets none.
    noise_variance: evaluations get the noise that the trial with seed `noise_seed` of a study has.
    executable: the program regatta, see `find_program`. Unknown names, parameters and values are a
    ValueError with the program's own words.

    Points are in native units and everything is maximised. One point gives a number. A list of points (or a
    two-dimensional array) gives as many numbers, in one request. A wrong point raises a ValueError, and the problem
    stays usable."""
    name: str
    title: str
    instance: int
    space: Space
    context: Optional[Space]
    has_gradient: bool
    measure: Optional[str]
    constraint_names: tuple[str, ...]  # outcome constraints; a point is feasible where all are <= 0

    def __init__(self, name: str, instance: int = 0, *, study_seed: Optional[int] = None, noise_variance: float = 0.0,
                 noise_seed: int = 0, plugins: Sequence[Union[str, Path]] = (),
                 executable: Union[str, Path, None] = None, **parameters: Any):
        if not 0.0 <= float(noise_variance) < float("inf"):
            raise ValueError(f"noise_variance must be a finite number >= 0, not {noise_variance!r}")
        command = [str(executable or find_program()), "serve", name, "-instance", str(instance)]
        if study_seed is not None:
            command += ["-seed", str(study_seed)]
        for key, value in parameters.items():
            command += ["-set", f"{key}={_word(value)}"]
        for plugin in plugins:
            command += ["-plugin", str(plugin)]
        self.noise_variance, self.noise_seed = float(noise_variance), int(noise_seed)
        self.evaluations = 0  # evaluations so far; it chooses the noise of the next one
        self._count, self._lock = 0, threading.Lock()
        self._optimum: Optional[dict[str, Any]] = None
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._complaints, env=environment, text=True)
        except OSError:
            self._complaints.close()
            raise
        try:
            about = self._ask(do="start", protocol=PROTOCOL)
        except BaseException:
            self.close()
            raise
        self.name, self.title, self.instance = about["problem"], about["title"], about["instance"]
        self.space = Space.of(about["space"])
        self.context = Space.of(about["context"]) if "context" in about else None
        self.has_gradient, self.measure = about["gradient"], about.get("measure")
        self.constraint_names = tuple(about.get("constraints", ()))

    # ---- the conversation ----

    def _ask(self, **request: Any) -> dict[str, Any]:
        with self._lock:
            self._count += 1
            try:
                line = json.dumps({"id": self._count, **request}, allow_nan=False, default=float)
            except TypeError as error:
                raise ValueError(f"a point has an entry that is no number: {error}") from None
            except ValueError:
                raise ValueError("a point has a number that is not finite") from None
            answer = self._exchange(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def _exchange(self, line: str) -> dict[str, Any]:
        """The answer to the newest request. Answers to interrupted requests are skipped. One without an id is to this
        request, for the program could not read it."""
        out, requests = self._process.stdout, self._process.stdin
        if not out or not requests or requests.closed:
            raise RuntimeError("the problem is closed")
        said = ""
        try:
            requests.write(line + "\n")
            requests.flush()
            for said in iter(out.readline, ""):
                answer: dict[str, Any] = json.loads(said)
                if answer["id"] in (self._count, None):
                    return answer
        except BrokenPipeError:
            pass
        raise self._end()

    def _end(self) -> Exception:
        """The program's complaint: a mistake of the caller if the program ended with code 2."""
        code = self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"regatta serve ended with exit code {code}"
        return (ValueError if code == 2 else RuntimeError)(why)

    def close(self) -> None:
        """End the program; further calls do nothing."""
        if self._process.stdin and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass
        if self._process.stdout:
            self._process.stdout.close()
        self._process.wait()
        self._complaints.close()

    def __enter__(self) -> "Problem":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_process") and self._process.poll() is None:
            self.close()

    def __repr__(self) -> str:
        return f"<regatta.problem {self.name}, instance {self.instance}, {self.dim} inputs>"

    # ---- what it is ----

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return len(self.space.lower)

    @property
    def names(self) -> list[str]:
        """Names of the inputs."""
        return self.space.names

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of every input, as SciPy takes them."""
        return self.space.bounds

    def _best(self) -> dict[str, Any]:
        if self._optimum is None:
            self._optimum = self._ask(do="optimum")
        return self._optimum

    @property
    def optimum(self) -> Optional[float]:
        """The largest value of the objective F, or None if it is not known. If the problem does not know it, the first
        call searches for it."""
        best: Optional[float] = self._best()["optimum"]
        return best

    @property
    def optimisers(self) -> list[list[float]]:
        """The optimisers: all that the problem knows, or the one that was found."""
        places: list[list[float]] = self._best()["optimisers"]
        return places

    # ---- values ----

    @staticmethod
    def _points(x: Any, c: Any) -> dict[str, Any]:
        points = _plain(x)
        request: dict[str, Any] = {"x": [_plain(p) for p in points] if _is_batch(x) else [points]}
        if c is not None:
            contexts = _plain(c)
            request["c"] = ([_plain(p) for p in contexts] if _is_batch(contexts)
                            else [contexts] * len(request["x"]))
        return request

    def _evaluate(self, member: str, x: Any, c: Any = None, **more: Any) -> Any:
        values = self._ask(do="evaluate", **self._points(x, c), **more)[member]
        if not _is_batch(x):
            return values[0]
        if hasattr(x, "tolist"):
            import numpy
            return numpy.array(values, dtype=float)
        return values

    def __call__(self, x: Any, c: Any = None) -> Any:
        """f(x), or f(x, c) for a problem with contexts (one for all points, or one for each). It has noise if
        `noise_variance` was given."""
        if not self.noise_variance:
            return self._evaluate("f", x, c)
        first = self.evaluations
        self.evaluations += len(x) if _is_batch(x) else 1
        return self._evaluate("y", x, c, noise={"variance": self.noise_variance,
                                                "seed": self.noise_seed, "first": first})

    def gradient(self, x: Any, c: Any = None) -> Any:
        """Gradient of f in x; ValueError if the problem has none (`has_gradient`)."""
        return self._evaluate("gradient", x, c, gradient=True)

    def objective(self, x: Any) -> Any:
        """F(x), the objective of regret: f without noise, or the measure of f over the contexts."""
        return self._evaluate("F", x, objective=True)

    def constraints(self, x: Any, c: Any = None) -> dict[str, Any]:
        """The outcome constraints by their names: a number for each, or one for every point."""
        if not self.constraint_names:
            return {}
        values = self._ask(do="evaluate", **self._points(x, c))["constraints"]
        return {name: v if _is_batch(x) else v[0] for name, v in values.items()}

    def regret(self, x: Any) -> Any:
        """F(x*) - F(x)."""
        best = self.optimum
        if best is None:
            raise ValueError(f"the optimum of {self.name} is not known")
        values = self.objective(x)
        return [best - v for v in values] if isinstance(values, list) else best - values

    def contexts(self, n: int = 1, seed: int = 0, first: int = 0) -> list[list[float]]:
        """The contexts that nature draws for the evaluations number `first`, ... of the trial with that seed."""
        drawn: list[list[float]] = self._ask(do="contexts", n=n, seed=seed, first=first)["c"]
        return drawn


problem = Problem
