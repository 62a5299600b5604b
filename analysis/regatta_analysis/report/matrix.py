"""The comparisons of a study as matrices, method against method: P(better), its interval, a colour for its side and a mark
for what the comparison shows, so that no reader depends on the colour."""
from dataclasses import dataclass

import numpy as np

from ..figures import style
from . import answer

MARKS = {answer.SHOWN: "▲", answer.SUGGESTED: "△", answer.ALIKE: "=", answer.OPEN: "·"}
TURNED = {"▲": "▼", "△": "▽"}
KEY = ("P(better): the share of pairs that the method of the row wins. ▲ shown better, △ suggested, · open, = no difference "
       "in practice; ▼ ▽ the other is better.")
HOW = ("Rows and columns are in the order of their medians, the best first. The interval holds at any number of trials. "
       "Shown: better after Holm's correction over all pairs of the study (of the methods, over all problems together). "
       "Suggested: better at 5% by itself. On a problem the interval of the ratio decides, which the tables have: it also "
       "weighs by how much pairs are won, while that of P(better) counts wins alone. A deeper colour: a share farther from "
       "one half.")
FEW = 12  # methods up to which cells have intervals


@dataclass(frozen=True)
class Cell:
    """P(better) as text, its interval, the mark, and the class of the colour: w1 to w4 where the row wins, l1 to l4 where
    it loses."""
    share: str
    interval: str
    mark: str
    kind: str


@dataclass(frozen=True)
class Matrix:
    """The names of the methods, and for each row its cells; None on the diagonal and without a common trial."""
    title: str
    names: list
    rows: list
    few: bool


def matrices(frame, found, titles):
    """A Matrix for each problem of `inference.comparisons`, in its order. `found`: the answer's findings, which order the
    methods."""
    medians, made = {f.problem: f.medians for f in found}, []
    for problem, rows in frame[frame["n"] > 0].groupby("problem", sort=False):
        order = medians.get(problem, {})
        methods = sorted(dict.fromkeys([*rows["a"], *rows["b"]]), key=lambda m: order.get(m, np.inf))
        cells = {}
        for row in rows.itertuples():
            for one in (row.a, row.b):
                rival = answer.seen_from(one, row)
                cells[one, rival.name] = _cell(rival)
        names = style.shown_names(methods)
        made.append(Matrix(titles[problem], [names[m] for m in methods],
                           [[cells.get((a, b)) for b in methods] for a in methods], len(methods) <= FEW))
    return made


def together(whole, every):
    """The Matrix of all problems together, in a list, from `aggregate.made`; none where no pair has a common problem."""
    if not len(every):
        return []
    order = answer.Finding("", "", dict(zip(whole["algorithm"], whole["ratio"])), 0, ())
    frame = every.rename(columns={"ratio": "effect"}).assign(problem="")
    return matrices(frame, [order], {"": "All problems together"})


def _cell(rival):
    """The cell of a method against a rival."""
    if np.isnan(rival.better):
        return None
    mark = MARKS.get(rival.grade) or TURNED[MARKS[rival.against]]
    far = min(4, int(8.0 * abs(rival.better - 0.5) + 0.5))
    kind = f"{'w' if rival.better > 0.5 else 'l'}{far}" if far else ""
    interval = f"[{_share(rival.better_low)}, {_share(rival.better_high)}]"
    return Cell(_share(rival.better), interval, mark, kind)


def _share(value):
    return f"{value:.2f}".replace("0.", ".", 1) if value < 0.995 else "1"
