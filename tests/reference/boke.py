"""BOKE (Zhu and others 2025, arXiv:2502.06178, Algorithm 2) on Forrester's function, written from the
paper; constants that it leaves open are those of the study (experiments/boke/README.md)."""
import numpy as np
from scipy.optimize import minimize_scalar

STUDY = """study: reference_boke
seed: 22
seeds: 30
common:
  iterations: 35
  initial_points: 5
  initial_design: latin_hypercube
  noise_variance: 0.01
  maximiser: {raw_samples: 500, restarts: 5, incumbents: 1, perturbations: 50, perturbation: 0.05,
              max_iterations: 100}
problems:
  - {name: forrester, label: problem}
algorithms:
  - {name: boke}
"""
INITIAL, ITERATIONS, NOISE, OPTIMUM = 5, 35, 0.01, 6.02074005577
VARSIGMA, DELTA, BANDWIDTH = 0.1, 0.1, 0.1     # c_h = 0.1 d^(3/4), d = 1


def forrester(x):
    return -((6 * x - 2) ** 2) * np.sin(12 * x - 4)


def acquisition(x, data, z, width):
    """m(x) + sqrt(beta_t) W(x)^(-1/2) with Gaussian weights of Scott's bandwidth c_h t^(-1/5)."""
    t = len(data)
    h = BANDWIDTH * t ** (-1 / 5)
    exponent = -((np.atleast_1d(x)[:, None] - data) ** 2) / (2 * h**2)
    largest = exponent.max(axis=1)
    weight = np.exp(exponent - largest[:, None])
    total = weight.sum(axis=1)
    beta = 2 * VARSIGMA**2 * np.log(2 * np.pi**2 * t**2 / (3 * DELTA))
    return weight @ z / total + width * np.sqrt(beta) * np.exp(-(largest + np.log(total)) / 2)


def maximise(value):
    """Argmax on [0, 1]: the best of a fine grid, polished between its neighbours."""
    grid = np.linspace(0, 1, 1001)
    best = grid[np.argmax(value(grid))]
    polished = minimize_scalar(lambda x: -value(x)[0], method="bounded", options={"xatol": 1e-7},
                               bounds=(max(best - 1e-3, 0), min(best + 1e-3, 1))).x
    return polished if value(polished)[0] > value(best)[0] else best


def trial(rng, width):
    """Cumulative regret of the queries, and simple regret with the initial points, by t."""
    x = (rng.permutation(INITIAL) + rng.random(INITIAL)) / INITIAL      # Latin hypercube
    y = forrester(x) + np.sqrt(NOISE) * rng.standard_normal(INITIAL)
    for _ in range(ITERATIONS):
        z = (y - y.mean()) / y.std()
        new = maximise(lambda u: acquisition(u, x, z, width))
        x = np.append(x, new)
        y = np.append(y, forrester(new) + np.sqrt(NOISE) * rng.standard_normal())
    regret = OPTIMUM - forrester(x)
    return np.cumsum(regret[INITIAL:]), np.minimum.accumulate(regret)[INITIAL:]


def run(seed, trials=30, width=1.0):
    """The compared results: name -> array (trial, t). `width` other than 1 is wrong."""
    rng = np.random.default_rng(seed)
    rows = [trial(rng, width) for _ in range(trials)]
    return {"cumulative_regret": np.array([row[0] for row in rows]),
            "simple_regret": np.array([row[1] for row in rows])}
