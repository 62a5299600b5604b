"""The committed table of checksums: the smoke studies give the bits they have always given.

`test_checksums.py --add` writes the lines of this machine into the table (REGATTA_PROGRAM names the
program); do that only when results were meant to change."""
import pathlib
import sys
import tempfile
import unittest

from regatta_test import HERE, RegattaTest, fingerprint, regatta

TABLE = HERE / "checksums.txt"
STUDIES = {"smoke": HERE / "smoke.yaml", "kill": HERE / "kill.yaml",
           "high_dimension": HERE.parent.parent / "experiments" / "high_dimension" / "smoke.yaml"}


def lines():
    return [line.split() for line in TABLE.read_text().splitlines()
            if line.strip() and not line.startswith("#")]


def checksum_of(study, folder):
    output = pathlib.Path(folder) / f"{study}.h5"
    code, out, err = regatta("run", STUDIES[study], "-o", output, "-quiet", ranks=2)
    assert code == 0, out + err
    return regatta("checksum", output)[1].split()[0]


class Checksums(RegattaTest):
    def test_table(self):
        here = fingerprint()
        expected = {study: value for mark, study, value in lines() if mark == here}
        if not expected:
            raise unittest.SkipTest(f"no line for numeric fingerprint {here}")
        for study, value in expected.items():
            with self.subTest(study=study):
                self.assertEqual(checksum_of(study, self.folder), value,
                                 f"results of {study}.yaml changed; if they were meant to, raise "
                                 "the revision of what changed and run test_checksums.py --add")

    def test_lines(self):
        """Every line is a fingerprint, a study and a checksum, and none is there twice."""
        for mark, study, value in lines():
            self.assertRegex(mark, "^[0-9a-f]{16}$")
            self.assertIn(study, STUDIES)
            self.assertRegex(value, "^[0-9a-f]{32}$")
        self.assertEqual(len({(mark, study) for mark, study, _ in lines()}), len(lines()))


def add():
    here = fingerprint()
    kept = [line for line in TABLE.read_text().splitlines() if line.split()[:1] != [here]]
    with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
        kept += [f"{here} {study} {checksum_of(study, folder)}" for study in STUDIES]
    TABLE.write_text("\n".join(kept) + "\n")
    print("\n".join(kept[-len(STUDIES):]))


if sys.argv[1:] == ["--add"]:
    add()
