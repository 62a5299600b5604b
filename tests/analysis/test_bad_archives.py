"""Archives that do not fit, or are none, at every place that takes one: one line names the archive and the reason, and no
comparison is made without its pairs."""
import os
import re
import shutil
import struct
import subprocess

import h5py
import numpy as np
import xxhash

from common import Case, LONG, needs_program, regatta, run
from regatta_analysis import InputError, load

STUDY = """study: {name}
seed: {seed}
seeds: {seeds}
common: {{iterations: 4, initial_points: {initial}, noise_variance: {noise}, initial_design: {design}}}
problems: [{{name: branin, label: Branin}}, {{name: ackley, dim: 2}}]
algorithms: [{{name: {method}, label: {method}}}]
"""
USUAL = {"seed": 5, "seeds": 6, "initial": 4, "noise": 0.01, "design": "sobol", "method": "latin_hypercube"}
CLAIM = """claims:
- {id: A, where: here, claim: Random is better, checks: [{kind: better, who: random, against: latin_hypercube, on: mine}]}
"""


def seal(path):
    """Write the trailer of a file anew, after another program has changed it: only its content is wrong then."""
    data = path.read_bytes()
    data = data[:int.from_bytes(data[40:48], "little")]
    path.write_bytes(data + struct.pack("<8sQ16s", b"RGTRAIL\n", len(data), xxhash.xxh3_128_digest(data)[::-1]))


def version(number):
    return lambda file: file.attrs.__setitem__("schema_version", np.array(number, file.attrs["schema_version"].dtype))


def add(place, name, by):
    def change(file):
        dataset = file[place][name]
        dataset[...] = dataset[()] + by
    return change


def other_start(file):
    regret = file["Branin/simple_regret"]
    regret[2, :] = regret[2, :] + 1.0


# an edit of a good archive, whether its trailer fits afterwards -> what Python says, what `plan` says
EDITED = {
    "newer": (version(9), True, "schema version 9 is newer", "schema 9"),
    "older": (version(1), True, "schema version 1 is of a version before", "schema 1"),
    "revision": (add("cells", "problem_revision", 1), True, "problem_revision is 2 there, 1 here", "problem.revision is another"),
    "start": (other_start, True, "another problem under the same name", "damaged: 1 of its trials"),
    "checksum": (other_start, False, "damaged: trial .* does not have the checksum", "does not have the checksum"),
}
# other settings of the study of an archive
OTHERS = {
    "seed": ({"seed": 6}, "the seed of its study is 6, not 5", None),
    "noise": ({"noise": 0.5}, "noise_variance is 0.5 there, 0.01 here", None),
    "design": ({"design": "uniform"}, "initial_design is uniform there, sobol here", None),
    "initial": ({"initial": 3}, "initial_points is 3 there, 4 here", None),
    "seeds": ({"seeds": "[8, 9]"}, "it has none of these seeds and instances", None),
}
BYTES = {
    "truncated": (lambda data: data[:-1000], "damaged: its last bytes are missing", "its last bytes are missing"),
    "flipped": (lambda data: data[:9000] + bytes([data[9000] ^ 255]) + data[9001:], "damaged: its checksum", "checksum does not fit"),
    "empty": (lambda _: b"", "it is empty", "damaged, or no results file"),
    "text": (lambda _: b"no HDF5", "not an HDF5 file", "damaged, or no results file"),
}


