"""Laws of the confidence parameter (the squared width of the confidence band) by formula.

Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979; rules `bcr` and `srinivas` are
deterministic, `finite` is a shifted exponential, `gamma` a Gamma law.
"""
import numpy as np
import pandas as pd
from scipy import stats

RULES = ("finite", "bcr", "srinivas", "gamma")


def confidence_rule(rule, t, points, level=0.95, delta=0.1):
    """Mean and equal-tailed interval of the confidence parameter at queries t on `points` designs.

    Returns a frame with columns t, mean, low, high; low and high are NaN for deterministic rules.
    """
    t = np.asarray(t, float)
    mean, law = _law(rule, t, points, delta)
    tail = (1.0 - level) / 2.0
    low, high = ((law.ppf(tail), law.ppf(1.0 - tail)) if law is not None
                 else (np.full_like(t, np.nan), np.full_like(t, np.nan)))
    return pd.DataFrame({"t": t, "mean": mean, "low": low, "high": high})


def _law(rule, t, points, delta):
    if rule == "finite":
        law = stats.expon(loc=np.full_like(t, 2.0 * np.log(points / 2.0)), scale=2.0)
        return law.mean(), law
    if rule == "gamma":
        law = stats.gamma(np.log(points * t**2) / np.log(1.5))
        return law.mean(), law
    if rule == "bcr":
        return np.maximum(2.0 * np.log(points * t**2 / np.sqrt(2.0 * np.pi)), 0.0), None
    if rule == "srinivas":
        return 2.0 * np.log(points * t**2 * np.pi**2 / (6.0 * delta)), None
    raise ValueError(f"no rule {rule!r}; known: {', '.join(RULES)}")
