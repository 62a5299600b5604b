"""The kinds of checks that claims are made of. Each is a function of (check, studies) that returns an
Outcome. What a kind expects in claims.yaml stands at its function, with an example (kinds.py makes the help
and docs/claims.md of both); `on` names studies or panels (`study` or
`study/problem`), `who` and `against` algorithms by label.

A check is a list of items (one comparison on one panel) and a quantifier. An item says how unlikely the data
are if it did not hold, and if it did; judge.py has the tests. Reproduced or not reproduced when the data
speak clearly for or against; a tie when they show that there is no difference worth the name; undecided
when they do neither, or when there are fewer than judge.MIN_UNITS trials.
"""
import functools
import zlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from . import demonstrations, judge
from ..figures import bounds, illustrations, laws
from ..stats import comparison, density_error
from ..stats.growth import exponents
from ..load.load import InputError
from ..stats.measures import TooShort, at, part, regret_at_time, trial_values, value_curves
from ..stats.regret import curves

YES, NO, OPEN, TIE = "reproduced", "not reproduced", "undecided", "near tie"
NONE = "not checkable"
EXPERIMENTS = 1000  # draws of the paper's experiment behind P(picture)


@dataclass
class Item:
    """One statement on one panel: trials and independent units behind it, p values that it holds, fails,
    is a tie; the value with its interval and the borders within which the statement is true; in which
    experiments of the paper's size it shows; and the units that would decide it."""
    where: str
    a: str = ""
    b: str = ""
    n: int = 0
    units: int = 0
    holds: float = 1.0
    fails: float = 1.0
    tied: float = 1.0
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    least: float = -np.inf
    most: float = np.inf
    shown: np.ndarray = None
    needed: float = np.nan
    more: dict = field(default_factory=dict)
    verdict: str = OPEN
    strict: bool = False  # the border itself does not make the statement true
    def trials(self):
        """Trials that would decide it; infinite when that is not known."""
        needed = self.needed * self.n / max(self.units, 1)
        return needed if needed == needed else np.inf
    def true(self):
        """Whether the statement is true of the trials there are."""
        return self.least <= self.value <= self.most and not (self.strict and self.value == self.most)

    def row(self):
        """What a reader of the JSON gets."""
        return {"where": self.where, "a": self.a, "b": self.b, "n": self.n, "units": self.units,
                "value": self.value, "low": self.low, "high": self.high, "p": self.holds,
                "p_against": self.fails, "verdict": self.verdict, "needed": self.needed, **self.more}


@dataclass
class Outcome:
    """Verdict of a check, a line that says why, how it was decided, and the items behind it."""
    verdict: str
    text: str
    method: str = ""
    items: list = field(default_factory=list)
    quantifier: str = "all"
    partial: bool = False  # some panels have no results

    @property
    def rows(self):
        return [item.row() for item in self.items]

    def shown(self):
        """In which experiments of the paper's size the check is true; None when that is not known."""
        draws = [item.shown for item in self.items]
        if not draws or self.partial or any(d is None for d in draws):
            return None
        return np.sum(draws, axis=0) >= judge.wanted(len(draws), self.quantifier)

    def needed(self):
        """Trials after which the check would be decided the way the values point: of the open items as many
        as the quantifier still lacks, those that need fewest; NaN when nothing is open."""
        k, verdicts = len(self.items), [item.verdict for item in self.items]
        lacking = judge.wanted(k, self.quantifier) - verdicts.count(YES) if k else 0
        found = sorted(item.trials() for item in self.items if item.verdict == OPEN and item.true())
        if lacking > len(found):  # it points to the opposite
            lacking = k - judge.wanted(k, self.quantifier) + 1 - verdicts.count(NO)
            found = sorted(item.trials() for item in self.items if item.verdict == OPEN and not item.true())
        return found[lacking - 1] if 0 < lacking <= len(found) else np.nan


class Missing(Exception):
    """Results that a check needs and that are not there."""


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


def decided(items, quantifier="all"):
    """The verdict of items together; sets those of the items."""
    if quantifier not in ("all", "most", "any"):
        raise InputError(f"quantifier {quantifier!r}: all, most or any")
    for item in items:
        enough = item.units >= judge.MIN_UNITS
        item.verdict = (OPEN if not enough else YES if item.holds <= judge.LEVEL else
                        NO if item.fails <= judge.LEVEL else TIE if item.tied <= judge.LEVEL else OPEN)
    if any(item.units < judge.MIN_UNITS for item in items):
        return OPEN
    holds, fails = judge.quantified([i.holds for i in items], [i.fails for i in items], quantifier)
    if holds <= judge.LEVEL:
        return YES
    if fails <= judge.LEVEL:
        return NO
    return TIE if TIE in {i.verdict for i in items} and not OPEN in {i.verdict for i in items} else OPEN


# ---- comparisons -------------------------------------------------------------------------------


def better(check, studies):
    """who, against, on, value (what is compared), statistic: mean (default) | median;
    quantifier: all | most | any of the pairs on all panels (default all); at_each: several queries t;
    times: shares of the CPU time of the fastest; versus: one panel on which `against` is taken (default:
    the same). The statistic of `who` is smaller.

    {kind: better, who: EI, against: [Random, GP-UCB], on: study, value: {metric: simple, at: 20}, quantifier: most}
    """
    statistic, items = _statistic(check), []
    for panel, table, pairs in _tables(check, studies):
        items += [_better_item(panel, table, a, b, statistic) for a, b in pairs]
    if not items:
        raise Missing("nothing to compare")
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    return Outcome(verdict, _pairs_text(items, verdict), _pairs_method(check, quantifier, statistic), items,
                   quantifier)


