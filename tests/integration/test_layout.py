"""Results have the same bits for any number of ranks and any earlier files."""
import os
import shutil
from unittest import mock

from regatta_test import HERE, LONG, RegattaTest

SMOKE = HERE / "smoke.yaml"


class Layout(RegattaTest):
    on_one_rank = None  # checksum

    def run_study(self, name, ranks, study=SMOKE):
        output = self.folder / name
        self.run_ok("run", study, "-o", output, "-quiet", ranks=ranks)
        self.assertFalse((self.folder / (name + ".d")).exists(), "shards are left after packing")
        return self.checksum(output)

    def expected(self):
        if not Layout.on_one_rank:
            Layout.on_one_rank = self.run_study("one.h5", 1)
        return Layout.on_one_rank

    def test_ranks(self):
        for ranks in (2, 3, 4, 5) if LONG else (2, 5):
            self.assertEqual(self.run_study(f"{ranks}.h5", ranks), self.expected(), f"{ranks} ranks")

    def test_extension_by_seeds(self):
        text = SMOKE.read_text()
        small = self.write("small.yaml", text.replace("seeds: 4", "seeds: 2"))
        self.run_study("grown.h5", 2, small)
        self.assertEqual(self.run_study("grown.h5", 2), self.expected())
        alone = self.run_study("small.h5", 2, small)
        self.assertEqual(self.run_study("grown.h5", 2, small), alone)  # half of its trials leave the plan
        words = self.run_ok("checksum", self.folder / "grown.h5")
        n = int(words.split()[1])
        self.assertIn(f"  {n} trials ({n} of {2 * n} records; {n} belong to another plan)", words)

    def test_extension_by_an_algorithm(self):
        small = self.write("small.yaml", SMOKE.read_text().replace("  - rgp_ucb\n", ""))
        self.run_study("grown.h5", 2, small)
        self.assertEqual(self.run_study("grown.h5", 3), self.expected())

    def test_a_finished_study_is_not_run_again(self):
        output = self.results_of(SMOKE, name="twice.h5", ranks=2)
        before = output.read_bytes()
        out = self.run_ok("run", SMOKE, "-o", output, "-quiet", ranks=2)
        self.assertIn("0 run now", out)
        self.assertEqual(output.read_bytes(), before)

    def test_packing(self):
        """The packed file is the same to the last byte, for any number of ranks. So is a file that is joined again."""
        study = self.write("many.yaml", "study: many\nseeds: 200\ncommon: {iterations: 3, initial_points: 1}\n"
                           "problems: [branin]\nalgorithms: [random, latin_hypercube]\n")
        shards = self.folder / "shards"
        shards.mkdir()
        for part in (1, 2):
            self.run_ok("run", study, "-part", f"{part}/2", "-o", self.folder / f"{part}.h5", "-quiet")
            for shard in (self.folder / f"{part}.h5.d").glob("*.h5"):
                shard.rename(shards / shard.name)
        files = []
        for ranks in (1, 2, 3):
            output = self.folder / f"{ranks}_ranks.h5"
            shutil.copytree(shards, f"{output}.d")
            with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="1000000000"):
                self.assertIn("0 run now", self.run_ok("run", study, "-o", output, "-quiet", ranks=ranks))
            files.append(output.read_bytes())
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])
        self.assertIn(b"deflate", files[0])
        joined = []
        for name in ("joined.h5", "again.h5"):
            with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="1000000000"):
                self.run_ok("merge", shards, "-o", self.folder / name)
            joined.append((self.folder / name).read_bytes())
        self.assertEqual(joined[0], joined[1])
        self.assertEqual(self.checksum(self.folder / "joined.h5"), self.checksum(output))
