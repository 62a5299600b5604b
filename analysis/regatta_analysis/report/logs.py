"""Trials as runs of a minimiser, in the log formats of COCO (bbob-new2) and IOHprofiler (0.3.3 and later).

A folder per algorithm, a file per function and dimension. Values are minimised there: f is minus the objective.
Functions of the suite bbob keep their numbers and instances; other problems are numbered in the order of the
study, their suite is the study. Runs are the trials that have a first value, those that failed with the
evaluations they made."""
import json
import re
from dataclasses import dataclass

import numpy as np

from ..escape import line
from ..load.errors import InputError
from ..load.settings import options
from ..progress import progress
from .summary import file_names

BBOB = ("Sphere", "Ellipsoid", "Rastrigin", "BuecheRastrigin", "LinearSlope", "AttractiveSector", "StepEllipsoid",
        "Rosenbrock", "RosenbrockRotated", "EllipsoidRotated", "Discus", "BentCigar", "SharpRidge",
        "DifferentPowers", "RastriginRotated", "Weierstrass", "Schaffers10", "Schaffers1000",
        "GriewankRosenbrock", "Schwefel", "Gallagher101", "Gallagher21", "Katsuura", "LunacekBiRastrigin")
MOST_COORDINATES = 6  # designs of more are not logged
HEADER = ("% f evaluations | g evaluations | best noise-free fitness - Fopt ({:13.12e}) + sum g_i+ | measured "
          "fitness | best measured fitness or single-digit g-values | x1 | x2...")


@dataclass(frozen=True)
class Run:
    """One trial: values f by evaluation, the least possible one (NaN: unknown), designs."""
    algorithm: str
    suite: str
    function: int
    name: str
    dim: int
    instance: int
    f: np.ndarray
    optimum: float
    x: np.ndarray

    def gap(self):
        """f above the optimum, never below 0."""
        return np.maximum(self.f - self.optimum, 0.0)


def runs(results):
    """Every trial as a Run."""
    found, study = [], str(results.attributes.get("study_name", "")) or results.path.stem
    own = {p for p in results.problems if results.group(p).column("problem_name")[0] == "bbob"}
    beyond = 1000 if own else 0  # the suite has its numbers already
    places = {}
    for number, problem in enumerate(progress(results.problems, "problems"), 1):
        group = results.group(problem)
        objective, x = group.values("objective").astype(float), group.values("x").astype(float)
        if np.isnan(objective).all():
            objective = group.values("y").astype(float)
        length, optimum, dim, instance = (group.column(name) for name in (
            "n_iterations", "optimum", "n_dim_x", "instance"))
        settings = options(group.texts("key", [0])[0], "problem")
        bbob = problem in own
        about = (("bbob", int(settings["function"]), BBOB[int(settings["function"]) - 1]) if bbob
                 else (study, beyond + number, problem))
        other = places.setdefault((about[1], int(dim[0])), problem)
        if other != problem:
            raise InputError(f"{results.path}: {other!r} and {problem!r} are both function {about[1]} in "
                             f"{dim[0]} dimensions; --problems or --where choose one")
        first = int(settings["first_instance"]) if bbob else 1
        for k, algorithm in enumerate(group.column("algorithm")):
            f = -objective[k, :length[k]]
            if len(f) and np.isfinite(f[0]):
                found.append(Run(algorithm, *about, int(dim[k]), first + int(instance[k]),
                                 np.where(np.isfinite(f), f, np.inf), -float(optimum[k]),
                                 x[k, :length[k], :int(dim[k])]))
    if not found:
        raise InputError(f"{results.path}: no trial with evaluations in it")
    return found


def _grouped(found, *names):
    """{values of the names: runs}, in order of first appearance."""
    groups = {}
    for run in found:
        groups.setdefault(tuple(getattr(run, name) for name in names), []).append(run)
    return groups


def _best(values):
    """Index of the best value so far, at every evaluation."""
    least = np.minimum.accumulate(values)
    return np.maximum.accumulate(np.where(np.append(True, values[1:] < least[:-1]), np.arange(len(values)), 0))


# ---- COCO --------------------------------------------------------------------------------------


def write_coco(results, directory, about):
    """bbobexp_fN.info with .dat and .tdat of every algorithm; returns the paths. Problems whose optimum is not
    known are left out."""
    found = [run for run in runs(results) if np.isfinite(run.optimum)]
    if not found:
        raise InputError(f"{results.path}: COCO's format has values above the optimum, and no optimum is known")
    written = []
    names = file_names(list(dict.fromkeys(run.algorithm for run in found)))
    for (algorithm, suite, function), mine in progress(
            _grouped(found, "algorithm", "suite", "function").items(), "functions"):
        folder = directory / names[algorithm]
        data = folder / f"data_f{function}"
        data.mkdir(parents=True, exist_ok=True)
        info = []
        for (dim,), some in sorted(_grouped(mine, "dim").items()):
            info.append(_coco_info(algorithm, suite, function, dim, some, about))
            for suffix, chosen in (("dat", _improvements), ("tdat", _times)):
                written.append(data / f"bbobexp_f{function}_DIM{dim}.{suffix}")
                written[-1].write_text("".join(_coco_run(run, chosen) for run in some), encoding="utf-8")
        written.append(folder / f"bbobexp_f{function}.info")
        written[-1].write_text("\n".join(info), encoding="utf-8")
    return written


