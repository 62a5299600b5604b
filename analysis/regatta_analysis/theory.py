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
