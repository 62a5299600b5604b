"""Callables of many kinds for test_callables.py."""
import functools
import math
import os
import subprocess
import sys

import numpy as np


def plain(x):
    return 3 * x


def other(x):
    return 5 * x


def doubled(function):
    @functools.wraps(function)
    def outer(x):
        return 2 * function(x)
    return outer


@doubled
def decorated(x):
    return 7 * x


@functools.lru_cache(None)
def cached(x):
    return 11 * x


def redefined(x):
    return 13 * x


first = redefined


def redefined(x):  # noqa: F811
    return 17 * x


def scaled(factor):
    def inner(x):
        return factor * x
    return inner


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def method(self, x):
        return -self.factor * x

    @staticmethod
    def static(x):
        return 19 * x

    @classmethod
    def of_class(cls, x):
        return 23 * x


class Slotted(Scale):
    __slots__ = ()


def noisy(x):
    """Prints in every way, starts programs that print, read and forge, and forks."""
    print("printed")
    assert os.path.samestat(os.stat(0), os.stat(os.devnull))
    os.write(1, b'{"id":1,"value":77}\n')
    subprocess.run(["sh", "-c", "echo '{\"id\":1,\"value\":77}'; cat"], check=True)
    subprocess.run([sys.executable, "-c", "import os; print(os.read(0, 9))"], check=True)
    if not (child := os.fork()):
        return 88
    os.waitpid(child, 0)
    if not (child := os.fork()):
        raise ValueError("of the child")
    os.waitpid(child, 0)
    return 2 * x


import_noise = os.write(1, b'{"id":1,"value":99}\n') if __name__ == "callables" and "evaluator" in sys.argv[0] else 0

BY_NAME = {"plain": plain, "decorated": decorated, "cached": cached, "redefined": redefined, "static": Scale.static}
BY_PICKLE = {"first": first, "wrapper": doubled(plain), "wrapper of another": doubled(other), "bound": Scale(2).method,
             "of another": Scale(3).method, "of a class": Scale.of_class, "ufunc": np.sin, "another ufunc": np.cos,
             "builtin": math.tan, "partial": functools.partial(scaled(2)), "of two": functools.partial(pow, exp=2),
             "closure": scaled(4), "another closure": scaled(6), "lambda": lambda x: 8 * x, "another lambda": lambda x: 9 * x,
             "object": Scale(29), "another object": Scale(31), "slots": Slotted(37), "defaults": [lambda x, k=k: k * x for k in (1, 10)][1]}
REFUSED = {"cached closure": functools.lru_cache(None)(scaled(41)), "cached lambda": functools.lru_cache(None)(lambda x: 43 * x)}
