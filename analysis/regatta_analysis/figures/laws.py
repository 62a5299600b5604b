"""Laws of the confidence parameter (the squared width of the confidence band), from the program."""
import numpy as np

from ..load.program import formula

METHODS = {"gp_ucb": "beta", "rgp_ucb": "kappa", "irgp_ucb": "shift"}  # their rules


def confidence_law(method, t, points=None, dim=None, settings=None):
    """Mean and equal-tailed interval of the confidence parameter at the queries t.

    points: number of designs |X| of a finite domain, 0 for a box, None unknown; dim: dimension of
    the design; settings: those of the method, as in a study file.
    Returns a frame with columns t, mean, low, high (low and high NaN for deterministic rules), or
    None for methods and rules that are not drawn by formula.
    """
    settings = settings or {}
    rule = settings.get(METHODS.get(method), "auto")
    if method not in METHODS or rule == "fixed" or (points is None and rule != "heuristic"):
        return None
    found = formula(method, {"t": np.asarray(t, int)}, points=points or 0, dim=dim or 1, **settings)
    found.insert(0, "t", np.asarray(t, float))
    return found


