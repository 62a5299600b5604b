"""Results files, read in a child process. HDF5 trusts its input, and altered bytes can make it crash or never return.
The child passes on its data as plain bytes. If the child dies, the file is damaged, and the next question gets another
child.

Before that, a file is compared with what the program wrote: by the trailer behind HDF5's part, which needs no HDF5, or if
another program cut the trailer off, by the checksums of the trials (docs/results-format.md, Integrity)."""
import ctypes
import functools
import gc
import json
import os
import resource
import signal
import stat
import struct
import threading
import weakref
from multiprocessing import Pipe

import h5py
import numpy as np
import xxhash

from .errors import InputError, one_line
from .settings import text_of

MEMORY = 4 << 30  # bytes that reading may take, beside three times the size of the file
SECONDS, RATE = 4.0, 16 << 20  # CPU time of one question, and bytes of the file per second more
WAIT = 600.0  # seconds until a child that neither answers nor computes is ended
LINKS = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "coordinates")
SOMETIMES = ("scores", "inputs", "contexts")  # texts of cells, often empty
NAMES = ("x_name", "c_name")  # along dim_x, dim_c; `inputs`, `contexts` say the same of each trial
COUNTS = {"status": None, "n_initial": None, "n_iterations": "iteration", "n_dim_x": "dim_x", "n_dim_c": "dim_c", "n_dim_z": "dim_z",
          "n_scores": "score", "n_terms": "term"}  # the counts of a trial, and the axes that limit them
FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
TEXTS = 1 << 14  # that are read at once
READ_ERRORS = (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError, AttributeError,
               OverflowError, MemoryError, UnicodeError)
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
BLOCK = 512  # trials of which checksums are computed at once

_pipes = weakref.WeakSet()  # pipes of this process: a child must not keep its siblings alive
_known = {}  # good files, with the data that show that they are unchanged


class Reader:
    """Asks a child process, which opens files on demand and keeps them open."""

    def __init__(self, folder=None):
        self._owner, self._pipe, self._end = None, None, None
        self._folder = folder or _working_directory()
        self._lock = threading.Lock()

    def __reduce__(self):
        """A copy, also in another process, reads the same files with a child of its own."""
        return Reader, (self._folder,)

    def ask(self, path, question, *details):
        """The answer; raises InputError, which begins with the path, or FileNotFoundError."""
        text = json.dumps([question, os.path.join(self._folder, path), *details]).encode()
        with self._lock:
            if self._owner != os.getpid():
                self._start()
            try:
                self._pipe.send_bytes(text)
                answer, kind = _receive(self._pipe)
            except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
                killed = self.close() == signal.SIGKILL and not isinstance(error, TimeoutError)
                says = "its reader was killed, as where memory is short" if killed else unreadable()
                raise InputError(f"{path}: {says}") from error
        if kind == "absent":
            raise FileNotFoundError(str(path))
        if kind == "wrong":
            raise InputError(f"{path}: {answer}")
        return answer

    def _start(self):
        ours, theirs = Pipe()
        parent, lasts = os.getpid(), threading.current_thread() is threading.main_thread()
        child = os.fork()
        if not child:
            ours.close()
            if lasts:
                _die_with(parent)
            _serve(theirs)
        theirs.close()
        _pipes.add(ours)
        self._owner, self._pipe = os.getpid(), ours
        self._end = weakref.finalize(self, _end, os.getpid(), child, ours)

    def close(self):
        """End the child, and return the signal that ended it; another question starts a new one."""
        status = self._end() if self._end is not None else None
        self._owner = None
        return os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None


