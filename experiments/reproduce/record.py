"""The record of grades beside the study files, experiments/PAPER/verdicts.json, and the tables of the README files,
which come from it.

The file has the grade of every claim and the settings that it depends on. For every case (universe and reading) it
has the grade, the comparisons with their evidence, trials, P(picture), estimate and, if the claim depends on a
setting, the other universes with the same trials. For each study it has the checksum of the results (and `first`,
that of the trials that all cells have in every universe), trials, core-hours, machines and revisions of methods. It
also has the command that made the results; a study that came later has its own. Results of other universes, or of
fewer trials, of a study are listed beside the earlier ones."""
import json
import re
import textwrap
from dataclasses import replace

import numpy as np

from regatta_analysis.claims import checks, claims, verdicts
from regatta_analysis.claims.grades import CONTRADICTED, GRADES, NOT_COMPARABLE, NOT_RUN, NOTHING, SHOWN, UNDECIDED, Tally
from regatta_analysis.claims.outcome import number
from regatta_analysis.load.errors import InputError

from . import catalogue, kept, universes

VERSION = 2
WIDTH, DEEPEST = 118, 4  # of lines of a record; what lies deeper than so many brackets has one line
LEVEL = "5 % over the comparisons of the claim"  # of claims that lack it: 5 % for each of their comparisons
PICTURE = re.compile(r"an experiment of the paper's size shows it with probability [^\]]+\]")
BEGIN, END = "<!-- verdicts -->", "<!-- end of verdicts -->"


def data(name, files, command=None, before=None):
    """The record of a paper on the results `files`. It keeps from the record `before` the studies and universes that
    are not among the files, and the claims about them."""
    paper = catalogue.paper(name)
    studies = universes.studies_of(paper.directory, files)
    found = claims.evaluate(paper.claims_file, studies)
    results = kept.accounts(studies, paper.studies())
    command = command or f"./run.sh reproduce {name} --universes"
    if before:
        news = kept.News.by_study(before, results, studies)
        found = _with_claims(before, found, news, paper)
        results = {study: kept.told(before["results"].get(study), results.get(study), news.get(study), command)
                   for study in paper.studies() if study in before["results"] or study in results}
        command = before["command"]
    else:
        found = [_claim(v) for v in found]
    return {"version": VERSION, "paper": name, "reference": paper.reference, "command": command, "results": results,
            "counts": counts(found), "claims": found}


def counts(found):
    """{grade: the number of claims that have it}."""
    return {kind: sum(claim["grade"] == kind for claim in found) for kind in GRADES}


def _with_claims(before, found, news, paper):
    """Decide claims again, except those about studies, or universes, that now exist only in the record."""
    old, rows = claims_told(before), []
    for now, claim in zip(found, claims.read(paper.claims_file)["claims"]):
        named, then = checks.studies_in(claims.checks_of(claim)), old.get((now.id, now.claim))
        lacking = sorted(study for study in named & set(before["results"]) if study not in news)
        here = {study: news[study] for study in named if study in news}
        if lacking and not (then and all(one.leaves(then) for one in here.values())):
            raise InputError(f"claim {now.id} of {paper.name} is to be decided afresh and speaks of "
                             f"{', '.join(lacking)} too: give their results")
        rows.append(then if lacking else _claim(kept.with_record(now, then, here, paper.settings)))
    return rows


def claims_told(before):
    """{(id, statement): claim} of a record."""
    return {(claim["id"], claim["claim"]): claim for claim in before["claims"]}


def _claim(v):
    v = replace(v, price="") if v.grade in UNDECIDED else v  # the table takes it from claims.yaml: it may change there
    earlier = {} if any(isinstance(case, kept.Told) for case in v.cases) else {"level": LEVEL}
    return {"id": v.id, "where": v.where, "claim": v.claim, "grade": v.grade, "words": v.words, **earlier, "turns_on": v.keys,
            "sentence": v.sentence(), "settled": v.settled(), "shares": v.shares(), "count": vars(v.first.tally),
            "trials": max((case.trials for case in v.cases), default=0),
            "cases": [_case(v, k, case) for k, case in enumerate(v.cases) if case.same_as < 0]}


