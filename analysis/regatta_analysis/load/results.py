"""The results of a study: the groups of its problems, their settings, trials and evaluations."""
from __future__ import annotations

import functools
import os
import resource
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .against import Beside
from .errors import InputError, nearest
from .group import FLAGS, IDENTITY, Group, heads
from .plan import Plan, plan_of
from .settings import (AIMED, column_named, find_setting, in_order, method_label, numbered, panels,
                       plain, same_value, stacked, typed, words_of_settings)
from .variables import joined

if TYPE_CHECKING:
    import xarray as xr

SMALL, KEPT = 1 << 16, 128 << 20  # bytes of a result that is always remembered, of all larger ones
ARCHIVE = ("This is an archive: it has simple regret, cumulative regret at some budgets, and the best design of each trial. "
           "Run times and models are in the full results.")


def remembered(compute: Callable) -> Callable:
    """Let a function of results, and of what else it takes, compute each value once. Callers must not change it."""
    @functools.wraps(compute)
    def find(results, *arguments, **named):
        key = (compute.__module__, compute.__name__, *arguments, *named.items())
        return results.remember(key, lambda: compute(results, *arguments, **named))
    return find


class Results:
    """The results of a study. `damages` has one line per shard that could not be read."""

    def __init__(self, path, attributes, groups, damages, numbers=None, beside=Beside()):
        self.path, self.attributes, self.damages, self.beside = path, attributes, damages, beside
        self.study = str(attributes.get("study", ""))
        groups = sorted(groups, key=lambda group: min(group.constant("problem_number").tolist(), default=0))
        self._problems = {group.label: group for group in groups}
        self._places = _whole(self._problems.values())
        self.numbers = numbers or {label: k for k, label in enumerate(self._problems, 1)}  # also of a selection
        if not any(group.n for group in groups):
            raise InputError(f"{path}: no trials in it")
        self.title = str(attributes.get("title", "")) or path.stem
        self.complete = bool(attributes.get("complete", 0))
        self._remembered, self._large = {}, {}  # results of `remember`, and the bytes of the large ones

    def __getstate__(self):
        """Copies, also in other processes, compute again what they need."""
        return {**self.__dict__, "_remembered": {}, "_large": {}}

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once, so that figures, tables and pages of one study use the same numbers.
        Callers must not change it. Large results that were not used for long are forgotten, and computed again."""
        made = self._remembered.pop(key) if key in self._remembered else make()
        self._remembered[key] = made  # the last one
        if key not in self._large and (size := _bytes(made)) > SMALL:
            self._large[key] = size
            for old in list(self._remembered):
                if sum(self._large.values()) > KEPT and old in self._large and old != key:
                    del self._remembered[old], self._large[old]
        return made

    def remembers(self, key: Any) -> bool:
        return key in self._remembered

    @cached_property
    def plan(self) -> Plan:
        """The trials that the study plans."""
        return plan_of(self.study, self.path, self.settings)

    @cached_property
    def state(self) -> str:
        """"" if the results are complete. Else one line, which every page shows first: how many of the planned trials
        they have."""
        if self.complete:
            return ""
        n, least = self.counts(), "" if self.plan.total() is not None else "at least "
        return (f"Incomplete: {self.path.name} has {n['done']:,} of {least}{n['planned']:,} planned trials"
                + (f", {n['failed']:,} failed" if n["failed"] else ""))

    @cached_property
    def warnings(self) -> list[str]:
        """Lines that a reader must know: damages, what is compared with other results, what an archive lacks, and
        programs that are not reproducible."""
        lines = [f"{label} on {group.label} is not reproducible: started again, its program asked for "
                 f"something else in {n} of {trials} trials"
                 for group in self._problems.values() for label, n, trials in group.not_reproducible()]
        return [*self.damages, *self.beside.notes, *([ARCHIVE] if self.attributes.get("archive_of") else []), *lines]

    @property
    def archived(self) -> bool:
        """Whether some trials are archived (`regatta merge -archive`): they lack most values."""
        return bool(self.attributes.get("archive_of")) or self.beside.archived

    @property
    def problems(self) -> list[str]:
        """Problem labels, in the order of the study. Settings swept outside the algorithms are part of the label. An
        algorithm that does not read a setting appears at each of its values."""
        return list(self._problems)

    @cached_property
    def settings(self) -> list[str]:
        """Names of the settings that were swept: columns of `trials` and `data`."""
        return [*in_order([own for g in self._problems.values() for own in g.swept.values()])]

    @cached_property
    def _index(self):
        found = [{**own, **group.at} for group in self._problems.values() for own in group.swept.values()]
        made, _ = panels(found, product=False)
        less = [{n: v for n, v in one.items() if n != name} for name in self.settings for one in made]
        return numbered([group.at for group in self._problems.values()] + made + less)

    @property
    def index(self) -> dict[str, str]:
        """{"S1": "kernel = gaussian, noise_variance = 1e-2", ...}: short names of values of several settings, which stand
        in file names, titles and menus in place of long texts."""
        return dict(self._index.values())

    def short(self, at: Mapping[str, object]) -> str:
        """Values of settings as text, or their name in `index` if they have one."""
        return self._index.get(plain(at), ("", words_of_settings(at)))[0] or words_of_settings(at)

    def title_of(self, problem: str) -> str:
        """The label of a problem, with the name of its settings in `index` if they have one."""
        group = self.group(problem)
        name = self._index.get(plain(group.at), ("",))[0]
        return f"{group.place} ({name})" if name else problem

    @property
    def places(self) -> list[str]:
        """Problem labels of the study file, with the score if there are several. `group` of one of them has each trial
        once."""
        return list(self._places)

    @cached_property
    def algorithms(self) -> list[str]:
        """Algorithm labels of the whole study, in its order."""
        numbers = {}
        for group in self._problems.values():
            for label, number in zip(group.column("algorithm"), group.constant("algorithm_number")):
                numbers.setdefault(label, number)
        return list(numbers) if self.complete else sorted(numbers, key=numbers.get)

    def full_name(self, name: str) -> str:
        """The swept setting that is called `name` or ends in it (`kernel`: surrogate.kernel). The name itself if there
        is no such setting, or several."""
        return find_setting(name, self.settings) or name

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per trial: identity, status, counts, provenance, what was swept; see `texts` for
        LONG. `problem` is the label of the study file."""
        return self._trials(list(self._places.values()))

    def _trials(self, groups):
        names = dict.fromkeys(name for group in groups for name in group.columns)
        return pd.DataFrame({**{n: joined([group.column(n) for group in groups]) for n in names},
                       **dict(self._setting_columns(groups))}, copy=False)

    def parts(self, width: int | None = None) -> Iterator[tuple[Group, pd.DataFrame]]:
        """Groups of some trials (`Group.blocks`) that are together all trials of `trials`, and the rows of each there."""
        empty = [group.head(0) for group in self._places.values()]
        for group in self._places.values():
            for block in group.blocks(width):
                yield block, self._trials([*empty, block])  # the types of columns depend on all problems

    def column(self, name: str) -> np.ndarray:
        """One column of `trials`, which alone is read; NaN where a trial has no value."""
        return joined([group.column(name) for group in self._places.values()])

    def has_column(self, name: str) -> bool:
        """Whether `trials` has a column."""
        return any(name in group.columns for group in self._places.values())

    def texts(self, name: str) -> np.ndarray:
        """A text that differs from trial to trial: one of LONG, for each of `trials`."""
        names = {n for group in self._places.values() for n in group.names}
        if name not in names:
            raise InputError(f"{self.path}: no text {name!r}{nearest(name, sorted(names))}")
        return joined([group.texts(name) for group in self._places.values()])

    def _setting_columns(self, groups, repeats=None):
        """Pairs of name and typed column of every setting, each trial `repeats` times."""
        for name in [*self.settings, *([AIMED] if any(AIMED in g.settings for g in groups) else [])]:
            kind, values = stacked([group.setting(name) for group in groups])
            column = typed(kind, values)
            yield name, column if repeats is None else column.repeat(repeats)

    @property
    def data(self) -> pd.DataFrame:
        """One row per evaluation. Vectors are name_0, name_1, ...; inputs that have names are also x_NAME, as
        evaluated, with words for choices. `row` counts the evaluations of a trial from 0, and `t` the queries: t = 0
        is the last evaluation of the initial design. Swept settings are columns (`settings`) with types: numbers,
        integers, booleans, categoricals. A value is missing if a trial does not read the setting ("" in a
        categorical). `failed`, `feasible`, `known` and `asked_otherwise` are booleans; `failed` is always there. `best` is
        the best `objective` of the trial so far, in the sign of the user's program or file: the least one of what is
        minimised. Every call computes the frame again; for a large study use `rows` of some columns, or
        `group(problem).tidy()`."""
        return self.rows()

    def rows(self, columns: list[str] | None = None, **which: Any) -> pd.DataFrame:
        """`data` with some columns only (`["y", "x"]`, `["x_0"]`), which alone are read. The columns that identify the
        rows have texts as categories (`groupby(..., observed=True)`). None: all columns, with texts as texts. `which`:
        of some trials, as `select` takes them (`algorithms=["EI"]`). Raises InputError for an unknown column, and for a
        frame that is larger than the memory; one of more than a quarter of it comes with a warning."""
        if which:
            return self.select(**which).rows(columns)
        groups = list(self._places.values())
        self._check_size(groups, columns)
        ends = np.cumsum([int(group.column("n_iterations").sum()) for group in groups])
        made, empty = heads(groups, columns is not None), np.broadcast_to(np.nan, ends[-1])
        for group, end in zip(groups, ends):
            for name, values in group.tidy_values(columns):
                if values.dtype == float and not values.strides[0]:  # no value was written
                    made.setdefault(name, empty)
                elif len(values) == ends[-1]:
                    made[name] = values
                else:
                    if made.get(name, empty) is empty:
                        missing = FLAGS.get(name, None if values.dtype == object else np.nan)
                        made[name] = np.full(ends[-1], missing, values.dtype)
                    made[name][end - len(values):end] = values
        if columns is None or "best" in columns:
            made["best"] = joined([self._best(*place) for place in self._places.items()])
        for name in columns or ():
            if not {name, f"{name}_0"} & made.keys():
                known = {n for group in groups for n in (*group.evaluations(), *group.tidy_names())}
                raise InputError(f"{self.path}: no column {name!r} in it{nearest(name, sorted(known))}")
        repeats = joined([group.column("n_iterations") for group in groups]).astype(int)
        made, first = list(made.items()), len(IDENTITY) + 3  # status, row, t
        return pd.DataFrame(dict([*made[:first], *self._setting_columns(groups, repeats), *made[first:]]),
                            copy=False)

    def _check_size(self, groups, columns):
        rows = sum(int(group.column("n_iterations").sum()) for group in groups)
        names = {name for group in groups for name in group.tidy_names()} if columns is None else columns
        size, memory = 8 * rows * (len(IDENTITY) + 3 + len(names)), _memory()
        about = (f"{rows:,} rows take {size / 1e9:.3g} GB of {memory / 1e9:.3g} GB of memory; rows([...]) reads some columns, "
                 "and select(...) chooses trials")
        if size > memory:
            raise InputError(f"{self.path}: {about}")
        if 4 * size > memory:
            warnings.warn(f"{self.path}: {about}", stacklevel=4)

    def _best(self, label, group):
        """The best objective so far of every evaluation, NaN before the first feasible one."""
        if "objective" not in group.names:
            return np.full(int(group.column("n_iterations").sum()), np.nan)
        best = np.fmax.accumulate(group.values("objective"), axis=1)
        best = np.where(self.minimised(label)[:, None], 0 - best, best)
        return best[np.arange(best.shape[1]) < group.column("n_iterations")[:, None]]

    def failures(self) -> pd.DataFrame:
        """One row per failed evaluation: identity of its trial, `evaluation` (its number from 1), `reason` (one line) and
        `text`, the full text of the error, with the standard error of its program."""
        rows = [{**dict(zip(IDENTITY, trial)), **failure} for group in self._places.values()
                for trial, found in group.failures() for failure in found]
        return pd.DataFrame(rows, columns=[*IDENTITY, "evaluation", "reason", "text"])

    def group(self, problem: str) -> Group:
        """The arrays of one problem, read on demand. The label of the study file gives all settings of the problem
        together."""
        found = self._problems.get(problem) or self._places.get(problem)
        if found is None:
            raise InputError(f"{self.path}: no problem {problem!r} in it{nearest(problem, self.problems)} "
                             f"(it has: {', '.join(self.problems)})")
        return found

    @remembered
    def minimised(self, problem: str) -> np.ndarray:
        """Whether `goal: minimise` holds, for every trial of a problem: then `y`, `f`, `objective` and `optimum`
        are the negative of what the user's program or file says."""
        group = self.group(problem)
        return group.constant("goal") == "minimise"

    def xarray(self, problem: str) -> xr.Dataset:
        """All variables of one problem as a labelled dataset. Swept settings are coordinates."""
        return self.group(problem).dataset()

    def select(self, problems: Iterable[str] | None = None,
               algorithms: Iterable[str] | None = None,
               where: Mapping[str, object] | None = None) -> Results:
        """The results of some trials. `problems` and `algorithms` are labels, with or without swept settings. `where`
        is {setting: value}; a cell that was not swept over a setting has every value of it. Raises InputError if no
        trial is left."""
        self.check_names(problems, algorithms, where or {})
        where = {find_setting(name, self.settings): value for name, value in (where or {}).items()}
        chosen = None if problems is None else [group for group in self._problems.values()
                                                if {group.label, group.base} & set(problems)]
        groups = [group.select(algorithms, where) for group in (self._problems.values() if chosen is None else chosen)]
        made = Results(self.path, {**self.attributes, "n_planned": 0}, [g for g in groups if g.n], self.damages, self.numbers, self.beside)
        if not self.complete:
            made.plan = self.plan.select(problems, chosen, algorithms, where)
        return made

    def check_names(self, problems: Iterable[str] | None, algorithms: Iterable[str] | None,
                    where: Mapping[str, object]) -> None:
        """Raises InputError for labels, settings or values that the results do not have."""
        groups = self._problems.values()
        pairs = {pair for group in groups for pair in group.labels()}
        known = {"problem": dict.fromkeys(n for g in groups for n in (g.base, g.label)),
                 "algorithm": dict.fromkeys(n for a, s in pairs for n in (method_label(a, s), a)),
                 "setting": self.settings}
        for kind, names in (("problem", problems), ("algorithm", algorithms), ("setting", where)):
            for name in names or ():
                if name not in known[kind] and (kind != "setting"
                                                or find_setting(name, known[kind]) is None):
                    raise InputError(f"{self.path}: no {kind} {name!r} in it{nearest(name, known[kind])} (it has: "
                                     f"{', '.join(sorted(known[kind])) or 'none'})")
        for name, value in where.items():
            full = find_setting(name, self.settings)
            values = {own.get(full) for g in groups for own in g.swept.values()} - {None}
            if not any(same_value(value, v) for v in values):
                raise InputError(f"{self.path}: no {name}={value} in it{nearest(value, values)} "
                                 f"(it has: {', '.join(sorted(values))})")

    def cells(self, problems: Sequence[str] | None = None) -> pd.DataFrame:
        """One row per cell with the number of trials done, failed and missing, of some problems or of all.

        Planned are all pairs of instance and seed that any algorithm has on the problem; in a complete sweep the
        existing trials, and in incomplete results the trials of the study's plan. A cell that stands for several values
        of a setting has a row for each; `counts` has the numbers of all trials, also of cells without a trial."""
        if problems is None:
            return self._cells.copy()
        place, n = {label: k for k, label in enumerate(self.problems)}, len(self.algorithms)
        for problem in set(problems) - set(place):
            self.group(problem)  # raises where the problem is not known
            raise InputError(f"{self.path}: {problem!r} has swept settings: its cells are those of its labels in `problems`")
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
        elif not self.complete:
            planned = np.maximum(there, [self.plan.of(group, a) for group in groups for a in self.algorithms])
        return pd.DataFrame({"problem": np.repeat(np.array(self.problems, object), n),
                             "algorithm": np.tile(np.array(self.algorithms, object), len(groups)),
                             "planned": planned, "done": done, "failed": failed,
                             "missing": planned - done - failed})

    def with_settings(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame with the columns `problem` and maybe `algorithm`, of labels, followed by a column for every setting:
        the swept settings as data, for files. Empty where a row has no value."""
        if not self.settings or not {"problem"} <= set(frame):
            return frame
        at = {label: group.at for label, group in self._problems.items()}
        own = {(label, pair[0]): values for label, group in self._problems.items()
               for pair, values in group.swept.items()}
        rows = list(zip(frame["problem"], frame["algorithm"] if "algorithm" in frame else frame["problem"]))
        made, place = frame.copy(), list(frame).index("problem") + 1 + ("algorithm" in frame)
        for k, name in enumerate(self.settings):
            found = [{**own.get(row, {}), **at.get(row[0], {})}.get(name, "") for row in rows]
            part = next((g.settings[name] for g in self._problems.values() if g.settings.get(name)), "")
            made.insert(place + k, column_named(name, part, made), found)
        return made

    def counts(self) -> dict[str, int]:
        """{planned, done, failed, missing}: numbers of trials, each trial once. Planned are the trials of the study,
        also of problems and methods that have none yet. Of a selection, if the program `regatta` can't plan the study,
        those of the cells that have trials."""
        bases, status = {}, []
        for place in self._places.values():
            bases.setdefault(place.base, []).append(place)
        for places in bases.values():  # scores share trials
            first = np.unique(np.concatenate([place.rows for place in places]), return_index=True)[1]
            status.append(joined([place.column("status") for place in places])[first])
        status = joined(status)
        done, failed = (int((status == word).sum()) for word in ("complete", "failed"))
        planned = len(status)
        if not self.complete:
            total = self.plan.total()
            planned = max(planned, int(self.attributes.get("n_planned", 0)) or self._planned() if total is None else total)
        return {"planned": planned, "done": done, "failed": failed,
                "missing": planned - done - failed}

    def _planned(self):
        """The planned trials of the cells that are there, by what the file says."""
        cells = {cell: max(count, 1) for place in self._places.values() for cell, count in zip(
            place.column("cell"), np.nan_to_num((place.constant("planned_seeds") * place.constant(
                "planned_instances")).astype(float)))}
        return int(sum(cells.values()))


def _memory():
    """The bytes of memory that this process may have."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return whole if limit == resource.RLIM_INFINITY else min(whole, limit)


def _bytes(made):
    """The bytes of arrays and frames, 0 of other things."""
    if isinstance(made, (pd.DataFrame, pd.Series)):
        return int(np.sum(made.memory_usage()))
    if isinstance(made, (tuple, list)):
        return sum(map(_bytes, made))
    return made.nbytes if isinstance(made, np.ndarray) else sum(map(_bytes, vars(made).values())) if is_dataclass(made) else 0


def _whole(groups):
    """{label: all trials of a problem, whatever its settings} of its groups."""
    places = {}
    for group in groups:
        places.setdefault(group.place, []).append(group)
    return {place: some[0].whole(some) for place, some in places.items()}

