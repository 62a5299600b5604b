"""log_likelihood, recomputed in NumPy from the columns of the results file and the settings of the study alone, for
kernels, structures, warpings, trends, transformations and restarts."""
import itertools
import sys

import h5py
import numpy as np
from scipy.stats import norm, rankdata

from regatta_test import HERE, RegattaTest

sys.path.insert(0, str(HERE.parents[1] / "analysis"))
from regatta_analysis.load import reader  # noqa: E402

DIM = 3
KERNELS = {"gaussian": None, "matern12": None, "matern32": None, "matern52": None, "rational_quadratic": 0.7,
           "periodic": 1.3, "spherical_linear": None}
STRUCTURES = ({}, {"ard": "false"}, {"structure": "product", "ard": "false"},
              {"structure": "product", "kernels": "[matern52, periodic, gaussian]"},
              {"structure": "additive"}, {"structure": "additive", "ard": "false", "groups": "[1, 1, 2]"},
              {"structure": "additive", "groups": "[1, 2, 1]"},
              {"structure": "additive", "ard": "false", "terms": '["1 2", "2 3", "1 3", "1 2 3"]'})
EXTRAS = ({}, {"input_warping": "kumaraswamy"}, {"mean": "quadratic"}, {"mean": "zero"})
OUTPUTS = ({}, {"transform": "yeo_johnson"}, {"transform": "copula"}, {"deviation": "sample"},
           {"standardise": "false", "fit_noise": "true"})
WORDS = (1, 2)  # the inputs of EVALUATOR that are choices
EVALUATOR = """#!/usr/bin/env python3
import json
import sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        x = asked["x"]
        value = -(x["a"] - 0.3)**2 - "prq".index(x["b"]) + (x["c"] == "w")
        print(json.dumps({"id": asked["id"], "value": value}), flush=True)
"""
NEW = ("term_variance", "term_length_scale", "warp_a", "warp_b", "trend_linear", "trend_quadratic", "sphere_scale",
       "sphere_share", "output_power", "fit_from")  # the columns that files of earlier programs lack
STUDY = """study: likelihood
seeds: 1
common: {{iterations: {}, initial_points: 6{}}}
problems: [{{{}, label: problem, noise_variance: 0.01}}]
algorithms:
{}
"""


def settings():
    """Every kernel with every structure, and with it one of the other settings in turn."""
    others = itertools.cycle(itertools.product(EXTRAS, OUTPUTS))
    made = [{"kernel": k, **({"shape": KERNELS[k]} if KERNELS[k] and "kernels" not in s else {}), **s, **e, **o}
            for (k, s), (e, o) in zip(itertools.product(KERNELS, STRUCTURES), others)
            if k != "spherical_linear" or "structure" not in s]
    made += [{"kernel": "matern52", **e, **o} for e, o in itertools.product(EXTRAS, OUTPUTS)]
    return [setting for i, setting in enumerate(made) if setting not in made[:i]]


def family(name, shape, d, scales):
    """The kernel `name` of differences n x n x inputs."""
    if name == "periodic":
        return np.exp(-2 * (np.sin(np.pi * d / shape)**2 / scales**2).sum(-1))
    r = np.sqrt(((d / scales)**2).sum(-1))
    if name == "gaussian":
        return np.exp(-r**2 / 2)
    if name == "rational_quadratic":
        return (1 + r**2 / (2 * shape))**-shape
    s = {"matern12": 1, "matern32": 3, "matern52": 5}[name]**0.5 * r
    return {"matern12": 1, "matern32": 1 + s, "matern52": 1 + s + s**2 / 3}[name] * np.exp(-s)


def sphere(row, x, scales):
    """The linear kernel of the projections of x to the unit sphere."""
    u = (x - 0.5) / scales
    u /= np.sqrt(row["sphere_scale"] * (1 / (2 * scales)**2).sum())
    square = (u**2).sum(-1, keepdims=True)
    p = np.hstack([2 * u, square - 1]) / (1 + square)
    return 1 - row["sphere_share"] + row["sphere_share"] * p @ p.T


def groups_of(setting, dim=DIM):
    """Inputs of every term or factor."""
    if "terms" in setting:
        return [[int(j) - 1 for j in term.split()] for term in setting["terms"].strip('[]"').split('", "')]
    if "groups" in setting:
        numbers = setting["groups"].strip("[]").split(", ")
        return [[j for j in range(DIM) if numbers[j] == g] for g in dict.fromkeys(numbers)]
    return [[j] for j in range(dim)] if "structure" in setting else [list(range(dim))]


