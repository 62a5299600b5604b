"""A results file and an unfinished study in other programs: readers, info, documents."""
import pathlib
import shutil
import subprocess
import sys

from regatta_test import HERE, LONG, RegattaTest, main, regatta

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOKE = HERE / "smoke.yaml"


class ResultsFile(RegattaTest):
    def read_everywhere(self, path, *engine):
        done = subprocess.run([sys.executable, str(HERE / "read_everywhere.py"), str(path), *engine],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_results_open_everywhere(self):
        output = self.folder / "smoke.h5"
        self.run_ok("run", SMOKE, "-o", output, "-quiet", ranks=2)
        self.assertIn("h5py: 60 trials", self.read_everywhere(output))
        info = self.run_ok("info", output)
        self.assertIn("results, complete", info)
        self.assertRegex(info, r"trials +60\n")
        self.assertIn(self.checksum(output), info)
        self.assertEqual(self.run_ok("info", output, "-study"), SMOKE.read_text())

    def test_shards_open_everywhere(self):
        output = self.folder / "stopped.h5"
        whole = self.folder / "whole.h5"
        study = self.write("long.yaml", SMOKE.read_text().replace("seeds: 4", "seeds: 400"))
        shard = self.stopped_study(study, output)[0]
        self.read_everywhere(shard, *([] if LONG else ["h5netcdf"]))
        info = self.run_ok("info", self.folder / "stopped.h5.d")
        self.assertIn("not packed yet", info)
        self.assertRegex(info, r"trials +\d+ of 6000 finished\n")
        self.assertEqual(info.split("\n", 1)[1], self.run_ok("info", output).split("\n", 1)[1])
        self.assertEqual(regatta("status", output)[0], 75)
        shutil.copytree(self.folder / "stopped.h5.d", self.folder / "whole.h5.d")
        self.run_ok("run", SMOKE, "-o", whole, "-quiet", ranks=2)  # the rest stays aside
        self.assertEqual(regatta("status", whole)[0], 0)

    def test_document_is_up_to_date(self):
        self.assertEqual(self.run_ok("describe", "results-format"),
                         (ROOT / "docs" / "results-format.md").read_text())

    def test_no_results_file(self):
        for path, words in ((self.folder / "none.h5", "no such"),
                            (self.write("text.h5", "no HDF5"), "text.h5")):
            code, _, err = regatta("info", path)
            self.assertEqual(code, 2)
            self.assertIn(words, err)
            self.assertNotIn("HDF5-DIAG", err)
            self.assertEqual(len(err.splitlines()), 1)


if __name__ == "__main__":
    main()
