"""Reads a figure back: its curves, under the label that the legend gives a line of the same look."""
import numpy as np
from matplotlib.colors import to_hex


def look(line):
    """The properties that distinguish lines: colour, dashes (whatever the width), marker."""
    offset, dashes = line._unscaled_dash_pattern
    dashes = None if line.get_linestyle() == "None" else (offset, tuple(dashes or ()))
    marker = str(line.get_marker())
    return to_hex(line.get_color()), dashes, "" if marker in ("None", "none", " ") else marker


def named(figure):
    """{look: label} of the legend; two entries that look alike are an error."""
    legend, = figure.legends
    found = {}
    for line, text in zip(legend.get_lines(), legend.get_texts()):
        label = text.get_text().replace("\n", " ").replace("\u00a0", " ")
        if look(line) in found:
            raise AssertionError(f"{found[look(line)]!r} and {label!r} look alike")
        found[look(line)] = label
    return found


def curves(figure, name=None):
    """[{label: [(x, y), ...]}] of the axes with lines: every line under its name in the legend. `name`:
    what to call a look that is not in the legend; without it such a line is an error."""
    names, panels = named(figure), []
    for axes in figure.axes:
        found = {}
        for line in axes.lines:
            if len(line.get_xdata()) == 2 and line.get_transform() != axes.transData:
                continue  # a line across the axes
            mine = look(line)
            if mine not in names and name is None:
                raise AssertionError(f"{axes.get_title(loc='left')!r}: the legend has no {mine}")
            label = names[mine] if mine in names else name(mine, names)
            found.setdefault(label, []).append((np.asarray(line.get_xdata(), float),
                                                np.asarray(line.get_ydata(), float)))
        panels.append(found)
    return panels


def bound_of(mine, names):
    """"METHOD: BOUND" of a line in the colour of a method with the dashes of a bound, whose entry is grey."""
    method, = (label for other, label in names.items() if other[0] == mine[0] and other[2])
    bound, = (label for other, label in names.items() if other[1] == mine[1] and not other[2])
    return f"{method}: {bound}"
