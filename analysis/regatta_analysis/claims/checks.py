"""The kinds of checks that claims are made of. Each is a function of (check, studies) that returns
an Outcome. What a kind expects in claims.yaml stands at its function; `on` names studies or panels
(`study` or `study/problem`), `who` and `against` algorithms by label.

Verdicts are statements about the statistic, at 5%: reproduced or not reproduced when the data speak
clearly for or against it, undecided when they do not, or when there are fewer than MIN_TRIALS trials.
"""
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from . import demonstrations
from ..figures import illustrations, laws
from ..stats import comparison, density_error
from ..stats.growth import growth_exponent, slopes
from ..load.load import InputError
from ..stats.measures import TooShort, at, part, regret_at_time, trial_values, value_curves
from ..stats.regret import curves
from ..stats.statistics import bootstrap_means

YES, NO, OPEN = "reproduced", "not reproduced", "undecided"
ALPHA, MIN_TRIALS, DRAWS = 0.05, 5, 1000
NO_ADVANTAGE = 0.6  # probability of superiority that counts as an advantage at all


@dataclass
class Outcome:
    """Verdict of a check, a line that says why, how it was decided, and the numbers behind it."""
    verdict: str
    text: str
    method: str = ""
    rows: list = field(default_factory=list)


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
    if studies.missing:  # what is there may contradict a claim about all panels, never support it
        if outcome.verdict != NO or check.get("quantifier", "all") != "all":
            outcome.verdict = OPEN
        outcome.text += "; " + "; ".join(dict.fromkeys(studies.missing))
    return outcome


# ---- comparisons -------------------------------------------------------------------------------


def better(check, studies):
    """who, against, on, value (see measures.trial_values), quantifier: all | most | any of the pairs
    on all panels (default all); at_each: several queries t; times: shares of the CPU time of the
    fastest; versus: one panel on which `against` is taken (default: the same); not_worse: true."""
    frames = [_compared(check, table, pairs) | {"where": where}
              for where, table, pairs in _tables(check, studies)]
    rows = pd.DataFrame([row | {"where": f["where"]} for f in frames for row in f["rows"]])
    if not len(rows):
        raise Missing("nothing to compare")
    rows["p_holm"] = comparison.holm(rows["p"])
    rows["p_against_holm"] = comparison.holm(rows["p_against"])
    quantifier = check.get("quantifier", "all")
    rows["verdict"] = [_pair_verdict(row, quantifier, check.get("not_worse", False))
                       for row in rows.itertuples()]
    verdict = _quantified(rows["verdict"], quantifier)
    return Outcome(verdict, _pairs_text(rows, verdict), _pairs_method(check, quantifier),
                   rows.to_dict("records"))


def _tables(check, studies):
    """(where, table of values per trial, pairs) of every panel and point in time."""
    who, against = _names(check["who"]), _names(check["against"])
    pairs = [(a, b) for a in who for b in against if a != b or "versus" in check]
    for where, results, problem in studies.panels(check["on"]):
        known = list(dict.fromkeys([*who, *against]))
        if "versus" in check:
            table = _across(check, studies, results, problem, who, against)
            yield where, table, [(f"{a} here", f"{b} there") for a, b in pairs]
            continue
        _require(results, problem, known, where)
        if "times" in check:
            frame = regret_at_time(results, problem, check["times"])
            for share, (time, series) in zip(check["times"], frame.items()):
                table = comparison.paired(series)[known]
                yield f"{where}, CPU time {time:.3g} s", table, pairs
            continue
        for t in check.get("at_each", [None]):
            value = dict(check.get("value", {})) | ({} if t is None else {"at": t})
            table = comparison.paired(trial_values(results, problem, value, known))[known]
            yield (where if t is None else f"{where}, t = {t}"), table, pairs


