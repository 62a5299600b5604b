"""SBO-KDE (Huang, Song, Xue, Qian 2023, arXiv:2312.10423, Algorithm 1) on the newsvendor problem with
fixed hyperparameters, written from the paper."""
import numpy as np

from grid import maximise

STUDY = """study: reference_sbo_kde
seed: 23
seeds: 30
common:
  iterations: 15
  initial_points: 4
  initial_design: uniform
  surrogate: {kernel: matern52, ard: false, length_scale: 0.3, variance: 1, noise_variance: 1.0e-3,
              noise_units: model, fit: fixed, mean: zero, deviation: sample}
  maximiser: {raw_samples: 128, restarts: 8, incumbents: 0, perturbations: 0}
problems:
  - {name: newsvendor, label: problem}
algorithms:
  - {name: sbo_kde, samples: 128}
"""
INITIAL, ITERATIONS, SAMPLES, LENGTH, NOISE, WIDTH = 4, 15, 128, 0.3, 1e-3, 1.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def matern52(a, b):
    """k(z, z') = (1 + s + s^2/3) exp(-s), s = sqrt(5) |z - z'| / ell, for rows z = (x, c)."""
    squared = (a[:, None, 0] - b[None, :, 0]) ** 2 + (a[:, None, 1] - b[None, :, 1]) ** 2
    s = np.sqrt(5 * squared) / LENGTH
    return (1 + s + s * s / 3) * np.exp(-s)


def newsvendor(x, c):
    c = np.clip(c, 0, 1)
    return 9 * np.minimum(x, c) - 5 * x + np.maximum(0, x - c)


def objective(x):
    """E f(x, c) = 8 int_0^x (1 + s^2)^-20 ds - 4 x for c ~ Burr XII(2, 20)."""
    x = np.atleast_1d(x)
    s = x[:, None] * (NODES + 1) / 2
    return 8 * (x / 2) * ((1 + s * s) ** -20.0 @ WEIGHTS) - 4 * x


def density_sample(rng, contexts, bandwidth):
    """Draws from the kernel density estimate, clipped to C; `bandwidth` multiplies the rule."""
    n = len(contexts)
    h = bandwidth * (4 / 3) ** (1 / 5) * contexts.std() * n ** (-1 / 5)
    draws = contexts[rng.integers(n, size=SAMPLES)] + h * rng.standard_normal(SAMPLES)
    return np.clip(draws, 0, 1)


def query(rng, x, c, y, width, bandwidth):
    """argmax over x of the average of mu + width sd over draws from the density estimate."""
    data = np.column_stack([x, c])
    gram = matern52(data, data) + NOISE * np.eye(len(x))
    inverse = np.linalg.inv(gram)
    alpha = inverse @ ((y - y.mean()) / y.std(ddof=1))
    draws = density_sample(rng, c, bandwidth)

    def average(grid):
        pairs = np.column_stack([np.repeat(grid, SAMPLES), np.tile(draws, len(grid))])
        cross = matern52(pairs, data)
        variance = 1 - ((cross @ inverse) * cross).sum(axis=1)
        bound = cross @ alpha + width * WIDTH * np.sqrt(np.maximum(variance, 1e-12))
        return bound.reshape(len(grid), SAMPLES).mean(axis=1)

    return maximise(average)


def trial(rng, width, bandwidth):
    """Cumulative and simple regret of F by t."""
    def demand(size):
        return np.sqrt((1 - rng.random(size)) ** (-1 / 20) - 1)

    x, c = rng.random(INITIAL), demand(INITIAL)
    for _ in range(ITERATIONS):
        x = np.append(x, query(rng, x, c, newsvendor(x, c), width, bandwidth))
        c = np.append(c, demand(1))
    regret = objective(np.sqrt(2 ** (1 / 20) - 1)) - objective(x)
    return np.cumsum(regret[INITIAL:]), np.minimum.accumulate(regret)[INITIAL:]


def run(seed, trials=30, width=1.0, bandwidth=1.0):
    """The compared results: name -> array (trial, t). Factors of `width` and `bandwidth` but 1 are wrong."""
    rng = np.random.default_rng(seed)
    rows = [trial(rng, width, bandwidth) for _ in range(trials)]
    return {"cumulative_regret": np.array([row[0] for row in rows]),
            "simple_regret": np.array([row[1] for row in rows])}