def _better_item(panel, table, a, b, statistic):
    both = table[[a, b]].dropna()
    item, data = _item(panel, both, a, b), both.to_numpy(float)
    units = _units(both)
    d = units[:, 0] - units[:, 1]
    scale = abs(_centre(data[:, 1], statistic)) if len(data) else np.nan
    drawn = judge.centres(data, panel.experiments(both.index), statistic) if len(data) else None
    item.shown = drawn[:, 0] < drawn[:, 1] if len(data) else None
    item.most, item.strict = 0.0, True
    if len(units) > 1 and statistic == "mean":
        item.holds, item.fails = map(float, judge.mean_below(d))
        item.tied = max(float(judge.mean_below(d - judge.TIE * scale)[0]),
                        float(judge.mean_below(-d - judge.TIE * scale)[0]))
        item.low, item.high = judge.mean_interval(d)
    elif len(units) > 1:
        gap = _medians(both)
        item.holds, item.fails = map(float, judge.inside(gap, -np.inf, 0.0, len(units)))
        item.tied = float(judge.inside(gap, -judge.TIE * scale, judge.TIE * scale, len(units))[0])
        item.low, item.high = judge.drawn_interval(gap, len(units))
    if len(d) and not np.any(d):
        item.holds = item.fails = 1.0
        item.tied = 0.5**len(d)
    item.value = _centre(data[:, 0], statistic) - _centre(data[:, 1], statistic) if len(data) else np.nan
    item.value, item.low, item.high = (_over(x, scale) for x in (item.value, item.low, item.high))
    item.needed = judge.needed(d)
    centre = [_centre(column, statistic) for column in data.T] if len(data) else [np.nan, np.nan]
    found = next(comparison.compare(table, [(a, b)], "less").itertuples())
    item.more = {"mean_a": centre[0], "mean_b": centre[1], "difference": centre[0] - centre[1],
                 "rank_p": found.p, "superiority": found.superiority}
    return item


def _over(value, scale):
    """The value as a share of the scale, where there is one."""
    return value / scale if scale else np.sign(value) * np.inf if value else 0.0


@dataclass
class Panel:
    """A problem of a study, and how large the paper's experiment was."""
    where: str
    size: dict

    def experiments(self, index):
        """Weights of experiments of the paper's size over trials of this index: the same for equal ones,
        so that comparisons on a panel are made on the same trials."""
        code = zlib.crc32(self.where.partition(", t = ")[0].partition(", CPU")[0].encode())
        return _experiments(tuple(index.get_level_values("instance")),
                            tuple(sorted((self.size or {}).items())), code)


@functools.lru_cache(maxsize=64)
def _experiments(instances, size, code):
    return judge.experiments(instances, dict(size), EXPERIMENTS, code)


def _tables(check, studies):
    """(panel, table of values per trial, pairs) of every panel and point in time."""
    who, against = names(check["who"]), names(check["against"])
    pairs = [(a, b) for a in who for b in against if a != b or "versus" in check]
    for where, results, problem in studies.panels(check["on"]):
        known, size = list(dict.fromkeys([*who, *against])), studies.size(where)
        if "versus" in check:
            table = _across(check, studies, results, problem, who, against)
            yield Panel(where, size), table, [(f"{a} here", f"{b} there") for a, b in pairs]
            continue
        _require(results, problem, known, where)
        if "times" in check:
            frame = regret_at_time(results, problem, check["times"])
            for share, (time, series) in zip(check["times"], frame.items()):
                table = comparison.paired(series)[known]
                yield Panel(f"{where}, CPU time {time:.3g} s", size), table, pairs
            continue
        for t in check.get("at_each", [None]):
            value = dict(check.get("value", {})) | ({} if t is None else {"at": t})
            table = comparison.paired(trial_values(results, problem, value, known))[known]
            yield Panel(where if t is None else f"{where}, t = {t}", size), table, pairs


def _across(check, studies, results, problem, who, against):
    """Table of values on two panels, paired by instance and seed."""
    (where, other, there), = studies.panels([check["versus"]])
    _require(other, there, against, where)
    value = check.get("value", {})
    here = comparison.paired(trial_values(results, problem, value, who))[who]
    there = comparison.paired(trial_values(other, there, value, against))[against]
    return pd.concat([here.add_suffix(" here"), there.add_suffix(" there")], axis=1)


def _pairs_text(items, verdict):
    yes, no, tie = (sum(i.verdict == v for i in items) for v in (YES, NO, TIE))
    n, least = len(items), min(i.n for i in items)
    text = f"{yes} of {n} comparisons hold, {no} are contradicted, {tie} tie, {n - yes - no - tie} open; "
    text += f"{least} common trials" if least == max(i.n for i in items) else f"at least {least} trials"
    worst = max(items, key=lambda i: i.holds)
    if np.isfinite(worst.more["mean_a"]):
        text += (f"; weakest: {worst.a} vs {worst.b} ({worst.where}): "
                 f"{_n(worst.more['mean_a'])} against {_n(worst.more['mean_b'])}, p = {_n(worst.holds)}, "
                 f"P(better) = {worst.more['superiority']:.2f} (ranks: p = {_n(worst.more['rank_p'])})")
    return text


def _pairs_method(check, quantifier, statistic):
    value = describe_value(check.get("value", {}))
    if "times" in check:
        value = "simple regret at equal CPU time"
    if "at_each" in check:
        value += " at " + ", ".join(f"t = {t}" for t in check["at_each"])
    return (f"{statistic} of {value} is smaller in {quantifier} pairs; paired bootstrap over "
            "instances and seeds; drawn is the difference as a share of the other's")


