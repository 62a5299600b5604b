"""YAML files of experiments/ as data, with the rules of study files: words such as `on` and `no` are texts, 1e-3 is a
number, and a key may occur only once."""
import functools
import re
from pathlib import Path

import yaml

from .errors import InputError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Loader for scalars of YAML 1.2 (core schema); libyaml is ten times as fast."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers
            if tag in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"),
                              list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"))


def _mapping(loader, node):
    loader.flatten_mapping(node)
    made = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in made:
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} stands here twice", key_node.start_mark)
        made[key] = loader.construct_object(value_node, deep=True)
    return made


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


DEPTH, VALUES = 32, 100000  # of a study file, as for the program; deeper texts end the process in libyaml's loader


def _load(text, loader):
    """The data of a text, which may be a stranger's: the nesting and the number of values, with aliases expanded, are
    counted before anything is built."""
    anchors, opened, counts = {}, [], [0]
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.CollectionEndEvent):
            inner = counts.pop()
            counts[-1] += inner
            anchors[opened.pop()] = inner + 1
        elif isinstance(event, yaml.NodeEvent):
            counts[-1] += anchors.get(event.anchor, 1) if isinstance(event, yaml.AliasEvent) else 1
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append(event.anchor)
                counts.append(0)
        if len(opened) > DEPTH or counts[-1] > VALUES:
            raise yaml.YAMLError(f"it is nested more than {DEPTH} levels deep, or has more than {VALUES} values")
    return yaml.load(text, loader)


def parse_yaml(text):
    """The data of a text; raises yaml.YAMLError."""
    return _load(text, _Loader)


def entry(study, key):
    """The value of a key of a study's text, its scalars as texts; None without it, or if the text is no study."""
    try:
        data = _load(study, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except yaml.YAMLError:
        return None
    return data.get(key) if isinstance(data, dict) else None


@functools.lru_cache(maxsize=64)
def entries(study, block):
    """{label: entry} of the `problems` or `algorithms` of a study's text, in their order; {} if the text is no study.
    Every scalar is a text, as for the program, so that the label 2024 or true is that of the results. Callers must not
    change it."""
    found = entry(study, block)
    listed = [e if isinstance(e, dict) else {"name": e} for e in found] if isinstance(found, list) else []
    labelled = [(e.get("label", e.get("name")), e) for e in listed]
    return {label: entry for label, entry in labelled if isinstance(label, str)}


def read_yaml(path):
    """The data of a file; raises InputError, one line."""
    path = Path(path)
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from error


def mappings(where, what, found):
    """`found` if it is a list of mappings that are not empty; else an InputError that says so about `what`."""
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) and one for one in found):
        raise InputError(f"{where}: {what} is a list of mappings")
    return found
