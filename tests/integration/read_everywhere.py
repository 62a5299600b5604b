"""Opens a results file the way its readers do (h5py, xarray with h5netcdf and netcdf4, h5dump) and
checks axes, coordinates, attributes and, by the words of docs/results-format.md, every checksum.

usage: read_everywhere.py RESULTS.h5   (or a shard)
"""
import ctypes
import ctypes.util
import re
import shutil
import struct
import subprocess
import sys

import h5py
import numpy as np

ROOT_TEXTS = ["Conventions", "title", "history", "source", "references", "study_name", "study",
              "checksum"]
ROOT_NUMBERS = ["schema_version", "study_seed", "complete", "n_trials", "n_planned", "n_failed"]
CELLS = ["id", "method", "problem_name", "algorithm_name", "swept", "goal", "dynamic", "stops", "law", "measure",
         "order", "planned_seeds", "planned_instances", "initial_points", "regret_units"]
AXES = ["cell", "trial", "iteration", "dim_x", "dim_c", "dim_z"]
RESULTS = ["x", "y", "objective", "simple_regret", "jitter"]  # some of the columns that every study has
TIMING = ["wall_fit", "wall_acquire", "wall_evaluate", "cpu_fit", "cpu_acquire", "cpu_evaluate"]
COORDINATES = ["id", "problem", "algorithm", "instance", "seed", "status"]
FIELDS = [*COORDINATES, "key", "cell", "message",
          "n_iterations", "n_initial", "n_dim_x", "n_dim_c", "n_dim_z", "optimum", "checksum"]
PROVENANCE = ["host", "rank", "ranks", "started", "wall", "cpu", "peak_memory", "fingerprint",
              "machine", "software"]


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def load_xxh3():
    name = ctypes.util.find_library("xxhash")
    if not name:
        return None
    function = ctypes.CDLL(name).XXH3_128bits
    function.restype = Hash128
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return lambda data: function(data, len(data))


def sheets(file):
    """Groups of problems, those of `earlier` included."""
    for parent in (file, file.get("earlier", {})):
        for group in parent.values():
            if isinstance(group, h5py.Group) and "problem_label" in group.attrs:
                yield group


def is_scale(dataset):
    return "CLASS" in dataset.attrs


def settings(group):
    """Names of the variables of swept settings."""
    return [name for name, dataset in group.items() if "setting" in dataset.attrs]


def text(value):
    return value.decode() if isinstance(value, bytes) else value


# ---- h5py ---------------------------------------------------------------------------------------

def check_variable(dataset):
    for name in () if "/settings/" in dataset.name else ("long_name", "units", "description"):
        assert isinstance(dataset.attrs[name], str), f"{dataset.name} lacks {name}"
    for axis, dim in enumerate(dataset.dims):
        scales = [scale.name.rsplit("/", 1)[1] for scale in dim.values()]
        assert len(scales) == 1 and scales[0] in AXES, f"{dataset.name}: axis {axis} is {scales}"
        assert dim[0].shape[0] == dataset.shape[axis]


def check_setting(group, name):
    """The variable contains the values of the text `swept` of the cells, and so does that of the table of cells."""
    dataset, values, cells = group[name], group[name][()], group.file["cells"]
    np.testing.assert_array_equal(values, cells["sweep"][name][()][group["cell"][()]])
    assert name.endswith(dataset.attrs["setting"]) and dataset.shape == group["trial"].shape
    gaps = {"f": np.isnan, "O": lambda v: v == b""}
    missing = gaps.get(values.dtype.kind, lambda v: v == dataset.attrs["_FillValue"])(values)
    for value, gone, said in zip(values, missing, cells["swept"][()][group["cell"][()]]):
        assert (f"{dataset.attrs['setting'].rpartition('.')[2]}=" not in text(said)) == gone, name
        if not gone and values.dtype.kind in "if":
            assert float(re.search(rf"{re.escape(name)}=([^,]*)", text(said))[1]) == value, name


