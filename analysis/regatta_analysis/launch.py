"""Runs of the program on several ranks, which a signal stops cleanly."""
import contextlib
import os
import shlex
import signal
import subprocess

from .load.errors import InputError
from .load.program import program


def ranks():
    """The number of ranks to use: $REGATTA_RANKS, or all cores."""
    return int(os.environ.get("REGATTA_RANKS") or os.cpu_count())


def words():
    """The command that starts the program on several ranks."""
    more = ["--oversubscribe"] if ranks() > os.cpu_count() else []
    return ["mpirun", *more, "-n", str(ranks())]


def add_option(parser):
    """Add an option for another command that starts the program."""
    parser.add_argument("--launch", type=shlex.split, default=words(), metavar="COMMAND",
                        help=f"how the program is started on several ranks (default: {shlex.join(words())})")


def required():
    """The program; raises InputError without it."""
    if not program():
        raise InputError("this needs the program regatta: build it, or name it in REGATTA")
    return program()


def run(command):
    """Exit code of a command. A signal to this program becomes USR1, on which ranks commit and end."""
    asroot = {f"OMPI_ALLOW_RUN_AS_ROOT{more}": "1" for more in ("", "_CONFIRM")} if os.geteuid() == 0 else {}
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=os.environ | asroot)
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from error
    with contextlib.ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            before = signal.signal(number, lambda *_: child.send_signal(signal.SIGUSR1))
            stack.callback(signal.signal, number, before)
        return child.wait()


def complete(results):
    """Whether all trials of a study are in its results."""
    return not subprocess.run([program(), "status", results], capture_output=True, check=False).returncode
