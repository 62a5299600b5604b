"""The settings that a paper leaves open (experiments/PAPER/settings.yaml), and results under each of them.

The file lists figures. A figure has its study files, `size`, the trials of the paper's own experiment, and its
`settings`, or `because`, the reason why it has none. A setting has an id, a description and alternatives. An
alternative has `set`, the keys of the study file (paths as in its `sweep`) with values, `because`, a reason, and
`source`. A study file without the method or problem of a key does without this key. `ours: true` marks the alternative
of the study file; `paper: true` marks one that is known to be the paper's. A universe chooses one alternative for each
setting of a figure. `design: crossed` (the default) takes all combinations; `design: one at a time` takes those that
differ from ours in one setting, and so does a setting with `alone: true` beside settings that are crossed.

The universes of a study are one sweep of it, with the same trials, results file and resume. The key of a trial has
every option of its run, and so tells its universe."""
import functools
import itertools
import json
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import yaml
from regatta_analysis.claims import claims
from regatta_analysis.claims.panels import names
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.group import Group
from regatta_analysis.load.results import Results
from regatta_analysis.load.settings import PARTS, split
from regatta_analysis.load.yaml_file import mappings, read_yaml

from . import pictures

MARK = "# settings that the paper leaves open (settings.yaml)"
DESIGNS = ("crossed", "one at a time")
LAYERS = ("common", "problems", "algorithms")  # a later layer has priority
BLOCKS = ("surrogate", "maximiser")
QUERIES = ".iterations"  # ends the paths of numbers of queries
TELESCOPE = 2.5


@dataclass(frozen=True)
class Setting:
    """A choice that the paper leaves open."""
    id: str
    what: str
    alternatives: tuple  # of dictionaries: id, set, because, source, ours, paper
    alone: bool = False  # whether it is not crossed with the other settings


@dataclass(frozen=True, eq=False)
class Figure:
    """Study files with the same open settings."""
    id: str
    studies: tuple
    size: dict
    design: str
    settings: tuple

    def universes(self):
        """[{setting: alternative}], ours first."""
        ours = {s.id: _ours(s)["id"] for s in self.settings}
        crossed = [s for s in self.settings if self.design == "crossed" and not s.alone]
        names = [[a["id"] for a in s.alternatives] for s in crossed]
        rows = [ours | dict(zip([s.id for s in crossed], row)) for row in itertools.product(*names)]
        rows += [ours | {s.id: a["id"]} for s in self.settings for a in s.alternatives]
        return [ours] + [row for row in _distinct(rows) if row != ours]

    def values(self, universe):
        """{path of the study file: value} of a universe."""
        found = {}
        for setting in self.settings:
            chosen = universe.get(setting.id, _ours(setting)["id"])
            found |= next(a["set"] for a in setting.alternatives if a["id"] == chosen)
        return found

    def fewest(self):
        """{path: the smallest alternative} of the numbers of queries that are open."""
        paths = [path for path in self.values({}) if path.endswith(QUERIES)]
        return {path: min(a["set"][path] for s in self.settings for a in s.alternatives if path in a["set"]) for path in paths}


class Settings:
    """The content of settings.yaml; empty without such a file."""

    def __init__(self, figures=()):
        self.figures = tuple(figures)
        self._by_study = {study: figure for figure in self.figures for study in figure.studies}

    def figure(self, study):
        """The Figure of a study file, None when no setting of it is open."""
        return self._by_study.get(study)

    def size(self, study):
        """Trials of the paper's experiment; {} if they are not known."""
        figure = self.figure(study)
        return figure.size if figure else {}

    def universes(self, studies):
        """The universes of these studies together: combinations that agree in the settings that the studies share."""
        rows = [{}]
        for figure in dict.fromkeys(self.figure(s) for s in studies):
            if figure is not None and figure.settings:
                rows = [a | b for a in rows for b in figure.universes()
                        if all(a.get(key, b[key]) == b[key] for key in b)]
        return rows

    def settings(self, studies):
        """The settings of these studies, by id."""
        return {s.id: s for study in studies if self.figure(study) for s in self.figure(study).settings}

    def ours(self, studies):
        """The universe of the study files as they are."""
        return {key: _ours(setting)["id"] for key, setting in self.settings(studies).items()}


def _distinct(rows):
    return list({tuple(row.items()): row for row in rows}.values())


def _ours(setting):
    return next(a for a in setting.alternatives if a.get("ours"))


