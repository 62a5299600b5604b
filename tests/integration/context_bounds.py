"""Upper confidence bounds over laws of contexts in NumPy, from recorded hyperparameters: their averages, and their
worst cases in total variation and in maximum mean discrepancy. Written from the papers; one design coordinate and
one context, Matern-5/2."""
import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

COLUMNS = ("length_scale", "signal_variance", "model_noise", "jitter", "acquisition")
WIDTH = 1.5
NODES = 16
DRAWS = 1024


def matern(row, a, b):
    s = np.sqrt(5 * (((a[:, None] - b[None]) / row["length_scale"])**2).sum(-1))
    return row["signal_variance"] * (1 + s + s**2 / 3) * np.exp(-s)


class Bound:
    """U(x, c) = mean + width deviation after the data z (x and c), y, model units."""

    def __init__(self, row, z, y):
        y = (y - y.mean()) / y.std(ddof=1)
        one = np.ones(len(z))
        self.row, self.z = row, z
        self.inverse = np.linalg.inv(matern(row, z, z) + (row["model_noise"] + row["jitter"]) * np.eye(len(z)))
        self.mean = one @ self.inverse @ y / (one @ self.inverse @ one)
        self.weight = self.inverse @ (y - self.mean)

    def __call__(self, x, contexts):
        cross = matern(self.row, np.column_stack([np.full(len(contexts), x), contexts]), self.z)
        variance = self.row["signal_variance"] - ((cross @ self.inverse) * cross).sum(1)
        return self.mean + cross @ self.weight + WIDTH * np.sqrt(variance.clip(1e-10))


def density_estimate(c):
    """Contexts and weights that stand for the Gaussian density estimate, clipped to the box that the contexts extend:
    mass beyond an end is an atom there."""
    low, high = min(0, c.min()), max(1, c.max())
    h = (4 / 3)**0.2 * c.std() * len(c)**-0.2
    if c.max() - c.min() < 1e-12 * abs(c[0]):
        return c[:1], np.ones(1)
    node, weight = np.polynomial.legendre.leggauss(8)
    edge = np.linspace(low, high, 121)
    half = np.diff(edge)[:, None] / 2
    at = (edge[:-1, None] + half * (1 + node)).ravel()
    density = np.exp(-((at[:, None] - c) / h)**2 / 2).mean(1) / (h * np.sqrt(2 * np.pi))
    ends = ndtr((low - c) / h).mean(), ndtr((c - high) / h).mean()
    return np.append(at, [low, high]), np.append((half * weight).ravel() * density, ends)


def gauss_rule(contexts, weights, n=NODES):
    """Gauss quadrature for a discrete law, by its orthogonal polynomials (Stieltjes)."""
    contexts, weights = contexts[weights > 1e-17], weights[weights > 1e-17]
    if len(contexts) <= n:
        return contexts, weights
    basis, diagonal, off = [np.sqrt(weights / weights.sum())], [], []
    for _ in range(n):
        diagonal.append(contexts @ basis[-1]**2)
        rest = contexts * basis[-1]
        for _ in range(2):
            for q in basis:
                rest = rest - (rest @ q) * q
        off.append(np.linalg.norm(rest))
        basis.append(rest / off[-1])
    node, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1))
    return node, vectors[0]**2


def total_variation_worst(u, weights, least, radius):
    """The least mean of u over laws within an L1 distance, where mass may move to the value `least`."""
    order = np.argsort(-u)
    u, weights = u[order], weights[order]
    k = np.searchsorted(weights.cumsum(), radius / 2, side="right")
    top = max(least, u[k]) if k < len(u) else least
    return weights @ np.minimum(u, top) - radius / 2 * max(0, top - least)


def discrepancy_worst(u, kernel, p, radius):
    """The least mean of u over laws within a maximum mean discrepancy of p, by a general solver."""
    corner = np.eye(len(u))[u.argmin()] - p
    if corner @ kernel @ corner <= radius**2:
        return u.min()
    limits = [{"type": "eq", "fun": lambda q: q.sum() - 1, "jac": np.ones_like},
              {"type": "ineq", "fun": lambda q: radius**2 - (q - p) @ kernel @ (q - p),
               "jac": lambda q: -2 * kernel @ (q - p)}]
    return minimize(lambda q: u @ q, p / 2 + 0.5 / len(p), jac=lambda q: u, bounds=[(0, 1)] * len(p), method="SLSQP",
                    constraints=limits, options={"maxiter": 1000, "ftol": 1e-12}).fun


def average(bound, c):
    """ERBO: the average over the contexts observed."""
    return lambda x: (bound(x, c).mean(), 1e-5)


def density_average(bound, c, rule):
    """SBO-KDE, by its rule or by draws: the value at x, and how far the program's may be from it."""
    at, weights = density_estimate(c)
    if rule:
        at, weights = gauss_rule(at, weights)

    def value(x):
        u = bound(x, at)
        spread = np.sqrt(max(weights @ u**2 - (weights @ u)**2, 0))
        return weights @ u, 2e-5 if rule else 2e-5 + 5 * spread / np.sqrt(DRAWS)
    return value


def density_worst(bound, c, rule):
    """DRBO-KDE. The least U is over [0, 1] and the contexts that stand for the estimate."""
    at, weights = density_estimate(c)
    if rule:
        at, weights = gauss_rule(at, weights)
    floor = np.append(np.linspace(0, 1, 501), at[weights > 1e-6])

    def value(x):
        u = bound(x, at)
        spread = np.sqrt(max(weights @ u**2 - (weights @ u)**2, 0))
        worst = total_variation_worst(u, weights, bound(x, floor).min(), len(c)**-0.4)
        return worst, 1e-3 if rule else 1e-3 + 5 * spread / np.sqrt(DRAWS)
    return value


def grid_worst(bound, c, size):
    """DRBO-MMD over a grid and the contexts outside the box."""
    grid = np.append(np.linspace(0, 1, size), np.unique(c[(c < 0) | (c > 1)]))
    p = np.bincount(np.abs(grid - c[:, None]).argmin(1), minlength=len(grid)) / len(c)
    points = np.column_stack([np.zeros_like(grid), grid])
    kernel = matern(bound.row, points, points)
    kernel += 1e-8 * kernel[0, 0] * np.eye(len(grid))
    radius = (2 + np.sqrt(2 * np.log(10))) / np.sqrt(len(c))
    return lambda x: (discrepancy_worst(bound(x, grid), kernel, p, radius), 1e-5)
