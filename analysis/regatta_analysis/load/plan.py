"""How many trials a study plans, in all and in every cell of its results. An incomplete file has no row for a cell that
is still to come, so that the plan is the program's; without the program, what the file says of the cells it has."""
import numpy as np

from .program import planned
from .settings import AIMED, column_of

WORDS = {**dict.fromkeys(("true", "yes", "on", "True"), True), **dict.fromkeys(("false", "no", "off", "False"), False)}


class Plan:
    """The cells that a study plans, or those of a selection. `cells` is None if the program can't say them."""

    def __init__(self, cells):
        self.cells, self._tables, self._by_labels = cells, {}, {}
        for cell in cells or ():
            self._by_labels.setdefault((cell["problem"], cell["algorithm"]), []).append(cell)

    def select(self, problems, groups, algorithms, where):
        """The plan of a selection, as `Results.select` describes it. `groups` has the groups of results that are called
        so in `problems`."""
        where = _plain_values(where)

        def has(cell):
            return (problems is None or cell["problem"] in problems or any(
                _stands(cell, group) for group in groups if group.label in problems)) and (
                algorithms is None or {cell["algorithm"], cell["method"]} & set(algorithms)) and all(
                cell["settings"].get(name, value) == value for name, value in where.items())
        return Plan(self.cells and tuple(cell for cell in self.cells if has(cell)))

    def total(self):
        """The number of trials; None if the program can't say it."""
        return None if self.cells is None else sum(cell["trials"] for cell in self.cells)

    def of(self, group, algorithm):
        """The number of trials of an algorithm on a problem at its values of the settings."""
        if self.cells is None:
            return pairs(group)
        at = _plain_values(group.at)
        aims = {None, group.place[len(group.base):].strip() or None}
        return sum(trials.get((aim, *(at[name] for name in names)), 0) for aim in aims
                   for names, trials in self._table(group.base, algorithm, tuple(at)).items())

    def _table(self, problem, algorithm, names):
        """{names of settings that cells read: {(score aimed at, their values): number of trials}}. It counts the planned
        cells of an algorithm on a problem, and the settings that are in `names`."""
        if (problem, algorithm, names) not in self._tables:
            made = self._tables[problem, algorithm, names] = {}
            for cell in self._by_labels.get((problem, algorithm), ()):
                own = cell["settings"]
                read = tuple(name for name in names if name in own)
                trials, key = made.setdefault(read, {}), (own.get(AIMED), *(own[name] for name in read))
                trials[key] = trials.get(key, 0) + cell["trials"]
        return self._tables[problem, algorithm, names]


def plan_of(study, path, columns):
    """The Plan of the text of a study, whose results are at `path`. `columns`: names of their swept settings."""
    cells = planned(study, str(path.parent))
    return Plan(cells and tuple({**cell, "settings": _plain_values(
        {column_of(name, columns): value for name, value in cell["settings"].items()})} for cell in cells))


def pairs(group):
    """The pairs of instance and seed that the study plans for a cell of a group, as its file says."""
    found = len(set(zip(group.column("instance").tolist(), group.column("seed").tolist())))
    planned_pairs = group.constant("planned_seeds") * group.constant("planned_instances")
    return max(found, int(np.nan_to_num(planned_pairs.astype(float)).max(initial=0)))


def _stands(cell, group):
    """Whether the trials of a planned cell are in a group of the results."""
    score, at, own = group.place[len(group.base):].strip(), _plain_values(group.at), cell["settings"]
    return (cell["problem"] == group.base and (not score or own.get(AIMED, score) == score)
            and all(own.get(name, value) == value for name, value in at.items()))


def _plain_values(at):
    """{name: value} of settings, of a plan or as texts, in which equal values are equal."""
    return {name: _plain(value) for name, value in at.items()}


def _plain(value):
    text = str(value).strip('"')
    if text in WORDS:
        return WORDS[text]
    try:
        return float(text)
    except ValueError:
        return "".join(text.split())
