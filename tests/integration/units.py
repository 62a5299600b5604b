#!/usr/bin/env python3
"""Branin times 2^UNIT, for the tests of units, answered in lines of JSON."""
import json
import math
import os
import sys

UNIT = int(os.environ["UNIT"])

for line in sys.stdin:
    request = json.loads(line)
    a, b = request["x"]["a"], request["x"]["b"]
    value = (b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10
    print(json.dumps({"id": request["id"], "value": math.ldexp(-value, UNIT)}), flush=True)
