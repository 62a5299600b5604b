"""The table of cells of a file: what all trials of a cell have in common, and every setting."""
import numpy as np

from . import settings
from .reader import SOMETIMES

# Fields of cells that are columns of `trials` too; the others are constants.
COLUMNS = ("problem", "algorithm", "problem_name", "algorithm_name", "swept")


class Part(dict):
    """The variables of the trials of one problem in one file. `constants`: {name: variable} of what their cells have in
    common: fields of the table of cells, and settings as PART.NAME."""

    def __init__(self, variables, constants):
        super().__init__(variables)
        self.constants = constants

    def view(self, variables):
        """The same trials with other variables."""
        return Part(variables, self.constants)


class Constants(dict):
    """{name: variable}."""

    def names(self):
        """Names of all settings."""
        return [name for name in self if "." in name]


class OfCell:
    """A column of the table of cells as a variable of trials, whose cells are in the variable `cell`."""

    dims, stored = ("trial",), True

    def __init__(self, cell, column):
        self._cell, self._column, self.shape = cell, column, cell.shape[:1]

    @property
    def attributes(self):
        return self._column.attributes

    def keep(self):
        self._cell.keep()
        self._column.keep()

    def all(self):
        return self._column.all()[self._cell.all()]

    def rows(self, rows):
        return self._column.all()[self._cell.rows(rows)]


def with_cells(variables, table):
    """The Part of trials. `table`: {name: variable} of the columns of `cells`, `sweep/NAME` and `settings/NAME`."""
    cell = variables.pop("cell")
    of = {name: OfCell(cell, column) for name, column in table.items()}
    constants = Constants((name.removeprefix("settings/"), one) for name, one in of.items()
                          if not name.startswith("sweep/"))
    made = {**variables, "cell": constants["id"], **{name: constants[name] for name in COLUMNS}}
    made.update((name, constants[name]) for name in SOMETIMES if table[name].stored)
    made.update((name, one) for name, one in ((name.removeprefix("sweep/"), one) for name, one in of.items()
                                              if name.startswith("sweep/"))
                if name not in variables or len(variables[name].shape) == 1)
    return Part(made, constants)


def joined_constants(parts, lengths, name):
    """(kind, values) of the constant `name` for all trials of some parts (settings.stacked); missing where a part does
    not have it."""
    return settings.stacked([settings.read(part.constants[name]) if name in part.constants
                             else ("none", np.full(length, np.nan)) for part, length in zip(parts, lengths)])
