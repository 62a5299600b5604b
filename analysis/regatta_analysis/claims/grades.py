"""The scale of grades, and what the comparisons of a check say together.

A comparison is shown, against, equivalent or open (or void, which counts nowhere). A check says how its comparisons
combine; what they show makes one grade. The grade says what is known now: a check is settled when every way in which
its open comparisons may still come out gives the same grade.
"""
import itertools
from dataclasses import astuple, dataclass

SHOWN, SUPPORTED, EQUIVALENT, PARTLY, DEPENDS, CONTRADICTED, MOSTLY_OPEN, NOTHING, NOT_RUN, NOT_COMPARABLE = GRADES = (
    "shown", "supported", "equivalent", "partly", "depends", "contradicted", "mostly undecided", "undecided", "not run",
    "not comparable")
AGAINST, OPEN, VOID = "against", "open", "void"  # further outcomes of comparisons, beside SHOWN and EQUIVALENT
COMBINE = ("every", "most", "any", "pooled")
MEANINGS = {  # for docs/claims.md
    SHOWN: "The results show the statement.",
    SUPPORTED: "At least half of its comparisons are shown, none is against it, and some are open; the heading says how "
               "many.",
    EQUIVALENT: "The methods differ by less than 10 %, so that neither is better.",
    PARTLY: "Some of its comparisons are shown and others are not; the heading says how many, the sentence names both.",
    DEPENDS: "It is shown under one setting or reading and not under another; the sentence names which.",
    CONTRADICTED: "The results show the opposite.",
    MOSTLY_OPEN: "Fewer than half of its comparisons are shown, none is against it, and the others are open; the heading "
                 "says how many.",
    NOTHING: "The results are compatible with the statement and with its opposite. The sentence says to which side they "
             "lean.",
    NOT_RUN: "There are no results for it.",
    NOT_COMPARABLE: "No results of ours can decide it, or the data are not public.",
}
FOR = {SHOWN, SUPPORTED, MOSTLY_OPEN}
SILENT = {NOTHING, NOT_RUN}
UNDECIDED = {NOTHING, MOSTLY_OPEN}  # grades whose sentence names the price of more trials


@dataclass(frozen=True)
class Tally:
    """The number of comparisons with each outcome."""
    shown: int = 0
    against: int = 0
    equivalent: int = 0
    open: int = 0
    void: int = 0

    @classmethod
    def of(cls, states):
        """The tally of the states of comparisons."""
        states = list(states)
        return cls(*(states.count(state) for state in (SHOWN, AGAINST, EQUIVALENT, OPEN, VOID)))

    @property
    def total(self):
        """The comparisons that are decided or may still be."""
        return self.shown + self.against + self.equivalent + self.open

    def __str__(self):
        equivalent = f"{self.equivalent} equivalent, " if self.equivalent else ""
        void = f"; {self.void} void" if self.void else ""
        return f"{self.shown} shown, {self.against} against, {equivalent}{self.open} open of {self.total}{void}"

    def __add__(self, other):
        return Tally(*map(sum, zip(astuple(self), astuple(other))))

    def completions(self, equivalent=True):
        """Every outcome that the open comparisons may have. `equivalent`: whether they may come out as equivalent."""
        for shown in range(self.open + 1):
            for ties in range(self.open - shown + 1 if equivalent else 1):
                yield Tally(self.shown + shown, self.against + self.open - shown - ties, self.equivalent + ties, 0)


def wanted(k, combine):
    """The number of k comparisons that must be shown."""
    return {"every": k, "most": k // 2 + 1, "any": 1}[combine]


def grade(tally, combine):
    """The grade of comparisons that combine as `every`, `most` or `any`."""
    if not tally.total or tally.open == tally.total:
        return NOTHING
    return {"every": _every, "most": _most, "any": _any}[combine](tally)


def supported(t):
    """The grade of comparisons of which some are shown, none is against, and others are open."""
    return SUPPORTED if 2 * t.shown >= t.total else MOSTLY_OPEN


def _every(t):
    if t.shown == t.total:
        return SHOWN
    if 2 * t.against > t.total or (t.against and not t.shown):
        return CONTRADICTED
    if t.against + t.equivalent and t.shown:
        return PARTLY
    if t.shown:
        return supported(t)
    return EQUIVALENT if 2 * t.equivalent > t.total else NOTHING


def _most(t):
    need = wanted(t.total, "most")
    if t.shown >= need:
        return SHOWN
    if t.shown + t.open >= need:
        return NOTHING if not t.shown else PARTLY if t.against else supported(t)
    if t.shown and t.against <= t.total - need:
        return PARTLY
    return CONTRADICTED if t.against >= t.equivalent else EQUIVALENT


def _any(t):
    if t.shown:
        return SHOWN
    if t.open:
        return NOTHING
    return EQUIVALENT if t.equivalent else CONTRADICTED


def possible(tally, combine, equivalent=True):
    """The grades of its completions."""
    return {grade(done, combine) for done in tally.completions(equivalent)} if tally.total else {NOTHING}


def together(grades, mixed=PARTLY):
    """The grade of checks that must all hold, or of cases; `mixed` if they disagree. If none is against, they support a
    claim where at least half of them do."""
    told = list(grades)
    found = set(told)
    if len(found) == 1:
        return found.pop()
    if NOT_COMPARABLE in found:
        return NOT_COMPARABLE
    spoken = found - SILENT
    if not spoken:
        return NOTHING
    if spoken <= FOR:
        return supported(Tally(sum(grade in (SHOWN, SUPPORTED) for grade in told), open=sum(
            grade not in (SHOWN, SUPPORTED) for grade in told)))
    return spoken.pop() if len(spoken) == 1 else mixed


def possible_together(options):
    """The grades that checks may have together. `options` has the set of possible grades of each check."""
    found = {()}
    for some in options:
        found = {tuple(sorted(set(before) | {one})) for before, one in itertools.product(found, some)}
    return {together(one) for one in found}


def over(grades):
    """The grade of a claim whose cases have these grades: DEPENDS if they disagree, else the grade on which they
    agree."""
    return together(grades, DEPENDS)
