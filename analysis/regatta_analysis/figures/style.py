"""The look of figures: sizes, fonts, one colour + marker + line style per algorithm, legends that
stand below the panels, files without dates."""
import contextlib
import contextvars
import io
import itertools
import textwrap
import warnings

import matplotlib
import numpy as np
from PIL import Image
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.lines import Line2D
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import blended_transform_factory

from ..escape import mathtext as escaped
from ..load import program

COLUMN_WIDTH = 3.4  # inches
PAGE_WIDTH = 7.0
GREY, WARNING = "0.45", "#B00020"
DPI = 300
SCREEN_DPI = 150

_SOLID, _DASHED = "-", (0, (5, 1.2))
_DASHDOT, _DOTTED = (0, (5, 1.2, 1.2, 1.2)), (0, (1.2, 1.0))
# Distinguishable with the common colour-vision deficiencies (after Okabe and Ito, and Tol);
# neighbours also differ in marker and line style, so that print in grey still works.
_SLOTS = [
    ("#D55E00", "o", _SOLID), ("#0072B2", "s", _DASHED), ("#009E73", "^", _DASHDOT),
    ("#000000", "D", _SOLID), ("#CC79A7", "v", _DASHED), ("#56B4E9", "P", _SOLID),
    ("#E69F00", "X", _DASHDOT), ("#882255", "<", _DASHED), ("#7F7F7F", "*", _DOTTED),
    ("#332288", ">", _DASHDOT), ("#999933", "p", _SOLID), ("#44AA99", "h", _DASHED),
]
# Methods of the five papers keep their slot from study to study.
_KNOWN = [
    ("irgpucb", "wdrbo", "boke", "proposed", "rrgpucb"), ("gpucb", "bptucb"),
    ("rgpucb", "erbo", "krucb", "bbbmobo"), ("ei", "sbokde", "boke+", "proposed(fixed)"),
    ("ts", "drbokde", "bq"), ("pims", "drbommd", "bbbmobo(fixed)"),
    ("mes", "drbommdminmax", "drbommdminimaxapprox", "bptucb(fixed)"),
    ("jes", "stableopt", "us"), ("random", "randomsearch", "rs"),
]
_SLOT_OF = {name: slot for slot, names in enumerate(_KNOWN) for name in names}

_RC = {
    "font.family": ["STIXGeneral", "DejaVu Serif"], "mathtext.fontset": "stix", "font.size": 8,
    "axes.titlesize": 8.5, "axes.labelsize": 8.5, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5, "axes.linewidth": 0.6, "lines.linewidth": 1.1, "lines.markersize": 3.4,
    "xtick.direction": "out", "ytick.direction": "out", "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4,
    "xtick.major.size": 2.8, "ytick.major.size": 2.8, "xtick.minor.size": 1.6,
    "ytick.minor.size": 1.6, "axes.spines.top": False, "axes.spines.right": False,
    "pdf.fonttype": 42, "svg.hashsalt": "regatta", "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": True, "text.usetex": False,
    "figure.autolayout": False, "figure.constrained_layout.use": False,
}

_DEFAULTS = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}


def algorithm_styles(algorithms):
    """{label: line properties}, in the order of the labels. Known methods have a slot of their own; the
    others take the free slots in the order given; more labels than slots reuse colours with other markers, and then with
    other lines."""
    known = {label: _SLOT_OF.get(_plain(label), _SLOT_OF.get(_plain(label.split(" (")[0])))
             for label in algorithms}
    taken, styles = set(), {}
    for label, slot in known.items():
        if slot is not None and slot not in taken:
            taken.add(slot)
            styles[label] = _properties(slot)
    free = (slot for slot in itertools.count() if slot not in taken)
    for label in algorithms:
        if label not in styles:
            styles[label] = _properties(next(free))
    return {label: styles[label] for label in algorithms}


@contextlib.contextmanager
def context():
    """Style to draw in: `with context(): ...`. It lies over the defaults of Matplotlib, because settings of a user
    must not change a figure. It does not warn of letters that the fonts lack."""
    with warnings.catch_warnings(), matplotlib.rc_context({**_DEFAULTS, **_RC}):
        for words in ("Glyph", "Matplotlib currently does not support"):
            warnings.filterwarnings("ignore", words)
        yield


