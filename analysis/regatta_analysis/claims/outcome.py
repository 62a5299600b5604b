"""The outcome of a check: comparisons with their evidence, and the grade that they make together.

A comparison is one statement on one panel, such as "EI has smaller regret than random search on Ackley".
stats/evidence.py says what paired trials show; a few kinds have tests of their own (bootstrap.py)."""
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from . import grades
from .grades import AGAINST, EQUIVALENT, NOT_COMPARABLE, NOT_RUN, OPEN, SHOWN, VOID
from ..stats import evidence

LEVEL = 0.01  # at either side, of the kinds that have intervals of their own


@dataclass
class Item:
    """A comparison. It has the trials and independent units, the outcome, the effect with its interval, and the
    borders within which the statement is true. It also has P(better) with its interval, and the shares of stuck
    trials. `decide(k)` decides it as one of k comparisons; it is None if the comparison rests on
    no sample."""
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
    better_low: float = np.nan
    better_high: float = np.nan
    stuck_a: float = np.nan
    stuck_b: float = np.nan
    evidence: object = None
    size: dict = field(default_factory=dict)  # trials of another experiment, see Studies.size
    sample: pd.DataFrame = None  # the values of its trials
    statistic: str = "mean"
    pools: bool = False  # whether it is several comparisons as one
    decide: Callable = None
    fixed: bool = False  # whether it must not get more trials because of what it shows
    among: int = 1  # the number of comparisons that it is decided with
    true: Callable = None  # whether it is true, by the centres of the columns of the sample
    more: dict = field(default_factory=dict)

    def decide_by(self, found, word):
        """Let an Evidence or a Pooled decide it: `word` makes a word of STATES of it. A void one stays so."""
        void = self.state == VOID

        def decide(among):
            self.evidence = one = replace(found, level=found.level / among)
            self.value, self.low, self.high = one.typical, one.low, one.high
            self.state = STATES[word(one)]
            for name in (("better", "better_low", "better_high") if self.b or self.pools else ()):
                setattr(self, name, getattr(one, name))
        self.stuck_a, self.stuck_b = (getattr(found, name, np.nan) for name in ("stuck_a", "stuck_b"))
        self.decide = decide
        decide(1)
        if void:
            self.state, self.decide = VOID, None

    def enclose(self, ends, fixed=True):
        """Let an interval decide it: `ends` gives (low, high) for an error of either side. fixed: the interval is for a
        number of trials that was fixed beforehand."""
        def decide(among):
            self.low, self.high = map(float, ends(min(LEVEL, evidence.LEVEL / 2.0 / among)))
            inside, outside = self.least <= self.low and self.high <= self.most, self.high < self.least or self.low > self.most
            self.state = SHOWN if inside else AGAINST if outside else OPEN
        self.decide, self.fixed = decide, fixed
        decide(1)

    @property
    def name(self):
        """The comparison in words."""
        pair = f"{self.a} against {self.b}" if self.b else self.a
        return f"{pair} ({self.where})" if pair else self.where

    def row(self):
        """The data for a record or for readers of the JSON."""
        return {**{name: getattr(self, name) for name in ROW}, **self.more}


ROW = ("where", "a", "b", "n", "units", "state", "value", "low", "high", "least", "most", "better", "better_low", "better_high",
       "stuck_a", "stuck_b")
STATES = {"better": SHOWN, "worse": AGAINST, "equivalent": EQUIVALENT, "inside": SHOWN, "outside": AGAINST,
          "shown": SHOWN, "against": AGAINST, "open": OPEN}


def decide_together(items):
    """Decide comparisons of one statement: each at 5 % divided by their number. If all of them come out alike, one by one
    at 5 %, this stands. With p sorted, something is said only if the first is at most 5 % / k or the last 5 %, which is a
    part of Simes' test (1986). So it is wrong about any of them with 5 % at most where they are independent or depend
    on each other positively (Sarkar 1998), else with 10 %."""
    items = [item for item in items if item.decide and item.state != VOID]
    for among in dict.fromkeys((1, max(len(items), 1))):
        for item in items:
            item.among = among
            item.decide(among)
        if len({item.state for item in items}) < 2 and OPEN not in {item.state for item in items}:
            return


@dataclass
class Outcome:
    """The outcome of a check: a line with the reason (or a function of the comparisons that makes it), how it was decided,
    the comparisons and how they combine."""
    said: str | Callable
    method: str = ""
    items: list = field(default_factory=list)
    combine: str = "every"
    ties: bool = False  # whether a comparison can come out as equivalent
    partial: bool = False  # some panels have no results
    pooled: Item = None  # all comparisons as one
    comparable: bool = True  # whether results can decide it at all
    lacks: tuple = ()  # what has no results

    @property
    def text(self):
        """The line with the reason."""
        among = max((item.among for item in self.graded), default=1)
        family = f"intervals are for all {among} comparisons of the claim together" if among > 1 else ""
        said = self.said(self.items) if callable(self.said) else self.said
        return "; ".join(filter(None, (said, family, *self.lacks)))

    def decide(self):
        """Decide its comparisons together, and if they are pooled the one effect by itself."""
        decide_together(self.items)
        if self.pooled:
            decide_together(self.graded)

    @property
    def graded(self):
        """The comparisons that make the grade: if they are pooled, all of them as one."""
        return [self.pooled] if self.pooled else self.items

    @property
    def tally(self):
        return grades.Tally.of(item.state for item in self.graded)

    @property
    def parts(self):
        """The tally behind the grade. A check or panels without results count as one more open comparison."""
        return self.tally + grades.Tally(open=1) if self.partial or not self.items else self.tally

    @property
    def rule(self):
        """How the comparisons that make the grade combine."""
        return "every" if self.pooled else self.combine

    @property
    def grade(self):
        if not self.comparable or not self.items:
            return NOT_RUN if self.comparable else NOT_COMPARABLE
        return grades.grade(self.parts, self.rule)

    def possible(self):
        """The grades that more trials may give it."""
        if not self.items or not self.comparable:
            return {self.grade}
        return grades.possible(self.parts, self.rule, self.ties)

    def open_items(self):
        """The comparisons that more trials would help to decide."""
        if self.pooled:
            return self.items if self.pooled.state == OPEN else []
        return [item for item in self.items if item.state == OPEN and item.n and not item.fixed]

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
    return {np.inf: "∞", -np.inf: "-∞"}.get(value, f"{value:.3g}")
