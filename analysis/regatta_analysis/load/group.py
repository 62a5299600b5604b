"""The trials of one problem, read on demand."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import contextlib
import copy
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import InputError, nearest, one_line
from .settings import as_words, column_of, method_label, panel_label, same_value, swept_settings, typed
from .variables import joined, places_of, places_of_pairs

if TYPE_CHECKING:
    import xarray as xr

IDENTITY = ["problem", "algorithm", "instance", "seed"]
BLOCK = 1 << 22  # values of one variable that are read at once, 32 MB
LONG = ("id", "key", "checksum", "timeline", "failure_texts")  # texts that differ from trial to trial
FLAGS = {"failed": False, "feasible": True, "known": False, "asked_otherwise": False}  # the value of rows that have none


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error while a file is read into one line about the file."""
    try:
        yield
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path}: damaged results file ({one_line(error)})") from error


SEEN = {"x_seen": "inputs", "c_seen": "contexts"}  # values as evaluated, and the meanings of their coordinates


class Group:
    """The trials of one problem: the rows `rows` of a Table."""

    def __init__(self, path, label, table, rows, base=None, place=None, at=None):
        self.label, self._path, self._table = label, path, table
        self.rows = rows  # the places of the trials in the files, counted over all problems of one base
        self.base = base or label  # as the study file has it
        self.place = place or self.base  # the same with the score, but without settings
        self.at = at or {}  # {setting: text of its value}: what is swept outside the algorithms
        self.n = len(rows)

    @property
    def block(self) -> str:
        """The label of the problem with its own settings, without those of runs and methods. Tests over problems count
        problems of equal labels as one."""
        own = {name: value for name, value in self.at.items() if self.part(name) == "problem"}
        return panel_label(self.place, own)

    def part(self, name: str) -> str:
        """The part that a setting belongs to."""
        return self.settings.get(name)

    def constant(self, name: str) -> np.ndarray:
        """A value for each trial, taken from its cell: a field of the table of cells (`goal`, `dynamic`, `iterations`), or
        a setting (`run.noise_variance`). Missing values are NaN or ""."""
        with reading(self._path):
            return self._table.constant(name, self.rows)[1]

    def parameters(self, part: str, row: int = 0) -> dict[str, str]:
        """{name: text of the value} of all settings of one part for one trial."""
        names = dict.fromkeys(name for known in self._table.parts for name in known.constants.names()
                              if name.startswith(f"{part}."))
        with reading(self._path):
            found = {name: as_words(*self._table.constant(name, self.rows[row:row + 1]))[0] for name in names}
        return {name.removeprefix(f"{part}."): value for name, value in found.items() if value}

    def whole(self, groups: Sequence[Group]) -> Group:
        """The trials of several groups of one problem, each once."""
        made = self._of(np.unique(np.concatenate([group.rows for group in groups])))
        made.label, made.at = self.place, {}
        return made

    def subset(self, keep: np.ndarray) -> Group:
        """The group of the trials where `keep` is true."""
        return self._of(self.rows[keep])

    def head(self, n: int) -> Group:
        """The group of the first n trials."""
        return self._of(self.rows[:n])

    def _of(self, rows):
        made = copy.copy(self)
        for name in [name for name, kind in vars(Group).items() if isinstance(kind, cached_property)]:
            made.__dict__.pop(name, None)
        made.rows, made.n = rows, len(rows)
        return made

    # Every function that reads evaluations goes through the trials by these names. So its memory depends neither on the
    # number of trials nor on that of cells.

    @cached_property
    def done(self) -> Group:
        """The group of the complete trials."""
        return self.subset(self.column("status") == "complete")

    @cached_property
    def cells(self) -> dict[str, Group]:
        """{algorithm: the group of its trials}, in the order of the file."""
        return {algorithm: self._of(self.rows[own]) for algorithm, own in places_of(self.column("algorithm"))}

    def blocks(self, width: int | None = None) -> Iterator[Group]:
        """The trials in their order, in groups of at most BLOCK values where a trial has `width` values (default: those
        of a variable with one value per evaluation). There is at least one group, which may have no trials."""
        step = max(1, BLOCK // max(1, width or self._table.longest))
        for first in range(0, max(self.n, 1), step):
            block = self._of(self.rows[first:first + step])
            block.__dict__["_inputs"] = self._inputs
            yield block

    @property
    def width(self) -> int:
        """The values of a trial in all variables with values per evaluation."""
        return sum(int(np.prod(self._table.first(name).shape[1:])) for name in self.evaluations())

    def each(self, compute: Callable[[Group], np.ndarray]) -> np.ndarray:
        """Apply `compute` to `blocks` of the trials; returns the results of all (trials x ...)."""
        return np.concatenate([np.array(compute(block)) for block in self.blocks()])  # no views, which keep blocks alive

    def is_stored(self, name: str) -> bool:
        """Whether a variable with one value per evaluation was ever written."""
        return name in self.evaluations() and self._table.is_stored(name)

    def knows(self, name: str) -> bool:
        """Whether such a variable has a value that is not NaN in some trial."""
        return self.is_stored(name) and any((~np.isnan(block.values(name))).any() for block in self.blocks())

    @cached_property
    def index(self) -> pd.MultiIndex:
        """Algorithm, instance and seed of the trials."""
        return pd.MultiIndex.from_arrays([self.column(name) for name in IDENTITY[1:]], names=IDENTITY[1:])

    @property
    def settings(self) -> dict[str, str]:
        """{name of every setting that is swept on the problem: the part it is of}."""
        return self._table.settings

    @cached_property
    def swept(self) -> dict[tuple[str, str], dict[str, str]]:
        """{(algorithm, text swept): {name of the setting: text of its value}}, scores left out."""
        known = self.settings
        return {pair: {column_of(name, known): value for name, value in swept_settings(pair[1]).items()}
                for pair in self.labels()}

    def setting(self, name: str) -> tuple[str, np.ndarray]:
        """(kind, values) of a setting, one value for each trial; see settings.typed."""
        with reading(self._path):
            return self._table.setting(name, self.rows)

    @property
    def names(self) -> list[str]:
        """Names of all variables."""
        return self._table.names

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns of `trials`."""
        flat = [n for n in self.names if len(self._table.first(n).shape) == 1 and n not in LONG
                and n not in self.settings]
        return IDENTITY + [name for name in flat if name not in IDENTITY]

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per trial: identity, status, counts, provenance, what was swept."""
        return pd.DataFrame({**{name: self.column(name) for name in self.columns},
                       **{name: typed(*self.setting(name)) for name in self.settings}}, copy=False)

    def column(self, name: str) -> np.ndarray:
        """One column of `trials`; equal texts are one object. NaN where a trial has no value."""
        if name == "problem":
            return np.full(self.n, self.label, dtype=object)
        if self._table.first(name) is None:
            return np.full(self.n, np.nan)
        with reading(self._path):
            return self._table.column(name, self.rows)

    def texts(self, name: str, rows: np.ndarray | None = None) -> np.ndarray:
        """The text of a name in LONG for every trial, or for the rows `rows` of `trials`, in ascending order."""
        with reading(self._path):
            return self._table.texts(name, self.rows if rows is None else self.rows[rows])

    def failures(self) -> Iterator[tuple[tuple[str, str, int, int], list[dict[str, int | str]]]]:
        """Identity and failed evaluations of every trial that has some: their number from 1, reason and full text."""
        if "failures" not in self.names:
            return
        reasons = self.column("failures")  # parts without failures have NaN
        rows = np.array([k for k, lines in enumerate(reasons) if lines and isinstance(lines, str)], int)
        told = self.texts("failure_texts", rows) if "failure_texts" in self.names else np.full(len(rows), "", object)
        identity = list(zip(*(self.column(name)[rows].tolist() for name in IDENTITY)))
        for trial, lines, texts in zip(identity, reasons[rows], told):
            full = _full_texts(texts)
            pairs = (line.split(": ", 1) for line in lines.splitlines())
            yield trial, [{"evaluation": int(number), "reason": reason, "text": full.get(int(number), reason)}
                          for number, reason in pairs]

    def labels(self) -> dict[tuple[str, str], int]:
        """{(algorithm, swept): the place of its first trial} of the pairs that the trials have."""
        return {pair: int(own[0]) for pair, own in self._pairs}

    @cached_property
    def _pairs(self):
        return places_of_pairs(self.column("algorithm"), self.column("swept"))

    def select(self, algorithms: Iterable[str] | None, where: Mapping[str, object]) -> Group:
        """The group of the trials of some algorithms and settings; see Results.select."""
        keep = np.zeros(self.n, bool)
        for (algorithm, swept), own in self._pairs:
            mine = {**self.swept[algorithm, swept], **self.at}
            keep[own] = bool(algorithms is None or {algorithm, method_label(algorithm, swept)} & set(algorithms)) \
                and all(same_value(mine.get(name, value), value) for name, value in where.items())
        return self.subset(keep)

    def dims(self, name: str) -> tuple[str, ...]:
        """Dimensions of a variable, () when there is no such variable."""
        with reading(self._path):
            return self._table.first(name).dims if self._table.first(name) is not None else ()

    def attributes(self, name: str) -> dict:
        return self._table.first(name).attributes if self._table.first(name) is not None else {}

    def values(self, name: str) -> np.ndarray:
        """One variable over all trials; parts of different length are padded with NaN."""
        if name not in self.names:
            raise InputError(f"{self._path}: {self.label!r} has no {name!r} recorded{nearest(name, self.names)}")
        with reading(self._path):
            return self._table.values(name, self.rows)

    def evaluations(self) -> list[str]:
        """Names of the variables with one value (or vector) per evaluation."""
        with reading(self._path):
            return list(self._table.evaluations)

    def inputs(self, field: str = "inputs") -> dict[str, list[str] | None]:
        """{name: its words if it is a choice, or None} of the coordinates of the design (or, with "contexts", of the
        context). Empty if they have no names or the trials differ."""
        inputs, text = {}, self._inputs[field]
        if not text:
            return {}
        for name, kind, *rest in (one.split() for one in text.split("; ")):
            condition = len(rest) > 2 and rest[-2] == "if" and "=" in rest[-1]
            inputs[name] = (rest[:-2] if condition else rest) if kind == "choice" else None
        return inputs

    @cached_property
    def _inputs(self):
        texts = {field: set(self.column(field)) if field in self.names else set() for field in SEEN.values()}
        return {field: found.pop() if len(found) == 1 else "" for field, found in texts.items()}

    def not_reproducible(self) -> list[tuple[str, int, int]]:
        """(algorithm, trials, number of all its trials) of methods whose program asked otherwise after a restart."""
        if "asked_otherwise" not in self.names:
            return []
        otherwise = self.each(lambda block: np.nansum(block.values("asked_otherwise"), axis=1) > 0)
        algorithms = self.column("algorithm")
        return [(label, int(otherwise[algorithms == label].sum()), int((algorithms == label).sum()))
                for label in dict.fromkeys(algorithms[otherwise])]

    def tidy(self) -> pd.DataFrame:
        """One row per evaluation. Swept settings are columns behind `t`."""
        rows = self.column("n_iterations").astype(int)
        swept = ((name, typed(*self.setting(name)).repeat(rows)) for name in self.settings)
        return pd.DataFrame({**heads([self]), **dict(swept), **dict(self.tidy_values())}, copy=False)

    def _labels(self, name):
        """{column: its words if it is a choice, or None} of inputs that have names."""
        return {f"{name[0]}_{label}": words for label, words in
                (self.inputs(SEEN[name]).items() if name in SEEN else ())}

    def _columns_of(self, name):
        width = (self._table.first(name).shape + (0,))[2]
        return list(self._labels(name)) or ([f"{name}_{j}" for j in range(width)] if width else [name])

    def tidy_names(self) -> list[str]:
        """Names of the columns of `tidy`, without reading any of them."""
        return [*IDENTITY, "status", "row", "t", *self.settings,
                *(own for name in self.evaluations() for own in self._columns_of(name)),
                *([] if "failed" in self.evaluations() else ["failed"])]

    def tidy_values(self, columns: list[str] | None = None) -> Iterator[tuple[str, np.ndarray]]:
        """Pairs of the name and the values of every per-evaluation column of `tidy`, or of those in `columns` only."""
        rows = self.column("n_iterations").astype(int)
        for name in self.evaluations():
            labels, names = self._labels(name), self._columns_of(name)
            wanted = [columns is None or bool({name, own} & set(columns)) for own in names]
            if not any(wanted):
                continue
            if not self._table.is_stored(name):
                values = np.broadcast_to(np.nan, (rows.sum(), len(names)))
            else:
                values = self.values(name)
                if np.any(rows != values.shape[1]):
                    values = values[np.arange(values.shape[1]) < rows[:, None]]
                values = values.reshape(rows.sum(), len(names))
            if name in FLAGS:
                values = np.where(np.isnan(values), FLAGS[name], values != 0)
            yield from ((own, _words(values[:, j], labels.get(own)))
                        for j, own in enumerate(names) if wanted[j])
        if "failed" not in self.evaluations() and (columns is None or "failed" in columns):
            yield "failed", np.full(rows.sum(), False)  # so that data[data.failed] needs no question first

    def dataset(self) -> xr.Dataset:
        """Variables with dimensions and attributes; the columns of `trials` are coordinates."""
        import xarray as xr  # imported here: few commands need it, and it takes an eighth of their start
        made = {n: (self.dims(n), self.values(n), self.attributes(n)) for n in self.evaluations()}
        columns = {name: self.column(name) for name in self.columns}
        columns.update({name: self.setting(name)[1] for name in self.settings})
        columns.update({name: self.texts(name) for name in LONG if name in self.names})
        coordinates = {name: ("trial", values, self.attributes(name)) for name, values in columns.items()}
        coordinates["status"] = ("trial", columns["status"], {  # words instead of numbers
            name: text for name, text in self.attributes("status").items() if not name.startswith("flag_")})
        dataset = xr.Dataset(made, coordinates, {"problem": self.label})
        for letter, field in (("x", "inputs"), ("c", "contexts")):
            if names := list(self.inputs(field)):
                dataset = dataset.assign_coords({f"{letter}_name": (f"dim_{letter}", names)})
        rows = dataset.sizes.get("iteration", 0)
        return dataset.assign_coords(iteration=np.arange(1, rows + 1))


def _full_texts(lines):
    """{number of an evaluation: text} of a variable `failure_texts`, where a number stands for the text of another
    evaluation."""
    if not isinstance(lines, str):
        return {}
    texts = {int(number): json.loads(text) for number, text in (
        line.split(": ", 1) for line in lines.split("\n") if line)}
    return {number: texts[text] if isinstance(text, int) else text for number, text in texts.items()}


def _words(values, words):
    """Replace numbers of words by the words, with None for a missing one; other values stay."""
    if words is None:
        return values
    made = np.full(len(values), None, dtype=object)
    known = ~np.isnan(values)
    made[known] = np.array(words, dtype=object)[values[known].astype(int)]
    return made


def heads(groups: Sequence[Group], categories: bool = False) -> dict[str, np.ndarray | pd.Categorical]:
    """The columns that identify the rows of `data`, in as few bytes as possible."""
    trials = {name: joined([group.column(name) for group in groups])
              for name in (*IDENTITY, "status", "n_iterations", "n_initial")}
    rows, initial = (trials.pop(name).astype(int) for name in ("n_iterations", "n_initial"))
    made = {}
    for name, values in trials.items():
        if values.dtype == object and categories:
            codes, words = pd.factorize(values)
            codes = codes.astype(np.min_scalar_type(-len(words) - 1))
            made[name] = pd.Categorical.from_codes(np.repeat(codes, rows), words)
        elif values.dtype.kind in "iu" and len(values) and values.max() < 2**31:
            made[name] = np.repeat(values.astype(np.int32), rows)
        else:
            made[name] = np.repeat(values, rows)
    row = (np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)).astype(np.int32)
    return {**made, "row": row, "t": row - np.repeat((initial - 1).astype(np.int32), rows)}
