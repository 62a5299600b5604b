"""The checkable statements of a paper (experiments/PAPER/claims.yaml), decided on results files.

A claim has an id, a place in the paper (`where`), the statement, and `checks` that must all hold;
checks.py has their kinds. `tables` are numbers printed in the paper, shown beside ours.
"""
import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import checks
from ..stats import density_error
from ..load.load import InputError, load
from ..report.tables import markdown
from ..load.yaml_file import read_yaml

EXPERIMENTS = Path(__file__).resolve().parents[3] / "experiments"
CHECK_KEYS = set("kind who against on value quantifier at_each times versus not_worse among metric over "
                 "one_sided rank share column low high start end factor target by not_before less than points "
                 "first last grows because runs sizes what".split())
VERDICTS = (checks.YES, checks.NO, checks.OPEN)


@dataclass
class Verdict:
    """A claim with what was found."""
    paper: str
    id: str
    where: str
    claim: str
    verdict: str
    outcomes: list

    def reasons(self):
        return [outcome.text for outcome in self.outcomes]


class Studies:
    """Results by the name of their study file, read when asked for."""

    def __init__(self, files, partial=True):
        self.files, self._partial = dict(files), partial
        self._loaded = {}
        self.missing = []  # what `panels` did not find

    def get(self, study):
        """Results of a study, None when there are none."""
        if study not in self._loaded:
            path = self.files.get(study)
            self._loaded[study] = load(path, self._partial) if path else None
        return self._loaded[study]

    def panels(self, on):
        """[(where, results, problem)] for every `study` or `study/problem` there are results of; the
        others are noted in `missing`. Raises checks.Missing when there are none at all."""
        found, missing = [], []
        for name in [on] if isinstance(on, str) else on:
            study, _, problem = name.partition("/")
            results = self.get(study)
            if results is None:
                missing.append(f"no results of {study} yet")
            elif problem and problem not in results.problems:
                missing.append(f"{study}: no problem {problem!r} in the results")
            else:
                found += [(f"{study}, {one}" if len(results.problems) > 1 or problem else study,
                           results, one) for one in ([problem] if problem else results.problems)]
        if not found:
            raise checks.Missing("; ".join(dict.fromkeys(missing)))
        self.missing += missing
        return found


@functools.lru_cache(maxsize=None)
def _references(path):
    """What the study file of these results says of its source."""
    return str(load(path, True).attributes.get("references", ""))


def find_results(places, paper, reference=None):
    """{study: path} of the results files (or study directories) at or in `places`; with a reference,
    of those whose study file has it: figures of several papers have the same name."""
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
    if not isinstance(data, dict) or not isinstance(data.get("claims"), list):
        raise InputError(f"{path}: no claims file (a mapping with a list 'claims')")
    for claim in data["claims"]:
        for key in ("id", "where", "claim", "checks"):
            if key not in claim:
                raise InputError(f"{path}: claim {claim.get('id', '?')} lacks {key!r}")
        for check in claim["checks"]:
            unknown = set(check) - CHECK_KEYS
            if unknown:
                raise InputError(f"{path}: claim {claim['id']}: unknown key {sorted(unknown)[0]!r}")
    return data


def evaluate(path, studies, paper=None):
    """The Verdict of every claim of a file."""
    data, verdicts = read(path), []
    paper = paper or Path(path).parent.name
    for claim in data["claims"]:
        try:
            outcomes = [checks.run(check, studies) for check in claim["checks"]]
        except InputError as error:
            raise InputError(f"{path}: claim {claim['id']}: {error}") from error
        verdicts.append(Verdict(paper, str(claim["id"]), claim["where"],
                                " ".join(claim["claim"].split()), together(outcomes), outcomes))
    return verdicts


def studies_named(path):
    """Names of the studies that a claims file speaks of."""
    data = read(path)
    places = [check[key] for claim in data["claims"] for check in claim["checks"]
              for key in ("on", "versus") if key in check]
    places += [row.get("on", table.get("on")) for table in data.get("tables", [])
               for row in table["rows"] if "compute" not in row]
    flat = [name for place in places for name in ([place] if isinstance(place, str) else place)]
    return {name.partition("/")[0] for name in flat}


def together(outcomes):
    """All checks must hold."""
    found = [outcome.verdict for outcome in outcomes]
    return (checks.NO if checks.NO in found else checks.OPEN
            if checks.OPEN in found or not found else checks.YES)


def published_tables(path, studies):
    """[(title, note, header, rows)] of printed numbers beside ours, as ratios."""
    shown = []
    for table in read(path).get("tables", []):
        header = ["", "Published", "Here", "Here / published"]
        rows = [_table_row(table, row, studies) for row in table["rows"]]
        shown.append((table["title"], " ".join(table.get("note", "").split()), header, rows))
    return shown


def _table_row(table, row, studies):
    printed, spread = row["published"]
    if "compute" in row:
        values = density_error.distances(row["compute"]["law"], row["compute"]["n"])
        label = f"{row['compute']['law']}, n = {row['compute']['n']}"
        ours = values.mean(), values.std(ddof=1) / np.sqrt(len(values)), len(values)
    else:
        label, ours = row.get("label", row["who"]), _ours(table, row, studies)
    if isinstance(ours, str):
        return [label, f"{printed:g} ± {spread:g}", ours, "–"]
    mean, se, n = ours
    return [label, f"{printed:g} ± {spread:g}", f"{mean:.3g} ± {se:.2g} ({n} runs)",
            f"{mean / printed:.3g}"]


def _ours(table, row, studies):
    """(mean, standard error, runs), or why there is nothing."""
    on = row.get("on", table.get("on"))
    try:
        (where, results, problem), = studies.panels([on])
        values = checks.trial_values(results, problem, row.get("value", table.get("value")),
                                     [row["who"]])
    except checks.TooShort as error:
        return f"missing: {error}"
    except checks.Missing:
        return "missing"
    values = values.dropna().to_numpy()
    if not len(values):
        return "missing"
    se = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), se, len(values)


# ---- as text -----------------------------------------------------------------------------------


def count(verdicts):
    """'7 reproduced, 1 not reproduced, 3 undecided'."""
    return ", ".join(f"{sum(v.verdict == kind for v in verdicts)} {kind}" for kind in VERDICTS)


def markdown_table(verdicts):
    """One row per claim."""
    rows = [[(v.id, False), (v.where, False), (v.claim, False), (v.verdict, v.verdict == checks.YES),
             ("; ".join(v.reasons()), False)] for v in verdicts]
    return markdown(["Claim", "Where", "Statement", "Verdict", "Numbers"], rows)


def plain(verdicts):
    """For the terminal."""
    lines = []
    for v in verdicts:
        lines.append(f"{v.id:<5} {v.verdict.upper()}  {v.claim}  [{v.where}]")
        for outcome in v.outcomes:
            lines.append(f"        {outcome.text}")
            if outcome.method:
                lines.append(f"        decided by: {outcome.method}")
    return "\n".join(lines)


def as_data(verdicts):
    """For JSON: nested lists and dictionaries, NaN as None."""
    return [{"paper": v.paper, "id": v.id, "where": v.where, "claim": v.claim,
             "verdict": v.verdict,
             "checks": [{"verdict": o.verdict, "text": o.text, "method": o.method,
                         "rows": [{k: _jsonable(x) for k, x in row.items()} for row in o.rows]}
                        for o in v.outcomes]} for v in verdicts]


def _jsonable(value):
    if isinstance(value, (np.integer, int)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value
