#!/usr/bin/env python3
"""Builds the documentation site: docs/build_docs.py PROGRAM OUTPUT (./run.sh docs).

The pages are the Markdown files of the repository, at their places, and the README in front. Beside
them stands what the program says of itself (`regatta list`, `describe`, `help`), a page for every
name, and Doxygen's pages of the public headers. Any warning of Sphinx or Doxygen is an error."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
KATEX, SHARED = Path("/usr/share/javascript/katex"), Path("/usr/share")
KINDS = {"algorithms": "algorithm", "problems": "problem", "kernels": "kernel", "theory": "(?:theory|formula)"}
TITLES = {"algorithms": "Methods", "problems": "Problems", "kernels": "Kernels", "theory": "Theory"}
MATHEMATICS = {"algorithms": "methods", "problems": "problems"}  # pages of docs/
BLOCKS = {"study": "Study files", "run": "Settings of a run", "surrogate": "The block `surrogate`",
          "maximiser": "The block `maximiser`", "workers": "Workers and clock", "crew": "The block `crew`",
          "thinking": "The block `thinking`", "pending": "The block `pending`",
          "noise": "The block `noise`"}


class Program:
    """The output of `regatta`, parsed."""

    def __init__(self, path):
        self.path = path
        self.said = {}

    def ask(self, *words):
        if words not in self.said:
            self.said[words] = subprocess.run([self.path, *words], check=True, capture_output=True, text=True).stdout
        return self.said[words]

    def names(self, kind):
        """[(name, title, needs of methods and problems, summary)]"""
        return next(table for table in tables(self.ask("list", kind)))[1:]

    def describe(self, name, kind):
        """The part of `describe NAME` that is about this kind: several things may share a name."""
        parts = re.split(rf"^(?={re.escape(name)}: .* \([a-z ]+(?:, revision \d+)?\)$)", self.ask("describe", name),
                         flags=re.M)
        return next(p for p in parts if re.match(rf"{re.escape(name)}: .* \({kind}", p)).rstrip()


def columns(header):
    return [m.start() for m in re.finditer(r"(?:(?<=  )|^)\S", header)]


def is_header(line, following):
    starts = columns(line)
    return len(starts) > 1 and line[:1].strip() and len(following) > starts[1] and \
        following[starts[1] - 2:starts[1]].isspace() and not following.startswith(" ")


def pieces(text):
    """Text as ('lines', [line]) and ('table', [[cell]]) in turn."""
    rest, found = text.splitlines(), []
    while rest:
        line = rest.pop(0)
        if rest and is_header(line, rest[0]):
            starts, rows = columns(line), [line]
            while rest and rest[0].strip():
                rows.append(rest.pop(0))
            found.append(("table", [[row[a:b].strip() for a, b in zip(starts, [*starts[1:], None])] for row in rows]))
        elif found and found[-1][0] == "lines":
            found[-1][1].append(line)
        else:
            found.append(("lines", [line]))
    return found


def tables(text):
    return [content for kind, content in pieces(text) if kind == "table"]


def escaped(text):
    """Text as it is in Markdown, what stands between a pair of backticks as code."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([\\`*_{}\[\]<>|$~#])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"`{part}`".replace("|", "\\|") for part in parts[1::2]]
    return "".join(parts)


def grid(rows, show=escaped):
    """A Markdown table whose first column is code."""
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    return "\n".join([line(rows[0]), line(["---"] * len(rows[0])),
                      *(line(["`" + r[0].replace("|", "\\|") + "`", *map(show, r[1:])]) for r in rows[1:])])


def parameters(rows):
    """A parameters table in two columns, for narrow screens: what is said of the type goes below the meaning."""
    found = [["name", "meaning"]]
    for name, kind, default, accepted, *symbol, doc in rows[1:]:
        facts = [kind, "required" if default == "required" else f"default {default}"]
        facts += [what for what in (accepted, *symbol) if what != "-"]
        found.append([name, f"{escaped(doc)}<br><small>{' · '.join(map(escaped, facts))}</small>"])
    return grid(found, str)


