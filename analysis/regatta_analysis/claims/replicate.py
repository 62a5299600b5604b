"""Trials for claims that are not settled: study files grow in stages until the claims are settled or a budget is
spent.

A stage doubles the trials of the cells behind the open comparisons of open claims, and of no others. A claim gets no
more when no further trials can change its grade: every open comparison is shown, refuted or equivalent. It also gets
no more when its comparisons have as many trials as the Studies call enough. It gets none if its kind is tested for a
number of trials that was fixed beforehand; such a kind does not see the trials that other claims get. The intervals of
evidence.py are valid at any stopping time, so one may look after every stage. A stage is written into the study file
(its key `replicate`). So the study describes all its trials, and another run of it gives the same trials and grades. The next stage follows from
study files and results alone; an interrupted stage is finished first."""
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import claims, stages, verdicts
from .panels import cells_behind
from .. import launch
from ..escape import write_whole
from ..load.errors import InputError
from ..load.program import program
from ..stats.extended import counted

WORDS = ("problem", "algorithm", "swept")


@dataclass(frozen=True)
class Work:
    """A study file and its results."""
    name: str
    file: Path
    results: Path


# ---- what comes next ---------------------------------------------------------------------------


def needs(verdict, studies, texts):
    """{(study, cell): ("seeds" or "instances", how many)} that an open claim needs; `texts` has the study files by
    name. In each comparison, the cells with the fewest trials grow."""
    found, views = {}, {}
    if verdict.settled():
        return found
    for case in verdicts.that_count(verdict.cases, verdict.settings):
        if not case.whole or len(case.possible()) == 1:
            continue
        inside = views.setdefault(tuple(case.universe.items()), studies.within(case.universe))
        for item in (item for outcome in case.outcomes for item in outcome.open_items()):
            if item.n >= studies.enough(item.where):
                continue
            sizes = {}
            for study, problem, algorithm in item.cells:
                cells, several = cells_behind(inside.get(study), problem, algorithm)
                sizes |= {(study, cell): _size(texts[study], cell, several) for cell in cells}
            least = min((size // base for _, base, size in sizes.values()), default=0)
            for place, (key, base, size) in sizes.items():
                if size < 2 * least * base:
                    found[place] = key, max(2 * least * base, found.get(place, (key, 0))[1])
    return found


def _size(text, cell, several):
    """("seeds" or "instances", how many every cell has, how many this one has)."""
    seeds, crossed, more = stages.sizes(text)
    key, base = ("instances", crossed) if several and crossed > 1 else ("seeds", len(seeds))
    own = [entry[key] for entry in more if key in entry
           and all(entry.get(word, value) == value for word, value in zip(WORDS, cell))]
    return key, base, max([base, *own])


def grown(text, cells):
    """The text of a study file in which cells have more trials: {cell: (key, how many)}."""
    entries = {tuple(entry.get(word, "") for word in WORDS): entry for entry in stages.sizes(text)[2]}
    for cell, (key, number) in sorted(cells.items()):
        named = {word: value for word, value in zip(WORDS, cell) if value}
        entries[cell] = entries.get(cell, named) | {key: number}
    return stages.replicated(text, entries.values())


def affordable(costs, left):
    """The claims of {claim: core-hours of its next stage} that `left` core-hours pay for, the cheapest first."""
    chosen = []
    for name in sorted(costs, key=costs.get):
        left -= costs[name]
        chosen += [name] if left >= 0.0 else []
    return chosen


# ---- stage by stage ----------------------------------------------------------------------------


class Replication:
    """A claims file, the studies it speaks of, and core-hours for further trials."""

    def __init__(self, works, claims_file, budget, launch, say):
        self.works = {work.name: work for work in works}
        self.claims_file, self.budget, self.launch, self.say = claims_file, budget, launch, say
        if not set(self.works) & claims.studies_named(claims_file):
            raise InputError(f"{claims_file}: no claim speaks of {', '.join(self.works)}")
        for work in works:
            claims.require_decidable(claims_file, work.name, work.file.read_text(encoding="utf-8"), grows=True)

    def run(self):
        """Add stages until none is left. Returns the reason for the end, as text."""
        while True:
            for work in self.works.values():
                if not self._finish(work):
                    return "stopped; the same command goes on"
            studies = self.studies({work.name: work.results for work in self.works.values()})
            found = self.decide(studies)
            stage = self._next(found, studies)
            if not stage:
                return "\n".join([*(f"{v.id}: {v.words}. {v.sentence()}" for v in found),
                                  f"{len(found)} claims: {claims.count(found)}"])
            for name, text in stage.items():
                write_whole(self.works[name].file, text)

    def studies(self, files):
        """Results by the name of their study."""
        return claims.Studies(files)

    def decide(self, studies):
        """The Verdict of every claim."""
        return claims.evaluate(self.claims_file, studies)

    def _finish(self, work):
        """Run the missing trials of a study; whether none is missing then."""
        trials, _ = self._estimate(work, work.file.read_text(encoding="utf-8"))
        if trials:
            self.say(f"{work.name}: {trials} trials to run")
            work.results.parent.mkdir(parents=True, exist_ok=True)
            code = launch.run([*self.launch, program(), "run", work.file, "-o", work.results])
            if code:
                raise InputError(f"{work.file}: regatta run ended with exit code {code}")
        return launch.complete(work.results)

    def _next(self, found, studies):
        """{study: text of its file} of the next stage, reported with its reasons; {} without a next stage."""
        texts = {name: work.file.read_text(encoding="utf-8") for name, work in self.works.items()}
        wanted = {v.id: cells for v in found for cells in [needs(v, studies, texts)] if cells}
        costs = {name: self._hours([cells], texts) for name, cells in wanted.items()}
        left = max(self.budget - self._spent(studies), 0.0)
        stage = {name: wanted[name] for name in affordable(costs, left)}
        for name in sorted(costs.keys() - stage.keys()):
            self.say(f"{name}: open; its next stage takes about {costs[name]:.2g} core-hours, {left:.2g} of "
                     f"{self.budget:g} are left")
        if not stage:
            return {}
        made = self._texts(stage.values(), texts)
        trials, hours = map(sum, zip(*(self._estimate(self.works[name], text) for name, text in made.items())))
        self.say(f"{len(stage)} of {len(found)} claims are open and get {trials} more trials: about {hours:.2g} "
                 f"core-hours, {left:.2g} of {self.budget:g} are left")
        for name, cells in stage.items():
            self.say(f"  {name}: {_told(cells)}")
        return made

    def _hours(self, some, texts):
        return sum(self._estimate(self.works[name], text)[1] for name, text in self._texts(some, texts).items())

    def _texts(self, some, texts):
        """{study: text of its file} in which all these cells have grown."""
        cells = {}
        for (study, cell), (key, number) in (pair for one in some for pair in one.items()):
            mine = cells.setdefault(study, {})
            mine[cell] = key, max(number, mine.get(cell, (key, 0))[1])
        return {study: grown(texts[study], mine) for study, mine in cells.items()}

    def _estimate(self, work, text):
        """(trials to run, core-hours) of a study file with this text, as `regatta plan` says."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=work.file.parent, encoding="utf-8") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([program(), "plan", file.name, "-o", work.results], capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL, check=False)
        trials = re.search(r"(\d+) to run", done.stdout)
        hours = re.search(r"estimated: (\S+) core-hours", done.stdout)
        if done.returncode or not trials or not hours:
            said = (done.stderr.strip().splitlines() or ["regatta plan failed"])[0]
            raise InputError(said.replace(file.name, str(work.file)))
        return int(trials[1]), float(hours[1])

    def _spent(self, studies):
        """Core-hours of the trials beyond the first stage."""
        seconds = 0.0
        for results in filter(None, map(studies.whole, self.works)):
            trials = results.trials
            later = stages.of_trials(results.study, trials["seed"], trials["instance"]) > 1
            seconds += trials.loc[later, "cpu"].sum()
        return seconds / 3600.0


def _told(cells):
    """Cells that grow, in words; the text names each setting of a sweep as the study file does."""
    places = {}
    for (study, (problem, algorithm, swept)), (key, number) in cells.items():
        methods, settings = places.setdefault((study, problem, key, number), ({}, set()))
        methods[algorithm] = None
        settings |= {swept} - {""}
    several = {place: f", {counted(len(settings), 'setting')}" if settings else "" for place, (_, settings) in places.items()}
    return "; ".join(f"{', '.join(methods)} ({place[0]}, {place[1]}{several[place]}) to {place[3]} {place[2]}"
                     for place, (methods, _) in places.items())
