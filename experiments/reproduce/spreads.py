"""The kind of check that compares how far the trials of methods lie apart."""
from regatta_analysis.claims.comparisons import wins
from regatta_analysis.claims.outcome import Missing
from regatta_analysis.claims.panels import describe_value, tables


def spread(check, studies):
    """who, against, on, value, combine as of better: the trials of `who` lie closer together than those of `against`.
    The distances of the values of paired trials from the median of their method are compared, as Brown and Forsythe
    (1974) do; with `log: true` in value they are logarithms of ratios.

    {kind: spread, who: EI, against: GP-UCB, on: study, value: {metric: simple, log: true}}
    """
    rows = [(panel, (table - table.median()).abs(), a, b) for panel, table, pairs in tables(check, studies)
            for a, b in pairs]
    if not rows:
        raise Missing("nothing to compare")
    return wins(check, studies, rows, f"distance from the median over trials of {describe_value(check)}")
