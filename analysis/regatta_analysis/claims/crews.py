"""Kinds of checks that compare crews: numbers of workers and releases, by time and by evaluations.

`on` names studies, or STUDY/PROBLEM with the problem as the study file has it, whatever its workers and release are.
`crew` chooses those of `who`; `than` chooses those of `against` where they are others. What `than` leaves out is the
same on both sides."""
import numpy as np
import pandas as pd

from .comparisons import ratios, wins
from .outcome import Missing
from .panels import compared, metric_of, names, panel_on
from ..load.errors import InputError, nearest
from ..stats import clock
from ..stats.measures import TooShort, trial_values

SHARE = 0.1  # the target of `earlier`, as a share of the simple regret after the initial design


def earlier(check, studies):
    """Trials of `who` reach a target earlier than trials of `against`. Times count up to the first end of a trial of
    both that has not reached the target. A trial that has not reached the target by then counts with that time.

    - `who`, `against`, `on`: the methods and the panels.
    - `crew`, `than`: see `lower at time`.
    - `target`: the simple regret to reach; or `share` (default 0.1): a share of the median simple regret after the
      initial design.
    - `statistic`, `combine`: see `better`.

    {kind: earlier, who: EI, against: EI, on: study/Plane, crew: {workers: 4}, than: {workers: 1}, share: 0.2}
    """
    rows = []
    for family, problems, results, a, b in _pairs(check, studies):
        goal = float(check["target"]) if "target" in check else clock.target(results, problems,
                                                                             float(check.get("share", SHARE)))
        both = [clock.history(results, cell) for cell in (a, b)]
        end = min(mine.known(goal) for mine in both)
        times = [pd.Series(np.minimum(mine.first(goal), end), mine.index.droplevel("algorithm")) for mine in both]
        until = f", up to time {end:.4g}" if np.isfinite(end) else ""
        rows.append(_table(studies, family, a, b, times, f", target {goal:.3g}{until}"))
    goal = f"{check['target']:g}" if "target" in check else f"{100 * check.get('share', SHARE):g} % of that after the " \
        "initial design"
    return _wins(check, studies, rows, f"time to a simple regret of {goal}")


def lower_at_time(check, studies):
    """At a time, the simple regret of `who` is smaller than the simple regret of `against`. An evaluation counts
    when it has ended.

    - `who`, `against`, `on`: the methods and the panels.
    - `crew`: `workers` (a number or a list) and `release` (async, sync) of `who`; by default all.
    - `than`: the keys of `crew` in which `against` differs from `who`.
    - `time`: a time, or `last` (default), the last time that all trials of both reach.
    - `statistic`, `combine`: see `better`.

    {kind: lower at time, who: TS, against: TS, on: study/Plane, crew: {release: async}, than: {release: sync}}
    """
    rows = []
    for family, _, results, a, b in _pairs(check, studies):
        both = [clock.history(results, cell) for cell in (a, b)]
        last = min(mine.end for mine in both)
        time = last if check.get("time", "last") == "last" else float(check["time"])
        if time > last:
            raise TooShort(f"{family}: a trial ends at time {last:.4g}, time {time:g} is needed")
        values = [pd.Series(mine.at([time]).to_numpy()[:, 0], mine.index.droplevel("algorithm")) for mine in both]
        rows.append(_table(studies, family, a, b, values, f", time {time:.4g}"))
    when = "the last time that all trials know" if check.get("time", "last") == "last" else f"time {check['time']:g}"
    return _wins(check, studies, rows, f"simple regret at {when}")


def equal_per_evaluation(check, studies):
    """By evaluations, two crews do not differ by more than a factor.

    - `who`, `against`, `on`: the methods and the panels.
    - `crew`, `than`: see `lower at time`.
    - `value`, `factor`, `because`, `one_sided`, `combine`: see `comparable`.

    {kind: equal per evaluation, who: TS, against: TS, on: study/Plane, crew: {workers: [4, 8]}, than: {workers: 1},
      factor: 1.5, because: no wider than the spread of the figure}
    """
    found = []
    for family, _, results, a, b in _pairs(check, studies):
        value = compared(check, results, a.problem, family)
        values = [trial_values(results, cell.problem, value, [cell.algorithm]).droplevel("algorithm") for cell in (a, b)]
        found.append(_table(studies, family, a, b, values, ""))
    return ratios(check, found, ", by evaluations")


def _wins(check, studies, tables, what):
    return wins(check, studies, [(panel, both, *both.columns) for panel, both in tables], what)


def _table(studies, family, a, b, values, more):
    """(Panel, table of the values of two cells in the trials of both)."""
    columns = [f"{cell.method_label}, {cell.crew}" for cell in (a, b)]
    panel = panel_on(studies, family, a.problem, [], more)
    study = family.partition(",")[0]
    panel.cells.update({name: (study, cell.problem, cell.algorithm) for name, cell in zip(columns, (a, b))})
    return panel, pd.concat(dict(zip(columns, values)), axis=1).dropna()


def _pairs(check, studies):
    """(place, its problems, results, cell of `who`, cell of `against`) of every comparison."""
    found = []
    for place in names(check["on"]):
        study, _, problem = place.partition("/")
        results = studies.panels([study])[0][1]
        families = clock.families(results)
        if problem and problem not in families:
            if not {problem} & {*results.problems, *results.places} and not studies.plans(study, "problems", problem):
                raise InputError(f"{study}: no problem {problem!r} with a clock{nearest(problem, families)} (it has: "
                                 f"{', '.join(families)})")
            raise Missing(f"{study}: no trial of a problem {problem!r} ran on a clock")
        for name in [problem] if problem else families:
            for label in families[name] if check["kind"] != "equal per evaluation" else ():
                metric_of(results, label, "simple", f"{study}, {name}")
            found += [(f"{study}, {name}", families[name], results, *pair) for pair in
                      _within(check, clock.rows(clock.cells(results, families[name])), f"{study}, {name}", [
                          n for n in _methods(check) if n in results.algorithms or studies.plans(study, "algorithms", n)])]
    if not found:
        raise Missing(f"{', '.join(names(check['on']))}: no trial ran on a clock")
    return found


def _methods(check):
    return [*names(check["who"]), *names(check["against"])]


def _within(check, rows, where, known):
    """The pairs of cells of one problem; `known` are methods of the study, with a clock or without."""
    for name in _methods(check):
        if name not in rows and name not in known:
            raise InputError(f"{where}: no algorithm {name!r} with a clock{nearest(name, rows)} (it has: {', '.join(rows)})")
        if name not in rows:
            raise Missing(f"{where}: no complete trial of {name!r} with a clock")
    crew, than = check.get("crew", {}), check.get("than")
    found = []
    for one in names(check["who"]):
        for cell in (c for c in rows[one] if _fits(c, crew)):
            for other in names(check["against"]):
                wanted = {**{key: getattr(cell, key) for key in clock.CLOCK}, **(than or {})}
                found += [(cell, c) for c in rows[other] if _fits(c, wanted) and c != cell]
    if not found:
        raise Missing(f"{where}: nothing to compare: no trials with these workers and releases")
    return found


def _fits(cell, wanted):
    """Whether a cell has such workers and such a release; one worker has no release."""
    def has(value, given):
        return value in (given if isinstance(given, list) else [given])
    return has(cell.workers, wanted.get("workers", cell.workers)) and (
        cell.workers == 1 or not wanted.get("release") or has(cell.release, wanted["release"]))
