#!/usr/bin/env python3
"""Tuning of a random forest (5-D) and of XGBoost (7-D): the objective of Figure 9 of
arXiv:2502.06178, as a program that Regatta asks in lines of JSON (regatta describe external).

The answer is the mean over five folds of R^2 on the held-out fold, to be maximised. Folds are
shuffled once with seed 0 and the models have seed 0: the objective is deterministic. Needs
scikit-learn and for XGBoost its Python package, from Debian (python3-sklearn, python3-xgboost) or
from pip; REGATTA_PYTHON chooses the Python. Nothing stands in for a package that is missing.
"""
import argparse
import csv
import json
import os
import pathlib
import sys

FOREST = ("n_estimators", "max_depth", "min_samples_split", "max_features", "min_impurity_decrease")
XGBOOST = ("n_estimators", "max_depth", "learning_rate", "subsample", "colsample_bytree", "gamma",
           "min_child_weight")

WINE = "https://archive.ics.uci.edu/dataset/186/wine+quality"
HOUSING = "https://github.com/ageron/handson-ml2/tree/master/datasets/housing (housing.csv)"
SOURCES = {"winequality-red.csv": WINE, "winequality-white.csv": WINE,
           "california-housing.csv": HOUSING}


class Unavailable(Exception):
    """Something the user has to provide is not there."""


def other_python():
    """Start again with REGATTA_PYTHON, or the system's Python where this one lacks scikit-learn."""
    wanted = os.environ.get("REGATTA_PYTHON")
    if not wanted:
        try:
            import sklearn  # noqa: F401
            return
        except ImportError:
            wanted = "/usr/bin/python3"
    if os.environ.get("REGATTA_TUNING_STARTED") or not os.access(wanted, os.X_OK):
        return
    os.environ["REGATTA_TUNING_STARTED"] = "1"
    os.execv(wanted, [wanted, *sys.argv])


# ---- data --------------------------------------------------------------------------------------

def find(name):
    """The file of that name: as typed, or in the folder REGATTA_DATA."""
    folder = os.environ.get("REGATTA_DATA")
    places = [pathlib.Path(name)]
    if folder:
        places += [pathlib.Path(folder) / name, pathlib.Path(folder) / pathlib.Path(name).name]
    for place in places:
        if place.is_file():
            return place
    source = SOURCES.get(pathlib.Path(name).name)
    where = (f", nor in REGATTA_DATA = {folder}" if folder
             else " (REGATTA_DATA, the folder of data sets, is unset)")
    raise Unavailable(f"there is no file {name}{where}"
                      + (f"; the data are at {source}" if source else ""))


def read_csv(name):
    """Header and rows of texts; ';' or ',' between them."""
    text = find(name).read_text()
    rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in text[:200] else ","))
    return rows[0], [row for row in rows[1:] if row]


def load_wine(*names):
    """11 inputs, quality; duplicates are kept."""
    import numpy
    tables = [numpy.array(read_csv(name)[1], float) for name in names]
    table = numpy.vstack(tables)
    return table[:, :-1], table[:, -1]


def load_housing(name):
    """The eight features of scikit-learn's version, target in 100,000 dollars; rows that lack a
    value are dropped."""
    import numpy
    header, rows = read_csv(name)
    if "MedInc" in header:
        table = numpy.array(rows, float)
        return table[:, :8], table[:, 8]
    wanted = ["median_income", "housing_median_age", "total_rooms", "total_bedrooms", "population",
              "households", "latitude", "longitude", "median_house_value"]
    columns = [header.index(column) for column in wanted]
    whole = [row for row in rows if all(row[c] for c in columns)]
    income, age, rooms, bedrooms, population, households, latitude, longitude, value = numpy.array(
        [[row[c] for c in columns] for row in whole], float).T
    if len(whole) < len(rows):
        print(f"{name}: {len(whole)} of {len(rows)} rows are complete and used", file=sys.stderr)
    return numpy.column_stack([income, age, rooms / households, bedrooms / households, population,
                               population / households, latitude, longitude]), value / 1e5


def make_friedman():
    """Friedman's first function with noise, 500 points: for tests, no file needed."""
    import numpy
    random = numpy.random.RandomState(0)
    x = random.uniform(size=(500, 10))
    y = 10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 \
        + 10 * x[:, 3] + 5 * x[:, 4] + random.normal(size=500)
    return x, y


def load_diabetes():
    from sklearn.datasets import load_diabetes as load
    return load(return_X_y=True)


def load(data):
    if data == "friedman":
        return make_friedman()
    if data == "diabetes":
        return load_diabetes()
    if data == "wine":
        return load_wine("winequality-red.csv", "winequality-white.csv")
    if "wine" in pathlib.Path(data).name:
        return load_wine(data)
    return load_housing(data)


def reduce(x, y, rows):
    """So many rows, drawn with a fixed seed, in the order of the file."""
    import numpy
    if not rows or rows >= len(y):
        return x, y
    kept = numpy.sort(numpy.random.RandomState(0).permutation(len(y))[:rows])
    return x[kept], y[kept]


# ---- models ------------------------------------------------------------------------------------

def forest(settings):
    from sklearn.ensemble import RandomForestRegressor
    return RandomForestRegressor(random_state=0, n_jobs=1, **settings)


def xgboost(settings):
    try:
        from xgboost import XGBRegressor
    except ImportError:
        raise Unavailable("xgboost is missing: apt install python3-xgboost, or pip install "
                          "xgboost") from None
    return XGBRegressor(objective="reg:squarederror", tree_method="hist", random_state=0, n_jobs=1,
                        **settings)


MODELS = {"forest": (forest, FOREST), "xgboost": (xgboost, XGBOOST)}


class Objective:
    """Mean R^2 over five folds; an answer is computed once per setting."""

    def __init__(self, options):
        try:
            import numpy  # noqa: F401
            from sklearn.model_selection import KFold
        except ImportError:
            raise Unavailable("scikit-learn is missing: apt install python3-sklearn, or pip "
                              "install scikit-learn") from None
        self.model, self.names = MODELS[options.model]
        self.x, self.y = reduce(*load(options.data), options.rows)
        self.folds = list(KFold(5, shuffle=True, random_state=0).split(self.x))
        self.known = {}

    def score(self, model, train, held_out):
        import numpy
        y = self.y[held_out]
        error = y - model.fit(self.x[train], self.y[train]).predict(self.x[held_out])
        return 1 - numpy.sum(error ** 2) / numpy.sum((y - y.mean()) ** 2)

    def __call__(self, settings):
        if set(settings) != set(self.names):
            raise ValueError(f"the inputs of this model are {', '.join(self.names)}")
        key = tuple(settings[name] for name in self.names)
        if key not in self.known:
            scores = [self.score(self.model(settings), *fold) for fold in self.folds]
            self.known[key] = float(sum(scores) / len(scores))
        return self.known[key]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--data", required=True,
                        help="california-housing.csv, winequality-red.csv, winequality-white.csv "
                        "(paths, or names in REGATTA_DATA), wine (both colours), friedman "
                        "(generated), diabetes (of scikit-learn)")
    parser.add_argument("--rows", type=int, default=0, help="use this number of rows only")
    options = parser.parse_args()
    other_python()
    objective = line = None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            objective = objective or Objective(options)
            answer["value"] = objective(request["x"])
        except Exception as error:
            name = "" if isinstance(error, Unavailable) else f"{type(error).__name__}: "
            answer["error"] = f"{name}{error}"
        print(json.dumps(answer), flush=True)
    if line is None:  # no request: is everything there?
        try:
            Objective(options).model({})
        except Unavailable as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
