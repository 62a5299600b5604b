"""What the installed library shows: headers of the front door that stand alone, few symbols."""
import pathlib
import re
import subprocess

from regatta_test import HERE, REGATTA, RegattaTest, main

MOST_SYMBOLS = 300


class FrontDoor(RegattaTest):
    def test_symbols(self):
        build = pathlib.Path(REGATTA).parent
        for name in ("regatta", "libregatta.so"):
            out = subprocess.run(["nm", "-D", "--defined-only", build / name], check=True,
                                 capture_output=True, text=True).stdout
            symbols = [line.split()[-1] for line in out.splitlines()]
            ours = {symbol for symbol in symbols if symbol.startswith("rg_")}
            self.assertLess(len(symbols), MOST_SYMBOLS, name)
            headers = "".join(p.read_text() for p in (HERE.parents[1] / "src/regatta").glob("*.h"))
            self.assertEqual({symbol for symbol in ours if not re.search(rf"\b{symbol}\b", headers)},
                             set(), f"{name} exports what no public header declares")
            self.assertIn("rg_run", ours)

    def test_headers_stand_alone(self):
        build, prefix = pathlib.Path(REGATTA).parent, self.folder / "prefix"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        package, = prefix.rglob("regatta.pc")
        flags = subprocess.run(["pkg-config", "--cflags", package], check=True,
                               capture_output=True, text=True).stdout.split()
        installed = sorted(p.relative_to(prefix / "include").as_posix()
                           for p in (prefix / "include").rglob("*") if p.is_file())
        self.assertEqual({name.split("/")[0] for name in installed}, {"regatta"})
        self.assertTrue(list(prefix.rglob("libregatta.so.*")))
        for name in installed:
            source = self.write("alone.c", f"#include <{name}>\n#include <{name}>\nint nothing;\n")
            subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source,
                            *flags], check=True)


if __name__ == "__main__":
    main()
