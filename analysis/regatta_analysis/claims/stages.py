"""Cells of a study that have more trials than the others: its key `replicate`, which replicate.py writes.

The trials that all cells have are the first stage, and each further stage has as many as all before it.
"""
import functools
import json

import numpy as np
import yaml

from ..load.errors import InputError
from ..load.results import Results
from ..load.yaml_file import parse_yaml

NOTE = "  # cells that open claims need, by `regatta_analysis replicate`"


@functools.lru_cache(maxsize=64)
def sizes(study):
    """(the seeds that every cell has, the instances of random problems: 0 if every seed has its own, cells with more
    trials: the list `replicate`), from the text of a study file."""
    data = parse_yaml(study) or {}
    seeds, instances = data.get("seeds", 1), data.get("instances", 1)
    if isinstance(seeds, dict):
        seeds = [seeds.get("first", 0) + k for k in range(seeds["count"])]
    elif not isinstance(seeds, list):
        seeds = list(range(int(seeds)))
    return seeds, 0 if instances == "paired" else int(instances), data.get("replicate") or []


def replicated(text, entries):
    """The text of a study file with these entries of `replicate` in place of its own."""
    lines = text.splitlines()
    for key, value in yaml.compose(text, yaml.BaseLoader).value:
        if key.value == "replicate":
            last = value.end_mark.line + (value.end_mark.column > 0)
            while not lines[last - 1].strip() or lines[last - 1].startswith("#"):  # of what comes next
                last -= 1
            del lines[key.start_mark.line:last]
    more = [f"  - {json.dumps(entry, ensure_ascii=False)}" for entry in entries]
    return "\n".join([*lines, *([f"replicate:{NOTE}", *more] if more else []), ""])


def raised(text, key, number):
    """The text of a study file in which every cell has so many `seeds`, or `instances` of a random problem. Entries of
    `replicate` that ask for no more than that fall away. InputError where the file has more, or can't have so many."""
    seeds, crossed, more = sizes(text)
    if key == "instances" and not crossed:
        raise InputError("every seed has an instance of its own here: give --seeds")
    now = len(seeds) if key == "seeds" else crossed
    if number < now:
        raise InputError(f"the study has {now} {key}, and --{key} only adds some")
    if number == now:
        return text
    left = [entry for entry in more if entry.get(key, number + 1) > number]
    text = replicated(text, left) if len(left) < len(more) else text
    grown = _with(text, key, _value(parse_yaml(text).get(key, 1), seeds, number))
    if sizes(grown)[:2] != ((seeds, number) if key == "instances" else (_continued(seeds, number), crossed)):
        raise InputError(f"the key '{key}' can't be changed from here: change it by hand")
    return grown


def _continued(seeds, number):
    """The seeds, and so many more that there are `number`: they continue after the largest one."""
    return [*seeds, *(max(seeds) + 1 + k for k in range(number - len(seeds)))]


def _value(before, seeds, number):
    """The value of the key with so many seeds or instances, in the form in which it stands there."""
    if isinstance(before, dict):
        return json.dumps({**before, "count": number})
    return json.dumps(_continued(seeds, number)) if isinstance(before, list) else str(number)


def _with(text, key, value):
    """The text of a YAML map with this value of a key; all else stays as it is."""
    for name, old in yaml.compose(text, yaml.BaseLoader).value:
        if name.value == key:
            start, end = name.end_mark.index, old.end_mark.index
            if end < start:  # an alias of a value before
                return text
            last = "\n" if text[start:end].endswith("\n") else ""
            return f"{text[:start]}: {value}{last}{text[end:]}"
    return f"{text.rstrip()}\n{key}: {value}\n"


def of_trials(study, seeds, instances):
    """The stage of every trial, from 1, by its seed and instance."""
    if "replicate:" not in study:
        return np.ones(len(seeds), int)
    known, crossed, _ = sizes(study)
    seeds, place = np.asarray(seeds), {seed: k for k, seed in enumerate(known)}
    positions = np.array([place.get(s, len(known) + s - max(known) - 1) for s in seeds.tolist()])
    stage = _doublings(positions, len(known))
    return np.maximum(stage, _doublings(np.asarray(instances), crossed)) if crossed else stage


def upto(results, last):
    """The trials of the first stages of results."""
    if "replicate:" not in results.study:
        return results
    groups = [group.subset(of_group(results, group) <= last) for group in map(results.group, results.problems)]
    return Results(results.path, results.attributes, [g for g in groups if g.n], results.damages, results.numbers,
                   results.beside)


def of_group(results, group):
    """The stage of every trial of a group of results."""
    return of_trials(results.study, group.column("seed"), group.column("instance"))


def planned(results):
    """Results without the trials that replicate.py added because of what the others had shown: those whose number was
    fixed beforehand."""
    return results.remember("planned", lambda: upto(results, 1)) if NOTE.strip() in results.study else results


def _doublings(position, n):
    """The number of doublings of n until it exceeds the position, plus one."""
    return np.ceil(np.log2(np.maximum((position + 1) / n, 1.0)) - 1e-12).astype(int) + 1
