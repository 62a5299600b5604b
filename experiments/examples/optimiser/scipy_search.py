#!/usr/bin/env python3
"""SciPy's minimisers as methods of a study: differential_evolution, dual_annealing, nelder_mead."""
import pathlib
import sys

import numpy as np
import scipy
from scipy import optimize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import regatta


def differential_evolution(f, space, seed, budget):
    optimize.differential_evolution(f, space.bounds, seed=seed, maxiter=budget, popsize=5,
                                    polish=False)


def dual_annealing(f, space, seed, budget):
    optimize.dual_annealing(f, space.bounds, seed=seed, maxfun=budget)


def nelder_mead(f, space, seed, budget):
    start = np.random.default_rng(seed).uniform(space.lower, space.upper)
    optimize.minimize(f, start, method="Nelder-Mead", bounds=space.bounds,
                      options={"maxfev": budget})


METHODS = {m.__name__: m for m in (differential_evolution, dual_annealing, nelder_mead)}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in METHODS:
        sys.exit(f"scipy_search.py: one argument, the method: {', '.join(METHODS)}")
    regatta.serve(regatta.minimiser(METHODS[sys.argv[1]]), versions={"scipy": scipy.__version__})
