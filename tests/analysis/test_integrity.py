"""Damaged files: equal data or one clear line for any wrong bit; --trust; files changed by other programs."""
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import common
import h5py
import numpy as np
import pandas as pd
import synthetic
import xxhash
from regatta_analysis import InputError, load
from regatta_analysis.load import reader
from regatta_analysis.load.load import read_file

FORMAT = common.HERE.parents[1] / "docs" / "results-format.md"


def frames(path):
    results = load(path)
    return results.trials, results.data, results.texts("key")


def is_alive(pid):
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Damage(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = cls.directory / "whole.h5"
        parts = [synthetic.problem("P", ["EI", "Random"], seeds=3, queries=4, initial=2, failed=(1,)),
                 synthetic.problem("Q, d = 3", ["EI"], seeds=2, queries=3, initial=2, dim=3)]
        synthetic.write(cls.whole, parts)
        cls.good = frames(cls.whole)
        cls.cut = cls.directory / "cut.h5"  # as another program leaves it: without a trailer
        cls.cut.write_bytes(cls.whole.read_bytes())
        with h5py.File(cls.cut, "a") as file:
            file.attrs["note"] = "mine"

    def assert_unchanged(self, path):
        for found, known in zip(frames(path)[:2], self.good[:2]):
            pd.testing.assert_frame_equal(found, known)

    def mutate(self, data, random):
        """One flipped bit, some bytes of noise, or a truncation."""
        at, kind = random.randrange(len(data)), random.randrange(4)
        if kind < 2:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 2:
            data[at:at + 8] = random.randbytes(len(data[at:at + 8]))
        else:
            del data[at:]
        return data

    def rounds(self, n, source, seed, harmless):
        """`harmless`: values that no checksum covers may differ: host, time, words about the study."""
        whole, dice, files = source.read_bytes(), random.Random(seed), []
        for k in range(n):
            files.append(self.scratch / f"{k}.h5")
            files[-1].write_bytes(self.mutate(bytearray(whole), dice))
        wrong = reader.damages(files)  # by one child for all, as far as it survives
        self.assertGreater(sum(line is not None for line in wrong.values()), n // 3)
        for path in files:
            with self.subTest(path=path.name):
                if wrong[path] is not None:
                    self.assertNotIn("\n", wrong[path])
                    self.assertTrue(wrong[path].startswith(f"{path}: "), wrong[path])
                else:
                    self.assertTrue(harmless or path.read_bytes() == whole)
                    self.assert_results_equal(path)

    def assert_results_equal(self, path):
        try:
            trials, values, keys = frames(path)
        except InputError as error:  # incomplete, as a root attribute says; or its reader died
            self.assertNotIn("\n", str(error))
            return
        for found, known in ((trials, self.good[0]), (values, self.good[1])):
            same = [c for c in known if c != "host" and not c.startswith(("wall", "cpu"))]
            pd.testing.assert_frame_equal(found[same], known[same])
        np.testing.assert_array_equal(keys, self.good[2])

    def test_mutated(self):
        self.rounds(130 if common.LONG else 40, self.whole, 1, harmless=False)

    def test_mutated_without_trailer(self):
        self.rounds(50 if common.LONG else 10, self.cut, 2, harmless=True)

    def test_trailer_and_checksums(self):
        self.assert_unchanged(self.whole)
        self.assert_unchanged(self.cut)
        path = self.scratch / "copy.h5"
        data = self.whole.read_bytes()
        path.write_bytes(data[:-32])
        self.assert_unchanged(path)  # as a program that rewrites the file leaves it
        path.write_bytes(data[:-1])
        self.refused(path, "damaged: its last bytes are missing")
        path.write_bytes(data[:2000] + b"\xff" + data[2001:])
        self.refused(path, "damaged: its checksum does not fit")

    def altered(self, change):
        path = self.scratch / "altered.h5"
        path.write_bytes(self.whole.read_bytes())
        with h5py.File(path, "a") as file:
            change(file)
        return path

    def test_one_number_without_a_trailer(self):
        def change(file):
            file["P/y"][2, 1] += 1.0
        path = self.altered(change)
        self.refused(path, "damaged: trial P/('EI', 0, 2) does not have the checksum")
        self.assertEqual(len(load(path, trust=True).trials), 8)
        code, _, errors = common.run(path, "--out", self.scratch / "out")
        self.assertEqual((code, errors.count("\n")), (2, 1))
        with common.no_drawing():
            self.assertEqual(common.run(path, "--out", self.scratch / "out", "--trust", "--formats", "png", "--metric",
                                        "simple")[0], 0)

    def test_unreadable_header(self):
        """HDF5 fails to open an object whose header goes on where it can't, and opens it when asked again; h5py's
        items() doesn't say that it failed."""
        whole, path, headers = self.cut.read_bytes(), self.scratch / "header.h5", {}
        with h5py.File(self.cut) as file:
            for name in file["P"]:
                headers[name] = h5py.h5o.get_info(file["P"][name].id).addr
        for name, at in list(headers.items())[::1 if common.LONG else 4]:
            data, at = bytearray(whole), at + 16
            while data[at:at + 2] not in (b"\x10\0", b"\x11\0"):  # continuation; symbol table, of a group
                at += 8 + struct.unpack_from("<H", data, at + 2)[0]
            data[at + 18] |= 0x20  # where it goes on there are too many bytes
            path.write_bytes(data)
            with self.subTest(name=name):
                self.refused(path, "damaged: HDF5 can't read it")

    def test_hidden_group(self):
        path = self.altered(lambda file: file.pop("P"))
        self.refused(path, "2 of 8 trials are in it")

    def test_labels_that_contradict(self):
        def swap(file):
            file["P/algorithm"][0] = "Random"
        self.refused(self.altered(swap), "labels of 'P' contradict each other")

        def shift(file):
            file["P/seed"][0] = 7
        self.refused(self.altered(shift), "labels of 'P' contradict each other")

    def test_no_checksums(self):
        def drop(file):
            del file["P/checksum"], file["Q, d = 3/checksum"]
        path = self.altered(drop)
        self.refused(path, "has no checksums", "--trust")
        self.assertEqual(len(load(path, trust=True).trials), 8)

    def test_forged_trailer(self):
        """A file with a correct trailer may still be forged to crash HDF5; only a child reads it."""
        whole, dice, files = self.whole.read_bytes()[:-32], random.Random(3), []
        for k in range(30 if common.LONG else 10):
            files.append(self.scratch / f"{k}.h5")
            files[-1].write_bytes(self.mutate(bytearray(whole), dice))
            synthetic.seal(files[-1])
        refused = 0
        for path in files:
            try:
                frames(path)
            except InputError as error:
                self.assertNotIn("\n", str(error))
                refused += 1
        self.assertGreater(refused, 0)

    def test_shard_without_trailer(self):
        shards = self.scratch / "study.h5.d"
        shards.mkdir()
        (shards / "0-a.h5").write_bytes(self.whole.read_bytes())
        (shards / "0-b.h5").write_bytes(self.cut.read_bytes())
        results = load(shards)
        self.assertEqual(len(results.trials), 8)
        self.assertEqual(results.warnings, [f"{shards}/0-b.h5: damaged: its last bytes are missing"])

    def test_pipe(self):
        path = self.scratch / "study.h5"
        os.mkfifo(path)
        self.refused(path, "not a file")

    def test_child_that_dies(self):
        """The file that killed the child is named, those behind it are read by another."""
        bad, worse = self.scratch / "bad.h5", self.scratch / "worse.h5"
        read = reader.check_contents
        self.addCleanup(setattr, reader, "check_contents", read)
        scarce = self.scratch / "scarce.h5"  # a good file, whose reader the system kills
        signals = {bad: signal.SIGSEGV, worse: signal.SIGSEGV, scarce: signal.SIGKILL}
        reader.check_contents = lambda path: (os.kill(os.getpid(), signals[Path(path)]) if Path(path) in signals
                                       else read(path))
        for path in signals:
            path.write_bytes(self.cut.read_bytes())
        found = reader.damages([self.cut, bad, scarce, self.whole, worse])
        self.assertEqual(found, {self.cut: None, self.whole: None,
                                 scarce: f"{scarce}: its reader was killed, as where memory is short",
                                 bad: f"{bad}: damaged: HDF5 can't read it",
                                 worse: f"{worse}: damaged: HDF5 can't read it"})

    def test_child_dies_with_its_parent(self):
        """Also one that does not look at its questions any more."""
        code = ("import sys, time\nfrom regatta_analysis.load.reader import Reader\nreader = Reader()\n"
                "reader.ask(sys.argv[1], 'contents')\nprint(reader._end.peek()[2][1], flush=True)\ntime.sleep(1e6)\n")
        with subprocess.Popen([sys.executable, "-c", code, self.whole], stdout=subprocess.PIPE, text=True) as parent:
            child = int(parent.stdout.readline())
            os.kill(child, signal.SIGSTOP)
            parent.kill()
        while is_alive(child):
            time.sleep(0.02)

    def test_reader_that_dies_later(self):
        """A failed read after the file was opened gives one line too, and other reads still answer."""
        results = load(self.whole)
        values = reader.QUESTIONS["values"]
        self.addCleanup(reader.QUESTIONS.__setitem__, "values", values)
        reader.QUESTIONS["values"] = lambda *about: os.abort()
        fresh = reader.Reader()
        with self.assertRaisesRegex(InputError, "damaged: HDF5 can't read it"):
            read_file(fresh, self.whole)[1][0][1]["y"].all()
        self.assertEqual(len(read_file(fresh, self.whole)[1]), 2)
        reader.QUESTIONS["values"] = values
        self.assertEqual(len(results.data), len(self.good[1]))


class Columns(common.Case):
    def spoil_trailer(self, path):
        with h5py.File(path, "a") as file:
            file.attrs["note"] = "mine"

    def write(self, said):
        """A file with the column `a_new_one`, which `said` names among the others, or not."""
        path, part = self.scratch / "new.h5", synthetic.problem("P", ["EI"], seeds=2, queries=3, initial=2)
        part["arrays"]["a_new_one"] = part["arrays"]["y"] + 1.0
        synthetic.write(path, [part], columns=said)
        self.spoil_trailer(path)
        return path

    def test_new_column(self):
        """The file names the columns in its checksums, so a program with another column does not call it damaged."""
        at = reader.COLUMNS_BEFORE.index("objective")
        said = (*reader.COLUMNS_BEFORE[:at], "a_new_one", *reader.COLUMNS_BEFORE[at:])
        path = self.write(said)
        self.assertIn("a_new_one", load(path).data)
        with h5py.File(path, "a") as file:
            file.attrs["checksum_columns"] = " ".join(reader.COLUMNS_BEFORE)
        with self.assertRaisesRegex(InputError, "does not have the checksum stored beside it"):
            load(path)

    def test_new_column_changed(self):
        path = self.write((*reader.COLUMNS_BEFORE[:3], "a_new_one", *reader.COLUMNS_BEFORE[3:]))
        with h5py.File(path, "a") as file:
            file["P"]["a_new_one"][0, 0] += 1.0
        with self.assertRaisesRegex(InputError, "does not have the checksum stored beside it"):
            load(path)

    def test_older_files(self):
        """Files from before the attribute are read by their checksums too."""
        for name in ("results-v2.h5",):
            with self.subTest(name):
                path = self.scratch / name
                path.write_bytes((common.HERE.parent / "data" / name).read_bytes())
                known = load(path).data
                self.spoil_trailer(path)
                with h5py.File(path, "r") as file:
                    self.assertNotIn("checksum_columns", file.attrs)
                pd.testing.assert_frame_equal(load(path).data, known)


class AsDocumented(unittest.TestCase):
    def test_checksum_of_a_trial(self):
        """By hand, from the words of docs/results-format.md."""
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "study.h5"
            synthetic.write(path, [synthetic.problem("P", ["EI"], seeds=1, queries=2, initial=1)])
            with h5py.File(path, "a") as file:
                group = file["P"]
                for name in [*synthetic.SCALARS, "length_scale", "timing"]:
                    if name in group and name != "y":
                        del group[name]
                group["y"][0] = [-0.0, np.nan, 2.5]
                group["x"][0] = np.arange(6.0).reshape(3, 2)
                group["n_iterations"][0] = 2
                found, = reader.trial_checksums(group)
                texts = b"".join(group[n][0] + b"\0" for n in ("id", "key", "message"))
        data = (texts + struct.pack("<6q", 1, 2, 1, 2, 0, 2) + struct.pack("<d", 3.0)
                + b"x\0" + struct.pack("<Q4d", 4, 0.0, 1.0, 2.0, 3.0)
                + b"y\0" + struct.pack("<QdQ", 2, 0.0, 0x7ff8 << 48))
        self.assertEqual(found, xxhash.xxh3_128_digest(data))


@common.needs_program
class Program(common.Case):
    def test_its_files_without_trailer(self):
        """Checksums of the program's own trials, scores and contexts among them."""
        study = self.scratch / "study.yaml"
        study.write_text("""
study: some
seeds: 2
common: {iterations: 3, initial_points: 2}
problems: [{name: branin}, {name: hartmann6}]
algorithms: [random, {name: boke}]
""")
        path = self.scratch / "study.h5"
        common.regatta("run", study, "-o", path)
        known = load(path).data
        with h5py.File(path, "a") as file:
            file.attrs["note"] = "mine"
            columns = reader.checksum_columns(file)
        pd.testing.assert_frame_equal(load(path).data, known)
        text = FORMAT.read_text().split("\n## Per evaluation\n")[1].split("\n## ")[0]
        self.assertEqual(tuple(re.findall(r"^- `(\w+)`", text, re.MULTILINE)), columns)
