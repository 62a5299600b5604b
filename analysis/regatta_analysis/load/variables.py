"""Variables of a results file, read on demand, and row by row if that is less. What all trials of a cell have in common
stands in the table of cells, once for each cell."""
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

from . import settings
from .reader import SOMETIMES
from .settings import text_of

SMALL, KEPT = 1 << 20, 128 << 20  # bytes of an array that is kept, and of all of them
# Fields of cells that are columns of `trials` too; the others are constants.
COLUMNS = ("problem", "algorithm", "problem_name", "algorithm_name", "swept")


class Variable:
    """A dataset of a file that a Reader reads: `shape`, `dims`, `attributes`, and its values. `stored` is False if no
    value was ever written; then every value is NaN. `described`: {path: description} of the datasets of its group,
    which are asked for together; None until then."""

    def __init__(self, reader, file, described, path, shape, stored):
        self._reader, self._file, self._described, self._path = reader, file, described, path
        self.shape, self.stored, self._values = tuple(shape), stored, None
        described[path] = None

    def keep(self):
        """Read everything now, because the file may vanish."""
        self._values, self._about, self._reader = self.all(), self._about, None

    @cached_property
    def _about(self):
        if self._described[self._path] is None:
            paths = list(self._described)
            self._described.update(zip(paths, self._reader.ask(self._file, "describe", paths)))
        dims, attributes = self._described[self._path]
        return tuple(dims), {name: np.array(value) if isinstance(value, list) else value
                             for name, value in attributes.items()}

    @property
    def dims(self):
        return self._about[0]

    @property
    def attributes(self):
        return self._about[1]

    def all(self):
        return self._read(0, self.shape[0])

    def rows(self, rows):
        """Values of the rows given, in ascending order."""
        if self._values is not None:
            return self._values[rows]
        if len(rows) == self.shape[0]:
            return self.all()
        starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
        if len(starts) > 8 and rows[-1] + 1 - rows[0] <= 4 * len(rows):
            return self._read(rows[0], rows[-1] + 1)[rows - rows[0]]
        ends = np.append(starts[1:], len(rows)) - 1
        return np.concatenate([self._read(rows[a], rows[b] + 1) for a, b in zip(starts, ends)])

    def _read(self, first, last):
        if self._values is not None or not self.stored:
            return (self._values if self.stored else np.broadcast_to(np.nan, self.shape))[first:last]
        return self._reader.ask(self._file, "values", self._path, int(first), int(last))


class Made:
    """A variable that is made of another one."""

    def __init__(self, variable, shape):
        self._variable, self.shape, self.stored = variable, shape, variable.stored

    @property
    def dims(self):
        return self._variable.dims

    @property
    def attributes(self):
        return self._variable.attributes


class Slice(Made):
    """The values of one score in a variable that has several scores."""

    def __init__(self, variable, number):
        super().__init__(variable, variable.shape[:-1])
        self._number = number

    @property
    def dims(self):
        return self._variable.dims[:-1]

    def all(self):
        return self._variable.all()[..., self._number]

    def rows(self, rows):
        return self._variable.rows(rows)[..., self._number]


class Rows(Made):
    """A variable of some trials only."""

    def __init__(self, variable, rows):
        super().__init__(variable, (len(rows), *variable.shape[1:]))
        self._rows = rows

    def all(self):
        return self._variable.rows(self._rows)

    def rows(self, rows):
        return self._variable.rows(self._rows[rows])


class Kept(Made):
    """A variable that is kept once it is read, because many others are made of it: a column of the table of cells, or
    the cells of trials."""

    def __init__(self, variable):
        super().__init__(variable, variable.shape)

    def keep(self):
        self._variable.keep()

    @cached_property
    def _values(self):
        return self._variable.all()

    def all(self):
        return self._values

    def rows(self, rows):
        return self._values[rows]


class OfCell(Made):
    """A column of the table of cells as a variable of trials, whose cells are in the variable `cell`."""

    dims = ("trial",)

    def __init__(self, cell, column):
        super().__init__(column, cell.shape[:1])
        self._cell, self.stored = cell, True

    def keep(self):
        self._cell.keep()
        self._variable.keep()

    def all(self):
        return self._variable.all()[self._cell.all()]

    def rows(self, rows):
        return self._variable.all()[self._cell.rows(rows)]