def shown_names(labels):
    """{label: name for readers}: a label that is, or begins with, the name of a method in study files has the method's
    title in its place (`ei (xi = 0)`: EI (xi = 0)). Two labels never get the same name."""
    titles, found = program.titles(), {}
    for label in labels:
        name, space, rest = str(label).partition(" (")
        found[label] = titles.get(name, name) + space + rest
    return found if len(set(found.values())) == len(found) else {label: str(label) for label in found}


WIDTHS = ("auto", "column", "page")
_width = contextvars.ContextVar("width", default=WIDTHS[0])


@contextlib.contextmanager
def wide(width):
    """Figures of panels made inside have the width of one column of a page, or of both; "auto": by their panels."""
    before = _width.set(width)
    try:
        yield
    finally:
        _width.reset(before)


def width_of(columns):
    """(columns of panels, inches) for a figure that would have so many columns."""
    if _width.get() == "column":
        return min(columns, 1), COLUMN_WIDTH
    return columns, COLUMN_WIDTH if columns == 1 and _width.get() == "auto" else PAGE_WIDTH


class Grid(LayoutEngine):
    """The layout of panels in a grid: each row and column keeps the room that titles, ticks and labels need there. They
    are measured once, and that is most of the time; Matplotlib's layouts measure twice."""
    _adjust_compatible, _colorbar_gridspec = False, False
    GAP = 0.1  # inches between panels

    def __init__(self):
        super().__init__()
        self._bottom, self._room, self._labels = 0.0, None, {}

    def set(self, rect, **_):
        """Keep the share of the figure below `rect` free."""
        self._bottom = rect[1]

    def _measure(self, figure, renderer):
        """The inches left and right of the columns and above and below the rows, and where the labels stand. Measured only
        once: afterwards the labels no longer follow the ticks."""
        rows, columns = figure.axes[0].get_subplotspec().get_gridspec().get_geometry()
        self._room = left, right, above, below = [np.zeros(n) for n in (columns, columns, rows, rows)]
        for axes in figure.axes:
            box, whole = axes.get_window_extent(), axes.get_tightbbox(renderer, for_layout_only=True)
            place = axes.get_subplotspec()
            for side, k, inches in ((left, place.colspan.start, box.x0 - whole.x0), (right, place.colspan.start, whole.x1 - box.x1),
                                    (above, place.rowspan.start, whole.y1 - box.y1), (below, place.rowspan.start, box.y0 - whole.y0)):
                side[k] = max(side[k], inches / figure.dpi)
            self._labels[axes] = ((box.x0 - axes.yaxis.label.get_position()[0]) / figure.dpi,
                                  (box.y0 - axes.xaxis.label.get_position()[1]) / figure.dpi)

    def execute(self, figure):
        """Place the panels and their labels."""
        renderer, (wide, high), gap = figure._get_renderer(), figure.get_size_inches(), self.GAP
        if self._room is None:
            self._measure(figure, renderer)
        left, right, above, below = self._room
        head = figure._suptitle.get_window_extent(renderer).height / figure.dpi + 2 * gap if figure._suptitle else 0.0
        width = max((wide - left.sum() - right.sum()) / len(left) - gap, 0.01)
        height = max((high * (1.0 - self._bottom) - head - above.sum() - below.sum()) / len(above) - gap, 0.01)
        for axes in figure.axes:
            r, c = axes.get_subplotspec().rowspan.start, axes.get_subplotspec().colspan.start
            x = left[:c + 1].sum() + right[:c].sum() + c * width + (c + 0.5) * gap
            y = high - head - above[:r + 1].sum() - below[:r].sum() - (r + 1) * height - (r + 0.5) * gap
            axes.set_position((x / wide, y / high, width / wide, height / high))
            _fix_labels(axes, x - self._labels[axes][0], y - self._labels[axes][1])


