"""Small results files with made-up numbers in the schema of the results file, for the tests."""
import re
import struct

import h5py
import numpy as np
import xxhash
from regatta_analysis import load
from regatta_analysis.load import reader, settings

ALGORITHMS = ["IRGP-UCB", "GP-UCB", "RGP-UCB", "EI", "TS", "PIMS", "MES", "JES", "Random"]
STUDY = """name: synthetic
seed: 1
problems: ["GP sample paths", "Holder table", "Small, d = 2", Large]
algorithms: [IRGP-UCB, GP-UCB, RGP-UCB, EI, TS, PIMS, MES, JES, Random]
"""
SETTINGS = {"GP-UCB": "beta=auto,scale=1", "RGP-UCB": "kappa=auto,theta=1",
            "IRGP-UCB": "shift=auto,rate=0.5"}
VECTORS = {"x": "dim_x", "length_scale": "dim_z"}
SCALARS = ["y", "f", "objective", "instantaneous_regret", "simple_regret", "cumulative_regret",
           "posterior_sd", "information_gain", "confidence", "fill_distance",
           "wall_fit", "wall_acquire", "wall_evaluate", "cpu_fit", "cpu_acquire", "cpu_evaluate"]


def problem(label, algorithms=ALGORITHMS, instances=1, seeds=10, queries=60, initial=4, dim=2,
            finite=0, scale=1.0, floor=0.0, failed=(), missing=(), random_state=0):
    """Trials of one problem as a dict of arrays. `finite` > 0: a set of that many designs, where
    regret ends at exactly 0; `failed`, `missing`: indices of trials."""
    random = np.random.default_rng(random_state)
    cells = [(a, i, s) for a in algorithms for i in range(instances) for s in range(seeds)]
    n, rows = len(cells), initial + queries
    arrays = {name: np.full((n, rows), np.nan) for name in SCALARS}
    arrays["x"] = np.full((n, rows, dim), np.nan)
    arrays["length_scale"] = np.full((n, rows, dim), np.nan)
    status, n_rows = np.ones(n, np.uint8), np.full(n, rows)
    for k, (algorithm, instance, seed) in enumerate(cells):
        if k in missing:
            status[k], n_rows[k] = 0, 0
            continue
        if k in failed:
            status[k], n_rows[k] = 2, initial + queries // 3
        _trial(arrays, k, n_rows[k], algorithm, _rank(algorithm), instance, initial, finite, scale,
               floor, random)
    return {"label": label, "cells": cells, "arrays": arrays, "status": status, "n_rows": n_rows,
            "initial": initial, "dim": dim, "rows": rows, "name": "made_up", "swept": [""] * n}


def _rank(algorithm):
    return ALGORITHMS.index(algorithm) if algorithm in ALGORITHMS else len(algorithm) % 8


def _trial(arrays, k, rows, algorithm, rank, instance, initial, finite, scale, floor, random):
    t = np.arange(rows) - initial + 1
    speed = 0.02 + 0.012 * (8 - rank) * (1.0 if algorithm != "Random" else 0.3)
    level = scale * (1.5 + np.sin(instance + 1.0)) * np.exp(random.normal(0, 0.5))
    regret = level * np.exp(-speed * np.maximum(t, 0) + random.normal(0, 0.6, rows)) + floor
    if finite:
        regret = np.where(regret < 0.15 * scale, 0.0, np.round(regret, 2))
    arrays["instantaneous_regret"][k, :rows] = regret
    arrays["simple_regret"][k, :rows] = np.minimum.accumulate(regret)
    arrays["cumulative_regret"][k, initial:rows] = np.cumsum(regret[initial:])
    arrays["fill_distance"][k, :rows] = (np.arange(rows) + 1.0) ** -0.5 * (1.0 + 0.01 * (k % 7))
    arrays["objective"][k, :rows] = arrays["f"][k, :rows] = 3.0 - regret
    arrays["y"][k, :rows] = 3.0 - regret + random.normal(0, 0.01, rows)
    arrays["x"][k, :rows] = random.uniform(size=(rows, arrays["x"].shape[2]))
    arrays["length_scale"][k, :rows] = 0.1
    queries = slice(initial, rows)
    m = rows - initial
    arrays["posterior_sd"][k, queries] = random.uniform(0.1, 1.0, m)
    arrays["information_gain"][k, queries] = np.cumsum(random.uniform(0, 4, m))
    step = np.arange(1, m + 1)
    size = finite or 1000
    if algorithm == "GP-UCB":
        arrays["confidence"][k, queries] = 2 * np.log(size * step**2 / np.sqrt(2 * np.pi))
    if algorithm == "RGP-UCB":
        arrays["confidence"][k, queries] = random.gamma(np.log(size * step**2) / np.log(1.5))
    if algorithm == "IRGP-UCB":
        arrays["confidence"][k, queries] = (2 * np.log(size / 2)
                                            + random.exponential(2.0, m))
    for clock, factor in (("wall", 1.1), ("cpu", 1.0)):
        arrays[f"{clock}_fit"][k, queries] = factor * 2e-4 * random.uniform(0.5, 1.5, m)
        arrays[f"{clock}_acquire"][k, queries] = factor * 1e-3 * (rank + 1) * random.uniform(
            0.5, 1.5, m)
        arrays[f"{clock}_evaluate"][k, :rows] = factor * 1e-5


