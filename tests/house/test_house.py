"""Every rule of the house finds a planted breach, and finds nothing in a clean tree."""
import pathlib
import subprocess
import tempfile
import unittest

import check_house
import history

CLEAN = {"src/base/core.h": "/* The ground. */\n#ifndef RG_BASE_CORE_H\n#define RG_BASE_CORE_H\n#endif\n",
         "src/base/tool.h": "/* A tool. */\n#ifndef RG_BASE_TOOL_H\n#define RG_BASE_TOOL_H\ntypedef struct {\n"
                         "  int n;\n} RgTool;\n"
                         "int rg_tool_size(int n);\n#endif\n",
         "src/base/tool.c": '/* The tool. */\n#include "base/tool.h"\n\nint rg_tool_size(int n)\n{\n'
                            "  return n;\n}\n",
         "src/base/user.c": '/* Its user. */\n#include "base/tool.h"\n\nstatic int twice(int n)\n{\n'
                            "  return rg_tool_size(n) + rg_tool_size(n);\n}\n",
         "tests/house/limits.txt": "# A comment.\nlines src 900  # another\n"}
BODY = "/* A file. */\nstatic int odd_size(int n)\n{{\n  {}\n}}\n"
OUTER = "/* A file. */\nint rg_odd_size(int n)\n{\n  return n;\n}\n"

HEADER = "/* A header. */\n#ifndef RG_BASE_ODD_H\n#define RG_BASE_ODD_H\n{}\n#endif\n"
COLUMNS = "/* A table. */\n" + "".join(f'  COLUMN(C{i}, "column{i}", 1) \n' for i in range(9))