def comparable(check, studies):
    """who, against, on, value, factor, because: the ratio of means lies within [1/factor, factor], a margin
    that needs a reason; one_sided: true: it is at most the factor; quantifier as in `better`.

    {kind: comparable, who: EI, against: GP-UCB, on: study, value: {metric: cumulative}, factor: 1.1,
      because: closer than that the curves overlap}
    """
    factor, items = float(check["factor"]), []
    if not str(check["because"]).strip() or check.get("value", {}).get("sense") == "max":
        raise InputError("comparable: a margin needs a reason, and values of which less is better")
    for panel, table, pairs in _tables(check, studies):
        for a, b in pairs:
            both = table[[a, b]].dropna()
            item, data = _item(panel, both, a, b), both.to_numpy(float)
            signs = np.array([[1.0, -factor], [-factor, 1.0]])[:1 if check.get("one_sided") else 2]
            _contrasts(item, panel, both, signs)
            item.value, item.low, item.high = _ratio(data, _units(both))
            item.least, item.most = 0.0 if check.get("one_sided") else 1.0 / factor, factor
            items.append(item)
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.a} / {i.b} ({i.where}): {_n(i.value)} [{_n(i.low)}, {_n(i.high)}]"
                     for i in _shortened(items))
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: ratio of means "
                   f"{'at most' if check.get('one_sided') else 'within a factor'} {factor:g} "
                   f"({check['because']})", items, quantifier)


def _contrasts(item, panel, frame, signs, offset=0.0):
    """Decide that the means of frame @ signs + offset are all at most 0."""
    units, signs = _units(frame), np.atleast_2d(signs)
    if len(units) > 1:
        d = units @ signs.T + offset
        found = [judge.mean_below(column) for column in d.T]
        zero = [not np.any(column) for column in d.T]  # equal, which the border allows
        item.holds = max(0.5**len(d) if z else float(f[0]) for f, z in zip(found, zero))
        item.fails = min(1.0, len(found) * min(float(f[1]) for f in found))
        item.needed = max(judge.needed(column) for column in d.T)
    if len(frame):
        drawn = judge.centres(frame.to_numpy(float), panel.experiments(frame.index))
        item.shown = np.all(drawn @ signs.T + offset <= 0.0, axis=1)


def _ratio(data, units):
    """Ratio of the means of two columns with its interval; 1 where both are equal."""
    if len(units) < 2:
        return np.nan, np.nan, np.nan
    means = judge.weights(len(units)) @ units
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.where(means[:, 0] == means[:, 1], 1.0, means[:, 0] / means[:, 1])
        centre = data.mean(axis=0)
        value = 1.0 if centre[0] == centre[1] else centre[0] / centre[1]
    return (value, *judge.drawn_interval(drawn, len(units)))


def group(check, studies):
    """who, against, on, value, factor (default 1): on every panel the least mean of `who` is at most
    `factor` times that of `against`; a factor needs `because`, a reason.

    {kind: group, who: [EI, GP-UCB], against: Random, on: study, value: {metric: cumulative}}
    """
    factor, items = float(check.get("factor", 1.0)), []
    if factor != 1.0 and not check.get("because"):
        raise InputError("group: a margin needs a reason ('because')")
    who, against = names(check["who"]), names(check["against"])
    for panel, table, _ in _tables(check, studies):
        table = table[[*who, *against]].dropna()
        units, data = _units(table), table.to_numpy(float)
        k = len(who)
        means = data.mean(axis=0)
        item = _item(panel, table, who[int(np.argmin(means[:k]))], against[int(np.argmin(means[k:]))])
        if len(units) > 1:
            pairs = [[judge.mean_below(units[:, i] - factor * units[:, j]) for j in range(k, k + len(against))]
                     for i in range(k)]
            below = np.array([[float(p[0]) for p in row] for row in pairs])
            above = np.array([[float(p[1]) for p in row] for row in pairs])
            item.holds = min(1.0, k * below.max(axis=1).min())
            item.fails = min(1.0, len(against) * above.max(axis=0).min())
        drawn = judge.centres(data, panel.experiments(table.index))
        item.shown = drawn[:, :k].min(axis=1) <= factor * drawn[:, k:].min(axis=1)
        best = np.column_stack([data[:, who.index(item.a)], data[:, k + against.index(item.b)]])
        item.value, item.low, item.high = _ratio(best, _units(table[[item.a, item.b]]))
        item.most = factor
        item.needed = judge.needed(_units(table[[item.a, item.b]]) @ [1.0, -factor])
        item.more = {"mean_a": best[:, 0].mean(), "mean_b": best[:, 1].mean()}
        items.append(item)
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.where}: {i.a} {_n(i.more['mean_a'])} against {i.b} {_n(i.more['mean_b'])}"
                     for i in _shortened(items, 8))
    margin = f" times {factor:g} ({check['because']})" if factor != 1.0 else ""
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: least mean of "
                   f"{', '.join(who)} at most the least of the others{margin}", items, quantifier)


