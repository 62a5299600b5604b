"""Optimisers in Python: what they are told, and the answers to Regatta's messages (docs/protocol.md). The package
`regatta` has the public names. Standard library only."""
from __future__ import annotations

import contextlib
import functools
import inspect
import json
import math
import os
import platform
import queue
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Protocol, Sequence, TextIO, Union

PROTOCOL = 1  # of optimisers with one worker, and of problems
SEVERAL = 2  # of optimisers with several workers


def _known(kind: type, message: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a message that are fields of a dataclass."""
    return {f.name: message[f.name] for f in fields(kind) if f.name in message}


@dataclass(frozen=True)
class Space:
    """The space in which an optimiser may search: a box, or the finite set ``points``."""
    names: list[str]
    kinds: list[str]
    lower: list[float]
    upper: list[float]
    inputs: Optional[list[dict[str, Any]]] = None  # if they have names: choices, log, if, is
    points: Optional[list[list[float]]] = None
    once: bool = False  # a point may be queried once only
    control: Optional[str] = None  # of contexts: "nature" draws them, the "learner" chooses, or they are "announced"
    probabilities: Optional[list[float]] = None  # of finite contexts, if they are known

    @classmethod
    def of(cls, message: dict[str, Any]) -> "Space":
        """The space that a message describes, without members that this package doesn't know."""
        return cls(**_known(cls, message))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return list(zip(self.lower, self.upper))

    def numeric(self, x: Sequence[Any]) -> list[float]:
        """A design as numbers within `bounds`, for methods that compute with numbers: a word of a choice, or its
        number k, becomes k + 0.5, the middle of its interval [k, k + 1]; an input that does not count becomes the
        middle of its range (on a logarithmic scale, the middle of the logarithms). `ask` may return such numbers."""
        return [self._number(j, value) for j, value in enumerate(x)]

    def _number(self, j: int, value: Any) -> float:
        lower, upper = self.lower[j], self.upper[j]
        about = self.inputs[j] if self.inputs else {}
        if value is None:
            return math.sqrt(lower * upper) if about.get("log") else (lower + upper) / 2
        if self.kinds[j] != "choice":
            return float(value)
        number = about["choices"].index(value) if isinstance(value, str) else value
        return number + 0.5 if number == math.floor(number) and number < upper else float(number)

    def decode(self, x: Sequence[Any]) -> dict[str, Any]:
        """A design by the names of its inputs, as a problem sees it: integers rounded, the words of choices, and None
        for an input that does not count."""
        seen: dict[str, Any] = {}
        for j, (name, value) in enumerate(zip(self.names, self.numeric(x))):
            about = self.inputs[j] if self.inputs else {}
            if about.get("if") and seen[about["if"]] not in about["is"]:
                seen[name] = None
            elif self.kinds[j] == "choice":
                words = about["choices"]
                seen[name] = words[min(int(value), len(words) - 1)]
            else:
                seen[name] = math.floor(value + 0.5) if self.kinds[j] == "integer" else value
        return seen


@dataclass(frozen=True)
class Evaluation:
    x: list[float]
    y: float
    c: Optional[list[float]] = None
    index: Optional[int] = None  # number of the point in a finite set
    failed: bool = False  # the evaluation gave no value; y is the study's substitute
    feasible: bool = True  # the evaluation did not fail and violates no constraint; else y is the study's substitute
    observed: Optional[float] = None  # with constraints: the value itself
    constraints: Optional[dict[str, float]] = None  # feasible where all are at most 0
    submission: Optional[int] = None  # its number in the order of asking, the initial design first
    dispatched: Optional[float] = None  # when it started and ended, on the simulated clock of a study with
    finished: Optional[float] = None  # several workers; None without a clock

    @classmethod
    def of(cls, message: Mapping[str, Any], **more: Any) -> "Evaluation":
        """The evaluation that a message describes, without members that this package doesn't know."""
        return cls(**{**_known(cls, message), **more})


@dataclass(frozen=True)
class Pending:
    """A query in flight: its value is not known yet."""
    submission: int
    x: list[float]
    c: Optional[list[float]] = None  # if the learner chooses the context
    index: Optional[int] = None  # number of the point in a finite set


@dataclass(frozen=True)
class Request:
    """A request for a query, as a `Parallel` optimiser gets it."""
    submission: int  # number of the query in the order of asking, the initial design first
    pending: list[Pending] = field(default_factory=list)  # queries in flight, in the order of asking
    now: float = 0.0  # time on the simulated clock
    c: Optional[list[float]] = None  # the context, if it was announced


@dataclass(frozen=True)
class Start:
    """The knowledge of an optimiser before its first query."""
    space: Space
    budget: int  # queries it will be asked for
    seed: int
    initial: list[Evaluation]
    context: Optional[Space] = None
    noise_variance: Optional[float] = None  # of normal noise, where the study says that it is known
    measure: Optional[str] = None  # the measure that turns f over the contexts into the objective
    constraints: tuple[str, ...] = ()  # names of the outcome constraints
    workers: int = 1  # evaluations that run at the same time
    release: Optional[str] = None  # with several: "async" or "sync"


@dataclass(frozen=True)
class Query:
    """An answer of ``ask`` that holds more than a design."""
    x: Sequence[float]
    c: Optional[Sequence[float]] = None  # if the learner chooses the context
    record: dict[str, float] = field(default_factory=dict)  # numbers named under `record`


class Optimiser(Protocol):
    def ask(self) -> Union[Query, Sequence[float]]:
        """The next query. An optimiser for contexts that are announced has ``ask(self, c)``, which gets the context."""

    def tell(self, x: list[float], y: float, c: Optional[list[float]] = None
             ) -> Optional[Sequence[float]]:
        """May return the design that it would recommend now; None recommends the query. An optimiser that handles
        failures and constraints also has a method `judge`: it gets the `Evaluation` first."""


class Parallel:
    """The base of optimisers that take several open queries. They also work with one worker: then nothing is ever in
    flight."""

    announced = False  # a program that takes contexts that are announced, `request.c`, sets this to True

    def ask(self, request: Request) -> Union[Query, Sequence[float]]:
        """The next query, or only its coordinates x, in native units. A program of this class must define it."""
        raise NotImplementedError

    def tell(self, evaluation: Evaluation) -> Optional[Sequence[float]]:
        """Take in an evaluation, and perhaps return the design that it would recommend now. Evaluations come in the
        order in which they end. With `start: design` in the study file the first of each worker was not asked for."""
        raise NotImplementedError


def _start(message: dict[str, Any]) -> Start:
    if message["protocol"] not in (PROTOCOL, SEVERAL):
        raise ValueError(f"this package speaks protocols {PROTOCOL} and {SEVERAL}, not {message['protocol']}")
    context = message.get("context")
    return Start(space=Space.of(message["space"]), budget=message["budget"], seed=message["seed"],
                 initial=[Evaluation.of(e, submission=i) for i, e in enumerate(message["initial"], 1)],
                 context=Space.of(context) if context else None,
                 noise_variance=message.get("noise_variance"), measure=message.get("measure"),
                 constraints=tuple(message.get("constraints", ())),
                 workers=message.get("workers", 1), release=message.get("release"))


def _numbers(values: Sequence[float]) -> list[float]:
    return [float(v) for v in values]


def _coordinates(values: Sequence[Any]) -> list[Any]:
    """Numbers, words of choices, and None for inputs that do not count."""
    return [v if v is None or isinstance(v, str) else float(v) for v in values]


_fitted = {"wall": 0.0, "cpu": 0.0}  # seconds of `fitting` since the request came


@contextlib.contextmanager
def fitting() -> Iterator[None]:
    """The block inside is the fit of a model: its wall and CPU seconds are recorded as fit, not as acquisition."""
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        _fitted["wall"] += time.perf_counter() - wall
        _fitted["cpu"] += time.process_time() - cpu


class _Server:
    def __init__(self, factory: Callable[[Start], Union[Optimiser, Parallel]], versions: Mapping[str, str]):
        self.factory = factory
        self.versions = {"python": platform.python_version(), **versions}
        self.optimiser: Union[Optimiser, Parallel, None] = None
        self.n_initial = 0
        self.record: Optional[list[str]] = None  # names under `record` in the study
        self.rehearsal = False

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        _fitted.update(wall=0.0, cpu=0.0)
        try:
            answer = self._answer(message)
        except Exception as error:
            if not self.rehearsal:
                raise
            return {"error": f"{_one_line(error)}{_place(error)}", "retry": False}
        return {**answer, "fit": dict(_fitted)} if any(_fitted.values()) else answer

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "start":
            return self._begin(message)
        if self.optimiser is None:
            raise ValueError(f"'{message['do']}' came before 'start'")
        if message["do"] == "ask":
            return self._ask(message)
        if message["do"] == "tell":
            best = self._tell(message)
            return {} if best is None else {"recommendation": _coordinates(best)}
        raise ValueError(f"unknown request '{message['do']}'")

    def _begin(self, message: dict[str, Any]) -> dict[str, Any]:
        self.record, self.rehearsal = message.get("record"), message.get("rehearsal", False)
        start = _start(message)
        self.n_initial = len(start.initial)
        self.optimiser = self.factory(start)
        if start.workers > 1 and not isinstance(self.optimiser, Parallel):
            return {"error": f"{_name(self.optimiser)} takes one query at a time: it needs 'workers: 1', not "
                             f"{start.workers}", "retry": False}
        announced = start.context is not None and start.context.control == "announced"
        if announced and not _takes_contexts(self.optimiser):
            return {"error": f"{_name(self.optimiser)} takes no context that is announced before the decision",
                    "retry": False}
        return {"protocol": message["protocol"], "versions": self.versions, **({"announced": True} if announced else {})}

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        if isinstance(self.optimiser, Parallel):
            query = self.optimiser.ask(Request(self._submission(message), [
                Pending(p["submission"], p["x"], p.get("c"), p.get("index")) for p in message.get("pending", ())],
                message.get("now", 0.0), message.get("c")))
        else:
            assert self.optimiser is not None
            query = self.optimiser.ask(message["c"]) if "c" in message else self.optimiser.ask()  # type: ignore
        if not isinstance(query, Query):
            query = Query(query)
        answer: dict[str, Any] = {"x": _coordinates(query.x)}
        if query.c is not None:
            answer["c"] = _coordinates(query.c)
        if query.record:
            answer["record"] = further(query.record)
            if self.rehearsal and (lost := set(query.record) - set(query.record if self.record is None else self.record)):
                print(f"regatta: {_name(self.optimiser)} gives {', '.join(sorted(lost))} with its queries, which the "
                      "study does not name under `record`: not recorded", file=sys.stderr)
                self.record = None
        return answer

    def _tell(self, message: dict[str, Any]) -> Optional[Sequence[float]]:
        evaluation = Evaluation.of(message, submission=self._submission(message))
        if isinstance(self.optimiser, Parallel):
            return self.optimiser.tell(evaluation)
        assert self.optimiser is not None
        if hasattr(self.optimiser, "judge"):
            self.optimiser.judge(evaluation)
        return self.optimiser.tell(message["x"], message["y"], message.get("c"))

    def _submission(self, message: dict[str, Any]) -> int:
        return int(message.get("submission", self.n_initial + message["t"]))


def _name(optimiser: Any) -> str:
    """The name of an optimiser in messages."""
    return "a minimiser" if isinstance(optimiser, _InsideOut) else type(optimiser).__name__


def _takes_contexts(optimiser: Union[Optimiser, Parallel]) -> bool:
    """Whether an optimiser takes contexts that are announced before the decision."""
    if isinstance(optimiser, Parallel):
        return optimiser.announced
    try:
        inspect.signature(optimiser.ask).bind([])
    except TypeError:
        return False
    return True


def serve(factory: Callable[[Start], Union[Optimiser, Parallel]], requests: Optional[Iterable[str]] = None,
          answers: Optional[TextIO] = None, versions: Mapping[str, str] = MappingProxyType({})) -> None:
    """Answer requests until the input ends. factory: called with a `Start` for a new optimiser. versions: versions of
    the packages that the optimiser uses, recorded with its trials beside Python's. Text that is printed meanwhile goes
    to standard error. An exception becomes the reason why the trial failed."""
    return respond(_Server(factory, versions).answer, requests, answers)


@contextlib.contextmanager
def private() -> Iterator[tuple[TextIO, TextIO]]:
    """Requests and answers of this process on descriptors of their own. Meanwhile standard input is empty and standard
    output is standard error, also for C libraries and for programs that are started, so that only answers are
    answers."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before
    try:
        yield requests, answers
    finally:
        sys.stdout.flush()
        os.dup2(requests.fileno(), 0)
        os.dup2(answers.fileno(), 1)


def respond(answer: Callable[[dict[str, Any]], dict[str, Any]], requests: Optional[Iterable[str]] = None,
            answers: Optional[TextIO] = None, **on_error: Any) -> None:
    """Answer requests, lines of JSON, until the input ends: by default those to this process. An exception of `answer`
    becomes an error with the members `on_error`. A process that `answer` forked ends when it comes back here: its answer
    is nobody's."""
    if requests is None:
        with private() as (requests, answers):
            return respond(answer, requests, answers, **on_error)
    out, printed, owner = answers or sys.stdout, sys.stdout, os.getpid()
    sys.stdout = sys.stderr
    try:
        for line in requests:
            message = json.loads(line)
            try:
                made = answer(message)
                text = json.dumps({"id": message["id"], **made})
            except Exception as error:  # the study must learn of every error
                traceback.print_exc()
                text = json.dumps({"id": message["id"], "error": _one_line(error), **on_error})
            finally:
                if os.getpid() != owner:
                    sys.stderr.flush()
                    os._exit(0)
            out.write(text + "\n")
            out.flush()
    finally:
        sys.stdout = printed


def further(numbers: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers of an answer; the results have NaN for the others."""
    found = {}
    for name, value in numbers.items():
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if not isinstance(value, (str, bytes)) and math.isfinite(number := float(value)):
                found[str(name)] = number
    return found


def _place(error: Exception) -> str:
    """The line that raised an error, in a file of the user's."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(f.filename) != os.path.dirname(__file__)]
    return f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


class _InsideOut:
    """A function that calls f, turned into an optimiser with ask and tell."""

    def __init__(self, function: Callable[..., Any], start: Start):
        if start.space.points is not None:
            raise ValueError("a minimiser needs a box, this problem has a finite set of designs")
        if start.context is not None and start.context.control == "learner":
            raise ValueError("a minimiser chooses no contexts, this problem wants them chosen")
        self.function, self.start = function, start
        self.queries: queue.Queue[Any] = queue.Queue()
        self.values: queue.Queue[float] = queue.Queue()
        threading.Thread(target=self._run, daemon=True).start()

    def _f(self, x: Sequence[float]) -> float:
        self.calls += 1
        self.queries.put(_numbers(x))
        return self.values.get()

    def _run(self) -> None:
        """A function that ends before the budget is spent is called again, with the next seed."""
        left, seed = self.start.budget, self.start.seed
        try:
            while left > 0:
                self.calls = 0
                self.function(self._f, self.start.space, seed, left)
                if not self.calls:
                    raise RuntimeError("the minimiser returned without calling f")
                left, seed = left - self.calls, seed + 1
        except Exception as error:
            self.queries.put(error)

    def ask(self) -> list[float]:
        query = self.queries.get()
        if isinstance(query, Exception):
            raise query
        return _numbers(query)

    def tell(self, x: list[float], y: float, c: Optional[list[float]] = None) -> None:
        self.values.put(-y)


def minimiser(function: Callable[..., Any]) -> Callable[[Start], Optimiser]:
    """For `serve`: ``function(f, space, seed, budget)`` minimises f over the box ``space`` with at most ``budget``
    calls. Regatta maximises, so f is the negative of the observation. A function that ends early is called again with
    the next seed and the rest of the budget. It does not see the initial design of the study."""
    return functools.partial(_InsideOut, function)
