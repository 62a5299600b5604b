"""Variables of a results file, read on demand, and row by row if that is less."""
from collections import OrderedDict
from functools import cached_property

import numpy as np
import pandas as pd

from . import settings
from .settings import column_of


class Variable:
    """One Dataset: `shape`, `dims`, `attributes`, and its values in memory or still in the file."""

    def __init__(self, dataset, in_memory=False):
        self._dataset, self.shape, self.stored = dataset, dataset.shape, dataset.stored
        self._values = dataset[()] if in_memory else None
        if in_memory:
            self._about, self._dataset = dataset.describe(), None

    @cached_property
    def _about(self):
        return self._dataset.describe()

    @property
    def dims(self):
        return self._about[0]

    @property
    def attributes(self):
        return self._about[1]

    def all(self):
        return self._dataset[()] if self._values is None else self._values

    def rows(self, rows):
        """Values of the rows given, in ascending order."""
        if self._values is not None:
            return self._values[rows]
        if len(rows) == self.shape[0]:
            return self._dataset[()]
        starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
        span = rows[-1] + 1 - rows[0]
        if len(starts) > 8 and span <= 4 * len(rows):
            return self._dataset[rows[0]:rows[-1] + 1][rows - rows[0]]
        ends = np.append(starts[1:], len(rows)) - 1
        return np.concatenate([self._dataset[rows[a]:rows[b] + 1] for a, b in zip(starts, ends)])


class Slice:
    """One score of a variable."""

    def __init__(self, variable, number):
        self._variable, self._number = variable, number
        self.shape, self.stored = variable.shape[:-1], variable.stored

    @property
    def dims(self):
        return self._variable.dims[:-1]

    @property
    def attributes(self):
        return self._variable.attributes

    def all(self):
        return self._variable.all()[..., self._number]

    def rows(self, rows):
        return self._variable.rows(rows)[..., self._number]


class Table:
    """The trials of one problem in one or many files: `parts` are mappings from name to variable, to
    be read as if they stood below each other. Small arrays that several groups of trials share are
    kept."""

    def __init__(self, parts, cache=None):
        self.parts = [{_named(name, variable): variable for name, variable in part.items()} for part in parts]
        self.names = list(dict.fromkeys(name for part in self.parts for name in part))
        self.lengths = [part["algorithm"].shape[0] for part in parts]
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int)
        self._cache = cache
        self._columns, self._values, self._settings = {}, {}, None

    def first(self, name):
        """The variable of some part, None when no part has it."""
        return next((part[name] for part in self.parts if name in part), None)

    @cached_property
    def evaluations(self):
        """Names of the variables with one value (or vector) per evaluation."""
        firsts = ((name, self.first(name)) for name in self.names)
        return [n for n, first in firsts if len(first.shape) > 1 and first.dims[:2] == ("trial", "iteration")]

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

    @property
    def settings(self):
        """{name of the variable of a swept setting: its part}, or "" if an older file does not say."""
        if self._settings is None:
            self._settings = {}
            for part in self.parts:
                for name, variable in part.items():
                    if len(variable.shape) == 1 and "setting" in variable.attributes:
                        self._settings.setdefault(name, str(variable.attributes.get("part", "")))
            for part, own in zip(self.parts, self._swept()):
                for pairs in own[1]:
                    for name in pairs:
                        self._settings.setdefault(column_of(name, self._settings), "")
        return self._settings

    def _swept(self):
        """(codes, [{name: text}]) of the text `swept` of every part; nothing for parts that have variables instead."""
        for part in self.parts:
            if "swept" not in part or any("setting" in v.attributes for v in part.values()
                                          if len(v.shape) == 1):
                yield None, []
                continue
            codes, distinct = pd.factorize(part["swept"].all())
            yield codes, [_pairs(text) for text in decoded(distinct)]

    def setting(self, name, rows):
        """(kind, values) of a swept setting of some trials; see settings.typed."""
        if name not in self._values:
            blocks = []
            for part, (codes, pairs), length in zip(self.parts, self._swept(), self.lengths):
                if name in part and "setting" in part[name].attributes:
                    blocks.append(settings.read(part[name]))
                elif codes is not None:
                    texts = [{column_of(k, self.settings): v for k, v in one.items()}.get(name)
                             for one in pairs]
                    kind, values = settings.parsed(texts)
                    blocks.append((kind, values[codes]))
                else:
                    blocks.append(("none", np.full(length, np.nan)))
            self._values[name] = settings.stacked(blocks)
        kind, values = self._values[name]
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
        if self._cache is None or len(rows) == part[name].shape[0]:
            return part[name].rows(rows)
        return self._cache.read(part[name], rows)


class Cache:
    """A cache of whole arrays of at most `each` bytes, `limit` in all; it keeps the last ones used."""

    def __init__(self, each=1 << 20, limit=128 << 20):
        self._each, self._limit, self._used = each, limit, 0
        self._arrays = OrderedDict()

    def read(self, variable, rows):
        if 8 * np.prod(variable.shape, dtype=float) > self._each:
            return variable.rows(rows)
        if variable not in self._arrays:
            self._arrays[variable] = variable.all()
            self._used += self._arrays[variable].nbytes
            while self._used > self._limit:
                self._used -= self._arrays.popitem(last=False)[1].nbytes
        else:
            self._arrays.move_to_end(variable)
        return self._arrays[variable][rows]


def _named(name, variable):
    """The name of a variable in tables; the name of a swept setting hides no column of theirs."""
    if name in settings.RESERVED and "setting" in variable.attributes:
        return settings.column_named(name, str(variable.attributes.get("part", "")))
    return name


def _pairs(text):
    """{name: text of the value} of the text `swept`, the score aimed at as in newer files."""
    aimed = settings.aimed_score(text)
    return {**settings.swept_settings(text), **({settings.AIMED: aimed} if aimed else {})}


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


def _encoded(values):
    """(codes, distinct values) of texts, with the shortest possible codes; (values, None) of numbers."""
    if values.dtype != object:
        return values, None
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    return codes.astype(np.min_scalar_type(max(len(distinct), 1))), distinct


def decoded(values):
    """Texts as an array of str."""
    made = np.empty(len(values), dtype=object)
    made[:] = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]
    return made


def _padded(block, longest):
    widths = [(0, 0)] + [(0, n - have) for n, have in zip(longest, block.shape[1:])]
    return np.pad(block.astype(float), widths, constant_values=np.nan)