def check_cells(cells):
    """A row for every cell, with the labels and the number that its trials have."""
    for dataset in (*cells.values(), *cells["sweep"].values(), *cells["settings"].values()):
        if isinstance(dataset, h5py.Dataset) and not is_scale(dataset):
            check_variable(dataset)
            assert dataset.shape == cells["cell"].shape, dataset.name
    for name in CELLS:
        assert name in cells, name
    for name in ("run.iterations", "run.noise_variance"):
        assert cells["settings"][name].dtype.kind in "if", name
    assert list(cells["iterations"]) == list(cells["settings/run.iterations"])
    for group in sheets(cells.file):
        for name in ("problem", "algorithm"):
            np.testing.assert_array_equal(group[name][()], cells[name][()][group["cell"][()]])


def check_h5py(path):
    with h5py.File(path, "r") as file:
        for name in ROOT_TEXTS:
            assert isinstance(file.attrs[name], str), name
        for name in ROOT_NUMBERS:
            assert np.issubdtype(file.attrs[name].dtype, np.integer), name
        check_cells(file["cells"])
        count = 0
        for group in sheets(file):
            assert group["iteration"][0] == 1 and group["trial"][0] == 0
            for name in FIELDS:
                assert group[name].shape == group["trial"].shape, name
            for name in PROVENANCE:
                assert group["provenance"][name].shape == group["trial"].shape, name
            for name in RESULTS:
                assert name in group, name
            for name in TIMING:
                assert group["timing"][name].shape == group["y"].shape, name
            assert list(group["status"].attrs["flag_values"]) == [0, 1, 2]
            assert group["status"].attrs["flag_meanings"] == "missing complete failed"
            for holder in (group, group["timing"], group["provenance"]):
                for dataset in holder.values():
                    if isinstance(dataset, h5py.Dataset) and not is_scale(dataset):
                        check_variable(dataset)
            for name in settings(group):
                check_setting(group, name)
            if not group.name.startswith("/earlier"):
                count += group["trial"].shape[0]
        assert count == file.attrs["n_trials"] and count > 0
    return count


# ---- checksums, by the document -----------------------------------------------------------------

def canonical(values):
    values = np.ascontiguousarray(values, "<f8").copy()
    bits = values.view("<u8")
    bits[bits == 1 << 63] = 0
    bits[np.isnan(values)] = 0x7ff8000000000000
    return bits.tobytes()


def trial_bytes(group, i, columns):
    rows = int(group["n_iterations"][i])
    parts = [text(group[name][i]).encode() + b"\0" for name in ("id", "key", "message")]
    parts.append(struct.pack("<6q", *(int(group[name][i]) for name in (
        "status", "n_iterations", "n_initial", "n_dim_x", "n_dim_c", "n_dim_z"))))
    parts.append(canonical(group["optimum"][i:i + 1]))
    for name in columns:
        if name not in group:
            continue
        values = group[name][i][:rows]
        if values.ndim == 2:
            values = values[:, :int(group["n_" + group[name].dims[2][0].name.rsplit("/", 1)[1]][i])]
        if not np.all(np.isnan(values)):
            parts += [name.encode() + b"\0", struct.pack("<Q", values.size), canonical(values)]
    return b"".join(parts)


