"""Cost-adjusted simple regret: simple regret plus the price of what the queries have cost."""
from __future__ import annotations

import re
from typing import Optional, TYPE_CHECKING

import numpy as np
import pandas as pd

from ..load.errors import InputError
from .regret import curves, framed

if TYPE_CHECKING:
    from ..load.group import Group
    from ..load.results import Results


def price_of(metric: str) -> Optional[float]:
    """The price in the metric `cost_adjusted(PRICE)`; None for other metrics."""
    found = re.fullmatch(r"cost_adjusted\((.*)\)", metric)
    if not found:
        return None
    try:
        return float(found[1])
    except ValueError as error:
        raise InputError(f"a price is a number >= 0, not {found[1]!r}") from error


def cost_adjusted(results: Results, problem: str, price: float, of: Optional[Group] = None) -> pd.DataFrame:
    """A row for each complete trial (or each of some), as in `curves`: its simple regret after query t = 0, 1, ... plus `price` times the
    cost of the queries so far. The cost of a query is its duration, and 1 in a study without a clock. The initial design,
    which is the same for all methods, costs nothing. A trial that ended
    early pays nothing after its end."""
    if not 0 <= price < np.inf:
        raise InputError(f"a price is a number >= 0, not {price!r}")

    def spent(block):
        made = block.values("simple_regret")
        clock = {"dispatched", "finished"} <= set(block.evaluations())
        costs = block.values("finished").astype(float) - block.values("dispatched") if clock else np.ones(made.shape)
        first, end = (block.column(name).astype(int)[:, None] for name in ("n_initial", "n_iterations"))
        row = np.arange(made.shape[1])
        return np.cumsum(np.where((row >= first) & (row < end), np.nan_to_num(costs), 0), axis=1)
    done = of or results.group(problem).done
    return curves(results, problem, "simple_regret", of=done) + price * framed(results, problem, done, spent)
