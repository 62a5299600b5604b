"""Parts that the tests of experiments/reproduce need: those of the analysis, and the command."""
import contextlib
import io
import os
import runpy
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "analysis"), str(HERE.parents[1] / "analysis"), str(HERE.parents[1] / "experiments")]

import common
from reproduce.__main__ import main

REGATTA = os.environ.get("REGATTA", "")
PROGRAM = unittest.skipUnless(REGATTA, "no program")


def run(*arguments):
    """(exit code, stdout, stderr) of `python3 -m reproduce`."""
    return common.run(*arguments, program=main)


def regatta(*arguments):
    """Run the program; returns its output."""
    return subprocess.run([REGATTA, *arguments], check=True, capture_output=True, text=True).stdout


def run_script(path, *arguments):
    """Run a script that stands beside the studies; returns its output."""
    out = io.StringIO()
    with mock.patch.object(sys, "argv", [path.name, *map(str, arguments)]), contextlib.redirect_stdout(out):
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()
