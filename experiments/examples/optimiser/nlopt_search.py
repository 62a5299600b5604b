#!/usr/bin/env python3
"""NLopt's derivative-free minimisers as methods of a study: direct_l, crs2, bobyqa. DIRECT-L draws
nothing at random; BOBYQA starts at a random point, and again at another one when it has converged."""
import pathlib
import sys

import nlopt
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import regatta

METHODS = {"direct_l": nlopt.GN_DIRECT_L, "crs2": nlopt.GN_CRS2_LM, "bobyqa": nlopt.LN_BOBYQA}


def search(method, f, space, seed, budget):
    lower, upper = np.array(space.lower), np.array(space.upper)
    nlopt.srand(seed)
    search = nlopt.opt(METHODS[method], len(lower))
    search.set_lower_bounds(lower)
    search.set_upper_bounds(upper)
    search.set_min_objective(lambda x, gradient: f(x))
    search.set_maxeval(budget)
    if method == "bobyqa":
        search.set_initial_step(0.25 * (upper - lower))
        search.set_xtol_abs(1e-7 * (upper - lower))
    try:
        search.optimize(np.random.default_rng(seed).uniform(lower, upper))
    except nlopt.RoundoffLimited:
        pass  # as near as it gets


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in METHODS:
        sys.exit(f"nlopt_search.py: one argument, the method: {', '.join(METHODS)}")
    version = f"{nlopt.version_major()}.{nlopt.version_minor()}.{nlopt.version_bugfix()}"
    regatta.serve(regatta.minimiser(lambda *given: search(sys.argv[1], *given)), versions={"nlopt": version})
