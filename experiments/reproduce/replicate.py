"""More trials for the undecided claims of a paper, in every universe."""
from regatta_analysis.claims import checks, claims, replicate

from . import kept, record, universes


class Replication(replicate.Replication):
    """Claims that the record `before` of the same studies has decided get no trials."""

    def __init__(self, works, claims_file, budget, launch, say, before=None):
        super().__init__(works, claims_file, budget, launch, say)
        self.before = before

    def studies(self, files):
        return universes.studies_of(self.claims_file.parent, files)

    def decide(self, studies):
        found = super().decide(studies)
        if not self.before:
            return found
        news = kept.News.by_study(self.before, kept.accounts(studies, self.works), studies)
        old, rows = record.claims_told(self.before), zip(found, claims.read(self.claims_file)["claims"])
        named = [(now, checks.studies_in(claims.checks_of(claim))) for now, claim in rows]
        return [kept.with_record(now, old.get((now.id, now.claim)), {s: news[s] for s in mine if s in news},
                                 studies.settings) for now, mine in named]
