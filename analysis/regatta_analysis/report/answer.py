"""The answer of a study in sentences: which method ends best, against which others that holds, by how much, what limits
it, and what would decide an open comparison. Pages, summary.md and the terminal begin with it.

A finding is no stronger than the comparisons that the tables show (`stats.inference.comparisons`, `stats.aggregate`):
*shown* is better with Holm's correction over all of them, *suggested* is better at 5% by itself, *open* is neither.
"""
from __future__ import annotations

import functools
import os
import shlex
from dataclasses import dataclass, replace

import numpy as np

from ..escape import code, markdown
from ..figures import style
from ..figures.figures import Band
from ..load.results import remembered
from ..stats import aggregate, evidence, extended, inference, robust, sweep
from ..stats.regret import METRICS, default_metrics, metric_on, more_is_better, optimum_known, queries, stops
from . import parts, tables

SHOWN, SUGGESTED, OPEN, ALIKE, AGAINST = "shown", "suggested", "open", "no difference in practice", "worse"
GROUPS, NAMED = 6, 3  # sentences about problems; names in a list before "and n others"
SETTINGS, PANELS = 5, 3  # sentences of a sweep about best settings, and about methods
MOST = 1000  # units beyond which nobody adds trials to decide one comparison
FEWEST = 3  # pairs whose share of wins says how many more decide


class Sentence(str):
    """A sentence of the answer, and the command at its end, if it has one."""
    command = ""

    @property
    def text(self):
        """The sentence without the command."""
        return str(self)


@dataclass(frozen=True)
class Rival:
    """The comparison of a leader with another method, of which less is better: `grade`, and the numbers of Evidence."""
    name: str
    grade: str
    n: int
    scale: str
    effect: float
    low: float
    high: float
    better: float
    better_low: float
    better_high: float
    needed: float = np.nan
    against: str = ""  # where the rival is better: the grade of that


@dataclass(frozen=True)
class Finding:
    """The method with the best median on a problem, medians of all methods, and its rivals, the nearest one first."""
    problem: str
    leader: str
    medians: dict
    trials: int
    rivals: tuple

    @property
    def alike(self):
        """The rivals with the leader's median."""
        return [r.name for r in self.rivals if self.medians[r.name] == self.medians[self.leader]]

    def called(self, names):
        """The same finding with the names of methods for readers: `names` is {label: name}."""
        return replace(self, leader=names[self.leader], medians={names[m]: v for m, v in self.medians.items()},
                       rivals=tuple(replace(r, name=names[r.name]) for r in self.rivals))


def sentences(results, metric=None, command=None) -> list[Sentence]:
    """The answer, at most some ten sentences; only the state of an incomplete study where nothing can be said. `command`
    made the results (None: not known)."""
    return [one if isinstance(one, Sentence) else Sentence(one) for one in _sentences(results, metric, command)]


def _sentences(results, metric, command):
    said = [f"{results.state}; these sentences are about the trials that are done."] if results.state else []
    known = [m for m in default_metrics(results) if inference.recorded(results, m)]
    metric = metric or (known[0] if known else None)
    if metric is None or not results.counts()["done"]:
        return said[:1] and [f"{results.state}."]
    names = style.shown_names([*results.algorithms, *results.beside.methods])
    found = [f.called(names) for f in findings(results, metric)]
    swept = bool(sweep.names(results))
    first = _best_settings(results, metric) if swept else _together(results, metric, found, names)
    others = [f.called(names) for f in _without_regret(results, metric)]
    first = first + _by_problem(results, metric, found, PANELS if swept else GROUPS)
    first = first + _by_problem(results, "best", others, PANELS)
    if not first:
        return (said[:1] and [f"{results.state}."]) + _alone(results, metric, names)
    fixed = {names[m] for m in (results.algorithms if results.attributes.get("archive_of") else results.beside.methods)}
    return said + first + _limits(results, metric, found + others) + _deciding(results, found + others, fixed, command)


def _alone(results, metric, names):
    """Sentences on a method that ran alone: its medians."""
    if len(results.algorithms) != 1 or results.settings or results.state or METRICS[metric].running:
        return []
    said = []
    for r in tables.final_regret(results, [metric]).head(GROUPS).itertuples():
        name, value = metric_on(results, [r.problem], metric).name.lower(), tables.value_text(r, Band())
        if value:
            said.append(f"On {results.title_of(r.problem)} the median {name} of {names[r.algorithm]} is {value}, from {r.n} trials.")
    return said + (["No other method ran, so nothing is compared."] if said else [])


