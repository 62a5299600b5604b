"""Rules about commits: those after the one that is named here, as far as they are at hand."""
import re
import subprocess

SINCE = "1f424fd7227b5d5e9837b2a922c0aef91e048e18"
MAX_TITLE = 72
LIMITS = "tests/house/limits.txt"


def git(tree, *words):
    """The answer of git; "" outside of a repository, or where a commit is not there (a shallow clone)."""
    done = subprocess.run(["git", "-C", str(tree.root), *words], capture_output=True, text=True, errors="replace")
    return done.stdout if not done.returncode else ""


def commits(tree, since):
    """(id, title) of the commits after `since`: none where git has not got it, or it is in another history."""
    if git(tree, "rev-parse", "--show-prefix").strip():
        return []
    log = git(tree, "log", "--no-merges", "--format=%H %s", f"{since}..HEAD")
    return [(line[:40], line[41:].strip()) for line in log.splitlines()]


def titles(tree, since=SINCE):
    """A title says what a commit does in a line that fits everywhere."""
    for commit, title in commits(tree, since):
        if len(title) > MAX_TITLE:
            yield commit[:10], 1, f"its title has {len(title)} characters, at most {MAX_TITLE}: {title}"


def raised(tree, since=SINCE):
    """A limit is raised by a commit of its own that says why."""
    for commit in git(tree, "rev-list", "--no-merges", f"{since}..HEAD", "--", LIMITS).split():
        changes = git(tree, "show", "--format=", "--unified=0", commit, "--", LIMITS)
        old, new = ({(kind, name): int(number) for kind, name, number in
                     re.findall(rf"^\{sign}(\w+)\s+(\S+)\s+(\d+)", changes, re.M)} for sign in "-+")
        higher = [name for kind, name in new if (kind, name) in old and new[kind, name] > old[kind, name]]
        if not higher:
            continue
        files = git(tree, "show", "--format=", "--name-only", commit).split()
        reason = git(tree, "log", "-1", "--format=%b", commit).strip()
        if files != [LIMITS] or not reason:
            yield commit[:10], 1, f"raises the limit of {', '.join(higher)} beside other changes, or says not why"


RULES = [titles, raised]
