"""Read a results file, or the study directory of a study still running.

A results file has one group per problem label; in it, or in its subgroups `timing` and
`provenance`, every variable has the dimensions (trial), (trial, iteration) or (trial, iteration,
dim_*). A study directory `OUT.h5.d/` holds shards of the same schema; they are joined along the
trials. docs/results-format.md has the details.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import copy
import os
from functools import cached_property
from pathlib import Path

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # only read: works on any file system

import numpy as np
import pandas as pd
import xarray as xr

from . import integrity
from .errors import InputError, one_line
from .settings import (AIMED, aimed_score, column_of, find_setting, in_order, method_label, options, panel_label, panels,
                       same_value, stacked, swept_outside, swept_settings, typed)
from .reader import Reader
from .variables import Cache, Slice, Table, Variable, joined

IDENTITY = ["problem", "algorithm", "instance", "seed"]
LONG = ("id", "key", "checksum")  # texts that differ from trial to trial
STATUS_NAMES = {0: "missing", 1: "complete", 2: "failed"}


def load(path: str | os.PathLike[str], partial: bool = False, trust: bool = False) -> Results:
    """Results from a results file or a study directory (read also when only that is there yet).

    `.trials` one row per trial; `.data` one row per evaluation; `.xarray(problem)` the labelled
    arrays of one problem; `.study` the text of the study file. `partial`: accept a file that says
    of itself that it may lack trials (a shard, or files joined by `regatta merge`). Files are read
    by a child process, so that HDF5 can't crash this one, and checked first: that they are whole and
    as they were written; `trust` reads them as they are. Raises InputError, also later where the
    child dies of what is asked for then.
    """
    path = Path(path)
    if not path.exists() and Path(f"{path}.d").is_dir():
        path = Path(f"{path}.d")
    if path.is_dir():
        return Results(path, *_read_directory(path, trust))
    if not path.exists():
        raise InputError(f"{path}: no such file")
    reader = Reader()
    if not trust:
        wrong = integrity.damages([path], reader=reader)
        if wrong.get(path, "no such file"):
            raise InputError(wrong.get(path) or f"{path}: no such file")
    attributes, parts = _read_file(reader, path)
    if not attributes.get("complete", 0) and not partial:
        raise InputError(f"{path}: incomplete: a shard, or joined from parts; --partial reads what "
                         "is there, a study directory (*.h5.d) can be passed as it is")
    return Results(path, attributes, _groups(path, parts), [])


class Results:
    """What a study found. `damages` holds one line per shard that could not be read."""

    def __init__(self, path, attributes, groups, damages):
        self.path, self.attributes, self.damages = path, attributes, damages
        self.study = str(attributes.get("study", ""))
        self._problems = {group.label: group for group in _in_study_order(groups, self.study)}
        self._places = _whole(self._problems.values())
        if not any(group.n for group in groups):
            raise InputError(f"{path}: no trials in it")
        self.title = str(attributes.get("title", "")) or path.stem
        self.complete = bool(attributes.get("complete", 0))
        self._remembered = {}

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once: figures, tables and pages of one study rest on the same numbers.
        Not to be changed by who gets it."""
        if key not in self._remembered:
            self._remembered[key] = make()
        return self._remembered[key]

    def remembers(self, key: Any) -> bool:
        return key in self._remembered

    @cached_property
    def warnings(self) -> list[str]:
        """What a reader has to know, in lines: damages, and programs that are not reproducible."""
        lines = [f"{label} on {group.label} is not reproducible: started again, its program asked for "
                 f"something else in {n} of {trials} trials"
                 for group in self._problems.values() for label, n, trials in group.not_reproducible()]
        return [*self.damages, *lines]

    @property
    def problems(self) -> list[str]:
        """Problem labels, in the order of the study; what is swept outside the algorithms is part
        of the label. An algorithm that does not read a setting stands at each of its values."""
        return list(self._problems)

    @cached_property
    def settings(self) -> list[str]:
        """Names of the settings that were swept: columns of `trials` and `data`."""
        return [*in_order([own for g in self._problems.values() for own in g.swept.values()])]

    @property
    def places(self) -> list[str]:
        """Problem labels of the study file, with the score where there are several: `group` of one of them
        has each trial once."""
        return list(self._places)

    @cached_property
    def algorithms(self) -> list[str]:
        """Algorithm labels of the whole study, in its order."""
        labels = list(dict.fromkeys(label for group in self._problems.values()
                                    for label in pd.unique(group.column("algorithm"))))
        if self.complete:
            return labels
        return sorted(labels, key=lambda label: _place(self.study, "algorithms", label))

    def full_name(self, name: str) -> str:
        """The swept setting that is called `name` or ends in it (`kernel`: surrogate.kernel); the name as
        it is where there is none, or several."""
        return find_setting(name, self.settings) or name

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per trial: identity, status, counts, provenance, what was swept; see `texts` for
        LONG. `problem` is the label of the study file."""
        groups = list(self._places.values())
        names = dict.fromkeys(name for group in groups for name in group.columns)
        return _frame({**{n: joined([group.column(n) for group in groups]) for n in names},
                       **dict(self._setting_columns(groups))})

    def texts(self, name: str) -> np.ndarray:
        """A text that differs from trial to trial, one for each of `trials`: one of LONG."""
        return joined([group.texts(name) for group in self._places.values()])

    def _setting_columns(self, groups, repeats=None):
        """Pairs of name and typed column of every setting, each trial `repeats` times."""
        for name in [*self.settings, *([AIMED] if any(AIMED in g.settings for g in groups) else [])]:
            kind, values = stacked([group.setting(name) for group in groups])
            column = typed(kind, values)
            yield name, column if repeats is None else column.repeat(repeats)

    @property
    def data(self) -> pd.DataFrame:
        """One row per evaluation; vectors as name_0, name_1, ..., inputs that have names also as x_NAME
        as they were evaluated, a choice as its word; `row` counts the evaluations of a trial from 0, `t`
        the queries: t = 0 is the last evaluation of the initial design. What was swept are columns
        (`settings`), typed: numbers, integers, booleans, categoricals; missing where a trial does not
        read one ("" of a categorical). Made anew at every call: of a large study take what you need,
        `rows` of some columns or `group(problem).tidy()`."""
        return self.rows()

    def rows(self, columns: list[str] | None = None) -> pd.DataFrame:
        """`data` with some columns only (`["y", "x"]`, `["x_0"]`), which alone are read, and what
        tells the rows apart, texts as categories (`groupby(..., observed=True)`); None: all, texts
        as texts. Raises InputError for a column that isn't there."""
        groups = list(self._places.values())
        ends = np.cumsum([int(group.column("n_iterations").sum()) for group in groups])
        made, empty = _heads(groups, columns is not None), np.broadcast_to(np.nan, ends[-1])
        for group, end in zip(groups, ends):
            for name, values in group.tidy_values(columns):
                if not values.strides[0]:  # nothing was written
                    made.setdefault(name, empty)
                elif len(values) == ends[-1]:
                    made[name] = values
                else:
                    if made.get(name, empty) is empty:
                        missing = None if values.dtype == object else np.nan
                        made[name] = np.full(ends[-1], missing, values.dtype)
                    made[name][end - len(values):end] = values
        for name in columns or ():
            if not {name, f"{name}_0"} & made.keys():
                raise InputError(f"{self.path}: no column {name!r} in it")
        repeats = joined([group.column("n_iterations") for group in groups]).astype(int)
        made, heads = list(made.items()), len(IDENTITY) + 3  # status, row, t
        return pd.DataFrame(dict([*made[:heads], *self._setting_columns(groups, repeats), *made[heads:]]),
                            copy=False)

    def group(self, problem: str) -> Group:
        """The arrays of one problem, read when asked for; of all its settings together when it is
        called by its label in the study file."""
        found = self._problems.get(problem) or self._places.get(problem)
        if found is None:
            raise InputError(f"{self.path}: no problem {problem!r} in it "
                             f"(it has: {', '.join(self.problems)})")
        return found

    def xarray(self, problem: str) -> xr.Dataset:
        """All variables of one problem as a labelled dataset; what was swept are coordinates."""
        return self.group(problem).dataset()

    def select(self, problems: Iterable[str] | None = None,
               algorithms: Iterable[str] | None = None,
               where: Mapping[str, object] | None = None) -> Results:
        """The results of some trials: `problems` and `algorithms` are labels, with or without swept
        settings; `where` is {setting: value}; cells that were not swept over a setting have any value
        of it. Raises InputError where nothing is left of what was named."""
        self._check_names(problems, algorithms, where or {})
        where = {find_setting(name, self.settings): value for name, value in (where or {}).items()}
        groups = [group.select(algorithms, where) for group in self._problems.values()
                  if problems is None or {group.label, group.base} & set(problems)]
        return Results(self.path, self.attributes, [g for g in groups if g.n], self.damages)

    def _check_names(self, problems, algorithms, where):
        groups = self._problems.values()
        pairs = {pair for group in groups for pair in group.labels()}
        known = {"problem": dict.fromkeys(n for g in groups for n in (g.base, g.label)),
                 "algorithm": dict.fromkeys(n for a, s in pairs for n in (method_label(a, s), a)),
                 "setting": self.settings}
        for kind, names in (("problem", problems), ("algorithm", algorithms), ("setting", where)):
            for name in names or ():
                if name not in known[kind] and (kind != "setting"
                                                or find_setting(name, known[kind]) is None):
                    raise InputError(f"{self.path}: no {kind} {name!r} in it (it has: "
                                     f"{', '.join(sorted(known[kind])) or 'none'})")
        for name, value in where.items():
            full = find_setting(name, self.settings)
            values = {own.get(full) for g in groups for own in g.swept.values()} - {None}
            if not any(same_value(value, v) for v in values):
                raise InputError(f"{self.path}: no {name}={value} in it "
                                 f"(it has: {', '.join(sorted(values))})")

    def cells(self, problems: Sequence[str] | None = None) -> pd.DataFrame:
        """One row per cell with the number of trials done, failed and missing, of some problems or
        of all.

        Planned are all pairs of instance and seed that any algorithm has on the problem, so that a
        study directory shows what is still to come as missing; of a sweep that is complete, the
        trials that are there. A cell that stands for several values of a setting is there for each;
        `counts` has the numbers of all trials.
        """
        if problems is None:
            return self._cells.copy()
        place, n = {label: k for k, label in enumerate(self.problems)}, len(self.algorithms)
        return pd.concat([self._cells[place[p] * n:(place[p] + 1) * n] for p in problems])

    @cached_property
    def _cells(self):
        groups, n = list(self._problems.values()), len(self.algorithms)
        number = {label: k for k, label in enumerate(self.algorithms)}
        problem = np.repeat(np.arange(len(groups)), [group.n for group in groups])
        columns = {name: joined([group.column(name) for group in groups])
                   for name in ("algorithm", "instance", "seed", "status")}
        pairs = pd.DataFrame({"problem": problem, "instance": columns["instance"],
                              "seed": columns["seed"]}).drop_duplicates()
        planned = np.repeat(np.bincount(pairs["problem"], minlength=len(groups)), n)
        codes, labels = pd.factorize(columns["algorithm"])
        cell = problem * n + np.array([number[label] for label in labels], int)[codes]
        done, failed, there = (np.bincount(cell[mine], minlength=len(planned)) for mine in (
            columns["status"] == "complete", columns["status"] == "failed", np.full(len(cell), True)))
        if self.complete and self.settings:  # settings may go together: not every pair is a cell
            planned = there
        return pd.DataFrame({"problem": np.repeat(np.array(self.problems, object), n),
                             "algorithm": np.tile(np.array(self.algorithms, object), len(groups)),
                             "planned": planned, "done": done, "failed": failed,
                             "missing": planned - done - failed})

    def with_settings(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame with the columns `problem` and maybe `algorithm`, of labels, with a column for every
        setting behind them: what was swept as data, for files. Empty where a row has none."""
        if not self.settings or not {"problem"} <= set(frame):
            return frame
        at = {label: group.at for label, group in self._problems.items()}
        own = {(label, pair[0]): values for label, group in self._problems.items()
               for pair, values in group.swept.items()}
        rows = list(zip(frame["problem"], frame["algorithm"] if "algorithm" in frame else frame["problem"]))
        made, place = frame.copy(), list(frame).index("problem") + 1 + ("algorithm" in frame)
        for k, name in enumerate(self.settings):
            found = [{**own.get(row, {}), **at.get(row[0], {})}.get(name, "") for row in rows]
            made.insert(place + k, name, found)
        return made

    def counts(self) -> dict[str, int]:
        """{planned, done, failed, missing}: trials, each once."""
        status = self.trials["status"]
        done, failed = (int((status == word).sum()) for word in ("complete", "failed"))
        planned = len(status) if self.complete else max(self._planned(), len(status))
        return {"planned": planned, "done": done, "failed": failed,
                "missing": planned - done - failed}

    def _planned(self):
        """Of a study that runs: every algorithm on every problem, once for all values of what it was
        not seen to read."""
        planned, reads = 0, {}
        for group in self._problems.values():
            for (algorithm, _), own in group.swept.items():
                reads.setdefault(algorithm, set()).update(name for name in own if name in group.at)
        for place in self._places.values():
            at = [group.at for group in self._problems.values() if group.place == place.label]
            cells = sum(len({tuple(sorted((n, v) for n, v in one.items() if n in reads[algorithm]))
                             for one in at}) for algorithm in self.algorithms)
            pairs = set(zip(place.column("instance").tolist(), place.column("seed").tolist()))
            planned += cells * len(pairs)
        return planned


SEEN = {"x_seen": "inputs", "c_seen": "contexts"}  # as evaluated, and what the coordinates are


class Group:
    """The trials of one problem: those of a Table that stand in `rows`."""

    def __init__(self, path, label, table, rows, base=None, place=None, at=None):
        self.label, self._path, self._table, self._rows = label, path, table, rows
        self.base = base or label  # as the study file has it
        self.place = place or self.base  # the same with the score, but without settings
        self.at = at or {}  # {setting: text of its value}: what is swept outside the algorithms
        self.n = len(rows)

    @property
    def block(self) -> str:
        """The problem with its own settings, but none of runs and methods: what tests over problems
        count as one."""
        own = {name: value for name, value in self.at.items() if self._part(name) == "problem"}
        return panel_label(self.place, own)

    def _part(self, name):
        """Whose setting it is; of older files, that do not say, by the key of a trial."""
        if self.settings.get(name) or not self.n:
            return self.settings.get(name)
        key = self.texts("key", np.arange(1))[0]
        return "problem" if name in options(key, "problem") else "run"

    def whole(self, groups: Sequence[Group]) -> Group:
        """The trials of several groups of one problem, each once."""
        made = self._of(np.unique(np.concatenate([group._rows for group in groups])))
        made.label, made.at = self.place, {}
        return made

    def subset(self, keep: np.ndarray) -> Group:
        """The group of the trials where `keep` is true."""
        return self._of(self._rows[keep])

    def _of(self, rows):
        made = copy.copy(self)
        for name in ("columns", "trials", "swept"):
            made.__dict__.pop(name, None)
        made._rows, made.n = rows, len(rows)
        return made

    @property
    def settings(self) -> dict[str, str]:
        """{name of every setting that is swept on the problem: the part it is of, "" where the file
        does not say}."""
        return self._table.settings

    @cached_property
    def swept(self) -> dict[tuple[str, str], dict[str, str]]:
        """{(algorithm, text swept): {name of the setting: text of its value}}, scores left out."""
        known = self.settings
        return {pair: {column_of(name, known): value for name, value in swept_settings(pair[1]).items()}
                for pair in self.labels()}

    def setting(self, name: str) -> tuple[str, np.ndarray]:
        """(kind, values) of a setting, one for each trial; see settings.typed."""
        with _reading(self._path):
            return self._table.setting(name, self._rows)

    @property
    def rows(self) -> np.ndarray:
        """Where the trials stand in the files, counted over all problems of one base."""
        return self._rows

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
        return _frame({**{name: self.column(name) for name in self.columns},
                       **{name: typed(*self.setting(name)) for name in self.settings}})

    def column(self, name: str) -> np.ndarray:
        """One column of `trials`; equal texts are one object. NaN where there is none."""
        if name == "problem":
            return np.full(self.n, self.label, dtype=object)
        if self._table.first(name) is None:
            return np.full(self.n, np.nan)
        with _reading(self._path):
            values = self._table.column(name, self._rows)
        if name == "status" and values.dtype.kind in "iu":
            values = np.array([STATUS_NAMES.get(v, str(v)) for v in values.tolist()], dtype=object)
        return values

    def texts(self, name: str, rows: np.ndarray | None = None) -> np.ndarray:
        """One of LONG for every trial, or for those at the places `rows` of `trials`, ascending."""
        with _reading(self._path):
            return self._table.texts(name, self._rows if rows is None else self._rows[rows])

    def labels(self) -> list[tuple[str, str]]:
        """Pairs (algorithm, swept) that the trials have."""
        return list(dict.fromkeys(zip(self.column("algorithm"), self.column("swept"))))

    def select(self, algorithms: Iterable[str] | None, where: Mapping[str, object]) -> Group:
        """The group of the trials of some algorithms and settings; see Results.select."""
        wanted = {}
        for (algorithm, swept), own in self.swept.items():
            mine = {**own, **self.at}
            wanted[algorithm, swept] = (
                (algorithms is None or {algorithm, method_label(algorithm, swept)} & set(algorithms))
                and all(same_value(mine.get(name, value), value) for name, value in where.items()))
        keep = np.array([bool(wanted[pair]) for pair in
                         zip(self.column("algorithm"), self.column("swept"))], bool)
        return self.subset(keep)

    def dims(self, name: str) -> tuple[str, ...]:
        """Dimensions of a variable, () when there is no such variable."""
        with _reading(self._path):
            return self._table.first(name).dims if self._table.first(name) is not None else ()

    def attributes(self, name: str) -> dict:
        return self._table.first(name).attributes if self._table.first(name) is not None else {}

    def values(self, name: str) -> np.ndarray:
        """One variable over all trials; parts of different length are padded with NaN."""
        with _reading(self._path):
            return self._table.values(name, self._rows)

    def evaluations(self) -> list[str]:
        """Names of the variables with one value (or vector) per evaluation."""
        return [n for n in self.names if len(self._table.first(n).shape) > 1
                and self.dims(n)[:2] == ("trial", "iteration")]

    def inputs(self, field: str = "inputs") -> dict[str, list[str] | None]:
        """{name: words it chooses among, or None} of the coordinates of the design (or, with
        "contexts", of the context); empty where they have no names or the trials differ."""
        texts = set(self.column(field)) if field in self.names else set()
        if len(texts) != 1 or not (text := texts.pop()):
            return {}
        inputs = {}
        for name, kind, *rest in (one.split() for one in text.split("; ")):
            condition = len(rest) > 2 and rest[-2] == "if" and "=" in rest[-1]
            inputs[name] = (rest[:-2] if condition else rest) if kind == "choice" else None
        return inputs

    def not_reproducible(self) -> list[tuple[str, int, int]]:
        """(algorithm, trials, of how many) of methods whose program, started again, asked otherwise."""
        if "asked_otherwise" not in self.names:
            return []
        otherwise = np.nansum(self.values("asked_otherwise"), axis=1) > 0
        algorithms = self.column("algorithm")
        return [(label, int(otherwise[algorithms == label].sum()), int((algorithms == label).sum()))
                for label in dict.fromkeys(algorithms[otherwise])]

    def tidy(self) -> pd.DataFrame:
        """One row per evaluation that was made; what was swept stands behind `t`."""
        rows = self.column("n_iterations").astype(int)
        swept = ((name, typed(*self.setting(name)).repeat(rows)) for name in self.settings)
        return pd.DataFrame({**_heads([self]), **dict(swept), **dict(self.tidy_values())}, copy=False)

    def _labels(self, name):
        """{column: words it chooses among, or None} of inputs that have names."""
        return {f"{name[0]}_{label}": words for label, words in
                (self.inputs(SEEN[name]).items() if name in SEEN else ())}

    def _columns_of(self, name):
        width = (self._table.first(name).shape + (0,))[2]
        return list(self._labels(name)) or ([f"{name}_{j}" for j in range(width)] if width else [name])

    def tidy_names(self) -> list[str]:
        """Names of the columns of `tidy`, of which none is read."""
        return [*IDENTITY, "status", "row", "t", *self.settings,
                *(own for name in self.evaluations() for own in self._columns_of(name))]

    def tidy_values(self, columns: list[str] | None = None) -> Iterator[tuple[str, np.ndarray]]:
        """Pairs of the name and the values of every column of `tidy` that is recorded per evaluation,
        of those in `columns` only."""
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
                if np.all(rows == values.shape[1]):
                    values = values.reshape(len(values) * values.shape[1], -1)
                else:
                    values = values[np.arange(values.shape[1]) < rows[:, None]]
                    values = values.reshape(len(values), -1)
            yield from ((own, _words(values[:, j], labels.get(own)))
                        for j, own in enumerate(names) if wanted[j])

    def dataset(self) -> xr.Dataset:
        """Variables with dimensions and attributes; the columns of `trials` are coordinates."""
        made = {n: (self.dims(n), self.values(n), self.attributes(n)) for n in self.evaluations()}
        coordinates = {name: ("trial", self.column(name)) for name in self.columns}
        coordinates.update({n: ("trial", self.setting(n)[1], self.attributes(n)) for n in self.settings})
        coordinates.update({n: ("trial", self.texts(n)) for n in LONG if n in self.names})
        dataset = xr.Dataset(made, coordinates, {"problem": self.label})
        for letter, field in (("x", "inputs"), ("c", "contexts")):
            if names := list(self.inputs(field)):
                dataset = dataset.assign_coords({f"{letter}_name": (f"dim_{letter}", names)})
        rows = dataset.sizes.get("iteration", 0)
        return dataset.assign_coords(iteration=np.arange(1, rows + 1))


def _words(values, words):
    """Numbers of words as words, None where there is none; other values as they are."""
    if words is None:
        return values
    made = np.full(len(values), None, dtype=object)
    known = ~np.isnan(values)
    made[known] = np.array(words, dtype=object)[values[known].astype(int)]
    return made


def _heads(groups, categories=False):
    """What tells the rows of `data` apart, in as few bytes as it takes."""
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


class _reading:
    """Whatever goes wrong while a file is read is a matter of the file, in one line."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(
                kind, (OSError, KeyError, RuntimeError, ValueError)):
            raise InputError(f"{self._path}: damaged results file ({one_line(error)})") from error


