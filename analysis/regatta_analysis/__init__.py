"""Regret analysis of Regatta's results files.

    from regatta_analysis import load
    results = load("fig1b.h5")
    results.trials, results.data, results.xarray("Holder table")
"""
try:
    from . import methods
    from .load import InputError, Results, load
except ModuleNotFoundError as error:
    raise ImportError(f"regatta_analysis needs the package {error.name} "
                      f"(Debian: python3-{error.name})") from error

__all__ = ["InputError", "Results", "load"]
