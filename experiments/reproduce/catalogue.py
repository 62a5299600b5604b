"""The papers of experiments/: their figures (figures.yaml), claims (claims.yaml) and study files. Also the study files
that a reproduction at a smaller scale runs."""
import re
from dataclasses import dataclass
from pathlib import Path

from regatta_analysis.claims import claims, stages
from regatta_analysis.load.errors import InputError
from regatta_analysis.load.yaml_file import read_yaml

from . import EXPERIMENTS, universes

SCALES = ("smoke", "small", "full")
SMOKE_ITERATIONS, SMOKE_TRIALS, SMALL_TRIALS, SMALL_CROSSED = 12, 2, 5, 3
SLOW_SMOKE = 3  # initial points and queries where a program is the objective
KINDS = ("regret", "confidence", "roots", "bounds", "conditional", "kernel_bounds", "sample_average", "profile", "ranks",
         "regression", "density", "step", "steps", "shift")
KEYS = set("id title caption kind studies panels metric scale errors methods also points labels "
           "study problem column bounds log_x note range initial".split())
PANEL_KEYS = {"study", "problem", "title", "metric", "methods", "range"}


@dataclass(frozen=True)
class Paper:
    """The content of a paper's figures.yaml."""
    name: str
    directory: Path
    reference: str
    title: str
    authors: tuple
    year: int
    about: str
    main: str
    figures: tuple

    @property
    def citation(self):
        return f"{', '.join(self.authors)} ({self.year}), {self.reference}"

    @property
    def claims_file(self):
        return self.directory / "claims.yaml"

    @property
    def settings(self):
        """The settings that the paper leaves open."""
        return universes.read(self.directory / "settings.yaml")

    def studies(self, figures=()):
        """Names of the study files that these figures need; without figures, those of all figures and of the claims."""
        named = [study for f in self.figures if not figures or f["id"] in figures for study in studies_of(f)]
        if not figures and self.claims_file.exists():
            named += sorted(claims.studies_named(self.claims_file))
        return [name for name in dict.fromkeys(named) if (self.directory / f"{name}.yaml").exists()]


def papers():
    """Names of the papers that have a figures.yaml."""
    return sorted(path.parent.name for path in EXPERIMENTS.glob("*/figures.yaml"))


def paper(name):
    """The Paper of that name; raises InputError."""
    if name not in papers():
        raise InputError(f"no paper {name!r} (there are: {', '.join(papers())})")
    path = EXPERIMENTS / name / "figures.yaml"
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: no mapping")
    for key in ("reference", "about", "main", "figures"):
        if key not in data:
            raise InputError(f"{path}: lacks {key!r}")
    for figure in data["figures"]:
        _check_figure(path, figure)
    ids = [figure["id"] for figure in data["figures"]]
    if len(set(ids)) < len(ids):
        twice = next(name for k, name in enumerate(ids) if name in ids[:k])
        raise InputError(f"{path}: figure {twice} stands here twice")
    work = references().get(data["reference"])
    if work is None:
        raise InputError(f"{path}: references.yaml has no {data['reference']!r}")
    return Paper(name, path.parent, data["reference"], work["title"], tuple(work["authors"]), work["year"],
                 " ".join(data["about"].split()), data["main"], tuple(data["figures"]))


def references():
    """{key: {authors, year, title}} of the works that are cited: experiments/references.yaml."""
    return read_yaml(EXPERIMENTS / "references.yaml")


def _check_figure(path, figure):
    name = figure.get("id", "?")
    for key in ("id", "title", "kind"):
        if key not in figure:
            raise InputError(f"{path}: figure {name} lacks {key!r}")
    if figure["kind"] not in KINDS:
        raise InputError(f"{path}: figure {name}: unknown kind {figure['kind']!r}")
    unknown = set(figure) - KEYS
    unknown |= {k for row in figure.get("panels", []) for panel in row for k in set(panel) - PANEL_KEYS}
    if unknown:
        raise InputError(f"{path}: figure {name}: unknown key {sorted(unknown)[0]!r}")


def figure_named(paper_, name):
    """The figure of that id; raises InputError."""
    for figure in paper_.figures:
        if figure["id"] == name:
            return figure
    raise InputError(f"no figure {name!r} of {paper_.name} (there are: "
                     f"{', '.join(f['id'] for f in paper_.figures)})")


def studies_of(figure):
    """Study files behind a figure, in its order."""
    named = [figure["study"]] if "study" in figure else []
    named += figure.get("studies", [])
    named += [panel["study"] for row in figure.get("panels", []) for panel in row]
    return list(dict.fromkeys(named))


def needs_bounds(paper_, study):
    """Whether some figure draws `regatta bounds` of the study."""
    return any(f["kind"] in ("bounds", "conditional") and study in studies_of(f) for f in paper_.figures)


# ---- study files at a scale --------------------------------------------------------------------


