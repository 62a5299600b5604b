"""The tables of README.md: how often one method ends below another, on equal seeds.

    PYTHONPATH=analysis python3 experiments/parallel/pairs.py RESULTS.h5 FIRST SECOND

For each combination of the swept settings: the share of pairs in which FIRST ends with less simple regret than SECOND (a
tie counts half) on each problem with Wilson's 95 % interval, and over all problems the share and the geometric mean of
the ratios of regrets, with 95 % bootstrap intervals that draw pairs within problems."""
import sys

import numpy as np
import pandas as pd
from regatta_analysis import load
from regatta_analysis.load.errors import InputError
from regatta_analysis.stats.comparison import superiority

INTERVALS = ("Shares on a problem have Wilson's 95 % interval, those over all problems a bootstrap interval: each for itself, and "
             "for a number of trials that was fixed beforehand. Verdicts are in the report of the study.")
LEAST, DRAWS = 1e-9, 2000  # regrets below LEAST count as equal; draws of the bootstrap


def final_regrets(results, label):
    """A row per trial of the method with this label: problem, instance, seed, swept settings, simple regret."""
    data = results.data
    mine = (data["algorithm"] == label) | data["algorithm"].astype(str).str.startswith(label + " (")
    last = data["t"] == data.groupby("problem", observed=True)["t"].transform("max")
    found = data[mine & last & (data["status"] == "complete")]
    if found.empty:
        sys.exit(f"pairs.py: no finished trials of '{label}' (there are: {', '.join(map(str, results.algorithms))})")
    return found[["problem", "instance", "seed", *results.settings, "simple_regret"]]


def matches(table, row, settings):
    """The trials that have the settings of the row; a method has no value of a setting that it does not read."""
    keep = np.ones(len(table), bool)
    for name in settings:
        unread = table[name].isna() | (table[name].astype(str) == "")
        if not (pd.isna(row[name]) or row[name] == ""):
            keep &= unread | (table[name] == row[name])
    return table[keep]


def bootstrap(groups):
    """A 95 % interval of the mean over groups of their means, where values are drawn within groups."""
    random = np.random.default_rng(0)
    draws = np.mean([random.choice(group, (DRAWS, len(group))).mean(axis=1) for group in groups], axis=0)
    return np.quantile(draws, [0.025, 0.975])


def compare(first, second):
    """Print the line of one combination of settings."""
    keys = ["problem", "instance", "seed"]
    both = first.merge(second, on=keys, suffixes=("_a", "_b"))
    a, b = (np.maximum(both[f"simple_regret_{side}"], LEAST) for side in "ab")
    both = both.assign(below=(a < b) + 0.5 * (a == b), ratio=np.log(a / b))
    groups = [group for _, group in both.groupby("problem", observed=True, sort=False)]
    for group in groups:
        below, low, high = superiority(group["ratio"])
        print(f"  {group['problem'].iloc[0]}: {below:.2f} [{low:.2f}, {high:.2f}]")
    share, ratio = (np.mean([group[name].mean() for group in groups]) for name in ("below", "ratio"))
    low, high = bootstrap([group["below"].to_numpy() for group in groups])
    least, most = np.exp(bootstrap([group["ratio"].to_numpy() for group in groups]))
    print(f"  all {len(both)} pairs: {share:.2f} [{low:.2f}, {high:.2f}]; ratio {np.exp(ratio):.2g} "
          f"[{least:.2g}, {most:.2g}]")


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: pairs.py RESULTS.h5 FIRST SECOND")
    results = load(sys.argv[1])
    tables = [final_regrets(results, label) for label in sys.argv[2:]]
    settings = list(results.settings)
    more = max(tables, key=lambda table: table[settings].drop_duplicates().shape[0])
    for _, row in (more[settings].drop_duplicates() if settings else more[:1]).iterrows():
        print(", ".join(f"{name}={row[name]}" for name in settings) or "all trials")
        compare(*(matches(table, row, settings) for table in tables))
    print(INTERVALS)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"pairs.py: {error}")
