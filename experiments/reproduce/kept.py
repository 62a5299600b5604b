"""The cases that a record keeps when new results are not complete: cases of studies and universes that are missing now,
and cases that had more trials then.

Results belong to the study of the record if the trials that every cell has with our settings are the same, by their
checksum. If a universe has other trials now (a method's revision changed), it is decided again."""
import hashlib
from dataclasses import dataclass, replace

import numpy as np

from regatta_analysis.claims import claims, stages, verdicts
from regatta_analysis.claims.grades import NOT_COMPARABLE, NOT_RUN
from regatta_analysis.claims.outcome import Item, Outcome

APART = "decided one by one at 5 %"  # of records from before comparisons were decided together
SAME, MORE, PART, OTHER = "same", "more", "part", "other"


def about(results):
    """Checksum, complete trials, core-hours, machines and revisions of methods of results. The checksum is over the
    checksums of the trials, so that it does not depend on order or files."""
    done = _complete(results)
    seconds = float(done["cpu"].sum()) if "cpu" in done else np.nan
    return {"checksum": _checksum(done), "trials": len(done), "core_hours": claims.jsonable(round(seconds / 3600.0, 4)),
            "machines": sorted(set(done["machine"].astype(str)) - {""}) if "machine" in done else [],
            "revisions": {name: sorted(some) for name, some in sorted(_revisions(results).items())}}


def _revisions(results):
    """{method: the revisions of its trials}."""
    found = {}
    for group in map(results.group, results.problems):
        for name, revision in set(zip(group.texts("algorithm_name"), group.constant("algorithm_revision").tolist())):
            found.setdefault(name, set()).add(int(revision))
    return found


def _complete(results):
    trials = results.trials.assign(**{name: results.texts(name) for name in ("id", "checksum")
                                      if name in results.group(results.problems[0]).names})
    return trials[trials["status"] == "complete"].drop_duplicates("id")


def _checksum(trials):
    columns = [c for c in ("id", "checksum") if c in trials]
    lines = sorted(" ".join(str(v) for v in row) for row in trials[columns].itertuples(index=False))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _among(results, told, now):
    """Checksums of the recorded results that are among these: trials of the first stages, those of one universe, or
    trials that began before the others (a stage may add trials to an earlier one). `now` is the account of these."""
    parts = {about(stages.upto(results, k))["checksum"] for k in range(1, stage_count(results) + 1)}
    parts.update(now["first"].values())
    done = _complete(results)
    if "started" in done:
        done = done.sort_values("started", kind="stable")
    return frozenset(one["checksum"] for one in told
                     if one["checksum"] in parts or one["checksum"] == _checksum(done.head(one["trials"])))


def stage_count(results):
    """The number of stages of the trials of results."""
    if "replicate:" not in results.study:
        return 1
    return max(int(stages.of_group(results, group).max()) for group in map(results.group, results.problems))


def first(studies, study):
    """{universe in words: checksum of the trials that every cell has}, ours first, of those universes that have all
    methods that ours has."""
    figure, found, cells = studies.settings.figure(study), {}, None
    for universe in figure.universes() if figure else [{}]:
        results = studies.within(universe).get(study)
        if results is None:
            continue
        mine = set(results.trials[["problem", "algorithm"]].itertuples(index=False, name=None))
        cells = mine if cells is None else cells
        if mine == cells:
            found[verdicts.words(universe)] = about(stages.upto(results, 1))["checksum"]
    return found


def accounts(studies, names):
    """{study: account of its results, and `first`} of the studies that have results."""
    return {name: about(whole) | {"first": first(studies, name)} for name in names
            for whole in [studies.whole(name)] if whole is not None}


@dataclass(frozen=True)
class News:
    """How results of a study compare with those of the record. They may be the same, more, a part (not all of the
    trials or universes, or others), or of another study."""
    kind: str
    changed: frozenset = frozenset()  # universes, in words, that have other trials now
    lacks: bool = False  # whether the record may have trials that are missing now
    among: frozenset = frozenset()  # checksums of recorded results whose trials are all present
    staged: bool = False  # whether trials of some cells were added later

    @classmethod
    def of(cls, before, now, results):
        """`before` is the account in the record (None without one), `now` that of these results."""
        if before is None:
            return cls(OTHER)
        known, told = {}, [before, *before.get("beside", ())]
        for one in told:
            known |= one.get("first", {})
        shared = [name for name in now["first"] if name in known]
        changed = frozenset(name for name in shared if known[name] != now["first"][name])
        among, staged = _among(results, told, now), stage_count(results) > 1
        lacks = any(one["checksum"] not in among for one in told)
        if now["checksum"] == before["checksum"]:
            return cls(SAME, changed, lacks, among, staged)
        if before["checksum"] in among:
            return cls(MORE, changed, lacks, among, staged)
        ours = next(iter(now["first"]), None)
        return cls(PART, changed, True, among, staged) if ours in shared and ours not in changed else cls(OTHER)

    @classmethod
    def by_study(cls, before, now, studies):
        """{study: News} of accounts `now` against those of the record `before`."""
        return {name: cls.of(before["results"].get(name), one, studies.whole(name)) for name, one in now.items()}

    def leaves(self, claim):
        """Whether a recorded claim stays as it is where another study of it has no results here. An open claim stays if
        these results add only universes: without stages, our own universe has no new trials."""
        added = self.kind in (MORE, PART) and not self.changed
        return self.kind == SAME or (added and (claim["settled"] or not self.staged))


