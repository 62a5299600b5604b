"""Every rule of the house finds a planted breach, and finds nothing in a clean tree."""
import pathlib
import subprocess
import tempfile
import unittest

import check_house

CLEAN = {"src/base/core.h": "/* The ground. */\n#ifndef RG_BASE_CORE_H\n#define RG_BASE_CORE_H\n#endif\n",
         "src/base/tool.h": "/* A tool. */\n#ifndef RG_BASE_TOOL_H\n#define RG_BASE_TOOL_H\ntypedef struct {\n  int n;\n} RgTool;\n"
                         "int rg_tool_size(int n);\n#endif\n",
         "src/base/tool.c": '/* The tool. */\n#include "base/tool.h"\n\nint rg_tool_size(int n)\n{\n'
                            "  return n;\n}\n"}
BODY = "/* A file. */\nint rg_odd_size(int n)\n{{\n  {}\n}}\n"

# rule -> files that break it
PLANTED = {
    "floors": [{"src/base/odd.c": '/* A file. */\n#include "cli/command.h"\n'},
               {"src/algorithm/odd.c": '/* A file. */\n#include "regatta/problem.h"\n'},
               {"src/regatta/odd.h": '/* A file. */\n#include "base/tool.h"\n'},
               {"src/gp/kernel/odd.c": '/* A file. */\n#include "gp/model/model.h"\n'},
               {"src/study/spec/odd.c": '/* A file. */\n#include "study/store/store.h"\n'},
               {"src/nowhere/odd.c": "/* A file. */\n"}],
    "words": [{"src/base/odd.c": BODY.format("exit(n);")}, {"src/gp/team/odd.c": BODY.format('printf("x");')},
              {"src/base/odd.c": BODY.format("qsort_r(a, n, 4, f, b);")},
              {"src/study/run/odd.c": BODY.format("return MPI_COMM_WORLD != n;")},
              {"src/study/store/odd.c": BODY.format("MPI_Barrier(n);")},
              {"src/maths/odd.c": BODY.format("return rand();")},
              {"src/acquisition/odd.c": BODY.format("return model->posterior.set != NULL;")}],
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
    "theory": [{"analysis/regatta_analysis/odd.py": "BETA = 2 * np.log(points * np.pi**2 * t**2 / 6)\n"}],
    "heads": [{"src/base/odd.c": "int rg_odd_size(int n)\n{\n  return n;\n}\n"}],
    "paths": [{"src/base/odd.c": "/* As in base/gone.h. */\n"}],
    "shape": [{"src/base/odd.c": "/* A file. */\n" + "\n" * 700},
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
    "top": [{"odd": "left by a command\n"}],
}


def found(files):
    with tempfile.TemporaryDirectory(prefix="regatta-test-") as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", "-C", folder, *command], check=True)
        return {breach[0] for breach in check_house.breaches(folder)[0]}


class House(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(found(CLEAN), set())

    def test_many_parameters(self):
        """Kernels of vector instructions may take many parameters, their neighbours may not."""
        text = PLANTED["functions"][1]["src/base/odd.c"]
        self.assertEqual(found({**CLEAN, "src/gp/kernel/tiles_odd.c": text}), set())
        self.assertIn("functions", found({**CLEAN, "src/gp/kernel/odd.c": text}))

    def test_increments(self):
        """A value that is used may be that after the step."""
        for text in ("if (++n > 3) n--;", "a[--n] = 1;", "f(a, ++n);", "for (; ++n < 3;) a();", "a = b ? c : --d;"):
            with self.subTest(text=text):
                self.assertEqual(found({**CLEAN, "src/base/odd.c": BODY.format(text)}), set())

    def test_planted(self):
        for rule in check_house.RULES:
            for files in PLANTED[rule.__name__]:
                with self.subTest(rule=rule.__name__, files=list(files)):
                    self.assertIn(rule.__name__, found({**CLEAN, **files}))


if __name__ == "__main__":
    unittest.main()
