"""The command `regatta-analysis` as pip installs it: it says in one line which package is missing."""
import sys


def main() -> int:
    try:
        from regatta_analysis.__main__ import main as analysis
        return int(analysis() or 0)
    except ModuleNotFoundError as error:
        print(f"regatta-analysis needs the package {error.name} (Debian: python3-{error.name})", file=sys.stderr)
    except ImportError as error:
        print(f"regatta-analysis: {error}", file=sys.stderr)
    return 2
