"""Statements about two methods from paired trials: effect, confidence sequence, and probabilities.

The values of a and b are paired by instance and seed, and less is better. A unit is one independent pair: a
trial, or an instance where several trials share one. Its contrast is log(a / b) for values that are at least 0,
and a - b for others. The typical contrast is the median one.

The interval is a confidence sequence: it misses the typical contrast with a probability of at most 5 %, at
whatever number of units one stops, and however often one looked before. This holds where units are independent and
contrasts are symmetric. They are symmetric where b, times some factor, has the law of a, whatever this law is:
normal, lognormal, with stuck trials, with infinite values. Where they are not, for example where only one of the
methods gets stuck, docs/statistics.md has the measured error (tests/analysis/calibration_table.py).

The interval inverts a sequential test. By symmetry, signs are fair coins given the absolute values. One half of
the evidence is the likelihood ratio of the signs, mixed over all shares of wins above one half: the beta-binomial
mixture of Howard, Ramdas, McAuliffe and Sekhon (2021, doi:10.1214/20-AOS1991). The other half weighs each sign by
the rank of its absolute value among the units so far, as the signed-rank test does; after RANKED units it too goes
by signs alone, so that skewed contrasts cannot mislead it ever more. The normal mixture of the
same paper asks for a bound on the tails, which log ratios with stuck or infinite values do not have.

The probabilities are those of the Bayesian signed-rank test with a region of practical equivalence (Benavoli,
Corani, Demsar and Zaffalon 2017, jmlr.org/papers/v18/16-305.html). They grade what is open; they promise no
error rate.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .robust import centre, skewed, stuck

LEVEL = 0.05  # error of an interval, both sides together
ROPE = 0.10  # Effects below 10 % make no practical difference.
DRAWS, PRIOR = 4000, 0.6  # draws from the posterior; pseudo-observations without a difference in its prior
BETTER, WORSE, EQUIVALENT, OPEN = "better", "worse", "equivalent", "open"
RANKED = 40  # number of units that count by rank
HUGE = 1e300  # stands for infinite contrasts in sums


def sign_evidence(d: np.ndarray) -> float:
    """Evidence that the contrasts d (units,) lie above 0: the likelihood ratio of their signs, mixed uniformly over
    shares of positive ones in (1/2, 1). If signs are fair, the ratio ever exceeds 1/p with probability p at most."""
    k, m = float(np.sum(d > 0)), float(np.sum(d < 0))
    log = (k + m + 1.0) * np.log(2.0) + special.betaln(k + 1.0, m + 1.0)
    return float(np.exp(log) * special.betainc(m + 1.0, k + 1.0, 0.5))


def rank_evidence(d: np.ndarray) -> float:
    """As `sign_evidence`, where a unit counts with the rank of its absolute value among the units up to it, divided
    by the mean rank; the units after the first RANKED count 1. The likelihood ratio of a sign with weight w and stake s is 2 / (1 + ((1 - s)/(1 + s))^w)."""
    size = np.abs(d[:RANKED])
    n = len(size)
    so_far = np.tril(np.ones((n, n), bool))
    smaller = np.sum(so_far & (size < size[:, None]), axis=1)
    equal = np.sum(so_far & (size == size[:, None]), axis=1)
    weight = np.sign(d)
    weight[:n] *= (smaller + (equal + 1.0) / 2.0) / (np.arange(n) / 2.0 + 1.0)
    stakes, shares = _quadrature(64)
    odds = np.log1p(-stakes) - np.log1p(stakes)
    return float(np.exp((np.log(2.0) - np.logaddexp(0.0, np.outer(odds, weight))).sum(axis=1)) @ shares)


def bet_evidence(gains: np.ndarray) -> float:
    """Evidence that the mean of gains (rounds,) in [-1, 1] is above 0, whatever their law: the wealth of bets on
    them, mixed uniformly over stakes in (0, 1) (Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009). For gains
    of 1 and -1 this is sign_evidence."""
    stakes, shares = _quadrature(max(64, len(gains) // 2 + 1))
    return float(np.exp(np.log1p(np.outer(stakes, gains)).sum(axis=1)) @ shares)


@functools.lru_cache(maxsize=16)
def _quadrature(n):
    """Gauss-Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1.0) / 2.0, weights / 2.0


