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
from .sizes import bound, drop, flat, growth, mean, reach, trend, within
from ..stats.measures import TooShort


def unchecked(check, _):
    """No results can decide the statement.

    - `because`: the reason.

    {kind: unchecked, because: the code of the other program is not public}
    """
    return Outcome(check["because"], comparable=False)


KINDS = {}


def register(kind, keys, holds=(), rules=(), name=None):
    """Let claims files speak of a kind of check, with keys of which * marks the required ones; see forms.add."""
    name = name or kind.__name__
    KINDS[name] = kind
    forms.add(name, keys, dict(holds), rules)


for function, its_keys in {
    better: "who* against* on* value statistic combine at_each times versus",
    comparable: "who* against* on* factor* because* value one_sided combine",
    group: "who* against* on* value factor because combine",
    lead: "who* on* over* among metric rank share combine",
    identical: "who* against* on* column",
    within: "who* on* value low high statistic",
    mean: "who* on* value low high",
    drop: "who* on* start* end* factor* metric",
    close: "who* against* on* share* because* value one_sided combine",
    flat: "who* on* early* late* factor* because* metric",
    reach: "who* on* target by not_before metric",
    growth: "who* on* metric low high start against",
    trend: "who* on* grows* metric",
    bound: "who* on* bound* informative",
    lower_at_time: "who* against* on* crew than time statistic combine",
    earlier: "who* against* on* crew than target share statistic combine",
    equal_per_evaluation: "who* against* on* factor* because* crew than value one_sided combine",
    unchecked: "because*",
}.items():
    register(function, its_keys, name=function.__name__.replace("_", " "))
BY_TRIALS = set(KINDS) - {"identical", "reach", "unchecked"}  # kinds whose intervals need several trials to have an end


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
