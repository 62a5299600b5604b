#!/usr/bin/env python3
"""Seconds of a trial by `regatta plan`, beside the CPU seconds that a trial then takes.

    python3 tests/bench/plan_accuracy.py [REGATTA] [-T 50,200] [--keep FOLDER] [METHOD ...]

One row per method and length. The ratio should lie between 1/1.5 and 1.5. With --keep, the trials of an earlier run in
FOLDER count, so that only the plans are made again."""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

BOX, CONTEXT, FINITE = "hartmann6", "ackley_context", "himmelblau_composite"
RACE = {
    BOX: "random latin_hypercube cma_es nelder_mead ei log_ei pi gp_ucb rgp_ucb irgp_ucb ts pims mes jes turbo "
         "knowledge_gradient boke boke_plus kr_ucb".split(),
    CONTEXT: "erbo wdrbo wdrbo_exact sbo_kde drbo_kde drbo_mmd drbo_mmd_minimax stable_opt rrgp_ucb_continuous".split(),
    FINITE: "rrgp_ucb bbbmobo random_sampling uncertainty_sampling bq bpt_ucb".split(),
}
STUDY = """study: accuracy
seeds: {seeds}
common: {{iterations: {iterations}, initial_points: 10}}
problems: [{problem}]
algorithms: [{method}]
"""
UNITS = {"s": 1, "min": 60, "h": 3600}


def estimate(program, study):
    done = subprocess.run([program, "plan", study], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    return seconds_of(done.stdout), ""


def seconds_of(text):
    number, unit = re.search(r"\S+ +\S+ +([\d.e+-]+) (s|min|h) +\S+ MB$", text, re.MULTILINE).groups()
    return float(number) * UNITS[unit]


def measure(program, study, output):
    environment = {**os.environ, "REGATTA_CACHE": "off"}
    if not output.exists():
        subprocess.run([program, "run", study, "-o", output, "-quiet"], check=True, stdout=subprocess.DEVNULL,
                       env=environment)
    done = subprocess.run([program, "plan", study, "-o", output, "-quick"], check=True, capture_output=True,
                          text=True)
    return seconds_of(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="build/regatta")
    parser.add_argument("methods", nargs="*")
    parser.add_argument("-T", default="50,200")
    parser.add_argument("--seeds", type=int, default=2, help="trials that are measured; many for those of milliseconds")
    parser.add_argument("--keep", help="folder for the results files")
    arguments = parser.parse_intermixed_args()
    print("| method | problem | T | plan | trial | ratio |\n|---|---|---|---|---|---|")
    for problem, methods in RACE.items():
        for method in methods:
            for iterations in map(int, arguments.T.split(",")):
                if arguments.methods and method not in arguments.methods:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    name = f"{method}-{iterations}"
                    study = pathlib.Path(folder, "study.yaml")
                    study.write_text(STUDY.format(
                        seeds=arguments.seeds, iterations=iterations, problem=problem, method=method))
                    planned, mistake = estimate(arguments.program, study)
                    if mistake:
                        print(f"{method} on {problem}: {mistake}")
                        continue
                    took = measure(arguments.program, study, pathlib.Path(arguments.keep or folder, f"{name}.h5"))
                print(f"| {method} | {problem} | {iterations} | {planned:.3g} s | {took:.3g} s | {planned / took:.2f} |",
                      flush=True)


if __name__ == "__main__":
    main()
