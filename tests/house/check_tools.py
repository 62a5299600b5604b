"""clang-format and clang-tidy have nothing to say about the tree; without them the check is skipped.

What clang-tidy found clean is remembered by contents in the folder given as the second argument, so
that only what changed is looked at again."""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77 # for CTest
AT_ONCE = 12 # files for one clang-tidy, whose start costs as much as half a file


def files(root, *folders):
    return [p for folder in folders for p in sorted((root / folder).rglob("*.[ch]"))]


def check_format(root):
    """Names of the files that clang-format would change."""
    tool = shutil.which("clang-format")
    if not tool:
        return None
    done = subprocess.run([tool, "--dry-run", "-Werror", "--ferror-limit=1",
                           *files(root, "src", "tests", "experiments")],
                          capture_output=True, text=True, cwd=root)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def fingerprint(root, path, common):
    return hashlib.sha256(common + path.read_bytes()).hexdigest()


def tidy_some(tool, build, paths):
    done = subprocess.run([tool, "-p", build, "--quiet", *paths], capture_output=True, text=True)
    return paths, [line for line in done.stdout.splitlines() if ": error:" in line or ": warning:" in line]


def check_tidy(root, build):
    """What clang-tidy says of the sources that changed since it was clean."""
    tool = shutil.which("clang-tidy")
    if not tool or not (build / "compile_commands.json").exists():
        return None
    memory = build / "tidy_clean"
    memory.mkdir(exist_ok=True)
    headers = b"".join(p.read_bytes() for p in files(root, "src") if p.suffix == ".h")
    common = headers + (root / ".clang-tidy").read_bytes()
    sources = {p: fingerprint(root, p, common) for p in files(root, "src") if p.suffix == ".c"}
    todo = [p for p, mark in sources.items() if not (memory / mark).exists()]
    groups = [todo[k:k + AT_ONCE] for k in range(0, len(todo), AT_ONCE)]
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for paths, messages in pool.map(lambda some: tidy_some(tool, build, some), groups):
            found += messages
            for path in paths if not messages else []:
                (memory / sources[path]).touch()
    return sorted(set(found))


def main(what, build):
    root = pathlib.Path(__file__).resolve().parents[2]
    found = check_format(root) if what == "format" else check_tidy(root, pathlib.Path(build))
    if found is None:
        print(f"skipped: clang-{what} is not here")
        return SKIPPED
    print("\n".join(found))
    print(f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
