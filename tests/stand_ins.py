"""Makes stand-ins for the solvers of others that PETSc is linked with and Regatta never calls: stand_ins.py PROGRAM
FOLDER. With FOLDER in LD_LIBRARY_PATH a start takes half of its 0.1 s of CPU, of which loading and binding these
libraries is the rest; a suite of tests starts programs thousands of times. A call of one ends the program.

None is made without binutils and a compiler, for a library with versions of symbols, or where the program would say
anything else with them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOLVERS = re.compile(r"lib(HYPRE|[sdcz]mumps|superlu|superlu_dist|trilinos_ml|ptscotch|parmetis|spqr|umfpack|cholmod|klu|amd)\b")


def output(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def symbols(path, option):
    """{name, with a version if it has one: its kind} of the dynamic symbols of a library."""
    lines = [line.split() for line in output("nm", "-D", option, path).splitlines()]
    return {words[-1]: words[-2] for words in lines}


def make(program, folder):
    paths = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", program)))
    petsc, = (path for name, path in paths.items() if name.startswith("libpetsc"))
    asked = symbols(petsc, "--undefined-only")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", petsc)):
        if not SOLVERS.match(name) or name not in paths:
            continue
        used = {symbol: kind for symbol, kind in symbols(paths[name], "--defined-only").items() if symbol in asked}
        if all(map(str.isidentifier, used)):
            text = "".join(f"void *{symbol}[64];\n" if kind in "BDR" else f"void {symbol}(void) {{ __builtin_trap(); }}\n"
                           for symbol, kind in sorted(used.items()))
            output("cc", "-shared", "-fPIC", "-w", "-fno-builtin", "-x", "c", "-", f"-Wl,-soname,{name}", "-o", folder / name,
                   input=text)


def main(program, folder):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        make(program, folder)
        places = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        plain, with_them = (subprocess.run([program, "version"], capture_output=True, env={**os.environ, **more})
                            for more in ({}, {"LD_LIBRARY_PATH": places}))
        same = (plain.returncode, plain.stdout, plain.stderr) == (0, with_them.stdout, with_them.stderr)
    except (OSError, subprocess.CalledProcessError, ValueError):
        same = False
    if not same:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
