"""docs/bring-your-own.md, followed as it is printed: its files are written, its commands run, its outputs compared."""
import importlib.util
import pathlib
import re
import subprocess

from regatta_test import HANG, HERE, REGATTA, RegattaTest, environment, fingerprint
from test_pages import PRINTED_BY, blocks, follows

ROOT = HERE.parents[1]
PAGE = "docs/bring-your-own.md"
SMALLER = {"seeds: 20": "seeds: 2", "iterations: 40": "iterations: 8", "[branin, hartmann3]": "[branin]",  # to be quick
           "120 trials": "6 trials", "(120 run": "(6 run", "160 trials": "8 trials", "(40 run": "(2 run"}
TUNER = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "value": request["x"]["degree"] or 1}), flush=True)
"""


class Tutorial(RegattaTest):
    def shell(self, commands):
        """As typed in a folder of one's own."""
        done = subprocess.run(["bash", "-ec", commands], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=HANG, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}{done.stderr}")
        return done.stdout

    def setUp(self):
        super().setUp()
        self.environment = environment()
        self.environment.pop("PYTHONPATH", None)

    def test_every_block(self):
        missing = [p for p in ("numpy", "scipy", "pandas", "h5py", "matplotlib") if not importlib.util.find_spec(p)]
        if missing:
            self.skipTest("the figures need " + ", ".join(missing))
        ran, exports, printed = [], "", ""
        for before, language, text in blocks(PAGE):
            name = re.search(r"`([\w.]+)`:$", before)
            for word, small in SMALLER.items() if name or language == "text" else ():
                text = text.replace(word, small)
            if language == "text":
                wrong = follows(text, printed, fingerprint() == PRINTED_BY)
                self.assertIsNone(wrong, f"the page shows what is not printed; printed is:\n{printed}")
                ran.append("output")
            elif name:
                self.write(name[1], text)
                ran.append(name[1])
            elif language == "python":
                printed = self.shell(f"{exports}python3 - <<'END'\n{text}END\n")
                ran.append("problems")
            elif text.startswith("export"):
                exports = (text.replace("/path/to/regatta/build", str(pathlib.Path(REGATTA).parent))
                           .replace("/path/to/regatta", str(ROOT)))
            else:
                printed = self.shell(exports + text)
                ran.append("commands")
        self.assertEqual(ran, ["hill.py", "hill.yaml", "commands", "output", "uniform.sh", "commands", "output", "annealing.py",
                               "problems", "output"])
        self.assertIn("8 equal in every bit", self.shell(f"{exports}regatta verify hill.h5 -all -allow-programs"))
        summary = (self.folder / "hill" / "summary.md").read_text()
        for word in ("Hill climbing", "Shell", "8 of 8 done, 0 failed", "regret_branin_simple.png"):
            self.assertIn(word, summary)
        self.assertGreater((self.folder / "hill" / "regret_branin_simple.png").stat().st_size, 10000)
        self.annealing(exports)

        self.conditional(exports)

    def conditional(self, exports):
        """hill.py runs where an input counts only sometimes."""
        self.write("tuner.py", TUNER).chmod(0o755)
        self.write("tuner.yaml", """study: tuner
common: {iterations: 6, initial_points: 5}
problems: [{name: external, program: tuner.py, inputs: [kernel choice rbf poly, degree integer 2 5 if kernel=poly]}]
algorithms: [{name: external, program: hill.py}]
""")
        self.shell(exports + "regatta run tuner.yaml -o tuner.h5 -quiet -strict")

    def annealing(self, exports):
        study = (self.folder / "hill.yaml").read_text().replace("label: Shell, program: uniform.sh",
                                                                "label: Annealing, program: annealing.py")
        self.write("annealing.yaml", study)
        self.shell(exports + "chmod +x annealing.py\nregatta run annealing.yaml -o annealing.h5 -quiet -strict")
