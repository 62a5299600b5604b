"""Parts that the tests of experiments/reproduce need: those of the analysis, and the command."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "analysis"), str(HERE.parents[1] / "analysis"), str(HERE.parents[1] / "experiments")]

import test_cli
from reproduce.__main__ import main


def run(*arguments):
    """(exit code, stdout, stderr) of `python3 -m reproduce`."""
    return test_cli.run(*arguments, program=main)