def _without_regret(results, metric):
    """Findings by the best value, where regret is asked for and the optimum is not known."""
    if metric == "best" or not inference.recorded(results, "best"):
        return []
    lacking = {problem for problem in results.problems if not optimum_known(results, problem)}
    return [f for f in findings(results, "best") if f.problem in lacking] if lacking else []


@remembered
def findings(results, metric) -> list[Finding]:
    """A Finding per problem on which at least two methods have common trials, more than one of each."""
    frame, made = inference.comparisons(results, metric), []
    for problem, rows in frame.groupby("problem", sort=False):
        table = inference.final_values(results, problem, metric)
        medians = _medians(table)
        counted = table.notna().sum()
        ranks = table.dropna().rank(axis=1).mean()
        able = [a for a in medians.index if np.isfinite(medians[a]) and counted[a] > 1]
        if len(able) < 2:
            continue
        leader = min(able, key=lambda a: (medians[a], ranks.get(a, np.inf)))
        rivals = [seen_from(leader, row) for row in rows.itertuples() if leader in (row.a, row.b) and row.n]
        order = sorted(rivals, key=lambda r: medians[r.name])
        if order and max(r.n for r in order) > 1:
            made.append(Finding(problem, leader, medians.to_dict(), int(counted[leader]), tuple(order)))
    return made


def _medians(table):
    """The median of every method as in the tables: over the medians of the instances where trials share them."""
    if extended.shares_instances(table):
        table = table.groupby(level="instance").agg(lambda values: robust.centre(values.dropna(), "median"))
    return table.apply(lambda values: robust.centre(values.dropna(), "median"))


def seen_from(leader, row):
    """The comparison of a row of `comparisons` (or of `aggregate.pairs`), seen from one of its two methods."""
    turned = {evidence.BETTER: evidence.WORSE, evidence.WORSE: evidence.BETTER}
    back = grade(turned.get(row.verdict, row.verdict), row.p_holm)
    mine = Rival(row.b, grade(row.verdict, row.p_holm), int(row.n), getattr(row, "scale", "ratio"), row.effect, row.low,
                 row.high, row.better, row.better_low, row.better_high, getattr(row, "needed", np.nan), back)
    if row.a == leader:
        return mine
    flip = (lambda v: -v) if mine.scale == "difference" else lambda v: np.inf if v == 0.0 else 1.0 / v
    return replace(mine, name=row.a, grade=back, against=mine.grade, effect=flip(row.effect), low=flip(row.high),
                   high=flip(row.low), better=1.0 - row.better, better_low=1.0 - row.better_high,
                   better_high=1.0 - row.better_low)


def seen_together(every, method):
    """The comparisons of a method over all problems together, from the pairs of `aggregate.made`."""
    mine = every[(every["a"] == method) | (every["b"] == method)]
    return [seen_from(method, row) for row in mine.rename(columns={"ratio": "effect"}).itertuples()]


def grade(verdict, corrected):
    """The word for a verdict of "the first is better", with its p after Holm's correction."""
    if verdict == evidence.BETTER:
        return SHOWN if corrected <= evidence.LEVEL else SUGGESTED
    return {evidence.WORSE: AGAINST, evidence.EQUIVALENT: ALIKE}.get(verdict, OPEN)


# ---- sentences -----------------------------------------------------------------------------------


def _together(results, metric, found, names):
    """The sentence on all problems, if there are several with a common scale."""
    if METRICS[metric].running or len({results.group(f.problem).base for f in found}) < 2:
        return []
    whole, against = aggregate.made(results, metric)
    if not len(against) or whole["problems"].max() < 2:
        return []
    leader, name = against["a"].iloc[0], metric_on(results, results.problems, metric).name.lower()
    rivals = seen_together(against, leader)
    order = dict(zip(whole["algorithm"], whole["ratio"]))
    rivals.sort(key=lambda r: order[r.name])
    many = whole.set_index("algorithm").loc[leader]
    whole_ = Finding("", leader, order, int(many.n), tuple(rivals)).called(names)
    of = f" of {len(results.problems)}" if many.problems < len(results.problems) else ""
    return [f"Over {int(many.problems)}{of} problems together {whole_.leader} ends lowest: its {name} is "
            f"{tables.between(many.ratio, many.low, many.high, digits=2)} times what is usual on a problem; {_standing(whole_)}. "
            f"{_against(whole_.rivals[0], whole_.leader, name, each=True)}"]


