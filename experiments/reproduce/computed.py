"""Kinds of checks that need no results: they use a formula, or are computed here."""
import numpy as np
import pandas as pd

from regatta_analysis.claims.comparisons import better_item
from regatta_analysis.claims.items import certain, share_item
from regatta_analysis.claims.outcome import Item, Outcome, number
from regatta_analysis.claims.panels import Panel
from regatta_analysis.load.errors import InputError

from . import limits, roots


def law(check, _):
    """less, than: names of roots.ROOTS or methods; points, first, last: the first lies below the second at
    every t of first..last. By formula, no results needed.

    {kind: law, less: irgp_ucb, than: gp_ucb, points: 1000, first: 2, last: 200}
    """
    t = np.arange(int(check["first"]), int(check["last"]) + 1)
    points = check.get("points", 1000)
    a, b = (roots.law_curve(check[k], t, points) for k in ("less", "than"))
    holds = a < b
    worst = int(t[np.argmin(b - a)])
    text = (f"{check['less']} below {check['than']} at {holds.sum()} of {len(t)} t; closest at "
            f"t = {worst}: {number(a[worst - t[0]])} against {number(b[worst - t[0]])}")
    item = certain("formula", holds.all(), value=float(holds.mean()), least=1.0)
    return Outcome(text, f"formulas at t = {t[0]}..{t[-1]}, |X| = {points}", [item])


def optima(check, _):
    """shift: the design that is best under the true law of the shift example, less the one that is best under
    the assumed law, is at least this far from it (by formula, up to the sign of the design).

    {kind: optima, shift: 0.1}
    """
    from . import illustrations  # imported here and below, because Matplotlib takes half a second
    best = [illustrations.shifted_optimum(mean, sd) for mean, sd in (illustrations.ASSUMED, illustrations.TRUE)]
    gap = abs(best[1] - best[0])
    item = certain("formula", gap >= float(check["shift"]), value=gap, least=float(check["shift"]))
    return Outcome(f"best |x| {number(best[0])} under the assumed law, {number(best[1])} under the true "
                   "one", f"they differ by at least {check['shift']:g}", [item])


def exploitation(check, _):
    """runs: over this number of first samples of the damped cosine, queries of BOKE+ have larger values than
    those of BOKE on average (computed by illustrations.py, no results needed).

    {kind: exploitation, runs: 400}
    """
    from . import illustrations
    values = illustrations.query_values(int(check["runs"]))
    index = pd.MultiIndex.from_product([[0], range(len(values))], names=["instance", "seed"])
    table = pd.DataFrame(-values, index, columns=["BOKE", "BOKE+"])
    item = better_item(Panel("fig5", {"seeds": 1}), table, "BOKE+", "BOKE")
    means = -table.mean()
    return Outcome(f"mean value of the queries {number(means['BOKE+'])} (BOKE+) against {number(means['BOKE'])} (BOKE) in "
                   f"{item.n} runs; difference of a typical run {number(item.value)} [{number(item.low)}, "
                   f"{number(item.high)}], less is better; P(better) = {item.better:.2f} "
                   f"[{item.better_low:.2f}, {item.better_high:.2f}]",
                   "paired runs from the same five samples", [item], ties=True)


def demonstration(check, _):
    """what: regression | density | step (see demonstrations.py), runs: samples that are drawn, share: what a figure
    shows on one sample holds on at least this share of samples; computed, no results needed.

    {kind: demonstration, what: regression, runs: 400, share: 0.9}
    """
    from . import demonstrations
    runs, share = int(check["runs"]), float(check.get("share", 0.9))
    if check["what"] not in demonstrations.KINDS:
        raise InputError(f"unknown demonstration {check['what']!r} (known: "
                         f"{', '.join(demonstrations.KINDS)})")
    holds, item = demonstrations.holds(check["what"], runs), Item(check["what"], n=runs, units=runs)
    share_item(item, np.arange(runs) < holds, share)
    asked = " ".join(demonstrations.KINDS[check["what"]].__doc__.split())
    return Outcome(f"holds on {holds} of {runs} samples ({100 * item.value:.0f}% "
                   f"[{100 * item.low:.0f}, {100 * item.high:.0f}])",
                   f"{asked} On at least {100 * share:.0f}% of samples, exact binomial test.", [item])


def limit(check, _):
    """what: regression | weight | gp mean | gp variance (see limits.py), runs: random data sets; within: the value with
    the smallest bandwidth is at most so far from the proposition's limit, at every place of every data set, and the
    value with the largest is farther; computed, no results needed.

    {kind: limit, what: regression, runs: 100, within: 1.0e-6}
    """
    what, runs, border = check["what"], int(check["runs"]), float(check["within"])
    if what not in limits.KINDS:
        raise InputError(f"unknown limit {what!r} (known: {', '.join(limits.KINDS)})")
    found = limits.errors(what, runs)
    first, last = found[:, 0].min(), found[:, -1].max()
    wide, narrow = limits.BANDWIDTHS[0], limits.BANDWIDTHS[-1]
    item = certain(f"{what}, h = {narrow:g}", last <= border < first, n=runs, value=float(last), most=border)
    item.true = None  # no experiment of the paper is about it
    return Outcome(f"{what}: at most {number(last)} from its limit at h = {narrow:g}, at least {number(first)} at "
                   f"h = {wide:g}", f"largest difference over {runs} random data sets at most {border:g}", [item])
