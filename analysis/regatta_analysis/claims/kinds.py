"""The kinds of claims, for readers: `regatta_analysis claims --help KIND` and docs/claims.md, from the docstrings of
the kinds."""
import inspect
import textwrap

from ..escape import code_block
from ..stats.measures import trial_values
from ..stats.regret import METRICS
from ..load.errors import InputError, nearest
from . import checks
from .grades import MEANINGS

HEAD = """# Claims

Statements that a study is to decide are data: a `claims.yaml` beside the study file (or beside the results),
decided by `./run.sh report` on the page of the study, and by `regatta_analysis claims RESULTS...` in a
terminal. This page is what `regatta_analysis claims --help all` prints.

```yaml
claims:
  - id: C1                       # what the page calls it
    where: Sec. 4                # where it is said
    claim: EI beats random search on every problem.
    checks:                      # all of them must hold
      - {kind: better, who: ei, against: random, on: my_first_study}
  - id: C2
    where: Fig. 2
    claim: Overall, EI outperforms UCB.
    checks:
      - {kind: better, who: ei, against: GP-UCB, on: my_first_study, combine: pooled}
  - id: C3
    where: Fig. 2
    claim: UCB is as good as EI.
    readings:                    # a sentence that can be meant in several ways
      - id: final
        because: the figure ends there
        checks: [{kind: comparable, who: GP-UCB, against: ei, on: my_first_study, factor: 1.1,
                  because: a line's width of the figure}]
      - id: sum
        because: regret is what the paper bounds
        checks: [{kind: better, who: GP-UCB, against: ei, on: my_first_study, value: {metric: cumulative}}]
```

`on` names a study (the name of its results file without `.h5`) or one of its problems, `STUDY/PROBLEM`, or a
list of both; `who` and `against` name algorithms by label. A claim on results that not everybody can have says what
they take (`needs: measurements that are not public`): without them it is not comparable. `sentence` may quote the
source in few words.

## Comparisons

A check makes comparisons: one for each pair of methods on each panel. A panel is a problem of a study, or one of
several queries. A comparison rests on trials that are paired by instance and seed. It has an effect (the typical ratio
of the paired values), a 95 % confidence sequence of this effect, and the probabilities that the first method is better,
equivalent or worse. Methods whose values differ by less than 10 % are equivalent. A confidence sequence is an interval
that stays valid however often one looks and whenever one stops ([Statistics](statistics.md)). A comparison is

* **shown** when the sequence lies on the side of the statement,
* **against** when it lies on the other side,
* **equivalent** when it lies inside the region of 10 % (`better` only),
* **open** otherwise,
* **void** when all values of both methods are equal, for example where every trial has found the optimum. A void
  comparison counts nowhere: compare a mean over queries (`over`) or the time to a target (`hit`) instead.

## How comparisons combine

`combine` follows the sentence of the claim:

| the sentence says | write |
|---|---|
| "on every problem", "always", "all" | `combine: every` (the default) |
| "overall", "on average", "outperforms" | `combine: pooled`: one effect over all comparisons, each panel with the same weight |
| "in most cases" | `combine: most`: more than half |
| "competitive" | `comparable` with `one_sided: true` and `combine: most`: not inferior by more than the factor, in most |
| "on some problem", "can be better" | `combine: any` |

## Grades

A claim has one grade, and always the count of the comparisons behind it, "15 shown, 0 against, 1 equivalent, 0 open of
16". A claim with several checks holds when all of them do. With several readings (or settings, where a study was run
under several) every combination has its own grade; `depends` names what separates them.

@GRADES@
A claim is settled when its grade is the same in whatever way its open comparisons may still come out;
`./run.sh study FILE --until-decided` then adds no more trials for it.
"""


def page():
    """The text of docs/claims.md."""
    table = "".join(f"| **{name}** | {words} |\n" for name, words in MEANINGS.items())
    parts = [HEAD.replace("@GRADES@\n", f"| grade | when |\n|---|---|\n{table}\n"), "## `value`\n\n" + _value(), "## Kinds\n"]
    for kind in checks.KINDS:
        words, example = described(kind)
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
    text = text.replace("see `value_curves`", "one of those below (default `simple`)")
    metrics = (f"Metrics: {', '.join(f'`{name}`' for name in METRICS)}; `cpu` and `wall` (seconds of model and "
               "acquisition so far), `cumulative_reward` and `cumulative_expected_reward` (sums over the "
               "queries), `pending_distance` (to the nearest query in flight, in units of the ranges of the "
               "coordinates), or any column of the results file. `best` has the sign of the user's program or file: of "
               "`goal: minimise` less is better, without `sense`; columns and sums are of what Regatta maximises.")
    return f"{text}\n\n{textwrap.fill(metrics, 110)}\n"
