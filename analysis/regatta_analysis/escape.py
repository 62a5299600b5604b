"""Texts of a study (labels, titles, messages), escaped so that they appear unchanged wherever they go: a terminal,
Markdown, LaTeX, a spreadsheet, the mathematics of Matplotlib. The templates escape HTML."""
import os
import re
import sys

import numpy as np
import pandas as pd

# Characters that a terminal or a reader would obey: control characters, changes of direction, lone surrogates.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
        "±": r"$\pm$", "–": "--", "µ": r"$\mu$", **{c: "\\" + c for c in "&%$#_{}"}}


class Tex(str):
    """A text that is already LaTeX."""


def terminal(text):
    """Lines of text without characters that a terminal obeys."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def say(text, stream=None):
    """Print at once, even into a file. The terminal obeys nothing in a label or path."""
    print(terminal(text), file=stream or sys.stdout, flush=True)


def line(text):
    """The text in one line."""
    return terminal(re.sub("[\t\n]", " ", str(text)))


def mathtext(text):
    """For Matplotlib: never mathematics, nor hidden from a legend for its first character."""
    text = line(text).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def tex(text):
    """A text escaped for LaTeX, also safe after the `\\\\` that ends a table row."""
    if isinstance(text, Tex):
        return text
    made = "".join(_TEX.get(c, c) for c in line(text))
    return "{}" + made if made[:1] in ("[", "*") else made


def markdown(text):
    """For Markdown in one line, or as a line: without HTML, emphasis, links, headings, lists and mathematics."""
    text = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"[\\`*|~$]|(?<!\w)_|_(?!\w)|(?<=\])\(", r"\\\g<0>", text)
    return re.sub(r"^( *)(#*|\d*)([#+.)-])(?= |$)", r"\1\2\\\3", text)


def alternative(text):
    """For the brackets of a picture in Markdown."""
    return re.sub(r"[\[\]]", r"\\\g<0>", markdown(text))


def code(text):
    """A span of code in Markdown: fenced by more backticks than stand in it."""
    text = line(text)
    fence = _fence(text, 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def code_block(text, language=""):
    """Lines of a block of code in Markdown."""
    fence = _fence(text, 3)
    return [f"{fence}{language}", terminal(text).rstrip(), fence]


def _fence(text, least):
    """More backticks than stand in a row in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def number(value, spec):
    """A number by a format; a zero has no minus sign, also one that comes from rounding."""
    text = format(value, spec)
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def cell(text):
    """A text as a cell of CSV. An apostrophe stands before what a spreadsheet would compute (`=1+1`, `@SUM(1)`), but
    not before a number. All files have the same, so that tables join by their labels."""
    text = terminal(text)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def uncell(text):
    """The text of a cell that has an apostrophe before what a spreadsheet would compute."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text[1:]) else text


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def write_whole(path, text):
    """Write a whole file, or nothing: a reader sees either the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


ROWS = 1 << 14  # of a table that are texts at the same time


def write_csv(frame, path, mode="w", header=True):
    """A data frame as CSV, with the bytes that `DataFrame.to_csv(index=False)` gives: texts by `cell`, and numbers with the
    digits that read back to the same bits. Equal neighbours in a column, and equal columns, become text once, for
    most of the time goes into the digits of numbers."""
    texts = _Fields()
    with open(path, mode, encoding="utf-8", newline="") as file:
        if header:
            file.write(",".join(texts[name] for name in frame) + "\n")
        for first in range(0, len(frame), ROWS):
            rows, floats = frame.iloc[first:first + ROWS], {}
            columns = [_fields(rows.iloc[:, k], texts, floats) for k in range(rows.shape[1])]
            if len(columns) == 1:  # a line without anything would be no row
                columns = [[text or '""' for text in columns[0]]]
            file.write("\n".join(map(",".join, zip(*columns))) + "\n")


class _Fields(dict):
    """{text: the text as a field of CSV}."""

    def __missing__(self, text):
        field = cell(text)
        if any(c in field for c in ',"\n'):
            field = '"' + field.replace('"', '""') + '"'
        return self.setdefault(text, field)


def _fields(column, texts, floats):
    """The fields of a column. `floats`: {bytes of a column of numbers: its fields}."""
    if column.dtype == float:
        values = column.to_numpy() + 0.0
        key = values.tobytes()
        if key not in floats:
            bits = values.view(np.int64)
            starts = np.flatnonzero(np.diff(bits, prepend=~bits[0]))
            some = np.array([*map(repr, values[starts].tolist())], dtype=object)
            some[np.isnan(values[starts])] = ""
            floats[key] = some.repeat(np.diff(starts, append=len(values))).tolist()
        return floats[key]
    if column.dtype.kind in "iub" and isinstance(column.dtype, np.dtype):
        codes, distinct = pd.factorize(column.to_numpy())
        return np.array([*map(str, distinct.tolist())], dtype=object)[codes].tolist()
    return [texts[value] if type(value) is str else "" if pd.isna(value) else str(value) for value in column.astype(object)]
