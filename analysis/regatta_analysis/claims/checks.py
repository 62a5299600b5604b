"""The kinds of checks that claims are made of. Each is a function of (check, studies) that returns an
Outcome (outcome.py). The description of a kind in claims.yaml stands at its function, with an example (kinds.py makes
the help and docs/claims.md of both); `on` names studies or panels (`study` or `study/problem`), `who` and
`against` algorithms by label.
"""
from . import forms
from .comparisons import better, close, comparable, group, identical, lead
from .crews import earlier, equal_per_evaluation, lower_at_time
from .outcome import Missing, Outcome
from .panels import names
from .sizes import bound, drop, flat, growth, reach, trend, within
from ..stats.measures import TooShort


def unchecked(check, _):
    """No results can decide the statement.

    - `because`: the reason.

    {kind: unchecked, because: the code of the other program is not public}
    """
    return Outcome(check["because"], comparable=False)


KINDS = {f.__name__.replace("_", " "): f for f in (
    better, comparable, group, lead, identical, within, drop, close, flat, reach, growth, trend, bound, lower_at_time,
    earlier, equal_per_evaluation, unchecked)}


def register(kind, keys, holds, rules=()):
    """Let claims files speak of another kind of check; see forms.add."""
    KINDS[kind.__name__] = kind
    forms.add(kind.__name__, keys, holds, rules)


def run(check, studies):
    """Outcome of one check. forms.py says what a check may say."""
    studies.missing.clear()
    try:
        outcome = KINDS[check["kind"]](check, studies)
    except (Missing, TooShort) as error:
        return Outcome(str(error))
    outcome.partial, outcome.lacks = bool(studies.missing), tuple(dict.fromkeys(studies.missing))
    outcome.decide()
    if outcome.items and not any(item.n for item in outcome.items):
        return Outcome("no trial has a value of what is compared", outcome.method)
    return outcome


def places_of(check):
    """The studies and problems that a check speaks of."""
    return [place for key in ("on", "versus") for place in names(check.get(key, []))]


def studies_in(checks):
    """Names of the studies that checks speak of."""
    return {place.partition("/")[0] for check in checks for place in places_of(check)}