class Part(dict):
    """The variables of the trials of one problem in one file. `constants`: {name: variable} of what their cells have in
    common: fields of the table of cells, and settings as PART.NAME."""

    def __init__(self, variables, constants):
        super().__init__(variables)
        self.constants = constants

    def view(self, variables):
        """The same trials with other variables."""
        return Part(variables, self.constants)


class Constants(dict):
    """{name: variable}."""

    def names(self):
        """Names of all settings."""
        return [name for name in self if "." in name]


def with_cells(variables, table):
    """The Part of trials. `table`: {name: Kept} of the columns of `cells`, `sweep/NAME` and `settings/NAME`."""
    cell = Kept(variables.pop("cell"))
    of = {name: OfCell(cell, column) for name, column in table.items()}
    swept = {name.removeprefix("sweep/"): one for name, one in of.items() if name.startswith("sweep/")}
    constants = Constants((name.removeprefix("settings/"), one) for name, one in of.items() if not name.startswith("sweep/"))
    made = {**variables, "cell": constants["id"], **{name: constants[name] for name in COLUMNS},
            **{name: constants[name] for name in SOMETIMES if table[name].stored}}
    made.update((name, one) for name, one in swept.items() if name not in variables or len(variables[name].shape) == 1)
    return Part(made, constants)


