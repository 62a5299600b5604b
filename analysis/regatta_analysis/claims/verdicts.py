"""Graded claims that know what they depend on. A claim is decided in every universe (settings that a study leaves
open) and every reading; this module combines all of these cases."""
import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import checks, grades
from .grades import (VOID, CONTRADICTED, DEPENDS, EQUIVALENT, GRADES, NOT_COMPARABLE, NOT_RUN, NOTHING, PARTLY, SHOWN,
                     MOSTLY_OPEN, SUPPORTED, UNDECIDED, Tally)
from .outcome import Outcome, decide_together, shortened

READING = "reading"
SHARE = "share of the comparisons that are shown"
FAMILY = "decided together at 5 %"
COUNTED = (SUPPORTED, MOSTLY_OPEN, PARTLY)  # grades whose words count comparisons


@dataclass
class Case:
    """A claim decided in one universe and one reading."""
    universe: dict
    reading: str
    outcomes: list
    there: bool = True  # whether the case has results: as many as our universe, if that is complete
    same_as: int = -1  # index of an earlier case with the same trials
    draw: Callable = None  # computes the `picture` of this case
    family: str = FAMILY  # the error of its comparisons

    @functools.cached_property
    def grade(self):
        return self.by_share(grades.together(outcome.grade for outcome in self.outcomes))

    def by_share(self, grade):
        """This grade; of comparisons that are shown or open, the one that their share gives, in all checks together."""
        if grade not in (SUPPORTED, MOSTLY_OPEN):
            return grade
        return grades.supported(functools.reduce(Tally.__add__, (outcome.parts for outcome in self.outcomes)))

    def possible(self):
        """The grades that more trials may give it."""
        return grades.possible_together([outcome.possible() for outcome in self.outcomes])

    @property
    def whole(self):
        """Whether it has all results that it needs."""
        return self.grade == NOT_COMPARABLE or all(o.items and not o.partial for o in self.outcomes)

    @functools.cached_property
    def tally(self):
        """The outcomes of its comparisons."""
        return functools.reduce(Tally.__add__, (outcome.tally for outcome in self.outcomes), Tally())

    @functools.cached_property
    def picture(self):
        """(P(picture), and a 90 % interval of it): the share of experiments of another size that show the statement;
        NaN if it is not known."""
        return self.draw(self) if self.draw else (np.nan, np.nan, np.nan)

    @property
    def items(self):
        return [item for outcome in self.outcomes for item in outcome.items]

    @property
    def graded(self):
        """The comparisons that make the grade."""
        return [item for outcome in self.outcomes for item in outcome.graded]

    @property
    def trials(self):
        """Trials of the least supported comparison."""
        return min((item.n for item in self.items), default=0)

    def estimate(self):
        """(value, low, high, least, most, unit) of the deciding comparison: its value, its interval, and the borders
        within which the statement is true. If the comparisons have different borders: the share of comparisons that
        are shown, the share that may still be shown, and no borders."""
        items = self.graded
        if not items:
            return np.nan, np.nan, np.nan, -np.inf, np.inf, ""
        borders, rules = {(i.least, i.most) for i in items}, {o.rule for o in self.outcomes}
        one_sided = len(borders) == 1 and np.isfinite(list(borders)[0]).sum() == 1
        if len(items) == 1 or (one_sided and len(rules) == 1 and len({o.method for o in self.outcomes}) == 1):
            item, which = self._decisive(items, rules.pop())
            which = f", the {which} of {len(items)}" if len(items) > 1 else ""
            return item.value, item.low, item.high, item.least, item.most, self.outcomes[0].method + which
        count = max(self.tally.total, 1)
        return (self.tally.shown / count, self.tally.shown / count, (self.tally.shown + self.tally.open) / count,
                -np.inf, np.inf, SHARE)

    def _decisive(self, items, combine):
        """The comparison that decides whether enough comparisons hold, in words."""
        upper = np.isfinite(items[0].most)
        order = sorted(items, key=lambda i: (np.isnan(i.value), i.value if upper else -i.value))
        found = order[grades.wanted(len(order), combine) - 1]
        return found, {"every": "least favourable", "most": "median", "any": "most favourable"}[combine]