def prose(lines):
    """Words as a paragraph, what is laid out as it is, and options as a table."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    if not lines:
        return ""
    if not any(line.startswith(" ") for line in lines):
        text = "\n".join(lines)
        return escaped(text[0].upper() + text[1:])
    return "```text\n" + "\n".join(lines) + "\n```"


def manual(text):
    """The usage of a command: how it is called, then a table of its options."""
    usage, *rest = text.strip().splitlines()
    found = [re.fullmatch(r"  (-.*?)  +(.*)", line) for line in rest]
    options = [[m.group(1), m.group(2)] for m in found if m]
    others = [line for line, m in zip(rest, found) if not m]
    parts = [f"```text\n{usage.removeprefix('usage: ')}\n```", grid([["option", "meaning"], *options]) if options else "",
             prose(others)]
    return "\n\n".join(p for p in parts if p)


def body(text):
    """A whole answer: its tables as tables, a line before one as its title, the rest as it is."""
    parts = []
    for kind, content in pieces(text):
        if kind == "table":
            known = content[0][:4] == ["name", "type", "default", "range"] and content[0][-1] == "meaning"
            parts.append(parameters(content) if known else grid(content))
            continue
        last = content[-1].rstrip(":") if content and content[-1].strip() and not content[-1].startswith(" ") else ""
        parts.append(prose(content[:-1] if last else content))
        if last:
            parts.append(f"## {escaped(last)}" if len(last) < 70 else escaped(last))
    return "\n\n".join(p for p in parts if p)


FIELD = re.compile(r"  ([A-Z][a-z]+(?: [a-z]+){0,5}): (.*)")


def card(text):
    """A description up to its first table: formula, then the fields."""
    lines, formula, fields = text.splitlines()[1:], [], []
    for line in lines:
        field = FIELD.fullmatch(line)
        if field:
            fields.append(list(field.groups()))
        elif not line.startswith("  "):
            break
        elif fields:
            fields[-1][1] += " " + line.strip()
        else:
            formula.append(line[2:])
    rest = "\n".join(lines[len(formula):])
    rest = rest[rest.index("\n\n"):] if "\n\n" in rest else ""
    return formula, fields, rest.strip("\n")


def mathematics(root, kind):
    """The sections of docs/methods.md or docs/problems.md by the name they are of."""
    if kind not in MATHEMATICS:
        return {}
    parts = re.split(r"^## (\w+)\n", (root / f"docs/{MATHEMATICS[kind]}.md").read_text(), flags=re.M)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2])}


def used_by(root, kind, name):
    """Study files whose list of problems or algorithms has this name."""
    found = []
    for path in sorted((root / "experiments").rglob("*.yaml")):
        section = re.search(rf"^{kind}:(.*?)(?=^\w|\Z)", path.read_text(), re.S | re.M)
        if section and re.search(rf"(?:-|name:|[\[,])\s*{name}\b(?!:)", section.group(1)):
            found.append(path.relative_to(root).as_posix())
    return found


def value_of(field, value):
    text = escaped(value[0].upper() + value[1:])
    if field != "Reads":
        return text
    return re.sub(r"\b(surrogate|maximiser)\b", r"[\1](../\1.md)", text)


def page(program, root, kind, name, formulas):
    formula, fields, rest = card(program.describe(name, KINDS[kind]))
    title = program.describe(name, KINDS[kind]).splitlines()[0]
    parts = [f"# {escaped(title.split(': ', 1)[1].rsplit(' (', 1)[0])}",
             f"`{name}` in a study file, {title.rsplit('(', 1)[1].rstrip(')')}." if kind in ("algorithms", "problems")
             else f"`{name}`"]
    if kind == "problems" or not formulas:
        parts.append(prose(formula))
    if formulas:
        parts += ["## Mathematics", formulas]
    parts += [f"**{field}.** {value_of(field, value)}" for field, value in fields]
    parts.append(body(rest))
    studies = used_by(root, kind, name) if kind in ("algorithms", "problems") else []
    shown = figures(root)
    pictures = [f"![{shown[s][1]}](../../{shown[s][0]})\n\n*From [{s}](../../{s}), one of the figures of "
                "[the gallery](../../docs/gallery.md).*" for s in shown if s in studies]
    if kind == "algorithms" and pictures:
        parts += ["## Figure", pictures[0]]
    if studies:
        parts += ["## Studies with it", "\n".join(f"- [{s}](../../{s})" for s in studies)]
    return "\n\n".join(p for p in parts if p) + "\n"


def figures(root):
    """{study file: (figure, its words)} of docs/gallery.md, by its sections."""
    found = {}
    for section in re.split(r"^## ", (root / "docs/gallery.md").read_text(), flags=re.M)[1:]:
        picture, study = re.search(r"!\[(.*?)\]\((.*?)\)", section), re.search(r"\]\(\.\./(\S+\.yaml)\)", section)
        if picture and study:
            found[study.group(1)] = ("docs/" + picture.group(2), picture.group(1))
    return found


def tree(entries, caption=""):
    head = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    return "```{toctree}\n" + "\n".join(head) + "\n\n" + "\n".join(entries) + "\n```"


def reference(program, root, out):
    """The descriptions in the program, as pages in out/reference."""
    place = out / "reference"
    for kind in KINDS:
        sections = mathematics(root, kind)
        (place / kind).mkdir(parents=True)
        rows = program.names(kind)
        for name, *_ in rows:
            (place / kind / f"{name}.md").write_text(page(program, root, kind, name, sections.get(name)))
        lines = ["| name | | | |", "|---|---|---|---|"]
        lines += [f"| [`{n}`]({kind}/{n}.md) | {escaped(t)} | {escaped(' '.join(needs))} | {escaped(s)} |"
                  for n, t, *needs, s in rows]
        (place / f"{kind}.md").write_text("\n\n".join(
            [f"# {TITLES[kind]}", f"The names of `regatta list {kind}`; `regatta describe NAME` prints each page.",
             "\n".join(lines), tree([f"{kind}/{n}" for n, *_ in rows])]) + "\n")
    (place / "measures.md").write_text(f"# Measures and laws\n\nRobustness measures over contexts, and the laws "
                                       f"contexts are drawn from.\n\n{body(program.ask('describe', 'measures'))}\n\n"
                                       f"## Laws\n\n{body(program.ask('describe', 'laws'))}\n")
    for block, title in BLOCKS.items():
        (place / f"{block}.md").write_text(f"# {title}\n\n{body(program.ask('describe', block).split(': ', 1)[1])}\n")
    commands(program, place / "commands.md")
    headers(root, place / "headers.md")


def commands(program, path):
    text = program.ask("help")
    names = re.findall(r"^  ([a-z]+)  +(\S.*)$", text.split("regatta help COMMAND")[0], re.M)
    variables = re.findall(r"^  ([A-Z_]+)  +(\S.*)$", text, re.M)
    parts = ["# The command", "`regatta COMMAND ...`; options of PETSc, such as `-log_view`, go behind its own.",
             "\n".join(["| command | |", "|---|---|", *(f"| [`{n}`](#regatta-{n}) | {escaped(doc)} |" for n, doc in names)]),
             "## Exit codes",
             grid([["code", "meaning"], *re.findall(r"^ +(\d+)  (.*)$", text.split("Exit codes:")[1], re.M)]),
             "## Environment", grid([["variable", "meaning"], *variables])]
    for name, _ in names:
        parts += [f"## regatta {name}", manual(program.ask("help", name))]
    said = subprocess.run([str(ROOT / "run.sh"), "help"], check=True, capture_output=True, text=True).stdout
    parts += ["## ./run.sh", "```text\n" + said.strip("\n") + "\n```"]
    path.write_text("\n\n".join(p for p in parts if p) + "\n")


def headers(root, path):
    """A way to Doxygen's pages, which stand beside those of Sphinx."""
    rows = ["| header | |", "|---|---|"]
    for header in sorted((root / "src/regatta").glob("*.h")):
        words = re.match(r"/\* (.*?)(?:\*/|\n\n)", header.read_text(), re.S).group(1)
        rows.append(f'| <a href="../api/{header.stem}_8h.html">regatta/{header.name}</a> | '
                    f'{escaped(" ".join(words.split()))} |')
    path.write_text("# The C headers\n\nEvery function, type and macro of the front door, by Doxygen: "
                    '<a href="../api/index.html">the whole interface</a>. [Regatta as a library]'
                    "(../docs/library.md) shows how they are used.\n\n" + "\n".join(rows) + "\n")


