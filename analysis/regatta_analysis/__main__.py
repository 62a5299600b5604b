"""python3 -m regatta_analysis RESULTS.h5 --out DIR"""
import argparse
import sys
from pathlib import Path

from .load import InputError, load


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def _quantiles(text):
    low, high = (float(part) for part in text.split(","))
    if not 0.0 <= low < high <= 1.0:
        raise ValueError
    return low, high


def _parser():
    from .regret import METRICS
    parser = _Parser(prog="regatta_analysis", description="Figures and tables of a study.")
    parser.add_argument("results", help="results file, or study directory (*.h5.d) while it runs")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where to write")
    parser.add_argument("--metric", nargs="+", choices=list(METRICS), metavar="METRIC",
                        default=["simple", "cumulative"],
                        help="of: %(choices)s (default: simple cumulative)")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--log", dest="scale", action="store_const", const="log", default="auto",
                       help="logarithmic regret axis (default: by the range of the curves)")
    scale.add_argument("--linear", dest="scale", action="store_const", const="linear")
    parser.add_argument("--band", choices=["se", "quantile"], default="se",
                        help="mean with standard error, or median with quantiles (default: se)")
    parser.add_argument("--quantiles", type=_quantiles, default=(0.25, 0.75), metavar="LOW,HIGH",
                        help="of --band quantile (default: 0.25,0.75)")
    parser.add_argument("--formats", nargs="+", choices=["pdf", "png"], default=["pdf", "png"],
                        help="of the figures (default: pdf png)")
    parser.add_argument("--partial", action="store_true",
                        help="accept a file that may lack trials (from `regatta merge`)")
    return parser


def main(arguments=None):
    """Exit code: 0, or 2 for a file or option that can't be used (one line on stderr)."""
    options = _parser().parse_args(arguments)
    try:
        results = load(options.results, options.partial)
        for warning in results.warnings:
            print(f"regatta_analysis: warning: {warning}", file=sys.stderr)
        from .summary import write_all
        written = write_all(results, options)
    except InputError as error:
        print(f"regatta_analysis: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"regatta_analysis: {error.filename or options.out}: {error.strerror or error}",
              file=sys.stderr)
        return 2
    print(f"{len(written)} files in {options.out}: see {options.out / 'summary.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
