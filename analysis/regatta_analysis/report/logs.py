"""Trials as runs of a minimiser, in the log formats of COCO (bbob-new2) and IOHprofiler (0.3.3 and later).

A suite is a folder. It has a folder per algorithm, with a file per function and dimension. These formats minimise, so
f is minus the objective. Functions of the suite bbob keep their numbers and instances. Other problems have the suite
`regatta-STUDY` and their place in the study as number, whatever is selected. Every trial with an evaluation is a run,
even if it failed. A run that the study's `stop` ended has the evaluations that were made. These formats have no place for
the reason; a comment states it."""
import json
import re
from dataclasses import dataclass, replace

import numpy as np

from ..escape import line
from ..load.errors import InputError
from ..load.group import Group
from ..load.variables import places_of, places_of_pairs
from ..progress import progress
from ..stats.regret import stops
from .summary import file_names

BBOB = ("Sphere", "Ellipsoid", "Rastrigin", "BuecheRastrigin", "LinearSlope", "AttractiveSector", "StepEllipsoid",
        "Rosenbrock", "RosenbrockRotated", "EllipsoidRotated", "Discus", "BentCigar", "SharpRidge",
        "DifferentPowers", "RastriginRotated", "Weierstrass", "Schaffers10", "Schaffers1000",
        "GriewankRosenbrock", "Schwefel", "Gallagher101", "Gallagher21", "Katsuura", "LunacekBiRastrigin")
MOST_COORDINATES = 6  # larger designs are not logged
NO_VALUE = 1e300  # of an evaluation that failed or is infeasible: worse than every value
HEADER = ("% f evaluations | g evaluations | best noise-free fitness - Fopt ({:13.12e}) + sum g_i+ | measured "
          "fitness | best measured fitness or single-digit g-values | x1 | x2...")


@dataclass(frozen=True)
class Run:
    """One trial: values f by evaluation, the smallest known value (NaN: unknown), and designs."""
    dim: int
    instance: int
    f: np.ndarray
    optimum: float
    x: np.ndarray

    def gap(self):
        """f above the optimum, never below 0."""
        return np.maximum(self.f - self.optimum, 0.0)


@dataclass(frozen=True)
class Cell:
    """The trials of an algorithm on a problem in one dimension that have evaluations, with what is known of each."""
    algorithm: str
    suite: str
    function: int
    name: str
    dim: int
    first: int  # number of the first instance
    trials: Group
    scored: bool  # whether a trial of the problem has an objective
    optimum: np.ndarray
    stopped: np.ndarray  # 1: at the target regret of `stop`; 2: after its seconds

    def runs(self):
        """Every trial as a Run."""
        at = 0
        for block in self.trials.blocks():
            f, x = _values(block, self.scored), block.values("x").astype(float)
            for k, (n, instance) in enumerate(zip(block.column("n_iterations"), block.column("instance"))):
                yield Run(self.dim, self.first + int(instance), f[k, :n], self.optimum[at], x[k, :n, :self.dim] + 0.0)
                at += 1

    def part(self, keep):
        """Some of the trials."""
        return replace(self, trials=self.trials.subset(keep), optimum=self.optimum[keep], stopped=self.stopped[keep])


def cells(results):
    """(every Cell, number of trials without an evaluation)."""
    found, n_empty, places = [], 0, {}
    for problem in progress(results.problems, "problems"):
        group = results.group(problem)
        length, dims = group.column("n_iterations"), group.column("n_dim_x")
        about, first = _function(results, problem)
        other = places.setdefault((*about[:2], int(dims[0])), problem)
        if other != problem:
            raise InputError(f"{results.path}: {other!r} and {problem!r} are both function {about[1]} in "
                             f"{dims[0]} dimensions; --problems or --where choose one")
        n_empty += int((length == 0).sum())
        scored, ended = group.knows("objective"), stops(group, every=True)
        best = _best_known(group, scored)
        for (algorithm, dim), own in places_of_pairs(group.column("algorithm"), dims):
            keep = np.isin(np.arange(group.n), own) & (length > 0)
            if keep.any():
                found.append(Cell(algorithm, *about, int(dim), first, group.subset(keep), scored, best[keep], ended[keep]))
    if not found:
        raise InputError(f"{results.path}: no trial with evaluations in it")
    return found, n_empty


