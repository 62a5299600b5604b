"""Summaries over the trials of a cell, iteration by iteration."""
import numpy as np
import pandas as pd

COLUMNS = ["n", "mean", "sd", "se", "n_instances", "se_instances", "median", "low", "high"]


def summarise(curves, quantiles=(0.25, 0.75), order=None):
    """Summary of curves (rows: algorithm, instance, seed; columns: t), long format.

    Per algorithm and t over the trials with a value: n; mean; sd with divisor n - 1; se,
    sd/sqrt(n); median; low and high, the quantiles asked for (linear between order statistics).
    se_instances is the standard error over instance means, for designs where several seeds share
    an instance and trials are therefore not independent; NaN elsewhere. `order`: algorithms first.
    """
    present = list(dict.fromkeys(curves.index.get_level_values("algorithm")))
    blocks = []
    for algorithm in [a for a in order or present if a in present]:
        cell = curves.xs(algorithm, level="algorithm", drop_level=False)
        block = pd.DataFrame(_summary(cell, quantiles), columns=COLUMNS)
        block.insert(0, "t", cell.columns.to_numpy())
        block.insert(0, "algorithm", algorithm)
        blocks.append(block[block["n"] > 0])
    if not blocks:
        return pd.DataFrame(columns=["algorithm", "t"] + COLUMNS)
    return pd.concat(blocks, ignore_index=True)


def mean_and_error(values):
    """Mean and standard error along axis 0, NaN skipped: (n, mean, sd, se); NaN where undefined."""
    values = np.asarray(values, float)
    n = np.isfinite(values).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(np.isfinite(values), values, 0.0).sum(axis=0) / n
        squares = np.where(np.isfinite(values), (values - mean) ** 2, 0.0).sum(axis=0)
        sd = np.sqrt(np.where(n > 1, squares / (n - 1), np.nan))
    return n, mean, sd, sd / np.sqrt(np.maximum(n, 1))


def _summary(cell, quantiles):
    values = cell.to_numpy(float)
    n, mean, sd, se = mean_and_error(values)
    some = n > 0
    levels = np.full((3, values.shape[1]), np.nan)
    levels[:, some] = np.nanquantile(values[:, some], [0.5, *quantiles], axis=0)
    n_instances, se_instances = _over_instances(cell)
    return dict(zip(COLUMNS, [n, mean, sd, se, n_instances, se_instances, *levels]))


def _over_instances(cell):
    means = cell.groupby(level="instance").mean().to_numpy(float)
    n, _, _, se = mean_and_error(means)
    crossed = 1 < len(means) < len(cell)
    return n, se if crossed else np.full(cell.shape[1], np.nan)
