#!/bin/sh
# Figures, tables, claims and reports of results files: regatta-analysis --help
# Runs with REGATTA_PYTHON, or else the first Python of this prefix, the system or the path that has the packages.
here=$(dirname "$(readlink -f "$0")")
export REGATTA="${REGATTA:-$here/regatta}"
export PYTHONPATH="$here/../share/regatta/python${PYTHONPATH:+:$PYTHONPATH}"
missing='
import importlib.util, sys
needed = "numpy scipy pandas h5py xarray matplotlib jinja2 yaml xxhash".split()
lacking = [name for name in needed if not importlib.util.find_spec(name)]
print(", ".join(lacking))
sys.exit(bool(lacking))'
for python in ${REGATTA_PYTHON:-"$here/python3" /usr/bin/python3 python3}; do
  command -v "$python" >/dev/null || continue
  if lacks=$("$python" -c "$missing"); then exec "$python" -m regatta_analysis "$@"; fi
  first=${first:-"$python lacks $lacks"}
done
echo "regatta-analysis: ${first:-there is no Python 3}; install it, or name another Python in REGATTA_PYTHON" >&2
exit 2