def write(path, problems, schema_version=3, complete=1, title="A synthetic study", rows=None, columns=None):
    """One results file (or shard). `rows`: per problem the trials to keep; `columns`: the names of the columns in its
    checksums."""
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs.update({"Conventions": "CF-1.10", "title": title, "history": "made up",
                           "source": "synthetic", "references": "none", "study": STUDY,
                           "complete": np.uint8(complete)})
        if schema_version is not None:
            file.attrs["schema_version"] = np.int32(schema_version)
        if columns is not None:
            file.attrs["checksum_columns"] = " ".join(columns)
        table = []
        for p in problems:
            keep = np.arange(len(p["cells"])) if rows is None else np.asarray(rows[p["label"]])
            if len(keep):
                _write_group(file.create_group(p["label"]), p, keep, table)
        if table:
            _write_cells(file.create_group("cells"), table)
        _write_checksums(file)
    seal(path)


def loaded(path, problems, **options):
    """The results of a file that is written like this."""
    write(path, problems, **options)
    return load(path)


def _pairs(text):
    """{name: text of the value} of "name=value, ..."."""
    pairs = (pair.strip().split("=", 1) for pair in settings.split(text, ",") if "=" in pair)
    return dict(pairs)


def _cell(p, k):
    """The row of the table of cells for trial k."""
    algorithm, swept = p["cells"][k][0], p["swept"][k]
    options, axes, method = p.get("options", ""), _pairs(swept), settings.method_label(algorithm, swept)
    problems = ["GP sample paths", "Holder table", "Small, d = 2", "Large"]
    score = axes.pop("score", None)
    own = [("problem", _pairs(options)), ("run", {"iterations": str(p["rows"]), **_pairs(p.get("run", ""))}),
           ("algorithm", _pairs(SETTINGS.get(algorithm, "")))]
    drifts = r"context=before|setting=announced|\b(linear|jump|table|periodic|walk)\("
    typed = {name: (part, values[k]) for name, (part, values) in p.get("settings", {}).items()}
    untyped = {name: ("problem" if name in own[0][1] else "run", value) for name, value in axes.items()}
    return {"id": f"{p['label']}/{algorithm}/{swept}", "problem": p["label"], "algorithm": algorithm, "method": method,
            "problem_name": p["name"], "algorithm_name": algorithm.lower().replace("-", "_"), "swept": swept,
            "problem_revision": 1, "algorithm_revision": 1, "order": -1,
            "problem_number": 1 + problems.index(p["label"]) if p["label"] in problems else 99,
            "algorithm_number": 1 + ALGORITHMS.index(method) if method in ALGORITHMS else 99,
            "planned_seeds": len({cell[2] for cell in p["cells"]}),
            "planned_instances": len({cell[1] for cell in p["cells"]}),
            "initial_points": p["initial"], "iterations": p["rows"], "regret_units": "y",
            "goal": axes.get("goal") or own[0][1].get("goal") or p.get("goal", "maximise"),
            "dynamic": np.uint8(bool(re.search(drifts, options))), "stops": "", "law": "", "measure": "",
            "scores": p.get("scores", ""), "inputs": p.get("inputs", ""), "contexts": "",
            "sweep": {**(typed or untyped), **({"aimed_score": ("algorithm", score)} if score else {})},
            "settings": {f"{part}.{name}": value for part, pairs in own for name, value in pairs.items()}}


