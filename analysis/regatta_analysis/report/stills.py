"""Figures as pictures inside a page. A figure that is also a file is drawn once for both."""
import base64
import io
from dataclasses import dataclass

from ..escape import line
from ..figures import style

SHARPNESS, SCREEN = 150, 96  # dots per inch of figures, and as they are shown (a little enlarged)
MOST = 10  # figures of a kind on a page


@dataclass(frozen=True)
class Still:
    """A drawn figure: its title, the source of an <img>, its size on the screen."""
    title: str
    source: str
    width: int
    height: int


def still(title, figure, state=""):
    """The Still of a figure, headed by the state of incomplete results."""
    style.mark(figure, state)
    found = io.BytesIO()
    style.write(figure, found, SHARPNESS, "png")
    figure.dots = None  # 15 MB, and many figures wait for a page at once
    width, height = figure.get_size_inches()
    source = "data:image/png;base64," + base64.b64encode(found.getvalue()).decode("ascii")
    return Still(line(title), source, round(1.4 * SCREEN * width), round(1.4 * SCREEN * height))


def stills(results, key, make):
    """Pictures of the first MOST figures [(title, figure)] from `make`, computed once for a key."""
    return results.remember(("stills", *key), lambda: [still(*pair, results.state) for pair in make()[:MOST]])
