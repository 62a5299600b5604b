"""Errors about a file or an option that the package can't use."""
import difflib


class InputError(Exception):
    """A file that cannot be analysed; the message is one line that starts with its path."""


def one_line(error):
    """The text of an exception without line breaks."""
    return " ".join(str(error).split())


def nearest(name, names):
    """", did you mean 'x'?" for the name most like a wrong one, or nothing."""
    found = difflib.get_close_matches(str(name), [str(n) for n in names], 1)
    return f", did you mean {found[0]!r}?" if found else ""
