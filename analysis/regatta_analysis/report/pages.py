"""HTML of the reports: one self-contained file per page, which loads nothing from elsewhere. Only the page of a study
has a script, and the page works without it."""
import jinja2

from .curve import curves
from .study_template import STUDY, STUDY_STYLE
from ..claims import verdicts
from ..escape import terminal
from ..figures import style

STATES = {"shown": "yes", "against": "no", "equivalent": "tie", "open": "open", "void": "open"}

STYLE = """
:root { --ink: #1c1f24; --soft: #59616d; --line: #dfe3e8; --back: #fff; --panel: #f6f7f9;
  --yes: #1a7f4b; --no: #b3261e; --open: #8a6100; --tie: #5b4bb5; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #a2abb7; --line: #343a42;
  --back: #16191d; --panel: #1f2329; --yes: #5fcf92; --no: #ff8a80; --open: #e8bd5a; --tie: #b3a8ff;
  --link: #7db7f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 1.2rem 1rem 4rem; color: var(--ink);
  background: var(--back); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .4rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-bottom: .2rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
h4 { font-size: .92rem; margin: .7rem 0 .1rem; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--link); }
nav { margin: .8rem 0; font-size: .92rem; }
nav a { margin-right: .9rem; white-space: nowrap; }
.soft, figcaption, .note { color: var(--soft); font-size: .92rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .38rem .6rem;
  border-bottom: 1px solid var(--line); }
.numbers th, .numbers td { overflow-wrap: normal; white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
th { background: var(--panel); font-weight: 600; }
figure { margin: .6rem 0 1.6rem; }
.plot { overflow-x: auto; background: #fff; border: 1px solid var(--line); border-radius: 6px;
  padding: .4rem; }
.plot img { display: block; height: auto; margin: 0 auto; max-width: none; width: 100%;
  min-width: min(var(--least), 100%); }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; font-size: .82rem;
  font-weight: 600; white-space: nowrap; border: 1px solid currentColor; }
.yes { color: var(--yes); } .no { color: var(--no); } .open { color: var(--open); }
.tie { color: var(--tie); }
.curve { display: block; width: 100%; max-width: 540px; height: auto; margin: .3rem 0; }
.curve text { font-size: 10.5px; fill: var(--ink); } .curve .head { font-weight: 600; }
.curve .frame { fill: none; stroke: var(--line); } .curve .border { stroke: var(--soft); stroke-dasharray: 5 3; }
.curve .printed { stroke: var(--link); stroke-dasharray: 1.5 2.5; stroke-width: 1.5; }
.curve .reach { stroke: currentColor; stroke-width: 1.6; } .curve .dot { fill: currentColor; }
.curve .on { fill: var(--ink); } .curve .off { fill: var(--line); }
.tally { display: flex; gap: .6rem; flex-wrap: wrap; margin: .8rem 0; }
.tally span { padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--panel); }
pre { background: var(--panel); padding: .7rem; border-radius: 6px; overflow-x: auto;
  font-size: .85rem; overflow-wrap: normal; }
details { margin: .4rem 0; } summary { cursor: pointer; }
.claims th { overflow-wrap: normal; }
.claims td:nth-child(1) { white-space: nowrap; font-weight: 600; }
.claims .badge { white-space: normal; overflow-wrap: normal; word-break: normal; hyphens: none; }
.missing { border: 1px dashed var(--line); border-radius: 6px; padding: .8rem; color: var(--soft); }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .15rem .8rem;
  font-size: .9rem; margin: .4rem 0; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
@media (max-width: 640px) {
  .claims thead { display: none; }
  .claims tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .claims td { display: block; border: 0; padding: .1rem .7rem; }
  dl { grid-template-columns: 1fr; } dt { margin-top: .3rem; }
  .plot img { min-width: 560px; }
  .plot.narrow img { min-width: 0; }
}
@media print { body { max-width: none; } details { display: none; } }
"""

