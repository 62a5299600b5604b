"""Verdicts that know what they rest on: a claim decided in every universe (settings that a study leaves open) and reading, and what
the table of decisions says together."""
import functools
import itertools
from dataclasses import dataclass, field

import numpy as np

from . import checks, judge
from .outcome import NO, NONE, OPEN, TIE, YES, Outcome

DEPENDS = "depends on a setting"
VERDICTS = (YES, DEPENDS, NO, TIE, OPEN, NONE)
READING = "reading"
SHARE = "share of the comparisons that hold"


@dataclass
class Case:
    """A claim decided in one universe and one reading."""
    universe: dict
    reading: str
    verdict: str
    outcomes: list
    there: bool = True  # whether there are results at all; as many as in our universe, where that has all
    same_as: int = -1  # the case before with the same trials

    @property
    def whole(self):
        """Whether no results lack that it speaks of."""
        return self.verdict == NONE or all(o.items and not o.partial for o in self.outcomes)

    @functools.cached_property
    def picture(self):
        """P(picture): the share of experiments of the paper's size that show the statement."""
        shown = [outcome.shown() for outcome in self.outcomes]
        if not shown or any(s is None for s in shown):
            return np.nan
        return float(np.mean(np.all(shown, axis=0)))

    @property
    def items(self):
        return [item for outcome in self.outcomes for item in outcome.items]

    @property
    def trials(self):
        """Trials of the least supported comparison."""
        return min((item.n for item in self.items), default=0)

    @property
    def last(self):
        """Trials of the comparison that has most of them."""
        return max((item.n for item in self.items), default=0)

    @property
    def looks(self):
        """How many looks at growing numbers of trials it took."""
        return max((outcome.look for outcome in self.outcomes), default=1)

    def needed(self):
        """Trials after which the open comparisons would be decided (power 80%); NaN for none."""
        return self._most_open(Outcome.needed)

    def growth(self):
        """How many times its own trials an open comparison would have at the look that decides it; NaN for none."""
        return self._most_open(Outcome.growth)

    def _most_open(self, measure):
        return float(max((measure(o) for o in self.outcomes if o.verdict == OPEN and o.items), default=np.nan))

    def estimate(self):
        """(value, low, high, least, most, unit): of the comparison that decides, value and interval and the
        borders within which the statement is true; where comparisons have different borders the share that
        is true, between those that surely are and those that may be, with no borders."""
        items = self.items
        if not items:
            return np.nan, np.nan, np.nan, -np.inf, np.inf, ""
        borders = {(i.least, i.most) for i in items}
        quantifiers = {o.quantifier for o in self.outcomes}
        one_sided = len(borders) == 1 and np.isfinite(list(borders)[0]).sum() == 1
        if len(items) == 1 or (one_sided and len(quantifiers) == 1 and len({o.method for o in self.outcomes}) == 1):
            i = self._decisive(quantifiers.pop())
            which = f", the {i[1]} of {len(items)}" if len(items) > 1 else ""
            i = i[0]
            return i.value, i.low, i.high, i.least, i.most, self.outcomes[0].method + which
        true = np.mean([i.true() for i in items])
        sure, never = (np.mean([i.verdict == v for i in items]) for v in (YES, NO))
        return (float(true), float(min(sure, true)), float(max(1.0 - never, true)), -np.inf, np.inf, SHARE)

    def _decisive(self, quantifier):
        """The comparison on which it depends whether as many hold as the quantifier asks for, in words."""
        upper = np.isfinite(self.items[0].most)
        order = sorted(self.items, key=lambda i: (np.isnan(i.value), i.value if upper else -i.value))
        found = order[judge.wanted(len(order), quantifier) - 1]
        return found, {"all": "least favourable", "most": "median", "any": "most favourable"}[quantifier]


@dataclass
class Verdict:
    """A claim with what was found."""
    paper: str
    id: str
    where: str
    claim: str
    verdict: str
    cases: list
    turns_on: tuple = ()  # the smallest sets of settings that separate its cases
    readings: dict = field(default_factory=dict)  # id: reason
    printed: float = np.nan
    settings: dict = field(default_factory=dict)

    @property
    def first(self):
        """The case of our own universe and the first reading."""
        return self.cases[0]

    @property
    def outcomes(self):
        return self.first.outcomes

    @property
    def words(self):
        """The verdict, naming what it depends on."""
        return f"depends on {' or '.join(map(' and '.join, self.turns_on))}" if self.verdict == DEPENDS else self.verdict

    @property
    def keys(self):
        """The settings it depends on, each once."""
        return list(dict.fromkeys(itertools.chain(*self.turns_on)))

    @property
    def picture(self):
        return self.first.picture

    def reasons(self):
        return [outcome.text for outcome in self.outcomes]

    def sentence(self):
        """What a referee would write: what came out, and what it turns on."""
        there = [case for case in self.cases if case.there]
        if self.verdict == NONE:
            return f"Not checkable: {self.reasons()[0]}."
        if not there:
            return f"Undecided: {self.reasons()[0]}."
        parts = [_ways(self, there)]
        if np.isfinite(self.picture):
            parts.append(f"an experiment of the paper's size shows it with probability {self.picture:.2f}")
        if any(case.looks > 1 for case in there):
            parts.append(_took(there))
        if self.verdict == OPEN:
            parts.append(_lacking(there))
        text = "; ".join(part for part in parts if part)
        return f"{text[0].upper()}{text[1:]}."