def _across(check, studies, results, problem, who, against):
    """Table of values on two panels, paired by instance and seed."""
    (where, other, there), = studies.panels([check["versus"]])
    _require(other, there, against, where)
    value = check.get("value", {})
    here = comparison.paired(trial_values(results, problem, value, who))[who]
    there = comparison.paired(trial_values(other, there, value, against))[against]
    return pd.concat([here.add_suffix(" here"), there.add_suffix(" there")], axis=1)


def _compared(check, table, pairs):
    less = comparison.compare(table, pairs, "less")
    more = comparison.compare(table, pairs, "greater")
    less["p_against"] = more["p"]
    return {"rows": less.drop(columns="p_holm").to_dict("records")}


def _pair_verdict(row, quantifier, not_worse):
    if row.n < MIN_TRIALS:
        return OPEN
    if not_worse:
        return (NO if row.p_against_holm <= ALPHA else
                YES if row.superiority_low > 1 - NO_ADVANTAGE or row.p <= ALPHA else OPEN)
    # All of them: each at the full level (an intersection-union test needs no correction).
    if (row.p if quantifier == "all" else row.p_holm) <= ALPHA:
        return YES
    hopeless = row.p_against_holm <= ALPHA or row.superiority_high < NO_ADVANTAGE
    return NO if hopeless else OPEN


def _quantified(verdicts, quantifier):
    yes, no, n = (verdicts == YES).sum(), (verdicts == NO).sum(), len(verdicts)
    if quantifier == "all":
        return NO if no else YES if yes == n else OPEN
    if quantifier == "most":
        return YES if 2 * yes > n else NO if 2 * no >= n else OPEN
    if quantifier == "any":
        return YES if yes else NO if no == n else OPEN
    raise InputError(f"quantifier {quantifier!r}: all, most or any")


def _pairs_text(rows, verdict):
    yes, no = ((rows["verdict"] == v).sum() for v in (YES, NO))
    n = len(rows)
    least = int(rows["n"].min())
    text = f"{yes} of {n} comparisons hold, {no} are contradicted, {n - yes - no} open; "
    text += f"{least} common trials" if least == rows["n"].max() else f"at least {least} trials"
    worst = rows.loc[rows["p"].idxmax()] if rows["p"].notna().any() else None
    if worst is not None:
        text += (f"; weakest: {worst['a']} vs {worst['b']} ({worst['where']}): "
                 f"{_n(worst['mean_a'])} against {_n(worst['mean_b'])}, p = {_n(worst['p'])}, "
                 f"P(better) = {worst['superiority']:.2f}")
    open_rows = rows[(rows["verdict"] == OPEN) & (rows["difference"] < 0)]
    needed = open_rows["needed"].max() if len(open_rows) else np.nan
    if verdict == OPEN and np.isfinite(needed):
        text += f"; about {needed:.0f} trials would decide the open ones (power 80%)"
    return text


def _pairs_method(check, quantifier):
    value = describe_value(check.get("value", {}))
    if "times" in check:
        value = "simple regret at equal CPU time"
    if "at_each" in check:
        value += " at " + ", ".join(f"t = {t}" for t in check["at_each"])
    test = "one-sided Wilcoxon signed-rank test over common trials"
    test += "" if quantifier == "all" else ", Holm's correction"
    wanted = "is not greater" if check.get("not_worse") else "is smaller"
    return f"{value} {wanted} in {quantifier} pairs; {test}"


def comparable(check, studies):
    """who, against, on, value, factor: the ratio of means lies within [1/factor, factor]; one_sided:
    true: it is at most the factor; quantifier as in `better`."""
    rows, factor = [], float(check.get("factor", 1.5))
    least = 0.0 if check.get("one_sided") else 1.0 / factor
    for where, table, pairs in _tables(check, studies):
        for a, b in pairs:
            both = table[[a, b]].dropna()
            ratio, low, high = _ratio(both[a].to_numpy(), both[b].to_numpy(), _groups(both))
            verdict = _interval_verdict(low, high, least, factor, len(both))
            rows.append({"where": where, "a": a, "b": b, "n": len(both), "ratio": ratio,
                         "low": low, "high": high, "verdict": verdict})
    verdicts = pd.Series([row["verdict"] for row in rows])
    verdict = _quantified(verdicts, check.get("quantifier", "all"))
    text = "; ".join(f"{r['a']} / {r['b']} ({r['where']}): {_n(r['ratio'])} "
                     f"[{_n(r['low'])}, {_n(r['high'])}]" for r in _shortened(rows))
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: ratio of means "
                   f"{'at most' if check.get('one_sided') else 'within a factor'} {factor:g}, 95% bootstrap interval", rows)


