"""Generators after gest-api, the interface that libEnsemble, Xopt and Optimas share: `Generator` offers Regatta's methods
there, and `optimiser` lets any generator race in a study (docs/bring-your-own.md).

`Generator` needs no package gest-api, for it only reads the description of the problem (VOCS); with it, it is one of its
generators. `optimiser` makes such descriptions, and needs it."""
from __future__ import annotations

import atexit
import csv
import functools
import math
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

from .evaluator import Method, objective
from .evaluator import optimiser as _method
from .optimisers import Evaluation, Parallel, Request, Start

try:
    from gest_api.generator import Generator as _Base  # type: ignore
except ModuleNotFoundError:
    _Base = object

__all__ = ["Generator", "factory", "optimiser"]


def _nothing(**inputs: Any) -> float:
    """The value of a point whose value is not asked for."""
    return 0.0


class Generator(_Base):  # type: ignore
    """A method of Regatta that suggests points of a problem::

        generator = regatta.gest.Generator(vocs, "gp_ucb", surrogate={"kernel": "matern52"})

    vocs: variables that are continuous (an interval) or discrete (values), and one objective that is minimised or
    maximised; constants are passed on. method, settings: as in a study file. initial_points: points of the initial design
    (default: four for each variable, at most 20), fewer those that were ingested before. seed: two generators with equal
    seeds that ingest equal results suggest equal points.

    Each suggestion is a run of the program on all results so far. Points whose results are missing count as points with
    the worst result so far (a constant liar), and the points of one suggestion know of one another (`pending`)."""
    returns_id = False

    def __init__(self, vocs: Any, method: str = "ei", *, seed: int = 0, initial_points: Optional[int] = None,
                 pending: str = "liar_min", **settings: Any):
        self._validate_vocs(vocs)
        self.vocs, self.seed, self.pending = vocs, seed, pending
        self.method = {"name": method, **settings}
        self.initial_points = min(4 * len(vocs.variables), 20) if initial_points is None else max(initial_points, 1)
        self._results: list[tuple[list[Any], float]] = []  # inputs and objective, the value where it is known
        self._open: list[list[Any]] = []  # inputs of suggestions without a result
        self._design: Optional[list[list[Any]]] = None  # points of the initial design that are left

    def _validate_vocs(self, vocs: Any) -> None:
        goals = [type(goal).__name__ for goal in vocs.objectives.values()]
        if not vocs.variables:
            raise ValueError("a generator of Regatta needs a variable")
        if goals not in (["MinimizeObjective"], ["MaximizeObjective"]):
            raise ValueError("a generator of Regatta needs one objective, which is minimised or maximised")
        if vocs.constraints:
            raise ValueError("a generator of Regatta can't take constraints")
        for name, variable in vocs.variables.items():
            if not hasattr(variable, "domain") and not hasattr(variable, "values"):
                raise ValueError(f"a generator of Regatta can't take {type(variable).__name__} {name!r}")

    def suggest(self, num_points: Optional[int] = None) -> list[dict[str, Any]]:
        number = 1 if num_points is None else num_points
        if number < 1:
            raise ValueError(f"{number} points can't be suggested")
        if self._design is None:
            left = self.initial_points - len(self._results)
            self._design = self._ask(left, 0)[:left] if left > 0 else []
        points = self._design[:number]
        del self._design[:number]
        if len(points) < number and not self._results:
            raise ValueError(f"only {len(points)} points can be suggested before the first result")
        if len(points) < number:
            points += self._ask(0, number - len(points), points)
        self._open += points
        constants = {name: constant.value for name, constant in (getattr(self.vocs, "constants", None) or {}).items()}
        return [{**dict(zip(self.vocs.variables, point)), **constants} for point in points]

    def ingest(self, results: list[dict[str, Any]]) -> None:
        goal, = self.vocs.objectives
        for result in results:
            missing = [name for name in (*self.vocs.variables, goal) if name not in result]
            if missing:
                raise ValueError(f"a result lacks {', '.join(missing)}")
            if result.get("_id") is not None:
                raise ValueError(f"{result['_id']!r} is no point of this generator, which gives no numbers to points")
            point = [result[name] for name in self.vocs.variables]
            if point in self._open:
                self._open.remove(point)
            if math.isfinite(float(result[goal])):  # an evaluation that failed has no value
                self._results.append((point, float(result[goal])))

    def finalize(self) -> None:
        pass

    # ---- a study that asks for points

    def _inputs(self) -> list[str]:
        return [f"x{j} real {v.domain[0]!r} {v.domain[1]!r}" if hasattr(v, "domain") else
                f"x{j} choice {' '.join(f'v{k}' for k in range(len(self._values(v))))}"
                for j, v in enumerate(self.vocs.variables.values(), 1)]

    @staticmethod
    def _values(variable: Any) -> list[Any]:
        """The values of a discrete variable, a set, in an order that is the same in every process."""
        return sorted(variable.values, key=lambda value: (not isinstance(value, str) and value, str(value)))

    def _ask(self, initial: int, queries: int, further: Any = ()) -> list[list[Any]]:
        """Points of the initial design beside the results, and then queries of the method."""
        from .studies import run
        minimise = type(next(iter(self.vocs.objectives.values()))).__name__ == "MinimizeObjective"
        worst = (max if minimise else min)((y for _, y in self._results), default=0.0)
        known = [*self._results, *((point, worst) for point in (*self._open, *further) if self._results)]
        variables = list(self.vocs.variables.values())
        with tempfile.TemporaryDirectory(prefix="regatta-gest-") as folder:
            data = Path(folder) / "given.csv"
            with data.open("w", newline="") as file:
                rows = csv.writer(file)
                rows.writerow([f"x{j}" for j in range(1, len(variables) + 1)] + ["y"])
                for point, y in known:
                    rows.writerow([repr(float(x)) if hasattr(v, "domain") else f"v{self._values(v).index(x)}"
                                   for x, v in zip(point, variables)] + [repr(y)])
            problem = objective(_nothing, self._inputs(), label="gest", goal="minimise" if minimise else "maximise")
            common: dict[str, Any] = {"iterations": max(queries, 1), "initial_points": len(known) + initial}
            if known:
                common["given"] = str(data)
            if queries > 1:
                common.update(workers=queries, release="sync", duration="point(1)")
            method = {**self.method, "pending": self.pending} if queries > 1 else self.method
            study = {"study": "gest", "seed": self.seed * 100_000 + len(known), "seeds": 1, "common": common, "problems": [problem],
                     "algorithms": [method]}
            frame = run(study, Path(folder) / "gest.h5", 1, quiet=True).data
        rows_asked = frame.iloc[len(known):len(known) + initial + queries]
        return [[float(row[f"x_x{j}"]) if hasattr(v, "domain") else self._values(v)[int(str(row[f"x_x{j}"])[1:])]
                 for j, v in enumerate(variables, 1)] for _, row in rows_asked.iterrows()]