class _Statement:
    """The common part of Evidence and Pooled: tests of the effect at which contrasts balance, and their consequences.
    A subclass has `contrasts` (an array per panel), `scale`, `level`, `margin`, `_evidence` and `_borders`."""

    def p_above(self, border: float) -> float:
        """p of "the effect is above the border" (small: it is). Valid at any stopping time. One-sided: the verdict
        asks for level / 2."""
        return self._p(self.contrasts, self._contrast(border))

    def p_below(self, border: float) -> float:
        """p of "the effect is below the border"."""
        return self._p([-c for c in self.contrasts], -self._contrast(border))

    def _p(self, contrasts, border):
        return 1.0 / max(1.0, self._evidence([_less(c, border) for c in contrasts]))

    def against(self, border: float) -> str:
        """The place of the effect: "below" or "above" the border, or "open"."""
        if self.p_below(border) <= self.level / 2.0:
            return "below"
        return "above" if self.p_above(border) <= self.level / 2.0 else OPEN

    def within(self, least: float, most: float) -> str:
        """Whether the effect lies in [least, most]: "inside", "outside" or "open"."""
        if self.against(least) == "below" or self.against(most) == "above":
            return "outside"
        return "inside" if least <= self.low and self.high <= most else OPEN

    @cached_property
    def neutral(self) -> float:
        """The effect without a difference."""
        return 0.0 if self.scale == "difference" else 1.0

    @cached_property
    def rope(self) -> tuple[float, float]:
        """The region of practical equivalence."""
        return self._effect(-self.margin), self._effect(self.margin)

    @cached_property
    def _interval(self) -> tuple[float, float]:
        low = self._least(self.contrasts)
        return self._effect(low), self._effect(-self._least([-c for c in self.contrasts]))

    @property
    def low(self) -> float:
        return self._interval[0]

    @property
    def high(self) -> float:
        return self._interval[1]

    @cached_property
    def verdict(self) -> str:
        """EQUIVALENT where the interval lies in the region of practical equivalence, else BETTER or WORSE where
        no difference is refuted, else OPEN."""
        if self.within(*self.rope) == "inside":
            return EQUIVALENT
        return {"below": BETTER, "above": WORSE, OPEN: OPEN}[self.against(self.neutral)]

    def _least(self, contrasts):
        """The lower end of the interval. The test is the same for all borders between two neighbours of `_borders`, and
        the higher the border, the less it shows."""
        borders = self._borders(contrasts)
        borders = np.unique(borders[np.isfinite(borders)])
        between = np.concatenate([borders[:1] - 1.0, (borders[1:] + borders[:-1]) / 2.0, borders[-1:] + 1.0])

        def shown(k):
            return self._p(contrasts, between[k]) <= self.level / 2.0

        if not len(borders):
            return np.inf if self._p(contrasts, 0.0) <= self.level / 2.0 else -np.inf
        if not shown(0):
            return -np.inf
        if shown(len(borders)):
            return np.inf
        first, last = 0, len(borders)  # shown at the first, not at the last
        while last - first > 1:
            k = (first + last) // 2
            first, last = (k, last) if shown(k) else (first, k)
        return float(borders[first])

    def _contrast(self, effect):
        if self.scale == "difference":
            return effect
        with np.errstate(divide="ignore"):
            return float(np.log(effect))

    def _effect(self, contrast):
        with np.errstate(over="ignore"):
            return float(contrast if self.scale == "difference" else np.exp(contrast))


