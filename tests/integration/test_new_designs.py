"""Every method that knows that there is no noise asks for no design twice while there is another one; in a pool no
method at all does."""
import subprocess
import unittest

try:
    import h5py
except ImportError:
    h5py = None

from regatta_test import REGATTA, RegattaTest, environment, regatta

# they move in real numbers (docs/your-problem.md), or fill space
BLIND = {"random", "cma_es", "nelder_mead", "kr_ucb", "latin_hypercube", "external"}
EXTERNAL = "name: external, program: hills.py, inputs: "
SPACES = {"mixed": (EXTERNAL + "[n integer 1 3, k choice p q r, m integer 0 2]", 27),
          "words": (EXTERNAL + "[k choice a b c d, l choice a b c d e f]", 24),
          "line": (EXTERNAL + "[n integer 1 25]", 25),
          "pool": ("name: dataset, path: pool.csv", 24)}  # here the methods that are blind in boxes know it, too
STUDY = """study: once
common: {{iterations: {}, initial_points: 4}}
problems: [{{label: P, {}}}]
algorithms: [{}]
"""
PROGRAM = """#!/usr/bin/python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    words = [ord(v) if isinstance(v, str) else 3 * v for v in request["x"].values()]
    print(json.dumps({"id": request["id"], "value": sum((7 * w * (k + 2)) % 11 for k, w in enumerate(words))}), flush=True)
"""


@unittest.skipUnless(h5py, "no h5py")
class NewDesigns(RegattaTest):
    def methods(self):
        done = subprocess.run([REGATTA, "list", "algorithms"], capture_output=True, text=True, env=environment())
        return [line.split()[0] for line in done.stdout.splitlines()[1:]]

    def test_all_methods(self):
        self.write("hills.py", PROGRAM).chmod(0o755)
        self.write("pool.csv", "a,b,y\n" + "".join(f"{i % 5},{i // 5},{7 * i % 11}\n" for i in range(24)))
        known_to_fit = {}
        for space, (inputs, size) in SPACES.items():
            kind = space == "pool"
            if kind not in known_to_fit:
                known_to_fit[kind] = [name for name in self.methods() if (kind or name not in BLIND) and not regatta(
                    "plan", self.write(f"{name}.yaml", STUDY.format(size - 4, inputs, name)), "-quick")[0]]
            fitting = known_to_fit[kind]
            study = self.write(f"{space}.yaml", STUDY.format(size - 4, inputs, ", ".join(fitting)))
            output = self.results_of(study, "-strict", name=f"{space}.h5", ranks=2)
            with h5py.File(output) as results:
                for name, points in zip(results["P"]["algorithm"].asstr()[()], results["P"]["x"][()]):
                    with self.subTest(method=name, space=space):
                        known = {tuple(p) for p in points[:4]}
                        for t, x in enumerate(map(tuple, points[4:])):
                            self.assertFalse(x in known and len(known) < size, f"query {t + 1} repeats {x}")
                            known.add(x)
            self.assertGreater(len(fitting), 15)