def _typed(values):
    """An array of texts (None: missing) or numbers: numbers if all are, and 1 and 0 for true and false."""
    values = [{"true": "1", "false": "0"}.get(value, value) if isinstance(value, str) else value for value in values]
    if all(value is None or not isinstance(value, str) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except ValueError:
        return np.array([(value or "").strip('"') for value in values], object)


def _write_cells(group, table):
    group["cell"] = np.arange(len(table))
    group["cell"].make_scale("cell")

    def put(into, name, values, **attributes):
        made = into.create_dataset(name, data=values, dtype=h5py.string_dtype() if values.dtype == object else None)
        made.dims[0].attach_scale(group["cell"])
        made.attrs.update({"long_name": name, "units": "1", "description": name, **attributes})

    for name, first in table[0].items():
        if name not in ("sweep", "settings"):
            put(group, name, np.array([row[name] for row in table], object if isinstance(first, str) else None))
    sweep, inner = group.create_group("sweep"), group.create_group("settings")
    for name in dict.fromkeys(name for row in table for name in row["sweep"]):
        found = [row["sweep"].get(name, (None, None)) for row in table]
        put(sweep, name, _typed([value for _, value in found]), setting=name,
            part=next(part for part, _ in found if part is not None), **_fill(found[0][1]))
    for name in dict.fromkeys(name for row in table for name in row["settings"]):
        put(inner, name, _typed([row["settings"].get(name) for row in table]))


def _fill(value):
    kind = getattr(value, "dtype", np.dtype(float)).kind
    return {"i": {"_FillValue": np.int32(-2**31)}, "u": {"_FillValue": np.uint8(255)}}.get(kind, {})


def _write_checksums(file):
    total, count = 0, 0
    for group in (one for one in file.values() if "problem_label" in one.attrs):
        found = list(reader.trial_checksums(group))
        group.create_dataset("checksum", data=np.array([d.hex() for d in found], object),
                             dtype=h5py.string_dtype())
        group["checksum"].dims[0].attach_scale(group["trial"])
        total, count = total + sum(int.from_bytes(d, "big") for d in found), count + len(found)
    file.attrs["n_trials"] = np.int64(count)
    file.attrs["checksum"] = reader.total_checksum(count, total)


def seal(path):
    """Put the trailer behind what HDF5 has written."""
    with open(path, "rb") as file:
        data = file.read()
    digest = xxhash.xxh3_128_digest(data)[::-1]
    with open(path, "ab") as file:
        file.write(b"RGTRAIL\n" + struct.pack("<Q", len(data)) + digest)


def _write_group(group, p, keep, table):
    group.attrs["problem_label"] = p["label"]
    rows = [_cell(p, k) for k in keep]
    known = {row["id"]: number for number, row in enumerate(table)}
    for row in rows:
        if row["id"] not in known:
            known[row["id"]] = len(table)
            table.append(row)
    scales = {"trial": len(keep), "iteration": p["rows"], "dim_x": p["dim"], "dim_z": p["dim"]}
    for name, length in scales.items():
        group[name] = np.arange(length) + (name == "iteration")
        group[name].make_scale(name)

    def put(name, values, *dims, into=group, **attributes):
        into.create_dataset(name, data=values,
                            dtype=h5py.string_dtype() if values.dtype == object else None)
        for axis, dim in enumerate(dims):
            into[name].dims[axis].attach_scale(group[dim])
        into[name].attrs.update({"long_name": name, "units": "1", "description": name,
                                 **attributes})

    def texts(values):
        return np.array(list(values), dtype=object)

    cells = [p["cells"][k] for k in keep]
    put("problem", texts([p["label"]] * len(keep)), "trial")
    put("algorithm", texts(cell[0] for cell in cells), "trial")
    put("instance", np.array([cell[1] for cell in cells], np.uint64), "trial")
    put("seed", np.array([cell[2] for cell in cells], np.uint64), "trial")
    put("id", texts(f"{p['label']}/{c}" for c in cells), "trial")
    put("status", p["status"][keep], "trial", flag_values=np.array([0, 1, 2], np.uint8),
        flag_meanings="missing complete failed")
    put("message", texts("Cholesky broke down" if s == 2 else "" for s in p["status"][keep]),
        "trial")
    put("n_iterations", p["n_rows"][keep].astype(np.int32), "trial")
    put("n_initial", np.full(len(keep), p["initial"], np.int32), "trial")
    names = {a: a.lower().replace("-", "_") for a, _, _ in cells}
    put("n_dim_x", np.full(len(keep), p["dim"], np.int32), "trial")
    put("n_dim_c", np.zeros(len(keep), np.int32), "trial")
    put("n_dim_z", np.full(len(keep), p["dim"], np.int32), "trial")
    put("optimum", np.full(len(keep), p.get("optimum", 3.0)), "trial")
    put("cell", np.array([known[row["id"]] for row in rows], np.int32), "trial")
    put("key", texts(f"schema=1;problem={p['name']}@1{{{p.get('options', '')}}};run={{iterations={p['rows']}{p.get('run', '')}}};"
                     f"algorithm={names[a]}@1{{{SETTINGS.get(a, '')}}};study_seed=1;instance={i};"
                     f"seed={s}" for a, i, s in cells), "trial")
    for name, values in p.get("columns", {}).items():
        put(name, values[keep], "trial")
    if "scores" in p:
        group["score"] = np.arange(p["scored_regret"].shape[2])
        group["score"].make_scale("score")
        put("n_scores", np.full(len(keep), len(group["score"]), np.int32), "trial")
        put("score_instantaneous_regret", p["scored_regret"][keep], "trial", "iteration", "score")
    provenance = group.create_group("provenance")
    put("host", texts(["node1"] * len(keep)), "trial", into=provenance)
    if "machine" in p:
        put("machine", texts([p["machine"]] * len(keep)), "trial", into=provenance)
    timing = group.create_group("timing")
    for name, values in p["arrays"].items():
        dims = ("trial", "iteration") + ((VECTORS[name],) if name in VECTORS else ())
        put(name, values[keep], *dims, into=timing if name[:4] in ("wall", "cpu_") else group)


def made_up(name, level, seeds=20, queries=40, noise=0.05, power=-1.0):
    """A problem on which the regret of every algorithm is its level times t^power, with noise."""
    p = problem(name, list(level), seeds=seeds, queries=queries, initial=4)
    random = np.random.default_rng(9)
    for k, (algorithm, _, seed) in enumerate(p["cells"]):
        t = np.maximum(np.arange(p["rows"]) - 3, 1)
        regret = level[algorithm] * t**power * np.exp(noise * random.normal(size=len(t)))
        simple = np.minimum.accumulate(regret)
        p["arrays"]["instantaneous_regret"][k] = regret
        p["arrays"]["simple_regret"][k] = simple
        p["arrays"]["cumulative_regret"][k, 4:] = np.cumsum(regret[4:])
    return p


def golden():
    """The problems of golden/final_regret.csv and golden/runtime.csv."""
    algorithms = ["IRGP-UCB", "EI", "Random"]
    return [problem("Crossed", algorithms, instances=3, seeds=2, queries=20),
            problem("Pool_94 & co", algorithms, seeds=4, queries=10, finite=94, failed=(5,), missing=(8, 9, 10, 11),
                    random_state=1)]


def paper_like():
    """Three problems as in a typical study: crossed instances with zeros, benchmarks, failures."""
    return [problem("GP sample paths", instances=10, seeds=10, queries=200, initial=8, dim=3,
                    finite=1000, random_state=1),
            problem("Holder table", queries=100, initial=4, scale=8.0, floor=1e-3, failed=(13,),
                    random_state=2),
            problem("Ackley, d = 4", queries=200, initial=16, dim=4, scale=15.0, floor=3.0,
                    failed=(0, 1), missing=(80, 81, 82, 83, 84, 85, 86, 87, 88, 89),
                    random_state=3)]
