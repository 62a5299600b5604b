"""The engine that judges papers. It runs their studies, decides their claims in every universe of the settings that a
paper leaves open, draws their figures, and keeps a record of the grades. It uses the package regatta_analysis as any
user does."""
import os
from pathlib import Path

from regatta_analysis.claims import checks, forms

from . import averages, computed, densities, fall, printed, query_bounds, spreads

EXPERIMENTS = Path(os.environ.get("REGATTA_EXPERIMENTS") or Path(__file__).resolve().parents[1])

checks.register(computed.law, "less* than* first* last* points",
                {"less": forms.TEXT, "than": forms.TEXT, "first": forms.COUNT, "last": forms.COUNT, "points": forms.COUNT},
                (forms.ordered("first", "last"),))
checks.register(computed.optima, "shift*", {"shift": forms.NUMBER})
checks.register(computed.exploitation, "runs*", {"runs": forms.COUNT})
checks.register(computed.demonstration, "what* runs* share", {"what": forms.TEXT})
checks.register(computed.limit, "what* runs* within*",
                {"what": forms.TEXT, "runs": forms.COUNT, "within": forms.NUMBER})
checks.register(spreads.spread, "who* against* on* value combine")
checks.register(densities.density_distance, "sizes* factor* statistic",
                {"sizes": (forms.list_of(lambda n: forms.whole(n) and n > 1), "a list of whole numbers from 2 on")})
checks.register(printed.printed, printed.KEYS, printed.HOLDS, printed.RULES)
checks.register(query_bounds.query_bound, query_bounds.KEYS, query_bounds.HOLDS)
checks.register(fall.exponential_fall, fall.KEYS, fall.HOLDS, fall.RULES)
checks.register(averages.below_average, averages.KEYS)
