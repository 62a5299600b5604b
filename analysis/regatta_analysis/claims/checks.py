"""The kinds of checks that claims are made of. Each is a function of (check, studies) that returns an
Outcome (outcome.py). What a kind expects in claims.yaml stands at its function, with an example (kinds.py makes
the help and docs/claims.md of both); `on` names studies or panels (`study` or `study/problem`), `who` and
`against` algorithms by label.
"""
from .comparisons import better, close, comparable, group, identical, lead
from .computed import demonstration, density_distance, exploitation, law, optima, unchecked
from .outcome import NO, OPEN, Missing, Outcome
from .sizes import bound, drop, flat, growth, reach, trend, within
from ..load.load import InputError
from ..stats.measures import TooShort


KINDS = {f.__name__: f for f in (better, comparable, group, lead, identical, within, drop, close, flat, reach,
                                 growth, trend, bound, law, optima, exploitation, demonstration,
                                 density_distance, unchecked)}


def run(check, studies):
    """Outcome of one check; raises InputError for a check that is written wrongly."""
    kind = check.get("kind")
    if kind not in KINDS:
        raise InputError(f"unknown kind of check {kind!r} (known: {', '.join(sorted(KINDS))})")
    studies.missing.clear()
    try:
        outcome = KINDS[kind](check, studies)
    except KeyError as error:
        raise InputError(f"a check of kind {kind!r} lacks {error}") from error
    except (Missing, TooShort) as error:
        return Outcome(OPEN, str(error))
    outcome.partial = bool(studies.missing)
    if studies.missing:  # what is there may contradict a claim about all panels, never support it
        if outcome.verdict != NO or check.get("quantifier", "all") != "all":
            outcome.verdict = OPEN
        outcome.text += "; " + "; ".join(dict.fromkeys(studies.missing))
    return outcome
