#!/usr/bin/env python3
"""A program that Regatta asks for values: the yield of an imaginary reaction.

One request per line comes in, one answer per line goes out; the end of the input is the end of the
program. Standard output is for answers only, everything else goes to standard error.
"""
import json
import math
import sys


def reaction_yield(temperature, stirrers, solvent):
    """Percent; best at 71.5 degrees with 3 stirrers in ethanol."""
    solvents = {"water": 12.0, "ethanol": 0.0, "toluene": 5.0}
    return 92.0 * math.exp(-((temperature - 71.5) / 30) ** 2) - 1.5 * (stirrers - 3) ** 2 \
        - solvents[solvent]


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"id": request["id"], "value": reaction_yield(**request["x"])}
        except Exception as error:  # the trial fails with this message; the study goes on
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
