#!/bin/sh
# Figures, tables, claims and reports of results files: regatta-analysis --help
here=$(dirname "$(readlink -f "$0")")
export REGATTA="${REGATTA:-$here/regatta}"
export PYTHONPATH="$here/../share/regatta/python${PYTHONPATH:+:$PYTHONPATH}"
exec "${REGATTA_PYTHON:-python3}" -m regatta_analysis "$@"
