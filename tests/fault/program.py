"""The program itself with a file call gone wrong: exit code 0, 3 or killed; then the same command
again gives the same checksum, leaves nothing behind, and has asked no costly objective twice. Faults in the folder of
kept optima make no difference.

REGATTA_PROGRAM, FAULT_SHIM: what to run. REGATTA_LONG=1: every call, else a sample."""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STUDY = """study: fault
seed: 7
seeds: 3
common: {iterations: 10, initial_points: 4, noise_variance: 1.0e-4}
problems: [branin]
algorithms: [random, gp_ucb]
"""
# An objective that is a program: it notes every question that it is asked.
EXTERNAL = """study: fault
seed: 7
seeds: 2
common: {{iterations: 3, initial_points: 3}}
problems: [{{name: external, program: {python}, arguments: [{evaluator}, "--calls", {calls}],
            inputs: [a real 0 1, n integer 1 9], optimum: 0}}]
algorithms: [random]
"""
# An optimum that is searched for, a third of a second, and kept (it would not be below a tenth): faults
# in the folder of such optima.
SEARCHED = """study: fault
seed: 7
seeds: 1
common: {iterations: 3, initial_points: 3}
problems: [{name: gp_path_box, features: 750}]
algorithms: [random]
"""
EVALUATOR = pathlib.Path(__file__).resolve().parents[1] / "integration" / "evaluator.py"
EXTERNAL_FAULTS = [("die", 0), ("lost", 0), ("ENOSPC", 0), ("short", 0)]
SEARCHED_FAULTS = [("torn", 0), ("lost", 0), ("zeroed", 0), ("ENOSPC", 1), ("EIO", 1)]
FAULTS = [("die", 0), ("torn", 0), ("lost", 0), ("zeroed", 0), ("ENOSPC", 0), ("EDQUOT", 0),
          ("EIO", 0), ("short", 1)]
# fopen, for tables that commands like `bounds` write, is not among them: it stores no results.
CHANGES = {name + size for size in ("", "64") for name in (
    "open", "openat", "creat", "write", "pwrite", "writev", "pwritev", "truncate", "ftruncate",
    "fallocate", "posix_fallocate", "fsync", "fdatasync", "sync_file_range", "copy_file_range",
    "sendfile", "close", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "unlink",
    "unlinkat", "remove", "mkdir", "mkdirat", "rmdir", "mkstemp", "mkdtemp")}
KILLED = -9


class Bench:
    def __init__(self, folder, text):
        self.folder = folder
        self.calls = folder / "calls"
        self.study = folder / "study.yaml"
        self.study.write_text(text.format(python=sys.executable, evaluator=EVALUATOR, calls=self.calls)
                              if "{evaluator}" in text else text)
        self.directory = folder / "results"
        self.output = self.directory / "out.h5"
        self.target = self.directory  # where faults happen
        if text is SEARCHED:
            self.target = self.directory / "out.h5.d" / "optima"
        self.sample = 2 if text is EXTERNAL else 1  # faults of each kind
        self.codes = (0, KILLED) if text is SEARCHED else (0, 3, KILLED)
        self.program = os.environ["REGATTA_PROGRAM"]

    def clean(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        self.calls.unlink(missing_ok=True)

    def run(self, *arguments, **faults):
        env = dict(os.environ)
        if faults:
            env["LD_PRELOAD"] = os.environ["FAULT_SHIM"]
            env["REGATTA_FAULT_PREFIX"] = str(self.target)
            env.update({f"REGATTA_FAULT_{name.upper()}": str(v) for name, v in faults.items()})
        return subprocess.run([self.program, *map(str, arguments)], env=env, capture_output=True,
                              text=True, timeout=1800, stdin=subprocess.DEVNULL)

    def study_run(self, **faults):
        return self.run("run", self.study, "-o", self.output, "-quiet", **faults)

    def checksum(self):
        return self.run("checksum", self.output).stdout.split()[:1]

    def count_calls(self):
        self.clean()
        counter = self.folder / "count"
        self.study_run(call=0, action="none", count=counter)
        return int(counter.read_text())

    def try_fault(self, action, forever, call, expected):
        """The first mistake, or None."""
        self.clean()
        first = self.study_run(call=call, action=action, forever=forever)
        if first.returncode not in self.codes:
            return f"exit code {first.returncode}: {first.stderr}"
        if "HDF5-DIAG" in first.stderr or "PETSC ERROR" in first.stderr:
            return f"a stack of errors: {first.stderr}"
        if first.returncode == 3 and not first.stderr.startswith("regatta: "):
            return f"no message: {first.stderr!r}"
        said = self.contradiction(first.returncode)
        if said:
            return said
        again = self.study_run()
        if again.returncode != 0:
            return f"the next run ended with {again.returncode}: {again.stderr}"
        if self.checksum() != expected:
            return "the results differ"
        if os.listdir(self.directory) != ["out.h5"]:
            return f"left behind: {os.listdir(self.directory)}"
        return self.asked_twice(first.returncode == KILLED)

    def contradiction(self, code):
        """A word of `status` against the run's; `verify` calls all trials complete also where the file is not written."""
        status = self.run("status", self.output)
        done = re.search(r"\((\d+) of (\d+) trials", status.stdout)
        if code == 0 and status.returncode:
            return f"the run ended with 0, status with {status.returncode}: {status.stdout}"
        if "incomplete" in status.stdout and done and done[1] == done[2]:
            return f"status: {status.stdout}"
        return None

    def asked_twice(self, killed):
        """A question with a known answer; the one in flight when the run was killed may be
        asked again."""
        if not self.calls.exists():
            return None
        counts = collections.Counter(tuple(line.split()[1:])
                                     for line in self.calls.read_text().splitlines())
        again = {question: n for question, n in counts.items() if n > 1}
        if len(again) > killed or any(n > 2 for n in again.values()):
            return f"asked again: {again}"
        return None

    def enumerate(self, faults):
        """Numbers of faults survived and not survived."""
        passed = failed = 0
        calls = self.count_calls()
        expected = self.checksum()
        assert calls > 5 and expected, "the undisturbed run"
        step = 1 if os.environ.get("REGATTA_LONG") else -(-calls // self.sample)
        for number, (action, forever) in enumerate(faults):
            for call in range(1 + round(0.618 * (number + 1) * step) % step, calls + 1, step):
                problem = self.try_fault(action, forever, call, expected)
                passed += problem is None
                failed += problem is not None
                if problem:
                    print(f"FAILED {action} at call {call} of {calls}: {problem}")
        print(f"{calls} file calls, {passed + failed} faults")
        return passed, failed


def uncounted():
    """Calls by which the program could change a file and which the shim does not see."""
    if not shutil.which("nm"):
        return set()

    def names(option, path):
        out = subprocess.run(["nm", "-D", option, path], capture_output=True, text=True, check=True)
        return {line.split()[-1].partition("@")[0] for line in out.stdout.splitlines()}
    return (names("--undefined-only", os.environ["REGATTA_PROGRAM"]) & CHANGES
            - names("--defined-only", os.environ["FAULT_SHIM"]))


def main():
    passed, failed = 0, len(uncounted())
    if failed:
        print(f"FAILED the program calls {', '.join(uncounted())}, which the shim does not count")
    for text, faults in ((STUDY, FAULTS), (EXTERNAL, EXTERNAL_FAULTS),
                         (SEARCHED, SEARCHED_FAULTS)):
        with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
            survived, lost = Bench(pathlib.Path(folder), text).enumerate(faults)
            passed += survived
            failed += lost
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
