"""HTML of the reports: one self-contained file per page, which loads nothing from elsewhere. Only the page of a study
has a script, and the page works without it."""
import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from .curve import curves
from ..claims import verdicts
from ..escape import terminal

STATES = {"shown": "yes", "against": "no", "equivalent": "tie", "open": "open", "void": "open"}

HERE = Path(__file__).parent

_environment = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined,
    finalize=lambda v: terminal(v) if type(v) is str else v)  # a label can't change the direction of text outside of it


# An option with its value, a number with an exponent, GP-UCB, 2-D.
_HYPHENED = re.compile(r"--[a-z][\w-]*(?: [\w.]{1,9}(?!\S))?|[\d.)]+e-\d+[\]),;]*|\b\w{1,6}-[A-Z]{1,5}\b")


def unbroken(text):
    """HTML of a text with no end of a line at those hyphens, where browsers would put one."""
    made, n = _HYPHENED.subn(r'<span class="unbroken">\g<0></span>', str(escape(terminal(text))))
    return Markup(f"<span>{made}</span>" if n else made)


def coded(text):
    """HTML of a text with words of study files in backticks."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(terminal(text)))))


_environment.filters |= {"unbroken": unbroken, "coded": coded}


def add(folder):
    """Take templates from another folder too."""
    _environment.loader.searchpath.append(str(folder))


def render(template, data):
    """HTML of the template `study`, or of one that was added."""
    names = ["page.css", *(["study.css"] if template == "study" else [])]
    looks = Markup("\n".join((HERE / name).read_text(encoding="utf-8") for name in names))
    return _environment.get_template(f"{template}.html").render(
        style=looks, curves=curves, universe=verdicts.words, states=STATES, **data)