def _function(results, problem):
    """((suite, number, name) of a problem, number of its first instance)."""
    group = results.group(problem)
    if group.column("problem_name")[0] != "bbob":
        study = str(results.attributes.get("study_name", "")) or results.path.stem
        return (f"regatta-{study}", results.numbers[problem], problem), 1
    number, first = (int(group.constant(f"problem.{name}")[0]) for name in ("function", "first_instance"))
    return ("bbob", number, BBOB[number - 1]), first


def _values(block, scored):
    """Minus the objective of trials, or NO_VALUE without one. If no trial of the problem has an objective (contexts
    of a costly problem: not `scored`), minus the observation."""
    objective = block.values("objective" if scored else "y").astype(float)
    if not scored and "feasible" in block.names:
        objective = np.where(block.values("feasible") == 0, np.nan, objective)
    return np.where(np.isfinite(objective), 0 - objective, NO_VALUE)


def _best_known(group, scored):
    """The smallest possible value of every trial. If a trial of the instance did better, its value."""
    def least_of(block):
        f = _values(block, scored)
        made = np.arange(f.shape[1]) < block.column("n_iterations")[:, None]
        return np.where(made, f, NO_VALUE).min(axis=1, initial=NO_VALUE)
    least, best = group.each(least_of), 0 - group.column("optimum").astype(float)
    for _, mine in places_of(group.column("instance")):
        seen = least[mine].min()
        below = best[mine] - seen > 1e-8 * np.maximum(1, np.abs(best[mine]))  # more than the error of a search
        best[mine] = np.where(below, seen, best[mine])
    return best


def _folders(found, directory):
    """((algorithm, suite, function), folder, its cells by dimension) of every function in the logs of an algorithm."""
    suites, names = (file_names(dict.fromkeys(getattr(cell, name) for cell in found)) for name in ("suite", "algorithm"))
    functions = {}
    for cell in found:
        functions.setdefault((cell.algorithm, cell.suite, cell.function), []).append(cell)
    for (algorithm, suite, function), mine in progress(functions.items(), "functions"):
        yield (algorithm, suite, function), directory / suites[suite] / names[algorithm], sorted(mine, key=lambda c: c.dim)


def _best(values):
    """Index of the best value so far, at every evaluation."""
    least = np.minimum.accumulate(values)
    return np.maximum.accumulate(np.where(np.append(True, values[1:] < least[:-1]), np.arange(len(values)), 0))


# ---- COCO --------------------------------------------------------------------------------------


def write_coco(results, directory, about):
    """Write bbobexp_fN.info with .dat and .tdat of every algorithm. Returns the paths, and lines that a reader must
    know. Problems whose optimum is not known are left out."""
    every, n_empty = cells(results)
    found = [cell.part(np.isfinite(cell.optimum)) for cell in every if np.isfinite(cell.optimum).any()]
    if not found:
        raise InputError(f"{results.path}: COCO's format has values above the optimum, and no optimum is known")
    written, suites = [], {cell.suite for cell in found}
    others = suites - {"bbob"}
    notes = [*_notes(found, n_empty), *([f"cocopp reads the folder {directory / 'bbob'} alone: it knows no other suite"]
                                    if "bbob" in suites and others else
                                    ["cocopp reads the suite bbob alone, which is not in it"] if others else [])]
    unknown = list(dict.fromkeys(cell.name for cell in every if not np.isfinite(cell.optimum).all()))
    if unknown:
        notes.append(f"left out, since their optimum is not known: {', '.join(unknown)}")
    for (algorithm, suite, function), folder, dims in _folders(found, directory):
        data, info = folder / f"data_f{function}", []
        data.mkdir(parents=True, exist_ok=True)
        for cell in dims:
            written += [data / f"bbobexp_f{function}_DIM{cell.dim}.{suffix}" for suffix in ("dat", "tdat")]
            ends = []
            with open(written[-2], "w", encoding="utf-8") as dat, open(written[-1], "w", encoding="utf-8") as tdat:
                for run in cell.runs():
                    dat.write(_coco_run(run, _improvements))
                    tdat.write(_coco_run(run, _times))
                    ends.append(f", {run.instance}:{len(run.f)}|{run.gap().min():.1e}")
            info.append(_coco_info(cell, about) + "".join(ends))
        written.append(folder / f"bbobexp_f{function}.info")
        written[-1].write_text("\n".join(info), encoding="utf-8")
    return written, notes