def _ways(verdict, there):
    """How often each answer came out, or what separates them."""
    if verdict.verdict == DEPENDS:
        sides = []
        for answer in (YES, NO, TIE):
            found = sorted({tuple(_value(case, key) for key in verdict.keys)
                            for case in there if case.verdict == answer})
            named = ["with " + " and ".join(f"{k} {v}" for k, v in zip(verdict.keys, row)) for row in found]
            sides += [f"{answer} {' or '.join(named)}"] if found else []
        undecided = sum(case.verdict == OPEN for case in there)
        return "; ".join(sides) + (f"; {OPEN} in {undecided} of {len(there)} combinations" if undecided else "")
    if len(there) == 1:
        return f"{verdict.verdict} on {there[0].trials} trials" if there[0].trials else verdict.verdict
    counts = [(answer, sum(case.verdict == answer for case in there)) for answer in (YES, NO, TIE, OPEN)]
    told = ", ".join(f"{answer} in {k}" for answer, k in counts if k)
    return f"{told} of {len(there)} combinations of setting and reading"


def _took(there):
    """Looks and trials, where more were added until it was decided."""
    looks = max(case.looks for case in there)
    trials = max(case.last for case in there if case.looks == looks)
    return f"it took {looks} looks, the last at {trials} trials"


def _lacking(there):
    """What would decide it."""
    needed = [case.needed() for case in there if case.verdict == OPEN]
    if any(case.growth() > 100 for case in there):
        return "what is open needs more than a hundred times these trials"
    needed = [n for n in needed if np.isfinite(n)]
    if needed:
        return f"about {max(needed):.0f} trials would decide what is open"
    words = next((o.text for c in there for o in c.outcomes if o.verdict == OPEN and not o.items), "")
    return words


def _value(case, key):
    return case.reading if key == READING else case.universe.get(key, "")


def together(outcomes):
    """All checks must hold."""
    found = [outcome.verdict for outcome in outcomes]
    for verdict in (NONE, NO, OPEN, TIE):
        if verdict in found:
            return verdict
    return YES if found else OPEN


def decide(claim, studies):
    """Every Case of a claim, ours and the first reading first."""
    readings = readings_of(claim)
    named = sorted({s for reading in readings for s in checks.studies_in(reading["checks"])})
    cases, seen = [], {}
    for universe in studies.universes(named):
        inside = studies.within(universe)
        for reading in readings:
            signature = (reading["id"], inside.signature(reading["checks"]))
            case = Case(universe, reading["id"], OPEN, [])
            if signature in seen:
                before = cases[seen[signature]]
                case.outcomes, case.verdict, case.there = before.outcomes, before.verdict, before.there
                case.same_as = seen[signature]
            else:
                seen[signature] = len(cases)
                case.outcomes = [checks.run(check, inside) for check in reading["checks"]]
                case.verdict = together(case.outcomes)
                case.there = any(o.items for o in case.outcomes) or case.verdict == NONE
            cases.append(case)
    ours = {case.reading: case for case in reversed(cases)}  # the first of each
    for case in cases:
        case.there = case.there and (case.whole or not ours[case.reading].whole)
    return cases


def readings_of(claim):
    """The readings of a claim; `checks` alone are one."""
    return claim["readings"] if "readings" in claim else [
        {"id": "as written", "because": "", "checks": claim["checks"]}]


def that_count(cases, settings):
    """The cases with results; where the paper's own setting is known, those of its universes."""
    known = {s.id: [a["id"] for a in s.alternatives if a.get("paper")] for s in settings.values()}
    return [case for case in cases if case.there
            and all(case.universe.get(key) in ids for key, ids in known.items() if ids)]


def conclude(cases, settings):
    """(verdict, what it turns on) of the cases that count."""
    own = that_count(cases, settings)
    found = {case.verdict for case in own}
    answers = found & {YES, NO, TIE}
    if not own:
        return OPEN, ()
    if NONE in found:
        return NONE, ()
    if len(answers) > 1:
        return DEPENDS, separating([case for case in own if case.verdict in answers])
    return (OPEN, ()) if OPEN in found else (answers.pop(), ())


def separating(cases):
    """The smallest sets of settings (or the reading) whose values tell the verdicts of the cases: where there are
    several, the cases don't say which of them it is."""
    keys = [*dict.fromkeys(key for case in cases for key in case.universe), READING]
    for size in range(1, len(keys) + 1):
        found = tuple(chosen for chosen in itertools.combinations(keys, size) if _tells(chosen, cases))
        if found:
            return found
    return (tuple(keys),)


def _tells(chosen, cases):
    told = {}
    return all(told.setdefault(tuple(_value(case, key) for key in chosen), case.verdict) == case.verdict
               for case in cases)


def evaluate(paper, claim, studies):
    """The Verdict of a claim."""
    cases = decide(claim, studies)
    if claim.get("needs") and not any(case.there for case in cases):
        missing = Outcome(NONE, f"it needs {claim['needs']}")
        cases = [Case(cases[0].universe, cases[0].reading, NONE, [missing])]
    named = sorted({s for reading in readings_of(claim) for s in checks.studies_in(reading["checks"])})
    mine = studies.open_settings(named)
    verdict, turns_on = conclude(cases, mine)
    return Verdict(paper, str(claim["id"]), claim["where"], " ".join(str(claim["claim"]).split()), verdict, cases,
                   turns_on, {r["id"]: r["because"] for r in readings_of(claim)},
                   float(claim.get("printed", np.nan)), mine)


def words(universe):
    """A universe as text."""
    return ", ".join(f"{key} = {value}" for key, value in universe.items()) or "as in the study file"
