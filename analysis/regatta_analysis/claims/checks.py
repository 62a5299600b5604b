"""The kinds of checks that claims are made of. Each is a function of (check, studies) that returns an
Outcome (outcome.py). What a kind expects in claims.yaml stands at its function, with an example (kinds.py makes
the help and docs/claims.md of both); `on` names studies or panels (`study` or `study/problem`), `who` and
`against` algorithms by label.
"""
import numpy as np

from . import forms
from .comparisons import better, close, comparable, group, identical, lead
from .outcome import NO, NONE, OPEN, Look, Missing, Outcome
from .panels import names
from .sizes import bound, drop, flat, growth, reach, trend, within
from ..stats.measures import TooShort


def unchecked(check, _):
    """because: why no results can decide it.

    {kind: unchecked, because: the code of the other program is not public}
    """
    return Outcome(NONE, check["because"])


KINDS = {f.__name__: f for f in (better, comparable, group, lead, identical, within, drop, close, flat, reach,
                                 growth, trend, bound, unchecked)}


def register(kind, keys, holds, rules=()):
    """Let claims files speak of another kind of check; see forms.add."""
    KINDS[kind.__name__] = kind
    forms.add(kind.__name__, keys, holds, rules)


def run(check, studies):
    """Outcome of one check: of the first look that decides it, else of the last. There is a look after every stage
    of the studies (stages.py) that has more trials for it, and enough of them; a stage may give trials to some methods
    that others lack, so that no comparison has more. forms.py says what a check may say."""
    outcome, seen, look = None, None, Look()
    last = studies.stages(studies_in([check]))
    for stage in range(1, last + 1):
        then = studies.upto(stage)
        trials = then.signature([check]) if last > 1 else None
        if outcome is not None and trials == seen:
            continue
        then.look = look
        now, seen = _look(check, then), trials
        if look.before and _same_trials(now.items, look.before):
            continue
        outcome = now
        if outcome.verdict != OPEN:
            break
        if outcome.tested():
            look = Look(look.number + 1, tuple(outcome.items))
    return outcome


def _same_trials(items, before):
    """Whether these comparisons rest on the trials of those of the look before: values differ in their last digits when
    a table has more rows that do not count."""
    if len(items) != len(before):
        return False
    now, then = ([(item.n, item.value) for item in some] for some in (items, before))
    return np.allclose(np.array(now, float), np.array(then, float), rtol=1e-9, atol=0.0, equal_nan=True)


def studies_in(checks):
    """Names of the studies that checks speak of."""
    places = [place for check in checks for key in ("on", "versus") for place in names(check.get(key, []))]
    return {name.partition("/")[0] for name in places}


def _look(check, studies):
    studies.missing.clear()
    try:
        outcome = KINDS[check["kind"]](check, studies)
    except (Missing, TooShort) as error:
        return Outcome(OPEN, str(error), look=studies.look.number)
    outcome.partial, outcome.look = bool(studies.missing), max(studies.look.number, outcome.look)
    if studies.missing:  # what is there may contradict a claim about all panels, never support it
        if outcome.verdict != NO or check.get("quantifier", "all") != "all":
            outcome.verdict = OPEN
        outcome.text += "; " + "; ".join(dict.fromkeys(studies.missing))
    return outcome
