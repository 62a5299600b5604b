"""Results files, read in a child process. HDF5 trusts its input, and altered bytes can make it crash or never return.
The child passes on its data as plain bytes. If the child dies, the file is damaged, and the next question gets another
child."""
import gc
import json
import mmap
import os
import resource
import signal
import socket
import threading
import weakref

import h5py
import numpy as np

from .errors import InputError, one_line

MEMORY = 4 << 30  # bytes that reading may take, beside three times the size of the file
SECONDS, RATE = 4.0, 16 << 20  # CPU time of one question, and bytes of the file per second more
WAIT = 600.0  # seconds until a child that neither answers nor computes is ended
INLINE = 1 << 16  # bytes of an answer that go through the socket
LINKS = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "coordinates")
NAMES = ("x_name", "c_name")  # along dim_x, dim_c; `inputs`, `contexts` say the same of each trial
READ_ERRORS = (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError, AttributeError,
               OverflowError, MemoryError, UnicodeError)

_sockets = weakref.WeakSet()  # of this process: a child must not keep its siblings alive


class Dataset:
    """One dataset of a file that a Reader has open: `shape`, and values by slices of the first axis. `stored` is False
    if no value was ever written; then every value is NaN. `described`: {name: description} of the datasets of its
    group, which are asked for together; None until then."""

    def __init__(self, reader, path, described, name, shape, stored):
        self._reader, self._path, self._described, self._name = reader, path, described, name
        self.shape, self.stored = tuple(shape), stored
        described[name] = None

    def __getitem__(self, rows):
        if not self.stored:
            return np.broadcast_to(np.nan, self.shape)[rows]
        first, last = (None, None) if rows == () else (int(rows.start), int(rows.stop))
        return self._reader.ask(self._path, "values", self._name, first, last)

    def describe(self):
        """Names of its dimensions, and its attributes."""
        if self._described[self._name] is None:
            names = list(self._described)
            self._described.update(zip(names, self._reader.ask(self._path, "describe", names)))
        dims, attributes = self._described[self._name]
        return tuple(dims), {name: np.array(value) if isinstance(value, list) else value
                             for name, value in attributes.items()}


class Reader:
    """Asks a child process, which opens files on demand and keeps them open."""

    def __init__(self):
        self._owner, self._socket, self._end = None, None, None
        self._lock = threading.Lock()

    def contents(self, path):
        """Root attributes of a file, and triples (name, label, {variable: Dataset}) of its groups."""
        attributes, groups = self.ask(path, "contents")
        made = []
        for name, label, found in groups:
            described = {}
            made.append((name, label, {variable: Dataset(self, path, described, *about) for variable, *about in found}))
        return attributes, made

    def ask(self, path, question, *details):
        """The answer; raises InputError, which begins with the path, or FileNotFoundError."""
        line = json.dumps([question, str(path), *details]).encode() + b"\n"
        with self._lock:
            if self._owner != os.getpid():
                self._start()
            try:
                self._socket.sendall(line)
                answer, kind = _receive(self._socket)
            except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
                self.close()
                raise InputError(f"{path}: damaged: HDF5 can't read it") from error
        if kind == "absent":
            raise FileNotFoundError(str(path))
        if kind == "wrong":
            raise InputError(f"{path}: {answer}")
        return answer

    def _start(self):
        ours, theirs = socket.socketpair()
        child = os.fork()
        if not child:
            _serve(theirs)
        theirs.close()
        ours.settimeout(WAIT)
        _sockets.add(ours)
        self._owner, self._socket = os.getpid(), ours
        self._end = weakref.finalize(self, _end, os.getpid(), child, ours)

    def close(self):
        """End the child; another question starts a new one."""
        if self._end is not None:
            self._end()
        self._owner = None


def _end(owner, child, ours):
    if os.getpid() != owner:
        return
    ours.close()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


# ---- answers on their way ----------------------------------------------------------------------


