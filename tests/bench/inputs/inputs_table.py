"""inputs_table.py RESULTS.h5: CPU seconds per query, by method and number of inputs, and the exponent of the last two."""
import math
import sys

import h5py

cost = {}
with h5py.File(sys.argv[1]) as file:
    for group in file.values():
        if isinstance(group, h5py.Group) and "seed" in group:
            queries = group["n_iterations"][()] - group["n_initial"][()]
            for method, inputs, cpu, n in zip(group["algorithm"].asstr(), group["problem"].asstr(), group["provenance/cpu"], queries):
                cost.setdefault(method, {})[int(inputs)] = cpu / n
dims = sorted({d for row in cost.values() for d in row})
print("| inputs | " + " | ".join(f"{d:,}" for d in dims) + " | exponent |\n" + "|---" * (len(dims) + 2) + "|")
for method, row in sorted(cost.items(), key=lambda item: item[1][dims[-1]]):
    power = math.log(row[dims[-1]] / row[dims[-2]]) / math.log(dims[-1] / dims[-2])
    print(f"| {method} | " + " | ".join(f"{row[d]:.2g}" for d in dims) + f" | {power:.1f} |")