class Pages:
    """Markdown of the repository, copied with what it links to."""

    def __init__(self, root, out):
        self.root, self.out = root, out
        self.todo, self.done = [], set()

    def add(self, path):
        if path not in self.done:
            self.done.add(path)
            self.todo.append(path)

    def target(self, page, link):
        """The target of a page's link in the site; adds it to the site."""
        path = Path(os.path.normpath(Path(page).parent / link))
        if (self.out / path).is_file() and path not in self.done:
            return link  # made by the program
        if not (self.root / path).exists():
            sys.exit(f"{page}: nothing is at {link}")
        if (self.root / path).is_dir():
            path = path / ("README.md" if (self.root / path / "README.md").is_file() else "files.md")
        self.add(path)
        if path.suffix == ".ipynb":
            path = path.with_suffix(".md")
        if path == Path("README.md"):
            path = Path("index.md")
        return os.path.relpath(path, Path(page).parent)

    def named(self, page, verb, name):
        """`regatta describe NAME` with a link to the page that has what it prints."""
        made = {"list": [f"{name}.md"], "help": ["commands.md"],
                "describe": [f"{name}.md", *(f"{kind}/{name}.md" for kind in KINDS)]}[verb]
        place = next((p for p in (self.out / "reference" / m for m in made) if p.exists()), None)
        code = f"`regatta {verb} {name}`"
        if not place:
            return code
        link = os.path.relpath(place, (self.out / page).parent)
        return f"[{code}]({link}{f'#regatta-{name}' if verb == 'help' else ''})"

    def follow(self, page, text):
        def change(match):
            start, link, anchor, end = match.groups()
            if re.match(r"[a-z]+:", link):
                return match.group()
            return start + self.target(page, link) + (anchor or "") + end
        text = re.sub(r"(?<!\[)`regatta (describe|list|help) ([a-z]\w*)`(?!\])", lambda m: self.named(page, *m.groups()),
                      text)
        blocks = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
        return "".join(b if b.startswith("```") else LINK.sub(change, b) for b in blocks)

    def folder(self, path):
        """A page of the files of a folder that has no README."""
        parts = [f"---\norphan: true\n---\n\n# {path.parent}"]
        for file in sorted((self.root / path.parent).iterdir()):
            if file.is_file() and file.suffix not in (".png", ".h5"):
                fence = "````"
                parts.append(f"## {file.name}\n\n{fence}text\n{file.read_text().rstrip()}\n{fence}")
        return "\n\n".join(parts) + "\n"

    def copy(self):
        while self.todo:
            path = self.todo.pop(0)
            goal = self.out / ("index.md" if path == Path("README.md") else path)
            goal.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".ipynb":
                goal.with_suffix(".md").write_text(self.follow(path, notebook(self.root / path, goal)))
            elif path.name == "files.md":
                goal.write_text(self.folder(path))
            elif path.suffix == ".md":
                goal.write_text(self.follow(path, (self.root / path).read_text()))
            else:
                shutil.copyfile(self.root / path, goal)


