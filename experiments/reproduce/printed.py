"""The check on numbers that a paper prints with their spread, such as seconds: rows of a table against each other."""
import numpy as np
from regatta_analysis.claims import forms
from regatta_analysis.claims.items import interval_outcome
from regatta_analysis.claims.outcome import Item, number, shortened
from regatta_analysis.claims.panels import names
from scipy import stats


def printed(check, _):
    """The printed means of `who` are at most `factor` times those of `against`; no results needed. The interval is
    Fieller's, for independent runs.

    - `rows`: the numbers, as in `tables`: each has `who` and `published: [mean, standard error]`.
    - `runs`: the number of runs behind each mean. `deviation: true`: the second numbers are standard deviations.
    - `factor`: 1 by default. Any other factor needs a reason, `because`.
    - `combine`: `every` (default), `most` or `any` of the pairs. `table`: the name of the table, for the page.

    {kind: printed, rows: [{who: EI, published: [40, 2]}, {who: GP-UCB, published: [15, 1]}], runs: 15,
     who: GP-UCB, against: EI}
    """
    known, runs = {row["who"]: row["published"] for row in check["rows"]}, int(check["runs"])
    factor = float(check.get("factor", 1.0))
    root = np.sqrt(runs) if check.get("deviation", False) else 1.0
    items = []
    for who in names(check["who"]):
        for against in names(check["against"]):
            (a, error_a), (b, error_b) = known[who], known[against]
            item = Item(check.get("table", "printed"), who, against, n=runs, units=runs, value=a / b, most=factor)
            item.enclose(lambda level, of=(a, error_a / root, b, error_b / root): ratio_interval(*of, runs, level))
            items.append(item)
    outcome = interval_outcome(items, "ratio of printed means", -np.inf, factor)
    outcome.said, outcome.combine = _text, check.get("combine", "every")
    return outcome


def ratio_interval(a, error_a, b, error_b, runs, level):
    """(low, high) of a / b of two independent means with standard errors, `level` on either side, with runs - 1 degrees
    of freedom. No end if b may be 0. Fieller, J. R. Statist. Soc. B 16 (1954) 175."""
    t = stats.t.isf(level, runs - 1)
    g = (t * error_b / b) ** 2
    if g >= 1.0:
        return -np.inf, np.inf
    ratio = a / b
    half = t / b * np.sqrt((1.0 - g) * error_a**2 + (ratio * error_b) ** 2)
    return (ratio - half) / (1.0 - g), (ratio + half) / (1.0 - g)


def _text(items):
    text = "; ".join(f"{i.a} / {i.b}: {number(i.value)} [{number(i.low)}, {number(i.high)}]" for i in shortened(items))
    return f"{text}; {items[0].n} runs each"


def is_row(row):
    """Whether a row has a name and a positive mean with an error."""
    published = row.get("published") if isinstance(row, dict) else None
    return (isinstance(published, list) and len(published) == 2 and all(map(forms.NUMBER[0], published))
            and published[0] > 0 <= published[1] and forms.TEXT[0](row.get("who")))


def _named(check):
    known = [row["who"] for row in check["rows"]]
    return all(name in known for key in ("who", "against") for name in names(check[key]))


KEYS = "rows* runs* who* against* factor because combine deviation table"
HOLDS = {"rows": (forms.list_of(is_row), "a list of {who: NAME, published: [MEAN above 0, ERROR]}"),
         "runs": (lambda n: forms.whole(n) and n > 1, "a whole number from 2 on"),
         "deviation": forms.YES_NO, "table": forms.TEXT}
RULES = ((_named, "the rows lack a name of who or against"),
         (lambda check: check.get("factor", 1) == 1 or "because" in check, "a factor needs a reason, because"),
         forms.APART)
