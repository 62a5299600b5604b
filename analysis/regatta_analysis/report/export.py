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
    """`results.trials` as they were answered, with the texts that are read on demand, and what `stop` ended."""
    known = {name for problem in results.places for name in results.group(problem).names}
    turned = np.concatenate([results.minimised(place) for place in results.places])
    more = {n: results.texts(n) for n in LONG if n in known}
    if "stopped" in known:
        more["stopped"] = [STOPS.get(reason, "") for place in results.places
                           for reason in stops(results.group(place), every=True)]
    return as_answered(results.trials, turned).assign(**more)


# The values that have the sign of the user's program or file in tables and arrays: of `goal: minimise` Regatta has the
# negative.
ANSWERED = ("y", "f", "objective", "optimum")


def as_answered(frame, turned):
    """A data frame whose rows `turned` have the negative of what was answered, as it was answered."""
    names = [name for name in ANSWERED if name in frame] if turned.any() else []
    return frame.assign(**{name: np.where(turned, 0 - frame[name], frame[name]) for name in names})


def _evaluations(results, place):
    """`tidy` of a problem, as it was answered."""
    group = results.group(place)
    tidy = group.tidy()
    tidy = tidy.astype({name: float for name in FLAGS if name in tidy})  # as in the results file
    return as_answered(tidy, np.repeat(results.minimised(place), group.column("n_iterations").astype(int)))


# ---- tables ------------------------------------------------------------------------------------


def _csv(results, directory):
    """trials.csv, evaluations.csv, study.json; numbers read back to the same bits."""
    written = [directory / name for name in ("trials.csv", "evaluations.csv")]
    write_csv(trials(results), written[0])
    columns = _columns(results)
    for k, problem in enumerate(progress(results.places, "evaluations")):
        part = _evaluations(results, problem).reindex(columns=columns)
        write_csv(part, written[1], mode="a" if k else "w", header=not k)
    return [*written, _study(results, directory)], []


def _columns(results):
    """Names of the columns of `results.data`: those that identify rows, swept settings, and recorded values."""
    names = [results.group(place).tidy_names() for place in results.places]
    heads = names[0][:7] + results.settings
    return list(dict.fromkeys([*heads, *(name for own in names for name in own)]))


def _parquet(results, directory):
    """trials.parquet, and a file of evaluations for each problem of the study file."""
    written = [directory / "trials.parquet"]
    trials(results).to_parquet(written[0], engine="pyarrow", index=False)
    for problem, name in progress(file_names(results.places).items(), "problems"):
        written.append(directory / f"evaluations_{name}.parquet")
        _evaluations(results, problem).to_parquet(written[-1], engine="pyarrow", index=False)
    return [*written, _study(results, directory)], []


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
        _conventional(results, problem).to_netcdf(written[-1], engine="h5netcdf")
    return written, []


def _conventional(results, problem):
    """The labelled arrays of a problem with attributes that other programs know."""
    dataset, turned = results.xarray(problem), results.minimised(problem)
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
