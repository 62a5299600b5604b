"""Results files, read in a child process. HDF5 trusts its input, and altered bytes can make it crash or never return.
The child passes on its data as plain bytes. If the child dies, the file is damaged, and the next question gets another
child."""
import ctypes
import functools
import gc
import json
import os
import resource
import signal
import stat
import threading
import weakref
from multiprocessing import Pipe

import h5py
import numpy as np

from .errors import InputError, one_line

MEMORY = 4 << 30  # bytes that reading may take, beside three times the size of the file
SECONDS, RATE = 4.0, 16 << 20  # CPU time of one question, and bytes of the file per second more
WAIT = 600.0  # seconds until a child that neither answers nor computes is ended
LINKS = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "coordinates")
SOMETIMES = ("scores", "inputs", "contexts")  # texts of cells, often empty
NAMES = ("x_name", "c_name")  # along dim_x, dim_c; `inputs`, `contexts` say the same of each trial
COUNTS = {"status": None, "n_initial": None, "n_iterations": "iteration", "n_dim_x": "dim_x", "n_dim_c": "dim_c", "n_dim_z": "dim_z",
          "n_scores": "score", "n_terms": "term"}  # of a trial, and the axes that limit them
FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
TEXTS = 1 << 14  # that are read at once
READ_ERRORS = (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError, AttributeError,
               OverflowError, MemoryError, UnicodeError)

_pipes = weakref.WeakSet()  # of this process: a child must not keep its siblings alive


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
            from . import integrity
            _limit_memory(size)
            integrity.read(path, *details)
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


def _contents(file):
    groups = [(name, group) for name, group in members(file)
              if isinstance(group, h5py.Group) and "problem_label" in group.attrs]
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