def matrix(setting, row, x, words=False):
    """The kernel matrix of points in the unit cube; `row` has the columns of a query."""
    inside = x.clip(1e-6, 1 - 1e-6)
    u = 1 - (1 - inside**row["warp_a"])**row["warp_b"] if "input_warping" in setting else x
    d, parts = u[:, None] - u[None], []
    for j in WORDS if words else ():  # any two words of a choice are at distance 1
        d[:, :, j] = d[:, :, j] != 0
    names = setting["kernels"].strip("[]").split(", ") if "kernels" in setting else [setting["kernel"]] * 4
    for g, inputs in enumerate(groups_of(setting, x.shape[1])):
        shape = setting.get("shape", 1)
        scales = row["term_length_scale"][g] if "terms" in setting else row["length_scale"][inputs]
        parts.append(sphere(row, u, scales) if names[g] == "spherical_linear" else
                     family(names[g], shape, d[:, :, inputs], scales))
    if setting.get("structure") == "additive":
        k = sum(v * part for v, part in zip(row["term_variance"], parts))
    else:
        k = row["signal_variance"] * np.prod(parts, axis=0)
    s = (2 * x - 1) @ (2 * x - 1).T / DIM
    trend = row["trend_linear"] * s + row["trend_quadratic"] * s**2 if "trend_linear" in row else 0
    return k + (trend if setting.get("mean") == "quadratic" else 0)


def outputs(setting, row, y):
    """Outputs in model units."""
    if setting.get("transform") == "yeo_johnson":
        z, p = (y - y.mean()) / y.std(), row["output_power"]
        y = np.where(z >= 0, np.expm1(p * np.log1p(abs(z))) / p, -np.expm1((2 - p) * np.log1p(abs(z))) / (2 - p))
    if setting.get("transform") == "copula":
        y = norm.ppf((rankdata(y) - 0.5) / len(y))
    if setting.get("standardise") == "false":
        return y
    return (y - y.mean()) / y.std(ddof=setting.get("deviation") == "sample")


def log_likelihood(setting, row, x, y, words=False):
    k = matrix(setting, row, x, words) + (row["model_noise"] + row["jitter"]) * np.eye(len(x))
    z, one = outputs(setting, row, y), np.ones(len(x))
    mean = 0 if setting.get("mean") == "zero" else one @ np.linalg.solve(k, z) / (one @ np.linalg.solve(k, one))
    return -((z - mean) @ np.linalg.solve(k, z - mean) + np.linalg.slogdet(2 * np.pi * k)[1]) / 2


def told(columns, trial, i):
    """The evaluations whose values are known at query i: the earlier ones that have ended."""
    if "finished" not in columns:
        return np.arange(i)
    return np.flatnonzero(~(columns["finished"][trial, :i] > columns["dispatched"][trial, i]))


def cases(file, made):
    """(setting, columns of a query, x, y) of every fit."""
    group = file["problem"]
    columns = {name: group[name][()] for name in group if isinstance(group[name], h5py.Dataset)
               and group[name].ndim > 1 and group[name].dtype.kind == "f"}
    for trial, label in enumerate(group["algorithm"].asstr()[()]):
        for i in np.flatnonzero(~np.isnan(columns["log_likelihood"][trial])):
            row = {name: values[trial, i] for name, values in columns.items()}
            first = 0 if np.isnan(row.get("fit_from", np.nan)) else int(row["fit_from"]) - 1
            known = told(columns, trial, i)[first:]
            inputs = np.concatenate([columns[name][trial, known] for name in ("x", "c") if name in columns], axis=1)
            yield made[int(label[1:])], row, inputs, columns["y"][trial, known]


def differs(found, expected):
    return not abs(found - expected) <= 1e-6 * (1 + abs(expected))


