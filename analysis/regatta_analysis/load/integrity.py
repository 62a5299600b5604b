"""Whether a file is as the program wrote it: the trailer behind HDF5's part, and the checksums of the trials if
another program cut the trailer off (docs/results-format.md, Integrity).

This module uses HDF5 only in the child process of `reader`."""
import os
import stat
import struct

import h5py
import numpy as np
import xxhash

from .errors import InputError, one_line
from .reader import READ_ERRORS, Reader, members, open_own, unreadable

SCHEMA_VERSION, OLDEST = 3, 2
TRAILER = struct.Struct("<8sQ16s")
MAGIC = b"RGTRAIL\n"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
SHAPE = ("status", "n_iterations", "n_initial", "n_dim_x", "n_dim_c", "n_dim_z")
# The columns in a checksum, in its order, of files from before the attribute `checksum_columns`: never to be changed.
COLUMNS_BEFORE = ("x", "c", "y", "f", "objective", "recommendation", "instantaneous_regret",
                  "simple_regret", "cumulative_regret", "posterior_sd", "information_gain", "length_scale",
                  "signal_variance", "model_noise", "log_likelihood", "jitter", "score_recommended",
                  "score_instantaneous_regret", "score_simple_regret", "score_cumulative_regret",
                  "fill_distance", "objective_error", "solver_iterations", "solver_residual", "fit_data")
WIDTHS = {"dim_x": "n_dim_x", "dim_c": "n_dim_c", "dim_z": "n_dim_z", "score": "n_scores",
          "term": "n_terms"}
BLOCK = 512  # trials
_known = {}  # good files, with the data that show that they are unchanged


def damages(paths, shards=(), reader=None):
    """{path: one line on its damage, None: there is no damage}, without files that vanished meanwhile. `shards` are
    the paths that must have a trailer. The child of `reader` compares files without a trailer with their checksums."""
    reader, found = reader or Reader(), {}
    for path in paths:
        if _identity(path) not in _known:
            found[path] = _complaint(path, lambda: _check(path, path in shards, reader))
        else:
            found[path] = None
    _known.update((_identity(path), True) for path, line in found.items() if line is None)
    return {path: line for path, line in found.items() if line != ""}


def _identity(path):
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, str(path)


def _check(path, shard, reader):
    if not _look(path, shard):
        reader.ask(path, "check")


def _complaint(path, check):
    """The result of a check of a file, in one line; None: no damage; "": the file does not exist."""
    try:
        check()
    except FileNotFoundError:
        return ""
    except InputError as error:
        return str(error) if str(error).startswith(f"{path}: ") else f"{path}: {error}"
    except PermissionError as error:
        return f"{path}: {error.strerror}"
    except READ_ERRORS as error:
        return f"{path}: {unreadable()} ({one_line(error) or type(error).__name__})"
    return None


def read(path):
    """Compare the whole file with its checksums."""
    with open_own(path) as file:
        check_version(file.attrs)
        _check_trials(file)


def check_version(attributes):
    """Whether root attributes are those of a results file that this program reads."""
    version = np.asarray(attributes["schema_version"] if "schema_version" in attributes else "")
    if version.size != 1 or version.dtype.kind not in "iu":
        raise InputError("not a Regatta results file (no schema_version)")
    if version > SCHEMA_VERSION:
        raise InputError(f"schema version {int(version)} is newer than this program reads "
                         f"({SCHEMA_VERSION}); use the regatta_analysis that came with it")
    if version < OLDEST:
        raise InputError(f"schema version {int(version)} is of a version before the first release; this program reads "
                         f"{OLDEST} to {SCHEMA_VERSION}")


# ---- trailer -----------------------------------------------------------------------------------


def _look(path, shard):
    """Whether a file has a trailer, and whether it fits; without HDF5."""
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise InputError("not a file")
        return _has_trailer(file, about.st_size, shard)