def _working_directory():
    """Where relative paths begin; no place if the folder was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _end(owner, child, ours):
    if os.getpid() != owner:
        return None
    ours.close()
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


# ---- answers on their way ----------------------------------------------------------------------


def _receive(ours):
    """(answer, kind) of one message: a text of JSON, and the bytes of an array behind it."""
    if not ours.poll(WAIT):
        raise TimeoutError
    about = json.loads(ours.recv_bytes())
    if about["kind"] != "array":
        return about["answer"], about["kind"]
    values = np.empty(about["size"], about["type"])
    rest = memoryview(values).cast("B") if values.size else b""
    while rest:
        if not (n := os.readv(ours.fileno(), [rest])):
            raise EOFError
        rest = rest[n:]
    if about["texts"]:
        ends = np.frombuffer(ours.recv_bytes(), np.int64).cumsum().tolist()
        blob, distinct = ours.recv_bytes(), np.empty(len(ends), dtype=object)
        distinct[:] = [blob[a:b] for a, b in zip([0, *ends], ends)]
        values = distinct[values]
    return values.reshape(about["shape"]), "array"


def _send(theirs, kind, answer):
    if kind != "array":
        theirs.send_bytes(json.dumps({"kind": kind, "answer": answer}).encode())
        return
    values, texts = answer
    about = {"kind": kind, "shape": values.shape, "size": values.size, "type": values.dtype.str, "texts": texts is not None}
    theirs.send_bytes(json.dumps(about).encode())
    rest = memoryview(np.ascontiguousarray(values).reshape(-1)).cast("B") if values.size else b""
    while rest:  # megabytes: no copy of them is made on the way
        rest = rest[os.write(theirs.fileno(), rest):]
    if texts is not None:
        theirs.send_bytes(np.array([*map(len, texts)], np.int64).tobytes())
        theirs.send_bytes(b"".join(texts))


# ---- the child ---------------------------------------------------------------------------------


def _die_with(parent):
    """A child that waits for questions ends when its parent does; one that reads would go on. The signal of Linux is
    about the thread that made the child: of other threads than the main one, which may end early, it is not wanted."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (AttributeError, OSError):
        pass  # not Linux: the limits on time end it
    if os.getppid() != parent:
        os._exit(0)


