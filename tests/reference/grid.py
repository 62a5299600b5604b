"""The maximum of a function of one variable, for the references whose design is an interval."""
import numpy as np


def maximise(value):
    """Argmax on [0, 1]: a grid, then finer and finer ones around the best point."""
    low, high = 0.0, 1.0
    for points in (33, 9, 9):
        grid = np.linspace(low, high, points)
        best = grid[np.argmax(value(grid))]
        step = grid[1] - grid[0]
        low, high = max(best - step, 0), min(best + step, 1)
    return best