def _has_trailer(file, length, required):
    """Raises InputError if the trailer does not fit."""
    if not length:
        raise InputError("not an HDF5 file (it is empty)")
    head = file.read(48)
    file.seek(max(length - TRAILER.size, 0))
    magic, known, digest = TRAILER.unpack(file.read().rjust(TRAILER.size, b"\0"))
    if magic != MAGIC:
        if not head.startswith(SIGNATURE):
            raise InputError("not an HDF5 file")
        if required or _is_cut(head, length):
            raise InputError("damaged: its last bytes are missing")
        return False
    if known != length - TRAILER.size or _hash(file, known) != digest[::-1]:
        raise InputError("damaged: its checksum does not fit")
    return True


def _hash(file, length):
    hasher = xxhash.xxh3_128()
    file.seek(0)
    while length:
        block = file.read(min(length, 1 << 20))
        if not block:
            break
        hasher.update(block)
        length -= len(block)
    return hasher.digest()


def _is_cut(head, length):
    """Whether bytes are missing behind or in HDF5's part; its superblock (version 0) says where that part ends. Other
    programs that write to the file drop the whole trailer."""
    if len(head) < 48 or head[8] != 0 or head[13] != 8:
        return False
    end = int.from_bytes(head[40:48], "little")
    return length < end or 0 < length - end <= TRAILER.size


# ---- contents ----------------------------------------------------------------------------------


def _groups(file):
    return [group for _, group in members(file) if isinstance(group, h5py.Group) and "problem_label" in group.attrs]


def _check_trials(file):
    """Check that every trial has the checksum stored beside it, and that all together have that of the file."""
    total, count = 0, 0
    for group in _groups(file):
        if "checksum" not in group:
            raise InputError(f"damaged: {group.name[1:]!r} has no checksums, and the file no trailer; "
                             "--trust reads it all the same")
        stored = group["checksum"][()]
        for found, expected, name in zip(trial_checksums(group), stored, group["id"][()]):
            if found.hex().encode() != expected:
                raise InputError(f"damaged: trial {name.decode('utf-8', 'replace')} does not have the "
                                 "checksum stored beside it")
            total += int.from_bytes(found, "big")
        count += len(stored)
        _check_labels(group)
    if count != int(np.squeeze(file.attrs["n_trials"])):
        raise InputError(f"damaged: {count} of {int(np.squeeze(file.attrs['n_trials']))} trials are "
                         "in it")
    if _text(file.attrs["checksum"]) != total_checksum(count, total):
        raise InputError("damaged: its trials don't have the checksum of the file")


def _check_labels(group):
    """Labels and swept settings are in no checksum. But a cell has one of each, and the key has instance and seed."""
    labels, fit, step = set(), True, 64 * BLOCK
    swept = [dataset for _, dataset in members(group) if "setting" in dataset.attrs or dataset.name.endswith("/swept")]
    for rows in (slice(first, first + step) for first in range(0, len(group["cell"]), step)):
        labels |= set(zip(*(group[name][rows] for name in ("cell", "problem", "algorithm")),
                          *(map(repr, dataset[rows].tolist()) for dataset in swept)))
        said = (f";instance={i};seed={s}".encode() for i, s in zip(group["instance"][rows], group["seed"][rows]))
        fit &= all(map(bytes.endswith, group["key"][rows], said))
    cells = {label[0] for label in labels}
    if "cells" in group.file:
        of = [group.file["cells"][name][()] for name in ("problem", "algorithm")]
        labels |= {(cell, of[0][cell], of[1][cell], *own) for cell, _, _, *own in labels}
    if len(labels) != len(cells) or not fit:
        raise InputError(f"damaged: labels of {group.name[1:]!r} contradict each other")


def total_checksum(count, total):
    """Checksum of a file of `count` trials whose checksums add up to `total`, in hexadecimal."""
    mask = (1 << 64) - 1
    return xxhash.xxh3_128_hexdigest(struct.pack("<3Q", count, total & mask, total >> 64 & mask))


