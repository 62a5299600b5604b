"""Rules about the tree as a whole: its limits, what is used where, and lists that have one home.

limits.txt has the numbers. Each rule is a function of a Tree (check_house.py)."""
import collections
import re

FIELDS = 24  # where limits.txt names no other number
LISTED = ("RG_KERNEL_", "RG_THEORY_")  # members of enumerations that a list makes


def limits(tree):
    """{(kind, name): number} of limits.txt."""
    path = tree.root / "tests" / "house" / "limits.txt"
    found = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.partition("#")[0].split()
        if words:
            found[words[0], words[1]] = int(words[2])
    return found


def total(tree):
    """`src` has at most as many lines as limits.txt says."""
    lines = sum(len(source.lines) for source in tree.sources)
    most = limits(tree).get(("lines", "src"), 0)
    if lines > most:
        yield "src", 1, f"{lines} lines, at most {most} (tests/house/limits.txt)"


def classes(tree):
    """The structures that describe a method, a problem or a kernel have few fields."""
    pattern = (r"^typedef struct (?:\w+ )?\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*(Rg\w+Class);|"
               r"^struct (Rg\w+Class) \{(.*?)^\};")
    known = limits(tree)
    for source in tree.sources:
        for match in re.finditer(pattern, source.code, re.M | re.S):
            name, body = match.group(2) or match.group(3), match.group(1) or match.group(4)
            most = known.get(("fields", name), FIELDS)
            if body.count(";") > most:
                yield source.path, source.line_of(match.start()), f"{name} has {body.count(';')} fields, at most {most}"


def externals(tree):
    """A function that is not static is used outside of its file, by a test at least; what plug-ins and
    embedding programs are offered (regatta/) is not counted, nor is what a library calls."""
    def words(text):
        return set(re.findall(r"\w+", text))
    users = {s.path: words(s.code) for s in tree.sources + tree.tests if s.name.endswith(".c")}
    users.update((s.path, words(re.sub(r"^[A-Za-z_][\w ]*[ *]+\w+\([^;{]*\);", "", s.code, flags=re.M)))
                 for s in tree.sources + tree.tests if s.name.endswith(".h"))
    offered = set().union(*(words(s.code) for s in tree.sources if s.name.startswith("regatta/")))
    count = collections.Counter(word for found in users.values() for word in found)
    for source in tree.sources:
        for name, _, line, _, static in source.functions() if source.name.endswith(".c") else ():
            own = name.startswith("rg_") and not static and name not in offered
            if own and count[name] - (name in users[source.path]) < 1:
                yield source.path, line, f"{name} is used in no other file: make it static, or remove it"


def last_names(tree):
    """A loop over the members of an enumeration ends at their number: one that ends at the last name of today leaves
    out what is added."""
    known, count = limits(tree), collections.Counter()
    end = r"\btypedef enum\s*\{[^{}]*\b(RG_\w+)[^{},]*,?\s*\}"
    last = {name for source in tree.sources for name in re.findall(end, source.code)}
    for source in tree.sources + tree.tests:
        for match in re.finditer(r"\bfor *\((?:[\w ]* )?(\w+) *=[^;{}]*; *\1 *<= *(RG_\w+)", source.code):
            count[source.path] += match.group(2) in last or match.group(2).startswith(LISTED)
            if count[source.path] > known.get(("last_names", source.path), 0):
                yield source.path, source.line_of(match.start()), f"a loop that ends at {match.group(2)}"


# where a list of names may stand beside its home, with the name that holds it
SECOND_LISTS = {("analysis/regatta_analysis/load/reader.py", "COLUMNS_BEFORE"),  # files without the list in them
                ("src/algorithm/edrbo.c", "standard"),  # the members of a published ensemble
                ("src/study/run/fingerprint.c", "family")}  # what a numeric fingerprint is made of never changes


def second_lists(tree):
    """No second list of the columns of results, or of the kernels."""
    texts = {s.path: s.text for s in tree.sources}
    for path in (tree.root / "analysis").rglob("*.py"):
        if path.relative_to(tree.root).parts[1] != "build":  # a copy that `pip install ./analysis` makes
            texts[path.relative_to(tree.root).as_posix()] = path.read_text()
    homes = {"columns": ("src/regatta/results.h", r'\bCOLUMN\(\s*\w+,\s*"(\w+)"', 8),
             "kernels": ("src/gp/kernel/list.h", r"(?:families/|^RG_KERNEL\()(\w+)", 4)}
    several = re.compile(r"[\[({]\s*(\"?\w+\"?(?:\s*,\s*\"?\w+\"?){3,})")
    holder = re.compile(r"\b(\w+)(?:\[\w*\])?\s*=\s*$")
    for what, (home, pattern, most) in homes.items():
        names = set(re.findall(pattern, texts.get(home, ""), re.M))
        if home in texts and not names:
            yield home, 1, f"has no list of {what} that this rule can read"
        for path, text in texts.items():
            for match in several.finditer(text):
                found = {re.sub(r'"|^RG_[A-Z]+?_', "", word.strip()).lower() for word in match.group(1).split(",")}
                if len(found & names) < most or path == home:
                    continue
                held = holder.search(text, max(match.start() - 100, 0), match.start())
                if (path, held and held.group(1)) not in SECOND_LISTS:
                    yield path, text.count("\n", 0, match.start()) + 1, f"a second list of {what}, whose home is {home}"


# the one conversion of old files, and where the key is hashed or passed on
KEYS = {"src/study/hdf5/group_schema2.c", "analysis/regatta_analysis/load/schema2.py",
        "analysis/regatta_analysis/load/reader.py", "analysis/regatta_analysis/load/group.py"}


def keys(tree):
    """The key of a trial and the text of a cell are compared and hashed, nothing else: what they say stands in the
    table of cells."""
    search = (r"\b(?:strstr|strcasestr|strr?chr|strc?spn|strpbrk|strtok\w*|strsep|memchr|memmem|sscanf)\s*\([^;]*?"
              r"\b(?:record\w*(?:->|\.)key|cell\w*(?:->|\.)text)\b|\"[^\"\n]*;problem=")
    for source in tree.sources:
        for match in re.finditer(search, source.text) if source.path not in KEYS else ():
            yield source.path, source.text.count("\n", 0, match.start()) + 1, "a key is read: see the table of cells"
    for folder in ("analysis", "experiments"):
        for path in sorted((tree.root / folder).rglob("*.py")):
            name = path.relative_to(tree.root).as_posix()
            if name in KEYS or name.startswith("analysis/build/"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(r"""(?:texts|column|values)\(["']key["']|\[["']key["']\]|["'];?problem=""", line):
                    yield name, number, "a key is read: see the table of cells"


RULES = [total, classes, externals, last_names, second_lists, keys]