class Drawing(Figure):
    """A figure that a notebook shows as it is written to a file; inches. `grid`: all of its axes are panels of a grid."""

    def __init__(self, width, height, grid=False):
        super().__init__(figsize=(width, height), layout=Grid() if grid else "constrained")
        self.dots = None
        FigureCanvasAgg(self)

    def picture(self):
        """The figure as dots, DPI of them per inch: drawn once, and reduced from there where fewer are wanted."""
        if self.dots is None:
            before, self.dpi = self.dpi, DPI
            self.canvas.draw()
            self.dots = Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3])
            self.dpi = before
        return self.dots

    def _repr_png_(self):
        file = io.BytesIO()
        write(self, file, SCREEN_DPI, "png")
        return file.getvalue()


def panels(titles):
    """A figure with one panel per title: a single one at column width, more at page width, two or
    three in a row (but see `wide`). Returns it and pairs (title, Panel); `place_legend` completes it."""
    n = len(titles)
    columns, width = width_of(n if n < 4 else 2 if n == 4 else 3)
    rows = -(-n // columns)
    figure = Drawing(width, rows * (1.7 if rows > 3 and columns == 1 else 2.15 if columns < 3 else 1.85), grid=True)
    made = [Panel(figure.add_subplot(rows, columns, k + 1), columns, first=k % columns == 0,
                  bottom=k + columns >= n) for k in range(n)]
    return figure, list(zip(titles, made))


def pages(items, size):
    """[(items of a page, "page 2 of 3" or "" of a single one)]."""
    made = [items[k:k + size] for k in range(0, len(items), size)]
    return [(page, f"page {k} of {len(made)}" if len(made) > 1 else "") for k, page in enumerate(made, 1)]


class Panel:
    """Axes with their place in the figure."""

    def __init__(self, axes, columns, first, bottom):
        self.axes, self.columns, self.first, self.bottom = axes, columns, first, bottom

    def dress(self, title, label, factor=""):
        """Title, labels, horizontal ticks and grid, at the end of drawing. `factor` is the power of ten taken out of
        the numbers of the vertical axis."""
        axes = self.axes
        self.frame(title, f"{label} ({factor})" if factor else label,
                   "Query $t$ (after the initial design)" if self.columns < 3 else "Query $t$")
        if not self.first:
            axes.set_ylabel(factor)
        last = max((line.get_xdata()[-1] for line in axes.lines if len(line.get_xdata()) > 2),
                   default=1) or 1
        axes.set_xlim(-0.015 * last, 1.015 * last)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10], integer=True))

    def frame(self, title, vertical, horizontal):
        """Title, labels and grid. Only the first panel of a row has a vertical label, and the lowest a horizontal one."""
        self.axes.set_title(wrapped(escaped(title), {1: 54, 2: 48}.get(self.columns, 34)), loc="left", y=1.0)
        if self.first:
            self.axes.set_ylabel(vertical)
        if self.bottom:
            self.axes.set_xlabel(horizontal)
        if self.columns > 2:  # ticks take most of the time of a small panel
            self.axes.yaxis.set_minor_locator(NullLocator())
        self.axes.grid(True, which="major", color="0.9", lw=0.4, zorder=0)
        self.axes.set_axisbelow(True)


def mark(figure, words):
    """Words above a figure that a reader must see first; none if they are empty."""
    if not words:
        return
    with context():
        figure.suptitle(wrapped(escaped(words), 145 if figure.get_size_inches()[0] > COLUMN_WIDTH else 72), x=0.01,
                        ha="left", fontsize=7, color=WARNING)


def place_legend(figure, entries, notes=()):
    """Legend below all panels, in as few rows as fit the width; the figure grows by its height.
    `entries`: pairs (label, line properties or artist), so that a label cannot lose its line.
    `notes`: lines above the legend, e.g. what the bands are (may hold mathematics). Labels have their names for
    readers."""
    width, height = figure.get_size_inches()
    wide_enough = width > COLUMN_WIDTH
    note = "\n".join(wrapped(text, 145 if wide_enough else 72) for text in dict.fromkeys(filter(None, notes)))
    entries = list(entries)
    names = shown_names([label for label, _ in entries])
    handles = [Line2D([], [], **look) if isinstance(look, dict) else look for _, look in entries]
    labels = [wrapped(escaped(names[text]), 44) for text, _ in entries]
    legend = _fitting_legend(figure, handles, labels, note, width)
    box = legend.get_window_extent(figure.canvas.get_renderer())
    below = box.height / figure.dpi + 0.03
    total = height + below
    figure.set_size_inches(width, total)
    figure.get_layout_engine().set(rect=(0, below / total, 1, 1 - below / total), w_pad=0.02,
                                   h_pad=0.02)
    legend.set_bbox_to_anchor((0.5, 0.01 / total), transform=figure.transFigure)
    return legend


