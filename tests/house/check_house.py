"""The rules of the house that a machine can check; prints every breach, exit code 1 if any.

A rule is a function of a Tree that yields (path, line, message); RULES names them all, and
test_house.py plants a breach of each."""
import functools
import pathlib
import re
import subprocess
import sys

import history
import structure

# from the ground up: a folder includes its own headers and those of folders before it
FLOORS = ["regatta", "base", "maths", "gp/kernel", "gp/team", "gp/posterior", "gp/path", "gp/context", "gp/model",
          "density", "robust", "acquisition", "problem", "algorithm", "regret",
          "extra/bbob", "extra/external", "study/file", "theory", "study/plan", "study/schedule", "study/record",
          "study/hdf5", "study/store", "study/trial", "study/run", "cli"]
FORBIDDEN = {("algorithm", "problem"): "an algorithm may not know the problem",
             ("theory", "study/file"): "a family of bounds may not know studies"}
LEFT_OUT = {"cli/command_serve.c": "extra/external"}  # files that a build leaves out with the room that they use
ALGORITHMS = ("algorithm/", "extra/external/optimiser")
SEES_PROBLEMS = ["regatta/problem.h", "regatta/plugin.h", "regatta/regatta.h"]

# what may stand only in these folders or files, and why it is looked for
ONLY_WORDS = [
    (r"\b(exit|_exit|abort)\s*\(", ["cli/", "base/child.c"],
     "ends the program"),
    (r"(?<![\w.])(printf|puts|putchar)\s*\(|\bstdout\b|\bstderr\b", ["cli/"], "prints"),
    (r"\bMPI_COMM_WORLD\b|\bPETSC_COMM_WORLD\b", ["cli/"], "uses the world communicator"),
    (r"\b(rand|srand|random|drand48)\s*\(", [], "is not a stream of Regatta"),
    (r"\b(qsort_r|asprintf|strchrnul|secure_getenv|program_invocation_name)\b", [],
     "is glibc's alone"),
    (r"\bsetulb_", ["maths/lbfgsb.c"], "L-BFGS-B has one wrapper"),
    (r"\b(strto(d|f|ld)|atof|vsn?printf|setlocale|uselocale)\b", ["base/number.c"],
     "follows the program's locale: use base/number.h"),
    (r"\b(malloc|calloc|realloc)\s*\(", ["cli/main.c"], "use PetscMalloc"),
    (r"\bMPI_[A-Z]\w*", ["gp/team/", "gp/posterior/iterative/", "study/schedule/", "study/run/", "cli/",
                         "study/record/software.c", "base/child.c", "regatta/run.h"],
     "talks between ranks"),
    (r"\b(model|posterior)(->|\.)(posterior\.)?(set|ops|iterative|slot)\b", ["gp/"],
     "asks for a back end of the posterior"),
]
ONLY_HEADERS = [
    (r"hdf5\w*\.h", ["study/hdf5/", "study/record/software.c"]),
    (r"yaml\.h", ["study/file/", "study/record/software.c"]),
    (r"jansson\.h", ["extra/external/", "study/record/software.c", "cli/command_plan.c"]),
    (r"gsl/.*", ["maths/", "study/record/software.c"]),
    (r"petscksp\.h", ["gp/posterior/iterative/"]),
]

# mutable statics that are needed: PETSc's events, OpenBLAS's buffer and polls are process-wide, and a signal handler
# reaches no other state
STATICS = {"maths/blas.c": {"mapped"}, "base/clock.c": {"events"},
           "base/poll.c": {"poll"}, "cli/shield.c": {"others", "room", "watched"},
           "study/hdf5/medium.c": {"tell_no_memory"}, "study/run/stop.c": {"signal_seen", "guarded", "first_end"}}

MAX_LINES, MAX_COLUMNS, MAX_FUNCTION, MAX_PARAMETERS = 900, 100, 50, 8

# Kernels of vector instructions: what they are handed stays in registers through their loops, as
# numbers and pointers that the compiler sees don't alias; a struct would be read again in each turn.
MANY_PARAMETERS = ["gp/kernel/tiles", "gp/kernel/kernel_tile.c", "maths/vector_body.h"]


