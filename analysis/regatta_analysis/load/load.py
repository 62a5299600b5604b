"""Read a results file, or the study directory of a study still running.

A results file has one group per problem label; in it, or in its subgroups `timing` and
`provenance`, every variable has the dimensions (trial), (trial, iteration) or (trial, iteration,
dim_*). A study directory `OUT.h5.d/` holds shards of the same schema; they are joined along the
trials. docs/results-format.md has the details.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import against as others
from . import schema2
from .errors import InputError
from .group import reading
from .grouping import groups_of
from .reader import Reader, check_version, damages
from .results import Results
from .settings import text_of
from .variables import Kept, Variable, with_cells


def load(path: str | os.PathLike[str], partial: bool = False, trust: bool = False,
         against: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None) -> Results:
    """Results from a results file or a study directory (also if only the directory exists yet).

    `.trials` has one row per trial, `.data` one row per evaluation. `.xarray(problem)` has the labelled arrays of one
    problem, and `.study` the text of the study file. `partial` accepts a file that may lack trials by its own account
    (a shard, or files joined by `regatta merge`). A child process reads the files, so that HDF5 can't crash this one.
    It first checks that they are whole and unchanged; `trust` skips the check. Raises InputError, also later if the
    child dies while it reads. `against`: archives or other results, one or several, whose trials pair with these (equal
    problem, instance, seed and budget): their methods stand behind those of the study. None: those that the study file
    names, as far as they are here."""
    path = Path(path)
    if not path.exists() and Path(f"{path}.d").is_dir():
        path = Path(f"{path}.d")
    if path.is_dir():
        attributes, parts, lost = _read_directory(path, trust)
    else:
        (attributes, parts), lost = _read_whole(path, trust), []
        if not attributes.get("complete", 0) and not partial:
            raise InputError(f"{path}: incomplete: a shard, or joined from parts; --partial reads what "
                             "is there, a study directory (*.h5.d) can be passed as it is")
    if against is None:
        archives, absent = others.named(path.parent, str(attributes.get("study", "")))
    else:
        archives, absent = [Path(one) for one in ([against] if isinstance(against, (str, os.PathLike)) else against)], ()
    own, beside = list(parts), others.Beside(notes=absent, files=tuple(archives))
    others.distinct(path, archives)
    ids = {text_of(one) for _, part in own for one in part["id"].all()} if archives else set()
    for archive in archives:
        theirs, found = _read_whole(archive, trust)
        more, lines = others.beside(path, attributes.get("study_seed"), own, archive, theirs.get("study_seed"), found,
                                    ids)
        parts = [*parts, *more]
        beside = replace(beside, methods=beside.methods | others.methods_of(more), notes=(*beside.notes, *lines),
                         archived=beside.archived or bool(theirs.get("archive_of")))
    return Results(path, attributes, groups_of(path, parts), lost, beside=beside)


def _read_whole(path, trust):
    """Attributes and parts of a results file that is whole and unchanged."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path}: a folder, where a results file is expected")
    reader = Reader()
    if not trust:
        wrong = damages([path], reader=reader)
        if wrong.get(path, "no such file"):
            raise InputError(wrong.get(path) or f"{path}: no such file")
    return read_file(reader, path)


def _read_directory(path, trust):
    """Attributes, parts, and a warning per shard that could not be read. A results file beside the directory belongs
    to it: the study was finished once and then extended."""
    shards = sorted(p for p in path.glob("*.h5") if not p.name.startswith("."))
    packed = path.with_suffix("") if path.suffix == ".d" else None
    files = [*shards, packed] if packed and packed.is_file() else shards
    reader = Reader()
    wrong = dict.fromkeys(files) if trust else damages(files, shards, reader)
    attributes, parts, warnings = {}, [], []
    for file in files:
        try:
            if wrong.get(file):
                raise InputError(wrong[file])
            found, more = read_file(reader, file, in_memory=file != packed)
        except FileNotFoundError:
            continue  # a rank merged it into another shard meanwhile
        except InputError as error:
            warnings.append(str(error))
            continue
        attributes = attributes or found
        parts += more
    if not parts:
        raise InputError(warnings[0] if warnings else f"{path}: no finished trials in there")
    return {**attributes, "complete": 0}, parts, warnings


def read_file(reader: Reader, path: Path,
              in_memory: bool = False) -> tuple[dict, list[tuple[str, dict[str, Variable]]]]:
    """Root attributes, and (label, part) of every group of one file."""
    attributes, groups, cells = reader.ask(path, "contents")
    with reading(path):
        try:
            check_version(attributes)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        table = {name: Kept(column) for name, column in _variables(reader, path, cells).items()}
        study = str(attributes.get("study", ""))
        parts = [(label, with_cells(own, table) if table else schema2.with_cells(own, study))
                 for label, own in ((label, _variables(reader, path, found)) for label, found in groups)]
        for _, part in parts if in_memory else ():
            for variable in (*part.values(), *part.constants.values()):
                variable.keep()
    return attributes, parts


def _variables(reader, path, found):
    described = {}
    return {name: Variable(reader, path, described, *about) for name, *about in found}