def _by_problem(results, metric, found, most):
    """A sentence for each group of problems with the same finding, the largest first where there are too many."""
    groups = {}
    for key in (_whole_key, _coarse_key, lambda f: f.leader):
        groups = {}
        for f in found:
            groups.setdefault(key(f), []).append(f)
        if len(groups) <= most:
            break
    some = list(groups.values())
    if len(some) > most:
        some = sorted(some, key=len, reverse=True)[:most - 1]
    said = [_one(results, metric, group[0]) if len(group) == 1 else _several(results, metric, group) for group in some]
    left = len(found) - sum(map(len, some))
    what = "settings" if results.settings else "problems"
    return said + ([f"Findings on {left} other {what} differ from these; the tables have them."] if left else [])


def _whole_key(f):
    return f.leader, tuple(f.alike), tuple(sorted((r.name, r.grade) for r in f.rivals))


def _coarse_key(f):
    """The leader, and which grades its comparisons have."""
    return f.leader, tuple(f.alike), tuple(sorted({r.grade for r in f.rivals}))


def _one(results, metric, f):
    name = metric_on(results, [f.problem], metric).name.lower()
    near = next((r for r in f.rivals if r.grade != ALIKE), f.rivals[0])
    more = more_is_better(results, f.problem, metric)
    sign = -1.0 if more else 1.0
    mine, other = (tables.between(sign * f.medians[m]) for m in (f.leader, near.name))
    beside = "" if near.name in f.alike else f" against {other} of {near.name}"
    return (f"On {title(results, f.problem)} {_leaders(results, metric, f)}: median {name} {mine}{beside}; "
            f"{_standing(f)}. {_against(near, f.leader, name, more)}")


def _leaders(results, metric, f):
    """"A ends lowest", or "A, B and C end lowest alike" where their medians are equal."""
    end = "highest" if more_is_better(results, f.problem, metric) else "lowest"
    return f"{listed([f.leader, *f.alike])} end {end} alike" if f.alike else f"{f.leader} ends {end}"


def _several(results, metric, group):
    f, pairs = group[0], [g.rivals[0].n for g in group]
    alike = len({_whole_key(g) for g in group}) == 1
    grades = _standing(f) if alike else _counted([r.grade for g in group for r in g.rivals])
    each = "at a setting" if results.settings else "on a problem"
    won = [g.rivals[0].better for g in group]
    return (f"On {_places(results, group)} {_leaders(results, metric, f)}: {grades}. Against the next method P(better) is "
            f"{_range([f'{share:.2f}' for share in won])}, from {_range(pairs)} pairs {each}.")


def _counted(grades):
    """"4 of 12 comparisons are suggested, 8 open"."""
    words = {ALIKE: "without a difference in practice", AGAINST: "against it"}
    first, *more = [(grades.count(g), words.get(g, g)) for g in (SHOWN, SUGGESTED, OPEN, ALIKE, AGAINST) if g in grades]
    said = f"{first[0]} of {len(grades)} comparisons {'are' if first[0] > 1 else 'is'} {first[1]}"
    return ", ".join([said, *(f"{n} {word}" for n, word in more)])


def title(results, problem):
    """The name of a problem; of a sweep with the values of the settings."""
    return str(problem) if results.settings else results.title_of(problem)


def _places(results, group):
    """The problems of findings in words; of a sweep each with the number of its settings."""
    if not results.settings:
        return listed([results.title_of(g.problem) for g in group])
    every = [results.group(p).base for p in results.problems]
    here = [results.group(g.problem).base for g in group]
    return listed([f"{base} at {here.count(base)} of {every.count(base)} settings" for base in dict.fromkeys(here)])


def _standing(f):
    """Against which rivals a finding has each grade."""
    said = []
    for g in (SHOWN, SUGGESTED, OPEN, ALIKE, AGAINST):
        names = [r.name for r in f.rivals if r.grade == g]
        if names:
            whom = f"all {len(names)} others" if len(names) == len(f.rivals) > NAMED else listed(names)
            whom = f"{f.leader} and {whom}" if f.alike and g == ALIKE else whom
            said.append({ALIKE: f"no difference in practice {'between' if f.alike else 'from'} {whom}",
                           AGAINST: f"paired trials show it worse than {whom}"}.get(g, f"{g} against {whom}"))
    return "; ".join(said)