BASE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{% block title %}{% endblock %}</title>
<link rel="icon" href="data:,">
{% block head %}{% endblock %}<style>{{ style }}</style>
</head>
<body>
{% block body %}{% endblock %}
</body>
</html>
"""

MACROS = """
{% macro numbers(table) %}
<h3>{{ table.title }}</h3>
<div class="scroll" tabindex="0"><table class="numbers"><thead><tr>
{%- for cell in table.header %}<th>{{ cell }}</th>{% endfor %}</tr></thead><tbody>
{% for row in table.rows %}<tr>{% for text, bold in row %}<td>
{%- if bold %}<b>{{ text }}</b>{% else %}{{ text }}{% endif %}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{% if table.note %}<p class="note">{{ table.note }}</p>{% endif %}
{% endmacro %}
{% macro claims(verdicts, marks, papers=false) %}
<div class="scroll" tabindex="0"><table class="claims"><thead><tr>
{%- if papers %}<th>Paper</th>{% endif %}<th>Claim</th><th>Statement</th><th>Grade</th>
<th>Evidence</th></tr></thead><tbody>
{% for v in verdicts %}<tr>{% if papers %}<td><a href="{{ v.paper }}/report.html">{{ v.paper }}</a></td>
{%- endif %}<td>{{ v.id }}</td>
<td>{{ v.claim }} <span class="soft">{{ v.where }}</span></td>
<td><span class="badge {{ marks[v.grade] }}">{{ v.words }}</span></td>
<td><div>{{ v.sentence() }}</div>
{% if not papers %}{{ details(v, marks) }}{% endif %}</td></tr>
{% endfor %}</tbody></table></div>
{% endmacro %}
{% macro details(v, marks) %}
{% set distinct = v.cases | selectattr("same_as", "lt", 0) | list %}
{% if distinct | length > 1 %}{{ curve(v) }}{% endif %}
<details><summary>numbers</summary>
{% if distinct | length == 1 %}{{ curve(v) }}{% endif %}
{% for case in distinct %}{% if distinct | length > 1 %}<h4><span class="{{ marks[case.grade] }}">
{{- case.grade }}</span>: {{ universe(case.universe) }}; {{ case.reading }}</h4>{% endif %}
{% if v.readings[case.reading] %}<div class="note">{{ case.reading }}: {{ v.readings[case.reading] }}</div>{% endif %}
<div class="note">{{ case.trials }} trials; {{ case.tally }}
{%- if case.picture[0] == case.picture[0] %}; P(picture) = {{ "%.2f [%.2f, %.2f]" | format(*case.picture) }}{% endif %}</div>
{% for o in case.outcomes %}<div>{{ o.text }}</div>
{% if o.method %}<div class="note">{{ o.method }}</div>{% endif %}
{% if o.items | length > 1 %}{{ comparisons(o, marks) }}{% endif %}{% endfor %}{% endfor %}</details>
{% endmacro %}
{% macro comparisons(o, marks) %}
<div class="scroll" tabindex="0"><table class="numbers"><thead><tr><th>Comparison</th><th>Shows</th><th>Effect</th>
<th>P(better)</th><th>P(equivalent)</th><th>P(worse)</th><th>Trials</th></tr></thead><tbody>
{% for i in ([o.pooled] if o.pooled else []) + o.items %}<tr><td>{{ i.name }}</td>
<td><span class="{{ states[i.state] }}">{{ i.state }}</span></td>
<td>{{ "%.3g [%.3g, %.3g]" | format(i.value, i.low, i.high) if i.value == i.value else "–" }}</td>
{% for p in (i.better, i.equivalent, i.worse) %}<td>{{ "%.2f" | format(p) if p == p else "–" }}</td>{% endfor %}
<td>{{ i.n }}</td></tr>{% endfor %}</tbody></table></div>
{% endmacro %}
{% macro curve(v) %}{% for unit, picture in curves(v) %}<div class="note">{{ unit }}</div>{{ picture | safe }}
{% endfor %}{% endmacro %}
{% macro tally(verdicts, marks) %}
<div class="tally">{% for word, mark in marks.items() %}
{%- set n = verdicts | selectattr("grade", "equalto", word) | list | length %}
{%- if n %}<span><b class="{{ mark }}">{{ n }}</b> {{ word }}</span>
{% endif %}{% endfor %}</div>
{% endmacro %}
"""

_environment = jinja2.Environment(
    loader=jinja2.DictLoader({"base": BASE, "macros": MACROS, "study": STUDY}),
    autoescape=True, undefined=jinja2.StrictUndefined,
    finalize=lambda v: terminal(v) if type(v) is str else v)  # a label can't change the direction of text outside of it


def add(templates):
    """Add templates: {name: text}."""
    _environment.loader.mapping.update(templates)


def render(template, data):
    """HTML of the template `study`, or of one that was added."""
    style_ = STYLE + (STUDY_STYLE if template == "study" else "")
    return _environment.get_template(template).render(
        style=jinja2.utils.markupsafe.Markup(style_), size=size, curves=curves, universe=verdicts.words, states=STATES,
        narrow=lambda path: size(path)[0] <= 480,
        plain=lambda rows: [[(cell, False) for cell in row] for row in rows], **data)


def size(path):
    """Width and height in CSS pixels of a PNG file of ours, enlarged from print to screen."""
    with open(path, "rb") as file:
        head = file.read(24)
    return tuple(round(int.from_bytes(head[k:k + 4], "big") * 138.0 / style.DPI) for k in (16, 20))
