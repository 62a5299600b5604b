"""Comparisons decided on the trials of a panel: by paired evidence, by a statistic of means, by a share of trials."""
import numpy as np
from scipy import stats

from . import bootstrap
from .grades import AGAINST, SHOWN, VOID
from .outcome import Item, Missing, Outcome, number, shortened
from ..stats import comparison, evidence
from ..stats.evidence import share_above

FIXED = ", for a number of trials that was fixed beforehand"
BOOTSTRAP = f"; bootstrap over instances and seeds{FIXED}"
BANDS = f"; shown by an interval for each query, refuted by bands for all methods and queries at once{FIXED}"


def new_item(panel, frame, a, b, of=None):
    """The Item of the trials in `frame`; `of` has its methods if they are not a and b."""
    cells = tuple(panel.cells[name] for name in of or (a, b) if name in panel.cells)
    return Item(panel.where, a, b, len(frame), len(units_of(frame)), cells, size=panel.size)


def units_of(frame):
    """Independent units as an array: trials, or means over instances where several trials share one."""
    return comparison.independent(frame).to_numpy(float)


def require_means(panel, frame):
    """A statement about means needs values that are all finite."""
    infinite = np.isinf(frame.to_numpy(float)).any(axis=1)
    if infinite.any():
        raise Missing(f"{panel.where}: no mean, a value is infinite in {infinite.sum()} of {len(frame)} trials")


def paired(item, frame, scale=None, statistic="mean", margin=None):
    """The Evidence on the two columns of `frame`. None without trials. If all values are equal, the comparison `item`
    is void. `margin` is the difference that makes none, see evidence.compare."""
    a, b = frame.to_numpy(float).T
    if not len(a):
        return None
    if len(a) > 1 and np.all(np.concatenate([a, b]) == a[0]):
        item.state = VOID
    return evidence.compare_columns(frame, scale, statistic=statistic, margin=margin)


def side(found, border, below=True):
    """Whether an effect is below a border (or above it), as a word of evidence."""
    return {"below": "shown" if below else "against", "above": "against" if below else "shown",
            "open": "open"}[found.against(border)]


def located(found, low, high):
    """The place of an effect against an interval that may lack an end, as a word of evidence."""
    if low <= (0.0 if found.scale == "ratio" else -np.inf):
        return side(found, high)
    return found.within(low, high) if high < np.inf else side(found, low, below=False)


def interval_item(panel, frame, low, high, scale, statistic="mean"):
    """The comparison of the two columns of a frame: their ratio or their difference lies in [low, high]. A statement
    about one method has its name and "" as columns."""
    item = new_item(panel, frame, *frame.columns)
    item.least, item.most = low, high
    found = paired(item, frame, scale)
    if found is not None:
        item.decide_by(found, lambda one: located(one, low, high))
        shows(item, frame, lambda centres: _inside(*centres.T, low, high, scale), statistic)
    return item


def _inside(a, b, low, high, scale):
    if scale == "difference":
        return (a - b >= low) & (a - b <= high)
    return (a >= max(low, 0.0) * b) & (a <= high * b if high < np.inf else True)


def shows(item, sample, true, statistic="mean"):
    """Say when a comparison is true: by the centres (draws x columns) of the columns of its sample."""
    item.sample, item.true, item.statistic = sample, true, statistic


def common_trials(cells):
    cells = list(cells)
    common = cells[0].index
    for cell in cells[1:]:
        common = common.intersection(cell.index)
    return common.sort_values()


def certain(where, holds, n=bootstrap.MIN_UNITS, **more):
    """A comparison without chance."""
    return Item(where, n=n, units=n, state=SHOWN if holds else AGAINST, true=lambda _: bool(holds), **more)


def share_item(item, reached, border, below=False):
    """Decide that the probability of `reached` (n,) is at least the border (or below it): Clopper and Pearson."""
    n, k = len(reached), int(np.sum(reached))
    item.value, item.least, item.most = k / max(n, 1), 0.0 if below else border, border if below else 1.0
    item.enclose(lambda level: (stats.beta.ppf(level, k, n - k + 1) if k else 0.0,
                                stats.beta.ppf(1.0 - level, k + 1, n - k) if k < n else 1.0))


def mean_share_item(item, shares):
    """Decide an item of `share_item` by the shares of instances (n,), whose trials are not independent. Valid for every
    law of shares, also where rare instances have none, and at any number of them."""
    item.enclose(lambda level: (share_above(shares, level), 1.0 - share_above(1.0 - shares, level)),
                 fixed=False)


def functional(panel, frame, who, statistic, low, high):
    """A comparison about a statistic of the means of the columns."""
    require_means(panel, frame)
    item, values, units = new_item(panel, frame, who, "", panel.cells), frame.to_numpy(float), units_of(frame)
    item.least, item.most = low, high
    if len(units):
        item.value = float(statistic(values.mean(axis=0, keepdims=True))[0])
        shows(item, frame, lambda centres: _inside(statistic(centres), 0.0, low, high, "difference"))
    if len(units) > 1:
        drawn, n = statistic(bootstrap.weights(len(units)) @ units), len(units)
        pseudo = n * statistic(units.mean(axis=0, keepdims=True)) - (n - 1) * statistic(bootstrap.leave_one_out(units))

        def ends(level):
            """The hull of two intervals: of the bootstrap, and of the jackknife's pseudo-values of a smooth statistic,
            whose mean accounts for their skewness."""
            both = bootstrap.drawn_interval(drawn, n, level), bootstrap.mean_interval(pseudo, level)
            return min(low for low, _ in both), max(high for _, high in both)
        item.enclose(ends if np.isfinite(pseudo).all() else lambda _: (-np.inf, np.inf))
    return item


def drawn_item(item, drawn):
    """Decide by bootstrap draws that a statistic lies between the item's borders."""
    item.enclose(lambda level: bootstrap.drawn_interval(drawn, item.units, level))


def interval_outcome(items, what, low, high, test=""):
    """The Outcome of comparisons that lie in [low, high]; `test` says how that was decided."""
    limits = (f"at most {high:g}" if not np.isfinite(low) else f"at least {low:g}"
              if not np.isfinite(high) else f"between {low:g} and {high:g}")
    return Outcome(_intervals_text, f"{what} {limits}{test}", items)


def _intervals_text(items):
    text = "; ".join(f"{i.a} ({i.where}): {number(i.value)} [{number(i.low)}, {number(i.high)}]"
                     for i in shortened(items))
    return f"{text}; {min(i.n for i in items)} trials"
