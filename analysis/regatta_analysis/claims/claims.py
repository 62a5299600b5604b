"""Statements that studies are to decide (claims.yaml), decided on results files.

A claim has an id, a place where it is said (`where`), the statement, and `checks` that must all hold (checks.py
has their kinds), or `readings`: several ways to make the sentence a number, each with an id, a reason
(`because`) and checks. `sentence` says in few words what the source says, `printed` is a number of it. verdicts.py puts
together what comes out under every reading, and in every universe where there are several. `tables` are numbers
printed in a paper.
"""
import functools
import math
from pathlib import Path

import numpy as np

from . import checks, forms, stages, verdicts
from .grades import GRADES
from .outcome import Missing
from ..load.errors import InputError, nearest
from ..load.load import load
from ..load.yaml_file import entries, entry, mappings, read_yaml
from ..stats.evidence import least_units


ENOUGH = 1000
LEAST = 7  # independent trials: with fewer no interval has an end
CLAIM_KEYS = {"id", "where", "sentence", "claim", "checks", "readings", "printed", "needs", "price"}


class Studies:
    """Results by the name of their study file, read on demand.

    A subclass may know several universes: the same studies under other settings, {setting: value}. Here there is one,
    {}."""

    universe = {}

    def __init__(self, files, partial=True, raw=None, against=None):
        self.files, self._partial, self._against = dict(files), partial, against
        self._raw = {} if raw is None else raw
        self.missing = []  # places that `panels` did not find

    def universes(self, _studies):
        """The universes of these studies, the first of them ours."""
        return [{}]

    def within(self, _universe):
        """The same results in a universe."""
        return self

    def open_settings(self, _studies):
        """{id: Setting} of what the universes of these studies differ in."""
        return {}

    def size(self, _where):
        """Trials of another experiment that the results are compared with, at a place that `panels` names; {} without
        such a place."""
        return {}

    def whole(self, study):
        """Results of a study in all universes; None without results."""
        if study not in self._raw:
            path = self.files.get(study)
            self._raw[study] = load(path, self._partial, against=self._against) if path else None
        return self._raw[study]

    def states(self):
        """Lines on the studies that were looked at: which results are incomplete, and what pairs with results of others."""
        return [line for results in self._raw.values() if results for line in (results.state, *results.beside.notes) if line]

    def get(self, study):
        """Results of a study; None without results."""
        return self.whole(study)

    def whole_study(self, study):
        """The results whose problems and methods a statement about all of them means, in whatever universe."""
        return self.get(study)

    def text(self, study):
        """The text of the file of a study, beside that of its results; "" if there is none."""
        return ""

    def plans(self, study, block, name):
        """Whether a study has an entry of this label (settings may follow it) in its block `problems` or `algorithms`."""
        results = self.whole(study)
        texts = filter(None, (self.text(study), results.study if results else ""))
        return any(_named(name, entries(text, block)) for text in texts)

    def shortened(self, _study):
        """Whether the results of a study have fewer queries than its claims are about."""
        return False

    def enough(self, _where):
        """The number of trials after which a comparison at this place gets no more, whatever they show."""
        return ENOUGH

    def signature(self, _checks):
        """The trials that these checks see, so that universes that don't differ for them are decided once."""
        return ()

    picture = None  # a function that computes the `picture` of a Case

    def panels(self, on):
        """[(where, results, problem)] for every `study` or `study/problem` that has results. `missing` gets the
        others. Raises Missing if there are no results at all."""
        found, missing = [], []
        for name in [on] if isinstance(on, str) else on:
            study, _, problem = name.partition("/")
            results = self.get(study)
            if results is None:
                under = f" with {verdicts.words(self.universe)}" if self.whole(study) else ""
                missing.append(f"no results of {study}{under} yet")
            elif problem and not {problem} & {*results.problems, *results.places}:
                if not self.plans(study, "problems", problem):
                    known = list(dict.fromkeys((*results.problems, *results.places)))
                    raise InputError(f"{study}: no problem {problem!r}{nearest(problem, known)} (it has: {', '.join(known)})")
                missing.append(f"{study}: no problem {problem!r} in the results")
            elif self.shortened(study):
                missing.append(f"{study}: the results have fewer queries than the study file of the paper")
            else:
                mine = [one for one in results.problems if problem in ("", one, results.group(one).place)]
                if not problem:
                    missing += [f"{study}: no results of {one} with {verdicts.words(self.universe)}"
                                for one in self.whole_study(study).problems if one not in results.problems]
                found += [(f"{study}, {one}" if len(results.problems) > 1 or problem else study, results, one)
                          for one in mine]
        if not found:
            raise Missing("; ".join(dict.fromkeys(missing)))
        self.missing += missing
        return found


