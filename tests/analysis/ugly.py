"""A study of ugly results, and the truth about it: h5py and loops, by the rule of stats/extended.py, without the
package."""
import re

import h5py
import numpy as np

import synthetic

QUERIES, INITIAL, SEEDS = 10, 3, 5
ROWS = INITIAL + QUERIES
METHODS = ["Rare", "Safe", "EI"]
NAMES = {"simple": "simple_regret", "cumulative": "cumulative_regret", "best": "objective"}


def problem(label, seeds=SEEDS, run="", methods=METHODS, **more):
    made = synthetic.problem(label, methods, seeds=seeds, queries=QUERIES, initial=INITIAL, **more)
    shape = made["arrays"]["y"].shape
    made["arrays"] |= {"failed": np.zeros(shape), "feasible": np.ones(shape)}
    return made | {"run": run}


def of(made, method):
    return [k for k, cell in enumerate(made["cells"]) if cell[0] == method]


def lose(made, k, rows, failed):
    """The evaluations `rows` of a trial fail, or are infeasible, as the engine records it."""
    arrays = made["arrays"]
    arrays["feasible"][k, rows] = 0.0
    arrays["failed"][k, rows] = failed
    for name in ("objective", "instantaneous_regret") + (("y", "f") if failed else ()):
        arrays[name][k, rows] = np.nan
    regret = arrays["instantaneous_regret"][k]
    arrays["simple_regret"][k] = np.fmin.accumulate(np.where(np.isnan(regret), np.inf, regret))
    arrays["cumulative_regret"][k, INITIAL:] = np.cumsum(regret[INITIAL:])
    return made


def shorten(made, k, rows):
    made["n_rows"][k] = rows
    for values in made["arrays"].values():
        values[k, rows:] = np.nan


def set_regret(made, k, regret):
    arrays = made["arrays"]
    arrays["instantaneous_regret"][k] = regret
    arrays["simple_regret"][k] = np.minimum.accumulate(arrays["instantaneous_regret"][k])
    arrays["cumulative_regret"][k, INITIAL:] = np.cumsum(arrays["instantaneous_regret"][k, INITIAL:])
    arrays["objective"][k] = 3.0 - arrays["instantaneous_regret"][k]


def study():
    """A problem for every kind of ugliness."""
    made = {label: problem(label, random_state=k, **more) for k, (label, more) in enumerate({
        "plain": {}, "one seed": {"seeds": 1}, "all failed": {"failed": range(3 * SEEDS)},
        "one method failed": {"failed": range(SEEDS)}, "all infeasible": {}, "some infinite": {},
        "infinite at the start": {}, "ties and zeros": {}, "negative": {}, "unequal budgets": {},
        "a seed missing": {"missing": (1,)}, "crossed": {"seeds": 2, "instances": 3},
        "fails, undefined": {"run": ',on_failure="infeasible"'}, "fails, worst": {"run": ',on_failure="worst"'},
        "fails, penalty": {"run": ',on_failure="penalty -7.5"'},
        "initial counted": {"run": ',on_failure="worst",count_initial=true'}}.items())}
    for k in range(3 * SEEDS):
        lose(made["all infeasible"], k, range(ROWS), 0)
        set_regret(made["ties and zeros"], k, [0.0, 0.25, 0.5][k % SEEDS % 3] * np.ones(ROWS))
        set_regret(made["negative"], k, -0.1 * k - np.linspace(0.0, 1.0, ROWS))
    for k in of(made["some infinite"], "Rare")[1:]:
        lose(made["some infinite"], k, range(ROWS), 0)
    set_regret(made["some infinite"], of(made["some infinite"], "Rare")[0], np.zeros(ROWS))
    for k in of(made["infinite at the start"], "Rare"):
        lose(made["infinite at the start"], k, range(INITIAL + 2 + k % 2), 0)
    for k in of(made["crossed"], "EI")[:1]:
        lose(made["crossed"], k, range(ROWS), 1)
    for k in of(made["unequal budgets"], "Rare")[2:] + of(made["unequal budgets"], "EI"):
        shorten(made["unequal budgets"], k, ROWS - 4)
    for label in ("fails, undefined", "fails, worst", "fails, penalty", "initial counted"):
        for method, rows in (("Rare", [INITIAL + 4]), ("Safe", [0, INITIAL + 1]), ("EI", range(INITIAL + 2))):
            for k in of(made[label], method)[:3]:
                lose(made[label], k, list(rows), 1)
    arrays = made["initial counted"]["arrays"]
    arrays["cumulative_regret"] = np.cumsum(arrays["instantaneous_regret"], axis=1)
    return list(made.values())


