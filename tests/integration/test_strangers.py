"""Files of strangers are only data: what a study file, a results file or a study directory can make a command do."""
import ctypes
import os
import pathlib
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys

import h5py
import numpy as np

from read_everywhere import load_xxh3
from regatta_test import HERE, LONG, REGATTA, RegattaTest, environment, regatta

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

    def test_bombs(self):
        """Few bytes that stand for huge columns: compressed zeros, or fill values without data."""
        def stretch(file, axis, n):
            def again(name, dataset):
                if not isinstance(dataset, h5py.Dataset) or dataset.dims[0].label or not dataset.dims[0]:
                    return
                at = [dims[0].name.rsplit("/", 1)[1] for dims in dataset.dims]
                if axis in at:
                    stretched[dataset.name] = [n if name == axis else size for name, size in zip(at, dataset.shape)]
            stretched, group = {f"/branin/{axis}": [n]}, file["branin"]
            group.visititems(again)
            for name, shape in stretched.items():
                old = file[name]
                text, fill = old.dtype.kind == "O", old[(0,) * old.ndim]
                chunks = tuple(1 << 16 if size == n else 1 for size in shape)
                attributes = {key: value for key, value in old.attrs.items()
                              if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME")}
                del file[name]
                made = file.create_dataset(name, shape, h5py.string_dtype() if text else old.dtype, chunks=chunks,
                                           compression="gzip", fillvalue=fill)
                if len(shape) > 1:
                    made[:2, :100] = 0
                made.attrs.update(attributes)
            file[f"branin/{axis}"].make_scale(axis)

        for axis, n, says in (("iteration", 10 ** 9, "which is far more than the file has"),
                              ("trial", 10 ** 8, "100000000 trials don't fit into a file of this size")):
            path = self.folder / f"{axis}_bomb.h5"
            shutil.copy(self.good, path)
            with h5py.File(path, "r+") as file:
                stretch(file, axis, n)
                if axis == "iteration":
                    file["branin/n_iterations"][...] = n
                else:
                    file.attrs["n_trials"] = n
            self.assertLess(path.stat().st_size, 10 ** 7)
            self.refuse(path, says)

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


    def replaced(self, file, name, **made):
        attributes = {key: value for key, value in file[name].attrs.items() if key != "DIMENSION_LIST"}
        del file[name]
        for key, value in attributes.items():
            file.require_dataset(name, **made).attrs[key] = value

    def contents(self, file):
        """Files that lead outside by their contents: for each, the change, and the message of Python."""
        def huge(name, shape, **how):
            return lambda: self.replaced(file, name, shape=shape, dtype="f8", **how)

        def said(name, value, place=file):
            return lambda: place.attrs.create(name, value)
        group, bomb = file["branin"], "a0: &a0 [x]\n"
        bomb += "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 12))
        return {
            "terminal": lambda: group.create_dataset("a\x1b[2J\nb", data=np.zeros((2, 6)), compression="lzf"),
            "link": lambda: file.__setitem__("a\x1b[2J\nb", h5py.SoftLink("/x\n\x1b[2J")),
            "label": said("problem_label", "a\x1b[2J\nb\x9b2J", group),
            "bytes": lambda: group["algorithm"].write_direct(np.array([b"\xff\xfe\x9b2J", b"a\nb"], dtype=object)),
            "chunk": huge("branin/y", (2, 6), maxshape=(None, None), chunks=(2, 1 << 27), compression="gzip"),
            "trials": huge("branin/trial", (10 ** 8,), chunks=(10 ** 6,)),
            "rows": huge("branin/iteration", (10 ** 9,), chunks=(10 ** 6,)),
            "references": lambda: self.replaced(file, "branin/y", shape=(2, 6), dtype=h5py.ref_dtype),
            "compound": lambda: self.replaced(file, "branin/id", shape=(2,), dtype=np.dtype(
                [("a", "f8"), ("b", h5py.string_dtype())])),
            "negative": lambda: group["n_iterations"].write_direct(np.array([-1, 2 ** 31 - 1], "i4")),
            "words": lambda: self.replaced(file, "branin/n_initial", shape=(2,), dtype="S5"),
            "generation": lambda: group["provenance"].create_dataset("generation", data=np.array([2 ** 31 - 1, -5], "i4")),
            "version": said("schema_version", -1),
            "cycle": lambda: [group.__setitem__("again", file["/"]), file.__setitem__("earlier", file["/"])],
            "study, deep": said("study", "study: " + "[" * 60000),
            "study, aliases": said("study", bomb),
            "study, bytes": said("study", b"study: \xff\xfe\x1b[2J\n"),
            "timeline": lambda: group["provenance"].create_dataset(
                "timeline", data=["1 end 0 0 1 0 0\n", "1 lost 1 1 999999999 0 0\n"], dtype=h5py.string_dtype()),
            "times": lambda: [group["provenance/" + name].write_direct(np.array([np.nan, np.inf])) for name in
                              ("started", "wall")],
        }

    def test_hostile_contents(self):
        """Results or one line, no signal, no control characters, little memory; whether or not the trailer was forged."""
        found, merged, xxh3 = [], self.folder / "merged.h5", load_xxh3()
        with h5py.File(self.good, "r") as file:
            names = list(self.contents(file))
        for turn, name in enumerate(names):
            path = self.folder / f"hostile {turn}.h5"
            path.write_bytes(Results.made[:-32])
            with h5py.File(path, "r+") as file:
                self.contents(file)[name]()
            if xxh3 and turn % 2:
                data, mark = path.read_bytes(), Results.made[-32:-24]
                sums = xxh3(data)
                path.write_bytes(data + mark + struct.pack("<3Q", len(data), sums.low, sums.high))
            found.append(path)
            commands = [("info",), ("verify",), ("merge", "-o", merged), ("status",), ("checksum",), ("run", self.study, "-quiet", "-o")]
            for command in commands if LONG else (commands[turn % 6], commands[(turn + 1) % 6]):
                where = 1 if command[0] == "merge" else len(command)
                code, out, err = regatta(*command[:where], path, *command[where:])
                about = f"{command[0]}, {name}: {code} {out}{err}"
                self.assertIn(code, (0, 2, 3, 75), about)
                self.assertLessEqual(len(err.splitlines()), 1, about)
                self.assertTrue(err or code in (0, 75) or "damaged" in out, about)
                self.assertNotRegex(out + err, "[\x00-\x08\x0b-\x1f\x7f-\x9f]", about)
                self.assertEqual(merged.exists(), command[0] == "merge" and code == 0, about)
                merged.unlink(missing_ok=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak, 1 << 20, "KiB")
        done = subprocess.run([sys.executable, "-c", LOOK, *found], env=dict(environment(), PYTHONPATH=str(ROOT / "analysis")),
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-500:])
        for name, path in zip(names, found):
            if name in ("negative", "words", "terminal", "link"):
                self.assertIn(f"refused: {path}: ", done.stdout)