def _case(v, k, case):
    """A case of a claim and, if the claim depends on a setting, the other universes with the trials of this case."""
    told = dict(case.data if isinstance(case, kept.Told) else claims.case_data(case))
    also = [other.universe for other in v.cases if other.same_as == k]
    return told | {"also": also} if v.keys and also else {key: told[key] for key in told if key != "also"}


def write(name, places, command=None, keep=False):
    """Decide claims and write verdicts.json. Returns its path. `keep`: keep the grades of studies without results
    here."""
    paper = catalogue.paper(name)
    files = claims.find_results(places, name, paper.reference)
    if not files:
        raise InputError(f"{places[0]}: no results of {name}")
    path = paper.directory / "verdicts.json"
    if keep and not path.exists():
        raise InputError(f"{path}: there are no verdicts to keep yet; the first are written without --keep")
    found = data(name, files, command, read(path) if keep else None)
    path.write_text(as_text(found) + "\n", encoding="utf-8")
    return path


def as_text(value, depth=0):
    """A record as JSON that is short, and whose lines still say what changed: small entries stand side by side, and each
    check of a case has a line of its own."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or depth >= DEEPEST or len(text) + depth <= WIDTH:
        return text
    named = isinstance(value, dict)
    entries = [(json.dumps(key, ensure_ascii=False) + ": " if named else "") + as_text(one, depth + 1)
               for key, one in (value.items() if named else enumerate(value))]
    pad, lines = " " * (depth + 1), []
    for entry in entries:
        if lines and "\n" not in entry + lines[-1] and len(lines[-1]) + len(entry) + 2 <= WIDTH:
            lines[-1] += f", {entry}"
        else:
            lines[-1:] = [*(line + "," for line in lines[-1:]), pad + entry]
    left, right = "{}" if named else "[]"
    return left + "\n" + "\n".join(lines) + "\n" + " " * depth + right


def read(path):
    """A record, with the grades that its comparisons have by the rules of today; raises InputError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from error
    if found.get("version") != VERSION:
        raise InputError(f"{path}: version {found.get('version')} of verdicts, not {VERSION}")
    known = universes.read(path.parent / "settings.yaml")
    settings = known.settings([study for figure in known.figures for study in figure.studies])
    graded = [kept.regraded(found["paper"], claim, settings) for claim in found["claims"]]
    return found | {"claims": graded, "counts": counts(graded)}


def summary(found):
    """'16 claims: 7 shown, 2 supported ...; 1234 trials, 0.5 core-hours'."""
    told = ", ".join(f"{n} {kind}" for kind, n in found["counts"].items() if n)
    return f"{len(found['claims'])} claims: {told}; {_cost([found])}"


def _cost(records):
    results = [r for found in records for one in found["results"].values() for r in [one, *one.get("beside", ())]]
    hours = sum(r["core_hours"] or 0.0 for r in results)
    return f"{sum(r['trials'] for r in results)} trials, {hours:.3g} core-hours"


def write_readmes():
    """Put the tables and counts, made from the existing verdicts.json files, between their marks in the pages that have
    them. Returns the paths written."""
    records, written = {}, []
    for name in catalogue.papers():
        path = catalogue.EXPERIMENTS / name / "verdicts.json"
        if not path.exists():
            continue
        records[name] = read(path)
        written += _put(catalogue.EXPERIMENTS / name / "README.md", claim_table(name, records[name]))
    if not records:
        raise InputError(f"{catalogue.EXPERIMENTS}: no paper has a verdicts.json yet (reproduce verdicts)")
    root = catalogue.EXPERIMENTS.parent
    return [*written, *_put(root / "README.md", paper_words(records)),
            *_put(root / "docs" / "reproduce-a-paper.md", paper_table(records)),
            *_put(root / "docs" / "paper" / "paper.md", article_words(records))]


def _put(path, text):
    """Replace the text between the marks of a file. Returns [path], or nothing if there are no marks."""
    before = path.read_text(encoding="utf-8")
    if BEGIN not in before or END not in before:
        return []
    inside = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    path.write_text(inside.sub(lambda _: f"{BEGIN}\n{text}\n{END}", before, count=1), encoding="utf-8")
    return [path]


