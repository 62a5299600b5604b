"""The settings of a study in words: what differs from the defaults, or between its methods or problems. Defaults and
meanings are those of `regatta describe`."""
import functools
import re

import numpy as np
import pandas as pd

from ..figures import style
from ..load.program import output_of
from . import tables

PARTS = ("run", "problem", "surrogate", "maximiser", "algorithm")
NAMED = 4  # methods or problems that are named in a cell


@functools.lru_cache(None)
def described(name):
    """{setting: (default, meaning)} of a block, problem or method by `regatta describe NAME`; {} where the program does
    not know it, as a plug-in, or there is no program."""
    found, starts = {}, None
    for line in output_of("describe", name).splitlines():
        if re.match(r"name +type +default ", line):
            starts = line.index("default"), line.index("range"), line.index("meaning")
        elif starts and line[:1].strip():
            name_, meaning = line.split()[0], line[starts[2]:].strip()
            found[name_] = line[starts[0]:starts[1]].strip(), meaning
        else:
            starts = None
    return found


def settings_table(results):
    """A Table with a row for each setting that differs from its default, or between the methods or the problems."""
    rows = []
    for part, name, values in _values(results):
        block = name if part in ("problem", "algorithm") else part
        known, everyone = described(block), dict.fromkeys(label for label, _ in values)
        for setting in dict.fromkeys(key for _, own in values for key in own):
            default, meaning = known.get(setting, ("", ""))
            groups, absent = {}, "–"
            if results.archived:  # an older program did without the setting what its default does
                absent = default.replace("required", "")
            for label, own in values:
                if own.get(setting, absent):
                    groups.setdefault(own.get(setting, absent), []).append(label)
            if len([label for labels in groups.values() for label in set(labels)]) > len(everyone):  # a label has several
                groups = {f"swept: {', '.join(groups)}": [label for labels in groups.values() for label in labels]}
            for value, labels in groups.items():
                if len(groups) > 1 or (default and not _same(value, default)):
                    rows.append(tables.plain(_of(part, list(dict.fromkeys(labels)), everyone), setting, value,
                                             default.replace("required", "–") or "–", meaning))
    return tables.Table("What differs from the defaults, or between methods", "Everything else has its default; regatta "
                        "describe NAME lists them.", ["Of", "Setting", "Value", "Default", "Meaning"], rows)


def _values(results):
    """(part, name in study files, [(label, {setting: value})]) of every block, problem and method; each combination of a
    label and values once."""
    found = {}
    for problem in results.problems:
        group = results.group(problem)
        columns = {name: group.column(name) for name in ("algorithm", "algorithm_name", "problem_name")}
        for row in np.flatnonzero(~pd.Series(group.column("cell")).duplicated()):
            for part in PARTS:
                label = str(group.place) if part in ("run", "problem") else columns["algorithm"][row]
                name = columns[f"{part}_name"][row] if part in ("problem", "algorithm") else ""
                pair = (label, group.parameters(part, row))
                mine = found.setdefault((part, name), [])
                if pair[1] and pair not in mine:
                    mine.append(pair)
    order = sorted(found, key=lambda key: PARTS.index(key[0]))
    return [(*key, found[key]) for key in order]


def _of(part, labels, everyone):
    """The methods or problems that have a value; "the model of" and the like in front."""
    of = {"surrogate": "the model of ", "maximiser": "the search of "}.get(part, "")
    names = style.shown_names(labels) if part in ("surrogate", "maximiser", "algorithm") else {v: v for v in labels}
    if len(labels) == len(everyone) and len(labels) > 1:
        return f"{of}all {'problems' if part in ('run', 'problem') else 'methods with one' if of else 'methods'}"
    text = ", ".join(names[label] for label in labels[:NAMED])
    return of + text + (f" and {len(labels) - NAMED} more" if len(labels) > NAMED else "")


def _same(a, b):
    words = {"yes": "true", "no": "false"}
    a, b = words.get(a, a), words.get(b, b)
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b