def save(figure, stem, formats):
    """Write `stem`.pdf, .png; equal figures give equal bytes. Returns the paths."""
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in formats]
    for path, suffix in zip(paths, formats):
        write(figure, path, DPI, suffix)
    return paths


def write(figure, file, dpi, suffix):
    """Write a figure to a path or an open file; fonts are embedded as TrueType: journals refuse Type 3."""
    metadata = {"CreationDate": None, "Producer": None, "Creator": None}
    with context():
        _lay_out(figure)
        if suffix == "png":
            step = round(DPI / dpi)
            picture = figure.picture()
            (picture if step < 2 else picture.reduce(step)).save(file, "png", compress_level=4, dpi=(dpi, dpi))
        else:
            figure.savefig(file, dpi=dpi, format=suffix, metadata=metadata if suffix == "pdf" else {"Date": None})


def _lay_out(figure):
    """Find the layout once for all files of a figure, because Matplotlib draws everything once more to find it."""
    engine = figure.get_layout_engine()
    if engine is not None:
        before = figure.dpi
        figure.dpi = DPI
        engine.execute(figure)
        for axes in figure.axes if not isinstance(engine, Grid) else ():
            _fix_labels(axes, axes.yaxis.label.get_position()[0] / DPI, axes.xaxis.label.get_position()[1] / DPI)
        figure.dpi = before
        figure.set_layout_engine(None)  # "none" stands in for the engine, and everything is drawn once more


def _fix_labels(axes, left, below):
    """Leave the labels where the layout has put them, in inches: to place them again, each file would measure all ticks."""
    inches = axes.figure.dpi_scale_trans
    axes.xaxis.set_label_coords(axes.xaxis.label.get_position()[0], below, blended_transform_factory(axes.transAxes, inches))
    axes.yaxis.set_label_coords(left, axes.yaxis.label.get_position()[1], blended_transform_factory(inches, axes.transAxes))


def wrapped(text, width):
    """Break a text into lines of at most `width` characters, but not around an equals sign."""
    text = str(text).replace(" = ", "\u00a0=\u00a0")
    return "\n".join(textwrap.wrap(text, width)) or text


def _plain(label):
    return "".join(c for c in str(label).lower() if c.isalnum() or c in "+()")


def _properties(slot):
    n = len(_SLOTS)
    colour, line = _SLOTS[slot % n][0], _SLOTS[(slot + slot // n**2) % n][2]
    marker = _SLOTS[(slot + slot // n) % n][1]
    size = _RC["lines.markersize"] * {"*": 1.6, "P": 1.15, "X": 1.15}.get(marker, 1.0)
    return {"color": colour, "marker": marker, "linestyle": line, "markersize": size}


def _fitting_legend(figure, handles, labels, note, width):
    renderer = figure.canvas.get_renderer()
    best = None if labels else (1, 1)
    for columns in range(1, min(len(labels), 6) + 1):
        rows = -(-len(labels) // columns)
        if best is not None and rows == best[0]:
            continue  # as many rows: the narrower one is better balanced
        legend = _legend(figure, handles, labels, note, columns)
        fits = legend.get_window_extent(renderer).width <= (width - 0.06) * figure.dpi
        legend.remove()
        if fits or best is None:
            best = (rows, columns)
    return _legend(figure, handles, labels, note, best[1])


def _legend(figure, handles, labels, note, columns):
    legend = figure.legend(
        handles, labels, ncol=columns, loc="lower center", bbox_to_anchor=(0.5, 0.0),
        frameon=False, handlelength=2.6, columnspacing=1.1, handletextpad=0.5, labelspacing=0.3,
        borderaxespad=0.0, borderpad=0.15, title=note or None)
    legend.set_in_layout(False)
    if note:
        legend.get_title().set(fontsize=7, color=GREY, ha="center")
        legend.get_title().set_multialignment("center")
    return legend