def notebook(path, goal):
    """The Markdown of a notebook with its outputs; writes its figures into the folder of `goal`."""
    from nbconvert import MarkdownExporter
    text, resources = MarkdownExporter().from_filename(str(path))
    for name, picture in resources["outputs"].items():
        (goal.parent / f"{path.stem}_{name}").write_bytes(picture)
        text = text.replace(f"]({name})", f"]({path.stem}_{name})")
    return text


def contents():
    """The tables of contents, from docs/contents.txt: a caption, then its pages."""
    found = []
    for block in (ROOT / "docs/contents.txt").read_text().split("\n\n"):
        caption, *entries = block.strip().splitlines()
        found.append((caption, entries))
    return found


def source(program, out):
    reference(program, ROOT, out)
    pages = Pages(ROOT, out)
    for made in sorted((out / "reference").rglob("*.md")):
        name = made.relative_to(out)
        made.write_text(pages.follow(name, made.read_text()))
    listed = contents()
    for entry in (e for _, entries in listed for e in entries):
        name = Path(entry.split("<")[-1].rstrip(">") + ".md")
        if not (out / name).exists() and "api/" not in entry:
            pages.add(name if (ROOT / name).exists() else name.with_suffix(".ipynb"))
    pages.add(Path("README.md"))
    pages.copy()
    with (out / "index.md").open("a") as front:
        front.write("\n" + "\n\n".join(tree(entries, caption) for caption, entries in listed) + "\n")
    for page in sorted(pages.done):  # reached by links only
        if page.suffix == ".md" and page.name != "files.md" and page != Path("README.md") and \
                not any(e.split("<")[-1].rstrip(">") == str(page.with_suffix("")) for _, es in listed for e in es):
            text = (out / page).read_text()
            (out / page).write_text(f"---\norphan: true\n---\n\n{text}")


