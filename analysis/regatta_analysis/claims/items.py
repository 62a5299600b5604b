"""Comparisons decided on the trials of a panel: by paired evidence, by a statistic of means, by a share of trials."""
import numpy as np
from scipy import stats

from . import judge
from .grades import AGAINST, EQUIVALENT, OPEN, SHOWN, VOID
from .outcome import LEVEL, Item, Missing, Outcome, number, shortened
from ..stats import comparison, evidence

STATES = {"better": SHOWN, "worse": AGAINST, "equivalent": EQUIVALENT, "inside": SHOWN, "outside": AGAINST,
          "shown": SHOWN, "against": AGAINST, "open": OPEN}


FIXED = ", for a number of trials that was fixed beforehand"
BOOTSTRAP = f"; bootstrap over instances and seeds{FIXED}"


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


def paired(item, frame, scale=None, statistic="mean", level=evidence.LEVEL):
    """The Evidence on the two columns of `frame`; `item` gets its numbers. None without trials. If all values are
    equal, the comparison is void."""
    a, b = frame.to_numpy(float).T
    if not len(a):
        return None
    groups = frame.index.get_level_values("instance") if "instance" in frame.index.names else None
    found = evidence.compare(a, b, groups, scale or evidence.scale_of(a, b), statistic=statistic, level=level)
    item.learn(found)
    if len(a) > 1 and np.all(np.concatenate([a, b]) == a[0]):
        item.state = VOID
    return found


def settle(item, found):
    """Set the outcome of a comparison from a word of evidence, unless it is void."""
    if item.state != VOID:
        item.state = STATES[found]


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
        settle(item, located(found, low, high))
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


def certain(where, holds, n=judge.MIN_UNITS, **more):
    """A comparison without chance."""
    return Item(where, n=n, units=n, state=SHOWN if holds else AGAINST, true=lambda _: bool(holds), **more)


def share_item(item, reached, border, below=False):
    """Decide that the probability of `reached` is at least the border (or below it): Clopper, Pearson."""
    n, k = len(reached), int(np.sum(reached))
    at_least, at_most = float(stats.binom.sf(k - 1, n, border)), float(stats.binom.cdf(k, n, border))
    item.decide(*((at_most, at_least) if below else (at_least, at_most)))
    item.value, item.least, item.most = k / max(n, 1), 0.0 if below else border, border if below else 1.0
    item.low = stats.beta.ppf(LEVEL, k, n - k + 1) if k else 0.0
    item.high = stats.beta.ppf(1.0 - LEVEL, k + 1, n - k) if k < n else 1.0


def functional(panel, frame, who, statistic, low, high):
    """A comparison about a statistic of the means of the columns."""
    require_means(panel, frame)
    item, values, units = new_item(panel, frame, who, "", panel.cells), frame.to_numpy(float), units_of(frame)
    item.least, item.most = low, high
    if len(units):
        item.value = float(statistic(values.mean(axis=0, keepdims=True))[0])
        shows(item, frame, lambda centres: _inside(statistic(centres), 0.0, low, high, "difference"))
    if len(units) >= judge.MIN_UNITS:
        holds, fails = drawn_item(item, statistic(judge.weights(len(units)) @ units), low, high)
        n, centre = len(units), statistic(units.mean(axis=0, keepdims=True))
        pseudo = n * centre - (n - 1) * statistic(judge.leave_one_out(units))
        again = judge.pseudo_inside(pseudo, low, high)
        item.decide(max(holds, float(again[0])), max(fails, float(again[1])))
    return item


def drawn_item(item, drawn, low, high):
    """Decide that a statistic lies within [low, high] by its bootstrap draws; its p values."""
    holds, fails = map(float, judge.inside(drawn, low, high, item.units))
    item.low, item.high = judge.drawn_interval(drawn, item.units, LEVEL)
    if item.units >= judge.MIN_UNITS:
        item.decide(holds, fails)
    return holds, fails


def interval_outcome(items, what, low, high, test=""):
    """The Outcome of comparisons that lie in [low, high]; `test` says how that was decided."""
    text = "; ".join(f"{i.a} ({i.where}): {number(i.value)} [{number(i.low)}, {number(i.high)}]"
                     for i in shortened(items))
    limits = (f"at most {high:g}" if not np.isfinite(low) else f"at least {low:g}"
              if not np.isfinite(high) else f"between {low:g} and {high:g}")
    return Outcome(f"{text}; {min(i.n for i in items)} trials", f"{what} {limits}{test}", items)