def _frame(columns):
    return pd.DataFrame(columns, copy=False)


def _read_directory(path, trust):
    """Attributes, groups, and a warning per shard that could not be read. A results file beside the
    directory belongs to it: the study was finished once and then made longer."""
    shards = sorted(p for p in path.glob("*.h5") if not p.name.startswith("."))
    packed = path.with_suffix("")
    files = [*shards, packed] if path.suffix == ".d" and packed.is_file() else shards
    reader = Reader()
    wrong = dict.fromkeys(files) if trust else integrity.damages(files, shards, reader)
    attributes, parts, warnings = {}, [], []
    for file in files:
        try:
            if wrong.get(file):
                raise InputError(wrong[file])
            found, more = _read_file(reader, file, in_memory=file != packed)
        except FileNotFoundError:
            continue  # merged into another shard meanwhile
        except InputError as error:
            warnings.append(str(error))
            continue
        attributes = attributes or found
        parts += more
    if not parts:
        raise InputError(warnings[0] if warnings else f"{path}: no finished trials in there")
    return {**attributes, "complete": 0}, _groups(path, parts), warnings


def _read_file(reader, path, in_memory=False):
    """Root attributes, and (label, part) of every group of one file."""
    attributes, groups = reader.contents(path)
    with _reading(path):
        try:
            integrity.check_version(attributes)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        parts = [(label, {variable: Variable(dataset, in_memory)
                          for variable, dataset in found.items()}) for _, label, found in groups]
    return attributes, parts