@functools.lru_cache(maxsize=None)
def read(path):
    """The Settings of a file; raises InputError with one line for what is wrong in it."""
    if not path.exists():
        return Settings()
    data = read_yaml(path)
    if not isinstance(data, dict) or "figures" not in data:
        raise InputError(f"{path}: no settings file (a mapping with a list 'figures')")
    figures = []
    for entry in mappings(path, "figures", data["figures"]):
        where = f"{path}: figure {entry.get('id', '?')}"
        _known(where, entry, {"id", "studies"}, {"size", "design", "settings", "because"})
        if ("settings" in entry) == bool(str(entry.get("because") or "").strip()):
            raise InputError(f"{where} needs 'settings', or else 'because', why it has none")
        if entry.get("design", DESIGNS[0]) not in DESIGNS:
            raise InputError(f"{where}: design {entry['design']!r} (known: {', '.join(DESIGNS)})")
        size = entry.get("size", {})
        if not isinstance(entry["studies"], list) or not isinstance(size, dict) or set(size) - {"instances", "seeds"} \
                or not all(isinstance(n, int) and n > 0 for n in size.values()):
            raise InputError(f"{where}: studies is a list of names, size a mapping of instances and seeds to numbers")
        settings = tuple(_setting(where, s) for s in mappings(where, "settings", entry["settings"])
                         ) if "settings" in entry else ()
        figures.append(Figure(str(entry["id"]), tuple(entry["studies"]), dict(size),
                              entry.get("design", DESIGNS[0]), settings))
    studies = [s for f in figures for s in f.studies]
    twice = [s for k, s in enumerate(studies) if s in studies[:k]]
    if twice:
        raise InputError(f"{path}: study {twice[0]} stands under two figures")
    return Settings(figures)


def _known(where, entry, needed, allowed):
    for key in needed:
        if key not in entry:
            raise InputError(f"{where} lacks {key!r}")
    unknown = set(entry) - needed - allowed
    if unknown:
        raise InputError(f"{where}: unknown key {sorted(unknown)[0]!r}")


def _setting(where, entry):
    where += f", setting {entry.get('id', '?')}"
    _known(where, entry, {"id", "what", "alternatives"}, {"alone"})
    for alternative in mappings(where, "alternatives", entry["alternatives"]):
        place, values = f"{where}, {alternative.get('id', '?')}", alternative.get("set", {})
        _known(place, alternative, {"id", "set", "because", "source"}, {"ours", "paper"})
        if not isinstance(values, dict) or not all(str(key).partition(".")[0] in LAYERS for key in values):
            raise InputError(f"{place}: set is a mapping of paths that begin with {', '.join(LAYERS)}")
    named = [str(a["id"]) for a in entry["alternatives"]]
    if len(set(named)) < len(named):
        raise InputError(f"{where}: two alternatives have one id")
    ours = [a for a in entry["alternatives"] if a.get("ours")]
    if len(ours) != 1:
        raise InputError(f"{where}: one alternative is ours, not {len(ours)}")
    for alternative in entry["alternatives"]:
        missing = set(ours[0]["set"]) ^ set(alternative["set"])
        if missing:
            raise InputError(f"{where}: {sorted(missing)[0]!r} is not set by every alternative")
    return Setting(str(entry["id"]), " ".join(str(entry["what"]).split()),
                   tuple(a | {"id": str(a["id"]), "because": " ".join(str(a["because"]).split())}
                         for a in entry["alternatives"]), bool(entry.get("alone")))