def lead(check, studies):
    """who, among (default: all methods of the panel), on, metric, over: [first, last], rank (1: the
    best), share: `who` is among the first `rank` by mean in at least this share of the queries.

    {kind: lead, who: EI, among: [EI, GP-UCB, Random], on: study/Plane, metric: simple, over: [10, 20], share: 0.9}
    """
    who, rank, share = check["who"], int(check.get("rank", 1)), float(check.get("share", 0.5))
    items = []
    for where, results, problem in studies.panels(check["on"]):
        among = names(check["among"]) if "among" in check else present(results, problem)
        _require(results, problem, [who, *among], where)
        frame = part(value_curves(results, problem, check.get("metric", "simple")), check["over"])
        methods = list(dict.fromkeys([who, *among]))
        cells = [frame.xs(a, level="algorithm") for a in methods]
        common = _common(cells)
        if not len(common):
            raise Missing(f"{where}: no common trials yet")
        items.append(_lead_item(Panel(where, studies.size(where)), methods,
                                [cell.loc[common] for cell in cells], rank, share))
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.where}: in {100 * i.value:.0f}% of the queries "
                     f"[{100 * i.low:.0f}, {100 * i.high:.0f}]" for i in _shortened(items))
    place = "the smallest" if rank == 1 else f"among the {rank} smallest"
    first, last = check["over"]
    return Outcome(verdict, f"{text}; {min(i.n for i in items)} trials",
                   f"mean {METRIC_WORDS.get(check.get('metric', 'simple'), check.get('metric'))} "
                   f"{place} in at least {100 * share:.0f}% of the queries {first} to {last}; "
                   "bootstrap over instances and seeds", items, quantifier)


def _lead_item(panel, methods, cells, rank, share):
    """Whether the first of the cells (frames of equal index and columns) leads."""
    values = np.stack([cell.to_numpy(float) for cell in cells], axis=1)
    item = _item(panel, cells[0], methods[0], "")
    units = np.stack([_units(cell) for cell in cells], axis=1)
    item.value = float(judge.lead_share(values.mean(axis=0), rank))
    item.least, item.most = share, 1.0
    flat = values.reshape(len(values), -1)
    drawn = judge.centres(flat, panel.experiments(cells[0].index)).reshape(-1, *values.shape[1:])
    item.shown = judge.lead_share(drawn, rank) >= share
    if len(units) > 1:
        item.holds, item.fails = judge.leads(units, rank, share)
        means = (judge.weights(len(units)) @ units.reshape(len(units), -1)).reshape(-1, *units.shape[1:])
        item.low, item.high = judge.drawn_interval(judge.lead_share(means, rank), len(units))
        whole = units.mean(axis=2)
        scale = np.abs(whole.mean(axis=0))
        gaps = whole[:, [0]] - whole[:, 1:]
        least = [max(judge.mean_below(g - judge.TIE * s)[0], judge.mean_below(-g - judge.TIE * s)[0])
                 for g, s in zip(gaps.T, scale[1:])]
        item.tied = min(1.0, len(least) * float(min(least, default=1.0)))
        item.needed = max((judge.needed(g) for g in gaps.T), default=np.nan)
    return item


def identical(check, studies):
    """who, against, on, column (default x): the same values, bit by bit, in every common trial.

    {kind: identical, who: EI, against: GP-UCB, on: study, column: x}
    """
    items, column = [], check.get("column", "x")
    for where, results, problem in studies.panels(check["on"]):
        _require(results, problem, [check["who"], check["against"]], where)
        group_ = results.group(problem)
        values, trials = group_.values(column), group_.trials
        done = trials[trials["status"] == "complete"]
        first, second = (done[done["algorithm"] == a].reset_index()
                         .set_index(["instance", "seed"])["index"]
                         for a in (check["who"], check["against"]))
        common = first.index.intersection(second.index)
        equal = [np.array_equal(values[first[k]], values[second[k]], equal_nan=True)
                 for k in common]
        if equal:
            items.append(_certain(where, all(equal), len(equal), value=float(np.mean(equal)), least=1.0))
    verdict = decided(items, "all") if items else OPEN
    text = "; ".join(f"{i.where}: {round(i.value * i.n)} of {i.n} trials" for i in items)
    return Outcome(verdict, text, f"{column} equal bit by bit in every common trial", items)


def _certain(where, holds, n=judge.MIN_UNITS, **more):
    """An item without chance."""
    return Item(where, n=n, units=max(n, judge.MIN_UNITS), holds=0.0 if holds else 1.0,
                fails=1.0 if holds else 0.0, shown=np.full(EXPERIMENTS, bool(holds)), **more)


# ---- sizes -------------------------------------------------------------------------------------