def checksum_columns(file):
    """Names of the columns in a checksum, in its order; columns of the algorithm follow them."""
    said = file.attrs.get("checksum_columns")
    return COLUMNS_BEFORE if said is None else tuple(_text(said).split())


def trial_checksums(group):
    """Checksum of every trial of a group, computed from its data: 16 bytes, highest first."""
    n, known = len(group["id"]), checksum_columns(group.file)
    extra = sorted((name for name, dataset in members(group) if isinstance(dataset, h5py.Dataset)
                    and name not in known and dataset.ndim == 2 and dataset.dtype.kind == "f"),
                   key=str.encode)
    names = [name for name in known if name in group] + extra
    widths = {name: _width(group[name]) for name in names}
    for first in range(0, n, BLOCK):
        yield from _block_checksums(group, slice(first, min(first + BLOCK, n)), names, widths)


def _width(dataset):
    """The per-trial variable with the number of the trial's values along the last axis."""
    return WIDTHS[dataset.dims[2][0].name.rsplit("/", 1)[1]] if dataset.ndim == 3 else None


def _block_checksums(group, rows, names, widths):
    heads = [b"\0".join(texts) + b"\0" for texts in
             zip(*(group[name][rows] for name in ("id", "key", "message")))]
    shape = np.stack([group[name][rows].astype(np.int64) for name in SHAPE], axis=1)
    optimum = _canonical(group["optimum"][rows])
    further = {name: group[name][rows] if name in group else np.zeros(len(heads), int)
               for name in ("n_scores", "n_terms")}
    width = {**further, None: np.ones(len(heads), int),
             **{name: shape[:, k] for k, name in enumerate(SHAPE)}}
    columns = [(name, *_own(group[name][rows], shape[:, 1], width[widths[name]])) for name in names]
    pattern = np.column_stack([shape, *further.values(), *(present for _, _, present in columns)])
    kinds, member = np.unique(pattern, axis=0, return_inverse=True)
    digests = [b""] * len(heads)
    for k, kind in enumerate(kinds):
        mine = np.flatnonzero(member == k)
        tails = _tails(mine, kind, optimum, columns, {
            name: values[mine[0]] for name, values in width.items()}, widths)
        for i, tail in zip(mine, tails):
            digests[i] = xxhash.xxh3_128_digest(heads[i] + tail.tobytes())
    return digests


def _own(values, rows, width):
    """Values of a column as trials x rows x width, and a flag for each trial with values of its own."""
    values = values if values.ndim == 3 else values[:, :, None]
    inside = ((np.arange(values.shape[1]) < rows[:, None])[:, :, None]
              & (np.arange(values.shape[2]) < width[:, None])[:, None, :])
    return values, (inside & ~np.isnan(values)).any(axis=(1, 2))


def _tails(mine, kind, optimum, columns, width, widths):
    """Bytes behind the texts of the trials `mine`, which have one shape: trials x bytes."""
    made = [np.tile(kind[:len(SHAPE)], (len(mine), 1)).view(np.uint8), optimum[mine, None].view(np.uint8)]
    for name, values, present in columns:
        if present[mine[0]]:
            own = values[mine, :width["n_iterations"], :width[widths[name]]].reshape(len(mine), -1)
            head = name.encode() + b"\0" + struct.pack("<Q", own.shape[1])
            made += [np.tile(np.frombuffer(head, np.uint8), (len(mine), 1)),
                     _canonical(own).view(np.uint8)]
    return np.concatenate(made, axis=1)


def _canonical(values):
    """Bits of numbers; -0 as 0, every NaN the same."""
    values = np.array(values, "<f8", order="C")
    bits = values.view("<u8")
    bits[bits == 1 << 63] = 0
    bits[np.isnan(values)] = 0x7ff8 << 48
    return bits


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
