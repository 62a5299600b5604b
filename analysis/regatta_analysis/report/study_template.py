"""The template of the page of a study (or of several), and the look of its charts."""

STUDY_STYLE = """
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem; margin: 1rem 0; }
.tiles div { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; background: var(--panel); }
.tiles b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .85rem; }
.tiles .bad b { color: var(--no); }
.state { font-size: .92rem; } h1 + .state { margin-top: 0; }
.study + .study { margin-top: 4rem; border-top: 3px double var(--line); padding-top: 1rem; }
.chart { background: #fff; color: #1c1f24; border: 1px solid var(--line); border-radius: 8px;
  padding: .7rem .8rem; margin: .6rem 0; }
.chart[hidden], .chart button[hidden] { display: none; }
.chart .bar { display: flex; flex-wrap: wrap; gap: .4rem .8rem; margin: .15rem 0 .45rem; align-items: center; }
.chart .whole { flex-wrap: nowrap; }
.chart .bar:empty { display: none; }
.chart .group { display: inline-flex; flex-wrap: wrap; gap: .3rem; }
.chart button, .chart select { font: inherit; font-size: .88rem; color: #1c1f24; background: #fff; min-height: 2.1rem;
  border: 1px solid #c4cad2; border-radius: 6px; padding: .15rem .65rem; cursor: pointer; }
.chart select { max-width: 100%; min-width: 0; flex: 0 1 24rem; text-overflow: ellipsis; }
.chart .bar > select { width: 0; flex-grow: 1; max-width: 34rem; }
.chart .group button[aria-pressed=true] { background: #0b57a4; border-color: #0b57a4; color: #fff; }
.chart button:hover { border-color: #0b57a4; }
.chart button:focus-visible, .chart select:focus-visible, .drawing:focus-visible { outline: 3px solid #7db7f2;
  outline-offset: 1px; }
.chart .heading { font-weight: 600; margin: .2rem 0; unicode-bidi: plaintext; text-align: left; }
.drawing { margin: .2rem 0; touch-action: pan-y; } .drawing svg { display: block; width: 100%; height: auto; }
.drawing .tick { font-size: 12px; fill: #59616d; } .drawing .label { font-size: 13px; fill: #1c1f24; }
.chart .note, .chart .reading { color: #59616d; font-size: .88rem; margin: .2rem 0; max-width: none; }
.legend { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); gap: .3rem; margin: .4rem 0; }
.legend .entry { display: grid; grid-template-columns: 30px minmax(0, 1fr) auto; gap: .1rem .6rem; align-items: center;
  text-align: left; padding: .25rem .6rem; }
.legend .value { font-variant-numeric: tabular-nums; color: #59616d; font-size: .85rem; }
.legend .entry[aria-pressed=false] { background: #f0f2f4; }
.legend .entry[aria-pressed=false] .name { text-decoration: line-through; color: #7a828d; }
.legend .entry[aria-pressed=false] .value { visibility: hidden; }
.still > summary { margin: .4rem 0; }
.settings th, .settings td:not(:last-child) { overflow-wrap: normal; }
.answer .numbers th, .answer .numbers td:nth-child(3), .answer .numbers td:nth-child(6) { white-space: normal; }
.answer .scroll { max-height: 19rem; overflow-y: auto; } .answer th { position: sticky; top: 0; }
.labels { unicode-bidi: plaintext; }
td, th, dd, dt, option { unicode-bidi: plaintext; text-align: left; }
@media (max-width: 640px) { .legend .entry { grid-template-columns: 30px minmax(0, 1fr); }
  .legend .value { grid-column: 2; } .chart { padding: .6rem .5rem; } }
@media print { .chart { display: none; } details.still { display: block; } }
"""

