"""Limits of kernel regression and of a Gaussian process as their bandwidth falls to 0: Propositions 3.1, B.3 and B.5 of
arXiv:2502.06178, on random data in one to four coordinates. Data and places have multiples of 1/32 as coordinates, so
that equal distances are equal to the bit."""
import numpy as np

BANDWIDTHS = 0.1, 0.01, 0.001
POINTS, REPEATED, PLACES = 12, 3, 200  # data, those of them that repeat others, and places away from the data
NOISE = 0.04  # variance of the noise of the Gaussian process


def data(seed):
    """Points (some of them repeated), values, and places: the points first."""
    random = np.random.default_rng(seed)
    dim = 1 + seed % 4
    points = random.integers(17, size=(POINTS, dim)) / 16.0
    points[-REPEATED:] = points[:REPEATED]
    return points, random.normal(size=POINTS), np.vstack([points, random.integers(33, size=(PLACES, dim)) / 32.0])


def _squares(a, b):
    return ((a[:, None] - b) ** 2).sum(axis=2)


def regression(points, values, places, h):
    """The regression, and the mean value of the nearest points."""
    squares = _squares(places, points)
    nearest = squares.min(axis=1, keepdims=True)
    weights = np.exp((nearest - squares) / (2.0 * h * h))
    return _mean(weights, values), _mean(squares == nearest, values)


def _mean(weights, values):
    return weights @ values / weights.sum(axis=1)


def weight(points, values, places, h):
    """The sum of the weights, and the number of points at the place."""
    squares = _squares(places, points)
    return np.exp(-squares / (2.0 * h * h)).sum(axis=1), (squares == 0.0).sum(axis=1)


def gp_mean(points, values, places, h):
    """The posterior mean, and the sum of the values at the place over their number plus the noise (0 elsewhere)."""
    there = _squares(places, points) == 0.0
    return _posterior(points, places, h)[0] @ values, there @ values / (there.sum(axis=1) + NOISE)


def gp_variance(points, values, places, h):
    """The posterior variance, and 1 - n/(n + noise) for n points at the place."""
    n = (_squares(places, points) == 0.0).sum(axis=1)
    return _posterior(points, places, h)[1], 1.0 - n / (n + NOISE)


def _posterior(points, places, h):
    """The weights of the values in the posterior mean, and the posterior variance."""
    cross = np.exp(-_squares(places, points) / (2.0 * h * h))
    inner = np.exp(-_squares(points, points) / (2.0 * h * h)) + NOISE * np.eye(len(points))
    weights = np.linalg.solve(inner, cross.T).T
    return weights, 1.0 - (weights * cross).sum(axis=1)


KINDS = {"regression": regression, "weight": weight, "gp mean": gp_mean, "gp variance": gp_variance}


def errors(what, runs):
    """The largest differences from the limit at each of BANDWIDTHS, runs x bandwidths."""
    return np.array([[np.abs(np.subtract(*KINDS[what](*data(seed), h))).max() for h in BANDWIDTHS]
                     for seed in range(runs)])
