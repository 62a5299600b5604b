"""How many trials a study plans, in all and in every cell of its results. An incomplete file has no row for a trial that
is still to come, so that the plan is that of the study's text: the program's, or an estimate without the program."""
import yaml

from .program import planned
from .settings import AIMED, column_of
from .yaml_file import entries, parse_yaml


def listed(label, known):
    """The label of the study file behind one with swept settings in brackets."""
    return max((name for name in known if label == name or label.startswith(f"{name} (")), key=len, default=None)


class Plan:
    """The cells that a study plans, or those of a selection. `cells` is None if the program can't say them."""

    def __init__(self, study, path, columns):
        """`columns`: names of the swept settings of results."""
        cells = planned(study, str(path.parent))
        self._keep(study, cells and tuple({**cell, "settings": _plain_values(
            {column_of(name, columns): value for name, value in cell["settings"].items()})} for cell in cells))

    def _keep(self, study, cells):
        self.study, self.cells, self._tables, self._by_labels = study, cells, {}, {}
        for cell in cells or ():
            self._by_labels.setdefault((cell["problem"], cell["algorithm"]), []).append(cell)

    def select(self, problems, groups, algorithms, where):
        """The plan of a selection, as `Results.select` describes it. `groups` has the groups of results that are called
        so in `problems`."""
        made, known = object.__new__(Plan), entries(self.study, "algorithms")
        where = _plain_values(where)

        def has(cell):
            return (problems is None or cell["problem"] in problems or any(
                _stands(cell, group) for group in groups if group.label in problems)) and (
                algorithms is None or {cell["algorithm"], listed(cell["algorithm"], known)} & set(algorithms)) and all(
                cell["settings"].get(name, value) == value for name, value in where.items())
        made._keep(self.study, self.cells and tuple(cell for cell in self.cells if has(cell)))
        return made

    def total(self):
        """The number of trials; None if the program can't say it."""
        return None if self.cells is None else sum(cell["trials"] for cell in self.cells)

    def of(self, group, algorithm):
        """The number of trials of an algorithm on a problem at its values of the settings."""
        if self.cells is None:
            return self.pairs(group)
        at = _plain_values(group.at)
        aims = {None, group.place[len(group.base):].strip() or None}
        return sum(trials.get((aim, *(at[name] for name in names)), 0) for aim in aims
                   for names, trials in self._table(group.base, algorithm, tuple(at)).items())

    def _table(self, problem, algorithm, names):
        """{names of settings that cells read: {(score aimed at, their values): number of trials}}, of the planned cells
        of an algorithm on a problem; as far as the settings are in `names`."""
        if (problem, algorithm, names) not in self._tables:
            made = self._tables[problem, algorithm, names] = {}
            for cell in self._by_labels.get((problem, algorithm), ()):
                own = cell["settings"]
                read = tuple(name for name in names if name in own)
                trials, key = made.setdefault(read, {}), (own.get(AIMED), *(own[name] for name in read))
                trials[key] = trials.get(key, 0) + cell["trials"]
        return self._tables[problem, algorithm, names]

    def pairs(self, group):
        """An estimate of the pairs of instance and seed in a cell, by the study's text: its seeds, with the instances of
        the study where some trial has another one than the first."""
        found = set(zip(group.column("instance").tolist(), group.column("seed").tolist()))
        try:
            data = parse_yaml(self.study)
            seeds, instances = data.get("seeds", 1), data.get("instances", 1)
            n = int(seeds["count"]) if isinstance(seeds, dict) else len(seeds) if isinstance(seeds, list) else int(seeds)
            crossed = instances != "paired" and any(instance for instance, _ in found)
            return max(len(found), n * (int(instances) if crossed else 1))
        except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError):  # the text is no study
            return len(found)


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
    if text in ("true", "yes", "on", "True"):
        return True
    if text in ("false", "no", "off", "False"):
        return False
    try:
        return float(text)
    except ValueError:
        return "".join(text.split())
