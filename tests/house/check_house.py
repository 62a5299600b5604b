"""The rules of the house that a machine can check; prints every breach, exit code 1 if any."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
FLOORS = ["base", "maths", "gp", "density", "robust", "acquisition", "problem", "algorithm", "regret",
          "theory", "study", "cli"]
MAX_LINES, MAX_COLUMNS = 400, 100

# what may stand only in these folders or files, and why it is looked for
ONLY = [
    (re.compile(r"\b(exit|_exit|abort)\s*\("), ["cli/", "study/hdf5/probe.c", "base/child_spawn.c"], "ends the program"),
    (re.compile(r"(?<![\w.])(printf|puts|putchar)\s*\(|\bstdout\b|\bstderr\b"), ["cli/"], "prints"),
    (re.compile(r"\bMPI_COMM_WORLD\b|\bPETSC_COMM_WORLD\b"), ["cli/"], "uses the world communicator"),
    (re.compile(r"\b(rand|srand|random|drand48)\s*\("), [], "is not a stream of Regatta"),
    (re.compile(r"\bsetulb_"), ["maths/lbfgsb.c"], "L-BFGS-B has one wrapper"),
    (re.compile(r"\b(malloc|calloc|realloc)\s*\("), ["cli/main.c"], "use PetscMalloc"),
]

# mutable statics that must be: PETSc's events are process-wide, a signal handler reaches no others
STATICS = {"base/clock.c": {"events"}, "study/run/stop.c": {"signal_seen", "stop_state"}}


def strip_comments(text):
    """Comments and string literals blanked, line numbers kept."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#include "([a-z]+)/', line)
        if match:
            yield number, match.group(1)


def check_floors(path, floor):
    for number, other in includes(path):
        if other not in FLOORS:
            yield number, f"includes unknown folder {other}/"
        elif FLOORS.index(other) > FLOORS.index(floor):
            yield number, f"{floor}/ may not include {other}/"
        elif floor == "algorithm" and other == "problem":
            yield number, "an algorithm may not know the problem"


def check_words(path, text):
    name = path.relative_to(SRC).as_posix()
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, where, why in ONLY:
            if pattern.search(line) and not any(name.startswith(w) for w in where):
                yield number, f"{pattern.search(line).group().strip()} {why}"


def variables(text):
    """(position, declaration) of what has static storage: `static` in files and functions, and
    globals, which begin in the first column. Functions are left out."""
    pattern = r"^[ ]*static\s([^;={(]*)([;={(])|^([A-Za-z][\w* ]*\w(?:\[\w*\])*)\s*[;=]"
    for match in re.finditer(pattern, text, re.M):
        declaration, end = match.group(1), match.group(2)
        if declaration is None:
            if not re.match(r"(static|typedef|extern|struct|union|enum)\b", match.group(3)):
                yield match.start(), match.group(3)
        elif end == "{":
            body = re.compile(r"\}\s*([^;=]*)[;=]").search(text, match.end())
            yield match.start(), declaration + (body.group(1) if body else "")
        elif end != "(" or text[match.end():].lstrip().startswith("*"):
            pointer = re.match(r"\(?([^)]*)\)", text[match.end() - 1:]) if end == "(" else None
            yield match.start(), declaration + (pointer.group(1) if pointer else "")


def check_statics(path, text):
    allowed = STATICS.get(path.relative_to(SRC).as_posix(), set())
    for position, declaration in variables(text):
        name = re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", declaration)
        bare = re.sub(r"\[[^]]*\]", "", declaration)
        if not name or re.search(r"\bconst\b", bare.rpartition("*")[2]):
            continue
        if name.group(1) not in allowed:
            number = text.count("\n", 0, position) + 1
            yield number, f"{name.group(1)} is a variable of static storage"


def check_shape(path):
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines, at most {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns, at most {MAX_COLUMNS}"
        if "\t" in line:
            yield number, "a tab"


def main():
    breaches = 0
    files = sorted(p for p in SRC.rglob("*.[ch]"))
    for path in files:
        floor = path.relative_to(SRC).parts[0]
        text = strip_comments(path.read_text())
        found = [*check_floors(path, floor), *check_words(path, text), *check_statics(path, text),
                 *check_shape(path)]
        for number, message in found:
            print(f"{path.relative_to(ROOT)}:{number}: {message}")
        breaches += len(found)
    print(f"{len(files)} files, {breaches} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main())
