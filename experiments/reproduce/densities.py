"""The check on Table 2 of arXiv:2312.10423: distances of density estimates from samples drawn here."""
import numpy as np
from regatta_analysis.claims import bootstrap
from regatta_analysis.claims.items import drawn_item
from regatta_analysis.claims.outcome import Item, Outcome, number, shortened

from . import density_error, pictures

RUNS = 5120  # runs per law and size
BATCHES = 320  # batches whose means are resampled, which costs less


def density_distance(check, _):
    """sizes, factor, statistic: at every size the complicated law has at least `factor` times the distance
    of the normal one, and both fall with the size, by means or medians over runs (density_error.py, no results
    needed); the bootstrap over RUNS runs, and experiments of density_error.RUNS runs.

    {kind: density_distance, sizes: [10, 100, 300], factor: 1.5, statistic: median}
    """
    statistic, asked = check.get("statistic", "mean"), _comparisons(check["sizes"], float(check["factor"]))
    items = [_item(one, statistic) for one in asked]
    _picture(asked, items, statistic)
    text = "; ".join(f"{i.where} [{number(i.low)}, {number(i.high)}]" for i in shortened(items, 5))
    return Outcome(text, f"ratio of {statistic} distances at least {check['factor']:g}, changes below 0; {RUNS} runs",
                   items)


def _comparisons(sizes, factor):
    """[(where, two pairs of law and size, what is made of their centres, borders within which it is to lie)]."""
    ratios = [(f"n = {n}: ratio", (("complicated", n), ("normal", n)), np.divide, (factor, np.inf)) for n in sizes]
    changes = [(f"{law}, n = {n} to {more}: change", ((law, more), (law, n)), np.subtract, (-np.inf, 0.0))
               for law in density_error.LAWS for n, more in zip(sizes, sizes[1:])]
    return ratios + changes


def _item(one, statistic):
    """The comparison of centres of two pairs of law and size."""
    where, pairs, made, (low, high) = one
    drawn = made(*(_centres(pair, statistic) for pair in pairs))
    item = Item(where, n=RUNS, units=BATCHES if statistic == "mean" else RUNS, value=float(np.median(drawn)), least=low,
                most=high)
    drawn_item(item, drawn)
    return item


def _centres(pair, statistic):
    """Bootstrap draws of the centre of a law and size: of means of batches, or of all runs for the median."""
    values = density_error.distances(*pair, RUNS)
    if statistic == "mean":
        values = values.reshape(BATCHES, -1).mean(axis=1)
    n = len(values)
    counts = _random(1, pair).multinomial(n, np.full(n, 1.0 / n), size=bootstrap.DRAWS)
    return pictures.centres(values[:, None], counts, statistic)[:, 0]


def _picture(asked, items, statistic):
    """Set the experiments of the paper's size in which each comparison shows. The runs are so numerous that resampled
    runs would give the same share; so all experiments are drawn in the same way."""
    laws = dict.fromkeys(pair for _, pairs, _, _ in asked for pair in pairs)
    centre = {pair: getattr(np, statistic)(density_error.distances(*pair, RUNS)[
        _random(2, pair).integers(RUNS, size=(pictures.EXPERIMENTS, density_error.RUNS))], axis=1) for pair in laws}
    for (_, pairs, made, (low, high)), item in zip(asked, items):
        value = made(*(centre[pair] for pair in pairs))
        shown = (value >= low) & (value <= high)
        item.true = lambda _, shown=shown: shown


def _random(use, pair):
    return np.random.default_rng([use, sorted(density_error.LAWS).index(pair[0]), pair[1]])