def _ratio(a, b, groups):
    if not len(a):
        return np.nan, np.nan, np.nan
    means = bootstrap_means(np.column_stack([a, b]), DRAWS, 0, groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.where(means[:, 0] == means[:, 1], 1.0, means[:, 0] / means[:, 1])
        centre = 1.0 if a.mean() == b.mean() else a.mean() / b.mean()
    low, high = (np.nanquantile(drawn, [0.025, 0.975], method="nearest")  # may be infinite
                 if len(a) > 1 else (np.nan, np.nan))
    return centre, low, high


def group(check, studies):
    """who, against, on, value: on every panel the least mean of `who` is at most the least mean of
    `against` plus one standard error of their difference."""
    rows = []
    for where, table, _ in _tables(check, studies):
        means = table.dropna().mean()
        a, b = (means[_names(check[k])].idxmin() for k in ("who", "against"))
        pair = next(comparison.compare(table, [(a, b)], "greater").itertuples())
        verdict = OPEN
        if pair.n >= MIN_TRIALS:
            within_error = pair.difference <= pair.se or pair.difference <= 0.0
            verdict = YES if within_error else NO if pair.p <= ALPHA else OPEN
        rows.append({"where": where, "a": a, "b": b, "n": pair.n, "mean_a": pair.mean_a,
                     "mean_b": pair.mean_b, "se": pair.se, "p": pair.p, "verdict": verdict})
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), check.get("quantifier", "all"))
    text = "; ".join(f"{r['where']}: {r['a']} {_n(r['mean_a'])} against {r['b']} {_n(r['mean_b'])} "
                     f"(± {_n(r['se'])})" for r in _shortened(rows, 8))
    return Outcome(verdict, text, f"{describe_value(check.get('value', {}))}: least mean of "
                   f"{', '.join(_names(check['who']))} at most the least of the others plus one "
                   "standard error of the paired difference", rows)


def lead(check, studies):
    """who, among (default: all methods of the panel), on, metric, over: [first, last], rank (1: the
    best), share: `who` is among the first `rank` by mean in at least this share of the queries."""
    who, rank, share = check["who"], int(check.get("rank", 1)), float(check.get("share", 0.5))
    rows = []
    for where, results, problem in studies.panels(check["on"]):
        among = _names(check["among"]) if "among" in check else present(results, problem)
        _require(results, problem, [who, *among], where)
        frame = value_curves(results, problem, check.get("metric", "simple"))
        frame = part(frame, check["over"])
        cells = {a: frame.xs(a, level="algorithm") for a in dict.fromkeys([who, *among])}
        common = _common(cells.values())
        groups = _groups(cells[who].loc[common])
        drawn = {a: bootstrap_means(cell.loc[common].to_numpy(), DRAWS, 0, groups)
                 for a, cell in cells.items()} if len(common) else {}
        exact = {a: cell.loc[common].to_numpy().mean(axis=0, keepdims=True)
                 for a, cell in cells.items()} if len(common) else {}
        if not len(common):
            raise Missing(f"{where}: no common trials yet")
        value = float(_share_of_lead(exact, who, rank)[0])
        low, high = np.quantile(_share_of_lead(drawn, who, rank), [0.025, 0.975])
        verdict = OPEN
        if len(common) >= MIN_TRIALS:
            verdict = YES if low >= share else NO if high < share else OPEN
        rows.append({"where": where, "a": who, "n": len(common), "share": value, "low": low,
                     "high": high, "verdict": verdict})
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), check.get("quantifier", "all"))
    text = "; ".join(f"{r['where']}: in {100 * r['share']:.0f}% of the queries "
                     f"[{100 * r['low']:.0f}, {100 * r['high']:.0f}]" for r in _shortened(rows))
    place = "the smallest" if rank == 1 else f"among the {rank} smallest"
    first, last = check["over"]
    return Outcome(verdict, f"{text}; {min(r['n'] for r in rows)} trials",
                   f"mean {METRIC_WORDS.get(check.get('metric', 'simple'), check.get('metric'))} "
                   f"{place} in at least {100 * share:.0f}% of the queries {first} to {last}; "
                   "bootstrap over trials", rows)


