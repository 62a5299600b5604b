"""Parts that every analysis test needs: the package on the path, a scratch directory, golden data."""
import base64
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
LONG = bool(os.environ.get("REGATTA_LONG"))
sys.path.insert(0, str(HERE.parents[1] / "analysis"))

import pandas as pd
from regatta_analysis import InputError, load


def label(entry):
    """Label of an entry of a study file."""
    return entry.get("label", entry["name"]) if isinstance(entry, dict) else entry


def problem_labels(entry):
    """Labels that the reader gives a problem of a study file: one per score."""
    scores = entry.get("score", {}) if isinstance(entry, dict) else {}
    return [f"{label(entry)} {name}" for name in scores] or [label(entry)]


def scratch_directory(case):
    """A directory that lives as long as the tests of a class."""
    scratch = tempfile.TemporaryDirectory()
    case.addClassCleanup(scratch.cleanup)
    return Path(scratch.name)


def coarse(case):
    """Pictures of a class of tests have a sixteenth of the dots, to save time."""
    from regatta_analysis.figures import style  # here: Matplotlib takes half a second
    before, style.DPI = style.DPI, 75
    case.addClassCleanup(setattr, style, "DPI", before)


def no_drawing():
    """A patch: figures are made and not drawn, to save time; their files hold one dot."""
    from regatta_analysis.figures import style
    files = {"png": base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="),
             "pdf": b"%PDF-1.4\n%%EOF\n"}

    def write(_, file, dpi, suffix):
        file.write(files[suffix]) if hasattr(file, "write") else Path(file).write_bytes(files[suffix])
    return mock.patch.object(style, "write", write)


def undrawn(case):
    """Only a long test draws something in a class of tests."""
    if LONG:
        return coarse(case)
    patch = no_drawing()
    patch.start()
    case.addClassCleanup(patch.stop)


def run(*arguments, program=None):
    """(exit code, stdout, stderr) of the command `regatta_analysis`, or of another one."""
    if program is None:
        from regatta_analysis.__main__ import main as program
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = program([str(a) for a in arguments])
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


needs_program = unittest.skipUnless(os.environ.get("REGATTA"), "REGATTA, the path of the program, is not set")


def regatta(*arguments, code=0, **more):
    """The text that the program prints. It must end with this exit code."""
    done = subprocess.run([os.environ["REGATTA"], *map(str, arguments)], capture_output=True, text=True, **more)
    if done.returncode != code:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Case(unittest.TestCase):
    """With `directory` for a class, and `scratch` for a test."""

    pictures = "drawn"  # or "coarse", or "undrawn", to save time

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.directory = scratch_directory(cls)
        if cls.pictures != "drawn":
            {"coarse": coarse, "undrawn": undrawn}[cls.pictures](cls)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def refused(self, path, *words):
        """The file is refused with one line that contains its name and the words."""
        with self.assertRaises(InputError) as caught:
            load(path)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for word in (str(path), *words):
            self.assertIn(word, message)

    def assert_golden(self, frame, name):
        """Equal to golden/NAME.csv up to rounding; the file says how the data were made."""
        golden = pd.read_csv(HERE / "golden" / f"{name}.csv", comment="#")
        pd.testing.assert_frame_equal(frame.reset_index(drop=True), golden, check_dtype=False,
                                      rtol=1e-8, atol=1e-12)


class Here(Case):
    """A test in a working directory of its own."""

    def setUp(self):
        super().setUp()
        self.enterContext(contextlib.chdir(self.scratch))