class Table:
    """The trials of one problem in one or many files: `parts` are mappings from name to variable, to
    be read as if they stood below each other. If several groups of trials are `shared`, it keeps the small arrays that
    were read last."""

    def __init__(self, parts, shared=False):
        self.parts = [part.view({_named(name, variable): variable for name, variable in part.items()}) for part in parts]
        self.names = list(dict.fromkeys(name for part in self.parts for name in part))
        self.lengths = [part["algorithm"].shape[0] for part in parts]
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int)
        self._shared = shared
        self._columns, self._values, self._constants = {}, {}, {}

    @cached_property
    def _whole(self):
        return lru_cache(KEPT // SMALL)(lambda variable: variable.all())

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_whole"}  # it can't be pickled

    def first(self, name):
        """The variable of some part, None when no part has it."""
        return next((part[name] for part in self.parts if name in part), None)

    @cached_property
    def evaluations(self):
        """Names of the variables with one value (or vector) per evaluation."""
        firsts = ((name, self.first(name)) for name in self.names)
        return [n for n, first in firsts if len(first.shape) > 1 and first.dims[:2] == ("trial", "iteration")]

    @cached_property
    def longest(self):
        """The largest number of evaluations of a trial."""
        return max((part[name].shape[1] for name in self.evaluations[:1] for part in self.parts if name in part), default=1)

    def is_stored(self, name):
        """Whether any value of a variable was ever written."""
        return any(part[name].stored for part in self.parts if name in part)

    def column(self, name, rows):
        """A per-trial variable of some trials; equal texts are one object, flags are words."""
        if name not in self._columns:
            blocks = [plain(part[name]) if name in part else np.full(length, np.nan)
                      for part, length in zip(self.parts, self.lengths)]
            self._columns[name] = _encoded(joined(blocks))
        codes, distinct = self._columns[name]
        return codes[rows] if distinct is None else distinct[codes[rows]]

    def constant(self, name, rows):
        """(kind, values) of what the cells of some trials have in common: a field of the table of cells, or a setting
        PART.NAME. See settings.typed."""
        return self._stacked(self._constants, name, [part.constants[name] if name in part.constants else None
                                                     for part in self.parts], rows)

    @cached_property
    def settings(self):
        """{name of the variable of a swept setting: its part}."""
        found = {}
        for part in self.parts:
            for name, variable in part.items():
                if len(variable.shape) == 1 and "setting" in variable.attributes:
                    found.setdefault(name, str(variable.attributes.get("part", "")))
        return found

    def setting(self, name, rows):
        """(kind, values) of a swept setting of some trials; see settings.typed."""
        return self._stacked(self._values, name, [part[name] if name in part and "setting" in part[name].attributes else None
                                                  for part in self.parts], rows)

    def _stacked(self, known, name, variables, rows):
        """(kind, values) of some trials from one variable of each part, None where a part lacks it; kept in `known`."""
        if name not in known:
            known[name] = settings.stacked([settings.read(variable) if variable is not None else
                                            ("none", np.full(length, np.nan)) for variable, length in
                                            zip(variables, self.lengths)])
        kind, values = known[name]
        return kind, values[rows]

    def texts(self, name, rows):
        """Long texts that differ from trial to trial, not kept."""
        return self._gather(name, rows, lambda part, own: decoded(part[name].rows(own)))

    def values(self, name, rows):
        """One variable of some trials; parts of different length are padded with NaN."""
        return self._gather(name, rows, lambda part, own: self._read(part, name, own))

    def _gather(self, name, rows, read):
        blocks, ndim = [], len(self.first(name).shape)
        for k, part in enumerate(self.parts):
            low, high = np.searchsorted(rows, self._starts[k:k + 2])
            if low == high:
                continue
            own = rows[low:high] - self._starts[k]
            blocks.append(read(part, own) if name in part
                          else np.full((len(own),) + (1,) * (ndim - 1), np.nan))
        if not blocks:
            return np.empty((0,) + self.first(name).shape[1:])
        if ndim > 1 and len(self.parts) > 1:
            longest = np.max([part[name].shape[1:] for part in self.parts if name in part], axis=0)
            blocks = [_padded(block, longest) for block in blocks]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _read(self, part, name, rows):
        small = self._shared and 8 * np.prod(part[name].shape, dtype=float) <= SMALL
        return self._whole(part[name])[rows] if small else part[name].rows(rows)


def _named(name, variable):
    """The name of a variable in tables; the name of a swept setting hides no column of theirs."""
    if name in settings.RESERVED and "setting" in variable.attributes:
        return settings.column_named(name, str(variable.attributes.get("part", "")))
    return name


def plain(variable):
    """A per-trial variable: equal texts are one object, flags are words."""
    values = variable.all()
    if values.dtype.kind in "OS":
        codes, distinct = pd.factorize(values)
        return decoded(distinct)[codes]
    if values.dtype.kind in "iu" and "flag_meanings" in variable.attributes:
        about = variable.attributes
        words = dict(zip(np.atleast_1d(about["flag_values"]).tolist(),
                         str(about["flag_meanings"]).split()))
        distinct, codes = np.unique(values, return_inverse=True)
        return np.array([words.get(v, str(v)) for v in distinct.tolist()], dtype=object)[codes]
    return values


def joined(arrays):
    """One array of several; texts and numbers side by side stay what they are."""
    if len(arrays) == 1:
        return arrays[0]
    if any(array.dtype == object for array in arrays):
        arrays = [array.astype(object, copy=False) for array in arrays]
    return np.concatenate(arrays)


def places_of(values):
    """(value, places of its entries, in ascending order) of every distinct value, in the order of the first ones."""
    codes, distinct = pd.factorize(values)
    order = np.argsort(codes, kind="stable")
    return list(zip(distinct, np.split(order, np.cumsum(np.bincount(codes, minlength=len(distinct)))[:-1])))


def places_of_pairs(first, second):
    """The same for pairs of texts."""
    (codes, ones), (others, texts) = map(pd.factorize, (first, second))
    return [((ones[pair // len(texts)], texts[pair % len(texts)]), own) for pair, own in places_of(codes * len(texts) + others)]


def _encoded(values):
    """(codes, distinct values) of texts, with the shortest possible codes; (values, None) of numbers."""
    if values.dtype != object:
        return values, None
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    return codes.astype(np.min_scalar_type(max(len(distinct), 1))), distinct


def decoded(values):
    """Texts as an array of str."""
    made = np.empty(len(values), dtype=object)
    made[:] = [*map(text_of, values)]
    return made


def _padded(block, longest):
    widths = [(0, 0)] + [(0, n - have) for n, have in zip(longest, block.shape[1:])]
    return np.pad(block.astype(float), widths, constant_values=np.nan)