def within(check, studies):
    """who, on, value, low and/or high, statistic: the mean (or median) lies in the interval.

    {kind: within, who: EI, on: study/Plane, value: {metric: simple, at: last}, low: 0.01, high: 1}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, statistic = [], _statistic(check)
    for panel, results, problem, who in _cells(check, studies):
        values = trial_values(results, problem, check.get("value", {}), [who]).dropna().to_frame()
        item = _item(panel, values, who, "")
        units = _units(values)[:, 0]
        if not len(units):
            items.append(item)
            continue
        if statistic == "mean":
            signs = [(s, -s * limit) for s, limit in ((-1.0, low), (1.0, high)) if np.isfinite(limit)]
            _contrasts(item, panel, values, [[s] for s, _ in signs], np.array([o for _, o in signs]))
            item.low, item.high = judge.mean_interval(units)
        else:
            drawn = judge.centres(values.to_numpy(float), panel.experiments(values.index), statistic)[:, 0]
            item.shown = (drawn >= low) & (drawn <= high)
            _drawn(item, _medians(values), low, high)
        item.value, item.least, item.most = _centre(values.to_numpy(float)[:, 0], statistic), low, high
        items.append(item)
    return _interval_outcome(check, items, f"{statistic} of {describe_value(check.get('value', {}))}", low,
                             high)


def drop(check, studies):
    """who, on, metric, start, end, factor: the mean falls by at least the factor between two t.

    {kind: drop, who: EI, on: study, metric: simple, start: 5, end: 20, factor: 2}
    """
    items, factor = [], float(check["factor"])
    for panel, results, problem, who in _cells(check, studies):
        frame = value_curves(results, problem, check.get("metric", "simple")).xs(who, level="algorithm")
        both = pd.DataFrame({"before": at(frame, check["start"]), "after": at(frame, check["end"])}).dropna()
        item = _item(panel, both, who, "")
        _contrasts(item, panel, both, [[-1.0, factor]])
        item.value, item.low, item.high = _ratio(both.to_numpy(float), _units(both))
        item.least = factor
        items.append(item)
    return _interval_outcome(check, items, f"mean at t = {check['start']} over mean at "
                             f"t = {check['end']}", factor, np.inf)


def reach(check, studies):
    """who, on, target (default 0), by: in an experiment of the paper's size every trial is more likely
    than not to have simple regret <= target at query `by`; not_before: instead, some trial has not yet.
    With n trials, the share of trials that get there in time is at least (below) 2^(-1/n).

    {kind: reach, who: EI, on: study/Plane, target: 0.001, by: 20}
    """
    items, target = [], float(check.get("target", 0.0)) + 1e-9
    late = "not_before" in check
    t = int(check["not_before"]) if late else int(check["by"])
    for panel, results, problem, who in _cells(check, studies):
        frame = curves(results, problem, "simple_regret").xs(who, level="algorithm")
        reached = (at(frame, t) <= target).to_numpy()
        item = _item(panel, frame, who, "")
        counts = panel.experiments(frame.index)
        border = 0.5**(1.0 / counts[0].sum())
        item.shown = counts @ ~reached > 0 if late else counts @ ~reached == 0
        _share(item, reached, border, late)
        first = np.where(frame.le(target).any(axis=1), frame.le(target).to_numpy().argmax(axis=1)
                         + frame.columns[0], np.inf)
        item.more = {"reached": int(reached.sum()), "last": float(first.max())}
        items.append(item)
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.a} ({i.where}): {i.more['reached']} of {i.n} trials by t = {t}, "
                     + (f"all by t = {i.more['last']:.0f}" if np.isfinite(i.more["last"]) else "not all ever")
                     for i in _shortened(items))
    what = "not every trial" if late else "every trial"
    return Outcome(verdict, text, f"{what} of an experiment of the paper's size has simple regret at most "
                   f"{check.get('target', 0):g} at query {t}, more likely than not; exact binomial test",
                   items, quantifier)


def _share(item, reached, border, below=False):
    """Decide that the probability of `reached` is at least the border (or below it): Clopper, Pearson."""
    n, k = len(reached), int(np.sum(reached))
    at_least, at_most = stats.binom.sf(k - 1, n, border), stats.binom.cdf(k, n, border)
    item.holds, item.fails = (at_most, at_least) if below else (at_least, at_most)
    item.value, item.least, item.most = k / max(n, 1), 0.0 if below else border, border if below else 1.0
    item.low = stats.beta.ppf(judge.LEVEL, k, n - k + 1) if k else 0.0
    item.high = stats.beta.ppf(1.0 - judge.LEVEL, k + 1, n - k) if k < n else 1.0
    gap = abs(k / max(n, 1) - border)
    item.needed = 10.8 * border * (1.0 - border) / gap**2 if gap else np.inf


def growth(check, studies):
    """who, on, metric (default cumulative; cpu, wall: cost), low and/or high: exponent of its growth
    over the last three quarters of the queries; start: instead, from this query; against: instead, it is
    less than that method's.

    {kind: growth, who: EI, on: study, metric: cumulative, low: 0.4, high: 0.8}
    """
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    items, metric = [], check.get("metric", "cumulative")
    other = check.get("against")
    if other:
        low, high = -np.inf, 0.0
    for panel, results, problem, who in _cells(check, studies):
        frame = value_curves(results, problem, metric)
        cells = [_positive_times(frame.xs(a, level="algorithm")) for a in ([who, other] if other else [who])]
        common = _common(cells)
        cells = [cell.loc[common] for cell in cells]
        columns = np.intersect1d(cells[0].columns, cells[-1].columns)
        cells = [cell[columns] for cell in cells]

        def statistic(means, columns=columns, cells=cells):
            found = [exponents(block, columns, check.get("start")) for block in
                     np.split(means, len(cells), axis=-1)]
            return found[0] - found[1] if other else found[0]
        items.append(_functional(panel, pd.concat(cells, axis=1), who, statistic, low, high))
    words = METRIC_WORDS.get(metric, metric)
    name = f"growth exponent of {words}" + (f" less that of {other}" if other else "")
    return _interval_outcome(check, items, name, low, high)


def _functional(panel, frame, who, statistic, low, high):
    """An item about a statistic of the means of the columns."""
    item, values, units = _item(panel, frame, who, ""), frame.to_numpy(float), _units(frame)
    item.least, item.most = low, high
    if len(units):
        item.value = float(statistic(values.mean(axis=0, keepdims=True))[0])
        shown = statistic(judge.centres(values, panel.experiments(frame.index)))
        item.shown = (shown >= low) & (shown <= high)
    if len(units) > 1:
        _drawn(item, statistic(judge.weights(len(units)) @ units), low, high)
        n, centre = len(units), statistic(units.mean(axis=0, keepdims=True))
        pseudo = n * centre - (n - 1) * statistic(judge.leave_one_out(units))
        holds, fails = judge.pseudo_inside(pseudo, low, high)
        item.holds, item.fails = max(item.holds, float(holds)), max(item.fails, float(fails))
    return item


def _drawn(item, drawn, low, high):
    """Decide that a statistic lies within [low, high] by its bootstrap draws."""
    item.holds, item.fails = map(float, judge.inside(drawn, low, high, item.units))
    item.low, item.high = judge.drawn_interval(drawn, item.units)
    centre, spread = np.nanmedian(drawn), np.nanstd(drawn)
    gap = min(abs(centre - limit) for limit in (low, high) if np.isfinite(limit))
    item.needed = item.units * 10.0 * spread**2 / gap**2 if gap and np.isfinite(gap) else np.inf


def trend(check, studies):
    """who, on, metric, grows: true (like log t) or false (constant): the slope of the mean against
    log t, times log T, as a share of the mean, is above or within 5%.

    {kind: trend, who: GP-UCB, on: study, metric: confidence, grows: true}
    """
    items, metric = [], check.get("metric", "confidence")
    limits = (0.05, np.inf) if check["grows"] else (-0.05, 0.05)
    for panel, results, problem, who in _cells(check, studies):
        cell = _positive_times(value_curves(results, problem, metric).xs(who, level="algorithm"))
        x = np.log(np.asarray(cell.columns, float))

        def statistic(means, x=x):
            return (means @ (x - x.mean())) / np.sum((x - x.mean())**2) * x[-1] / means.mean(axis=-1)
        items.append(_functional(panel, cell, who, statistic, *limits))
    return _interval_outcome(check, items, f"rise of the mean {metric} with log t from t = 1 to T, as "
                             "a share of its mean", *limits)


def close(check, studies):
    """who, against, on, value, share, because: the means differ by at most this share of the mean regret
    after the initial design (curves that coincide on a linear axis); one_sided: true: `who` is at most
    this much above.

    {kind: close, who: EI, against: GP-UCB, on: study, share: 0.05, because: a twentieth of the axis}
    """
    share, items = float(check["share"]), []
    if not str(check["because"]).strip():
        raise InputError("close: a margin needs a reason")
    for panel, table, pairs in _tables(check, studies):
        study, _, problem = panel.where.partition(", ")
        results = studies.get(study)
        metric = check.get("value", {}).get("metric", "simple")
        first = value_curves(results, problem or results.problems[0], metric)[0].groupby(
            level=["instance", "seed"]).mean()
        for a, b in pairs:
            both = table[[a, b]].assign(first=first).dropna()
            item = _item(panel, both, a, b)
            signs = np.array([[1.0, -1.0, -share], [-1.0, 1.0, -share]])[:1 if check.get("one_sided") else 2]
            _contrasts(item, panel, both, signs)
            means, d = both.mean().to_numpy(), _units(both) @ [1.0, -1.0, 0.0]
            item.value, low, high = (means[0] - means[1]) / means[2], *judge.mean_interval(d)
            item.low, item.high = low / means[2], high / means[2]
            item.least, item.most = -np.inf if check.get("one_sided") else -share, share
            items.append(item)
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.a} less {i.b} ({i.where}): {_n(i.value)} [{_n(i.low)}, {_n(i.high)}]"
                     for i in _shortened(items))
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: difference of means as a share "
                   f"of the regret after the initial design at most {share:g} ({check['because']})", items,
                   quantifier)


def flat(check, studies):
    """who, on, metric, early, late: [first, last] queries, factor, because: the mean over the late queries is
    that over the early ones within the factor, a margin that needs a reason.

    {kind: flat, who: Random, on: study, early: [1, 10], late: [11, 20], factor: 1.25,
      because: as steep as the eye tells from a straight line}
    """
    items, factor = [], float(check["factor"])
    if not str(check["because"]).strip():
        raise InputError("flat: a margin needs a reason")
    for panel, results, problem, who in _cells(check, studies):
        frame = value_curves(results, problem, check.get("metric", "instantaneous")).xs(who, level="algorithm")
        both = pd.DataFrame({key: part(frame, check[key]).mean(axis=1) for key in ("late", "early")}).dropna()
        item = _item(panel, both, who, "")
        _contrasts(item, panel, both, [[1.0, -factor], [-factor, 1.0]])
        item.value, item.low, item.high = _ratio(both.to_numpy(float), _units(both))
        item.least, item.most = 1.0 / factor, factor
        items.append(item)
    return _interval_outcome(check, items, f"mean regret over queries {check['late'][0]} to {check['late'][1]} "
                             f"over that of {check['early'][0]} to {check['early'][1]} ({check['because']})",
                             1.0 / factor, factor)


def bound(check, studies):
    """who, on, bound: a quantity of `regatta bounds` (STUDY_bounds.csv beside the results): the mean
    cumulative regret of the queries is at most it at every query it speaks of.

    {kind: bound, who: GP-UCB, on: study, bound: gp_ucb_theorem}
    """
    items = []
    for panel, results, problem, who in _cells(check, studies):
        path = results.path.parent / f"{panel.where.partition(',')[0]}_bounds.csv"
        if not path.exists():
            raise Missing(f"{panel.where}: no {path.name} beside the results (regatta bounds)")
        table = bounds.read(path)
        rows = table[(table["problem"] == problem) & (table["algorithm"] == who)
                     & (table["quantity"] == check["bound"]) & np.isfinite(table["value"])]
        frame = bounds.since_design(results, problem).xs(who, level="algorithm")
        limit = rows.set_index("t")["value"]
        columns = [t for t in frame.columns if t in limit.index and t > 0]
        if not columns:
            raise Missing(f"{panel.where}: {path.name} says nothing of {check['bound']} for {who}")
        over = frame[columns].dropna() / limit[columns].to_numpy()
        item, units = _item(panel, over, who, ""), _units(over)
        if len(units) > 1:
            below, above = judge.mean_below(units.T - 1.0)
            item.holds, item.fails = float(below.max()), float(min(1.0, len(columns) * above.min()))
            worst = int(np.argmax(units.mean(axis=0)))
            item.value, (item.low, item.high) = units[:, worst].mean(), judge.mean_interval(units[:, worst])
        item.shown = np.all(judge.centres(over.to_numpy(float), panel.experiments(over.index)) <= 1.0, axis=1)
        item.most = 1.0
        items.append(item)
    return _interval_outcome(check, items, f"largest share of {bounds.NAMES.get(check['bound'], check['bound'])} "
                             "that the mean cumulative regret reaches", -np.inf, 1.0)


# ---- by formula, or computed here --------------------------------------------------------------


def law(check, _):
    """less, than: names of laws.ROOTS or methods; points, first, last: the first lies below the second at
    every t of first..last. By formula, no results needed.

    {kind: law, less: irgp_ucb, than: gp_ucb, points: 1000, first: 2, last: 200}
    """
    t = np.arange(int(check["first"]), int(check["last"]) + 1)
    points = check.get("points", 1000)
    a, b = (laws.law_curve(check[k], t, points) for k in ("less", "than"))
    holds = a < b
    worst = int(t[np.argmin(b - a)])
    text = (f"{check['less']} below {check['than']} at {holds.sum()} of {len(t)} t; closest at "
            f"t = {worst}: {_n(a[worst - t[0]])} against {_n(b[worst - t[0]])}")
    item = _certain("formula", holds.all(), value=float(holds.mean()), least=1.0)
    return Outcome(decided([item]), text, f"formulas at t = {t[0]}..{t[-1]}, |X| = {points}", [item])


def optima(check, _):
    """shift: the design that is best under the true law of the shift example, less the one that is best under
    the assumed law, is at least this far from it (by formula, up to the sign of the design).

    {kind: optima, shift: 0.1}
    """
    best = [illustrations.shifted_optimum(mean, sd) for mean, sd in (illustrations.ASSUMED, illustrations.TRUE)]
    gap = abs(best[1] - best[0])
    item = _certain("formula", gap >= float(check["shift"]), value=gap, least=float(check["shift"]))
    return Outcome(decided([item]), f"best |x| {_n(best[0])} under the assumed law, {_n(best[1])} under the true "
                   "one", f"they differ by at least {check['shift']:g}", [item])


def exploitation(check, _):
    """runs: over so many first samples of the damped cosine, queries of BOKE+ have larger values than
    those of BOKE on average (computed by illustrations.py, no results needed).

    {kind: exploitation, runs: 400}
    """
    values = illustrations.query_values(int(check["runs"]))
    index = pd.MultiIndex.from_product([[0], range(len(values))], names=["instance", "seed"])
    table = pd.DataFrame(-values, index, columns=["BOKE", "BOKE+"])
    item = _better_item(Panel("fig5", {"seeds": 1}), table, "BOKE+", "BOKE", "mean")
    return Outcome(decided([item]), f"mean value of the queries {_n(-item.more['mean_a'])} (BOKE+) against "
                   f"{_n(-item.more['mean_b'])} (BOKE) in {item.n} runs, p = {_n(item.holds)}, "
                   f"P(better) = {item.more['superiority']:.2f}",
                   "paired bootstrap of the mean over runs from the same five samples", [item])


def demonstration(check, _):
    """what: regression | density | step (see demonstrations.py), runs: samples that are drawn, share:
    what a figure shows on one sample holds on at least this share of samples; computed, no results
    needed.

    {kind: demonstration, what: regression, runs: 400, share: 0.9}
    """
    runs, share = int(check["runs"]), float(check.get("share", 0.9))
    if check["what"] not in demonstrations.KINDS:
        raise InputError(f"unknown demonstration {check['what']!r} (known: "
                         f"{', '.join(demonstrations.KINDS)})")
    asked = demonstrations.KINDS[check["what"]]
    holds = demonstrations.holds(check["what"], runs)
    item = Item(check["what"], n=runs, units=runs)
    _share(item, np.arange(runs) < holds, share)
    item.shown = np.arange(EXPERIMENTS) < EXPERIMENTS * holds / runs
    return Outcome(decided([item]), f"holds on {holds} of {runs} samples ({100 * item.value:.0f}% "
                   f"[{100 * item.low:.0f}, {100 * item.high:.0f}])",
                   " ".join(asked.__doc__.split()) + f" On at least {100 * share:.0f}% of samples, "
                   "exact binomial test.", [item])


def density_distance(check, _):
    """sizes, factor, statistic: at every size the complicated law has at least `factor` times the distance
    of the normal one, and both fall with the size (density_error.py, no results needed), by means or
    medians over runs; the bootstrap over runs, and experiments of density_error.RUNS runs.

    {kind: density_distance, sizes: [10, 100, 300], factor: 1.5, statistic: median}
    """
    sizes, factor, statistic = check["sizes"], float(check["factor"]), _statistic(check)
    runs, items = density_error.CLAIM_RUNS, []
    found = {law_: [density_error.distances(law_, n, runs)[:, None] for n in sizes]
             for law_ in density_error.LAWS}
    boot, paper = ({law_: [judge.centres(v, random.multinomial(size, np.full(runs, 1.0 / runs), size=draws),
                                         statistic)[:, 0] for v in values]
                    for law_, values in found.items()}
                   for size, draws, random in (
                       (runs, judge.DRAWS, np.random.default_rng(1)),
                       (density_error.RUNS, EXPERIMENTS, np.random.default_rng(2))))
    def add(where, drawn, shown, low, high):
        item = Item(where, n=runs, units=runs, value=float(np.median(drawn)), least=low, most=high)
        item.shown = (shown >= low) & (shown <= high)
        _drawn(item, drawn, low, high)
        items.append(item)
    for k, n in enumerate(sizes):
        add(f"n = {n}: ratio", boot["complicated"][k] / boot["normal"][k],
            paper["complicated"][k] / paper["normal"][k], factor, np.inf)
    for law_ in density_error.LAWS:
        for k in range(len(sizes) - 1):
            add(f"{law_}, n = {sizes[k]} to {sizes[k + 1]}: change", boot[law_][k + 1] - boot[law_][k],
                paper[law_][k + 1] - paper[law_][k], -np.inf, 0.0)
    verdict = decided(items)
    text = "; ".join(f"{i.where} [{_n(i.low)}, {_n(i.high)}]" for i in _shortened(items, 5))
    return Outcome(verdict, text, f"ratio of {statistic} distances at least {factor:g}, changes below 0; "
                   f"{runs} runs", items)


def unchecked(check, _):
    """because: why no results can decide it.

    {kind: unchecked, because: the code of the other program is not public}
    """
    return Outcome(NONE, check["because"])


# ---- helpers -----------------------------------------------------------------------------------

METRIC_WORDS = {"simple": "simple regret", "cumulative": "cumulative regret",
                "instantaneous": "instantaneous regret", "average": "average regret",
                "cpu": "CPU time of model and acquisition",
                "wall": "wall time of model and acquisition",
                "confidence": "confidence parameter",
                "best": "best value so far",
                "cumulative_reward": "sum of the observations",
                "cumulative_expected_reward": "sum of the objective"}


def describe_value(value):
    """A value of measures.trial_values in words."""
    metric = METRIC_WORDS.get(value.get("metric", "simple"), value.get("metric"))
    if "hit" in value:
        words = f"first query with simple regret at most {value['hit']:g}"
    elif "over" in value:
        first, last = value["over"]
        words = f"{'log10 of ' if value.get('log') else ''}{metric}, mean over queries {first} to {last}"
    else:
        when = value.get("at", "last")
        words = f"{metric} at {'the last query' if when == 'last' else f'query {when}'}"
    return words + (" (negated: more is better)" if value.get("sense") == "max" else "")


def present(results, problem):
    """Algorithms that the panel has complete trials of."""
    trials = results.group(problem).trials
    have = set(trials.loc[trials["status"] == "complete", "algorithm"])
    return [a for a in results.algorithms if a in have]


def _statistic(check):
    found = check.get("statistic", "mean")
    if found not in ("mean", "median"):
        raise InputError(f"statistic {found!r}: mean or median")
    return found


def _centre(values, statistic):
    return float(np.mean(values) if statistic == "mean" else np.median(values)) if len(values) else np.nan


def _item(panel, frame, a, b):
    return Item(panel.where, a, b, len(frame), len(_units(frame)))


def _units(frame):
    """Independent units as an array: trials, or means over instances where several trials share one."""
    return comparison.independent(frame).to_numpy(float)


def _medians(frame):
    """Bootstrap draws of the median of one column, or of the difference of the medians of two; trials that
    share an instance are drawn together."""
    instance = frame.index.get_level_values("instance").to_numpy()
    crossed = 1 < len(set(instance)) < len(instance)
    label = np.unique(instance, return_inverse=True)[1] if crossed else np.arange(len(instance))
    counts = np.round(judge.weights(label.max() + 1) * (label.max() + 1))[:, label]
    drawn = judge.centres(frame.to_numpy(float), counts, "median")
    return drawn[:, 0] - drawn[:, 1] if drawn.shape[1] > 1 else drawn[:, 0]


def _cells(check, studies):
    for where, results, problem in studies.panels(check["on"]):
        who = names(check["who"])
        _require(results, problem, who, where)
        for name in who:
            yield Panel(where, studies.size(where)), results, problem, name


def _require(results, problem, wanted, where):
    have = present(results, problem)
    for name in wanted:
        if name not in have:
            raise Missing(f"{where}: no complete trial of {name!r}")


def names(value):
    """One name or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


