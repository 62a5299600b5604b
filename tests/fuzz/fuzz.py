"""Coverage-guided fuzzing for a bounded time: a long test (REGATTA_LONG), for clang with libFuzzer.

Usage: fuzz.py SOURCE BUILD [SECONDS]; SECONDS (300, or REGATTA_FUZZ_SECONDS) for each fuzzer. Finds are stored in
BUILD/finds; put it into tests/fuzz/regressions, where a unit test replays it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77
FUZZERS = {"study": "-max_len=4096", "results": "-max_len=512", "logs": "-max_len=2048"}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def has_libfuzzer(clang, folder):
    program = folder / "probe.c"
    program.write_text("#include <stddef.h>\n#include <stdint.h>\n"
                       "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n"
                       "{ return d && n > 1 && d[0] == 1 && d[1] == 2 ? -1 : 0; }\n")
    return subprocess.run([clang, "-fsanitize=fuzzer,address,undefined", program, "-o",
                           folder / "probe"], capture_output=True, check=False).returncode == 0


def build(source, folder, clang):
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run("cmake", "-S", source, "-B", folder, *generator, f"-DCMAKE_C_COMPILER={clang}",
        "-DREGATTA_FUZZ=ON", "-DREGATTA_SANITIZE=address,undefined", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1 -Wno-pass-failed", stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--parallel", os.cpu_count() or 1, "--target",
        *(f"fuzz_{name}" for name in FUZZERS), stdout=subprocess.DEVNULL)


def fill(folder, files, prefix):
    for file in files:
        for i, case in enumerate(re.split(rb"(?<=\n)(?=# expect: )", file.read_bytes())):
            (folder / f"{prefix}-{file.parent.name}-{i}-{file.name}").write_bytes(case)


def study_seeds(source, corpus):
    """Every study file there is, and their words as a dictionary."""
    for folder in ("tests/unit/study/good_studies", "tests/unit/study/bad_studies", "experiments"):
        fill(corpus, (source / folder).rglob("*.yaml"), "seed")
    words = set()
    for file in corpus.iterdir():
        words.update(re.findall(r"[a-z_]{3,40}", file.read_bytes().decode("latin-1")))
    dictionary = corpus.parent / "study.dict"
    dictionary.write_text("".join(f'"{word}"\n' for word in sorted(words)))
    return [f"-dict={dictionary}"]


def results_seeds(_, corpus):
    """One edit of each kind, at several places of the file."""
    for edit in range(7):
        for place in range(0, 100, 13):
            (corpus / f"seed-{edit}-{place}").write_bytes(bytes([edit, place, *range(1, 40)]))
    return []


def logs_seeds(_, corpus):
    """A timeline with every kind of event, and lines of evaluations."""
    (corpus / "seed-timeline").write_text("1 begin 0 0 0 0 1700000000000000\n2 start 1 1 1 10 0 0x1p-1 -0x1p+0 -0x1p+0\n"
                                          "3 start 2 1 2 20 0\n4 lost 1 1 1 900 880\n5 end 2 1 2 900 890\n6 gap 0 0 0 900 77\n")
    (corpus / "seed-evaluations").write_text("1 0x1p-3 0x1.8p+1 0x1p-1\n2 nan inf -0x1p-1 #a reason\n")
    return []


def fuzz(name, source, folder, seconds):
    corpus, finds = folder / f"corpus-{name}", folder / "finds"
    corpus.mkdir(exist_ok=True)
    finds.mkdir(exist_ok=True)
    options = {"study": study_seeds, "results": results_seeds, "logs": logs_seeds}[name](source, corpus)
    fill(corpus, (source / "tests/fuzz/regressions" / name).iterdir(), "regression")
    environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:handle_abort=1")
    log = folder / f"{name}.log"
    with open(log, "w", encoding="utf-8") as stream:
        code = subprocess.run(
            [folder / f"tests/fuzz/fuzz_{name}", corpus, FUZZERS[name], *options,
             f"-max_total_time={seconds}", "-timeout=100", "-rss_limit_mb=4000", "-malloc_limit_mb=2500", "-print_final_stats=1",
             f"-artifact_prefix={finds}/{name}-"], env=environment, check=False,
            stdout=stream, stderr=subprocess.STDOUT).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    executed = re.search(r"number_of_executed_units: (\d+)", text)
    print(f"{name}: {executed.group(1) if executed else '?'} inputs, exit code {code}")
    if code:
        print(text[-6000:])
    return code == 0


def main():
    source, folder = map(pathlib.Path, sys.argv[1:3])
    seconds = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("REGATTA_FUZZ_SECONDS", "300")
    clang = next((path for path in map(shutil.which, ("clang", "clang-16", "clang-14")) if path),
                 None)
    if not os.environ.get("REGATTA_LONG"):
        print("skipped: a long test (REGATTA_LONG)")
        return SKIP
    folder.mkdir(parents=True, exist_ok=True)
    if not clang or not has_libfuzzer(clang, folder):
        print("skipped: no clang with libFuzzer")
        return SKIP
    build(source, folder, clang)
    return 0 if all([fuzz(name, source, folder, seconds) for name in FUZZERS]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
