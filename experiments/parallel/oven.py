#!/usr/bin/env python3
"""A program that takes its time: the quality of an imaginary cake, after a bake of some tenths of a second.

Regatta starts one of it for each worker. `worker` in a request is the number of the worker, from 1, for example to
choose a GPU; `attempt` is above 1 where an evaluation was lost and is asked for again.
"""
import json
import math
import sys
import time


def bake(temperature, minutes):
    time.sleep(0.1 + 0.01 * minutes)
    return 10 * math.exp(-((temperature - 178) / 25) ** 2 - ((minutes - 33) / 12) ** 2)


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "value": bake(**request["x"])}), flush=True)
