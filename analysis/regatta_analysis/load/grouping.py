"""The trials of a file as groups: one for every problem and every value of the settings swept outside the algorithms.
If the study has several scores, there is one for every score."""
import numpy as np
import pandas as pd

from .errors import InputError
from .group import Group, reading
from .settings import aimed_score, column_of, panel_label, panels, swept_outside
from .variables import Slice, Table, places_of_pairs


def groups_of(path, parts):
    """Groups from (label, part) of one or many files."""
    by_label = {}
    for label, part in parts:
        by_label.setdefault(label, []).append(part)
    with reading(path):
        return [group for label, some in by_label.items() for group in _split(path, label, some)]


def _split(path, label, parts):
    """One Group per problem and setting that is swept outside the algorithms. Trials that do not read a setting are in
    all its groups."""
    table = Table(parts)
    keep = np.arange(sum(table.lengths))
    if len(parts) > 1:  # a shard, and the shard into which it was merged
        keep = np.flatnonzero(~pd.Series(table.texts("id", keep)).duplicated())
    pairs = places_of_pairs(*(table.column(name, keep) for name in ("algorithm", "swept")))
    found, places = panels([swept_outside(*pair) for pair, _ in pairs])
    scores = next((text for text in table.column("scores", keep) if text), "") \
        if "scores" in table.names else ""
    mine = [[] for _ in found]
    for (_, own), numbers in zip(pairs, places):
        for number in numbers:
            mine[number].append(keep[own])
    table = Table(parts, len(found) > 1)
    tables = _by_score(table, scores)
    for at, some in zip(found, mine):
        own = np.sort(np.concatenate(some))
        for score, view in tables.items():
            yield from _panel(path, label, view, own, at, score)


def _panel(path, base, table, rows, at, score):
    """The Group of a panel, or of one score in it, which is called `LABEL NAME`. There the regret is that of the
    score, and it has only the trials that aimed at this score, or at none."""
    label, place = panel_label(base, at), base
    if score is not None:
        codes, distinct = pd.factorize(table.column("swept", rows))
        aims = np.array([aimed_score(text) for text in distinct], dtype=object)[codes]
        rows = rows[(aims == None) | (aims == score)]  # noqa: E711 (elementwise)
        label, place = f"{label} {score}", f"{base} {score}"
    if len(rows):
        _check_labels(path, label, table, rows)
        at = {column_of(name, table.settings): value for name, value in at.items()}
        yield Group(path, label, table, rows, base, place, at)


def _check_labels(path, label, table, rows):
    """No two trials of a panel have the same labels."""
    names = ("algorithm", "instance", "seed")
    frame = pd.DataFrame({name: table.column(name, rows) for name in names})
    twice = frame.duplicated().to_numpy()
    if twice.any():
        algorithm, instance, seed = frame[twice].iloc[0]
        raise InputError(f"{path}: two trials of {algorithm!r} on {label!r} have instance {instance} and seed {seed}: "
                         "labels in it were changed, or trials of an edited study lie beside new ones")


def _by_score(table, scores):
    """{name of a measure: the table with its values}; {None: the table} without measures."""
    if not scores:
        return {None: table}
    return {pair.split("=", 1)[0]: Table([_scored(part, number) for part in table.parts])
            for number, pair in enumerate(scores.split("; "))}


def _scored(part, number):
    """The part with `score_NAME` at one score in place of NAME."""
    view = part.view({name: variable for name, variable in part.items() if "score" not in variable.dims})
    for name, variable in part.items():
        if variable.dims[-1:] == ("score",) and number < variable.shape[-1]:
            view[name.removeprefix("score_")] = Slice(variable, number)
    return view