def _share_of_lead(means, who, rank):
    """Share of the columns in which fewer than `rank` others have a smaller mean, per row."""
    mine = means[who]
    tolerance = 1e-12 * np.maximum(np.abs(mine), 1e-300)
    smaller = sum((other < mine - tolerance).astype(int) for a, other in means.items() if a != who)
    return (smaller < rank).mean(axis=1)


def identical(check, studies):
    """who, against, on, column (default x): the same values, bit by bit, in every common trial."""
    rows, column = [], check.get("column", "x")
    for where, results, problem in studies.panels(check["on"]):
        _require(results, problem, [check["who"], check["against"]], where)
        group = results.group(problem)
        values, trials = group.values(column), group.trials
        done = trials[trials["status"] == "complete"]
        first, second = (done[done["algorithm"] == a].reset_index()
                         .set_index(["instance", "seed"])["index"]
                         for a in (check["who"], check["against"]))
        common = first.index.intersection(second.index)
        equal = [np.array_equal(values[first[k]], values[second[k]], equal_nan=True)
                 for k in common]
        rows.append({"where": where, "n": len(common), "equal": int(sum(equal)),
                     "verdict": OPEN if not equal else YES if all(equal) else NO})
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), "all")
    text = "; ".join(f"{r['where']}: {r['equal']} of {r['n']} trials" for r in rows)
    return Outcome(verdict, text, f"{column} equal bit by bit in every common trial", rows)


# ---- sizes -------------------------------------------------------------------------------------


def within(check, studies):
    """who, on, value, low and/or high: the mean lies in the interval (95% bootstrap interval)."""
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    rows = []
    for where, results, problem, who in _cells(check, studies):
        values = trial_values(results, problem, check.get("value", {}), [who]).dropna()
        rows.append(_interval_row(where, who, values, low, high))
    return _interval_outcome(check, rows, f"mean {describe_value(check.get('value', {}))}", low, high)


def drop(check, studies):
    """who, on, metric, start, end, factor: the mean falls by at least the factor between two t."""
    rows, factor = [], float(check["factor"])
    for where, results, problem, who in _cells(check, studies):
        frame = value_curves(results, problem, check.get("metric", "simple")).xs(
            who, level="algorithm")
        before, after = at(frame, check["start"]), at(frame, check["end"])
        ratio, low, high = _ratio(before.to_numpy(), after.to_numpy(), _groups(frame))
        rows.append({"where": where, "a": who, "n": len(frame), "value": ratio, "low": low,
                     "high": high,
                     "verdict": _interval_verdict(low, high, factor, np.inf, len(frame))})
    return _interval_outcome(check, rows, f"mean at t = {check['start']} over mean at "
                             f"t = {check['end']}", factor, np.inf)


