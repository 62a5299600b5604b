"""clang-format and clang-tidy have nothing to say about the tree; without them the check is skipped.

Sources that clang-tidy found clean are remembered by contents in the folder given as the second argument, so
that only what changed is looked at again. All of them take a minute of CPU, so without REGATTA_LONG each commit looks
at what it changed and at another tenth."""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77 # for CTest
AT_ONCE = 12 # files for one clang-tidy, whose start costs as much as half a file
PARTS = 10 # of the sources, of which a commit's id chooses one


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


def git(root, *words):
    """The lines that git answers; none outside of a repository."""
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.splitlines() if not done.returncode else []


def chosen(root, sources):
    """The sources that this commit or an edit after it changed, and its part of the others."""
    changed = {root / line for line in git(root, "diff", "--name-only", "HEAD~1") + git(root, "diff", "--name-only")}
    commit = git(root, "rev-parse", "HEAD")
    part = int(commit[0], 16) % PARTS if commit else 0
    return [p for k, p in enumerate(sources) if p in changed or k % PARTS == part]


def compiled_with(build):
    """{source: its compiler options}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        found[pathlib.Path(entry["file"])] = tuple(words[1:words.index("-o")])
    return found


def precompiled(tool, memory, flags):
    """The options of clang-tidy with which PETSc's header, a fifth of its time, is read once for all files compiled
    with the flags; nothing where the clang beside it is not there or can't."""
    header, made = memory / "petscsys.h", memory / "petscsys.pch"
    header.write_text("#include <petscsys.h>\n")
    clang = pathlib.Path(tool).resolve().with_name("clang")
    if not clang.exists() or subprocess.run([clang, *flags, "-x", "c-header", header, "-o", made],
                                            capture_output=True).returncode:
        return []
    return ["--extra-arg=-include-pch", f"--extra-arg={made}"]


def tidy_some(tool, build, paths, options):
    done = subprocess.run([tool, "-p", build, "--quiet", *options, *paths], capture_output=True, text=True)
    return paths, [line for line in done.stdout.splitlines() if ": error:" in line or ": warning:" in line]


def check_tidy(root, build):
    """The findings of clang-tidy in the sources that changed since they were clean."""
    tool = shutil.which("clang-tidy")
    if not tool or not (build / "compile_commands.json").exists():
        return None
    memory = build / "tidy_clean"
    memory.mkdir(exist_ok=True)
    headers = b"".join(p.read_bytes() for p in files(root, "src") if p.suffix == ".h")
    common = headers + (root / ".clang-tidy").read_bytes()
    sources = {p: fingerprint(root, p, common) for p in files(root, "src") if p.suffix == ".c"}
    looked_at = sources if os.environ.get("REGATTA_LONG") else chosen(root, list(sources))
    todo = [p for p in looked_at if not (memory / sources[p]).exists()]
    flags = compiled_with(build)
    usual = collections.Counter(flags.get(p) for p in sources).most_common(1)[0][0]
    options, groups = precompiled(tool, memory, usual) if usual and len(todo) > AT_ONCE else [], []
    for some in ([p for p in todo if flags.get(p) == usual], [p for p in todo if flags.get(p) != usual]):
        groups += [(some[k:k + AT_ONCE], options) for k in range(0, len(some), AT_ONCE)]
        options = []
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for paths, messages in pool.map(lambda group: tidy_some(tool, build, *group), groups):
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
