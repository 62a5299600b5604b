"""The version of the Python package, that of the program (docs/versions.md)."""
__version__ = "0.1.0"