def reach(check, studies):
    """who, on, target (default 0), by: every trial has simple regret <= target at query `by`;
    not_before: instead, some trial has not yet at that query."""
    rows, target = [], float(check.get("target", 0.0)) + 1e-9
    late = "not_before" in check
    t = int(check["not_before"]) if late else int(check["by"])
    for where, results, problem, who in _cells(check, studies):
        frame = curves(results, problem, "simple_regret").xs(who, level="algorithm")
        reached = (at(frame, t) <= target).to_numpy()
        n, k = len(reached), int(reached.sum())
        _, _, high = comparison.superiority(np.where(reached, -1.0, 1.0))
        verdict = OPEN
        if n >= MIN_TRIALS:
            verdict = YES if (k < n if late else k == n) else NO if late or high < 0.95 else OPEN
        first = np.where(frame.le(target).any(axis=1), frame.le(target).to_numpy().argmax(axis=1)
                         + frame.columns[0], np.inf)
        rows.append({"where": where, "a": who, "n": n, "reached": k, "value": k / max(n, 1),
                     "last": first.max(), "verdict": verdict})
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), check.get("quantifier", "all"))
    text = "; ".join(f"{r['a']} ({r['where']}): {r['reached']} of {r['n']} trials by t = {t}, "
                     + (f"all by t = {r['last']:.0f}" if np.isfinite(r["last"]) else "not all ever")
                     for r in _shortened(rows))
    what = "not every trial" if late else "every trial"
    return Outcome(verdict, text, f"{what} has simple regret at most {check.get('target', 0):g} "
                   f"at query {t}", rows)


def growth(check, studies):
    """who, on, metric (default cumulative; cpu, wall: cost), low and/or high: exponent of its growth
    over the last three quarters of the queries; against: instead, it is less than that method's."""
    low, high = float(check.get("low", -np.inf)), float(check.get("high", np.inf))
    rows, metric = [], check.get("metric", "cumulative")
    for where, results, problem, who in _cells(check, studies):
        if "against" in check:
            rows.append(_growth_against(check, where, results, problem, who, metric))
            continue
        cell = _positive_times(value_curves(results, problem, metric).xs(who, level="algorithm"))
        exponent, below, above = growth_exponent(cell.to_numpy(), cell.columns, check.get("start"),
                                                 groups=_groups(cell))
        rows.append({"where": where, "a": who, "n": len(cell), "value": exponent, "low": below,
                     "high": above,
                     "verdict": _interval_verdict(below, above, low, high, len(cell))})
    if "against" in check:
        low, high = -np.inf, 0.0
    words = METRIC_WORDS.get(metric, metric)
    name = f"growth exponent of {words}" + (f" less that of {check['against']}"
                                            if "against" in check else "")
    return _interval_outcome(check, rows, name, low, high)


def _growth_against(check, where, results, problem, who, metric):
    frame = value_curves(results, problem, metric)
    cells = [_positive_times(frame.xs(a, level="algorithm")) for a in (who, check["against"])]
    common = _common(cells)
    groups = _groups(cells[0].loc[common])
    t = np.asarray(cells[0].columns, float)
    both = np.hstack([cell.loc[common].to_numpy() for cell in cells])
    start = check.get("start", t[-1] / 4.0)
    late = np.flatnonzero(t >= start)
    means = np.vstack([both.mean(axis=0), bootstrap_means(both, DRAWS, 0, groups)])
    first, second = (slopes(np.log(t[late]), means[:, k * len(t) + late]) for k in (0, 1))
    difference = first - second
    low, high = np.nanquantile(difference[1:], [0.025, 0.975])
    return {"where": where, "a": who, "n": len(common), "value": difference[0], "low": low,
            "high": high, "verdict": _interval_verdict(low, high, -np.inf, 0.0, len(common))}


def trend(check, studies):
    """who, on, metric, grows: true (like log t) or false (constant): the slope of the mean against
    log t, times log T, as a share of the mean, is above or within 5%."""
    rows, metric = [], check.get("metric", "confidence")
    for where, results, problem, who in _cells(check, studies):
        cell = _positive_times(value_curves(results, problem, metric).xs(who, level="algorithm"))
        means = np.vstack([cell.mean(), bootstrap_means(cell.to_numpy(), DRAWS, 0, _groups(cell))])
        x = np.log(np.asarray(cell.columns, float))
        reach = (means @ (x - x.mean())) / np.sum((x - x.mean())**2) * x[-1] / means.mean(axis=1)
        low, high = np.quantile(reach[1:], [0.025, 0.975])
        limits = (0.05, np.inf) if check["grows"] else (-0.05, 0.05)
        rows.append({"where": where, "a": who, "n": len(cell), "value": reach[0], "low": low,
                     "high": high, "verdict": _interval_verdict(low, high, *limits, len(cell))})
    limits = (0.05, np.inf) if check["grows"] else (-0.05, 0.05)
    return _interval_outcome(check, rows, f"rise of the mean {metric} with log t from t = 1 to T, as "
                             "a share of its mean", *limits)


