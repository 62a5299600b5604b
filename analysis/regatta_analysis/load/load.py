"""Read a results file, or the study directory of a study still running.

A results file has one group per problem label; in it, or in its subgroups `timing` and
`provenance`, every variable has the dimensions (trial), (trial, iteration) or (trial, iteration,
dim_*). A study directory `OUT.h5.d/` holds shards of the same schema; they are joined along the
trials. docs/results-format.md has the details.
"""
import os
from functools import cached_property
from pathlib import Path

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # only read: works on any file system

import h5py
import numpy as np
import pandas as pd
import xarray as xr

from .settings import aimed_score, problem_label

SCHEMA_VERSION = 1
IDENTITY = ["problem", "algorithm", "instance", "seed"]
SUBGROUPS = ("timing", "provenance")
_LINKS = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "coordinates")
STATUS_NAMES = {0: "missing", 1: "complete", 2: "failed"}


class InputError(Exception):
    """A file that cannot be analysed; the message is one line that starts with its path."""


def load(path, partial=False):
    """Results from a results file or a study directory (read also when only that is there yet).

    `.trials` one row per trial; `.data` one row per evaluation; `.xarray(problem)` the labelled
    arrays of one problem; `.study` the text of the study file. `partial`: accept a file that says
    of itself that it may lack trials (a shard, or files joined by `regatta merge`). Raises
    InputError.
    """
    path = Path(path)
    if not path.exists() and Path(f"{path}.d").is_dir():
        path = Path(f"{path}.d")
    if path.is_dir():
        return Results(path, *_read_directory(path))
    if not path.exists():
        raise InputError(f"{path}: no such file")
    attributes, parts = _read_file(path)
    if not attributes.get("complete", 0) and not partial:
        raise InputError(f"{path}: incomplete: a shard, or joined from parts; --partial reads what "
                         "is there, a study directory (*.h5.d) can be passed as it is")
    return Results(path, attributes, _groups(path, parts), [])


class Results:
    """What a study found. `warnings` holds one line per shard that could not be read."""

    def __init__(self, path, attributes, groups, warnings):
        self.path, self.attributes, self.warnings = path, attributes, warnings
        self.study = str(attributes.get("study", ""))
        self._problems = {group.label: group for group in _in_study_order(groups, self.study)}
        if not any(len(group.trials) for group in groups):
            raise InputError(f"{path}: no trials in it")
        self.title = str(attributes.get("title", "")) or path.stem
        self.complete = bool(attributes.get("complete", 0))

    @property
    def problems(self):
        """Problem labels, in the order of the study; what is swept outside the algorithms is part
        of the label."""
        return list(self._problems)

    @cached_property
    def algorithms(self):
        """Algorithm labels of the whole study, in its order."""
        labels = list(dict.fromkeys(self.trials["algorithm"]))
        if self.complete:
            return labels
        return sorted(labels, key=lambda label: _place(self.study, "algorithms", label))

    @cached_property
    def trials(self):
        """One row per trial: identity, status, counts, provenance."""
        return pd.concat([group.trials for group in self._problems.values()], ignore_index=True)

    @cached_property
    def data(self):
        """One row per evaluation; vectors as name_0, name_1, ...; `row` counts the evaluations of a
        trial from 0, `t` the queries: t = 0 is the last evaluation of the initial design."""
        return pd.concat([group.tidy() for group in self._problems.values()], ignore_index=True)

    def group(self, problem):
        """The arrays of one problem, read when asked for."""
        if problem not in self._problems:
            raise InputError(f"{self.path}: no problem {problem!r} in it "
                             f"(it has: {', '.join(self.problems)})")
        return self._problems[problem]

    def xarray(self, problem):
        """All variables of one problem as a labelled dataset."""
        return self.group(problem).dataset()

    def cells(self):
        """One row per cell with the number of trials done, failed and missing.

        Planned are all pairs of instance and seed that any algorithm has on the problem, so that a
        study directory shows what is still to come as missing.
        """
        rows = []
        for problem, trials in self.trials.groupby("problem", sort=False):
            planned = len(trials[["instance", "seed"]].drop_duplicates())
            for algorithm in self.algorithms:
                cell = trials[trials["algorithm"] == algorithm]
                done, failed = ((cell["status"] == s).sum() for s in ("complete", "failed"))
                rows.append((problem, algorithm, planned, done, failed, planned - done - failed))
        return pd.DataFrame(rows, columns=["problem", "algorithm", "planned", "done", "failed",
                                           "missing"])