def _notes(found, n_empty):
    notes, n = [], sum(int((cell.stopped == 1).sum()) for cell in found)
    if n_empty:
        notes.append(f"{n_empty} trial{'s' if n_empty != 1 else ''} without an evaluation left out")
    if n:
        notes.append(f"stop ended {n} run{'s' if n > 1 else ''} at the target regret: programs count lower values, of "
                     "which nothing is known, as missed")
    return notes


def _ends(some):
    """A comment on the runs of some cells that `stop` ended; "" if it ended none."""
    target, seconds = (sum(int((cell.stopped == reason).sum()) for cell in some) for reason in (1, 2))
    total = sum(cell.trials.n for cell in some)
    told = [f"{n} of {total} runs {how}" for n, how in ((target, "at the target regret"), (seconds, "after its seconds")) if n]
    return f"stop ended {', '.join(told)}" if told else ""


def _coco_info(cell, about):
    """The lines about a cell, without its runs."""
    pairs = {"suite": cell.suite, "funcId": cell.function, "DIM": cell.dim, "Precision": "1.000e-08", "algId": cell.algorithm,
             "coco_version": "2.8.2", "logger": "bbob", "data_format": "bbob-new2", "settings": ""}
    first = ", ".join(f"{key} = " + (str(value) if key in ("funcId", "DIM", "Precision") else
                                     "'" + line(value).replace("'", "’") + "'") for key, value in pairs.items())
    words = "; ".join(filter(None, (cell.name, "exported by regatta", *(
        about.get(key, "") for key in ("title", "creator_name", "id", "license")), _ends([cell]))))
    return f"{first}\n% {line(words)}\ndata_f{cell.function}/bbobexp_f{cell.function}_DIM{cell.dim}.dat"


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
    """Write IOHprofiler_fN_NAME.json with .dat of every algorithm. Returns the paths, and lines that a reader must
    know. raw_y is above the optimum if it is known."""
    found, n_empty = cells(results)
    written = []
    for (algorithm, suite, function), folder, dims in _folders(found, directory):
        name = re.sub(r"[^A-Za-z0-9]+", "", dims[0].name)[:60] or "problem"
        stem, ended = f"f{function}_{name}", _ends(dims)
        made = {"version": "0.3.9", "suite": "BBOB" if suite == "bbob" else suite,
                "function_id": function, "function_name": name, "maximization": False,
                "algorithm": {"name": algorithm, "info": "exported by regatta"},
                "experiment_attributes": [*({key: text} for key, text in about.items()),
                                          *([{"stop": ended}] if ended else [])],
                "attributes": ["evaluations", "raw_y"]}
        (folder / f"data_{stem}").mkdir(parents=True, exist_ok=True)
        index = folder / f"IOHprofiler_{stem}.json"
        with open(index, "w", encoding="utf-8") as file:
            file.write(json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}"))
            for k, cell in enumerate(dims):
                path = f"data_{stem}/IOHprofiler_f{function}_DIM{cell.dim}.dat"
                written.append(folder / path)
                file.write((", " if k else ',\n "scenarios": [') + json.dumps({"dimension": cell.dim, "path": path})[:-1])
                _write_runs(cell, written[-1], file)
            file.write("]\n}\n")
        written.append(index)
    return written, _notes(found, n_empty)


def _write_runs(cell, path, index):
    """Write the evaluations of the runs of a cell, and what the index says of each: there may be millions."""
    with open(path, "w", encoding="utf-8") as file:
        for k, run in enumerate(cell.runs()):
            values = run.f - run.optimum if np.isfinite(run.optimum) else run.f
            rows, at = {*np.flatnonzero(_best(values) == np.arange(len(values))), len(values) - 1}, int(values.argmin())
            file.write("evaluations raw_y\n" + "".join(f"{row + 1} {values[row]:.17g}\n" for row in sorted(rows)))
            about = {"instance": run.instance, "evals": len(values),
                     "best": {"evals": at + 1, "y": float(values[at]), "x": run.x[at].tolist()}}
            index.write((",\n" if k else ', "runs": [\n') + json.dumps(about, allow_nan=False))
    index.write("]}")
