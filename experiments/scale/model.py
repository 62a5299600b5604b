#!/usr/bin/env python3
"""model.py [constant=value ...]: the cost model of docs/scaling.md, as a table over ranks.

Constants, all in seconds: gamma per operation of dgemm on one rank, alpha per message, beta per number
sent (`bench_large constants` measures these three); n data, d inputs. Trials, commits and files are
simulated: `regatta plan -simulate`.
Cholesky: n^3/(3 P) gamma + (2 + log2(P)/2) n^2/sqrt(P) beta + (4 + log2 P) n/128 alpha, the form of the
ScaLAPACK users' guide. Likelihood with gradient: three times its operations, 3 n^2/sqrt(P) numbers
and 5 n/128 messages more. Memory: 8 (2 n^2/P + 3 * 128 n + n (2 d + 6)) bytes per rank."""
import math
import sys

CONSTANTS = {"gamma": 2.8e-11, "alpha": 2.0e-6, "beta": 1.0e-9, "n": 1e5, "d": 10}


def cholesky(n, ranks, c):
    logarithm = math.log2(ranks) if ranks > 1 else 0
    messages = ranks > 1
    return (n ** 3 / (3 * ranks) * c["gamma"]
            + messages * (2 + logarithm / 2) * n ** 2 / math.sqrt(ranks) * c["beta"]
            + messages * (4 + logarithm) * n / 128 * c["alpha"])


def likelihood(n, ranks, c):
    extra = 2 * n ** 3 / (3 * ranks) * c["gamma"]
    if ranks > 1:
        extra += 3 * n ** 2 / math.sqrt(ranks) * c["beta"] + 5 * n / 128 * c["alpha"]
    return cholesky(n, ranks, c) + extra


def memory(n, d, ranks):
    return 8 * (2 * n * n / ranks + 3 * 128 * n + n * (2 * d + 6))


def main(arguments):
    c = dict(CONSTANTS)
    for word in arguments:
        name, _, value = word.partition("=")
        if name not in c or not value:
            sys.exit(__doc__)
        c[name] = float(value)
    n = c["n"]
    print(f"n = {n:g}, d = {c['d']:g}")
    print(f"{'ranks':>7} {'Cholesky s':>11} {'efficiency':>11} {'likelihood s':>13} {'GB/rank':>8} "
          f"{'countable':>9}")
    for ranks in (1, 10, 100, 1000, 10000, 100000):
        seconds = cholesky(n, ranks, c)
        print(f"{ranks:7} {seconds:11.3g} {cholesky(n, 1, c) / ranks / seconds:10.0%} "
              f"{likelihood(n, ranks, c):13.3g} {memory(n, c['d'], ranks) / 1e9:8.2f} "
              f"{'yes' if n * n / ranks < 2 ** 31 else 'no':>9}")


if __name__ == "__main__":
    main(sys.argv[1:])