class Group:
    """The arrays of one problem. `parts` are mappings from variable name to (dims, array, attrs);
    arrays may be HDF5 datasets that are read on demand. `trials` has the rows to keep of all parts
    joined, with their place there as index."""

    def __init__(self, label, parts, trials, base=None):
        self.label, self._parts, self._keep = label, parts, trials.index.to_numpy()
        self.base = base or label  # as the study file has it
        self.names = list(dict.fromkeys(name for part in parts for name in part))
        columns = IDENTITY + [c for c in trials if c not in IDENTITY]
        self.trials = trials.assign(problem=label)[columns].reset_index(drop=True)

    def dims(self, name):
        """Dimensions of a variable, () when there is no such variable."""
        return next((part[name][0] for part in self._parts if name in part), ())

    def attributes(self, name):
        return next((part[name][2] for part in self._parts if name in part), {})

    def values(self, name):
        """One variable over all trials; parts of different length are padded with NaN."""
        blocks = []
        for part in self._parts:
            shape = part["algorithm"][1].shape
            blocks.append(np.asarray(part[name][1][()]) if name in part
                          else np.full(shape + (1,) * (len(self.dims(name)) - 1), np.nan))
        if len(blocks) > 1 and blocks[0].ndim > 1:
            longest = np.max([block.shape[1:] for block in blocks], axis=0)
            blocks = [_padded(block, longest) for block in blocks]
        return np.concatenate(blocks)[self._keep]

    def evaluations(self):
        """Names of the variables with one value (or vector) per evaluation."""
        return [n for n in self.names if self.dims(n)[:2] == ("trial", "iteration")]

    def tidy(self):
        """One row per evaluation that was made."""
        rows = self.trials["n_iterations"].to_numpy(int)
        trial = np.repeat(np.arange(len(rows)), rows)
        row = np.concatenate([np.arange(n) for n in rows]) if len(rows) else np.empty(0, int)
        columns = {name: self.trials[name].to_numpy()[trial] for name in IDENTITY + ["status"]}
        columns["row"] = row
        columns["t"] = row - self.trials["n_initial"].to_numpy(int)[trial] + 1
        for name in self.evaluations():
            values = self.values(name)[trial, row]
            if values.ndim == 1:
                columns[name] = values
            else:
                columns.update({f"{name}_{j}": values[:, j] for j in range(values.shape[1])})
        return pd.DataFrame(columns)

    def dataset(self):
        """Variables with dimensions and attributes; the columns of `trials` are coordinates."""
        variables = {n: (self.dims(n), self.values(n), self.attributes(n))
                     for n in self.evaluations()}
        coordinates = {name: ("trial", self.trials[name].to_numpy()) for name in self.trials}
        dataset = xr.Dataset(variables, coordinates, {"problem": self.label})
        rows = dataset.sizes.get("iteration", 0)
        return dataset.assign_coords(iteration=np.arange(1, rows + 1))


def _read_directory(path):
    """Attributes, groups, and a warning per shard that could not be read. A results file beside the
    directory belongs to it: the study was finished once and then made longer."""
    shards = sorted(p for p in path.glob("*.h5") if not p.name.startswith("."))
    packed = path.with_suffix("")
    if path.suffix == ".d" and packed.is_file():
        shards.append(packed)
    attributes, parts, warnings = {}, [], []
    for shard in shards:
        try:
            found, more = _read_file(shard, in_memory=shard != packed)
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


def _read_file(path, in_memory=False):
    """Root attributes, and (label, part) of every group of one file."""
    try:
        if not h5py.is_hdf5(path):
            raise InputError(f"{path}: not an HDF5 file")
        file = h5py.File(path, "r")
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InputError(f"{path}: truncated or damaged file ({_one_line(error)})") from error
    attributes = {name: _text(value) for name, value in file.attrs.items()}
    _check_version(path, attributes)
    try:
        parts = [_read_group(name, group, in_memory) for name, group in file.items()
                 if isinstance(group, h5py.Group) and "algorithm" in group]
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path}: damaged results file ({_one_line(error)})") from error
    if in_memory:
        file.close()
    return attributes, parts


def _check_version(path, attributes):
    version = attributes.get("schema_version")
    if not isinstance(version, (int, np.integer)):
        raise InputError(f"{path}: not a Regatta results file (no schema_version)")
    if version > SCHEMA_VERSION:
        raise InputError(f"{path}: schema version {version} is newer than this program reads "
                         f"({SCHEMA_VERSION}); use the regatta_analysis that came with it")


