"""The rules of the house that a machine can check; prints every breach, exit code 1 if any."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
FLOORS = ["base", "gp", "density", "robust", "acquisition", "problem", "algorithm", "regret",
          "study", "cli"]
MAX_LINES, MAX_COLUMNS = 600, 100

# what may stand only in these folders or files, and why it is looked for
ONLY = [
    (re.compile(r"\b(exit|_exit|abort)\s*\("), ["cli/", "study/probe.c"], "ends the program"),
    (re.compile(r"(?<![\w.])(printf|puts|putchar)\s*\(|\bstdout\b|\bstderr\b"), ["cli/"], "prints"),
    (re.compile(r"\bMPI_COMM_WORLD\b|\bPETSC_COMM_WORLD\b"), ["cli/"], "uses the world communicator"),
    (re.compile(r"\b(rand|srand|random|drand48)\s*\("), [], "is not a stream of Regatta"),
    (re.compile(r"\bsetulb_"), ["base/lbfgsb.c"], "L-BFGS-B has one wrapper"),
    (re.compile(r"\b(malloc|calloc|realloc)\s*\("), ["cli/main.c"], "use PetscMalloc"),
]


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
        found = [*check_floors(path, floor), *check_words(path, text), *check_shape(path)]
        for number, message in found:
            print(f"{path.relative_to(ROOT)}:{number}: {message}")
        breaches += len(found)
    print(f"{len(files)} files, {breaches} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main())