@dataclass(frozen=True)
class Evidence(_Statement):
    """The result of `compare` for a against b on one panel. `effect` is the ratio (or difference) of the statistic of
    all values. `low` and `high` enclose the `typical` effect. better, equivalent and worse are probabilities and add
    to 1. `margin` is half the region of practical equivalence, as a contrast."""
    n: int
    scale: str
    statistic: str
    effect: float
    units: np.ndarray  # contrasts
    margin: float
    level: float
    better: float
    equivalent: float
    worse: float
    stuck_a: float
    stuck_b: float
    skewed: bool

    def _evidence(self, shifted):
        return (sign_evidence(shifted[0]) + rank_evidence(shifted[0])) / 2.0

    def _borders(self, contrasts):
        return np.append(pair_means(contrasts[0][:RANKED]), contrasts[0])

    @property
    def contrasts(self) -> list[np.ndarray]:
        return [self.units]

    @property
    def typical(self) -> float:
        """The median over units of the ratio (or difference)."""
        return self._effect(centre(self.units, "median"))

    @property
    def wins(self) -> int:
        """The units in which a is smaller."""
        return int(np.sum(self.units < 0))

    @property
    def ties(self) -> int:
        return int(np.sum(self.units == 0))

    @property
    def losses(self) -> int:
        return int(np.sum(self.units > 0))


@dataclass(frozen=True)
class Pooled(_Statement):
    """The result of `pooled` for several panels together. Every panel has the same weight. Panels with the same entry
    in `shared` may depend on each other. `win_rate` is the mean over panels of P(a < b) - P(a > b), a standardised
    effect in [-1, 1]. `typical` is the mean contrast of the panels (a ratio: their geometric mean). `low` and `high`
    enclose the factor (or shift) of b at which wins and losses balance over the panels."""
    contrasts: list[np.ndarray]
    shared: list
    scale: str
    margin: float
    level: float
    typical: float
    win_rate: float
    better: float
    equivalent: float
    worse: float

    def _evidence(self, shifted):
        return bet_evidence(_rounds([np.sign(s) for s in shifted], self.shared))

    def _borders(self, contrasts):
        return np.concatenate(contrasts)


def _less(values, border):
    """values - border, 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(values == border, 0.0, values - border)


def pair_means(units: np.ndarray) -> np.ndarray:
    """Means of each unit with itself and with each later one; 0 for infinities of opposite sign."""
    first, second = np.triu_indices(len(units))
    return _less(units[first], -units[second]) / 2.0


def _rounds(signs, shared):
    """The gains on which one can bet. There are as many rounds as the smallest panel has units; a larger panel deals
    its units to the rounds in turn. In a round, panels with the same label make one gain, the mean of their signs.
    If the mean over panels is 0, bets on independent gains win nothing on average: the product of the expected growth
    factors is at most the power of their mean. If some labels stand for more panels than others, gains by label would
    change the weights of the panels; then all panels make one gain."""
    n = min(map(len, signs))
    rounds = [[s[k::n].mean() for k in range(n)] for s in signs]
    groups = [np.mean([r for r, name in zip(rounds, shared) if name == one], axis=0) for one in dict.fromkeys(shared)]
    if len({list(shared).count(one) for one in shared}) > 1:
        groups = [np.mean(rounds, axis=0)]
    return np.concatenate(groups)


def scale_of(*values: ArrayLike) -> str:
    """The scale on which values are compared: "ratio" where none is below 0, else "difference"."""
    return "ratio" if all(np.nanmin(v, initial=0.0) >= 0.0 for v in values) else "difference"


def contrasts(a: ArrayLike, b: ArrayLike, scale: str) -> np.ndarray:
    """log(a / b) for scale "ratio", (a - b) log(10) for "log10", a - b for "difference"; equal values (also
    infinite ones) give 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if scale == "ratio":
        with np.errstate(divide="ignore"):
            a, b = np.log(a), np.log(b)
    elif scale == "log10":
        a, b = a * np.log(10.0), b * np.log(10.0)
    elif scale != "difference":
        raise ValueError(f"unknown scale {scale!r}")
    return _less(a, b)


