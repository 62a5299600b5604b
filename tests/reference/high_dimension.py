"""Problems with many inputs, written from their sources with NumPy and SciPy, and the random numbers that the
program draws for them."""
import pathlib
import re
import struct

import numpy as np
import xxhash
from scipy.interpolate import splev, splprep

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "src"


# ---- streams: XXH3-128 of the name as key, Philox4x64-10 -----------------------------------------

def text_record(text):
    value = xxhash.xxh3_128_intdigest(text.encode())
    return struct.pack("<QQQ", len(text), value % 2**64, value >> 64)


def normals(n, problem, instance, name, study_seed=1, iteration=0):
    """n standard normal numbers of a stream, by Box and Muller."""
    record = struct.pack("<QQ", 0, study_seed) + text_record(problem) + struct.pack("<Q", instance)
    value = xxhash.xxh3_128_intdigest(record + text_record(name))
    key = np.array([value % 2**64, value >> 64], dtype=np.uint64)
    words = []
    for index in range((n + 4) // 4):
        at = (iteration * 2**64 + index * 2**128 - 1) % 2**256  # NumPy counts before it draws
        counter = np.array([at >> 64 * i & 2**64 - 1 for i in range(4)], dtype=np.uint64)
        words.append(np.random.Philox(key=key, counter=counter).random_raw(4))
    uniform = ((np.concatenate(words) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52
    radius, angle = np.sqrt(-2 * np.log(uniform[::2])), 2 * np.pi * uniform[1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:n]


# ---- embeddings -----------------------------------------------------------------------------------

def subspace(problem, instance, d, inputs):
    """Orthonormal rows from normal ones, and the scale at which the small box is reached."""
    q, r = np.linalg.qr(normals(d * inputs, problem, instance, "embed").reshape(d, inputs).T)
    rows = (q * np.sign(np.diag(r))).T
    return rows, np.abs(rows).sum(axis=0).max()


def hartmann6(x):
    a = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8],
                  [17, 8, 0.05, 10, 0.1, 14]])
    p = np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                  [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]) / 1e4
    return np.array([1, 1.2, 3, 3.2]) @ np.exp(-(a * (x - p) ** 2).sum(axis=1))


def levy(x):
    w = 1 + (x - 1) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    return -(np.sin(np.pi * w[0]) ** 2 + middle.sum() + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2))


def rotated(function, problem, instance, d, lower, upper, x):
    """A function of d inputs at the image of x."""
    rows, scale = subspace(problem, instance, d, len(x))
    z = np.clip(scale * rows @ (2 * (x - lower) / (upper - lower) - 1), -1, 1)
    return function((lower + upper + z * (upper - lower)) / 2)


# ---- bbob -----------------------------------------------------------------------------------------

def bbob_uniform(n, seed):
    """The minimal standard generator with a table of 32 numbers that shuffles them."""
    table = [0] * 32
    for k in reversed(range(40)):
        seed = seed * 16807 % 2147483647
        if k < 32:
            table[k] = seed
    value, out = table[0], []
    for _ in range(n):
        seed = seed * 16807 % 2147483647
        at = value // 67108865
        value, table[at] = table[at], seed
        out.append(value / 2.147483647e9)
    return np.array(out)


class Ellipsoid:
    """Function 10, its regret: sum 10^(6 (i - 1)/(d - 1)) T_osz(z)_i^2, z = R (x - x_opt)."""

    def __init__(self, instance, dim):
        seed = 10 + 10000 * (instance + 1)
        self.optimum = 8 * np.floor(1e4 * bbob_uniform(dim, seed)) / 1e4 - 4
        u = bbob_uniform(2 * dim * dim, seed + 1000000)
        g = np.sqrt(-2 * np.log(u[:dim * dim])) * np.cos(2 * np.pi * u[dim * dim:])
        q, r = np.linalg.qr(g.reshape(dim, dim).T)  # the columns are drawn one after another
        self.rotation = q * np.sign(np.diag(r))

    def value(self, x):
        z = self.rotation @ (x - self.optimum)
        h = 10 * np.log(np.abs(z))
        waves = np.where(z > 0, np.sin(h) + np.sin(0.79 * h), np.sin(0.55 * h) + np.sin(0.31 * h))
        z = np.exp(0.1 * (h + 0.49 * waves))
        return (10 ** (6 * np.linspace(0, 1, len(x))) * z * z).sum()


