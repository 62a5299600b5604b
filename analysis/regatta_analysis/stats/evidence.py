"""Statements about two methods from paired trials: effect, confidence sequence, and P(better).

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

P(better) is the probability that a is smaller in a unit, ties half: the share of wins. Its interval is a confidence
sequence too, for every law of the units. Where it leaves out 1/2, the verdict is never open.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from ..load.variables import places_of
from .robust import centre, skewed, stuck

LEVEL = 0.05  # error of an interval, both sides together
ROPE = 0.10  # Effects below 10 % make no practical difference.
BETTER, WORSE, EQUIVALENT, OPEN = "better", "worse", "equivalent", "open"
RANKED = 40  # number of units that count by rank
HUGE = 1e300  # stands for infinite contrasts in means
MOST = 700.0  # largest logarithm of evidence, so that its exponential is a number


def sign_evidence(d: np.ndarray) -> float:
    """Evidence that the contrasts d (units,) lie above 0: the likelihood ratio of their signs, mixed uniformly over
    shares of positive ones in (1/2, 1). If signs are fair, the ratio ever exceeds 1/p with probability p at most."""
    k, m = float(np.sum(d > 0)), float(np.sum(d < 0))
    log = (k + m + 1.0) * np.log(2.0) + special.betaln(k + 1.0, m + 1.0)
    return float(np.exp(min(log, MOST)) * special.betainc(m + 1.0, k + 1.0, 0.5))


def rank_evidence(d: np.ndarray) -> float:
    """As `sign_evidence`, where a unit counts with the rank of its absolute value among the units up to it, divided
    by the mean rank; the units after the first RANKED count 1. The likelihood ratio of a sign with weight w and stake
    s is 2 / (1 + ((1 - s)/(1 + s))^w)."""
    size, later = np.abs(d[:RANKED]), np.sign(d[RANKED:])
    n = len(size)
    so_far = np.tril(np.ones((n, n), bool))
    smaller = np.sum(so_far & (size < size[:, None]), axis=1)
    equal = np.sum(so_far & (size == size[:, None]), axis=1)
    ranked = np.sign(d[:n]) * (smaller + (equal + 1.0) / 2.0) / (np.arange(n) / 2.0 + 1.0)
    weight = np.concatenate([ranked, [1.0, -1.0]])
    times = np.concatenate([np.ones(n), [np.sum(later > 0), np.sum(later < 0)]])
    stakes, shares = _stakes()
    odds = np.log1p(-stakes) - np.log1p(stakes)
    return _mixed((np.log(2.0) - np.logaddexp(0.0, np.outer(odds, weight))) @ times, shares)


@functools.lru_cache(maxsize=None)
def least_units(among: int) -> int:
    """The least number of units that can decide one of `among` comparisons, each at LEVEL / among. It takes equal signs
    in all units, and the sizes in the order with the most evidence."""
    n, wanted = 1, 2.0 * among / LEVEL
    while (sign_evidence(np.arange(n) + 1.0) + rank_evidence(np.arange(n) + 1.0)) / 2.0 < wanted:
        n += 1
    return n


def bet_evidence(gains: np.ndarray) -> float:
    """Evidence that the mean of gains (rounds,), none below -1, is above 0, whatever their law: the wealth of bets on
    them, mixed uniformly over stakes in (0, 1) (Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009). For gains
    of 1 and -1 this is sign_evidence. Equal gains are counted, so that many cost little."""
    values, times = np.unique(np.round(gains, 12), return_counts=True)
    stakes, shares = _stakes()
    return _mixed(np.log1p(np.outer(stakes, values)) @ times, shares)


def _mixed(logs, shares):
    """The mean of the exponentials of `logs` with weights `shares`."""
    return float(np.exp(np.minimum(logs, MOST)) @ shares)


@functools.lru_cache(maxsize=1)
def _stakes():
    """Nodes and weights on (0, 1): Gauss and Legendre's in intervals that shrink towards both ends, where the wealth of
    many equal gains lies. Exact to nine digits for 20,000 gains."""
    halves = 2.0**-np.arange(6.0, 18.0)
    edges = np.unique(np.concatenate([np.linspace(0.0, 1.0, 33), halves, 1.0 - halves]))
    nodes, weights = np.polynomial.legendre.leggauss(10)
    width = np.diff(edges)[:, None] / 2.0
    return (edges[:-1, None] + width * (nodes + 1.0)).ravel(), (width * weights).ravel()


def share_above(values: np.ndarray, level: float) -> float:
    """The lower end of a confidence sequence for the mean of values (rounds,) in [0, 1], whatever their law: it is
    above the mean with probability `level` at most, at any number of rounds. It inverts bets that the mean is above a
    border m, of gains value / m - 1."""
    if not len(values) or not np.any(values > 0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        shown = bet_evidence(values / middle - 1.0) >= 1.0 / level
        low, high = (middle, high) if shown else (low, middle)
    return low


class _Statement:
    """The common part of Evidence and Pooled: tests of the effect at which contrasts balance, and their consequences.
    A subclass has `contrasts` (an array per panel), `scale`, `level`, `margin`, `_evidence` and `_borders`, and the
    wins in its rounds with the level of each end of their interval, `_wins` and `_level_of_better`."""

    def p_above(self, border: float) -> float:
        """p of "the effect is above the border" (small: it is). Valid at any stopping time. One-sided: the verdict
        asks for level / 2."""
        return self._p(self.contrasts, self._contrast(border))

    def p_below(self, border: float) -> float:
        """p of "the effect is below the border"."""
        return self._p([-c for c in self.contrasts], -self._contrast(border))

    def _p(self, contrasts, border):
        return 1.0 / max(1.0, self._evidence([_less(c, border) for c in contrasts]))

    @property
    def p(self) -> float:
        """p of "there is no difference", two-sided, valid at any stopping time."""
        known = all(map(len, self.contrasts))
        return min(1.0, 2.0 * min(self.p_below(self.neutral), self.p_above(self.neutral))) if known else np.nan

    def against(self, border: float) -> str:
        """The place of the effect: "below" or "above" the border, or "open"."""
        if self.p_below(border) <= self.level / 2.0:
            return "below"
        return "above" if self.p_above(border) <= self.level / 2.0 else OPEN

    def within(self, least: float, most: float) -> str:
        """Whether the effect lies in [least, most]: "inside", "outside" or "open"."""
        low, high = self.against(least), self.against(most)
        if low == "below" or high == "above":
            return "outside"
        return "inside" if low == "above" and high == "below" else OPEN

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
    def _better(self) -> tuple[float, float]:
        wins, level = self._wins, self._level_of_better
        return share_above(wins, level), 1.0 - share_above(1.0 - wins, level)

    @property
    def better(self) -> float:
        """P(better): the probability that a is smaller in a unit, ties half."""
        return float(np.mean([_wins_of(c).mean() for c in self.contrasts])) if all(map(len, self.contrasts)) else np.nan

    @property
    def better_low(self) -> float:
        return self._better[0]

    @property
    def better_high(self) -> float:
        return self._better[1]

    @cached_property
    def verdict(self) -> str:
        """EQUIVALENT where the interval lies in the region of practical equivalence, else BETTER or WORSE where
        no difference is refuted, else OPEN."""
        if self.margin > 0.0 and self.within(*self.rope) == "inside":
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
        first, last = 0, len(borders)  # the border is shown at the first place, not at the last
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
    all values. `low` and `high` enclose the `typical` effect, `better_low` and `better_high` enclose P(better).
    `margin` is half the region of practical equivalence, as a contrast. `names` are those of the units."""
    n: int
    scale: str
    statistic: str
    effect: float
    units: np.ndarray  # contrasts
    names: tuple
    margin: float
    level: float
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
    def _wins(self):
        return _wins_of(self.units)

    @property
    def _level_of_better(self):
        """The test of 1/2 is half of the test of the verdict: if it is enough alone, the verdict is not open."""
        return self.level / 4.0

    @property
    def typical(self) -> float:
        """The median over units of the ratio (or difference)."""
        return self._effect(centre(self.units, "median"))

    @property
    def needed(self) -> float:
        """About how many units decide it if wins go on to have this share: by the test of the signs; infinite if wins and
        losses balance, NaN without units."""
        share = max(self.better, 1.0 - self.better)
        if not share > 0.5:
            return np.nan if np.isnan(share) else np.inf
        first, last = 0, 1

        def enough(n):
            k, m = share * n, (1.0 - share) * n
            log = (n + 1.0) * np.log(2.0) + special.betaln(k + 1.0, m + 1.0) + np.log(special.betainc(m + 1.0, k + 1.0, 0.5))
            return log >= np.log(2.0 / self.level)
        while not enough(last):
            first, last = last, 2 * last
            if last > 1e7:
                return np.inf
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if enough(middle) else (middle, last)
        return float(last)

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
    """The result of `pooled` for several panels together. Every panel has the same weight and the same number of units.
    Panels with the same entry in `shared` may depend on each other. `typical` is the factor (or shift) of b at
    which wins and losses balance over the panels, the median contrast of all; `low` and `high` enclose it."""
    contrasts: list[np.ndarray]
    shared: list
    scale: str
    margin: float
    level: float
    typical: float

    def _evidence(self, shifted):
        return bet_evidence(_rounds([np.sign(s) for s in shifted], self.shared))

    def _borders(self, contrasts):
        return np.concatenate(contrasts)

    @property
    def _wins(self):
        return _rounds([_wins_of(c) for c in self.contrasts], self.shared)

    @property
    def _level_of_better(self):
        return self.level / 2.0