def _named(name, known):
    """Whether a label is known, or one with settings behind it."""
    return any(name == label or name.startswith(f"{label} ") for label in known)


@functools.lru_cache(maxsize=None)
def _references(path):
    """The source that the study file of these results names."""
    return str(load(path, True).attributes.get("references", ""))


def find_results(places, paper, reference=None):
    """{study: path} of the results files (or study directories) at or in `places`. With a reference, only those whose
    study file has it, because figures of several papers have the same name."""
    files = {}
    for place in map(Path, places):
        if place.is_dir() and place.suffix != ".d":
            found = sorted(place.glob("*.h5")) + sorted(p.with_suffix("") for p in
                                                        place.glob("*.h5.d"))
        elif place.exists() or place.with_name(f"{place.name}.d").exists():
            found = [place]
        else:
            raise InputError(f"{place}: no such file")
        for path in found:
            if reference and reference not in _references(path):
                continue
            stem = path.name.removesuffix(".d").removesuffix(".h5")
            files.setdefault(stem.removeprefix(f"{paper}_"), path)
    return files


@functools.lru_cache(maxsize=None)
def read(path):
    """The claims file as data; raises InputError with one line for what is wrong in it."""
    path = Path(path)
    data = read_yaml(path)
    if not isinstance(data, dict) or "claims" not in data:
        raise InputError(f"{path}: no claims file (a mapping with a list 'claims')")
    seen = set()
    for claim in mappings(path, "claims", data["claims"]):
        where = f"{path}: claim {claim.get('id', '?')}"
        for key in ("id", "where", "claim"):
            if not str(claim.get(key, "")).strip():
                raise InputError(f"{where} lacks {key!r}")
        unknown = set(claim) - CLAIM_KEYS
        if unknown:
            raise InputError(f"{where}: unknown key {sorted(unknown)[0]!r}{nearest(sorted(unknown)[0], CLAIM_KEYS)}")
        if str(claim["id"]) in seen:
            raise InputError(f"{where} stands here twice")
        seen.add(str(claim["id"]))
        if ("checks" in claim) == ("readings" in claim):
            raise InputError(f"{where}: either 'checks' or 'readings'")
        _check_readings(where, claim)
    for table in mappings(path, "tables", data["tables"]) if "tables" in data else ():
        for row in mappings(f"{path}: table {table.get('title', '?')}", "rows", table.get("rows")):
            if not {"title", "rows"} <= set(table) or not {"who", "compute"} & set(row) \
                    or not isinstance(row.get("published"), list) or len(row["published"]) != 2:
                raise InputError(f"{path}: a table has a title and rows, a row who (or compute) and published: "
                                 "[number, its error]")
    return data


def _check_readings(where, claim):
    if "printed" in claim and not forms.NUMBER[0](claim["printed"]):
        raise InputError(f"{where}: printed is a number, not {claim['printed']!r}")
    for key in ("sentence", "price"):
        if key in claim and not forms.TEXT[0](claim[key]):
            raise InputError(f"{where}: {key} is a text, not {claim[key]!r}")
    for reading in mappings(where, "readings", verdicts.readings_of(claim)):
        for key in ("id", "because", "checks"):
            if key not in reading:
                raise InputError(f"{where}: reading {reading.get('id', '?')} lacks {key!r}")
        for check in mappings(where, "checks", reading["checks"]):
            try:
                forms.require(check)
            except InputError as error:
                raise InputError(f"{where}: {error}") from error


