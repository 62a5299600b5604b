"""Results of others beside one's own. The random numbers of a study are common to all methods, so that trials of equal
problem, instance, seed and budget pair, whoever ran them: initial designs, noise and contexts are the same."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import InputError
from .settings import as_words, read, text_of
from .variables import Rows, Table
from .yaml_file import entry

if TYPE_CHECKING:
    from .variables import Part

FIELDS = ("problem_name", "problem_revision", "goal", "measure", "scores", "law", "inputs", "contexts", "dynamic",
          "initial_points", "iterations")
UNSET = ("", "auto", "none", "false")  # a program that lacks such a setting does the same
OF_METHODS = ("algorithm.", "pending.", "surrogate.", "maximiser.")
ABSENT = "this study does not have the problem"
SAME = 1e-6  # relative difference of the regret at the end of the initial design; other machines round differently


@dataclass(frozen=True)
class Beside:
    """The trials of others beside those of a study: their `methods`, `notes` on which trials pair and which do not,
    whether some are archived, and their `files`."""
    methods: frozenset = frozenset()
    notes: tuple = ()
    archived: bool = False
    files: tuple = ()


def named(folder: Path, text: str) -> tuple[list[Path], tuple[str, ...]]:
    """The files that the text of a study names under `against`, and a line for those that are not here. A path starts at
    this folder, or is as typed."""
    found = entry(text, "against") if "against" in text else None
    typed = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one]
    places = [next((p for p in (folder / one, Path(one)) if p.is_file()), None) for one in typed]
    absent = [one for one, place in zip(typed, places) if not place]
    lines = (f"The study compares itself with {', '.join(absent)}, not found from here: --against PATH names it.",)
    return [place for place in places if place], lines if absent else ()


def distinct(path: Path, archives: list[Path]) -> None:
    """Raises InputError for an archive that is given twice, and for the results themselves."""
    seen = {path.resolve()}
    for archive in archives:
        if archive.resolve() == path.resolve():
            raise InputError(f"{archive}: these are the results themselves, where those of others are expected")
        if archive.resolve() in seen:
            raise InputError(f"{archive}: given twice to compare with")
        seen.add(archive.resolve())


class Replaced(Rows):
    """A per-trial variable whose values are made from those of a file."""

    def __init__(self, variable, make):
        super().__init__(variable, np.arange(variable.shape[0]))
        self._make = make

    def all(self):
        return self._make(super().all())

    def rows(self, rows):
        return self._make(super().rows(rows))


def beside(path: Path, seed: object, parts: list[tuple[str, Part]], archive: Path, other: object,
           theirs: list[tuple[str, Part]], ids: set[str]) -> tuple[list[tuple[str, Part]], list[str]]:
    """The parts of an archive (or other results) whose trials pair with trials of `parts`, under the labels of the
    latter; and lines on what pairs and what does not. `seed`, `other`: the seeds of both studies. `ids`: the trials that
    are there already; those of the archive join them. A method that both have gets the name of the archive in brackets.
    Raises InputError if no trial pairs."""
    if seed != other:
        raise InputError(f"{archive}: no trial pairs with those of {path}: the seed of its study is {other}, not {seed}")
    mine, names = _cells(parts), {name for _, part in parts for name in _texts(part["algorithm"])}
    found, lost, n, foreign, covered = [], {}, 0, False, {}
    for label, part in theirs:
        for own, identity, rows in _split(part):
            match = next((cell for cell in mine if cell["identity"] == identity), None)
            partners = rows[[pair in match["pairs"] for pair in _pairs(part, rows)]] if match else ()
            if not len(partners):
                why = "it has none of these seeds and instances" if match else _difference(identity, mine, label)
                methods, problems = lost.setdefault(why, ({}, {}))
                methods[own], problems[label] = None, None
                continue
            covered.setdefault(mine.index(match), match["pairs"].copy()).difference_update(_pairs(part, partners))
            rows = partners[[one not in ids for one in _texts(part["id"], partners)]]  # others are here as well
            if not len(rows):
                continue
            foreign |= not match["fingerprints"] >= _fingerprints(part, rows)
            ids.update(_texts(part["id"], rows))
            _check(path, archive, label, own, part, rows, match["starts"])
            n += len(rows)
            found.append((match["label"], _part(part, rows, match["label"], own, own in names and archive.stem)))
    if not found:
        reasons = sorted(lost, key=lambda why: why == ABSENT) or ["they are the same trials"]
        raise InputError(f"{archive}: no trial pairs with those of {path}: {reasons[0]}")
    lost.pop(ABSENT, None)  # the archive may have more problems
    methods = len(methods_of(found))
    return found, [
        f"Against {archive.name}: {n:,} trials of {methods} method{'s' * (methods > 1)} that did not run here pair with those "
        "of this study.",
        *(f"{archive.name}: {_some(them, 'methods')} on {_some(problems, 'problems')} "
          f"{'do' if len(them) > 1 else 'does'} not pair: {why}" for why, (them, problems) in lost.items()),
        *_gaps(archive, mine, covered),
        *([f"{archive.name}: its trials have another numeric fingerprint than those of this study, so that equal trials may "
           "differ in their last bits."] if foreign else [])]


def _gaps(archive, mine, covered):
    """A line on the trials of this study that have no partner in an archive, if there are some on a problem that pairs."""
    lacking = [(mine[k], len(pairs)) for k, pairs in covered.items() if pairs]
    of, n = sum(len(cell["pairs"]) for cell, _ in lacking), sum(n for _, n in lacking)
    problems = list(dict.fromkeys(cell["label"] for cell, _ in lacking))
    return [f"{archive.name}: {n} of the {of} pairs of instance and seed on {_some(problems, 'problems')} have no partner "
            "there."] if lacking else []


def _some(names, noun):
    """Up to three names, or their number."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {noun}"


