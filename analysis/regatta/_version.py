"""The version of the Python package, that of the program (docs/versions.md)."""
__version__ = "1.0.0"