STUDY = """{% extends "base" %}{% import "macros" as m with context %}
{% block title %}{{ studies[0].title }}{{ " and others" if studies | length > 1 }}: report{% endblock %}
{% block head %}<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{{ script_hash }}'">
{% if live %}<meta http-equiv="refresh" content="{{ live }}">
{% endif %}{% endblock %}
{% macro still(title, figures, kind="still") %}{% if figures %}
<details class="{{ kind }}" open><summary>{{ title }}</summary>
{% for f in figures %}<figure><div class="plot{{ ' narrow' if f.width <= 480 }}" tabindex="0">
<img alt="{{ f.title }}" src="{{ f.source }}" width="{{ f.width }}" height="{{ f.height }}" style="max-width: {{ f.width }}px"></div>
<figcaption>{{ f.title }}</figcaption></figure>{% endfor %}</details>{% endif %}{% endmacro %}
{% block body %}
{% if studies | length > 1 %}<nav aria-label="Studies">{% for s in studies %}<a href="#{{ s.id }}">{{ s.title }}</a>{% endfor %}</nav>{% endif %}
{% for s in studies %}
<article class="study" id="{{ s.id }}">
<header>
<p class="soft">Regatta, report of a study · {{ s.file }}</p>
<h1>{{ s.title }}</h1>
<p class="state"><span class="badge {{ s.mark }}">{{ s.state }}</span>
{%- if live %} <span class="soft">as of {{ now }}; this page loads itself again every {{ live }} seconds</span>{% endif %}</p>
{% if s.about %}<p>{{ s.about }}</p>{% endif %}
{% for warning in s.warnings %}<p class="no">{{ warning }}</p>{% endfor %}
<nav aria-label="Contents"><a href="#{{ s.id }}-overview">Overview</a><a href="#{{ s.id }}-curves">Curves</a>
{%- if s.clock %}<a href="#{{ s.id }}-clock">By time</a>{% endif %}
{%- if s.sweep %}<a href="#{{ s.id }}-sweeps">Sweeps</a>{% endif %}
{%- if s.verdicts %}<a href="#{{ s.id }}-claims">Claims</a>{% endif %}
<a href="#{{ s.id }}-statistics">Statistics</a><a href="#{{ s.id }}-runtime">Run times</a>
<a href="#{{ s.id }}-failures">Failures</a><a href="#{{ s.id }}-settings">Settings</a>
<a href="#{{ s.id }}-again">Run it again</a><a href="#{{ s.id }}-provenance">Provenance</a></nav>
</header>
<section>
<h2 id="{{ s.id }}-overview">Overview</h2>
<div class="tiles">{% for value, words, mark in s.tiles %}<div class="{{ mark }}"><b>{{ value }}</b><span>{{ words }}</span></div>{% endfor %}</div>
{% for table in s.answer %}<div class="answer">{{ m.numbers(table) }}</div>{% endfor %}
{% if s.answer and s.final %}<details><summary>Final values of every setting</summary>
{% for table in s.final %}{{ m.numbers(table) }}{% endfor %}</details>
{% else %}{% for table in s.final %}{{ m.numbers(table) }}{% endfor %}{% endif %}
</section>
<section>
<h2 id="{{ s.id }}-curves">Curves</h2>
{% if s.index %}<details class="answer"><summary>Names of settings (S1, S2, ...)</summary>{{ m.numbers(s.index) }}</details>{% endif %}
{% if s.curves_note %}<p class="note">{{ s.curves_note }}</p>{% endif %}
{% if s.curves %}<div class="chart" hidden></div>{% endif %}
{% if panel %}{{ still("Small multiples by " ~ panel, s.stills, "multiples") }}{% else %}{{ still("As figures, for print", s.stills) }}{% endif %}
</section>
{% if s.clock %}<section>
<h2 id="{{ s.id }}-clock">By time</h2>
{{ still("Several workers on the clock", s.clock, "clock") }}
</section>{% endif %}
{% if s.sweep %}<section>
<h2 id="{{ s.id }}-sweeps">Sweeps</h2>
<p>Settings that were swept: {{ s.swept | join(", ") }}.</p>
{% for name in s.swept %}<h3>Final value over {{ name }}</h3><div class="chart" hidden></div>
{% if panel and panel != name %}{{ still("Small multiples by " ~ panel, s.over[name], "multiples") }}{% else %}{{ still("As figures, for print", s.over[name]) }}{% endif %}{% endfor %}
{% if s.heat %}<h3>Over two settings</h3>{{ still("Heat-maps", s.heat, "heat") }}{% endif %}
{{ m.numbers(s.sensitivity) }}
</section>{% endif %}
{% if s.verdicts %}<section>
<h2 id="{{ s.id }}-claims">Claims</h2>
<p>Every claim is a set of comparisons. A comparison is shown when the 95 % confidence sequence of its effect lies on the
side of the statement; this sequence stays valid however often one looks. The grade says what the comparisons show
together.</p>
{{ m.tally(s.verdicts, marks) }}{{ m.claims(s.verdicts, marks) }}
</section>{% endif %}
<section>
<h2 id="{{ s.id }}-statistics">Statistics</h2>
{% for f in s.ranks %}<figure><div class="plot" tabindex="0"><img alt="{{ f.title }}" src="{{ f.source }}"
width="{{ f.width }}" height="{{ f.height }}" style="max-width: {{ f.width }}px"></div><figcaption>{{ f.title }}</figcaption></figure>{% endfor %}
{% for table in s.statistics %}{{ m.numbers(table) }}{% endfor %}
{% if not s.statistics %}<p class="missing">Nothing to compare: it takes two algorithms with common trials.</p>{% endif %}
</section>
<section>
<h2 id="{{ s.id }}-runtime">Run times</h2>
{{ m.numbers(s.runtime) }}
</section>
<section>
<h2 id="{{ s.id }}-failures">Failures and missing trials</h2>
{% if s.failed %}<p>Failed trials are in no mean:</p><ul>{% for text in s.failed %}<li class="labels">{{ text }}</li>{% endfor %}</ul>{% endif %}
{% if s.open.rows %}{{ m.numbers(s.open) }}{% elif not s.failed %}<p>None: every trial is complete.</p>{% endif %}
</section>
<section>
<h2 id="{{ s.id }}-settings">Settings</h2>
<div class="scroll" tabindex="0"><table class="settings"><thead><tr><th>Block</th><th>Of</th><th>Values</th></tr></thead><tbody>
{% for name, labels, text in s.settings %}<tr><td>{{ name }}</td><td>{{ labels | join("; ") }}</td><td><code>{{ text }}</code></td></tr>
{% endfor %}</tbody></table></div>
{% if s.text %}<details><summary>The study file, as it was run</summary><pre>{{ s.text }}</pre></details>{% endif %}
</section>
<section>
<h2 id="{{ s.id }}-again">Run it again</h2>
<pre>{{ s.command }}</pre>
<p>The same study file gives the same bits on any number of ranks. What is there is kept; only what is missing
runs, so that more seeds or algorithms are the same command with the longer file. This page again:
<code>./run.sh report {{ s.file }}</code>.</p>
</section>
<section>
<h2 id="{{ s.id }}-provenance">Provenance</h2>
<dl>{% for key, value in s.provenance.items() %}<dt>{{ key }}</dt><dd>{{ value }}</dd>{% endfor %}</dl>
</section>
</article>
{% endfor %}
<script type="application/json" id="charts">{{ charts }}</script>
<script>{{ script }}</script>
{% endblock %}
"""