def _groups(path, parts):
    """Groups from (label, part) of one or many files."""
    by_label = {}
    for label, part in parts:
        by_label.setdefault(label, []).append(part)
    with _reading(path):
        return [group for label, some in by_label.items() for group in _split(path, label, some)]


def _whole(groups):
    """{label: all trials of a problem, whatever its settings} of its groups."""
    places = {}
    for group in groups:
        places.setdefault(group.place, []).append(group)
    return {place: some[0].whole(some) for place, some in places.items()}


def _split(path, label, parts):
    """One Group per problem and setting of what is swept outside the algorithms, the trials of those
    that do not read a setting in all its groups."""
    table = Table(parts)
    keep = np.arange(sum(table.lengths))
    if len(parts) > 1:  # a shard, and the one it was merged into
        keep = np.flatnonzero(~pd.Series(table.texts("id", keep)).duplicated())
    algorithm, swept = (table.column(name, keep) for name in ("algorithm", "swept"))
    codes, distinct = pd.MultiIndex.from_arrays([algorithm, swept]).factorize()
    found, places = panels([swept_outside(*pair) for pair in distinct])
    scores = next((text for text in table.column("scores", keep) if text), "") \
        if "scores" in table.names else ""
    order = np.argsort(codes, kind="stable")
    rows = np.split(keep[order], np.cumsum(np.bincount(codes, minlength=len(distinct)))[:-1])
    mine = [[] for _ in found]
    for own, numbers in zip(rows, places):
        for number in numbers:
            mine[number].append(own)
    table = Table(parts, Cache() if len(found) > 1 else None)
    tables = _by_score(table, scores)
    for at, some in zip(found, mine):
        own = np.sort(np.concatenate(some))
        for score, view in tables.items():
            yield from _panel(path, label, view, own, at, score)


