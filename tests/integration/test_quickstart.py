"""The quickstart's page begins with what docs/quickstart.md says: something that is clear, something that is not, and what
would decide it."""
import re
import unittest

from regatta_test import RegattaTest
from test_sweep import ROOT, has_modules, python

SAY = """
import sys
from regatta_analysis import load
from regatta_analysis.report import answer
print("\\n".join(answer.as_text(load(sys.argv[1]), None, "./run.sh study experiments/quickstart.yaml")))
"""


class Quickstart(RegattaTest):
    @unittest.skipUnless(has_modules(), "no Python with h5py, pandas and xarray")
    def test_its_page_says_what_the_documentation_quotes(self):
        self.run_ok("run", ROOT / "experiments" / "quickstart.yaml", "-o", self.folder / "quickstart.h5", "-quiet", ranks=2)
        said = python(SAY, self.folder / "quickstart.h5").splitlines()
        page = (ROOT / "docs" / "quickstart.md").read_text()
        quoted = " ".join(line[2:] for line in page.splitlines() if line.startswith("> "))
        self.assertEqual(said[0], quoted)
        self.assertIn("shown against", said[0])
        self.assertIn("open against", said[0])
        more, command = re.search(r"about (\d+) more instances.*keep their share: (.*)$", said[1]).groups()
        self.assertIn(f"about {more} more functions", page)
        self.assertIn(command, page.splitlines())
        self.assertIn(f"about {more} more functions", (ROOT / "README.md").read_text())
