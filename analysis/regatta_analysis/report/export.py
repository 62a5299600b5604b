"""Results in the formats of other programs: CSV, Parquet, netCDF, and the logs of COCO and IOHprofiler."""
import importlib.util
import json

import numpy as np

from ..escape import write_csv
from ..load.errors import InputError
from ..load.group import FLAGS, LONG
from ..progress import progress
from ..stats.regret import STOPS, stops
from . import logs
from .summary import file_names

CREDITS = ("creator_name", "license", "id", "keywords")  # entries of a study file, by their ACDD names
OUR_UNITS = ("y", "native")  # units of a problem, which other programs can't know


def write(results, kind, directory):
    """The results as `kind` of KINDS, written into a directory that is new or empty. Returns the paths, and lines that
    a reader must know."""
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise InputError("--to parquet needs the Python package pyarrow, which Debian 12 does not have (pip "
                         "install pyarrow); csv and netcdf need nothing more")
    if kind in ("coco", "ioh") and results.archived:
        raise InputError(f"{results.path}: archived trials lack the evaluations that --to {kind} writes; export the full "
                         "results")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(f"{directory} is not an empty folder: an export beside older files would be read together "
                         "with them; remove it or name another one")
    directory.mkdir(parents=True, exist_ok=True)
    return KINDS[kind](results, directory)


def about(results):
    """The study's description of itself, by the names of CF and ACDD: the texts that are not empty."""
    names = ("title", "references", "history", "source", *CREDITS)
    found = {name: str(results.attributes.get(name, "")).strip() for name in names}
    return {name: text for name, text in found.items() if text}


def trials(results):
    """`results.trials` as they were answered, with the texts that are read on demand, and what `stop` ended; some trials
    after the others."""
    known = {name for problem in results.places for name in results.group(problem).names}
    for block, frame in results.parts():
        more = {n: block.texts(n) if n in block.names else np.nan for n in LONG if n in known}
        if "stopped" in known:
            more["stopped"] = [STOPS.get(reason, "") for reason in stops(block, every=True)]
        yield as_answered(frame, block.constant("goal") == "minimise").assign(**more)


# The values that have the sign of the user's program or file in tables and arrays: of `goal: minimise` Regatta has the
# negative.
ANSWERED = ("y", "f", "objective", "optimum")


def as_answered(frame, turned):
    """A data frame whose rows `turned` have the negative of what was answered, as it was answered."""
    names = [name for name in ANSWERED if name in frame] if turned.any() else []
    return frame.assign(**{name: np.where(turned, 0 - frame[name], frame[name]) for name in names})


def _evaluations(group):
    """`tidy` of a problem, as it was answered, some trials after the others."""
    for block in group.blocks(group.width):
        tidy = block.tidy()
        tidy = tidy.astype({name: float for name in FLAGS if name in tidy})  # as in the results file
        yield as_answered(tidy, np.repeat(block.constant("goal") == "minimise", block.column("n_iterations").astype(int)))


# ---- tables ------------------------------------------------------------------------------------


def _csv(results, directory):
    """trials.csv, evaluations.csv, study.json; numbers read back to the same bits."""
    written = [directory / name for name in ("trials.csv", "evaluations.csv")]
    columns, groups = _columns(results), map(results.group, progress(results.places, "evaluations"))
    _append(written[0], trials(results))
    _append(written[1], (part.reindex(columns=columns) for group in groups for part in _evaluations(group)))
    return [*written, _study(results, directory)], []


def _append(path, frames):
    for k, frame in enumerate(frames):
        write_csv(frame, path, mode="a" if k else "w", header=not k)


def _columns(results):
    """Names of the columns of `results.data`: those that identify rows, swept settings, and recorded values."""
    names = [results.group(place).tidy_names() for place in results.places]
    heads = names[0][:7] + results.settings
    return list(dict.fromkeys([*heads, *(name for own in names for name in own)]))


def _parquet(results, directory):
    """trials.parquet, and a file of evaluations for each problem of the study file."""
    written = [directory / "trials.parquet"]
    _parquet_of(written[0], trials(results))
    for problem, name in progress(file_names(results.places).items(), "problems"):
        written.append(directory / f"evaluations_{name}.parquet")
        _parquet_of(written[-1], _evaluations(results.group(problem)))
    return [*written, _study(results, directory)], []


def _parquet_of(path, frames):
    import pyarrow
    from pyarrow import parquet
    first = pyarrow.Table.from_pandas(next(frames := iter(frames)), preserve_index=False)
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for frame in frames:
            writer.write_table(pyarrow.Table.from_pandas(frame, first.schema, preserve_index=False))


def _study(results, directory):
    path = directory / "study.json"
    made = {**about(results), "study": results.study, "checksum": str(results.attributes.get("checksum", ""))}
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


# ---- netCDF ------------------------------------------------------------------------------------


def _netcdf(results, directory):
    """A file per problem, with attributes by CF-1.10 and ACDD-1.3."""
    written = []
    for problem, name in progress(file_names(results.places).items(), "problems"):
        written.append(directory / f"{name}.nc")
        group = results.group(problem)
        first, *others = group.blocks(group.width)
        _conventional(results, problem, first).to_netcdf(written[-1], engine="h5netcdf",
                                                         unlimited_dims=["trial"] if others else None)
        if others:
            _lengthen(results, problem, written[-1], others)
    return written, []


def _lengthen(results, problem, path, blocks):
    """Add trials to a file."""
    import h5netcdf
    import xarray as xr
    with h5netcdf.File(path, "a") as file:
        for block in blocks:
            dataset, done = _conventional(results, problem, block), file.dimensions["trial"].size
            file.resize_dimension("trial", done + block.n)
            for name, variable in dataset.variables.items():
                if "trial" in variable.dims:
                    file[name][done:] = xr.conventions.encode_cf_variable(variable, name=name).values


def _conventional(results, problem, block):
    """The labelled arrays of some trials of a problem with attributes that other programs know."""
    dataset, turned = block.dataset(), block.constant("goal") == "minimise"
    for name in [name for name in ANSWERED if name in dataset.variables] if turned.any() else []:
        values = dataset[name].values
        dataset[name].values = np.where(turned.reshape(-1, *[1] * (values.ndim - 1)), 0 - values, values)
    for name, variable in dataset.variables.items():
        known = dict(variable.attrs)
        if known.get("units") in OUR_UNITS:
            known["comment"] = f"in the {'units of f' if known.pop('units') == 'y' else 'coordinate’s own units'}"
        known.setdefault("long_name", name.replace("_", " "))
        variable.attrs = {key: value for key, value in known.items() if key != "coordinates"}
    summary = str(results.attributes.get("description", "")) or f"{results.title}: {problem}"
    dataset.attrs = {**about(results), "Conventions": "CF-1.10, ACDD-1.3", "summary": summary,
                     "problem": problem, "study": results.study,
                     **({"naming_authority": "org.doi"} if results.attributes.get("id") else {})}
    return dataset


KINDS = {"csv": _csv, "parquet": _parquet, "coco": lambda results, to: logs.write_coco(results, to, about(results)),
         "ioh": lambda results, to: logs.write_ioh(results, to, about(results)), "netcdf": _netcdf}
