"""Items decided on the trials of a panel: by means, by a statistic of means, by a share of trials."""
import numpy as np
from scipy import stats

from . import judge
from .outcome import Item, Missing, Outcome, decided, number, shortened
from .panels import EXPERIMENTS
from ..stats import comparison


def new_item(panel, frame, a, b, of=None):
    """The Item of the trials in `frame`; `of`: its methods where they are not a and b."""
    cells = tuple(panel.cells[name] for name in of or (a, b) if name in panel.cells)
    return Item(panel.where, a, b, len(frame), len(units_of(frame)), cells, panel.level)


def units_of(frame):
    """Independent units as an array: trials, or means over instances where several trials share one."""
    return comparison.independent(frame).to_numpy(float)


def require_means(panel, frame):
    """A statement about means needs values that are all finite."""
    infinite = np.isinf(frame.to_numpy(float)).any(axis=1)
    if infinite.any():
        raise Missing(f"{panel.where}: no mean, a value is infinite in {infinite.sum()} of {len(frame)} trials")


def centre_of(values, statistic):
    return float(np.mean(values) if statistic == "mean" else np.median(values)) if len(values) else np.nan


def medians(frame):
    """Bootstrap draws of the medians of the columns (draws x columns); trials that share an instance are drawn
    together."""
    instance = frame.index.get_level_values("instance").to_numpy()
    crossed = 1 < len(set(instance)) < len(instance)
    label = np.unique(instance, return_inverse=True)[1] if crossed else np.arange(len(instance))
    counts = np.round(judge.weights(label.max() + 1) * (label.max() + 1))[:, label]
    return judge.centres(frame.to_numpy(float), counts, "median")


def common_trials(cells):
    cells = list(cells)
    common = cells[0].index
    for cell in cells[1:]:
        common = common.intersection(cell.index)
    return common.sort_values()


def contrasts(item, panel, frame, signs, offset=0.0):
    """Decide that the means of frame @ signs + offset are all at most 0."""
    require_means(panel, frame)
    units, signs = units_of(frame), np.atleast_2d(signs)
    if len(units) > 1:
        d = units @ signs.T + offset
        found = [judge.mean_below(column) for column in d.T]
        zero = [not np.any(column) for column in d.T]  # equal, which the border allows
        item.holds = max(0.5**len(d) if z else float(f[0]) for f, z in zip(found, zero))
        item.fails = min(1.0, len(found) * min(float(f[1]) for f in found))
        item.needed = max(judge.needed(column, item.level) for column in d.T)
    if len(frame):
        drawn = judge.centres(frame.to_numpy(float), panel.experiments(frame.index))
        item.shown = np.all(drawn @ signs.T + offset <= 0.0, axis=1)


def ratio(data, units, level):
    """Ratio of the means of two columns with its interval at a level; 1 where both are equal."""
    if len(units) < 2:
        return np.nan, np.nan, np.nan
    means = judge.weights(len(units)) @ units
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.where(means[:, 0] == means[:, 1], 1.0, means[:, 0] / means[:, 1])
        centre = data.mean(axis=0)
        value = 1.0 if centre[0] == centre[1] else centre[0] / centre[1]
    return (value, *judge.drawn_interval(drawn, len(units), level))


def certain(where, holds, n=judge.MIN_UNITS, **more):
    """An item without chance."""
    return Item(where, n=n, units=max(n, judge.MIN_UNITS), holds=0.0 if holds else 1.0,
                fails=1.0 if holds else 0.0, shown=np.full(EXPERIMENTS, bool(holds)), **more)


def share_item(item, reached, border, below=False):
    """Decide that the probability of `reached` is at least the border (or below it): Clopper, Pearson."""
    n, k = len(reached), int(np.sum(reached))
    at_least, at_most = stats.binom.sf(k - 1, n, border), stats.binom.cdf(k, n, border)
    item.holds, item.fails = (at_most, at_least) if below else (at_least, at_most)
    item.value, item.least, item.most = k / max(n, 1), 0.0 if below else border, border if below else 1.0
    item.low = stats.beta.ppf(item.level, k, n - k + 1) if k else 0.0
    item.high = stats.beta.ppf(1.0 - item.level, k + 1, n - k) if k < n else 1.0
    gap = abs(k / max(n, 1) - border)
    at_level = 10.8 * judge.more_units(item.level, judge.LEVEL)
    item.needed = at_level * border * (1.0 - border) / gap**2 if gap else np.inf


def functional(panel, frame, who, statistic, low, high):
    """An item about a statistic of the means of the columns."""
    require_means(panel, frame)
    item, values, units = new_item(panel, frame, who, "", panel.cells), frame.to_numpy(float), units_of(frame)
    item.least, item.most = low, high
    if len(units):
        item.value = float(statistic(values.mean(axis=0, keepdims=True))[0])
        shown = statistic(judge.centres(values, panel.experiments(frame.index)))
        item.shown = (shown >= low) & (shown <= high)
    if len(units) > 1:
        drawn_item(item, statistic(judge.weights(len(units)) @ units), low, high)
        n, centre = len(units), statistic(units.mean(axis=0, keepdims=True))
        pseudo = n * centre - (n - 1) * statistic(judge.leave_one_out(units))
        holds, fails = judge.pseudo_inside(pseudo, low, high)
        item.holds, item.fails = max(item.holds, float(holds)), max(item.fails, float(fails))
    return item


def drawn_item(item, drawn, low, high):
    """Decide that a statistic lies within [low, high] by its bootstrap draws."""
    item.holds, item.fails = map(float, judge.inside(drawn, low, high, item.units))
    item.low, item.high = judge.drawn_interval(drawn, item.units, item.level)
    centre, spread = np.nanmedian(drawn), np.nanstd(drawn)
    gap = min(abs(centre - limit) for limit in (low, high) if np.isfinite(limit))
    at_level = 10.0 * judge.more_units(item.level, judge.LEVEL)
    item.needed = item.units * at_level * spread**2 / gap**2 if gap and np.isfinite(gap) else np.inf


def interval_outcome(studies, items, what, low, high):
    """The Outcome of items that lie in [low, high]."""
    verdict = decided(items, "all", studies.look)
    text = "; ".join(f"{i.a} ({i.where}): {number(i.value)} [{number(i.low)}, {number(i.high)}]"
                     for i in shortened(items))
    limits = (f"at most {high:g}" if not np.isfinite(low) else f"at least {low:g}"
              if not np.isfinite(high) else f"between {low:g} and {high:g}")
    return Outcome(verdict, f"{text}; {min(i.n for i in items)} trials",
                   f"{what} {limits}", items)
