"""Laws of the confidence parameter (the squared width of the confidence band) by formula.

Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, and the papers named there. Methods and
rules have the names of the study file. GP-UCB's parameter is deterministic, RGP-UCB's has a Gamma
law, IRGP-UCB's a shifted exponential one.
"""
import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.95


def confidence_law(method, t, points=None, dim=None, settings=None):
    """Mean and equal-tailed interval of the confidence parameter at the queries t.

    points: number of designs |X| of a finite domain, 0 for a box, None unknown; dim: dimension of
    the design; settings: those of the method (beta, kappa or shift: the rule; delta, scale, theta,
    rate), defaults as in a study file.
    Returns a frame with columns t, mean, low, high (low and high NaN for deterministic rules), or
    None for methods and rules without a formula here.
    """
    t = np.asarray(t, float)
    makers = {"gp_ucb": _gp_ucb, "rgp_ucb": _rgp_ucb, "irgp_ucb": _irgp_ucb}
    made = makers[method](t, points, dim, settings or {}) if method in makers else None
    if made is None:
        return None
    if isinstance(made, np.ndarray):
        nothing = np.full_like(t, np.nan)
        return pd.DataFrame({"t": t, "mean": made, "low": nothing, "high": nothing})
    tail = (1.0 - LEVEL) / 2.0
    return pd.DataFrame({"t": t, "mean": made.mean(), "low": made.ppf(tail),
                         "high": made.ppf(1.0 - tail)})


def _gp_ucb(t, points, dim, settings):
    """beta_t."""
    rule = _rule(settings.get("beta", "auto"), "bcr", points)
    scale, delta = float(settings.get("scale", 1.0)), float(settings.get("delta", 0.1))
    if rule == "heuristic" and dim:
        return scale * 0.2 * dim * np.log(2.0 * t)
    if rule == "bcr" and points:
        return scale * np.maximum(2.0 * np.log(points * t**2 / np.sqrt(2.0 * np.pi)), 0.0)
    if rule == "srinivas" and points:
        return scale * 2.0 * np.log(points * t**2 * np.pi**2 / (6.0 * delta))
    return None


def _rgp_ucb(t, points, dim, settings):
    """Gamma(kappa_t, scale theta)."""
    rule = _rule(settings.get("kappa", "auto"), "finite", points)
    theta = float(settings.get("theta", 1.0))
    if rule == "heuristic" and dim:
        return stats.gamma(0.2 * dim * np.log(2.0 * t), scale=theta)
    if rule == "finite" and points:
        return stats.gamma(np.log(points * t**2) / np.log1p(theta / 2.0), scale=theta)
    return None


def _irgp_ucb(t, points, dim, settings):
    """s_t + Exp(rate)."""
    rule = _rule(settings.get("shift", "auto"), "finite", points)
    delta = float(settings.get("delta", 0.1))
    if rule == "heuristic" and dim:
        shift = np.full_like(t, dim / 2.0)
    elif rule == "finite" and points:
        shift = np.full_like(t, max(2.0 * np.log(points / 2.0), 0.0))
    elif rule == "highprob" and points:
        shift = np.maximum(2.0 * np.log(points * t**2 * np.pi**2 / (12.0 * delta)), 0.0)
    else:
        return None
    return stats.expon(loc=shift, scale=1.0 / float(settings.get("rate", 0.5)))


def _rule(rule, finite, points):
    """The rule behind `auto`, which depends on the domain."""
    if rule != "auto" or points is None:
        return rule
    return finite if points else "heuristic"


# ---- square roots of confidence parameters, Figure 1 of arXiv:2504.03172 -------------------------

DELTA = 0.05


def robust_root(points):
    """beta_t^{1/2} of RRGP-UCB, beta_t = 2 log N + Exp(1/2), for every t: (mean, low, high) with the
    equal-tailed 95% interval. The mean by 64-point Gauss-Laguerre quadrature."""
    nodes, weights = np.polynomial.laguerre.laggauss(64)
    base = 2.0 * np.log(points)
    tail = (1.0 - LEVEL) / 2.0
    low, high = (np.sqrt(base - 2.0 * np.log1p(-q)) for q in (tail, 1.0 - tail))
    return float(weights @ np.sqrt(base + 2.0 * nodes)), float(low), float(high)


def _union_bound(t, points):
    return points * np.pi**2 * t**2 / (6.0 * DELTA)


ROOTS = {  # of t and the number of points N = |X x Omega|
    "Proposed": lambda t, points: np.full_like(t, robust_root(points)[0]),
    "Proposed, 97.5% quantile": lambda t, points: np.full_like(t, robust_root(points)[2]),
    "RKHS": lambda t, points: 1.0 + np.sqrt(2.0 * (np.log(t) + 1.0 + np.log(1.0 / DELTA))),
    "Bayesian": lambda t, points: np.sqrt(2.0 * np.log(_union_bound(t, points))),
    "BPT-UCB": lambda t, points: _union_bound(t, points) ** 0.1,
}


def law_curve(name, t, points):
    """A deterministic curve by name: one of ROOTS, or the mean confidence parameter of a method of
    `confidence_law` on a finite domain."""
    t = np.asarray(t, float)
    if name in ROOTS:
        return ROOTS[name](t, points)
    found = confidence_law(name, t, points)
    if found is None:
        raise ValueError(f"no law {name!r} (known: {', '.join(ROOTS)}, gp_ucb, rgp_ucb, irgp_ucb)")
    return found["mean"].to_numpy()