def _wins_of(units):
    """1 where a is smaller, 1/2 for ties, 0 where b is."""
    return (1.0 - np.sign(units)) / 2.0


def _less(values, border):
    """values - border, 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(values == border, 0.0, values - border)


def pair_means(units: np.ndarray) -> np.ndarray:
    """Means of each unit with itself and with each later one; 0 for infinities of opposite sign."""
    first, second = np.triu_indices(len(units))
    return _less(units[first], -units[second]) / 2.0


def _rounds(gains, shared):
    """The gains on which one can bet, from those of each panel (of equal length). Round k has unit k of every panel, so
    it stays as it is when units are added. In a round, panels with the same label make one gain, the mean of theirs.
    If the mean over panels is 0, bets on independent gains win nothing on average: the product of the expected growth
    factors is at most the power of their mean. If some labels stand for more panels than others, gains by label would
    change the weights of the panels; then all panels make one gain."""
    groups = [np.mean([g for g, name in zip(gains, shared) if name == one], axis=0) for one in dict.fromkeys(shared)]
    if len({list(shared).count(one) for one in shared}) > 1:
        groups = [np.mean(gains, axis=0)]
    return np.concatenate(groups)


def _in_rounds(panels, units, shared):
    """The units (one array per panel) that make whole rounds: of panels with the same label those that all of them
    have, by name and in their order, and of all panels the first ones, as many as the smallest has."""
    found = []
    for panel, own, label in zip(panels, units, shared):
        among = [set(p.names) for p, other in zip(panels, shared) if other == label]
        found.append(own[[all(name in some for some in among) for name in panel.names]])
    n = min(map(len, found))
    return [own[:n] for own in found]


def scale_of(*values: ArrayLike) -> str:
    """The scale on which values are compared: "ratio" where none is below 0, else "difference"."""
    return "difference" if any(np.any(np.asarray(v, float) < 0.0) for v in values) else "ratio"


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
            statistic: str = "median", level: float = LEVEL, margin: float | None = None,
            names: Sequence | None = None) -> Evidence:
    """The Evidence of paired values a and b (n,), less is better; pairs with a NaN are left out. O(n log n).

    groups: the instance of each pair (n,). If several pairs share an instance, the unit is the instance, with the
    median of its contrasts. statistic: "mean", "median" or "iqm", for the effect only. level: probability that the
    interval misses its target. margin: a difference that makes none in practice, on the scale "difference" (default:
    ROPE of the median of b). names: of the pairs, by which `pooled` finds units of one trial (default: their numbers).
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    known = ~(np.isnan(a) | np.isnan(b))
    names = np.flatnonzero(known).tolist() if names is None else [name for name, k in zip(names, known) if k]
    a, b = a[known], b[known]
    units = contrasts(a, b, scale)
    if groups is not None:
        units, names = _by_group(units, np.asarray(groups)[known], names)
    known = b[np.isfinite(b)]
    if scale != "difference":
        margin = float(np.log1p(ROPE))
    elif margin is None:
        margin = float(ROPE * abs(centre(known, "median"))) if len(known) else 0.0
    plain = [10.0**v if scale == "log10" else v for v in (a, b)]
    shares = [float(stuck(v).mean()) if len(v) else np.nan for v in plain]
    return Evidence(len(a), scale, statistic, _effect_of(a, b, scale, statistic), units, tuple(names), margin, level,
                    *shares, skewed(plain[0]) or skewed(plain[1]))


