"""What a check comes out as: items, their quantifier, and the verdict they make together.

A check is a list of items (one comparison on one panel) and a quantifier. An item says how unlikely the data
are if it did not hold, and if it did; judge.py has the tests. Reproduced or not reproduced when the data
speak clearly for or against; a tie when they show that there is no difference worth the name; undecided
when they do neither, or when there are fewer than judge.MIN_UNITS trials. A look at more trials than were there
before goes on from the items of the look before.
"""
from dataclasses import dataclass, field

import numpy as np

from . import judge

YES, NO, OPEN, TIE = "reproduced", "not reproduced", "undecided", "near tie"
NONE = "not checkable"
FAR = 40  # looks ahead


@dataclass
class Item:
    """One statement on one panel: trials and independent units behind it, p values that it holds, fails,
    is a tie; the value with its interval and the borders within which the statement is true; in which
    experiments of the paper's size it shows; and the units that would decide it."""
    where: str
    a: str = ""
    b: str = ""
    n: int = 0
    units: int = 0
    cells: tuple = ()  # (study, problem, algorithm) whose trials stand behind it
    level: float = judge.LEVEL  # of the interval
    holds: float = 1.0
    fails: float = 1.0
    tied: float = 1.0
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    least: float = -np.inf
    most: float = np.inf
    shown: np.ndarray = None
    needed: float = np.nan
    more: dict = field(default_factory=dict)
    verdict: str = OPEN
    strict: bool = False  # the border itself does not make the statement true

    def trials(self, level):
        """Trials that would decide it at a level, that of a first look; later ones have their share of it. Infinite
        when that is not known."""
        at = self.level * level / judge.LEVEL
        needed = self.needed * judge.more_units(at, self.level) * self.n / max(self.units, 1)
        return needed if needed == needed else np.inf

    def p(self, way):
        """p that it holds, or that it fails."""
        return self.holds if way else self.fails

    def true(self):
        """Whether the statement is true of the trials there are."""
        return self.least <= self.value <= self.most and not (self.strict and self.value == self.most)

    def row(self):
        """What a reader of the JSON gets."""
        return {"where": self.where, "a": self.a, "b": self.b, "n": self.n, "units": self.units,
                "value": self.value, "low": self.low, "high": self.high, "p": self.holds,
                "p_against": self.fails, "verdict": self.verdict, "needed": self.needed, **self.more}


@dataclass
class Outcome:
    """Verdict of a check, a line that says why, how it was decided, and the items behind it."""
    verdict: str
    text: str
    method: str = ""
    items: list = field(default_factory=list)
    quantifier: str = "all"
    partial: bool = False  # some panels have no results
    look: int = 1  # at which it came out

    def tested(self):
        """Whether there were trials enough to decide it."""
        return bool(self.items) and all(item.units >= judge.MIN_UNITS for item in self.items)

    def open_items(self):
        """The items that more trials would help to decide; none where it is results of some panels that lack."""
        if self.verdict != OPEN or self.partial:
            return []
        return self._lacking()[0] or self.items

    def _lacking(self):
        """(items that lack for the verdict that the values point to, level at which each has to come out): of as many
        as the quantifier asks for those that need fewest trials; the open ones where ties stand in the way. The
        level is that of judge.at_least: what one comparison alone would show need not do for the best of many."""
        k = len(self.items)
        asked = judge.wanted(k, self.quantifier)
        for m, way in ((asked, True), (k - asked + 1, False)):
            level = judge.LEVEL / max(k - m + 1, 1)
            found = sorted((item.trials(level) if item.p(way) > level else 0.0, i)
                           for i, item in enumerate(self.items) if item.verdict != TIE and item.true() == way)
            if len(found) >= m:
                return [self.items[i] for trials, i in found[:m] if trials], level
        return [item for item in self.items if item.verdict == OPEN], judge.LEVEL

    @property
    def rows(self):
        return [item.row() for item in self.items]

    def shown(self):
        """In which experiments of the paper's size the check is true; None when that is not known."""
        draws = [item.shown for item in self.items]
        if not draws or self.partial or any(d is None for d in draws):
            return None
        return np.sum(draws, axis=0) >= judge.wanted(len(draws), self.quantifier)

    def needed(self):
        """Trials after which the check would be decided the way the values point; NaN when nothing is open."""
        lacking, level = self._lacking() if self.items else ([], judge.LEVEL)
        return max((max(item.trials(level), item.n + 1) for item in lacking), default=np.nan)

    def growth(self):
        """How many times its own trials an open item would have at the look that decides it, each look having twice
        as many and a smaller level; NaN when nothing is open."""
        lacking, level = self._lacking() if self.items else ([], judge.LEVEL)
        return max((next((2.0**k for k in range(1, FAR)
                          if item.n * 2**k >= item.trials(level / judge.SPEND**k)), np.inf)
                    for item in lacking), default=np.nan)


class Missing(Exception):
    """Results that a check needs and that are not there."""


@dataclass(frozen=True)
class Look:
    """Which look at a check this is, and the items of the one before."""
    number: int = 1
    before: tuple = ()

    @property
    def level(self):
        return judge.level(self.number)

    def spend(self, items):
        """Make p values of the items those that are held against judge.LEVEL: what was shown once stays shown."""
        before = self.before if len(self.before) == len(items) else [Item("")] * len(items)
        for item, old in zip(items, before):
            for name in ("holds", "fails", "tied"):
                p = judge.spent(getattr(item, name), self.number, getattr(old, name))
                setattr(item, name, float(p))


def decided(items, quantifier="all", look=Look()):
    """The verdict of items together; sets those of the items."""
    look.spend(items)
    for item in items:
        enough = item.units >= judge.MIN_UNITS
        item.verdict = (OPEN if not enough else YES if item.holds <= judge.LEVEL else
                        NO if item.fails <= judge.LEVEL else TIE if item.tied <= judge.LEVEL else OPEN)
    if any(item.units < judge.MIN_UNITS for item in items):
        return OPEN
    holds, fails = judge.quantified([i.holds for i in items], [i.fails for i in items], quantifier)
    if holds <= judge.LEVEL:
        return YES
    if fails <= judge.LEVEL:
        return NO
    return TIE if TIE in {i.verdict for i in items} and not OPEN in {i.verdict for i in items} else OPEN


def shortened(items, most=6):
    """The items that decide: those against first."""
    order = {NO: 0, OPEN: 1, TIE: 2, YES: 3}
    return sorted(items, key=lambda i: order[i.verdict])[:most]


def number(value):
    return "∞" if value == np.inf else f"{value:.3g}"
