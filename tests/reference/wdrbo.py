"""WDRBO (Micheli, Balta, Tsiamis, Lygeros 2025, arXiv:2503.20341) on the shift example of Figure 1 with
fixed hyperparameters, centre N(0.5, 0.1) and radius 0.1, written from the paper."""
import numpy as np
from scipy.stats import norm

from grid import maximise

STUDY = """study: reference_wdrbo
seed: 24
seeds: 30
common:
  iterations: 12
  initial_points: 5
  initial_design: uniform
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.3, variance: 1, noise_variance: 1.0e-3,
              noise_units: model, fit: fixed, mean: zero, deviation: sample}
  maximiser: {raw_samples: 64, restarts: 3, incumbents: 0, perturbations: 0}
problems:
  - {name: shift_example, label: problem}
algorithms:
  - {name: wdrbo, centre: "normal(0.5, 0.1)", schedule: constant, radius: 0.1}
"""
INITIAL, ITERATIONS, LENGTH, NOISE, WIDTH, RADIUS = 5, 12, 0.3, 1e-3, 1.5, 0.1
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


def gaussian(a, b):
    """k(z, z') = exp(-|z - z'|^2 / (2 ell^2)) for rows z = (x, c), x in the unit interval."""
    squared = (a[:, None, 0] - b[None, :, 0]) ** 2 + (a[:, None, 1] - b[None, :, 1]) ** 2
    return np.exp(-squared / (2 * LENGTH**2))


def shift_example(x, c):
    return 1 - np.abs(c - 0.5) / (np.abs(x) + 0.2) - np.sqrt(np.abs(x) + 0.05)


def objective(x):
    """E f(x, c) for c ~ N(0.6, 0.2): E|c - 0.5| in closed form."""
    away = 0.2 * np.sqrt(2 / np.pi) * np.exp(-(0.1**2) / 0.08) + 0.1 * (1 - 2 * norm.cdf(-0.5))
    return 1 - away / (np.abs(x) + 0.2) - np.sqrt(np.abs(x) + 0.05)


def bound_and_slope(grid, contexts, data, inverse, alpha, width):
    """U = mu + width sd at all (x, c), and |dU/dc| there."""
    pairs = np.column_stack([np.repeat(grid, len(contexts)), np.tile(contexts, len(grid))])
    cross = gaussian(pairs, data)
    solved = cross @ inverse
    deviation = np.sqrt(np.maximum(1 - (solved * cross).sum(axis=1), 1e-10))
    change = -cross * (pairs[:, 1:] - data[:, 1]) / LENGTH**2            # dk / dc
    slope = change @ alpha - width * (change * solved).sum(axis=1) / deviation
    shape = len(grid), len(contexts)
    return (cross @ alpha + width * deviation).reshape(shape), np.abs(slope).reshape(shape)


def query(x, c, y, slopes_at, width, radius):
    """argmax of E_centre U(x, c) - radius max_c |dU(x, c)/dc|."""
    data = np.column_stack([x, c])
    inverse = np.linalg.inv(gaussian(data, data) + NOISE * np.eye(len(x)))
    alpha = inverse @ ((y - y.mean()) / y.std(ddof=1))
    centre = 0.5 + 0.1 * NODES

    def robust(grid):
        bound = bound_and_slope(grid, centre, data, inverse, alpha, width)[0]
        slope = bound_and_slope(grid, slopes_at, data, inverse, alpha, width)[1]
        return bound @ WEIGHTS / WEIGHTS.sum() - radius * slope.max(axis=1)

    return maximise(robust)


def trial(rng, width, radius):
    """Cumulative and simple regret of F by t."""
    x, c = rng.random(INITIAL), 0.6 + 0.2 * rng.standard_normal(INITIAL)
    slopes_at = rng.random(100)
    for _ in range(ITERATIONS):
        y = shift_example(2 * x - 1, c)
        x = np.append(x, query(x, c, y, slopes_at, width * WIDTH, radius * RADIUS))
        c = np.append(c, 0.6 + 0.2 * rng.standard_normal())
    regret = objective(0.23874794321522) - objective(2 * x - 1)
    return np.cumsum(regret[INITIAL:]), np.minimum.accumulate(regret)[INITIAL:]


def run(seed, trials=30, width=1.0, radius=1.0):
    """The compared results: name -> array (trial, t). Factors of `width` and `radius` but 1 are wrong."""
    rng = np.random.default_rng(seed)
    rows = [trial(rng, width, radius) for _ in range(trials)]
    return {"cumulative_regret": np.array([row[0] for row in rows]),
            "simple_regret": np.array([row[1] for row in rows])}