# ---- rover ----------------------------------------------------------------------------------------

def rover(x):
    """The path by FITPACK, as in the code of the authors; the table of trees is data of the program."""
    table = re.search(r"trees\[\]\[2\] = {(.*?)};", (SOURCES / "problem/rover.c").read_text(), re.S).group(1)
    trees = np.array(re.findall(r"[\d.]+", table), dtype=float).reshape(-1, 2)
    spline, _ = splprep((1.2 * x - 0.1).reshape(-1, 2).T, k=3)
    path = np.stack(splev(np.linspace(0, 1, 1000), spline), axis=1)
    low, high = trees - 0.025, trees + 0.025
    inside = ((low <= path[:, None]) & (path[:, None] < high)).all(axis=2).any(axis=1)
    cost = 20.0 * (inside | ((path < 0) | (path >= 1)).any(axis=1)) + 0.05
    length = np.linalg.norm(np.diff(path, axis=0), axis=1)
    ends = np.abs(path[0] - 0.05).sum() + np.abs(path[-1] - 0.95).sum()
    return 5 - (length * (cost[1:] + cost[:-1]) / 2).sum() - 10 * ends


# ---- lasso ----------------------------------------------------------------------------------------

class Lasso:
    def __init__(self, instance, d=60, samples=30, active=3, correlation=0.6, snr=10):
        draws = normals(samples * d + samples, "lasso", instance, "problem")
        z, noise = draws[:samples * d].reshape(samples, d), draws[samples * d:]
        x = z.copy()
        for j in range(1, d):
            x[:, j] = correlation * x[:, j - 1] + np.sqrt(1 - correlation**2) * z[:, j]
        w = np.zeros(d)
        w[:d // active * active:d // active] = (-1.0) ** np.arange(active)
        noise *= np.linalg.norm(x @ w) / np.linalg.norm(noise) / snr
        self.n = samples - int(np.ceil(0.15 * samples))
        self.x, self.y = x[:self.n], (x @ w + noise)[:self.n]
        self.oracle = np.mean((self.y - self.x @ w) ** 2)
        self.largest = np.abs(self.x.T @ self.y).max() / self.n

    @staticmethod
    def fit(x, y, penalty):
        """By the accelerated proximal gradient method with restarts."""
        rate = len(y) / np.linalg.norm(x, 2) ** 2
        b = ahead = np.zeros(x.shape[1])
        t = 1.0
        for _ in range(20000):
            step = ahead - rate * x.T @ (x @ ahead - y) / len(y)
            new = np.sign(step) * np.maximum(np.abs(step) - rate * penalty, 0)
            if (ahead - new) @ (new - b) > 0:
                t = 1.0
            after = (1 + np.sqrt(1 + 4 * t * t)) / 2
            ahead, moved = new + (t - 1) / after * (new - b), np.abs(new - b).max()
            b, t = new, after
            if moved < 1e-15:
                break
        return b

    def value(self, position):
        """Cross-validated over five runs of consecutive rows."""
        penalty = self.largest * 10 ** (position - 1)
        errors = []
        for held in np.array_split(np.arange(self.n), 5):
            rest = np.setdiff1d(np.arange(self.n), held)
            b = self.fit(self.x[rest], self.y[rest], penalty)
            errors.append(np.mean((self.y[held] - self.x[held] @ b) ** 2))
        return -np.mean(errors) / self.oracle