def compare_columns(both: pd.DataFrame, scale: str | None = None, **more: Any) -> Evidence:
    """`compare` of the two columns of a table, whose index names the trials; by default on the scale of their values."""
    a, b = both.to_numpy(float).T
    groups = both.index.get_level_values("instance") if "instance" in both.index.names else None
    return compare(a, b, groups, scale or scale_of(a, b), names=list(both.index), **more)


def _effect_of(a, b, scale, statistic):
    """The ratio (or difference) of the centres; without a difference also where both are 0 or infinite."""
    if not len(a):
        return np.nan
    found = contrasts(centre(a, statistic), centre(b, statistic), scale)
    with np.errstate(over="ignore"):
        return float(found if scale == "difference" else np.exp(found))


def _by_group(units, groups, names):
    """(median of each group, the groups) where some, but not all, of the units share one; else (units, names)."""
    found = places_of(groups)
    if not 1 < len(found) < len(units):
        return units, names
    return np.array([centre(units[own], "median") for _, own in found]), [name for name, _ in found]


def pooled(panels: Sequence[Evidence], shared: Sequence | None = None, level: float = LEVEL) -> Pooled:
    """The Evidence of several panels together, stratified: every panel has the same weight.

    It rests on rounds of one unit of each panel (`_in_rounds`): the first ones, so that a round never changes when
    trials are added, and the interval stays valid at any number of looks, whichever panel grows.

    shared: a label for each panel, such as its problem. Panels with the same label may depend on each other, because
    they have trials or random numbers in common; a round has units of the same name of them. Trials on different
    problems are independent. None: all panels are independent. On the scale "difference" contrasts
    are taken as shares of the panel's median, so that panels are comparable. Raises ValueError without panels, for
    a panel without units, and for panels of which some are ratios and some are differences."""
    differences = {p.scale == "difference" for p in panels}
    if len(differences) != 1 or not all(len(p.units) for p in panels):
        raise ValueError("panels need units, and a scale in common")
    scale = "difference" if differences.pop() else "ratio"
    margin = ROPE if scale == "difference" else max(p.margin for p in panels)
    units = [p.units * (margin / p.margin) if p.margin and scale == "difference" else p.units for p in panels]
    labels = list(range(len(panels)) if shared is None else shared)
    units = _in_rounds(panels, units, labels)
    if not len(units[0]):
        raise ValueError("the panels of one problem have no trial in common")
    typical = float(np.clip(centre(np.concatenate(units), "median"), -HUGE, HUGE))
    found = Pooled(units, labels, scale, margin, level, np.nan)
    return replace(found, typical=found._effect(typical))