@dataclass
class Verdict:
    """A claim with its cases and grade."""
    paper: str
    id: str
    where: str
    claim: str
    grade: str
    cases: list
    turns_on: tuple = ()  # the smallest sets of settings that separate its cases
    readings: dict = field(default_factory=dict)  # id: reason
    printed: float = np.nan
    settings: dict = field(default_factory=dict)
    price: str = ""  # what its results take, of a claim that nobody ran, or more of them, of an undecided one

    @property
    def first(self):
        """The first case that counts and shows something, else the first that counts: of our own universe and the first
        reading, where these have results."""
        own = that_count(self.cases, self.settings)
        return next((case for case in own if case.grade not in grades.SILENT), own[0] if own else self.cases[0])

    @property
    def words(self):
        """The grade, naming what it depends on, how much of it is shown, or where it leans."""
        if self.grade == DEPENDS:
            return f"depends on {' or '.join(map(' and '.join, self.turns_on))}"
        if self.grade not in COUNTED:
            return ", ".join([self.grade, *self._lean("leans", "", "")])
        tally = self.first.tally
        if self.first.grade == SHOWN:  # and others are not
            return f"{self.grade}: shown in {self.shares()[SHOWN]} of {len(self.ran)} {self.combined}"
        others = {"against": tally.against or "none" * (self.grade == MOSTLY_OPEN), "equivalent": tally.equivalent}
        return ", ".join([f"{self.grade}: {tally.shown} of {tally.total} shown",
                          *(f"{count} {state}" for state, count in others.items() if count),
                          *["others not run"] * any(o.partial for o in self.first.outcomes)])

    @property
    def keys(self):
        """The settings it depends on, each once."""
        return list(dict.fromkeys(itertools.chain(*self.turns_on)))

    @property
    def picture(self):
        return self.first.picture

    @property
    def ran(self):
        """The cases that have results of their own. Settings that a claim does not see, or that have not run, are
        none."""
        return [case for case in self.cases if case.there and case.same_as < 0]

    def reasons(self):
        return [outcome.text for outcome in self.first.outcomes]

    @property
    def combined(self):
        """A word for the difference between the cases with results of their own."""
        return combined((case.universe, case.reading) for case in self.ran)

    def shares(self):
        """{grade: number of the combinations of setting and reading that have it}, of those with results of their
        own."""
        there = [case.grade for case in self.ran]
        return {grade: there.count(grade) for grade in GRADES if grade in there}

    def settled(self):
        """Whether further trials cannot change the grade."""
        own = that_count(self.cases, self.settings)
        fixed = [case for case in own if len(case.possible()) == 1]
        return len(fixed) == len(own) or grades.over(case.grade for case in fixed) == DEPENDS

    def sentence(self):
        """The summary of a referee: the grade, the count, and the settings that it depends on."""
        if self.grade == NOT_COMPARABLE:
            return f"Not comparable: {self.reasons()[0]}."
        if self.grade == NOT_RUN:
            return f"Not run: {self.reasons()[0]}{f' ({self.price})' if self.price else ''}."
        family = f", {self.first.family}" if self.first.tally.total > 1 else ""
        parts = [f"{self.grade}: {self.first.tally}{family}", *self._lean(), *self._which(), *self._cases()]
        value, low, high = self.picture
        if np.isfinite(value):
            parts.append(f"an experiment of the paper's size shows it with probability {value:.2f} "
                         f"[{low:.2f}, {high:.2f}]")
        if self.grade in UNDECIDED:
            parts.append(self.price)
        text = "; ".join(part for part in parts if part)
        return f"{text[0].upper()}{text[1:]}."

    @property
    def leaning(self):
        """(comparisons whose effect is on the side of the statement, comparisons that have a side) of an undecided claim;
        (0, 0) of others."""
        known = [i for i in self.first.graded if i.state != VOID and not np.isnan(i.value)
                 and np.isfinite([i.least, i.most]).any()]
        if self.grade != NOTHING or not known:
            return 0, 0
        return sum(i.least <= i.value <= i.most for i in known), len(known)

    def _lean(self, subject="it leans", statement=" the statement", comparisons=" comparisons"):
        """The side of the statement on which the effects of an undecided claim are, in words."""
        inside, known = self.leaning
        if known == 1:
            return [f"{subject} {'towards' if inside else 'against'}{statement}"]
        side, many = ("towards", inside) if 2 * inside >= known else ("against", known - inside)
        return [f"{subject} {side}{statement} in {many} of {known}{comparisons}"] if known else []

    def _which(self):
        """The comparisons that hold and those that do not, if there are both."""
        if self.grade not in COUNTED:
            return []
        items = self.first.graded
        fewer = SHOWN if self.first.tally.shown * 2 <= len(items) else None
        some = [i for i in items if (i.state == SHOWN) == bool(fewer)]
        if not some:
            return []
        named = [i.name if fewer else f"{i.name} {i.state}" for i in shortened(some, 4)]
        more = f" and {len(some) - 4} more" if len(some) > 4 else ""
        return [f"{'shown' if fewer else 'not shown'}: {', '.join(named)}{more}"]

    def _cases(self):
        """The number of cases with each grade, and what separates them."""
        there = self.ran
        if len(there) < 2:
            return []
        if self.grade != DEPENDS:
            shares = ", ".join(f"{grade} in {k}" for grade, k in self.shares().items())
            return [f"{shares} of {len(there)} {self.combined}"]
        sides = []
        for answer in (SHOWN, SUPPORTED, MOSTLY_OPEN, EQUIVALENT, PARTLY, CONTRADICTED):
            found = sorted({tuple(_value(case, key) for key in self.keys)
                            for case in there if case.grade == answer})
            named = ["with " + " and ".join(f"{k} {v}" for k, v in zip(self.keys, row)) for row in found]
            sides += [f"{answer} {' or '.join(named)}"] if found else []
        silent = sum(case.grade in grades.SILENT for case in there)
        return sides + ([f"{NOTHING} in {silent} of {len(there)} combinations"] if silent else [])


