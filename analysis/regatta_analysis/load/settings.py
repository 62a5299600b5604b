"""Swept settings of trials, from the text `swept` or columns."""
import collections
import re

import numpy as np
import pandas as pd

PARTS = ("run", "problem", "algorithm", "surrogate", "maximiser", "crew", "thinking", "pending", "noise", "setting")
AIMED = "aimed_score"
# Columns of the tables of the analysis: a setting of that name is called PART.NAME there.
RESERVED = frozenset("problem algorithm method instance seed status row t value".split())


def text_of(value):
    """A text of a file, which may be bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def split(text, separator):
    """Parts of a text between separators that stand outside brackets and quotes."""
    parts, depth, quoted, escaped, start = [], 0, False, False, 0
    for at, c in enumerate(text):
        if escaped or (quoted and c == "\\"):
            escaped = not escaped
        elif c == '"':
            quoted = not quoted
        elif not quoted and c in "[{(":
            depth += 1
        elif not quoted and c in "]})":
            depth -= 1
        elif c == separator and not quoted and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return parts + [text[start:]]


def swept_outside(algorithm, swept):
    """{name: text of the value} of the swept settings that are not the algorithm's own; those stand in
    its label already. Scores are left out."""
    own = re.search(r" \((.*)\)$", algorithm, re.DOTALL)
    mine = [pair.strip() for pair in split(own.group(1), ",")] if own else []
    pairs = [pair.strip() for pair in split(swept, ",") if pair.strip() not in ("", *mine)]
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs) if name != "score"}


def problem_of(trial):
    """The label of the problem of a row of `trials`, with the swept settings that are not the algorithm's own."""
    return panel_label(trial.problem, swept_outside(trial.algorithm, getattr(trial, "swept", "")))


def panel_label(label, at):
    """Label of a problem at some values of swept settings."""
    return f"{label} ({', '.join(f'{name}={value}' for name, value in at.items())})" if at else label


def aimed_score(swept):
    """Name of the one measure that a trial aimed at and is scored by; None: scored by all."""
    found = [pair.strip() for pair in split(swept, ",") if pair.strip().startswith("score=")]
    return found[0].removeprefix("score=") if found else None


def swept_settings(swept):
    """{name: text of the value} of the settings that a trial was swept over, without its aimed score."""
    pairs = (pair.strip().split("=", 1) for pair in split(swept, ",") if "=" in pair)
    return {name: value for name, value in pairs if name != "score"}


def method_label(algorithm, swept):
    """Label of the algorithm without the settings swept."""
    own = re.search(r" \((.*)\)$", algorithm, re.DOTALL)
    pairs = {pair.strip() for pair in split(swept, ",")}
    if own and all(pair.strip() in pairs for pair in split(own.group(1), ",")):
        return algorithm[:own.start()]
    return algorithm


def same_value(one, other):
    """Whether two texts of a value are the same number or text."""
    return _plain(one) == _plain(other)


def find_setting(name, known):
    """The name in `known` that is `name`, or ends in `.name`; None if there is no such name, or several."""
    found = [full for full in known if full == name] or [
        full for full in known if full.endswith(f".{name}")]
    return found[0] if len(found) == 1 else None


def column_named(name, part="", taken=RESERVED):
    """The name of a setting as a column. Its part comes first if another column has that name."""
    return f"{part or 'setting'}.{name}" if name in taken else name


def column_of(name, columns):
    """The column of a setting that is called `name` in the text `swept`."""
    names = (name, *(f"{part}.{name}" for part in PARTS))
    return next((full for full in names if full in columns), column_named(name))


LONGEST = 40  # characters of settings in labels; longer ones have a number


def value_text(value):
    """A value of a setting as a text that reads back to it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def words_of_settings(at):
    """Values of settings for readers."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in at.items())


def numbered(found):
    """{settings: (name, text)} of those in `found` (a list of {name: value}) whose text is longer than LONGEST. The
    names are S1, S2, ..."""
    made = {}
    for at in found:
        if len(words_of_settings(at)) > LONGEST:
            made.setdefault(plain(at), (f"S{len(made) + 1}", words_of_settings(at)))
    return made


def plain(at):
    """The settings as a key, in which 1e-2 and 0.01 are the same value."""
    return frozenset((name, _plain(value)) for name, value in at.items())


def _plain(value):
    try:
        return float(value)
    except ValueError:
        return "".join(str(value).split())


# ---- panels ------------------------------------------------------------------------------------