@needs_program
class BadArchives(Case):
    pictures = "undrawn"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mine = cls.made("mine", method="random")
        cls.good = cls.archived("good")
        cls.bad = {}
        for name, (change, sealed, says, planned) in EDITED.items():
            path = shutil.copy(cls.good, cls.directory / f"{name}.h5")
            with h5py.File(path, "r+") as file:
                change(file)
            if sealed:
                seal(path)
            cls.bad[name] = [path], says, planned
        for name, (settings, says, planned) in OTHERS.items():
            cls.bad[name] = [cls.archived(name, **settings)], says, planned or says
        for name, (change, says, planned) in BYTES.items():
            path = cls.directory / f"{name}.h5"
            path.write_bytes(change(cls.good.read_bytes()))
            cls.bad[name] = [path], says, planned
        (cls.directory / "folder.h5").mkdir()
        os.mkfifo(cls.directory / "pipe.h5")
        cls.bad |= {
            "folder": ([cls.directory / "folder.h5"], "a folder, where a results file is expected", "no study directory"),
            "pipe": ([cls.directory / "pipe.h5"], "not a file", "a pipe or a device"),
            "absent": ([cls.directory / "absent.h5"], "no such file", "no such results file"),
            "mine": ([cls.mine], "these are the results themselves", "they are the same trials"),
            "good": ([cls.good, cls.good], "given twice", "names .* twice"),
            "copy": ([cls.good, shutil.copy(cls.good, cls.directory / "copy.h5")], "they are the same trials", ""),
        }

    @classmethod
    def made(cls, name, **settings):
        study, output = cls.directory / f"{name}.yaml", cls.directory / f"{name}.h5"
        study.write_text(STUDY.format(name=name, **{**USUAL, **settings}))
        regatta("run", study, "-o", output, "-quiet")
        return output

    @classmethod
    def archived(cls, name, **settings):
        full, small = cls.made(f"{name}_full", **settings), cls.directory / f"{name}.h5"
        regatta("merge", full, "-o", small, "-archive")
        return small

    def entries(self, archives):
        """(name, exit code and lines on standard error) of every place that takes an archive; in a short test of those
        that read it in different ways."""
        claims, out = self.directory / "claims" / "claims.yaml", self.directory / "out"
        claims.parent.mkdir(exist_ok=True)
        claims.write_text(CLAIM)
        yield "page with claims", run("page", self.mine, "--out", self.directory / "page.html", "--claims", claims, "--against",
                                      *archives)
        yield "claims", run("claims", self.mine, "--claims", claims, "--against", *archives)
        if not LONG:
            return
        yield "page", run("page", self.mine, "--out", self.directory / "page.html", "--against", *archives)
        yield "figures", run(self.mine, "--out", out, "--formats", "png", "--against", *archives)
        yield "export", run("export", self.mine, "--to", "csv", out / "csv", "--against", *archives)

    def plan(self, archives):
        study = self.directory / "named.yaml"
        study.write_text((self.directory / "mine.yaml").read_text() + f"against: [{', '.join(map(str, archives))}]\n")
        return subprocess.run([os.environ["REGATTA"], "plan", "-quick", study], capture_output=True, text=True, check=False)

    def test_refused_in_one_line(self):
        for name, (archives, says, planned) in self.bad.items():
            with self.subTest(name, entry="load"), self.assertRaisesRegex(InputError, f"{archives[-1].name}.*{says}"):
                load(self.mine, against=archives)
            for entry, (code, _, wrong) in self.entries(archives):
                with self.subTest(name, entry=entry):
                    self.assertEqual((code, len(wrong.splitlines())), (2, 1), wrong)
                    self.assertRegex(wrong, f"{archives[-1].name}: .*{says}")
            done = self.plan(archives)
            with self.subTest(name, entry="plan"):
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2 if planned else 0, bool(planned)), done.stderr)
                self.assertRegex(done.stderr, planned or "^$")
                self.assertIn(archives[-1].name if planned else "", done.stderr)

    def test_named_by_the_study(self):
        """Results whose study names the archive: it is opened beside them, with the same words."""
        folder = self.directory / "named"
        folder.mkdir()
        mine, archive = folder / "mine.h5", folder / "rival.h5"
        (folder / "mine.yaml").write_text((self.directory / "mine.yaml").read_text() + "against: rival.h5\n")
        regatta("run", folder / "mine.yaml", "-o", mine, "-quiet")
        (folder / "claims.yaml").write_text(CLAIM)
        for name in ("revision", "noise", "truncated", "empty", "newer"):
            archives, says, _ = self.bad[name]
            shutil.copy(archives[0], archive)
            for command in (("page", mine), ("claims", mine), (mine, "--out", folder / "out")):
                with self.subTest(name, command=command[0]):
                    code, _, wrong = run(*command)
                    self.assertEqual((code, len(wrong.splitlines())), (2, 1), wrong)
                    self.assertRegex(wrong, f"rival.h5: .*{says}")

    def test_said_where_it_pairs_in_part(self):
        """Missing pairs and another numeric fingerprint do not keep the other trials from pairing: a line says it."""
        few = self.archived("few", seeds="[0, 1, 9]")
        other = self.directory / "other.h5"
        shutil.copy(self.good, other)
        with h5py.File(other, "r+") as file:
            for problem in ("Branin", "ackley"):
                add(problem, "provenance/fingerprint", 1 << 40)(file)
        seal(other)
        for archive, says in ((few, "few.h5: 8 of the 12 pairs of instance and seed on Branin, ackley have no partner there."),
                              (other, "other.h5: its trials have another numeric fingerprint")):
            self.assertIn(says, " ".join(load(self.mine, against=archive).warnings))
            for entry, (code, said, wrong) in self.entries([archive]):
                with self.subTest(archive.name, entry=entry):
                    self.assertEqual(code, 0, wrong)
                    if entry.startswith("page"):
                        said = re.sub(r"<[^>]*>", "", (self.directory / "page.html").read_text())
                    if entry != "export":
                        self.assertIn(says, said + wrong)
            self.assertEqual(self.plan([archive]).returncode, 0)
        self.assertEqual(load(self.mine, against=self.good).warnings, [
            "Against good.h5: 12 trials of 1 method that did not run here pair with those of this study."])

    def test_other_programs_may_cut_the_trailer(self):
        """Then the checksums of the trials tell whether an archive is whole, as for other results."""
        path = self.directory / "cut.h5"
        path.write_bytes(self.good.read_bytes()[:-32])
        self.assertEqual(load(self.mine, against=path).algorithms, ["random", "latin_hypercube"])