def _value(case, key):
    return case.reading if key == READING else case.universe.get(key, "")


def decide(claim, studies):
    """Every Case of a claim, ours and the first reading first."""
    readings = readings_of(claim)
    named = sorted({s for reading in readings for s in checks.studies_in(reading["checks"])})
    cases, seen = [], {}
    for universe in studies.universes(named):
        inside = studies.within(universe)
        for reading in readings:
            signature = (reading["id"], inside.signature(reading["checks"]))
            case = Case(universe, reading["id"], [], draw=inside.picture)
            if signature in seen:
                before = cases[seen[signature]]
                case.outcomes, case.there, case.same_as = before.outcomes, before.there, seen[signature]
            else:
                seen[signature] = len(cases)
                case.outcomes = [checks.run(check, inside) for check in reading["checks"]]
                if len(case.outcomes) > 1:
                    decide_together(case.graded)
                case.there = any(o.items for o in case.outcomes) or case.grade == NOT_COMPARABLE
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
    """The cases with results; if the paper's own setting is known, only those of its universes."""
    known = {s.id: [a["id"] for a in s.alternatives if a.get("paper")] for s in settings.values()}
    return [case for case in cases if case.there
            and all(case.universe.get(key) in ids for key, ids in known.items() if ids)]


def conclude(cases, settings):
    """(grade, what it depends on) of the cases that count."""
    own = that_count(cases, settings)
    if not own:
        return NOT_RUN, ()
    found = grades.over(case.grade for case in own)
    return found, separating([case for case in own if case.grade not in grades.SILENT]) if found == DEPENDS else ()


def separating(cases):
    """The smallest sets of settings (or the reading) whose values determine the answers of the cases. If there are
    several, the cases don't say which of them matters."""
    keys = [*dict.fromkeys(key for case in cases for key in case.universe), READING]
    for size in range(1, len(keys) + 1):
        found = tuple(chosen for chosen in itertools.combinations(keys, size) if _tells(chosen, cases))
        if found:
            return found
    return (tuple(keys),)


def _tells(chosen, cases):
    told = {}
    return all(told.setdefault(tuple(_value(case, key) for key in chosen), _side(case)) == _side(case)
               for case in cases)


def _side(case):
    return SHOWN if case.grade in grades.FOR else case.grade


def evaluate(paper, claim, studies):
    """The Verdict of a claim."""
    cases = decide(claim, studies)
    if claim.get("needs") and not any(case.there for case in cases):
        missing = Outcome(f"it needs {claim['needs']}", comparable=False)
        cases = [Case(cases[0].universe, cases[0].reading, [missing])]
    named = sorted({s for reading in readings_of(claim) for s in checks.studies_in(reading["checks"])})
    mine = studies.open_settings(named)
    grade, turns_on = conclude(cases, mine)
    return Verdict(paper, str(claim["id"]), claim["where"], " ".join(str(claim["claim"]).split()), grade, cases,
                   turns_on, {r["id"]: r["because"] for r in readings_of(claim)},
                   float(claim.get("printed", np.nan)), mine, claim.get("price", ""))


def words(universe):
    """A universe as text."""
    return ", ".join(f"{key} = {value}" for key, value in universe.items()) or "as in the study file"


def combined(cases):
    """"settings", "readings", or combinations of both: what cases, pairs (universe, reading), differ in."""
    settings, readings = map(len, map(set, zip(*((tuple(universe.items()), reading) for universe, reading in cases))))
    return "readings" if settings == 1 else "settings" if readings == 1 else "combinations of setting and reading"