def panels(found, product=True):
    """The panels that show trials with the settings `found` (a list of {name: value}) side by side: a list of {name:
    value}, and for each of `found` the numbers of its panels. A setting that a trial does not read is open: the trial is
    in the panels of all values. Without `product`, panels are not multiplied: if several values of a setting go with
    several values of another one, and no trial reads both, each of the two has panels of its own."""
    by_names = {}
    for one in found:
        by_names.setdefault(tuple(sorted(one)), {})[tuple(sorted(one.items()))] = one
    made = []
    for names in sorted(by_names, key=len, reverse=True):
        made = _joined(made, list(by_names[names].values()), product)
    order = {name: k for k, name in enumerate(in_order(found))}
    made = [{name: one[name] for name in sorted(one, key=order.get)} for one in made]
    place = {tuple(sorted(one.items())): k for k, one in reversed(list(enumerate(found)))}
    made.sort(key=lambda one: place.get(tuple(sorted(one.items())), len(found)))
    index = {names: _index(made, names) for names in by_names}
    return made, [index[tuple(sorted(one))][tuple(one[n] for n in sorted(one))] for one in found]


def in_order(found):
    """Names of the settings in a list of {name: value}, in the order of the entries with most of them."""
    return dict.fromkeys(name for one in sorted(found, key=len, reverse=True) for name in one)


def _index(made, names):
    """{values of the names: numbers of the panels that have them}."""
    index = {}
    for k, one in enumerate(made):
        if all(name in one for name in names):
            index.setdefault(tuple(one[name] for name in names), []).append(k)
    return index


def _joined(made, some, product):
    """The natural join of two lists of {name: value}. Entries without a partner stay as they are. Without `product`,
    two entries are not joined if each of them has several partners."""
    if not made:
        return some
    names = set(some[0])
    shared = [tuple(sorted(names & set(one))) for one in made]
    index = {common: _index(some, common) for common in set(shared)}
    partners = [index[common].get(tuple(one[name] for name in common), ()) for one, common in zip(made, shared)]
    times = collections.Counter(k for mine in partners for k in mine)
    found, joined = [], set()
    for one, mine in zip(made, partners):
        mine = [k for k in mine if product or len(mine) == 1 or times[k] == 1]
        joined.update(mine)
        found += [{**one, **some[k]} for k in mine] or [one]
    return found + [other for k, other in enumerate(some) if k not in joined]


# ---- columns -----------------------------------------------------------------------------------
# Values of a setting over trials are a pair (kind, array): "number", "integer" and "logical" have
# floats, NaN where a trial does not read the setting; "word" has texts, "" there.


def read(variable):
    """The values of the variable of a setting."""
    values, about = variable.all(), variable.attributes
    if values.dtype.kind in "OS":
        codes, distinct = pd.factorize(values)
        return "word", np.array([*map(text_of, distinct)], object)[codes]
    kind = {"f": "number"}.get(values.dtype.kind, "logical" if values.dtype.itemsize == 1 else "integer")
    numbers = values.astype(float)
    if kind != "number":
        numbers[values == np.ravel(about.get("_FillValue", [255 if kind == "logical" else -2**31]))[0]] \
            = np.nan
    return kind, numbers


def stacked(parts):
    """One (kind, array) of several; an array of kind "none" says nothing about the kind."""
    kinds = {kind for kind, _ in parts} - {"none"}
    if len(kinds) > 1:
        kind = "number" if kinds <= {"number", "integer"} else "word"
    else:
        kind = kinds.pop() if kinds else "number"
    if kind == "word":
        return kind, np.concatenate([as_words(*part) for part in parts])
    return kind, np.concatenate([values for _, values in parts])


def as_words(kind, values):
    """The values as texts, "" for a missing one."""
    if kind == "word":
        return values
    known = {}
    for v in np.unique(values[~np.isnan(values)]):
        known[v] = ("false", "true")[int(v)] if kind == "logical" else value_text(v)
    return np.array([known.get(v, "") for v in values], object)


def typed(kind, values):
    """A column for data frames: floats, Int64, boolean or a categorical, in which "" says that a trial
    does not read the setting (elsewhere NaN or NA does)."""
    if kind == "word":
        codes, words = pd.factorize(values)
        return pd.Categorical.from_codes(codes, words)
    if kind == "number":
        return values
    missing = np.isnan(values)
    plain = np.where(missing, 0, values)
    if kind == "integer":
        return pd.arrays.IntegerArray(plain.astype(np.int64), missing)
    return pd.arrays.BooleanArray(plain.astype(bool), missing)