WORDS = (  # grades, and what is said of one claim and of several
    (("shown",), "1 holds here", "{n} hold here"),
    (("supported",), "1 holds in at least half of its comparisons, with the others open",
     "{n} hold in at least half of their comparisons, with the others open"),
    (("partly", "depends"), "1 holds in part, or in some readings or settings only",
     "{n} hold in part, or in some readings or settings only"),
    (("contradicted",), "1 does not hold", "{n} do not hold"),
    (("equivalent",), "in 1 the methods make no difference", "in {n} the methods make no difference"),
    (("mostly undecided",), "1 is mostly undecided, with fewer than half of its comparisons shown and none against",
     "{n} are mostly undecided, with fewer than half of their comparisons shown and none against"),
    (("undecided",), "1 is undecided", "{n} are undecided"),
    (("not run",), "1 has not been run", "{n} have not been run"),
    (("not comparable",), "1 cannot be compared", "{n} cannot be compared"))


def in_words(counts):
    """"of 82 statements, 22 hold here, ...", of the numbers of claims with each grade."""
    told = [(sum(counts.get(kind, 0) for kind in kinds), one, more) for kinds, one, more in WORDS]
    told = [one if n == 1 else more.format(n=n) for n, one, more in told if n]
    some = ", ".join(told[:-1]) + f", and {told[-1]}" if len(told) > 1 else told[0]
    return f"of {sum(counts.values())} statements, {some}"


def _total(records):
    """The number of claims with each grade, over all papers."""
    return {kind: sum(found["counts"].get(kind, 0) for found in records.values()) for kind in GRADES}


def paper_words(records):
    """A sentence on all papers and one on each, for readers who do not know the grades."""
    lines = [f"- [{catalogue.paper(name).title}](experiments/{name}): {in_words(found['counts'])}."
             for name, found in records.items()]
    whole = in_words(_total(records))
    return "\n".join([f"{whole[0].upper()}{whole[1:]}.", "", *lines])


def article_words(records):
    """The sentences of the article in docs/paper."""
    return textwrap.fill(f"The statements of the five papers were graded on {_cost(records.values())}: "
                         f"{in_words(_total(records))}.", 120)


def paper_table(records):
    """One row per paper, and the total."""
    kinds = [grade for grade in GRADES if any(found["counts"].get(grade) for found in records.values())]
    lines = [f"| paper | {' | '.join(kinds)} | cost |", "|---" * (len(kinds) + 2) + "|"]
    for name, found in records.items():
        counts = " | ".join(str(found["counts"].get(kind, 0)) for kind in kinds)
        lines.append(f"| [{name}](../experiments/{name}/README.md) | {counts} | {_cost([found])} |")
    total = " | ".join(str(sum(f["counts"].get(kind, 0) for f in records.values())) for kind in kinds)
    return "\n".join([*lines, f"| all | {total} | {_cost(records.values())} |"])


def claim_table(name, found):
    """One row per claim of a paper: what the paper says, in few words, the grade and the evidence. Below it, folded: how
    to read the rows, and how the studies were run."""
    lines = [f"{summary(found)}.", "", "| claim | the paper says | grade | evidence |", "|---|---|---|---|"]
    known = claims_told(found)
    for claim in claims.read(catalogue.paper(name).claims_file)["claims"]:
        said, statement = (" ".join(str(claim.get(key, claim["claim"])).split()) for key in ("sentence", "claim"))
        graded = known.get((str(claim["id"]), statement))
        words, rests_on = (graded["words"], evidence(graded)) if graded else ("–", "not graded yet")
        if graded and graded["grade"] in UNDECIDED and "price" in claim:
            rests_on += f"; {claim['price']}"
        lines.append(f"| {claim['id']} | {_cell(said)} | {words} | {_cell(rests_on)} |")
    return "\n".join([*lines, "", "<details>", "<summary>How to read this table, and how each study was run</summary>", "",
                      *_how_to_read(found), *_run_table(found), "", "</details>"])