def blank(text, strings=True):
    """Comments (and string literals) blanked, positions kept."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)

    def hide(match):
        if match.group().startswith('"') and not strings:
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return pattern.sub(hide, text)


class Source:
    """One file in C; files below src/ have their name from there."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.name = self.path.removeprefix("src/")
        self.text = path.read_text()
        self.lines = self.text.splitlines()
        self.code = blank(self.text)
        self.floor = floor_of(self.name)

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    @functools.cache
    def includes(self):
        """(line, header, whether in quotes) of every header that is included here."""
        return [(self.line_of(match.start(1)), match.group(2), match.group(1) == '"') for match in
                re.finditer(r'^[ \t]*#\s*include (["<])([^">]+)[">]', self.text, re.M)]

    @functools.cache
    def functions(self):
        return list(self.find_functions())

    def find_functions(self):
        """(name, parameters, first line, lines, static) of every function that is defined here."""
        pattern = r"^((?:static )?(?:inline )?[A-Za-z_][\w ]*[ *]+)(\w+)\(([^;{}]*?)\)\s*\n\{(.*?)^\}"
        for match in re.finditer(pattern, self.code, re.M | re.S):
            begin, end = self.line_of(match.start()), self.line_of(match.end())
            yield (match.group(2), match.group(3), begin, end - begin + 1,
                   match.group(1).startswith("static"))


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.sources = [Source(self.root, p) for p in sorted((self.root / "src").rglob("*.[ch]"))]
        self.tests = [Source(self.root, p) for p in sorted((self.root / "tests").rglob("*.[ch]"))]


def floor_of(name):
    fits = [f for f in FLOORS if name.startswith(f + "/")]
    return max(fits, key=len) if fits else None


def floors(tree):
    for source in tree.sources:
        if source.floor is None:
            yield source.path, 1, "stands in no room of the house"
            continue
        for number, header, own in source.includes():
            other = floor_of(header)
            if "/" not in header or not (own or header.startswith("regatta/")):
                continue
            if source.name.startswith(ALGORITHMS) and header in SEES_PROBLEMS:
                yield source.path, number, FORBIDDEN["algorithm", "problem"]
            if other is None:
                yield source.path, number, f"includes {header}, which is in no room"
            elif FLOORS.index(other) > FLOORS.index(source.floor):
                yield source.path, number, f"{source.floor}/ may not include {other}/"
            elif other.startswith("extra/") and other not in (source.floor, LEFT_OUT.get(source.name)):
                yield source.path, number, f"includes {header}, which a build can leave out"
            elif (source.floor, other) in FORBIDDEN and not source.name.startswith("theory/cells."):
                yield source.path, number, FORBIDDEN[source.floor, other]


def words(tree):
    for source in tree.sources:
        for pattern, where, why in ONLY_WORDS:
            if any(source.name.startswith(w) for w in where):
                continue
            for match in re.finditer(pattern, source.code):
                yield source.path, source.line_of(match.start()), f"{match.group().strip()} {why}"


FORMATS = re.compile(r"(?<![\w.])(?:sn?printf|sscanf)\s*\((?:[^;\"]|\"(?:\\\\.|[^\"\\\\])*\")*?;")
REAL = re.compile(r"%[-+0 #]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[lL]?[efgaEFGA]")


def numbers(tree):
    """No file but base/number.c reads or writes a number with a point by a function that follows the locale."""
    for source in tree.sources:
        for match in FORMATS.finditer(blank(source.text, strings=False)):
            if source.name != "base/number.c" and REAL.search(match.group().replace("%%", "")):
                yield source.path, source.line_of(match.start()), "formats or scans a number: use base/number.h"


def headers(tree):
    for source in tree.sources:
        for number, header, _ in source.includes():
            for pattern, where in ONLY_HEADERS:
                if re.fullmatch(pattern, header) and not any(source.name.startswith(w) for w in where):
                    yield source.path, number, f"{header} may be included only in {', '.join(where)}"


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


def statics(tree):
    for source in tree.sources:
        allowed = STATICS.get(source.name, set())
        for position, declaration in variables(source.code):
            name = re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", declaration)
            bare = re.sub(r"\[[^]]*\]", "", declaration)
            if not name or re.search(r"\bconst\b", bare.rpartition("*")[2]):
                continue
            if name.group(1) not in allowed:
                yield (source.path, source.line_of(position),
                       f"{name.group(1)} is a variable of static storage")


