"""Distance between a kernel density estimate and the law of its samples: Table 2 of arXiv:2312.10423.

The printed "total variation" is the L1 distance over the whole line (no factor 1/2) between the true
density and a Gaussian kernel density with the rule-of-thumb bandwidth, contexts not clipped.
"""
from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate, stats

NORMAL = [("normal", 0.5, 0.1)]
COMPLICATED = [("normal", 0.1, 0.02), ("normal", 0.3, 0.075), ("normal", 0.4, 0.1),
               ("normal", 0.5, 0.1), ("normal", 0.7, 0.075), ("normal", 0.8, 0.03),
               ("cauchy", 0.8, 0.02), ("cauchy", 0.2, 0.02)]
LAWS = {"normal": NORMAL, "complicated": COMPLICATED}
RUNS, CLAIM_RUNS = 20, 80


def grid() -> np.ndarray:
    """Fine on [-1, 2], geometric outside."""
    outside = 3.0 + np.geomspace(1e-3, 1e5, 900) - 1e-3
    return np.concatenate([-outside[::-1] + 2.0, np.linspace(-1.0, 2.0, 3001)[1:-1], outside - 1.0])


def density(law: str, x: ArrayLike) -> np.ndarray:
    """Density of a law of LAWS at x."""
    return np.mean([getattr(stats, "norm" if kind == "normal" else kind).pdf(x, at, scale)
                    for kind, at, scale in LAWS[law]], axis=0)


def draw(law: str, n: int, random: np.random.Generator) -> np.ndarray:
    """n draws from a law of LAWS."""
    parts = LAWS[law]
    which = random.integers(len(parts), size=n)
    kinds, centres, scales = (np.array([parts[k][j] for k in which]) for j in range(3))
    return centres + scales * np.where(kinds == "cauchy", random.standard_cauchy(n),
                                       random.normal(size=n))


def bandwidth(samples: np.ndarray) -> float:
    """Rule of thumb in one dimension, standard deviation with divisor n."""
    return (4.0 / 3.0) ** 0.2 * samples.std() * len(samples) ** -0.2


def distance(law: str, samples: np.ndarray) -> float:
    """L1 distance over the line."""
    x, h = grid(), bandwidth(samples)
    estimate = np.zeros_like(x)
    for block in np.array_split(np.sort(samples), max(len(samples) // 50, 1)):
        near = slice(*np.searchsorted(x, (block[0] - 9.0 * h, block[-1] + 9.0 * h)))  # beyond: below 3e-18
        estimate[near] += np.exp(-0.5 * ((x[near, None] - block) / h) ** 2).sum(axis=1)
    estimate /= len(samples) * h * np.sqrt(2.0 * np.pi)
    return float(integrate.trapezoid(np.abs(estimate - density(law, x)), x))


@functools.lru_cache(maxsize=None)
def distances(law: str, n: int, runs: int = RUNS) -> np.ndarray:
    """Distances of `runs` independent samples of size n."""
    code = sorted(LAWS).index(law)
    return np.array([distance(law, draw(law, n, np.random.default_rng([k, n, code])))
                     for k in range(runs)])