def doxygen(out, version):
    out.mkdir(parents=True)
    settings = (ROOT / "docs/Doxyfile").read_text() + f'OUTPUT_DIRECTORY = "{out}"\nPROJECT_NUMBER = {version}\n'
    done = subprocess.run(["doxygen", "-"], cwd=ROOT, input=settings, text=True, capture_output=True)
    if done.returncode or done.stderr.strip():
        sys.exit(f"doxygen:\n{done.stderr}")


def self_contained(static):
    """Debian's theme takes a style sheet from the root of a web server and a script that is a module; browsers load
    neither from a file. The site gets the sheet of its own and one plain script."""
    for sheet in static.rglob("*.css"):
        text = sheet.read_text()
        for place in re.findall(r"@import url\(/(javascript/[^)]*)\)", text):
            shutil.copyfile(SHARED / place, sheet.with_name(Path(place).name))
            text = text.replace(f"url(/{place})", f"url({Path(place).name})")
        sheet.write_text(text)
    for script in static.glob("scripts/*.js"):
        text = script.read_text()
        for whole, module in re.findall(r"""^(import \w+ from ["']\./([^"']+)["'];)$""", text, re.M):
            wrapped = script.with_name(module).read_text()  # a heading "Exports" is a variable of that name in a browser
            text = f"(function (exports, define) {{\n{wrapped}\n}})();\n" + text.replace(whole, "")
        script.write_text(text)


def main(program, output):
    output = Path(output).resolve()
    work, html = output / "source", output / "html"
    for old in (work, html):
        shutil.rmtree(old, ignore_errors=True)
    (work / "extra").mkdir(parents=True)
    program = Program(program)
    version = re.search(r"\d+(\.\d+)+", program.ask("help")).group()
    source(program, work)
    shutil.copyfile(ROOT / "docs/conf.py", work / "conf.py")
    shutil.copytree(ROOT / "docs/_static", work / "_static")
    shutil.copytree(KATEX, work / "_static/katex", ignore=lambda _, names: {
        n for n in names if n in ("contrib", "katex.js", "katex.css", "katex.mjs")})
    doxygen(work / "extra/api", version)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d",
                           str(output / "doctrees"), str(work), str(html)],
                          env={**os.environ, "REGATTA_VERSION": version})
    if done.returncode:
        sys.exit(f"the site was not built: mend the pages in {ROOT / 'docs'} that are named above")
    self_contained(html / "_static")
    print(html / "index.html")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
