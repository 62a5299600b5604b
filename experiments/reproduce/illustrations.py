"""Figures that explain a method or problem and need no results: Figures 1, 2, 4 and 5 of arXiv:2502.06178 and Figure
1(a) of arXiv:2503.20341. NumPy computes them; only the confidence parameter comes from the program."""
import functools

import numpy as np
from scipy import stats

from regatta_analysis.figures import style
from regatta_analysis.load.program import formula

GRID = np.linspace(0.0, 1.0, 1001)
REGRESSION, UPPER = {"color": "#0072B2"}, {"color": "#009E73"}  # lines
TRUE_FUNCTION = {"color": "0.6", "ls": "--"}
SAMPLES = {"color": "#D55E00", "marker": "o", "ls": "", "ms": 3.2}
SEED = 8  # seed of the samples shown, on which the two methods differ


def damped_cosine(x):
    """f of Figures 1, 4 and 5."""
    return -np.exp(-1.4 * x) * np.cos(3.5 * np.pi * x)


def kernel_regression(x, points, values, bandwidth):
    """Gaussian kernel regression m(x) and log W(x), exponents shifted: (n,), (n,)."""
    exponents = -((np.asarray(x)[:, None] - points) ** 2) / (2.0 * bandwidth**2)
    largest = exponents.max(axis=1, keepdims=True)
    weights = np.exp(exponents - largest)
    return weights @ values / weights.sum(axis=1), largest[:, 0] + np.log(weights.sum(axis=1))


BANDWIDTHS = np.geomspace(0.005, 1.0, 200)  # bandwidths that are tried


def _left_out(points):
    """Exponents of the kernel between the points with every one of BANDWIDTHS, without each point's own."""
    squares = (points[:, None] - points) ** 2
    np.fill_diagonal(squares, np.inf)
    return -squares / (2.0 * BANDWIDTHS[:, None, None] ** 2)


def left_out_bandwidth(points, values):
    """Bandwidth of least leave-one-out error of kernel regression."""
    exponents = _left_out(points)
    weights = np.exp(exponents - exponents.max(axis=2, keepdims=True))
    error = np.mean((values - weights @ values / weights.sum(axis=2)) ** 2, axis=1)
    return BANDWIDTHS[np.argmin(error)]


def likelihood_bandwidth(points):
    """Bandwidth of largest leave-one-out likelihood of a Gaussian kernel density."""
    exponents = _left_out(points)
    top = exponents.max(axis=2)
    score = np.sum(top + np.log(np.exp(exponents - top[..., None]).sum(axis=2)), axis=1)
    return BANDWIDTHS[np.argmax(score - len(points) * np.log(BANDWIDTHS))]


@functools.lru_cache(None)
def _betas():
    return formula("regression_beta", {"t": np.arange(1, 1001)})["beta"].to_numpy()


def beta(t):
    """Confidence parameter of theorem 4.13."""
    return _betas()[t - 1]


def scott(t):
    """Bandwidth of the regression on t points, by Scott's rule."""
    return 0.1 * t**-0.2


def acquisition(points, values):
    """Regression, width and IKR-UCB on the grid; values standardised for the width as in the paper's
    experiments, results in units of the values."""
    centre, scale = values.mean(), values.std() or 1.0
    m, log_weight = kernel_regression(GRID, points, (values - centre) / scale, scott(len(points)))
    width = np.sqrt(beta(len(points))) * np.exp(np.minimum(-0.5 * log_weight, 300.0))
    return centre + scale * m, scale * width, centre + scale * (m + width)


def run(exploit, steps, seed=SEED):
    """Five points, then `steps` of BOKE, or of BOKE+, where a coin chooses the regression alone. Returns points and
    values."""
    random = np.random.default_rng(seed)
    points = (random.permutation(5) + random.uniform(size=5)) / 5.0
    values = damped_cosine(points) + 0.1 * random.normal(size=5)
    for _ in range(steps):
        m, _, a = acquisition(points, values)
        greedy = exploit and random.uniform() >= 0.5
        x = GRID[np.argmax(m if greedy else a)]
        points = np.append(points, x)
        values = np.append(values, damped_cosine(x) + 0.1 * random.normal())
    return points, values