def types(tree):
    """Names of types are unique over all headers."""
    seen = {}
    pattern = r"^\}\s*(Rg\w+);|^typedef [^;{}]*\(\*(Rg\w+)\)|^(?:typedef )?(?:struct|enum) (Rg\w+)\s*\{"
    for source in tree.sources:
        if not source.name.endswith(".h"):
            continue
        for match in re.finditer(pattern, source.code, re.M):
            name = match.group(1) or match.group(2) or match.group(3)
            if name in seen and seen[name] != source.path:
                yield (source.path, source.line_of(match.start()),
                       f"{name} is a type of {seen[name]} too")
            seen.setdefault(name, source.path)


def modules(tree):
    """The functions of a header are defined in the file of the same name, or in one whose name goes on
    from it (set_prior.c for set_prior.h, group_read.c for group.h)."""
    where = {}
    for source in tree.sources:
        if source.name.endswith(".c"):
            for name, *_ in source.functions():
                where.setdefault(name, []).append(source.name)
    for source in tree.sources:
        if not source.name.endswith(".h") or source.name.startswith("regatta/"):
            continue
        stem = source.name[:-2].removesuffix("_internal")
        for match in re.finditer(r"^[A-Za-z_][\w ]*[ *]+(rg_\w+)\([^;{]*\);", source.code, re.M):
            for place in where.get(match.group(1), []):
                if not place.startswith(stem):
                    yield (source.path, source.line_of(match.start()),
                           f"{match.group(1)} is defined in {place}")


def functions(tree):
    for source in tree.sources:
        for name, parameters, line, length, _ in source.functions():
            if length > MAX_FUNCTION:
                yield source.path, line, f"{name} has {length} lines, at most {MAX_FUNCTION}"
            depth = re.sub(r"\([^()]*\)", "", parameters)
            count = depth.count(",") + 1
            if any(source.name.startswith(n) for n in MANY_PARAMETERS):
                continue
            if count > MAX_PARAMETERS:
                yield source.path, line, f"{name} has {count} parameters, at most {MAX_PARAMETERS}"


def heads(tree):
    for source in tree.sources:
        if not source.text.startswith("/*"):
            yield source.path, 1, "begins without a comment that says what it is"


def paths(tree):
    """Files that a comment or a message names by their path are there."""
    rooms = {floor.split("/")[0] for floor in FLOORS}
    for source in tree.sources + tree.tests:
        for number, line in enumerate(source.lines, 1):
            for name in re.findall(r"(?<![\w./])\w+/[\w/]*\w\.[ch]\b(?!\.\w)", line):
                if name.split("/")[0] in rooms and not (tree.root / "src" / name).exists():
                    yield source.path, number, f"names {name}, which is not there"


def names(tree):
    """Functions, types and constants that a comment names exist."""
    name = re.compile(r"\b(?:rg_\w*\w|RG_\w*[A-Z0-9]|Rg[A-Z]\w+)\b(?!\.\.\.)")
    known = {word for source in tree.sources + tree.tests for word in name.findall(source.code)}
    for source in tree.sources + tree.tests:
        for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", source.text, re.S):
            for word in name.finditer(comment.group()):
                if word.group() not in known:
                    yield (source.path, source.line_of(comment.start() + word.start()),
                           f"names {word.group()}, which does not exist")


def shape(tree):
    for source in tree.sources:
        head = source.text.partition("*/")[0]
        if len(source.lines) > MAX_LINES and "one file because" not in " ".join(head.split()):
            yield (source.path, len(source.lines), f"{len(source.lines)} lines, at most {MAX_LINES} "
                   "without a reason in its head ('one file because ...')")
        for number, line in enumerate(source.lines, 1):
            if len(line) > MAX_COLUMNS:
                yield source.path, number, f"{len(line)} columns, at most {MAX_COLUMNS}"
            if "\t" in line:
                yield source.path, number, "a tab"


def registered(tree):
    """No `default:` where the cases are those of a list of kernels: -Wswitch-enum must
    see what a new line of the list leaves open."""
    for source in tree.sources:
        for match in re.finditer(r"\bswitch\s*\([^{]*\{", source.code):
            depth, end = 1, match.end()
            while depth and end < len(source.code):
                depth += {"{": 1, "}": -1}.get(source.code[end], 0)
                end += 1
            body = source.code[match.end():end]
            if re.search(r"\bcase RG_KERNEL_", body) and re.search(r"\bdefault\s*:", body):
                yield source.path, source.line_of(match.start()), "a default: over a registered enum"