def scaled(text, scale, seeds=None):
    """Text of a study file for a scale. `full` is the file as it is. `small` has at most SMALL_TRIALS trials per cell.
    `smoke` has SMOKE_TRIALS trials of SMOKE_ITERATIONS queries. `seeds` is the number of trials per cell: of seeds, or
    of instances if each has one seed. Without them, at the scale `full`, `replicate` adds trials to some cells."""
    text = text if scale == "full" and seeds is None else stages.replicated(text, [])
    if scale == "smoke":
        slow = bool(re.search(r"(?m)^ *seconds: ", text))  # evaluations that take long
        text = _at_most(text, "iterations", SLOW_SMOKE if slow else SMOKE_ITERATIONS)
        text = _at_most(text, "initial_points", SLOW_SMOKE) if slow else text
    first, count, instances = _seeds(text), _count(text), _instances(text)
    wanted = {"full": (count, instances), "small": _small(count, instances),
              "smoke": (min(count, SMOKE_TRIALS), min(instances, SMOKE_TRIALS))}[scale]
    if seeds is not None:
        wanted = (1, seeds) if count == 1 and instances > 1 else (seeds, wanted[1])
    if wanted == (count, instances):
        return text
    line = f"seeds: {wanted[0]}" if first == 0 else f"seeds: {{first: {first}, count: {wanted[0]}}}"
    text = _replaced(text, "seeds", line)
    return text if wanted[1] == instances else _replaced(text, "instances",
                                                         f"instances: {wanted[1]}")


def _at_most(text, key, most):
    return re.sub(rf"(?<!\w){key}:\s*(\d+)", lambda m: f"{key}: {min(int(m[1]), most)}", text)


def _small(seeds, instances):
    crossed = seeds > 1 and instances > 1
    most = SMALL_CROSSED if crossed else SMALL_TRIALS
    return min(seeds, most), min(instances, most)


def _line(text, key):
    found = re.search(rf"(?m)^{key}:[ \t]*([^#\n]*)", text)
    return found.group(1).strip() if found else ""


def _seeds(text):
    """The first trial seed."""
    line = _line(text, "seeds")
    numbers = re.findall(r"\d+", line)
    if "first" in line:
        return int(re.search(r"first:\s*(\d+)", line)[1])
    return int(numbers[0]) if line.startswith("[") else 0


def _count(text):
    line = _line(text, "seeds")
    if "count" in line:
        return int(re.search(r"count:\s*(\d+)", line)[1])
    return len(line.split(",")) if line.startswith("[") else int(line or 1)


def _instances(text):
    """Number of instances crossed with the seeds; 1 if every seed has its own (`paired`)."""
    line = _line(text, "instances")
    return int(line) if line.isdigit() else 1


def _replaced(text, key, line):
    """Replace the line of a top-level key, or add it before `common:` if the file has no such line."""
    if re.search(rf"(?m)^{key}:", text):
        return re.sub(rf"(?m)^{key}:[^#\n]*?([ \t]*#.*)?$", lambda m: line + (m[1] or ""), text)
    return re.sub(r"(?m)^common:", f"{line}\ncommon:", text, count=1)


def write_studies(paper_, scale, seeds, directory, figures=(), everywhere=False):
    """Study files for a reproduction in `directory`: [(study, path, whether bounds are wanted)]. With `everywhere`
    they have all universes of settings.yaml. A file of an earlier run with more trials, or with universes, keeps them,
    because their results stay. Trials that `replicate` added to cells stay too, unless all cells get more trials or
    the cells change."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for study in paper_.studies(figures):
        source = (paper_.directory / f"{study}.yaml").read_text(encoding="utf-8")
        text, path = scaled(source, scale, seeds), directory / f"{study}.yaml"
        text = re.sub(r"(?m)^( *program: *)(\S+)$", lambda m: m[1] + _beside(paper_, m[2]), text)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        added = stages.sizes(before)[2] if "replicate:" in before else []
        before = stages.replicated(before, []) if added else before
        open_ = paper_.settings.figure(study)
        if open_ is not None and (everywhere or universes.MARK in before):
            text = universes.swept(text, open_, queries=scale != "smoke")
        if before:
            more = _count(before) * _instances(before)
            if more > _count(text) * _instances(text) and _same_but_trials(before, text):
                for key in ("seeds", "instances"):
                    line = re.search(rf"(?m)^{key}:.*", before)
                    text = _replaced(text, key, line[0]) if line else text
            if added and (universes.MARK in before) == (universes.MARK in text) \
                    and more == _count(text) * _instances(text) and _same_but_trials(before, text):
                text = stages.replicated(text, added)
        path.write_text(text, encoding="utf-8")
        written.append((study, path, needs_bounds(paper_, study)))
    return written


def _beside(paper_, program):
    """The path, valid from any folder, of a program beside the paper's study files."""
    found = paper_.directory / program
    return str(found.resolve()) if found.is_file() else program


def _same_but_trials(before, text):
    """Whether `before` differs from `text` only in its trials, and perhaps in missing problems that lacked data."""
    kept, whole = (re.sub(r"(?m)^(seeds|instances):.*\n", "", t).splitlines() for t in (before, text))
    rest = iter(whole)
    return all(line in rest for line in kept)
