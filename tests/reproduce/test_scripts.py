"""Scripts beside the studies: what they say of files that they can't read."""
import subprocess
import sys

import papers  # first: it sets the path
import common
from reproduce import EXPERIMENTS

READERS = {  # script: words after the results file
    "baselines/table.py": [], "parallel/pairs.py": ["EI", "TS"], "scale/cost.py": [], "scale/growth.py": ["bounds.csv"],
    "scale/scaling.py": [],
}


class Scripts(common.Case):
    def test_every_reader_is_listed(self):
        found = {str(path.relative_to(EXPERIMENTS)) for path in EXPERIMENTS.glob("*/*.py")
                 if path.parts[-2] != "reproduce" and "RESULTS.h5" in (path.read_text().split('"""')[1:2] or [""])[0]}
        self.assertLessEqual(found, set(READERS))

    def test_unreadable_files_get_one_line(self):
        text = self.scratch / "text.h5"
        text.write_text("no results")
        for script, words in READERS.items():
            for path in (self.scratch / "missing.h5", text):
                with self.subTest(script, path=path.name):
                    done = subprocess.run([sys.executable, EXPERIMENTS / script, path, *words], capture_output=True,
                                          text=True, check=False)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    self.assertIn("text.h5" if path == text else "missing.h5", done.stderr)
