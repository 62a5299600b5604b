"""Damaged, foreign and newer files at the level of the program: named, refused or set aside, never
used, never a crash."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import unittest
from unittest import mock

import h5py

from regatta_test import HANG, HERE, LONG, REGATTA, RegattaTest, SLOW, environment, is_alive, regatta, wait_until

TEXT = (HERE / "smoke.yaml").read_text().replace("iterations: 12", "iterations: 3").replace(
    "seeds: 4", "seeds: 2")
FLIPS = 200 if LONG else 3
LOOKERS = ("status", "checksum", "verify", "info")


class Damage(RegattaTest):
    """One good file; a copy of it is spoilt in every way."""
    made = None  # its bytes and its checksum

    def setUp(self):
        super().setUp()
        self.study = self.write("smoke.yaml", TEXT)
        self.good = self.folder / "good.h5"
        if not Damage.made:
            self.run_ok("run", self.study, "-o", self.good, "-quiet")
            Damage.made = self.good.read_bytes(), self.checksum(self.good)
        self.bytes, self.expected = Damage.made
        self.good.write_bytes(self.bytes)
        self.tried = self.turn = 0

    def call(self, *arguments):
        """Exit code and standard error of a command that must not crash."""
        code, out, err = regatta(*arguments)
        self.tried += 1
        self.assertIn(code, (0, 2, 3, 75), f"{arguments}: exit {code}\n{out}\n{err}")
        self.assertNotIn("PETSC ERROR", err)
        return code, err

    def refuses(self, name, data, says=None, all_commands=LONG):
        """Commands refuse the file and name it in one line; none of them changes it. Every file meets two, in turn."""
        path = self.folder / name
        path.write_bytes(data)
        merged = self.folder / "merged.h5"
        commands = [*((command, path) for command in LOOKERS), ("run", self.study, "-o", path, "-quiet"),
                    ("merge", self.good, path, "-o", merged), ("merge", path, self.good, "-o", merged)]
        chosen = range(len(commands)) if all_commands else (self.turn, self.turn + 1)
        self.turn = chosen[-1] + 1
        for arguments in (commands[k % len(commands)] for k in chosen):
            with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, NO_REST="1"):  # no pauses before another look
                code, err = self.call(*arguments)
            expected = 3 if arguments[0] == "verify" and says != "schema" else 2
            self.assertEqual(code, expected, f"{arguments}: {err}")
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(name, err)
            if says:
                self.assertIn(says, err)
            self.assertFalse(merged.exists())
            self.assertEqual(path.read_bytes(), data, f"{arguments} changed the file")
        path.unlink()

    def test_results_file(self):
        random_bytes = random.Random(1).randbytes(5000)
        self.refuses("empty.h5", b"", all_commands=True)
        self.refuses("text.h5", b"algorithm,seed,regret\nei,1,0.5\n")
        self.refuses("random.h5", random_bytes)
        self.refuses("header_only.h5", self.bytes[:8] + random_bytes)
        for part in (8, 100, len(self.bytes) // 2, len(self.bytes) * 9 // 10):
            self.refuses(f"first_{part}.h5", self.bytes[:part], all_commands=LONG or part > len(self.bytes) // 2)
        print(f"{self.tried} commands on damaged results files")

    def test_damaged_trailer(self):
        """A file without its trailer may come from another program: no value is lost, every record's checksum is
        compared, and verify says so."""
        path = self.folder / "trailer.h5"
        for missing in (1, 31, 33):  # a part of it is damage
            self.refuses(f"cut_{missing}.h5", self.bytes[:-missing],
                         says="damaged: its last bytes are missing")
        for data in (self.bytes[:-32], self.bytes + b"\0" * 1000):
            path.write_bytes(data)
            code, out, err = regatta("verify", path, "-no-rerun")
            self.assertIn(code, (0, 3), err)
            self.assertTrue(code == 3 or "no trailer" in out, out)
            code, out, err = regatta("checksum", path)
            self.assertTrue(code == 2 or out.split()[0] == self.expected, err)

    def test_old_attributes(self):
        """A host with an old size of the file in its cache: it looks again, and names the cause where that does not
        help."""
        path = self.folder / "sound.h5"
        path.write_bytes(self.bytes)
        for lies, sound in (("2", True), ("1000", False)):
            with mock.patch.dict(os.environ, LD_PRELOAD=SLOW, STAT_LIES=lies):
                code, out, err = regatta("checksum", path)
            self.assertEqual(code, 0 if sound else 2, err)
            if sound:
                self.assertEqual(out.split()[0], self.expected)
            else:
                self.assertIn("its last bytes are missing (or this host has an old size of it in a cache", err)

    def test_other_hdf5_file(self):
        path = self.folder / "other.h5"
        with h5py.File(path, "w") as file:
            file["temperature"] = [1.0, 2.0]
        self.refuses("other.h5", path.read_bytes())

    def heaps(self):
        """The file without its trailer, and the places at which it says how long the first text of a heap is."""
        data = self.bytes[:-32]
        return data, [found.start() + 24 for found in re.finditer(b"GCOL", data)]

    def test_file_that_crashes_hdf5(self):
        """A text that is said to be longer than its file: HDF5 reads beyond its memory. Only a child process dies."""
        data, heaps = self.heaps()
        path, died = self.folder / "forged.h5", 0
        for at in heaps:  # it depends on the layout of the file which of them crash it
            if died and not LONG:
                break
            path.write_bytes(data[:at] + struct.pack("<Q", 1 << 33) + data[at + 8:])
            for command in ("checksum", "info", "status"):
                code, err = self.call(command, path)
                self.assertLessEqual(len(err.splitlines()), 1, err)
                if code == 2:
                    self.assertIn("forged.h5", err)
                if "is damaged: HDF5 can't read it" not in err:
                    break
                died += 1
        self.assertGreater(died, 0)

    @unittest.skipUnless(os.path.exists("/proc/self/limits"), "no /proc")
    def test_file_that_hdf5_reads_without_end(self):
        """A text of -16 bytes: HDF5 looks for the next one at the same place. The child that does so has a limited CPU
        time; here it is not used up, but the signal of the limit comes at once."""
        data, heaps = self.heaps()
        path = self.folder / "forged.h5"
        path.write_bytes(data[:heaps[0]] + struct.pack("<Q", 2 ** 64 - 16) + data[heaps[0] + 8:])
        for command in ("checksum", "info", "status"):
            job = subprocess.Popen([REGATTA, command, path], env=environment(), stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
            self.addCleanup(self.end_all, job)
            child = self.limited_child(job, len(data))
            os.kill(child, signal.SIGXCPU)
            err = job.communicate(timeout=HANG)[1]
            self.assertEqual(job.returncode, 2)
            self.assertEqual(err, f"regatta: {path} is damaged: HDF5 reads it without end\n")
        job = subprocess.Popen([REGATTA, "info", path], env=environment(), stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
        self.addCleanup(self.end_all, job)
        os.kill(self.limited_child(job, len(data)), signal.SIGKILL)  # as the system does where memory is short
        self.assertEqual(job.communicate(timeout=HANG)[1],
                         f"regatta: {path} can't be read: its reader was killed, as where memory is short\n")
        self.assertEqual(job.returncode, 2)
        for number in (signal.SIGALRM, signal.SIGKILL):  # its limit by the clock; the end of its parent
            job = subprocess.Popen([REGATTA, "info", path], env=environment(), stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
            self.addCleanup(self.end_all, job)
            child = self.limited_child(job, len(data))
            os.kill(child if number == signal.SIGALRM else job.pid, number)
            err = job.communicate(timeout=HANG)[1]
            self.assertEqual(job.returncode, 2 if number == signal.SIGALRM else -number)
            self.assertEqual(err, f"regatta: {path} can't be read: its file system does not answer\n"
                             if number == signal.SIGALRM else "")
            self.assertTrue(wait_until(lambda: not is_alive(child)), "the child goes on without its parent")

    def end_all(self, job):
        """The command and its child, which a failed test would leave behind."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()

    def limited_child(self, job, size):
        """The child of the command, as soon as it has the limit for a file of this size and computes."""
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children")
        limit = rf"^Max cpu time +{120 + -(-size // 1000000)} "

        def limited():
            return [int(child) for child in children.read_text().split()
                    if re.search(limit, pathlib.Path(f"/proc/{child}/limits").read_text(), re.M)]
        if not wait_until(limited, job):
            self.end_all(job)
            self.fail(f"no child of the command has the limit: {job.communicate()[1]}")
        return limited()[0]

    def test_hidden_groups(self):
        """Groups that are gone or can't be opened are damage, not fewer trials."""
        for n, groups in ((1, ["branin"]), (2, ["branin", "gp_path"])):
            path = self.folder / "hidden.h5"
            shutil.copy(self.good, path)
            with h5py.File(path, "r+") as file:
                for group in groups:
                    del file[group]
            self.refuses(f"gone_{n}.h5", path.read_bytes(), says="damaged: it should have")
        shutil.copy(self.good, path)
        with h5py.File(path, "r+") as file:
            del file["branin"].attrs["problem_label"]
        self.refuses("no_label.h5", path.read_bytes(), says="damaged: it should have")
        with h5py.File(self.good) as file:
            address = h5py.h5o.get_info(file["branin"].id).addr
        data = bytearray(self.bytes[:-32])  # without the trailer: any other program may have written it
        data[address:address + 16] = b"\xff" * 16
        self.refuses("unopened.h5", bytes(data), says="damaged")

    def test_newer_schema(self):
        path = self.folder / "newer.h5"
        shutil.copy(self.good, path)
        with h5py.File(path, "r+") as file:
            file.attrs.modify("schema_version", file.attrs["schema_version"] + 1)
        self.refuses("newer.h5", path.read_bytes(), says="schema", all_commands=True)

    def test_flipped_bytes(self):
        """Changed bytes of a results file: no command uses a value that was not written."""
        positions = random.Random(20241121)
        path = self.folder / "flipped.h5"
        merged = self.folder / "merged.h5"
        found = 0
        for _ in range(FLIPS):
            data = bytearray(self.bytes)
            data[positions.randrange(len(data))] ^= positions.randrange(1, 256)
            path.write_bytes(data)
            code, err = self.call("verify", path, "-no-rerun")
            self.assertEqual(code, 3, err)
            found += "flipped.h5" in err
            for command in ("status", "info"):
                self.call(command, path)
            code, out, _ = regatta("checksum", path)
            self.tried += 1
            if code == 0:
                self.assertEqual(out.split()[0], self.expected)
            code, _ = self.call("merge", path, self.good, "-o", merged)
            if code == 0:
                self.assertEqual(self.checksum(merged), self.expected)
                merged.unlink()
            code, _ = self.call("run", self.study, "-o", path, "-quiet")
            if code == 0:
                self.assertEqual(self.checksum(path), self.expected)
        self.assertEqual(found, FLIPS)
        print(f"{FLIPS} flipped bytes, each found by verify; {self.tried} commands")

    def test_another_study(self):
        other = self.write("other.yaml", TEXT.replace("study: smoke", "study: smog"))
        code, err = self.call("run", other, "-o", self.good)
        self.assertEqual(code, 2)
        self.assertIn("holds study 'smoke', not 'smog'", err)
        self.assertEqual(self.good.read_bytes(), self.bytes)


