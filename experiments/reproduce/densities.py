"""The check on Table 2 of arXiv:2312.10423: distances of density estimates, drawn here in stages."""
from dataclasses import replace

import numpy as np

from regatta_analysis.claims import judge
from regatta_analysis.claims.items import drawn_item
from regatta_analysis.claims.outcome import OPEN, YES, Item, Look, Outcome, decided, number, shortened
from regatta_analysis.claims.panels import EXPERIMENTS

from . import density_error

LOOKS = (320, 1280, 5120, 20480, 81920)  # runs of a law and size
BATCHES = LOOKS[0]  # of which means are made, so that a resample costs the same at every look


def density_distance(check, _):
    """sizes, factor, statistic: at every size the complicated law has at least `factor` times the distance
    of the normal one, and both fall with the size, by means or medians over runs (density_error.py, no results
    needed); the bootstrap over runs, 320 of them and four times as many at each of four more looks for the
    comparisons that are open, and experiments of density_error.RUNS runs.

    {kind: density_distance, sizes: [10, 100, 300], factor: 1.5, statistic: median}
    """
    statistic, items = check.get("statistic", "mean"), None
    asked = _comparisons(check["sizes"], float(check["factor"]))
    for count, runs in enumerate(LOOKS, 1):
        look = Look(count, tuple(items or ()))
        items = [_item(one, runs, statistic, look, old) for one, old in zip(asked, items or [None] * len(asked))]
        verdict = decided(items, look=look)
        if verdict != OPEN:
            break
    _picture(asked, items, statistic)
    text = "; ".join(f"{i.where} [{number(i.low)}, {number(i.high)}]" for i in shortened(items, 5))
    return Outcome(verdict, text, f"ratio of {statistic} distances at least {check['factor']:g}, changes below 0; "
                   f"up to {runs} runs", items, look=count)


def _comparisons(sizes, factor):
    """[(where, two pairs of law and size, what is made of their centres, borders within which it is to lie)]."""
    ratios = [(f"n = {n}: ratio", (("complicated", n), ("normal", n)), np.divide, (factor, np.inf)) for n in sizes]
    changes = [(f"{law}, n = {n} to {more}: change", ((law, more), (law, n)), np.subtract, (-np.inf, 0.0))
               for law in density_error.LAWS for n, more in zip(sizes, sizes[1:])]
    return ratios + changes


def _item(one, runs, statistic, look, old):
    """The item of a comparison at a look; that of the look before where it was shown there."""
    where, pairs, made, (low, high) = one
    if old and old.verdict == YES:
        return replace(old)
    drawn = made(*(_centres(pair, runs, statistic) for pair in pairs))
    item = Item(where, n=runs, units=BATCHES if statistic == "mean" else runs, level=look.level,
                value=float(np.median(drawn)), least=low, most=high)
    drawn_item(item, drawn, low, high)
    return item


def _centres(pair, runs, statistic):
    """Bootstrap draws of the centre of a law and size: of means of batches, or of all runs for the median."""
    values = density_error.distances(*pair, runs)
    if statistic == "mean":
        values = values.reshape(BATCHES, -1).mean(axis=1)
    n = len(values)
    counts = _random(1, pair).multinomial(n, np.full(n, 1.0 / n), size=judge.DRAWS)
    return judge.centres(values[:, None], counts, statistic)[:, 0]


def _picture(asked, items, statistic):
    """Set in which experiments of the paper's size each comparison shows, drawn from all the runs that there are."""
    runs = {}
    for (_, pairs, _, _), item in zip(asked, items):
        runs.update({pair: max(runs.get(pair, 0), item.n) for pair in pairs})
    centre = {pair: getattr(np, statistic)(density_error.distances(*pair, n)[
        _random(2, pair).integers(n, size=(EXPERIMENTS, density_error.RUNS))], axis=1) for pair, n in runs.items()}
    for (_, pairs, made, (low, high)), item in zip(asked, items):
        value = made(*(centre[pair] for pair in pairs))
        item.shown = (value >= low) & (value <= high)


def _random(use, pair):
    return np.random.default_rng([use, sorted(density_error.LAWS).index(pair[0]), pair[1]])