# ---- any generator as an optimiser -----------------------------------------------------------------------------------

class _Race(Parallel):
    """A generator as an optimiser of a study, with any number of open queries."""

    def __init__(self, make: Callable[..., Any], arguments: dict[str, Any], start: Start):
        if start.space.points is not None:
            raise ValueError("a generator needs a box, this problem has a finite set of designs")
        if start.context is not None and start.context.control != "nature":
            raise ValueError("a generator takes no contexts")
        try:
            from gest_api.vocs import VOCS
        except ModuleNotFoundError:
            raise ImportError("a generator as an optimiser needs the package gest-api") from None
        self.space = start.space
        self.names = [str(name) for name in start.space.names]
        words = [about.get("choices") for about in start.space.inputs or [{} for _ in self.names]]
        variables = {name: set(choices) if choices else [lower, upper]
                     for name, choices, lower, upper in zip(self.names, words, start.space.lower, start.space.upper)}
        if "f" in variables or set(variables) & set(start.constraints):
            raise ValueError("an input has the name of the objective, f, or of a constraint")
        constraints = {name: ["LESS_THAN", 0.0] for name in start.constraints}
        self.generator = make(VOCS(variables=variables, objectives={"f": "MAXIMIZE"}, constraints=constraints), **arguments)
        atexit.register(self.generator.finalize)
        self.points: list[dict[str, Any]] = []  # suggested, not asked for
        self.open: dict[int, dict[str, Any]] = {}  # asked for, by number of the query
        self.generator.ingest([self._result(e, dict(zip(self.names, self._native(e.x)))) for e in start.initial])

    def _native(self, x: list[Any]) -> list[Any]:
        seen = self.space.decode(x)
        return [seen[name] if isinstance(seen[name], str) else number
                for name, number in zip(self.space.names, self.space.numeric(x))]

    @staticmethod
    def _result(evaluation: Evaluation, point: dict[str, Any]) -> dict[str, Any]:
        value = evaluation.y if evaluation.observed is None else evaluation.observed
        return {**point, "f": value, **(evaluation.constraints or {})}

    def ask(self, request: Request) -> list[Any]:
        if not self.points:
            try:
                self.points = list(self.generator.suggest(1))
            except ValueError:  # of a generator whose number of points is fixed
                self.points = list(self.generator.suggest(None))
        self.open[request.submission] = self.points.pop(0)
        return [self.open[request.submission][name] for name in self.names]

    def tell(self, evaluation: Evaluation) -> None:
        point = self.open.pop(evaluation.submission or 0, None) or dict(zip(self.names, self._native(evaluation.x)))
        self.generator.ingest([self._result(evaluation, point)])


def factory(generator: Callable[..., Any], **arguments: Any) -> Callable[[Start], Parallel]:
    """A class of generators as `regatta.serve` takes it, for a script that a study names."""
    return functools.partial(_Race, generator, arguments)


def optimiser(generator: Callable[..., Any], *, label: Optional[str] = None, arguments: Optional[dict[str, Any]] = None,
              version: Optional[str] = None, **settings: Any) -> Method:
    """A class of generators as a method of a study, for `algorithms` of the study that `regatta.run` gets::

        regatta.gest.optimiser(NelderMead, arguments={"adaptive": False})

    generator: called as generator(vocs, **arguments) for each trial, with the objective f, which is maximised, and outcome
    constraints that hold where they are below 0. The initial design is ingested first. label, version, settings: as for
    `regatta.optimiser`."""
    label = label or str(getattr(generator, "__name__", type(generator).__name__))
    return _method(factory(generator, **(arguments or {})), version=version, label=label, **settings)
