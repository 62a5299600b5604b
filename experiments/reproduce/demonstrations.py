"""Figures 1, 2 and 4 of arXiv:2502.06178 show something on one sample. The checks here ask whether it holds on many
samples; each gives one answer per sample."""
import functools

import numpy as np

from .illustrations import (GRID, acquisition, damped_cosine, kernel_regression, left_out_bandwidth,
                            likelihood_bandwidth, mixture, run)

SMALL, LARGE = 0.005, 0.3


def regression(seed):
    """Very small bandwidth: the value of the nearest point (within 5% of the values' range on nine
    tenths of the interval); cross-validated: correlation with f of at least 0.8; large: less than half
    of the range of f."""
    random = np.random.default_rng(seed)
    points = (random.permutation(10) + random.uniform(size=10)) / 10.0
    values = damped_cosine(points) + 0.1 * random.normal(size=10)
    truth = damped_cosine(GRID)
    small, chosen, large = (kernel_regression(GRID, points, values, h)[0] for h in
                            (SMALL, left_out_bandwidth(points, values), LARGE))
    nearest = values[np.argmin(np.abs(GRID[:, None] - points), axis=1)]
    return bool(np.mean(np.abs(small - nearest) <= 0.05 * np.ptp(values)) >= 0.9
                and np.corrcoef(chosen, truth)[0, 1] >= 0.8
                and np.ptp(large) < 0.5 * np.ptp(truth))


def density(seed):
    """Likelihood bandwidth: higher at both modes of the mixture than at the valley between them; very
    small: at least five maxima."""
    random = np.random.default_rng(seed)
    first = random.uniform(size=30) < 0.7
    points = np.where(first, random.beta(3, 8, 30), random.beta(10, 2, 30))
    truth = mixture(GRID)
    low, high = np.argmax(truth[:600]), 600 + np.argmax(truth[600:])
    valley = low + np.argmin(truth[low:high])
    chosen, spikes = (np.exp(kernel_regression(GRID, points, points, h)[1])
                      for h in (likelihood_bandwidth(points), SMALL))
    maxima = np.sum((spikes[1:-1] > spikes[:-2]) & (spikes[1:-1] > spikes[2:])
                    & (spikes[1:-1] > 0.1 * spikes.max()))
    return bool(min(chosen[low], chosen[high]) > chosen[valley] and maxima >= 5)


def step(seed):
    """Where IKR-UCB of five samples is largest, the regression is in its highest quarter or the density
    in its lowest."""
    points, values = run(False, 0, seed)
    m, width, a = acquisition(points, values)
    best = np.argmax(a)
    return bool(m[best] >= np.quantile(m, 0.75) or width[best] >= np.quantile(width, 0.75))


@functools.lru_cache(maxsize=None)
def holds(what, runs):
    """The number of samples that show it."""
    return sum(KINDS[what](seed) for seed in range(runs))


KINDS = {"regression": regression, "density": density, "step": step}
