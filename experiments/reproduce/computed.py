"""Kinds of checks that need no results: by formula, or computed here."""
import numpy as np
import pandas as pd

from regatta_analysis.claims.comparisons import better_item
from regatta_analysis.claims.items import certain, share_item
from regatta_analysis.claims.outcome import OPEN, Item, Look, Outcome, decided, number
from regatta_analysis.claims.panels import EXPERIMENTS, Panel
from regatta_analysis.load.errors import InputError

from . import roots


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
    return Outcome(decided([item]), text, f"formulas at t = {t[0]}..{t[-1]}, |X| = {points}", [item])


def optima(check, _):
    """shift: the design that is best under the true law of the shift example, less the one that is best under
    the assumed law, is at least this far from it (by formula, up to the sign of the design).

    {kind: optima, shift: 0.1}
    """
    from . import illustrations  # here, and below: Matplotlib takes half a second
    best = [illustrations.shifted_optimum(mean, sd) for mean, sd in (illustrations.ASSUMED, illustrations.TRUE)]
    gap = abs(best[1] - best[0])
    item = certain("formula", gap >= float(check["shift"]), value=gap, least=float(check["shift"]))
    return Outcome(decided([item]), f"best |x| {number(best[0])} under the assumed law, {number(best[1])} under the true "
                   "one", f"they differ by at least {check['shift']:g}", [item])


def exploitation(check, _):
    """runs: over so many first samples of the damped cosine, queries of BOKE+ have larger values than
    those of BOKE on average (computed by illustrations.py, no results needed).

    {kind: exploitation, runs: 400}
    """
    from . import illustrations
    values = illustrations.query_values(int(check["runs"]))
    index = pd.MultiIndex.from_product([[0], range(len(values))], names=["instance", "seed"])
    table = pd.DataFrame(-values, index, columns=["BOKE", "BOKE+"])
    item = better_item(Panel("fig5", {"seeds": 1}), table, "BOKE+", "BOKE", "mean")
    return Outcome(decided([item]), f"mean value of the queries {number(-item.more['mean_a'])} (BOKE+) against "
                   f"{number(-item.more['mean_b'])} (BOKE) in {item.n} runs, p = {number(item.holds)}, "
                   f"P(better) = {item.more['superiority']:.2f}",
                   "paired bootstrap of the mean over runs from the same five samples", [item])


LOOKS = 4  # at a demonstration, each at twice as many samples, until it is decided


def demonstration(check, _):
    """what: regression | density | step (see demonstrations.py), runs: samples that are drawn (twice as many
    while that leaves it undecided, three times at most), share: what a figure shows on one sample holds on at
    least this share of samples; computed, no results needed.

    {kind: demonstration, what: regression, runs: 400, share: 0.9}
    """
    from . import demonstrations
    runs, share, look = int(check["runs"]), float(check.get("share", 0.9)), Look()
    if check["what"] not in demonstrations.KINDS:
        raise InputError(f"unknown demonstration {check['what']!r} (known: "
                         f"{', '.join(demonstrations.KINDS)})")
    while True:
        outcome = _demonstration(check["what"], runs, share, look)
        if outcome.verdict != OPEN or look.number == LOOKS:
            return outcome
        runs, look = 2 * runs, Look(look.number + 1, tuple(outcome.items))


def _demonstration(what, runs, share, look):
    from . import demonstrations
    holds = demonstrations.holds(what, runs)
    item = Item(what, n=runs, units=runs, level=look.level)
    share_item(item, np.arange(runs) < holds, share)
    item.shown = np.arange(EXPERIMENTS) < EXPERIMENTS * holds / runs
    asked = " ".join(demonstrations.KINDS[what].__doc__.split())
    return Outcome(decided([item], look=look), f"holds on {holds} of {runs} samples ({100 * item.value:.0f}% "
                   f"[{100 * item.low:.0f}, {100 * item.high:.0f}])",
                   f"{asked} On at least {100 * share:.0f}% of samples, exact binomial test.", [item],
                   look=look.number)