@functools.lru_cache(maxsize=None)
def query_values(runs, n_steps=8):
    """Mean noise-free value of the queries of BOKE and of BOKE+ after the same first samples, one row
    per run: runs x 2."""
    return np.array([[damped_cosine(run(exploit, n_steps, seed)[0][5:]).mean()
                      for exploit in (False, True)] for seed in range(runs)])


# ---- figures -----------------------------------------------------------------------------------


def regression(panels):
    """Figure 1: kernel regression of ten samples with three bandwidths."""
    random = np.random.default_rng(SEED)
    points = (random.permutation(10) + random.uniform(size=10)) / 10.0
    values = damped_cosine(points) + 0.1 * random.normal(size=10)
    return _three(panels, (0.005, left_out_bandwidth(points, values), 0.3), points, values,
                  lambda h: kernel_regression(GRID, points, values, h)[0], damped_cosine(GRID),
                  "kernel regression", "true function")


def mixture(x):
    """The density of Figure 2."""
    return 0.7 * stats.beta(3, 8).pdf(x) + 0.3 * stats.beta(10, 2).pdf(x)


def density(panels):
    """Figure 2: density estimate of thirty samples with three bandwidths."""
    random = np.random.default_rng(SEED)
    first = random.uniform(size=30) < 0.7
    points = np.where(first, random.beta(3, 8, 30), random.beta(10, 2, 30))
    truth = mixture(GRID)

    def estimate(h):
        _, log_weight = kernel_regression(GRID, points, np.zeros(30), h)
        return np.exp(log_weight) / (np.sqrt(2.0 * np.pi) * h * len(points))
    return _three(panels, (0.005, likelihood_bandwidth(points), 0.3), points, np.zeros(30), estimate,
                  truth, "kernel density", "true density", 6.0)


def _points(axes, x, y, **look):
    """Draw whole markers on the border of the axes without moving the border."""
    line, = axes.plot(x, y, clip_on=False, **look)
    line.set_in_layout(False)


def _three(panels, bandwidths, points, values, curve, truth, name, true_name, top=None):
    figure, axes = panels([[{}, {}, {}]])
    for (panel, _), h, words in zip(axes, bandwidths, ("too small", "cross-validated", "too large")):
        panel.axes.plot(GRID, truth, **TRUE_FUNCTION, lw=1.0)
        panel.axes.plot(GRID, curve(h), **REGRESSION)
        _points(panel.axes, points, values, **SAMPLES)
        _dress(panel, f"h = {h:.3g} ({words})")
        if top:
            panel.axes.set_ylim(-0.2, top)
    style.place_legend(figure, [(name, REGRESSION), (true_name, TRUE_FUNCTION), ("samples", SAMPLES)])
    return figure


def step(panels):
    """Figure 4: one step of IKR-UCB after five samples."""
    points, values = run(False, 0)
    m, width, a = acquisition(points, values)
    figure, axes = panels([[{}, {}]])
    (left, _), (right, _) = axes
    left.axes.fill_between(GRID, m - width, m + width, color="#0072B2", alpha=0.18, lw=0)
    left.axes.plot(GRID, damped_cosine(GRID), **TRUE_FUNCTION, lw=1.0)
    left.axes.plot(GRID, m, **REGRESSION)
    _points(left.axes, points, values, **SAMPLES)
    _dress(left, "Kernel regression and its width")
    right.axes.plot(GRID, a, **UPPER)
    _points(right.axes, GRID[np.argmax(a)], a.max(), **{**SAMPLES, "marker": "*", "ms": 9})
    _dress(right, "IKR-UCB and its maximum")
    style.place_legend(figure, [
        ("regression, with width", REGRESSION), ("true function", TRUE_FUNCTION), ("samples", SAMPLES),
        ("IKR-UCB", UPPER), ("next query", {**SAMPLES, "marker": "*", "ms": 7})])
    return figure