def _common(cells):
    cells = list(cells)
    common = cells[0].index
    for cell in cells[1:]:
        common = common.intersection(cell.index)
    return common.sort_values()


def _positive_times(frame):
    inside = frame.loc[:, (frame.columns > 0) & frame.notna().all().to_numpy()]
    if inside.shape[1] < 3:
        raise Missing("too few queries with a value")
    return inside


def _interval_outcome(check, items, what, low, high):
    quantifier = check.get("quantifier", "all")
    verdict = decided(items, quantifier)
    text = "; ".join(f"{i.a} ({i.where}): {_n(i.value)} [{_n(i.low)}, {_n(i.high)}]"
                     for i in _shortened(items))
    limits = (f"at most {high:g}" if not np.isfinite(low) else f"at least {low:g}"
              if not np.isfinite(high) else f"between {low:g} and {high:g}")
    return Outcome(verdict, f"{text}; {min(i.n for i in items)} trials",
                   f"{what} {limits}", items, quantifier)


def _shortened(items, most=6):
    """The items that decide: those against first."""
    order = {NO: 0, OPEN: 1, TIE: 2, YES: 3}
    return sorted(items, key=lambda i: order[i.verdict])[:most]


def _n(value):
    return "∞" if value == np.inf else f"{value:.3g}"


KINDS = {f.__name__: f for f in (better, comparable, group, lead, identical, within, drop, close, flat, reach,
                                 growth, trend, bound, law, optima, exploitation, demonstration,
                                 density_distance, unchecked)}
