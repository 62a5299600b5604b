"""The program itself with a file call gone wrong: exit code 0, 3 or killed; then the same command
again gives the same checksum and leaves nothing behind.

REGATTA_PROGRAM, FAULT_SHIM: what to run. REGATTA_LONG=1: every call, else a sample."""
import os
import pathlib
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
FAULTS = [("die", 0), ("torn", 0), ("lost", 0), ("zeroed", 0), ("ENOSPC", 0), ("EDQUOT", 0),
          ("EIO", 0), ("short", 1)]
SAMPLE = 3
KILLED = -9


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.study = folder / "study.yaml"
        self.study.write_text(STUDY)
        self.directory = folder / "results"
        self.output = self.directory / "out.h5"
        self.program = os.environ["REGATTA_PROGRAM"]

    def clean(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()

    def run(self, *arguments, **faults):
        env = dict(os.environ)
        if faults:
            env["LD_PRELOAD"] = os.environ["FAULT_SHIM"]
            env["REGATTA_FAULT_PREFIX"] = str(self.directory)
            env.update({f"REGATTA_FAULT_{name.upper()}": str(v) for name, v in faults.items()})
        return subprocess.run([self.program, *map(str, arguments)], env=env, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL)

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
        """What went wrong, or None."""
        self.clean()
        first = self.study_run(call=call, action=action, forever=forever)
        if first.returncode not in (0, 3, KILLED):
            return f"exit code {first.returncode}: {first.stderr}"
        if "HDF5-DIAG" in first.stderr or "PETSC ERROR" in first.stderr:
            return f"a stack of errors: {first.stderr}"
        if first.returncode == 3 and not first.stderr.startswith("regatta: "):
            return f"no message: {first.stderr!r}"
        again = self.study_run()
        if again.returncode != 0:
            return f"the next run ended with {again.returncode}: {again.stderr}"
        if self.checksum() != expected:
            return "the results differ"
        if os.listdir(self.directory) != ["out.h5"]:
            return f"left behind: {os.listdir(self.directory)}"
        return None


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
        bench = Bench(pathlib.Path(folder))
        calls = bench.count_calls()
        expected = bench.checksum()
        assert calls > 20 and expected, "the undisturbed run"
        step = 1 if os.environ.get("REGATTA_LONG") else -(-calls // SAMPLE)
        for number, (action, forever) in enumerate(FAULTS):
            for call in range(1 + number * (step // 3 + 1) % step, calls + 1, step):
                problem = bench.try_fault(action, forever, call, expected)
                passed += problem is None
                failed += problem is not None
                if problem:
                    print(f"FAILED {action} at call {call} of {calls}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
