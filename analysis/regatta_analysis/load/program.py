"""Formulas of theory, from the program. Python computes none of these formulas itself."""
import contextlib
import functools
import io
import json
import re
import subprocess
import tempfile

import numpy as np
import pandas as pd
from regatta.problems import find_program

from .errors import InputError

EXTERNAL = "external"  # the method that stands for a program, which its label names


def program():
    """The program `regatta`, see regatta.find_program; None without one."""
    try:
        return find_program()
    except FileNotFoundError:
        return None


def output_of(*words):
    """The text that the program prints for these words; "" if it fails, or without a program."""
    try:
        done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL) if program() else None
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done and not done.returncode else ""


@functools.lru_cache(None)
def titles():
    """{name of a method in study files: its name for readers} of `regatta list algorithms`; {} without a program."""
    cells = [re.split(r"  +", line) for line in output_of("list", "algorithms").splitlines()[1:]]
    return {cell[0]: cell[1] for cell in cells if len(cell) > 2 and cell[0] != EXTERNAL}


@functools.lru_cache(8)
def planned(study, folder):
    """The cells that a study plans, by its text: a tuple of mappings with `problem`, `algorithm`, `settings` and
    `trials`. None if the program can't compute them: there is no program, or the study needs a plug-in or data that are
    neither in `folder`, where the results are, nor in REGATTA_DATA. No other data are opened: the text may be a
    stranger's."""
    if not program() or not study:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(study)
        file.flush()
        with contextlib.suppress(ValueError, KeyError):
            return tuple(json.loads(output_of("plan", file.name, "-quick", "-json", "-data", folder))["cells"])
    return None


def formula(name, columns, **settings):
    """`regatta bounds -formula NAME` over `columns` ({name: values} in the order it wants); a frame of what it
    gives. Settings: as the formula describes them; lists are fine."""
    rows = pd.DataFrame(columns).to_csv(index=False, na_rep="nan", float_format="%.17g")
    words = tuple(f"{key}={_word(value)}" for key, value in settings.items())
    return _ask(name, words, rows).copy()


def _word(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ",".join(format(v, ".17g") for v in value) + "]"
    return str(value)


@functools.lru_cache(None)
def _ask(name, words, rows):
    if not program():
        raise InputError("formulas are asked of the program regatta: build it, or name it in REGATTA")
    try:
        done = subprocess.run([program(), "bounds", "-formula", name, *words], input=rows, capture_output=True,
                              text=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"{program()}: {' '.join(str(error).split())}") from error
    if done.returncode:
        raise InputError((done.stderr.strip().splitlines() or [f"regatta bounds -formula {name} failed"])[-1])
    return pd.read_csv(io.StringIO(done.stdout))