def law(check, _):
    """less, than: names of laws.ROOTS or methods; points, first, last: the first lies below the second at
    every t of first..last. By formula, no results needed."""
    t = np.arange(int(check["first"]), int(check["last"]) + 1)
    points = check.get("points", 1000)
    a, b = (laws.law_curve(check[k], t, points) for k in ("less", "than"))
    holds = a < b
    worst = int(t[np.argmin(b - a)])
    text = (f"{check['less']} below {check['than']} at {holds.sum()} of {len(t)} t; closest at "
            f"t = {worst}: {_n(a[worst - t[0]])} against {_n(b[worst - t[0]])}")
    return Outcome(YES if holds.all() else NO, text, f"formulas at t = {t[0]}..{t[-1]}, "
                   f"|X| = {points}")


def exploitation(check, _):
    """runs: over so many first samples of the damped cosine, queries of BOKE+ have larger values than
    those of BOKE (computed by illustrations.py, no results needed)."""
    values = illustrations.query_values(int(check["runs"]))
    table = pd.DataFrame(-values, columns=["BOKE", "BOKE+"])
    row = next(comparison.compare(table, [("BOKE+", "BOKE")], "less").itertuples())
    other = comparison.signed_rank(values[:, 1] - values[:, 0], "less")
    verdict = (YES if row.p <= ALPHA else NO if other <= ALPHA or
               row.superiority_high < NO_ADVANTAGE else OPEN)
    return Outcome(verdict, f"mean value of the queries {_n(-row.mean_a)} (BOKE+) against "
                   f"{_n(-row.mean_b)} (BOKE) in {row.n} runs, p = {_n(row.p)}, "
                   f"P(better) = {row.superiority:.2f}",
                   "one-sided Wilcoxon signed-rank test over runs from the same five samples")


def demonstration(check, _):
    """what: regression | density | step (see demonstrations.py), runs: samples that are drawn, share:
    what a figure shows on one sample holds on at least this share of samples; computed, no results
    needed."""
    runs, share = int(check["runs"]), float(check.get("share", 0.9))
    if check["what"] not in demonstrations.KINDS:
        raise InputError(f"unknown demonstration {check['what']!r} (known: "
                         f"{', '.join(demonstrations.KINDS)})")
    asked = demonstrations.KINDS[check["what"]]
    holds = demonstrations.holds(check["what"], runs)
    found, low, high = comparison.superiority(np.where(np.arange(runs) < holds, -1.0, 1.0))
    verdict = YES if low >= share else NO if high < share else OPEN
    return Outcome(verdict, f"holds on {holds} of {runs} samples ({100 * found:.0f}% "
                   f"[{100 * low:.0f}, {100 * high:.0f}])",
                   " ".join(asked.__doc__.split()) + f" On at least {100 * share:.0f}% of samples, "
                   "Wilson's interval.")


