"""Reading a results file: python3 read_results.py RESULTS.h5 (with PYTHONPATH=analysis)."""
import sys

from regatta_analysis import load

results = load(sys.argv[1])
done = results.data[results.data["status"] == "complete"]
cell = ["problem", "algorithm", *results.settings]  # what was swept are columns
last = done.groupby([*cell, "instance", "seed"], dropna=False, observed=True)["simple_regret"].last()
print(last.groupby(cell, dropna=False, observed=True).agg(["count", "mean", "sem"]))
