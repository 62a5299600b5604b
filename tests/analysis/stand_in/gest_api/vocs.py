"""The description of a problem: variables, objectives, constraints, constants, observables."""
import dataclasses
import typing


@dataclasses.dataclass
class ContinuousVariable:
    domain: list
    default_value: typing.Any = None


@dataclasses.dataclass
class DiscreteVariable:
    values: set
    default_value: typing.Any = None


@dataclasses.dataclass
class ContextualVariable:
    default_value: typing.Any = None


@dataclasses.dataclass
class LessThanConstraint:
    value: float

    def check(self, x):
        return x < self.value


class MinimizeObjective:
    pass


class MaximizeObjective:
    pass


class ExploreObjective:
    pass


@dataclasses.dataclass
class Constant:
    value: typing.Any


class VOCS:
    def __init__(self, variables, objectives=(), constraints=(), constants=(), observables=()):
        self.variables = {name: ContinuousVariable(list(v)) if isinstance(v, list) else DiscreteVariable(set(v))
                          if isinstance(v, set) else v for name, v in variables.items()}
        goals = {"MINIMIZE": MinimizeObjective, "MAXIMIZE": MaximizeObjective, "EXPLORE": ExploreObjective}
        self.objectives = {name: goals[word]() for name, word in dict(objectives).items()}
        self.constraints = {name: LessThanConstraint(words[1]) for name, words in dict(constraints).items()}
        self.constants = {name: Constant(value) for name, value in dict(constants).items()}
        self.observables = {name: None for name in observables}
