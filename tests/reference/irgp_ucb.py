"""IRGP-UCB (Takeno, Inatsu, Karasuyama 2024, arXiv:2409.00979, Algorithm 1) on paths of a Gaussian
process over a grid, written from the paper with batch formulas, for comparison with the program."""
import numpy as np

STUDY = """study: reference_irgp_ucb
seed: 20
seeds: 30
instances: paired
common:
  iterations: 50
  initial_points: 4
  initial_design: uniform
  noise_variance: 1.0e-4
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, variance: 1, fit: fixed, standardise: false}
problems:
  - {name: gp_path, label: problem, dim: 2, levels: 10}
algorithms:
  - {name: irgp_ucb, shift: finite}
"""
LEVELS, LENGTH, NOISE, INITIAL, ITERATIONS = 10, 0.1, 1e-4, 4, 50


def kernel():
    """Covariance of all grid points {0, 0.1, .., 0.9}^2, k = exp(-r^2 / (2 ell^2))."""
    axis = np.arange(LEVELS) / LEVELS
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * LENGTH**2))


def trial(rng, covariance, root, width):
    """Regret f* - f(x_t) of the queries, and simple regret (with the initial points), by t."""
    f = root @ rng.standard_normal(len(covariance))

    def observe(points):
        return f[points] + np.sqrt(NOISE) * rng.standard_normal(len(points))

    queried = list(rng.choice(len(f), INITIAL, replace=False))
    y = list(observe(queried))
    for _ in range(ITERATIONS):
        gram = covariance[np.ix_(queried, queried)] + NOISE * np.eye(len(queried))
        cross = covariance[queried]
        solved = np.linalg.solve(gram, cross)                 # (K + s2 I)^-1 k_x for all x
        mean = np.array(y) @ solved
        deviation = np.sqrt(np.maximum(1 - (cross * solved).sum(axis=0), 0))
        zeta = 2 * np.log(len(f) / 2) - 2 * np.log(1 - rng.random())   # s + Exp(rate 1/2)
        queried.append(int(np.argmax(mean + width * np.sqrt(zeta) * deviation)))
        y.extend(observe(queried[-1:]))
    regret = f.max() - f[queried]
    return np.cumsum(regret[INITIAL:]), np.minimum.accumulate(regret)[INITIAL:]


def run(seed, trials=30, width=1.0):
    """The compared results: name -> array (trial, t), t = 1 .. ITERATIONS. `width` other than 1 is wrong."""
    rng = np.random.default_rng(seed)
    covariance = kernel()
    root = np.linalg.cholesky(covariance + 1e-10 * np.eye(len(covariance)))
    rows = [trial(rng, covariance, root, width) for _ in range(trials)]
    return {"cumulative_regret": np.array([row[0] for row in rows]),
            "simple_regret": np.array([row[1] for row in rows])}
