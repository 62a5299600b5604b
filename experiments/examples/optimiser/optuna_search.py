#!/usr/bin/env python3
"""Optuna's samplers as methods of a study: tpe, cmaes. They learn from the initial design, and take several queries at
a time; with several workers TPE takes the worst value for those in flight (`constant_liar`)."""
import pathlib
import sys

import optuna

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import regatta

SAMPLERS = {"tpe": lambda seed, several: optuna.samplers.TPESampler(seed=seed, constant_liar=several),
            "cmaes": lambda seed, several: optuna.samplers.CmaEsSampler(seed=seed)}


class Search(regatta.Parallel):
    def __init__(self, start, sampler):
        if start.space.points is not None:
            raise ValueError("this adapter needs a box, the problem has a finite set of designs")
        if start.context is not None and start.context.control == "learner":
            raise ValueError("this adapter chooses no contexts, the problem wants them chosen")
        distribution = optuna.distributions.FloatDistribution
        self.space = {name: distribution(a, b)
                      for name, (a, b) in zip(start.space.names, start.space.bounds)}
        self.study = optuna.create_study(direction="maximize", sampler=sampler(start.seed, start.workers > 1))
        self.open = {}
        for e in start.initial:
            self.add(e)

    def add(self, e):
        self.study.add_trial(optuna.trial.create_trial(
            params=dict(zip(self.space, e.x)), distributions=self.space, value=e.y))

    def ask(self, request):
        trial = self.open[request.submission] = self.study.ask(self.space)
        return list(trial.params.values())

    def tell(self, e):
        if e.submission in self.open:
            self.study.tell(self.open.pop(e.submission), e.y)
        else:
            self.add(e)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SAMPLERS:
        sys.exit(f"optuna_search.py: one argument, the sampler: {', '.join(SAMPLERS)}")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    regatta.serve(lambda start: Search(start, SAMPLERS[sys.argv[1]]),
                  versions={"optuna": optuna.__version__})