def check_checksums(path, xxh3):
    total, count = 0, 0
    with h5py.File(path, "r") as file:
        known = file.attrs["checksum_columns"].split()
        for group in sheets(file):
            extra = sorted(name for name, dataset in group.items()
                           if isinstance(dataset, h5py.Dataset) and not is_scale(dataset)
                           and name not in FIELDS and name not in known
                           and name not in settings(group))
            for i in range(group["trial"].shape[0]):
                found = xxh3(trial_bytes(group, i, known + extra))
                assert f"{found.high:016x}{found.low:016x}" == text(group["checksum"][i]), \
                    f"{group.name}, trial {i}"
                if not group.name.startswith("/earlier"):
                    total += found.high << 64 | found.low
                    count += 1
        mask = (1 << 64) - 1
        found = xxh3(struct.pack("<3Q", count, total & mask, total >> 64 & mask))
        assert f"{found.high:016x}{found.low:016x}" == file.attrs["checksum"], "checksum of all"
    with open(path, "rb") as stream:
        data = stream.read()
    magic, length, low, high = struct.unpack("<8s3Q", data[-32:])
    assert magic == b"RGTRAIL\n" and length == len(data) - 32
    found = xxh3(data[:-32])
    assert (found.low, found.high) == (low, high), "trailer"


# ---- other readers ------------------------------------------------------------------------------

def check_xarray(path, engine):
    import xarray

    with h5py.File(path, "r") as file:
        names = [group.name.lstrip("/") for group in sheets(file)]
    root = xarray.open_dataset(path, engine=engine)
    assert root.attrs["Conventions"].startswith("CF-")
    for group in ("cells", "cells/sweep", "cells/settings"):
        with xarray.open_dataset(path, group=group, engine=engine) as cells:
            assert not cells or cells.sizes["cell"] == len(cells.to_dataframe()), group
    for name in names:
        with xarray.open_dataset(path, group=name, engine=engine) as data:
            data.load()
            assert set(data.simple_regret.dims) == {"trial", "iteration"}
            assert data.x.dims == ("trial", "iteration", "dim_x")
            for coordinate in COORDINATES:
                assert coordinate in data.coords, coordinate
            assert all(isinstance(value, str) for value in data.algorithm.values)
            assert all(isinstance(value, str) for value in data.message.values)
            assert data.seed.dtype == np.uint64
            with h5py.File(path, "r") as file:
                for column in ("x", "y", "simple_regret", "jitter"):
                    np.testing.assert_array_equal(data[column].values, file[name][column][()])
            swept = [n for n in data.coords if "setting" in data[n].attrs]  # as docs/results-format.md
            last = data.simple_regret.where(data.status == 1)[:, -1].to_dataframe()
            median = last.groupby(["algorithm", *swept], dropna=False)["simple_regret"].median()
            assert len(median) == len(set(data.cell.values)), (swept, median)
        with xarray.open_dataset(path, group=f"{name}/timing", engine=engine) as timing:
            assert timing.wall_fit.dims == ("trial", "iteration")
        with xarray.open_dataset(path, group=f"{name}/provenance", engine=engine) as provenance:
            assert np.issubdtype(provenance.started.dtype, np.datetime64)


def check_h5dump(path):
    done = subprocess.run(["h5dump", "-H", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "DIMENSION_LIST" in done.stdout and "H5T_CSET_UTF8" in done.stdout
    with open(path, "rb") as stream:
        assert stream.read(9)[8] == 0, "the superblock is not of version 0"


def main(path):
    count = check_h5py(path)
    print(f"h5py: {count} trials")
    xxh3 = load_xxh3()
    if xxh3:
        check_checksums(path, xxh3)
    print("checksums and trailer" if xxh3 else "checksums: skipped, no libxxhash")
    for engine in ("h5netcdf", "netcdf4"):
        try:
            __import__("xarray"), __import__("h5netcdf" if engine == "h5netcdf" else "netCDF4")
        except ImportError as missing:
            print(f"xarray, {engine}: skipped, {missing}")
            continue
        # a process of its own: h5py and netCDF4 bring HDF5 libraries of their own
        subprocess.run([sys.executable, __file__, path, engine], check=True)
        print(f"xarray, {engine}")
    if shutil.which("h5dump"):
        check_h5dump(path)
    print("h5dump" if shutil.which("h5dump") else "h5dump: skipped, not installed")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        check_xarray(sys.argv[1], sys.argv[2])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
