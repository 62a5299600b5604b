"""Figures by Matplotlib. They are written to files and shown by notebooks, and need no backend."""
import os

os.environ.setdefault("MPLBACKEND", "Agg")
try:
    import matplotlib  # noqa: F401
except ValueError:  # a name that Matplotlib does not know, such as "inline", which notebooks leave to their children
    os.environ["MPLBACKEND"] = "Agg"
    import matplotlib  # noqa: F401
