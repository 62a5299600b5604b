"""Public functions of the rooms that others program with, load and stats, say their types."""
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
