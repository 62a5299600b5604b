"""Reading a results file: python3 read_results.py RESULTS.h5 (with PYTHONPATH=analysis)."""
import sys

from regatta_analysis import load

results = load(sys.argv[1])
done = results.data[results.data["status"] == "complete"]
cell = ["problem", "algorithm", *results.settings]  # what was swept are columns
last = done[done["t"] == done.groupby("problem")["t"].transform("max")]  # .last() would skip missing values
# Simple regret is infinite until a design is feasible, so that there may be no mean.
print(last.groupby(cell, dropna=False, observed=True)["simple_regret"].agg(["count", "median"]))
