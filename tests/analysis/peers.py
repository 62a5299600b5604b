"""Readers of the logs that COCO and IOHprofiler define, as strict as theirs: a mistake raises ValueError."""
import json
import re

import numpy as np

COCO_SUITES = {"bbob", "bbob-noisy", "bbob-largescale", "bbob-mixint", "bbob-constrained", "bbob-boxed"}
PAIR = re.compile(r"(\w+) = ('[^']*'|[^,']+)(?:, |$)")


def read_coco(folder, known=COCO_SUITES):
    """{(function, dimension): [(instance, evaluations, best values above the optimum)]} of an algorithm's folder,
    and f_opt of every run in the same shape. Suites that cocopp does not know, and two in one folder, are wrong."""
    runs, optima, suites = {}, {}, set()
    for info in sorted(folder.rglob("*.info")):
        lines = info.read_text(encoding="utf-8").split("\n")
        if len(lines) % 3:
            raise ValueError(f"{info}: {len(lines)} lines are no triples")
        for head, comment, files in zip(*[iter(lines)] * 3):
            about = dict(PAIR.findall(head))
            suites.add(about["suite"].strip("'"))
            if not comment.startswith("%") or about["data_format"] != "'bbob-new2'":
                raise ValueError(f"{info}: {comment} {about}")
            path, *ends = files.split(", ")
            key = int(about["funcId"]), int(about["DIM"])
            if key in runs:
                raise ValueError(f"{info}: {key} twice")
            for suffix in (".dat", ".tdat"):  # .tdat last: it has the evaluations at round numbers
                found = _coco_runs((info.parent / path).with_suffix(suffix))
                runs[key], optima[key] = _match(ends, found), [optimum for optimum, _ in found]
    if len(suites) != 1 or not suites <= known:
        raise ValueError(f"{folder}: suites {sorted(suites)}")
    return runs, optima


def _coco_runs(path):
    """[(f_opt, rows)] of a data file."""
    found = []
    for line in path.read_text().splitlines():
        if line.startswith("%"):
            found.append((float(line.split("Fopt (")[1].split(")")[0]), []))
        else:
            found[-1][1].append([float(word) for word in line.split()[:5]])
    return [(optimum, np.array(rows)) for optimum, rows in found]


def _match(ends, found):
    """The runs of a data file as the .info file announces them."""
    if len(ends) != len(found):
        raise ValueError(f"{len(found)} runs, {len(ends)} announced")
    runs = []
    for end, (_, rows) in zip(ends, found):
        instance, rest = end.split(":")
        evaluations, gap = rest.split("|")
        number, best = rows[:, 0].astype(int), rows[:, 2]
        if number[-1] != int(evaluations) or not (np.diff(number) > 0).all() or (np.diff(best) > 0).any():
            raise ValueError(f"{end}: evaluations {number}, best {best}")
        if f"{best[-1]:.1e}" != gap or not np.isfinite(rows).all():
            raise ValueError(f"{end}: ends at {best[-1]}")
        runs.append((int(instance), number, best))
    return runs


def read_ioh(folder):
    """{(function, dimension): [(instance, evaluations, best raw_y)]} of an algorithm's folder; one suite in it."""
    runs, suites = {}, set()
    for path in sorted(folder.rglob("IOHprofiler_f*.json")):
        about = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        suites.add(about["suite"])
        for scenario in about["scenarios"]:
            names, *rows = (path.parent / scenario["path"]).read_text().splitlines()
            if names.split() != ["evaluations", "raw_y"]:
                raise ValueError(f"{scenario['path']}: {names}")
            blocks = [[]]
            for row in rows:
                if row == names:
                    blocks.append([])
                else:
                    blocks[-1].append([float(word) for word in row.split()])
            if len(blocks) != len(scenario["runs"]):
                raise ValueError(f"{scenario['path']}: {len(blocks)} runs, {len(scenario['runs'])} announced")
            key = int(about["function_id"]), int(scenario["dimension"])
            runs[key] = [_ioh_run(run, np.array(block)) for run, block in zip(scenario["runs"], blocks)]
    if len(suites) != 1:
        raise ValueError(f"{folder}: suites {sorted(suites)}")
    return runs


def _ioh_run(run, rows):
    number, best = rows[:, 0].astype(int), np.minimum.accumulate(rows[:, 1])
    if number[-1] != run["evals"] or best[-1] != run["best"]["y"] or not np.isfinite(rows).all():
        raise ValueError(f"{run}: {number[-1]} evaluations end at {best[-1]}")
    return run["instance"], number, best


def _refuse(word):
    raise ValueError(f"{word} is no JSON")