class Truth:
    """The content of the file, by h5py and loops."""

    def __init__(self, path):
        self.trials = {}
        with h5py.File(path) as file:
            for label, group in ((n, g) for n, g in file.items() if n != "cells"):
                columns = {n: group[n][()] for n in ("status", "n_iterations", "n_initial", "optimum", "instance",
                                                     "seed")}
                texts = {n: group[n].asstr()[()] for n in ("algorithm", "key")}
                arrays = {n: group[n][()] for n in ("simple_regret", "instantaneous_regret", "objective", "failed",
                                                    "feasible", "cumulative_regret", "y", "x")}
                self.trials[label] = [
                    {n: v[k] for n, v in (columns | texts | arrays).items()} for k in range(len(columns["status"]))]

    def complete(self, label, method):
        return [t for t in self.trials[label] if t["status"] == 1 and t["algorithm"] == method]

    def last(self, label):
        return max((t["n_iterations"] - t["n_initial"] for t in self.trials[label] if t["status"] == 1), default=None)

    def values(self, label, method, metric, t):
        """{(instance, seed): value at query t}; nothing where it is undefined or the trial has ended."""
        found = {}
        for trial in self.complete(label, method):
            row = trial["n_initial"] + t - 1
            if row >= trial["n_iterations"]:
                continue
            value = {"simple": self.simple, "best": self.best, "cumulative": self.cumulative,
                     "cumulative_reward": self.reward, "average": self.average}[metric](trial, row)
            if value == value:
                found[trial["instance"], trial["seed"]] = value
        return found

    @staticmethod
    def simple(trial, row):
        return trial["simple_regret"][row]

    @staticmethod
    def best(trial, row):
        return max((v for v in trial["objective"][:row + 1] if v == v), default=-np.inf)

    @staticmethod
    def cumulative(trial, row):
        return summed(trial, trial["instantaneous_regret"], row, max, lambda penalty: trial["optimum"] - penalty,
                      counted_from(trial))

    @classmethod
    def average(cls, trial, row):
        n = row + 1 - counted_from(trial)
        return cls.cumulative(trial, row) / n if n else np.nan

    @staticmethod
    def reward(trial, row):
        lost = (trial["failed"] == 1) | (trial["feasible"] == 0)
        return summed(trial, np.where(lost, np.nan, trial["y"]), row, min, lambda penalty: penalty, counted_from(trial))

    def typical(self, label, method, metric, t=None):
        """The median over units: trials, or the medians of instances that several trials share; None without one."""
        t = self.last(label) if t is None else t
        values = self.values(label, method, metric, t) if t is not None else {}
        instances = {i for i, _ in values}
        planned = {(trial["instance"], trial["seed"]) for trial in self.complete(label, method)}
        if 1 < len({i for i, _ in planned}) < len(planned):
            values = {i: quantile(sorted(v for (j, _), v in values.items() if j == i), 0.5) for i in instances}
        return quantile(sorted(values.values()), 0.5) if values else None

    def cell(self, label, method, metric, t=None):
        """(n, finite, mean, se, median, quartiles) of a cell; mean and se None where they do not exist."""
        t = self.last(label) if t is None else t
        values = sorted(self.values(label, method, metric, t).values()) if t is not None else []
        n, finite = len(values), sum(np.isfinite(values))
        mean = sum(values) / n if n and finite == n else None
        se = np.std(values, ddof=1) / n**0.5 if mean is not None and n > 1 else None
        return n, finite, mean, se, [quantile(values, q) for q in (0.5, 0.25, 0.75)] if n else None


def counted_from(trial):
    """The first evaluation, from 0, that sums count."""
    return 0 if "count_initial=true" in trial["key"] else trial["n_initial"]


def summed(trial, values, row, worse, penalised, counted):
    """The sum over the evaluations from `counted` on up to a row; substitutes stand for those that failed or are
    infeasible."""
    first, end = trial["n_initial"], trial["n_iterations"]
    rule = re.search(r'on_failure="(\w+) ?([-.\d]*)"', trial["key"])
    values = list(values[:end])
    for k in range(end):
        if values[k] != values[k] and rule and rule[1] == "penalty":
            values[k] = penalised(float(rule[2]))
        elif values[k] != values[k] and rule and rule[1] == "worst":
            values[k] = worse([v for v in values[:max(k, first)] if v == v], default=np.nan)
    whole = sum(values[counted:])
    return sum(values[counted:row + 1]) if whole == whole and row >= counted else np.nan


def quantile(values, level):
    at = level * (len(values) - 1)
    low, share = values[int(at)], at - int(at)
    high = values[min(int(at) + 1, len(values) - 1)]
    if share == 0 or low == high or low == -np.inf:
        return low
    return low + share * (high - low)


def numbers(text):
    """Numbers in a cell as they are shown, with half a unit of the last digit of each."""
    power = re.fullmatch(r"\((.*)\)(e[-+]\d+)(.*)", text)
    factor, text = (float("1" + power[2]), power[1] + power[3]) if power else (1.0, text)
    found = []
    for sign, number, digits, exponent in re.findall(r"([-−]?)(∞|\d+(\.\d+)?(e[-+]\d+)?)", text):
        value = np.inf if number == "∞" else float(number)
        unit = 10.0 ** -(len(digits) - 1 if digits else 0) * (float("1" + exponent) if exponent else 1.0)
        found.append(((-1.0 if sign else 1.0) * value * factor, 0.51 * unit * factor))
    return found
