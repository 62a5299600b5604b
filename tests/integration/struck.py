#!/usr/bin/env python3
"""A program for tests of kills: a parabola that notes every question, and kills itself or its parent at questions
that a plan names. Arguments: a file for the questions, a JSON file {"N": [VICTIM, MOMENT]} with the number of the
question among those of all processes. After it has killed its parent no program answers any more: a rank that is dead
ends the other ranks a little later."""
import json
import os
import signal
import sys

LENGTH = 32  # bytes of a note
STRUCK = sys.argv[1] + ".struck"  # exists when a parent was killed
notes = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
with open(sys.argv[2]) as file:
    plan = json.load(file)


def strike(victim):
    if victim != "child":
        open(STRUCK, "w").close()
    os.kill(os.getpid() if victim == "child" else os.getppid(), signal.SIGKILL)
    if victim != "child":
        sys.stdin.read()  # the parent is dead at its end


for line in sys.stdin:
    request = json.loads(line)
    os.write(notes, f"{request['evaluation']} {request['worker']} {request['attempt']}".ljust(LENGTH - 1).encode() + b"\n")
    victim, moment = plan.get(str(os.lseek(notes, 0, os.SEEK_CUR) // LENGTH), (None, None))
    if os.path.exists(STRUCK):
        sys.stdin.read()
        break
    answer = json.dumps({"id": request["id"], "value": -(request["x"]["a"] - 0.3) ** 2}) + "\n"
    if moment == "asked":
        strike(victim)
    if moment == "answering":
        answer, rest = answer[:9], answer[9:]
    sys.stdout.write(answer)
    sys.stdout.flush()
    if moment in ("answering", "answered"):
        strike(victim)
        sys.stdout.write(rest if moment == "answering" else "")
        sys.stdout.flush()