def _panel(path, base, table, rows, at, score):
    """The Group of a panel, or of one score in it: there the regret is the one by that measure, and only
    trials that aimed at it, or at none, take part; it is called `LABEL NAME`."""
    label, place = panel_label(base, at), base
    if score is not None:
        codes, distinct = pd.factorize(table.column("swept", rows))
        aims = np.array([aimed_score(text) for text in distinct], dtype=object)[codes]
        rows = rows[(aims == None) | (aims == score)]  # noqa: E711 (elementwise)
        label, place = f"{label} {score}", f"{base} {score}"
    if len(rows):
        at = {column_of(name, table.settings): value for name, value in at.items()}
        yield Group(path, label, table, rows, base, place, at)


def _by_score(table, scores):
    """{name of a measure: the table as it looks by it}; {None: the table} where there is none."""
    if not scores:
        return {None: table}
    return {pair.split("=", 1)[0]: Table([_scored(part, number) for part in table.parts])
            for number, pair in enumerate(scores.split("; "))}


def _scored(part, number):
    """The part with `score_NAME` at one score in place of NAME."""
    view = {name: variable for name, variable in part.items() if "score" not in variable.dims}
    for name, variable in part.items():
        if variable.dims[-1:] == ("score",) and number < variable.shape[-1]:
            view[name.removeprefix("score_")] = Slice(variable, number)
    return view


def _in_study_order(groups, study):
    """HDF5 lists groups by name; the study file names the problems in the order meant."""
    return sorted(groups, key=lambda group: _place(study, "problems", group.label,
                                               group.base,
                                               *group.column("problem_name")[:1]))


def _place(study, block, label, *names):
    """Where the entry of a label, of the label without its swept settings, or of a name stands in
    a block of the study's text; behind everything when it is not found."""
    entries = study[max(study.find(f"{block}:"), 0):]
    found = [entries.find(str(text)) for text in (label, label.split(" (")[0], *names)]
    return next((at for at in found if at >= 0), len(entries))
