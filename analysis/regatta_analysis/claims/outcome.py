"""The outcome of a check: comparisons with their evidence, and the grade that they make together.

A comparison is one statement on one panel, such as "EI has smaller regret than random search on Ackley".
stats/evidence.py says what paired trials show; a few kinds have tests of their own (judge.py)."""
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from . import grades
from .grades import AGAINST, EQUIVALENT, NOT_COMPARABLE, NOT_RUN, OPEN, SHOWN, VOID

LEVEL = 0.01  # at either side, of the kinds that have tests of their own


@dataclass
class Item:
    """A comparison. It has the trials and independent units, the outcome, the effect with its interval, and the
    borders within which the statement is true. It also has the probabilities that the first method is better,
    equivalent or worse, and the shares of stuck trials."""
    where: str
    a: str = ""
    b: str = ""
    n: int = 0
    units: int = 0
    cells: tuple = ()  # (study, problem, algorithm) of its trials
    state: str = OPEN
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    least: float = -np.inf
    most: float = np.inf
    better: float = np.nan
    equivalent: float = np.nan
    worse: float = np.nan
    stuck_a: float = np.nan
    stuck_b: float = np.nan
    evidence: object = None
    size: dict = field(default_factory=dict)  # trials of another experiment, see Studies.size
    sample: pd.DataFrame = None  # the values of its trials
    statistic: str = "mean"
    true: Callable = None  # whether it is true, by the centres of the columns of the sample
    more: dict = field(default_factory=dict)

    def learn(self, evidence):
        """Take effect, interval and probabilities from an Evidence or a Pooled."""
        self.evidence = evidence
        self.value, self.low, self.high = evidence.typical, evidence.low, evidence.high
        for name in ("better", "equivalent", "worse", "stuck_a", "stuck_b"):
            setattr(self, name, getattr(evidence, name, np.nan))
        return self

    def decide(self, holds, fails):
        """Its outcome, by p values of the statement and of its opposite."""
        self.state = SHOWN if holds <= LEVEL else AGAINST if fails <= LEVEL else OPEN

    @property
    def name(self):
        """The comparison in words."""
        pair = f"{self.a} against {self.b}" if self.b else self.a
        return f"{pair} ({self.where})" if pair else self.where

    def row(self):
        """The data for a record or for readers of the JSON."""
        return {"where": self.where, "a": self.a, "b": self.b, "n": self.n, "units": self.units, "state": self.state,
                "value": self.value, "low": self.low, "high": self.high, "better": self.better,
                "equivalent": self.equivalent, "worse": self.worse, "stuck_a": self.stuck_a,
                "stuck_b": self.stuck_b, **self.more}


@dataclass
class Outcome:
    """The outcome of a check: a line with the reason, how it was decided, the comparisons and how they combine."""
    text: str
    method: str = ""
    items: list = field(default_factory=list)
    combine: str = "every"
    ties: bool = False  # whether a comparison can come out as equivalent
    partial: bool = False  # some panels have no results
    pooled: Item = None  # all comparisons as one
    comparable: bool = True  # whether results can decide it at all

    @property
    def judged(self):
        """The comparisons that make the grade: if they are pooled, all of them as one."""
        return [self.pooled] if self.pooled else self.items

    @property
    def tally(self):
        return grades.Tally.of(item.state for item in self.judged)

    @property
    def _parts(self):
        """The tally behind the grade. Panels without results count as one more open comparison."""
        return self.tally + grades.Tally(open=1) if self.partial else self.tally

    @property
    def rule(self):
        """How the comparisons that make the grade combine."""
        return "every" if self.pooled else self.combine

    @property
    def grade(self):
        if not self.comparable or not self.items:
            return NOT_RUN if self.comparable else NOT_COMPARABLE
        return grades.grade(self._parts, self.rule)

    def possible(self):
        """The grades that more trials may give it."""
        if not self.items or not self.comparable:
            return {self.grade}
        return grades.possible(self._parts, self.rule, self.ties)

    def open_items(self):
        """The comparisons that more trials would help to decide."""
        if self.pooled:
            return self.items if self.pooled.state == OPEN else []
        return [item for item in self.items if item.state == OPEN]

    @property
    def rows(self):
        return [item.row() for item in self.items]


class Missing(Exception):
    """A check needs results that do not exist."""


def shortened(items, most=6):
    """The comparisons that decide: those against first."""
    order = {AGAINST: 0, OPEN: 1, EQUIVALENT: 2, VOID: 3, SHOWN: 4}
    return sorted(items, key=lambda i: order[i.state])[:most]


def number(value):
    return "∞" if value == np.inf else f"{value:.3g}"
