"""What a trial was run with, from its key.

A key is `name=value` blocks separated by ';', where value may be `method@revision{name=value,...}`
or `{name=value,...}`:
    schema=1;problem=holder_table@1{};run={...};algorithm=gp_ucb@1{beta=auto,...};seed=3
"""
import re


def blocks(key):
    """{block: text} of a key, in its order."""
    return dict(part.split("=", 1) for part in split(key, ";") if "=" in part)


def options(key, block):
    """{name: text of the value} of one block of a key; {} when there is no such block."""
    found = re.search(r"\{(.*)\}", blocks(key).get(block, ""), re.DOTALL)
    pairs = split(found.group(1), ",") if found else []
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def split(text, separator):
    """Parts of a text between separators that stand outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "[{(":
            depth += 1
        elif not quoted and c in "]})":
            depth -= 1
        elif c == separator and not quoted and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return parts + [text[start:]]


def problem_label(label, algorithm, swept):
    """Label of the problem with the swept settings that are not the algorithm's own; those stand in
    the algorithm's label already."""
    own = re.search(r" \((.*)\)$", algorithm, re.DOTALL)
    mine = [pair.strip() for pair in split(own.group(1), ",")] if own else []
    others = [pair.strip() for pair in split(swept, ",") if pair.strip() not in ("", *mine)]
    others = [pair for pair in others if not pair.startswith("score=")]
    return f"{label} ({', '.join(others)})" if others else label


def aimed_score(swept):
    """Name of the one measure that a trial aimed at and is scored by; None: scored by all."""
    found = [pair.strip() for pair in split(swept, ",") if pair.strip().startswith("score=")]
    return found[0].removeprefix("score=") if found else None


def swept_settings(swept):
    """{name: text of the value} of what a trial was swept over, its aimed score left out."""
    pairs = (pair.strip().split("=", 1) for pair in split(swept, ",") if "=" in pair)
    return {name: value for name, value in pairs if name != "score"}


def method_label(algorithm, swept):
    """Label of the algorithm without the settings swept."""
    own = re.search(r" \((.*)\)$", algorithm, re.DOTALL)
    pairs = {pair.strip() for pair in split(swept, ",")}
    if own and all(pair.strip() in pairs for pair in split(own.group(1), ",")):
        return algorithm[:own.start()]
    return algorithm


def same_value(one, other):
    """Whether two texts of a value are the same number or text."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other
