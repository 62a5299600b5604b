#!/usr/bin/env python3
"""An optimiser for the tests: a fixed sequence that misbehaves on demand."""
import argparse
import json
import os
import random
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--at", type=int, default=0, help="query at which to misbehave")
parser.add_argument("--how", default="")
parser.add_argument("--heard", help="file that gets every request")
parser.add_argument("--entropy", action="store_true", help="not reproducible")
parser.add_argument("--fit", type=float, default=0, help="CPU seconds that every ask reports as a fit")
parser.add_argument("--one", action="store_true", help="speak the protocol for one worker whatever is asked for")
parser.add_argument("--once", help="misbehave only if this file is not there, and make it")
options = parser.parse_args()


def say(identity, **members):
    print(json.dumps({"id": identity, **members}), flush=True)


def draw():
    if "points" in space:
        flying = {p["index"] for p in request.get("pending", ())}
        left = [i for i in range(len(space["points"])) if i not in seen | flying]
        return generator.choice(left)
    return [generator.uniform(a, b) for a, b in zip(space["lower"], space["upper"])]


WRONG = {
    "outside": lambda x: {"x": [1e6] + x[1:]},
    "short": lambda x: {"x": x[1:]},
    "text": lambda x: {"x": ["warm"] + x[1:]},
    "nothing": lambda x: {},
    "record": lambda x: {"x": x, "record": {"width": "wide"}},
    "error": lambda x: {"error": "no idea"},
    "fit": lambda x: {"x": x, "fit": {"wall": 1}},
    "seen": lambda x: {"index": sorted(seen)[0]},
    "flying": lambda x: {"index": request["pending"][0]["index"]},
    "no_point": lambda x: {"x": [0.123456]},
    "no_index": lambda x: {"index": 100000},
}


def misbehave(identity, x):
    if options.once:
        if os.path.exists(options.once):
            return False
        open(options.once, "w").close()
    if options.how == "crash":
        print("it broke", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif options.how == "silent":
        time.sleep(1000)
    elif options.how == "not_json":
        print('{"id": %d, "x": [NaN, 1]}' % identity, flush=True)
    elif options.how == "garbage":
        print("well ...", flush=True)
    else:
        say(identity, **WRONG[options.how](x))
    return True


seen = set()
for line in sys.stdin:
    request = json.loads(line)
    if options.heard:
        with open(options.heard, "a") as heard:
            heard.write(line)
    do, identity = request["do"], request["id"]
    if do == "start":
        if options.how == "no_start":
            say(identity)
            continue
        space = request["space"]
        generator = random.Random(None if options.entropy else request["seed"])
        seen = {e.get("index") for e in request["initial"]}
        context = request.get("context", {})
        say(identity, protocol=1 if options.one else request["protocol"], versions={"numpy": "1.24", "odd; name": "2, 3"})
    elif do == "ask":
        x = draw()
        if options.at == request["t"] and misbehave(identity, x):
            continue
        answer = {"index": x} if "points" in space else {"x": x}
        if context.get("control") == "learner":
            if "points" in context:
                answer["c_index"] = generator.randrange(len(context["points"]))
            else:
                answer["c"] = [generator.uniform(a, b)
                               for a, b in zip(context["lower"], context["upper"])]
        if options.fit:
            begin = time.process_time()
            while time.process_time() - begin < 1.2 * options.fit:  # the rest is no fit
                pass
            answer["fit"] = {"wall": options.fit, "cpu": options.fit}
        say(identity, record={"width": request["t"] / 8, "unknown": 1}, **answer)
    else:
        seen.add(request.get("index"))
        recommended = {"recommendation": [0.5] * len(request["x"])} if options.how == "centre" else {}
        say(identity, **recommended)
