"""Distance between a kernel density estimate and the law of its samples: Table 2 of arXiv:2312.10423.

The printed "total variation" is the L1 distance over the whole line (no factor 1/2) between the true
density and a Gaussian kernel density with the rule-of-thumb bandwidth, contexts not clipped.
"""
from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

NORMAL = [("normal", 0.5, 0.1)]
COMPLICATED = [("normal", 0.1, 0.02), ("normal", 0.3, 0.075), ("normal", 0.4, 0.1),
               ("normal", 0.5, 0.1), ("normal", 0.7, 0.075), ("normal", 0.8, 0.03),
               ("cauchy", 0.8, 0.02), ("cauchy", 0.2, 0.02)]
LAWS = {"normal": NORMAL, "complicated": COMPLICATED}
RUNS = 20  # runs in the paper
BLOCK, REACH = 50, 7.0  # samples summed at once; a kernel is below 3e-11 beyond this number of bandwidths


@functools.lru_cache(maxsize=None)
def grid() -> np.ndarray:
    """Equidistant on [-1, 2], geometric outside."""
    outside = np.geomspace(1e-3, 1e5, 900) - 1e-3
    return _fixed(np.concatenate([-1.0 - outside[::-1], np.linspace(-1.0, 2.0, 751)[1:-1], 2.0 + outside]))


@functools.lru_cache(maxsize=None)
def _true_density(law: str) -> np.ndarray:
    return _fixed(density(law, grid()))


def _fixed(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def density(law: str, x: ArrayLike) -> np.ndarray:
    """Density of a law of LAWS at x."""
    return np.mean([getattr(stats, "norm" if kind == "normal" else kind).pdf(x, at, scale)
                    for kind, at, scale in LAWS[law]], axis=0)


def draw(law: str, n: int, random: np.random.Generator) -> np.ndarray:
    """n draws from a law of LAWS."""
    kinds, centres, scales = map(np.array, zip(*LAWS[law]))
    which = random.integers(len(kinds), size=n)
    return centres[which] + scales[which] * np.where(kinds[which] == "cauchy", random.standard_cauchy(n),
                                                     random.normal(size=n))


def bandwidth(samples: np.ndarray) -> float:
    """Rule of thumb in one dimension, standard deviation with divisor n."""
    return (4.0 / 3.0) ** 0.2 * samples.std() * len(samples) ** -0.2


def distance(law: str, samples: np.ndarray) -> float:
    """L1 distance over the line, to within 1e-4 (the grid)."""
    return absolute_integral(estimated_density(samples, grid()) - _true_density(law), grid())


def estimated_density(samples: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Kernel density estimate of the samples at ascending x."""
    h, estimate, ordered = bandwidth(samples), np.zeros_like(x), np.sort(samples)
    for first in range(0, len(ordered), BLOCK):
        block = ordered[first:first + BLOCK]
        near = slice(*np.searchsorted(x, (block[0] - REACH * h, block[-1] + REACH * h)))
        z = (x[near] - block[:, None]) / h  # samples along the first axis: the sum runs along rows
        np.multiply(z, z, out=z)
        z *= -0.5
        estimate[near] += np.exp(z, out=z).sum(axis=0)
    return estimate / (len(samples) * h * np.sqrt(2.0 * np.pi))


def absolute_integral(values: np.ndarray, x: np.ndarray) -> float:
    """Integral of the absolute value of a smooth function: the trapezoidal rule, where the sign changes two triangles,
    and the rule's error from a change to the next, which lies at their ends (Euler and Maclaurin)."""
    a, b = np.abs(values[:-1]), np.abs(values[1:])
    total = a + b
    crossed = values[:-1] * values[1:] < 0.0
    total[crossed] = (a[crossed] ** 2 + b[crossed] ** 2) / total[crossed] + total[crossed] / 3.0
    return float(0.5 * total @ np.diff(x))


_known: dict[tuple[str, int], np.ndarray] = {}


def distances(law: str, n: int, runs: int = RUNS) -> np.ndarray:
    """Distances of `runs` independent samples of size n. Fewer runs give the first of these."""
    code, known = sorted(LAWS).index(law), _known.get((law, n), np.empty(0))
    more = [distance(law, draw(law, n, np.random.default_rng([k, n, code]))) for k in range(len(known), runs)]
    _known[law, n] = np.append(known, more)
    return _known[law, n][:runs]
