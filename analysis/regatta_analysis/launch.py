"""Runs of the program on several ranks, which a signal stops cleanly."""
import contextlib
import functools
import os
import shlex
import signal
import subprocess
import threading

from .load.errors import InputError
from .load.program import program

# Signals that stop a run of the program too. Its session does not get those of this process, which they would end.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)


def ranks():
    """The number of ranks to use: $REGATTA_RANKS, or all cores."""
    return int(os.environ.get("REGATTA_RANKS") or os.cpu_count())


def words(n=None):
    """The command that starts the program on n ranks (None: on `ranks()`)."""
    n = n or ranks()
    return ["mpirun", *(oversubscribed() if n > os.cpu_count() else []), "-n", str(n)]


@functools.cache
def oversubscribed():
    """Options with which mpirun starts more ranks than there are cores: Open MPI wants one, others have none."""
    try:
        said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return ["--oversubscribe"] if "Open MPI" in said else []


def add_option(parser):
    """Add an option for another command that starts the program."""
    parser.add_argument("--launch", type=shlex.split, default=words(), metavar="COMMAND",
                        help=f"how the program is started on several ranks (default: {shlex.join(words())})")


def required():
    """The program; raises InputError without it."""
    if not program():
        raise InputError("this needs the program regatta: build it, or name it in REGATTA")
    return program()


def start(command, **streams):
    """Start a command in a session of its own, so that a signal of the terminal reaches this process alone. An
    environment `env` replaces this one's."""
    asroot = {f"OMPI_ALLOW_RUN_AS_ROOT{more}": "1" for more in ("", "_CONFIRM")} if os.geteuid() == 0 else {}
    environment = {**streams.pop("env", os.environ), **asroot}
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=environment, **streams)
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from error


@contextlib.contextmanager
def relayed(command, **streams):
    """Start a command; gives it and the list of signals so far. Meanwhile a signal to this process becomes USR1 for the
    child, on which ranks commit and end. USR1 is repeated, less and less often, until the child ends, because mpirun
    loses the signals that it gets while it starts. Only the main thread receives signals."""
    received, first, over = [], threading.Event(), threading.Event()

    def receive(number, _):
        received.append(number)
        first.set()

    def repeat():
        first.wait()
        pause = 0.05
        while not over.is_set():
            child.send_signal(signal.SIGUSR1)
            over.wait(pause)
            pause = min(2 * pause, 5)
    with contextlib.ExitStack() as stack:
        for number in STOPS:
            ignored = number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN  # by nohup
            if threading.current_thread() is threading.main_thread() and not ignored:
                stack.callback(signal.signal, number, signal.signal(number, receive))
        child = start(command, **streams)
        sender = threading.Thread(target=repeat, daemon=True)
        sender.start()
        try:
            yield child, received
        finally:
            over.set()
            first.set()
            sender.join()


def run(command):
    """Exit code of a command. A signal to this program becomes USR1, on which ranks commit and end. A launcher that
    dies of USR1 has stopped as well: it is about to start its ranks or to close after they have ended."""
    with relayed(command) as (child, signals):
        code = child.wait()
        return 0 if signals and code == -signal.SIGUSR1 else code


def complete(results):
    """Whether all trials of a study are in its results."""
    return not subprocess.run([program(), "status", results], capture_output=True, check=False).returncode
