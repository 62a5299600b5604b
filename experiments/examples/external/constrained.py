#!/usr/bin/env python3
"""A program with outcome constraints: the throughput of an imaginary server, which must answer fast
enough and fit into memory, and sometimes does not start at all.
"""
import json
import math
import sys


def serve(threads, cache, codec, level):
    """Requests per second; seconds of latency and GB of memory beyond what is allowed."""
    if codec == "none" and cache > 400:
        raise MemoryError("the cache does not fit uncompressed")
    work = {"none": 1.0, "lz4": 1.15, "zstd": 1.2 + 0.05 * (level or 0)}[codec]
    shrink = {"none": 1.0, "lz4": 2.0, "zstd": 2.4 + 0.1 * (level or 0)}[codec]
    hits = 1 - math.exp(-cache * shrink / 500)
    throughput = 1000 * threads / (1 + 0.04 * threads ** 1.5) * (0.2 + hits) / work
    latency = 0.05 * work + 0.004 * threads
    return throughput, {"latency": latency - 0.12, "memory": (cache + 20 * threads) / 1000 - 0.6}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            throughput, constraints = serve(**request["x"])
            answer = {"id": request["id"], "value": throughput, "constraints": constraints}
        except Exception as error:  # handled as the study's `on_failure` says
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
