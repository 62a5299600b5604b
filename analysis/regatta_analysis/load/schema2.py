"""The one conversion of files of schema 2, which have no table of cells: what belongs to a cell is read from the key of
one of its trials, and from the text of the study."""
import functools
import re

import numpy as np
import pandas as pd

from .settings import method_label, split, text_of
from .variables import Part
from .yaml_file import entries

DRIFTS = ("linear(", "jump(", "table(", "periodic(", "walk(")  # laws of contexts that change
PARTS = {"run": ("run", "workers")}  # blocks of a key that are one part today


class _Parsed:
    """A constant of trials, computed when it is read."""

    dims, stored, attributes = ("trial",), True, {}

    def __init__(self, length, compute):
        self.shape, self._compute = (length,), functools.lru_cache(None)(compute)

    def keep(self):
        self._compute()

    def all(self):
        return self._compute()

    def rows(self, rows):
        return self._compute()[rows]


class _Constants(dict):
    """{name: variable}: PART.NAME for every setting that a key may have."""

    def __init__(self, part, study):
        super().__init__()
        self._part, self._study, self._length = part, study, part["cell"].shape[0]

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        made = self[name] = _Parsed(self._length, lambda: self._compute(name))
        return made

    @functools.cached_property
    def _cells(self):
        """(cell of every trial, one dictionary {PART.NAME: text} for every cell)."""
        codes, _ = pd.factorize(self._part["cell"].all())
        _, first = np.unique(codes, return_index=True)
        keys = self._part["key"].all()[first]
        labels = zip(*(self._part[name].all()[first] for name in ("problem", "algorithm", "swept")))
        return codes, [self._parse(*map(text_of, (key, *own))) for key, own in zip(keys, labels)]

    def _parse(self, key, problem, algorithm, swept):
        found = {}
        for block in split(key, ";"):
            name, _, text = block.partition("=")
            inner = re.search(r"\{(.*)\}", text, re.DOTALL)
            part = next((part for part, blocks in PARTS.items() if name in blocks), name)
            pairs = (pair.split("=", 1) for pair in split(inner.group(1), ",") if "=" in pair) if inner else ()
            found.update((f"{part}.{setting}", value.strip('"')) for setting, value in pairs)
            revision = re.match(r"[^{]*@([0-9]+)\{", text)
            if revision:
                found[f"{name}_revision"] = revision.group(1)
        problems, algorithms = (list(entries(self._study, block)) for block in ("problems", "algorithms"))
        method = method_label(algorithm, swept)
        goal = found.get("problem.goal") or entries(self._study, "problems").get(problem, {}).get("goal")
        laws = (part.strip('[" ') for name, value in found.items() if name.startswith("problem.")
                for part in split(value.strip("[]"), ","))
        dynamic = found.get("problem.context") == "before" or found.get("problem.setting") == "announced" or any(
            law.startswith(DRIFTS) for law in laws)
        return {**found, "goal": goal or "maximise", "dynamic": str(int(dynamic)), "method": method,
                "iterations": found.get("run.iterations"),
                "problem_number": str(1 + problems.index(problem) if problem in problems else 0),
                "algorithm_number": str(1 + algorithms.index(method) if method in algorithms else 0)}

    def names(self):
        """Names of all settings."""
        return sorted({name for cell in self._cells[1] for name in cell if "." in name})

    def _compute(self, name):
        codes, cells = self._cells
        texts = [cell.get(name) for cell in cells]
        words = {"true": 1, "false": 0, None: 255}
        try:
            values = np.array([np.nan if text is None else float(text) for text in texts])
        except ValueError:
            logical = set(texts) <= set(words)
            values = np.array([words[t] for t in texts], np.uint8) if logical else np.array([t or "" for t in texts], object)
        return values[codes]


def with_cells(variables, study):
    """The Part of the trials of a group of schema 2."""
    return Part(variables, _Constants(variables, study))
