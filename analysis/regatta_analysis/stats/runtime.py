"""Runtime of algorithms on the noiseless BBOB functions, as in COCO: the number of evaluations, including the initial
design, until the best value is within Delta of the optimum.

Expected runtime (ERT), runtimes with simulated restarts and their distribution (ECDF) follow N. Hansen, A. Auger, R.
Ros, O. Mersmann, T. Tusar, D. Brockhoff (2021), COCO: a platform for comparing continuous optimizers in a black-box
setting."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .profiles import first_at_most
from .regret import stops

if TYPE_CHECKING:
    from ..load.results import Results

TARGETS = 10.0 ** (2.0 - 0.2 * np.arange(51))  # 1e2 ... 1e-8
TABLE_TARGETS = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-8)
GROUPS = {"separable": range(1, 6), "moderate conditioning": range(6, 10),
          "ill-conditioned": range(10, 15), "multi-modal": range(15, 20),
          "weakly structured": range(20, 25), "all functions": range(1, 25)}
SAMPLES = 30  # simulated runs per function and target, at least


def bbob_problems(results: Results) -> list[str]:
    """Labels of the problems of a study that are BBOB functions observed without noise."""
    return [problem for problem in results.problems if _is_bbob(results.group(problem))]


def _is_bbob(group):
    return (group.column("problem_name")[0] == "bbob"
            and group.constant("run.noise_variance")[0] == 0
            and group.parameters("noise").get("variance", "auto") == "auto")


def runs(results: Results, problems: Iterable[str] | None = None,
         targets: Sequence[float] | np.ndarray = TARGETS) -> pd.DataFrame:
    """One row per complete trial: algorithm, function, dim, instance (of the suite), seed, length
    (evaluations made), and `hits`, the evaluations until each target (NaN: not reached; infinite: not known, because
    the study's `stop` ended the trial at its target regret before)."""
    blocks = []
    for problem in problems or bbob_problems(results):
        done = results.group(problem).done
        frame = pd.DataFrame({
            "algorithm": done.column("algorithm"),
            "function": done.constant("problem.function").astype(int),
            "dim": done.constant("problem.dim").astype(int),
            "instance": done.constant("problem.first_instance").astype(int) + done.column("instance").astype(int),
            "seed": done.column("seed"),
            "length": done.column("n_iterations").astype(int)})
        hits = done.each(lambda block: first_hits(
            block.column("optimum").astype(float)[:, None] - np.fmax.accumulate(block.values("f").astype(float), axis=1), targets))
        frame["hits"] = list(np.where(np.isnan(hits) & (stops(done) == 1)[:, None], np.inf, hits))
        blocks.append(frame)
    return pd.concat(blocks, ignore_index=True)


def first_hits(gap: np.ndarray, targets: Sequence[float] | np.ndarray = TARGETS) -> np.ndarray:
    """Number of the first evaluation, from 1, whose best value so far is within each target of the
    optimum; NaN without such an evaluation. gap: trials x evaluations, falling."""
    place = np.arange(gap.shape[1]) + 1.0
    found = np.array([first_at_most(gap, target, place) for target in targets]).T.reshape(len(gap), len(targets))
    return np.where(np.isinf(found), np.nan, found)


def ert(hits: ArrayLike, lengths: ArrayLike) -> float:
    """Evaluations of all runs until the target, or to their end, per run that reached it; infinite if no run did, NaN
    if it is not known of some."""
    if np.isinf(hits).any():
        return np.nan
    success = np.isfinite(hits)
    if not success.any():
        return np.inf
    return np.where(success, hits, lengths).sum() / success.sum()


def simulated(hits: ArrayLike, lengths: ArrayLike, random: np.random.Generator,
              samples: int = SAMPLES) -> np.ndarray:
    """Runtimes of `samples` or more runs that restart until they reach the target. Every run begins equally many of
    them; after an unsuccessful run, another one is drawn at random. All are infinite if no run reached the target."""
    hits, lengths = np.asarray(hits, float), np.asarray(lengths, float)
    begin = np.tile(np.arange(len(hits)), -(-samples // len(hits)))
    success = np.isfinite(hits)
    if not success.any():
        return np.full(len(begin), np.inf)
    paid = np.where(success, hits, lengths)
    total, open_runs = paid[begin], np.flatnonzero(~success[begin])
    while len(open_runs):
        drawn = random.integers(len(hits), size=len(open_runs))
        total[open_runs] += paid[drawn]
        open_runs = open_runs[~success[drawn]]
    return total


def simulated_runtimes(table: pd.DataFrame,
                       samples: int = SAMPLES) -> dict[tuple[str, int, int], np.ndarray]:
    """Evaluations per dimension of simulated runs: {(algorithm, dim, function): targets x samples}, without targets
    that are not known of some run of any algorithm. The draws depend on dimension, function and target only."""
    found, known = {}, {place: ~np.isinf(np.stack(rows["hits"].to_list())).any(axis=0)
                        for place, rows in table.groupby(["dim", "function"])}
    for (algorithm, dim, function), rows in table.groupby(["algorithm", "dim", "function"],
                                                          sort=False):
        targets = np.flatnonzero(known[dim, function])
        if not len(targets):
            continue
        hits, lengths = np.stack(rows["hits"].to_list()), rows["length"].to_numpy()
        found[algorithm, dim, function] = np.stack([
            simulated(hits[:, k], lengths, np.random.default_rng([dim, function, k]), samples)
            for k in targets]) / dim
    return found


def distribution(runtimes: dict, algorithm: str, dim: int,
                 functions: Iterable[int]) -> tuple[np.ndarray, np.ndarray] | None:
    """Runtime profile of a set of functions: sorted finite runtimes per dimension, and the share of
    all (function, target) pairs solved by then. None without a trial."""
    mine = [runtimes[algorithm, dim, f] for f in functions if (algorithm, dim, f) in runtimes]
    if not mine:
        return None
    all_runs = np.concatenate([block.ravel() for block in mine])
    weights = np.concatenate([np.full(block.size, 1.0 / block.shape[1]) for block in mine])
    order = np.argsort(all_runs, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    solved = np.isfinite(all_runs[order])
    return all_runs[order][solved], share[solved]


def budget(table: pd.DataFrame, algorithm: str, dim: int, functions: Iterable[int]) -> float:
    """Evaluations per dimension of the real runs that missed a target: the median over the functions of the 90th
    percentile of their lengths; NaN if no run missed one. Beyond it a profile rests mainly on simulated restarts."""
    rows = table[(table["algorithm"] == algorithm) & (table["dim"] == dim)
                 & table["function"].isin(functions)]
    missed = rows[[np.isnan(hits).any() for hits in rows["hits"]]]
    if not len(missed):
        return np.nan
    return missed.groupby("function")["length"].quantile(0.9).median() / dim


def ert_table(table: pd.DataFrame,
              targets: Sequence[float] | np.ndarray = TABLE_TARGETS) -> pd.DataFrame:
    """One row per function, dimension and algorithm: ERT for each table target, runs that reached
    the last one, and runs."""
    columns = [int(np.argmin(abs(np.log10(TARGETS) - np.log10(t)))) for t in targets]
    rows = []
    for (function, dim, algorithm), mine in table.groupby(["function", "dim", "algorithm"]):
        hits, lengths = np.stack(mine["hits"].to_list()), mine["length"].to_numpy()
        rows.append((function, dim, algorithm, *(ert(hits[:, k], lengths) for k in columns),
                     int(np.isfinite(hits[:, columns[-1]]).sum()), len(mine)))
    return pd.DataFrame(rows, columns=["function", "dim", "algorithm",
                                       *(f"{t:g}" for t in targets), "succeeded", "runs"])