class Multiverse(claims.Studies):
    """Results of a paper in one universe (ours by default)."""

    def __init__(self, files, directory=None, settings=None, universe=None, raw=None, ours=None):
        super().__init__(files, raw=raw)
        self._ours = ours or self
        self.directory, self.settings, self.universe = directory, settings or Settings(), universe or {}
        self._views = {}

    def universes(self, studies):
        return self.settings.universes(studies)

    def within(self, universe):
        return Multiverse(self.files, self.directory, self.settings, universe, self._raw, self._ours)

    def whole_study(self, study):
        """The results in our own universe. A setting of one method or problem leaves the trials of the others as they are,
        so a universe that never ran has trials too, of some methods on some problems."""
        return self._ours.get(study) or self.get(study)

    def open_settings(self, studies):
        return self.settings.settings(studies)

    def size(self, where):
        """Trials of the paper's experiment at a place that `panels` names; {} if they are not known, or if the results
        have fewer queries than the paper's."""
        return self.settings.size(where.partition(",")[0])

    def enough(self, where):
        """2.5 times the trials of the paper's experiment (small telescopes: Simonsohn 2015)."""
        size = self.settings.size(where.partition(",")[0])
        return TELESCOPE * int(np.prod(list(size.values()))) if size else super().enough(where)

    def text(self, study):
        file = self.directory and self.directory / f"{study}.yaml"
        return file.read_text(encoding="utf-8") if file and file.exists() else ""

    def shortened(self, study):
        """Whether the results of a study have fewer queries on a problem than the study file of the paper."""
        results, text = self.whole(study), self.text(study)
        if results is None or not text:
            return False
        here, there = _queries(results.study), _queries(text)
        return any(here[label] < there[label] for label in set(here) & set(there))

    def signature(self, found):
        seen = []
        for check in found:
            mine = [n for key in ("who", "against", "among") for n in names(check.get(key, []))]
            everybody = check.get("kind") == "lead" and "among" not in check
            for place in [p for key in ("on", "versus") for p in names(check.get(key, []))]:
                study, _, problem = place.partition("/")
                results = self.get(study)
                if results is None:
                    seen.append((place, None))
                    continue
                for one in [problem] if problem in results.problems else results.problems:
                    group = results.group(one)
                    keep = np.isin(group.column("algorithm"), mine) | everybody
                    seen.append((place, group.label, group.rows[keep].tobytes()))
        return tuple(seen)

    picture = staticmethod(pictures.picture)

    def get(self, study):
        results, figure = self.whole(study), self.settings.figure(study)
        if results is None or figure is None or not figure.settings:
            return results
        if study not in self._views:
            self._views[study] = view(results, figure, self.universe)
        return self._views[study]


def studies_of(directory, files):
    """The results `files` of the paper in a directory with its open settings."""
    return Multiverse(files, directory, read(directory / "settings.yaml"))


@functools.lru_cache(maxsize=64)
def _queries(study):
    """{problem: its number of queries} by the text of a study file."""
    data = yaml.safe_load(study) or {}
    entries = [entry if isinstance(entry, dict) else {"name": entry} for entry in data.get("problems", [])]
    common = data.get("common", {}).get("iterations", 0)
    return {str(entry.get("label", entry["name"])): int(entry.get("iterations", common)) for entry in entries}


# ---- study files -------------------------------------------------------------------------------


def swept(text, figure, queries=True):
    """The text of a study file with the universes of the figure as one axis of its sweep. Without `queries` no universe
    changes the number of queries."""
    entries = _entries(text)
    rows = _distinct({path: value for path, value in figure.values(universe).items() if _reads(entries, path)
                      and (queries or not path.endswith(QUERIES))} for universe in figure.universes())
    if len(rows) < 2:
        return text
    lines = [f"{json.dumps(path)}: [{', '.join(_text(row[path]) for row in rows)}]" for path in rows[0]
             if len({_text(row[path]) for row in rows}) > 1]
    axis = f"  {MARK}\n  - " + "\n    ".join(lines) + "\n"
    if re.search(r"(?m)^sweep:[ \t]*$", text):
        return re.sub(r"(?m)^sweep:[ \t]*\n", lambda m: m[0] + axis, text)
    return f"{text.rstrip()}\n\nsweep:\n{axis}"


def _reads(entries, path):
    """Whether a study with these entries, (layer, label), has the method or problem of a path."""
    layer, _, rest = path.partition(".")
    return layer == LAYERS[0] or any(layer == had and rest.startswith(f"{label}.") for had, label in entries)


def _text(value):
    return json.dumps(value) if isinstance(value, (bool, str)) else repr(value)


# ---- results -----------------------------------------------------------------------------------


class _View(Group):
    """The trials of one problem that belong to a universe; their labels have no swept settings."""

    def __init__(self, group, label, rows, names):
        super().__init__(group._path, label, group._table, rows, _without(group.base, names))
        self._names = names

    def column(self, name):
        values = super().column(name)
        if name == "algorithm":
            codes, labels = pd.factorize(values)
            values = np.array([_without(label, self._names) for label in labels], object)[codes]
        return values


