#!/usr/bin/env python3
"""A program for the tests: a parabola that notes every question and misbehaves on demand."""
import argparse
import json
import os
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--calls", help="file that gets a line per question")
parser.add_argument("--delay", type=float, default=0, help="seconds an answer takes")
parser.add_argument("--slow", help="the delay is over when this file is gone")
parser.add_argument("--burn", type=float, default=0, help="seconds of CPU an answer takes")
parser.add_argument("--at", type=int, default=0, help="evaluation at which to misbehave")
parser.add_argument("--how", default="")
parser.add_argument("--constrained", action="store_true", help="answer with two constraints")
parser.add_argument("--duration", action="store_true", help="answer with a duration")
parser.add_argument("--silent-at", type=int, default=0, help="evaluation whose answer has no duration")
parser.add_argument("--once", help="misbehave only if this file is not there, and make it")
options = parser.parse_args()


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


WRONG = {  # answers, by the name of what is wrong with them
    "error": '{"id": %(id)d, "error": "no convergence"}',
    "garbage": "\x01\xff} not json",
    "list": "[1, 2]",
    "text": '{"id": %(id)d, "value": "1.5"}',
    "infinite": '{"id": %(id)d, "value": 1e999}',
    "enormous": '{"id": %(id)d, "value": 1e300}',
    "no_constraint": '{"id": %(id)d, "value": 1, "constraints": {"cost": 1}}',
    "text_constraint": '{"id": %(id)d, "value": 1, "constraints": {"cost": "low", "size": 1}}',
    "enormous_constraint": '{"id": %(id)d, "value": 1, "constraints": {"cost": 1e300, "size": 1}}',
    "no_id": '{"value": 1}',
    "other_id": '{"id": %(other)d, "value": 1}',
}


def misbehave(request):
    """Does what was asked for; a return goes on with the right answer."""
    if options.once:
        if os.path.exists(options.once):
            return False
        open(options.once, "w").close()
    how, number = options.how, request["id"]
    if how == "crash":
        print("it broke", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "raise":
        raise ValueError("the reactor is on fire")
    elif how == "silent":
        time.sleep(1000)
    elif how == "leave":
        sys.exit(0)
    elif how == "long":  # a traceback of 25 kB; beyond ASCII the line of the answer is cut within a character
        print("Traceback:", *(f"  line {i}, in naïve" for i in range(1000)), sep="\n", file=sys.stderr, flush=True)
        say(json.dumps({"id": number, "error": "no convergence " + "a" * (number % 3) + "€" * 100}) + "\n")
    elif how in WRONG:
        say(WRONG[how] % {"id": number, "other": number + 1} + "\n")
    elif how == "twice":
        say('{"id": %d, "value": -1}\n' % number * 2)
        time.sleep(0.2)
    elif how == "huge":
        say("x" * 1000000)
        time.sleep(1000)
    else:
        raise SystemExit(f"unknown misbehaviour {how}")
    return True


for line in sys.stdin:
    request = json.loads(line)
    if options.calls:
        with open(options.calls, "a") as calls:
            calls.write(f"{os.getpid()} {request['trial']} {request['evaluation']}\n")
    if not options.slow or os.path.exists(options.slow):
        time.sleep(options.delay)
    end = time.process_time() + options.burn
    while time.process_time() < end:
        pass
    if options.at and request["evaluation"] == options.at and misbehave(request):
        continue
    x = request["x"]
    answer = {"id": request["id"], "value": -(x["a"] - 0.3) ** 2 - 0.1 * (x["n"] - 4) ** 2}
    if options.constrained:
        answer["constraints"] = {"cost": x["a"] - 0.25, "size": x["n"] - 6}
    if options.duration and request["evaluation"] != options.silent_at:
        answer["duration"] = 0.2 + x["a"]
    answer["record"] = {"half": x["a"] / 2, "remark": "no number, and the studies name it nowhere"}
    say(json.dumps(answer) + "\n")