def needs(tree):
    """Every need of a method has its words in cli/catalogue.c."""
    words = "".join(source.code for source in tree.sources if source.name == "cli/catalogue.c")
    for source in tree.sources:
        if source.name == "regatta/algorithm.h":
            for match in re.finditer(r"\b(RG_NEEDS_\w+) = ", source.code):
                if not re.search(rf"\b{match[1]}\b", words):
                    yield source.path, source.line_of(match.start()), f"{match[1]} has no words in cli/catalogue.c"


# what gives a formula of theory away: laws and constants that only bounds have
TELLTALES = re.compile(r"\bstats\.(gamma|expon|chi2)\b|\blaggauss\b|\bpi\s*\*\*\s*2|\bVARSIGMA\b|\bDELTA\b")


def theory(tree):
    """Formulas of theory/ stand in C alone; analysis/ asks `regatta bounds`."""
    folder = tree.root / "analysis" / "regatta_analysis"
    for path in sorted(folder.rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if TELLTALES.search(line):
                yield path.relative_to(tree.root), number, "a formula of theory/ in Python"


# Headers that are included several times: lists, and code compiled once per instruction set or family.
UNGUARDED = re.compile(r"(^|/)list\.h$|_body\.h$|^gp/kernel/(families/|tiles_)")


def guards(tree):
    """The include guard of a header is its path: base/child.h has RG_BASE_CHILD_H."""
    for source in tree.sources + tree.tests:
        match = re.search(r"^#ifndef (RG_\w+_H)\n#define \1$", source.code, re.M)
        guard = "RG_" + re.sub(r"\W", "_", source.name).upper()
        if source.name.endswith(".h") and not UNGUARDED.search(source.name) and (not match or match.group(1) != guard):
            yield source.path, 1, f"has no include guard {guard}"


# what stands before a statement: the end of another one, a label, or the head of a branch or a loop
STATEMENT = re.compile(r"[;{}]$|\b(else|do)$|\bdefault:$|\bcase [^?:]*:$|\b(if|for|while) *\(.*\)$")
PREFIXED = re.compile(r"(?:\+\+|--)[\w*](?:[^;,()]|\([^()]*\))*[;,)]")


def increments(tree):
    """The spelling is i++ wherever the value is not used: in statements and in the heads of loops."""
    for source in tree.sources + tree.tests:
        for match in PREFIXED.finditer(source.code):
            before = source.code[max(0, match.start() - 200):match.start()].rstrip(" \n\\")
            turn = re.search(r"\bfor *\([^;{}]*;[^;{}]*;[^;{}]*$", before) and before[-1] in ";,"
            line = before.rpartition("\n")[2]
            alone = match.group().endswith(";") and line.count("(") == line.count(")")
            if turn or alone and STATEMENT.search(line):
                yield source.path, source.line_of(match.start()), f"{match.group()[:-1]} where its value is not used"


# what stands at the top level; a file that a command left there by mistake does not
TOP_FOLDERS = {"src", "experiments", "analysis", "tests", "docs", "cmake",
               "LICENSES"}  # REUSE knows no other place
TOP_FILES = {"CMakeLists.txt", "CMakePresets.json", "run.sh", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
             "CITATION.cff", "codemeta.json", "LICENSE", "Dockerfile", "apptainer.def"}


def top(tree):
    names = subprocess.run(["git", "-C", str(tree.root), "ls-files"], capture_output=True, text=True).stdout
    for name in sorted({line.split("/")[0] for line in names.splitlines() if not line.startswith(".")}):
        if name not in TOP_FOLDERS | TOP_FILES:
            yield name, 1, "stands at the top level, where only files about the whole project do"


RULES = [floors, words, numbers, headers, statics, types, registered, needs, theory, heads, paths, names, shape,
         modules, functions, guards, increments, top, *structure.RULES, *history.RULES]


def breaches(root, rules=RULES):
    """[(rule, path, line, message)] and the number of files."""
    tree = Tree(root)
    found = [(rule.__name__, *breach) for rule in rules for breach in rule(tree)]
    return sorted(set(found)), len(tree.sources)


def main():
    found, files = breaches(pathlib.Path(__file__).resolve().parents[2])
    for rule, path, line, message in found:
        print(f"{path}:{line}: {message} [{rule}]")
    print(f"{files} files, {len(found)} breaches")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
