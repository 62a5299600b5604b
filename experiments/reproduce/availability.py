"""The problems of a study that can run here. Data sets and programs of other authors may be missing. A reproduction
runs a copy of the study file without such problems, and names each of them with the reason."""
import re
import signal
import subprocess
from pathlib import Path

import yaml

from regatta_analysis.load.yaml_file import read_yaml

MISSING = re.compile(r":\d+:\d+: (?:\w+: )?(there is no file .*); left out: (.*)")


def leave_out(path, regatta):
    """Remove the problems that can't run from the study file `path`. Returns {label: reason}, and whether any problem
    is left. `regatta` is the program that knows which data are missing. Mistakes of another kind are left to the run.
    """
    text = path.read_text(encoding="utf-8")
    entries = _entries(text)
    found = {}
    for labels, reason in _without_data(path, regatta):
        found |= {k: reason for k, (_, _, label) in enumerate(entries) if f", {label}, " in f", {labels}, "}
    for k, problem in enumerate(read_yaml(path).get("problems", [])):
        reason = k not in found and isinstance(problem, dict) and _silent(problem, path.parent)
        found |= {k: reason} if reason else {}
    if found and len(found) < len(entries):
        gone = {line for k in found for line in range(*entries[k][:2])}
        path.write_text("".join(line for n, line in enumerate(text.splitlines(True))
                                if n not in gone), encoding="utf-8")
    return {entries[k][2]: reason for k, reason in found.items()}, len(found) < len(entries)


def words(missing):
    """{label: reason} as text; "" if it is empty."""
    return "; ".join(f"{', '.join(k for k, v in missing.items() if v == reason)}: {reason}"
                     for reason in dict.fromkeys(missing.values()))


def names(text, label):
    """Whether a text made by `words` names the problem."""
    return any(f", {label}, " in f", {part.partition(': ')[0]}, " for part in text.split("; "))


def last_words(done, prefix=""):
    """The lines that a failed program wrote to standard error. If a signal ended it, or it wrote no lines: how it
    ended."""
    code = done.returncode
    lines = done.stderr.strip().splitlines()
    if code < 0:
        return [*lines, f"{prefix}ended by {signal.Signals(-code).name}"]
    return lines or [f"{prefix}exit code {code}"]


def _entries(text):
    """(first line, line after the last, label) of every problem, counted from 0."""
    root = yaml.compose(text, yaml.BaseLoader)
    problems = next((value for key, value in root.value if key.value == "problems"), None)
    entries = []
    for node in problems.value if isinstance(problems, yaml.SequenceNode) else []:
        names = {key.value: value.value for key, value in node.value
                 } if isinstance(node, yaml.MappingNode) else {"name": node.value}
        last = node.end_mark.line + (node.end_mark.column > 0)
        entries.append((node.start_mark.line, last, names.get("label", names.get("name", ""))))
    return entries


def _without_data(path, regatta):
    """(labels of problems, reason) of every file that is missing; nothing if the study has other mistakes."""
    done = subprocess.run([regatta, "plan", path, "-quick"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith(f"{path}:")] if done.returncode else []
    found = [MISSING.search(line) for line in lines]
    return [(m[2], m[1]) for m in found] if all(found) else []


def _silent(problem, folder):
    """Why the program that a problem asks can't answer; '' if it can. Without a request, such a program ends with an
    exit code, and with a line on standard error if something that it needs is missing."""
    if not Path(str(problem.get("program", ""))).is_absolute():
        return ""
    command = [problem["program"], *map(str, problem.get("arguments", []))]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=300, cwd=folder)
    except (OSError, subprocess.SubprocessError) as error:
        return " ".join(str(error).split())
    if done.returncode:
        return last_words(done)[-1]
    return ""
