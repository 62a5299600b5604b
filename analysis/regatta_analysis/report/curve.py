"""Specification curves (Simonsohn, Simmons and Nelson 2020) as SVG for the pages. A curve shows the estimate of a
claim with its interval in every universe and reading, sorted, and below it the settings of each."""
import html

import numpy as np

from ..claims import verdicts
from ..claims.grades import (CONTRADICTED, DEPENDS, EQUIVALENT, MOSTLY_OPEN, NOT_COMPARABLE, NOT_RUN, NOTHING, PARTLY,
                             SHOWN, SUPPORTED)
from ..escape import number

WIDTH, LEFT, RIGHT, HIGH, ROW, TOP = 360, 126, 10, 110, 15, 12
MARKS = {SHOWN: "yes", SUPPORTED: "yes", EQUIVALENT: "tie", PARTLY: "tie", DEPENDS: "tie", CONTRADICTED: "no",
         MOSTLY_OPEN: "open", NOTHING: "open", NOT_RUN: "open", NOT_COMPARABLE: "open"}  # classes of the pages' style


def curves(verdict):
    """[(caption, SVG)] of a claim: one curve per quantity of its readings; [] without numbers."""
    columns = {}
    for k, case in enumerate(verdict.cases):
        if case.there and not np.isnan(case.estimate()[0]):
            first = case.same_as if case.same_as >= 0 else k
            columns.setdefault(first, []).append(case)
    units = {}
    for column in columns.values():
        units.setdefault(column[0].estimate()[5], []).append(column)
    return [(_caption(unit, some), _svg(verdict, sorted(some, key=lambda c: c[0].estimate()[0])))
            for unit, some in units.items()]


def _caption(unit, columns):
    """The subject of the curve, and the share of its combinations that have each grade."""
    cases = [case for column in columns for case in column]
    if len(cases) < 2:
        return unit
    found = [case.grade for case in cases]
    shares = ", ".join(f"{grade} {100.0 * found.count(grade) / len(found):.0f} %" for grade in MARKS
                       if grade in found)
    return f"{unit}; of {len(cases)} combinations: {shares}"


def _svg(verdict, columns):
    rows = _rows(verdict, columns)
    height = TOP + HIGH + 14 + ROW * sum(1 + len(names) for _, names in rows)
    x = LEFT + (WIDTH - LEFT - RIGHT) * (np.arange(len(columns)) + 0.5) / len(columns)
    radius = f"{min(4.0, max(1.2, 90.0 / len(x))):.1f}"
    scale, body = _scale(verdict, columns), []
    body += _axis(scale, verdict.printed, columns[0][0].estimate())
    for at, column in zip(x, columns):
        body += _point(at, column[0], scale)
    y = TOP + HIGH + 14
    for title, names in rows:
        body.append(_text(0, y + 11, title, "head"))
        y += ROW
        for name, hits in names:
            body.append(_text(8, y + 11, name))
            body += [f'<circle cx="{at:.1f}" cy="{y + 7}" r="{radius}" class="{"on" if hit else "off"}"/>'
                     for at, hit in zip(x, hits)]
            y += ROW
    label = html.escape(f"Claim {verdict.id}: estimates in {len(columns)} combinations of setting and reading")
    return (f'<svg class="curve" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
            + "".join(body) + "</svg>")


def _rows(verdict, columns):
    """[(setting, [(alternative, whether each column has it)])] of the settings that differ between the columns."""
    found = []
    keys = dict.fromkeys(key for column in columns for case in column for key in case.universe)
    for key in keys:
        had = [{case.universe.get(key) for case in column} for column in columns]
        if len(set(map(frozenset, had))) > 1:
            names = [a["id"] for a in verdict.settings[key].alternatives] if key in verdict.settings else \
                sorted(set().union(*had), key=str)
            found.append((key, [(name, [name in h for h in had]) for name in names]))
    readings = dict.fromkeys(column[0].reading for column in columns)
    if len(readings) > 1:
        found.append((verdicts.READING, [(name, [column[0].reading == name for column in columns])
                                         for name in readings]))
    return found


def _scale(verdict, columns):
    """(low, high) of the axis: it holds estimates, borders and the printed value, and the intervals as far as they
    fit."""
    numbers = [case.estimate() for case in (column[0] for column in columns)]
    must = [e[0] for e in numbers] + [b for e in numbers for b in e[3:5]] + [verdict.printed]
    must = [v for v in must if np.isfinite(v)] or [0.0]
    if numbers[0][5] == verdicts.SHARE:
        must = [0.0, 1.0]
    low, high = min(must), max(must)
    room = max(high - low, 0.2 * max(abs(low), abs(high)), 1e-12)
    ends = [v for e in numbers for v in e[1:3] if np.isfinite(v)]
    low, high = (max(min([low, *ends]), low - 2.0 * room), min(max([high, *ends]), high + 2.0 * room))
    room = max(high - low, 1e-12)
    return low - 0.05 * room, high + 0.05 * room


def _height(value, scale):
    low, high = scale
    return TOP + HIGH * (1.0 - (min(max(value, low), high) - low) / (high - low))


def _axis(scale, printed, estimate):
    body = [f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HIGH}" class="frame"/>']
    taken = []
    borders = [(v, "border", "border") for v in estimate[3:5] if np.isfinite(v)]
    borders += [(printed, "printed", "paper")] if np.isfinite(printed) else []
    for value, kind, words in borders:
        y = _height(value, scale)
        taken.append(y)
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="{kind}"/>')
        body.append(_text(LEFT - 4, y + 4, f"{words} {value:.3g}", "end"))
    for value in scale:
        y = _height(value, scale)
        if all(abs(y - t) > 12 for t in taken):
            body.append(_text(LEFT - 4, y + 4, number(value, ".3g"), "end"))
    return body


def _point(x, case, scale):
    value, low, high = case.estimate()[:3]
    kind = MARKS[case.grade]
    ends = [_height(v, scale) for v in (low, high) if not np.isnan(v)]
    body = [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" class="reach {kind}"/>'
            ] if len(ends) == 2 else []
    return body + [f'<circle cx="{x:.1f}" cy="{_height(value, scale):.1f}" r="3.2" class="dot {kind}"/>']


def _text(x, y, words, kind=""):
    anchor = ' text-anchor="end"' if kind == "end" else ""
    words = words if len(words) <= 20 else words[:19] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{anchor}>{html.escape(words)}</text>'
