"""Errors about a file or an option that the package can't use."""


class InputError(Exception):
    """A file that cannot be analysed; the message is one line that starts with its path."""


def one_line(error):
    """The text of an exception without line breaks."""
    return " ".join(str(error).split())
