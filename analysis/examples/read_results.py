"""Reading a results file: python3 read_results.py RESULTS.h5 (with PYTHONPATH=analysis)."""
import sys

from regatta_analysis import load

results = load(sys.argv[1])
done = results.data[results.data["status"] == "complete"]
last = done.groupby(["problem", "algorithm", "instance", "seed"])["simple_regret"].last()
print(last.groupby(["problem", "algorithm"]).agg(["count", "mean", "sem"]))