# rule -> files that break it
PLANTED = {
    "floors": [{"src/base/odd.c": '/* A file. */\n#include "cli/command.h"\n'},
               {"src/algorithm/odd.c": '/* A file. */\n#include "regatta/problem.h"\n'},
               {"src/extra/external/optimiser.c": '/* A file. */\n#include "regatta/problem.h"\n'},
               {"src/regatta/odd.h": '/* A file. */\n#include "base/tool.h"\n'},
               {"src/gp/kernel/odd.c": '/* A file. */\n#include "gp/model/model.h"\n'},
               {"src/study/file/odd.c": '/* A file. */\n#include "study/store/store.h"\n'},
               {"src/theory/odd.c": '/* A file. */\n#include "study/file/study.h"\n'},
               {"src/cli/odd.c": '/* A file. */\n#include "extra/bbob/bbob.h"\n'},
               {"src/nowhere/odd.c": "/* A file. */\n"}],
    "words": [{"src/base/odd.c": BODY.format("exit(n);")}, {"src/gp/team/odd.c": BODY.format('printf("x");')},
              {"src/base/odd.c": BODY.format("qsort_r(a, n, 4, f, b);")},
              {"src/study/run/odd.c": BODY.format("return MPI_COMM_WORLD != n;")},
              {"src/study/store/odd.c": BODY.format("MPI_Barrier(n);")},
              {"src/maths/odd.c": BODY.format("return rand();")},
              {"src/maths/odd.c": BODY.format("return strtod(n);")},
              {"src/acquisition/odd.c": BODY.format("return model->posterior.set != NULL;")}],
    "numbers": [{"src/base/odd.c": BODY.format('snprintf(n, 9, "%d; %.6g", n, 0.5);')},
                {"src/base/odd.c": BODY.format('return sscanf(n, "%d %lf", n);')}],
    "headers": [{"src/study/store/odd.c": "/* A file. */\n#include <hdf5.h>\n"},
                {"src/study/run/odd.c": "/* A file. */\n#include <yaml.h>\n"},
                {"src/theory/odd.c": "/* A file. */\n#include <gsl/gsl_cdf.h>\n"},
                {"src/gp/model/odd.c": "/* A file. */\n#include <petscksp.h>\n"}],
    "statics": [{"src/base/odd.c": "/* A file. */\nstatic int counter = 0;\n"},
                {"src/base/odd.c": BODY.format("static int calls = 0; return calls++;")}],
    "types": [{"src/gp/team/odd.h": "/* A header. */\ntypedef struct {\n  int m;\n} RgTool;\n"}],
    "modules": [{"src/base/odd.c": "/* A file. */\nint rg_odd_size(int n)\n{\n  return n;\n}\n",
                 "src/base/even.h": "/* A header. */\nint rg_odd_size(int n);\n"}],
    "functions": [{"src/base/odd.c": BODY.format("\n".join(["  n++;"] * 60))},
                  {"src/base/odd.c": "/* A file. */\nint rg_odd_size(" + ", ".join(f"int a{i}" for i in range(9))
                                     + ")\n{\n  return a0;\n}\n"}],
    "registered": [{"src/maths/odd.c": BODY.format("switch (n) {\n  case RG_KERNEL_ODD: return 1;\n"
                                                   "  default: return 0;\n  }")}],
    "needs": [{"src/regatta/algorithm.h": "/* Methods. */\ntypedef enum { RG_NEEDS_A = 1, RG_NEEDS_AB = 2 } RgNeeds;\n",
               "src/cli/catalogue.c": "/* Words. */\nstatic const int needs[] = {RG_NEEDS_AB};\n"}],
    "theory": [{"analysis/regatta_analysis/odd.py": "BETA = 2 * np.log(points * np.pi**2 * t**2 / 6)\n"}],
    "heads": [{"src/base/odd.c": "int rg_odd_size(int n)\n{\n  return n;\n}\n"}],
    "paths": [{"src/base/odd.c": "/* As in base/gone.h. */\n"},
              {"tests/unit/test_odd.c": "/* As in base/gone.h. */\n"}],
    "names": [{"src/base/odd.c": "/* Like rg_gone_size. */\n"}, {"tests/unit/test_odd.c": "/* An RgGone. */\n"}],
    "shape": [{"src/base/odd.c": "/* A file. */\n" + "\n" * 1000},
              {"src/base/odd.c": "/* A file. */\n/* " + "long " * 30 + "*/\n"},
              {"src/base/odd.c": "/* A file. */\n\tint;\n"}],
    "guards": [{"src/base/odd.h": "/* A header. */\n#ifndef RG_ODD_H\n#define RG_ODD_H\n#endif\n"},
               {"src/base/odd.h": "/* A header. */\n"},
               {"tests/odd.h": "/* A header. */\n#ifndef RG_ODD_H\n#define RG_ODD_H\n#endif\n"}],
    "increments": [{"src/base/odd.c": BODY.format("++n;")}, {"src/base/odd.c": BODY.format("while (n < 3) ++n;")},
                   {"src/base/odd.c": BODY.format("for (int i = 0; i < n; ++i) n--;")},
                   {"src/base/odd.c": BODY.format("for (int i = 0; i < n; n--, ++*a) i++;")},
                   {"src/base/odd.c": BODY.format("if (n)\n    --a[n(1)].b;")},
                   {"tests/odd.c": BODY.format("else ++n;")}],
    "total": [{"src/base/odd.c": "/* A file. */\n" + "/* long */\n" * 900},
              {"tests/house/limits.txt": "lines src 20\n"}, {"tests/house/limits.txt": "\n"}],
    "classes": [{"src/base/odd.h": HEADER.format("typedef struct {\n" + "".join(
                     f"  int (*f{i})(struct {{ int a; }} *b, int n);\n" for i in range(25)) + "} RgOddClass;")},
                {"src/base/odd.h": HEADER.format("struct RgOddClass {\n" + "  int f;\n" * 25 + "};")},
                {"src/base/odd.h": HEADER.format("struct RgOddClass {\n" + "  int f;\n" * 5 + "};"),
                 "tests/house/limits.txt": "lines src 900\nfields RgOddClass 4\n"}],
    "externals": [{"src/base/odd.c": OUTER},
                  {"src/base/odd.c": OUTER.replace("return n", "return rg_odd_size(n - 1)"),
                   "src/base/odd.h": HEADER.format("int rg_odd_size(int n);")}],
    "last_names": [{"src/base/odd.h": HEADER.format("typedef enum { RG_RED, RG_BLUE } RgColour;"),
                    "tests/odd.c": BODY.format("for (int i = 0; i <= RG_BLUE; i++) n++;")},
                   {"tests/odd.c": BODY.format("for (int i = RG_KERNEL_RED; i <= RG_KERNEL_BLUE; i++) n++;")}],
    "second_lists": [{"src/regatta/results.h": COLUMNS,
                      "src/base/odd.c": "/* A file. */\nstatic const char *const a[] = {"
                      + ", ".join(f'"column{i}"' for i in range(8)) + "};\n"},
                     {"src/regatta/results.h": "/* A header without its table. */\n"},
                     {"src/regatta/results.h": COLUMNS, "analysis/odd.py": "NAMES = ("
                      + ",\n         ".join(f'"column{i}"' for i in range(8)) + ")\n"},
                     {"src/gp/kernel/list.h": "/* A list. */\n" + "".join(
                         f'#include "gp/kernel/families/{name}.h"\n' for name in ("red", "blue", "green", "grey")),
                      "src/base/odd.c": BODY.format("int a[] = {RG_KERNEL_RED, RG_KERNEL_BLUE, RG_KERNEL_GREEN,\n"
                                                    "           RG_KERNEL_GREY};")}],
    "keys": [{"src/base/odd.c": BODY.format('return strstr(record->key, ",goal=");')},
             {"src/base/odd.c": BODY.format('return strchr(a->n == 1 ? cell->text : b, n);')},
             {"src/base/odd.c": BODY.format('return f(n, ";problem=");')},
             {"analysis/regatta_analysis/odd.py": 'def odd(group):\n    return group.texts("key", [0])\n'},
             {"experiments/odd.py": "def odd(group):\n    return group['key'][0]\n"}],
    "top": [{"odd": "left by a command\n"}],
}


