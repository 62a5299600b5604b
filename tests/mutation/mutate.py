"""Plants small mistakes in formulas, one at a time, and checks that the tests find them: a long test (REGATTA_LONG).

Usage: mutate.py SOURCE BUILD [WORD]    all mutations of mutations.txt, or those whose line contains WORD
       mutate.py SOURCE --check         whether the list fits the sources; plants nothing

A line of mutations.txt has four parts: FILE :: OLD TEXT :: NEW TEXT :: TESTS (names of ctest, with spaces between).
The mistakes are planted in a copy of the sources below BUILD, which has a build of its own. Only the programs of the
named tests are built, and only these tests run. A mutation that leaves a named test green survives.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass

SKIP = 77
LIMIT = 900  # seconds: a planted mistake may make a loop endless


@dataclass(frozen=True)
class Mutation:
    """One line of the list."""
    line: int
    file: str
    old: str
    new: str
    tests: tuple

    def __str__(self):
        return f"mutations.txt:{self.line}: {self.file}: {self.old} -> {self.new}"


def read(path):
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" :: ")]
        if len(parts) != 4 or not all(parts) or parts[1] == parts[2]:
            sys.exit(f"mutations.txt:{number}: not FILE :: OLD TEXT :: NEW TEXT :: TESTS")
        found.append(Mutation(number, *parts[:3], tuple(parts[3].split())))
    return found


def misfits(source, mutations):
    """The mutations whose file is missing, or does not contain the old text exactly once."""
    found = []
    for one in mutations:
        path = source / one.file
        count = path.read_text(encoding="utf-8").count(one.old) if path.exists() else 0
        if count != 1:
            found.append(f"{one}: the old text occurs {count} times")
    return found


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **options)


def sources(folder):
    """The files of the repository below a folder, without builds and results; paths relative to it."""
    for home, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in (".git", "results", "__pycache__")
                    and not (pathlib.Path(home) / name / "CMakeCache.txt").exists()]
        for file in files:
            yield pathlib.Path(home, file).relative_to(folder)


def synchronise(source, copy):
    """Make the copy equal to the source. A file that is equal keeps its time, so that it is not built again; one that
    an interrupted run has left with a mistake gets a new time."""
    wanted = set(sources(source))
    for file in wanted:
        path = copy / file
        if not path.exists() or path.read_bytes() != (source / file).read_bytes():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((source / file).read_bytes())
            shutil.copymode(source / file, path)
    for file in set(sources(copy)) - wanted:
        (copy / file).unlink()


class Bench:
    """A copy of the sources with its build."""

    def __init__(self, source, folder):
        self.copy, self.build = folder / "source", folder / "build"
        synchronise(source, self.copy)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        made = run("cmake", "-S", self.copy, "-B", self.build, *generator)
        if made.returncode:
            sys.exit(f"cmake failed:\n{made.stdout}")

    def make(self, tests):
        """Build the programs of the tests; those in Python need `regatta` at most, and those of integration its
        helpers, too."""
        targets = {test.replace("/", "_") if test.split("/")[0] in ("unit", "oracle", "mpi") else "regatta_program"
                   for test in tests}
        if any(test.startswith("integration/") for test in tests):
            targets |= {"slow_trials", "fault_shim", "bench_large"}
        return run("cmake", "--build", self.build, "--parallel", os.cpu_count() or 1, "--target", *sorted(targets))

    def passes(self, test):
        ended = run("ctest", "-R", f"^{test}$", "--timeout", LIMIT, "--no-tests=error", cwd=self.build)
        self.end_strays()
        if "No tests were found" in ended.stdout or "***Not Run" in ended.stdout or "***Skipped" in ended.stdout:
            sys.exit(f"the test {test} does not run:\n{ended.stdout}")
        return ended.returncode == 0

    def end_strays(self):
        """End the programs of this build that outlive their test: ctest ends a test that takes too long, but not the
        processes that it has started."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if pathlib.Path(os.readlink(process / "exe")).is_relative_to(self.build.resolve()):
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:  # It has ended, or belongs to somebody else.
                continue

    def plant(self, mutation):
        """The named tests that pass although the mistake is there."""
        path = self.copy / mutation.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(sound.replace(mutation.old, mutation.new), encoding="utf-8")
        try:
            built = self.make(mutation.tests)
            if built.returncode:
                sys.exit(f"{mutation}: does not build:\n{built.stdout[-3000:]}")
            return [test for test in mutation.tests if self.passes(test)]
        finally:
            path.write_text(sound, encoding="utf-8")


def all_pass(bench, mutations):
    """Without a mistake, every named test passes."""
    tests = sorted({test for one in mutations for test in one.tests})
    built = bench.make(tests)
    if built.returncode:
        sys.exit(f"the build failed:\n{built.stdout[-3000:]}")
    for test in tests:
        if not bench.passes(test):
            sys.exit(f"{test} fails without any mutation")


def main(arguments):
    source = pathlib.Path(arguments[0]).resolve()
    mutations = read(pathlib.Path(__file__).with_name("mutations.txt"))
    unfit = misfits(source, mutations)
    if unfit or arguments[1] == "--check":
        print("\n".join(unfit) or f"{len(mutations)} mutations")
        return 1 if unfit else 0
    if not os.environ.get("REGATTA_LONG"):
        print("skipped: a long test; ./run.sh test --long runs it")
        return SKIP
    chosen = [one for one in mutations if all(word in str(one) for word in arguments[2:])]
    bench = Bench(source, pathlib.Path(arguments[1]))
    all_pass(bench, chosen)
    survivors = 0
    for one in chosen:
        green = bench.plant(one)
        survivors += bool(green)
        print(f"{'SURVIVES ' + ' '.join(green) if green else 'caught'}: {one}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutations caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
