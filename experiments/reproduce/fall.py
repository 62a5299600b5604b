"""The check that the sample average's maximiser converges exponentially: Propositions 1 and 2 of arXiv:2312.10423."""
import numpy as np

from regatta_analysis.claims import forms
from regatta_analysis.claims.items import BOOTSTRAP, functional, interval_outcome
from regatta_analysis.claims.outcome import Missing
from regatta_analysis.claims.panels import names, panel_on, require


def exponential_fall(check, studies):
    """The share of trials whose first query is farther than a distance from that of the exact expectation falls
    exponentially in the number M of samples, not like a power of M: in the fit Q M^-b exp(-eta M), eta is above 0. The
    test has the conditions of `growth`.

    - `who`: the methods, "M = 16" and so on. `against`: the method with the exact expectation. `on`: the panels.
    - `distances`: the distances; the statement is about each of them.

    {kind: exponential_fall, who: [M = 4, M = 8, M = 16, M = 32], against: Expectation, on: saa, distances: [0.005, 0.01]}
    """
    from . import sample_average  # here: Matplotlib takes half a second
    items, who, against = [], names(check["who"]), check["against"]
    for where, results, problem in studies.panels(check["on"]):
        require(studies, results, problem, [*who, against], where)
        found = sample_average.distances(results, problem, against)
        found = found[sorted(sample_average.size_of(name) for name in who)]
        if not len(found):
            raise Missing(f"{where}: no trial that all methods have")
        sizes, n = found.columns.to_numpy(float), len(found)
        for distance in check["distances"]:
            far = (found > distance).astype(float)
            items.append(functional(panel_on(studies, where, problem, [*who, against]), far, f"farther than {distance:g}",
                                    lambda shares, sizes=sizes, n=n: factor_rates(shares, sizes, n), 0.0, np.inf))
    return interval_outcome(items, "rate eta of exp(-eta M) beside a power of M", 0.0, np.inf, BOOTSTRAP)


def factor_rates(shares, sizes, n):
    """The rates eta of Q M^-b exp(-eta M) through rows of shares of n trials, a column per M: least squares of the
    logarithms with the weights of counts. Half a trial is added to each count, because a share may be 0."""
    counts = shares * n + 0.5
    weights = counts / (1.0 - shares + 1.0 / n)
    design = np.stack([np.ones(len(sizes)), np.log(sizes), sizes], axis=1)
    normal = np.einsum("dm,mi,mj->dij", weights, design, design)
    right = np.einsum("dm,dm,mi->di", weights, np.log(counts / (n + 1.0)), design)
    return -np.linalg.solve(normal, right[..., None])[:, 2, 0]


def _sampling(check):
    from . import sample_average
    return all(sample_average.size_of(name) for name in names(check["who"]))


KEYS = "who* against* on* distances*"
HOLDS = {"distances": (forms.list_of(forms.FACTOR[0]), "a list of numbers above 0"), "against": forms.TEXT}
RULES = ((lambda check: len(set(names(check["who"]))) > 3, "takes four or more methods"),
         (_sampling, "who has methods such as M = 16"))
