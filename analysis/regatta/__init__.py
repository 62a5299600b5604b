"""Regatta for Python (docs/python.md). `regatta.run` runs a study and returns its results, `regatta.objective` makes a
problem of a Python function, `regatta.problem` gives one of Regatta's problems, and `regatta.load` reads results
files. Optimisers in Python race in studies (docs/bring-your-own.md):

    import regatta

    class Middle:
        def __init__(self, start):          # regatta.Start: space, budget, seed, initial design ...
            self.space = start.space

        def ask(self):                      # the next query, native units
            return [(a + b) / 2 for a, b in zip(self.space.lower, self.space.upper)]

        def tell(self, x, y, c=None):       # what was observed there; larger is better
            pass

    regatta.serve(Middle)

or, of a function that minimises f by itself: ``regatta.serve(regatta.minimiser(function))``. An optimiser for several
workers is a `Parallel`.
Optimisers, objectives and problems need the standard library only. The messages are those of docs/protocol.md.
"""
from __future__ import annotations as _annotations

import importlib as _importlib
import typing as _typing

from ._version import __version__ as __version__
from .optimisers import (PROTOCOL, Evaluation, Optimiser, Parallel, Pending, Query, Request, Space, Start, fitting, minimiser,
                         serve)

if _typing.TYPE_CHECKING:
    from regatta_analysis import load

    from .evaluator import Method, Objective, objective, optimiser
    from .problems import Problem, find_program, problem
    from .studies import plan, run

__all__ = ["PROTOCOL", "Evaluation", "Method", "Objective", "Optimiser", "Parallel", "Pending", "Problem", "Query", "Request",
           "Space", "Start", "find_program", "fitting", "load", "minimiser", "objective", "optimiser", "plan", "problem", "run",
           "serve"]
_LATER = {"load": "regatta_analysis", "Method": "regatta.evaluator", "optimiser": "regatta.evaluator",
          "Objective": "regatta.evaluator", "objective": "regatta.evaluator",
          "Problem": "regatta.problems", "find_program": "regatta.problems", "problem": "regatta.problems",
          "plan": "regatta.studies", "run": "regatta.studies"}  # {name: its module}


def __getattr__(name: str) -> _typing.Any:
    """Import a name of _LATER when it is first used, so that optimisers import quickly. `load`, `plan` and `run` need
    NumPy, pandas and h5py."""
    if name in _LATER:
        try:
            return getattr(_importlib.import_module(_LATER[name]), name)
        except ModuleNotFoundError as error:
            raise ImportError(f"regatta.{name} needs the package {error.name} (Debian: python3-{error.name})") from None
    raise AttributeError(f"module 'regatta' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