def require_studies(path, names):
    """Raises InputError for a claim on a study that is neither among the names nor a study file beside the claims."""
    known = sorted({*names, *(file.stem for file in Path(path).parent.glob("*.yaml"))} - {Path(path).stem})
    for claim in read(path)["claims"]:
        for name in sorted(checks.studies_in(checks_of(claim)) - set(known)):
            raise InputError(f"{path}: claim {claim['id']}: no study {name!r}{nearest(name, known)} (there are: "
                             f"{', '.join(known) or 'none'})")


def require_decidable(path, name, text, grows=False):
    """Before a study runs: raises InputError for a claim that speaks of a method or a problem that its file, with this
    text, does not have, and for one that no trial of it can decide. `grows`: trials are added for open claims; then
    also for one of a kind that gets none and has too few."""
    require_studies(path, [name])
    for claim in read(path)["claims"]:
        for check, problems in _checks_on(claim, name):
            try:
                for problem in problems:
                    _decidable(check, problem, text)
            except InputError as error:
                raise InputError(f"{path}: claim {claim['id']}: {error}") from error
    if grows and too_few(path, name, text, forms.FIXED):
        raise InputError(f"{path}: {too_few(path, name, text, forms.FIXED)}")


def too_few(path, name, text, kinds=checks.BY_TRIALS):
    """A line about the claims that a study with this text has too few trials for, whatever they show; "" without
    such claims. A study may run in spite of it: the user may be after other things than claims."""
    n = _independent(text)
    found = [str(claim["id"]) for claim in read(path)["claims"] if n < LEAST and any(
        check["kind"] in kinds and check.get("combine") != "pooled" for check, _ in _checks_on(claim, name))]
    return found and (f"no outcome of {n} trials of a cell can decide claim{'s' * (len(found) > 1)} {', '.join(found)}; it "
                      f"takes {LEAST} (`seeds`)") or ""


def too_few_together(path, name, text):
    """A line about the claims with so many comparisons that the trials of this study decide them only if all come out
    alike, because each of them has its part of the error; "" without such claims."""
    n, found = _independent(text), {}
    for claim in read(path)["claims"] if n >= LEAST else ():
        sizes = [_comparisons(check, problems, text) for check, problems in _checks_on(claim, name)
                 if check["kind"] in checks.BY_TRIALS - forms.FIXED and check.get("combine") != "pooled"]
        if n < least_units(max(sizes, default=1)):
            found[str(claim["id"])] = max(sizes)
    if not found:
        return ""
    return (f"{n} trials of a cell decide claim{'s' * (len(found) > 1)} {', '.join(found)} only if all comparisons of a claim "
            f"come out alike; with {least_units(max(found.values()))} (`seeds`) each of up to {max(found.values())} can come "
            "out by itself")


def notes(path, name, text):
    """The lines of too_few and too_few_together as one text, for a user who is about to run the study; "" without any."""
    return "; ".join(filter(None, (too_few(path, name, text), too_few_together(path, name, text))))


def _independent(text):
    """The independent trials of a cell of a study with this text."""
    seeds, instances, _ = stages.sizes(text)
    return max(len(seeds), instances)


def _comparisons(check, problems, text):
    """The comparisons of a check on a study, where a sweep is not counted."""
    panels = len(entries(text, "problems")) if "" in problems else len(problems)
    pairs = [1] if check["kind"] == "group" else [len(checks.names(check.get(key, [""]))) for key in ("who", "against")]
    return panels * math.prod(pairs) * len(check.get("at_each", check.get("times", [0])))


def _checks_on(claim, name):
    """[(check, the problems that it names, "" for all)] of the checks of a claim that speak of a study."""
    found = [(check, [place.partition("/")[2] for place in checks.places_of(check) if place.partition("/")[0] == name])
             for check in checks_of(claim)]
    return [(check, problems) for check, problems in found if problems]


def _decidable(check, problem, text):
    wanted = [("algorithms", name) for key in ("who", "against", "among") for name in checks.names(check.get(key, []))]
    for block, label in [*wanted, *([("problems", problem)] if problem else [])]:
        known = entries(text, block)
        if known and not _named(label, known):
            raise InputError(f"the study has no {block[:-1]} {label!r}{nearest(label, known)} (it has: {', '.join(known)})")
    unknown = [label for label in without_optimum(text) if not problem or _named(problem, [label])]
    if unknown and forms.needs_optimum(check):
        raise InputError(f"{check['kind']}: no trial can decide this: {unknown[0]!r} has no known optimum, from which "
                         "regret is measured; say its `optimum` in the study file, or compare the best value")