def _against(rival, leader, name, more=False, each=False):
    """The effect and P(better) of a leader against a rival, with their intervals. A difference is what the leader gains,
    in the sign of the user: above the rival where `more` is better, else below."""
    effect = f"typically {tables.between(rival.effect, rival.low, rival.high)} times"
    if rival.scale == "difference":
        gain = tables.between(-rival.effect, -rival.high, -rival.low)
        effect = f"typically {gain} {'above' if more else 'below'}"
    return (f"By pairs, the {name} of {leader} is {effect} that of {rival.name}, and P(better) is {rival.better:.2f} "
            f"[{rival.better_low:.2f}, {rival.better_high:.2f}], from {rival.n} pairs{' of each problem' if each else ''}.")


def listed(names, most=NAMED):
    """"A, B and C", or "A, B and 5 others"."""
    names = list(names)
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _range(values):
    return str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def _best_settings(results, metric):
    """Sentences on the best settings of a sweep, those of all problems together first."""
    best = results.best_settings(metric)
    best = best[(best["cells"] > 1) & (best["setting"] != "") & best["median"].notna()]
    order = best.sort_values("scale", key=lambda scale: scale != "ratio", kind="stable")
    names = style.shown_names(dict.fromkeys(order["method"]))
    said = []
    for r in order.head(SETTINGS).itertuples(index=False):
        others, alike = r.cells - 1, len(r.alike)
        counts = [(SHOWN, others - alike), (OPEN, alike)]
        whom = {others: f"all {others} other settings" if others > 1 else "the other setting"}
        told = [f"{g} against {whom.get(n, f'{n} of {others} other settings')}" for g, n in counts if n]
        where = "Over all problems together" if r.scale == "ratio" else f"On {r.problem}"
        said.append(f"{where} {names[r.method]} ends best at {r.setting}: {'; '.join(told)}.")
    left = len(order) - SETTINGS
    return said + ([f"The table of best settings has {left} more."] if left > 0 else [])


# ---- limits, and what would decide ---------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def least(tests=1):
    """The number of pairs from which on wins alone can show something, among so many tests."""
    wins = [np.arange(1.0, n + 1.0) for n in range(1, 61)]  # ever larger ones show most
    enough = 4.0 * tests / evidence.LEVEL
    return next(len(d) for d in wins if evidence.sign_evidence(d) + evidence.rank_evidence(d) >= enough)


def _limits(results, metric, found):
    """One sentence on what limits the findings, or none."""
    said, counts = [], results.counts()
    if counts["failed"]:
        said.append(f"{counts['failed']:,} of {counts['planned']:,} trials failed and count nowhere")
    stuck = sum(sum(tables.stuck_trials(results, f.problem, metric).values()) for f in found)
    if stuck:
        said.append(f"{stuck:,} of {counts['planned']:,} trials {'are stuck and end' if stuck > 1 else 'is stuck and ends'} "
                    "far above the others of the same method")
    few = [f for f in found if max(r.n for r in f.rivals) < f.trials]
    few = [f for f in few if _by_instance(results, f.problem)]
    if few:
        said.append(f"on {listed([results.title_of(f.problem) for f in few])} a pair is an instance, with all its seeds "
                    f"({_range([f.rivals[0].n for f in few])} instances)")
    small = [f for f in found if max(r.n for r in f.rivals) < least()]
    if small:
        said.append(f"fewer than {least()} pairs on {listed([results.title_of(f.problem) for f in small])} can show nothing")
    tests = _tests(results, metric)
    weak = [f for f in found if least() <= max(r.n for r in f.rivals) < least(tests)]
    if weak:
        where = "" if len(weak) == len(found) else f" on {listed([results.title_of(f.problem) for f in weak])}"
        said.append(f"fewer than {least(tests)} pairs{where} can only suggest, because there are {tests} comparisons")
    unequal = [f.problem for f in found if _unequal(results, f.problem)]
    if unequal:
        said.append(f"budgets are unequal on {listed([results.title_of(p) for p in unequal])}")
    return [f"Limits: {'; '.join(said)}."] if said else []


def _by_instance(results, problem):
    group = results.group(problem)
    return 1 < len(np.unique(group.column("instance"))) < group.n / max(1, len(group.cells))


