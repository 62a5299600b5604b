#!/usr/bin/env python3
"""growth.py RESULTS.h5 BOUNDS.csv: how cumulative regret grows over a long study.

For every problem and algorithm at T = 10, 20, 50, 100, ...: the mean of R_T over trials with its
standard error, gamma_T between greedy selection and its least upper bound, R_T / sqrt(T gamma_T) with
the upper one, the bound of the mean (or the smallest there is), and the local exponent
d log R_T / d log T since the T before."""
import csv
import math
import sys

import h5py
import numpy


def names(values):
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values]


def read_bounds(path):
    """{(problem, algorithm): {quantity: {t: value}}}"""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            curves = found.setdefault((row["problem"], row["algorithm"]), {})
            curves.setdefault(row["quantity"], {})[int(row["t"])] = float(row["value"])
    return found


def horizons(n):
    steps = (m * 10 ** k for k in range(1, 9) for m in (1, 2, 5))
    return [t for t in steps if t < n] + [n]


def show(regret, curves):
    """regret: trials x T, cumulative."""
    upper, lower = curves.get("gamma_upper", {}), curves.get("gamma_greedy", {})
    bounds = [c for name, c in curves.items() if not name.startswith("gamma")]
    before = None
    print(f"{'T':>6} {'R_T':>10} {'+-':>8} {'gamma_T':>18} {'R_T/sqrt(T gamma)':>18} "
          f"{'least bound':>12} {'exponent':>9}")
    for t in horizons(regret.shape[1]):
        mean = regret[:, t - 1].mean()
        error = regret[:, t - 1].std(ddof=1) / math.sqrt(len(regret)) if len(regret) > 1 else math.nan
        gamma = upper.get(t, math.nan)
        least = min((c[t] for c in bounds if t in c), default=math.nan)
        slope = math.nan
        if before and mean > 0 and before[1] > 0:
            slope = math.log(mean / before[1]) / math.log(t / before[0])
        before = (t, mean)
        between = f"{lower.get(t, math.nan):.1f} .. {gamma:.1f}"
        print(f"{t:6} {mean:10.2f} {error:8.2f} {between:>18} {mean / math.sqrt(t * gamma):18.3f} "
              f"{least:12.1f} {slope:9.3f}")


def main(results, bounds):
    curves = read_bounds(bounds)
    with h5py.File(results) as file:
        for label, group in file.items():
            if not isinstance(group, h5py.Group) or "instantaneous_regret" not in group:
                continue
            algorithms = numpy.array(names(group["algorithm"][()]))
            start = int(group["n_initial"][0])
            regret = numpy.cumsum(group["instantaneous_regret"][()][:, start:], axis=1)
            for algorithm in dict.fromkeys(algorithms):
                mine = regret[algorithms == algorithm]
                mine = mine[~numpy.isnan(mine).any(axis=1)]
                print(f"{label}, {algorithm}: {len(mine)} trials")
                if len(mine):
                    show(mine, curves.get((label, algorithm), {}))
                print()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"growth.py: {' '.join(sys.argv[1:])}: {' '.join(str(error).split())}")