def _coco_info(algorithm, suite, function, dim, some, about):
    pairs = {"suite": suite, "funcId": function, "DIM": dim, "Precision": "1.000e-08", "algId": algorithm,
             "coco_version": "2.8.2", "logger": "bbob", "data_format": "bbob-new2", "settings": ""}
    first = ", ".join(f"{key} = " + (str(value) if key in ("funcId", "DIM", "Precision") else
                                     "'" + line(value).replace("'", "’") + "'") for key, value in pairs.items())
    words = "; ".join(filter(None, (some[0].name, "exported by regatta", *(
        about.get(key, "") for key in ("title", "creator_name", "id", "license")))))
    ends = "".join(f", {run.instance}:{len(run.f)}|{run.gap().min():.1e}" for run in some)
    return f"{first}\n% {line(words)}\ndata_f{function}/bbobexp_f{function}_DIM{dim}.dat{ends}"


def _coco_run(run, chosen):
    gap, best = run.gap(), _best(run.gap())
    rows, last = chosen(run, gap[best]), len(run.f) - 1
    lines = [HEADER.format(run.optimum)] + [_coco_row(run, k, k, gap, best) for k in rows]
    if rows[-1] != last:
        lines.append(_coco_row(run, last, best[last], gap, best))
    return "\n".join(lines) + "\n"


def _coco_row(run, k, at, gap, best):
    """Evaluation k, with the value and the design of evaluation `at`."""
    least = gap[best[k]] + run.optimum
    values = (gap[best[k]], gap[at] + run.optimum if at != k else run.f[k], least)
    x = "".join(f" {v:+5.4e}" for v in run.x[at]) if run.dim <= MOST_COORDINATES else ""
    return f"{k + 1} 0 " + " ".join(f"{v:+10.9e}" for v in values) + x


def _improvements(_, best):
    """The first evaluation, and those that lower the level: 20 in a decade, or a multiple of 1e5."""
    small = np.where(best > 0, np.maximum(best, 1e-8), 1e-9)
    levels, steps = np.ceil(20 * np.log10(small)), np.floor(best / 1e5)
    lower = (levels[1:] < levels[:-1]) | (steps[1:] < steps[:-1])
    return [0, *(np.flatnonzero(lower) + 1)]


def _times(run, best):
    """Evaluations floor(10^(k/20)) and D {1, 2, 5} 10^k."""
    n = len(best)
    powers = int(np.ceil(np.log10(n))) + 1
    wanted = {int(np.floor(10 ** (k / 20) * (1 + 1e-12))) for k in range(20 * powers)}
    wanted |= {run.dim * m * 10**k for m in (1, 2, 5) for k in range(powers)}
    return sorted(k - 1 for k in wanted if k <= n)


# ---- IOHprofiler -------------------------------------------------------------------------------


def write_ioh(results, directory, about):
    """IOHprofiler_fN_NAME.json with .dat of every algorithm; returns the paths. raw_y is above the optimum,
    where that is known."""
    found, written = runs(results), []
    names = file_names(list(dict.fromkeys(run.algorithm for run in found)))
    for (algorithm, function), mine in progress(_grouped(found, "algorithm", "function").items(), "functions"):
        name = re.sub(r"[^A-Za-z0-9]+", "", mine[0].name)[:60] or "problem"
        folder, stem = directory / names[algorithm], f"f{function}_{name}"
        (folder / f"data_{stem}").mkdir(parents=True, exist_ok=True)
        scenarios = []
        for (dim,), some in sorted(_grouped(mine, "dim").items()):
            path = f"data_{stem}/IOHprofiler_f{function}_DIM{dim}.dat"
            scenarios.append({"dimension": dim, "path": path, "runs": [_ioh_about(run) for run in some]})
            written.append(folder / path)
            written[-1].write_text("".join(map(_ioh_run, some)), encoding="utf-8")
        made = {"version": "0.3.9", "suite": "BBOB" if mine[0].suite == "bbob" else mine[0].suite,
                "function_id": function, "function_name": name, "maximization": False,
                "algorithm": {"name": algorithm, "info": "exported by regatta"},
                "experiment_attributes": [{key: text} for key, text in about.items()],
                "attributes": ["evaluations", "raw_y"], "scenarios": scenarios}
        written.append(folder / f"IOHprofiler_{stem}.json")
        written[-1].write_text(json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
                               encoding="utf-8")
    return written


def _raw(run):
    """Values without f_opt; where that is not known, as they are. A value that is none is a large one."""
    values = run.f - run.optimum if np.isfinite(run.optimum) else run.f
    return np.where(np.isfinite(values), values, np.finfo(float).max)


def _ioh_about(run):
    values = _raw(run)
    at = int(values.argmin())
    return {"instance": run.instance, "evals": len(values),
            "best": {"evals": at + 1, "y": float(values[at]), "x": [float(v) for v in run.x[at]]}}


def _ioh_run(run):
    values = _raw(run)
    rows = sorted({*np.flatnonzero(_best(values) == np.arange(len(values))), len(values) - 1})
    return "evaluations raw_y\n" + "".join(f"{k + 1} {values[k]:.17g}\n" for k in rows)