class DamagedShards(RegattaTest):
    """A stopped study whose shards are spoilt: set aside, named, their trials run again."""
    SEEDS = "seeds: 60" if LONG else "seeds: 16"

    def setUp(self):
        super().setUp()
        self.study = self.write("smoke.yaml", TEXT.replace("seeds: 2", self.SEEDS))
        self.output = self.folder / "out.h5"
        self.directory = self.folder / "out.h5.d"
        reference = self.folder / "reference.h5"
        self.run_ok("run", self.study, "-o", reference, "-quiet", ranks=2)
        self.expected = self.checksum(reference)
        self.shards = self.stopped_study(self.study, self.output, 2, ranks=3)
        self.kept = self.folder / "kept"
        shutil.copytree(self.directory, self.kept)

    def spoil(self, data):
        """One shard becomes `data`; everything else must come out as if nothing had happened."""
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.copytree(self.kept, self.directory)
        victim = self.shards[0]
        victim.write_bytes(data)
        self.refused("checksum", self.directory, says="1 damaged")
        for command, expected in (("status", 75), ("verify", 3), ("info", None)):
            code, _, err = regatta(command, self.directory)
            self.assertIn(code, (expected,) if expected else (0, 2, 3), err)
        self.assertEqual(victim.read_bytes(), data, "only a run may move a shard")
        code, out, err = regatta("run", self.study, "-o", self.output, "-quiet")
        self.assertEqual(code, 0, err)
        self.assertIn("1 damaged shard moved to", err)
        self.assertIn(victim.name, err)
        self.assertEqual((self.directory / "bad" / victim.name).read_bytes(), data)
        self.assertEqual(self.checksum(self.output), self.expected)
        self.output.unlink()

    def test_shards(self):
        good = self.shards[0].read_bytes()
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        ways = [b"", good[:100], good[:-1], bytes(flipped)] if LONG else [b"", good[:-1], bytes(flipped)]
        for data in ways:
            self.spoil(data)
        print(f"{len(ways)} damaged shards: set aside, recomputed, same bits")

    def test_shard_of_another_study(self):
        """Foreign trials are kept, put aside, never mixed in."""
        other = self.write("other.yaml", TEXT.replace("seed: 7", "seed: 8").replace("seeds: 2", self.SEEDS))
        foreign = self.stopped_study(other, self.folder / "other.h5", ranks=3)[0]
        shutil.copy(foreign, self.directory)
        self.run_ok("run", self.study, "-o", self.output, "-quiet")
        self.assertEqual(self.checksum(self.output), self.expected)
        kept = list(self.directory.rglob(foreign.name))
        self.assertEqual([path.read_bytes() for path in kept], [foreign.read_bytes()])