def steps(panels):
    """Figure 5: eight steps of BOKE and of BOKE+ from the same five samples."""
    figure, axes = panels([[{}] * 4 for _ in range(4)])
    for number, (panel, _) in enumerate(axes):
        exploit, k = number >= 8, number % 8
        points, values = run(exploit, k)
        m, _, a = acquisition(points, values)
        panel.axes.plot(GRID, damped_cosine(GRID), **TRUE_FUNCTION, lw=0.9)
        panel.axes.plot(GRID, m, **REGRESSION, lw=0.9)
        panel.axes.plot(GRID, a, **UPPER, lw=0.9)
        _points(panel.axes, points[:5], values[:5], **{**SAMPLES, "ms": 2.5})
        _points(panel.axes, points[5:], values[5:], **{**SAMPLES, "color": "k", "marker": "D", "ms": 2.5})
        _dress(panel, f"{'BOKE+' if exploit else 'BOKE'}, t = {len(points)}")
        panel.axes.set_ylim(-1.4, 1.6)
    style.place_legend(figure, [
        ("regression", REGRESSION), ("IKR-UCB", UPPER), ("true function", TRUE_FUNCTION),
        ("first samples", SAMPLES), ("queries", {**SAMPLES, "color": "k", "marker": "D"})])
    return figure


def mean_distance(mean, sd):
    """E|C - 0.5| for normal C."""
    z = (mean - 0.5) / sd
    return sd * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z * z) + (mean - 0.5) * (
        1.0 - 2.0 * stats.norm.cdf(-z))


def shifted(x, distance):
    """E f(x, C) of the shift example, from E|C - 0.5|."""
    return 1.0 - distance / (np.abs(x) + 0.2) - np.sqrt(np.abs(x) + 0.05)


ASSUMED, TRUE = (0.5, 0.1), (0.6, 0.2)  # mean and deviation of the context of the shift example


def shifted_optimum(mean, sd):
    """The best |x| of the shift example under a normal law of the context."""
    x = np.linspace(0.0, 1.0, 2001)
    return float(x[np.argmax(shifted(x, mean_distance(mean, sd)))])


def shift(panels):
    """Figure 1(a) of arXiv:2503.20341: f, and its expectation under the assumed and the true law."""
    figure, axes = panels([[{}, {}]])
    (left, _), (right, _) = axes
    x, c = np.linspace(-1.0, 1.0, 401), np.linspace(0.0, 1.0, 201)
    values = 1.0 - np.abs(c[:, None] - 0.5) / (np.abs(x) + 0.2) - np.sqrt(np.abs(x) + 0.05)
    shown = left.axes.contourf(x, c, values, 14, cmap="viridis")
    figure.set_layout_engine("constrained")  # a colour bar is no panel
    figure.colorbar(shown, ax=left.axes)
    left.dress("f(x, c)", "Context $c$")
    left.axes.grid(False)
    laws = (("assumed, N(0.5, 0.1)", *ASSUMED, "#0072B2"), ("true, N(0.6, 0.2)", *TRUE, "#D55E00"))
    for _, mean, sd, colour in laws:
        curve = shifted(x, mean_distance(mean, sd))
        best = np.abs(x[np.argmax(curve)])
        right.axes.plot(x, curve, color=colour)
        for sign in sorted({-best, best}):
            right.axes.plot(sign, curve.max(), "o", color=colour, ms=4)
            left.axes.axvline(sign, color=colour, lw=1.2, ls="--")
    right.dress("E f(x, C) and its optima", "")
    for panel in (left, right):
        panel.axes.set_xlim(-1.0, 1.0)
        panel.axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        panel.axes.set_xlabel("Design $x$")
    style.place_legend(figure, [(name, {"color": colour}) for name, *_, colour in laws])
    return figure


def _dress(panel, title):
    panel.dress(title, "")
    panel.axes.set_xlim(0.0, 1.0)
    panel.axes.set_xticks([0.0, 0.5, 1.0])
    panel.axes.set_xlabel("$x$" if panel.bottom else "")


KINDS = {"regression": regression, "density": density, "step": step, "steps": steps,
         "shift": shift}
