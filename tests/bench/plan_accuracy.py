#!/usr/bin/env python3
"""Seconds of a trial by `regatta plan -json`, beside the seconds in the results file of trials that then run.

    python3 tests/bench/plan_accuracy.py [REGATTA] [-T 50,200] [--keep FOLDER] [--page PAGE.md] [METHOD ...]

One row per method; a trial's seconds are those of its CPU, with programs those of the wall clock. FOLDER keeps results
and plans: what is in it is not run again, and `--again` repeats only the plans. The table of all that FOLDER has goes
to the screen; a page gets its last sentences between the markers."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import h5py

PROGRAMS = pathlib.Path(__file__).parents[2] / "experiments/examples"
ENOUGH = 1.5  # seconds of all trials of a cell
HARTMANN, ACKLEY, HIMMELBLAU = "hartmann6", "ackley_context", "himmelblau_composite"
RACE = {  # problem, and what else the cell needs: its methods
    (HARTMANN, ""): "random latin_hypercube cma_es nelder_mead ei log_ei pi gp_ucb rgp_ucb irgp_ucb ts pims eims mes jes turbo "
                    "knowledge_gradient boke boke_plus kr_ucb density_exploration variance_exploration aegis hebo",
    (HARTMANN, ", workers: 4, duration: halfnormal(1)"): "ucb_pe q_ei ei_per_cost gittins",
    ("gardner", ""): "constrained_ei",
    (ACKLEY, ""): "erbo wdrbo edrbo swbbo sbo_kde drbo_kde drbo_mmd drbo_mmd_minimax stable_opt rrgp_ucb_continuous",
    (HIMMELBLAU, ""): "rrgp_ucb bbbmobo random_sampling uncertainty_sampling bq",
    (HIMMELBLAU + ", setting: announced", ""): "cgp_ucb",
    (HIMMELBLAU + ", measure: var(0.2)", ""): "v_ucb",
    (HIMMELBLAU + ", measure: cvar(0.2)", ""): "cv_ucb",
    (HIMMELBLAU + ", measure: ptr(0)", ""): "bpt_ucb",
}
OUTSIDE = {  # the program and its arguments
    "random_search.sh": "random_search.sh", "differential_evolution": "scipy_search.py differential_evolution",
    "dual_annealing": "scipy_search.py dual_annealing", "scipy nelder_mead": "scipy_search.py nelder_mead",
    "tpe": "optuna_search.py tpe", "optuna cmaes": "optuna_search.py cmaes",
    "direct_l": "nlopt_search.py direct_l", "crs2": "nlopt_search.py crs2", "bobyqa": "nlopt_search.py bobyqa",
    "sklearn_bo": "sklearn_bo.py",
}
EVALUATOR = ('name: external, label: reaction, program: "%s", inputs: [temperature real 20 120, stirrers integer 1 6, '
             'solvent choice water ethanol toluene], optimum: 92' % (PROGRAMS / "external/evaluator.py"))
STUDY = """study: accuracy
seeds: {seeds}
common: {{iterations: {iterations}, initial_points: 10{common}}}
problems: [{{{problem}}}]
algorithms: [{{{method}}}]
"""
MARKS = "<!-- plan accuracy -->", "<!-- end of plan accuracy -->"


def cells():
    """Name, problem, method and run settings of every row, as text of a study file; whether a program takes part."""
    for (problem, common), methods in RACE.items():
        for method in methods.split():
            yield method, f"name: {problem}", f"name: {method}", common, False
    for name, command in OUTSIDE.items():
        program, *words = command.split()
        method = f'name: external, label: method, program: "{PROGRAMS / "optimiser" / program}", arguments: {words}'
        yield name + "*", f"name: {HARTMANN}", method if words else method.partition(", arguments")[0], "", True
    yield "ei on a program*", EVALUATOR, "name: ei", "", True
    yield "wdrbo_exact", f"name: {ACKLEY}", "name: wdrbo_exact", "", False  # the dearest


def clock(results, waits):
    """Mean seconds of the trials in a results file, and their number."""
    with h5py.File(results) as file:
        group = next(g for name, g in file.items() if isinstance(g, h5py.Group) and "seed" in g)
        seconds = group["provenance"]["wall" if waits else "cpu"][()]
        return {"trial": float(seconds.mean()), "n": len(seconds), "failed": int((group["status"][()] != 1).sum())}


def measure(program, study, results, waits):
    """Trials of a cell: two, or up to 100 if they are short."""
    for seeds in (2, 10, 100):
        path = results.with_suffix(".yaml")
        path.write_text(study(seeds))
        subprocess.run([program, "run", path, "-o", results, "-quiet"], check=True, stdout=subprocess.DEVNULL)
        took = clock(results, waits)
        if took["trial"] * took["n"] > ENOUGH:
            break
    return took


def estimate(program, study, folder):
    path = folder / "plan.yaml"
    path.write_text(study(2))
    done = subprocess.run([program, "plan", path, "-json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{path}: {done.stderr.strip()}")
    return json.loads(done.stdout)["cells"][0]["seconds"]


def row(arguments, folder, cell, iterations):
    """Plan and trial of a cell, from the folder if they are there."""
    name, problem, method, common, waits = cell
    stem = re.sub(r"\W+", "-", name.rstrip("*")) + f"-{iterations}"
    results, kept = folder / f"{stem}.h5", folder / f"{stem}.json"

    def study(seeds):
        return STUDY.format(seeds=seeds, iterations=iterations, common=common, problem=problem, method=method)

    if arguments.kept and not (results.exists() and kept.exists()):
        return None
    planned = json.loads(kept.read_text())["plan"] if kept.exists() and not arguments.again else None
    if planned is None:
        planned = estimate(arguments.program, study, folder)
        kept.write_text(json.dumps({"plan": planned}))
    took = clock(results, waits) if results.exists() else measure(arguments.program, study, results, waits)
    return {"plan": planned, **took}


def table(rows, lengths):
    """rows: of (name, T). A line per problem has its methods with their longest trials, as seconds and, in brackets, those
    of the plan as a ratio to them; sentences say what the plans of all lengths reach."""
    lines, found = ["| problem | methods |", "|---|---|"], {}
    for name, problem, _, common, _ in cells():
        cell = rows.get((name, lengths[-1]))
        if cell:
            label = re.search(r"label: (\w+)", problem) or re.search(r"name: (.*)", problem)
            found.setdefault(label[1] + common, []).append(
                f"{name} {cell['trial']:.2g} ({cell['plan'] / cell['trial']:.2f})")
    lines += [f"| {problem} | {', '.join(methods)} |" for problem, methods in found.items()]
    return "\n".join(lines + ["", verdicts(rows, lengths)])


def verdicts(rows, lengths):
    return "\n".join(verdict(rows, t) for t in lengths)


def verdict(rows, length):
    """How many rows of a length reach the goal, and which do not."""
    told = []
    for what, star, goal in (("built-in methods", False, 1.5), ("rows with a program (*)", True, 2.0)):
        mine = {name: it["plan"] / it["trial"] for (name, t), it in rows.items()
                if t == length and name.endswith("*") == star}
        outside = [f"{name.rstrip('*')} {ratio:.2f}" for name, ratio in mine.items() if not 1 / goal <= ratio <= goal]
        told.append(f"{len(mine) - len(outside)} of {len(mine)} {what} within a factor of {goal:g}"
                    + (f" (outside: {', '.join(outside)})" if outside else ""))
    return f"- T = {length}: {'; '.join(told)}."


def publish(page, text):
    before, rest = page.read_text().split(MARKS[0])
    page.write_text(before + MARKS[0] + "\n" + text + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/regatta")
    parser.add_argument("methods", nargs="*")
    parser.add_argument("-T", default="50,200")
    parser.add_argument("--keep", help="folder for plans and results files")
    parser.add_argument("--again", action="store_true", help="plan again what FOLDER has")
    parser.add_argument("--kept", action="store_true", help="run nothing: the table of what FOLDER has")
    parser.add_argument("--page", type=pathlib.Path, help="page that gets the sentences")
    arguments = parser.parse_intermixed_args()
    if not arguments.kept and not shutil.which(arguments.program):
        parser.error(f"{arguments.program!r} is no program; the first word is the path of regatta")
    lengths = [int(t) for t in arguments.T.split(",")]
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(arguments.keep or scratch)
        folder.mkdir(exist_ok=True)
        for cell in cells():
            for t in lengths:
                if arguments.methods and cell[0].rstrip("*") not in arguments.methods:
                    continue
                it = row(arguments, folder, cell, t)
                if it is None:
                    continue
                rows[cell[0], t] = it
                print(f"{cell[0]} {t}: {it['plan']:.3g} s, {it['trial']:.3g} s, {it['plan'] / it['trial']:.2f}, "
                      f"{it['n']} trials, {it['failed']} failed", flush=True)
    if arguments.page:
        publish(arguments.page, verdicts(rows, lengths))
    else:
        print(table(rows, lengths))


if __name__ == "__main__":
    main()
