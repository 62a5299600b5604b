"""A study and its extension at once on one output, where the disk is slow in one of them: whoever
packs last, the file never has fewer trials than a run has reported.

REGATTA_PROGRAM, FAULT_SHIM: what to run."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py

STUDY = """study: plans
seed: 7
seeds: {seeds}
common: {{iterations: 4, initial_points: 3}}
problems: [branin]
algorithms: [random, ei]
"""
SLOW_MS = 3000


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.output = folder / "out.h5"

    def start(self, seeds, slow=None):
        study = self.folder / f"seeds{seeds}.yaml"
        study.write_text(STUDY.format(seeds=seeds))
        env = dict(os.environ)
        if slow:  # only the results file on its way, not the shards
            env.update(LD_PRELOAD=os.environ["FAULT_SHIM"], REGATTA_FAULT_SLOW=slow,
                       REGATTA_FAULT_SLOW_MS=str(SLOW_MS),
                       REGATTA_FAULT_PREFIX=f"{self.folder}/.tmp.")
        return subprocess.Popen([os.environ["REGATTA_PROGRAM"], "run", str(study), "-o",
                                 str(self.output)], env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)

    def wait_for_packing(self, job):
        while not list(self.folder.glob(".tmp.*")):
            if job.poll() is not None:
                return
            time.sleep(0.005)

    def trials(self):
        if not self.output.exists():
            return 0
        with h5py.File(self.output) as file:
            return int(file.attrs["n_trials"])


def mistakes(folder, slow, earlier):
    bench = Bench(folder)
    if earlier and bench.start(1).wait(60):
        return ["the first run failed"]
    short = bench.start(2, slow)
    bench.wait_for_packing(short)
    long = bench.start(5)
    said = long.communicate(timeout=60)[0]
    wrong = []
    if short.poll() is not None:
        wrong.append("the slow run was not slow enough for the test")
    if long.returncode or "10 trials" not in said:
        wrong.append(f"the extension ended with {long.returncode}: {said}")
    said = short.communicate(timeout=60)[0]
    if short.returncode:
        wrong.append(f"the slow run ended with {short.returncode}: {said}")
    if bench.trials() < 10:
        wrong.append(f"10 trials were reported, {bench.trials()} are there")
    left = [path.name for path in folder.iterdir()
            if path.suffix != ".yaml" and path != bench.output]
    if left:
        wrong.append(f"left behind: {left}")
    return wrong


def main():
    failed = 0
    cases = [(slow, earlier) for slow in ("fsync", "renameat2") for earlier in (False, True)]
    for slow, earlier in cases:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="regatta-fault-"))
        for wrong in (found := mistakes(folder, slow, earlier)):
            print(f"FAILED slow {slow}, {'a' if earlier else 'no'} results file before: {wrong}")
        failed += bool(found)
        shutil.rmtree(folder)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