def _read_group(name, group, in_memory):
    part = {}
    for place in (group, *(group[sub] for sub in SUBGROUPS if sub in group)):
        for variable, dataset in place.items():
            if (not isinstance(dataset, h5py.Dataset) or not dataset.ndim
                    or h5py.h5ds.is_scale(dataset.id)):
                continue
            attributes = {k: _text(v) for k, v in dataset.attrs.items() if k not in _LINKS}
            array = dataset[()] if in_memory else dataset
            part[variable] = (_dimensions(dataset), array, attributes)
    labels = set(_strings(part["problem"][1][()])) if "problem" in part else set()
    return labels.pop() if len(labels) == 1 else name, part


def _groups(path, parts):
    """Groups from (label, part) of one or many files."""
    by_label = {}
    for label, part in parts:
        by_label.setdefault(label, []).append(part)
    try:
        return [group for label, some in by_label.items() for group in _split(label, some)]
    except (OSError, KeyError) as error:
        raise InputError(f"{path}: damaged results file ({_one_line(error)})") from error


def _split(label, parts):
    """One Group per problem and setting of what is swept outside the algorithms."""
    trials = pd.concat([_trial_frame(part) for part in parts], ignore_index=True)
    trials = trials[~trials.duplicated("id")]  # a shard, and the one it was merged into
    labels = [problem_label(label, algorithm, swept) for algorithm, swept in
              zip(trials["algorithm"], trials["swept"])]
    return [group for own, rows in trials.groupby(labels, sort=False)
            for group in _by_score(own, label, parts, rows)]


def _by_score(label, base, parts, trials):
    """One Group per measure that trials were scored by, called `LABEL NAME`: there the regret is
    the one by that measure, and only trials that aimed at it, or at none, take part."""
    scores = next((text for text in trials.get("scores", []) if text), "")
    if not scores:
        return [Group(label, parts, trials, base)]
    groups = []
    for number, name in enumerate(pair.split("=", 1)[0] for pair in scores.split("; ")):
        rows = trials[[aimed in (None, name) for aimed in trials["swept"].map(aimed_score)]]
        if len(rows):
            views = [_scored(part, number) for part in parts]
            groups.append(Group(f"{label} {name}", views, rows, base))
    return groups


class _Slice:
    """One score of a variable, read when asked for."""

    def __init__(self, array, number):
        self._array, self._number = array, number
        self.shape, self.ndim, self.dtype = array.shape[:-1], array.ndim - 1, array.dtype

    def __getitem__(self, key):
        return self._array[..., self._number][key]


def _scored(part, number):
    """The part with `score_NAME` at one score in place of NAME."""
    view = {name: variable for name, variable in part.items() if "score" not in variable[0]}
    for name, (dims, array, attributes) in part.items():
        if dims[-1:] == ("score",) and number < array.shape[-1]:
            view[name.removeprefix("score_")] = (dims[:-1], _Slice(array, number), attributes)
    return view


def _in_study_order(groups, study):
    """HDF5 lists groups by name; the study file names the problems in the order meant."""
    return sorted(groups, key=lambda group: _place(study, "problems", group.label,
                                               group.base,
                                               *group.trials["problem_name"].head(1)))


def _place(study, block, label, *names):
    """Where the entry of a label, of the label without its swept settings, or of a name stands in
    a block of the study's text; behind everything when it is not found."""
    entries = study[max(study.find(f"{block}:"), 0):]
    found = [entries.find(text) for text in (label, label.split(" (")[0], *names)]
    return next((at for at in found if at >= 0), len(entries))


def _dimensions(dataset):
    names = []
    for axis in dataset.dims:
        names.append(axis[0].name.rsplit("/", 1)[-1] if len(axis) else axis.label)
    return tuple(names)


def _trial_frame(part):
    """The variables of dimension (trial) with texts and flags decoded."""
    columns = {}
    for name, (dims, array, attributes) in part.items():
        if dims != ("trial",):
            continue
        values = array[()]
        if values.dtype.kind in "OS":
            values = np.array(_strings(values), dtype=object)
        elif "flag_meanings" in attributes:
            meanings = dict(zip(np.atleast_1d(attributes["flag_values"]).tolist(),
                                str(attributes["flag_meanings"]).split()))
            values = np.array([meanings.get(v, str(v)) for v in values.tolist()], dtype=object)
        columns[name] = values
    frame = pd.DataFrame(columns)
    if frame["status"].dtype.kind in "iu":
        frame["status"] = frame["status"].map(STATUS_NAMES)
    return frame


def _padded(block, longest):
    widths = [(0, 0)] + [(0, n - have) for n, have in zip(longest, block.shape[1:])]
    return np.pad(block.astype(float), widths, constant_values=np.nan)


def _strings(values):
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]


def _text(value):
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _one_line(error):
    return " ".join(str(error).split())
