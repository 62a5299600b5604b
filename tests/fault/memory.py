"""Every allocation of the program, HDF5 and PETSc fails in turn, in six commands on a small file: results, or one line
about the lack of memory and exit code 2. No shard is set aside.

REGATTA_PROGRAM, MEMORY_SHIM: what to run. REGATTA_LONG=1: every allocation, else a sample over the whole range."""
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
SAMPLE = 8
# glibc's own line, where HDF5 has broken the heap before it reports the error; nothing can turn it off.
HEAP = ("corrupted ", "malloc(): ", "free(): ", "double free", "munmap_chunk(): ", "realloc(): ")


def run(folder, *arguments, **settings):
    env = dict(os.environ)
    if settings:
        env["LD_PRELOAD"] = os.environ["MEMORY_SHIM"]
        env.update({f"REGATTA_MEMORY_{name.upper()}": str(value) for name, value in settings.items()})
    return subprocess.run([os.environ["REGATTA_PROGRAM"], *arguments], env=env, cwd=folder, capture_output=True,
                          text=True, errors="replace", check=False)


def is_good(done):
    lines = [line for line in done.stderr.splitlines() if not line.startswith(HEAP)]
    if not done.returncode:  # a commit that failed is repeated, after one line
        return not lines or len(lines) == 1 and "finished trials wait in memory" in lines[0]
    return done.returncode == 2 and len(lines) == 1 and "not enough memory" in lines[0]


def enumerate_command(folder, arguments, draw):
    def clean():
        for path in folder.glob("new.h5*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    clean()
    run(folder, *arguments, count=folder / "count")
    total, ends, bad = int((folder / "count").read_text()), collections.Counter(), []
    edges = [1 + total * k // SAMPLE for k in range(SAMPLE + 1)]
    calls = range(1, total + 1) if os.environ.get("REGATTA_LONG") else \
        [1, *(draw.randrange(*edge) for edge in zip(edges, edges[1:]))]
    for number, call in enumerate(calls):
        clean()  # in a quarter of the sample every later allocation fails too
        done = run(folder, *arguments, call=call, forever=int(number % 4 == 3 and len(calls) < total))
        ends[done.returncode] += 1
        if not is_good(done) or (folder / "new.h5.d" / "bad").exists():
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
