"""The kinds of claims, for readers: `regatta_analysis claims --help KIND` and docs/claims.md, from the docstrings of
the kinds."""
import inspect
import re
import textwrap
from pathlib import Path

from ..escape import code_block
from ..stats.measures import trial_values
from ..stats.regret import METRICS
from ..load.errors import InputError, nearest
from . import checks
from .grades import MEANINGS

HEAD = Path(__file__).with_name("page.md")  # the page without the kinds
SHARED = re.compile(r"^- `who`.*\n", re.M)  # what the page says once for all kinds
KINDS = """## Kinds

`who` and `against` are the methods, `on` the panels, and `value` (or `metric`) is the compared value.
"""


def page():
    """The text of docs/claims.md."""
    table = "".join(f"| **{name}** | {words} |\n" for name, words in MEANINGS.items())
    head = HEAD.read_text(encoding="utf-8").replace("@GRADES@\n", f"| grade | when |\n|---|---|\n{table}\n")
    parts = [head, "## `value`\n\n" + _value(), KINDS]
    for kind in checks.KINDS:
        words, example = described(kind)
        words = SHARED.sub("", words + "\n").rstrip()
        parts.append("\n".join([f"### {kind}", "", words, "", *code_block(f"- {example}", "yaml"), ""]))
    return "\n".join(parts).rstrip() + "\n"


def describe(kind):
    """The text of one kind with an example; for `all` the whole page. Raises InputError."""
    if kind == "all":
        return page().rstrip()
    words, example = described(kind)
    text = f"{kind}: {words}\n\nExample:\n    - {example}"
    return text + (f"\n\nvalue: {_value()}" if "value" in words else "")


def described(kind):
    """The words and the example of a kind."""
    if kind not in checks.KINDS:
        raise InputError(f"unknown kind of check {kind!r}{nearest(kind, checks.KINDS)} (known: {', '.join(checks.KINDS)}; all)")
    words, _, example = inspect.getdoc(checks.KINDS[kind]).rpartition("\n\n")
    return words, example.strip()


def _value():
    """The keys of `value`."""
    text = inspect.getdoc(trial_values).partition("`value` has the keys\n\n")[2]
    text = text.replace("see `value_curves`", "one of the metrics below (default `simple`)")
    metrics = (f"Metrics: {', '.join(f'`{name}`' for name in METRICS)}; `cpu` and `wall` (seconds of model and "
               "acquisition so far), `cumulative_reward` and `cumulative_expected_reward` (sums over the "
               "queries, and with `count_initial` over the initial design too, as `cumulative`), `pending_distance` (to the nearest query in flight, in units of the ranges of the "
               "coordinates), `cost_adjusted(PRICE)` (simple regret plus PRICE times the cost of the queries so far: their "
               "duration, or 1 each without a clock), or any column of the results file. `best` has the sign of the user's program or file: "
               "with `goal: minimise` less is better, without `sense`. Columns and sums belong to the values that "
               "Regatta maximises.")
    return f"{text}\n\n{textwrap.fill(metrics, 110)}\n"
