"""What can be claimed, for readers: `regatta_analysis claims --help KIND` and docs/claims.md, from the
docstrings of the kinds."""
import inspect
import textwrap

from ..escape import code_block
from ..stats.measures import trial_values
from ..stats.regret import METRICS
from ..load.errors import InputError
from . import checks

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
list of both; `who` and `against` name algorithms by label. A verdict is *reproduced*, *not reproduced*, *near
tie* (no difference worth the name), *undecided* (too few trials to tell), *depends* (on a setting or a reading)
or *not checkable*; a check is decided wrongly with a probability of at most 5% ([Statistics](statistics.md)). A claim
on results that not everybody can have says what they take (`needs: measurements that are not public`): without them
it is not checkable.
"""


def page():
    """docs/claims.md."""
    parts = [HEAD, "## `value`\n\n" + _value(), "## Kinds\n"]
    for kind in checks.KINDS:
        words, example = described(kind)
        parts.append("\n".join([f"### {kind}", "", words, "", *code_block(f"- {example}", "yaml"), ""]))
    return "\n".join(parts).rstrip() + "\n"


def describe(kind):
    """What one kind expects, and an example; of `all` the whole page. Raises InputError."""
    if kind == "all":
        return page().rstrip()
    words, example = described(kind)
    text = f"{kind}: {words}\n\nExample:\n    - {example}"
    return text + (f"\n\nvalue: {_value()}" if "value" in words else "")


def described(kind):
    """The words and the example of a kind."""
    if kind not in checks.KINDS:
        raise InputError(f"unknown kind of check {kind!r} (known: {', '.join(checks.KINDS)}; all)")
    words, _, example = inspect.getdoc(checks.KINDS[kind]).rpartition("\n\n")
    return words, example.strip()


def _value():
    """What `value` may hold."""
    text = inspect.getdoc(trial_values).partition("`value` has the keys\n\n")[2]
    text = text.replace("see `value_curves`", "one of those below (default `simple`)")
    metrics = (f"Metrics: {', '.join(f'`{name}`' for name in METRICS)}; `cpu` and `wall` (seconds of model and "
               "acquisition so far), `cumulative_reward` and `cumulative_expected_reward` (sums over the "
               "queries), or any column of the results file.")
    return f"{text}\n\n{textwrap.fill(metrics, 110)}\n"
