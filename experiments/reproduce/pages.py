"""Templates of the page of a paper, and of the index over all papers."""
from regatta_analysis.report import pages

REPORT = """{% extends "base" %}{% import "macros" as m with context %}
{% block title %}{{ paper.title }}: reproduction{% endblock %}
{% block body %}
<header>
<p class="soft">Regatta, reproduction at scale “{{ scale }}” ·
<a href="https://{{ 'arxiv.org/abs/' if paper.reference.startswith('arXiv:') else '' -}}
{{ paper.reference | replace('arXiv:', '') }}">{{ paper.citation }}</a> ·
<a href="../index.html">all papers</a></p>
<h1>{{ paper.title }}</h1>
<p>{{ paper.about }}</p>
{% if scale != "full" %}<p><b>Not the full study:</b> {{ "a few queries and trials, to see that everything runs; the grades mean nothing."
if scale == "smoke" else "a few trials per cell; many claims stay open." }}</p>{% endif %}
<nav><a href="#claims">Claims</a><a href="#figures">Figures</a><a href="#tables">Tables</a>
<a href="#studies">Studies and settings</a><a href="#again">Run it again</a>
<a href="#provenance">Provenance</a></nav>
</header>
<main>
<h2 id="claims">Claims</h2>
<p>What the paper says its experiments show, decided on these results under every setting that the paper leaves open
and that has results here, and in every reading of the sentence. A claim is a set of comparisons. A comparison is shown
when the 95 % confidence sequence of its effect lies on the side of the statement; this sequence stays valid however
often one looks. P(picture) is the share of experiments of the paper's own size that would show the statement, with a
90 % interval. A curve has one effect with its interval per combination of setting and reading, sorted; the dashed line
is the border of the statement, the dotted one what the paper prints; the rows below say which setting each has.
Colours are grades.</p>
{{ m.tally(verdicts, marks) }}
{% if verdicts %}{{ m.claims(verdicts, marks) }}{% else %}<p class="missing">No claims file yet.</p>{% endif %}
{% for table in published %}{{ m.numbers({"title": table.title, "note": table.note,
"header": table.header, "rows": plain(table.rows)}) }}{% endfor %}

<h2 id="figures">Figures</h2>
{% for f in figures %}
<section id="{{ f.id }}"><h3>{{ f.title }}</h3>
{% if f.caption %}<p class="note">{{ f.caption }}</p>{% endif %}
{% if f.missing %}<p class="missing">{{ f.missing }}</p>{% endif %}
{% for words, path in f.parts %}<figure><div class="plot{{ ' narrow' if narrow(path) }}" tabindex="0">
<img alt="{{ f.title }}{{ ', ' + words if words }}" src="{{ image(path) }}"
width="{{ size(path)[0] }}" height="{{ size(path)[1] }}" style="max-width: {{ size(path)[0] }}px"></div>
{% if words %}<figcaption>{{ words[0] | upper }}{{ words[1:] }}.</figcaption>{% endif %}</figure>
{% endfor %}</section>
{% endfor %}

<h2 id="tables">Tables</h2>
{% for table in tables %}{{ m.numbers(table) }}{% endfor %}
{% for table in comparisons %}{{ m.numbers(table) }}{% endfor %}
{% for table in growth %}{{ m.numbers(table) }}{% endfor %}

<h2 id="studies">Studies and settings</h2>
{{ m.numbers(studies) }}
{% if failed %}<h3>Failed trials (in no mean)</h3><ul>{% for line in failed %}<li>{{ line }}</li>
{% endfor %}</ul>{% endif %}
{% for study, text in settings.items() %}<details><summary>{{ study }}.yaml, as it was run</summary>
<pre>{{ text }}</pre></details>{% endfor %}

<h2 id="again">Run it again</h2>
<pre>{{ command }}</pre>
<p>What is there is kept; only what is missing runs. More trials:
<code>./run.sh reproduce {{ paper.name }} --seeds N</code>; one figure:
<code>./run.sh reproduce {{ paper.name }}/{{ paper.figures[0].id }}</code>; only the page, from results
at hand: <code>./run.sh reproduce {{ paper.name }} --no-run</code>.</p>

<h2 id="provenance">Provenance</h2>
{% for study, about in provenance %}<details{{ " open" if loop.first }}><summary>{{ study }}</summary><dl>
{% for key, value in about.items() %}<dt>{{ key }}</dt><dd>{{ value }}</dd>{% endfor %}</dl></details>
{% endfor %}
</main>
{% endblock %}
"""

INDEX = """{% extends "base" %}{% import "macros" as m with context %}
{% block title %}Regatta: the claims of five papers{% endblock %}
{% block body %}
<h1>The claims of {{ papers | length }} papers, checked</h1>
<p class="soft">Regatta, reproduction at scale “{{ scale }}”</p>
{{ m.tally(verdicts, marks) }}
<h2>Papers</h2>
<div class="scroll" tabindex="0"><table><thead><tr><th>Paper</th><th>Claims</th></tr></thead><tbody>
{% for paper, there, found, count in papers %}<tr><td>{% if there %}
<a href="{{ paper.name }}/report.html">{{ paper.title }}</a>{% else %}{{ paper.title }}
<span class="soft">(no report yet)</span>{% endif %} <span class="soft">{{ paper.citation }}</span></td>
<td>{{ count }}</td></tr>{% endfor %}</tbody></table></div>
<h2>Every claim</h2>
{{ m.claims(verdicts, marks, true) }}
<h2>Run it again</h2>
<pre>{{ command }}</pre>
{% endblock %}
"""

pages.add({"report": REPORT, "index": INDEX})
render = pages.render