def density_distance(check, _):
    """sizes, factor: at every size the complicated law has at least `factor` times the distance of
    the normal one, and both fall with the size (density_error.py, no results needed). Intervals by
    the bootstrap over runs."""
    sizes, factor = check["sizes"], float(check["factor"])
    drawn = {law: [bootstrap_means(density_error.distances(law, n, density_error.CLAIM_RUNS)[:, None], DRAWS, seed)[:, 0]
                   for n in sizes] for seed, law in enumerate(density_error.LAWS)}
    rows = []
    for k, n in enumerate(sizes):
        low, high = np.quantile(drawn["complicated"][k] / drawn["normal"][k], [0.025, 0.975])
        rows.append({"where": f"n = {n}: ratio", "low": low, "high": high,
                     "verdict": _interval_verdict(low, high, factor, np.inf, n)})
    for law, means in drawn.items():
        for k in range(len(sizes) - 1):
            low, high = np.quantile(means[k + 1] - means[k], [0.025, 0.975])
            rows.append({"where": f"{law}, n = {sizes[k]} to {sizes[k + 1]}: change", "low": low,
                         "high": high, "verdict": _interval_verdict(low, high, -np.inf, 0.0, n)})
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), "all")
    text = "; ".join(f"{r['where']} [{_n(r['low'])}, {_n(r['high'])}]" for r in _shortened(rows, 5))
    return Outcome(verdict, text, f"ratio of mean distances at least {factor:g}, changes below 0; "
                   f"{density_error.CLAIM_RUNS} runs, 95% bootstrap intervals", rows)


def unchecked(check, _):
    """because: why no results can decide it."""
    return Outcome(OPEN, check["because"])


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
    if "over" in value:
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


def _cells(check, studies):
    for where, results, problem in studies.panels(check["on"]):
        who = _names(check["who"])
        _require(results, problem, who, where)
        for name in who:
            yield where, results, problem, name


def _require(results, problem, names, where):
    have = present(results, problem)
    for name in names:
        if name not in have:
            raise Missing(f"{where}: no complete trial of {name!r}")


def _names(value):
    return [value] if isinstance(value, str) else list(value)


def _common(cells):
    cells = list(cells)
    common = cells[0].index
    for cell in cells[1:]:
        common = common.intersection(cell.index)
    return common.sort_values()


def _groups(frame):
    """Instances as groups of the bootstrap when several trials share one."""
    instance = frame.index.get_level_values("instance").to_numpy()
    return instance if 1 < len(set(instance)) < len(instance) else None


def _positive_times(frame):
    inside = frame.loc[:, (frame.columns > 0) & frame.notna().all().to_numpy()]
    if inside.shape[1] < 3:
        raise Missing("too few queries with a value")
    return inside


def _interval_row(where, who, values, low, high):
    array = values.to_numpy(float)
    n = len(array)
    below = above = np.nan
    if n > 1:
        below, above = np.quantile(bootstrap_means(array[:, None], DRAWS, 0, _groups(values)),
                                   [0.025, 0.975])
    return {"where": where, "a": who, "n": n, "value": array.mean() if n else np.nan,
            "low": below, "high": above, "verdict": _interval_verdict(below, above, low, high, n)}


def _interval_verdict(low, high, least, most, n):
    """Interval inside [least, most]: yes; outside: no. A fall to exactly 0 is an infinite ratio."""
    if n < MIN_TRIALS or np.isnan(low) or np.isnan(high):
        return OPEN
    if least <= low and high <= most:
        return YES
    return NO if high < least or low > most else OPEN


def _interval_outcome(check, rows, what, low, high):
    verdict = _quantified(pd.Series([r["verdict"] for r in rows]), check.get("quantifier", "all"))
    text = "; ".join(f"{r['a']} ({r['where']}): {_n(r['value'])} [{_n(r['low'])}, {_n(r['high'])}]"
                     for r in _shortened(rows))
    limits = (f"at most {high:g}" if not np.isfinite(low) else f"at least {low:g}"
              if not np.isfinite(high) else f"between {low:g} and {high:g}")
    return Outcome(verdict, f"{text}; {min(r['n'] for r in rows)} trials",
                   f"{what} {limits}, 95% bootstrap interval", rows)


def _shortened(rows, most=6):
    """The rows that decide: those against first."""
    order = {NO: 0, OPEN: 1, YES: 2}
    return sorted(rows, key=lambda r: order[r["verdict"]])[:most]


def _n(value):
    return "∞" if value == np.inf else f"{value:.3g}"


KINDS = {f.__name__: f for f in (better, comparable, group, lead, identical, within, drop, reach, growth,
                                 trend, law, exploitation, demonstration, density_distance,
                                 unchecked)}
