"""Theorems 4 and 8 of arXiv:2503.20341: bounds of the regret of a single query of WDRBO, worked out from what a run
recorded. `regatta bounds` has them before any data are known, and no run can exceed these."""
import numpy as np
import pandas as pd
from regatta_analysis.claims import forms
from regatta_analysis.claims.items import interval_item, interval_outcome
from regatta_analysis.claims.outcome import Missing, Outcome
from regatta_analysis.claims.panels import each_method
from scipy import linalg, stats

LEVELS, NODES = 41, 40  # of the grid of designs and contexts; of the quadrature over contexts
FEW = "needs one design, one context and a fixed Gaussian kernel with variance 1 and the noise variance 1"


def query_bound(check, studies):
    """The regret of every query of a typical trial of WDRBO is at most the bound of Theorem 4 (given centre) or 8
    (observed contexts), 2 beta_t E s(x_t, c) + 2 radius L (+ 2 rho_t). L is the largest slope of U in c over a grid of
    designs and contexts, which is at least the slope at the optimum. Bounds decide nothing if in half of the trials
    they are nowhere below the largest regret of a query, of any method, on the same function.

    - `who`, `on`: methods with the width of the theory, and the panels. Their kernel is squared exponential.
    - `theorem`: 4 or 8.
    - `law`: [mean, deviation] of the normal law of the context, which is clipped to [0, 1].

    {kind: query_bound, who: WDRBO, on: study, theorem: 4, law: [0.5, 0.15]}
    """
    items, vacuous, shares = [], True, []
    for panel, results, problem, who in each_method(check, studies):
        done = results.group(problem).done
        regret, limit = _of_method(done.cells[who], check)
        largest = pd.Series(np.nanmax(done.values("instantaneous_regret"), axis=1), done.column("instance"))
        largest = largest.groupby(level=0).max()
        low = limit.min(axis=1) / largest[limit.index.get_level_values("instance")].to_numpy()
        vacuous = vacuous and low.median() >= 1.0
        over = (regret / limit).max(axis=1)
        shares.append(f"on its function, the bound of {who} goes down to {low.median():.2g} times the largest regret of a "
                      f"query in the middle of {len(low)} trials, and regret reaches {100 * over.max():.2g} % of it")
        items.append(interval_item(panel, pd.DataFrame({who: over, "": 1.0}), -np.inf, 1.0, "ratio"))
    name = f"Theorem {check['theorem']}"
    if vacuous:
        return Outcome(f"{name} is vacuous here: {'; '.join(shares)}", comparable=False)
    outcome = interval_outcome(items, f"largest share of the bound of {name} that the regret of a query of a typical "
                               "trial reaches", -np.inf, 1.0)
    said = outcome.said
    outcome.said = lambda items: "; ".join([said(items), *shares])
    return outcome


def _of_method(cell, check):
    """(regret, bound) of the queries of a method: trials x queries."""
    known = {name: cell.values(name) for name in ("x", "c", "y", "confidence", "radius", "instantaneous_regret",
                                                  "length_scale", "signal_variance", "model_noise")}
    firsts = cell.column("n_initial").astype(int)
    length = known["length_scale"][0, -1, 0]
    models = np.concatenate([(known["length_scale"] / length).ravel(), known["signal_variance"].ravel(),
                             known["model_noise"].ravel()])
    if not np.isfinite(length) or known["x"].shape[2] + known["c"].shape[2] != 2 or not np.allclose(
            models[np.isfinite(models)], 1.0, atol=1e-12):
        raise Missing(f"query_bound {FEW}")
    rows, limits = [], []
    for k, first in enumerate(firsts):
        width, radius = np.sqrt(known["confidence"][k, first:]), known["radius"][k, first:]
        limits.append(bounds(known["x"][k, :, 0], known["c"][k, :, 0], known["y"][k], width, radius, length,
                             check["law"], check["theorem"] == 8))
        rows.append(known["instantaneous_regret"][k, first:])
    index = pd.MultiIndex.from_arrays([cell.column("instance"), cell.column("seed")], names=["instance", "seed"])
    return pd.DataFrame(np.array(rows), index), pd.DataFrame(np.array(limits), index)


def bounds(x, c, y, width, radius, length, law, observed):
    """The bound of every query: x, c, y of all n evaluations; width (multiple of the deviation) and radius of the last
    len(width) of them, the queries. Ridge parameter 1, so that s is the posterior deviation."""
    z, queries = np.column_stack([x, c]), len(width)
    known = np.arange(len(z) - queries, len(z))  # evaluations before each query
    factor = linalg.cholesky(_kernel(z, z, length) + np.eye(len(z)), lower=True)
    deviation = _deviations(z, known, factor, length, law)
    slope = _largest_slopes(z, known, factor, y, width, length)
    rho = (1.0 + 2.0 * width / length) / known if observed else 0.0
    return 2.0 * width * deviation + 2.0 * radius * slope + 2.0 * rho


def _kernel(a, b, length):
    return np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2) / length**2)


def _deviations(z, known, factor, length, law):
    """The mean over the law of the posterior deviation at each query's design. Leading rows of the solution are those of
    fewer data."""
    c, weight = clipped_normal(*law)
    at = np.stack(np.broadcast_arrays(z[known, 0, None], c), axis=2).reshape(-1, 2)
    squares = linalg.solve_triangular(factor, _kernel(z, at, length), lower=True).reshape(len(z), len(known), -1) ** 2
    before = np.arange(len(z))[:, None] < known
    return np.sqrt(np.maximum(1.0 - (squares * before[..., None]).sum(axis=0), 0.0)) @ weight


def _largest_slopes(z, known, factor, y, width, length):
    """The largest |dU/dc| over a grid, before each query."""
    line = np.linspace(0.0, 1.0, LEVELS)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=2).reshape(-1, 2)
    k = _kernel(z, grid, length)
    v, dv, w = (linalg.solve_triangular(factor, right, lower=True) for right in
                (k, k * (z[:, 1, None] - grid[:, 1]) / length**2, y))
    mean, variance, change = (np.cumsum(part, axis=0)[known - 1] for part in (w[:, None] * dv, v * v, v * dv))
    return np.abs(mean - width[:, None] * change / np.sqrt(np.maximum(1.0 - variance, 1e-10))).max(axis=1)


def clipped_normal(mean, deviation):
    """Nodes and weights of a normal law clipped to [0, 1]: its atoms at the ends, and Gauss-Legendre nodes."""
    law, (node, weight) = stats.norm(mean, deviation), np.polynomial.legendre.leggauss(NODES)
    inside = 0.5 * (node + 1.0)
    weights = np.concatenate([[law.cdf(0.0), law.sf(1.0)], 0.5 * weight * law.pdf(inside)])
    return np.concatenate([[0.0, 1.0], inside]), weights


KEYS = "who* on* theorem* law*"
HOLDS = {"theorem": (lambda n: n in (4, 8), "4 or 8"),
         "law": (lambda l: isinstance(l, list) and len(l) == 2 and all(map(forms.NUMBER[0], l)) and l[1] > 0,
                 "[MEAN, DEVIATION above 0]")}