def told(before, now, news, command):
    """The account of a study in the record after the present results (None: no such study)."""
    if now is None or news.kind == SAME:
        return before
    now = now | {"command": command}
    beside = [one for one in before.get("beside", ()) if one["checksum"] not in news.among] if before else []
    if news.kind == PART:
        return before | {"beside": [*beside, now]}
    return now | {"beside": beside} if beside and news.kind == MORE else now


# ---- verdicts ----------------------------------------------------------------------------------


class Told(verdicts.Case):
    """A case in the form of the record."""

    def __init__(self, data, universe, claim, same_as=-1):
        super().__init__(universe, data["reading"], [_outcome(check) for check in data["checks"]], True, same_as,
                         family=verdicts.FAMILY if "level" in claim else APART)
        self.data = data

    @property
    def grade(self):
        return self.by_share(self.data["grade"])

    @property
    def picture(self):
        return tuple(map(_number, self.data["picture"]))


def regraded(paper, claim, settings):
    """A claim of a record with the grade and the words that its comparisons have by the rules of today."""
    own = [case for case in claim["cases"] if case["results"]]
    cases = [Told(case, case["universe"], claim) for case in own]
    cases += [Told(case, universe, claim, k) for k, case in enumerate(own) for universe in case.get("also", ())]
    if claim["grade"] in (NOT_RUN, NOT_COMPARABLE) or not cases:
        return claim
    mine = {key: setting for key, setting in settings.items() if any(key in case.universe for case in cases)}
    grade, turns_on = verdicts.conclude(cases, mine)
    found = verdicts.Verdict(paper, claim["id"], claim["where"], claim["claim"], grade, cases, turns_on, settings=mine)
    told = iter(cases)
    return claim | {"grade": grade, "words": found.words, "turns_on": found.keys, "sentence": found.sentence(),
                    "shares": found.shares(), "count": vars(found.first.tally),
                    "cases": [case | {"grade": next(told).grade} if case["results"] else case for case in claim["cases"]]}


def _outcome(check):
    """The Outcome of a check of the record, without its pooled effect, which is the last of its comparisons."""
    pooled = check["combine"] == "pooled"
    items = [Item(**{key: _number(row[key]) for key in ITEM}, **{key: end if row[key] is None else row[key] for key, end in (
        ("least", -np.inf), ("most", np.inf))}) for row in check["comparisons"]]
    return Outcome(check["text"], check["method"], items[:-1] if pooled else items, check["combine"], check["ties"],
                   check["partial"], items[-1] if pooled else None, check["comparable"])


ITEM = ("where", "a", "b", "n", "units", "state", "value", "low", "high", "better", "better_low", "better_high",
        "stuck_a", "stuck_b")


def with_record(now, then, news, settings):
    """The Verdict `now`, with cases of the recorded claim `then` (None: there is no such claim) that have no results
    now or had more trials then. `news` has the News of the studies of the claim."""
    if not then or not any(one.lacks for one in news.values()) or any(one.kind == OTHER for one in news.values()):
        return now
    known = {_place(Told(case, case["universe"], then)): case for case in then["cases"] if case["results"]}
    cases = []
    for case in now.cases:
        own = known.get(_place(case))
        origin = case if own or case.same_as < 0 else now.cases[case.same_as]
        old = own or known.get(_place(origin))
        if old and _goes_before(old, case) and not _changed(origin.universe, news, settings):
            case = Told(old, case.universe, then, -1 if own else case.same_as)
        cases.append(case)
    grade, turns_on = verdicts.conclude(cases, now.settings)
    return replace(now, cases=cases, grade=grade, turns_on=turns_on)


def _goes_before(old, case):
    return not case.there or old["trials"] > case.trials


def _changed(universe, news, settings):
    """Whether a study has other trials in this universe than the record."""
    for study, one in news.items():
        mine = settings.settings([study])
        if verdicts.words({key: value for key, value in universe.items() if key in mine}) in one.changed:
            return True
    return False


def _place(case):
    return tuple(sorted(case.universe.items())), case.reading


def _number(value):
    return np.nan if value is None else value
