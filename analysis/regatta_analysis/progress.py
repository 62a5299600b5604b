"""A line on a terminal that shows the progress of work that takes more than two seconds."""
import sys
import time

PATIENCE, PAUSE = 2.0, 0.2  # seconds


def progress(items, words, stream=None):
    """The items one by one, with a bar meanwhile, on a terminal only. The bar disappears at the end."""
    stream = stream or sys.stderr
    items = list(items)
    start = shown = time.monotonic()
    seen = False
    for k, item in enumerate(items):
        now = time.monotonic()
        if stream.isatty() and now - start > PATIENCE and now - shown > PAUSE:
            full = 30 * k // len(items)
            stream.write(f"\r[{'#' * full}{'.' * (30 - full)}] {k}/{len(items)} {words}\x1b[K")
            stream.flush()
            shown, seen = now, True
        yield item
    if seen:
        stream.write("\r\x1b[K")
        stream.flush()
