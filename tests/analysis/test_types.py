"""The rooms that others program with, load and stats: public functions say their types, and no room imports one above."""
import ast
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "analysis" / "regatta_analysis"


def public_functions(tree, prefix=""):
    for node in tree.body:
        name = getattr(node, "name", "_")
        if isinstance(node, ast.ClassDef) and not name.startswith("_"):
            yield from public_functions(node, f"{name}.")
        elif isinstance(node, ast.FunctionDef) and not name.startswith("_"):
            yield prefix + name, node


class Types(unittest.TestCase):
    def test_signatures_are_complete(self):
        seen = 0
        for path in (*(PACKAGE / "load" / f"{name}.py" for name in ("load", "results", "group")),
                     *(PACKAGE / "stats").glob("*.py")):
            for name, node in public_functions(ast.parse(path.read_text())):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                bare = [a.arg for a in arguments if a.annotation is None and a.arg != "self"]
                self.assertEqual((bare, node.returns is None), ([], False), f"{path.name}: {name}")
                seen += 1
        self.assertGreater(seen, 60)

    def test_no_room_imports_one_above(self):
        """The loader computes no statistics, and neither it nor the statistics draw figures or write pages."""
        above = {"load": {"stats", "figures", "claims", "report"}, "stats": {"figures", "claims", "report"}}
        for room, others in above.items():
            for path in (PACKAGE / room).glob("*.py"):
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.ImportFrom) and node.level == 2:
                        names = {(node.module or "").split(".")[0], *(name.name for name in node.names if not node.module)}
                        self.assertFalse(names & others, f"{path.name}, line {node.lineno}")
