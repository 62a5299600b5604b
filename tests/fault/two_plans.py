"""A study and its extension at once on one output. The shorter one stops before it replaces the results file and goes
on when the longer one has ended: whoever packs last, the file never has fewer trials than a run has reported.

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


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.output = folder / "out.h5"
        self.release = folder / "release.yaml"

    def start(self, seeds, hold=None):
        study = self.folder / f"seeds{seeds}.yaml"
        study.write_text(STUDY.format(seeds=seeds))
        env = dict(os.environ)
        if hold:  # only the results file on its way, not the shards
            env.update(LD_PRELOAD=os.environ["FAULT_SHIM"], REGATTA_FAULT_HOLD=hold,
                       REGATTA_FAULT_UNTIL=str(self.release),
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


def mistakes(folder, hold, earlier):
    bench = Bench(folder)
    if earlier and bench.start(1).wait():
        return ["the first run failed"]
    short = bench.start(2, hold)
    bench.wait_for_packing(short)
    status = subprocess.run([os.environ["REGATTA_PROGRAM"], "status", str(bench.output)], capture_output=True, text=True,
                            check=False).stdout
    long = bench.start(5)
    said = long.communicate()[0]
    wrong = []
    if short.poll() is not None:
        wrong.append("the shorter run did not wait")
    if long.returncode or "10 trials" not in said:
        wrong.append(f"the extension ended with {long.returncode}: {said}")
    bench.release.touch()
    wrong += [f"status does not know of the run: {status}"] * ("; a run is at work: " not in status)
    wrong += [f"the extension says nothing of the other run: {said}"] * ("another run works on" not in said)
    said = short.communicate()[0]
    if short.returncode:
        wrong.append(f"the shorter run ended with {short.returncode}: {said}")
    wrong += [f"the shorter run says nothing of the other one: {said}"] * ("another run works on" not in said)
    if bench.trials() < 10:
        wrong.append(f"10 trials were reported, {bench.trials()} are there")
    left = [path.name for path in folder.iterdir()
            if path.suffix != ".yaml" and path != bench.output]
    if left:
        wrong.append(f"left behind: {left}")
    return wrong


def main():
    failed = 0
    cases = [(hold, earlier) for hold in ("fsync", "renameat2") for earlier in (False, True)]
    for hold, earlier in cases:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="regatta-fault-"))
        for wrong in (found := mistakes(folder, hold, earlier)):
            print(f"FAILED at {hold}, {'a' if earlier else 'no'} results file before: {wrong}")
        failed += bool(found)
        shutil.rmtree(folder)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