def _unequal(results, problem):
    """Whether complete trials of two methods have different numbers of queries."""
    made = queries(results, problem)
    return bool(len(made) and made.min() < made.max()) or bool((stops(results.group(problem)) > 0).any())


def _tests(results, metric):
    """The number of comparisons that Holm's correction is over."""
    frame = inference.comparisons(results, metric)
    frame = frame[frame["n"] > 0]
    return max(1, len(frame.drop_duplicates([c for c in frame.columns if c not in ("problem", "p_holm")])))


def _deciding(results, found, fixed, command):
    """One sentence on the open comparison of a leader that the fewest further trials decide. Methods that others ran,
    and those of an archive (`fixed`), get no further trials here. Nor does an incomplete study, whose own trials come
    first."""
    wanted = [(f, r) for f in found for r in f.rivals if r.grade == OPEN and not {f.leader, r.name} & fixed]
    if not wanted or results.state:
        return []
    able = [(r.needed - r.n, f, r) for f, r in wanted if FEWEST <= r.n < r.needed <= MOST]
    if not able and any(r.n < FEWEST for _, r in wanted):
        return []  # so few pairs say nothing about the share of wins
    if not able:
        return [f"No open comparison is near a decision: at these shares of wins none is decided by {MOST:,} pairs."]
    _, f, r = min(able, key=lambda one: one[0])
    key, have, goal = _goal(results, f, r)
    seconds = np.nansum(results.column("wall" if results.has_column("wall") else "cpu").astype(float))
    seconds *= (goal - have) / max(1, len(np.unique(results.column(key.removesuffix("s")))))
    cost = f" ({_about(seconds)} of one core)" if seconds > 0 else ""
    first = "The open comparison nearest to a decision is" if len(wanted) > 1 else "The open comparison is"
    said = Sentence(f"{first} {f.leader} against {r.name} on {title(results, f.problem)}: about {goal - have} more "
                    f"{key}{cost} decide it if wins keep their share:")
    said.command = more(results, command, key, goal)
    return [said]


def _goal(results, f, r):
    """("seeds" or "instances", how many the trials of a comparison have, about how many decide it). Trials that failed and
    give no pair need more."""
    group = results.group(f.problem)
    count = {key: len(np.unique(group.column(key))) for key in ("seed", "instance")}
    key = "instance" if count["instance"] > 1 and not _each_its_own(group) else "seed"
    goal = r.needed * count[key] / r.n
    return f"{key}s", count[key], int(np.ceil(goal / 5.0) * 5) if goal > 20 else int(np.ceil(goal))


def _each_its_own(group):
    """Whether every seed has an instance of its own (`instances: paired`)."""
    pairs = set(zip(group.column("seed").tolist(), group.column("instance").tolist()))
    return len(pairs) > 1 and len(pairs) == len({seed for seed, _ in pairs}) == len({instance for _, instance in pairs})


def _about(seconds):
    """A duration with two digits."""
    if seconds < 1.0:
        return "under a second"
    number, unit = parts.duration(seconds).split()
    return f"{float(f'{float(number):.2g}'):g} {unit}"


def more(results, command, key, number):
    """The command that adds trials to a study, from the one that ran it, if that is known."""
    words, left = shlex.split(command or ""), []
    words = words if "study" in words else shlex.split(again(results))
    while words:
        word = words.pop(0)
        if word in ("--seeds", "--instances") and words:
            words.pop(0)
        else:
            left.append(word)
    return shlex.join([*left, f"--{key}", str(number)])


def again(results):
    """The command that goes on with results, from the folder in which they were read, or from their own."""
    path = results.path.with_name(results.path.name.removesuffix(".d"))
    near = os.path.relpath(path)
    return shlex.join(["./run.sh", "study", path.name if near.startswith(os.pardir) else near])


# ---- writers -------------------------------------------------------------------------------------


def as_markdown(results, metric, command=None) -> list[str]:
    """Paragraphs of Markdown; the state of an incomplete study is bold."""
    said = [markdown(one) + (f" {code(one.command)}" if one.command else "") for one in sentences(results, metric, command)]
    state = [f"**{said.pop(0)}**", ""] if said and results.state else []
    return state + [line for text in said for line in (text, "")]


def as_text(results, metric, command=None) -> list[str]:
    """Lines for a terminal, with an empty one behind them."""
    found = [f"{one} {one.command}".rstrip() for one in sentences(results, metric, command)]
    return [*found, ""] if found else []
