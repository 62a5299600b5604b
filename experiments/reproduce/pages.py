"""The page of a paper (report.html), and the index over all papers (index.html), from the templates in this folder."""
from pathlib import Path

from regatta_analysis.figures import style
from regatta_analysis.report import pages

pages.add(Path(__file__).parent)


def render(template, data):
    """HTML of the template `report` or `index`."""
    return pages.render(template, {"size": size, "narrow": lambda path: size(path)[0] <= 480, "plain": plain, **data})


def size(path):
    """Width and height in CSS pixels of a PNG file of ours, enlarged from print to screen."""
    with open(path, "rb") as file:
        head = file.read(24)
    return tuple(round(int.from_bytes(head[k:k + 4], "big") * 138.0 / style.DPI) for k in (16, 20))


def plain(rows):
    """Rows of a table without bold cells."""
    return [[(cell, False) for cell in row] for row in rows]
