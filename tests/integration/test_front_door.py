"""The installed library: headers of the front door that stand alone, few symbols."""
import os
import pathlib
import re
import subprocess

from regatta_test import HERE, REGATTA, RegattaTest, install

MOST_SYMBOLS = 300
EXAMPLE = HERE.parents[1] / "experiments" / "examples" / "embed"


class FrontDoor(RegattaTest):
    @classmethod
    def setUpClass(cls):
        cls.prefix = install(cls)

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
        prefix = self.prefix
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

    def test_embed(self):
        """The example built with CMake and with pkg-config; its results are those of the program."""
        prefix = self.prefix
        study = EXAMPLE / "study.yaml"
        for command in (["cmake", "-S", EXAMPLE, "-B", self.folder / "build",
                         f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", self.folder / "build"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        package, = prefix.rglob("regatta.pc")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], check=True,
                               capture_output=True, text=True).stdout.split()
        plain = self.folder / "embed"
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", EXAMPLE / "embed.c", "-o", plain, *flags,
                        f"-Wl,-rpath,{package.parents[1]}"], check=True)
        expected = self.folder / "expected.h5"
        self.run_ok("run", study, "-o", expected, "-quiet")
        for program, ranks in ((self.folder / "build/embed", 3), (plain, 1)):
            output = self.folder / f"{ranks}.h5"
            done = subprocess.run(["mpirun", "-n", str(ranks), program, study,
                                   output], capture_output=True, text=True,
                                  env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("12 of 12 trials run", done.stdout)
            self.assertEqual(len(re.findall(r"seed \d+: 14 evaluations, simple regret [\d.e+-]+\n",
                                            done.stdout)), 12)
            self.assertEqual(self.checksum(output), self.checksum(expected))
        wrong = self.write("wrong.yaml", "study: x\nseeds: none\n")
        done = subprocess.run([plain, wrong, self.folder / "wrong.h5"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("seeds", done.stderr)

    def test_programs_of_the_document(self):
        prefix = self.prefix
        package, = prefix.rglob("regatta.pc")
        blocks = re.findall(r"```c\n(.*?)```", (HERE.parents[1] / "docs/library.md").read_text(), re.S)
        self.assertEqual(len(blocks), 3)
        compiler = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror"]

        def flags(*what):
            return subprocess.run(["pkg-config", *what, package], check=True, capture_output=True,
                                  text=True).stdout.split()
        for name, block in zip(("run", "plugin", "read"), blocks):
            source = self.write(f"{name}.c", block)
            if name == "plugin":
                subprocess.run([*compiler, "-shared", "-fPIC", source, *flags("--cflags"), "-o",
                                self.folder / "dart.so"], check=True)
            else:
                subprocess.run([*compiler, source, *flags("--cflags", "--libs"),
                                f"-Wl,-rpath,{package.parents[1]}", "-o", self.folder / name], check=True)
        listed = self.run_ok("list", "algorithms", "-plugin", self.folder / "dart.so")
        self.assertIn("dart", listed)
        self.assertEqual(re.findall(r"^(\w+) .* knows constraints ", listed, re.M), ["constrained_ei", "external"])
        self.write("study.yaml", (EXAMPLE / "study.yaml").read_text())
        for name in ("run", "read"):
            done = subprocess.run([self.folder / name], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("on branin: last observation"), 12)
