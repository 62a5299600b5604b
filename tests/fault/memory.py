"""Every allocation of the program, HDF5 and PETSc fails in turn, in six commands on a small file: results, or an end
without a crash, a trace or an internal error. Where HDF5 itself can't start, it may print its own lines or nothing.

REGATTA_PROGRAM, MEMORY_SHIM: what to run. REGATTA_LONG=1: every allocation, else a sample."""
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

STUDY = """study: small
common: {iterations: 3, initial_points: 3}
problems: [branin]
algorithms: [gp_ucb]
"""
SAMPLE = 5
GIVEN_UP = 255  # HDF5 has ended the process


def run(folder, *arguments, **settings):
    env = dict(os.environ)
    if settings:
        env["LD_PRELOAD"] = os.environ["MEMORY_SHIM"]
        env.update({f"REGATTA_MEMORY_{name.upper()}": str(value) for name, value in settings.items()})
    return subprocess.run([os.environ["REGATTA_PROGRAM"], *arguments], env=env, cwd=folder, capture_output=True,
                          text=True, errors="replace", check=False)


def is_good(done):
    return (done.returncode == 0 or "HDF5-DIAG" in done.stderr or done.returncode == GIVEN_UP
            or done.returncode in (2, 3) and len(done.stderr.splitlines()) <= 2
            and "PETSC ERROR" not in done.stderr)


def enumerate_command(folder, arguments, draw):
    def clean():
        for path in folder.glob("new.h5*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    clean()
    run(folder, *arguments, count=folder / "count")
    total, ends, bad = int((folder / "count").read_text()), collections.Counter(), []
    calls = range(1, total + 1) if os.environ.get("REGATTA_LONG") else draw.sample(range(1, total + 1), SAMPLE)
    for call in calls:
        clean()
        done = run(folder, *arguments, call=call)
        ends[done.returncode] += 1
        if not is_good(done):
            bad.append(f"{arguments[0]}, allocation {call}: exit code {done.returncode}\n{done.stderr}")
    print(f"{arguments[0]}: {total} allocations, {len(calls)} failed in turn, exit codes {dict(ends)}", flush=True)
    return bad


def main():
    folder, draw = pathlib.Path(tempfile.mkdtemp(prefix="regatta-memory-")), random.Random(1)
    try:
        (folder / "study.yaml").write_text(STUDY)
        made = run(folder, "run", "study.yaml", "-o", "small.h5", "-quiet")
        assert made.returncode == 0, made.stderr
        bad = []
        for arguments in (("info", "small.h5"), ("status", "small.h5"), ("checksum", "small.h5"),
                          ("verify", "small.h5"), ("merge", "small.h5", "-o", "new.h5"),
                          ("run", "study.yaml", "-o", "new.h5", "-quiet")):
            bad += enumerate_command(folder, arguments, draw)
        print("\n".join(bad))
        return 1 if bad else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
