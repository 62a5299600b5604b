"""Square roots of the confidence parameters of RRGP-UCB and the other methods of its paper, from the program."""
import numpy as np
from regatta_analysis.figures.laws import METHODS, confidence_law
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.program import formula

ROOTS = {"Proposed": "mean", "Proposed, 97.5% quantile": "high", "RKHS": "rkhs",
         "Bayesian": "bayesian", "BPT-UCB": "bpt_ucb"}  # columns of robust_widths


def robust_roots(t, points):
    """beta_t^{1/2} of RRGP-UCB and the other methods, Figure 1 of arXiv:2504.03172."""
    return formula("robust_widths", {"t": np.asarray(t, float)}, points=points)


def law_curve(name, t, points):
    """A curve by name: one of ROOTS, or the mean confidence parameter of a method on a finite domain."""
    if name in ROOTS:
        return robust_roots(t, points)[ROOTS[name]].to_numpy()
    found = confidence_law(name, t, points)
    if found is None:
        raise InputError(f"no law {name!r} (known: {', '.join([*ROOTS, *METHODS])})")
    return found["mean"].to_numpy()
