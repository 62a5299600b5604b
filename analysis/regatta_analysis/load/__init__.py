"""Results files as data."""
from .load import InputError, Results, load

__all__ = ["InputError", "Results", "load"]
