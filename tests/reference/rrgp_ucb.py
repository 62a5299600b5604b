"""RRGP-UCB (Inatsu 2025, arXiv:2504.03172, Algorithm 1) for the expectation minus the mean absolute
deviation on the 2D paths of section 5.1, written from the paper with batch formulas."""
import numpy as np

STUDY = """study: reference_rrgp_ucb
seed: 21
seeds: 30
instances: paired
common:
  iterations: 25
  initial_points: 1
  initial_design: uniform
  noise_variance: 1.0e-6
  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: false, mean: zero,
              noise_variance: 1.0e-6}
problems:
  - {name: gp_path_context, label: problem, setting: simulator, measure: expectation - mad}
algorithms:
  - {name: rrgp_ucb}
"""
LEVELS, NOISE, ITERATIONS = 50, 1e-6, 25


def measure(f):
    """F(x) = E f - E |f - E f| over equally likely contexts, for rows f(x, .)."""
    mean = f.mean(axis=1)
    return mean - np.abs(f - mean[:, None]).mean(axis=1)


def bounds(lower, upper):
    """lcb(x) and ucb(x) of F over all functions between `lower` and `upper` (Table 4)."""
    low = lower - upper.mean(axis=1, keepdims=True)      # f - E f lies in [low, high]
    high = upper - lower.mean(axis=1, keepdims=True)
    nearest = np.minimum(np.abs(low), np.abs(high))
    nearest = nearest - np.maximum(np.minimum(-low, high), 0)
    mad_lower, mad_upper = nearest.mean(axis=1), np.maximum(np.abs(low), np.abs(high)).mean(axis=1)
    return lower.mean(axis=1) - mad_upper, upper.mean(axis=1) - mad_lower


def first_largest(values):
    """Lowest index among values within 1e-12 of the largest."""
    return int(np.flatnonzero(values >= values.max() - 1e-12)[0])


def trial(rng, one, root, width):
    """Regret of the recommendations argmax F(mu_{t-1}(x, .)), and ucb - lcb at the queries, by t."""
    f = root @ rng.standard_normal((LEVELS, LEVELS)) @ root
    truth = measure(f)
    where, y, regret, gap = [tuple(rng.integers(LEVELS, size=2))], [], [], []
    for step in range(ITERATIONS + 1):
        y.append(f[where[-1]] + np.sqrt(NOISE) * rng.standard_normal())
        i, j = np.array(where).T
        gram = one[np.ix_(i, i)] * one[np.ix_(j, j)] + NOISE * np.eye(len(y))
        cross = (one[i][:, :, None] * one[j][:, None, :]).reshape(len(y), -1)
        solved = np.linalg.solve(gram, cross)
        mean = (np.array(y) @ solved).reshape(LEVELS, LEVELS)
        variance = np.maximum(1 - (cross * solved).sum(axis=0), 0).reshape(LEVELS, LEVELS)
        best = first_largest(measure(mean))
        regret.append(truth.max() - truth[best])
        if step == ITERATIONS:
            return regret, gap
        beta = 2 * np.log(LEVELS**2) + rng.chisquare(2)
        spread = width * np.sqrt(beta * variance)
        lcb, ucb = bounds(mean - spread, mean + spread)
        top = first_largest(ucb)
        x = top if ucb[top] - lcb[top] >= ucb[best] - lcb[best] else best
        gap.append(ucb[x] - lcb[x])
        where.append((x, first_largest(variance[x])))


def run(seed, trials=30, width=1.0):
    """The compared results: name -> array (trial, t). `width` other than 1 is wrong."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(-5, 5, LEVELS)
    one = np.exp(-((axis[:, None] - axis[None]) ** 2) / 2)
    values, vectors = np.linalg.eigh(one)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    rows = [trial(rng, one, root, width) for _ in range(trials)]
    return {"instantaneous_regret": np.array([row[0] for row in rows]),
            "bound_width": np.array([row[1] for row in rows])}
