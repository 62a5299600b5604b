"""Spaces of ConfigSpace (SMAC, auto-sklearn, HPOBench), as it writes them to JSON, as inputs of a problem."""
from __future__ import annotations

import json
import os
from typing import Any, Union

__all__ = ["inputs"]

_NUMBERS = {"uniform_float": "real", "uniform_int": "integer"}
_WORDS = {"categorical": "choices", "ordinal": "sequence"}


def inputs(space: Union[str, os.PathLike[str], dict[str, Any]]) -> list[str]:
    """The lines of `inputs` of an external problem, for `regatta.objective` or a study file::

        regatta.objective(train, inputs=regatta.configspace.inputs("space.json"))

    space: a file that ConfigSpace wrote (`space.to_json`, or `json.write` before 1.0), or its content. Values of
    categorical and ordinal hyperparameters become words, without an order; constants are left out. A condition must
    compare one categorical or ordinal hyperparameter with values (EQ, NEQ, IN). Forbidden clauses, other conditions, other
    laws than the uniform one and names with spaces raise a ValueError that names them."""
    if not isinstance(space, dict):
        try:
            with open(space, encoding="utf-8") as file:
                space = json.load(file)
        except ValueError as error:
            raise ValueError(f"{os.fspath(space)}: this is no JSON: {error}") from None
    if not isinstance(space, dict) or not isinstance(space.get("hyperparameters"), list):
        raise ValueError("this is no space of ConfigSpace: it has no list 'hyperparameters'")
    if space.get("forbiddens"):
        raise ValueError("Regatta's inputs have no forbidden clauses, this space has some")
    try:
        return _lines(space)
    except KeyError as error:
        raise ValueError(f"this is no space of ConfigSpace: a hyperparameter or a condition lacks {error}") from None
    except TypeError:
        raise ValueError("this is no space of ConfigSpace: a hyperparameter or a condition is no mapping") from None


def _lines(space: dict[str, Any]) -> list[str]:
    """The lines of a space; KeyError if a member is missing."""
    constants = {one["name"] for one in space["hyperparameters"] if one["type"] in ("constant", "unparametrized")}
    lines = {one["name"]: _line(one) for one in space["hyperparameters"] if one["name"] not in constants}
    words = {name: line.split()[2:] for name, line in lines.items() if line.split()[1] == "choice"}
    parents: dict[str, str] = {}
    for condition in space.get("conditions") or ():
        child, values = condition["child"], _values(condition, words)
        if child not in lines and child not in constants:
            raise ValueError(f"a condition is for {child}, which is no hyperparameter of this space")
        if child in parents:
            raise ValueError(f"{child} has several conditions; Regatta's inputs have at most one")
        if child not in constants:
            lines[child] += f" if {condition['parent']}={'|'.join(values)}"
            parents[child] = condition["parent"]
    return sorted(lines.values(), key=lambda line: _depth(line.split()[0], parents))


def _word(value: Any, what: str) -> str:
    """A name or value as a word of a line."""
    text = str(value)
    if not text or any(letter.isspace() or letter in "=|" for letter in text):
        raise ValueError(f"the {what} {text!r} can't be a word: it is empty or has spaces, '=' or '|'")
    return text


def _line(one: dict[str, Any]) -> str:
    """A hyperparameter as a line of inputs, without its condition."""
    name, kind = _word(one["name"], "name"), one["type"]
    if kind in _NUMBERS:
        return f"{name} {_NUMBERS[kind]} {one['lower']!r} {one['upper']!r}{' log' if one.get('log') else ''}"
    if kind in _WORDS:
        return f"{name} choice {' '.join(_word(value, f'value of {name}') for value in one[_WORDS[kind]])}"
    raise ValueError(f"{name} is of type '{kind}'; Regatta takes {', '.join([*_NUMBERS, *_WORDS])} and constants")


def _values(condition: dict[str, Any], words: dict[str, list[str]]) -> list[str]:
    """The words of the parent with which the child of a condition counts."""
    parent, kind = condition.get("parent"), condition["type"]
    if kind not in ("EQ", "NEQ", "IN") or parent not in words:
        raise ValueError(f"the condition {kind} of {condition['child']} can't be taken; accepted: one categorical or "
                         "ordinal hyperparameter equals a value (EQ), differs from it (NEQ) or is one of several (IN)")
    named = [str(value) for value in (condition["values"] if kind == "IN" else [condition["value"]])]
    for value in named:
        if value not in words[parent]:
            raise ValueError(f"the condition of {condition['child']} asks for {parent} = {value}; accepted: "
                             f"{', '.join(words[parent])}")
    return [word for word in words[parent] if (word in named) != (kind == "NEQ")]


def _depth(name: str, parents: dict[str, str]) -> int:
    """How many inputs must stand before this one because it depends on them."""
    depth = 0
    while name in parents:
        name, depth = parents[name], depth + 1
        if depth > len(parents):
            raise ValueError(f"the conditions of {name} form a circle")
    return depth