class Opened:
    """Counts how often files are opened, by anyone."""
    OPEN, NONBLOCK = 0x20, 0o4000  # of inotify

    def __init__(self, *paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = libc.inotify_init1(self.NONBLOCK)
        for path in paths:
            assert libc.inotify_add_watch(self.events, os.fsencode(path), self.OPEN) >= 0, path

    def count(self):
        try:
            return len(os.read(self.events, 1 << 16)) // 16
        except BlockingIOError:
            return 0

    def close(self):
        os.close(self.events)


DATA = """study: strange
seeds: 2
common: {{iterations: 2, initial_points: 2, given: {0}given.csv, workers: 2, duration: recorded {0}times.h5}}
problems: [{{name: dataset, path: {0}table.csv, objective: y}}]
algorithms: [random, ei]
"""


class Data(RegattaTest):
    """Data that the study in a results file names are opened if they stand beside it or in REGATTA_DATA. Several cells
    name them."""
    names = ("table.csv", "given.csv", "times.h5")

    def setUp(self):
        super().setUp()
        os.environ.pop("REGATTA_DATA", None)
        self.data, self.here = self.folder / "data", self.folder / "here"
        self.data.mkdir()
        self.here.mkdir()
        rows = [f"{k % 4},{k // 4},{k * k % 7}" for k in range(12)]
        (self.data / "table.csv").write_text("\n".join(["x1,x2,y", *rows]) + "\n")
        (self.data / "given.csv").write_text("\n".join(["x1,x2", "1,1", "2,0"]) + "\n")
        timed = DATA.format("").replace("recorded times.h5", '"uniform(1, 2)"')
        self.study = self.data / "timed.yaml"
        self.study.write_text(timed)
        self.run_ok("run", self.study, "-o", self.data / "times.h5", "-quiet")

    def results(self, folder):
        """A results file in `here`, made when `folder` had the data."""
        output = self.here / "out.h5"
        output.unlink(missing_ok=True)
        self.study = self.here / "study.yaml"
        self.study.write_text(DATA.format(folder))
        self.run_ok("run", self.study, "-o", output, "-quiet")
        return output

    def ask(self, path, opened, refused):
        """Every command that takes a results file, and Python."""
        merged = self.folder / "merged.h5"
        for command in (("info",), ("status",), ("checksum",), ("verify", "-no-rerun"), ("verify", "-all"),
                        ("merge", "-o", merged)):
            code, out, err = regatta(command[0], path, *command[1:])
            about = f"{' '.join(map(str, command))}: {out}{err}"
            lines = err.splitlines() if refused and command[0] not in ("checksum", "info") else []
            self.assertEqual(code, 2 if lines and command[0] == "verify" else 0, about)
            if command[0] == "merge":
                out, lines = out + err, lines and ["merge"]
                merged.unlink()
            else:
                self.assertEqual(err.splitlines(), lines, about)
            self.assertEqual(len(lines), int(refused and command[0] not in ("checksum", "info")), about)
            if lines:
                self.assertIn("data not opened", out + err, about)
                self.assertIn("REGATTA_DATA", out + err, about)
                for name in self.names:
                    self.assertIn(name, out + err, about)
            self.assertEqual(opened.count() == 0, refused or command[0] in ("checksum", "info"), about)
        done = subprocess.run([sys.executable, "-c", PAGE, path], capture_output=True, text=True, check=True,
                              env=dict(environment(), PYTHONPATH=str(ROOT / "analysis"), REGATTA=REGATTA))
        self.assertEqual(" 4\n" in done.stdout, not refused, done.stdout + done.stderr)
        self.assertEqual(opened.count() == 0, refused, "Python")

    def test_data_of_a_results_file(self):
        def away(name, how):
            (self.here / name).unlink(missing_ok=True)
            if how == "copy":
                shutil.copy(self.data / name, self.here / name)
            elif how == "link":
                (self.here / name).symlink_to(self.data / name)
            elif how == "pipe":
                os.mkfifo(self.here / name)

        for folder in (f"{self.data}/", "../data/"):
            path = self.results(folder)
            opened = Opened(*(self.data / name for name in self.names))
            self.ask(path, opened, refused=True)
            os.environ["REGATTA_DATA"] = str(self.data)
            self.ask(path, opened, refused=False)
            del os.environ["REGATTA_DATA"]
            opened.close()
        for name in self.names:
            away(name, "copy")
        path = self.results("")
        for how, refused in (("copy", False), ("link", True), ("pipe", True), ("none", True)):
            for name in self.names:
                away(name, how)
            watched = [folder / name for folder in (self.data, self.here) for name in self.names]
            opened = Opened(*filter(pathlib.Path.exists, watched))
            os.chdir(self.data)  # has data of these names, and is not where the results are
            self.ask(path, opened, refused)
            os.chdir("/")
            opened.close()
        (self.here / "sub").symlink_to(self.data)
        path = self.results("sub/")
        opened = Opened(*(self.data / name for name in self.names))
        self.ask(path, opened, refused=True)
        opened.close()


METHOD = """#!{python}
import json, pathlib, sys
pathlib.Path({mark!r}).touch()
for line in sys.stdin:
    request = json.loads(line)
    answer = {{"id": request["id"], "protocol": 1}}
    if request["do"] == "ask":
        answer["x"] = {{"x1": 1.0, "x2": 2.0}} if isinstance(request.get("x"), dict) else [1.0, 2.0]
    print(json.dumps(answer), flush=True)
"""
MIXED = """study: strange
seed: 3
seeds: 2
common: {{iterations: 2, initial_points: 2}}
problems: [branin]
algorithms:
  - random
  - {{label: mine, name: external, program: {program}, arguments: ["two words", x]}}
"""
PAGE = """import sys
import regatta_analysis as ra
from regatta_analysis.load import program
results = ra.load(sys.argv[1])
print(results.counts(), sum(c["trials"] for c in program.planned(results.study, results.path.parent) or ()))
"""


class Programs(RegattaTest):
    """A file starts nothing unless the user says so."""

    def test_the_table_of_the_documentation(self):
        """It has every command, and says of each what is tested below."""
        text = (ROOT / "docs" / "reliability.md").read_text().split("## What files of strangers can do")[1]
        rows = [line.split("|")[1:4] for line in text.split("\n## ")[0].splitlines() if line.startswith("| `")]
        starts = {name: row[1].strip() for row in rows for name in re.findall(r"`(\w+)`", row[0])}
        commands = re.findall(r"^  (\w+)  ", self.run_ok("help").split("\n\n")[2], re.M)
        self.assertEqual(sorted(starts), sorted(commands))
        self.assertEqual({name for name in starts if starts[name] != "none"},
                         {"run", "plan", "eval", "serve", "verify"})
        self.assertIn("`-allow-programs`", starts["verify"])
        reads = {name: row[2].strip() for row in rows for name in re.findall(r"`(\w+)`", row[0])}
        self.assertEqual({name for name in reads if reads[name].startswith(("as `info`", "data below its folder"))},
                         {"info", "status", "verify", "merge"})  # these, and Python: class Data
        self.assertEqual({name for name in reads if reads[name] == "none"},
                         {"checksum", "list", "describe", "version", "new", "help"})
        self.assertIn("`-quick` none", starts["plan"])

    def test_a_results_file_starts_nothing(self):
        mark, program = self.folder / "mark", self.folder / "mine.py"
        program.write_text(METHOD.format(python=sys.executable, mark=str(mark)))
        program.chmod(0o755)
        study, output = self.write("study.yaml", MIXED.format(program=program)), self.folder / "out.h5"
        says = f"this study starts programs: {program} 'two words' x (algorithm mine)"
        for command in (("plan", study, "-quick"), ("plan", study), ("run", study, "-o", output)):
            mark.unlink(missing_ok=True)
            code, out, err = regatta(*command)
            self.assertEqual((code, err.count(says)), (0, 1), out + err)
            self.assertEqual(mark.exists(), "-quick" not in command, command)
        mark.unlink()
        merged = self.folder / "merged.h5"
        for command in ("info", "status", "checksum", "verify", "verify -all", "verify -no-rerun", "verify -sample 1"):
            name, *options = command.split()
            code, out, err = regatta(name, output, *options)
            refuses = name == "verify" and "-no-rerun" not in options
            self.assertEqual(code, 2 if refuses and options else 0, f"{command}: {out}{err}")
            self.assertEqual(f"programs: {program} 'two words' x (algorithm mine)" in err, refuses, err)
            self.assertEqual(len(err.splitlines()), int(refuses), err)
            if refuses:
                self.assertIn("-allow-programs", err)
                self.assertRegex(out, "run again: [12] trials?, [12] equal")  # those of the built-in method
            self.assertFalse(mark.exists(), command)
        self.run_ok("merge", output, "-o", merged)
        self.run_ok("plan", study, "-o", output, "-quick")
        done = subprocess.run([sys.executable, "-c", PAGE, output], capture_output=True, text=True, check=True,
                              env=dict(environment(), PYTHONPATH=str(ROOT / "analysis"), REGATTA=REGATTA))
        self.assertIn("'done': 4", done.stdout)
        self.assertIn("4\n", done.stdout)
        self.assertFalse(mark.exists())
        self.assertIn("4 equal in every bit", self.run_ok("verify", output, "-all", "-allow-programs"))
        self.assertTrue(mark.exists())


SWAP = """#!{python}
import json, os, pathlib, sys
folder, away, at = map(pathlib.Path, sys.argv[1:4])
for line in sys.stdin:
    question = json.loads(line)
    print("a line for the log", file=sys.stderr, flush=True)
    done = at.parent / f"swapped {{folder.name}}"
    if question["id"] == 4 and not done.exists():
        done.touch()
        folder.parent.mkdir(exist_ok=True)
        if folder.exists():
            folder.rename(away)
        folder.symlink_to(at)
    print(json.dumps({{"id": question["id"], "value": question["x"]["a"]}}), flush=True)
"""
PROGRAM = """study: strange
seed: 3
seeds: 3
common: {{iterations: 4, initial_points: 3}}
problems: [{{name: external, program: {program}, arguments: [{folder}, {away}, {at}], inputs: [a real 0 1]}}]
algorithms: [random]
"""
SEARCHED = """study: strange
seed: 3
seeds: 2
common: {iterations: 2, initial_points: 3}
problems: [{name: gp_path_box, features: 40}]
algorithms: [random]
"""
# What a study directory has: names of its folders, and a file that each may have.
FOLDERS = {"optima": f"{0:032x}.optimum", "log": "host-0.txt", "bad": f"0-{0:032x}.h5",
           "foreign": f"0-{0:032x}.h5", "evaluations": f"{0:032x}.0.log", "answers": f"{0:032x}.0.log",
           "timeline": f"{0:032x}.0.log"}


class StudyDirectory(RegattaTest):
    """Links inside OUT.h5.d, and in its place: nothing elsewhere is read, changed or removed."""

    def setUp(self):
        super().setUp()
        self.output, self.directory = self.folder / "out.h5", self.folder / "out.h5.d"
        self.precious = self.folder / "precious"
        self.fill(self.precious)

    def fill(self, folder):
        """A folder of files with all the names that Regatta gives, and others."""
        folder.mkdir(parents=True)
        for name in ("notes.txt", *FOLDERS.values(), f"{socket.gethostname()}-0.txt", ".tmp.host.0123456789abcdef.9.0"):
            (folder / name).write_text(f"the user's {name}")
        for name in FOLDERS:
            (folder / name).mkdir()
            (folder / name / FOLDERS[name]).write_text(f"the user's {name}")
        self.before = self.contents(folder)

    def contents(self, folder):
        return {path.relative_to(folder): path.is_file() and (path.read_bytes(), path.stat().st_mtime_ns)
                for path in folder.rglob("*")}

    def expect_untouched(self, about):
        self.assertEqual(self.contents(self.precious), self.before, about)

    def test_links_from_the_start(self):
        """A run starts nothing where a link stands; the commands that only read do not follow it."""
        study = self.write("study.yaml", SEARCHED)
        for k, name in enumerate((None, *FOLDERS, f"0-{1:032x}.h5", "STOP", ".tmp.host.0123456789abcdef.9.0")):
            for target in (self.precious, self.precious / "notes.txt")[0 if LONG else k % 2:][:2 if LONG else 1]:
                link = self.directory / name if name else self.directory
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)
                self.refused("run", study, "-o", self.output, "-quiet",
                             says="STOP" if name == "STOP" else "is a symbolic link")
                self.expect_untouched(link)
                link.unlink()
            shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.symlink_to(self.precious)
        for command in ("info", "status", "checksum", "verify"):
            self.refused(command, self.output)
        self.expect_untouched("commands that read")

    def test_links_inside_folders(self):
        """A file that Regatta would write or read is a link: it is replaced, or left alone."""
        study = self.write("study.yaml", SEARCHED)
        for name, file in FOLDERS.items():
            (self.directory / name).mkdir(parents=True)
            (self.directory / name / file).symlink_to(self.precious / file)
        (self.directory / "log" / f"{socket.gethostname()}-0.txt").symlink_to(self.precious / "notes.txt")
        (self.directory / "optima" / "notes.txt").write_text("the user's")
        self.run_ok("run", study, "-o", self.output, "-quiet")
        self.expect_untouched("links inside folders")
        self.assertEqual((self.directory / "optima" / "notes.txt").read_text(), "the user's")

    def test_links_that_come_meanwhile(self):
        """The problem itself puts the link there, between two evaluations."""
        program = self.write("swap.py", SWAP.format(python=sys.executable))
        program.chmod(0o755)
        for name in (None, *FOLDERS):
            folder = self.directory / name if name else self.directory
            study = self.write("study.yaml", PROGRAM.format(program=program, folder=folder,
                                                            away=self.folder / "away", at=self.precious))
            code, out, err = regatta("run", study, "-o", self.output, "-quiet")
            needed = name in (None, "evaluations", "foreign")
            self.assertEqual(code, 3 if needed else 0, f"{name}: {out}{err}")
            self.expect_untouched(f"{name} while it runs")
            if folder.is_symlink():
                folder.unlink()
            if (self.folder / "away").exists():
                (self.folder / "away").rename(folder)
            if needed:  # nothing that was logged is asked again
                self.run_ok("run", study, "-o", self.output, "-quiet")
            shutil.rmtree(self.directory, ignore_errors=True)
            self.output.unlink()
