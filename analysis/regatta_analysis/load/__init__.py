"""Results files as data."""
import os

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # only read: works on any file system

from .errors import InputError
from .load import load
from .results import Results

__all__ = ["InputError", "Results", "load"]
