"""Unit, oracle and parser tests under AddressSanitizer and UBSan, in a build of its own.

Usage: sanitized.py SOURCE BUILD; the build is kept, so that a second run only rebuilds what changed.
Leaks of ours are valgrind's business: MPI's own drown them here.
"""
import os
import pathlib
import shutil
import subprocess
import sys

SKIP = 77


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def configure(source, build):
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run("cmake", "-S", source, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1", "-DREGATTA_SANITIZE=address,undefined",
        stdout=subprocess.DEVNULL)


def has_sanitizers(folder):
    compiler = os.environ.get("CC", "cc")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "probe.c"
    program.write_text("int main(void) { return 0; }\n")
    command = [compiler, "-fsanitize=address,undefined", program, "-o", folder / "probe"]
    built = subprocess.run(command, capture_output=True)
    return built.returncode == 0 and subprocess.run([folder / "probe"]).returncode == 0


def main():
    if not os.environ.get("REGATTA_LONG"):
        print("skipped: a long test (./run.sh test --long), which builds everything once more")
        return SKIP
    source, build = map(pathlib.Path, sys.argv[1:3])
    if not has_sanitizers(build):
        print("skipped: the compiler has no sanitizers")
        return SKIP
    jobs = str(os.cpu_count() or 1)
    configure(source, build)
    run("cmake", "--build", build, "--target", "regatta_c_tests", "--parallel", jobs,
        stdout=subprocess.DEVNULL)
    environment = dict(os.environ)
    environment.pop("REGATTA_LONG", None)
    # no detect_stack_use_after_return: its frames are not aligned for vectors of 64 bytes
    environment["ASAN_OPTIONS"] = "detect_leaks=0"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    run("ctest", "--test-dir", build, "-L", "unit|oracle", "--output-on-failure", "--parallel",
        jobs, "--timeout", "600", env=environment)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
