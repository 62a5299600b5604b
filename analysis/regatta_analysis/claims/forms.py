"""The form of a check: the keys of its kind, and the values that each of them takes. A claims file is compared with
this form when it is read, before there are any results."""
from .grades import COMBINE
from ..load.errors import InputError, nearest
from ..stats.price import price_of

KINDS = {}  # {kind: its keys}, which `add` fills
SINGLE = {("lead", "who"), ("identical", "who"), ("identical", "against"), ("growth", "against")}


def _text(x):
    return isinstance(x, str) and bool(x.strip())


def _texts(x):
    return _text(x) or (isinstance(x, list) and bool(x) and all(map(_text, x)))


def _number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def whole(x):
    return isinstance(x, int) and not isinstance(x, bool) and x >= 0


def list_of(each):
    return lambda x: isinstance(x, list) and bool(x) and all(map(each, x))


def _crew(x):
    return isinstance(x, dict) and bool(x) and set(x) <= {"workers", "release"} and (
        _several(x.get("workers", 1), lambda w: whole(w) and w > 0)) and _several(
        x.get("release", "sync"), lambda r: r in ("async", "sync"))


def _several(x, each):
    return list_of(each)(x) if isinstance(x, list) else each(x)


def _query(x):
    return whole(x) or x == "last"


TEXT, TEXTS, NUMBER = (_text, "a text"), (_texts, "a name or a list of names"), (_number, "a number")
QUERY, COUNT = (_query, "a query, or last"), (lambda x: whole(x) and x > 0, "a whole number from 1 on")
QUERIES = (lambda x: isinstance(x, list) and len(x) == 2 and whole(x[0]) and _query(x[1]) and
           (x[1] == "last" or x[0] <= x[1]), "[first, last] queries")
FACTOR, YES_NO = (lambda x: _number(x) and x > 0, "a number above 0"), (lambda x: isinstance(x, bool), "true or false")
SHARE = (lambda x: _number(x) and 0 < x <= 1, "a number above 0, at most 1")
HOLDS = {
    **dict.fromkeys(("who", "against", "on", "among"), TEXTS),
    **dict.fromkeys(("versus", "metric", "column", "because", "bound"), TEXT),
    **dict.fromkeys(("low", "high", "target", "hit"), NUMBER),
    **dict.fromkeys(("over", "early", "late"), QUERIES), **dict.fromkeys(("start", "end", "at"), QUERY),
    **dict.fromkeys(("by", "not_before", "rank"), COUNT),
    **dict.fromkeys(("one_sided", "grows", "log", "informative"), YES_NO), "factor": FACTOR, "share": SHARE,
    **dict.fromkeys(("crew", "than"), (_crew, "a mapping such as {workers: [4, 8], release: async}")),
    "time": (lambda x: x == "last" or _number(x) and x > 0, "a number above 0, or last"),
    "statistic": (lambda x: x in ("mean", "median"), "mean or median"),
    "combine": (lambda x: x in COMBINE, "every, most, any or pooled"), "sense": (lambda x: x == "max", "max"),
    "at_each": (list_of(_query), "a list of queries"), "times": (list_of(FACTOR[0]), "a list of numbers above 0"),
}
VALUE = "metric at over log hit sense"


def require(check):
    """Raises InputError for a check that does not fit the form of its kind."""
    kind = check.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"unknown kind of check {kind!r}{nearest(kind, KINDS)} (known: {', '.join(KINDS)})")
    _keys(kind, {key: value for key, value in check.items() if key != "kind"}, KINDS[kind])
    wrong = next((words for holds, words in RULES.get(kind, ()) if not holds(check)), None)
    if wrong:
        raise InputError(f"{kind}: {wrong}")


def _keys(kind, data, known):
    allowed = known.replace("*", "").split()
    for key in known.split():
        if key.endswith("*") and key[:-1] not in data:
            raise InputError(f"{kind} lacks {key[:-1]!r}")
    for key, value in data.items():
        if key not in allowed:
            raise InputError(f"{kind}: unknown key {key!r}{nearest(key, allowed)} (known: {', '.join(allowed)})")
        if key == "value":
            if not isinstance(value, dict):
                raise InputError(f"{kind}: value is a mapping such as {{metric: simple, at: 20}}, not {value!r}")
            _keys(f"{kind}, value", value, VALUE)
            continue
        holds, words = TEXT if (kind, key) in SINGLE else HOLDS.get((kind, key)) or HOLDS[key]
        if not holds(value):
            raise InputError(f"{kind}: {key} is {words}, not {value!r}")


def _some(*keys):
    return lambda check: any(key in check for key in keys), f"needs {' or '.join(keys)}"


def ordered(low, high):
    return (lambda check: low not in check or high not in check or check[low] <= check[high],
            f"{low} is above {high}")


APART = (lambda check: check.get("combine") != "pooled", "pooled is for better")
LESS = (lambda check: check.get("value", {}).get("sense") != "max", "takes values of which less is better")
MARGIN = (lambda check: check.get("one_sided", False) or check["factor"] >= 1, "factor is below 1")
RULES = {
    "comparable": (LESS, MARGIN, APART), "close": (APART,), "lead": (APART,), "flat": (MARGIN,),
    **dict.fromkeys(("within", "mean"), (_some("low", "high"), ordered("low", "high"))),
    "equal per evaluation": (LESS, MARGIN, APART),
    "earlier": ((lambda check: "target" not in check or "share" not in check, "takes target or share"),),
    "group": ((lambda check: check.get("factor", 1) == 1 or "because" in check, "a factor needs a reason, because"), APART),
    "reach": ((lambda check: ("by" in check) != ("not_before" in check), "needs by or not_before"),),
    "growth": (_some("low", "high", "against"), ordered("low", "high"),
               (lambda check: check.get("start") != "last", "start is a query before the last")),
}


FIXED = {"lead", "growth", "trend", "mean"}  # kinds for a number of trials that was fixed beforehand
REGRETS = {"simple", "cumulative", "instantaneous", "average"}
DEFAULTS = {"flat": "instantaneous", "growth": "cumulative", "bound": "cumulative", "lower at time": "simple",
            "earlier": "simple"}  # metrics of kinds that do not turn to the best value where there is no optimum


def needs_optimum(check):
    """Whether a check is about regret, whatever the problem."""
    metric = check.get("metric", check.get("value", {}).get("metric", DEFAULTS.get(check["kind"])))
    return metric in REGRETS or metric is not None and price_of(metric) is not None


def add(kind, keys, holds, rules):
    """Add a kind: its keys (* marks required ones), the values of keys that no other kind has or that mean something
    else here, and its rules."""
    KINDS[kind] = keys
    for key, value in holds.items():
        HOLDS.setdefault(key, value)
        HOLDS[kind, key] = value
    if rules:
        RULES[kind] = rules