def _how_to_read(found):
    """Paragraphs that explain the rows of the table of claims, as lines of Markdown."""
    graded = [claim for claim in found["claims"] if claim["grade"] not in (NOT_RUN, NOT_COMPARABLE)]
    level = ("Comparisons that are decided together at 5 % have this error for all of them: with a chance of 5 % at most, one or more "
             "of them is wrong.")
    if any("level" not in claim for claim in graded):
        level += " In older grades every comparison has an error of 5 % by itself."
    told = [level]
    if any(PICTURE.search(claim["sentence"]) for claim in graded):
        told.append("A grade says whether the statement is true of the methods, whatever the size of an experiment. A single "
                    "experiment of the paper's size may show a statement that is not true, or miss one that is: the last words of a "
                    "row say how probable it is that one shows the statement (P(picture), with its 90 % interval; it takes 20 trials).")
    return [line for paragraph in told for line in (paragraph, "")]


def _run_table(found):
    """One row for each run of a study in the record: trials, cost, command, and the revisions of methods that are above
    1 (records of earlier results lack them)."""
    lines = ["| study | trials | core-hours | command | revisions above 1 |", "|---|---|---|---|---|"]
    for study, told in found["results"].items():
        for one in [told, *told.get("beside", ())]:
            hours = "" if one["core_hours"] is None else f"{one['core_hours']:.2g}"
            revisions = "; ".join(f"{name} {' and '.join(map(str, some))}" for name, some in one.get("revisions", {}).items()
                                  if max(some) > 1)
            lines.append(f"| {study} | {one['trials']} | {hours} | `{one.get('command', found['command'])}` | {revisions} |")
    return lines


def evidence(claim):
    """The basis of the grade of a claim of a record, in one clause."""
    if claim["grade"] in (NOT_RUN, NOT_COMPARABLE):
        return claim["sentence"].partition(": ")[2]
    return _alone(claim) + "".join(f"; {found[0]}" for found in PICTURE.finditer(claim.get("sentence", "")))


def _alone(claim):
    """The basis of a grade without how often an experiment of the paper's size shows the statement: its comparisons, with
    the error of them together or of each."""
    cases, tally, first = sum(claim["shares"].values()), Tally(**claim["count"]), claim["cases"][0]
    kinds = verdicts.combined((case["universe"], case["reading"]) for case in claim["cases"] if case["results"])
    if len(claim["shares"]) > 1:
        shares = ", ".join(f"{grade} in {k}" for grade, k in claim["shares"].items())
        return f"{shares} of {cases} {kinds}" + (f"; {_family(claim)}" if tally.total > 1 else "")
    alone = tally.total == 1 and first["value"] is not None
    text = _estimate(first) if alone else str(tally) + (f", {_family(claim)}" if tally.total > 1 else "")
    return text + (f"; the same grade in all {cases} {kinds}" if cases > 1 else "")


def _family(claim):
    return verdicts.FAMILY if "level" in claim else kept.APART


def _estimate(case):
    """The value of a comparison with its interval, and where it would have to lie."""
    low, high = (number(float("inf") if x is None else x) for x in (case["low"], case["high"]))
    low = "-∞" if case["low"] is None else low
    limits = [f"{words} {case[key]:g}" for words, key in (("at least", "least"), ("at most", "most"))
              if case[key] is not None and (key == "most" or case["least"] != 0 or case["most"] is None)]
    if _misleads(case):
        return f"{number(case['value'])}, claimed {' and '.join(limits)}; the interval that decided was not recorded"
    certain = case["grade"] in (SHOWN, CONTRADICTED) and case["low"] is case["high"] is None  # no chance is in it
    return number(case["value"]) + ("" if certain else f" [{low}, {high}]") + (f", claimed {' and '.join(limits)}" if limits else "")


def _misleads(case):
    """Whether the interval of an old record lies wholly inside or outside of the borders of an undecided case: then another
    one decided. Comparisons that are decided today have the interval that decides."""
    ends = [end if case[key] is None else case[key] for key, end in
            (("low", -np.inf), ("high", np.inf), ("least", -np.inf), ("most", np.inf))]
    low, high, least, most = ends
    return case.get("grade") == NOTHING and ((least <= low and high <= most) or high < least or low > most)


def _cell(text):
    return text.replace("|", "\\|").rstrip(".")
