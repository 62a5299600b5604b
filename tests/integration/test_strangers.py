"""Files of strangers are only data: what a study file, a results file or a study directory can make a command do."""
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np

from regatta_test import HERE, LONG, RegattaTest, environment, main, regatta

ROOT = HERE.parents[1]

STUDY = """study: strange
seed: 3
seeds: 2
common: {iterations: 3, initial_points: 3, workers: 2, duration: "uniform(1, 2)"}
problems: [branin]
algorithms: [random]
"""
SECRET = b"a secret of 8 bytes per word....................................................................."
LOOK = """import sys
import regatta_analysis as ra
for path in sys.argv[1:]:
    try:
        print(ra.load(path).data)
    except ra.InputError as error:
        print(f"refused: {error}")
"""


class Results(RegattaTest):
    """A results file whose contents lead outside of it."""
    made = None

    def setUp(self):
        super().setUp()
        self.study = self.write("study.yaml", STUDY)
        self.good = self.folder / "good.h5"
        if not Results.made:
            self.run_ok("run", self.study, "-o", self.good, "-quiet")
            Results.made = self.good.read_bytes()
        self.good.write_bytes(Results.made)
        self.secret = self.folder / "secret"
        self.secret.write_bytes(SECRET * 100)
        self.pipe = self.folder / "pipe"
        os.mkfifo(self.pipe)
        self.turn, self.refused = 0, {}

    def other_file(self, path):
        def replace(file, name):
            like = file[name]
            shape, dtype, attributes = like.shape, like.dtype, dict(like.attrs)
            del file[name]
            made = file.create_dataset(name, shape, dtype, external=[(str(path), 0, h5py.h5f.UNLIMITED)])
            for key in set(attributes) - {"DIMENSION_LIST"}:
                made.attrs[key] = attributes[key]
        return replace

    def virtual(self, file, name):
        shape, dtype = file[name].shape, file[name].dtype
        layout = h5py.VirtualLayout(shape, dtype)
        layout[...] = h5py.VirtualSource(str(self.good), name, shape)
        del file[name]
        file.create_virtual_dataset(name, layout)

    def soft(self, file, name):
        file.move(name, "aside")
        file[name] = h5py.SoftLink("/aside")

    def external(self, file, name):
        del file[name]
        file[name] = h5py.ExternalLink(str(self.good), name)

    def filtered(self, file, name):
        values = file[name][()]
        del file[name]
        file.create_dataset(name, data=values, compression="lzf")

    def refuse(self, path, says):
        """Commands that take a results file refuse it in one line; nothing is read, written or started. Each command
        meets every file (REGATTA_LONG), or three of them in turn."""
        merged, before = self.folder / "merged.h5", path.read_bytes()
        commands = [("info",), ("status",), ("checksum",), ("verify", "-no-rerun"), ("verify",),
                    ("merge", self.good, "-o", merged), ("run", self.study, "-quiet", "-o"),
                    ("plan", self.study, "-quick", "-o")]
        for k in range(len(commands) if LONG else 3):
            command = commands[(self.turn + k) % len(commands)]
            code, out, err = regatta(*command, path)
            about = f"{command[0]} {path.name}: {out}{err}"
            self.assertIn(code, (2, 3), about)
            self.assertIn(f"{path.name}: ", err, about)
            self.assertIn(says, err, about)
            self.assertEqual(len(err.splitlines()), 1, about)
            self.assertNotIn("secret of", out + err, about)
            self.assertFalse(merged.exists(), about)
            self.assertEqual(path.read_bytes(), before, about)
        self.turn += 3
        self.refused[path] = says

    def refuse_in_python(self):
        done = subprocess.run([sys.executable, "-c", LOOK, *self.refused], env=dict(environment(), PYTHONPATH=str(ROOT / "analysis")),
                              capture_output=True,
                              text=True, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(self.refused), done.stdout)
        for line, (path, says) in zip(lines, self.refused.items()):
            self.assertRegex(line, rf"^refused: {path}: damaged: .*{says}")

    def test_what_leads_outside(self):
        ways = {"takes its data from other files": [self.other_file(self.secret), self.other_file(self.pipe)],
                "takes its data from other datasets": [self.virtual], "is a link": [self.soft, self.external],
                "needs a filter": [self.filtered]}
        n = 0
        for says, spoils in ways.items():
            for k, spoil in enumerate(spoils):
                for name in ("branin/timing/wall_fit", "branin/y", "branin/seed", "branin/trial", "notes"):
                    if (len(says) + k + n) % 3 and not (k == 0 and name.endswith("wall_fit")):
                        n += 1
                        continue  # every way at two or three of the places
                    n += 1
                    path = self.folder / f"stranger_{n}.h5"
                    shutil.copy(self.good, path)
                    with h5py.File(path, "r+") as file:
                        if name == "notes":
                            file["branin/notes"] = np.zeros((2, 6))
                            spoil(file, "branin/notes")
                        else:
                            spoil(file, name)
                    self.refuse(path, says)
        self.refuse_in_python()

    def test_linked_groups(self):
        for name in ("branin", "branin/timing", "branin/provenance"):
            for spoil in (self.soft, self.external):
                path = self.folder / f"{spoil.__name__}_{name.replace('/', '_')}.h5"
                shutil.copy(self.good, path)
                with h5py.File(path, "r+") as file:
                    spoil(file, name)
                self.refuse(path, "is a link")
        self.refuse_in_python()

    def test_recorded_durations(self):
        """A study file may name a stranger's results file."""
        path = self.folder / "stranger.h5"
        shutil.copy(self.good, path)
        with h5py.File(path, "r+") as file:
            self.other_file(self.secret)(file, "branin/duration")
        study = self.write("recorded.yaml", STUDY.replace('"uniform(1, 2)"', '"recorded stranger.h5"'))
        code, out, err = regatta("plan", study, "-quick")
        self.assertEqual((code, len(err.splitlines())), (2, 1), out + err)
        self.assertIn("takes its data from other files", err)
        self.assertNotIn("secret of", out + err)


if __name__ == "__main__":
    main()