def view(results, figure, universe):
    """The trials of a universe as results of the study without its sweep. None if there are no such trials."""
    values, ours, fewest = figure.values(universe), figure.values({}), figure.fewest()
    names = frozenset(_name(path) for path in ours)
    found, entries = {}, _entries(results.study)
    for problem in results.problems:
        group = results.group(problem)
        label, base = _without(group.label, names), _without(group.base, names)
        codes, cells = results.remember(("cells", problem), functools.partial(_cells, group))
        mine = np.array([_belongs(had, base, _without(algorithm, names), values, (ours, fewest), entries)
                         for had, algorithm in cells], bool)
        rows = group.rows[mine[codes]]
        if len(rows):
            before = found.get(label)
            found[label] = (group, np.union1d(before[1], rows) if before else rows)
    views = [_View(group, label, rows, names) for label, (group, rows) in found.items()]
    return Results(results.path, results.attributes, views, results.damages) if views else None


def _cells(group):
    """(number of the cell of every trial, [(its settings as {block: {name: text}}, its algorithm)])."""
    codes, _ = pd.factorize(group.column("cell"))
    first = np.unique(codes, return_index=True)[1]  # ascending, as the codes are
    settings = [{part: group.parameters(part, row) for part in PARTS} for row in first]
    return codes, list(zip(settings, group.column("algorithm")[first]))


def _belongs(had, problem, algorithm, values, known, entries):
    """Whether a trial ran with these values, or does not read them. An algorithm's value has priority over its
    problem's, and that over the common one, as in the study file. `had`: the settings of the trial. If they lack a
    parameter of the algorithm, the file is older than the parameter, which had its default, which is ours. A trial with
    fewer queries than any alternative is of a study at a smaller scale, whose settings are ours."""
    wanted, (ours, fewest) = {}, known
    for path, value in sorted(values.items(), key=lambda pair: LAYERS.index(pair[0].partition(".")[0])):
        layer, _, rest = path.partition(".")
        label = {"problems": problem, "algorithms": algorithm}.get(layer)
        if label is not None and not rest.startswith(f"{label}."):
            continue
        block, name = _block(rest if label is None else rest[len(label) + 1:],
                             layer.removesuffix("s") if label else "run")
        later = [entries.get((l, n), ()) for l, n in (("problems", problem), ("algorithms", algorithm))
                 if LAYERS.index(l) > LAYERS.index(layer)]
        if not any((block, name) in own for own in later):
            default = ours[path] if block == layer.removesuffix("s") or path in fewest else None
            wanted[block, name] = value, default, fewest.get(path, 0)
    for (block, name), (value, default, least) in wanted.items():
        text = had.get(block, {}).get(name, had.get("run", {}).get(name) if block == "problem" else None)
        text = default if text is None or (least and float(text) < least) else text
        if text is not None and not _same(text, value):
            return False
    return True


@functools.lru_cache(maxsize=64)
def _entries(study):
    """{(layer, label): settings of the entry of a study file} as (block, name)."""
    data = yaml.safe_load(study) or {}
    found = {}
    for layer in LAYERS[1:]:
        for entry in data.get(layer, []):
            entry = entry if isinstance(entry, dict) else {"name": entry}
            own = {(layer.removesuffix("s"), name) for name in entry}
            own |= {(block, name) for block in BLOCKS for name in entry.get(block) or {}}
            found[layer, str(entry.get("label", entry["name"]))] = frozenset(own)
    return found


def _block(path, otherwise):
    head, _, tail = path.partition(".")
    return (head, tail) if head in BLOCKS and tail else (otherwise, path)


def _same(text, value):
    """Whether the text of a setting is the value of a study file."""
    words = {"yes": "true", "no": "false", "on": "true", "off": "false"}
    text, value = (str(v).lower().strip('"[] ') for v in (text, value))
    try:
        return float(text) == float(value)
    except ValueError:
        return words.get(text, text) == words.get(value, value)


def _name(path):
    """The name of a swept path in labels: the part after the entry's label."""
    layer, _, rest = path.partition(".")
    if layer == "common":
        return rest
    found = re.search(r"\.((?:surrogate|maximiser)\.\w+|\w+)$", rest)
    return found.group(1) if found else rest


def _without(label, names):
    """A label without the swept settings of these names."""
    found = re.search(r" \(([^()]*=(?:[^()]|\([^()]*\))*)\)", label)
    if not found:
        return label
    pairs = [pair.strip() for pair in split(found[1], ",")]
    left = [pair for pair in pairs if pair.partition("=")[0] not in names]
    return label[:found.start()] + (f" ({', '.join(left)})" if left else "") + label[found.end():]