def found(files, rule=None):
    """Names of the rules that are broken, of all or of one."""
    rules = [r for r in check_house.RULES if rule in (None, r.__name__)]
    with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for command in (["init", "-q"], ["add", "."]) if check_house.top in rules else ():
            subprocess.run(["git", "-C", folder, *command], check=True)
        return {breach[0] for breach in check_house.breaches(folder, rules)[0]}


class House(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(found(CLEAN), set())

    def test_allowed(self):
        """Allowed by limits.txt, or a breach in appearance only."""
        for rule, files in (
                ("last_names", {"src/base/odd.h": HEADER.format("typedef enum { RG_RED, RG_BLUE } RgColour;"),
                                "src/base/odd.c": BODY.format("for (int i = 0; i < 3 && n <= RG_BLUE; i++) n++;")}),
                ("last_names", {"src/base/odd.c": BODY.format("for (int i = 0; i < RG_KERNEL_FAMILIES; i++) n++;")}),
                ("classes", {"src/base/odd.h": HEADER.format("struct RgOddClass {\n" + "  int f;\n" * 25 + "};"),
                             "tests/house/limits.txt": "fields RgOddClass 25\n"}),
                ("externals", {"src/base/odd.c": OUTER, "tests/odd.c": BODY.format("rg_odd_size(2);")}),
                ("second_lists", {"src/regatta/results.h": COLUMNS, "src/base/odd.c": '/* A file. */\n'
                                  'static const char *const a[] = {"column1", "column2", "red", "blue"};\n'})):
            with self.subTest(rule=rule, files=list(files)):
                self.assertEqual(found({**CLEAN, **files}, rule), set())

    def test_many_parameters(self):
        """Kernels of vector instructions may take many parameters, their neighbours may not."""
        text = PLANTED["functions"][1]["src/base/odd.c"]
        self.assertEqual(found({**CLEAN, "src/gp/kernel/tiles_odd.c": text}, "functions"), set())
        self.assertEqual(found({**CLEAN, "src/gp/kernel/odd.c": text}, "functions"), {"functions"})

    def test_increments(self):
        """A value that is used may be that after the step."""
        for text in ("if (++n > 3) n--;", "a[--n] = 1;", "f(a, ++n);", "for (; ++n < 3;) a();", "a = b ? c : --d;"):
            with self.subTest(text=text):
                self.assertEqual(found({**CLEAN, "src/base/odd.c": BODY.format(text)}, "increments"), set())

    def test_planted(self):
        for rule in check_house.RULES:
            for files in PLANTED[rule.__name__] if rule not in history.RULES else ():
                with self.subTest(rule=rule.__name__, files=list(files)):
                    self.assertEqual(found({**CLEAN, **files}, rule.__name__), {rule.__name__})


class History(unittest.TestCase):
    """Commits of a repository made for it, from its first one on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="regatta-test-")
        self.addCleanup(folder.cleanup)
        self.tree = check_house.Tree(folder.name)
        self.git("init", "-q")
        self.limits = self.tree.root / "tests" / "house" / "limits.txt"
        self.limits.parent.mkdir(parents=True)
        self.limits.write_text("lines base 900\nlines cli 100\n")
        self.first = self.commit("Begin")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.tree.root, "-c", "user.name=A", "-c", "user.email=a@b", *words],
                              check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, *message):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", *(word for text in message for word in ("-m", text)))
        return self.git("rev-parse", "HEAD")

    def found(self, since=None):
        return [rule.__name__ for rule in history.RULES for _ in rule(self.tree, since or self.first)]

    def test_titles(self):
        self.commit("t" * 72)
        self.assertEqual(self.found(), [])
        long = self.commit("t" * 73)
        self.assertEqual(self.found(), ["titles"])
        self.assertEqual(self.found(long), [])

    def test_raised(self):
        self.limits.write_text("lines base 950\nlines cli 90\n")
        self.commit("Raise a limit", "It is needed.")
        self.limits.write_text("lines cli 90\nlines base 940\nlines new 5\n")
        (self.tree.root / "other").write_text("")
        self.commit("Lower a limit, and add a room")
        self.assertEqual(self.found(), [])
        self.limits.write_text("lines cli 91\nlines base 940\nlines new 5\n")
        self.commit("Raise a limit for no reason")
        self.assertEqual(self.found(), ["raised"])
        self.limits.write_text("lines cli 92\nlines base 940\nlines new 5\n")
        (self.tree.root / "other").write_text("more")
        self.commit("Raise a limit beside others", "It is needed.")
        self.assertEqual(self.found(), ["raised", "raised"])

    def test_elsewhere(self):
        """In a clone without the older commits, and where there is no git, nothing is found wrong."""
        self.commit("t" * 73)
        with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
            subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{self.tree.root}", f"{folder}/shallow"],
                           check=True)
            for name in ("shallow", "no-git"):
                self.tree = check_house.Tree(f"{folder}/{name}")
                self.assertEqual(self.found(), [])


if __name__ == "__main__":
    unittest.main()
