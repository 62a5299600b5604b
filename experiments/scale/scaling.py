#!/usr/bin/env python3
"""scaling.py RESULTS.h5 ...: what the scaling studies measured.

Results of strong.yaml and weak.yaml give a line per team size: the least wall time of a trial, nearly
all of it the factorisation, GFLOP/s, and the efficiency against the smallest team. Results of one
throughput study on several numbers of ranks give a line each: trials per second, and the efficiency
against the fewest ranks."""
import re
import sys

import h5py
import numpy


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def teams(path, file):
    rows = []
    for label, group in file.items():
        size, points = re.match(r"(\d+) ranks?$", label), file.get("cells/settings/problem.points")
        if size and points:
            n, wall = int(points[group["cell"][0]]), numpy.nanmin(group["provenance/wall"][()])
            rows.append((int(size.group(1)), n, wall, n ** 3 / 3e9 / wall))
    if not rows:
        return False
    rows.sort()
    print(f"{path}: Cholesky factorisation by teams")
    print(f"{'ranks':>6} {'n':>7} {'seconds':>9} {'GFLOP/s':>9} {'per rank':>9} {'efficiency':>11}")
    first = rows[0][3] / rows[0][0]
    for ranks, n, wall, speed in rows:
        print(f"{ranks:6} {n:7} {wall:9.2f} {speed:9.1f} {speed / ranks:9.1f} "
              f"{speed / ranks / first:10.0%}")
    return True


def throughput(paths):
    rows = []
    for path in paths:
        with h5py.File(path) as file:
            groups = [g for g in file.values() if isinstance(g, h5py.Group) and "provenance" in g]
            begin = numpy.concatenate([g["provenance/started"][()] for g in groups])
            wall = numpy.concatenate([g["provenance/wall"][()] for g in groups])
            ranks = max(int(g["provenance/ranks"][()].max()) for g in groups)
            # starts are stored in whole seconds
            rows.append((ranks, len(wall), wall.sum(), max((begin + wall).max() - begin.min(), 1e-9)))
    rows.sort()
    print(f"{'ranks':>6} {'trials':>7} {'busy s':>9} {'wall s':>8} {'trials/s':>9} {'efficiency':>11}")
    first = rows[0][1] / rows[0][3] / rows[0][0]
    for ranks, n, busy, wall in rows:
        print(f"{ranks:6} {n:7} {busy:9.1f} {wall:8.1f} {n / wall:9.2f} "
              f"{n / wall / ranks / first:10.0%}")


def main(paths):
    if not paths:
        sys.exit(__doc__)
    others = []
    for path in paths:
        with h5py.File(path) as file:
            if not teams(path, file):
                others.append(path)
    if others:
        throughput(others)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"scaling.py: {' '.join(sys.argv[1:])}: {' '.join(str(error).split())}")