def _receive(ours):
    """(answer, kind) of one message: a line of JSON, and bytes behind it or in a descriptor."""
    text, descriptors, _, _ = socket.recv_fds(ours, 1 << 16, 1)
    while b"\n" not in text:
        part = ours.recv(1 << 16)
        if not part:
            raise EOFError
        text += part
    line, rest = text.split(b"\n", 1)
    about = json.loads(line)
    if about["kind"] != "array":
        return about["answer"], about["kind"]
    size = about["size"]
    if descriptors:
        memory = mmap.mmap(descriptors[0], size)
        os.close(descriptors[0])
    else:
        memory = bytearray(rest)
        while len(memory) < size:
            part = ours.recv(min(size - len(memory), 1 << 20))
            if not part:
                raise EOFError
            memory += part
    return _array(about, memory), "array"


def _array(about, memory):
    if about["type"] != "text":
        return np.frombuffer(memory, about["type"]).reshape(about["shape"])
    count = int(np.prod(about["shape"], dtype=int))
    ends = np.cumsum(np.frombuffer(memory, np.int64, count)).tolist()
    blob = bytes(memory[8 * count:])
    values = np.empty(count, dtype=object)
    values[:] = [blob[a:b] for a, b in zip([0, *ends], ends)]
    return values.reshape(about["shape"])


def _send(theirs, kind, answer):
    if kind != "array":
        theirs.sendall(json.dumps({"kind": kind, "answer": answer}).encode() + b"\n")
        return
    about, parts = {"kind": "array", "shape": answer.shape, "type": answer.dtype.str}, [answer]
    if answer.dtype.kind in "OS":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in answer.flat]
        parts = [np.fromiter(map(len, texts), np.int64, len(texts)), b"".join(texts)]
        about["type"] = "text"
    parts = [memoryview(np.ascontiguousarray(part)).cast("B") if isinstance(part, np.ndarray) and
             part.size else memoryview(bytes(part)) for part in parts]
    about["size"] = sum(part.nbytes for part in parts)
    line = json.dumps(about).encode() + b"\n"
    if about["size"] <= INLINE or not hasattr(os, "memfd_create"):
        theirs.sendall(b"".join([line, *parts]))
        return
    descriptor = os.memfd_create("regatta")
    for part in parts:
        while part.nbytes:
            part = part[os.write(descriptor, part):]
    socket.send_fds(theirs, [line], [descriptor])
    os.close(descriptor)


# ---- the child ---------------------------------------------------------------------------------


def _serve(theirs):
    """Never returns, prints nothing, writes nothing but its answers."""
    try:
        for other in list(_sockets):
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
        for line in theirs.makefile("rb"):
            question, path, *details = json.loads(line)
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
            files[path] = h5py.File(path, "r"), size
        found = QUESTIONS[question](files[path][0], *details)
        return "array" if isinstance(found, np.ndarray) else "plain", found
    except FileNotFoundError:
        return "absent", None
    except InputError as error:
        return "wrong", str(error)
    except PermissionError as error:
        return "wrong", error.strerror
    except READ_ERRORS as error:
        return "wrong", f"damaged: HDF5 can't read it ({one_line(error)})"


def _limit_memory(size):
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return  # the system has no such limit
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY + 3 * size, resource.RLIM_INFINITY))


def members(place):
    """(name, object) of everything in a group. Raises if an object can't be opened; items() of h5py would give None."""
    return [(name, place[name]) for name in place]


def _contents(file):
    groups = [(name, group) for name, group in members(file)
              if isinstance(group, h5py.Group) and "algorithm" in group]
    return _attributes(file), [
        (name, plain_value(group.attrs.get("problem_label", name)), list(_variables(group)))
        for name, group in groups]


def _variables(group):
    """(name, path, shape, stored) of all variables with the dimension (trial), including those of subgroups."""
    for place in (group, *(group[sub] for sub in ("timing", "provenance") if sub in group)):
        for name, dataset in members(place):
            if (isinstance(dataset, h5py.Dataset) and dataset.ndim and name not in NAMES
                    and not h5py.h5ds.is_scale(dataset.id)):
                empty = dataset.dtype.kind == "f" and np.isnan(dataset.fillvalue)
                yield (name, dataset.name, dataset.shape,
                       not empty or dataset.id.get_storage_size() > 0)


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
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _values(file, name, first, last):
    return np.asarray(file[name][()] if first is None else file[name][first:last])


QUESTIONS = {"contents": _contents, "describe": _describe, "values": _values}