def _serve(theirs):
    """Never returns, prints nothing, writes nothing but its answers."""
    try:
        for other in list(_pipes):
            other.close()
        gc.freeze()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for kind in (signal.SIGPROF, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
            signal.signal(kind, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        files = {}
        while True:  # EOFError ends it
            question, path, *details = json.loads(theirs.recv_bytes())
            _send(theirs, *_answer(files, question, path, details))
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        os._exit(0)


def _answer(files, question, path, details):
    """(kind, answer). An error becomes one line about the file."""
    try:
        size = os.stat(path).st_size if path not in files else files[path][1]
        signal.setitimer(signal.ITIMER_PROF, SECONDS + size / RATE)
        if question == "check":
            _limit_memory(size)
            check_contents(path, *details)
            return "plain", None
        if path not in files:
            _limit_memory(size)
            files[path] = (file := open_own(path)), size, _stamp(file)
        file, _, before = files[path]
        found = QUESTIONS[question](file, *details)
        if _stamp(file) != before:
            return "wrong", "something writes to it while it is read; Regatta replaces a results file by a new one"
        return "array" if question == "values" else "plain", found
    except FileNotFoundError:
        return "absent", None
    except InputError as error:
        return "wrong", str(error)
    except PermissionError as error:
        return "wrong", error.strerror
    except READ_ERRORS as error:
        return "wrong", f"{unreadable()} ({one_line(error) or type(error).__name__})"


def _stamp(file):
    """Size and time of change of an open file: they differ once the file has been written to."""
    about = os.fstat(file.id.get_vfd_handle())
    return about.st_size, about.st_mtime_ns


def unreadable():
    """The message of a failure of HDF5: the file is damaged, unless this process may not take the memory for a good one."""
    if resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY:
        return "damaged: HDF5 can't read it"
    return "HDF5 can't read it: it needs more than the limit on memory (ulimit -v), or it is damaged"


def _limit_memory(size):
    """Lower the limit on this process; a limit that it cannot raise stays."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return  # the system has no such limit
    wanted, hard = used + MEMORY + 3 * size, resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def open_own(path):
    """A results file, open. A pipe would never open, and the data of a stranger's file must be in the file itself: HDF5
    would follow links, and read what external storage or a virtual dataset names. Filters are those of every HDF5."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError("not a file")
    file = h5py.File(path, "r")
    objection = file.id.links.visit(functools.partial(_objection, file.id), info=True)
    if objection:
        raise InputError(f"damaged: {objection}")
    return file


def _objection(file, name, link):
    """Why the object of a link must not be read; None: it may be, and the visit goes on."""
    shown = repr(name.decode("utf-8", "replace"))
    if link.type != h5py.h5l.TYPE_HARD:
        return f"{shown} is a link to another place"
    thing = h5py.h5o.open(file, name)
    if not isinstance(thing, h5py.h5d.DatasetID):
        return None
    made = thing.get_create_plist()
    if made.get_external_count():
        return f"dataset {shown} takes its data from other files"
    if made.get_layout() == h5py.h5d.VIRTUAL:
        return f"dataset {shown} takes its data from other datasets"
    if any(made.get_filter(k)[0] not in FILTERS for k in range(made.get_nfilters())):
        return f"dataset {shown} needs a filter other than deflate, shuffle and fletcher32"
    return None


def members(place):
    """(name, object) of everything in a group. Raises if an object can't be opened; items() of h5py would give None."""
    return [(name, place[name]) for name in place]


def problem_groups(file):
    """(name, group) of the problems of a file."""
    return [(name, group) for name, group in members(file)
            if isinstance(group, h5py.Group) and "problem_label" in group.attrs]


def _contents(file):
    groups = problem_groups(file)
    for name, group in groups:
        _check_counts(name, group)
    return _attributes(file), [
        (plain_value(group.attrs["problem_label"]), list(_variables(group)))
        for name, group in groups], list(_columns_of_cells(file["cells"])) if "cells" in file else []


def _columns_of_cells(cells):
    """(name, path, shape, stored) of the columns of the table of cells."""
    for text in ("id", "problem", "algorithm", "swept"):
        if cells[text].dtype.kind != "O" or h5py.check_string_dtype(cells[text].dtype) is None:
            raise InputError(f"damaged: {f'cells/{text}'!r} is no text")
    for before, place in (("", cells), ("sweep/", cells["sweep"]), ("settings/", cells["settings"])):
        for name, dataset in members(place):
            if isinstance(dataset, h5py.Dataset) and dataset.shape == cells["cell"].shape and not h5py.h5ds.is_scale(dataset.id):
                yield f"{before}{name}", dataset.name, dataset.shape, name not in SOMETIMES or any(dataset[()])


def _check_counts(name, group):
    """Whether the counts of each trial fit into the arrays, as the program checks them: a trailer can be forged."""
    for count, axis in COUNTS.items():
        if count not in group:
            continue
        stored, most = group[count], np.inf if axis is None else len(group[axis]) if axis in group else 0
        fits = stored.dtype.kind in "iu" and stored.shape == group["algorithm"].shape
        if not fits or np.any((stored[()] < 0) | (stored[()] > most)):
            raise InputError(f"damaged: {f'{name}/{count}'!r} has impossible values")
    cells = file["cells"]["cell"].shape[0] if "cells" in (file := group.file) else 0
    if cells and (group["cell"].dtype.kind not in "iu" or not np.all((group["cell"][()] >= 0) & (group["cell"][()] < cells))):
        raise InputError(f"damaged: {f'{name}/cell'!r} has impossible values")
    for text in ("algorithm", "swept"):
        if text in group and (group[text].dtype.kind != "O" or h5py.check_string_dtype(group[text].dtype) is None):
            raise InputError(f"damaged: {f'{name}/{text}'!r} is no text")


def _variables(group):
    """(name, path, shape, stored) of all variables with the dimension (trial), including those of subgroups."""
    for place in (group, *(group[sub] for sub in ("timing", "provenance") if sub in group)):
        for name, dataset in members(place):
            if (isinstance(dataset, h5py.Dataset) and dataset.ndim and name not in NAMES
                    and not h5py.h5ds.is_scale(dataset.id) and _is_plain(dataset)):
                empty = dataset.dtype.kind == "f" and np.isnan(dataset.fillvalue)
                yield (name, dataset.name, dataset.shape,
                       not empty or dataset.id.get_storage_size() > 0)


def _is_plain(dataset):
    """Whether a dataset has numbers, or one text for each trial; what else users add is left alone."""
    kind = dataset.dtype.kind
    return kind in "iufb" or dataset.ndim == 1 and (kind == "S" or h5py.check_string_dtype(dataset.dtype) is not None)


def _describe(file, names):
    scales = {}
    return [([_dimension(dataset, axis, scales) for axis in range(dataset.ndim)], _attributes(dataset))
            for dataset in map(file.__getitem__, names)]


def _dimension(dataset, axis, scales):
    """The name of an axis: that of its scale, or its label. `scales` keeps {address: name}, because HDF5 searches the
    file for the name of a scale."""
    if not h5py.h5ds.get_num_scales(dataset.id, axis):
        return dataset.dims[axis].label
    found = []
    h5py.h5ds.iterate(dataset.id, axis, lambda scale: found.append(scale) or 1)
    address = h5py.h5o.get_info(found[0]).addr
    if address not in scales:
        scales[address] = h5py.h5i.get_name(found[0]).decode().rsplit("/", 1)[-1]
    return scales[address]


def _attributes(place):
    return {name: plain_value(place.attrs[name]) for name in place.attrs if name not in LINKS}


def plain_value(value):
    """An attribute in a form for JSON: a number or text, also from an array of one, or a list."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, str):  # h5py keeps bytes that are not UTF-8 as halves of characters
        value = value.encode("utf-8", "surrogateescape")
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _values(file, name, first, last):
    """(values, None), or of texts (numbers of texts, the texts): many trials have the same ones."""
    dataset = file[name]
    if dataset.dtype.kind not in "OS":
        return np.asarray(dataset[first:last]), None
    known, numbers = {}, []
    for start in range(first, last, TEXTS):
        texts = dataset[start:min(start + TEXTS, last)].tolist()
        numbers += [known.setdefault(text if isinstance(text, bytes) else str(text).encode(), len(known)) for text in texts]
    return np.array(numbers, np.int32), [*known]


QUESTIONS = {"contents": _contents, "describe": _describe, "values": _values}


# ---- whether a file is as the program wrote it -------------------------------------------------


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
    """Compare a file with its trailer, or with its checksums if it may lack a trailer."""
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise InputError("not a file")
        whole = _has_trailer(file, about.st_size, shard)
    if not whole:
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


def check_contents(path):
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


def _check_trials(file):
    """Check that every trial has the checksum stored beside it, and that all together have that of the file."""
    total, count = 0, 0
    for _, group in problem_groups(file):
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
    if text_of(file.attrs["checksum"]) != total_checksum(count, total):
        raise InputError("damaged: its trials don't have the checksum of the file")


def _check_labels(group):
    """Labels and swept settings are in no checksum. But a cell has one of each, and the key has instance and seed."""
    labels, fit, step = set(), True, 64 * BLOCK
    swept = [dataset for _, dataset in members(group) if "setting" in dataset.attrs or dataset.name.endswith("/swept")]
    for rows in (slice(first, first + step) for first in range(0, len(group["cell"]), step)):
        labels |= set(zip(*(group[name][rows] for name in ("cell", "problem", "algorithm")),
                          *(map(repr, dataset[rows].tolist()) for dataset in swept)))
        said = (f";instance={i};seed={s}".encode() for i, s in zip(group["instance"][rows], group["seed"][rows]))
        fit &= "archive_of" in group.file.attrs or all(map(bytes.endswith, group["key"][rows], said))  # archives lack keys
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
    return COLUMNS_BEFORE if said is None else tuple(text_of(said).split())


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