def methods_of(parts: list[tuple[str, Part]]) -> frozenset[str]:
    """The labels of the methods in some parts."""
    return frozenset(text for _, part in parts for text in _texts(part["algorithm"]))


def _texts(variable, rows=None):
    return [*map(text_of, variable.all() if rows is None else variable.rows(rows))]


def _split(part):
    """(label of the method, identity of the problem, trials) of every cell with complete trials."""
    table = Table([part])
    complete = np.flatnonzero(table.column("status", np.arange(table.lengths[0])) == "complete")
    codes, cells = pd.factorize(table.column("cell", complete))
    for code in range(len(cells)):
        rows = complete[codes == code]
        own = table.column("algorithm", rows[:1])[0]
        swept = table.column("swept", rows[:1])[0]
        yield (f"{own} ({swept})" if swept else own), _identity(part, rows[0]), rows


def _identity(part, row):
    """{name: text} of what decides the random numbers and the regret of a trial, whatever its method."""
    found = {}
    for name, variable in part.constants.items():
        if name in FIELDS or ("." in name and not name.startswith(OF_METHODS)):
            text = as_words(*read(Rows(variable, np.array([row]))))[0]
            if text not in UNSET:
                found[name] = text
    return found


def _cells(parts):
    """One's own problems: label, identity, {(instance, seed)}, the regret of each at the end of its initial design, and
    the numeric fingerprints of the trials."""
    made = []
    for label, part in parts:
        for _, identity, rows in _split(part):
            cell = next((cell for cell in made if cell["identity"] == identity), None)
            if cell is None:
                cell = {"label": label, "identity": identity, "pairs": set(), "starts": {}, "fingerprints": set()}
                made.append(cell)
            pairs = _pairs(part, rows)
            cell["pairs"].update(pairs)
            cell["fingerprints"] |= _fingerprints(part, rows)
            cell["starts"].update(zip(pairs, _starts(part, rows)))
    return made


def _pairs(part, rows):
    return list(zip(part["instance"].rows(rows).tolist(), part["seed"].rows(rows).tolist()))


def _fingerprints(part, rows):
    return set(part["fingerprint"].rows(rows).tolist()) if "fingerprint" in part else set()


def _starts(part, rows):
    """Simple regret at the end of the initial design, NaN where it is not known."""
    first = part["n_initial"].rows(rows).astype(int) - 1
    if "simple_regret" not in part or (first < 0).any():
        return np.full(len(rows), np.nan)
    return np.take_along_axis(part["simple_regret"].rows(rows), first[:, None], axis=1)[:, 0]


def _check(path, archive, label, own, part, rows, starts):
    """Trials that pair begin alike."""
    for pair, start in zip(_pairs(part, rows), _starts(part, rows)):
        known = starts[pair]
        if not np.isnan(known + start) and abs(known - start) > SAME * max(abs(known), abs(start), 1e-300):
            raise InputError(f"{archive}: {own} on {label}, instance {pair[0]}, seed {pair[1]}, begins with a regret of "
                             f"{start:.6g}, where {path} has {known:.6g}: another problem under the same name")


def _difference(identity, mine, label):
    """The first thing that keeps a problem from pairing."""
    near = min((cell["identity"] for cell in mine), key=lambda own: (
        own.get("problem_name") != identity.get("problem_name"), len(identity.items() ^ own.items())))
    if near.get("problem_name") != identity.get("problem_name"):
        return ABSENT
    name = min(name for name, _ in identity.items() ^ near.items())
    return f"{name.removeprefix('run.')} is {identity.get(name, 'not set')} there, {near.get(name, 'not set')} here"


def _part(part, rows, label, own, clash):
    """The trials under the label of one's own problem, behind one's own methods."""
    made = {name: Rows(variable, rows) for name, variable in part.items()}
    constants = type(part.constants)((name, Rows(variable, rows)) for name, variable in part.constants.items())
    made["problem"] = Replaced(made["problem"], lambda values: np.full(len(values), label, object))
    if clash:
        made["algorithm"] = constants["algorithm"] = Replaced(
            made["algorithm"], lambda values: np.array([f"{text} ({clash})" for text in map(text_of, values)], object))
    for name in ("algorithm_number", "order"):
        constants[name] = Replaced(constants[name], lambda values: values + 1_000_000)
    found = part.view(made)
    found.constants = constants
    return found
