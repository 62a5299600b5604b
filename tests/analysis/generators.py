"""A generator after gest-api as others write them, for tests: random points, a fixed number of them, with numbers."""
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "stand_in"))  # behind the package itself
from gest_api.generator import Generator  # noqa: E402


class Pairs(Generator):
    """Points in pairs; it insists on the rules of the interface."""
    returns_id = True

    def __init__(self, vocs, seed=0):
        super().__init__(vocs)
        self.vocs, self.random, self.count, self.known = vocs, random.Random(seed), 0, set()
        self.results = []

    def _validate_vocs(self, vocs):
        if not vocs.variables or not vocs.objectives:
            raise ValueError("a variable and an objective are needed")

    def suggest(self, num_points=None):
        if num_points not in (None, 2):
            raise ValueError("points come in pairs")
        points = []
        for _ in range(2):
            self.count += 1
            self.known.add(self.count)
            point = {name: self.random.uniform(*v.domain) if hasattr(v, "domain") else self.random.choice(sorted(v.values))
                     for name, v in self.vocs.variables.items()}
            points.append({**point, "_id": self.count})
        return points

    def ingest(self, results):
        for result in results:
            names = {*self.vocs.variables, *self.vocs.objectives, *self.vocs.constraints}
            if not names <= set(result):
                raise ValueError(f"a result lacks {names - set(result)}")
            if result.get("_id") is not None and result["_id"] not in self.known:
                raise ValueError("an unknown number")
            self.results.append(result)