def compare(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, scale: str = "ratio", *,
            statistic: str = "median", rope: float = ROPE, level: float = LEVEL) -> Evidence:
    """The Evidence of paired values a and b (n,), less is better; pairs with a NaN are left out.

    groups: the instance of each pair (n,). If several pairs share an instance, the unit is the instance, with the
    median of its contrasts. statistic: "mean", "median" or "iqm", for the effect only. rope: the share of b (of its
    finite values) below which a difference makes none in practice. level: probability that the interval misses its
    target.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    units = contrasts(a, b, scale)
    if groups is not None:
        units = _by_group(units, np.asarray(groups)[known])
    known = b[np.isfinite(b)]
    margin = float(np.log1p(rope)) if scale != "difference" else \
        float(rope * abs(centre(known, "median"))) if len(known) else 0.0
    better, equivalent, worse = posterior([units], [margin])
    plain = [10.0**v if scale == "log10" else v for v in (a, b)]
    shares = [float(stuck(v).mean()) if len(v) else np.nan for v in plain]
    return Evidence(len(a), scale, statistic, _effect_of(a, b, scale, statistic), units, margin, level,
                    better, equivalent, worse, *shares, skewed(plain[0]) or skewed(plain[1]))


def _effect_of(a, b, scale, statistic):
    """The ratio (or difference) of the centres; without a difference also where both are 0 or infinite."""
    if not len(a):
        return np.nan
    found = contrasts(centre(a, statistic), centre(b, statistic), scale)
    with np.errstate(over="ignore"):
        return float(found if scale == "difference" else np.exp(found))


def _by_group(units, groups):
    """The median of each group where some, but not all, of the units share one."""
    names = list(dict.fromkeys(groups.tolist()))
    if not 1 < len(names) < len(units):
        return units
    return np.array([centre(units[groups == name], "median") for name in names])


def pooled(panels: Sequence[Evidence], shared: Sequence | None = None, level: float = LEVEL) -> Pooled:
    """The Evidence of several panels together, stratified: every panel has the same weight.

    shared: a label for each panel, such as its problem. Panels with the same label may depend on each other, because
    they have trials or random numbers in common; unit k of one belongs to unit k of the others. Trials on different
    problems are independent. None: all panels are independent. On the scale "difference" contrasts
    are taken as shares of the panel's median, so that panels are comparable. Raises ValueError without panels, for
    a panel without units, and for panels of which some are ratios and some are differences."""
    differences = {p.scale == "difference" for p in panels}
    if len(differences) != 1 or not all(len(p.units) for p in panels):
        raise ValueError("panels need units, and a scale in common")
    scale = "difference" if differences.pop() else "ratio"
    margin = ROPE if scale == "difference" else max(p.margin for p in panels)
    units = [p.units * (margin / p.margin) if p.margin and scale == "difference" else p.units for p in panels]
    better, equivalent, worse = posterior(units, [margin] * len(units))
    typical = float(np.mean([np.clip(centre(u, "median"), -HUGE, HUGE) for u in units]))
    win_rate = float(-np.mean([np.sign(u).mean() for u in units]))
    labels = list(range(len(panels)) if shared is None else shared)
    found = Pooled(units, labels, scale, margin, level, np.nan, win_rate, better, equivalent, worse)
    return replace(found, typical=found._effect(typical))


def posterior(panels: Sequence[np.ndarray], margins: Sequence[float], draws: int = DRAWS) -> tuple[float, float, float]:
    """Probabilities that a is better, equivalent and worse: the Bayesian signed-rank test with a region of practical
    equivalence of +- the margin, over contrasts (n,) of each panel.

    A Dirichlet process has its prior at no difference. Each draw weighs the units; the mean of two units drawn by
    these weights is below, in or above the region; the shares are averaged over panels. Returned is how often each of
    the three is the most likely one; NaN for a panel without units. The draws are the same for panels of the same size.
    """
    if not all(map(len, panels)):
        return np.nan, np.nan, np.nan
    shares = np.zeros((draws, 3))
    for number, (units, margin) in enumerate(zip(panels, margins)):
        z = np.clip(np.concatenate([[0.0], units]), -HUGE, HUGE)
        means = (z[:, None] + z) / 2.0
        w = _weights(len(units), draws, number)
        for k, part in enumerate((means < -margin, np.abs(means) <= margin, means > margin)):
            shares[:, k] += np.einsum("di,di->d", w @ part.astype(float), w)
    most = np.abs(shares - shares.max(axis=1, keepdims=True)) <= 1e-12 * len(panels)
    return tuple((most / most.sum(axis=1, keepdims=True)).mean(axis=0).tolist())


@functools.lru_cache(maxsize=32)
def _weights(n, draws, number):
    """Draws x (1 + n): weights of the prior's place and of n units."""
    return np.random.default_rng([n, number]).dirichlet([PRIOR] + [1.0] * n, size=draws)