class Likelihood(RegattaTest):
    def fits(self, made, iterations=3, problem="name: hartmann3", method="ei", common=""):
        lines = [f"  - {{name: {method}, label: s{i}, surrogate: {{{', '.join(f'{k}: {v}' for k, v in s.items())}}}}}"
                 for i, s in enumerate(made)]
        study = self.write("study.yaml", STUDY.format(iterations, common, problem, "\n".join(lines)))
        output = self.results_of(study, "-strict")
        with h5py.File(output) as file:
            return list(cases(file, made))

    def check(self, fits):
        self.assertEqual([(setting, found, row["log_likelihood"]) for setting, row, x, y in fits
                          if differs(found := log_likelihood(setting, row, x, y), row["log_likelihood"])], [])

    def test_from_columns(self):
        made = settings()
        fits = self.fits(made)
        self.assertEqual(len(fits), 3 * len(made))
        self.check(fits)
        for name in (*NEW[:-1], "length_scale", "signal_variance", "model_noise"):
            wrong = sum(differs(log_likelihood(setting, {**row, name: 1.5 * row[name]}, x, y), row["log_likelihood"])
                        for setting, row, x, y in fits if not np.isnan(row[name]).all())
            self.assertGreater(wrong, 3, f"a wrong {name} would not be seen")

    def test_with_contexts(self):
        """The inputs are design and context, or their sum."""
        made = [{"kernel": kernel, **({"shape": KERNELS[kernel]} if KERNELS[kernel] else {}), **s} for kernel, s in
                itertools.product(KERNELS, ({}, {"ard": "false"}, {"structure": "additive"}, {"structure": "shift"}))
                if kernel != "spherical_linear" or "structure" not in s]
        fits = self.fits(made, problem="name: newsvendor", method="erbo")
        self.assertEqual(len(fits), 3 * len(made))
        sums = [({n: v for n, v in setting.items() if v != "shift"}, row, x.sum(axis=1, keepdims=True)
                 if setting.get("structure") == "shift" else x, y) for setting, row, x, y in fits]
        self.check(sums)
        self.assertTrue(all(differs(log_likelihood(setting, row, x[:, ::-1] ** 2, y), row["log_likelihood"])
                            for setting, row, x, y in sums))

    def test_with_choices(self):
        """Words of a choice have no order, except in a periodic kernel."""
        program = self.write("evaluator.py", EVALUATOR)
        program.chmod(0o755)
        made = [{"kernel": kernel, **({"shape": KERNELS[kernel]} if KERNELS[kernel] else {}), **s}
                for kernel, s in itertools.product(KERNELS, (STRUCTURES[0], STRUCTURES[1], STRUCTURES[4]))
                if kernel != "spherical_linear"]
        fits = self.fits(made, problem=f"name: external, program: {program}, inputs: [a real 0 1, b choice p q r, "
                                       "c choice v w]")
        self.assertEqual(len(fits), 3 * len(made))
        ordered = [(setting, row, x / [1, 3, 2], y) for setting, row, x, y in fits]
        self.assertGreater(min(len(np.unique(x[:, 1])) for _, _, x, _ in ordered), 2)
        seen = 0
        for setting, row, x, y in ordered:
            found = [log_likelihood(setting, row, x, y, words) for words in (False, True)]
            periodic = setting["kernel"] == "periodic"
            self.assertFalse(differs(found[not periodic], row["log_likelihood"]), setting)
            seen += differs(found[periodic], row["log_likelihood"])
        self.assertGreater(seen, len(ordered) / 2, "an order of the words would not be seen")

    def test_with_workers(self):
        """A fit knows the values that are told, whatever the model assumes of the others."""
        made = [{"kernel": "matern52", **o} for o in OUTPUTS]
        for release, pending in itertools.product(("async", "sync"), ("ignore", "believer", "liar_max")):
            with self.subTest(release=release, pending=pending):
                fits = self.fits(made, 6, common=f', workers: 3, release: {release}, duration: "uniform(0.2, 2)", '
                                                 f"pending: {pending}")
                self.assertGreaterEqual(len(fits), 2 * len(made))
                self.check(fits)

    def test_matrix_free(self):
        """The fit of the matrix-free model is of all data while they are few."""
        made = [{"kernel": kernel, "solver": "iterative", "solver_rank": 20, "fit_data": 50}
                for kernel in ("gaussian", "matern32")]
        fits = self.fits(made)
        self.assertEqual(len(fits), 3 * len(made))
        self.check(fits)

    def test_after_a_restart(self):
        """The fit knows the evaluations from `fit_from` on."""
        fits = self.fits([{"kernel": "gaussian", "transform": "yeo_johnson", "restart_after": 1}], 40)
        self.assertTrue(any(row["fit_from"] > 1 for _, row, _, _ in fits))
        self.check(fits)

    def test_files_without_these_columns(self):
        """A file of an earlier program is right: its checksums, and its trials run again."""
        made = [{"kernel": "matern32", **s, **e, "transform": "yeo_johnson"}
                for s, e in ((STRUCTURES[7], {}), ({}, EXTRAS[1]), ({}, EXTRAS[2]))]
        self.fits(made)
        output = self.folder / "out.h5"
        with h5py.File(output, "r+") as file:
            for name in (*NEW, "term", "n_terms"):
                del file["problem"][name]
            file.attrs["checksum_columns"] = " ".join(
                name for name in file.attrs["checksum_columns"].split() if name not in NEW)
            sums = list(reader.trial_checksums(file["problem"]))
            file["problem/checksum"][...] = [one.hex().encode() for one in sums]
            total = sum(int.from_bytes(one, "big") for one in sums)
            file.attrs["checksum"] = reader.total_checksum(len(sums), total)
        reader.check_contents(output)
        self.assertIn("run again: 3 trials, 3 equal in every bit", self.run_ok("verify", "-all", output))