@functools.lru_cache(maxsize=64)
def without_optimum(text):
    """The labels of problems of a study file that have no optimum: programs whose entry does not name one."""
    if any("optimum" in str(entry(text, key)) for key in ("common", "sweep")):
        return []
    return [label for label, one in entries(text, "problems").items() if one.get("name") == "external" and "optimum" not in one]


def evaluate(path, studies, paper=None, others=False):
    """The Verdict of every claim of a file. `others`: it may speak of studies that nothing is known of."""
    data, found = read(path), []
    if not others:
        require_studies(path, studies.files)
    paper = paper or Path(path).parent.name
    for claim in data["claims"]:
        try:
            found.append(verdicts.evaluate(paper, claim, studies))
        except InputError as error:
            raise InputError(f"{path}: claim {claim['id']}: {error}") from error
    return found


def checks_of(claim):
    """The checks of all readings of a claim."""
    return [check for reading in verdicts.readings_of(claim) for check in reading["checks"]]


def studies_named(path):
    """Names of the studies that a claims file speaks of, its tables too."""
    data = read(path)
    rows = [row.get("on", table.get("on")) for table in data.get("tables", [])
            for row in table["rows"] if "compute" not in row]
    named = checks.studies_in(check for claim in data["claims"] for check in checks_of(claim))
    return named | {name.partition("/")[0] for name in rows}


# ---- as text -----------------------------------------------------------------------------------


def count(found):
    """'7 shown, 3 supported, 1 contradicted': the grades that claims have, and how many have each."""
    told = [f"{sum(v.grade == grade for v in found)} {grade}" for grade in GRADES if any(v.grade == grade for v in found)]
    return ", ".join(told) or "none"


def plain(found):
    """For the terminal."""
    lines = []
    for v in found:
        lines += [f"{v.id:<5} {v.words.upper()}  {v.claim}  [{v.where}]", f"        {v.sentence()}"]
        for case in v.cases:
            if case.same_as < 0:
                lines += _case_lines(case, len(v.cases) > 1)
    return "\n".join(lines)


def _case_lines(case, several):
    lines = [f"      {case.grade}: {case.tally}; {verdicts.words(case.universe)}; {case.reading}"] if several else []
    for outcome in case.outcomes:
        lines.append(f"        {outcome.text}")
        lines += [f"        decided by: {outcome.method}"] if outcome.method else []
    return lines


def as_data(found):
    """For JSON: nested lists and dictionaries, NaN as None."""
    return [{"paper": v.paper, "id": v.id, "where": v.where, "claim": v.claim, "grade": v.grade,
             "turns_on": v.keys, "sentence": v.sentence(), "settled": v.settled(),
             "cases": [case_data(case) for case in v.cases if case.same_as < 0]} for v in found]


def case_data(case):
    """A case with its comparisons."""
    value, low, high, least, most, unit = map(jsonable, case.estimate())
    return {"universe": case.universe, "reading": case.reading, "grade": case.grade, "results": case.there,
            "trials": int(case.trials), "count": vars(case.tally), "picture": [jsonable(x) for x in case.picture],
            "value": value, "low": low, "high": high, "least": least, "most": most, "unit": unit,
            "checks": [_outcome(outcome) for outcome in case.outcomes]}


def _outcome(outcome):
    rows = [*outcome.rows, *([outcome.pooled.row()] if outcome.pooled else [])]
    return {"grade": outcome.grade, "text": outcome.text, "method": outcome.method, "combine": outcome.combine,
            "ties": outcome.ties, "partial": outcome.partial, "comparable": outcome.comparable,
            "comparisons": [{key: jsonable(x) for key, x in row.items()} for row in rows]}


def jsonable(value):
    """A number for JSON: None for what is not finite."""
    if isinstance(value, (np.bool_, bool)):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value
