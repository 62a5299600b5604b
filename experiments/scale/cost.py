#!/usr/bin/env python3
"""cost.py RESULTS.h5: what a query costs as data gather.

For every problem and algorithm, CPU milliseconds of a query at n = 25, 50, 100, ... evaluations (means
over the last tenth before n, and over trials) for the fit and for the search, and the exponent d log
cost / d log n from n = 100 on. Beside them what the algebra says of large n: n^3 for a fit, which
factors a matrix, n^2 for a search, whose values at a fixed number of contexts are triangular products,
and n^3 where the contexts are those observed."""
import sys

import h5py
import numpy

OBSERVED = ("erbo", "wdrbo", "wdrbo_exact")  # methods whose contexts are those of the evaluations


def names(values):
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values]


def points(n):
    steps = (m * 10 ** k for k in range(1, 6) for m in (2.5, 5, 10))
    return [int(t) for t in steps if t < n] + [n]


def exponent(n, cost):
    """Least squares in logarithms over n >= 100; nan with fewer than two points."""
    use = [k for k, t in enumerate(n) if t >= 100 and cost[k] > 0]
    if len(use) < 2:
        return numpy.nan
    return numpy.polyfit(numpy.log([n[k] for k in use]), numpy.log([cost[k] for k in use]), 1)[0]


def show(title, name, fit, search):
    """fit, search: trials x evaluations, seconds."""
    n = points(fit.shape[1])
    print(f"\n{title}")
    print(f"{'':8}" + "".join(f"{t:>9}" for t in n) + f"{'exponent':>10}{'algebra':>9}")
    for what, seconds in (("fit", fit), ("search", search)):
        cost = [1e3 * numpy.nanmean(seconds[:, t - max(t // 10, 1):t]) for t in n]
        algebra = 3 if what == "fit" or name in OBSERVED else 2
        print(f"{what:8}" + "".join(f"{c:9.2f}" for c in cost) +
              f"{exponent(n, cost):10.2f}{algebra:9}")
    print(f"{'total':8}{numpy.nansum(fit + search, axis=1).mean():9.2f} s a trial")


def main(results):
    with h5py.File(results) as file:
        for label, group in file.items():
            if not isinstance(group, h5py.Group) or "timing" not in group:
                continue
            algorithms, methods = names(group["algorithm"][:]), names(file["cells/algorithm_name"][:][group["cell"][:]])
            for algorithm in dict.fromkeys(algorithms):
                chosen = [i for i, a in enumerate(algorithms) if a == algorithm]
                show(f"{label}, {algorithm}", methods[chosen[0]],
                     group["timing/cpu_fit"][chosen], group["timing/cpu_acquire"][chosen])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except OSError as error:
        sys.exit(f"cost.py: {' '.join(sys.argv[1:])}: {' '.join(str(error).split())}")
